// The extent of the grid is in a register on NVIDIA's chips only.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_80},tile-vectorize)' | FileCheck %s
// RUN: sed -e 's/lane = .32./lane = [64]/' -e 's/32xi32/64xi32/' %s > %t.mlir
// RUN: not tile-opt %t.mlir --pass-pipeline='builtin.module(tile-attach-target{chip=gfx942},tile-vectorize)' 2>&1 | FileCheck %s --check-prefix=AMD

#row = #tile.blocked<thread = [1], lane = [32], warp = [1], order = [0]>
!b = !tile.buffer<?xi32, #tile.strided<[1]>, global>

// CHECK-LABEL: gpu.func @stride
// CHECK: gpu.grid_dim x
// AMD: error: 'tile.num_programs' op has no register on gfx942; compute the extent of the grid from arguments
tile.kernel @stride(%b: !b) attributes {num_warps = 1 : i32} {
  %c1 = arith.constant 1 : index
  %n = tile.num_programs x
  tile.grid %c1, %c1, %c1
  %x = tile.program_id x
  %next = arith.addi %x, %n : index
  %i = arith.index_cast %next : index to i32
  %t = tensor.splat %i : tensor<32xi32, #row>
  tile.store %t, %b[%next] : tensor<32xi32, #row>, !b
}
