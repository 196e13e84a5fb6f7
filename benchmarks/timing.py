"""Times of calls on one GPU, measured in turn. Needs PyTorch."""

from __future__ import annotations

import random
import statistics
from typing import Callable, Dict

import torch

#: Elements of f32: more than the second-level cache of any GPU holds.
FLUSH_ELEMENTS = 64 << 20

#: Clock cycles (about half a millisecond) of a busy kernel before each call. It
#: runs longer than the host needs to enqueue any contender's kernels, so the
#: measurement does not contain host time.
BUSY_CYCLES = 1_000_000


def time_in_turn(
    runs: Dict[str, Callable[[], object]], rounds: int, warmup: int, flush: bool
) -> Dict[str, float]:
    """Returns the median time of each call, in milliseconds.

    Each round makes every call once, in random order: the power that a call takes
    lowers the clock of the next one. The first `warmup` rounds are not timed. With
    `flush`, the second-level cache holds none of a call's data when it starts. The
    flush reads: a call would pay for lines that wait to be written.
    """
    memory = torch.zeros(FLUSH_ELEMENTS, dtype=torch.float32, device="cuda")
    events: Dict[str, list] = {name: [] for name in runs}
    names = list(runs)
    generator = random.Random(0)
    for turn in range(warmup + rounds):
        generator.shuffle(names)
        for name in names:
            begin = torch.cuda.Event(enable_timing=True)
            end = torch.cuda.Event(enable_timing=True)
            torch.cuda._sleep(BUSY_CYCLES)
            if flush:
                memory.amax()
            begin.record()
            runs[name]()
            end.record()
            if turn >= warmup:
                events[name].append((begin, end))
    torch.cuda.synchronize()
    return {
        name: statistics.median(begin.elapsed_time(end) for begin, end in pairs)
        for name, pairs in events.items()
    }
