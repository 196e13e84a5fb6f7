// RUN: tile-opt %s -split-input-file -verify-diagnostics

// expected-error@+1 {{buffer elements must be f16, bf16, f32, f64, i8, i32 or i64, got 'i16'}}
func.func private @element(!tile.buffer<8xi16, #tile.strided<[1]>, global>)

// -----

// Operations give integers a sign, types do not.
// expected-error@+1 {{buffer elements must be f16, bf16, f32, f64, i8, i32 or i64, got 'ui32'}}
func.func private @unsigned(!tile.buffer<8xui32, #tile.strided<[1]>, global>)

// -----

// expected-error@+1 {{buffer elements must be f16, bf16, f32, f64, i8, i32 or i64, got 'si8'}}
func.func private @signed(!tile.buffer<8xsi8, #tile.strided<[1]>, global>)

// -----

// expected-error@+1 {{a buffer needs at least one dimension}}
func.func private @scalar(!tile.buffer<f32, #tile.strided<[]>, global>)

// -----

// expected-error@+1 {{buffer extents must lie in 1 .. 2^31 - 1, got 0}}
func.func private @extent(!tile.buffer<0x8xf32, #tile.strided<[8, 1]>, global>)

// -----

// expected-error@+1 {{buffer extents must lie in 1 .. 2^31 - 1, got 2147483648}}
func.func private @large_extent(!tile.buffer<2147483648x8xf32, #tile.strided<[8, 1]>, global>)

// -----

// expected-error@+1 {{expected a layout attribute}}
func.func private @not_a_layout(!tile.buffer<8xf32, 4, global>)

// -----

// expected-error@+1 {{#tile.blocked<thread = [1], lane = [32], warp = [1], order = [0]> is not a memory layout}}
func.func private @not_memory(!tile.buffer<32xf32, #tile.blocked<thread = [1], lane = [32], warp = [1], order = [0]>, shared>)

// -----

// expected-error@+1 {{expected 'global' or 'shared'}}
func.func private @space(!tile.buffer<8xf32, #tile.strided<[1]>, local>)

// -----

// expected-error@+1 {{the alignment 2 is less than the 4 bytes of an element}}
func.func private @element_alignment(!tile.buffer<8xf32, #tile.strided<[1], align = 2>, global>)

// -----

// expected-error@+1 {{a shared buffer must have a static shape}}
func.func private @dynamic_shared(!tile.buffer<?x64xf16, #tile.swizzle<128>, shared>)

// -----

// expected-error@+1 {{a tile has at most 1048576 elements}}
func.func private @large_shared(!tile.buffer<1048576x64xf16, #tile.swizzle<128>, shared>)

// -----

// expected-error@+1 {{a global buffer must have a #tile.strided or a #tile.map layout}}
func.func private @global_layout(!tile.buffer<64x64xf16, #tile.swizzle<128>, global>)

// -----

// expected-error@+1 {{#tile.strided<[1]> has 1 strides for 2 dimensions}}
func.func private @rank(!tile.buffer<64x64xf16, #tile.strided<[1]>, global>)

// -----

// expected-error@+1 {{the offsets of the elements exceed 64 bits}}
func.func private @offsets(!tile.buffer<8x2147483647x2147483647x2147483647xf16, #tile.strided<[1099511627776, 1099511627776, 1099511627776, 1099511627776]>, global>)

// -----

// expected-error@+1 {{the layout has more than 1099511627776 indices}}
func.func private @indices(!tile.buffer<2147483647x2147483647xf16, #tile.strided<[0, 1]>, global>)

// -----

// expected-error@+1 {{#tile.strided<[3, 1]> stores the elements (0, 3) and (1, 0) at one offset}}
func.func private @shared_offsets(!tile.buffer<4x4xf32, #tile.strided<[3, 1]>, shared>)

// -----

// expected-error@+1 {{#tile.strided<[?, 1]> has a dynamic stride; shared memory needs static ones}}
func.func private @shared_stride(!tile.buffer<4x4xf32, #tile.strided<[?, 1]>, shared>)
