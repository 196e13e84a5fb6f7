// RUN: tile-opt %s | tile-opt | FileCheck %s

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!p = !tile.buffer<?x?x64xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!tile = !tile.buffer<128x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>

// CHECK-LABEL: tile.kernel @roles
tile.kernel @roles(%q: !q, %p: !p) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !tile
  %full = tile.alloc : !bars
  // CHECK: tile.init_barriers %{{.*}}, 1 : !tile.buffer<2xi64
  tile.init_barriers %full, 1 : !bars
  tile.barrier
  // CHECK: tile.warp_roles warps = [8, 4] registers = [240, 24] {
  tile.warp_roles warps = [8, 4] registers = [240, 24] {
    // CHECK: tile.wait_barrier %{{.*}}[%{{.*}}] phase %{{.*}} : !tile.buffer<2xi64
    tile.wait_barrier %full[%c0] phase %c0 : !bars
    // CHECK: tile.arrive_barrier %{{.*}}[%{{.*}}] : !tile.buffer<2xi64
    tile.arrive_barrier %full[%c1] : !bars
    // CHECK: tile.await_turn
    tile.await_turn
    // CHECK: tile.pass_turn
    tile.pass_turn
  // CHECK: }, {
  }, {
    // CHECK: tile.bulk_copy %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] dims [1, 3], %{{.*}}, %{{.*}}[%{{.*}}] : !tile.buffer<?x?x?x64xf16
    tile.bulk_copy %q[%c0, %c0, %c0, %c0] dims [1, 3], %t, %full[%c0] : !q, !tile, !bars
    // CHECK: tile.bulk_copy %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] dims [0, 2] within %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}[%{{.*}}] : !tile.buffer<?x?x64xf16
    tile.bulk_copy %p[%c0, %c0, %c0] dims [0, 2] within %c1, %c0, %t, %full[%c0] : !p, !tile, !bars
  }
}
