// RUN: tile-opt %s -tile-apply-schedule='schedule="tile = [64, 64], warps = 4"' -tile-expand-attention -canonicalize -split-input-file | FileCheck %s

!q = !tile.buffer<?x?x128xbf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!k = !tile.buffer<?x?x?x128xbf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!op = !tile.buffer<?x?x128xf32, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!lp = !tile.buffer<?x?xf32, #tile.strided<[?, 1]>, global>
!works = !tile.buffer<?x5xi32, #tile.strided<[5, 1]>, global>
!n = !tile.buffer<?xi32, #tile.strided<[1]>, global>

// A block for each sequence. The first loop adds the steps of all sequences, the
// second one the works in front; then the block writes its works, and its tiles with
// several parts.
// CHECK-LABEL: tile.kernel @packed_works(
// CHECK: tile.launch_dependents
// CHECK: %[[BOUNDS:.*]] = tile.dim %arg7[0]
// CHECK: %[[COUNT:.*]] = arith.subi %[[BOUNDS]], %c1
// CHECK: tile.grid %[[COUNT]], %c1, %c1
// CHECK: %[[TOTAL:.*]] = scf.for %{{.*}} = %c0 to %[[COUNT]] step %c128
// CHECK: tile.reduce addf
// CHECK: scf.for %{{.*}} = %c0 to %[[COUNT]] step %c128
// CHECK-DAG: tile.reduce maxs
// CHECK-COUNT-5: tile.reduce addi
// CHECK: scf.if
// CHECK: tile.store %{{.*}} : tensor<8xi32>, !tile.buffer<5xi32
// CHECK: scf.for
// CHECK-COUNT-5: tile.store %{{.*}} : tensor<128xi32>
// CHECK: scf.for
// CHECK-COUNT-5: tile.store %{{.*}} : tensor<128xi32>

// Tiles of 8 queries of 8 heads. The result goes to the parts if the work has a part of
// the keys.
// CHECK-LABEL: tile.kernel @packed(
// CHECK: tile.launch_dependents
// CHECK: tile.wait_prerequisites
// CHECK: tile.require %arg4[0] at_least %{{.*}}, "the rows of parts that fill the GPU"
// CHECK: tile.require %arg6[0] at_least %{{.*}}, "the most works, and one row more"
// There is a work for each tile, and for each part beyond the first of a tile. A part
// has at least 78 steps or half of the steps of a multiprocessor, and at least 1/32 of the
// latter.
// CHECK: %[[TILES:.*]] = arith.addi
// CHECK: %[[ROOM:.*]] = tile.dim %arg1[1]
// CHECK: %[[KEYS:.*]] = arith.minui %[[ROOM]], %c1073741823
// CHECK: %[[WALK:.*]] = arith.ceildivui %[[KEYS]], %c64
// CHECK: %[[STEPS:.*]] = arith.muli %[[TILES]], %[[WALK]]
// CHECK: %[[ROWS:.*]] = tile.dim %arg4[0]
// CHECK: %[[PAYS:.*]] = arith.ceildivui %[[STEPS]], %c78
// CHECK: %[[ALL:.*]] = arith.muli %[[ROWS]], %c32
// CHECK: %[[MOST:.*]] = arith.ceildivui %[[ALL]], %c64
// CHECK: %[[TWO:.*]] = arith.muli %[[ROWS]], %c2
// CHECK: %[[LEAST:.*]] = arith.ceildivui %[[TWO]], %c64
// CHECK: %[[FEW:.*]] = arith.maxui %[[LEAST]], %[[PAYS]]
// CHECK: %[[PARTS:.*]] = arith.minui %[[MOST]], %[[FEW]]
// CHECK: %[[BLOCKS:.*]] = arith.addi %[[TILES]], %[[PARTS]]
// 8 blocks for each multiprocessor, which 8 full tiles of parts tell.
// CHECK: %[[TIMES:.*]] = arith.muli %[[ROWS]], %c8
// CHECK: %[[RESIDENT:.*]] = arith.ceildivui %[[TIMES]], %c64
// CHECK: %[[LAUNCHED:.*]] = arith.minui %[[BLOCKS]], %[[RESIDENT]]
// CHECK: %[[OWNERS:.*]] = arith.muli %{{.*}}, %{{.*}}
// CHECK: %[[GRID:.*]] = arith.muli %[[LAUNCHED]], %{{.*}}
// CHECK: tile.grid %[[GRID]], %c1, %c1
// The GPU runs so many blocks at a time: a round of them, of which there are 8, takes
// half of the works that are left, the last round all. If the table lets fewer blocks
// take works, there is one round.
// CHECK: %[[WORKS:.*]] = tile.load_scalar %arg6[%c0, %c0]
// CHECK: %[[LIMITED:.*]] = arith.minui %[[WORKS]], %{{.*}}
// CHECK: %[[ALL:.*]] = arith.muli %[[LIMITED]], %{{.*}}
// CHECK: %[[TILES:.*]] = tile.dim %arg4[0]
// CHECK: %[[HEADS:.*]] = arith.muli %[[TILES]], %{{.*}}
// CHECK: arith.divui %[[HEADS]], %c64
// CHECK: %[[RESIDENT:.*]] = arith.maxsi %{{.*}}, %c1_i32
// CHECK: %[[TABLE:.*]] = tile.load_scalar %arg6[%c0, %c3]
// CHECK: %[[MOST:.*]] = arith.maxsi %[[TABLE]], %c1_i32
// CHECK: %[[FEWER:.*]] = arith.cmpi ult, %[[MOST]], %[[RESIDENT]]
// CHECK: %[[ROUNDS:.*]] = arith.select %[[FEWER]], %c1_i32, %c8_i32
// CHECK: %[[BLOCKS:.*]] = arith.minui %[[RESIDENT]], %[[MOST]]
// CHECK: %[[NUMBER:.*]] = arith.divui %[[BLOCK:.*]], %[[BLOCKS]]
// CHECK: %[[IDLE:.*]] = arith.cmpi uge, %[[NUMBER]], %[[ROUNDS]]
// CHECK: %[[ROUND:.*]] = arith.select %[[IDLE]], %c0_i32, %[[NUMBER]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[ROUND]], %c1_i32
// CHECK: %[[LAST:.*]] = arith.cmpi eq, %[[NEXT]], %[[ROUNDS]]
// CHECK: %[[EACH:.*]] = arith.ceildivui %[[ALL]], %[[BLOCKS]]
// CHECK: %[[LEFT:.*]] = arith.shrui %[[EACH]], %[[ROUND]]
// CHECK: %[[HALF:.*]] = arith.shrui %[[EACH]], %[[NEXT]]
// CHECK: %[[BEHIND:.*]] = arith.select %[[LAST]], %c0_i32, %[[HALF]]
// CHECK: %[[TAKEN:.*]] = arith.subi %[[EACH]], %[[BEHIND]]
// CHECK: %[[ENDS:.*]] = arith.muli %[[TAKEN]], %[[BLOCKS]]
// CHECK: %[[END:.*]] = arith.minui %[[ALL]], %[[ENDS]]
// CHECK: %[[BEFORE:.*]] = arith.subi %[[EACH]], %[[LEFT]]
// CHECK: %[[BEGINS:.*]] = arith.muli %[[BEFORE]], %[[BLOCKS]]
// CHECK: %[[PLACE:.*]] = arith.remui %[[BLOCK]], %[[BLOCKS]]
// CHECK: %[[FIRST:.*]] = arith.addi %[[BEGINS]], %[[PLACE]]
// CHECK: %[[BOUND:.*]] = arith.select %[[IDLE]], %c0_i32, %[[END]]
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[BOUND]] step %[[BLOCKS]]
// CHECK: tile.load_scalar %arg6[%{{.*}}, %c0]
// CHECK: scf.for %{{.*}} step %c64 iter_args
// CHECK: %[[PARTS:.*]] = tile.load_scalar %arg6[%{{.*}}, %c3]
// CHECK: %[[NUMBER:.*]] = arith.index_cast %[[PARTS]]
// CHECK: %[[SHARED:.*]] = arith.cmpi ugt, %[[NUMBER]], %c1
// CHECK: scf.if %[[SHARED]] {
// CHECK: tile.store %{{.*}} : tensor<8x8x128xf32>
// CHECK: } else {
// CHECK: tile.store %{{.*}} : tensor<8x8x128xbf16>

// Blocks take the rows of the tiles with several parts in turn.
// CHECK-LABEL: tile.kernel @packed_combine(
// CHECK: tile.wait_prerequisites
// CHECK: %[[ROWS:.*]] = arith.minsi %{{.*}}, %{{.*}}
// CHECK: %[[ALL:.*]] = arith.muli %[[ROWS]], %{{.*}}
// CHECK: %[[GRID:.*]] = arith.minui %{{.*}}, %c2048
// CHECK: tile.grid %[[GRID]], %c1, %c1
// CHECK: tile.load_scalar %arg6[%c0, %c1]
// CHECK: tile.load_scalar %arg6[%c0, %c2]
// CHECK: scf.for %{{.*}} step %[[GRID]] {
// CHECK: tile.gather %{{.*}} -> tensor<8xf32>
// CHECK: tile.gather %{{.*}} -> tensor<8x128xf32>
// CHECK: tile.store %{{.*}} : tensor<1x128xbf16>
func.func @packed(%q: !q, %k: !k, %v: !k, %o: !q, %op: !op, %lp: !lp, %works: !works,
                  %cu: !n, %max: index, %n: !n, %scale: f32) {
  tile.attention %q, %k, %v, %o parts %op, %lp works %works seqlens %cu max %max
      key_lengths %n scale %scale {causal, schedule = #tile.schedule<pack_heads = 8>}
      : !q, !k, !k, !q, !op, !lp, !works, !n, !n
  return
}

// -----

!q = !tile.buffer<?x?x?x128xbf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!op = !tile.buffer<?x?x128xf32, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!lp = !tile.buffer<?x?xf32, #tile.strided<[?, 1]>, global>
!works = !tile.buffer<?x5xi32, #tile.strided<[5, 1]>, global>

// A table that is filled already needs no kernel.
// CHECK-NOT: _works
// CHECK-LABEL: tile.kernel @again(
// CHECK-NOT: tile.wait_prerequisites
// CHECK-LABEL: tile.kernel @again_combine(
// CHECK-NOT: _works
func.func @again(%q: !q, %o: !q, %op: !op, %lp: !lp, %works: !works, %scale: f32) {
  tile.attention %q, %q, %q, %o parts %op, %lp works %works scale %scale {reuse_works}
      : !q, !q, !q, !q, !op, !lp, !works
  return
}

// -----

!q = !tile.buffer<?x?x128xbf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!k = !tile.buffer<?x?x?x128xbf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!op = !tile.buffer<?x?x128xf32, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!lp = !tile.buffer<?x?xf32, #tile.strided<[?, 1]>, global>
!works = !tile.buffer<?x5xi32, #tile.strided<[5, 1]>, global>
!n = !tile.buffer<?xi32, #tile.strided<[1]>, global>

// Sequences with fewer or more queries have no tiles.
// CHECK-LABEL: tile.kernel @some_works(
// CHECK: %[[LEAST:.*]] = arith.maxsi %arg8, %c0
// CHECK: %[[FEWEST:.*]] = arith.minsi %[[LEAST]], %c1073741823
// CHECK: %[[FROM:.*]] = arith.index_cast %[[FEWEST]]
// CHECK: tensor.splat %[[FROM]]
// CHECK: %[[LESS:.*]] = arith.cmpi slt
// CHECK: arith.maxsi %arg9, %c0
// CHECK: %[[MORE:.*]] = arith.cmpi sgt
// CHECK: %[[OUT:.*]] = arith.ori %[[LESS]], %[[MORE]]
// CHECK: arith.select %[[OUT]], %{{.*}} : tensor<128xi1>, tensor<128xi32>

// A block merges 8 rows of a tile of 64 queries, one part after the other.
// CHECK-LABEL: tile.kernel @some_combine(
// CHECK: scf.for
// CHECK: scf.for
// CHECK: scf.for %{{.*}} step %c1 iter_args
// CHECK: tile.load %{{.*}} -> tensor<8xf32>
// CHECK: tile.load %{{.*}} -> tensor<8x128xf32>
// CHECK-NOT: tile.gather
// CHECK: tile.store %{{.*}} : tensor<8x128xbf16>
func.func @some(%q: !q, %k: !k, %v: !k, %o: !q, %op: !op, %lp: !lp, %works: !works,
                %cu: !n, %least: index, %most: index, %n: !n, %scale: f32) {
  tile.attention %q, %k, %v, %o parts %op, %lp works %works queries %least to %most
      seqlens %cu max %most key_lengths %n scale %scale {causal}
      : !q, !k, !k, !q, !op, !lp, !works, !n, !n
  return
}

// -----

!q = !tile.buffer<?x?x128xbf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!k = !tile.buffer<?x?x?x128xbf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!op = !tile.buffer<?x?x128xf32, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!lp = !tile.buffer<?x?xf32, #tile.strided<[?, 1]>, global>
!works = !tile.buffer<?x5xi32, #tile.strided<[5, 1]>, global>
!n = !tile.buffer<?xi32, #tile.strided<[1]>, global>

module attributes {tile.target = "sm_90a"} {
  // Beside a concurrent kernel, blocks share multiprocessors. The table counts keys of
  // tiles, and keys of shorter sequences. A key takes 64 * (2 * 256 / 4096 + 1 / 16)
  // cycles of the products and the exponentials, and the memory delivers one of the other
  // kernel in 256 * 2 / 20 cycles, of which three quarters count.
  // CHECK-LABEL: tile.kernel @beside_works(
  // CHECK-DAG: %[[CYCLES:.*]] = arith.constant 1.200000e+01 : f32
  // CHECK-DAG: %[[OTHERS:.*]] = arith.constant 2.560000e+01 : f32
  // CHECK-DAG: %[[BUSY:.*]] = arith.constant 7.500000e-01 : f32
  // CHECK-DAG: %[[SHARE:.*]] = arith.constant 0.001953125 : f32
  // CHECK: %[[SUMS:.*]]:3 = scf.for
  // CHECK-COUNT-3: tile.reduce addf
  // CHECK: arith.mulf %{{.*}}, %[[CYCLES]]
  // CHECK: %[[L:.*]] = arith.mulf %[[SUMS]]#1, %{{.*}}
  // CHECK: arith.mulf %{{.*}}, %[[OTHERS]]
  // CHECK: %[[S:.*]] = arith.mulf %[[SUMS]]#2, %{{.*}}
  // CHECK: %[[S_BUSY:.*]] = arith.mulf %[[S]], %[[BUSY]]
  // CHECK: %[[BOTH:.*]] = arith.addf %[[L]], %[[S_BUSY]]
  // CHECK: arith.divf %[[L]], %{{.*}}
  // The least number of blocks with as many rounds, or with one less.
  // CHECK: %[[ROUNDS:.*]] = math.ceil
  // CHECK: %[[LESS:.*]] = arith.subf %[[ROUNDS]],
  // CHECK: arith.divf %{{.*}}, %[[ROUNDS]]
  // CHECK: %[[FEW:.*]] = math.ceil
  // CHECK: %[[MANY:.*]] = math.ceil
  // CHECK: %[[CHOSEN:.*]] = arith.select %{{.*}}, %[[MANY]], %[[FEW]] : f32
  // No limit, where the rounds leave room or there is no other work.
  // CHECK: %[[ALONE:.*]] = arith.cmpf ole, %[[SUMS]]#2
  // CHECK: %[[ALL:.*]] = arith.ori %{{.*}}, %[[ALONE]]
  // CHECK: arith.select %[[ALL]], %c1073741824_i32, %{{.*}} : i32
  // The kernel that merges parts starts when this one has ended.
  // CHECK-LABEL: tile.kernel @beside(
  // CHECK-NOT: tile.launch_dependents
  // CHECK-LABEL: tile.kernel @beside_combine(
  func.func @beside(%q: !q, %k: !k, %v: !k, %o: !q, %op: !op, %lp: !lp, %works: !works,
                    %cu: !n, %least: index, %most: index, %n: !n, %scale: f32) {
    tile.attention %q, %k, %v, %o parts %op, %lp works %works queries %least to %most
        seqlens %cu max %most key_lengths %n scale %scale
        {causal, concurrent, schedule = #tile.schedule<tile = [64, 64], warps = 4, producers = 4, registers = [240, 24]>}
        : !q, !k, !k, !q, !op, !lp, !works, !n, !n
    return
  }

  // Without warp roles, a multiprocessor may have several blocks: there is no limit.
  // CHECK-LABEL: tile.kernel @no_roles_works(
  // CHECK-COUNT-1: tile.reduce addf
  // CHECK-NOT: arith.cmpf ole
  // CHECK-LABEL: tile.kernel @no_roles(
  func.func @no_roles(%q: !q, %k: !k, %v: !k, %o: !q, %op: !op, %lp: !lp, %works: !works,
                      %cu: !n, %least: index, %most: index, %n: !n, %scale: f32) {
    tile.attention %q, %k, %v, %o parts %op, %lp works %works queries %least to %most
        seqlens %cu max %most key_lengths %n scale %scale
        {causal, concurrent, schedule = #tile.schedule<tile = [64, 64], warps = 4, producers = 0>}
        : !q, !k, !k, !q, !op, !lp, !works, !n, !n
    return
  }
}
