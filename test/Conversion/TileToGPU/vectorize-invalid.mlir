// RUN: tile-opt %s -split-input-file -verify-diagnostics --tile-vectorize

// expected-error@+1 {{no target chip: set tile.target on the module (pass tile-attach-target)}}
module {
tile.kernel @no_target() {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}
}

// -----

!g = !tile.buffer<64x64xf16, #tile.strided<[64, 1], align = 16>, global>
module attributes {tile.target = "sm_80"} {
tile.kernel @no_layout(%g: !g) {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  // expected-error@+1 {{a tile of type 'tensor<64x64xf16>' has no layout; run tile-assign-layouts first}}
  %t = tile.load %g[%c0, %c0] : !g -> tensor<64x64xf16>
}
}

// -----

#rows = #tile.blocked<thread = [1, 8], lane = [8, 8], warp = [4, 1], order = [1, 0]>
!g = !tile.buffer<64x64xf16, #tile.strided<[64, 1], align = 16>, global>
module attributes {tile.target = "sm_80"} {
tile.kernel @lanes(%g: !g) {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  // expected-error@+1 {{the layout #tile.blocked<thread = [1, 8], lane = [8, 8], warp = [4, 1], order = [1, 0]> is for 4 warps of 64 lanes, but the kernel has 4 warps of 32 on sm_80}}
  %t = tile.load %g[%c0, %c0] : !g -> tensor<64x64xf16, #rows>
}
}

// -----

#rows = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [2, 1], order = [1, 0]>
module attributes {tile.target = "sm_80"} {
tile.kernel @warps_of_argument(%n: index) {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  // expected-error@+1 {{the layout #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [2, 1], order = [1, 0]> is for 2 warps of 32 lanes, but the kernel has 4 warps of 32 on sm_80}}
  %t = arith.constant dense<0.0> : tensor<64x64xf16, #rows>
}
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [4, 1]>
module attributes {tile.target = "sm_80"} {
tile.kernel @shared_tile() {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %p = arith.constant dense<0.0> : tensor<64x64xf16, #mma>
  // expected-error@+2 {{'tile.convert_layout' op reads or writes a tile in shared memory; run tile-bufferize first}}
  // expected-error@+1 {{failed to legalize operation 'tile.convert_layout'}}
  %s = tile.convert_layout %p : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #tile.swizzle<128>>
}
}

// -----

!g = !tile.buffer<64x64xf16, #tile.strided<[64, 1], align = 16>, global>
module attributes {tile.target = "sm_80"} {
tile.kernel @load_of_shared_tile(%g: !g) {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  // expected-error@+2 {{'tile.load' op loads into shared memory; run tile-bufferize first}}
  // expected-error@+1 {{failed to legalize operation 'tile.load'}}
  %t = tile.load %g[%c0, %c0] : !g -> tensor<64x64xf16, #tile.swizzle<128>>
}
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [4, 1]>
#rows = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [4, 1], order = [1, 0]>
module attributes {tile.target = "sm_80"} {
tile.kernel @conversion() {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %p = arith.constant dense<0.0> : tensor<64x64xf16, #mma>
  // expected-error@+2 {{'tile.convert_layout' op moves elements between threads; run tile-decompose-conversions first}}
  // expected-error@+1 {{failed to legalize operation 'tile.convert_layout'}}
  %s = tile.convert_layout %p : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #rows>
}
}

// -----

#rows = #tile.blocked<thread = [1], lane = [32], warp = [1], order = [0]>
module attributes {tile.target = "sm_80"} {
tile.kernel @operation(%i: index) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %t = arith.constant dense<1> : tensor<32xi32, #rows>
  // expected-error@+2 {{'tensor.extract' op reads an element of a tile of 32; only a tile of one element is the same in all threads}}
  // expected-error@+1 {{failed to legalize operation 'tensor.extract'}}
  %e = tensor.extract %t[%i] : tensor<32xi32, #rows>
}
}

// -----

#rows = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [4, 1], order = [1, 0]>
!s = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
module attributes {tile.target = "sm_80"} {
tile.kernel @no_offset() {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  // expected-error@+2 {{'tile.alloc' op has no offset; run tile-plan-shared-memory first}}
  // expected-error@+1 {{failed to legalize operation 'tile.alloc'}}
  %s = tile.alloc : !s
}
}

// -----

#rows = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [4, 1], order = [1, 0]>
!s = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
module attributes {tile.target = "sm_80"} {
tile.kernel @load_start(%i: index) attributes {shared_bytes = 8192 : i64} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %s = tile.alloc {offset = 0} : !s
  // expected-error@+2 {{'tile.load' op accesses a shared buffer at indices that are not constant; slice the buffer instead}}
  // expected-error@+1 {{failed to legalize operation 'tile.load'}}
  %t = tile.load %s[%i, %c0] : !s -> tensor<16x64xf16, #rows>
}
}

// -----

#rows = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [4, 1], order = [1, 0]>
!s = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
module attributes {tile.target = "sm_80"} {
tile.kernel @store_start(%i: index) attributes {shared_bytes = 8192 : i64} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %s = tile.alloc {offset = 0} : !s
  %t = arith.constant dense<0.0> : tensor<16x64xf16, #rows>
  // expected-error@+2 {{'tile.store' op accesses a shared buffer at indices that are not constant; slice the buffer instead}}
  // expected-error@+1 {{failed to legalize operation 'tile.store'}}
  tile.store %t, %s[%i, %c0] : tensor<16x64xf16, #rows>, !s
}
}

// -----

!s = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
module attributes {tile.target = "sm_80"} {
tile.kernel @chosen_buffer(%c: i32) attributes {shared_bytes = 16384 : i64} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %s = tile.alloc {offset = 0} : !s
  %t = tile.alloc {offset = 8192} : !s
  %zero = arith.constant 0 : i32
  %some = arith.cmpi slt, %c, %zero : i32
  // expected-error@+1 {{failed to legalize operation 'arith.select'}}
  %u = arith.select %some, %s, %t : !s
  %d = tile.transpose %u [1, 0] : !s -> !tile.buffer<64x64xf16, #tile.permute<[1, 0], #tile.swizzle<128>>, shared>
}
}

// -----

!g = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
module attributes {tile.target = "sm_80"} {
// expected-error@+1 {{a buffer of type '!tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>' cannot be taken apart here}}
tile.kernel @cast_buffer(%g: !g) {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  // expected-error@+1 {{a buffer of type 'index' cannot be taken apart here}}
  %h = builtin.unrealized_conversion_cast %g : !g to index
  %t = arith.addi %h, %h : index
}
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 2]>
module attributes {tile.target = "sm_80"} {
tile.kernel @reduction() attributes {num_warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %t = arith.constant dense<1.0> : tensor<16x32xf32, #mma>
  // expected-error@+2 {{'tile.reduce' op reduces along a dimension that is spread over warps; run tile-decompose-reductions first}}
  // expected-error@+1 {{failed to legalize operation 'tile.reduce'}}
  %r = tile.reduce addf %t along 1 : tensor<16x32xf32, #mma> -> tensor<16xf32, #tile.slice<1, #mma>>
}
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 2]>
module attributes {tile.target = "sm_80"} {
tile.kernel @scan() attributes {num_warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %t = arith.constant dense<1.0> : tensor<16x32xf32, #mma>
  // expected-error@+2 {{'tile.scan' op scans along a dimension that is spread over warps; run tile-decompose-reductions first}}
  // expected-error@+1 {{failed to legalize operation 'tile.scan'}}
  %r = tile.scan addf %t along 1 : tensor<16x32xf32, #mma>
}
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 2]>
module attributes {tile.target = "sm_80"} {
tile.kernel @associative_scan() attributes {num_warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %t = arith.constant dense<1.0> : tensor<16x32xf32, #mma>
  // expected-error@+2 {{'tile.associative_scan' op scans along a dimension that is spread over warps; run tile-decompose-reductions first}}
  // expected-error@+1 {{failed to legalize operation 'tile.associative_scan'}}
  %r = tile.associative_scan %t along 1 : tensor<16x32xf32, #mma> {
  ^bb0(%x: f32, %y: f32):
    %z = arith.addf %x, %y : f32
    tile.yield %z : f32
  }
}
}

// -----

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
module attributes {tile.target = "gfx950"} {
tile.kernel @no_tma(%k: !k) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %t = tile.alloc {offset = 0} : !tile
  %full = tile.alloc {offset = 8192} : !bars
  // expected-error@+1 {{'tile.bulk_copy' op needs TMA, which gfx950 does not have}}
  tile.bulk_copy %k[%c0, %c0] dims [0, 1], %t, %full[%c0] : !k, !tile, !bars
}
}

// -----

!bars = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
module attributes {tile.target = "gfx1201"} {
tile.kernel @no_mbarriers() attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %full = tile.alloc {offset = 0} : !bars
  // expected-error@+1 {{'tile.init_barriers' op needs mbarriers, which gfx1201 does not have}}
  tile.init_barriers %full, 1 : !bars
}
}

// -----

module attributes {tile.target = "gfx942"} {
tile.kernel @no_roles() attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  // expected-error@+1 {{'tile.warp_roles' op needs warp roles, which gfx942 does not have}}
  tile.warp_roles warps = [4, 4] {
  }, {
  }
}
}

// -----

!bars = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
module attributes {tile.target = "sm_90a"} {
tile.kernel @no_fence() attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %full = tile.alloc {offset = 0} : !bars
  // expected-error@+2 {{failed to legalize operation 'tile.arrive_barrier'}}
  // expected-error@+1 {{'tile.arrive_barrier' op has no fence; run tile-insert-barriers first}}
  tile.arrive_barrier %full[%c0] fenced : !bars
}
}
