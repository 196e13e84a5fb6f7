// Each of 64 atomic additions is a compare-and-swap loop, and tiles of 64 x 64
// elements are live around them. A kernel of more than 8192 instructions whose
// values do not fit is compiled once, with LLVM's basic allocator: eight ways with
// the greedy one took 53 seconds.
// RUN: tile-translate --tile-to-hsaco --chip=gfx1100 --remarks %s -o /dev/null 2>&1 | FileCheck %s
// CHECK: registers-crowded | Category:tile-driver | Reason="the values of a thread take up to {{[0-9]+}} registers at once, of 2{{[0-9]+}};

tile.kernel @loops(
    %a1: !tile.buffer<?x?xf16, #tile.strided<[?:4, 1], align = 8>, global>,
    %a2: !tile.buffer<?x64xi64, #tile.strided<[64, 1], align = 8>, global>,
    %a3: !tile.buffer<?x?xf16, #tile.strided<[?, 1], align = 4>, global>,
    %a4: !tile.buffer<?x61xf16, #tile.strided<[?:4, ?]>, global>,
    %o5: !tile.buffer<192x?x64xf16, #tile.strided<[?, ?, 1], align = 4>, global>,
    %o6: !tile.buffer<?xi64, #tile.strided<[1]>, global>,
    %a7: !tile.buffer<?x1x?xf16, #tile.strided<[?, ?, 1], align = 16>, global>)
    attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c6 = arith.constant 6 : index
  %c53 = arith.constant 53 : index
  %c64 = arith.constant 64 : index
  tile.grid %c3, %c1, %c1
  %x = tile.program_id x
  %y = tile.program_id y
  %t1 = arith.muli %x, %c64 : index
  %v0 = tile.load %a1[%t1, %c1] : !tile.buffer<?x?xf16, #tile.strided<[?:4, 1], align = 8>, global> -> tensor<64x64xf16>
  %t2 = tile.slice %a2[%x, *] : !tile.buffer<?x64xi64, #tile.strided<[64, 1], align = 8>, global> to !tile.buffer<64xi64, #tile.strided<[1]>, global>
  %v1 = tile.load %t2[%c0] : !tile.buffer<64xi64, #tile.strided<[1]>, global> -> tensor<64xi64>
  %t3 = arith.muli %x, %c64 : index
  %v2 = tile.load %a3[%c0, %t3] : !tile.buffer<?x?xf16, #tile.strided<[?, 1], align = 4>, global> -> tensor<64x64xf16>
  %v3 = arith.cmpf ogt, %v0, %v2 : tensor<64x64xf16>
  %t4 = tile.narrow %a4[0] from %c53 length %c6 : !tile.buffer<?x61xf16, #tile.strided<[?:4, ?]>, global> to !tile.buffer<?x61xf16, #tile.strided<[?:4, ?]>, global>
  %v4 = tile.load %t4[%c0, %c0] : !tile.buffer<?x61xf16, #tile.strided<[?:4, ?]>, global> -> tensor<64x64xf16>
  %v5 = arith.cmpf oge, %v0, %v4 : tensor<64x64xf16>
  %v6 = arith.andi %v3, %v5 : tensor<64x64xi1>
  %v7 = arith.select %v6, %v0, %v2 : tensor<64x64xi1>, tensor<64x64xf16>
  %v8 = tile.broadcast %v7 along 1 : tensor<64x64xf16> -> tensor<64x1x64xf16>
  %t5 = arith.constant 9 : i64
  %v9 = tensor.splat %t5 : tensor<64xi64>
  %v10 = arith.cmpi sgt, %v1, %v9 : tensor<64xi64>
  %v11 = arith.select %v10, %v1, %v9 : tensor<64xi1>, tensor<64xi64>
  %t6 = arith.constant 0.5 : f16
  %v12 = tensor.splat %t6 : tensor<64x1x64xf16>
  %t7 = arith.muli %x, %c64 : index
  tile.store %v8, %o5[%t7, %c0, %c0] : tensor<64x1x64xf16>, !tile.buffer<192x?x64xf16, #tile.strided<[?, ?, 1], align = 4>, global>
  %t8 = arith.muli %x, %c64 : index
  tile.store %v11, %o6[%t8] : tensor<64xi64>, !tile.buffer<?xi64, #tile.strided<[1]>, global>
  tile.atomic_rmw addf %v12, %a7[%c0, %c0, %c0] : tensor<64x1x64xf16>, !tile.buffer<?x1x?xf16, #tile.strided<[?, ?, 1], align = 16>, global>
}
