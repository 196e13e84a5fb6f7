// RUN: tile-opt %s --tile-to-amdgpu --split-input-file | FileCheck %s --implicit-check-not=tile_gpu

!g = memref<?xf16, #gpu.address_space<global>>
!s = memref<?xf16, #gpu.address_space<workgroup>>

// A wait counts the copies of the newer groups, on the path with the fewest. Where
// copies are skipped, all are waited for, so the other path counts.
// CHECK-LABEL: func @groups
module attributes {tile.target = "gfx950"} {
func.func @groups(%g: !g, %s: !s, %i: index, %n: index, %c: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // Nothing is in flight.
  // CHECK-NOT: memory_counter_wait
  tile_gpu.wait_copies 0
  // CHECK-COUNT-2: amdgpu.gather_to_lds
  amdgpu.gather_to_lds %g[%i], %s[%c0] : vector<8xf16>, !g, !s
  amdgpu.gather_to_lds %g[%i], %s[%c0] : vector<8xf16>, !g, !s
  tile_gpu.commit_copies
  // CHECK: scf.for
  scf.for %k = %c0 to %n step %c1 {
    // CHECK: scf.if
    scf.if %c {
      // CHECK: amdgpu.gather_to_lds
      amdgpu.gather_to_lds %g[%i], %s[%c0] : vector<8xf16>, !g, !s
      // CHECK: } else {
    } else {
      // CHECK-NEXT: amdgpu.memory_counter_wait load(0)
      tile_gpu.wait_copies 0
    }
    tile_gpu.commit_copies
    // CHECK: amdgpu.memory_counter_wait load(1)
    tile_gpu.wait_copies 1
    // The barrier waits for the own accesses to the LDS, not for copies in flight.
    // CHECK-NEXT: amdgpu.memory_counter_wait ds(0)
    // CHECK-NEXT: llvm.fence syncscope("wavefront") release
    // CHECK-NEXT: rocdl.s.barrier
    // CHECK-NEXT: llvm.fence syncscope("wavefront") acquire
    gpu.barrier
  }
  // CHECK: amdgpu.memory_counter_wait load(0)
  tile_gpu.wait_copies 0
  // All are complete.
  // CHECK-NEXT: return
  tile_gpu.wait_copies 0
  return
}
}

// -----

!g = memref<?xf16, #gpu.address_space<global>>
!s = memref<?xf16, #gpu.address_space<workgroup>>

// Without the wait on the other path, the copies of the branch do not count.
// CHECK-LABEL: func @skipped
module attributes {tile.target = "gfx950"} {
func.func @skipped(%g: !g, %s: !s, %i: index, %c: i1) {
  %c0 = arith.constant 0 : index
  amdgpu.gather_to_lds %g[%i], %s[%c0] : vector<8xf16>, !g, !s
  tile_gpu.commit_copies
  scf.if %c {
    amdgpu.gather_to_lds %g[%i], %s[%c0] : vector<8xf16>, !g, !s
  }
  tile_gpu.commit_copies
  // CHECK: amdgpu.memory_counter_wait load(0)
  tile_gpu.wait_copies 1
  return
}
}

// -----

!g = memref<?xf16, #gpu.address_space<global>>
!s = memref<?xf16, #gpu.address_space<workgroup>>

// In unstructured control flow, only the copies of the block count.
// CHECK-LABEL: func @blocks
module attributes {tile.target = "gfx950"} {
func.func @blocks(%g: !g, %s: !s, %i: index, %c: i1) {
  %c0 = arith.constant 0 : index
  amdgpu.gather_to_lds %g[%i], %s[%c0] : vector<8xf16>, !g, !s
  tile_gpu.commit_copies
  cf.cond_br %c, ^more, ^done
^more:
  amdgpu.gather_to_lds %g[%i], %s[%c0] : vector<8xf16>, !g, !s
  tile_gpu.commit_copies
  // CHECK: amdgpu.memory_counter_wait load(1)
  tile_gpu.wait_copies 1
  cf.br ^done
^done:
  // CHECK: amdgpu.memory_counter_wait load(0)
  tile_gpu.wait_copies 1
  return
}
}

// -----

!g = memref<?xf16, #gpu.address_space<global>>
!s = memref<?xf16, #gpu.address_space<workgroup>>

// Copies that no group has are waited for at the barrier.
// CHECK-LABEL: func @no_groups
// CHECK: amdgpu.gather_to_lds
// CHECK-NEXT: amdgpu.lds_barrier
module attributes {tile.target = "gfx950"} {
func.func @no_groups(%g: !g, %s: !s, %i: index) {
  amdgpu.gather_to_lds %g[%i], %s[%i] : vector<8xf16>, !g, !s
  gpu.barrier
  return
}
}
