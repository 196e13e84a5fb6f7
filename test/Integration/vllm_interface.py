"""The part of vLLM's interface of attention back ends that tile.vllm uses.

Stands for vLLM where that is not installed. `differences` compares it with vLLM 0.33.0
where that is.
"""

from __future__ import annotations

import inspect
import sys
import types
from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar, Generic, List, Optional, TypeVar

import torch

VERSION = "0.33.0"

T = TypeVar("T")


class AttentionType(str, Enum):
    DECODER = "decoder"
    ENCODER = "encoder"
    ENCODER_ONLY = "encoder_only"
    ENCODER_DECODER = "encoder_decoder"


@dataclass(frozen=True)
class MultipleOf:
    base: int


class AttentionCGSupport(Enum):
    ALWAYS = 3
    UNIFORM_BATCH = 2
    UNIFORM_SINGLE_TOKEN_DECODE = 1
    NEVER = 0


class AttentionBackend(ABC):
    supported_dtypes: ClassVar[List[torch.dtype]] = [torch.float16, torch.bfloat16]
    supported_kv_cache_dtypes: ClassVar[List[str]] = ["auto", "float16", "bfloat16"]
    forward_includes_kv_cache_update = True
    supports_kv_cache_update_bypass = False

    @staticmethod
    def get_supported_kernel_block_sizes(kv_cache_spec=None):
        return [MultipleOf(1)]

    @staticmethod
    @abstractmethod
    def get_name(): ...

    @staticmethod
    @abstractmethod
    def get_impl_cls(): ...

    @staticmethod
    @abstractmethod
    def get_builder_cls(): ...

    @classmethod
    def supports_head_size(cls, head_size):
        return True

    @classmethod
    def supports_dtype(cls, dtype):
        return dtype in cls.supported_dtypes

    @classmethod
    def supports_kv_cache_dtype(cls, kv_cache_dtype):
        return kv_cache_dtype is None or kv_cache_dtype in cls.supported_kv_cache_dtypes

    @classmethod
    def supports_block_size(cls, block_size):
        return block_size is None or any(
            block_size % size.base == 0 for size in cls.get_supported_kernel_block_sizes()
        )

    @classmethod
    def is_mla(cls):
        return False

    @classmethod
    def supports_sink(cls):
        return False

    @classmethod
    def supports_mm_prefix(cls):
        return False

    @classmethod
    def is_sparse(cls):
        return False

    @classmethod
    def supports_per_head_quant_scales(cls):
        return False

    @classmethod
    def supports_sliding_window(cls):
        return False

    @classmethod
    def supports_rswa(cls):
        return False

    @classmethod
    def supports_non_causal(cls):
        return False

    @classmethod
    def supports_batch_invariance(cls):
        return False

    @classmethod
    def supports_pcp(cls):
        return cls.get_impl_cls().supports_pcp

    @classmethod
    def supports_dcp(cls):
        return cls.get_impl_cls().supports_dcp

    @classmethod
    def supports_attn_type(cls, attn_type):
        return attn_type == AttentionType.DECODER

    @classmethod
    def supports_compute_capability(cls, capability):
        return True

    @classmethod
    def supports_combination(
        cls, head_size, dtype, kv_cache_dtype, block_size, use_mla, has_sink, use_sparse,
        use_mm_prefix, device_capability,
    ):  # fmt: skip
        return None

    @classmethod
    def validate_configuration(
        cls, head_size, dtype, kv_cache_dtype, block_size, use_mla, has_sink, use_sparse,
        use_mm_prefix, use_per_head_quant_scales, device_capability, attn_type,
        has_sliding_window=False, use_non_causal=False, use_batch_invariant=False,
        use_kv_connector=False, use_pcp=False, use_adaptive_verification=False,
        use_dcp=False, use_rswa=False,
    ):  # fmt: skip
        found = {
            "head_size": cls.supports_head_size(head_size),
            "dtype": cls.supports_dtype(dtype),
            "kv_cache_dtype": cls.supports_kv_cache_dtype(kv_cache_dtype),
            "block_size": cls.supports_block_size(block_size),
            "multimodal": not use_mm_prefix or cls.supports_mm_prefix(),
            "MLA": use_mla == cls.is_mla(),
            "attention sinks": not has_sink or cls.supports_sink(),
            "sparse": use_sparse == cls.is_sparse(),
            "per-head quant scales": not use_per_head_quant_scales
            or cls.supports_per_head_quant_scales(),
            "compute capability": cls.supports_compute_capability(device_capability),
            f"attention type {attn_type}": cls.supports_attn_type(attn_type),
            "sliding window": not has_sliding_window or cls.supports_sliding_window(),
            "R-SWA": not use_rswa or cls.supports_rswa(),
            "non-causal attention": not use_non_causal or cls.supports_non_causal(),
            "batch invariance": not use_batch_invariant or cls.supports_batch_invariance(),
            "PCP": not use_pcp or cls.supports_pcp(),
            "DCP": not use_dcp or cls.supports_dcp(),
        }
        reasons = [f"{what} not supported" for what, holds in found.items() if not holds]
        combination = cls.supports_combination(
            head_size, dtype, kv_cache_dtype, block_size, use_mla, has_sink, use_sparse,
            use_mm_prefix, device_capability,
        )  # fmt: skip
        return reasons + ([] if combination is None else [combination])


class AttentionMetadata:
    pass


@dataclass
class CommonAttentionMetadata:
    query_start_loc: torch.Tensor
    query_start_loc_cpu: torch.Tensor
    seq_lens: torch.Tensor
    num_reqs: int
    num_actual_tokens: int
    max_query_len: int
    max_seq_len: int
    block_table_tensor: torch.Tensor
    slot_mapping: torch.Tensor
    causal: Any = True


class AttentionMetadataBuilder(ABC, Generic[T]):
    _cudagraph_support = AttentionCGSupport.NEVER
    reorder_batch_threshold: Optional[int] = None
    supports_update_block_table = False
    requires_block_table_width = False
    supports_draft_decode_metadata_update = False

    @abstractmethod
    def __init__(self, kv_cache_spec, layer_names, vllm_config, device):
        self.kv_cache_spec = kv_cache_spec
        self.layer_names = layer_names
        self.vllm_config = vllm_config
        self.device = device

    @classmethod
    def get_cudagraph_support(cls, vllm_config, kv_cache_spec):
        return cls._cudagraph_support

    @abstractmethod
    def build(self, common_prefix_len, common_attn_metadata, fast_build=False): ...

    def update_block_table(self, metadata, blk_table, slot_mapping):
        raise NotImplementedError

    def build_for_cudagraph_capture(self, common_attn_metadata):
        return self.build(common_prefix_len=0, common_attn_metadata=common_attn_metadata)

    def build_for_drafting(self, common_attn_metadata, draft_index):
        return self.build(0, common_attn_metadata, fast_build=True)

    def update_draft_decode_metadata(self, metadata):
        raise NotImplementedError


class AttentionImpl(ABC, Generic[T]):
    supports_pcp = False
    supports_dcp = False

    @abstractmethod
    def __init__(
        self, num_heads, head_size, scale, num_kv_heads=None, alibi_slopes=None,
        sliding_window=None, kv_cache_dtype="auto", logits_soft_cap=None,
        attn_type=AttentionType.DECODER, kv_sharing_target_layer_name=None,
    ): ...  # fmt: skip

    @abstractmethod
    def forward(
        self, layer, query, key, value, kv_cache, attn_metadata, output,
        output_scale=None, output_block_scale=None,
    ): ...  # fmt: skip


#: The paths of back ends that plugins have registered.
_paths = {}


class AttentionBackendEnum(Enum):
    FLASH_ATTN = "vllm.v1.attention.backends.flash_attn.FlashAttentionBackend"
    CUSTOM = None

    def get_path(self, include_classname=True):
        return _paths.get(self, self.value)

    def is_overridden(self):
        return self in _paths

    def clear_override(self):
        _paths.pop(self, None)


def register_backend(backend, class_path=None, is_mamba=False):
    _paths[backend] = class_path


#: What stands for the content of vLLM's modules.
_MODULES = {
    "vllm.v1.attention.backend": (
        AttentionBackend, AttentionCGSupport, AttentionImpl, AttentionMetadata,
        AttentionMetadataBuilder, AttentionType, CommonAttentionMetadata, MultipleOf,
    ),
    "vllm.v1.attention.backends.registry": (AttentionBackendEnum, register_backend),
}  # fmt: skip


def install() -> None:
    """Puts this interface in the place of vLLM's modules."""
    for name, contents in _MODULES.items():
        parts = name.split(".")
        for end in range(1, len(parts) + 1):
            path = ".".join(parts[:end])
            if path not in sys.modules:
                sys.modules[path] = types.ModuleType(path)
        for item in contents:
            setattr(sys.modules[name], item.__name__, item)
    sys.modules["vllm"].__version__ = VERSION


def differences():
    """Returns what of this interface is not so in the imported vLLM."""
    found = []
    for name, contents in _MODULES.items():
        for mine in contents:
            its = getattr(sys.modules[name], mine.__name__, None)
            if its is None:
                found.append(f"{name} has no {mine.__name__}")
            elif not isinstance(mine, type):
                found += _compare(mine.__name__, mine, its)
            elif issubclass(mine, Enum):
                found += [
                    f"{mine.__name__}.{member.name}"
                    for member in mine
                    if getattr(its, member.name, member).value != member.value
                ]
            else:
                for member, value in vars(mine).items():
                    where = f"{mine.__name__}.{member}"
                    if member.startswith("__") and member != "__init__":
                        continue
                    if member.startswith("_abc") or member == "_is_protocol":
                        continue
                    if not hasattr(its, member):
                        found.append(f"no {where}")
                    elif callable(value) or isinstance(value, (classmethod, staticmethod)):
                        found += _compare(where, getattr(mine, member), getattr(its, member))
                    elif getattr(its, member) != value and not isinstance(value, Enum):
                        found.append(f"{where} is {getattr(its, member)}")
    return found


def _compare(where, mine, its):
    """Compares the parameters of two functions. Those that vLLM's has besides need a
    default."""
    theirs = dict(inspect.signature(its).parameters)
    for name, parameter in inspect.signature(mine).parameters.items():
        other = theirs.pop(name, None)
        if other is None or other.kind != parameter.kind:
            return [f"{where} has no parameter {name}"]
        if other.default != parameter.default:
            return [f"{where}: {name} is {other.default}"]
    more = [n for n, p in theirs.items() if p.default is inspect.Parameter.empty]
    return [f"{where} has the parameters {more}"] if more else []
