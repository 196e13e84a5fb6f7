// Masked atomics on AMD: instead of a branch, the buffer form has an offset
// outside of the window. If it cannot be used, a remark gives the reason.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=gfx1201},tile-vectorize,gpu.module(canonicalize,cse))' | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=gfx1201},tile-vectorize)' \
// RUN:   --remarks-filter='tile-.*' --remark-format=emitRemark 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK --implicit-check-not=atomic-branch
// A wave of gfx942 has twice as many lanes.
// RUN: sed -e 's/lane = \[8, 4\]/lane = [16, 4]/' -e 's/lane = \[4 -> 0/lane = [8 -> 0/' -e 's/\[32, 1\]/[64, 1]/' %s > %t.mlir
// RUN: tile-opt %t.mlir --pass-pipeline='builtin.module(tile-attach-target{chip=gfx942},tile-vectorize)' \
// RUN:   --remarks-filter='tile-.*' --remark-format=emitRemark 2>&1 >/dev/null | FileCheck %s --check-prefix=GFX942
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile-vectorize)' \
// RUN:   --remarks-filter='tile-.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=SM90 --implicit-check-not=atomic-branch --implicit-check-not=buffer_atomic

#rows = #tile.blocked<thread = [1, 2], lane = [8, 4], warp = [1, 1], order = [1, 0]>
#copies = #tile.layout<register = [], lane = [4 -> 0, 8 -> d0], warp = []>

#long = #tile.blocked<thread = [1, 8], lane = [32, 1], warp = [1, 1], order = [1, 0]>

!f = !tile.buffer<16x8xf32, #tile.strided<[8, 1], align = 16>, global>
!h = !tile.buffer<16x8xbf16, #tile.strided<[8, 1], align = 16>, global>
!v = !tile.buffer<8xf32, #tile.strided<[1]>, global>
!ragged = !tile.buffer<?x8xf32, #tile.strided<[40, 1], align = 16>, global>
!heads = !tile.buffer<?x?x8xf32, #tile.strided<[?:4, 40, 1], align = 16>, global>
!raggedh = !tile.buffer<?x8xbf16, #tile.strided<[40, 1], align = 16>, global>
!dynamic = !tile.buffer<?x8xf32, #tile.strided<[?, 1], align = 16>, global>
!far = !tile.buffer<?x8xf32, #tile.strided<[40000000, 1], align = 16>, global>
!map = !tile.buffer<?x8xf32, #tile.map<(l, d) -> (l floordiv 4, d, l mod 4), align = 16>, global>

// The rows of a thread are 8 rows apart, which is 8 * 40 * 4 bytes. The slice and
// the start are part of the base, which is equal in all threads.
// CHECK-LABEL: gpu.func @strided
// CHECK-SAME: {llvm.align = 16 : i64}, %[[BUFFER:[^:]+]]: memref<?xf32, #gpu.address_space<global>> {llvm.align = 16 : i64}, %{{[^:]+}}: index, %[[ROWS:[^:]+]]: index, %[[STRIDE:[^:]+]]: index, %[[HEAD:[^:]+]]: index, %[[START:[^:]+]]: index)
// CHECK-DAG: %[[OUTSIDE:.+]] = arith.constant -2147483648 : i32
// CHECK-DAG: %[[C4:.+]] = arith.constant 4 : i32
// CHECK-DAG: %[[C1280:.+]] = arith.constant 1280 : i32
// CHECK-DAG: %[[C1284:.+]] = arith.constant 1284 : i32
// CHECK-DAG: %[[C40:.+]] = arith.constant 40 : index
// CHECK-DAG: %[[SLICE:.+]] = arith.muli %[[HEAD]], %[[STRIDE]] : index
// CHECK-DAG: %[[ROW:.+]] = arith.muli %[[START]], %[[C40]] : index
// CHECK-DAG: %[[BASE:.+]] = arith.addi %[[SLICE]], %[[ROW]] : index
// CHECK-NOT: scf.if
// CHECK: %[[IN:.+]] = arith.cmpi
// CHECK: %[[IN2:.+]] = arith.cmpi
// CHECK: %[[FIRST:.+]] = arith.select %[[IN]], %[[THREAD:.+]], %[[OUTSIDE]] : i32
// CHECK: tile_gpu.buffer_atomic_rmw addf %{{.+}}, %[[BUFFER]][%[[BASE]]], %[[FIRST]] {window = 2432 : i64} : vector<1xf32>, memref<?xf32, #gpu.address_space<global>>
// CHECK: %[[NEXT:.+]] = arith.addi %[[FIRST]], %[[C4]] : i32
// CHECK: tile_gpu.buffer_atomic_rmw addf %{{.+}}, %[[BUFFER]][%[[BASE]]], %[[NEXT]] {
// CHECK: %[[SECOND:.+]] = arith.select %[[IN2]], %[[THREAD]], %[[OUTSIDE]] : i32
// CHECK: %[[AT:.+]] = arith.addi %[[SECOND]], %[[C1280]] : i32
// CHECK: tile_gpu.buffer_atomic_rmw addf %{{.+}}, %[[BUFFER]][%[[BASE]]], %[[AT]] {
// CHECK: %[[AT:.+]] = arith.addi %[[SECOND]], %[[C1284]] : i32
// CHECK: tile_gpu.buffer_atomic_rmw addf %{{.+}}, %[[BUFFER]][%[[BASE]]], %[[AT]] {
// CHECK-NOT: atomic_rmw
// CHECK: gpu.return
tile.kernel @strided(%a: !f, %b: !heads, %h: index, %i: index) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %t = tile.load %a[%c0, %c0] : !f -> tensor<16x8xf32, #rows>
  %s = tile.slice %b[%h, *, *] : !heads to !ragged
  // REMARK: atomic-windows.mlir:[[@LINE+2]]:{{.*}} remark: [Passed] atomic-width | {{.*}}Reason=amd.f32.buffer, width=1
  // SM90: atomic-windows.mlir:[[@LINE+1]]:{{.*}} remark: [Passed] atomic-width | {{.*}}Reason=nvidia.f32x2, width=2
  tile.atomic_rmw addf %t, %s[%i, %c0] : tensor<16x8xf32, #rows>, !ragged
}

// The map has a period of 4 rows: the distance of rows that are 8 apart is 64
// elements.
// CHECK-LABEL: gpu.func @mapped
// CHECK-DAG: %[[FAR:.+]] = arith.constant 256 : i32
// CHECK: tile_gpu.buffer_atomic_rmw addf {{.*}} {window = 512 : i64}
// CHECK: arith.addi %{{.+}}, %[[FAR]] : i32
// CHECK: tile_gpu.buffer_atomic_rmw
tile.kernel @mapped(%a: !f, %b: !map) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  tile.grid %c1, %c1, %c1
  %p = tile.program_id x
  %i = arith.muli %p, %c4 : index
  %t = tile.load %a[%c0, %c0] : !f -> tensor<16x8xf32, #rows>
  tile.atomic_rmw addf %t, %b[%i, %c0] : tensor<16x8xf32, #rows>, !map
}

// Threads with copies are masked, too.
// CHECK-LABEL: gpu.func @copies
// CHECK: %[[OWNER:.+]] = arith.cmpi eq
// CHECK: arith.select %[[OWNER]], %{{.+}}, %{{.+}} : i32
// CHECK: tile_gpu.buffer_atomic_rmw addf {{.*}} {window = 32 : i64} : vector<1xf32>
tile.kernel @copies(%a: !v, %b: !v) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %t = tile.load %a[%c0] : !v -> tensor<8xf32, #copies>
  tile.atomic_rmw addf %t, %b[%c0] : tensor<8xf32, #copies>, !v
}

// Nothing needs a mask here.
// CHECK-LABEL: gpu.func @whole
// CHECK-COUNT-4: tile_gpu.atomic_rmw addf
// CHECK-NOT: buffer_atomic_rmw
// CHECK: gpu.return
tile.kernel @whole(%a: !f, %b: !f) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %t = tile.load %a[%c0, %c0] : !f -> tensor<16x8xf32, #rows>
  tile.atomic_rmw addf %t, %b[%c0, %c0] : tensor<16x8xf32, #rows>, !f
}

// Eight accesses share one mask.
// CHECK-LABEL: gpu.func @long
// CHECK: arith.select
// CHECK-NOT: {{arith.select|scf.if}}
// CHECK-COUNT-8: tile_gpu.buffer_atomic_rmw
tile.kernel @long(%b: !ragged) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %t = arith.constant dense<1.0> : tensor<64x8xf32, #long>
  tile.atomic_rmw addf %t, %b[%c0, %c0] : tensor<64x8xf32, #long>, !ragged
}

// A launcher checks that the dynamic stride of a parameter is small enough: the tile
// reaches 15 rows and 8 elements of 4 bytes behind its start. The rows of a thread are
// 8 rows apart, which is a distance in a scalar register.
// CHECK: tile_gpu.manifest @dynamic {{.*}}name = "dynamic"{{.*}}stride_limits = [35791393, unit]
// CHECK-LABEL: gpu.func @dynamic
// CHECK-SAME: %[[STRIDE:[^:]+]]: index)
// CHECK-NOT: scf.if
// CHECK: tile_gpu.buffer_atomic_rmw addf %{{.+}}, %{{.+}}[%{{.+}}], %{{[^+]+}} {window = 2147483647 : i64}
// CHECK: %[[ROWS:.+]] = arith.muli %[[STRIDE]], %c32 : index
// CHECK: %[[LEAST:.+]] = arith.minui %[[ROWS]], %c2147483647 : index
// CHECK: %[[DISTANCE:.+]] = arith.index_castui %[[LEAST]] : index to i32
// CHECK: tile_gpu.buffer_atomic_rmw addf %{{.+}}, %{{.+}}[%{{.+}}], %{{.+}} + %[[DISTANCE]] {window = 2147483647 : i64}
// CHECK: gpu.return
tile.kernel @dynamic(%a: !f, %dynamic: !dynamic {tile.name = "dynamic"}) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %t = tile.load %a[%c0, %c0] : !f -> tensor<16x8xf32, #rows>
  // REMARK: atomic-windows.mlir:[[@LINE+1]]:{{.*}} remark: [Passed] atomic-width | {{.*}}Reason=amd.f32.buffer, width=1
  tile.atomic_rmw addf %t, %dynamic[%c0, %c0] : tensor<16x8xf32, #rows>, !dynamic
}

// CHECK-LABEL: gpu.func @refused
// CHECK-COUNT-4: scf.if
// CHECK: gpu.return
tile.kernel @refused(%a: !f, %h: !h, %b: !ragged, %bh: !raggedh, %far: !far,
                     %map: !map, %i: index) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %t = tile.load %a[%c0, %c0] : !f -> tensor<16x8xf32, #rows>
  // REMARK: [[@LINE+1]]:{{.*}} remark: [Missed] atomic-branch | {{.*}}Reason="masked elements are skipped by a branch: order(release) scope(device) is wanted; the buffer form is relaxed, of device scope"
  tile.atomic_rmw addf %t, %b[%c0, %c0] order(release) : tensor<16x8xf32, #rows>, !ragged
  // REMARK: [[@LINE+1]]:{{.*}} remark: [Missed] atomic-branch | {{.*}}Reason="masked elements are skipped by a branch: the old values are wanted, which the buffer form does not return"
  %old = tile.atomic_rmw addf %t, %b[%c0, %c0] : tensor<16x8xf32, #rows>, !ragged -> tensor<16x8xf32, #rows>
  // REMARK: [[@LINE+1]]:{{.*}} remark: [Missed] atomic-branch | {{.*}}Reason="masked elements are skipped by a branch: the tile reaches over 2^31 bytes"
  tile.atomic_rmw addf %t, %far[%c0, %c0] : tensor<16x8xf32, #rows>, !far
  // REMARK: [[@LINE+1]]:{{.*}} remark: [Missed] atomic-branch | {{.*}}Reason="masked elements are skipped by a branch: the start along dimension 0 is no known multiple of 4, from where the layout repeats"
  tile.atomic_rmw addf %t, %map[%i, %c0] : tensor<16x8xf32, #rows>, !map
  %u = tile.load %h[%c0, %c0] : !h -> tensor<16x8xbf16, #rows>
  // REMARK: [[@LINE+2]]:{{.*}} remark: [Passed] atomic-width | {{.*}}Reason=amd.bf16x2.buffer, width=2
  // GFX942: [[@LINE+1]]:{{.*}} remark: [Missed] atomic-branch | {{.*}}Reason="masked elements are skipped by a branch: gfx942 has no buffer form of an atomic addf of 2 bf16"
  tile.atomic_rmw addf %u, %bh[%c0, %c0] : tensor<16x8xbf16, #rows>, !raggedh
}
