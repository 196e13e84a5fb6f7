// Addresses in shared memory that differ by constants have one base, also those of different
// tiles. An instruction adds the constant if it has at most 16 bits.
// RUN: tile-translate --tile-to-llvmir --chip=gfx950 %s | FileCheck %s
// RUN: tile-translate --tile-to-hsaco --chip=gfx950 %s | llvm-objdump -d - | FileCheck %s --check-prefix=ASM
// RUN: tile-run %s --chip=gfx950 --arg=random:128x128:f32:1 --arg=zeros:128x128:f32 --arg=zeros:128x128:f32 --out=x=%t.npy --expect=z=%t.npy

!m = !tile.buffer<128x128xf32, #tile.strided<[128, 1], align = 16>, global>
#rows = #tile.blocked<thread = [1, 4], lane = [2, 32], warp = [4, 1], order = [1, 0]>
#columns = #tile.blocked<thread = [4, 1], lane = [32, 2], warp = [1, 4], order = [0, 1]>

// CHECK-LABEL: define amdgpu_kernel void @exchange(
// The rows of x, and those of y, which are too far away for a constant.
// CHECK: [[X:%.*]] = getelementptr i8, ptr addrspace(3) @[[MEMORY:.*]], i32 %
// CHECK: getelementptr i8, ptr addrspace(3) [[X]], i32 4224
// CHECK: getelementptr i8, ptr addrspace(3) [[X]], i32 8448
// CHECK: [[FAR:%.*]] = add i32 {{.*}}, 65536
// CHECK-NEXT: [[Y:%.*]] = getelementptr i8, ptr addrspace(3) @[[MEMORY]], i32 [[FAR]]
// CHECK: getelementptr i8, ptr addrspace(3) [[Y]], i32 2048
// CHECK: getelementptr i8, ptr addrspace(3) [[Y]], i32 6272

// ASM-LABEL: <exchange>:
// ASM: ds_write_b128 v[[A:[0-9]+]], v[{{.*}}] offset:4224
// ASM: ds_write_b128 v[[A]], v[{{.*}}] offset:63360
tile.kernel @exchange(%x: !m, %y: !m, %z: !m) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %xt = tile.load %x[%c0, %c0] : !m -> tensor<128x128xf32, #tile.padded<4, order = [1, 0]>>
  %yt = tile.load %y[%c0, %c0] : !m -> tensor<128x128xf32, #tile.padded<4, order = [1, 0]>>
  %xc = tile.convert_layout %xt : tensor<128x128xf32, #tile.padded<4, order = [1, 0]>> -> tensor<128x128xf32, #columns>
  %yc = tile.convert_layout %yt : tensor<128x128xf32, #tile.padded<4, order = [1, 0]>> -> tensor<128x128xf32, #columns>
  %sum = arith.addf %xc, %yc : tensor<128x128xf32, #columns>
  tile.store %sum, %z[%c0, %c0] : tensor<128x128xf32, #columns>, !m
}
