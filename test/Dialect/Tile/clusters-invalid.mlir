// RUN: tile-opt %s -split-input-file -verify-diagnostics

// expected-error@+1 {{'tile.kernel' op has clusters of 16 blocks; a cluster has at most 8}}
tile.kernel @k() attributes {cluster_blocks = 16 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}

// -----

// expected-error@+1 {{'tile.kernel' op has blocks of 64 warps; a block has at most 32}}
tile.kernel @k() attributes {cluster_blocks = 2 : i32, num_warps = 64 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}

// -----

tile.kernel @k() {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // expected-error@+1 {{'tile.cluster_rank' op needs a kernel of clusters; its 'cluster_blocks' is 1}}
  %rank = tile.cluster_rank
}

// -----

tile.kernel @k() {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-error@+1 {{'tile.cluster_reduce' op needs a kernel of clusters; its 'cluster_blocks' is 1}}
  %s = tile.cluster_reduce addf %t : tensor<64x64xf32> -> tensor<64x64xf32>
}

// -----

tile.kernel @k() attributes {cluster_blocks = 2 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-error@+1 {{'tile.cluster_reduce' op combines 'tensor<64x64xf32>' of 2 blocks; a block has 1 / 2 of the rows or all, not 'tensor<16x64xf32>'}}
  %s = tile.cluster_reduce addf %t : tensor<64x64xf32> -> tensor<16x64xf32>
}

// -----

tile.kernel @k() attributes {cluster_blocks = 2 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = arith.constant dense<0> : tensor<64x64xi32>
  // expected-error@+1 {{'tile.cluster_reduce' op kind addf does not apply to 'i32'}}
  %s = tile.cluster_reduce addf %t : tensor<64x64xi32> -> tensor<32x64xi32>
}

// -----

!memory = !tile.buffer<64x64xf32, #tile.swizzle<128>, shared>
tile.kernel @k() attributes {cluster_blocks = 2 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %m = tile.alloc : !memory
  // expected-error@+1 {{'tile.cluster_reduce' op reads rows of a #tile.padded buffer in shared memory, whose parts are alike, not '!tile.buffer<64x64xf32, #tile.swizzle<128>, shared>'}}
  %s = tile.cluster_reduce addf %m : !memory -> tensor<32x64xf32>
}

// -----

!memory = !tile.buffer<64x64xf32, #tile.padded<0, order = [1, 0], group = 4, groupPad = 4>, shared>
tile.kernel @k() attributes {cluster_blocks = 8 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %m = tile.alloc : !memory
  %s = tile.cluster_reduce addf %m : !memory -> tensor<8x64xf32>
}

// -----

!memory = !tile.buffer<48x64xf32, #tile.padded<0, order = [1, 0], group = 4, groupPad = 4>, shared>
tile.kernel @k() attributes {cluster_blocks = 8 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %m = tile.alloc : !memory
  // expected-error@+1 {{'tile.cluster_reduce' op reads rows of a #tile.padded buffer in shared memory, whose parts are alike, not '!tile.buffer<48x64xf32, #tile.padded<0, order = [1, 0], group = 4, groupPad = 4>, shared>'}}
  %s = tile.cluster_reduce addf %m : !memory -> tensor<6x64xf32>
}

// -----

tile.kernel @k() attributes {cluster_blocks = 2 : i32} {
  %m = tile.param M in [32, 64]
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  tile.grid %c1, %c1, %c1
  %t = tensor.splat %z[%m] : tensor<?xf32, #tile.open<M>>
  // expected-error@+1 {{'tile.cluster_reduce' op needs a tile of static extents, got 'tensor<?xf32, #tile.open<M>>'}}
  %s = tile.cluster_reduce addf %t : tensor<?xf32, #tile.open<M>> -> tensor<?xf32, #tile.open<M>>
}
