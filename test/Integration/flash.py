#!/usr/bin/env python3
"""Test of PyTorch's operators of flash attention on tile's kernels.

    flash.py                          # on the GPU at hand, else on the CPU
    flash.py --device cpu             # in the executor; needs no GPU

The functions behind the operators need PyTorch 1.13, tests through PyTorch's
dispatcher need 2.11; on the CPU they register the functions for tensors there.
Where the compiler and the GPU are on two machines, compile first and carry the
folder:

    flash.py --pack DIR --chip sm_90a              # beside the compiler
    TILE_PACK_DIR=DIR flash.py                     # beside the GPU

The last line is "N passed, M failed, K skipped"; the exit status is 1 if a test
failed.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from unittest import mock

from tensor_tests import Skipped, Suite, capture, main, need_torch

#: q heads, k heads, d, type, queries, keys, causal, and how q, k and v are stored.
CASES = {
    "rows of heads": (2, 2, 64, "float16", 130, 70, False, "bhsd"),
    "heads of rows": (6, 2, 128, "bfloat16", 65, 65, True, "bshd"),
    "one tensor": (2, 2, 64, "float16", 77, 77, True, "qkv"),
    "half of the rows": (2, 1, 96, "bfloat16", 40, 80, False, "chunks"),
    "padded": (2, 1, 80, "bfloat16", 40, 40, True, "bhsd"),
    "wide": (2, 2, 256, "float16", 35, 35, True, "bhsd"),
    "few queries": (4, 2, 64, "float16", 1, 1500, False, "bhsd"),
}


class Tests(Suite):
    """The tests of tile.flash."""

    def tests(self):
        cases = {f"case {name}": lambda name=name: self.case(name) for name in CASES}
        return {**cases, **super().tests()}

    def child(self):
        context_parallel(self.device)

    def make(self, name, batch=2):
        """Returns q, k, v and the gradient of the output, all [B, H, S, D]."""
        heads, kv_heads, d, dtype, sq, sk, _, storage = CASES[name]

        def make(heads, rows, seed):
            if storage == "chunks":
                wide = self.normal((batch, heads, 2 * rows, d), dtype, seed)
                return wide.detach().chunk(2, dim=2)[1]
            if storage == "bhsd":
                return self.normal((batch, heads, rows, d), dtype, seed).detach()
            return self.normal((batch, rows, heads, d), dtype, seed).detach().transpose(1, 2)

        do = make(heads, sq, 4)
        if storage != "qkv":
            return make(heads, sq, 1), make(kv_heads, sk, 2), make(kv_heads, sk, 3), do
        together = self.normal((batch, sq, 3, heads, d), dtype, 1).detach()
        return (*(t.transpose(1, 2) for t in together.unbind(2)), do)

    def case(self, name):
        """Results, layouts and addresses of the operators on [B, H, S, D]."""
        import torch
        from tile import flash, prepared

        q, k, v, do = self.make(name)
        causal = CASES[name][6]
        with seen(prepared.Forward, "run") as forward:
            out, lse, *rest = flash.sdpa_forward(q, k, v, 0.0, causal, scale=0.2)
        with seen(prepared.Forward, "run_backward") as backward:
            found = flash.sdpa_backward(
                do, q, k, v, out, lse, *rest[:4], 0.0, causal, *rest[4:6], scale=0.2
            )
        addresses = [t.data_ptr() for t in (q, k, v)]
        assert [t.data_ptr() for t in forward[0][1:4]] == addresses
        assert [t.data_ptr() for t in backward[0][1:5]] == [do.data_ptr(), *addresses]
        # Compiled graphs rely on these layouts.
        for result, like in zip((out, *found), (q, q, k, v)):
            assert result.shape == like.shape and result.dtype == like.dtype
            assert result.stride() == torch.empty_like(like).stride()
        assert rest[:4] == [None, None, q.shape[2], k.shape[2]]
        check([out, *found], lse, q, k, v, do, 0.2, causal=causal)

    def test_gradients_of_the_output(self):
        """Gradients of the output may have any strides, address and type."""
        import torch
        from tile import flash

        q, k, v, do = self.make("heads of rows")
        out, lse, *rest = flash.sdpa_forward(q, k, v, 0.0, True)
        odd = torch.zeros(do.numel() + 1, dtype=do.dtype, device=do.device)[1:]
        odd = odd.view(do.shape).copy_(do)
        for gradient in (
            do[:1, :1, :1, :1].expand(do.shape),
            do[:, :, :1].expand(do.shape),
            do.contiguous(),
            odd,
            do.transpose(2, 3).contiguous().transpose(2, 3),
            do.float(),
            # Again with layouts seen before, at other addresses.
            odd,
            do.clone(),
        ):
            found = flash.sdpa_backward(
                gradient, q, k, v, out, lse, *rest[:4], 0.0, True, *rest[4:6]
            )
            for result, like in zip(found, (q, k, v)):
                assert result.stride() == torch.empty_like(like).stride()
            check([out, *found], lse, q, k, v, gradient.to(q.dtype), 128**-0.5, causal=True)

    def test_rows_of_sequences(self):
        """The operators on [B, S, H, D], which align masks at the bottom right."""
        from tile import flash

        q = self.normal((2, 30, 2, 64), "float16", 1).detach()
        k, v = (self.normal((2, 50, 1, 64), "float16", s).detach() for s in (2, 3))
        do = self.normal(q.shape, "float16", 4).detach()
        for causal, left, right in ((True, None, None), (False, 9, 3), (False, -1, 0)):
            sides = {"window_size_left": left, "window_size_right": right}
            out, lse, *state, _ = flash.flash_attention_forward(
                q, k, v, None, None, 30, 50, 0.0, causal, False, **sides
            )
            found = flash.flash_attention_backward(
                do, q, k, v, out, lse, None, None, 30, 50, 0.0, causal, *state, **sides
            )
            window = None if left is None else (left, right)
            check(
                [t.transpose(1, 2) for t in (out, *found)], lse,
                *(t.transpose(1, 2) for t in (q, k, v, do)), 0.125, causal=causal,
                window=window,
            )  # fmt: skip

    def test_packed(self):
        from tile import flash

        lengths_q, lengths_k = (40, 0, 30), (33, 9, 50)
        bounds = [self.sequences(lengths) for lengths in (lengths_q, lengths_k)]
        q = self.normal((70, 4, 64), "bfloat16", 1).detach()
        k, v = (self.normal((92, 2, 64), "bfloat16", s).detach() for s in (2, 3))
        do = self.normal(q.shape, "bfloat16", 4).detach()
        for window in ((-1, 0), (20, 0)):
            sides = {"window_size_left": window[0], "window_size_right": window[1]}
            common = (*bounds, 40, 50, 0.0, window == (-1, 0))
            out, lse, *state, _ = flash.flash_attention_forward(
                q, k, v, *common, False, **sides
            )
            assert lse.shape == (4, 70)
            found = flash.flash_attention_backward(
                do, q, k, v, out, lse, *common, *state, **sides
            )
            for b, (sq, sk) in enumerate(zip(lengths_q, lengths_k)):
                if sq == 0:
                    continue
                i, j = (int(cu[b]) for cu in bounds)
                rows, keys = slice(i, i + sq), slice(j, j + sk)
                parts = zip(
                    (out, *found, q, k, v, do),
                    (rows, rows, keys, keys, rows, keys, keys, rows),
                )
                parts = [t[s][None].transpose(1, 2) for t, s in parts]
                check(parts[:4], lse[None, :, rows], *parts[4:], 0.125, window=window)

    def test_deterministic(self):
        """PyTorch's switch chooses kernels that give the same bits each time."""
        import torch
        from tile import flash, prepared

        q, k, v, do = self.make("one tensor")
        used = []
        prepared.observers.append(used.append)
        torch.use_deterministic_algorithms(True)
        try:
            out, lse, *rest = flash.sdpa_forward(q, k, v, 0.0, True)
            results = [
                flash.sdpa_backward(
                    do, q, k, v, out, lse, *rest[:4], 0.0, True, *rest[4:6]
                )
                for _ in range(2)
            ]
        finally:
            torch.use_deterministic_algorithms(False)
            prepared.observers.remove(used.append)
        assert used[-1].dq == "kernel", used
        assert all(torch.equal(a, b) for a, b in zip(*results))

    def test_refused(self):
        """Calls that the kernels cannot do are left to the kernels below."""
        import torch
        from tile import flash, prepared

        q, k, v, do = self.make("heads of rows")
        odd = torch.zeros(*q.shape[:-1], 131, dtype=q.dtype, device=self.device)
        odd = odd[..., 1:129]
        out, lse, *rest = flash.sdpa_forward(q, k, v, 0.0, True)
        refused = []
        for arguments, options in (
            ((q, k, v, 0.5, True), {}),
            ((q, k, v, 0.0, True, True), {}),
            ((q, k, v, 0.0, True), {"scale": -1.0}),
            ((q, k, v, 0.0, True), {"q_descale": q}),
            # A mask with two conventions.
            ((q[:, :, :20], k, v, 0.0, True), {}),
            ((q.float(), k.float(), v.float()), {}),
            ((q, k.half(), v.half()), {}),
            ((q[..., :84], k[..., :84], v[..., :84]), {}),
            ((q, k, v[..., :64]), {}),
            ((q[:, :5], k, v), {}),
            ((q[:1], k, v), {}),
            ((q[0], k[0], v[0]), {}),
            ((q, k[:1].expand(2, -1, -1, -1), v), {}),
            ((q[:, :, :0], k, v), {}),
            ((odd, k, v), {}),
        ):
            refused.append((flash.sdpa_forward, arguments, options))
        for arguments, options in (
            ((do.float(), q.float(), k.float(), v.float(), out, lse), {}),
            ((do, q, k, v, out, lse[:, :, :9]), {}),
            ((do, q, k, v, out, lse.double()), {}),
            ((do[:, :, :9], q, k, v, out, lse), {}),
            ((do, q, k, v, out[:, :, :9], lse), {}),
        ):
            call = (*arguments, *rest[:4], 0.0, True, *rest[4:6])
            refused.append((flash.sdpa_backward, call, options))
        call = (do, q, k, v, out, lse, *rest[:4], 0.5, True, *rest[4:6])
        refused.append((flash.sdpa_backward, call, {}))
        packed = [t[0].transpose(0, 1) for t in (q, k, v)]
        bounds = [self.sequences((65,)) for _ in range(2)]
        long = [cu.long() for cu in bounds]
        for given, options in (
            (bounds, {"seqused_k": bounds[0]}),
            (bounds, {"alibi_slopes": lse}),
            (bounds, {"page_table": bounds[0], "k_cache": k}),
            (long, {}),
            ((bounds[0], None), {}),
        ):
            call = (*packed, *given, 65, 65, 0.0, True, False)
            refused.append((flash.flash_attention_forward, call, options))
        nothing = mock.Mock(side_effect=AssertionError("launched"))
        with mock.patch.object(prepared.Forward, "run", nothing), mock.patch.object(
            prepared.Forward, "run_backward", nothing
        ):
            for function, arguments, options in refused:
                # The second time as the first: nothing wrong is remembered.
                for _ in range(2):
                    result = function(*arguments, **options)
                    assert result is NotImplemented, (function, options)

    def test_no_list_of_implementations(self):
        import torch
        from tile import flash

        if hasattr(torch.library, "get_kernel"):
            raise Skipped(f"PyTorch {torch.__version__} has the list")
        for function in (flash.register, flash.activate):
            try:
                function()
            except RuntimeError as error:
                assert "PyTorch 2.11 has it" in str(error), error
            else:
                raise AssertionError("activated without a dispatcher")

    def test_dispatcher(self):
        """The operators use the kernels between activation and removal only."""
        import torch
        from tile import prepared

        need_torch(2, 11)
        q, k, v, do = self.make("one tensor")
        q, k, v = (t.requires_grad_() for t in (q, k, v))

        def attend(**options):
            with seen(prepared.Forward, "run") as forward, seen(
                prepared.Forward, "run_backward"
            ) as backward:
                out = scaled_dot_product_attention(q, k, v, **options)
                found = torch.autograd.grad(out, (q, k, v), do)
            return [out.detach(), *found], len(forward), len(backward)

        with below(self.device):
            assert attend(is_causal=True)[1:] == (0, 0)
            handle = activate(self.device)
            try:
                found, *launches = attend(is_causal=True)
                assert launches == [1, 1], launches
                check(found, None, q, k, v, do, 0.125, causal=True)
                assert attend(is_causal=True, dropout_p=0.5)[1:] == (0, 0)
            finally:
                handle.remove()
                forget()
            assert attend(is_causal=True)[1:] == (0, 0)
            handle.remove()

    def test_calls_seen_before(self):
        """They run without Python, with other data, scales and gradients."""
        need_torch(2, 11)
        import torch
        from torch.nn.attention.varlen import varlen_attn
        from tile import fast, native, prepared

        try:
            native.library()
        except native.CompileError as error:
            raise Skipped(str(error)) from None
        bounds = self.sequences((40, 25))

        def step(seed):
            """Returns results and inputs of one call on [B, H, S, D] and one packed."""
            do, *inputs = (
                self.normal((2, 65, 4, 64), "float16", 4 * seed + i).detach().transpose(1, 2)
                for i in range(4)
            )
            inputs = [t.requires_grad_() for t in inputs]
            scale = 0.1 + 0.1 * seed
            out = scaled_dot_product_attention(*inputs, is_causal=True, scale=scale)
            found = [out, *torch.autograd.grad(out, inputs, do)]
            packed = [t[0].transpose(0, 1) for t in inputs]
            out = varlen_attn(*packed, bounds, bounds, 40, 40, window_size=(-1, 0))
            gradients = torch.autograd.grad(out, packed, do[0].transpose(0, 1))
            return found, (out, *gradients), (*inputs, do), scale

        with below(self.device), activated(self.device):
            assert fast.installed() is not None
            for seed in range(3):
                before = fast.planned_calls()
                with seen(prepared.Forward, "run") as forward:
                    found, packed, given, scale = step(seed)
                planned = fast.planned_calls() - before
                assert (len(forward), planned) == ((0, 4) if seed else (2, 0)), planned
                check(found, None, *given, scale, causal=True)
                for rows in (slice(0, 40), slice(40, 65)):
                    parts = [t[rows][None].transpose(1, 2) for t in packed]
                    inputs = [t[:1, :, rows] for t in given]
                    check(parts, None, *inputs, 0.125, causal=True)
            if self.device == "cuda":
                wide = [t.detach().float().requires_grad_() for t in given]
                with torch.autocast("cuda", dtype=torch.float16):
                    results = [
                        scaled_dot_product_attention(*wide[:3], is_causal=True)
                        for _ in range(2)
                    ]
                for out in results:
                    gradients = torch.autograd.grad(out, wide[:3], wide[3].half())
                    assert all(g.dtype == torch.float32 for g in gradients)
                    halves = [g.half() for g in gradients]
                    check([out, *halves], None, *given, 0.125, causal=True)

    def test_few_queries(self):
        """Blocks share the keys, also where calls seen before run without Python."""
        need_torch(2, 11)
        import torch
        import tile
        from tile import fast, native, prepared

        try:
            native.library()
        except native.CompileError as error:
            raise Skipped(str(error)) from None
        with below(self.device), activated(self.device):
            for seed in range(3):
                inputs = [
                    self.normal((1, rows, 2, 64), "float16", 3 * seed + i).detach()
                    for i, rows in enumerate((1, 1500, 1500))
                ]
                before = fast.planned_calls()
                with torch.no_grad(), seen(prepared.Forward, "run") as forward:
                    out = scaled_dot_product_attention(
                        *(t.transpose(1, 2) for t in inputs)
                    )
                planned = fast.planned_calls() - before
                assert (len(forward), planned) == ((0, 1) if seed else (1, 0)), planned
                assert torch.equal(out.transpose(1, 2), tile.attention(*inputs))
            variants = [call.variant for call in prepared._found.values()]
            assert any(variant.parts for variant in variants), variants

    def test_listed(self):
        """The name is in PyTorch's list; importing and listing activate nothing."""
        import torch
        import tile

        need_torch(2, 11)
        attention = torch.nn.attention
        tile.register_with_torch()
        assert "tile" in attention.list_flash_attention_impls()
        assert attention.current_flash_attention_impl() is None
        attention.activate_flash_attention_impl("tile")
        assert attention.current_flash_attention_impl() == "tile"
        attention.restore_flash_attention_impl()
        handle = tile.flash.activate()
        assert attention.current_flash_attention_impl() == "tile"
        handle.remove()
        assert attention.current_flash_attention_impl() is None

    def test_varlen_attn(self):
        import torch
        from tile import prepared

        need_torch(2, 11)
        from torch.nn.attention.varlen import varlen_attn

        bounds = self.sequences((40, 30))
        q = self.normal((70, 4, 64), "bfloat16", 1)
        k, v = (self.normal((70, 2, 64), "bfloat16", s) for s in (2, 3))
        do = self.normal(q.shape, "bfloat16", 4).detach()
        with below(self.device), activated(self.device), seen(
            prepared.Forward, "run"
        ) as forward:
            out = varlen_attn(q, k, v, bounds, bounds, 40, 40, window_size=(-1, 0))
            found = torch.autograd.grad(out, (q, k, v), do)
        assert len(forward) == 1
        for rows in (slice(0, 40), slice(40, 70)):
            parts = [t[rows][None].transpose(1, 2) for t in (out, *found, q, k, v, do)]
            check(parts[:4], None, *parts[4:], 0.125, causal=True)

    def test_compiled(self):
        """One graph serves all lengths."""
        import torch
        from tile import prepared

        need_torch(2, 11)

        def function(q, k, v):
            return scaled_dot_product_attention(q * 2, k, v, is_causal=True) + 1

        compiled = torch.compile(function, fullgraph=True, dynamic=True)
        with below(self.device), activated(self.device):
            for rows in (77, 50, 61):
                q, k, v, do = (t[:, :, :rows] for t in self.make("one tensor"))
                inputs = [t.detach().requires_grad_() for t in (q, k, v)]
                with seen(prepared.Forward, "run") as forward:
                    out = compiled(*inputs)
                found = torch.autograd.grad(out, inputs, do)
                assert len(forward) == 1
                expected = function(*inputs)
                assert torch.equal(out, expected)
                for a, b in zip(found, torch.autograd.grad(expected, inputs, do)):
                    # dq is summed in another order each time.
                    assert torch.allclose(a, b, atol=4e-3, rtol=4e-3)

    def test_cuda_graph(self):
        import torch

        if self.device == "cpu":
            raise Skipped("needs a GPU")
        need_torch(2, 11)
        q, k, v, do = self.make("one tensor")
        inputs = [t.contiguous().requires_grad_() for t in (q, k, v)]

        def step():
            out = scaled_dot_product_attention(*inputs, is_causal=True)
            return [out, *torch.autograd.grad(out, inputs, do)]

        with activated(self.device):
            captured, graph = capture(step)
            for seed in (5, 6):
                with torch.no_grad():
                    for extra, tensor in enumerate(inputs):
                        shape = tensor.shape
                        tensor.copy_(self.normal(shape, "float16", 3 * seed + extra))
                graph.replay()
                check(captured, None, *inputs, do, 0.125, causal=True)

    def test_context_parallel(self):
        """A ring of two processes computes as one: NCCL, or gloo on the CPU."""
        import torch

        need_torch(2, 11)
        if self.device == "cuda" and torch.cuda.device_count() < 2:
            raise Skipped("needs two GPUs")
        with tempfile.TemporaryDirectory(prefix="tile-") as folder:
            children = [
                subprocess.Popen(
                    [sys.executable, __file__, "--child", f"--device={self.device}"],
                    env=dict(os.environ, TILE_TEST_RING=f"{folder}/store", RANK=str(r)),
                )
                for r in range(2)
            ]
            assert [child.wait() for child in children] == [0, 0]


def context_parallel(device):
    """Runs as one of two processes that share a sequence; compares with all of it."""
    import torch
    import torch.distributed as dist
    import torch.nn.functional as F
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor.experimental import context_parallel
    from torch.distributed.tensor.experimental._attention import context_parallel_unshard
    from tile import prepared

    rank = int(os.environ["RANK"])
    backend = "nccl" if device == "cuda" else "gloo"
    store = f"file://{os.environ['TILE_TEST_RING']}"
    if device == "cuda":
        torch.cuda.set_device(rank)
    dist.init_process_group(backend, store, rank=rank, world_size=2)
    mesh = init_device_mesh(device, (2,))
    generator = torch.Generator().manual_seed(7)
    full = [
        torch.randn(2, 2, 80, 64, generator=generator).half().to(device)
        for _ in range(4)
    ]
    inputs = [t.clone() for t in full[:3]]
    do = full[3].clone()
    with contextlib.ExitStack() as stack:
        stack.enter_context(below(device))
        stack.enter_context(activated(device))
        if device == "cpu":
            # On the CPU PyTorch has another operator, which has no ring.
            stack.enter_context(
                mock.patch.object(
                    F, "scaled_dot_product_attention", scaled_dot_product_attention
                )
            )
        forward = stack.enter_context(seen(prepared.Forward, "run"))
        backward = stack.enter_context(seen(prepared.Forward, "run_backward"))
        buffers = [*inputs, do]
        with context_parallel(
            mesh, buffers=buffers, buffer_seq_dims=[2] * 4, no_restore_buffers=set(buffers)
        ):
            for tensor in inputs:
                tensor.requires_grad_()
            with flash_backend():
                out = F.scaled_dot_product_attention(*inputs, is_causal=True)
            found = torch.autograd.grad(out, inputs, do)
        results = context_parallel_unshard(mesh, [out.detach(), *found], [2] * 4)
    assert len(forward) == len(backward) == 2, (len(forward), len(backward))
    # Each step rounds its part of the result once more.
    check(list(results), None, *full, 0.125, slack=2e-3, causal=True)
    dist.destroy_process_group()


def scaled_dot_product_attention(q, k, v, **options):
    """Calls the flash back end; on the CPU the operator, which PyTorch lacks there."""
    import torch

    if q.device.type == "cpu":
        operator = torch.ops.aten._scaled_dot_product_flash_attention
        return operator(q, k, v, **options)[0]
    with flash_backend():
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, **options)


def flash_backend():
    from torch.nn.attention import SDPBackend, sdpa_kernel

    return sdpa_kernel(SDPBackend.FLASH_ATTENTION)


def activate(device):
    from tile import flash

    return flash.install("CPU") if device == "cpu" else flash.activate()


@contextlib.contextmanager
def activated(device):
    handle = activate(device)
    try:
        yield
    finally:
        handle.remove()
        forget()


def forget():
    """Forgets how to run calls without Python, so that a test sees them again."""
    from tile import fast, native

    with contextlib.suppress(native.CompileError):
        fast.forget()


@contextlib.contextmanager
def below(device):
    """Gives the operators kernels on the CPU, where PyTorch has none."""
    import torch

    if device == "cuda":
        yield
        return

    def forward(q, *rest, **options):
        lse = q.new_zeros(q.shape[:3], dtype=torch.float32)
        state = (q.new_empty(2, dtype=torch.uint64), q.new_empty(0, dtype=torch.uint64))
        return torch.zeros_like(q), lse, None, None, 1, 1, *state, q.new_empty(0)

    def backward(do, q, k, v, *rest, **options):
        return tuple(map(torch.zeros_like, (q, k, v)))

    def refuse(*rest, **options):
        raise AssertionError("a packed call came to the kernel below")

    library = torch.library.Library("aten", "IMPL")
    for name, function in (
        ("_scaled_dot_product_flash_attention", forward),
        ("_scaled_dot_product_flash_attention_backward", backward),
        ("_flash_attention_forward", refuse),
        ("_flash_attention_backward", refuse),
    ):
        library.impl(name, function, "CPU")
        # PyTorch refuses a second kernel in Python, not one above its own.
        torch.library._impls.discard(f"aten/{name}/CPU")
    try:
        yield
    finally:
        library._destroy()


@contextlib.contextmanager
def seen(owner, name):
    """Lists the arguments of each call of a method."""
    calls, method = [], getattr(owner, name)

    def note(*arguments):
        calls.append(arguments)
        return method(*arguments)

    with mock.patch.object(owner, name, note):
        yield calls


def check(found, lse, q, k, v, do, scale, slack=3e-4, **mask):
    """Compares the output and the gradients, [B, H, S, D], with float64."""
    from tile import testing

    q, k, v, do, *found = (t.detach().transpose(1, 2) for t in (q, k, v, do, *found))
    exact_o, exact_lse = testing.attention(q, k, v, scale, **mask)
    low_o, _ = testing.attention(q, k, v, scale, dtype=q.dtype, **mask)
    exact = [exact_o, *testing.gradients(q, k, v, do, scale, **mask)]
    low = [low_o, *testing.gradients(q, k, v, do, scale, dtype=q.dtype, **mask)]
    for name, result, right, rounded in zip(("o", "dq", "dk", "dv"), found, exact, low):
        judged = testing.compare(result, right, rounded, factor=3, slack=slack)
        assert judged.ok, f"{name} is off by {judged.error}, allowed {judged.tolerance}"
    if lse is not None:
        judged = testing.compare_lse(lse, exact_lse)
        assert judged.ok, f"lse is off by {judged.error}, allowed {judged.tolerance}"


if __name__ == "__main__":
    sys.exit(main(__doc__, Tests()))
