// The pass that lowers tiles makes several operations of one, at its location:
// what is wrong with all of them is reported once.
//
// RUN: not tile-opt %s --tile-to-amdgpu 2>&1 | FileCheck %s

// CHECK: one.mlir:3:4: error: 'tile_gpu.mma' op "mma.m16n8k16.f16" is not an instruction of gfx1100
// CHECK-NOT: error
// CHECK: other.mlir:5:6: error: 'tile_gpu.mma' op "mma.m16n8k16.f16" is not an instruction of gfx1100
// CHECK-NOT: error

#one = loc("one.mlir":3:4)
#other = loc("other.mlir":5:6)
module attributes {tile.target = "gfx1100"} {
func.func @products(%a: vector<8xf16>, %b: vector<4xf16>, %c: vector<4xf32>) {
  %0 = tile_gpu.mma "mma.m16n8k16.f16" %a, %b, %c : vector<8xf16>, vector<4xf16>, vector<4xf32> loc(#one)
  %1 = tile_gpu.mma "mma.m16n8k16.f16" %a, %b, %0 : vector<8xf16>, vector<4xf16>, vector<4xf32> loc(#one)
  %2 = tile_gpu.mma "mma.m16n8k16.f16" %a, %b, %1 : vector<8xf16>, vector<4xf16>, vector<4xf32> loc(#other)
  return
}
}
