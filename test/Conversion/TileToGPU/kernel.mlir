// A kernel becomes a gpu.func with a manifest.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_80},tile-vectorize,canonicalize)' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,NVIDIA
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=gfx942},tile-vectorize,canonicalize)' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,AMD

// CHECK: gpu.module @tile_kernels

!heads = !tile.buffer<?x4x?x64xf16, #tile.strided<[?:8, ?, 64, 1], align = 16>, global>
!sums = !tile.buffer<?xf32, #tile.strided<[1]>, global>

// Each buffer becomes its address, dynamic extents and dynamic strides; scalars are
// unchanged.
// NVIDIA-LABEL: tile_gpu.manifest @parameters {block = array<i64: 256, 1, 1>
// AMD-LABEL: tile_gpu.manifest @parameters {block = array<i64: 512, 1, 1>
// CHECK-SAME: grid = [1, 1, 1], params = [
// CHECK-SAME: {alignment = 16 : i64, kind = "buffer", name = "q", rank = 4 : i64, shape = [unit, 4, unit, 64], stride_divisibility = [8, 1, 1, 1], strides = [unit, unit, 64, 1], type = "f16"},
// CHECK-SAME: {alignment = 4 : i64, kind = "buffer", name = "arg1", rank = 1 : i64, shape = [unit], stride_divisibility = [1], strides = [1], type = "f32"},
// CHECK-SAME: {kind = "scalar", name = "arg2", nonnegative = true, type = "f32"},
// CHECK-SAME: {kind = "scalar", name = "arg3", type = "i32"},
// CHECK-SAME: {kind = "scalar", name = "arg4", type = "i64"},
// CHECK-SAME: {kind = "scalar", name = "count", type = "index"}]
// CHECK-SAME: shared_bytes = 0 : i64}
// CHECK-LABEL: gpu.func @parameters(
// CHECK-SAME: %{{[^:]+}}: memref<?xf16, #gpu.address_space<global>> {llvm.align = 16 : i64}, %{{[^:]+}}: index, %{{[^:]+}}: index, %{{[^:]+}}: index, %{{[^:]+}}: index,
// CHECK-SAME: %{{[^:]+}}: memref<?xf32, #gpu.address_space<global>>, %{{[^:]+}}: index,
// CHECK-SAME: %{{[^:]+}}: f32, %{{[^:]+}}: i32, %{{[^:]+}}: i64, %{{[^:]+}}: index) kernel
// NVIDIA-SAME: known_block_size = array<i32: 256, 1, 1>
// AMD-SAME: known_block_size = array<i32: 512, 1, 1>
// CHECK-NEXT: gpu.return
tile.kernel @parameters(%q: !heads {tile.name = "q"}, %s: !sums, %x: f32 {tile.nonnegative}, %i: i32, %l: i64,
                        %n: index {tile.name = "count"}) attributes {num_warps = 8 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}

// All operations that the grid may use.
// CHECK-LABEL: tile_gpu.manifest @grid {
// CHECK-SAME: grid = [
// CHECK-SAME: ["ceildiv", ["add", ["dim", 0, 0], ["arg", 1]], 64],
// CHECK-SAME: ["floordiv", ["sub", ["mul", ["dim", 0, 2], 3], ["arg", 2]], 2],
// CHECK-SAME: ["max", ["min", ["arg", 3], 8], ["mod", ["dim", 0, 0], 7]]]
tile.kernel @grid(%q: !heads, %i: i32, %l: i64, %n: index) {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %d0 = tile.dim %q[0] : !heads
  %d2 = tile.dim %q[2] : !heads
  %i0 = arith.index_cast %i : i32 to index
  %sum = arith.addi %d0, %i0 : index
  %x = arith.ceildivui %sum, %c64 : index
  %l0 = arith.index_castui %l : i64 to index
  %triple = arith.muli %d2, %c3 : index
  %less = arith.subi %triple, %l0 : index
  %y = arith.divui %less, %c2 : index
  %few = arith.minui %n, %c8 : index
  %rest = arith.remui %d0, %c7 : index
  %z = arith.maxui %few, %rest : index
  tile.grid %x, %y, %z
}

// The signed forms give the same expressions, since values are not negative.
// CHECK-LABEL: tile_gpu.manifest @signed_grid {
// CHECK-SAME: grid = [
// CHECK-SAME: ["ceildiv", ["arg", 0], 2],
// CHECK-SAME: ["floordiv", ["floordiv", ["arg", 0], 2], 2],
// CHECK-SAME: ["max", ["min", ["arg", 0], 2], ["mod", ["arg", 0], 2]]]
tile.kernel @signed_grid(%n: index) {
  %c2 = arith.constant 2 : index
  %x = arith.ceildivsi %n, %c2 : index
  %half = arith.divsi %n, %c2 : index
  %y = arith.floordivsi %half, %c2 : index
  %few = arith.minsi %n, %c2 : index
  %rest = arith.remsi %n, %c2 : index
  %z = arith.maxsi %few, %rest : index
  tile.grid %x, %y, %z
}

#rows = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [4, 1], order = [1, 0]>
!stage = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>

// Shared memory is requested at launch on NVIDIA; on AMD it is part of the kernel.
// CHECK-LABEL: tile_gpu.manifest @shared_memory {
// CHECK-SAME: shared_bytes = 16384 : i64
// CHECK-LABEL: gpu.func @shared_memory
// AMD-SAME: workgroup(%[[BYTES:.+]] : memref<16384xi8, #gpu.address_space<workgroup>>) kernel
// NVIDIA: %[[BYTES:.+]] = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
// CHECK: memref.view %[[BYTES]][%c8192][] : memref<{{.+}}xi8, #gpu.address_space<workgroup>> to memref<4096xf16, #gpu.address_space<workgroup>>
tile.kernel @shared_memory(%g: !tile.buffer<64x64xf16, #tile.strided<[64, 1], align = 16>, global>)
    attributes {shared_bytes = 16384 : i64} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %s = tile.alloc {offset = 8192} : !stage
  tile.copy %g[%c0, %c0], %s : !tile.buffer<64x64xf16, #tile.strided<[64, 1], align = 16>, global>, !stage
}

// CHECK-LABEL: gpu.func @ids
tile.kernel @ids(%n: index) attributes {num_warps = 1 : i32} {
  tile.grid %n, %n, %n
  // CHECK-DAG: %[[X:.+]] = gpu.block_id x
  // CHECK-DAG: %[[Y:.+]] = gpu.block_id y
  // CHECK-DAG: %[[Z:.+]] = gpu.block_id z
  // CHECK: gpu.printf "%d %d %d", %[[X]], %[[Y]], %[[Z]]
  %x = tile.program_id x
  %y = tile.program_id y
  %z = tile.program_id z
  gpu.printf "%d %d %d", %x, %y, %z : index, index, index
}

// The grid of a persistent kernel depends on the number of multiprocessors, which the code of the kernel does not know. It knows
// the extent of the grid.
// CHECK-LABEL: tile_gpu.manifest @persistent {
// CHECK-SAME: grid = [{{\[}}"min", ["dim", 0, 0], ["multiprocessors"]], 1, 1]
// CHECK-NOT: tile.multiprocessors
// CHECK: gpu.return
tile.kernel @persistent(%q: !heads) {
  %c1 = arith.constant 1 : index
  %d0 = tile.dim %q[0] : !heads
  %most = tile.multiprocessors
  %launched = arith.minui %d0, %most : index
  tile.grid %launched, %c1, %c1
}
