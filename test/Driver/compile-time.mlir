// Functions with many addresses compile in seconds. Straight line strength
// reduction compares each address that depends on a stride known at run time
// with all others; 1024 of them take 25 s. The limit is in seconds of CPU time.
// RUN: bash -c 'ulimit -t 15; exec tile-translate --tile-to-ptx --chip=sm_80 %s -o /dev/null'

#columns = #tile.layout<register = [1024 -> d1], lane = [32 -> d0], warp = [4 -> d0 * 32]>
!b = !tile.buffer<?x?xf32, #tile.strided<[1, ?]>, global>
tile.kernel @many_addresses(%o: !b) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %v = arith.constant dense<1.0> : tensor<128x1024xf32, #columns>
  tile.store %v, %o[%c0, %c0] : tensor<128x1024xf32, #columns>, !b
}
