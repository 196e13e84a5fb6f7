// Loads and stores on AMD: a mask is an offset outside of a window, and an address is one
// register. If a tile is no window of memory, a remark gives the reason.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=gfx1201},tile-vectorize,gpu.module(canonicalize,cse))' | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=gfx1201},tile-vectorize)' \
// RUN:   --remarks-filter='tile-.*' --remark-format=emitRemark 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK --implicit-check-not=access-branch
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile-vectorize)' \
// RUN:   --remarks-filter='tile-.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=SM90 --implicit-check-not=access-branch --implicit-check-not=tile_gpu.buffer

#rows = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [1, 1], order = [1, 0]>
#all = #tile.layout<register = [8 -> d0], lane = [32 -> 0], warp = []>

!g = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
!heads = !tile.buffer<?x?x64xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!static = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!both = !tile.buffer<?x64x64xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!ends = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>
!far = !tile.buffer<?x64xf16, #tile.strided<[160000000, 1], align = 16>, global>
!v = !tile.buffer<8xf32, #tile.strided<[1]>, global>

// Sixteen rows reach 15 strides and 128 bytes behind the start. Launchers check that this
// is below 2^31 bytes, also if the parameter is sliced. The stride of a sliced dimension
// is part of the base and not limited.
// CHECK: tile_gpu.manifest @masked {{.*}}name = "in"{{.*}}stride_limits = [71582783, unit]{{.*}}name = "out"{{.*}}stride_limits = [unit, 71582783, unit]
// CHECK-LABEL: gpu.func @masked
// CHECK-NOT: scf.if
// CHECK-DAG: %[[OUTSIDE:.+]] = arith.constant -2147483648 : i32
// CHECK: %[[IN:.+]] = arith.cmpi
// CHECK: %[[FIRST:.+]] = arith.select %[[IN]], %[[THREAD:.+]], %[[OUTSIDE]] : i32
// CHECK: %[[A:.+]] = tile_gpu.buffer_load %{{.+}}[%{{.+}}], %[[FIRST]] {window = 2147483647 : i64} : memref<?xf16, #gpu.address_space<global>>, vector<8xf16>
// CHECK: %[[NEXT:.+]] = arith.select %{{.+}}, %[[THREAD]], %[[OUTSIDE]] : i32
// CHECK: tile_gpu.buffer_load %{{.+}}[%{{.+}}], %[[NEXT]] + %{{.+}} {window
// CHECK-COUNT-2: tile_gpu.buffer_load
// CHECK-COUNT-4: tile_gpu.buffer_store
// CHECK: gpu.return
// SM90-LABEL: gpu.func @masked
// SM90: vector.load
tile.kernel @masked(%in: !g {tile.name = "in"}, %out: !heads {tile.name = "out"}, %i: index, %h: index)
    attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %t = tile.load %in[%i, %c0] : !g -> tensor<16x64xf16, #rows>
  %s = tile.slice %out[%h, *, *] : !heads to !g
  tile.store %t, %s[%i, %c0] : tensor<16x64xf16, #rows>, !g
}

// All distances are static: they are part of the instruction, and nobody checks.
// CHECK: tile_gpu.manifest @static
// CHECK-NOT: stride_limits
// CHECK-LABEL: gpu.func @static
// CHECK: tile_gpu.buffer_load %{{.+}}[%{{.+}}], %{{[^+]+}} {window = 2048 : i64}
// CHECK-NOT: " + "
// CHECK: gpu.return
tile.kernel @static(%in: !static, %out: !static) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %t = tile.load %in[%c0, %c0] : !static -> tensor<16x64xf16, #rows>
  tile.store %t, %out[%c0, %c0] : tensor<16x64xf16, #rows>, !static
}

// CHECK-LABEL: gpu.func @refused
// CHECK-NOT: tile_gpu.buffer
// CHECK: gpu.return
tile.kernel @refused(%far: !far) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  // REMARK: [[@LINE+1]]:{{.*}} remark: [Missed] access-branch | {{.*}}Reason="elements out of bounds are skipped by a branch: the tile reaches over 2^31 bytes"
  %t = tile.load %far[%c0, %c0] : !far -> tensor<16x64xf16, #rows>
  // REMARK: [[@LINE+1]]:{{.*}} remark: [Missed] access-branch
  tile.store %t, %far[%c0, %c0] : tensor<16x64xf16, #rows>, !far
}

// The bounds may end within an access: if its last element is out of bounds. It is then outside of the window, and a branch
// accesses its first 4, 2 and 1 elements. A piece of 2 comes behind 0 or 4 elements, one
// of 1 behind 0, 2, 4 or 6. The branch depends on the bounds of this dimension alone.
// CHECK-LABEL: gpu.func @ends
// CHECK-DAG: %[[LAST:.+]] = arith.constant 7 : i32
// CHECK-DAG: %[[OUTSIDE:.+]] = arith.constant -2147483648 : i32
// CHECK: %[[WHOLE:.+]] = arith.cmpi sgt, %[[LEFT:.+]], %[[LAST]] : i32
// CHECK: %[[BOTH:.+]] = arith.andi %{{.+}}, %[[WHOLE]] : i1
// CHECK: %[[OFFSET:.+]] = arith.select %[[BOTH]], %{{.+}}, %[[OUTSIDE]] : i32
// CHECK: tile_gpu.buffer_load %{{.+}}[%{{.+}}], %[[OFFSET]] {window = 2147483647 : i64} : memref<?xf16, #gpu.address_space<global>>, vector<8xf16>
// CHECK-NOT: scf.if
// CHECK-COUNT-3: tile_gpu.buffer_load {{.*}} vector<8xf16>
// CHECK: %{{.+}}:4 = scf.if
// CHECK: tile_gpu.buffer_load {{.*}} vector<4xf16>
// CHECK: tile_gpu.buffer_load {{.*}} vector<2xf16>
// CHECK: tile_gpu.buffer_load {{.*}} vector<1xf16>
// CHECK: arith.ori
// CHECK: } else {
// CHECK-NEXT: scf.yield
// CHECK-COUNT-4: tile_gpu.buffer_store {{.*}} vector<8xf16>
// CHECK: scf.if
// CHECK-NOT: scf.if
// CHECK: tile_gpu.buffer_store {{.*}} vector<4xf16>
// CHECK: tile_gpu.buffer_store {{.*}} vector<2xf16>
// CHECK: tile_gpu.buffer_store {{.*}} vector<1xf16>
// CHECK: gpu.return
tile.kernel @ends(%ends: !ends, %out: !ends, %i: index) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %t = tile.load %ends[%i, %c0] : !ends -> tensor<16x64xf16, #rows>
  tile.store %t, %out[%i, %c0] : tensor<16x64xf16, #rows>, !ends
}

// One address for all lanes is a scalar load.
// CHECK-LABEL: gpu.func @uniform
// CHECK-NOT: tile_gpu.buffer_load
// CHECK: tile_gpu.buffer_store
tile.kernel @uniform(%v: !v, %out: !tile.buffer<8x32xf32, #tile.strided<[32, 1]>, global>) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %t = tile.load %v[%c0] : !v -> tensor<8xf32, #tile.slice<1, #tile.layout<register = [8 -> d0], lane = [32 -> d1], warp = []>>>
  %b = tile.broadcast %t along 1 : tensor<8xf32, #tile.slice<1, #tile.layout<register = [8 -> d0], lane = [32 -> d1], warp = []>>> -> tensor<8x32xf32, #tile.layout<register = [8 -> d0], lane = [32 -> d1], warp = []>>
  tile.store %b, %out[%c0, %c0] : tensor<8x32xf32, #tile.layout<register = [8 -> d0], lane = [32 -> d1], warp = []>>, !tile.buffer<8x32xf32, #tile.strided<[32, 1]>, global>
}

// In a loop, up to 16 elements of a register each have a mask of their own where the bounds may end within an access.
// For more, outside of loops, and for narrower elements, one branch is for those that are cut.
!numbers = !tile.buffer<?xf32, #tile.strided<[1], align = 16>, global>
!halves = !tile.buffer<?xf16, #tile.strided<[1], align = 16>, global>
#eight = #tile.layout<register = [8 -> d0], lane = [32 -> d0 * 8], warp = []>
#sixteen = #tile.layout<register = [16 -> d0], lane = [32 -> d0 * 16], warp = []>
#many = #tile.layout<register = [32 -> d0], lane = [32 -> d0 * 32], warp = []>

// CHECK-LABEL: gpu.func @cut_in_loop
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK-COUNT-16: tile_gpu.buffer_load {{.*}}, vector<1xf32>
// CHECK-NOT: buffer_load
// CHECK: scf.yield
tile.kernel @cut_in_loop(%a: !numbers, %b: !numbers, %n: index) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  tile.grid %c0, %c0, %c0
  %zero = arith.constant dense<0.0> : tensor<512xf32, #sixteen>
  %r = scf.for %i = %c0 to %n step %c512 iter_args(%s = %zero) -> (tensor<512xf32, #sixteen>) {
    %t = tile.load %a[%i] : !numbers -> tensor<512xf32, #sixteen>
    %u = arith.addf %s, %t : tensor<512xf32, #sixteen>
    scf.yield %u : tensor<512xf32, #sixteen>
  }
  tile.store %r, %b[%c0] : tensor<512xf32, #sixteen>, !numbers
}

// CHECK-LABEL: gpu.func @many_in_loop
// CHECK: scf.for
// CHECK: tile_gpu.buffer_load {{.*}}, vector<4xf32>
// CHECK: scf.if
tile.kernel @many_in_loop(%a: !numbers, %b: !numbers, %n: index) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1024 = arith.constant 1024 : index
  tile.grid %c0, %c0, %c0
  %zero = arith.constant dense<0.0> : tensor<1024xf32, #many>
  %r = scf.for %i = %c0 to %n step %c1024 iter_args(%s = %zero) -> (tensor<1024xf32, #many>) {
    %t = tile.load %a[%i] : !numbers -> tensor<1024xf32, #many>
    %u = arith.addf %s, %t : tensor<1024xf32, #many>
    scf.yield %u : tensor<1024xf32, #many>
  }
  tile.store %r, %b[%c0] : tensor<1024xf32, #many>, !numbers
}

// CHECK-LABEL: gpu.func @cut
// CHECK-COUNT-2: tile_gpu.buffer_load {{.*}}, vector<4xf32>
// CHECK: scf.if
tile.kernel @cut(%a: !numbers, %b: !numbers) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %t = tile.load %a[%c0] : !numbers -> tensor<256xf32, #eight>
  tile.store %t, %b[%c0] : tensor<256xf32, #eight>, !numbers
}

// CHECK-LABEL: gpu.func @narrow_in_loop
// CHECK: scf.for
// CHECK: tile_gpu.buffer_load {{.*}}, vector<8xf16>
// CHECK: scf.if
tile.kernel @narrow_in_loop(%a: !halves, %b: !halves, %n: index) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  tile.grid %c0, %c0, %c0
  scf.for %i = %c0 to %n step %c256 {
    %t = tile.load %a[%i] : !halves -> tensor<256xf16, #eight>
    tile.store %t, %b[%i] : tensor<256xf16, #eight>, !halves
  }
}
