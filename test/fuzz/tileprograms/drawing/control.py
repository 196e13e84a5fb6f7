"""Random loops and branches."""

from __future__ import annotations

from typing import List, Optional, Tuple

from ..program import FLOATS, Op, Region
from .values import Values

#: The operations that combine two tiles like reductions of these kinds.
COMBINATIONS = {
    "addf": "arith.addf", "maxnumf": "arith.maxnumf", "minimumf": "arith.minimumf", "addi": "arith.addi",
    "maxs": "arith.maxsi", "xori": "arith.xori",
}  # fmt: skip


class Control(Values):
    """Draws loops, what they carry, and branches."""

    def region(self, body) -> Region:
        """A region whose operations `body` adds; its values end with it."""
        outer, seen = self.ops, len(self.visible)
        region = Region()
        self.ops = region.ops
        self.depth += 1
        region.yields = body(region)
        self.depth -= 1
        self.ops = outer
        del self.visible[seen:]
        return region

    def next_like(self, value: int, target: Tuple, largest: float) -> int:
        """A late value of this type, or one made from `value`."""
        found = [
            v
            for v in self.visible[-6:]
            if self.like(v) == target and self.limit[v] <= largest
        ]
        return self.draw.choice(found) if found else value

    def loop(self) -> None:
        draw = self.draw
        starts: List[int] = []
        for _ in range(draw.choice([1, 1, 2])):
            x = self.pick()
            if x is None:
                return
            if x not in starts:
                starts.append(x)
        trips = draw.choice([0, 1, 2, 3, 3])
        step = None
        if draw.random() < 0.5:
            step = draw.choice(self.program.types[starts[0]].dims)
        scalar = None
        if draw.random() < 0.5:
            scalar = len(self.program.scalars)
            self.program.scalars.append(trips)
        self.names += 1
        variable = f"i{self.names}"

        def body(region: Region) -> List[int]:
            yields = []
            self.loops.append((variable, step, trips))
            for x in starts:
                carried = self.program.new(*self.like(x))
                region.arguments.append(carried)
                self.limit[carried] = self.limit[x]
                self.visible.append(carried)
            for _ in range(draw.randint(1, 4)):
                self.step()
            for x, carried in zip(starts, region.arguments):
                yields.append(self.carry(x, carried))
            self.loops.pop()
            return yields

        region = self.region(body)
        self.used.update(starts)
        results = []
        for x in starts:
            result = self.program.new(*self.like(x))
            self.limit[result] = self.limit[x] * 4 + 64
            results.append(result)
        self.ops.append(
            Op(
                "for", results, starts,
                {"variable": variable, "step": step, "trips": trips, "scalar": scalar}, [region],
            )
        )
        self.visible += results

    def carry(self, x: int, carried: int) -> int:
        """What an iteration hands on: half of what it got, and something new."""
        type = self.like(x)
        kind = self.draw.choice(["addf", "addf", "addf", "maxnumf", "minimumf"])
        if type[1] not in FLOATS:
            kind = self.draw.choice(["addi", "addi", "maxs", "xori"])
        new = self.reduced_like(type, kind) if self.draw.random() < 0.5 else None
        if new is None:
            new = self.next_like(carried, type, 64.0)
        elif kind != "addf":
            limit = 2.0**31 if kind == "addi" else max(self.limit[x], self.limit[new])
            return self.emit(
                "elementwise", type, [carried, new], limit, name=COMBINATIONS[kind]
            )
        if type[1] not in FLOATS:
            if new == carried:
                new = self.mate(carried)
            return self.emit("elementwise", type, [carried, new], 2.0**31, name="arith.addi")
        if new == carried:
            new = self.tame(self.mate(carried), 8.0)
        half = self.constant(type, 0.5)
        flags = "reassoc" if self.draw.random() < 0.8 else ""
        scaled = self.emit(
            "elementwise", type, [carried, half], self.limit[x], name="arith.mulf", flags=flags
        )
        return self.emit(
            "elementwise", type, [scaled, new], self.limit[x] + 64, name="arith.addf", flags=flags
        )

    def reduced_like(self, target: Tuple, kind: str) -> Optional[int]:
        """A reduction of this type of a late value; None if there is no such value."""
        found = []
        for v in self.visible[-8:]:
            dims, dtype, pin = self.like(v)
            for axis in range(len(dims) if len(dims) > 1 else 0):
                rest = dims[:axis] + dims[axis + 1 :]
                slice = None if pin is None else ("slice", axis, dims, pin)
                if (rest, dtype, slice) == target:
                    found.append((v, axis))
        if not found:
            return None
        v, axis = self.draw.choice(found)
        new = self.reduce_along(v, axis, kind)
        return new if kind != "addf" else self.tame(new, 64.0)

    def branch(self) -> None:
        draw = self.draw
        x = self.pick()
        if x is None:
            return
        type = self.like(x)
        limits = []

        def body(region: Region) -> List[int]:
            for _ in range(draw.randint(0, 3)):
                self.step()
            chosen = self.next_like(x, type, max(self.limit[x], 64.0))
            if chosen == x:
                chosen = self.mate(x)
            limits.append(self.limit[chosen])
            self.used.add(chosen)
            return [chosen]

        def stores(region: Region) -> List[int]:
            self.store(x)
            return []

        variable = draw.choice(["x", "y"] + [name for name, step, _ in self.loops if step is None])
        attrs = {"variable": variable, "bound": draw.choice([0, 1, 2])}
        if draw.random() < 0.3:
            # A condition that is loaded.
            attrs["buffer"] = len(self.program.buffers)
            flags = self.buffer((self.dim(4),), "i32", False)
            flags.fill = "normal"
            self.program.buffers.append(flags)
        if draw.random() < 0.2:
            self.ops.append(Op("if", [], [], attrs, [self.region(stores)]))
            return
        regions = [self.region(body), self.region(body)]
        result = self.program.new(*type)
        self.limit[result] = max(limits)
        self.ops.append(Op("if", [result], [], attrs, regions))
        self.visible.append(result)
