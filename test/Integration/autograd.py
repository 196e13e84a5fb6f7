#!/usr/bin/env python3
"""Test of tile.attention on a GPU: gradients, torch.compile and the cache.

Needs PyTorch, a GPU and the compiler. The last line is "N passed, M failed, K
skipped"; the exit status is 1 if a test failed.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "python")]

import tile  # noqa: E402
from tile import DriverError  # noqa: E402
from tile import driver as tile_driver  # noqa: E402

#: q heads, k heads, d, dv, type, options of tile.attention.
CASES = {
    "plain": (4, 4, 64, 64, "float16", {}),
    "grouped": (6, 2, 128, 128, "bfloat16", {"causal": True}),
    "two_sizes": (2, 1, 192, 128, "bfloat16", {"causal": True}),
    "features": (
        4,
        2,
        64,
        64,
        "float16",
        {"window": (40, 8), "softcap": 5.0, "sink": "bfloat16", "deterministic": True},
    ),
}


def main() -> int:
    try:
        tile_driver.shared().compute_capability(0)
    except DriverError as error:
        print(f"SKIPPED: no GPU ({error})")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    if importlib.util.find_spec("torch") is None:
        print("SKIPPED: no PyTorch")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    if len(sys.argv) > 1 and sys.argv[1] == "--child":
        check_case("plain")
        return 0

    tests = {f"case {name}": (check_case, name) for name in CASES}
    tests["packed"] = (check_packed,)
    tests["deterministic"] = (check_deterministic,)
    tests["strides"] = (check_strides,)
    tests["compiled"] = (check_compiled,)
    tests["processes"] = (check_processes,)
    failed = 0
    for name, (test, *arguments) in tests.items():
        try:
            test(*arguments)
        except Exception:  # noqa: BLE001: reported, and the next one runs
            failed += 1
            print(f"FAILED {name}:\n{traceback.format_exc()}", flush=True)
    print(f"{len(tests) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


def normal(shape, dtype, seed):
    import torch

    generator = torch.Generator("cuda").manual_seed(seed)
    values = torch.randn(shape, generator=generator, device="cuda")
    return values.to(getattr(torch, dtype)).requires_grad_()


def make(name, batch=2, sq=130, sk=175):
    heads, kv_heads, d, dv, dtype, options = CASES[name]
    options = dict(options)
    q = normal((batch, sq, heads, d), dtype, 1)
    k = normal((batch, sk, kv_heads, d), dtype, 2)
    v = normal((batch, sk, kv_heads, dv), dtype, 3)
    do = normal((batch, sq, heads, dv), dtype, 4).detach()
    if "sink" in options:
        options["sink"] = normal((heads,), options["sink"], 5)
    return q, k, v, do, options


def judge(found, q, k, v, do, options, names=("dq", "dk", "dv", "dsink")):
    """Compares gradients with float64."""
    from tile import testing

    reference = {
        key: options[key]
        for key in ("causal", "window", "sink", "softcap")
        if key in options
    }
    scale = q.shape[-1] ** -0.5
    exact = testing.gradients(q, k, v, do, scale, **reference)
    low = testing.gradients(q, k, v, do, scale, dtype=q.dtype, **reference)
    for name, gradient in zip(names, found):
        # A gradient has the type of its tensor, which may be lower than q's.
        rounded = getattr(low, name).to(gradient.dtype)
        result = testing.compare(
            gradient, getattr(exact, name), rounded, factor=3, slack=3e-4
        )
        assert result.ok, f"{name} is off by {result.error}, allowed {result.tolerance}"


def gradients(function, q, k, v, do, options):
    import torch

    inputs = [q, k, v] + ([options["sink"]] if "sink" in options else [])
    o = function(q, k, v, **options)
    return torch.autograd.grad(o, inputs, do)


def check_case(name):
    q, k, v, do, options = make(name)
    judge(gradients(tile.attention, q, k, v, do, options), q, k, v, do, options)


def check_packed():
    import torch

    lengths_q, lengths_k = (70, 0, 130), (33, 9, 150)
    cu_q, cu_k = (
        torch.tensor([0, *torch.tensor(n).cumsum(0)], dtype=torch.int32, device="cuda")
        for n in (lengths_q, lengths_k)
    )
    q = normal((200, 4, 64), "float16", 1)
    k, v = (normal((192, 2, 64), "float16", seed) for seed in (2, 3))
    do = normal((200, 4, 64), "float16", 4).detach()
    options = {"causal": True}
    found = gradients(
        lambda *tensors, **rest: tile.attention(
            *tensors, cu_seqlens_q=cu_q, cu_seqlens_k=cu_k, **rest
        ),
        q,
        k,
        v,
        do,
        options,
    )
    for b in range(len(lengths_q)):
        rows, keys = slice(*cu_q[b : b + 2].tolist()), slice(*cu_k[b : b + 2].tolist())
        parts = [q[rows], k[keys], v[keys], do[rows]]
        sequence = [found[0][rows], found[1][keys], found[2][keys]]
        judge([g[None] for g in sequence], *(p[None] for p in parts), options)


def check_deterministic():
    import torch

    q, k, v, do, options = make("features", sq=700, sk=900)
    first = gradients(tile.attention, q, k, v, do, options)
    for _ in range(20):
        again = gradients(tile.attention, q, k, v, do, options)
        assert all(torch.equal(a, b) for a, b in zip(first, again))


def check_strides():
    """Tensors that cannot be read 16 bytes at a time, and a gradient of ones."""
    import torch

    q, k, v, do, options = make("plain")
    wide = torch.zeros(*q.shape[:-1], 67, dtype=q.dtype, device="cuda")
    odd = wide[..., 1:65].copy_(q.detach()).requires_grad_()
    o = tile.attention(odd, k, v)
    (found,) = torch.autograd.grad(o.sum(), [odd])
    (expected,) = torch.autograd.grad(tile.attention(q, k, v).sum(), [q])
    # dq is summed in another order each time.
    assert torch.allclose(found, expected, atol=2e-3)


def check_compiled():
    import torch

    q, k, v, do, options = make("features")

    def function(q, k, v, **options):
        return tile.attention(q * 2, k, v, **options) + 1

    compiled = torch.compile(function, fullgraph=True)
    for a, b in zip(
        gradients(function, q, k, v, do, options),
        gradients(compiled, q, k, v, do, options),
    ):
        assert torch.equal(a, b)


def check_processes():
    with tempfile.TemporaryDirectory(prefix="tile-") as folder:
        environment = dict(os.environ, TILE_CACHE_DIR=folder)
        children = [
            subprocess.Popen([sys.executable, __file__, "--child"], env=environment)
            for _ in range(4)
        ]
        assert [child.wait() for child in children] == [0] * 4
        entries = [path for path in Path(folder).iterdir() if path.is_dir()]
        assert len(entries) == 2, entries  # forward and backward


if __name__ == "__main__":
    sys.exit(main())
