// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s -canonicalize | FileCheck %s --check-prefix=FOLD

!rows = !tile.buffer<?x64xf16, #tile.strided<[?:4, 1], align = 16>, global>
!part = !tile.buffer<?x64xf16, #tile.strided<[?:4, 1], align = 8>, global>
!cu = !tile.buffer<?xi32, #tile.strided<[1]>, global>

// A start at a multiple of 4 elements reduces the alignment from 16 to 8 bytes.
// CHECK-LABEL: @narrow
// FOLD-LABEL: @narrow
// FOLD-SAME: %[[ROWS:.*]]: !tile.buffer{{.*}} %[[START:.*]]: index, %[[LENGTH:.*]]: index
func.func @narrow(%rows: !rows, %start: index, %length: index) -> (index, index) {
  // CHECK: tile.narrow %{{.*}}[0] from %{{.*}} length %{{.*}} : {{.*}} to !tile.buffer<?x64xf16, #{{.*}}, global>
  %part = tile.narrow %rows[0] from %start length %length : !rows to !part
  // FOLD: %[[C64:.*]] = arith.constant 64
  // FOLD: return %[[LENGTH]], %[[C64]]
  %n = tile.dim %part[0] : !part
  %m = tile.dim %part[1] : !part
  return %n, %m : index, index
}

// The type of a view may be left out.
// CHECK-LABEL: @inferred
func.func @inferred(%rows: !rows, %i: index) {
  // CHECK: tile.narrow %{{.*}}[0] from %{{.*}} length %{{.*}} : {{.*}} to !tile.buffer<?x64xf16, #[[PART:.+]], global>
  %part = tile.narrow %rows[0] from %i length %i : !rows
  // CHECK: tile.slice %{{.*}}[%{{.*}}, *] : !tile.buffer<?x64xf16, #[[PART]], global> to !tile.buffer<64xf16, #{{.+}}, global>
  %row = tile.slice %part[%i, *] : !part
  // CHECK: tile.slice %{{.*}}[%{{.*}}, *] {name} : {{.*}} to !tile.buffer<64xf16, #{{.+}}, global>
  %same = tile.slice %part[%i, *] {name} : !part to !tile.buffer<64xf16, #tile.strided<[1], align = 8>, global>
  return
}

// CHECK-LABEL: @load_scalar
func.func @load_scalar(%cu: !cu, %i: index) -> i32 {
  // CHECK: tile.load_scalar %{{.*}}[%{{.*}}] : !tile.buffer<?xi32{{.*}} -> i32
  %start = tile.load_scalar %cu[%i] : !cu -> i32
  return %start : i32
}
