// All reasons why an access is not wider, with the limiting operand and a witness.
// The ids are stable.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile-vectorize)' \
// RUN:   --remarks-filter='tile-.*' --remark-format=emitRemark 2>&1 >/dev/null | FileCheck %s --implicit-check-not=remark:
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_80},tile-vectorize)' \
// RUN:   --remarks-filter='tile-.*' --remark-format=emitRemark 2>&1 >/dev/null | FileCheck %s --check-prefix=SM80

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 1]>
#rows = #tile.blocked<thread = [1, 4], lane = [8, 4], warp = [1, 1], order = [1, 0]>
#tall = #tile.layout<register = [4 -> d1, 2 -> d0], lane = [16 -> d0 * 2, 2 -> 0], warp = []>

!src = !tile.buffer<16x16xf32, #tile.strided<[16, 1], align = 16>, global>
!plain = !tile.buffer<?x16xf32, #tile.strided<[16, 1], align = 16>, global>
!seed = !tile.buffer<?x16xf32, #tile.map<(l, d) -> (l floordiv 8, d floordiv 8, d mod 2, 4 * (l mod 8) + (d mod 8) floordiv 2), align = 16>, global>
!half = !tile.buffer<?x16xf32, #tile.strided<[16, 1], align = 8>, global>
!ragged = !tile.buffer<?x?xf32, #tile.strided<[16, 1], align = 16>, global>
!one = !tile.buffer<?x16xf32, #tile.strided<[16, 0], align = 16>, global>
!dynamic = !tile.buffer<?x16xf32, #tile.strided<[?, 1], align = 16>, global>
!stepped = !tile.buffer<?x16xf32, #tile.strided<[?, ?], align = 16>, global>
!narrow = !tile.buffer<?x4xf16, #tile.strided<[4, 1], align = 16>, global>
!srcn = !tile.buffer<32x4xf16, #tile.strided<[4, 1], align = 16>, global>
!shared = !tile.buffer<16x16xf32, #tile.padded<4, order = [1, 0]>, shared>

tile.kernel @k(%a: !src {tile.name = "a"}, %n: !srcn {tile.name = "n"},
               %dq: !seed {tile.name = "dq"}, %half: !half {tile.name = "half"},
               %ragged: !ragged {tile.name = "ragged"}, %one: !one {tile.name = "one"},
               %dynamic: !dynamic {tile.name = "dynamic"}, %stepped: !stepped {tile.name = "stepped"},
               %plain: !plain {tile.name = "plain"}, %narrow: !narrow {tile.name = "narrow"},
               %i: index)
    attributes {num_warps = 1 : i32, shared_bytes = 1280 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.grid %c0, %c0, %c0
  %t = tile.load %a[%c0, %c0] : !src -> tensor<16x16xf32, #rows>
  // CHECK: width-remarks.mlir:[[@LINE+1]]:{{.*}} remark: [Missed] width-layout | {{.*}}Reason="width 4 -> 2: %a: elements (0, 1), (0, 8) are 7 apart"
  %f = tile.load %a[%c0, %c0] : !src -> tensor<16x16xf32, #mma>
  // No remark: 4 rows of 4 elements give accesses of 8, which are in bounds.
  %u = tile.load %n[%c0, %c0] : !srcn -> tensor<32x4xf16, #tall>

  // The neighbours of the fragment are not contiguous in this hand-written layout.
  // CHECK: width-remarks.mlir:[[@LINE+3]]:{{.*}} remark: [Missed] width-layout | {{.*}}Reason="width 4 -> 1: %dq: elements (0, 0), (0, 1) are 32 apart"
  // CHECK: remark: [Passed] atomic-width | {{.*}}Reason=nvidia.f32, width=1
  // SM80: width-remarks.mlir:[[@LINE+1]]:{{.*}} remark: [Missed] width-instruction | {{.*}}Reason="width 4 -> 1: sm_80 has no atomic addf of 4 f32"
  tile.atomic_rmw addf %f, %dq[%c0, %c0] : tensor<16x16xf32, #mma>, !seed
  // CHECK: width-remarks.mlir:[[@LINE+2]]:{{.*}} width-alignment | {{.*}}Reason="width 4 -> 2: %half: the base is only known to be aligned to 8 bytes"
  // CHECK: remark: {{.*}}Reason=nvidia.f32x2, width=2
  tile.atomic_rmw addf %t, %half[%c0, %c0] : tensor<16x16xf32, #rows>, !half
  // CHECK: width-remarks.mlir:[[@LINE+3]]:{{.*}} width-start | {{.*}}Reason="width 4 -> 1: %plain: the start along dimension 1 is only known to be a multiple of 1 element"
  // CHECK: remark: [Missed] uncoalesced | {{.*}}Reason="%plain: an access of a warp touches 16 segments of 32 bytes; its elements would fit in 4"
  // CHECK: remark: {{.*}}width=1
  tile.atomic_rmw addf %t, %plain[%c0, %i] : tensor<16x16xf32, #rows>, !plain
  // CHECK: width-remarks.mlir:[[@LINE+3]]:{{.*}} width-layout | {{.*}}Reason="width 4 -> 2: %plain: element (0, 0) is at offset 2, no multiple of 4"
  // CHECK: remark: [Missed] uncoalesced | {{.*}}Reason="%plain: an access of a warp touches 17 segments of 32 bytes; its elements would fit in 8"
  // CHECK: remark: {{.*}}width=2
  tile.atomic_rmw addf %t, %plain[%c0, %c2] : tensor<16x16xf32, #rows>, !plain
  // CHECK: width-remarks.mlir:[[@LINE+2]]:{{.*}} width-start | {{.*}}Reason="width 4 -> 1: %dq: the start along dimension 0 is only known to be a multiple of 1, and the layout repeats every 8"
  // CHECK: remark: {{.*}}width=1
  tile.atomic_rmw addf %t, %dq[%i, %c0] : tensor<16x16xf32, #rows>, !seed
  // CHECK: width-remarks.mlir:[[@LINE+3]]:{{.*}} width-extent | {{.*}}Reason="width 4 -> 1: %ragged: elements (0, 0), (0, 1) may be on both sides of the end of dimension 1"
  // CHECK: remark: [Missed] uncoalesced | {{.*}}Reason="%ragged: an access of a warp touches 16 segments of 32 bytes; its elements would fit in 4"
  // CHECK: remark: {{.*}}width=1
  tile.atomic_rmw addf %t, %ragged[%c0, %c0] : tensor<16x16xf32, #rows>, !ragged
  // CHECK: width-remarks.mlir:[[@LINE+3]]:{{.*}} width-layout | {{.*}}Reason="width 4 -> 1: %one: elements
  // CHECK: remark: [Missed] uncoalesced | {{.*}}Reason="%one: an access of a warp touches 8 segments of 32 bytes; its elements would fit in 1"
  // CHECK: remark: {{.*}}width=1
  tile.atomic_rmw addf %t, %one[%c0, %c0] : tensor<16x16xf32, #rows>, !one
  // CHECK: width-remarks.mlir:[[@LINE+3]]:{{.*}} width-layout | {{.*}}Reason="width 4 -> 1: %dynamic: element ({{[0-9]+}}, 0) is at a dynamic offset, not known to be a multiple of 4"
  // CHECK: remark: [Missed] uncoalesced | {{.*}}Reason="%dynamic: an access of a warp touches 20 segments of 32 bytes; its elements would fit in 4"
  // CHECK: remark: {{.*}}width=1
  tile.atomic_rmw addf %t, %dynamic[%c0, %c0] : tensor<16x16xf32, #rows>, !dynamic
  // CHECK: width-remarks.mlir:[[@LINE+3]]:{{.*}} width-layout | {{.*}}Reason="width 4 -> 1: %stepped: elements (0, 0), (0, 1) are a dynamic distance apart"
  // CHECK: remark: [Missed] uncoalesced | {{.*}}Reason="%stepped: an access of a warp touches 20 segments of 32 bytes; its elements would fit in 3"
  // CHECK: remark: {{.*}}width=1
  tile.atomic_rmw addf %t, %stepped[%c0, %c0] : tensor<16x16xf32, #rows>, !stepped
  // An access of 8 would span two rows, one of which may be out of bounds.
  // CHECK: width-remarks.mlir:[[@LINE+2]]:{{.*}} width-extent | {{.*}}Reason="width 8 -> 4: %narrow: elements (0, 0), (1, 0) may be on both sides of the end of dimension 0"
  // CHECK: remark: {{.*}}Reason=nvidia.f16x4, width=4
  tile.atomic_rmw addf %u, %narrow[%c0, %c0] : tensor<32x4xf16, #tall>, !narrow
  %s = tile.alloc {offset = 0} : !shared
  // CHECK: width-remarks.mlir:[[@LINE+2]]:{{.*}} width-instruction | {{.*}}Reason="width 4 -> 1: sm_90a has no atomic addf of 4 f32 to shared memory"
  // CHECK: remark: {{.*}}width=1
  tile.atomic_rmw addf %t, %s[%c0, %c0] : tensor<16x16xf32, #rows>, !shared
  // CHECK: width-remarks.mlir:[[@LINE+4]]:{{.*}} width-layout | {{.*}}%narrow
  // CHECK: remark: [Missed] uncoalesced | {{.*}}Reason="%narrow: an access of a warp touches 9 segments of 32 bytes; its elements would fit in 1"
  // CHECK: remark: {{.*}}Reason=nvidia.f16, width=1
  // CHECK: remark: [Missed] atomic-loop | {{.*}}Reason="sm_90a has no instruction that combines 1 f16; it compares and swaps in a loop"
  tile.atomic_rmw addf %u, %narrow[%c0, %c1] : tensor<32x4xf16, #tall>, !narrow
}
