"""What nobody uses of a program."""

from __future__ import annotations

from typing import List

from .program import EFFECTS, Op, Program, walk


def prune(program: Program) -> None:
    """Deletes operations whose results nobody uses, and buffers that nobody
    accesses."""

    def sweep(ops: List[Op], live: set) -> List[Op]:
        kept = []
        for op in reversed(ops):
            effect = op.kind in EFFECTS or any(
                has_effect(region.ops) for region in op.regions
            )
            if not effect and not any(r in live for r in op.results):
                continue
            for region in op.regions:
                live.update(region.yields)
                region.ops = sweep(region.ops, live)
            live.update(op.operands)
            kept.append(op)
        return kept[::-1]

    def has_effect(ops: List[Op]) -> bool:
        return any(
            op.kind in EFFECTS or any(has_effect(r.ops) for r in op.regions)
            for op in ops
        )

    program.ops = sweep(program.ops, set())
    used = {op.attrs["buffer"] for op in walk(program.ops) if "buffer" in op.attrs}
    order = {old: new for new, old in enumerate(sorted(used))}
    program.buffers = [program.buffers[i] for i in sorted(used)]
    for op in walk(program.ops):
        if "buffer" in op.attrs:
            op.attrs["buffer"] = order[op.attrs["buffer"]]
    scalars = sorted(
        {op.attrs["scalar"] for op in walk(program.ops) if op.attrs.get("scalar") is not None}
    )
    program.scalars = [program.scalars[i] for i in scalars]
    for op in walk(program.ops):
        if op.attrs.get("scalar") is not None:
            op.attrs["scalar"] = scalars.index(op.attrs["scalar"])
