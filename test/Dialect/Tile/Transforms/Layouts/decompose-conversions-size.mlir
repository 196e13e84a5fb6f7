// Conversions use no more shared memory than the chip has.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=gfx942},tile.kernel(tile-decompose-conversions))' \
// RUN:   | FileCheck %s
// RUN: tile-opt %s -o /dev/null \
// RUN:   --pass-pipeline='builtin.module(tile-attach-target{chip=gfx942},tile.kernel(tile-decompose-conversions,cse,tile-bufferize,tile-plan-shared-memory))'

// 64 KiB fit only without padding.
#rows = #tile.layout<register = [128 -> d1], lane = [64 -> d0], warp = [2 -> d0 * 64]>
#columns = #tile.layout<register = [128 -> d0], lane = [64 -> d1], warp = [2 -> d1 * 64]>
!f = !tile.buffer<128x128xf32, #tile.strided<[128, 1]>, global>
// CHECK-LABEL: tile.kernel @unpadded
tile.kernel @unpadded(%out: !f) attributes {num_warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %a = tile.load %out[%c0, %c0] : !f -> tensor<128x128xf32, #rows>
  // CHECK: tile.convert_layout %{{.+}} -> tensor<128x128xf32, #tile.padded<0, order = [1, 0]>>
  %b = tile.convert_layout %a : tensor<128x128xf32, #rows> -> tensor<128x128xf32, #columns>
  tile.store %b, %out[%c0, %c0] : tensor<128x128xf32, #columns>, !f
}

// 128 KiB do not fit: the halves of the elements are exchanged one after the
// other.
!d = !tile.buffer<128x128xf64, #tile.strided<[128, 1]>, global>
// CHECK-LABEL: tile.kernel @halves
tile.kernel @halves(%out: !d) attributes {num_warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %a = tile.load %out[%c0, %c0] : !d -> tensor<128x128xf64, #rows>
  // CHECK: %[[BITS:.+]] = arith.bitcast %{{.+}} : tensor<128x128xf64, #[[ROWS:.+]]> to tensor<128x128xi64, #[[ROWS]]>
  // CHECK: %[[LOW:.+]] = arith.trunci %[[BITS]]
  // CHECK-NEXT: %[[LOW_SHARED:.+]] = tile.convert_layout %[[LOW]] : {{.+}} -> tensor<128x128xi32, #tile.padded<0, order = [1, 0]>>
  // CHECK-NEXT: %[[LOW_READ:.+]] = tile.convert_layout %[[LOW_SHARED]]
  // CHECK: %[[SHIFTED:.+]] = arith.shrui %[[BITS]]
  // CHECK: %[[HIGH:.+]] = arith.trunci %[[SHIFTED]]
  // CHECK-NEXT: %[[HIGH_SHARED:.+]] = tile.convert_layout %[[HIGH]]
  // CHECK-NEXT: %[[HIGH_READ:.+]] = tile.convert_layout %[[HIGH_SHARED]]
  // CHECK: %[[LOW_WIDE:.+]] = arith.extui %[[LOW_READ]]
  // CHECK: %[[HIGH_WIDE:.+]] = arith.extui %[[HIGH_READ]]
  // CHECK: %[[HIGH_PLACED:.+]] = arith.shli %[[HIGH_WIDE]]
  // CHECK: %[[JOINED:.+]] = arith.ori %[[LOW_WIDE]], %[[HIGH_PLACED]]
  // CHECK: arith.bitcast %[[JOINED]] : tensor<128x128xi64, #[[COLUMNS:.+]]> to tensor<128x128xf64, #[[COLUMNS]]>
  %b = tile.convert_layout %a : tensor<128x128xf64, #rows> -> tensor<128x128xf64, #columns>
  tile.store %b, %out[%c0, %c0] : tensor<128x128xf64, #columns>, !d
}

// Masks of which 32 bits an element do not fit take 16. Buffers have no i16.
#mask_rows = #tile.layout<register = [256 -> d1], lane = [64 -> d0], warp = [2 -> d0 * 64]>
#mask_columns = #tile.layout<register = [64 -> d0, 2 -> d1, 2 -> d0 * 64], lane = [64 -> d1 * 2], warp = [2 -> d1 * 128]>
!i = !tile.buffer<128x256xi32, #tile.strided<[256, 1]>, global>
// CHECK-LABEL: tile.kernel @mask
tile.kernel @mask(%out: !i) attributes {num_warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %a = arith.constant dense<true> : tensor<128x256xi1, #mask_rows>
  // CHECK: %[[WIDE:.+]] = arith.extui %{{.+}} : tensor<128x256xi1, {{.*}}> to tensor<128x256xi16, {{.*}}>
  // CHECK: %[[FLOAT:.+]] = arith.bitcast %[[WIDE]] : {{.*}} to tensor<128x256xf16, {{.*}}>
  // CHECK: %[[SHARED:.+]] = tile.convert_layout %[[FLOAT]] : {{.*}} -> tensor<128x256xf16, #tile.padded<0, {{.*}}>>
  // CHECK: %[[READ:.+]] = tile.convert_layout %[[SHARED]]
  // CHECK: %[[INTEGER:.+]] = arith.bitcast %[[READ]] : {{.*}} to tensor<128x256xi16, {{.*}}>
  // CHECK: arith.trunci %[[INTEGER]] : tensor<128x256xi16, {{.*}}> to tensor<128x256xi1, {{.*}}>
  %b = tile.convert_layout %a : tensor<128x256xi1, #mask_rows> -> tensor<128x256xi1, #mask_columns>
  %c = arith.extui %b : tensor<128x256xi1, #mask_columns> to tensor<128x256xi32, #mask_columns>
  tile.store %c, %out[%c0, %c0] : tensor<128x256xi32, #mask_columns>, !i
}

// The tile %s leaves no memory for another one between the load and the
// conversion, so the scratch tile is written at the conversion.
// CHECK-LABEL: tile.kernel @late
tile.kernel @late(%out: !f) attributes {num_warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %a = tile.load %out[%c0, %c0] : !f -> tensor<128x128xf32, #rows>
  // CHECK: tile.convert_layout %{{.+}} -> tensor<128x128xf32, #strided{{.*}}>
  // CHECK-NEXT: tile.convert_layout %{{.+}} : tensor<128x128xf32, #strided{{.*}}>
  // CHECK-NEXT: tile.convert_layout %{{.+}} -> tensor<128x128xf32, #tile.padded<0, order = [1, 0]>>
  // CHECK-NEXT: tile.convert_layout %{{.+}} : tensor<128x128xf32, #tile.padded<0, order = [1, 0]>>
  %s = tile.convert_layout %a : tensor<128x128xf32, #rows> -> tensor<128x128xf32, #tile.strided<[128, 1]>>
  %r = tile.convert_layout %s : tensor<128x128xf32, #tile.strided<[128, 1]>> -> tensor<128x128xf32, #columns>
  %b = tile.convert_layout %a : tensor<128x128xf32, #rows> -> tensor<128x128xf32, #columns>
  %sum = arith.addf %r, %b : tensor<128x128xf32, #columns>
  tile.store %sum, %out[%c0, %c0] : tensor<128x128xf32, #columns>, !f
}
