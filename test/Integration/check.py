"""Runs one case of the attention test on the GPU. Needs PyTorch."""

from __future__ import annotations

from itertools import accumulate
from math import prod
from typing import Callable, Dict, List, Sequence, Set, Tuple

import torch

from cases import GRID_ROWS, Case
from outcome import PAD_COLUMNS, PAD_ROWS, Outcome
from tile import testing
from tile.launcher import Module
from tile.programs import Artifacts

DTYPES = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32}

#: Tokens before the first and after the last sequence of a packed batch.
GAP_ROWS = 3

SOFTCAP = 15.0


class Padded:
    """A tensor inside a larger one of NaN.

    `view` is what kernels are given: [B, S, H, D] or, without `d`, [B, H, S];
    of a packed batch [T, H, D] or [H, T], with NaN before the first sequence
    and after the last. `side` is 0 for queries, 1 for keys.
    """

    def __init__(self, case: Case, side: int, heads: int, d: int, dtype: torch.dtype):
        self.d, self.order, self.packed = d, case.order, case.variant.packed
        self.lengths = [length[side] for length in case.lengths]
        if self.packed:
            batch, self.rows = (), sum(self.lengths) + 2 * GAP_ROWS
        else:
            batch, self.rows = (case.batch,), self.lengths[0]
        padded = self.rows + PAD_ROWS
        if not d:
            shape = (*batch, heads, padded)
        elif case.order == "bshd":
            shape = (*batch, padded, heads, d)
        else:
            shape = (*batch, heads, padded, d + PAD_COLUMNS)
        self.storage = torch.full(shape, float("nan"), dtype=dtype, device="cuda")
        self.view = self._view(self.storage)

    def bounds(self) -> torch.Tensor:
        """Returns the start of each sequence of a packed batch, and the end."""
        starts = list(accumulate(self.lengths, initial=GAP_ROWS))
        return torch.tensor(starts, dtype=torch.int32, device="cuda")

    def sequences(self) -> List[torch.Tensor]:
        """Returns views [B, S, H, D] or [B, H, S] of the sequences."""
        return self._sequences(self.view)

    def is_intact(self) -> bool:
        """Returns whether all elements around the sequences are still NaN."""
        copy = self.storage.clone()
        for sequence in self._sequences(self._view(copy)):
            sequence.fill_(float("nan"))
        return bool(copy.isnan().all())

    def _sequences(self, view: torch.Tensor) -> List[torch.Tensor]:
        if not self.packed:
            return [view]
        starts = accumulate(self.lengths, initial=GAP_ROWS)
        rows = 0 if self.d else 1
        return [
            view.narrow(rows, start, length)[None]
            for start, length in zip(starts, self.lengths)
        ]

    def _view(self, storage: torch.Tensor) -> torch.Tensor:
        if not self.d:
            return storage[..., : self.rows]
        if self.order == "bshd":
            return storage.narrow(-3, 0, self.rows)
        return storage[..., : self.rows, : self.d].transpose(-3, -2)


class Scratch:
    """Memory in f32 with NaN behind it."""

    def __init__(self, shape: Sequence[int]):
        self.size = prod(shape)
        self.storage = torch.full((self.size + PAD_ROWS,), float("nan"), device="cuda")
        self.view = self.storage[: self.size].view(shape)

    def is_intact(self) -> bool:
        return bool(self.storage[self.size :].isnan().all())


class Run:
    """A case with its inputs and the faults found so far.

    Unless results are `judged`, the kernels of a case run once and no reference
    is computed.
    """

    def __init__(self, case: Case, seed: int, launches: int = 3, judged: bool = True):
        self.launches = launches if judged else 1
        self.judged = judged
        self.case, self.variant = case, case.variant
        self.dtype = DTYPES[self.variant.dtype]
        self.scale = self.variant.d**-0.5
        self.softcap = SOFTCAP if self.variant.softcap else None
        self.faults: List[str] = []
        self.comparisons: Dict[str, testing.Comparison] = {}
        self.generator = torch.Generator("cuda").manual_seed(seed)

        d, dv = self.variant.d, self.variant.dv
        self.inputs = {
            "q": self._normal(0, case.heads, d),
            "k": self._normal(1, case.kv_heads, d),
            "v": self._normal(1, case.kv_heads, dv),
        }
        self.sink = None
        if self.variant.sink:
            self.sink = self._draw((case.heads,)).to(DTYPES[self.variant.sink])
        self.scalars = {"scale": self.scale, **case.sides}
        if self.variant.packed:
            self.scalars["cu_q"] = self.inputs["q"].bounds()
            self.scalars["cu_k"] = self.inputs["k"].bounds()
            self.scalars["max_q"] = GRID_ROWS
        if self.sink is not None:
            self.scalars["sink"] = self.sink
        if self.softcap is not None:
            self.scalars["softcap"] = self.softcap

    def forward(self, module: Module) -> Dict[str, Padded]:
        """Runs and judges the forward kernel; returns its results."""
        case, variant = self.case, self.variant

        def make() -> Dict[str, Padded]:
            outputs = {"o": Padded(case, 0, case.heads, variant.dv, self.dtype)}
            if variant.lse:
                outputs["lse"] = Padded(case, 0, case.heads, 0, torch.float32)
            if variant.parts:
                for name, tensor in (("o", outputs["o"]), ("lse", outputs["lse"])):
                    shape = (case.parts, *tensor.view.shape)
                    outputs[f"{name}_parts"] = Scratch(shape)
            return outputs

        outputs = self._launch(module, self.inputs, make, {"o", "lse"})
        if not self.judged:
            return outputs
        references, lows = [], []
        for tensors in self._sequences("q", "k", "v"):
            references.append(testing.attention(*tensors, **self._options()))
            lows.append(testing.attention(*tensors, dtype=self.dtype, **self._options()))
        self._compare("out", outputs["o"], [r[0] for r in references], [w[0] for w in lows])
        sums = [reference[1] for reference in references]
        if variant.lse:
            self.comparisons["lse"] = testing.compare_lse(
                _flat(outputs["lse"].sequences()), _flat(sums)
            )
        self.empty = [rows == float("-inf") for rows in sums]
        self._check_empty("o", outputs["o"])
        return outputs

    def backward(
        self, module: Module, results: Dict[str, Padded]
    ) -> Dict[str, Padded]:
        """Runs and judges the kernels of the gradients; returns their results."""
        case, variant, backward = self.case, self.variant, self.case.backward
        inputs = dict(self.inputs, do=self._normal(0, case.heads, variant.dv), **results)
        like = {"dq": (0, case.heads, variant.d), "dk": (1, case.kv_heads, variant.d)}
        like["dv"] = (1, case.kv_heads, variant.dv)

        def make() -> Dict[str, Padded]:
            outputs = {n: Padded(case, *shape, self.dtype) for n, shape in like.items()}
            known = {**inputs, **outputs}
            shapes = {name: tuple(t.view.shape) for name, t in known.items()}
            for name in ("cu_q", "cu_k", "sink", "dsink"):
                if name in self.scalars:
                    shapes[name] = tuple(self.scalars[name].shape)
            for name, buffer in module.scratch(shapes).items():
                outputs[name] = Scratch(buffer.shape)
            return outputs

        if variant.packed:
            self.scalars["max_k"] = GRID_ROWS
        if self.sink is not None:
            self.scalars["dsink"] = torch.full((case.heads,), float("nan"), device="cuda")
        fixed = {"stats"}
        if backward.dq == "kernel":
            fixed.add("dq")
        if backward.kv != "atomic":
            fixed |= {"dk", "dv"}
        outputs = self._launch(module, inputs, make, fixed)
        self.inputs = inputs
        if not self.judged:
            return outputs

        references, lows = [], []
        for tensors in self._sequences("q", "k", "v", "do"):
            references.append(testing.gradients(*tensors, **self._options()))
            lows.append(testing.gradients(*tensors, dtype=self.dtype, **self._options()))
        for name in like:
            self._compare(
                name,
                outputs[name],
                [getattr(reference, name) for reference in references],
                [getattr(low, name) for low in lows],
                slack=3e-4 if self.softcap is not None else 0,
            )
        self._check_empty("dq", outputs["dq"])
        if self.sink is not None:
            self.comparisons["dsink"] = testing.compare(
                self.scalars["dsink"],
                sum(reference.dsink for reference in references),
                sum(low.dsink for low in lows),
                factor=3,
            )
        return outputs

    def _normal(self, side: int, heads: int, d: int) -> Padded:
        tensor = Padded(self.case, side, heads, d, self.dtype)
        for sequence in tensor.sequences():
            sequence.copy_(self._draw(tuple(sequence.shape)))
        return tensor

    def _draw(self, shape: Tuple[int, ...]) -> torch.Tensor:
        """Returns normally distributed numbers in f32."""
        return torch.randn(shape, generator=self.generator, device="cuda")

    def _sequences(self, *names: str):
        return zip(*(self.inputs[name].sequences() for name in names))

    def _options(self) -> dict:
        return {
            "scale": self.scale,
            "causal": self.variant.causal,
            "window": self.case.window,
            "sink": self.sink,
            "softcap": self.softcap,
        }

    def _launch(
        self,
        module: Module,
        inputs: Dict[str, Padded],
        make: Callable[[], Dict[str, Padded]],
        fixed: Set[str],
    ) -> Dict[str, Padded]:
        """Launches several times; the outputs in `fixed` must not vary."""
        before = {}
        if self.judged:
            before = {name: _bits(t.storage).clone() for name, t in inputs.items()}
        first: Dict[str, Padded] = {}
        for launch in range(self.launches):
            outputs = make()
            tensors = {name: t.view for name, t in {**inputs, **outputs}.items()}
            arguments = {**tensors, **self.scalars}
            module.launch(**{name: arguments[name] for name in module.parameters})
            torch.cuda.synchronize()
            if not first:
                first = outputs
                continue
            for name in sorted(fixed & set(outputs)):
                if not torch.equal(
                    _bits(outputs[name].storage), _bits(first[name].storage)
                ):
                    self.faults.append(f"{name} of launch {launch} differs from the first's")
        if not self.judged:
            return first
        for name, tensor in first.items():
            if not tensor.is_intact():
                self.faults.append(f"wrote outside {name}")
        for name, tensor in inputs.items():
            if not torch.equal(_bits(tensor.storage), before[name]):
                self.faults.append(f"changed {name}")
        return first

    def _compare(
        self,
        name: str,
        out: Padded,
        references: List[torch.Tensor],
        lows: List[torch.Tensor],
        slack: float = 0,
    ) -> None:
        self.comparisons[name] = testing.compare(
            _flat(out.sequences()),
            _flat(references),
            _flat(lows),
            factor=2 if self.softcap is None else 3,
            slack=slack,
        )

    def _check_empty(self, name: str, tensor: Padded) -> None:
        for empty, sequence in zip(self.empty, tensor.sequences()):
            if not bool((sequence[empty.transpose(1, 2)] == 0).all()):
                self.faults.append(f"{name} of rows that see no key is not 0")

    def outcome(self) -> Outcome:
        for name, comparison in self.comparisons.items():
            if not comparison.ok:
                self.faults.append(
                    f"{name} is off by {comparison.error:.3g}, allowed"
                    f" {comparison.tolerance:.3g}"
                )
        return Outcome(
            self.faults,
            {n: (c.error, c.tolerance) for n, c in self.comparisons.items()},
        )


def run_case(
    case: Case, artifacts: Artifacts, seed: int, launches: int, judged: bool = True
) -> Outcome:
    """Launches a case several times and judges its outputs, or launches it once
    and judges nothing."""
    run = Run(case, seed, launches, judged)
    results = run.forward(artifacts.load(case.variant))
    if case.backward:
        run.backward(artifacts.load(case.backward), results)
    return run.outcome()


def _flat(tensors: List[torch.Tensor]) -> torch.Tensor:
    return torch.cat([tensor.reshape(-1) for tensor in tensors])


def _bits(tensor: torch.Tensor) -> torch.Tensor:
    """Returns a view of the memory as integers, for which NaN equals itself."""
    return tensor.view({2: torch.int16, 4: torch.int32}[tensor.element_size()])
