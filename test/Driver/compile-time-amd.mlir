// Long blocks compile in a second, with each value next to its first use: in the
// order of the operations on tiles of 128 elements of a thread, all of them are
// live at once, and LLVM's allocator took 14 seconds to spill 1316 bytes. The limit
// is in seconds of CPU time.
// RUN: bash -c 'ulimit -t 6; exec tile-translate --tile-to-hsaco --chip=gfx1201 --resources %s -o /dev/null' | FileCheck %s
// CHECK: "stack_bytes":0

tile.kernel @copies(
    %a1: !tile.buffer<?x59xf16, #tile.strided<[59, 1]>, global> {tile.name = "a1"},
    %o3: !tile.buffer<?x?x?xbf16, #tile.strided<[?, ?, 1], align = 16>, global> {tile.name = "o3"},
    %o4: !tile.buffer<?x?x67x?xf16, #tile.strided<[?:2, ?:2, ?:2, 1]>, global> {tile.name = "o4"},
    %o5: !tile.buffer<?x135x59xf16, #tile.strided<[8640, 64, 1]>, global> {tile.name = "o5"})
    attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c59 = arith.constant 59 : index
  %t5 = tile.dim %o3[1] : !tile.buffer<?x?x?xbf16, #tile.strided<[?, ?, 1], align = 16>, global>
  %t6 = arith.ceildivui %t5, %c59 : index
  tile.grid %t6, %c1, %c1
  %x = tile.program_id x
  %y = tile.program_id y
  %t1 = arith.muli %x, %c59 : index
  %v0 = tile.load %a1[%t1, %c0] : !tile.buffer<?x59xf16, #tile.strided<[59, 1]>, global> -> tensor<59x59xf16>
  %v1 = tile.broadcast %v0 along 0 : tensor<59x59xf16> -> tensor<1x59x59xf16>
  %v3 = arith.extf %v1 : tensor<1x59x59xf16> to tensor<1x59x59xf32>
  %v4 = arith.truncf %v3 : tensor<1x59x59xf32> to tensor<1x59x59xbf16>
  %v5 = tile.broadcast %v0 along 0 : tensor<59x59xf16> -> tensor<1x59x59xf16>
  %v6 = tile.broadcast %v0 along 2 : tensor<59x59xf16> -> tensor<59x59x1xf16>
  %v7 = tile.scan minimumf %v5 along 2 reverse : tensor<1x59x59xf16>
  %t2 = arith.muli %x, %c59 : index
  tile.store %v4, %o3[%c0, %t2, %c0] : tensor<1x59x59xbf16>, !tile.buffer<?x?x?xbf16, #tile.strided<[?, ?, 1], align = 16>, global>
  %t3 = tile.slice %o4[%x, *, *, *] : !tile.buffer<?x?x67x?xf16, #tile.strided<[?:2, ?:2, ?:2, 1]>, global> to !tile.buffer<?x67x?xf16, #tile.strided<[?:2, ?:2, 1]>, global>
  tile.store %v6, %t3[%c0, %c0, %c0] : tensor<59x59x1xf16>, !tile.buffer<?x67x?xf16, #tile.strided<[?:2, ?:2, 1]>, global>
  %t4 = arith.muli %x, %c59 : index
  tile.store %v7, %o5[%c0, %t4, %c0] : tensor<1x59x59xf16>, !tile.buffer<?x135x59xf16, #tile.strided<[8640, 64, 1]>, global>
}
