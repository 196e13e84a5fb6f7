// Parameters become numbers in types and computations; the kernel keeps their values.
//
// RUN: tile-opt %s -tile-attach-target=chip=sm_80 -tile-close-extents | FileCheck %s
// RUN: tile-opt %s -tile-attach-target=chip=sm_80 -tile-apply-schedule='schedule="@open: params = {BN = 32}, warps = 2"' \
// RUN:   -tile-close-extents | FileCheck %s --check-prefix=OPTION
// RUN: tile-opt %s -tile-attach-target=chip=sm_80 -tile-close-extents='sizes="arg0 = 100000x4096"' | FileCheck %s --check-prefix=SIZES
//
// A program without parameters remains, also one that had some.
// RUN: tile-opt %s -tile-attach-target=chip=sm_80 -tile-close-extents > %t.mlir
// RUN: tile-opt %t.mlir -tile-close-extents | cmp - %t.mlir

!b = !tile.buffer<?x?xf32, #tile.strided<[?, 1]>, global>

// CHECK-LABEL: tile.kernel @open(
// CHECK-SAME: attributes {extents = {BM = 64 : i64, BN = 128 : i64}, num_warps = 4 : i32, schedule = #tile.schedule<stages = 2>}
// CHECK: %[[BM:.*]] = arith.constant 64 : index
// CHECK: %[[BN:.*]] = arith.constant 128 : index
// CHECK: tile.grid %[[BM]], %[[BN]], %[[BM]]
// CHECK: tensor.splat %{{.*}} : tensor<64x128xf32>
// CHECK: scf.for {{.*}} step %[[BM]] iter_args(%{{.*}}) -> (tensor<64x128xf32>)
// CHECK: tile.load {{.*}} -> tensor<64x128xf32>
// CHECK: tile.reduce addf {{.*}} : tensor<64x128xf32> -> tensor<64xf32>
// CHECK: tile.scan addf {{.*}} along 0 : tensor<64x128xf32>
// CHECK-NOT: tile.open
// OPTION-LABEL: tile.kernel @open(
// OPTION-SAME: extents = {BM = 64 : i64, BN = 32 : i64}, num_warps = 2 : i32
// OPTION: scf.for {{.*}} -> (tensor<64x32xf32>)
tile.kernel @open(%b: !b) attributes {num_warps = 4 : i32,
    schedule = #tile.schedule<stages = 2, params = {BM = 64, BN = 128}>} {
  %bm = tile.param BM in [32, 64]
  %bn = tile.param BN in [32, 128]
  %c0 = arith.constant 0 : index
  %rows = tile.dim %b[0] : !b
  tile.grid %bm, %bn, %bm
  %f0 = arith.constant 0.0 : f32
  %zero = tensor.splat %f0[%bm, %bn] : tensor<?x?xf32, #tile.open<BM, BN>>
  %all = scf.for %i = %c0 to %rows step %bm iter_args(%acc = %zero) -> (tensor<?x?xf32, #tile.open<BM, BN>>) {
    %t = tile.load %b[%i, %c0] : !b -> tensor<?x?xf32, #tile.open<BM, BN>>
    %sum = arith.addf %t, %acc : tensor<?x?xf32, #tile.open<BM, BN>>
    scf.yield %sum : tensor<?x?xf32, #tile.open<BM, BN>>
  }
  %r = tile.reduce addf %all along 1 : tensor<?x?xf32, #tile.open<BM, BN>> -> tensor<?xf32, #tile.open<BM>>
  %w = tile.broadcast %r along 1 : tensor<?xf32, #tile.open<BM>> -> tensor<?x?xf32, #tile.open<BM, BN>>
  %p = tile.scan addf %w along 0 : tensor<?x?xf32, #tile.open<BM, BN>>
  tile.store %p, %b[%c0, %c0] : tensor<?x?xf32, #tile.open<BM, BN>>, !b
}

// CHECK-LABEL: tile.kernel @closed(
// CHECK-SAME: attributes {num_warps = 2 : i32}
// CHECK: tensor<16x16xf32>
tile.kernel @closed(%b: !b) attributes {num_warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.load %b[%c0, %c0] : !b -> tensor<16x16xf32>
  tile.store %t, %b[%c0, %c0] : tensor<16x16xf32>, !b
}

// A tile of 256 x 256 elements would give a thread 2048 of them, which
// tile-check-registers refuses.
!square = tensor<?x?xf32, #tile.open<BM, BM>>
// CHECK-LABEL: tile.kernel @most_elements
// CHECK-SAME: extents = {BM = 128 : i64}
// With sizes, the kernel keeps the blocks for each of the 108 multiprocessors: 782 * 32
// in all.
// SIZES-LABEL: tile.kernel @most_elements
// SIZES-SAME: extents = {BM = 128 : i64}, grid_blocks = 232 : i64
tile.kernel @most_elements(%b: !b) attributes {num_warps = 1 : i32} {
  %bm = tile.param BM in [128, 256]
  %c1 = arith.constant 1 : index
  %m = tile.dim %b[0] : !b
  %n = tile.dim %b[1] : !b
  %rows = arith.ceildivui %m, %bm : index
  %columns = arith.ceildivui %n, %bm : index
  tile.grid %rows, %columns, %c1
  %x = tile.program_id x
  %y = tile.program_id y
  %row = arith.muli %x, %bm : index
  %column = arith.muli %y, %bm : index
  %zero = arith.constant 0.0 : f32
  %t = tensor.splat %zero[%bm, %bm] : !square
  tile.store %t, %b[%row, %column] : !square, !b
}
