"""Matrix products on one GPU: their shapes, our kernels, and times in turn."""

from __future__ import annotations

import math
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Callable, Dict, Iterable, List, Mapping, NamedTuple, Tuple

import tile

#: The extents of weights in DeepGEMM's tests, N x K.
WEIGHTS = (
    "2112x7168",
    "576x7168",
    "24576x1536",
    "32768x512",
    "7168x16384",
    "4096x7168",
    "7168x2048",
)

#: Rows of the result that are checked at each end.
CHECKED_ROWS = 128

#: Largest error relative to the largest exact element, by element type: two units
#: in the last place.
TOLERANCE = {"f16": 2**-10, "bf16": 2**-7}

#: A contender: called with a [M, K], b [K, N] and c [M, N], returns what is timed. The
#: first call writes the result to c.
Contender = Callable[..., Callable[[], object]]


class Shape(NamedTuple):
    """The extents of a product, C = A * B."""

    m: int
    n: int
    k: int

    @staticmethod
    def parse(text: str) -> "Shape":
        extents = [int(extent) for extent in text.split("x")]
        if len(extents) != 3 or min(extents) < 1:
            raise ValueError(f"expected MxNxK, got '{text}'")
        return Shape(*extents)

    def __str__(self) -> str:
        return f"{self.m}x{self.n}x{self.k}"

    @property
    def sizes(self) -> str:
        """Returns the sizes of the arguments for the compiler."""
        m, n, k = self
        return f"a = {m}x{k}, b = {k}x{n}, c = {m}x{n}"


def weights_of(rows: Iterable[int]) -> Tuple[str, ...]:
    """Returns the shapes of products of these numbers of rows with all weights."""
    return tuple(f"{m}x{weight}" for m in rows for weight in WEIGHTS)


def element_type(program: str) -> str:
    return "bf16" if "xbf16," in program else "f16"


def compile_all(program: str, schedules: Iterable[str]) -> Dict[str, tile.Module]:
    """Returns the loaded modules of a program with these schedules, compiled in
    parallel."""

    def compile_one(schedule: str) -> tile.Module:
        module = tile.compile(program, schedule=schedule or None)
        module.load()
        return module

    distinct = list(dict.fromkeys(schedules))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(distinct, pool.map(compile_one, distinct)))


def ours(module: tile.Module) -> Contender:
    """Returns the contender of one of our modules. Its scratch memory holds NaN."""

    def bind(a, b, c):
        import torch

        shapes = {"a": tuple(a.shape), "b": tuple(b.shape), "c": tuple(c.shape)}
        scratch = {
            name: torch.full(shape, math.nan, device=a.device, dtype=torch.float32)
            for name, (_, shape) in module.scratch(shapes).items()
        }
        return lambda: module.launch(a=a, b=b, c=c, **scratch)

    return bind


class Measurement(NamedTuple):
    """The times of contenders in milliseconds, and the largest error of each relative
    to the largest exact element. The time of cuBLAS is beside them."""

    library: float
    times: Dict[str, float]
    errors: Dict[str, float]

    def ratio(self, name: str) -> float:
        """Returns the rate of a contender relative to that of cuBLAS."""
        return self.library / self.times[name]

    def wrong(self, dtype: str) -> List[str]:
        """Returns the contenders with wrong results."""
        return [n for n, e in self.errors.items() if not e <= TOLERANCE[dtype]]


def measure(
    contenders: Mapping[str, Contender],
    shape: Shape,
    dtype: str,
    rounds: int,
    warmup: int,
) -> Measurement:
    """Times contenders and torch.matmul in turn on matrices of normal random numbers,
    and checks the first and the last rows of their results."""
    import torch
    from timing import time_in_turn

    torch.manual_seed(0)
    element = {"f16": torch.float16, "bf16": torch.bfloat16}[dtype]
    m, n, k = shape
    a = torch.randn(m, k, device="cuda", dtype=element)
    b = torch.randn(k, n, device="cuda", dtype=element)
    ends = [slice(0, min(m, CHECKED_ROWS)), slice(m - min(m, CHECKED_ROWS), m)]
    exact = [a[rows].double() @ b.double() for rows in ends]
    runs = {"cuBLAS": lambda: torch.matmul(a, b)}
    errors = {}
    for name, bind in contenders.items():
        c = torch.full((m, n), math.nan, device="cuda", dtype=element)
        runs[name] = bind(a, b, c)
        runs[name]()
        found = [
            ((c[rows].double() - right).abs().max() / right.abs().max()).item()
            for rows, right in zip(ends, exact)
        ]
        # Rows between those that are compared: everything has been written.
        wrong = any(map(math.isnan, found)) or not c.isfinite().all()
        errors[name] = math.inf if wrong else max(found)
    times = time_in_turn(runs, rounds, warmup, flush=True)
    return Measurement(times.pop("cuBLAS"), times, errors)


def mean(ratios: Iterable[float]) -> float:
    """Returns the geometric mean."""
    logarithms = [math.log(ratio) for ratio in ratios]
    return math.exp(sum(logarithms) / len(logarithms))
