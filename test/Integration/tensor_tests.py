"""Runs a script's tests of tensor functions on a GPU or in the executor.

Where the compiler and the GPU are on two machines, `--pack` compiles all kernels
that the tests use; the environment variable TILE_PACK_DIR names them beside the
GPU.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import sys
import time
import traceback
from pathlib import Path
from typing import Callable, Dict, Tuple

sys.path[:0] = [str(Path(__file__).resolve().parents[2] / "python")]


class Skipped(Exception):
    """The test cannot run here; says why."""


class Suite:
    """The tests of a script: methods that raise AssertionError or Skipped."""

    device = "cpu"

    def tests(self) -> Dict[str, Callable[[], None]]:
        """Returns the tests by name."""
        return {
            name[5:]: getattr(self, name)
            for name in sorted(dir(self))
            if name.startswith("test_")
        }

    def child(self) -> None:
        """Runs in a process that a test started with --child."""

    def normal(self, shape, dtype, seed):
        import torch

        generator = torch.Generator(self.device).manual_seed(seed)
        values = torch.randn(shape, generator=generator, device=self.device)
        return values.to(getattr(torch, dtype)).requires_grad_()

    def sequences(self, lengths):
        """Returns where sequences of these lengths begin, and the end."""
        import torch

        bounds = [sum(lengths[:i]) for i in range(len(lengths) + 1)]
        return torch.tensor(bounds, dtype=torch.int32, device=self.device)


def need_torch(*version: int) -> None:
    import torch

    found = tuple(map(int, re.findall(r"\d+", torch.__version__)[:2]))
    if found < version:
        needed = ".".join(map(str, version))
        raise Skipped(f"PyTorch is {torch.__version__}, must be {needed}")


def capture(step):
    """Captures a step of work on the GPU; returns its results and the graph."""
    import torch

    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        results = step()
    return results, graph


def main(description: str, suite: Suite) -> int:
    """Runs the tests that the command line asks for; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", choices=("cuda", "cpu"))
    parser.add_argument("--filter", default="", metavar="REGEX")
    parser.add_argument("--require-gpu", action="store_true")
    parser.add_argument("--pack", metavar="DIR", help="compile all kernels to DIR")
    parser.add_argument("--chip", help="what to compile for with --pack")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if importlib.util.find_spec("torch") is None:
        return _skip_all("no PyTorch", arguments)
    import torch

    device = arguments.device or ("cuda" if torch.cuda.is_available() else "cpu")
    if arguments.pack:
        device = "cpu"
    if device == "cuda" and not torch.cuda.is_available():
        return _skip_all("no GPU", arguments)
    suite.device = device
    if arguments.child:
        suite.child()
        return 0
    if arguments.pack:
        return _pack(suite, arguments)
    return _run(suite, arguments.filter)


def _skip_all(reason: str, arguments) -> int:
    print(f"SKIPPED: {reason}")
    print("0 passed, 0 failed, 1 skipped")
    return int(arguments.require_gpu)


def _run(suite: Suite, pattern: str) -> int:
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for name, test in suite.tests().items():
        if not re.search(pattern, name):
            continue
        os.environ["TILE_CPU_CHIP"] = "sm_80"
        begin = time.monotonic()
        status, detail = _run_one(test)
        counts[status] += 1
        seconds = time.monotonic() - begin
        print(f"{status.upper()} {name} ({seconds:.1f} s){detail}", flush=True)
    print(", ".join(f"{count} {status}" for status, count in counts.items()))
    return 1 if counts["failed"] else 0


def _run_one(test: Callable[[], None]) -> Tuple[str, str]:
    try:
        test()
    except Skipped as reason:
        return "skipped", f": {reason}"
    except Exception:
        # Reported, and the next test runs.
        return "failed", f":\n{traceback.format_exc()}"
    return "passed", ""


def _pack(suite: Suite, arguments) -> int:
    """Compiles all variants that the tests use, for a machine with a GPU."""
    from tile import cache, prepared
    from tile.programs import KV_SUMS, BackwardVariant

    variants = {}

    def note(variant):
        variants[variant] = None
        if isinstance(variant, BackwardVariant) and variant.kv != "loop":
            # The GPU may choose another way to sum.
            for kv in KV_SUMS[:2]:
                variants[BackwardVariant(variant.forward, variant.dq, kv)] = None

    prepared.observers.append(note)
    status = _run(suite, arguments.filter)
    programs = [variant.ir() for variant in variants]
    cache.precompile(programs, arguments.chip or "sm_90a", arguments.pack)
    print(f"{len(programs)} programs in {arguments.pack}")
    return status
