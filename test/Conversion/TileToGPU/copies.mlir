// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_80},tile-vectorize,canonicalize,cse)' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=gfx1100},tile-vectorize,canonicalize,cse)' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,GFX1100

!g = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
!s = !tile.buffer<16x64xf16, #tile.swizzle<128>, shared>

// Chips with asynchronous copies copy 16 bytes per thread from global to shared
// memory; outside the extent nothing is read and zeros are written. Other chips
// copy through registers, and waits are erased.
// CHECK-LABEL: gpu.func @asynchronous(
// CHECK-SAME: %[[G:[^:]+]]: memref<?xf16,
// CHECK: memref.view
// SM80: %[[IN:.+]] = arith.cmpi sgt
// SM80: %[[VALID:.+]] = arith.select %[[IN]], %c8, %c0 : index
// SM80: nvgpu.device_async_copy %[[G]][%{{.+}}], %{{.+}}[%{{.+}}], 8, %[[VALID]] {bypassL1}
// SM80: nvgpu.device_async_copy
// SM80-NOT: vector.store
// SM80: nvvm.cp.async.commit.group
// SM80: nvvm.cp.async.wait.group 1
// GFX1100: tile_gpu.buffer_load %[[G]][
// GFX1100: vector.store %{{.+}}, %{{.+}}[
// GFX1100-NOT: group{{$}}
// GFX1100: gpu.return
tile.kernel @asynchronous(%g: !g) attributes {num_warps = 2 : i32, shared_bytes = 2048 : i64} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %s = tile.alloc {offset = 0} : !s
  tile.copy async %g[%c0, %c0], %s : !g, !s
  tile.commit_group
  tile.wait_group 1
}

// CHECK-LABEL: gpu.func @synchronous(
// CHECK-NOT: async
// SM80: vector.load %{{.+}} {alignment = 16 : i64} : {{.*}}, vector<8xf16>
// GFX1100: tile_gpu.buffer_load {{.*}}, vector<8xf16>
// CHECK: vector.store %{{.+}} {alignment = 16 : i64} : memref<1024xf16, #gpu.address_space<workgroup>>, vector<8xf16>
tile.kernel @synchronous(%g: !g) attributes {num_warps = 2 : i32, shared_bytes = 2048 : i64} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %s = tile.alloc {offset = 0} : !s
  tile.copy %g[%c0, %c0], %s : !g, !s
}

// The copy is known to be in bounds: all elements are valid.
// CHECK-LABEL: gpu.func @inside(
// CHECK-NOT: arith.cmpi
// SM80: nvgpu.device_async_copy %{{.+}}[%{{.+}}], %{{.+}}[%{{.+}}], 8 {bypassL1}
tile.kernel @inside(%g: !tile.buffer<16x64xf16, #tile.strided<[64, 1], align = 16>, global>)
    attributes {num_warps = 2 : i32, shared_bytes = 2048 : i64} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %s = tile.alloc {offset = 0} : !s
  tile.copy async %g[%c0, %c0], %s : !tile.buffer<16x64xf16, #tile.strided<[64, 1], align = 16>, global>, !s
}

// The end of a row may be inside an access, of which the first elements are read then.
// CHECK-LABEL: gpu.func @partial(
// SM80: %[[LEFT:.+]] = arith.maxsi
// SM80: %[[SOME:.+]] = arith.minsi %[[LEFT]], %c8_i32
// SM80: %[[NUMBER:.+]] = arith.index_cast %[[SOME]] : i32 to index
// SM80: %[[COUNT:.+]] = arith.select %{{.+}}, %[[NUMBER]], %c0 : index
// SM80: nvgpu.device_async_copy %{{.+}}[%{{.+}}], %{{.+}}[%{{.+}}], 8, %[[COUNT]] {bypassL1}
// GFX1100: gpu.return
tile.kernel @partial(%g: !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>)
    attributes {num_warps = 2 : i32, shared_bytes = 2048 : i64} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %s = tile.alloc {offset = 0} : !s
  tile.copy async %g[%c0, %c0], %s : !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>, !s
}

!columns = !tile.buffer<16x64xf16, #tile.padded<8, order = [0, 1]>, shared>

// Another dimension is contiguous in shared memory: each thread copies a block, so
// that the accesses to both memories are wide.
// CHECK-LABEL: gpu.func @turned(
// SM80: vector.load %{{.+}} {alignment = 16 : i64} : {{.*}}, vector<8xf16>
// GFX1100: tile_gpu.buffer_load {{.*}}, vector<8xf16>
// CHECK: vector.store %{{.+}} {alignment = 8 : i64} : {{.*}}, vector<4xf16>
tile.kernel @turned(%g: !g) attributes {num_warps = 1 : i32, shared_bytes = 3072 : i64} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %s = tile.alloc {offset = 0} : !columns
  tile.copy %g[%c0, %c0], %s : !g, !columns
}

!wide = !tile.buffer<?x192xf16, #tile.strided<[?:8, 1], align = 16>, global>
!small = !tile.buffer<16x192xf16, #tile.padded<8, order = [1, 0]>, shared>

// 384 accesses of 16 bytes: 128 of the 256 threads do three each, and the others
// do none. Copies through registers have 768 accesses of 8 bytes, three for each
// thread, so that none needs a branch.
// CHECK-LABEL: gpu.func @some_threads(
// CHECK: %[[T:.+]] = gpu.thread_id x
// SM80: %[[COPY:.+]] = arith.divui %{{.+}}, %c128_i32
// SM80: %[[OWNER:.+]] = arith.cmpi eq, %[[COPY]], %c0_i32 : i32
// SM80: scf.if %[[OWNER]] {
// SM80-COUNT-3: nvgpu.device_async_copy
// SM80-NEXT: {{^ *[}]$}}
// SM80-NEXT: nvvm.cp.async.commit.group
// GFX1100-NOT: scf.if
// GFX1100-COUNT-3: tile_gpu.buffer_load {{.*}}, vector<4xf16>
// GFX1100-COUNT-3: vector.store {{.*}}, vector<4xf16>
// GFX1100: gpu.return
tile.kernel @some_threads(%g: !wide) attributes {num_warps = 8 : i32, shared_bytes = 6400 : i64} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %s = tile.alloc {offset = 0} : !small
  tile.copy async %g[%c0, %c0], %s : !wide, !small
  tile.commit_group
}

!bytes = !tile.buffer<240x96xi8, #tile.strided<[1, 240], align = 16>, global>
!rows = !tile.buffer<80x48xi8, #tile.padded<16, order = [1, 0]>, shared>

// Blocks of 16 x 8 elements would have elements for two of 32 threads. Blocks of 16 x 1 have some for 16 of them,
// and those of 4 x 2, whose loads are narrower, for all.
// CHECK-LABEL: gpu.func @odd_blocks(
// SM80-COUNT-15: vector.load %{{.+}} {alignment = 16 : i64} : {{.*}}, vector<16xi8>
// GFX1100-NOT: scf.if
// GFX1100-COUNT-30: tile_gpu.buffer_load {{.*}}, vector<4xi8>
// GFX1100-COUNT-60: vector.store {{.*}}, vector<2xi8>
// CHECK-NOT: vector.load
// CHECK-NOT: buffer_load
// CHECK: gpu.return
tile.kernel @odd_blocks(%g: !bytes) attributes {num_warps = 1 : i32, shared_bytes = 5120 : i64} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %s = tile.alloc {offset = 0} : !rows
  tile.copy %g[%c0, %c0], %s : !bytes, !rows
}
