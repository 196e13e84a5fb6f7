// LLVM's SelectionDAG did not terminate for these sums of <1 x i64>.
// RUN: tile-translate --tile-to-llvmir --chip=gfx1100 %s | FileCheck %s
// RUN: tile-translate --tile-to-hsaco --chip=gfx1100 %s -o /dev/null
// RUN: tile-translate --tile-to-hsaco --chip=gfx942 %s -o /dev/null

!row = !tile.buffer<14xi32, #tile.strided<[1]>, global>

// CHECK-LABEL: define amdgpu_kernel void @sums(
// CHECK-NOT: = {{add|and}} {{.*}}<1 x i64>
// CHECK: add nuw nsw i64 %{{.*}}, 127
// CHECK-NOT: = {{add|and}} {{.*}}<1 x i64>
tile.kernel @sums(
    %a: !tile.buffer<?xi64, #tile.strided<[1], align = 16>, global>, %b: !row,
    %o: !tile.buffer<?xi32, #tile.strided<[1], align = 16>, global>,
    %s: !tile.buffer<?xi64, #tile.strided<[1]>, global>) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %n = tile.dim %o[0] : !tile.buffer<?xi32, #tile.strided<[1], align = 16>, global>
  %blocks = arith.ceildivui %n, %c8 : index
  tile.grid %blocks, %c1, %c1
  %block = tile.program_id x
  %start = arith.muli %block, %c8 : index
  %x = tile.load %a[%start] : !tile.buffer<?xi64, #tile.strided<[1], align = 16>, global> -> tensor<8xi64>
  %t = arith.constant 127 : i64
  %mask = tensor.splat %t : tensor<8xi64>
  %low = arith.andi %x, %mask : tensor<8xi64>
  %read = tile.gather %b[%c0] along 0 by %low : !row, tensor<8xi64> -> tensor<8xi32>
  %sum = arith.addi %mask, %low : tensor<8xi64>
  tile.atomic_rmw minu %read, %o[%start] : tensor<8xi32>, !tile.buffer<?xi32, #tile.strided<[1], align = 16>, global>
  tile.store %sum, %s[%start] : tensor<8xi64>, !tile.buffer<?xi64, #tile.strided<[1]>, global>
}

// The operand of a conversion has one element, too.
// CHECK-LABEL: define amdgpu_kernel void @widened(
// CHECK: add nuw nsw i64 %{{.*}}, 127
tile.kernel @widened(
    %a: !tile.buffer<?xi32, #tile.strided<[1], align = 16>, global>,
    %s: !tile.buffer<?xi64, #tile.strided<[1]>, global>) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %x = tile.load %a[%c0] : !tile.buffer<?xi32, #tile.strided<[1], align = 16>, global> -> tensor<8xi32>
  %wide = arith.extui %x : tensor<8xi32> to tensor<8xi64>
  %t = arith.constant 127 : i64
  %all = tensor.splat %t : tensor<8xi64>
  %sum = arith.addi %wide, %all : tensor<8xi64>
  tile.store %sum, %s[%c0] : tensor<8xi64>, !tile.buffer<?xi64, #tile.strided<[1]>, global>
}
