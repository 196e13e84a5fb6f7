// RUN: tile-opt %s -split-input-file -verify-diagnostics \
// RUN:   --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile.kernel(tile-plan-shared-memory,tile-insert-barriers),tile-vectorize)'

!g = !tile.buffer<?x64xf32, #tile.strided<[?:4, 1], align = 16>, global>
!t = !tile.buffer<16x64xf32, #tile.swizzle<128>, shared>
tile.kernel @swizzled(%g: !g) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !t
  tile.warp_roles warps = [4, 1] {
    %a = arith.constant 0 : i32
  }, {
    // expected-error @below {{'tile.bulk_add' op cannot be done by TMA: the tile is swizzled}}
    // expected-error @below {{failed to legalize operation 'tile.bulk_add'}}
    tile.bulk_add %t, %g[%c0, %c0] : !t, !g
  }
}

// -----

!g = !tile.buffer<?x64xf32, #tile.strided<[?, 1], align = 16>, global>
!t = !tile.buffer<16x64xf32, #tile.padded<0, order = [1, 0]>, shared>
tile.kernel @unaligned(%g: !g) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !t
  tile.warp_roles warps = [4, 1] {
    %a = arith.constant 0 : i32
  }, {
    // expected-error @below {{'tile.bulk_add' op cannot be done by TMA: width 4 -> }}
    // expected-error @below {{failed to legalize operation 'tile.bulk_add'}}
    tile.bulk_add %t, %g[%c0, %c0] : !t, !g
  }
}

// -----

!g = !tile.buffer<?x64xf32, #tile.strided<[?:4, 1], align = 16>, global>
!t = !tile.buffer<16x64xf32, #tile.padded<4, order = [1, 0]>, shared>
tile.kernel @padded(%g: !g) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !t
  tile.warp_roles warps = [4, 1] {
    %a = arith.constant 0 : i32
  }, {
    // expected-error @below {{'tile.bulk_add' op cannot be done by TMA: the tile is not stored without gaps}}
    // expected-error @below {{failed to legalize operation 'tile.bulk_add'}}
    tile.bulk_add %t, %g[%c0, %c0] : !t, !g
  }
}

// -----

// The slots of this ring have gaps: the second starts 8 bytes after a multiple of 16.
!g = !tile.buffer<?x64xf32, #tile.strided<[?:4, 1], align = 16>, global>
!ring = !tile.buffer<3x16x64xf32, #tile.strided<[1026, 64, 1]>, shared>
!t = !tile.buffer<16x64xf32, #tile.strided<[64, 1]>, shared>
tile.kernel @odd_ring(%g: !g, %slot: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.grid %c1, %c1, %c1
  %ring = tile.alloc : !ring
  tile.warp_roles warps = [4, 1] {
    %a = arith.constant 0 : i32
  }, {
    %even = arith.muli %slot, %c2 : index
    %good = tile.slice %ring[%even, *, *] : !ring to !t
    tile.bulk_add %good, %g[%c0, %c0] : !t, !g
    %t = tile.slice %ring[%slot, *, *] : !ring to !t
    // expected-error @below {{'tile.bulk_add' op cannot be done by TMA: its source is known to begin at a multiple of 8 bytes, which must be 16}}
    // expected-error @below {{failed to legalize operation 'tile.bulk_add'}}
    tile.bulk_add %t, %g[%c0, %c0] : !t, !g
  }
}
