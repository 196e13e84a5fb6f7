// Each row of 15 elements is read behind a check of its own, and each element
// is a phi with a zero. InstCombine widens these phis to all elements of a row,
// and LLVM's back end makes a phi of each of them: a program with 961 elements
// of a thread took more than two minutes.
// RUN: tile-translate --tile-to-llvmir --chip=gfx942 %s -o - | FileCheck %s
// CHECK-NOT: phi <15 x half>
// CHECK: phi <1 x half>
// CHECK-NOT: phi <15 x half>

tile.kernel @rows(
    %a: !tile.buffer<?x15xf16, #tile.strided<[?, 1]>, global>,
    %o: !tile.buffer<15xf16, #tile.strided<[1]>, global>)
    attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %v = tile.load %a[%c0, %c0] : !tile.buffer<?x15xf16, #tile.strided<[?, 1]>, global> -> tensor<15x15xf16, #tile.layout<register = [15 -> d0, 15 -> d1], lane = [64 -> 0], warp = []>>
  %s = tile.reduce mulf %v along 0 : tensor<15x15xf16, #tile.layout<register = [15 -> d0, 15 -> d1], lane = [64 -> 0], warp = []>> -> tensor<15xf16, #tile.slice<0, #tile.layout<register = [15 -> d0, 15 -> d1], lane = [64 -> 0], warp = []>>>
  tile.store %s, %o[%c0] : tensor<15xf16, #tile.slice<0, #tile.layout<register = [15 -> d0, 15 -> d1], lane = [64 -> 0], warp = []>>>, !tile.buffer<15xf16, #tile.strided<[1]>, global>
}
