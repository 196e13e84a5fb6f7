// RUN: tile-opt %s -split-input-file --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile.kernel(tile-alternate-buffers,tile-plan-shared-memory,tile-insert-barriers,cse))' | FileCheck %s

!tile = !tile.buffer<128x128xf16, #tile.swizzle<128>, shared>
!large = !tile.buffer<5x128x128xf16, #tile.swizzle<128>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!acc = tensor<128x128xf32, #mma>
!low = tensor<128x128xf16, #mma>

// Two buffers take turns: one barrier in each iteration, before the product.
// CHECK-LABEL: tile.kernel @exchange
tile.kernel @exchange(%n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %all = tile.alloc : !large
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : !acc
    // CHECK: %[[BOTH:.*]] = tile.alloc {{.*}} : !tile.buffer<2x128x128xf16, #tile.swizzle<128>, shared>
    // CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[COUNT:.*]] = %c0_i32)
    // CHECK: %[[NUMBER:.*]] = arith.remui %[[COUNT]], %c2_i32
    // CHECK: %[[SLOT:.*]] = arith.index_castui %[[NUMBER]]
    // CHECK: %[[S:.*]] = tile.slice %[[BOTH]][%[[SLOT]], *, *]
    // CHECK-NEXT: tile.store %{{.*}}, %[[S]]
    // CHECK: tile.fence_async
    // CHECK-NEXT: tile.barrier
    // CHECK-NEXT: tile.dot async %[[S]]
    // CHECK-NOT: tile.barrier
    // CHECK: %[[NEXT:.*]] = arith.addi %[[COUNT]], %c1_i32
    // CHECK-NEXT: scf.yield %{{.*}}, %[[NEXT]]
    %s = scf.for %i = %c0 to %n step %c1 iter_args(%x = %zero) -> (!acc) {
      %t = arith.truncf %x : !acc to !low
      %a = tile.alloc : !tile
      tile.store %t, %a[%c0, %c0] : !low, !tile
      %b = tile.slice %all[%i, *, *] : !large to !tile
      %p = tile.dot async %a, %b, %x : !tile, !tile, !acc -> !tile.pending<!acc>
      %y = tile.await %p : !tile.pending<!acc>
      scf.yield %y : !acc
    }
  }, {
  }
}

// -----

!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!acc = tensor<64x64xf32, #mma>
!low = tensor<64x64xf16, #mma>

// Without roles, the loop keeps one buffer and two barriers.
// CHECK-LABEL: tile.kernel @without_roles
tile.kernel @without_roles(%n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %b = tile.alloc : !tile
  %zero = arith.constant dense<0.0> : !acc
  // CHECK: scf.for
  // CHECK: tile.alloc {{.*}} : !tile.buffer<64x64xf16
  // CHECK: tile.barrier
  // CHECK: tile.store
  // CHECK: tile.barrier
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%x = %zero) -> (!acc) {
    %t = arith.truncf %x : !acc to !low
    %a = tile.alloc : !tile
    tile.store %t, %a[%c0, %c0] : !low, !tile
    %p = tile.dot async %a, %b, %x : !tile, !tile, !acc -> !tile.pending<!acc>
    %y = tile.await %p : !tile.pending<!acc>
    scf.yield %y : !acc
  }
}

// -----

!tile = !tile.buffer<128x128xf16, #tile.swizzle<128>, shared>
!large = !tile.buffer<6x128x128xf16, #tile.swizzle<128>, shared>
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
!acc = tensor<128x128xf32, #mma>
!low = tensor<128x128xf16, #mma>

// The shared memory has no room for a second buffer of 32 KB beside 192 KB.
// CHECK-LABEL: tile.kernel @full
tile.kernel @full(%n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %all = tile.alloc : !large
  tile.warp_roles warps = [4, 4] {
    %zero = arith.constant dense<0.0> : !acc
    // CHECK-NOT: 2x128x128
    %s = scf.for %i = %c0 to %n step %c1 iter_args(%x = %zero) -> (!acc) {
      %t = arith.truncf %x : !acc to !low
      %a = tile.alloc : !tile
      tile.store %t, %a[%c0, %c0] : !low, !tile
      %b = tile.slice %all[%i, *, *] : !large to !tile
      %p = tile.dot async %a, %b, %x : !tile, !tile, !acc -> !tile.pending<!acc>
      %y = tile.await %p : !tile.pending<!acc>
      scf.yield %y : !acc
    }
  }, {
  }
}

// -----

!parts = !tile.buffer<4x8xf32, #tile.padded<4, order = [1, 0]>, shared>
#part = #tile.layout<register = [8 -> d1], lane = [32 -> 0], warp = [4 -> d0]>
#all = #tile.layout<register = [4 -> d0, 8 -> d1], lane = [32 -> 0], warp = [4 -> 0]>

// The parts that warps exchange in each iteration take turns without roles, too.
// CHECK-LABEL: tile.kernel @parts
tile.kernel @parts(%n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<4x8xf32, #part>
  // CHECK: tile.alloc {{.*}} : !tile.buffer<2x4x8xf32
  // CHECK: scf.for
  // CHECK-NOT: tile.barrier
  // CHECK: tile.store
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.load
  // CHECK-NOT: tile.barrier
  // CHECK: tile.return
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%x = %zero) -> (tensor<4x8xf32, #part>) {
    %a = tile.alloc : !parts
    tile.store %x, %a[%c0, %c0] : tensor<4x8xf32, #part>, !parts
    %all = tile.load %a[%c0, %c0] : !parts -> tensor<4x8xf32, #all>
    %y = tile.convert_layout %all : tensor<4x8xf32, #all> -> tensor<4x8xf32, #part>
    scf.yield %y : tensor<4x8xf32, #part>
  }
}

// Two exchanges in an iteration order each other.
// CHECK-LABEL: tile.kernel @two
tile.kernel @two(%n: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<4x8xf32, #part>
  // CHECK: scf.for
  // CHECK-COUNT-2: tile.alloc {{.*}} : !tile.buffer<4x8xf32
  // CHECK-NOT: tile.alloc
  // CHECK: tile.return
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%x = %zero) -> (tensor<4x8xf32, #part>) {
    %a = tile.alloc : !parts
    %b = tile.alloc : !parts
    tile.store %x, %a[%c0, %c0] : tensor<4x8xf32, #part>, !parts
    %first = tile.load %a[%c0, %c0] : !parts -> tensor<4x8xf32, #all>
    %y = tile.convert_layout %first : tensor<4x8xf32, #all> -> tensor<4x8xf32, #part>
    tile.store %y, %b[%c0, %c0] : tensor<4x8xf32, #part>, !parts
    %second = tile.load %b[%c0, %c0] : !parts -> tensor<4x8xf32, #all>
    %z = tile.convert_layout %second : tensor<4x8xf32, #all> -> tensor<4x8xf32, #part>
    scf.yield %z : tensor<4x8xf32, #part>
  }
}

// 64 warps run on a cluster of two blocks, which wait before each exchange.
// CHECK-LABEL: tile.kernel @cluster
tile.kernel @cluster(%n: index) attributes {num_warps = 64 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<64xf32, #tile.layout<register = [], lane = [32 -> 0], warp = [64 -> d0]>>
  // CHECK: scf.for
  // CHECK: tile.alloc {{.*}} : !tile.buffer<64xf32
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%x = %zero) -> (tensor<64xf32, #tile.layout<register = [], lane = [32 -> 0], warp = [64 -> d0]>>) {
    %a = tile.alloc : !tile.buffer<64xf32, #tile.padded<4, order = [0]>, shared>
    tile.store %x, %a[%c0] : tensor<64xf32, #tile.layout<register = [], lane = [32 -> 0], warp = [64 -> d0]>>, !tile.buffer<64xf32, #tile.padded<4, order = [0]>, shared>
    %all = tile.load %a[%c0] : !tile.buffer<64xf32, #tile.padded<4, order = [0]>, shared> -> tensor<64xf32, #tile.layout<register = [64 -> d0], lane = [32 -> 0], warp = [64 -> 0]>>
    %y = tile.convert_layout %all : tensor<64xf32, #tile.layout<register = [64 -> d0], lane = [32 -> 0], warp = [64 -> 0]>> -> tensor<64xf32, #tile.layout<register = [], lane = [32 -> 0], warp = [64 -> d0]>>
    scf.yield %y : tensor<64xf32, #tile.layout<register = [], lane = [32 -> 0], warp = [64 -> d0]>>
  }
}
