// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile-verify-prerequisites,tile.kernel(tile-plan-shared-memory,tile-insert-barriers),tile-vectorize)' \
// RUN:   | FileCheck %s --check-prefix=DEVICE
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_80},tile.kernel(tile-plan-shared-memory,tile-insert-barriers),tile-vectorize)' \
// RUN:   | FileCheck %s --check-prefix=OTHER
// RUN: tile-translate --tile-to-ptx --chip=sm_90a %s --manifest=%t.json | FileCheck %s --check-prefix=PTX
// RUN: FileCheck %s --input-file=%t.json --check-prefix=JSON
// RUN: tile-run %s --chip=sm_90a --arg=random:64:f32:1 --arg=nan:64:f32 --arg=zeros:64:f32 --out=sums=%t.npy
// RUN: tile-run %s --chip=sm_80 --arg=random:64:f32:1 --arg=nan:64:f32 --arg=zeros:64:f32 --expect=sums=%t.npy

!b = !tile.buffer<64xf32, #tile.strided<[1]>, global>
#row = #tile.layout<register = [2 -> d0], lane = [32 -> d0 * 2], warp = []>

// Only the second kernel may start early; before its wait it reads what no kernel writes.
// OTHER-NOT: griddepcontrol
// OTHER-NOT: overlaps_previous
// CHECK-LABEL: tile.kernel @first
// DEVICE-LABEL: tile_gpu.manifest @first
// DEVICE-NOT: overlaps_previous
// DEVICE: nvvm.griddepcontrol launch_dependents
// DEVICE-LABEL: tile_gpu.manifest @second
// DEVICE-SAME: overlaps_previous
// DEVICE-LABEL: gpu.func @second
// DEVICE: vector.load
// DEVICE: nvvm.griddepcontrol wait
// DEVICE: vector.load
// PTX-LABEL: .entry first(
// PTX: griddepcontrol.launch_dependents;
// PTX-LABEL: .entry second(
// PTX: ld.global
// PTX: griddepcontrol.wait;
// PTX: ld.global
// JSON: "name": "first",
// JSON-NEXT: "params"
// JSON: "name": "second",
// JSON-NEXT: "overlaps_previous": true,
tile.kernel @first(%x: !b {tile.name = "x"}, %d: !b {tile.name = "doubles"})
    attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // CHECK: tile.launch_dependents
  tile.launch_dependents
  %t = tile.load %x[%c0] : !b -> tensor<64xf32, #row>
  tile.store %t, %d[%c0] : tensor<64xf32, #row>, !b
}
tile.kernel @second(%x: !b {tile.name = "x"}, %d: !b {tile.name = "doubles"}, %s: !b {tile.name = "sums"})
    attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.load %x[%c0] : !b -> tensor<64xf32, #row>
  // CHECK: tile.wait_prerequisites
  tile.wait_prerequisites
  %u = tile.load %d[%c0] : !b -> tensor<64xf32, #row>
  %v = arith.addf %t, %u : tensor<64xf32, #row>
  tile.store %v, %s[%c0] : tensor<64xf32, #row>, !b
}
