"""Tests of tile.attention's launches, against a fake driver.

CPU tensors stand for those of a CUDA device. Needs PyTorch and the compiler;
test/Integration/autograd.py tests the results.
"""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from fakes import FakeCuda
from tile import compiler, manifest
from tile.driver import Driver
from tile.launcher import load
from tile.programs import KEYS_KERNEL, BackwardVariant, Variant

try:
    import torch

    import tile
    from tile import functional, prepared
except ImportError:
    torch = None

_artifacts = tempfile.TemporaryDirectory()
_paths = {}


def artifact(variant):
    """The PTX of a variant and its manifest, compiled once for all tests."""
    if variant not in _paths:
        base = Path(_artifacts.name, str(len(_paths)))
        compiled = compiler.translate(
            variant.ir(), "sm_90a", schedule=variant.schedule
        )
        _paths[variant] = base.with_suffix(".ptx"), base.with_suffix(".json")
        _paths[variant][0].write_bytes(compiled.data)
        _paths[variant][1].write_text(compiled.manifest)
    return _paths[variant]


@unittest.skipIf(torch is None, "no PyTorch")
class FunctionalTest(unittest.TestCase):
    def setUp(self):
        self.cuda = FakeCuda()
        self.driver = Driver(self.cuda)
        self.variants = []
        for cache in (functional._prepared, prepared._found):
            patch = mock.patch.dict(cache, clear=True)
            patch.start()
            self.addCleanup(patch.stop)
        patch = mock.patch.object(prepared, "kernels_of", self.kernels)
        patch.start()
        self.addCleanup(patch.stop)

    def kernels(self, variant, device):
        self.variants.append(variant)
        return load(*artifact(variant), driver=self.driver)

    def test_names_that_need_pytorch(self):
        """They are imported at their first use."""
        code = (
            "import sys, tile; assert 'torch' not in sys.modules;"
            "assert tile.distributed.attention is not tile.attention;"
            "assert tile.register_with_torch is tile.flash.register;"
            "assert 'attention' in vars(tile)"
        )
        environment = dict(os.environ, PYTHONPATH=str(Path(tile.__file__).parents[1]))
        subprocess.run([sys.executable, "-c", code], env=environment, check=True)
        self.assertFalse(hasattr(tile, "nothing"))

    def tensors(self, heads=4, kv_heads=2, sq=33, sk=77):
        shapes = ((2, sq, heads, 64), (2, sk, kv_heads, 64), (2, sk, kv_heads, 64))
        return [torch.randn(s).half().requires_grad_() for s in shapes]

    def addresses(self, launch):
        """The addresses that a launch passes, by name of the parameter."""
        spec = next(
            spec
            for variant in reversed(self.variants)
            for spec in load(*artifact(variant)).manifest.kernels
            if spec.name == launch.function
        )
        found, place = {}, 0
        for param in spec.params:
            if hasattr(param, "shape"):
                found[param.name] = int.from_bytes(launch.params[place], "little")
                place += param.shape.count(None) + param.strides.count(None)
            place += 1
        return found

    def test_a_call_is_prepared_once(self):
        q, k, v = self.tensors()
        tile.attention(q, k, v, causal=True).sum().backward()
        first = list(self.variants)
        # Of gradients, the kernels that sum in a loop say how many blocks they have.
        self.assertEqual(len(first), 3)
        launches, maps = len(self.cuda.launches), len(self.cuda.tensor_maps)
        self.assertGreaterEqual(launches, 3)
        refuse = mock.Mock(side_effect=AssertionError("looked up again"))
        with mock.patch.object(functional, "_check", refuse), mock.patch.object(
            prepared.Forward, "__init__", refuse
        ), mock.patch.object(prepared, "_Backward", refuse):
            tile.attention(q, k, v, causal=True, scale=0.5).sum().backward()
            with torch.no_grad():
                tile.attention(q, k, v, causal=True, scale=0.25)
        self.assertEqual(self.variants, first)
        self.assertEqual(len(self.cuda.launches), 2 * launches + 1)
        # Inputs are where they were: only results and scratch may need maps.
        for encoded in self.cuda.tensor_maps[maps:]:
            self.assertNotIn(encoded[1], {t.data_ptr() for t in (q, k, v)})

    def test_kernels_get_the_tensors(self):
        q, k, v = self.tensors()
        o = tile.attention(q, k, v)
        forward = self.addresses(self.cuda.launches[-1])
        self.assertEqual(forward["q"], q.data_ptr())
        self.assertEqual(forward["k"], k.data_ptr())
        self.assertEqual(forward["v"], v.data_ptr())
        self.assertEqual(forward["o"], o.data_ptr())
        before = len(self.cuda.launches)
        do = torch.ones_like(o)
        found = torch.autograd.grad(o, (q, k, v), do)
        # A block for each head of q: the key heads are too few for a GPU.
        self.assertEqual(self.variants[-1].kv, "atomic")
        for launch in self.cuda.launches[before:]:
            got = self.addresses(launch)
            self.assertEqual(got["o"], o.data_ptr())
            self.assertEqual(got["lse"], forward["lse"])
            self.assertEqual([got[f"d{x}"] for x in "qkv"], [g.data_ptr() for g in found])
            self.assertEqual(got["do"] % 16, 0)
            # Scratch buffers share an allocation and do not overlap.
            stats, dq, dk, dv = (
                got[name] for name in ("stats", "dq_acc", "dk_acc", "dv_acc")
            )
            self.assertEqual({stats % 16, dq % 16, dk % 16, dv % 16}, {0})
            self.assertGreaterEqual(dq - stats, 2 * 4 * 2 * 48 * 4)
            self.assertGreaterEqual(dk - dq, 2 * 33 * 4 * 64 * 4)
            self.assertGreaterEqual(dv - dk, 2 * 77 * 2 * 64 * 4)

    def test_sums_of_gradients_for_the_blocks_of_the_kernel(self):
        """132 blocks of a kernel fill an H200 once, however many keys they have."""
        for d, causal in ((64, False), (256, False)):
            program = compiler.translate(
                BackwardVariant(Variant(d, d, "f16", causal)).ir(), "sm_90a"
            )
            (keys,) = {
                kernel.grid[0][1][1][2]
                for kernel in manifest.parse(program.manifest).kernels
                if kernel.name.endswith(KEYS_KERNEL)
            }
            for rows, deterministic, expected in (
                (33 * keys, False, "loop"),
                (34 * keys, False, "atomic"),
                (34 * keys, True, "separate"),
            ):
                shapes = ((1, rows, 32, d), (1, rows, 4, d), (1, rows, 4, d))
                q, k, v = (torch.zeros(s).half().requires_grad_() for s in shapes)
                o = tile.attention(q, k, v, causal=causal, deterministic=deterministic)
                torch.autograd.grad(o, (q, k, v), torch.zeros_like(o))
                self.assertEqual(self.variants[-1].kv, expected, (d, rows))

    def test_what_changes_kernels_or_sizes_is_prepared_again(self):
        q, k, v = self.tensors()
        calls = [
            lambda: tile.attention(q, k, v),
            lambda: tile.attention(q, k, v, causal=True),
            lambda: tile.attention(q, k, v, window=(5, 0)),
            lambda: tile.attention(q, k, v, softcap=5.0),
            lambda: tile.attention(q, k, v, sink=torch.zeros(4)),
            lambda: tile.attention(q[:, :20], k, v),
            lambda: tile.attention(q, k[:, :, :1], v[:, :, :1]),
            lambda: tile.attention(q, k, v, schedule="stages = 1"),
        ]
        for _ in range(2):
            for call in calls:
                call()
        self.assertEqual(len(functional._prepared), len(calls))
        self.assertEqual(len(self.variants), len(calls))

    def test_lists_as_windows_and_numbers_as_flags(self):
        q, k, v = self.tensors()
        tile.attention(q, k, v, window=[5, 0], causal=1)
        tile.attention(q, k, v, window=(5, 0), causal=True)
        self.assertEqual(len(self.variants), 1)

    def test_a_schedule_is_that_of_the_forward_kernel(self):
        q, k, v = self.tensors(kv_heads=4)
        schedule = "tile = [64, 64], warps = 4, producers = 0"
        tile.attention(q, k, v, schedule=schedule).sum().backward()
        forward, backward = self.variants
        self.assertEqual(forward.schedule, schedule)
        self.assertEqual((backward.schedule, backward.forward.schedule), ("", ""))
        self.assertEqual(self.cuda.launches[0].block, (128, 1, 1))
        merged = tile.attention(q.detach(), k.detach(), v.detach(), return_lse=True)
        with torch.no_grad():
            tile.attention(q, k, v, merge=merged, schedule=schedule)
        self.assertEqual(self.variants[-1].schedule, schedule)

    def test_errors_in_a_schedule_say_where(self):
        q, k, v = self.tensors()
        for text, place in (("tiles = [64, 64]", "1:1"), ("tile = [64], x", "1:11")):
            with self.assertRaisesRegex(
                tile.CompileError, f"--schedule:{place}: error: "
            ):
                tile.attention(q, k, v, schedule=text)
        with self.assertRaisesRegex(tile.ArgumentError, "schedule must be a str, got int"):
            tile.attention(q, k, v, schedule=3)

    def test_attention_overlaps_the_append_to_its_cache(self):
        q, k, v = self.tensors(sq=1, sk=300)
        new = k[:, :1].contiguous()
        lengths = torch.full((q.shape[0],), 200, dtype=torch.int32)
        with mock.patch("tile.kv_cache.append", return_value=lengths):
            tile.attention_with_kvcache(q, k, v, new, new, cache_seqlens=lengths)
        tile.attention_with_kvcache(q, k, v, cache_seqlens=lengths)
        attention = [x for x in self.cuda.launches if x.function == "attention"]
        self.assertEqual([launch.overlaps for launch in attention], [True, False])

    def test_few_blocks_share_the_keys(self):
        """Two kernels, and buffers for the parts that share an allocation."""
        q, k, v = self.tensors(sq=1, sk=3000)
        o, lse = tile.attention(q, k, v, causal=True, return_lse=True)
        self.assertEqual(
            [(v.pack_heads, v.parts) for v in self.variants], [(2, False), (2, True)]
        )
        walk, combine = self.cuda.launches
        self.assertEqual(
            (walk.function, combine.function), ("attention", "attention_combine")
        )
        self.assertEqual((walk.overlaps, combine.overlaps), (False, True))
        # A block for each head of k, and one for each row.
        parts = walk.grid[1]
        self.assertGreater(parts, 2)
        self.assertEqual((walk.grid, combine.grid), ((2 * 2, parts, 1), (2 * 4, 1, 1)))
        for launch in (walk, combine):
            found = self.addresses(launch)
            self.assertEqual((found["o"], found["lse"]), (o.data_ptr(), lse.data_ptr()))
            self.assertEqual({found["o_parts"] % 16, found["lse_parts"] % 16}, {0})
            size = found["lse_parts"] - found["o_parts"]
            self.assertGreaterEqual(size, parts * 2 * 4 * 64 * 4)
        o.sum().backward()
        self.assertEqual(self.variants[-1].forward, Variant(64, 64, "f16", True))

    def test_many_queries_are_rows_of_tiles_that_share_the_keys(self):
        q, k, v = self.tensors(sq=300, sk=3000)
        tile.attention(q, k, v)
        self.assertEqual(
            [(v.pack_heads, v.parts) for v in self.variants], [(0, False), (0, True)]
        )

    def test_kernels_that_a_machine_lacks_are_not_needed(self):
        """A pack may have those of the plain program only; a schedule may be for them."""
        plain = self.kernels

        def kernels(variant, device):
            if variant.parts or variant.pack_heads:
                raise tile.CompileError("not in the pack")
            return plain(variant, device)

        q, k, v = self.tensors(sq=1, sk=3000)
        with mock.patch.object(prepared, "kernels_of", kernels):
            with self.assertRaisesRegex(tile.CompileError, "not in the pack"):
                tile.attention(q, k, v)
            with mock.patch.dict(os.environ, TILE_PACK_DIR=_artifacts.name):
                tile.attention(q, k[:, :-1], v[:, :-1])
        tile.attention(q, k, v, schedule="work_stages = 1")
        self.assertEqual(len(self.cuda.launches), 2)
        self.assertFalse(any(v.parts or v.pack_heads for v in self.variants[:1]))

    def test_nothing_is_launched_for_no_rows(self):
        for sq, heads in ((0, 4), (9, 0)):
            q, k, v = self.tensors(sq=sq, heads=heads, kv_heads=heads)
            o = tile.attention(q, k, v)
            self.assertEqual(o.shape, q.shape)
        self.assertEqual((self.variants, self.cuda.launches), ([], []))


if __name__ == "__main__":
    unittest.main()
