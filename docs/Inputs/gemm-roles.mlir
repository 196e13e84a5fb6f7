// The matrix product of gemm.mlir for sm_90a, with its layouts, warp roles, rings and
// products in flight written by hand. docs/Dialects/Gemm.md explains this program.

!matrix = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>

// Tiles of A and B go through rings of 3 slots in shared memory.
!a = !tile.buffer<128x64xf16, #tile.swizzle<128>, shared>
!b = !tile.buffer<64x256xf16, #tile.swizzle<128>, shared>
!ring_a = !tile.ring<!a, 3>
!ring_b = !tile.ring<!b, 3>
!mbarriers = !tile.buffer<3xi64, #tile.padded<0, order = [0]>, shared>

// Each of the 8 consumer warps holds 16 rows of the accumulator, 128 registers a thread.
#mma = #tile.mma<"wgmma.m64k16.f16", warps = [8, 1]>
!acc = tensor<128x256xf32, #mma>
!pending = !tile.pending<!acc>

// The tile of C leaves through a buffer in shared memory.
!rounded = tensor<128x256xf16, #mma>
!c = !tile.buffer<128x256xf16, #tile.swizzle<128>, shared>

tile.kernel @gemm(%a: !matrix, %b: !matrix, %c: !matrix) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index

  // A is M x K, B is K x N, C is M x N.
  %m = tile.dim %a[0] : !matrix
  %k = tile.dim %a[1] : !matrix
  %n = tile.dim %b[1] : !matrix
  %row_blocks = arith.ceildivui %m, %c128 : index
  %column_blocks = arith.ceildivui %n, %c256 : index
  tile.grid %row_blocks, %column_blocks, %c1
  tile.require %a[1] at_least %c1, "the first product" : !matrix
  tile.require %b[0] equal %k, "the columns of a" : !matrix
  tile.require %c[0] equal %m, "the rows of a" : !matrix
  tile.require %c[1] equal %n, "the columns of b" : !matrix

  // Rings: the slots, and two mbarriers for each slot.
  %a_slots = tile.alloc : !tile.buffer<3x128x64xf16, #tile.swizzle<128>, shared>
  %a_full = tile.alloc : !mbarriers
  %a_empty = tile.alloc : !mbarriers
  %ring_a = tile.ring.create %a_slots, %a_full, %a_empty : !ring_a
  %b_slots = tile.alloc : !tile.buffer<3x64x256xf16, #tile.swizzle<128>, shared>
  %b_full = tile.alloc : !mbarriers
  %b_empty = tile.alloc : !mbarriers
  %ring_b = tile.ring.create %b_slots, %b_full, %b_empty : !ring_b
  %staging = tile.alloc : !c

  tile.warp_roles warps = [8, 4] registers = [232, 40] {
    // Consumers: one product is in flight from an iteration to the next one.
    %zero = arith.constant dense<0.0> : !acc
    %a0, %a0_slot = tile.ring.take %ring_a : !ring_a
    %b0, %b0_slot = tile.ring.take %ring_b : !ring_b
    %first = tile.dot async %a0, %b0, %zero : !a, !b -> !pending
    %last, %a_last, %b_last = scf.for %i = %c64 to %k step %c64
        iter_args(%before = %first, %a_before = %a0_slot, %b_before = %b0_slot)
        -> (!pending, !tile.slot, !tile.slot) {
      %at, %a_slot = tile.ring.take %ring_a : !ring_a
      %bt, %b_slot = tile.ring.take %ring_b : !ring_b
      %next = tile.dot async %at, %bt, %before : !a, !b, !pending -> !pending
      %done = tile.await %before : !pending
      tile.ring.release %a_before
      tile.ring.release %b_before
      scf.yield %next, %a_slot, %b_slot : !pending, !tile.slot, !tile.slot
    }
    %sum = tile.await %last : !pending
    tile.ring.release %a_last
    tile.ring.release %b_last

    // Each warp stores its own 16 rows by TMA.
    %rounded = arith.truncf %sum : !acc to !rounded
    tile.store %rounded, %staging[%c0, %c0] : !rounded, !c
    tile.fence_async
    %x = tile.program_id x
    %y = tile.program_id y
    %row = arith.muli %x, %c128 : index
    %column = arith.muli %y, %c256 : index
    tile.bulk_store %staging, %c[%row, %column] dims [0, 1] parts [8, 1] : !c, !matrix
    tile.bulk_wait 0
  }, {
    // Producer: one thread issues the TMA copies.
    %x = tile.program_id x
    %y = tile.program_id y
    %row = arith.muli %x, %c128 : index
    %column = arith.muli %y, %c256 : index
    scf.for %i = %c0 to %k step %c64 {
      %at, %a_slot = tile.ring.acquire %ring_a : !ring_a
      tile.bulk_copy %a[%row, %i] dims [0, 1], %at fills %a_slot : !matrix, !a
      %bt, %b_slot = tile.ring.acquire %ring_b : !ring_b
      tile.bulk_copy %b[%i, %column] dims [0, 1], %bt fills %b_slot : !matrix, !b
    }
  }
}
