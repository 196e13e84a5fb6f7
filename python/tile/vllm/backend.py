"""The attention back end of vLLM: what it supports, its metadata, and its layers.

A step has one table of works for all layers: which block of threads has which queries
and keys. The GPU computes it with the first layer, so that nothing waits for the GPU,
and a CUDA graph that has all layers computes it at each replay.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, List, Optional, Tuple

import torch
import vllm
from vllm.v1.attention.backend import (
    AttentionBackend,
    AttentionCGSupport,
    AttentionImpl,
    AttentionMetadata,
    AttentionMetadataBuilder,
    AttentionType,
    MultipleOf,
)

from ..append import store
from ..choices import count_short_queries
from ..errors import ArgumentError
from ..kv_cache import SchedulerMetadata, attention_with_kvcache
from ..prepared import HEAD_DIMENSION_STEP, MAX_HEAD_DIMENSION, TYPES
from . import check_version

check_version(vllm.__version__)

#: The types of caches by vLLM's names; "auto" is the type of the model.
_CACHE_TYPES = {"float16": torch.float16, "bfloat16": torch.bfloat16}

#: Pages have a multiple of this number of keys, as vLLM's other back ends want it. Kernels
#: take pages of any size, but those for 8 keys spill registers on `sm_90a`.
_PAGE_STEP = 16

#: The compute capability of the oldest GPU that kernels run on.
_OLDEST_CAPABILITY = (8, 0)

#: The queries of a prompt whose kernel is loaded before the first request.
_WARM_UP_QUERIES = 256


class TileAttentionBackend(AttentionBackend):
    """The properties of the back end, which vLLM asks for before it makes layers."""

    supported_dtypes: ClassVar[List[torch.dtype]] = list(TYPES)
    supported_kv_cache_dtypes: ClassVar[List[Any]] = ["auto", *_CACHE_TYPES]
    #: vLLM writes keys and values by `do_kv_cache_update` before `forward`.
    forward_includes_kv_cache_update = False
    supports_kv_cache_update_bypass = True

    @staticmethod
    def get_name() -> str:
        # vLLM looks the name up among its own.
        return "CUSTOM"

    @staticmethod
    def get_impl_cls() -> type:
        return TileAttentionImpl

    @staticmethod
    def get_builder_cls() -> type:
        return TileMetadataBuilder

    @staticmethod
    def get_supported_kernel_block_sizes(kv_cache_spec: Any = None) -> List[Any]:
        return [MultipleOf(_PAGE_STEP)]

    @classmethod
    def supports_head_size(cls, head_size: int) -> bool:
        return 0 < head_size <= MAX_HEAD_DIMENSION and not (
            head_size % HEAD_DIMENSION_STEP
        )

    @classmethod
    def supports_sink(cls) -> bool:
        return True

    @classmethod
    def supports_sliding_window(cls) -> bool:
        return True

    @classmethod
    def supports_non_causal(cls) -> bool:
        return True

    @classmethod
    def supports_compute_capability(cls, capability: Any) -> bool:
        return (capability.major, capability.minor) >= _OLDEST_CAPABILITY

    @classmethod
    def supports_combination(
        cls,
        head_size: int,
        dtype: torch.dtype,
        kv_cache_dtype: Any,
        block_size: Optional[int],
        use_mla: bool,
        has_sink: bool,
        use_sparse: bool,
        use_mm_prefix: bool,
        device_capability: Any,
    ) -> Optional[str]:
        if torch.version.hip is not None:
            return "tile launches kernels on NVIDIA GPUs only"
        if _CACHE_TYPES.get(kv_cache_dtype, dtype) != dtype:
            return f"tile has no kernel for queries of {dtype} and a cache of {kv_cache_dtype}"
        return None


@dataclass
class TileMetadata(AttentionMetadata):
    """What the layers of one step share.

    The tensors are vLLM's own, which CUDA graphs read again at each replay. Rows of
    queries behind the last sequence are padding: they are neither read nor written.
    After a change of the lengths vLLM builds metadata anew or calls
    `update_draft_decode_metadata`; without either, the table of works would be old.
    """

    num_actual_tokens: int
    max_query_len: int
    max_seq_len: int
    query_start_loc: torch.Tensor
    seq_lens: torch.Tensor
    block_table: torch.Tensor
    slot_mapping: torch.Tensor
    causal: bool
    schedule: SchedulerMetadata


class TileMetadataBuilder(AttentionMetadataBuilder[TileMetadata]):
    """Makes the metadata of steps, whose tables of works share memory.

    CUDA graphs may record batches of any lengths: a kernel's grid does not depend on
    the lengths. The memory of the tables stays for as long as the builder, because
    graphs use it.
    """

    _cudagraph_support: ClassVar[AttentionCGSupport] = AttentionCGSupport.ALWAYS
    supports_update_block_table = True
    supports_draft_decode_metadata_update = True

    def __init__(
        self, kv_cache_spec: Any, layer_names: List[str], vllm_config: Any, device: Any
    ) -> None:
        super().__init__(kv_cache_spec, layer_names, vllm_config, device)
        self._schedule = SchedulerMetadata().renew()
        if torch.device(device).type == "cuda":
            self._warm_up()

    def _warm_up(self) -> None:
        """Compiles and loads the kernels of the layers, which a graph cannot do, and
        allocates the memory of the tables."""
        layers = self.vllm_config.compilation_config.static_forward_context
        found = {}
        for name in self.layer_names:
            impl = layers[name].impl
            if isinstance(impl, TileAttentionImpl):
                found[impl.variant] = impl
        for impl in found.values():
            impl.warm_up(self.kv_cache_spec, self.device, self._schedule)

    def build(
        self,
        common_prefix_len: int,
        common_attn_metadata: Any,
        fast_build: bool = False,
    ) -> TileMetadata:
        """Returns the metadata of a step. Common prefixes are no case of their own."""
        common = common_attn_metadata
        if not isinstance(common.causal, bool):
            raise ArgumentError(
                "causal is a tensor: masks that differ between the sequences of a batch"
                " are not supported by tile"
            )
        self._schedule = self._schedule.renew()
        return TileMetadata(
            num_actual_tokens=common.num_actual_tokens,
            max_query_len=common.max_query_len,
            max_seq_len=common.max_seq_len,
            query_start_loc=common.query_start_loc,
            seq_lens=common.seq_lens,
            block_table=common.block_table_tensor,
            slot_mapping=common.slot_mapping,
            causal=common.causal,
            schedule=self._schedule,
        )

    def update_block_table(
        self, metadata: TileMetadata, blk_table: torch.Tensor, slot_mapping: torch.Tensor
    ) -> TileMetadata:
        """Returns the metadata for other pages. The lengths are the same, and so is the
        table of works."""
        return replace(metadata, block_table=blk_table, slot_mapping=slot_mapping)

    def update_draft_decode_metadata(self, metadata: TileMetadata) -> None:
        """Says that the lengths have changed: the next layer computes the table again,
        in a graph as well."""
        metadata.schedule = metadata.schedule.renew()


class TileAttentionImpl(AttentionImpl[TileMetadata]):
    """The attention of one layer."""

    def __init__(
        self,
        num_heads: int,
        head_size: int,
        scale: float,
        num_kv_heads: Optional[int] = None,
        alibi_slopes: Optional[List[float]] = None,
        sliding_window: Optional[int] = None,
        kv_cache_dtype: str = "auto",
        logits_soft_cap: Optional[float] = None,
        attn_type: str = AttentionType.DECODER,
        kv_sharing_target_layer_name: Optional[str] = None,
        sinks: Optional[torch.Tensor] = None,
        **others: Any,
    ) -> None:
        self.num_heads = num_heads
        self.head_size = head_size
        self.scale = float(scale)
        self.num_kv_heads = num_kv_heads or num_heads
        self.kv_cache_dtype = kv_cache_dtype
        self.kv_sharing_target_layer_name = kv_sharing_target_layer_name
        self.softcap = logits_soft_cap or 0.0
        self.sinks = sinks
        # A query sees itself and sliding_window - 1 keys before, and behind it as many
        # without a causal mask.
        self._side = -1 if sliding_window is None else sliding_window - 1
        for name, value in (("alibi_slopes", alibi_slopes), *others.items()):
            if value is not None and value is not False:
                raise ArgumentError(f"{name} is not supported by tile")
        if attn_type != AttentionType.DECODER:
            raise ArgumentError(
                f"attn_type is {attn_type}: tile computes attention of decoders only"
            )
        if kv_cache_dtype not in TileAttentionBackend.supported_kv_cache_dtypes:
            raise ArgumentError(
                f"kv_cache_dtype is {kv_cache_dtype}, which is not supported by tile"
            )

    @property
    def variant(self) -> Tuple[Any, ...]:
        """Returns what tells the kernels of this layer from those of others."""
        return (
            self.num_heads,
            self.num_kv_heads,
            self.head_size,
            self._side,
            self.softcap > 0,
            None if self.sinks is None else self.sinks.dtype,
        )

    def forward(
        self,
        layer: Any,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        kv_cache: torch.Tensor,
        attn_metadata: Optional[TileMetadata],
        output: torch.Tensor,
        output_scale: Optional[torch.Tensor] = None,
        output_block_scale: Optional[torch.Tensor] = None,
    ) -> torch.Tensor:
        """Writes the attention of queries [T, H, D] to the keys in the cache to output,
        [T, H, Dv]."""
        if output_scale is not None or output_block_scale is not None:
            raise ArgumentError("output_scale: a quantized output is not supported by tile")
        if attn_metadata is None:
            # vLLM measures the memory of the model without a cache.
            return output.fill_(0)
        causal = attn_metadata.causal
        keys, values = self._split(kv_cache)
        attention_with_kvcache(
            query,
            keys,
            values,
            cache_seqlens=attn_metadata.seq_lens,
            page_table=attn_metadata.block_table,
            cu_seqlens_q=attn_metadata.query_start_loc,
            max_seqlen_q=min(attn_metadata.max_query_len, query.shape[0]),
            softmax_scale=self.scale,
            causal=causal,
            window_size=(self._side, -1 if causal else self._side),
            softcap=self.softcap,
            learnable_sink=self.sinks,
            scheduler_metadata=attn_metadata.schedule,
            out=output,
        )
        return output

    def do_kv_cache_update(
        self,
        layer: Any,
        key: torch.Tensor,
        value: torch.Tensor,
        kv_cache: torch.Tensor,
        slot_mapping: torch.Tensor,
    ) -> None:
        """Writes new keys and values [T, Hkv, D] to their slots of the cache; rows of
        padding have the slot -1."""
        keys, values = self._split(kv_cache)
        operators = torch.ops._C_cache_ops
        if key.is_cuda and hasattr(operators, "reshape_and_cache_flash"):
            operators.reshape_and_cache_flash(
                key,
                value,
                keys,
                values,
                slot_mapping,
                self.kv_cache_dtype,
                layer._k_scale,
                layer._v_scale,
            )
        else:
            store(key, value, keys, values, slot_mapping)

    def _split(self, kv_cache: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
        """Returns pages [P, R, Hkv, D] of keys and of values. vLLM has them beside each
        other, [P, Hkv, R, D + Dv], with strides in any order."""
        pages = kv_cache.transpose(1, 2)
        return pages[..., : self.head_size], pages[..., self.head_size :]

    def warm_up(
        self, kv_cache_spec: Any, device: Any, schedule: SchedulerMetadata
    ) -> None:
        """Runs the kernels for prompts, for mixed batches and for steps of decoding on
        zeros, in the memory of a schedule."""
        dtype, page = kv_cache_spec.dtype, kv_cache_spec.block_size
        columns = kv_cache_spec.head_size + kv_cache_spec.head_size_v
        pages = torch.zeros(
            (1, self.num_kv_heads, page, columns), dtype=dtype, device=device
        )
        short = count_short_queries(self.num_heads // self.num_kv_heads)
        # The first two need the most memory.
        for sequences, queries, longest in (
            # A prompt.
            (1, _WARM_UP_QUERIES, _WARM_UP_QUERIES),
            # Steps of several queries, and of one, beside which there may be a prompt.
            (8, 8 * short, 4 * short),
            (_WARM_UP_QUERIES, _WARM_UP_QUERIES, _WARM_UP_QUERIES),
            # Steps alone.
            *((1, 1 << i, 1 << i) for i in range(short.bit_length())),
            # Sequences of more queries, alone and beside steps.
            (2, 2 * short, 2 * short),
            (2 * short, 2 * short, 2 * short),
        ):
            q, o = (
                torch.zeros((queries, self.num_heads, size), dtype=dtype, device=device)
                for size in (self.head_size, kv_cache_spec.head_size_v)
            )
            bounds = torch.arange(sequences + 1, dtype=torch.int32, device=device)
            bounds *= queries // sequences
            metadata = TileMetadata(
                num_actual_tokens=queries,
                max_query_len=longest,
                max_seq_len=queries,
                query_start_loc=bounds,
                seq_lens=bounds.diff(),
                block_table=bounds.new_zeros((sequences, -(-queries // page))),
                slot_mapping=bounds.new_zeros(0, dtype=torch.int64),
                causal=True,
                schedule=schedule.renew(),
            )
            # The second layer has another kernel, which finds the table of works.
            for _ in range(2):
                self.forward(None, q, q, q, pages, metadata, o)
