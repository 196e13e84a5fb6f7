// The rows of a tile that are of no use are removed: with few rows left, warps divide the
// keys, and the products are S^T = K Q^T and O^T = V^T P^T.
// RUN: tile-opt %s --tile-attach-target=chip=sm_90a --tile-expand-attention | FileCheck %s
// RUN: tile-opt %s --tile-attach-target=chip=gfx942 --tile-expand-attention \
// RUN:   | FileCheck %s --check-prefix=AMD
// RUN: tile-opt %s --tile-attach-target=chip=sm_80 -tile-apply-schedule='schedule="tile = [16, 64], warps = 4"' \
// RUN:   --tile-expand-attention | FileCheck %s --check-prefix=GIVEN

!q = !tile.buffer<?x?x?x80xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

// Tiles of V are padded to columns that 4 warps divide.
// CHECK-LABEL: tile.kernel @one_query(
// CHECK: scf.for {{.*}} -> (tensor<128x8xf32>, tensor<8xf32>, tensor<8xf32>)
// CHECK: %[[K:.*]] = tile.load %{{.*}} -> tensor<64x96xf16>
// CHECK: %[[QT:.*]] = tile.transpose %{{.*}} [1, 0] : tensor<8x96xf16> -> tensor<96x8xf16>
// CHECK: %[[S:.*]] = tile.dot %[[K]], %[[QT]], %{{.*}} -> tensor<64x8xf32>
// CHECK: tile.reduce maxnumf %{{.*}} along 0 : tensor<64x8xf32> -> tensor<8xf32>
// CHECK: tile.reduce addf %{{.*}} along 0 : tensor<64x8xf32> -> tensor<8xf32>
// CHECK: %[[P:.*]] = arith.truncf %{{.*}} : tensor<64x8xf32> to tensor<64x8xf16>
// CHECK: %[[V:.*]] = tile.load %{{.*}} -> tensor<64x128xf16>
// CHECK: %[[VT:.*]] = tile.transpose %[[V]]
// CHECK: tile.dot %[[VT]], %[[P]], %{{.*}} -> tensor<128x8xf32>
// CHECK: tile.transpose %{{.*}} [1, 0] : tensor<128x8xf32> -> tensor<8x128xf32>

// An instruction of gfx942 has 16 columns at least.
// AMD-LABEL: tile.kernel @one_query(
// AMD: tile.dot {{.*}} -> tensor<64x16xf32>
// AMD: tile.dot {{.*}} -> tensor<128x16xf32>

// GIVEN-LABEL: tile.kernel @one_query(
// GIVEN: tile.dot {{.*}} -> tensor<64x16xf32>
func.func @one_query(%q: !q, %k: !q, %v: !q, %o: !q, %scale: f32) {
  tile.attention %q, %k, %v, %o scale %scale
      {schedule = #tile.schedule<pack_heads = 8>, expected_rows = 5 : i64} : !q, !q, !q, !q
  return
}

// CHECK-LABEL: tile.kernel @two_queries(
// CHECK: tile.dot {{.*}} -> tensor<64x16xf32>
func.func @two_queries(%q: !q, %k: !q, %v: !q, %o: !q, %scale: f32) {
  tile.attention %q, %k, %v, %o scale %scale
      {schedule = #tile.schedule<pack_heads = 8>, expected_rows = 9 : i64} : !q, !q, !q, !q
  return
}

// A tile has the heads of a query.
// CHECK-LABEL: tile.kernel @many_heads(
// CHECK: tile.dot {{.*}} -> tensor<64x16xf32>
func.func @many_heads(%q: !q, %k: !q, %v: !q, %o: !q, %scale: f32) {
  tile.attention %q, %k, %v, %o scale %scale
      {schedule = #tile.schedule<pack_heads = 16>, expected_rows = 5 : i64} : !q, !q, !q, !q
  return
}

// CHECK-LABEL: tile.kernel @usual(
// CHECK: tile.dot {{.*}} -> tensor<64x{{64|128}}xf32>
func.func @usual(%q: !q, %k: !q, %v: !q, %o: !q, %scale: f32) {
  tile.attention %q, %k, %v, %o scale %scale
      {schedule = #tile.schedule<pack_heads = 8>, expected_rows = 9223372036854775807 : i64} : !q, !q, !q, !q
  return
}
