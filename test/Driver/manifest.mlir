// RUN: tile-translate --tile-to-ptx --chip=sm_80 %s -o /dev/null --manifest=%t.json
// RUN: FileCheck %s --input-file=%t.json
// RUN: %python -c "import json,sys; json.load(open(sys.argv[1]))" %t.json

// CHECK:      "chip": "sm_80",
// CHECK-NEXT: "kernels": [
// CHECK:        "block": [
// CHECK-NEXT:     128,
// CHECK-NEXT:     1,
// CHECK-NEXT:     1
// CHECK-NEXT:   ],
// CHECK-NEXT:   "grid": [
// CHECK-NEXT:     [
// CHECK-NEXT:       "ceildiv",
// CHECK-NEXT:       [
// CHECK-NEXT:         "dim",
// CHECK-NEXT:         0,
// CHECK-NEXT:         1
// CHECK-NEXT:       ],
// CHECK-NEXT:       128
// CHECK-NEXT:     ],
// CHECK-NEXT:     1,
// CHECK-NEXT:     1
// CHECK-NEXT:   ],
// CHECK-NEXT:   "name": "first",
// CHECK-NEXT:   "params": [
// CHECK-NEXT:     {
// CHECK-NEXT:       "alignment": 16,
// CHECK-NEXT:       "kind": "buffer",
// CHECK-NEXT:       "name": "q",
// CHECK-NEXT:       "rank": 2,
// CHECK-NEXT:       "shape": [
// CHECK-NEXT:         null,
// CHECK-NEXT:         64
// CHECK-NEXT:       ],
// CHECK:            "type": "f16"
// CHECK:        "shared_bytes": 0
// CHECK:        "name": "second",
// CHECK:      "kind": "ptx",
// CHECK-NEXT: "multiprocessors": {{[0-9]+}},
// CHECK-NEXT: "shapes": [],
// CHECK-NEXT: "version": 2

module {
  gpu.module @kernels {
    tile_gpu.manifest @first {grid = [["ceildiv", ["dim", 0, 1], 128], 1, 1], block = array<i64: 128, 1, 1>, shared_bytes = 0 : i64,
        params = [{kind = "buffer", name = "q", type = "f16", rank = 2,
                    shape = [unit, 64], strides = [unit, 1],
                    stride_divisibility = [8, 1], alignment = 16}]}
    llvm.func @first(%q: !llvm.ptr<1>, %extent: i64, %stride: i64) attributes {gpu.kernel, nvvm.kernel, nvvm.maxntid = array<i32: 128, 1, 1>} {
      llvm.return
    }
    tile_gpu.manifest @second {grid = [1, 1, 1], block = array<i64: 32, 1, 1>, shared_bytes = 0 : i64,
        params = [{kind = "scalar", name = "scale", type = "f32"}]}
    llvm.func @second(%scale: f32) attributes {gpu.kernel, nvvm.kernel} {
      llvm.return
    }
  }
}
