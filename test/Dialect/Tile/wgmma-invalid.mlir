// MMAs that read shared memory.
// RUN: tile-opt %s -split-input-file -verify-diagnostics

// expected-error@+1 {{"wgmma.m64k16.f16" is performed by 4 warps along the rows, which 2x1 warps do not make up}}
func.func private @warps(tensor<64x8xf32, #tile.mma<"wgmma.m64k16.f16", warps = [2, 1]>>)

// -----

// expected-error@+1 {{covers 16 elements along dimension 1, which neither divides nor is divided by the tile's 24}}
func.func private @columns(tensor<64x24xf32, #tile.mma<"wgmma.m64k16.f16", warps = [4, 2]>>)

// -----

#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
#dot_a = #tile.dot_operand<0, #mma>
#dot_b = #tile.dot_operand<1, #mma>

func.func @b_in_registers(%a: tensor<64x16xf16, #dot_a>, %b: tensor<16x16xf16, #dot_b>, %c: tensor<64x16xf32, #mma>) {
  // expected-error@+1 {{'tile.dot' op "wgmma.m64k16.f16" reads operand b from shared memory, got 'tensor<16x16xf16, #tile.dot_operand<1, <"wgmma.m64k16.f16", warps = [4, 1]>>>'}}
  %d = tile.dot %a, %b, %c
      : tensor<64x16xf16, #dot_a>, tensor<16x16xf16, #dot_b> -> tensor<64x16xf32, #mma>
  return
}

// -----

#mma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
#dot_a = #tile.dot_operand<0, #mma>
!g = !tile.buffer<16x16xf16, #tile.strided<[16, 1]>, global>

func.func @b_in_global_memory(%a: tensor<64x16xf16, #dot_a>, %b: !g, %c: tensor<64x16xf32, #mma>) {
  // expected-error@+1 {{'tile.dot' op multiplies buffers in shared memory only}}
  %d = tile.dot %a, %b, %c : tensor<64x16xf16, #dot_a>, !g -> tensor<64x16xf32, #mma>
  return
}

// -----

!s = !tile.buffer<16x16xf16, #tile.swizzle<32>, shared>

func.func @mixed(%a: tensor<64x16xf16>, %b: !s, %c: tensor<64x16xf32>) {
  // expected-error@+1 {{'tile.dot' op mixes a tile with a layout and one without}}
  %d = tile.dot %a, %b, %c : tensor<64x16xf16>, !s -> tensor<64x16xf32>
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [4, 1]>
#dot_a = #tile.dot_operand<0, #mma>
!s = !tile.buffer<16x16xf16, #tile.swizzle<32>, shared>

func.func @not_from_memory(%a: tensor<64x16xf16, #dot_a>, %b: !s, %c: tensor<64x16xf32, #mma>) {
  // expected-error@+1 {{'tile.dot' op operand b must have the layout #tile.dot_operand<1, <"mma.m16n8k16.f16", warps = [4, 1]>>, got '!tile.buffer<16x16xf16, #tile.swizzle<32>, shared>'}}
  %d = tile.dot %a, %b, %c : tensor<64x16xf16, #dot_a>, !s -> tensor<64x16xf32, #mma>
  return
}
