// Chips whose waves copy to shared memory without registers.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=gfx950},tile-vectorize,canonicalize,cse)' \
// RUN:   --remarks-filter='tile-vectorize' --remark-format=emitRemark 2>%t.remarks | FileCheck %s --check-prefixes=CHECK,GFX950
// RUN: grep synchronous-copy %t.remarks | FileCheck %s --check-prefix=REMARK
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=gfx942},tile-vectorize,canonicalize,cse)' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,GFX942

!g = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
!s = !tile.buffer<32x64xf16, #tile.swizzle<128>, shared>

// CHECK: memref.global "private" constant @tile_zeros : memref<16xi8, #gpu.address_space<global>> = dense<0> {alignment = 16 : i64}

// A wave fills contiguous memory from an address on that is the same for its lanes. Lanes
// read in the order of the swizzle; those out of bounds read zeros.
// CHECK-LABEL: gpu.func @swizzled(
// CHECK-SAME: %[[G:[^:]+]]: memref<?xf16,
// CHECK: %[[T:.+]] = arith.index_castui %{{.+}} : index to i32
// CHECK: %[[WAVE:.+]] = rocdl.readfirstlane %[[T]] : i32
// GFX950: %[[ROW:.+]] = arith.shrui %[[T]], %c3_i32
// GFX950: %[[MASKED:.+]] = arith.andi %[[ROW]], %c7_i32
// GFX950: %[[READER:.+]] = arith.xori %[[T]], %[[MASKED]]
// GFX942: arith.shrui %[[T]], %c5_i32
// GFX942: arith.shli %{{.+}}, %c2_i32
// CHECK: %[[IN:.+]] = arith.cmpi sgt
// CHECK: %[[SOURCE:.+]] = arith.select %[[IN]], %[[G]], %{{.+}} : memref<?xf16, #gpu.address_space<global>>
// CHECK: %[[FROM:.+]] = arith.select %[[IN]], %{{.+}}, %c0 : index
// GFX950: amdgpu.gather_to_lds %[[SOURCE]][%[[FROM]]], %{{.+}}[%{{.+}}] : vector<8xf16>
// GFX950: amdgpu.gather_to_lds {{.+}} : vector<8xf16>
// GFX942-COUNT-8: amdgpu.gather_to_lds {{.+}} : vector<2xf16>
// CHECK-NOT: gather_to_lds
// CHECK-NOT: vector.store
// CHECK: tile_gpu.commit_copies
// CHECK: tile_gpu.wait_copies 1
tile.kernel @swizzled(%g: !g) attributes {num_warps = 2 : i32, shared_bytes = 4096 : i64} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %s = tile.alloc {offset = 0} : !s
  tile.copy async %g[%c0, %c0], %s : !g, !s
  tile.commit_group
  tile.wait_group 1
}

// Where the copies of a group are skipped, all copies are waited for: a wait counts the
// copies that are newer.
// CHECK-LABEL: gpu.func @skipped(
// CHECK: scf.if
// CHECK: amdgpu.gather_to_lds
// CHECK: } else {
// CHECK-NEXT: tile_gpu.wait_copies 0
// CHECK-NEXT: }
// CHECK-NEXT: tile_gpu.commit_copies
tile.kernel @skipped(%g: !g, %n: index) attributes {num_warps = 2 : i32, shared_bytes = 4096 : i64} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %s = tile.alloc {offset = 0} : !s
  %c = arith.cmpi slt, %c0, %n : index
  scf.if %c {
    tile.copy async %g[%c0, %c0], %s : !g, !s
  }
  tile.commit_group
}

!padded = !tile.buffer<32x64xf16, #tile.padded<8, order = [1, 0]>, shared>

// REMARK: copies without registers do not fit: the 64 parts of 2 elements from element 0 of the buffer on are not contiguous
// CHECK-LABEL: gpu.func @padded(
// CHECK-NOT: gather_to_lds
// CHECK: vector.store
tile.kernel @padded(%g: !g) attributes {num_warps = 2 : i32, shared_bytes = 4608 : i64} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %s = tile.alloc {offset = 0} : !padded
  tile.copy async %g[%c0, %c0], %s : !g, !padded
}

!turned = !tile.buffer<32x64xf16, #tile.padded<0, order = [0, 1]>, shared>

// Neighbours in shared memory are not neighbours in global memory.
// REMARK: copies without registers do not fit: width 2 -> 1: %arg0: elements (0, 0), (0, 8) are 8 apart
// CHECK-LABEL: gpu.func @turned(
// CHECK-NOT: gather_to_lds
// CHECK: vector.store
tile.kernel @turned(%g: !g) attributes {num_warps = 2 : i32, shared_bytes = 4096 : i64} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %s = tile.alloc {offset = 0} : !turned
  tile.copy async %g[%c0, %c0], %s : !g, !turned
}

!few = !tile.buffer<1x64xf16, #tile.padded<0, order = [1, 0]>, shared>

// REMARK: copies without registers do not fit: the tile has fewer parts of 4 bytes than a wave has lanes
// CHECK-LABEL: gpu.func @few(
// CHECK-NOT: gather_to_lds
tile.kernel @few(%g: !g) attributes {num_warps = 2 : i32, shared_bytes = 128 : i64} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %s = tile.alloc {offset = 0} : !few
  tile.copy async %g[%c0, %c0], %s : !g, !few
}

!wide = !tile.buffer<4x512xf16, #tile.strided<[512, 1], align = 16>, global>
!rows = !tile.buffer<4x512xf16, #tile.padded<8, order = [1, 0]>, shared>

// Padding between the parts of waves is permitted. All elements are in bounds. Four of the
// eight waves copy nothing on gfx950.
// CHECK-LABEL: gpu.func @padding_between_waves(
// CHECK-NOT: arith.select
// GFX950: scf.if
// GFX950: amdgpu.gather_to_lds {{.+}} : vector<8xf16>
// GFX942-COUNT-2: amdgpu.gather_to_lds {{.+}} : vector<2xf16>
// CHECK-NOT: gather_to_lds
// CHECK: gpu.return
tile.kernel @padding_between_waves(%g: !wide) attributes {num_warps = 8 : i32, shared_bytes = 4160 : i64} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %s = tile.alloc {offset = 0} : !rows
  tile.copy async %g[%c0, %c0], %s : !wide, !rows
}

!row = !tile.buffer<64xf32, #tile.padded<0, order = [0]>, shared>

// CHECK-LABEL: gpu.func @row(
// CHECK: amdgpu.gather_to_lds {{.+}} : vector<1xf32>
tile.kernel @row(%g: !tile.buffer<?xf32, #tile.strided<[1]>, global>)
    attributes {num_warps = 1 : i32, shared_bytes = 256 : i64} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %s = tile.alloc {offset = 0} : !row
  tile.copy async %g[%c0], %s : !tile.buffer<?xf32, #tile.strided<[1]>, global>, !row
}
