"""Runs one case of the attention test on the GPU. Needs PyTorch."""

from __future__ import annotations

from typing import List

import torch

from cases import Case
from outcome import PAD_COLUMNS, PAD_ROWS, Outcome
from tile import testing
from tile.launcher import Module

DTYPES = {"f16": torch.float16, "bf16": torch.bfloat16}

#: Launches of each case, which must agree in every bit.
LAUNCHES = 3


class Padded:
    """A tensor inside a larger one of NaN.

    `view` is the tensor, [B, S, H, D] or, without `d`, [B, H, S].
    """

    def __init__(self, case: Case, rows: int, heads: int, d: int, dtype: torch.dtype):
        self.rows, self.d, self.order = rows, d, case.order
        padded = rows + PAD_ROWS
        if not d:
            shape = (case.batch, heads, padded)
        elif case.order == "bshd":
            shape = (case.batch, padded, heads, d)
        else:
            shape = (case.batch, heads, padded, d + PAD_COLUMNS)
        self.storage = torch.full(shape, float("nan"), dtype=dtype, device="cuda")
        self.view = self._view(self.storage)

    def is_intact(self) -> bool:
        """Whether all around the tensor is still NaN."""
        copy = self.storage.clone()
        self._view(copy).fill_(float("nan"))
        return bool(copy.isnan().all())

    def _view(self, storage: torch.Tensor) -> torch.Tensor:
        if not self.d:
            return storage[:, :, : self.rows]
        if self.order == "bshd":
            return storage[:, : self.rows]
        return storage[:, :, : self.rows, : self.d].transpose(1, 2)


def run_case(case: Case, module: Module, seed: int) -> Outcome:
    """Launches a case and judges all that it wrote."""
    variant = case.variant
    dtype = DTYPES[variant.dtype]
    scale = variant.d**-0.5
    generator = torch.Generator("cuda").manual_seed(seed)

    def normal(rows: int, heads: int, d: int) -> Padded:
        tensor = Padded(case, rows, heads, d, dtype)
        values = torch.randn(
            tensor.view.shape, generator=generator, device="cuda", dtype=torch.float32
        )
        tensor.view.copy_(values)
        return tensor

    inputs = [
        normal(case.sq, case.heads, variant.d),
        normal(case.sk, case.kv_heads, variant.d),
        normal(case.sk, case.kv_heads, variant.dv),
    ]
    before = [_bits(tensor.storage).clone() for tensor in inputs]
    q, k, v = (tensor.view for tensor in inputs)

    faults: List[str] = []
    first = None
    for launch in range(LAUNCHES):
        outputs = {"out": Padded(case, case.sq, case.heads, variant.dv, dtype)}
        if variant.lse:
            outputs["lse"] = Padded(case, case.sq, case.heads, 0, torch.float32)
        module.launch(q, k, v, *(o.view for o in outputs.values()), scale)
        torch.cuda.synchronize()
        if first is None:
            first = outputs
            continue
        for name, tensor in outputs.items():
            if not torch.equal(_bits(tensor.storage), _bits(first[name].storage)):
                faults.append(f"{name} of launch {launch} differs from the first's")

    for name, tensor in first.items():
        if not tensor.is_intact():
            faults.append(f"wrote outside {name}")
    for name, tensor, bits in zip("qkv", inputs, before):
        if not torch.equal(_bits(tensor.storage), bits):
            faults.append(f"changed {name}")

    mask = (variant.causal, variant.window)
    reference, reference_lse = testing.attention(q, k, v, scale, *mask)
    low, _ = testing.attention(q, k, v, scale, *mask, dtype=dtype)
    out = first["out"].view
    comparisons = {"out": testing.compare(out, reference, low)}
    if variant.lse:
        comparisons["lse"] = testing.compare_lse(first["lse"].view, reference_lse)
    for name, comparison in comparisons.items():
        if not comparison.ok:
            faults.append(
                f"{name} is off by {comparison.error:.3g}, allowed"
                f" {comparison.tolerance:.3g}"
            )
    empty = (reference_lse == float("-inf")).transpose(1, 2)
    if not bool((out[empty] == 0).all()):
        faults.append("rows that see no key are not 0")
    return Outcome(faults, {n: (c.error, c.tolerance) for n, c in comparisons.items()})


def _bits(tensor: torch.Tensor) -> torch.Tensor:
    """The same memory as integers, which compare equal where it is NaN."""
    return tensor.view({2: torch.int16, 4: torch.int32}[tensor.element_size()])
