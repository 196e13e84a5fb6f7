// Each of 450 elements is read behind a check of its own, at an address with two
// strides known at run time. LLVM's reassociation of so many addresses took 15
// seconds and made 19,942 additions of them.
// RUN: tile-translate --tile-to-hsaco --chip=gfx950 %s -o - | llvm-objdump -d - | grep -c s_add_u32 > %t
// RUN: FileCheck %s < %t
// CHECK: {{^1[0-9][0-9][0-9]$}}

tile.kernel @addresses(
    %a: !tile.buffer<?x?x?xf16, #tile.strided<[?, ?, 1], align = 4>, global>,
    %o: !tile.buffer<?x?x?xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>)
    attributes {num_warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.load %a[%c0, %c0, %c0] : !tile.buffer<?x?x?xf16, #tile.strided<[?, ?, 1], align = 4>, global> -> tensor<15x15x2xf16, #tile.strided<[30, 2, 1]>>
  %v = tile.convert_layout %t : tensor<15x15x2xf16, #tile.strided<[30, 2, 1]>> -> tensor<15x15x2xf16, #tile.layout<register = [15 -> d0, 15 -> d1], lane = [2 -> d2, 32 -> 0], warp = [2 -> 0]>>
  tile.store %v, %o[%c0, %c0, %c0] : tensor<15x15x2xf16, #tile.layout<register = [15 -> d0, 15 -> d1], lane = [2 -> d2, 32 -> 0], warp = [2 -> 0]>>, !tile.buffer<?x?x?xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
}
