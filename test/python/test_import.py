"""Imported attention on the executor, compared with the definition of its source.

Needs NumPy, tile-import and the executor's library.
"""

import os
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

try:
    import numpy as np
except ImportError:
    np = None

import tile
from tile import native

ONNX = """
func.func @attention(%q: {q}, %k: {k}, %v: {k}) -> {q} {{
  %y = "onnx.Attention"(%q, %k, %v) {{{attributes}}} : ({q}, {k}, {k}) -> {q}
  return %y : {q}
}}
"""

TORCH = """
"func.func"() <{{function_type = ({q}, {k}, {k}) -> {q}, sym_name = "attention"}}> ({{
^bb0(%q: {q}, %k: {k}, %v: {k}):
  %none = "torch.constant.none"() : () -> !torch.none
  %zero = "torch.constant.float"() <{{value = 0.0 : f64}}> : () -> !torch.float
  %causal = "torch.constant.bool"() <{{value = {causal}}}> : () -> !torch.bool
  %gqa = "torch.constant.bool"() <{{value = true}}> : () -> !torch.bool
  %y = "torch.aten.scaled_dot_product_attention"(%q, %k, %v, %none, %zero, %causal, %none, %gqa)
      : ({q}, {k}, {k}, !torch.none, !torch.float, !torch.bool, !torch.none, !torch.bool) -> {q}
  "func.return"(%y) : ({q}) -> ()
}}) : () -> ()
"""


def run_import(text):
    tool = Path(native.find()).resolve().parents[1] / "bin" / "tile-import"
    return subprocess.run([os.fspath(tool), "-"], input=text, stdout=subprocess.PIPE,
                          check=True, text=True).stdout


def reference(q, k, v, scale, causal=False, softcap=0.0):
    """Computes attention on [B, H, S, D] in float64, aligned to the top left."""
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    groups = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, groups, axis=1), np.repeat(v, groups, axis=1)
    scores = scale * q @ k.swapaxes(-1, -2)
    if softcap:
        scores = softcap * np.tanh(scores / softcap)
    if causal:
        hidden = np.arange(k.shape[2]) > np.arange(q.shape[2])[:, None]
        scores = np.where(hidden, -np.inf, scores)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v


@unittest.skipIf(np is None, "needs NumPy")
class ImportTest(unittest.TestCase):
    def check(self, template, tensor, queries, keys, attributes="", **options):
        q_shape, k_shape = (2, 4, queries, 64), (2, 2, keys, 64)
        text = template.format(q=tensor(q_shape), k=tensor(k_shape), attributes=attributes,
                               causal=str(options.get("causal", False)).lower())
        draw = np.random.default_rng(queries + keys)
        q, k, v = (draw.standard_normal(shape).astype(np.float16)
                   for shape in (q_shape, k_shape, k_shape))
        o = np.full(q_shape, np.nan, np.float16)
        program = run_import(text)
        for chip in ("sm_80", "gfx942"):
            with self.subTest(chip=chip, queries=queries, keys=keys, **options):
                o[...] = np.nan
                # The program's dimensions are batch, length, heads, head dimension.
                views = {name: array.swapaxes(1, 2)
                         for name, array in dict(q=q, k=k, v=v, o=o).items()}
                tile.run(program, chip=chip, **views)
                expected = reference(q, k, v, **{"scale": 0.125, **options})
                np.testing.assert_allclose(o, expected, atol=4e-3, rtol=4e-3)

    def test_onnx(self):
        def tensor(shape):
            return "tensor<%sxf16>" % "x".join(map(str, shape))

        causal = "is_causal = 1 : si64"
        self.check(ONNX, tensor, 40, 72)
        self.check(ONNX, tensor, 40, 72, "scale = 0.25 : f32, softcap = 2.0 : f32",
                   scale=0.25, softcap=2.0)
        self.check(ONNX, tensor, 72, 72, causal, causal=True)
        # The top left and the bottom right differ here.
        self.check(ONNX, tensor, 104, 40, causal, causal=True)
        self.check(ONNX, tensor, 40, 72, causal, causal=True)

    def test_torch(self):
        def tensor(shape):
            return "!torch.vtensor<[%s],f16>" % ",".join(map(str, shape))

        self.check(TORCH, tensor, 40, 72)
        self.check(TORCH, tensor, 72, 72, causal=True)
        self.check(TORCH, tensor, 104, 40, causal=True)
        self.check(TORCH, tensor, 40, 104, causal=True)


if __name__ == "__main__":
    unittest.main()
