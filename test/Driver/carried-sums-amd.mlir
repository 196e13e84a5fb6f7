// Loops that carry 300 sums of 64-bit integers in a thread compile in a second. LLVM's loop
// strength reduction took 20 seconds to look for cheaper sums. The limit is in seconds of
// CPU time.
// RUN: bash -c 'ulimit -t 6; exec tile-translate --tile-to-hsaco --chip=gfx942 --resources %s -o /dev/null' | FileCheck %s
// CHECK: "stack_bytes":

#l = #tile.layout<register = [5 -> d1 * 2, 3 -> d0 * 8, 2 -> d0, 5 -> d1 * 10], lane = [2 -> d1, 16 -> 0, 2 -> d0 * 4], warp = [2 -> d0 * 2]>
!a = !tile.buffer<28x?xi64, #tile.strided<[?, 1]>, global>
!t = tensor<24x50xi64, #l>
tile.kernel @sums(%a: !a, %o: !a, %n: index, %m: index) attributes {num_warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  tile.grid %c1, %c1, %c1
  %x = tile.load %a[%c0, %c0] : !a -> !t
  %thrice = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %x) -> (!t) {
    %sum = arith.addi %s, %x : !t
    scf.yield %sum : !t
  }
  %all = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> (!t) {
    %inner:2 = scf.for %j = %c0 to %m step %c1 iter_args(%p = %thrice, %q = %s) -> (!t, !t) {
      %u = arith.addi %p, %q : !t
      %v = arith.addi %q, %p : !t
      scf.yield %u, %v : !t, !t
    }
    %sum = arith.addi %s, %inner#0 : !t
    scf.yield %sum : !t
  }
  tile.store %all, %o[%c0, %c0] : !t, !a
}
