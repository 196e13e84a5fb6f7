// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile.kernel(tile-assign-layouts,tile-bufferize,tile-choose-roles,tile-persist,tile-specialize-warps))' | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile.kernel(tile-assign-layouts,tile-bufferize,tile-choose-roles,tile-persist,tile-specialize-warps,tile-overlap-dots,tile-stage-stores,tile-lower-rings,tile-plan-shared-memory))' | FileCheck %s --check-prefix=RINGS
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-to-nvvm{chip=sm_90a})' -o /dev/null

// Two groups of consumers take the works of a persistent kernel in turn.

!a = !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
!x = tensor<64x64xbf16>
!acc = tensor<64x64xf32>

// CHECK-LABEL: tile.kernel @product
// CHECK: tile.warp_roles warps = [4, 1] groups = 2 {
// A group starts at its own work, behind the tiles of those before.
// CHECK: %[[GROUP:.+]] = tile.consumer_group
// CHECK: %[[BEFORE:.+]] = arith.muli %[[GROUP]],
// CHECK: tile.ring.skip %[[A:.+]], %[[BEFORE]]
// CHECK: tile.ring.skip %[[B:.+]], %[[BEFORE]]
// CHECK: scf.for
// CHECK: tile.await_turn
// CHECK: scf.for
// CHECK: tile.ring.take %[[A]]
// CHECK: tile.ring.take %[[B]]
// CHECK: tile.dot
// CHECK: tile.pass_turn
// CHECK: tile.store
// Then it passes over the tiles of the next work, the other group's.
// CHECK: tile.ring.skip %[[A]], %[[BETWEEN:.+]] :
// CHECK: tile.ring.skip %[[B]], %[[BETWEEN]] :
// CHECK-NOT: tile.consumer_group
// CHECK: tile.bulk_copy

// Each group has a staging buffer of 8192 bytes: the rings follow both.
// RINGS-LABEL: tile.kernel @product
// RINGS-SAME: shared_bytes = 49
// RINGS-NOT: tile.ring
tile.kernel @product(%a: !a, %b: !a, %c: !a) attributes {num_warps = 4 : i32,
    schedule = #tile.schedule<consumer_groups = 2, producers = 1, stages = 2, work_stages = 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %m = tile.dim %a[0] : !a
  %k = tile.dim %a[1] : !a
  %blocks = arith.ceildivui %m, %c64 : index
  tile.grid %blocks, %c1, %c1
  %x = tile.program_id x
  %row = arith.muli %x, %c64 : index
  %zero = arith.constant dense<0.0> : !acc
  %sum = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (!acc) {
    %at = tile.load %a[%row, %i] : !a -> !x
    %bt = tile.load %b[%i, %c0] : !a -> !x
    %next = tile.dot %at, %bt, %acc : !x, !x -> !acc
    scf.yield %next : !acc
  }
  %low = arith.truncf %sum : !acc to !x
  tile.store %low, %c[%row, %c0] : !x, !a
}

// Groups that share a warpgroup with another role.
tile.kernel @narrow(%out: !tile.buffer<?xi32, #tile.strided<[1]>, global>) attributes {num_warps = 1 : i32} {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  tile.grid %c1, %c1, %c1
  tile.warp_roles warps = [1, 2] registers = [32, 32] groups = 2 {
    %group = tile.consumer_group
    %place = arith.muli %group, %c32 : index
    %lane = tile.iota along 0 : tensor<32xi32>
    tile.store %lane, %out[%place] : tensor<32xi32>, !tile.buffer<?xi32, #tile.strided<[1]>, global>
    tile.barrier
  }, {
  }
}
