// LLVM's greedy allocator takes a time that grows with the values that do not
// fit: where half of the registers more would not suffice, the basic one
// allocates, and code is generated once. A remark says so. Here all loads come
// before the first store, so that four tiles of 128 registers are live at once.
// RUN: tile-translate --tile-to-hsaco --chip=gfx1100 --remarks %s -o /dev/null 2>&1 | FileCheck %s
// RUN: tile-translate --tile-to-hsaco --chip=gfx1201 --remarks %s -o /dev/null 2>&1 | FileCheck %s

// On CDNA 3, a lane has 64 registers of each tile.
// RUN: tile-translate --tile-to-hsaco --chip=gfx942 --remarks %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=FITS

// CHECK: crowded-amd.mlir:[[#@LINE+5]]:1: remark: [Missed] registers-crowded | Category:tile-driver | Reason="the values of a thread take up to {{[0-9]+}} registers at once, of 2{{[0-9]+}}; LLVM's basic allocator spills the others, and code is not generated in several ways"
// CHECK: registers-spilled
// FITS-NOT: registers-crowded

!rows = !tile.buffer<?x128xf32, #tile.strided<[128, 1], align = 16>, global>
tile.kernel @copies(%a: !rows, %b: !rows, %c: !rows, %d: !rows) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %ta = tile.load %a[%c0, %c0] : !rows -> tensor<32x128xf32>
  %tb = tile.load %b[%c0, %c0] : !rows -> tensor<32x128xf32>
  %tc = tile.load %c[%c0, %c0] : !rows -> tensor<32x128xf32>
  %td = tile.load %d[%c0, %c0] : !rows -> tensor<32x128xf32>
  tile.store %ta, %b[%c0, %c0] : tensor<32x128xf32>, !rows
  tile.store %tb, %c[%c0, %c0] : tensor<32x128xf32>, !rows
  tile.store %tc, %d[%c0, %c0] : tensor<32x128xf32>, !rows
  tile.store %td, %a[%c0, %c0] : tensor<32x128xf32>, !rows
}
