// Tiles in shared memory become buffers; tiles in registers remain values.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-bufferize))' \
// RUN:   | FileCheck %s
// The result is a valid input of the pass: a second run changes nothing.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-bufferize,tile-bufferize))' \
// RUN:   | FileCheck %s

#mma = #tile.mma<"mma.m16n8k16.f16", warps = [4, 1]>
#dot_a = #tile.dot_operand<0, #mma>
#dot_b = #tile.dot_operand<1, #mma>
#blocked = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [4, 1], order = [1, 0]>
!g = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>

// CHECK-LABEL: tile.kernel @product(
// CHECK-SAME: %[[A:[^:]+]]: {{[^%]+}}%[[B:[^:]+]]:
tile.kernel @product(%a: !g, %b: !g, %c: !g) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %n = tile.dim %b[0] : !g
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
  // CHECK: %[[AS:.+]] = tile.alloc : !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
  // CHECK-NEXT: tile.copy %[[A]][%[[ZERO:.+]], %[[ZERO]]], %[[AS]]
  // CHECK: tile.load %[[AS]][%{{.+}}, %{{.+}}] : !tile.buffer<64x64xf16, #tile.swizzle<128>, shared> -> tensor<64x64xf16, #dot_a>
  %as = tile.load %a[%c0, %c0] : !g -> tensor<64x64xf16, #tile.swizzle<128>>
  %ar = tile.convert_layout %as : tensor<64x64xf16, #tile.swizzle<128>> -> tensor<64x64xf16, #dot_a>
  // CHECK: scf.for %[[IV:.+]] = {{.*}} iter_args({{.*}}) -> (tensor<64x64xf32, #mma>)
  %r = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero) -> tensor<64x64xf32, #mma> {
    // CHECK: %[[BS:.+]] = tile.alloc : !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
    // CHECK-NEXT: tile.copy %[[B]][%[[IV]], %[[ZERO]]], %[[BS]]
    // CHECK: %[[BT:.+]] = tile.transpose %[[BS]] [1, 0] : !tile.buffer<64x64xf16, #tile.swizzle<128>, shared> -> !tile.buffer<64x64xf16, #tile.permute<[1, 0], #tile.swizzle<128>>, shared>
    // CHECK: tile.load %[[BT]][%{{.+}}, %{{.+}}] : {{.*}} -> tensor<64x64xf16, #dot_b>
    %bs = tile.load %b[%i, %c0] : !g -> tensor<64x64xf16, #tile.swizzle<128>>
    %bt = tile.transpose %bs [1, 0] : tensor<64x64xf16, #tile.swizzle<128>> -> tensor<64x64xf16, #tile.permute<[1, 0], #tile.swizzle<128>>>
    %br = tile.convert_layout %bt : tensor<64x64xf16, #tile.permute<[1, 0], #tile.swizzle<128>>> -> tensor<64x64xf16, #dot_b>
    %d = tile.dot %ar, %br, %acc : tensor<64x64xf16, #dot_a>, tensor<64x64xf16, #dot_b> -> tensor<64x64xf32, #mma>
    scf.yield %d : tensor<64x64xf32, #mma>
  }
  // CHECK: %[[H:.+]] = arith.truncf
  // CHECK: %[[S:.+]] = tile.alloc : !tile.buffer<64x64xf16, #tile.padded<8, order = [1, 0]>, shared>
  // CHECK: tile.store %[[H]], %[[S]][%{{.+}}, %{{.+}}]
  // CHECK: %[[W:.+]] = tile.load %[[S]][%{{.+}}, %{{.+}}] : {{.*}} -> tensor<64x64xf16, #blocked>
  // CHECK: tile.store %[[W]],
  %h = arith.truncf %r : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
  %s = tile.convert_layout %h : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #tile.padded<8, order = [1, 0]>>
  %w = tile.convert_layout %s : tensor<64x64xf16, #tile.padded<8, order = [1, 0]>> -> tensor<64x64xf16, #blocked>
  tile.store %w, %c[%c0, %c0] : tensor<64x64xf16, #blocked>, !g
}

// One tile that is read twice has one buffer.
// CHECK-LABEL: tile.kernel @shared_once
tile.kernel @shared_once(%a: !g, %c: !g) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // CHECK: %[[AS:.+]] = tile.alloc
  // CHECK-NOT: tile.alloc
  // CHECK: tile.load %[[AS]]
  // CHECK: tile.load %[[AS]]
  %as = tile.load %a[%c0, %c0] : !g -> tensor<64x64xf16, #tile.swizzle<128>>
  %x = tile.convert_layout %as : tensor<64x64xf16, #tile.swizzle<128>> -> tensor<64x64xf16, #blocked>
  %y = tile.convert_layout %as : tensor<64x64xf16, #tile.swizzle<128>> -> tensor<64x64xf16, #blocked>
  %z = arith.addf %x, %y : tensor<64x64xf16, #blocked>
  tile.store %z, %c[%c0, %c0] : tensor<64x64xf16, #blocked>, !g
}

// CHECK-LABEL: tile.kernel @registers_only
// CHECK-NOT: tile.alloc
// CHECK: tile.load {{.*}} -> tensor<64x64xf16, #blocked>
tile.kernel @registers_only(%a: !g, %c: !g) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %x = tile.load %a[%c0, %c0] : !g -> tensor<64x64xf16, #blocked>
  tile.store %x, %c[%c0, %c0] : tensor<64x64xf16, #blocked>, !g
}
