"""vLLM's attention on kernels of this package.

    vllm serve MODEL --attention-backend CUSTOM

The package's entry point in the group `vllm.general_plugins` is `register`, which vLLM
calls in each of its processes. The back end itself is `backend.TileAttentionBackend`;
nothing of vLLM is imported before it is chosen.
"""

from __future__ import annotations

import logging

#: The versions of vLLM whose interface of attention back ends was read.
VERSIONS = ("0.33.0",)

#: vLLM imports the class by this name when the back end is chosen.
BACKEND = f"{__name__}.backend.TileAttentionBackend"

_logger = logging.getLogger(__name__)


def register() -> None:
    """Makes tile the attention back end CUSTOM of vLLM; may be called again.

    Does not raise, because vLLM calls it for every user who has both packages: what
    keeps the back end from working is reported when it is chosen.
    """
    try:
        from vllm.v1.attention.backends.registry import (
            AttentionBackendEnum,
            register_backend,
        )
    except ImportError as error:
        _logger.warning(
            "tile is no attention back end of this vLLM, which has another interface"
            " than vLLM %s: %s",
            " or ".join(VERSIONS),
            error,
        )
        return
    custom = AttentionBackendEnum.CUSTOM
    if custom.is_overridden() and custom.get_path() != BACKEND:
        _logger.warning(
            "the attention back end CUSTOM is %s, not tile; VLLM_PLUGINS=tile keeps"
            " other plugins away",
            custom.get_path(),
        )
        return
    register_backend(custom, BACKEND)


def check_version(version: str) -> None:
    """Raises ImportError for a version of vLLM whose interface is not known.

    vLLM shows the text of an ImportError as the reason why it cannot use a back end.
    """
    if version.split("+")[0] not in VERSIONS:
        raise ImportError(
            f"tile knows the attention interface of vLLM {' and '.join(VERSIONS)},"
            f" and this is vLLM {version}"
        )
