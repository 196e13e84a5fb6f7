#!/usr/bin/env python3
"""Test of tile.attention on parts of the keys, against float64.

Offsets of queries and keys, merging into (o, lse), the gradient of lse, and
gradients that are added to what their tensors hold.

    parts.py                       # on the GPU at hand, else on the CPU
    parts.py --device cpu          # in the executor; needs no GPU

The last line is "N passed, M failed, K skipped"; the exit status is 1 if a test
failed.
"""

from __future__ import annotations

import os
import random
import re
import sys

from tensor_tests import Suite, main

#: Head dimensions d and dv, type, and the chip whose kernels run for tensors on the
#: CPU.
KERNELS = (
    (64, 64, "float16", "sm_90a"),
    (128, 128, "bfloat16", "sm_90a"),
    (192, 128, "bfloat16", "sm_90a"),
    (256, 256, "float16", "sm_90a"),
    (96, 96, "bfloat16", "sm_90a"),
    (64, 64, "bfloat16", "sm_80"),
    (128, 128, "float16", "sm_89"),
    (192, 128, "float16", "sm_120a"),
    (96, 96, "bfloat16", "sm_103a"),
    (64, 64, "float16", "gfx942"),
    (128, 128, "float16", "gfx90a"),
    (128, 128, "bfloat16", "gfx950"),
    (64, 64, "bfloat16", "gfx1100"),
    (96, 96, "float16", "gfx1201"),
)


class Tests(Suite):
    """The tests of attention on parts of the keys."""

    def tests(self):
        kernels = {
            f"{kind} d{d}_{dv} {dtype} {chip}":
            lambda function=function, kernel=(d, dv, dtype, chip): function(*kernel)
            for d, dv, dtype, chip in KERNELS
            for kind, function in (
                ("offsets", self.offsets),
                ("merge", self.merge),
                ("backward", self.backward),
            )
        }  # fmt: skip
        return {**kernels, **super().tests()}

    def make(self, d, dv, dtype, chip, seed, sq=None, sk=None):
        """Returns q, k, v, do, dlse and random lengths unless they are given."""
        os.environ["TILE_CPU_CHIP"] = chip
        choose = random.Random(seed)
        sq, sk = sq or choose.randint(1, 150), sk or choose.randint(1, 150)
        heads, kv_heads = choose.choice(((2, 2), (2, 1), (3, 1)))
        q = self.normal((1, sq, heads, d), dtype, seed)
        k = self.normal((1, sk, kv_heads, d), dtype, seed + 1)
        v = self.normal((1, sk, kv_heads, dv), dtype, seed + 2)
        do = self.normal((1, sq, heads, dv), dtype, seed + 3).detach()
        dlse = self.normal((1, heads, sq), "float32", seed + 4).detach()
        return q, k, v, do, dlse

    def offsets(self, d, dv, dtype, chip):
        """Masks at random offsets, forward and all gradients, of lse as well."""
        import tile

        choose = random.Random(d + len(chip))
        for seed in range(4 if self.device == "cpu" else 40):
            q, k, v, do, dlse = self.make(d, dv, dtype, chip, 10 * seed)
            reach = q.shape[1] + k.shape[1]
            q_offset, k_offset = (choose.randint(0, reach) for _ in range(2))
            window = choose.choice((
                None, (choose.randint(0, 90), -1), (-1, choose.randint(0, 90)),
                (choose.randint(0, 40), choose.randint(0, 40)),
            ))  # fmt: skip
            options = {
                "causal": window is None or choose.random() < 0.3,
                "window": window,
                "softcap": 3.0 if seed % 4 == 3 else None,
            }
            o, lse = tile.attention(
                q, k, v, q_offset=q_offset, k_offset=k_offset, return_lse=True,
                deterministic=choose.random() < 0.3, **options,
            )  # fmt: skip
            self.check(
                (o, lse, *grad((o, lse), (q, k, v), (do, dlse))),
                exact(q, k, v, do, dlse, offset=q_offset - k_offset, **options), q,
            )

    def merge(self, d, dv, dtype, chip):
        """Keys in three parts, two of them masked; o in f32 and in the type of q."""
        import torch
        import tile

        for seed, o_type in enumerate((torch.float32, getattr(torch, dtype))):
            q, k, v, _, _ = self.make(d, dv, dtype, chip, seed, sq=77 + seed, sk=190)
            ends = (0, 100, 120, 190)
            sink = self.normal((q.shape[2],), "float32", 9).detach()
            with torch.no_grad():
                o, lse = tile.attention(
                    q, k[:, :100], v[:, :100], sink=sink, return_lse=True,
                )  # fmt: skip
                o = o.to(o_type)
                for begin, end in zip(ends[1:], ends[2:]):
                    found = tile.attention(
                        q, k[:, begin:end], v[:, begin:end], merge=(o, lse),
                        return_lse=True, causal=True, q_offset=110,
                        k_offset=begin,
                    )  # fmt: skip
                    assert found[0] is o and found[1] is lse
            right = exact(q, k, v, None, None, offset=110, causal=True, sink=sink)
            self.check((o, lse), right, q)

    def backward(self, d, dv, dtype, chip):
        """Gradients of two parts of the keys, added to what their tensors hold."""
        import torch
        import tile
        from tile import prepared
        from tile.programs import KV_SUMS
        from unittest import mock

        wide = torch.float32
        for seed, kv in enumerate(KV_SUMS):
            q, k, v, do, dlse = self.make(d, dv, dtype, chip, seed, sq=70 + seed, sk=120)
            options = {"causal": True}
            right = exact(q, k, v, do, dlse, offset=30, **options)
            kind = q.dtype if seed == 1 else wide
            gradients = [torch.full(t.shape, 0.5, dtype=kind, device=q.device)
                         for t in (q, k, v)]  # fmt: skip
            with torch.no_grad():
                o, lse = tile.attention(
                    q, k, v, q_offset=30, return_lse=True, **options
                )
                with mock.patch.object(prepared, "choose_kv_sum", lambda *_: kv):
                    for part in (slice(0, 50), slice(50, 120)):
                        tile.attention_backward(
                            do, q, k[:, part], v[:, part], o, lse, dlse=dlse,
                            q_offset=30, k_offset=part.start, accumulate=True,
                            gradients=(gradients[0], *(t[:, part] for t in gradients[1:])),
                            deterministic=seed == 2, **options,
                        )  # fmt: skip
            found = [o, lse, *(gradient - 0.5 for gradient in gradients)]
            self.check(found, right, q)

    def test_parts_have_the_usual_tiles(self):
        """Few queries have small tiles, but not where blocks share the keys."""
        from unittest import mock

        import torch
        import tile
        from tile import prepared

        variants = []

        def find(variant, device):
            variants.append(variant)
            return kernels_of(variant, device)

        kernels_of = prepared.kernels_of
        for sk, parts in ((96, False), (2000, True)):
            q, k, v, _, _ = self.make(64, 64, "float16", "sm_90a", sk, sq=70, sk=sk)
            with mock.patch.object(prepared, "kernels_of", find), torch.no_grad():
                o = tile.attention(q, k, v)
            found = variants[-1].parts, variants[-1].few_rows
            assert found == (parts, 0 if parts else 64), (sk, variants[-1].name)
            self.check((o,), exact(q, k, v, None, None)[:1], q)

    def test_far_offsets(self):
        """Offsets and sides of windows near 2^30 do not wrap around."""
        import tile

        far = 2**30 - 1
        for chip in ("sm_90a", "sm_80"):
            q, k, v, do, dlse = self.make(64, 64, "float16", chip, 3, 40, 70)
            for q_offset, k_offset, window in (
                (far, 0, (far, far)), (-far, far, (5, -1)), (far, -far, (-1, 5)),
                (far, -far, (2 * far - 20, 3)), (-far, far, (3, 2 * far)),
                (far, 0, (-1, -1)), (0, far, (-1, 0)), (far, 0, (far - 1, 2**31 - 1)),
            ):  # fmt: skip
                o, lse = tile.attention(
                    q, k, v, q_offset=q_offset, k_offset=k_offset, window=window,
                    return_lse=True,
                )  # fmt: skip
                right = exact(
                    q, k, v, do, dlse, offset=q_offset - k_offset, window=window
                )
                self.check((o, lse, *grad((o, lse), (q, k, v), (do, dlse))), right, q)

    def test_packed(self):
        """One offset for all sequences; merged results and added gradients."""
        import torch
        import tile

        for chip in ("sm_90a", "sm_80"):
            os.environ["TILE_CPU_CHIP"] = chip
            lengths_q, lengths_k = (70, 0, 30), (33, 9, 50)
            cu_q, cu_k = self.sequences(lengths_q), self.sequences(lengths_k)
            q = self.normal((100, 4, 64), "float16", 1)
            k, v = (self.normal((92, 2, 64), "float16", seed) for seed in (2, 3))
            do = self.normal((100, 4, 64), "float16", 4).detach()
            dlse = self.normal((4, 100), "float32", 5).detach()
            packed = {"cu_seqlens_q": cu_q, "cu_seqlens_k": cu_k}
            masks = ({"q_offset": 20, "causal": True}, {"k_offset": 5, "window": (9, 30)})
            for options in masks:
                o, lse = tile.attention(q, k, v, return_lse=True, **packed, **options)
                gradients = grad((o, lse), (q, k, v), (do, dlse))
                with torch.no_grad():
                    twice = tile.attention(
                        q, k, v, merge=(o.float(), lse.clone()), return_lse=True,
                        **packed, **options,
                    )  # fmt: skip
                    sums = [torch.ones_like(t) for t in (q, k, v)]
                    tile.attention_backward(
                        do, q, k, v, o, lse, dlse=dlse, gradients=sums,
                        accumulate=True, **packed, **options,
                    )  # fmt: skip
                offset = options.get("q_offset", 0) - options.get("k_offset", 0)
                mask = {key: options[key] for key in ("causal", "window") if key in options}
                for b in range(len(lengths_q)):
                    rows = slice(*cu_q[b : b + 2].tolist())
                    keys = slice(*cu_k[b : b + 2].tolist())
                    if rows.start == rows.stop:
                        continue
                    parts = [q[rows][None], k[keys][None], v[keys][None]]
                    right = exact(
                        *parts, do[rows][None], dlse[None, :, rows], offset=offset, **mask
                    )
                    slices = (rows, keys, keys)
                    found = [o[rows][None], lse[None, :, rows]]
                    self.check(
                        found + [g[s][None] for g, s in zip(gradients, slices)], right, q
                    )
                    self.check(
                        found + [g[s][None] - 1 for g, s in zip(sums, slices)], right, q
                    )
                    # The same keys twice: weights are halved, values unchanged.
                    self.check((twice[0][rows][None],), right[:1], q)
                    finite = torch.isfinite(right[1])
                    doubled = twice[1][None, :, rows].double() - 0.6931471805599453
                    assert ((doubled - right[1])[finite].abs() < 1e-3).all()

    def test_lse_alone(self):
        """Only lse has a gradient; rows that see nothing pass none on."""
        import torch
        import tile

        q, k, v, _, dlse = self.make(64, 64, "float16", "sm_80", 7, 40, 25)
        lse = tile.attention(q, k, v, causal=True, return_lse=True)[1]
        assert torch.isinf(lse[..., 0]).all()
        dlse = dlse.masked_fill(torch.isinf(lse), float("nan"))
        found = torch.autograd.grad(lse, (q, k, v), dlse)
        right = exact(q, k, v, torch.zeros_like(q), dlse, causal=True)
        self.check((None, None, *found), right, q)

    def test_compiled(self):
        """One graph serves all offsets, and passes the gradient of lse on."""
        import torch
        import tile
        from tensor_tests import need_torch

        need_torch(2, 4)
        q, k, v, do, dlse = self.make(64, 64, "float16", "sm_80", 8, 40, 70)

        def function(q, k, v, offset):
            return tile.attention(
                q, k, v, causal=True, q_offset=offset, return_lse=True
            )

        compiled = torch.compile(function, fullgraph=True, backend="aot_eager", dynamic=True)
        for offset in (3, 17, 40):
            results = compiled(q, k, v, offset)
            self.check(
                (*results, *grad(results, (q, k, v), (do, dlse))),
                exact(q, k, v, do, dlse, offset=offset, causal=True), q,
            )  # fmt: skip

    def test_errors(self):
        import torch
        import tile

        q, k, v, do, dlse = self.make(64, 64, "float16", "sm_80", 1, 40, 25)
        o, lse = (t.detach() for t in tile.attention(q, k, v, return_lse=True))
        qd, kd, vd = (t.detach() for t in (q, k, v))
        odd = torch.zeros(*o.shape[:-1], 67, dtype=o.dtype, device=o.device)[..., :64]

        def backward(**options):
            return tile.attention_backward(do, q, k, v, o, lse, **options)

        def merge(*pair, **options):
            return tile.attention(qd, kd, vd, merge=pair, **options)

        for words, function in (
            ("q_offset must be an int", lambda: tile.attention(q, k, v, q_offset=1.5)),
            ("k_offset must be an int", lambda: tile.attention(q, k, v, k_offset=2**30)),
            ("merge must be a pair", lambda: merge(o)),
            ("o of merge must be a tensor \\(1, 40,", lambda: merge(o[:, 1:], lse)),
            ("lse of merge must be a tensor .* of torch.float32", lambda: merge(o, lse.half())),
            ("o of merge must have dense rows", lambda: merge(odd, lse)),
            ("o of merge must be a torch.Tensor", lambda: merge(None, lse)),
            ("merge has no gradient", lambda: tile.attention(q, kd, vd, merge=(o, lse))),
            ("do must be a tensor of the shape",
             lambda: tile.attention_backward(do[:, 1:], q, k, v, o, lse)),
            ("o must be a tensor", lambda: tile.attention_backward(do, q, k, v, o[:, 1:], lse)),
            ("dlse must be a tensor", lambda: backward(dlse=dlse[..., 1:])),
            ("accumulate needs gradients", lambda: backward(accumulate=True)),
            ("gradients must be 3 tensors", lambda: backward(gradients=(qd, kd))),
            ("dq must be a tensor", lambda: backward(gradients=(kd, kd, vd))),
            ("dq, dk and dv must have one type",
             lambda: backward(gradients=(qd, kd, vd.float()))),
        ):  # fmt: skip
            try:
                function()
            except tile.ArgumentError as error:
                assert re.search(words, str(error)), (words, str(error))
            else:
                raise AssertionError(f"accepted what must be refused: {words}")

    def check(self, found, right, q):
        """Compares results with float64, to the accuracy of the type of q."""
        import torch

        epsilon = torch.finfo(q.dtype).eps
        names = ("o", "lse", "dq", "dk", "dv")
        for name, result, expected in zip(names, found, right):
            if result is None:
                continue
            result = result.double()
            infinite = torch.isinf(expected)
            assert torch.equal(infinite, torch.isinf(result)), name
            error = (result - expected)[~infinite].abs().max() if (~infinite).any() else 0
            size = 1 + (expected[~infinite].abs().max() if (~infinite).any() else 0)
            limit = 1e-3 if name == "lse" else 4 * epsilon * size
            assert error <= limit, f"{name} is off by {error}, allowed {limit}"


def grad(results, inputs, upstream):
    import torch

    return torch.autograd.grad(results, inputs, upstream)


def exact(
    q, k, v, do, dlse, offset=None, causal=False, window=None, softcap=None, sink=None
):
    """Returns o, lse and, with `do`, dq, dk and dv in float64."""
    import torch

    sq, sk, group = q.shape[1], k.shape[1], q.shape[2] // k.shape[2]
    if offset is None:
        offset = sk - sq
    leaves = [t.detach().double().requires_grad_() for t in (q, k, v)]
    query, key, value = (t.transpose(1, 2) for t in leaves)
    key, value = (t.repeat_interleave(group, 1) for t in (key, value))
    scores = query @ key.transpose(-1, -2) * q.shape[-1] ** -0.5
    if softcap is not None:
        scores = softcap * torch.tanh(scores / softcap)
    left, right = window or (-1, -1)
    if causal:
        right = 0
    distance = torch.arange(sk)[None] - torch.arange(sq)[:, None] - offset
    seen = torch.ones(sq, sk, dtype=torch.bool)
    if left >= 0:
        seen &= distance >= -left
    if right >= 0:
        seen &= distance <= right
    empty = ~seen.any(1).to(q.device)
    scores = scores.masked_fill(~seen.to(q.device), float("-inf"))
    if sink is not None:
        extra = sink.double()[None, :, None, None].expand(*scores.shape[:3], 1)
        scores = torch.cat([scores, extra], -1)
        empty = torch.zeros_like(empty)
    # Rows that see nothing get any finite scores, so that no NaN arises.
    scores = scores.masked_fill(empty[:, None], 0)
    weights = torch.softmax(scores, -1)[..., :sk].masked_fill(empty[:, None], 0)
    o = (weights @ value).transpose(1, 2)
    lse = torch.logsumexp(scores, -1)
    results = [o.detach(), lse.detach().masked_fill(empty, float("-inf"))]
    if do is None:
        return results
    upstream = dlse.double().masked_fill(empty, 0)
    total = (o * do.double()).sum() + (lse * upstream).sum()
    return results + list(torch.autograd.grad(total, leaves))


if __name__ == "__main__":
    sys.exit(main(__doc__, Tests()))
