// Neighbouring reads of 8 bytes are one instruction, whose constants reach 2 KiB. One more base
// serves all pairs behind that.
// RUN: tile-translate --tile-to-hsaco --chip=gfx1100 %s | llvm-objdump -d - | FileCheck %s --implicit-check-not=ds_load_2addr_b64
// RUN: tile-run %s --chip=gfx1100 --arg=random:64x16:f16:1 --arg=random:16x96:f16:2 --arg=zeros:64x96:f32 --out=c=%t.npy

!a = !tile.buffer<64x16xf16, #tile.strided<[16, 1], align = 16>, global>
!b = !tile.buffer<16x96xf16, #tile.strided<[96, 1], align = 16>, global>
!c = !tile.buffer<64x96xf32, #tile.strided<[96, 1], align = 16>, global>
#columns = #tile.padded<0, order = [0, 1], group = 4, groupPad = 4>
#product = #tile.mma<"wmma.gfx11.16x16x16.f16", warps = [4, 1]>
#left = #tile.dot_operand<0, #product>
#right = #tile.dot_operand<1, #product>

// CHECK-LABEL: <product>:
// CHECK: ds_load_2addr_b64 v{{.*}}, v[[A:[0-9]+]] offset1:1
// CHECK: ds_load_2addr_b64 v{{.*}}, v[[A]] offset0:2 offset1:3
// CHECK: ds_load_2addr_b64 v{{.*}}, v[[A]] offset0:68 offset1:69
// CHECK: ds_load_2addr_b64 v{{.*}}, v[[A]] offset0:70 offset1:71
// CHECK: ds_load_2addr_b64 v{{.*}}, v[[A]] offset0:136 offset1:137
// CHECK: ds_load_2addr_b64 v{{.*}}, v[[A]] offset0:138 offset1:139
// CHECK: ds_load_2addr_b64 v{{.*}}, v[[A]] offset0:204 offset1:205
// CHECK: ds_load_2addr_b64 v{{.*}}, v[[A]] offset0:206 offset1:207
// CHECK: ds_load_2addr_b64 v{{.*}}, v[[B:[0-9]+]] offset1:1
// CHECK: ds_load_2addr_b64 v{{.*}}, v[[B]] offset0:2 offset1:3
// CHECK: ds_load_2addr_b64 v{{.*}}, v[[B]] offset0:68 offset1:69
// CHECK: ds_load_2addr_b64 v{{.*}}, v[[B]] offset0:70 offset1:71
tile.kernel @product(%a: !a, %b: !b, %c: !c) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<64x96xf32, #product>
  %at = tile.load %a[%c0, %c0] : !a -> tensor<64x16xf16, #left>
  %bt = tile.load %b[%c0, %c0] : !b -> tensor<16x96xf16, #columns>
  %bp = tile.convert_layout %bt : tensor<16x96xf16, #columns> -> tensor<16x96xf16, #right>
  %ct = tile.dot %at, %bp, %zero : tensor<64x16xf16, #left>, tensor<16x96xf16, #right> -> tensor<64x96xf32, #product>
  tile.store %ct, %c[%c0, %c0] : tensor<64x96xf32, #product>, !c
}
