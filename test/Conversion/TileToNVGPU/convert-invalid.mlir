// RUN: tile-opt %s --tile-to-nvgpu --split-input-file --verify-diagnostics

module attributes {tile.target = "sm_80"} {
func.func @amd_instruction(%a: vector<4xf16>, %c: vector<4xf32>) {
  // expected-error @+1 {{'tile_gpu.mma' op "mfma.16x16x16.f16" is not an instruction of sm_80; it has mma.m16n8k16.f16, mma.m16n8k16.bf16}}
  %d = tile_gpu.mma "mfma.16x16x16.f16" %a, %a, %c : vector<4xf16>, vector<4xf16>, vector<4xf32>
  return
}
}

// -----

// expected-error @+1 {{is compiled for gfx942, a chip of AMD, not of NVIDIA}}
module attributes {tile.target = "gfx942"} {}

// -----

// expected-error @+1 {{no target chip: set tile.target on the module (pass tile-attach-target)}}
module {}

// -----

module attributes {tile.target = "sm_90a"} {
func.func @wide_warp(%x: f32) {
  %mask = arith.constant 1 : i32
  %width = arith.constant 64 : i32
  // expected-error @+1 {{'gpu.shuffle' op exchanges among 64 lanes; a warp of sm_90a has 32}}
  %y, %valid = gpu.shuffle xor %x, %mask, %width : f32
  return
}
}

// -----

// Vector atomics exist only for global memory, on every chip.
module attributes {tile.target = "sm_90a"} {
  gpu.module @m {
    gpu.func @vector_in_shared(%m: memref<64xf32, #gpu.address_space<workgroup>>, %v: vector<4xf32>, %i: index) {
      // expected-error @+1 {{'tile_gpu.atomic_rmw' op combines 'vector<4xf32>' at once into workgroup memory; sm_90a has no such instruction}}
      tile_gpu.atomic_rmw addf %v, %m[%i] order(relaxed) scope(device) : vector<4xf32>, memref<64xf32, #gpu.address_space<workgroup>>
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = "sm_80"} {
  gpu.module @m {
    gpu.func @later_chip(%m: memref<64xf32, #gpu.address_space<global>>, %v: vector<2xf32>, %i: index) {
      // expected-error @+1 {{'tile_gpu.atomic_rmw' op combines 'vector<2xf32>' at once into global memory; sm_80 has no such instruction}}
      tile_gpu.atomic_rmw addf %v, %m[%i] order(relaxed) scope(device) : vector<2xf32>, memref<64xf32, #gpu.address_space<global>>
      gpu.return
    }
  }
}
