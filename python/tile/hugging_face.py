"""Attention of Hugging Face's transformers on kernels of this package.

    tile.register_with_transformers()
    model = AutoModelForCausalLM.from_pretrained(..., attn_implementation="tile")

Needs transformers 5, which is imported at the registration. Tested with 5.23.
"""

from __future__ import annotations

import inspect
from typing import Any, Iterator, Optional, Tuple

import torch

from .errors import ArgumentError
from .functional import attention

#: Arguments that models pass and that attention does not depend on.
_IGNORED = frozenset((
    "position_ids", "cache_position", "use_cache", "return_dict", "past_key_values",
    "past_key_value", "position_embeddings", "num_items_in_batch", "target_dtype",
    "attn_implementation", "layer_idx", "output_hidden_states",
    "output_router_logits", "logits_to_keep",
))  # fmt: skip

#: Masks that kernels compute from the arguments of a call.
_KNOWN_MASKS = frozenset((
    "causal_mask_function", "bidirectional_mask_function", "sliding_window_overlay",
    "sliding_window_bidirectional_overlay", "packed_sequence_mask_function",
))  # fmt: skip


def register(name: str = "tile") -> None:
    """Adds `name` to the attention functions of transformers.

    Raises ImportError without transformers.
    """
    from transformers import AttentionInterface, AttentionMaskInterface

    AttentionInterface.register(name, attention_forward)
    AttentionMaskInterface.register(name, attention_mask)


def attention_mask(
    *,
    q_length: int,
    kv_length: int,
    q_offset: Any = 0,
    kv_offset: int = 0,
    mask_function: Any = None,
    attention_mask: Optional[torch.Tensor] = None,
    device: Any = None,
    **others: Any,
) -> Optional[torch.Tensor]:
    """Returns no mask, because kernels compute theirs; refuses other masks.

    Window and causal mask come with the call of `attention_forward`. For
    sequences that only positions separate the result is a tensor without
    elements, which tells that function that it needs their bounds.
    """
    parts = set(_parts(mask_function)) if mask_function is not None else set()
    for part in sorted(parts - _KNOWN_MASKS):
        raise ArgumentError(f"the mask {part} is not supported by tile")
    if "causal_mask_function" in parts and (
        isinstance(q_offset, torch.Tensor) or q_offset + q_length != kv_offset + kv_length
    ):
        raise ArgumentError(
            "past_key_values: caches of fixed size are not supported by tile"
        )
    if attention_mask is not None and not attention_mask[:, -kv_length:].all():
        raise ArgumentError(
            "attention_mask: padded batches are not supported by tile; pack the"
            " sequences, or let all have one length"
        )
    if "packed_sequence_mask_function" in parts:
        return torch.empty(0, dtype=torch.bool, device=device)
    return None


def _parts(function: Any) -> Iterator[str]:
    """Returns the names of the masks whose intersection a function is."""
    name = function.__qualname__.split(".")[0]
    inner = inspect.getclosurevars(function).nonlocals
    if name == "and_masks":
        for part in inner["mask_functions"]:
            yield from _parts(part)
    elif name == "remap_positions_for_packed_sequence":
        yield from _parts(inner["mask_function"])
    else:
        yield name


def attention_forward(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: Optional[torch.Tensor] = None,
    *,
    scaling: Optional[float] = None,
    dropout: float = 0.0,
    sliding_window: Optional[int] = None,
    softcap: Optional[float] = None,
    is_causal: Optional[bool] = None,
    s_aux: Optional[torch.Tensor] = None,
    cu_seq_lens_q: Optional[torch.Tensor] = None,
    cu_seq_lens_k: Optional[torch.Tensor] = None,
    max_length_q: Optional[int] = None,
    max_length_k: Optional[int] = None,
    **others: Any,
) -> Tuple[torch.Tensor, None]:
    """Attention of [B, H, S, D] tensors; returns [B, S, H, D].

    Raises ArgumentError that names an argument which the kernels cannot do.
    """
    packed = cu_seq_lens_q is not None or cu_seq_lens_k is not None
    if attention_mask is not None:
        if attention_mask.numel():
            raise ArgumentError("attention_mask is not supported by tile")
        if not packed:
            raise ArgumentError(
                "position_ids begin again inside a row: tile needs cu_seq_lens_q and"
                " cu_seq_lens_k of packed sequences"
            )
    if dropout:
        raise ArgumentError(
            f"dropout is {dropout}, is not supported by tile; set"
            " attention_dropout of the model's configuration to 0"
        )
    for name, option in others.items():
        if name in _IGNORED or option is None or option is False:
            continue
        raise ArgumentError(f"{name} is not supported by tile")
    if is_causal is None:
        is_causal = getattr(module, "is_causal", True)
    window = None
    if sliding_window is not None:
        # A query sees itself and sliding_window - 1 more keys on each side.
        window = (sliding_window - 1, sliding_window - 1)
    query, key, value = (t.transpose(1, 2) for t in (query, key, value))
    options = dict(
        causal=bool(is_causal),
        window=window,
        scale=scaling,
        softcap=softcap,
        sink=s_aux,
    )
    if not packed:
        return attention(query, key, value, **options), None
    if query.shape[0] != 1:
        raise ArgumentError(
            f"cu_seq_lens_q: packed sequences must be one batch, got {query.shape[0]}"
        )
    o = attention(
        query[0], key[0], value[0], cu_seqlens_q=cu_seq_lens_q,
        cu_seqlens_k=cu_seq_lens_k, max_seqlen_q=_number(max_length_q),
        max_seqlen_k=_number(max_length_k), **options,
    )  # fmt: skip
    return o[None], None


def _number(value: Any) -> Optional[int]:
    return value if value is None else int(value)
