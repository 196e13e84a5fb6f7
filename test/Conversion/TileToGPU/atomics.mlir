// The program of one thread for an atomic: widths, owners, bounds, old values.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile-vectorize,gpu.module(canonicalize,cse))' | FileCheck %s

#rows = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [1, 1], order = [1, 0]>
// Each element has copies in four lanes.
#copies = #tile.layout<register = [], lane = [4 -> 0, 8 -> d0], warp = []>

!f = !tile.buffer<8x64xf32, #tile.strided<[64, 1], align = 16>, global>
!ragged = !tile.buffer<?x64xf32, #tile.strided<[64, 1], align = 16>, global>
!v = !tile.buffer<8xf16, #tile.strided<[1]>, global>
!s = !tile.buffer<8x64xf32, #tile.padded<4, order = [1, 0]>, shared>

// A thread has 16 elements: four accesses of four.
// CHECK-LABEL: gpu.func @wide
// CHECK-NOT: scf.if
// CHECK-COUNT-4: tile_gpu.atomic_rmw addf %{{.+}}, %{{.+}}[%{{.+}}] order(relaxed) scope(device) : vector<4xf32>, memref<?xf32, #gpu.address_space<global>>{{$}}
// CHECK-NOT: atomic_rmw
// CHECK: gpu.return
tile.kernel @wide(%a: !f, %b: !f) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %t = tile.load %a[%c0, %c0] : !f -> tensor<8x64xf32, #rows>
  tile.atomic_rmw addf %t, %b[%c0, %c0] : tensor<8x64xf32, #rows>, !f
}

// Each row has its own mask, which is the same for all columns.
// CHECK-LABEL: gpu.func @masked
// CHECK: scf.if
// CHECK-COUNT-2: tile_gpu.atomic_rmw addf {{.*}} order(release) scope(system) : vector<4xf32>
// CHECK-NOT: atomic_rmw
// CHECK: scf.if
// CHECK-COUNT-2: tile_gpu.atomic_rmw addf {{.*}} order(release) scope(system) : vector<4xf32>
// CHECK-NOT: atomic_rmw
// CHECK: gpu.return
tile.kernel @masked(%a: !f, %b: !ragged) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %t = tile.load %a[%c0, %c0] : !f -> tensor<8x64xf32, #rows>
  tile.atomic_rmw addf %t, %b[%c0, %c0] order(release) scope(system) : tensor<8x64xf32, #rows>, !ragged
}

// A coordinate that a loop carries is a multiple of what its first value and the
// next ones are multiples of, in the loop and after it.
!line = !tile.buffer<4096xf32, #tile.strided<[1], align = 16>, global>
#quads = #tile.blocked<thread = [4], lane = [32], warp = [1], order = [0]>
// CHECK-LABEL: gpu.func @carried
// CHECK: scf.for
// CHECK: atomic_rmw addf {{.*}} : vector<4xf32>
// CHECK-NOT: vector<1xf32>
// CHECK: scf.yield
// CHECK: atomic_rmw addf {{.*}} : vector<4xf32>
// CHECK-NOT: vector<1xf32>
// CHECK: gpu.return
// Adding 6 leaves pairs.
// CHECK-LABEL: gpu.func @carried_pairs
// CHECK-NOT: vector<4xf32>
// CHECK: atomic_rmw addf {{.*}} : vector<2xf32>
// CHECK: gpu.return
tile.kernel @carried(%b: !line, %n: index) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  tile.grid %c0, %c0, %c0
  %t = arith.constant dense<1.0> : tensor<128xf32, #quads>
  %last = scf.for %i = %c0 to %n step %c128 iter_args(%before = %c0) -> index {
    tile.atomic_rmw addf %t, %b[%before] : tensor<128xf32, #quads>, !line
    scf.yield %i : index
  }
  tile.atomic_rmw addf %t, %b[%last] : tensor<128xf32, #quads>, !line
}
tile.kernel @carried_pairs(%b: !line, %n: index) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c6 = arith.constant 6 : index
  %c128 = arith.constant 128 : index
  tile.grid %c0, %c0, %c0
  %t = arith.constant dense<1.0> : tensor<128xf32, #quads>
  %last = scf.for %i = %c0 to %n step %c128 iter_args(%before = %c0) -> index {
    tile.atomic_rmw addf %t, %b[%before] : tensor<128xf32, #quads>, !line
    %next = arith.addi %before, %c6 : index
    scf.yield %next : index
  }
}

// The first of four lanes executes the atomic and sends the old value to the others.
// CHECK-LABEL: gpu.func @copies
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0 : i32
// CHECK-DAG: %[[FOUR:.+]] = arith.constant 4 : i32
// CHECK: %[[COPY:.+]] = arith.remui %{{.+}}, %[[FOUR]] : i32
// CHECK: %[[OWNER:.+]] = arith.cmpi eq, %[[COPY]], %[[ZERO]] : i32
// CHECK: %[[OLD:.+]] = scf.if %[[OWNER]] -> (vector<1xf16>)
// CHECK: tile_gpu.atomic_rmw addf {{.*}} : vector<1xf16>, {{.*}} -> vector<1xf16>
// CHECK: %[[SOURCE:.+]] = arith.subi %{{.+}}, %[[COPY]] : i32
// CHECK: gpu.shuffle idx %{{.+}}, %[[SOURCE]], %{{.+}} : i32
// CHECK: vector.store
tile.kernel @copies(%a: !v, %b: !v) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %t = tile.load %a[%c0] : !v -> tensor<8xf16, #copies>
  %old = tile.atomic_rmw addf %t, %b[%c0] : tensor<8xf16, #copies>, !v -> tensor<8xf16, #copies>
  tile.store %old, %a[%c0] : tensor<8xf16, #copies>, !v
}

// Atomics on vectors of f32 exist only for global memory.
// CHECK-LABEL: gpu.func @shared
// CHECK-COUNT-16: tile_gpu.atomic_rmw addf {{.*}} : vector<1xf32>, memref<?xf32, #gpu.address_space<workgroup>>{{$}}
// CHECK-NOT: atomic_rmw
// CHECK: gpu.return
tile.kernel @shared(%a: !f) attributes {num_warps = 1 : i32, shared_bytes = 2176 : i64} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %t = tile.load %a[%c0, %c0] : !f -> tensor<8x64xf32, #rows>
  %s = tile.alloc {offset = 0} : !s
  tile.atomic_rmw addf %t, %s[%c0, %c0] : tensor<8x64xf32, #rows>, !s
}
