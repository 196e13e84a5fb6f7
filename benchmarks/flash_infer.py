"""FlashInfer's decode over pages. Needs PyTorch and the package flashinfer-python."""

from __future__ import annotations

import functools
import importlib.util
import math
from typing import Any, Callable, Tuple

#: FlashInfer's log-sum-exp has the base 2; times this, it is the natural one.
LSE_UNIT = math.log(2)

#: Bytes of memory for partial results.
WORKSPACE_BYTES = 512 << 20


def is_installed() -> bool:
    """Returns whether the package can be imported."""
    return importlib.util.find_spec("flashinfer") is not None


@functools.lru_cache(maxsize=None)
def _workspace(device: Any) -> Any:
    import torch

    return torch.empty(WORKSPACE_BYTES, dtype=torch.uint8, device=device)


def plan(q: Any, caches: Any, table: Any, keys: int) -> Callable[[], Tuple[Any, Any]]:
    """Returns a call that computes o [B, S, H, D] and the log-sum-exp [B, H, S] of q
    [B, S, H, D], on tensor cores. Each sequence has `keys` keys in the caches of pages
    [page, key, head, D], at the places of its row of `table`. The mask is causal, aligned
    at the end. What FlashInfer computes on the host, and keeps for all layers of a model,
    is done here."""
    import torch
    from flashinfer import BatchDecodeWithPagedKVCacheWrapper

    batch, queries, heads, d = q.shape
    page, kv_heads = caches[0].shape[1:3]
    pages = -(-keys // page)
    indptr = torch.arange(batch + 1, dtype=torch.int32) * pages
    last = torch.full((batch,), keys - (pages - 1) * page, dtype=torch.int32)
    wrapper = BatchDecodeWithPagedKVCacheWrapper(
        _workspace(q.device), "NHD", use_tensor_cores=True, backend="fa2"
    )
    wrapper.plan(
        indptr, table[:, :pages].reshape(-1), last, heads, kv_heads, d, page,
        q_data_type=q.dtype, kv_data_type=caches[0].dtype, q_len_per_req=queries,
    )  # fmt: skip
    rows = q.reshape(batch * queries, heads, d)
    out = torch.empty_like(rows)
    lse = torch.empty(rows.shape[:2], dtype=torch.float32, device=q.device)
    results = out.view(q.shape), lse.view(batch, queries, heads).transpose(1, 2)

    def run() -> Tuple[Any, Any]:
        wrapper.run(rows, tuple(caches), out=out, lse=lse, return_lse=True)
        return results

    return run
