// RUN: tile-opt %s -tile-attach-target=chip=sm_90a -tile-expand-attention -canonicalize -split-input-file | FileCheck %s

// The keys of a sequence have a length, at most as many as the cache has room for.
// The kernel that appends to the cache may still run until the wait.

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!n = !tile.buffer<?xi32, #tile.strided<[1]>, global>

// CHECK-LABEL: tile.kernel @lengths(
// CHECK: tile.wait_prerequisites
// CHECK: %[[ROOM:.*]] = tile.dim %arg1[1]
// CHECK: %[[GIVEN:.*]] = tile.load_scalar %arg4[%[[B:.*]]]
// CHECK: %[[MOST:.*]] = arith.maxsi %[[GIVEN]], %c0_i32
// CHECK: %[[ROOM32:.*]] = arith.index_cast %[[ROOM]]
// CHECK: %[[LENGTH32:.*]] = arith.minsi %[[MOST]], %[[ROOM32]]
// CHECK: %[[LENGTH:.*]] = arith.index_cast %[[LENGTH32]]
// CHECK: %[[K:.*]] = tile.slice %arg1[%[[B]], *, %{{.*}}, *]
// CHECK: tile.narrow %[[K]][0] from %c0 length %[[LENGTH]]
// CHECK: %[[V:.*]] = tile.slice %arg2[%[[B]], *, %{{.*}}, *]
// CHECK: tile.narrow %[[V]][0] from %c0 length %[[LENGTH]]
// CHECK-NOT: work_stages
func.func @lengths(%q: !q, %k: !q, %v: !q, %o: !q, %n: !n, %scale: f32) {
  tile.attention %q, %k, %v, %o key_lengths %n scale %scale : !q, !q, !q, !q, !n
  return
}

// -----

// Packed queries over pages. There are as many lengths as sequences of queries.

!q = !tile.buffer<?x?x64xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!cache = !tile.buffer<?x16x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!n = !tile.buffer<?xi32, #tile.strided<[1]>, global>
!t = !tile.buffer<?x?xi32, #tile.strided<[?, 1]>, global>

// CHECK-LABEL: tile.kernel @pages(
// CHECK: %[[PAGES:.*]] = tile.dim %arg7[1]
// CHECK: %[[ROOM:.*]] = arith.muli %[[PAGES]], %c16
// CHECK: arith.minsi %[[ROOM]], %c1073741823
// CHECK: tile.load_scalar %arg6
// CHECK: %[[K:.*]] = tile.slice %arg1[*, *, %{{.*}}, *]
// CHECK: %[[TABLE:.*]] = tile.slice %arg7[%{{.*}}, *]
// CHECK: tile.paged %[[K]] by %[[TABLE]] length %[[LENGTH:[a-z0-9]*]]
// CHECK: %[[V:.*]] = tile.slice %arg2[*, *, %{{.*}}, *]
// CHECK: tile.paged %[[V]] by %{{.*}} length %[[LENGTH]]
// CHECK: tile.require %arg7[0] equal %{{.*}}, "the batch of key_lengths"
// CHECK: tile.require %arg6[0] equal %{{.*}}, "the number of sequences of cu_q"
func.func @pages(%q: !q, %k: !cache, %v: !cache, %o: !q, %cu: !n, %max: index, %n: !n, %t: !t, %scale: f32) {
  tile.attention %q, %k, %v, %o seqlens %cu max %max key_lengths %n pages %t scale %scale {causal}
      : !q, !cache, !cache, !q, !n, !n, !t
  return
}

// -----

// A list of pages: a sequence has full pages and the keys of the last one.

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!cache = !tile.buffer<?x16x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!n = !tile.buffer<?xi32, #tile.strided<[1]>, global>

// CHECK-LABEL: tile.kernel @page_list(
// CHECK: %[[ALL:.*]] = tile.dim %arg5[0]
// CHECK-DAG: %[[FROM:.*]] = tile.load_scalar %arg6[%[[B:[a-z0-9_]*]]]
// CHECK-DAG: tile.load_scalar %arg6[
// CHECK: %[[LAST:.*]] = tile.load_scalar %arg4[%[[B]]]
// CHECK: arith.minsi %{{.*}}, %c67108863_i32
// CHECK: %[[KEYS:.*]] = arith.addi %{{.*}} : i32
// CHECK: %[[LENGTH:.*]] = arith.index_cast %[[KEYS]]
// CHECK: %[[K:.*]] = tile.slice %arg1[*, *, %{{.*}}, *]
// CHECK: %[[PAGES:.*]] = tile.narrow %arg5[0] from %{{.*}} length
// CHECK: tile.paged %[[K]] by %[[PAGES]] length %[[LENGTH]]
// CHECK: tile.require %arg4[0] equal %{{.*}}, "the number of sequences of cu_pages"
func.func @page_list(%q: !q, %k: !cache, %v: !cache, %o: !q, %n: !n, %t: !n, %cu: !n, %scale: f32) {
  tile.attention %q, %k, %v, %o key_lengths %n pages %t, %cu scale %scale
      : !q, !cache, !cache, !q, !n, !n, !n
  return
}
