// RUN: tile-opt %s -split-input-file -verify-diagnostics

// Checks of every tile with a layout.
// expected-error@+1 {{a tile with the layout #tile.blocked<thread = [1, 1], lane = [8, 4], warp = [1, 1], order = [1, 0]> needs integer or float elements of 8, 16, 32 or 64 bits, or i1, got 'index'}}
func.func private @element(tensor<8x8xindex, #tile.blocked<thread = [1, 1], lane = [8, 4], warp = [1, 1], order = [1, 0]>>)

// -----
// expected-error@+1 {{a tile with the layout #tile.padded<0, order = [1, 0]> needs integer or float elements of 8, 16, 32 or 64 bits, got 'i1'}}
func.func private @mask_in_memory(tensor<8x8xi1, #tile.padded<0, order = [1, 0]>>)

// -----
// expected-error@+1 {{a tile needs at least one dimension}}
func.func private @rank(tensor<f32, #tile.blocked<thread = [1], lane = [32], warp = [1], order = [0]>>)

// -----
// expected-error@+1 {{a tile needs a static shape}}
func.func private @dynamic(tensor<?x8xf32, #tile.padded<0, order = [1, 0]>>)

// -----
// expected-error@+1 {{extents must be positive, got 0}}
func.func private @empty(tensor<0x8xf32, #tile.padded<0, order = [1, 0]>>)

// -----
// expected-error@+1 {{a tile has at most 1048576 elements}}
func.func private @large(tensor<1048576x2xf32, #tile.padded<0, order = [1, 0]>>)

// -----

// Generic layouts (#tile.layout).
// expected-error@+1 {{digit 0 -> d0 * 1 is out of range: extents lie in 1 .. 2^20, dimensions in 0 .. 15, strides in 0 .. 2^20}}
func.func private @extent(tensor<8xf32, #tile.layout<register = [0 -> d0], lane = [], warp = []>>)

// -----
// expected-error@+1 {{digit 2 -> d0 * 1048577 is out of range: extents lie in 1 .. 2^20, dimensions in 0 .. 15, strides in 0 .. 2^20}}
func.func private @stride(tensor<8xf32, #tile.layout<register = [2 -> d0 * 1048577], lane = [], warp = []>>)

// -----
// expected-error@+1 {{digit 2 -> d16 * 1 is out of range: extents lie in 1 .. 2^20, dimensions in 0 .. 15, strides in 0 .. 2^20}}
func.func private @dimension(tensor<8xf32, #tile.layout<register = [2 -> d16], lane = [], warp = []>>)

// -----
// expected-error@+1 {{expected '0' or a dimension such as 'd1'}}
func.func private @copy(tensor<8xf32, #tile.layout<register = [2 -> 1], lane = [], warp = []>>)

// -----
// expected-error@+1 {{expected a dimension such as 'd1'}}
func.func private @dimension_name(tensor<8xf32, #tile.layout<register = [2 -> x], lane = [], warp = []>>)

// -----
// expected-error@+1 {{expected 'lane'}}
func.func private @axis_name(tensor<8xf32, #tile.layout<register = [], lanes = [], warp = []>>)

// -----
// expected-error@+1 {{digit 0 (8 -> d1) of axis register names dimension 1, but there are 1}}
func.func private @no_dimension(tensor<8xf32, #tile.layout<register = [8 -> d1], lane = [], warp = []>>)

// -----
// expected-error@+1 {{index (7, 0, 0) has the coordinate 14 in dimension 0, which has the extent 8}}
func.func private @outside(tensor<8xf32, #tile.layout<register = [8 -> d0 * 2], lane = [], warp = []>>)

// -----
// expected-error@+1 {{#tile.layout<register = [4 -> d0], lane = [], warp = []> leaves elements of the tile without an owner}}
func.func private @not_covered(tensor<8xf32, #tile.layout<register = [4 -> d0], lane = [], warp = []>>)

// -----
// expected-error@+1 {{#tile.layout<register = [4 -> d0], lane = [4 -> d0], warp = []> gives one element to both register 1 of lane 0, warp 0 and register 0 of lane 1, warp 0; copies are written as digits '-> 0'}}
func.func private @twice(tensor<7xf32, #tile.layout<register = [4 -> d0], lane = [4 -> d0], warp = []>>)

// -----
// expected-error@+1 {{axis lane has more than 1048576 values}}
func.func private @too_many_lanes(tensor<1x1xf32, #tile.blocked<thread = [1, 1], lane = [4096, 4096], warp = [1, 1], order = [1, 0]>>)

// -----

// Blocked layouts.
// expected-error@+1 {{thread, lane, warp and order must have the same number of entries, one per dimension}}
func.func private @ranks(tensor<8x8xf32, #tile.blocked<thread = [1], lane = [8, 4], warp = [1, 1], order = [1, 0]>>)

// -----
// expected-error@+1 {{counts must lie in 1 .. 4096, got 0}}
func.func private @no_count(tensor<8x8xf32, #tile.blocked<thread = [1, 0], lane = [8, 4], warp = [1, 1], order = [1, 0]>>)

// -----
// expected-error@+1 {{order [1, 1] is not a permutation of its dimensions}}
func.func private @order(tensor<8x8xf32, #tile.blocked<thread = [1, 1], lane = [8, 4], warp = [1, 1], order = [1, 1]>>)

// -----
// expected-error@+1 {{#tile.blocked<thread = [1, 1], lane = [8, 4], warp = [1, 1], order = [1, 0]> is a layout of rank 2, but the tile has rank 1}}
func.func private @rank_of_tile(tensor<8xf32, #tile.blocked<thread = [1, 1], lane = [8, 4], warp = [1, 1], order = [1, 0]>>)

// -----
// expected-error@+1 {{#tile.blocked<thread = [1, 1], lane = [8, 4], warp = [1, 1], order = [1, 0]> covers 4 elements along dimension 1, which neither divides nor is divided by the tile's 9}}
func.func private @indivisible(tensor<8x9xf32, #tile.blocked<thread = [1, 1], lane = [8, 4], warp = [1, 1], order = [1, 0]>>)

// -----
// expected-error@+1 {{#tile.blocked<thread = [1], lane = [12], warp = [2], order = [0]> cannot wrap its 12 values along dimension 0 after 8}}
func.func private @wrap(tensor<8xf32, #tile.blocked<thread = [1], lane = [12], warp = [2], order = [0]>>)

// -----

// Matrix instructions.
// expected-error@+1 {{unknown matrix instruction "mma.m16n8k8.f16"}}
func.func private @instruction(tensor<16x8xf32, #tile.mma<"mma.m16n8k8.f16", warps = [1, 1]>>)

// -----
// expected-error@+1 {{warps must be two counts in 1 .. 64}}
func.func private @warps(tensor<16x8xf32, #tile.mma<"mma.m16n8k16.f16", warps = [1]>>)

// -----
// expected-error@+1 {{warps must be two counts in 1 .. 64}}
func.func private @no_warps(tensor<16x8xf32, #tile.mma<"mma.m16n8k16.f16", warps = [0, 1]>>)

// -----
// expected-error@+1 {{"mma.m16n8k16.f16" is not square (16x8), so it cannot be transposed}}
func.func private @not_square(tensor<8x16xf32, #tile.mma<"mma.m16n8k16.f16", warps = [1, 1], transposed>>)

// -----
// expected-error@+1 {{#tile.mma<"mma.m16n8k16.f16", warps = [1, 1]> is a layout of rank 2, but the tile has rank 1}}
func.func private @mma_rank(tensor<16xf32, #tile.mma<"mma.m16n8k16.f16", warps = [1, 1]>>)

// -----
// expected-error@+1 {{#tile.mma<"mma.m16n8k16.f16", warps = [4, 1]> covers 64 elements along dimension 0, which neither divides nor is divided by the tile's 48}}
func.func private @mma_extent(tensor<48x8xf32, #tile.mma<"mma.m16n8k16.f16", warps = [4, 1]>>)

// -----
// expected-error@+1 {{dot operand index must be 0 or 1, got 2}}
func.func private @operand_index(tensor<16x16xf16, #tile.dot_operand<2, <"mma.m16n8k16.f16", warps = [1, 1]>>>)

// -----
// expected-error@+1 {{#tile.dot_operand<0, <"mma.m16n8k16.f16", warps = [1, 1]>> covers 16 elements along dimension 1, which neither divides nor is divided by the tile's 24}}
func.func private @operand_extent(tensor<16x24xf16, #tile.dot_operand<0, <"mma.m16n8k16.f16", warps = [1, 1]>>>)

// -----

// Slices and permutations.
// expected-error@+1 {{only distributed layouts can be sliced}}
func.func private @slice_of_memory(tensor<64xf16, #tile.slice<0, #tile.swizzle<128>>>)

// -----
// expected-error@+1 {{slice dimension 2 exceeds the rank of the tile plus one}}
func.func private @slice_dimension(tensor<16xf32, #tile.slice<2, #tile.mma<"mma.m16n8k16.f16", warps = [1, 1]>>>)

// -----
// expected-error@+1 {{#tile.mma<"mma.m16n8k16.f16", warps = [1, 1]> covers 16 elements along dimension 0, which neither divides nor is divided by the tile's 24}}
func.func private @slice_of_parent(tensor<24xf32, #tile.slice<1, #tile.mma<"mma.m16n8k16.f16", warps = [1, 1]>>>)

// -----
// expected-error@+1 {{order [0, 2] is not a permutation of its dimensions}}
func.func private @permute_order(tensor<64x64xf16, #tile.permute<[0, 2], #tile.swizzle<128>>>)

// -----
// expected-error@+1 {{#tile.permute<[0], #tile.swizzle<128>> is a layout of rank 1, but the tile has rank 2}}
func.func private @permute_rank(tensor<64x64xf16, #tile.permute<[0], #tile.swizzle<128>>>)

// -----
// expected-error@+1 {{rows of 32 bytes are no multiple of the 128-byte swizzle}}
func.func private @permute_of_parent(tensor<16x64xf16, #tile.permute<[1, 0], #tile.swizzle<128>>>)

// -----

// Memory layouts.
// expected-error@+1 {{the swizzle must be 32, 64 or 128 bytes, got 16}}
func.func private @swizzle_bytes(tensor<64x64xf16, #tile.swizzle<16>>)

// -----
// expected-error@+1 {{the swizzle must be 32, 64 or 128 bytes, got 256}}
func.func private @swizzle_of_32_banks(tensor<64x128xf16, #tile.swizzle<256>>)

// -----
// expected-error@+1 {{the swizzle is for 32 or 64 banks, got 16}}
func.func private @swizzle_banks(tensor<64x64xf16, #tile.swizzle<64, banks = 16>>)

// -----
// expected-error@+1 {{the swizzle moves chunks of 8 or 16 bytes, got 4}}
func.func private @swizzle_chunk(tensor<64x64xf16, #tile.swizzle<64, chunk = 4>>)

// -----
// expected-error@+1 {{a swizzled layout needs rank 2 or more and elements of 1 to 8 bytes}}
func.func private @swizzle_chunk_rank(tensor<64xf16, #tile.swizzle<64, chunk = 8>>)

// -----
// expected-error@+1 {{rows of 96 bytes are no multiple of the 64-byte swizzle}}
func.func private @swizzle_chunk_rows(tensor<64x48xf16, #tile.swizzle<64, chunk = 8>>)

// -----
// expected-error@+1 {{a swizzled layout needs rank 2 or more and elements of 1 to 16 bytes}}
func.func private @swizzle_rank(tensor<64xf16, #tile.swizzle<128>>)

// -----
// expected-error@+1 {{rows of 64 bytes are no multiple of the 128-byte swizzle}}
func.func private @swizzle_rows(tensor<64x32xf16, #tile.swizzle<128>>)

// -----
// expected-error@+1 {{the padding must lie in 0 .. 4096, got -1}}
func.func private @padding(tensor<64x64xf16, #tile.padded<-1, order = [1, 0]>>)

// -----
// expected-error@+1 {{the padding of a group must lie in 0 .. 4096, got 4097}}
func.func private @group_padding(tensor<64x64xf16, #tile.padded<8, order = [1, 0], group = 8, groupPad = 4097>>)

// -----
// expected-error@+1 {{groups of 1 or more rows with padding are expected, got groups of 8 rows with 0 elements}}
func.func private @group_without_padding(tensor<64x64xf16, #tile.padded<8, order = [1, 0], group = 8, groupPad = 0>>)

// -----
// expected-error@+1 {{groups of rows need an order of two dimensions or more, got 1}}
func.func private @group_of_elements(tensor<64xf16, #tile.padded<8, order = [0], group = 8, groupPad = 4>>)

// -----
// expected-error@+1 {{64 rows are no multiple of the group of 24}}
func.func private @group_rows(tensor<64x64xf16, #tile.padded<8, order = [1, 0], group = 24, groupPad = 4>>)

// -----
// expected-error@+1 {{order [0, 0] is not a permutation of its dimensions}}
func.func private @padded_order(tensor<64x64xf16, #tile.padded<8, order = [0, 0]>>)

// -----
// expected-error@+2 {{expected integer value}}
// expected-error@+1 {{failed to parse Tile_PaddedAttr parameter 'order' which is to be a `::llvm::ArrayRef<int64_t>`}}
func.func private @padded_nothing(tensor<64x64xf16, #tile.padded<8, order = []>>)

// -----
// expected-error@+1 {{a padded layout of 2 dimensions needs a tile of at least that rank}}
func.func private @padded_rank(tensor<64xf16, #tile.padded<8, order = [1, 0]>>)

// -----
// expected-error@+1 {{strides must lie in 0 .. 2^40 and their divisors in 1 .. 2^20}}
func.func private @negative_stride(tensor<4x4xf32, #tile.strided<[-4, 1]>>)

// -----
// expected-error@+1 {{strides must lie in 0 .. 2^40 and their divisors in 1 .. 2^20}}
func.func private @no_divisor(tensor<4x4xf32, #tile.strided<[?:0, 1]>>)

// -----
// expected-error@+1 {{the alignment must be a power of two up to 4096 bytes, got 12}}
func.func private @alignment(tensor<4x4xf32, #tile.strided<[4, 1], align = 12>>)

// -----
// expected-error@+1 {{#tile.strided<[1]> has 1 strides for 2 dimensions}}
func.func private @strides(tensor<4x4xf32, #tile.strided<[1]>>)

// -----
// expected-error@+1 {{#tile.strided<[3, 1]> stores the elements (0, 3) and (1, 0) at one offset}}
func.func private @same_offset(tensor<4x4xf32, #tile.strided<[3, 1]>>)

// -----
// expected-error@+1 {{#tile.strided<[?, 1]> has a dynamic stride; shared memory needs static ones}}
func.func private @dynamic_stride(tensor<4x4xf32, #tile.strided<[?, 1]>>)
