"""Hand-written kernels, a bound for the generated ones. Needs PyTorch.

A kernel is a file NAME.cubin or NAME.ptx in a folder. The first line of NAME.ll
("; smem BYTES") states its shared memory. The kernels support bf16 and head
dimension 128 without a mask, with contiguous tensors [B, H, S, D].
"""

from __future__ import annotations

import math
import struct
from pathlib import Path
from typing import Any, Callable, List, Optional, Sequence, Tuple

import torch
from problem import Problem
from tile import driver as tile_driver


class Spike:
    """A loaded kernel. Subclasses define its arguments."""

    #: NAME is the name of the files, ENTRY the name of the function, ROWS the
    #: number of rows of a thread block.
    NAME = ENTRY = ""
    ROWS = 128
    D, THREADS = 128, 384
    BACKWARD = False

    def __init__(self, folder: Path):
        """Raises OSError or ValueError if a file is missing or malformed."""
        line = (folder / f"{self.NAME}.ll").read_text().split("\n", 1)[0]
        words = line.split()
        if len(words) < 3 or not words[2].isdigit():
            raise ValueError(f"{folder / self.NAME}.ll does not begin with '; smem BYTES'")
        self.shared = int(words[2])
        images = [folder / f"{self.NAME}{suffix}" for suffix in (".cubin", ".ptx")]
        image = next((path for path in images if path.exists()), images[0])
        self.driver = tile_driver.shared()
        torch.cuda.current_stream().synchronize()  # creates the context
        module, _ = self.driver.load_module(image.read_bytes())
        self.function = self.driver.get_function(module, self.ENTRY)
        self.driver.allow_shared_memory(self.function, self.shared, 0)

    def supports(self, problem: Problem) -> bool:
        shape = problem.shape
        return (
            shape.backward == self.BACKWARD
            and not shape.causal
            and (shape.d, shape.dv, shape.dtype) == (self.D, self.D, "bf16")
            and shape.heads == shape.kv_heads
            and shape.length % self.ROWS == 0
            and problem.order == "bhsd"
        )


class _Launch:
    """A kernel with its arguments.

    `maps` are tensors that the kernel reads through tensor maps, each with the rows
    of a box. `values` are the other arguments, packed in the formats `kinds` of
    `struct`; a tensor is passed as its address.
    """

    def __init__(
        self,
        spike: Spike,
        problem: Problem,
        maps: Sequence[Tuple[torch.Tensor, int]],
        kinds: str,
        values: Sequence[Any],
    ):
        shape = problem.shape
        blocks = shape.batch * shape.heads
        self.spike = spike
        self.kept = (maps, values)  # the kernel holds only their addresses
        self.params = b"".join(
            spike.driver.encode_tensor_map(
                "bf16",
                tensor.data_ptr(),
                (spike.D, blocks * shape.length),
                (spike.D * 2,),
                (64, rows),
                128,
            )
            for tensor, rows in maps
        )
        self.offsets = [128 * i for i in range(len(maps))]
        for i in range(len(kinds)):
            packed = struct.calcsize("<" + kinds[:i])
            self.offsets.append(len(self.params) + packed)
        self.params += struct.pack(
            "<" + kinds,
            *(x.data_ptr() if isinstance(x, torch.Tensor) else x for x in values),
        )
        self.grid = (shape.length // spike.ROWS, blocks, 1)

    def __call__(self) -> None:
        self.spike.driver.launch(
            self.spike.function,
            self.grid,
            (self.spike.THREADS, 1, 1),
            self.spike.shared,
            torch.cuda.current_stream().cuda_stream,
            self.params,
            self.offsets,
        )


class ForwardSpike(Spike):
    NAME, ENTRY = "forward128", "fa"

    def make(self, problem: Problem) -> Callable[[], Tuple[torch.Tensor, ...]]:
        """Returns a function that computes o."""
        out = torch.full_like(problem.q, float("nan"))
        launch = _Launch(
            self,
            problem,
            [(x, self.ROWS) for x in (problem.q, problem.k, problem.v)],
            "Qif",
            [out, problem.shape.length, problem.scale * math.log2(math.e)],
        )

        def run() -> Tuple[torch.Tensor, ...]:
            launch()
            return (out,)

        return run


class BackwardSpike(Spike):
    """The main kernel of a backward pass: it computes dK, dV, and sums of dQ in
    fragment order. The row statistics and the conversion of dQ are not part of it."""

    NAME, ENTRY, BACKWARD = "backward", "fa_bwd", True
    #: The queries of one iteration.
    STEP = 64

    def make(
        self, problem: Problem, out: torch.Tensor, lse: torch.Tensor
    ) -> Tuple[Callable[[], None], Callable[[], Tuple[torch.Tensor, ...]]]:
        """Returns two functions. The first launches the kernel, which adds to the
        current sums. The second zeroes the sums, launches the kernel, and returns
        dq, dk and dv. `out` and `lse` are results of the forward pass."""
        shape = problem.shape
        delta = (out.float() * problem.do.float()).sum(-1).contiguous()
        base2 = (lse * math.log2(math.e)).contiguous()
        blocks = shape.batch * shape.heads
        # The dimensions: iterations, halves of D, and the fragments of 128 threads.
        sizes = (blocks, shape.length // self.STEP, 2, 8, 4, 8, 4, 2, 2)
        sums = torch.zeros(sizes, device="cuda")
        dk, dv = (torch.full_like(x, float("nan")) for x in (problem.k, problem.v))
        scales = (problem.scale * math.log2(math.e), problem.scale)
        launch = _Launch(
            self,
            problem,
            [
                (problem.q, self.STEP),
                (problem.k, self.ROWS),
                (problem.v, self.ROWS),
                (problem.do, self.STEP),
            ],
            "QQQQQiff",
            [base2, delta, sums, dk, dv, shape.length, *scales],
        )

        def check() -> Tuple[torch.Tensor, ...]:
            sums.zero_()
            launch()
            dq = sums.permute(0, 1, 4, 7, 5, 2, 3, 6, 8).reshape(problem.q.shape)
            return ((dq * problem.scale).to(problem.dtype), dk, dv)

        return launch, check


class Spikes:
    """The hand-written kernels of a folder."""

    def __init__(self, folder: Path):
        """Raises OSError or ValueError if there is none or one is malformed."""
        found: List[Spike] = [
            kind(folder)
            for kind in (ForwardSpike, BackwardSpike)
            if (folder / f"{kind.NAME}.ll").exists()
        ]
        if not found:
            raise ValueError(
                f"{folder} has neither {ForwardSpike.NAME}.ll nor {BackwardSpike.NAME}.ll"
            )
        self._found = found

    def find(self, problem: Problem) -> Optional[Spike]:
        return next((spike for spike in self._found if spike.supports(problem)), None)
