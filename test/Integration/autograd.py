#!/usr/bin/env python3
"""Test of tile.attention on PyTorch tensors, against float64.

    autograd.py                       # on the GPU at hand, else on the CPU
    autograd.py --device cpu          # in the executor; needs no GPU

Needs PyTorch 1.13 and the compiler. Where the compiler and the GPU are on two
machines, compile first and carry the folder:

    autograd.py --pack DIR --chip sm_90a           # beside the compiler
    TILE_PACK_DIR=DIR autograd.py                  # beside the GPU

The last line is "N passed, M failed, K skipped"; the exit status is 1 if a test
failed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from unittest import mock

from tensor_tests import Skipped, Suite, capture, main, need_torch

#: q heads, k heads, d, dv, type, queries, keys, options of tile.attention, and
#: the chip whose kernels run for tensors on the CPU.
CASES = {
    "plain": (2, 2, 64, 64, "float16", 130, 70, {}, "sm_80"),
    "grouped": (6, 2, 128, 128, "bfloat16", 33, 77, {"causal": True}, "sm_90a"),
    "two_sizes": (2, 1, 192, 128, "bfloat16", 50, 61, {"causal": True}, "sm_89"),
    "features": (
        4,
        2,
        64,
        64,
        "float16",
        45,
        100,
        {"window": (40, 8), "softcap": 5.0, "sink": "bfloat16", "deterministic": True},
        "gfx942",
    ),
    "wide": (2, 1, 256, 256, "float16", 19, 40, {"sink": "float32"}, "sm_90a"),
    "narrow": (3, 1, 96, 96, "bfloat16", 70, 35, {"window": (-1, 20)}, "gfx1100"),
    # Scores with a row per query.
    "d192_128": (4, 2, 192, 128, "bfloat16", 150, 210, {"causal": True}, "sm_90a"),
    "d192": (2, 1, 192, 192, "float16", 130, 100, {"window": (60, 9)}, "sm_90a"),
    # Head dimensions that tiles pad.
    "d8": (2, 2, 8, 8, "float16", 40, 40, {"causal": True}, "sm_90a"),
    "d40": (2, 1, 40, 40, "bfloat16", 70, 90, {"causal": True}, "gfx1100"),
    "d80": (4, 2, 80, 80, "float16", 113, 130, {"window": (30, 9)}, "sm_90a"),
    "d112_40": (2, 1, 112, 40, "bfloat16", 50, 40, {}, "gfx1201"),
    "d80_sm_120a": (4, 2, 80, 80, "bfloat16", 113, 130, {"window": (30, 9)}, "sm_120a"),
    "grouped_sm_100a": (6, 2, 128, 128, "float16", 33, 77, {"causal": True}, "sm_100a"),
    "wide_gfx90a": (2, 1, 256, 256, "bfloat16", 19, 40, {"sink": "float32"}, "gfx90a"),
    "narrow_gfx1151": (3, 1, 96, 96, "float16", 70, 35, {"window": (-1, 20)}, "gfx1151"),
    "d112_40_gfx1200": (2, 1, 112, 40, "float16", 50, 40, {}, "gfx1200"),
    "d72_200": (2, 2, 72, 200, "float16", 33, 60, {"deterministic": True}, "sm_80"),
    # Tiles with fewer keys on RDNA.
    "wide_gfx1201": (2, 1, 256, 256, "float16", 35, 40, {"causal": True}, "gfx1201"),
    "d192_gfx1100": (2, 1, 192, 128, "bfloat16", 50, 61, {"causal": True}, "gfx1100"),
    "d160": (2, 1, 160, 160, "bfloat16", 50, 70, {"causal": True}, "gfx942"),
}


class Tests(Suite):
    """The tests of tile.attention."""

    def tests(self):
        cases = {f"case {name}": lambda name=name: self.case(name) for name in CASES}
        return {**cases, **super().tests()}

    def child(self):
        self.case("plain")

    def make(self, name, batch=2, sq=None, sk=None):
        heads, kv_heads, d, dv, dtype, queries, keys, options, chip = CASES[name]
        os.environ["TILE_CPU_CHIP"] = chip
        options = dict(options)
        sq, sk = queries if sq is None else sq, keys if sk is None else sk
        q = self.normal((batch, sq, heads, d), dtype, 1)
        k = self.normal((batch, sk, kv_heads, d), dtype, 2)
        v = self.normal((batch, sk, kv_heads, dv), dtype, 3)
        do = self.normal((batch, sq, heads, dv), dtype, 4).detach()
        if "sink" in options:
            options["sink"] = self.normal((heads,), options["sink"], 5)
        return q, k, v, do, options

    def case(self, name):
        q, k, v, do, options = self.make(name)
        check(gradients(q, k, v, do, options), q, k, v, do, options)

    def test_packed(self):
        lengths_q, lengths_k = (70, 0, 30), (33, 9, 50)
        cu_q, cu_k = self.sequences(lengths_q), self.sequences(lengths_k)
        q = self.normal((100, 4, 64), "float16", 1)
        k, v = (self.normal((92, 2, 64), "float16", seed) for seed in (2, 3))
        do = self.normal((100, 4, 64), "float16", 4).detach()
        options = {"causal": True}
        packed = {"cu_seqlens_q": cu_q, "cu_seqlens_k": cu_k, "max_seqlen_q": 70}
        found = gradients(q, k, v, do, {**options, **packed})
        for b in range(len(lengths_q)):
            rows = slice(*cu_q[b : b + 2].tolist())
            keys = slice(*cu_k[b : b + 2].tolist())
            if rows.start == rows.stop:
                assert not found[2][keys].any() and not found[3][keys].any()
                continue
            parts = [t[s][None] for t, s in ((q, rows), (k, keys), (v, keys), (do, rows))]
            results = [
                (found[0][rows][None], found[1][rows][None]),
                found[2][keys][None],
                found[3][keys][None],
            ]
            check([*results[0], *results[1:]], *parts, options)

    def test_shared_keys(self):
        """Blocks that share the keys of a tile, with and without heads as rows."""
        from tile import prepared

        for name, queries, parts in (
            ("grouped", 1, 3), ("grouped", 70, 2), ("features", 1, 5), ("features", 33, 4),
            ("wide", 1, 2), ("narrow", 2, 9), ("d40", 20, 3),
        ):  # fmt: skip
            # Other shapes than elsewhere, since calls are prepared once.
            q, k, v, do, options = self.make(name, 1, queries, 171)
            with mock.patch.object(prepared, "choose_parts", lambda *_, n=parts: n):
                found = gradients(q, k, v, do, options)
            check(found, q, k, v, do, options)

    def test_shared_keys_of_packed_sequences(self):
        import torch
        import tile
        from tile import prepared

        for queries in ((1, 1, 0, 1), (5, 40, 0, 1)):
            cu_q, cu_k = self.sequences(queries), self.sequences((100, 1, 60, 0))
            q = self.normal((sum(queries), 6, 64), "float16", 1).detach()
            k, v = (self.normal((161, 2, 64), "float16", s).detach() for s in (2, 3))
            options = {"causal": True, "cu_seqlens_q": cu_q, "cu_seqlens_k": cu_k,
                       "return_lse": True}  # fmt: skip
            results = []
            for parts in (1, 3):
                with mock.patch.object(prepared, "choose_parts", lambda *_, n=parts: n):
                    prepared._found.clear()
                    tile.functional._prepared.clear()
                    results.append(tile.attention(q, k, v, **options))
            for plain, shared in zip(*results):
                assert torch.allclose(plain.float(), shared.float(), atol=2e-3)

    def test_shared_keys_of_a_part(self):
        """Parts of a part: what is merged into holds the result for other keys."""
        import torch
        import tile
        from tile import prepared

        q, k, v, _, _ = self.make("grouped", 1, 1, 173)
        q, k, v = (t.detach() for t in (q, k, v))
        right = tile.attention(q, k, v, return_lse=True)
        halves = [[t[:, s] for t in (k, v)] for s in (slice(90), slice(90, 173))]
        found = tile.attention(q, *halves[0], return_lse=True)
        with mock.patch.object(prepared, "choose_parts", lambda *_: 4):
            tile.attention(q, *halves[1], merge=found)
        assert torch.allclose(found[0].float(), right[0].float(), atol=2e-2)
        assert torch.allclose(found[1], right[1], atol=1e-4)

    def test_sums_over_heads(self):
        """Each way to sum dK and dV; keys are no multiple of any block."""
        from tile import prepared
        from tile.programs import KV_SUMS

        for extra, kv in enumerate(KV_SUMS):
            # Other shapes each time, since calls are prepared once.
            q, k, v, do, options = self.make("grouped", 1, 20, 77 + extra)
            with mock.patch.object(prepared, "choose_kv_sum", lambda *_, kv=kv: kv):
                found = gradients(q, k, v, do, options)
            check(found, q, k, v, do, options)

    def test_late_products(self):
        """Products one iteration late, which so few queries do without. Keys that no
        query sees may be infinite."""
        import torch
        from tile import choices

        with mock.patch.object(choices, "LATE_QUERIES", 0):
            for name, queries, keys, hidden in (
                ("grouped", 300, 333, 0), ("d8", 290, 290, 0), ("d80", 150, 420, 128),
            ):  # fmt: skip
                q, k, v, do, options = self.make(name, 1, queries, keys)
                infinite = k.detach().clone()
                infinite[:, :hidden] = float("inf")
                found = gradients(q, infinite.requires_grad_(), v, do, options)
                with torch.no_grad():
                    k[:, :hidden] = 0
                check(found, q, k, v, do, options)

    def test_deterministic(self):
        import torch

        sizes = {"sq": 700, "sk": 900} if self.device == "cuda" else {}
        q, k, v, do, options = self.make("features", **sizes)
        first = gradients(q, k, v, do, options)
        for _ in range(20 if self.device == "cuda" else 1):
            again = gradients(q, k, v, do, options)
            assert all(torch.equal(a, b) for a, b in zip(first, again))

    def test_strides_and_addresses(self):
        """Tensors that cannot be read 16 bytes at a time, and gradients of ones."""
        import torch
        import tile

        q, k, v, do, _ = self.make("plain")
        wide = torch.zeros(*q.shape[:-1], 67, dtype=q.dtype, device=self.device)
        odd = wide[..., 1:65].copy_(q.detach()).requires_grad_()
        flat = torch.zeros(k.numel() + 1, dtype=k.dtype, device=self.device)
        moved = flat[1:].view(k.shape).copy_(k.detach()).requires_grad_()
        assert moved.is_contiguous() and moved.data_ptr() % 16
        found = torch.autograd.grad(tile.attention(odd, moved, v).sum(), [odd, moved])
        expected = torch.autograd.grad(tile.attention(q, k, v).sum(), [q, k])
        for a, b in zip(found, expected):
            # dq is summed in another order each time.
            assert torch.allclose(a, b, atol=2e-3)
        transposed = [t.detach().transpose(1, 2).contiguous().transpose(1, 2) for t in (q, k, v)]
        assert torch.equal(tile.attention(*transposed), tile.attention(q, k, v).detach())

    def test_empty(self):
        """No queries, keys, sequences or heads: zeros, and logarithms of -inf."""
        import torch
        import tile

        for b, sq, sk, heads in (
            (1, 0, 9, 2), (1, 9, 0, 2), (0, 9, 9, 2), (1, 9, 9, 0), (2, 0, 0, 1),
        ):  # fmt: skip
            for sink in (None, torch.ones(heads, device=self.device)):
                q = self.normal((b, sq, heads, 64), "float16", 1)
                k, v = (self.normal((b, sk, heads, 64), "float16", s) for s in (2, 3))
                o, lse = tile.attention(q, k, v, return_lse=True, sink=sink)
                assert o.shape == q.shape and lse.shape == (b, heads, sq)
                if sk == 0:
                    assert (o == 0).all(), o
                    assert (lse == (-float("inf") if sink is None else 1)).all(), lse
                for g, t in zip(torch.autograd.grad(o.sum(), [q, k, v]), (q, k, v)):
                    assert g.shape == t.shape and (g == 0).all()
        for lengths_q, lengths_k in (((5, 3), (0, 0)), ((0, 0), (5, 3)), ((), ())):
            q = self.normal((sum(lengths_q), 2, 64), "float16", 1)
            k, v = (self.normal((sum(lengths_k), 2, 64), "float16", s) for s in (2, 3))
            bounds = {
                "cu_seqlens_q": self.sequences(lengths_q),
                "cu_seqlens_k": self.sequences(lengths_k),
            }
            o, lse = tile.attention(q, k, v, return_lse=True, **bounds)
            assert (o == 0).all() and (lse == -float("inf")).all()
            for g in torch.autograd.grad(o.sum(), [q, k, v]):
                assert (g == 0).all()

    def test_lse_and_no_gradient(self):
        import torch
        import tile
        from tile import testing

        q, k, v, _, _ = self.make("plain")
        with torch.no_grad():
            o, lse = tile.attention(q, k, v, causal=True, return_lse=True)
            assert not o.requires_grad
        exact = testing.attention(q, k, v, 0.125, causal=True)
        result = testing.compare_lse(lse, exact[1].detach())
        assert result.ok, result
        only = torch.autograd.grad(tile.attention(q, k, v, causal=True).sum(), [v])
        with_lse = tile.attention(q, k, v, causal=True, return_lse=True)
        assert with_lse[1].requires_grad
        (again,) = torch.autograd.grad(with_lse[0].sum(), [v])
        assert torch.equal(only[0], again)
        assert torch.equal(lse, with_lse[1])

    def test_autocast(self):
        """Tensors in f32 are cast, as scaled_dot_product_attention casts them."""
        import torch
        import tile

        q, k, v, do, _ = self.make("plain")
        wide = [t.detach().float().requires_grad_() for t in (q, k, v)]
        with torch.autocast(self.device, dtype=torch.bfloat16):
            o = tile.attention(*wide, causal=True)
            assert o.dtype == torch.bfloat16
        found = torch.autograd.grad(o, wide, do.to(torch.bfloat16))
        assert all(g.dtype == torch.float32 for g in found)
        low = [t.detach().to(torch.bfloat16).requires_grad_() for t in wide]
        options = {"causal": True}
        check(
            [o, *(g.to(torch.bfloat16) for g in found)], *low, do.to(torch.bfloat16),
            options,
        )  # fmt: skip
        try:
            tile.attention(*wide)
        except tile.ArgumentError as error:
            assert "q is torch.float32" in str(error)
        else:
            raise AssertionError("f32 is accepted")

    def test_errors(self):
        """Messages name the argument in the caller's words."""
        import torch
        import tile

        q, k, v, _, _ = self.make("plain")
        many = q.new_zeros((2, 9, 3, 64))
        bounds = self.sequences((3,))
        for words, arguments, options in (
            ("window must be a pair", (q, k, v), {"window": 5}),
            ("window must be a pair", (q, k, v), {"window": (1.5, 0)}),
            ("q must be a torch.Tensor, got list", ([1], k, v), {}),
            ("v must be a torch.Tensor, got NoneType", (q, k, None), {}),
            ("sink must be a torch.Tensor", (q, k, v), {"sink": 1.0}),
            ("sink must have shape \\(2,\\)", (q, k, v), {"sink": q[0, 0, 0]}),
            ("q has 3 dimensions, must have 4", (q[0], k, v), {}),
            ("k is torch.bfloat16, but q is", (q, k.bfloat16(), v), {}),
            ("shapes of k and v differ", (q, k, v[:, :5]), {}),
            ("batches of q and k differ: 1 and 2", (q[:1], k, v), {}),
            ("head dimensions of q and k differ", (q[..., :32], k, v), {}),
            ("are \\(36, 36\\); supported are multiples of 8 up to 256",
             tuple(t[..., :36] for t in (q, k, v)), {}),
            ("q has 3 heads, which is no multiple of the 2", (many, k, v), {}),
            ("scale is -1", (q, k, v), {"scale": -1.0}),
            ("softcap is 0", (q, k, v), {"softcap": 0}),
            ("must be given together", (q, k, v), {"cu_seqlens_k": bounds}),
            ("because sequences are packed", (q, k, v),
             {"cu_seqlens_q": bounds, "cu_seqlens_k": bounds}),
            ("cu_seqlens_q must be a contiguous torch.int32", (q[0], k[0], v[0]),
             {"cu_seqlens_q": bounds.long(), "cu_seqlens_k": bounds}),
            ("max_seqlen_k must be an int", (q[0], k[0], v[0]),
             {"cu_seqlens_q": bounds, "cu_seqlens_k": bounds, "max_seqlen_k": -1}),
        ):  # fmt: skip
            # The second time as the first: nothing wrong is remembered.
            for _ in range(2):
                try:
                    tile.attention(*arguments, **options)
                except tile.ArgumentError as error:
                    assert re.search(words, str(error)), (words, str(error))
                else:
                    raise AssertionError(f"accepted what must be refused: {words}")
        for words, options in (
            ("dropout_p is not supported by tile.attention", {"dropout_p": 0.1}),
            ("attn_mask is not supported", {"attn_mask": torch.ones(1)}),
            ("is_causal is not an argument .* calls it causal", {"is_causal": True}),
        ):
            try:
                tile.attention(q, k, v, **options)
            except tile.ArgumentError as error:
                assert re.search(words, str(error)), (words, str(error))
            else:
                raise AssertionError(f"accepted what must be refused: {words}")
        try:
            tile.attention(q, k, v, casual=True)
        except TypeError as error:
            assert "unexpected keyword argument 'casual'" in str(error), error
        else:
            raise AssertionError("accepted an unknown name")
        off = {"dropout_p": 0.0, "attn_mask": None, "causal": True}
        expected = tile.attention(q, k, v, causal=True)
        assert torch.equal(tile.attention(q, k, v, **off), expected)
        if self.device == "cuda":
            try:
                tile.attention(q, k.cpu(), v)
            except tile.ArgumentError as error:
                assert "k is on cpu, but q is on cuda:0" in str(error)
            else:
                raise AssertionError("accepted tensors on two devices")

    def test_threads(self):
        """First use in new threads, and many threads at once."""
        import torch
        import tile

        on_cpu = self.device == "cpu"
        q, k, v, _, _ = self.make("plain", *((1, 9, 20) if on_cpu else ()))
        expected = tile.attention(q, k, v, causal=True).detach()
        results = []

        def work():
            for _ in range(2 if on_cpu else 50):
                results.append(tile.attention(q, k, v, causal=True).detach())

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(results) == 4 * (2 if on_cpu else 50)
        assert all(torch.equal(result, expected) for result in results)

    def test_compiled(self):
        import torch
        import tile

        need_torch(2, 4)
        q, k, v, do, options = self.make("features")

        def function(q, k, v, **options):
            return tile.attention(q * 2, k, v, **options) + 1

        compiled = torch.compile(function, fullgraph=True)
        for a, b in zip(
            gradients(q, k, v, do, options, function),
            gradients(q, k, v, do, options, compiled),
        ):
            assert torch.equal(a, b)

    def test_compiled_under_autocast(self):
        import torch
        import tile

        need_torch(2, 4)
        q, k, v, _, _ = self.make("plain")
        wide = [t.detach().float() for t in (q, k, v)]
        compiled = torch.compile(tile.attention, fullgraph=True)
        with torch.autocast(self.device, dtype=torch.float16):
            assert torch.equal(compiled(*wide), tile.attention(*wide))

    def test_compiled_for_all_sizes(self):
        """One graph serves all lengths, batches and numbers of heads."""
        import torch
        import tile

        need_torch(2, 4)
        from torch._dynamo.testing import CompileCounterWithBackend

        counter = CompileCounterWithBackend("aot_eager")

        def function(q, k, v):
            return tile.attention(q, k, v, causal=True)

        compiled = torch.compile(function, backend=counter, fullgraph=True, dynamic=True)
        torch._dynamo.reset()
        # PyTorch takes sizes that are equal in the first call for one size.
        for batch, rows, keys in ((3, 130, 70), (4, 65, 80), (5, 33, 47)):
            q, k, v, do, _ = self.make("plain", batch, rows, keys)
            found = gradients(q, k, v, do, {}, compiled)
            check(found, q, k, v, do, {"causal": True})
        assert counter.frame_count == 1, counter.frame_count

        def packed(q, k, v, bounds):
            return tile.attention(
                q, k, v, causal=True, cu_seqlens_q=bounds, cu_seqlens_k=bounds
            )

        counter = CompileCounterWithBackend("aot_eager")
        compiled = torch.compile(packed, backend=counter, fullgraph=True, dynamic=True)
        for lengths in ((40, 20), (30, 25, 22), (9, 8, 7, 6)):
            q = self.normal((sum(lengths), 4, 64), "float16", 1)
            k, v = (self.normal((sum(lengths), 2, 64), "float16", s) for s in (2, 3))
            bounds = self.sequences(lengths)
            assert torch.equal(compiled(q, k, v, bounds), packed(q, k, v, bounds))
        assert counter.frame_count == 1, counter.frame_count

    def test_exported(self):
        """An exported program holds the operator and takes other sizes."""
        import torch
        import tile

        need_torch(2, 5)

        class Model(torch.nn.Module):
            def forward(self, q, k, v):
                return tile.attention(q, k, v, causal=True)

        q, k, v, _, _ = self.make("plain")
        inputs = [t.detach() for t in (q, k, v)]
        batch = torch.export.Dim("batch", min=1, max=64)
        rows, keys = (torch.export.Dim(name, min=2, max=4096) for name in ("m", "n"))
        sizes = {
            "q": {0: batch, 1: rows},
            "k": {0: batch, 1: keys},
            "v": {0: batch, 1: keys},
        }
        program = torch.export.export(Model(), tuple(inputs), dynamic_shapes=sizes)
        names = [str(node.target) for node in program.graph.nodes]
        assert "tile.attention.default" in names, names
        q, k, v, _, _ = self.make("plain", 3, 65, 80)
        inputs = [t.detach() for t in (q, k, v)]
        assert torch.equal(program.module()(*inputs), Model()(*inputs))

    def test_cuda_graph(self):
        """A captured step computes the gradients of whatever the inputs hold."""
        import torch
        import tile

        if self.device == "cpu":
            raise Skipped("needs a GPU")
        q, k, v, do, options = self.make("plain")
        inputs = [q, k, v]

        def step():
            o = tile.attention(q, k, v, causal=True)
            return [o, *torch.autograd.grad(o, inputs, do)]

        captured, graph = capture(step)
        for seed in (5, 6):
            with torch.no_grad():
                for extra, tensor in enumerate(inputs):
                    values = self.normal(tensor.shape, "float16", 3 * seed + extra)
                    tensor.copy_(values)
            graph.replay()
            check([t.detach() for t in captured], q, k, v, do, {"causal": True})

    def test_operators(self):
        import torch

        need_torch(2, 4)
        import tile.functional  # noqa: F401 (registers the operators)

        def opcheck(operator, arguments):
            # The atomic sums of dq differ from run to run.
            torch.library.opcheck(operator, arguments, atol=2e-3, rtol=2e-3)

        q, k, v, do, options = self.make("plain")
        dense = (
            None, None, None, 0.125, 0.0, True, -1, -1, False, 0, 0, True, True, "", 7,
        )  # fmt: skip
        opcheck(torch.ops.tile.attention.default, (q, k, v, *dense))
        q, k, v, do = (t.detach() for t in (q, k, v, do))
        o, lse = torch.ops.tile.attention(q, k, v, *dense)
        gradient = torch.ops.tile.attention_backward.default
        opcheck(gradient, (do, lse, q, k, v, o, lse, *dense))
        # Strides that kernels cannot read, and strides of another order.
        odd = torch.zeros(*q.shape[:-1], 67, dtype=q.dtype, device=self.device)
        odd = odd[..., 1:65].copy_(q)
        moved = k.transpose(1, 2).contiguous().transpose(1, 2)
        opcheck(torch.ops.tile.attention.default, (odd, moved, v, *dense))
        opcheck(gradient, (do, None, odd, moved, v, o, lse, *dense))
        bounds = self.sequences((40, 20))
        q = self.normal((60, 4, 64), "float16", 1)
        k, v = (self.normal((60, 2, 64), "float16", s) for s in (2, 3))
        sink = self.normal((4,), "float32", 4)
        packed = (
            sink, bounds, bounds, 0.1, 5.0, False, 9, 3, True, 40, 40, True, False, "", 0,
        )  # fmt: skip
        opcheck(torch.ops.tile.attention.default, (q, k, v, *packed))

    def test_processes(self):
        if self.device == "cpu":
            raise Skipped("the executor does not use the cache on disk")
        if os.environ.get("TILE_PACK_DIR"):
            raise Skipped("needs the compiler")
        with tempfile.TemporaryDirectory(prefix="tile-") as folder:
            environment = dict(os.environ, TILE_CACHE_DIR=folder)
            children = [
                subprocess.Popen(
                    [sys.executable, __file__, "--child", "--device=cuda"],
                    env=environment,
                )
                for _ in range(4)
            ]
            assert [child.wait() for child in children] == [0] * 4
            entries = [path for path in Path(folder).iterdir() if path.is_dir()]
            assert len(entries) == 2, entries  # forward and backward


def gradients(q, k, v, do, options, function=None):
    """The output and the gradients of q, k, v and the sinks, if there are any."""
    import torch
    import tile

    inputs = [q, k, v] + ([options["sink"]] if "sink" in options else [])
    o = (function or tile.attention)(q, k, v, **options)
    return [o.detach(), *torch.autograd.grad(o, inputs, do)]


def check(found, q, k, v, do, options):
    """Compares the output and the gradients with float64."""
    from tile import testing

    reference = {
        key: options[key]
        for key in ("causal", "window", "sink", "softcap")
        if key in options
    }
    scale = q.shape[-1] ** -0.5
    exact_o = testing.attention(q, k, v, scale, **reference)[0].detach()
    low_o = testing.attention(q, k, v, scale, dtype=q.dtype, **reference)[0].detach()
    exact = [exact_o, *testing.gradients(q, k, v, do, scale, **reference)]
    low = [low_o, *testing.gradients(q, k, v, do, scale, dtype=q.dtype, **reference)]
    names = ("o", "dq", "dk", "dv", "dsink")
    for name, result, right, rounded in zip(names, found, exact, low):
        # A gradient has the type of its tensor, which may be lower than q's.
        judged = testing.compare(
            result, right, rounded.to(result.dtype), factor=3, slack=3e-4
        )
        assert judged.ok, f"{name} is off by {judged.error}, allowed {judged.tolerance}"


if __name__ == "__main__":
    sys.exit(main(__doc__, Tests()))
