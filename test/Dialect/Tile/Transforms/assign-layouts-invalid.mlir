// RUN: tile-opt %s -split-input-file -verify-diagnostics \
// RUN:   --pass-pipeline='builtin.module(tile.kernel(tile-assign-layouts))'

// expected-error@+1 {{no target chip: set tile.target on the module (pass tile-attach-target)}}
tile.kernel @no_target() {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}

// -----

module attributes {tile.target = "gfx942"} {
// expected-error@+1 {{'tile.kernel' op has 32 warps of 64 threads; a block has at most 1024 threads}}
tile.kernel @threads() attributes {num_warps = 32 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}
}

// -----

module attributes {tile.target = "sm_80"} {
tile.kernel @operation() {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = arith.constant dense<1.0> : tensor<64xf32>
  // expected-error@+1 {{'tensor.extract' op is not an operation on tiles that can be laid out}}
  %e = tensor.extract %t[%c1] : tensor<64xf32>
}
}

// -----

module attributes {tile.target = "sm_80"} {
tile.kernel @while_loop(%c: i32) {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = arith.constant dense<1.0> : tensor<64xf32>
  %true = arith.constant true
  %r = scf.while (%a = %t) : (tensor<64xf32>) -> tensor<64xf32> {
    // expected-error@+1 {{'scf.condition' op is not an operation on tiles that can be laid out}}
    scf.condition(%true) %a : tensor<64xf32>
  } do {
  ^bb0(%b: tensor<64xf32>):
    scf.yield %b : tensor<64xf32>
  }
}
}

// -----

module attributes {tile.target = "sm_80"} {
tile.kernel @constant() {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // expected-error@+1 {{'arith.constant' op a constant tile must have one value for all elements}}
  %t = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
}
}

// -----

module attributes {tile.target = "sm_80"} {
tile.kernel @dynamic(%x: f32, %n: index) {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // expected-error@+1 {{'tensor.splat' op has a tile of type 'tensor<?xf32>': a tile needs a static shape}}
  %t = tensor.splat %x[%n] : tensor<?xf32>
}
}

// -----

module attributes {tile.target = "sm_80"} {
tile.kernel @rank() {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // expected-error@+1 {{'arith.constant' op has a tile of type 'tensor<f32>': a tile needs at least one dimension}}
  %t = arith.constant dense<1.0> : tensor<f32>
}
}

// -----

module attributes {tile.target = "sm_80"} {
tile.kernel @empty() {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // expected-error@+1 {{'arith.constant' op has a tile of type 'tensor<0xf32>': extents must be positive, got 0}}
  %t = arith.constant dense<1.0> : tensor<0xf32>
}
}

// -----

module attributes {tile.target = "sm_80"} {
tile.kernel @large() {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // expected-error@+1 {{'arith.constant' op has a tile of type 'tensor<1048577xf32>': a tile has at most 1048576 elements}}
  %t = arith.constant dense<1.0> : tensor<1048577xf32>
}
}

// -----

module attributes {tile.target = "sm_80"} {
tile.kernel @element() {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // expected-error@+1 {{'arith.constant' op has a tile of type 'tensor<64xindex>': elements must be integers or floats of 1, 8, 16, 32 or 64 bits}}
  %t = arith.constant dense<1> : tensor<64xindex>
}
}

// -----

module attributes {tile.target = "sm_80"} {
tile.kernel @width() {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // expected-error@+1 {{'arith.constant' op has a tile of type 'tensor<64xi4>': elements must be integers or floats of 1, 8, 16, 32 or 64 bits}}
  %t = arith.constant dense<1> : tensor<64xi4>
}
}

// -----

module attributes {tile.target = "sm_80"} {
tile.kernel @encoding() {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // expected-error@+1 {{'arith.constant' op has a tile of type 'tensor<64xf32, "row major">': its encoding is no layout}}
  %t = arith.constant dense<1.0> : tensor<64xf32, "row major">
}
}

// -----

module attributes {tile.target = "sm_80"} {
tile.kernel @product() {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %a = arith.constant dense<1.0> : tensor<16x24xf16>
  %b = arith.constant dense<1.0> : tensor<24x8xf16>
  %c = arith.constant dense<1.0> : tensor<16x8xf32>
  // expected-error@+2 {{'tile.dot' op no matrix instruction of sm_80 divides the product 16x8x24 of 'f16' among 4 warps}}
  // expected-note@+1 {{mma.m16n8k16.f16 computes 16x8x16}}
  %d = tile.dot %a, %b, %c : tensor<16x24xf16>, tensor<24x8xf16> -> tensor<16x8xf32>
}
}

// -----

module attributes {tile.target = "sm_80"} {
tile.kernel @pinned_warps() {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %a = arith.constant dense<1.0> : tensor<64x16xf16>
  %b = arith.constant dense<1.0> : tensor<16x16xf16>
  %c = arith.constant dense<1.0> : tensor<64x16xf32>
  // expected-error@+2 {{'tile.dot' op no matrix instruction of sm_80 divides the product 64x16x16 of 'f16' among 4 warps, 1 x 4}}
  // expected-note@+1 {{mma.m16n8k16.f16 computes 16x8x16}}
  %d = tile.dot %a, %b, %c {warps = array<i64: 1, 4>} : tensor<64x16xf16>, tensor<16x16xf16> -> tensor<64x16xf32>
}
}

// -----

module attributes {tile.target = "gfx942"} {
tile.kernel @pinned_instruction() attributes {num_warps = 1 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %a = arith.constant dense<1.0> : tensor<16x16xbf16>
  %c = arith.constant dense<1.0> : tensor<16x16xf32>
  // expected-error@+3 {{'tile.dot' op no matrix instruction of gfx942 divides the product 16x16x16 of 'bf16' among 1 warps with the instruction "mfma.32x32x8.bf16"}}
  // expected-note@+2 {{mfma.16x16x16.bf16 computes 16x16x16}}
  // expected-note@+1 {{mfma.32x32x8.bf16 computes 32x32x8}}
  %d = tile.dot %a, %a, %c {instruction = "mfma.32x32x8.bf16"} : tensor<16x16xbf16>, tensor<16x16xbf16> -> tensor<16x16xf32>
}
}

// -----

module attributes {tile.target = "sm_80"} {
tile.kernel @instruction_of_another_chip() attributes {num_warps = 1 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %a = arith.constant dense<1.0> : tensor<16x16xf16>
  %c = arith.constant dense<1.0> : tensor<16x16xf32>
  // expected-error@+2 {{'tile.dot' op no matrix instruction of sm_80 divides the product 16x16x16 of 'f16' among 1 warps with the instruction "mfma.16x16x16.f16"}}
  // expected-note@+1 {{mma.m16n8k16.f16 computes 16x8x16}}
  %d = tile.dot %a, %a, %c {instruction = "mfma.16x16x16.f16"} : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf32>
}
}
