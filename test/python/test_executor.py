"""Tests of running kernels on the CPU, on NumPy arrays."""

import contextlib
import io
import os
import subprocess
import sys
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python")]

import tile
from tile.programs import BackwardVariant, Variant, attention_ir

try:
    import numpy as np

    from tile.executor import Program
except ImportError:
    np = None

try:
    import torch
except ImportError:
    torch = None

#: Adds 1 to every element of a row of 64.
ADD = """
#global = #gpu.address_space<global>
gpu.module @kernels {
  tile_gpu.manifest @add {grid = [1, 1, 1], block = array<i64: 64, 1, 1>, shared_bytes = 0 : i64,
      params = [{kind = "buffer", name = "a", type = "f32", rank = 1, shape = [64],
                  strides = [1], stride_divisibility = [1], alignment = 4},
                  {kind = "buffer", name = "b", type = "f32", rank = 1, shape = [64],
                  strides = [1], stride_divisibility = [1], alignment = 4}]}
  gpu.func @add(%a: memref<64xf32, #global>, %b: memref<64xf32, #global>) kernel {
    %t = gpu.thread_id x
    %one = arith.constant 1.0 : f32
    %v = memref.load %a[%t] : memref<64xf32, #global>
    %w = arith.addf %v, %one : f32
    memref.store %w, %b[INDEX] : memref<64xf32, #global>
    gpu.return
  }
}
"""


#: A program that the fuzzer drew. It becomes a basic block of 5500 instructions.
LONG_BLOCK = """
!a = !tile.buffer<?x96xf16, #tile.strided<[96, 1], align = 8>, global>
!b = !tile.buffer<25x?xf16, #tile.strided<[?:8, 1], align = 16>, global>
!c = !tile.buffer<39xf16, #tile.strided<[1], align = 8>, global>
!d = !tile.buffer<?xf16, #tile.strided<[1]>, global>
!rows = tensor<37x96xf16>
tile.kernel @long(%a: !a {tile.name = "a"}, %b: !b {tile.name = "b"}, %c: !c {tile.name = "c"},
                  %d: !d {tile.name = "d"}) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %x = tile.load %a[%c0, %c0] : !a -> !rows
  %minus2 = arith.constant dense<-2.0> : !rows
  %y = math.fma %x, %minus2, %minus2 : !rows
  %small = arith.constant dense<0.00390625> : !rows
  %shift = arith.mulf %minus2, %small : !rows
  %ones = arith.constant dense<1.0> : !rows
  %near = arith.addf %shift, %ones : !rows
  %products = tile.reduce mulf %near along 1 : !rows -> tensor<37xf16>
  %least = tile.scan minnumf %ones along 1 : !rows
  %flat = tile.reshape %least : !rows -> tensor<3552xf16>
  %three = arith.constant dense<3.0> : tensor<37xf16>
  %sums = math.fma %products, %three, %three : tensor<37xf16>
  %half = arith.constant dense<0.5> : tensor<3552xf16>
  %halves = arith.mulf %flat, %half : tensor<3552xf16>
  %scan = tile.scan addf %halves along 0 : tensor<3552xf16>
  tile.store %y, %b[%c0, %c0] : !rows, !b
  tile.atomic_rmw addf %sums, %c[%c0] : tensor<37xf16>, !c
  tile.store %scan, %d[%c0] : tensor<3552xf16>, !d
}
"""

#: Runs it with a limit of CPU seconds.
RUN_WITH_LIMIT = """
import resource, sys
import numpy as np
resource.setrlimit(resource.RLIMIT_CPU, (20, 21))
import tile
arrays = (np.ones((40, 96), np.float16), np.zeros((25, 40), np.float16),
          np.zeros(39, np.float16), np.zeros(3552, np.float16))
tile.run(sys.stdin.read(), *arrays, chip="sm_89")
assert (arrays[1] == -4).all()
assert (arrays[3][:100] == 0.5 * np.arange(1, 101)).all()
"""


@unittest.skipIf(np is None, "no NumPy")
class RunTest(unittest.TestCase):
    def test_long_blocks_compile_in_time(self):
        path = os.pathsep.join([str(ROOT / "python"), os.environ.get("PYTHONPATH", "")])
        done = subprocess.run(
            [sys.executable, "-c", RUN_WITH_LIMIT], input=LONG_BLOCK, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env=dict(os.environ, PYTHONPATH=path),
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stdout)

    def arrays(self):
        return np.arange(64, dtype=np.float32), np.zeros(64, np.float32)

    def test_results_are_written_in_place(self):
        for chip in ("sm_80", "gfx942"):
            a, b = self.arrays()
            tile.run(ADD.replace("INDEX", "%t"), a, b, chip=chip)
            np.testing.assert_array_equal(b, a + 1)

    def test_arguments_by_name(self):
        a, b = self.arrays()
        tile.run(ADD.replace("INDEX", "%t"), b=b, a=a, chip="sm_80")
        np.testing.assert_array_equal(b, a + 1)

    def test_arguments_in_the_gaps_of_others(self):
        """q, k and v are slices of one array; a gap beside them is nobody's."""
        together = np.random.default_rng(1).standard_normal((1, 40, 3, 2, 64))
        together = together.astype(np.float16)
        parts = [together[:, :, i] for i in range(3)]
        o, lse = np.zeros((1, 40, 2, 64), np.float16), np.zeros((1, 2, 40), np.float32)
        expected = np.zeros_like(o)
        ir = attention_ir(64, dtype="f16")
        for chip in ("sm_80", "sm_90a"):
            tile.run(ir, *map(np.ascontiguousarray, parts), expected, lse, 0.1, chip=chip)
            tile.run(ir, *parts, o, lse, 0.1, chip=chip)
            np.testing.assert_array_equal(o, expected)
        a, b = np.zeros((64, 2), np.float32)[:, 0], np.zeros(64, np.float32)
        strided = ADD.replace("strides = [1]", "strides = [2]", 1).replace(
            "memref<64xf32, #global>", "memref<64xf32, strided<[2]>, #global>", 1
        ).replace("%a[%t] : memref<64xf32, #global>",
                  "%a[%t] : memref<64xf32, strided<[2]>, #global>")
        tile.run(strided.replace("INDEX", "%t"), a, b, chip="sm_80")
        np.testing.assert_array_equal(b, 1)
        with self.assertRaisesRegex(tile.ExecutionError, "between the elements of 'a'"):
            tile.run(strided.replace("strided<[2]>", "strided<[1]>").replace("INDEX", "%t"),
                     a, b, chip="sm_80")

    def test_large_heap(self):
        """Shared memory needs low addresses, through which a heap may grow."""
        script = (
            "import ctypes, numpy, sys\n"
            "from tile.executor import Program\n"
            "program = Program(sys.argv[1], 'sm_80')\n"
            "malloc = ctypes.CDLL(None).malloc\n"
            "malloc.restype = ctypes.c_void_p\n"
            "for _ in range(30000): malloc(100000)\n"
            "a, b = numpy.arange(64, dtype='f4'), numpy.zeros(64, 'f4')\n"
            "program(a, b)\n"
            "assert (b == a + 1).all()\n"
        )
        subprocess.run(
            [sys.executable, "-c", script, ADD.replace("INDEX", "%t")],
            env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
            check=True,
        )

    def test_parameters(self):
        program = Program(ADD.replace("INDEX", "%t"), "sm_80")
        self.assertEqual(
            [(p.name, p.type, p.buffer, p.written) for p in program.parameters],
            [("a", "f32", True, False), ("b", "f32", True, True)],
        )

    def test_strides_and_bf16(self):
        source = attention_ir(64, dtype="bf16", lse=False)
        shape = (1, 32, 2, 64)
        ones = np.full(shape, 0x3F80, np.uint16)
        # Heads before the length in memory, and padding after each row.
        padded = np.full((1, 2, 32, 72), 0x7FC0, np.uint16)
        out = padded[..., :64].transpose(0, 2, 1, 3)
        tile.run(source, ones, ones, ones, out, 0.125, chip="gfx1100")
        self.assertTrue((out == 0x3F80).all())
        self.assertTrue((padded[..., 64:] == 0x7FC0).all())

    def test_attention_without_elements(self):
        """No queries, keys, sequences or heads: zeros, and -inf as logarithm."""
        variant = Variant(64, 64, "f16", causal=True)
        for chip in ("sm_80", "sm_90a", "gfx942"):
            forward = Program(variant.ir(), chip)
            backward = Program(BackwardVariant(variant, kv="separate").ir(), chip)
            for b, sq, sk, heads in (
                (1, 9, 0, 2), (1, 0, 9, 2), (0, 9, 9, 2), (1, 9, 9, 0), (1, 0, 0, 2),
            ):  # fmt: skip
                nan, half = np.nan, np.float16
                queries, keys = (b, sq, heads, 64), (b, sk, heads, 64)
                q, k, v = (np.ones(s, half) for s in (queries, keys, keys))
                o, lse = np.full(queries, nan, half), np.full((b, heads, sq), nan, "f4")
                forward(q, k, v, o, lse, 0.125)
                if sk == 0:
                    self.assertTrue((o == 0).all() and (lse == -np.inf).all())
                arrays = dict(q=q, k=k, v=v, o=o, do=np.ones(queries, half), lse=lse)
                gradients = {"d" + n: np.full_like(arrays[n], nan) for n in "qkv"}
                arrays.update(gradients)
                scratch = backward.scratch({n: a.shape for n, a in arrays.items()})
                for name, buffer in scratch.items():
                    arrays[name] = np.full(buffer.shape, nan, np.float32)
                backward(scale=0.125, **arrays)
                if 0 in (sq, sk):
                    for gradient in gradients.values():
                        self.assertTrue((gradient == 0).all())

    @unittest.skipIf(torch is None, "no PyTorch")
    def test_tensors_of_pytorch(self):
        source = attention_ir(64, dtype="bf16", lse=False)
        q, k, v = (torch.ones(1, 32, 2, 64, dtype=torch.bfloat16) for _ in range(3))
        padded = torch.zeros(1, 2, 32, 72, dtype=torch.bfloat16)
        out = padded[..., :64].transpose(1, 2)
        tile.run(source, q, k, v, out, torch.tensor(0.125), chip="gfx1100")
        self.assertTrue((out == 1).all() and (padded[..., 64:] == 0).all())
        with self.assertRaisesRegex(
            tile.ArgumentError, "argument 'q': is on device 'meta', must be on the CPU"
        ):
            tile.run(source, q.to("meta"), k, v, out, 0.125, chip="gfx1100")

    def test_statistics(self):
        source = ADD.replace("INDEX", "%t")
        a, b = self.arrays()
        self.assertEqual(tile.run(source, a, b, chip="sm_80"), [])
        (kernel,) = tile.run(source, a, b, chip="sm_80", statistics=True)
        self.assertEqual((kernel.kernel, kernel.blocks), ("add", 1))
        self.assertEqual((kernel.global_read, kernel.global_written), (256, 256))
        self.assertEqual((kernel.shared_read, kernel.shared_written), (0, 0))
        # Two warps, each with a load and a store.
        self.assertEqual(kernel.instructions["load and store"], 4)
        (again,) = tile.run(source, a, b, chip="sm_80", statistics=True, checks=False)
        self.assertEqual(again, kernel)

    def test_schedule(self):
        """One field of the schedule changes the kernel, and not its result."""
        rng = np.random.default_rng(2)
        shape = (1, 40, 2, 64)
        q, k, v = (rng.standard_normal(shape).astype(np.float16) for _ in range(3))
        outputs, blocks = [], []
        for schedule in (None, "tile = [64, 64]", "tile = [16, 16], warps = 1"):
            o, lse = np.zeros(shape, np.float16), np.zeros((1, 2, 40), np.float32)
            (kernel,) = tile.run(
                attention_ir(64, dtype="f16"), q, k, v, o, lse, 0.1,
                chip="sm_80", schedule=schedule, statistics=True,
            )
            outputs.append(o.astype(np.float32))
            blocks.append(kernel.blocks)
        self.assertEqual(blocks, [2, 2, 6])
        for other in outputs[1:]:
            np.testing.assert_allclose(other, outputs[0], atol=2e-3)
        with self.assertRaisesRegex(tile.CompileError, "--schedule:1:1: error"):
            tile.run(attention_ir(64, dtype="f16"), chip="sm_80", schedule="x = 1")

    def test_threads(self):
        """An environment variable limits the threads of this machine."""
        source = ROOT / "examples" / "gemm.mlir"
        a, c = np.ones((64, 64), np.uint16), np.ones((64, 64), np.uint16)
        with mock.patch.dict(os.environ, {"TILE_CPU_THREADS": "1"}):
            tile.run(source, a, a, c, chip="sm_80")
        self.assertTrue((c == 0).all())
        for value in ("two", "-1", ""):
            with mock.patch.dict(os.environ, {"TILE_CPU_THREADS": value}):
                with self.assertRaisesRegex(tile.ArgumentError, "not a number of threads"):
                    tile.run(source, a, a, c, chip="sm_80")

    def test_sizes(self):
        """Open extents are chosen for a problem."""
        program = ROOT / "examples" / "gemm.mlir"
        a, b = np.ones((64, 64), np.uint16), np.ones((64, 128), np.uint16)
        results, blocks = [], []
        for sizes in (None, "a = 64x64, b = 64x128"):
            c = np.zeros((64, 128), np.uint16)
            (kernel,) = tile.run(program, a, b, c, chip="sm_80", sizes=sizes, statistics=True)
            results.append(c)
            blocks.append(kernel.blocks)
        self.assertLess(blocks[0], blocks[1])
        np.testing.assert_array_equal(*results)
        with self.assertRaisesRegex(tile.CompileError, "--sizes:1:1: error"):
            tile.run(program, a, b, c, chip="sm_80", sizes="x = 3")

    def test_without_assertions(self):
        source = """
            !b = !tile.buffer<64xf32, #tile.strided<[1]>, global>
            tile.kernel @copy(%src: !b, %dst: !b) {
              %c0 = arith.constant 0 : index
              %c1 = arith.constant 1 : index
              tile.grid %c1, %c1, %c1
              %x = tile.load %src[%c0] : !b -> tensor<64xf32>
              %is_number = arith.cmpf oeq, %x, %x : tensor<64xf32>
              tile.assert %is_number, "x is NaN" : tensor<64xi1>
              tile.store %x, %dst[%c0] : tensor<64xf32>, !b
            }
        """
        a, b = self.arrays()
        a[3] = np.nan
        for chip in ("sm_80", "gfx942"):
            with self.assertRaisesRegex(tile.ExecutionError, r"at \[3\]: x is NaN"):
                tile.run(source, a, b, chip=chip)
            tile.run(source, a, b, chip=chip, assertions=False)
            np.testing.assert_array_equal(b, a)

    def test_faults_are_errors(self):
        a, b = self.arrays()
        source = ADD.replace("%t = gpu", "%c0 = arith.constant 0 : index\n%t = gpu")
        with self.assertRaisesRegex(
            tile.ExecutionError, r"thread 1: race: writes element \(0\) of 'b'"
        ):
            tile.run(source.replace("INDEX", "%c0"), a, b, chip="sm_80")

    def test_in_place(self):
        """A kernel that reads and writes one argument with different layouts."""
        source = """
!g = !tile.buffer<?x64xf32, #tile.strided<[64, 1], align = 16>, global>
tile.kernel @shift(%g: !g {tile.name = "g"}, %n: index {tile.name = "n"})
    attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.load %g[%c0, %c0] : !g -> tensor<64x64xf32>
  %u = tile.transpose %t [1, 0] : tensor<64x64xf32> -> tensor<64x64xf32>
  tile.store %u, %g[%c0, %c0] : tensor<64x64xf32>, !g
  // Each iteration reads what the one before wrote, a row further down.
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    %rows = tile.load %g[%i, %c0] : !g -> tensor<32x64xf32>
    tile.store %rows, %g[%next, %c0] : tensor<32x64xf32>, !g
  }
}
"""
        for chip in ("sm_80", "sm_90a", "gfx942", "gfx1100"):
            g = np.random.default_rng(1).standard_normal((64, 64)).astype(np.float32)
            expected = g.T.copy()
            tile.run(source, g, 5, chip=chip)
            for i in range(5):
                expected[i + 1 : i + 33] = expected[i : i + 32].copy()
            np.testing.assert_array_equal(g, expected, err_msg=chip)

    def test_misfits_are_refused(self):
        source = ADD.replace("INDEX", "%t")
        a, b = self.arrays()
        frozen = b.copy()
        frozen.flags.writeable = False
        for arguments, message in (
            ((a, a.astype(np.float16)), "type is f16, must be f32"),
            ((a, np.zeros(32, np.float32)), "extent 0 is 32, must be 64"),
            ((a, np.zeros(128, np.float32)[::2]), "stride 0 is 2, must be 1"),
            ((a, 1.0), "must be a tensor"),
            ((a, None), "argument 'b': expected an array"),
            ((a, frozen), "argument 'b': is written to"),
            ((a,), "no value for: b"),
            ((a, b, a), "3 arguments, there are 2"),
        ):
            with self.assertRaisesRegex(tile.ArgumentError, message):
                tile.run(source, *arguments, chip="sm_80")

    def test_prints_and_assertions(self):
        source = """
!b = !tile.buffer<2xf32, #tile.strided<[1]>, global>
tile.kernel @k(%b: !b, %h: f16, %flag: i1) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.load %b[%c0] : !b -> tensor<2xf32>
  tile.print "h" %h : f16
  tile.print "t" %t : tensor<2xf32>
  tile.assert %flag, "the flag is down" : i1
}
"""
        b = np.array([0.5, -2], np.float32)
        for chip in ("sm_90a", "gfx1100"):
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                tile.run(source, b, np.float16(0.1), True, chip=chip)
                with self.assertRaisesRegex(
                    tile.ExecutionError,
                    r"source:10:3: error: kernel 'k', block \(0, 0, 0\), thread 0: assertion"
                    " failed: the flag is down",
                ):
                    tile.run(source, b, 2, np.bool_(False), chip=chip)
            lines = [line.split(": ", 2) for line in output.getvalue().splitlines()]
            self.assertEqual(
                [(line[0], line[-1].split(": ")[-1]) for line in lines],
                [("h", "0.099976"), ("t", "[0] = 0.5"), ("t", "[1] = -2"), ("h", "2"),
                 ("t", "[0] = 0.5")],
            )

    def test_programs_that_do_not_compile(self):
        with self.assertRaisesRegex(tile.CompileError, "source:1:"):
            tile.run("nonsense", chip="sm_80")
        with self.assertRaisesRegex(tile.CompileError, "unknown target chip"):
            tile.run(ADD.replace("INDEX", "%t"), chip="sm_1")



@unittest.skipIf(np is None, "no NumPy")
class CopiesToLDSTest(unittest.TestCase):
    """Chips whose waves copy to the LDS without registers, against float64."""

    def normal(self, shape, seed):
        values = np.random.default_rng(seed).standard_normal(shape)
        return values.astype(np.float16)

    def test_matrix_product(self):
        source = (ROOT / "test/Driver/direct-to-lds.mlir").read_text(encoding="utf-8")
        a, b = self.normal((130, 200), 1), self.normal((100, 200), 2)
        exact = a.astype(np.float64) @ b.astype(np.float64).T
        for chip in ("gfx950", "gfx942"):
            c = np.full(exact.shape, np.nan, np.float32)
            tile.run(source, a, b, c, chip=chip)
            np.testing.assert_allclose(c, exact, atol=1e-4)

    def test_attention(self):
        """The last rows and keys are beyond the end, and read zeros."""
        for chip, d, stages in (("gfx950", 128, 2), ("gfx950", 80, 3), ("gfx942", 64, 2)):
            for causal in (False, True):
                q = self.normal((1, 70, 2, d), 1)
                k, v = (self.normal((1, 150, 1, d), seed) for seed in (2, 3))
                o = np.full(q.shape, np.nan, np.float16)
                lse = np.full((1, 2, 70), np.nan, np.float32)
                tile.run(
                    attention_ir(d, dtype="f16", causal=causal), q, k, v, o, lse, d**-0.5,
                    chip=chip, schedule=f"tile = [64, 64], warps = 4, stages = {stages}",
                )
                scores = np.einsum("nqhd,nkgd->nhqk", q, k, dtype=np.float64) * d**-0.5
                if causal:
                    seen = np.arange(150) <= np.arange(70)[:, None] + 80
                    scores = np.where(seen, scores, -np.inf)
                weights = np.exp(scores - scores.max(-1, keepdims=True))
                weights /= weights.sum(-1, keepdims=True)
                exact = np.einsum("nhqk,nkgd->nqhd", weights, v, dtype=np.float64)
                np.testing.assert_allclose(o, exact, atol=2e-3)

if __name__ == "__main__":
    unittest.main()
