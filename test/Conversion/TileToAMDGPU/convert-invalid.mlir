// RUN: tile-opt %s --tile-to-amdgpu --split-input-file --verify-diagnostics

module attributes {tile.target = "gfx1201"} {
func.func @other_family(%a: vector<16xf16>, %c: vector<8xf32>) {
  // expected-error @+1 {{'tile_gpu.mma' op "wmma.gfx11.16x16x16.f16" is not an instruction of gfx1201; it has wmma.gfx12.16x16x16.f16, wmma.gfx12.16x16x16.bf16}}
  %d = tile_gpu.mma "wmma.gfx11.16x16x16.f16" %a, %a, %c : vector<16xf16>, vector<16xf16>, vector<8xf32>
  return
}
}

// -----

// expected-error @+1 {{is compiled for sm_90a, a chip of NVIDIA, not of AMD}}
module attributes {tile.target = "sm_90a"} {}

// -----

module attributes {tile.target = "gfx1100"} {
func.func @wide_wave(%x: f32) {
  %mask = arith.constant 1 : i32
  %width = arith.constant 64 : i32
  // expected-error @+1 {{'gpu.shuffle' op exchanges among 64 lanes; a warp of gfx1100 has 32}}
  %y, %valid = gpu.shuffle xor %x, %mask, %width : f32
  return
}
}

// -----

module attributes {tile.target = "gfx1100"} {
func.func @no_copies() {
  // expected-error @+1 {{'tile_gpu.wait_copies' op groups copies to workgroup memory; gfx1100 has no such copies}}
  tile_gpu.wait_copies 0
  return
}
}
