"""Tests of programs over tiles, on every chip."""

from __future__ import annotations

import re
from pathlib import Path

import cpu_chips
from tensor_tests import Suite

ROOT = Path(__file__).resolve().parents[2]

#: Chips whose kernels run on the GPU at hand.
GPU_CHIPS = ("sm_80", "sm_90a")


def choose_lines(path: str, kept: str, dropped: str) -> str:
    """Returns the program of a file with lines for two variants. Lines of `kept`
    that are comments become code; lines that end with a comment of `dropped` go."""
    lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
    lines = [line.replace(f"// {kept}: ", "") for line in lines]
    return "\n".join(
        line for line in lines if not line.rstrip().endswith(f"// {dropped}")
    )


def example(name: str, packed: bool = False) -> str:
    """Returns the program of an example. With `packed`, rows may begin at any element,
    as those of a matrix without padding whose length is odd."""
    text = (ROOT / f"examples/{name}.mlir").read_text(encoding="utf-8")
    if packed:
        text = re.sub(r"\[\?:\d, 1\], align = 16", "[?, 1]", text)
    return text


def as_array(tensor):
    """Returns an array of NumPy, which lacks bf16, with the memory of the tensor."""
    import torch

    if tensor.dtype == torch.bfloat16:
        return tensor.detach().view(torch.int16).numpy().view("uint16")
    return tensor.detach().numpy()


class ProgramSuite(Suite):
    """Tests that run programs: methods of `per_chip` on chips, and the others."""

    #: Names of methods that take a chip.
    per_chip: tuple[str, ...] = ()
    #: Pairs of a method and a chip on which it cannot run.
    excluded: frozenset[tuple[str, str]] = frozenset()

    def tests(self):
        pairs = (
            cpu_chips.pairs(self.per_chip)
            if self.device == "cpu"
            else [(name, chip) for name in self.per_chip for chip in GPU_CHIPS]
        )
        per_chip = {
            f"{name} {chip}": lambda f=getattr(self, name), c=chip: f(c)
            for name, chip in pairs
            if (name, chip) not in self.excluded
        }
        return {**per_chip, **super().tests()}

    def run(self, program: str, chip: str, *tensors, schedule=None) -> None:
        """Runs the kernels of a program on tensors, in the order of the parameters."""
        if self.device == "cpu":
            from tile.executor import Program

            arrays = [as_array(t) if hasattr(t, "numpy") else t for t in tensors]
            Program(program, chip, schedule=schedule)(*arrays)
        else:
            import tile

            tile.compile(program, chip=chip, schedule=schedule).launch(*(
                t.detach() if hasattr(t, "detach") else t for t in tensors
            ))

    def blank(self, *shape, dtype="float32"):
        """Returns a tensor of NaN, or of a number that no test expects."""
        import torch

        kind = getattr(torch, dtype)
        poison = float("nan") if kind.is_floating_point else -7
        return torch.full(shape, poison, dtype=kind, device=self.device)

    def compare(self, found, expected, tolerance):
        """Checks that all elements differ by `tolerance` at most."""
        error = (found.double() - expected).abs().max().item()
        assert error <= tolerance, f"error {error}, must be at most {tolerance}"
