// RUN: tile-opt %s -split-input-file -verify-diagnostics

!o = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.padded<8, order = [1, 0]>, shared>

tile.kernel @k(%o: !o) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !tile
  // expected-error @below {{'tile.bulk_store' op has no tensor map: the tile is not stored as boxes of up to 256 rows of a swizzle's width}}
  tile.bulk_store %t, %o[%c0, %c0] dims [0, 1] : !tile, !o
}

// -----

!o = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>

tile.kernel @k(%o: !o) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !tile
  // expected-error @below {{'tile.bulk_store' op has 2 x 1 parts, of which each warp of the first role stores one; there are 4 here}}
  tile.bulk_store %t, %o[%c0, %c0] dims [0, 1] parts [2, 1] : !tile, !o
}

// -----

!o = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>

tile.kernel @k(%o: !o) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !tile
  // expected-error @below {{'tile.bulk_store' op cuts boxes of 64 x 64 elements, 1 side by side, into 2 x 2 parts; each begins at a multiple of 128 bytes}}
  tile.bulk_store %t, %o[%c0, %c0] dims [0, 1] parts [2, 2] : !tile, !o
}

// -----

!o = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>

tile.kernel @k(%o: !o) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !tile
  // expected-error @below {{'tile.bulk_store' op divides a tile of two dimensions into parts along both, got '!tile.buffer<64x64xf16, #tile.swizzle<128>, shared>' and 4}}
  tile.bulk_store %t, %o[%c0, %c0] dims [0, 1] parts [4] : !tile, !o
}

// -----

!o = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>

tile.kernel @k(%o: !o) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !tile
  tile.warp_roles warps = [4, 4] {
    %a = arith.constant 0 : i32
  }, {
    // expected-error @below {{'tile.bulk_store' op has 4 x 1 parts, of which each warp of the first role stores one; there are 1 here}}
    tile.bulk_store %t, %o[%c0, %c0] dims [0, 1] parts [4, 1] : !tile, !o
  }
}

// -----

!o = !tile.buffer<?x64xi32, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xi32, #tile.swizzle<128>, shared>

tile.kernel @k(%o: !o) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !tile
  // expected-error @below {{'tile.bulk_reduce' op adds elements of f16, bf16 or f32, got 'i32'}}
  tile.bulk_reduce add %t, %o[%c0, %c0] dims [0, 1] : !tile, !o
}

// -----

!o = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>

tile.kernel @k(%o: !o) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !tile
  // expected-error @below {{'tile.bulk_store' op has 1 indices for a buffer of rank 2}}
  tile.bulk_store %t, %o[%c0] dims [0, 1] : !tile, !o
}

// -----

!o = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>

tile.kernel @k(%o: !o) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !tile
  %s = tile.alloc : !tile
  // expected-error @below {{'tile.bulk_store' op stores to an argument of the kernel}}
  tile.bulk_store %t, %s[%c0, %c0] dims [0, 1] : !tile, !tile
}

// -----

!o = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>

tile.kernel @k(%o: !o) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !tile
  // expected-error @below {{'tile.bulk_prefetch' op dimension 2 does not exist in a buffer of rank 2}}
  tile.bulk_prefetch %o[%c0, %c0] dims [0, 2] as !tile : !o
}

// -----

!c = !tile.buffer<128x64xf32, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf32, #tile.padded<0, order = [1, 0]>, shared>
tile.kernel @add_from_memory(%c: !c) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  // expected-error @below {{'tile.bulk_add' op adds a shared buffer to a global one}}
  tile.bulk_add %c, %c[%c0, %c0] : !c, !c
}

// -----

!c = !tile.buffer<128x64xf16, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf32, #tile.padded<0, order = [1, 0]>, shared>
tile.kernel @add_elements(%c: !c) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %t = tile.alloc : !tile
  // expected-error @below {{'tile.bulk_add' op adds float elements to those of the same type, got 'f32' and 'f16'}}
  tile.bulk_add %t, %c[%c0, %c0] : !tile, !c
}

// -----

!c = !tile.buffer<128x64xf32, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf32, #tile.padded<0, order = [1, 0]>, shared>
tile.kernel @add_rank(%c: !c) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %t = tile.alloc : !tile
  // expected-error @below {{'tile.bulk_add' op adds a tile of rank 2 at 1 indices to a buffer of rank 2}}
  tile.bulk_add %t, %c[%c0] : !tile, !c
}

// -----

!c = !tile.buffer<128x64xf32, #tile.strided<[64, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf32, #tile.padded<0, order = [1, 0]>, shared>
tile.kernel @add_by_all(%c: !c) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %t = tile.alloc : !tile
  // expected-error @below {{'tile.bulk_add' op needs a role of one thread, which is any role but the first}}
  tile.bulk_add %t, %c[%c0, %c0] : !tile, !c
}

// -----

!x = !tile.buffer<?x?xf32, #tile.strided<[?:4, 1], align = 16>, global>
!row = !tile.buffer<64xf32, #tile.padded<0, order = [0]>, shared>
tile.kernel @reduce_within(%x: !x) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %t = tile.alloc : !row
  // expected-error @below {{'tile.bulk_reduce' op has no tensor map: the end of one sequence is no multiple of 16 bytes, and neighbours past it are those of the next}}
  tile.bulk_reduce add %t, %x[%c0, %c0] dims [1] within %c0, %c0 : !row, !x
}

// -----

!pages = !tile.buffer<?x4x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!table = !tile.buffer<?xi32, #tile.strided<[1]>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
tile.kernel @small_pages(%k: !pages, %t: !table) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %tile = tile.alloc : !tile
  %bars = tile.alloc : !bars
  // expected-error @below {{'tile.bulk_copy' op has no tensor map: no multiple of 8 rows divides both a page and the tile}}
  tile.bulk_copy %k[%c0, %c0, %c0, %c0] dims [1, 3] within %c0, %c0 pages along 0 by %t, %tile, %bars[%c0]
      : !pages, !tile by !table, !bars
}

// -----

!pages = !tile.buffer<?x16x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!table = !tile.buffer<?xi32, #tile.strided<[1]>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
tile.kernel @pages_without_range(%k: !pages, %t: !table) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %tile = tile.alloc : !tile
  %bars = tile.alloc : !bars
  // expected-error @below {{'tile.bulk_copy' op needs a table, the dimension of the pages and a range of rows together}}
  tile.bulk_copy %k[%c0, %c0, %c0, %c0] dims [1, 3] pages along 0 by %t, %tile, %bars[%c0]
      : !pages, !tile by !table, !bars
}

// -----

!pages = !tile.buffer<?x16x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!table = !tile.buffer<?xi32, #tile.strided<[1]>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
tile.kernel @pages_along_rows(%k: !pages, %t: !table) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %tile = tile.alloc : !tile
  %bars = tile.alloc : !bars
  // expected-error @below {{'tile.bulk_copy' op has no pages along dimension 1 of '!tile.buffer<?x16x?x64xf16}}
  tile.bulk_copy %k[%c0, %c0, %c0, %c0] dims [1, 3] within %c0, %c0 pages along 1 by %t, %tile, %bars[%c0]
      : !pages, !tile by !table, !bars
}
