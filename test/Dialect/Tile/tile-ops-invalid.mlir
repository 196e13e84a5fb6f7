// RUN: tile-opt %s -split-input-file -verify-diagnostics

// tile.dot

func.func @dot_rank(%a: tensor<16x16xf16>, %v: tensor<16xf32>) {
  // expected-error@+1 {{'tile.dot' op operands must have rank 2}}
  %d = tile.dot %a, %a, %v : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16xf32>
  return
}

// -----

func.func @dot_contraction(%a: tensor<16x32xf16>, %b: tensor<16x8xf16>, %c: tensor<16x8xf32>) {
  // expected-error@+1 {{'tile.dot' op contracts 32 columns of a with 16 rows of b}}
  %d = tile.dot %a, %b, %c : tensor<16x32xf16>, tensor<16x8xf16> -> tensor<16x8xf32>
  return
}

// -----

func.func @dot_accumulator(%a: tensor<16x16xf16>, %b: tensor<16x8xf16>, %c: tensor<8x16xf32>) {
  // expected-error@+1 {{'tile.dot' op expected an accumulator of 16x8, got 8x16}}
  %d = tile.dot %a, %b, %c : tensor<16x16xf16>, tensor<16x8xf16> -> tensor<8x16xf32>
  return
}

// -----

func.func @dot_mixed(%a: tensor<16x16xf16>, %b: tensor<16x8xbf16>, %c: tensor<16x8xf32>) {
  // expected-error@+1 {{'tile.dot' op expected f16, bf16 or f32 operands of one type and an f32 accumulator, or i8 operands and an i32 accumulator, got 'f16', 'bf16' and 'f32'}}
  %d = tile.dot %a, %b, %c : tensor<16x16xf16>, tensor<16x8xbf16> -> tensor<16x8xf32>
  return
}

// -----

func.func @dot_f32(%a: tensor<16x16xf32>, %b: tensor<16x8xf32>, %c: tensor<16x8xf32>) {
  // expected-error@+1 {{'tile.dot' op multiplies f32 operands and needs a precision: precision(tf32) or precision(bf16x3)}}
  %d = tile.dot %a, %b, %c : tensor<16x16xf32>, tensor<16x8xf32> -> tensor<16x8xf32>
  return
}

// -----

func.func @dot_needless_precision(%a: tensor<16x16xf16>, %c: tensor<16x16xf32>) {
  // expected-error@+1 {{'tile.dot' op has a precision, which f32 operands have; got 'f16'}}
  %d = tile.dot %a, %a, %c precision(tf32) : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf32>
  return
}

// -----

func.func @dot_unknown_precision(%a: tensor<16x16xf32>) {
  // expected-error@+1 {{expected string or keyword containing one of the following enum values for attribute 'precision' [tf32, bf16x3]}}
  %d = tile.dot %a, %a, %a precision(f32) : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
  return
}

// -----

func.func @dot_sum_of_bytes(%a: tensor<16x16xi8>, %c: tensor<16x16xf32>) {
  // expected-error@+1 {{'tile.dot' op expected f16, bf16 or f32 operands of one type and an f32 accumulator, or i8 operands and an i32 accumulator, got 'i8', 'i8' and 'f32'}}
  %d = tile.dot %a, %a, %c : tensor<16x16xi8>, tensor<16x16xi8> -> tensor<16x16xf32>
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k8.tf32", warps = [1, 1]>

func.func @dot_other_precision(%a: tensor<16x16xf32, #tile.dot_operand<0, #mma>>, %b: tensor<16x8xf32, #tile.dot_operand<1, #mma>>,
                               %c: tensor<16x8xf32, #mma>) {
  // expected-error@+1 {{'tile.dot' op "mma.m16n8k8.tf32" does not multiply 'f32' of precision bf16x3}}
  %d = tile.dot %a, %b, %c precision(bf16x3)
      : tensor<16x16xf32, #tile.dot_operand<0, #mma>>, tensor<16x8xf32, #tile.dot_operand<1, #mma>> -> tensor<16x8xf32, #mma>
  return
}

// -----

#wgmma = #tile.mma<"wgmma.m64k16.bf16", warps = [4, 1]>
!shared = !tile.buffer<64x64xf32, #tile.swizzle<128>, shared>

func.func @dot_shared_operand(%a: !shared, %c: tensor<64x64xf32, #wgmma>) {
  // expected-error@+1 {{'tile.dot' op of precision bf16x3 reads operand a from registers, got '!tile.buffer<64x64xf32, #tile.swizzle<128>, shared>'}}
  %d = tile.dot %a, %a, %c precision(bf16x3) : !shared, !shared -> tensor<64x64xf32, #wgmma>
  return
}

// -----

func.func @dot_low_accumulator(%a: tensor<16x16xf16>, %b: tensor<16x8xf16>, %c: tensor<16x8xf16>) {
  // expected-error@+1 {{'tile.dot' op operand #2 must be tile of f32 or i32 (a tensor of positive extents, static or named by #tile.open, rank 1 or more, at most 2^20 elements, no other encoding but a layout) or a matrix product in flight, but got 'tensor<16x8xf16>'}}
  %d = tile.dot %a, %b, %c : tensor<16x16xf16>, tensor<16x8xf16> -> tensor<16x8xf16>
  return
}

// -----

func.func @dot_integer(%a: tensor<16x16xi32>, %c: tensor<16x16xf32>) {
  // expected-error@+1 {{'tile.dot' op operand #0 must be tile of f16, bf16, f32 or i8 (a tensor of positive extents, static or named by #tile.open, rank 1 or more, at most 2^20 elements, no other encoding but a layout) or memory with a layout, but got 'tensor<16x16xi32>'}}
  %d = tile.dot %a, %a, %c : tensor<16x16xi32>, tensor<16x16xi32> -> tensor<16x16xf32>
  return
}

// -----

func.func @dot_result(%a: tensor<16x16xf16>, %b: tensor<16x8xf16>, %c: tensor<16x8xf32>) {
  // expected-error@+1 {{'tile.dot' op expected an accumulator of type 'tensor<8x8xf32>', got 'tensor<16x8xf32>'}}
  %d = "tile.dot"(%a, %b, %c)
      : (tensor<16x16xf16>, tensor<16x8xf16>, tensor<16x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @dot_instruction(%a: tensor<16x16xf16>, %b: tensor<16x8xf16>, %c: tensor<16x8xf32>) {
  // expected-error@+1 {{'tile.dot' op unknown matrix instruction "mma"}}
  %d = tile.dot %a, %b, %c {instruction = "mma"} : tensor<16x16xf16>, tensor<16x8xf16> -> tensor<16x8xf32>
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 1]>

func.func @dot_half_laid_out(%a: tensor<16x16xf16>, %b: tensor<16x8xf16>, %c: tensor<16x8xf32, #mma>) {
  // expected-error@+1 {{'tile.dot' op mixes a tile with a layout and one without}}
  %d = tile.dot %a, %b, %c : tensor<16x16xf16>, tensor<16x8xf16> -> tensor<16x8xf32, #mma>
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 1]>
#dot_a = #tile.dot_operand<0, #mma>

func.func @dot_b_not_laid_out(%a: tensor<16x16xf16, #dot_a>, %b: tensor<16x8xf16>, %c: tensor<16x8xf32, #mma>) {
  // expected-error@+1 {{'tile.dot' op mixes a tile with a layout and one without}}
  %d = tile.dot %a, %b, %c : tensor<16x16xf16, #dot_a>, tensor<16x8xf16> -> tensor<16x8xf32, #mma>
  return
}

// -----

#rows = #tile.blocked<thread = [1, 2], lane = [8, 4], warp = [1, 1], order = [1, 0]>

func.func @dot_layout(%a: tensor<16x16xf16, #rows>, %b: tensor<16x8xf16, #rows>, %c: tensor<16x8xf32, #rows>) {
  // expected-error@+1 {{'tile.dot' op accumulator layout must be #tile.mma, got #tile.blocked<thread = [1, 2], lane = [8, 4], warp = [1, 1], order = [1, 0]>}}
  %d = tile.dot %a, %b, %c : tensor<16x16xf16, #rows>, tensor<16x8xf16, #rows> -> tensor<16x8xf32, #rows>
  return
}

// -----

func.func @dot_warps_count(%a: tensor<16x16xf16>, %c: tensor<16x16xf32>) {
  // expected-error@+1 {{'tile.dot' op 'warps' must be two numbers from 1 to 32}}
  %d = tile.dot %a, %a, %c {warps = array<i64: 4>} : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf32>
  return
}

// -----

func.func @dot_warps_range(%a: tensor<16x16xf16>, %c: tensor<16x16xf32>) {
  // expected-error@+1 {{'tile.dot' op 'warps' must be two numbers from 1 to 32}}
  %d = tile.dot %a, %a, %c {warps = array<i64: 4, 0>} : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf32>
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 1]>
#dot_a = #tile.dot_operand<0, #mma>
#dot_b = #tile.dot_operand<1, #mma>

func.func @dot_warps_pinned(%a: tensor<16x16xf16, #dot_a>, %b: tensor<16x8xf16, #dot_b>, %c: tensor<16x8xf32, #mma>) {
  // expected-error@+1 {{'tile.dot' op pins 2 x 1 warps, but the accumulator has the layout #tile.mma<"mma.m16n8k16.f16", warps = [1, 1]>}}
  %d = tile.dot %a, %b, %c {warps = array<i64: 2, 1>}
      : tensor<16x16xf16, #dot_a>, tensor<16x8xf16, #dot_b> -> tensor<16x8xf32, #mma>
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 1]>
#dot_a = #tile.dot_operand<0, #mma>
#dot_b = #tile.dot_operand<1, #mma>

func.func @dot_pinned(%a: tensor<16x16xbf16, #dot_a>, %b: tensor<16x8xbf16, #dot_b>, %c: tensor<16x8xf32, #mma>) {
  // expected-error@+1 {{'tile.dot' op pins the instruction "mma.m16n8k16.bf16", but the accumulator is one of "mma.m16n8k16.f16"}}
  %d = tile.dot %a, %b, %c {instruction = "mma.m16n8k16.bf16"}
      : tensor<16x16xbf16, #dot_a>, tensor<16x8xbf16, #dot_b> -> tensor<16x8xf32, #mma>
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 1]>
#dot_a = #tile.dot_operand<0, #mma>
#dot_b = #tile.dot_operand<1, #mma>

func.func @dot_operand_type(%a: tensor<16x16xbf16, #dot_a>, %b: tensor<16x8xbf16, #dot_b>, %c: tensor<16x8xf32, #mma>) {
  // expected-error@+1 {{'tile.dot' op "mma.m16n8k16.f16" does not multiply 'bf16'}}
  %d = tile.dot %a, %b, %c
      : tensor<16x16xbf16, #dot_a>, tensor<16x8xbf16, #dot_b> -> tensor<16x8xf32, #mma>
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [4, 1]>
#dot_a = #tile.dot_operand<0, #mma>
#dot_b = #tile.dot_operand<1, #mma>

func.func @dot_few_rows(%a: tensor<16x16xf16, #dot_a>, %b: tensor<16x8xf16, #dot_b>, %c: tensor<16x8xf32, #mma>) {
  // expected-error@+1 {{'tile.dot' op accumulator extent 16 of dimension 0 is no multiple of 64 (4 warps of "mma.m16n8k16.f16")}}
  %d = tile.dot %a, %b, %c
      : tensor<16x16xf16, #dot_a>, tensor<16x8xf16, #dot_b> -> tensor<16x8xf32, #mma>
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 1]>
#dot_a = #tile.dot_operand<0, #mma>
#dot_b = #tile.dot_operand<1, #mma>

func.func @dot_short(%a: tensor<16x8xf16, #dot_a>, %b: tensor<8x8xf16, #dot_b>, %c: tensor<16x8xf32, #mma>) {
  // expected-error@+1 {{'tile.dot' op contraction extent 8 is no multiple of 16}}
  %d = tile.dot %a, %b, %c
      : tensor<16x8xf16, #dot_a>, tensor<8x8xf16, #dot_b> -> tensor<16x8xf32, #mma>
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 1]>
#dot_a = #tile.dot_operand<0, #mma>

func.func @dot_operand_layout(%a: tensor<16x16xf16, #dot_a>, %b: tensor<16x16xf16, #dot_a>, %c: tensor<16x16xf32, #mma>) {
  // expected-error@+1 {{'tile.dot' op operand b must have the layout #tile.dot_operand<1, <"mma.m16n8k16.f16", warps = [1, 1]>>, got #tile.dot_operand<0, <"mma.m16n8k16.f16", warps = [1, 1]>>}}
  %d = tile.dot %a, %b, %c
      : tensor<16x16xf16, #dot_a>, tensor<16x16xf16, #dot_a> -> tensor<16x16xf32, #mma>
  return
}

// -----

// tile.reduce

func.func @reduce_dimension(%s: tensor<16x8xf32>) {
  // expected-error@+1 {{'tile.reduce' op dimension 2 does not exist in a tile of rank 2}}
  %r = tile.reduce addf %s along 2 : tensor<16x8xf32> -> tensor<16xf32>
  return
}

// -----

func.func @reduce_negative(%s: tensor<16x8xf32>) {
  // expected-error@+1 {{'tile.reduce' op attribute 'dim' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  %r = tile.reduce addf %s along -1 : tensor<16x8xf32> -> tensor<16xf32>
  return
}

// -----

func.func @reduce_shape(%s: tensor<16x8xf32>) {
  // expected-error@+1 {{'tile.reduce' op expected a tile of shape [16] beside [16, 8] without dimension 1, got [8]}}
  %r = tile.reduce addf %s along 1 : tensor<16x8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @reduce_to_scalar(%s: tensor<16xf32>) {
  // expected-error@+1 {{'tile.reduce' op result #0 must be tile of f16, bf16, f32, f64, i1, i8, i32 or i64 (a tensor of positive extents, static or named by #tile.open, rank 1 or more, at most 2^20 elements, no other encoding but a layout), but got 'tensor<f32>'}}
  %r = tile.reduce addf %s along 0 : tensor<16xf32> -> tensor<f32>
  return
}

// -----

func.func @reduce_line(%s: tensor<16xf32>) {
  // expected-error@+1 {{'tile.reduce' op expected a tile of shape [1] beside [16] without dimension 0, got [16]}}
  %r = tile.reduce addf %s along 0 : tensor<16xf32> -> tensor<16xf32>
  return
}

// -----

#line = #tile.blocked<thread = [1], lane = [32], warp = [1], order = [0]>
#one = #tile.slice<0, #tile.blocked<thread = [1, 1], lane = [32, 1], warp = [1, 1], order = [0, 1]>>
func.func @reduce_line_with_layout(%s: tensor<32xf32, #line>) {
  // expected-error@+1 {{'tile.reduce' op with layouts needs a tile of two or more dimensions}}
  %r = tile.reduce addf %s along 0 : tensor<32xf32, #line> -> tensor<1xf32, #one>
  return
}

// -----

// tile.unit_triangular_inverse

func.func @inverse_square(%s: tensor<16x32xf32>) {
  // expected-error@+1 {{'tile.unit_triangular_inverse' op needs a square tile, got [16, 32]}}
  %r = tile.unit_triangular_inverse %s : tensor<16x32xf32>
  return
}

// -----

func.func @inverse_rank(%s: tensor<16xf32>) {
  // expected-error@+1 {{'tile.unit_triangular_inverse' op needs a square tile, got [16]}}
  %r = tile.unit_triangular_inverse %s : tensor<16xf32>
  return
}

// -----

func.func @inverse_open(%s: tensor<?x?xf32, #tile.open<BM, BN>>) {
  // expected-error@+1 {{'tile.unit_triangular_inverse' op needs a square tile, got [BM, BN]}}
  %r = tile.unit_triangular_inverse %s : tensor<?x?xf32, #tile.open<BM, BN>>
  return
}

// -----

func.func @inverse_element(%s: tensor<16x16xf16>) {
  // expected-error@+1 {{'tile.unit_triangular_inverse' op operand #0 must be tile of f32}}
  %r = tile.unit_triangular_inverse %s : tensor<16x16xf16>
  return
}

// -----

#blocked = #tile.blocked<thread = [1, 8], lane = [16, 2], warp = [1, 1], order = [1, 0]>
func.func @inverse_layout(%s: tensor<16x16xf32, #blocked>) {
  // expected-error@+1 {{'tile.unit_triangular_inverse' op applies to tiles without layouts}}
  %r = tile.unit_triangular_inverse %s : tensor<16x16xf32, #blocked>
  return
}

// -----

func.func @reduce_element(%s: tensor<16x8xf16>) {
  // expected-error@+1 {{'tile.reduce' op element types differ: 'f16' and 'f32'}}
  %r = tile.reduce addf %s along 1 : tensor<16x8xf16> -> tensor<16xf32>
  return
}

// -----

func.func @reduce_assign(%s: tensor<16x8xf32>) {
  // expected-error@+1 {{'tile.reduce' op kind assign is not a reduction}}
  %r = tile.reduce assign %s along 1 : tensor<16x8xf32> -> tensor<16xf32>
  return
}

// -----

func.func @reduce_float(%s: tensor<16x8xi32>) {
  // expected-error@+1 {{'tile.reduce' op kind maximumf does not apply to 'i32'}}
  %r = tile.reduce maximumf %s along 1 : tensor<16x8xi32> -> tensor<16xi32>
  return
}

// -----

func.func @reduce_integer(%s: tensor<16x8xf32>) {
  // expected-error@+1 {{'tile.reduce' op kind maxs does not apply to 'f32'}}
  %r = tile.reduce maxs %s along 1 : tensor<16x8xf32> -> tensor<16xf32>
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 1]>

func.func @reduce_half_laid_out(%s: tensor<16x8xf32, #mma>) {
  // expected-error@+1 {{'tile.reduce' op mixes a tile with a layout and one without}}
  %r = tile.reduce addf %s along 1 : tensor<16x8xf32, #mma> -> tensor<16xf32>
  return
}

// -----

func.func @reduce_shared(%s: tensor<64x32xf32, #tile.swizzle<128>>) {
  // expected-error@+1 {{'tile.reduce' op works on tiles in registers}}
  %r = tile.reduce addf %s along 1
      : tensor<64x32xf32, #tile.swizzle<128>> -> tensor<64xf32, #tile.strided<[1]>>
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 1]>

func.func @reduce_registers(%s: tensor<16x8xf32, #mma>) {
  // expected-error@+1 {{'tile.reduce' op the smaller tile must have the slice of the larger one's layout: expected 2 registers, got 8}}
  %r = tile.reduce addf %s along 1 : tensor<16x8xf32, #mma> -> tensor<16xf32, #tile.slice<1, #tile.mma<"wmma.gfx11.16x16x16.f16", warps = [1, 1]>>>
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 1]>

func.func @reduce_warps(%s: tensor<16x8xf32, #mma>) {
  // expected-error@+1 {{'tile.reduce' op the smaller tile must have the slice of the larger one's layout: expected 1 warps, got 2}}
  %r = tile.reduce addf %s along 1 : tensor<16x8xf32, #mma> -> tensor<16xf32, #tile.slice<1, #tile.mma<"mma.m16n8k16.f16", warps = [1, 2]>>>
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 1]>

func.func @reduce_places(%s: tensor<16x16xf32, #mma>) {
  // expected-error@+1 {{'tile.reduce' op the smaller tile must have the slice of the larger one's layout: register 2 of lane 0, warp 0 holds element (2), expected (8)}}
  %r = tile.reduce addf %s along 0 : tensor<16x16xf32, #mma> -> tensor<16xf32, #tile.layout<register = [2 -> d0, 2 -> d0 * 2], lane = [4 -> d0 * 4, 8 -> 0], warp = []>>
  return
}

// -----

// tile.extract

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [2, 1]>

func.func @extract_not_laid_out(%s: tensor<32x32xf32>) {
  // expected-error@+1 {{'tile.extract' op mixes a tile with a layout and one without}}
  %r = tile.extract %s [0, 0] : tensor<32x32xf32> -> tensor<32x16xf32, #mma>
  return
}

// -----

func.func @extract_open(%s: tensor<?x32xf32, #tile.open<M>>) {
  // expected-error@+1 {{'tile.extract' op must keep all of dimension 0, whose extent is open}}
  %r = tile.extract %s [0, 0] : tensor<?x32xf32, #tile.open<M>> -> tensor<16x16xf32>
  return
}

// -----

func.func @extract_open_offset(%s: tensor<?x32xf32, #tile.open<M>>) {
  // expected-error@+1 {{'tile.extract' op must keep all of dimension 0, whose extent is open}}
  %r = tile.extract %s [16, 0] : tensor<?x32xf32, #tile.open<M>> -> tensor<?x16xf32, #tile.open<M>>
  return
}

// -----

func.func @reshape_open(%s: tensor<?x32xf32, #tile.open<M>>) {
  // expected-error@+1 {{'tile.reshape' op changes the number of elements from 32 * M to 16 * M}}
  %r = tile.reshape %s : tensor<?x32xf32, #tile.open<M>> -> tensor<16x?xf32, #tile.open<M>>
  return
}

// -----

func.func @reshape_open_name(%s: tensor<?x32xf32, #tile.open<M>>) {
  // expected-error@+1 {{'tile.reshape' op changes the number of elements from 32 * M to 32 * N}}
  %r = tile.reshape %s : tensor<?x32xf32, #tile.open<M>> -> tensor<32x?xf32, #tile.open<N>>
  return
}

// -----

func.func @concatenate_open(%s: tensor<?x32xf32, #tile.open<M>>) {
  // expected-error@+1 {{'tile.concatenate' op joins tiles along dimension 0, whose extent is open}}
  %r = tile.concatenate %s, %s along 0 : tensor<?x32xf32, #tile.open<M>> -> tensor<64x32xf32>
  return
}

// -----

func.func @extract_type(%s: tensor<32x32xf32>) {
  // expected-error@+1 {{'tile.extract' op changes the element type}}
  %r = tile.extract %s [0, 0] : tensor<32x32xf32> -> tensor<32x16xf16>
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [2, 1]>

func.func @extract_memory(%s: tensor<32x32xf32, #mma>) {
  // expected-error@+1 {{'tile.extract' op needs tiles that are laid out in registers, got 'tensor<32x16xf32, #tile.strided<[16, 1]>>'}}
  %r = tile.extract %s [0, 0] : tensor<32x32xf32, #mma> -> tensor<32x16xf32, #tile.strided<[16, 1]>>
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [2, 1]>

func.func @extract_element(%s: tensor<32x32xf32, #mma>) {
  // expected-error@+1 {{'tile.extract' op element types differ: 'f32' and 'f16'}}
  %r = tile.extract %s [0, 0] : tensor<32x32xf32, #mma> -> tensor<32x16xf16, #mma>
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [2, 1]>

func.func @extract_rank(%s: tensor<32x32xf32, #mma>) {
  // expected-error@+1 {{'tile.extract' op expected an offset and an extent of the result for each dimension of the source}}
  %r = tile.extract %s [0, 0] : tensor<32x32xf32, #mma> -> tensor<32xf32, #tile.slice<1, #mma>>
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [2, 1]>

func.func @extract_offsets(%s: tensor<32x32xf32, #mma>) {
  // expected-error@+1 {{'tile.extract' op expected an offset and an extent of the result for each dimension of the source}}
  %r = tile.extract %s [0] : tensor<32x32xf32, #mma> -> tensor<32x16xf32, #mma>
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [2, 1]>

func.func @extract_beyond(%s: tensor<32x32xf32, #mma>) {
  // expected-error@+1 {{'tile.extract' op a part of extent 16 does not fit at offset 24 of dimension 1 of extent 32}}
  %r = tile.extract %s [0, 24] : tensor<32x32xf32, #mma> -> tensor<32x16xf32, #mma>
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [2, 1]>

func.func @extract_negative(%s: tensor<32x32xf32, #mma>) {
  // expected-error@+1 {{'tile.extract' op a part of extent 16 does not fit at offset -8 of dimension 1 of extent 32}}
  %r = tile.extract %s [0, -8] : tensor<32x32xf32, #mma> -> tensor<32x16xf32, #mma>
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [2, 1]>

func.func @extract_larger(%s: tensor<32x32xf32, #mma>) {
  // expected-error@+1 {{'tile.extract' op a part of extent 64 does not fit at offset 0 of dimension 1 of extent 32}}
  %r = tile.extract %s [0, 0] : tensor<32x32xf32, #mma> -> tensor<32x64xf32, #mma>
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [2, 1]>
#columns = #tile.mma<"mma.m16n8k16.f16", warps = [1, 2]>
func.func @extract_warps(%s: tensor<32x32xf32, #columns>) {
  // expected-error@+1 {{'tile.extract' op a thread would need elements of other threads}}
  %r = tile.extract %s [0, 8] : tensor<32x32xf32, #columns> -> tensor<32x16xf32, #columns>
  return
}

// -----

// tile.reduce_in_threads

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 2]>

func.func @in_threads_shape(%s: tensor<16x32xf32, #mma>) {
  // expected-error@+1 {{'tile.reduce_in_threads' op expected a result of shape [16, 8], one element per thread along dimension 1, got [16, 2]}}
  %r = tile.reduce_in_threads addf %s along 1 : tensor<16x32xf32, #mma> -> tensor<16x2xf32, #mma>
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 2]>

func.func @in_threads_layout(%s: tensor<16x32xf32, #mma>) {
  // expected-error@+1 {{'tile.reduce_in_threads' op the result must have the layout that a reduction within each thread leaves}}
  %r = tile.reduce_in_threads addf %s along 1 : tensor<16x32xf32, #mma> -> tensor<16x8xf32, #mma>
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 2]>

func.func @in_threads_kind(%s: tensor<16x32xf32, #mma>) {
  // expected-error@+1 {{'tile.reduce_in_threads' op kind addi does not apply to 'f32'}}
  %r = tile.reduce_in_threads addi %s along 1 : tensor<16x32xf32, #mma> -> tensor<16x8xf32, #mma>
  return
}

// -----

// tile.broadcast_in_warps

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 2]>
#partial = #tile.layout<register = [2 -> d0 * 8], lane = [4 -> 0, 8 -> d0], warp = [2 -> d1]>

func.func @broadcast_in_warps_dimension(%s: tensor<16x2xf32, #partial>) {
  // expected-error@+1 {{'tile.broadcast_in_warps' op dimension 2 does not exist in a tile of rank 2}}
  %r = tile.broadcast_in_warps %s along 2 : tensor<16x2xf32, #partial> -> tensor<16x32xf32, #mma>
  return
}

// -----

func.func @broadcast_in_warps_not_laid_out(%s: tensor<16x2xf32>) {
  // expected-error@+1 {{'tile.broadcast_in_warps' op needs tiles that are laid out in registers, got 'tensor<16x2xf32>'}}
  %r = tile.broadcast_in_warps %s along 1 : tensor<16x2xf32> -> tensor<16x32xf32>
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 2]>
#partial = #tile.layout<register = [2 -> d0 * 8], lane = [4 -> 0, 8 -> d0], warp = [2 -> d1]>

func.func @broadcast_in_warps_element(%s: tensor<16x2xf16, #partial>) {
  // expected-error@+1 {{'tile.broadcast_in_warps' op element types differ: 'f16' and 'f32'}}
  %r = tile.broadcast_in_warps %s along 1 : tensor<16x2xf16, #partial> -> tensor<16x32xf32, #mma>
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 2]>
#partial = #tile.layout<register = [2 -> d0 * 8], lane = [4 -> 0, 8 -> d0], warp = [4 -> d1]>

func.func @broadcast_in_warps_shape(%s: tensor<16x4xf32, #partial>) {
  // expected-error@+1 {{'tile.broadcast_in_warps' op expected a source of shape [16, 2], one element per warp along dimension 1, got [16, 4]}}
  %r = tile.broadcast_in_warps %s along 1 : tensor<16x4xf32, #partial> -> tensor<16x32xf32, #mma>
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 2]>
#partial = #tile.layout<register = [2 -> d0], lane = [4 -> 0, 8 -> d0 * 2], warp = [2 -> d1]>

func.func @broadcast_in_warps_layout(%s: tensor<16x2xf32, #partial>) {
  // expected-error@+1 {{'tile.broadcast_in_warps' op the source must have the layout that a reduction within each warp leaves}}
  %r = tile.broadcast_in_warps %s along 1 : tensor<16x2xf32, #partial> -> tensor<16x32xf32, #mma>
  return
}

// -----

// tile.reduce_in_warps

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 2]>

func.func @in_warps_dimension(%s: tensor<16x32xf32, #mma>) {
  // expected-error@+1 {{'tile.reduce_in_warps' op dimension 2 does not exist in a tile of rank 2}}
  %r = tile.reduce_in_warps addf %s along 2 : tensor<16x32xf32, #mma> -> tensor<16x2xf32, #mma>
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 2]>

func.func @in_warps_kind(%s: tensor<16x32xf32, #mma>) {
  // expected-error@+1 {{'tile.reduce_in_warps' op kind addi does not apply to 'f32'}}
  %r = tile.reduce_in_warps addi %s along 1 : tensor<16x32xf32, #mma> -> tensor<16x2xf32, #mma>
  return
}

// -----

func.func @in_warps_not_laid_out(%s: tensor<16x32xf32>) {
  // expected-error@+1 {{'tile.reduce_in_warps' op needs tiles that are laid out in registers, got 'tensor<16x32xf32>'}}
  %r = tile.reduce_in_warps addf %s along 1 : tensor<16x32xf32> -> tensor<16x2xf32>
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 2]>

func.func @in_warps_memory(%s: tensor<16x32xf32, #mma>) {
  // expected-error@+1 {{'tile.reduce_in_warps' op needs tiles that are laid out in registers, got 'tensor<16x2xf32, #tile.strided<[2, 1]>>'}}
  %r = tile.reduce_in_warps addf %s along 1 : tensor<16x32xf32, #mma> -> tensor<16x2xf32, #tile.strided<[2, 1]>>
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 2]>
#partial = #tile.layout<register = [2 -> d0 * 8], lane = [4 -> 0, 8 -> d0], warp = [2 -> d1]>

func.func @in_warps_element(%s: tensor<16x32xf32, #mma>) {
  // expected-error@+1 {{'tile.reduce_in_warps' op element types differ: 'f32' and 'f16'}}
  %r = tile.reduce_in_warps addf %s along 1 : tensor<16x32xf32, #mma> -> tensor<16x2xf16, #partial>
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 2]>
#partial = #tile.layout<register = [2 -> d0 * 8], lane = [4 -> 0, 8 -> d0], warp = [4 -> d1]>

func.func @in_warps_shape(%s: tensor<16x32xf32, #mma>) {
  // expected-error@+1 {{'tile.reduce_in_warps' op expected a result of shape [16, 2], one element per warp along dimension 1, got [16, 4]}}
  %r = tile.reduce_in_warps addf %s along 1 : tensor<16x32xf32, #mma> -> tensor<16x4xf32, #partial>
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 2]>
#partial = #tile.layout<register = [2 -> d0], lane = [4 -> 0, 8 -> d0 * 2], warp = [2 -> d1]>

func.func @in_warps_layout(%s: tensor<16x32xf32, #mma>) {
  // expected-error@+1 {{'tile.reduce_in_warps' op the result must have the layout that a reduction within each warp leaves: register 1 of lane 0, warp 0 holds element (1, 0), expected (8, 0)}}
  %r = tile.reduce_in_warps addf %s along 1 : tensor<16x32xf32, #mma> -> tensor<16x2xf32, #partial>
  return
}

// -----

// tile.scan

func.func @scan_dimension(%s: tensor<16x8xf32>) {
  // expected-error@+1 {{'tile.scan' op dimension 2 does not exist in a tile of rank 2}}
  %r = tile.scan addf %s along 2 : tensor<16x8xf32>
  return
}

// -----

func.func @scan_negative(%s: tensor<16x8xf32>) {
  // expected-error@+1 {{'tile.scan' op attribute 'dim' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  %r = tile.scan addf %s along -1 : tensor<16x8xf32>
  return
}

// -----

func.func @scan_type(%s: tensor<16x8xf32>) {
  // expected-error@+1 {{'tile.scan' op failed to verify that all of {source, result} have same type}}
  %r = "tile.scan"(%s) {kind = 0 : i64, dim = 1 : i64} : (tensor<16x8xf32>) -> tensor<16x8xf16>
  return
}

// -----

func.func @scan_assign(%s: tensor<16x8xf32>) {
  // expected-error@+1 {{'tile.scan' op kind assign is not a reduction}}
  %r = tile.scan assign %s along 1 : tensor<16x8xf32>
  return
}

// -----

func.func @scan_float(%s: tensor<16x8xi32>) {
  // expected-error@+1 {{'tile.scan' op kind addf does not apply to 'i32'}}
  %r = tile.scan addf %s along 1 reverse : tensor<16x8xi32>
  return
}

// -----

func.func @scan_integer(%s: tensor<16x8xf32>) {
  // expected-error@+1 {{'tile.scan' op kind maxs does not apply to 'f32'}}
  %r = tile.scan maxs %s along 0 : tensor<16x8xf32>
  return
}

// -----

func.func @scan_shared(%s: tensor<64x32xf32, #tile.swizzle<128>>) {
  // expected-error@+1 {{'tile.scan' op works on tiles in registers}}
  %r = tile.scan addf %s along 1 : tensor<64x32xf32, #tile.swizzle<128>>
  return
}

// -----

!b = !tile.buffer<16x8xf32, #tile.strided<[8, 1]>, global>

func.func @scan_buffer(%s: !b) {
  // expected-error@+1 {{'tile.scan' op operand #0 must be tile of f16, bf16, f32, f64, i1, i8, i32 or i64 (a tensor of positive extents, static or named by #tile.open, rank 1 or more, at most 2^20 elements, no other encoding but a layout), but got '!tile.buffer<16x8xf32, #tile.strided<[8, 1]>, global>'}}
  %r = tile.scan addf %s along 1 : !b
  return
}

// -----

// tile.associative_scan

func.func @associative_scan_nothing() {
  // expected-error@+1 {{'tile.associative_scan' op needs a tile}}
  "tile.associative_scan"() ({
    tile.yield
  }) {dim = 0 : i64} : () -> ()
  return
}

// -----

func.func @associative_scan_dimension(%s: tensor<16x8xf32>) {
  // expected-error@+1 {{'tile.associative_scan' op dimension 2 does not exist in a tile of rank 2}}
  %r = tile.associative_scan %s along 2 : tensor<16x8xf32> {
  ^bb0(%x: f32, %y: f32):
    tile.yield %x : f32
  }
  return
}

// -----

func.func @associative_scan_shared(%s: tensor<64x32xf32, #tile.swizzle<128>>) {
  // expected-error@+1 {{'tile.associative_scan' op works on tiles in registers}}
  %r = tile.associative_scan %s along 1 : tensor<64x32xf32, #tile.swizzle<128>> {
  ^bb0(%x: f32, %y: f32):
    tile.yield %x : f32
  }
  return
}

// -----

func.func @associative_scan_shapes(%s: tensor<16x8xf32>, %t: tensor<8x8xf32>) {
  // expected-error@+1 {{'tile.associative_scan' op works on tiles of one shape and layout, got 'tensor<16x8xf32>' and 'tensor<8x8xf32>'}}
  %r:2 = tile.associative_scan %s, %t along 1 : tensor<16x8xf32>, tensor<8x8xf32> {
  ^bb0(%x: f32, %y: f32, %z: f32, %w: f32):
    tile.yield %x, %y : f32, f32
  }
  return
}

// -----

func.func @associative_scan_arguments(%s: tensor<16x8xf32>) {
  // expected-error@+1 {{'tile.associative_scan' op needs a region with arguments of the types 'f32', 'f32'; got 'f32', 'f16'}}
  %r = tile.associative_scan %s along 1 : tensor<16x8xf32> {
  ^bb0(%x: f32, %y: f16):
    tile.yield %x : f32
  }
  return
}

// -----

func.func @associative_scan_yield(%s: tensor<16x8xf32>) {
  %r = tile.associative_scan %s along 1 : tensor<16x8xf32> {
  ^bb0(%x: f32, %y: f32):
    // expected-error@+1 {{'tile.yield' op must give numbers of the types 'f32'; got 'f32', 'f32'}}
    tile.yield %x, %y : f32, f32
  }
  return
}

// -----

func.func @associative_scan_end(%s: tensor<16x8xf32>) {
  // expected-error@+1 {{'tile.associative_scan' op needs a region that ends with tile.yield}}
  %r = tile.associative_scan %s along 1 : tensor<16x8xf32> {
  ^bb0(%x: f32, %y: f32):
    llvm.unreachable
  }
  return
}

// -----

func.func @associative_scan_outside(%s: tensor<16x8xf32>, %f: f32) {
  // expected-note@+1 {{required by region isolation constraints}}
  %r = tile.associative_scan %s along 1 : tensor<16x8xf32> {
  ^bb0(%x: f32, %y: f32):
    // expected-error@+1 {{'arith.addf' op using value defined outside the region}}
    %z = arith.addf %x, %f : f32
    tile.yield %z : f32
  }
  return
}

// -----

func.func @associative_scan_tile(%s: tensor<16x8xf32>) {
  %r = tile.associative_scan %s along 1 : tensor<16x8xf32> {
  ^bb0(%x: f32, %y: f32):
    // expected-error@+1 {{'tensor.splat' op must not be in the region of a scan, which has operations without side effects on numbers}}
    %z = tensor.splat %x : tensor<16x8xf32>
    tile.yield %x : f32
  }
  return
}

// -----

func.func @associative_scan_effect(%s: tensor<16x8xf32>) {
  %r = tile.associative_scan %s along 1 : tensor<16x8xf32> {
  ^bb0(%x: f32, %y: f32):
    // expected-error@+1 {{'memref.alloc' op must not be in the region of a scan, which has operations without side effects on numbers}}
    %m = memref.alloc() : memref<f32>
    tile.yield %x : f32
  }
  return
}

// -----

func.func @yield_elsewhere(%s: f32) {
  // expected-error@+1 {{'tile.yield' op expects parent op to be one of 'tile.associative_scan, tile.associative_scan_in_warps, tile.join_associative_scans, tile.matmul'}}
  tile.yield %s : f32
}

// -----

// tile.associative_scan_in_warps, tile.join_associative_scans

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 4]>
#totals = #tile.layout<register = [2 -> d0 * 8, 2 -> d1 * 4], lane = [4 -> 0, 8 -> d0], warp = [4 -> d1]>

func.func @associative_scan_in_warps_totals(%s: tensor<16x64xf32, #mma>) {
  // expected-error@+1 {{'tile.associative_scan_in_warps' op gives a result and totals for each tile}}
  %r:3 = tile.associative_scan_in_warps %s along 1 : (tensor<16x64xf32, #mma>) -> (tensor<16x64xf32, #mma>, tensor<16x8xf32, #totals>, tensor<16x8xf32, #totals>) {
  ^bb0(%x: f32, %y: f32):
    tile.yield %x : f32
  }
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 4]>
#totals = #tile.layout<register = [2 -> d0 * 8, 2 -> d1 * 4], lane = [4 -> 0, 8 -> d0], warp = [4 -> d1]>

func.func @associative_scan_in_warps_dimension(%s: tensor<16x64xf32, #mma>) {
  // expected-error@+1 {{'tile.associative_scan_in_warps' op dimension 2 does not exist in a tile of rank 2}}
  %r, %t = tile.associative_scan_in_warps %s along 2 : (tensor<16x64xf32, #mma>) -> (tensor<16x64xf32, #mma>, tensor<16x8xf32, #totals>) {
  ^bb0(%x: f32, %y: f32):
    tile.yield %x : f32
  }
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 4]>
#totals = #tile.layout<register = [2 -> d0 * 8, 2 -> d1 * 4], lane = [4 -> 0, 8 -> d0], warp = [4 -> d1]>

func.func @associative_scan_in_warps_type(%s: tensor<16x64xf32, #mma>) {
  // expected-error@+1 {{'tile.associative_scan_in_warps' op gives tiles of the types that it gets}}
  %r, %t = tile.associative_scan_in_warps %s along 1 : (tensor<16x64xf32, #mma>) -> (tensor<16x64xf16, #mma>, tensor<16x8xf32, #totals>) {
  ^bb0(%x: f32, %y: f32):
    tile.yield %x : f32
  }
  return
}

// -----

func.func @associative_scan_in_warps_not_laid_out(%s: tensor<16x64xf32>) {
  // expected-error@+1 {{'tile.associative_scan_in_warps' op needs tiles that are laid out in registers, got 'tensor<16x64xf32>'}}
  %r, %t = tile.associative_scan_in_warps %s along 1 : (tensor<16x64xf32>) -> (tensor<16x64xf32>, tensor<16x8xf32>) {
  ^bb0(%x: f32, %y: f32):
    tile.yield %x : f32
  }
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 4]>
#totals = #tile.layout<register = [2 -> d0 * 8], lane = [4 -> 0, 8 -> d0], warp = [4 -> d1]>

func.func @associative_scan_in_warps_shape(%s: tensor<16x64xf32, #mma>) {
  // expected-error@+1 {{'tile.associative_scan_in_warps' op expected totals of shape [16, 8], one for each 8 elements along dimension 1, got [16, 4]}}
  %r, %t = tile.associative_scan_in_warps %s along 1 : (tensor<16x64xf32, #mma>) -> (tensor<16x64xf32, #mma>, tensor<16x4xf32, #totals>) {
  ^bb0(%x: f32, %y: f32):
    tile.yield %x : f32
  }
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 4]>
#all = #tile.layout<register = [8 -> d1, 2 -> d0 * 8], lane = [4 -> 0, 8 -> d0], warp = [4 -> 0]>

func.func @join_associative_scans_totals(%s: tensor<16x64xf32, #mma>, %t: tensor<16x8xf32, #all>) {
  // expected-error@+1 {{'tile.join_associative_scans' op needs totals for each tile}}
  %r = tile.join_associative_scans %s, %t, %t along 1 : (tensor<16x64xf32, #mma>, tensor<16x8xf32, #all>, tensor<16x8xf32, #all>) -> tensor<16x64xf32, #mma> {
  ^bb0(%x: f32, %y: f32):
    tile.yield %x : f32
  }
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 4]>
#all = #tile.layout<register = [8 -> d1, 2 -> d0 * 8], lane = [4 -> 0, 8 -> d0], warp = [4 -> 0]>

func.func @join_associative_scans_element(%s: tensor<16x64xf32, #mma>, %t: tensor<16x8xf16, #all>) {
  // expected-error@+1 {{'tile.join_associative_scans' op element types differ: 'f32' and 'f16'}}
  %r = tile.join_associative_scans %s, %t along 1 : (tensor<16x64xf32, #mma>, tensor<16x8xf16, #all>) -> tensor<16x64xf32, #mma> {
  ^bb0(%x: f32, %y: f32):
    tile.yield %x : f32
  }
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 4]>
#totals = #tile.layout<register = [2 -> d0 * 8, 2 -> d1 * 4], lane = [4 -> 0, 8 -> d0], warp = [4 -> d1]>

func.func @join_associative_scans_layout(%s: tensor<16x64xf32, #mma>, %t: tensor<16x8xf32, #totals>) {
  // expected-error@+1 {{'tile.join_associative_scans' op each thread must have the totals of all runs for its elements}}
  %r = tile.join_associative_scans %s, %t along 1 : (tensor<16x64xf32, #mma>, tensor<16x8xf32, #totals>) -> tensor<16x64xf32, #mma> {
  ^bb0(%x: f32, %y: f32):
    tile.yield %x : f32
  }
  return
}

// -----

// tile.scan_in_warps

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 4]>
#totals = #tile.layout<register = [2 -> d0 * 8, 2 -> d1 * 4], lane = [4 -> 0, 8 -> d0], warp = [4 -> d1]>

func.func @scan_in_warps_dimension(%s: tensor<16x64xf32, #mma>) {
  // expected-error@+1 {{'tile.scan_in_warps' op dimension 2 does not exist in a tile of rank 2}}
  %r, %t = tile.scan_in_warps addf %s along 2 : tensor<16x64xf32, #mma> -> tensor<16x8xf32, #totals>
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 4]>
#totals = #tile.layout<register = [2 -> d0 * 8, 2 -> d1 * 4], lane = [4 -> 0, 8 -> d0], warp = [4 -> d1]>

func.func @scan_in_warps_kind(%s: tensor<16x64xf32, #mma>) {
  // expected-error@+1 {{'tile.scan_in_warps' op kind addi does not apply to 'f32'}}
  %r, %t = tile.scan_in_warps addi %s along 1 : tensor<16x64xf32, #mma> -> tensor<16x8xf32, #totals>
  return
}

// -----

func.func @scan_in_warps_not_laid_out(%s: tensor<16x64xf32>) {
  // expected-error@+1 {{'tile.scan_in_warps' op needs tiles that are laid out in registers, got 'tensor<16x64xf32>'}}
  %r, %t = tile.scan_in_warps addf %s along 1 : tensor<16x64xf32> -> tensor<16x8xf32>
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 4]>

func.func @scan_in_warps_memory(%s: tensor<16x64xf32, #mma>) {
  // expected-error@+1 {{'tile.scan_in_warps' op needs tiles that are laid out in registers, got 'tensor<16x8xf32, #tile.strided<[8, 1]>>'}}
  %r, %t = tile.scan_in_warps addf %s along 1 : tensor<16x64xf32, #mma> -> tensor<16x8xf32, #tile.strided<[8, 1]>>
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 4]>
#totals = #tile.layout<register = [2 -> d0 * 8, 2 -> d1 * 4], lane = [4 -> 0, 8 -> d0], warp = [4 -> d1]>

func.func @scan_in_warps_element(%s: tensor<16x64xf32, #mma>) {
  // expected-error@+1 {{'tile.scan_in_warps' op element types differ: 'f32' and 'f16'}}
  %r, %t = tile.scan_in_warps addf %s along 1 : tensor<16x64xf32, #mma> -> tensor<16x8xf16, #totals>
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 4]>
#few = #tile.layout<register = [2 -> d0 * 8], lane = [4 -> 0, 8 -> d0], warp = [4 -> d1]>

func.func @scan_in_warps_shape(%s: tensor<16x64xf32, #mma>) {
  // expected-error@+1 {{'tile.scan_in_warps' op expected totals of shape [16, 8], one for each 8 elements along dimension 1, got [16, 4]}}
  %r, %t = tile.scan_in_warps addf %s along 1 : tensor<16x64xf32, #mma> -> tensor<16x4xf32, #few>
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 4]>
#other = #tile.layout<register = [2 -> d0 * 8, 2 -> d1], lane = [4 -> 0, 8 -> d0], warp = [4 -> d1 * 2]>

func.func @scan_in_warps_layout(%s: tensor<16x64xf32, #mma>) {
  // expected-error@+1 {{'tile.scan_in_warps' op the totals must have the layout that a reduction of each run leaves: register 2 of lane 0, warp 0 holds element (0, 1), expected (0, 4)}}
  %r, %t = tile.scan_in_warps addf %s along 1 : tensor<16x64xf32, #mma> -> tensor<16x8xf32, #other>
  return
}

// -----

// tile.join_scans

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 4]>
#all = #tile.layout<register = [8 -> d1, 2 -> d0 * 8], lane = [4 -> 0, 8 -> d0], warp = [4 -> 0]>

func.func @join_scans_dimension(%s: tensor<16x64xf32, #mma>, %t: tensor<16x8xf32, #all>) {
  // expected-error@+1 {{'tile.join_scans' op dimension 2 does not exist in a tile of rank 2}}
  %r = tile.join_scans addf %s, %t along 2 : tensor<16x64xf32, #mma>, tensor<16x8xf32, #all>
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 4]>
#all = #tile.layout<register = [8 -> d1, 2 -> d0 * 8], lane = [4 -> 0, 8 -> d0], warp = [4 -> 0]>

func.func @join_scans_kind(%s: tensor<16x64xf32, #mma>, %t: tensor<16x8xf32, #all>) {
  // expected-error@+1 {{'tile.join_scans' op kind xori does not apply to 'f32'}}
  %r = tile.join_scans xori %s, %t along 1 : tensor<16x64xf32, #mma>, tensor<16x8xf32, #all>
  return
}

// -----

func.func @join_scans_not_laid_out(%s: tensor<16x64xf32>, %t: tensor<16x8xf32>) {
  // expected-error@+1 {{'tile.join_scans' op needs tiles that are laid out in registers, got 'tensor<16x64xf32>'}}
  %r = tile.join_scans addf %s, %t along 1 : tensor<16x64xf32>, tensor<16x8xf32>
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 4]>
#all = #tile.layout<register = [8 -> d1, 2 -> d0 * 8], lane = [4 -> 0, 8 -> d0], warp = [4 -> 0]>

func.func @join_scans_element(%s: tensor<16x64xf32, #mma>, %t: tensor<16x8xf16, #all>) {
  // expected-error@+1 {{'tile.join_scans' op element types differ: 'f32' and 'f16'}}
  %r = tile.join_scans addf %s, %t along 1 : tensor<16x64xf32, #mma>, tensor<16x8xf16, #all>
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 4]>
#few = #tile.layout<register = [4 -> d1, 2 -> d0 * 8], lane = [4 -> 0, 8 -> d0], warp = [4 -> 0]>

func.func @join_scans_shape(%s: tensor<16x64xf32, #mma>, %t: tensor<16x4xf32, #few>) {
  // expected-error@+1 {{'tile.join_scans' op expected totals of shape [16, 8], one for each 8 elements along dimension 1, got [16, 4]}}
  %r = tile.join_scans addf %s, %t along 1 : tensor<16x64xf32, #mma>, tensor<16x4xf32, #few>
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 4]>
#totals = #tile.layout<register = [2 -> d0 * 8, 2 -> d1 * 4], lane = [4 -> 0, 8 -> d0], warp = [4 -> d1]>

func.func @join_scans_layout(%s: tensor<16x64xf32, #mma>, %t: tensor<16x8xf32, #totals>) {
  // expected-error@+1 {{'tile.join_scans' op each thread must have the totals of all runs for its elements: expected 16 registers, got 4}}
  %r = tile.join_scans addf %s, %t along 1 : tensor<16x64xf32, #mma>, tensor<16x8xf32, #totals>
  return
}

// -----

// tile.broadcast

func.func @broadcast_dimension(%s: tensor<16xf32>) {
  // expected-error@+1 {{'tile.broadcast' op dimension 2 does not exist in a tile of rank 2}}
  %r = tile.broadcast %s along 2 : tensor<16xf32> -> tensor<16x8xf32>
  return
}

// -----

func.func @broadcast_shape(%s: tensor<16xf32>) {
  // expected-error@+1 {{'tile.broadcast' op expected a tile of shape [8] beside [16, 8] without dimension 0, got [16]}}
  %r = tile.broadcast %s along 0 : tensor<16xf32> -> tensor<16x8xf32>
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 1]>

func.func @broadcast_layout(%s: tensor<16xf32, #tile.slice<0, #mma>>) {
  // expected-error@+1 {{'tile.broadcast' op the smaller tile must have the slice of the larger one's layout: expected 2 registers, got 4}}
  %r = tile.broadcast %s along 1 : tensor<16xf32, #tile.slice<0, #mma>> -> tensor<16x16xf32, #mma>
  return
}

// -----

// tile.iota

func.func @iota_dimension() {
  // expected-error@+1 {{'tile.iota' op dimension 1 does not exist in a tile of rank 1}}
  %r = tile.iota along 1 : tensor<16xi32>
  return
}

// -----

func.func @iota_element() {
  // expected-error@+1 {{'tile.iota' op result #0 must be tile of i32 or i64 (a tensor of positive extents, static or named by #tile.open, rank 1 or more, at most 2^20 elements, no other encoding but a layout), but got 'tensor<16xf32>'}}
  %r = tile.iota along 0 : tensor<16xf32>
  return
}

// -----

func.func @iota_shared() {
  // expected-error@+1 {{'tile.iota' op works on tiles in registers}}
  %r = tile.iota along 0 : tensor<16xi32, #tile.strided<[1]>>
  return
}

// -----

// tile.transpose

func.func @transpose_order(%s: tensor<16x8xf16>) {
  // expected-error@+1 {{'tile.transpose' op order [1, 1] is not a permutation}}
  %r = tile.transpose %s [1, 1] : tensor<16x8xf16> -> tensor<8x16xf16>
  return
}

// -----

func.func @transpose_rank(%s: tensor<16x8xf16>) {
  // expected-error@+1 {{'tile.transpose' op order [0, 2, 1] needs tiles of rank 3}}
  %r = tile.transpose %s [0, 2, 1] : tensor<16x8xf16> -> tensor<8x16xf16>
  return
}

// -----

func.func @transpose_shape(%s: tensor<16x8xf16>) {
  // expected-error@+1 {{'tile.transpose' op dimension 0 of the result must have the extent 8, got 16}}
  %r = tile.transpose %s [1, 0] : tensor<16x8xf16> -> tensor<16x8xf16>
  return
}

// -----

func.func @transpose_element(%s: tensor<16x8xf16>) {
  // expected-error@+1 {{'tile.transpose' op changes the element type}}
  %r = tile.transpose %s [1, 0] : tensor<16x8xf16> -> tensor<8x16xbf16>
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 1]>

func.func @transpose_half_laid_out(%s: tensor<16x8xf32, #mma>) {
  // expected-error@+1 {{'tile.transpose' op mixes a tile with a layout and one without}}
  %r = tile.transpose %s [1, 0] : tensor<16x8xf32, #mma> -> tensor<8x16xf32>
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 1]>

func.func @transpose_layout(%s: tensor<16x16xf32, #mma>) {
  // expected-error@+1 {{'tile.transpose' op result must have the layout #tile.permute<[1, 0], #tile.mma<"mma.m16n8k16.f16", warps = [1, 1]>>, got #tile.mma<"mma.m16n8k16.f16", warps = [1, 1]>}}
  %r = tile.transpose %s [1, 0] : tensor<16x16xf32, #mma> -> tensor<16x16xf32, #mma>
  return
}

// -----

!s = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>

func.func @transpose_buffer_to_tile(%s: !s) {
  // expected-error@+1 {{'tile.transpose' op turns a buffer into a tile}}
  %r = tile.transpose %s [1, 0] : !s -> tensor<64x64xf16>
  return
}

// -----

func.func @transpose_tile_to_buffer(%s: tensor<64x64xf16, #tile.swizzle<128>>) {
  // expected-error@+1 {{'tile.transpose' op turns a tile into a buffer}}
  %r = tile.transpose %s [1, 0] : tensor<64x64xf16, #tile.swizzle<128>>
      -> !tile.buffer<64x64xf16, #tile.permute<[1, 0], #tile.swizzle<128>>, shared>
  return
}

// -----

!b = !tile.buffer<64x64xf16, #tile.strided<[64, 1]>, global>

func.func @transpose_global(%s: !b) {
  // expected-error@+1 {{'tile.transpose' op works on shared buffers}}
  %r = tile.transpose %s [1, 0] : !b -> !tile.buffer<64x64xf16, #tile.strided<[1, 64]>, global>
  return
}

// -----

!s = !tile.buffer<64x128xf16, #tile.swizzle<128>, shared>

func.func @transpose_buffer_shape(%s: !s) {
  // expected-error@+1 {{'tile.transpose' op dimension 0 of the result must have the extent 128, got 64}}
  %r = tile.transpose %s [1, 0] : !s -> !tile.buffer<64x128xf16, #tile.swizzle<128>, shared>
  return
}

// -----

!s = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>

func.func @transpose_buffer_layout(%s: !s) {
  // expected-error@+1 {{'tile.transpose' op result must have the layout #tile.permute<[1, 0], #tile.swizzle<128>>}}
  %r = tile.transpose %s [1, 0] : !s -> !s
  return
}

// -----

// tile.convert_layout

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 1]>

func.func @convert_shape(%s: tensor<16x8xf32, #mma>) {
  // expected-error@+1 {{'tile.convert_layout' op changes the shape or the element type: 'tensor<16x8xf32, #tile.mma<"mma.m16n8k16.f16", warps = [1, 1]>>' to 'tensor<32x8xf32, #tile.mma<"mma.m16n8k16.f16", warps = [1, 1]>>'}}
  %r = tile.convert_layout %s : tensor<16x8xf32, #mma> -> tensor<32x8xf32, #mma>
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 1]>

func.func @convert_element(%s: tensor<16x8xf32, #mma>) {
  // expected-error@+1 {{'tile.convert_layout' op changes the shape or the element type: 'tensor<16x8xf32, #tile.mma<"mma.m16n8k16.f16", warps = [1, 1]>>' to 'tensor<16x8xf16, #tile.mma<"mma.m16n8k16.f16", warps = [1, 1]>>'}}
  %r = tile.convert_layout %s : tensor<16x8xf32, #mma> -> tensor<16x8xf16, #mma>
  return
}

// -----

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 1]>

func.func @convert_from_none(%s: tensor<16x8xf32>) {
  // expected-error@+1 {{'tile.convert_layout' op needs a layout on both sides}}
  %r = tile.convert_layout %s : tensor<16x8xf32> -> tensor<16x8xf32, #mma>
  return
}

// -----

func.func @convert_in_memory(%s: tensor<64x64xf16, #tile.swizzle<128>>) {
  // expected-error@+1 {{'tile.convert_layout' op moves between two tiles in shared memory}}
  %r = tile.convert_layout %s
      : tensor<64x64xf16, #tile.swizzle<128>> -> tensor<64x64xf16, #tile.padded<8, order = [1, 0]>>
  return
}

// -----

#one = #tile.mma<"mma.m16n8k16.f16", warps = [1, 1]>
#four = #tile.mma<"mfma.16x16x16.f16", warps = [4, 1]>

func.func @convert_warps(%s: tensor<64x16xf32, #one>) {
  // expected-error@+1 {{'tile.convert_layout' op converts between 1 warps of 32 lanes and 4 warps of 64 lanes}}
  %r = tile.convert_layout %s : tensor<64x16xf32, #one> -> tensor<64x16xf32, #four>
  return
}

// -----

// tile.reshape

func.func @reshape_count(%s: tensor<16x8xf32>) {
  // expected-error@+1 {{'tile.reshape' op changes the number of elements from 128 to 64}}
  %r = tile.reshape %s : tensor<16x8xf32> -> tensor<64xf32>
  return
}

// -----

func.func @reshape_type(%s: tensor<16x8xf32>) {
  // expected-error@+1 {{'tile.reshape' op changes the element type}}
  %r = tile.reshape %s : tensor<16x8xf32> -> tensor<128xf16>
  return
}

// -----

#rows = #tile.layout<register = [6 -> d0], lane = [8 -> d1, 4 -> 0], warp = []>

func.func @reshape_divide(%s: tensor<6x8xf32, #rows>) {
  // expected-error@+1 {{'tile.reshape' op the layout of the source, #tile.layout<register = [6 -> d0], lane = [8 -> d1, 4 -> 0], warp = []>, does not divide along the dimensions of [4, 12]}}
  %r = tile.reshape %s : tensor<6x8xf32, #rows> -> tensor<4x12xf32, #tile.layout<register = [4 -> d0, 3 -> d1 * 4], lane = [4 -> d1, 8 -> 0], warp = []>>
  return
}

// -----

#rows = #tile.blocked<thread = [1, 4], lane = [8, 4], warp = [1, 1], order = [1, 0]>

func.func @reshape_layout(%s: tensor<8x16xf32, #rows>) {
  // expected-error@+1 {{'tile.reshape' op the result must have the reshaped layout of the source: register 1 of lane 0, warp 0 holds element (32), expected (1)}}
  %r = tile.reshape %s : tensor<8x16xf32, #rows> -> tensor<128xf32, #tile.blocked<thread = [1], lane = [32], warp = [1], order = [0]>>
  return
}

// -----

// tile.concatenate

func.func @concatenate_shape(%s: tensor<16x8xf32>) {
  // expected-error@+1 {{'tile.concatenate' op expected a result of shape [16, 16], got [32, 8]}}
  %r = tile.concatenate %s, %s along 1 : tensor<16x8xf32> -> tensor<32x8xf32>
  return
}

// -----

func.func @concatenate_dimension(%s: tensor<16x8xf32>) {
  // expected-error@+1 {{'tile.concatenate' op dimension 2 does not exist in a tile of rank 2}}
  %r = tile.concatenate %s, %s along 2 : tensor<16x8xf32> -> tensor<32x8xf32>
  return
}

// -----

func.func @concatenate_types(%s: tensor<16x8xf32>, %t: tensor<16x16xf32>) {
  // expected-error@+1 {{'tile.concatenate' op has sources of different types: 'tensor<16x8xf32>' and 'tensor<16x16xf32>'}}
  %r = "tile.concatenate"(%s, %t) {dim = 1 : i64} : (tensor<16x8xf32>, tensor<16x16xf32>) -> tensor<16x24xf32>
  return
}

// -----

func.func @concatenate_nothing() {
  // expected-error@+1 {{'tile.concatenate' op needs a source}}
  %r = "tile.concatenate"() {dim = 1 : i64} : () -> tensor<16x24xf32>
  return
}

// -----

#rows = #tile.blocked<thread = [1, 4], lane = [8, 4], warp = [1, 1], order = [1, 0]>

func.func @concatenate_layout(%s: tensor<8x8xf32, #rows>) {
  // expected-error@+1 {{'tile.concatenate' op a thread would need elements of other threads}}
  %r = tile.concatenate %s, %s along 1 : tensor<8x8xf32, #rows> -> tensor<8x16xf32, #rows>
  return
}

// -----

// tile.gather

!table = !tile.buffer<?x64xf16, #tile.strided<[64, 1]>, global>

func.func @gather_indices(%t: !table, %i: index, %rows: tensor<8xi32>) {
  // expected-error@+1 {{'tile.gather' op expected indices of shape [16] or [16, 64], got [8]}}
  %r = tile.gather %t[%i, %i] along 0 by %rows : !table, tensor<8xi32> -> tensor<16x64xf16>
  return
}

// -----

!table = !tile.buffer<?x64xf16, #tile.strided<[64, 1]>, global>

func.func @gather_dimension(%t: !table, %i: index, %rows: tensor<16xi32>) {
  // expected-error@+1 {{'tile.gather' op dimension 2 does not exist in a tile of rank 2}}
  %r = tile.gather %t[%i, %i] along 2 by %rows : !table, tensor<16xi32> -> tensor<16x64xf16>
  return
}

// -----

!shared = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>

func.func @gather_shared(%t: !shared, %i: index, %rows: tensor<16xi32>) {
  // expected-error@+1 {{'tile.gather' op reads global memory with strides, got '!tile.buffer<64x64xf16, #tile.swizzle<128>, shared>'}}
  %r = tile.gather %t[%i, %i] along 0 by %rows : !shared, tensor<16xi32> -> tensor<16x64xf16>
  return
}

// -----

#rows = #tile.blocked<thread = [1, 4], lane = [8, 4], warp = [1, 1], order = [1, 0]>
!table = !tile.buffer<?x64xf32, #tile.strided<[64, 1]>, global>

func.func @gather_layout(%t: !table, %i: index, %rows: tensor<8xi32, #tile.slice<0, #rows>>) {
  // expected-error@+1 {{'tile.gather' op the indices must have the layout of the result along their dimensions: expected 1 registers, got 4}}
  %r = tile.gather %t[%i, %i] along 0 by %rows : !table, tensor<8xi32, #tile.slice<0, #rows>> -> tensor<8x16xf32, #rows>
  return
}

// -----

// tile.masked_load

!shared = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>

func.func @masked_load_shared(%t: !shared, %i: index) {
  // expected-error@+1 {{'tile.masked_load' op reads global memory, got '!tile.buffer<64x64xf16, #tile.swizzle<128>, shared>'}}
  %r = tile.masked_load %t[%i, %i] : !shared -> tensor<64x64xf16>
  return
}

// -----

!rows = !tile.buffer<?x64xf16, #tile.strided<[64, 1]>, global>

func.func @masked_load_rank(%t: !rows, %i: index, %m: tensor<64xi1>) {
  // expected-error@+1 {{'tile.masked_load' op moves a tile of rank 1 in a buffer of rank 2; use tile.slice to fix dimensions}}
  %r = tile.masked_load %t[%i, %i] mask %m : !rows -> tensor<64xf16>
  return
}

// -----

!rows = !tile.buffer<?x64xf16, #tile.strided<[64, 1]>, global>

func.func @masked_load_type(%t: !rows, %i: index) {
  // expected-error@+1 {{expected the type of a tile, got 'f16'}}
  %r = tile.masked_load %t[%i, %i] : !rows -> f16
  return
}

// -----

!rows = !tile.buffer<?x64xf16, #tile.strided<[64, 1]>, global>

func.func @masked_load_mask(%t: !rows, %i: index, %m: tensor<8x64xi1>) {
  // expected-error@+1 {{'tile.masked_load' op needs a mask of the shape of the result, got 'tensor<8x64xi1>'}}
  %r = "tile.masked_load"(%t, %i, %i, %m) <{operandSegmentSizes = array<i32: 1, 2, 1, 0>}> : (!rows, index, index, tensor<8x64xi1>) -> tensor<16x64xf16>
  return
}

// -----

!rows = !tile.buffer<?x64xf16, #tile.strided<[64, 1]>, global>

func.func @masked_load_other(%t: !rows, %i: index, %o: f32) {
  // expected-error@+1 {{'tile.masked_load' op fills a tile of 'f16' with a value of type 'f32'}}
  %r = "tile.masked_load"(%t, %i, %i, %o) <{operandSegmentSizes = array<i32: 1, 2, 0, 1>}> : (!rows, index, index, f32) -> tensor<16x64xf16>
  return
}
