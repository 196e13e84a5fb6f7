// The passes from a tile program to MMAs that read shared memory.
//
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-assign-layouts,cse))' | FileCheck %s --check-prefix=LAYOUT
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-assign-layouts,cse,tile-decompose-conversions,tile-bufferize,tile-plan-shared-memory,tile-insert-barriers))' | FileCheck %s --check-prefix=BUFFER

!g = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!o = !tile.buffer<?x64xf32, #tile.strided<[64, 1], align = 16>, global>
!wide = !tile.buffer<?x128xf16, #tile.strided<[128, 1], align = 16>, global>
!wideout = !tile.buffer<?x128xf32, #tile.strided<[128, 1], align = 16>, global>
!wider = !tile.buffer<?x192xf16, #tile.strided<[192, 1], align = 16>, global>
!widerout = !tile.buffer<?x192xf32, #tile.strided<[192, 1], align = 16>, global>
!numbers = !tile.buffer<?xf32, #tile.strided<[1], align = 16>, global>
!odd = !tile.buffer<?xf32, #tile.strided<[1]>, global>
!g32 = !tile.buffer<?x64xf32, #tile.strided<[64, 1], align = 16>, global>

module attributes {tile.target = "sm_90a"} {

// Operands from global memory stay in shared memory. Computed operands are in
// registers as A, and go to shared memory as B.
// LAYOUT-DAG: #[[MMA:.+]] = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
// LAYOUT-DAG: #[[A:.+]] = #tile.dot_operand<0, #[[MMA]]>
// LAYOUT-LABEL: tile.kernel @products(
// LAYOUT: %[[Q:.+]] = tile.load {{.+}} -> tensor<64x64xf16, #tile.swizzle<128>>
// LAYOUT: %[[K:.+]] = tile.load {{.+}} -> tensor<64x64xf16, #tile.swizzle<128>>
// LAYOUT: %[[KT:.+]] = tile.transpose %[[K]] {{.+}} -> tensor<64x64xf16, #tile.permute<[1, 0], #tile.swizzle<128>>>
// LAYOUT: tile.dot %[[Q]], %[[KT]], %{{.+}} : {{.+}} -> tensor<64x64xf32, #[[MMA]]>
// LAYOUT: %[[PB:.+]] = tile.convert_layout %[[P:.+]] : tensor<64x64xf16, #[[MMA]]> -> tensor<64x64xf16, #tile.swizzle<128>>
// LAYOUT: %[[PA:.+]] = tile.convert_layout %[[P]] : tensor<64x64xf16, #[[MMA]]> -> tensor<64x64xf16, #[[A]]>
// LAYOUT: tile.dot %[[PA]], %[[PB]]

// Shared tiles become buffers that MMAs read; fences come before barriers.
// BUFFER-LABEL: tile.kernel @products(
// BUFFER: tile.fence_async
// BUFFER-NEXT: tile.barrier
// BUFFER: tile.dot %{{.+}}, %{{.+}}, %{{.+}} : !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>, !tile.buffer<64x64xf16, #tile.permute<[1, 0], #tile.swizzle<128>>, shared>
// BUFFER: tile.store %{{.+}}, %[[PB:.+]][
// BUFFER: tile.fence_async
// BUFFER-NEXT: tile.barrier
// BUFFER: tile.dot %{{.+}}, %[[PB]], %{{.+}} : tensor<64x64xf16, #{{.+}}>, !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
tile.kernel @products(%q: !g, %k: !g, %out: !o) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %a = tile.load %q[%c0, %c0] : !g -> tensor<64x64xf16>
  %b = tile.load %k[%c0, %c0] : !g -> tensor<64x64xf16>
  %bt = tile.transpose %b [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %s = tile.dot %a, %bt, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  %p = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
  %r = tile.dot %p, %p, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.store %r, %out[%c0, %c0] : tensor<64x64xf32>, !o
}

// With a pinned instruction or fewer than four warps, mma.sync is used.
// LAYOUT-LABEL: tile.kernel @pinned(
// LAYOUT: tile.dot {{.+}} {instruction = "mma.m16n8k16.f16"}
tile.kernel @pinned(%q: !g, %out: !o) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %a = tile.load %q[%c0, %c0] : !g -> tensor<64x64xf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %s = tile.dot %a, %a, %zero {instruction = "mma.m16n8k16.f16"}
      : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.store %s, %out[%c0, %c0] : tensor<64x64xf32>, !o
}

// LAYOUT-LABEL: tile.kernel @two_warps(
// LAYOUT-COUNT-2: tile.convert_layout %{{.+}} -> tensor<64x64xf16, #dot_{{[ab]}}
// LAYOUT: tile.dot
tile.kernel @two_warps(%q: !g, %out: !o) attributes {num_warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %a = tile.load %q[%c0, %c0] : !g -> tensor<64x64xf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %s = tile.dot %a, %a, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.store %s, %out[%c0, %c0] : tensor<64x64xf32>, !o
}

// An operand A that needs elements of other threads is read from shared memory. With
// 64 rows, each of two warpgroups has half of the columns.
// LAYOUT-LABEL: tile.kernel @transposed(
// LAYOUT: %[[S:.+]] = tile.dot {{.+}} -> tensor<128x64xf32, #[[ROWS:.+]]>
// LAYOUT: %[[P:.+]] = arith.truncf %[[S]]
// LAYOUT: %[[SHARED:.+]] = tile.convert_layout %[[P]] : tensor<128x64xf16, #[[ROWS]]> -> tensor<128x64xf16, #tile.swizzle<128>>
// LAYOUT: %[[T:.+]] = tile.transpose %[[SHARED]] [1, 0] : {{.+}} -> tensor<64x128xf16, #tile.permute<[1, 0], #tile.swizzle<128>>>
// LAYOUT: tile.dot %[[T]], {{.+}} -> tensor<64x128xf32, #[[COLUMNS:.+]]>
tile.kernel @transposed(%q: !wide, %out: !wideout) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %a = tile.load %q[%c0, %c0] : !wide -> tensor<128x128xf16>
  %b = tile.load %q[%c1, %c0] : !wide -> tensor<64x128xf16>
  %bt = tile.transpose %b [1, 0] : tensor<64x128xf16> -> tensor<128x64xf16>
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %s = tile.dot %a, %bt, %zero : tensor<128x128xf16>, tensor<128x64xf16> -> tensor<128x64xf32>
  %p = arith.truncf %s : tensor<128x64xf32> to tensor<128x64xf16>
  %pt = tile.transpose %p [1, 0] : tensor<128x64xf16> -> tensor<64x128xf16>
  %zeros = arith.constant dense<0.0> : tensor<64x128xf32>
  %r = tile.dot %pt, %a, %zeros : tensor<64x128xf16>, tensor<128x128xf16> -> tensor<64x128xf32>
  tile.store %r, %out[%c0, %c0] : tensor<64x128xf32>, !wideout
}

// Two warpgroups share 192 columns: the swizzle is chosen such that 96 columns are
// whole rows of it.
// LAYOUT-LABEL: tile.kernel @shared_columns(
// LAYOUT: tile.load {{.+}} -> tensor<64x64xf16, #tile.swizzle<128>>
// LAYOUT: tile.load {{.+}} -> tensor<64x192xf16, #tile.swizzle<64>>
// LAYOUT: tile.dot {{.+}} -> tensor<64x192xf32, #[[COLUMNS]]>
tile.kernel @shared_columns(%q: !g, %v: !wider, %out: !widerout) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %a = tile.load %q[%c0, %c0] : !g -> tensor<64x64xf16>
  %b = tile.load %v[%c0, %c0] : !wider -> tensor<64x192xf16>
  %zero = arith.constant dense<0.0> : tensor<64x192xf32>
  %r = tile.dot %a, %b, %zero : tensor<64x64xf16>, tensor<64x192xf16> -> tensor<64x192xf32>
  tile.store %r, %out[%c0, %c0] : tensor<64x192xf32>, !widerout
}

// A value per row goes through shared memory in kernels with producer warps. Where TMA
// cannot copy it, the consumers do.
// LAYOUT-LABEL: tile.kernel @rows(
// LAYOUT-COUNT-2: tile.load %{{.+}} -> tensor<64xf32, #tile.padded<0, order = [0]>>
tile.kernel @rows(%q: !g, %x: !numbers, %odd: !odd, %out: !g32) attributes {num_warps = 4 : i32, schedule = #tile.schedule<producers = 4>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %n = tile.dim %x[0] : !numbers
  tile.grid %c1, %c1, %c1
  %k = tile.load %q[%c0, %c0] : !g -> tensor<64x64xf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = scf.for %i = %c0 to %n step %c64 iter_args(%s = %zero) -> tensor<64x64xf32> {
    %a = tile.load %x[%i] : !numbers -> tensor<64xf32>
    %b = tile.load %odd[%i] : !odd -> tensor<64xf32>
    %as = tile.broadcast %a along 0 : tensor<64xf32> -> tensor<64x64xf32>
    %bs = tile.broadcast %b along 0 : tensor<64xf32> -> tensor<64x64xf32>
    %t = arith.addf %as, %bs : tensor<64x64xf32>
    %u = arith.addf %s, %t : tensor<64x64xf32>
    scf.yield %u : tensor<64x64xf32>
  }
  %d = tile.dot %k, %k, %r : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.store %d, %out[%c0, %c0] : tensor<64x64xf32>, !g32
}

// wgmma reads a transposed operand b in its form before the transposition, though
// the tile that the loop carries wants the transposed tile in another layout: 56
// columns of 112 would have no matrix descriptor.
// LAYOUT-LABEL: tile.kernel @transposed_for_others
// LAYOUT: %[[B:.*]] = tile.transpose %{{.*}} [1, 0] : tensor<112x64xf16, #tile.swizzle<128>> -> tensor<64x112xf16, #tile.permute<[1, 0], #tile.swizzle<128>>>
// LAYOUT: tile.dot %{{.*}}, %[[B]],
// LAYOUT: tile.reduce
tile.kernel @transposed_for_others(
    %o: !tile.buffer<?x112xf32, #tile.strided<[112, 1], align = 16>, global>,
    %sums: !tile.buffer<?x?xf16, #tile.strided<[?, 1]>, global>, %n: index) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %half = arith.constant dense<0.5> : tensor<16x112xf16>
  %a = arith.constant dense<1.0> : tensor<64x64xf16>
  %t = arith.constant dense<1.0> : tensor<112x64xf16>
  %b = tile.transpose %t [1, 0] : tensor<112x64xf16> -> tensor<64x112xf16>
  %zero = arith.constant dense<0.0> : tensor<64x112xf32>
  %product = tile.dot %a, %b, %zero : tensor<64x64xf16>, tensor<64x112xf16> -> tensor<64x112xf32>
  %sum = tile.reduce addf %b along 0 : tensor<64x112xf16> -> tensor<112xf16>
  %first = tile.broadcast %sum along 0 : tensor<112xf16> -> tensor<16x112xf16>
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%each = %first) -> (tensor<16x112xf16>) {
    scf.yield %half : tensor<16x112xf16>
  }
  tile.store %product, %o[%c0, %c0] : tensor<64x112xf32>, !tile.buffer<?x112xf32, #tile.strided<[112, 1], align = 16>, global>
  tile.store %last, %sums[%c0, %c0] : tensor<16x112xf16>, !tile.buffer<?x?xf16, #tile.strided<[?, 1]>, global>
}
}
