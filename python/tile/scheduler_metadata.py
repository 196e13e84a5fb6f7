"""Scratch memory that calls of attention over a cache share. Needs PyTorch."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

import torch


class SchedulerMetadata:
    """Which block of threads does what, for the lengths of one batch.

    The calls for all layers of a model that get the same object share it: the first
    one computes it on the GPU. It is for calls on one stream. A call with other shapes
    or options, with another tensor of lengths, or after PyTorch has changed the tensor,
    computes it again. Changes that PyTorch does not count are not seen, by other
    libraries or in inference mode: make another object for each step, or `renew` this
    one. A CUDA graph that records the first call computes the table at each replay; no
    graph uses a table from before.
    """

    def __init__(self) -> None:
        #: Scratch memory by prepared call, for the lengths of the last call, and
        #: what tells them from others.
        self._scratch: Dict[Any, Any] = {}
        self._lengths: Tuple[Any, ...] = ()
        self._states: Tuple[Any, ...] = ()
        #: The memory of this object and of those that renew it, None where there is none
        #: of these. It is never freed, because CUDA graphs may use it.
        self._memory: Optional[List[torch.Tensor]] = None

    def renew(self) -> "SchedulerMetadata":
        """Returns an object for the next step, which uses the memory of this one.

        This one must not be used any more. CUDA graphs and calls of all such steps, on
        one stream, then share memory of one size.
        """
        if self._memory is None:
            self._memory = [t for t, _ in self._scratch.values() if t is not None]
        made = SchedulerMetadata()
        made._memory = self._memory
        return made

    def _find(self, *lengths: Any) -> "SchedulerMetadata":
        """Returns this object, without the tables of other lengths."""
        states = tuple(map(_state, lengths))
        if states != self._states:
            self._scratch = {}
            # Kept, so that no other tensor gets their addresses.
            self._lengths, self._states = lengths, states
        return self

    def get(self, call: Any) -> Optional[Any]:
        """Returns the scratch memory of a prepared call that has run for the lengths."""
        return self._scratch.get(call)

    def allocate(self, call: Any, scratch: Any) -> Any:
        """Returns scratch memory for a prepared call, and keeps it."""
        memory = None
        if self._memory is not None and scratch.like is not None:
            memory = self._take(scratch.like)
        self._scratch[call] = found = scratch.allocate(memory)
        return found

    def _take(self, like: torch.Tensor) -> torch.Tensor:
        """Returns memory that no other call of this step has, at least as much as `like`
        has."""
        size = like.numel()
        taken = {id(t) for t, _ in self._scratch.values()}
        for memory in self._memory:
            if id(memory) not in taken and memory.numel() >= size:
                return memory
        # Rounded up, so that a little more in a later step fits, too.
        step = 1 << max(size.bit_length() - 4, 4)
        memory = like.new_empty(-(-size // step) * step)
        self._memory.append(memory)
        return memory


def _state(lengths: Any) -> Any:
    """Returns what changes if a tensor of lengths, or a number, does."""
    if not isinstance(lengths, torch.Tensor):
        return lengths
    version = None if lengths.is_inference() else lengths._version
    recorded = lengths.is_cuda and torch.cuda.is_current_stream_capturing()
    return lengths.data_ptr(), tuple(lengths.shape), version, recorded
