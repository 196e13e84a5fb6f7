// The attribute of permuted memory, and slices of buffers with it.
// RUN: tile-opt %s --verify-roundtrip | FileCheck %s
// RUN: tile-opt %s | tile-opt | FileCheck %s

// Extents that are not powers of two, a last digit that ends with the dimension, a
// map with one result, and shared memory.
// CHECK-DAG: #{{.+}} = #tile.map<(d0, d1) -> (d0 * 96 + d1)>
// CHECK-DAG: #{{.+}} = #tile.map<(d0, d1) -> (d1 floordiv 3, d0, d1 mod 3)>
// CHECK-DAG: #{{.+}} = #tile.map<(d0, d1) -> (d1 mod 64, d0)>
// CHECK-DAG: #{{.+}} = #tile.map<(d0, d1) -> (d1 floordiv 8, d0, d1 mod 8)>
func.func private @forms(
    !tile.buffer<?x96xf16, #tile.map<(l, d) -> (96 * l + d)>, global>,
    !tile.buffer<?x12xf16, #tile.map<(l, d) -> (d floordiv 3, l, d mod 3)>, global>,
    !tile.buffer<?x64xf16, #tile.map<(l, d) -> (d mod 64, l)>, global>,
    !tile.buffer<16x64xf16, #tile.map<(l, d) -> (d floordiv 8, l, d mod 8)>, shared>)

// The accumulator of dQ, in which the lanes of a warp add to 32 neighbours.
!dq = !tile.buffer<?x?x?x128xf32, #tile.map<(b, h, l, d) -> (b, h, l floordiv 8, d floordiv 8, d mod 2, 4 * (l mod 8) + (d mod 8) floordiv 2), align = 16>, global>
!dqh = !tile.buffer<?x128xf32, #tile.map<(l, d) -> (l floordiv 8, d floordiv 8, d mod 2, 4 * (l mod 8) + (d mod 8) floordiv 2), align = 16>, global>
!rows = !tile.buffer<?x?x128xf32, #tile.map<(h, l, d) -> (h, l floordiv 8, d floordiv 8, d mod 2, 4 * (l mod 8) + (d mod 8) floordiv 2), align = 16>, global>

// CHECK-DAG: #[[DQ:.+]] = #tile.map<(d0, d1, d2, d3) -> (d0, d1, d2 floordiv 8, d3 floordiv 8, d3 mod 2, (d2 mod 8) * 4 + (d3 mod 8) floordiv 2), align = 16>
// CHECK-DAG: #[[ROWS:.+]] = #tile.map<(d0, d1, d2) -> (d0, d1 floordiv 8, d2 floordiv 8, d2 mod 2, (d1 mod 8) * 4 + (d2 mod 8) floordiv 2), align = 16>
// CHECK-DAG: #[[DQH:.+]] = #tile.map<(d0, d1) -> (d0 floordiv 8, d1 floordiv 8, d1 mod 2, (d0 mod 8) * 4 + (d1 mod 8) floordiv 2), align = 16>

// CHECK-LABEL: func @slices
func.func @slices(%a: !dq, %i: index) -> (!rows, !dqh) {
  // CHECK: tile.slice %{{.+}}[%{{.+}}, *, *, *] : !tile.buffer<?x?x?x128xf32, #[[DQ]], global> to !tile.buffer<?x?x128xf32, #[[ROWS]], global>
  %r = tile.slice %a[%i, *, *, *] : !dq to !rows
  // CHECK: tile.slice %{{.+}}[%{{.+}}, %{{.+}}, *, *] : !tile.buffer<?x?x?x128xf32, #[[DQ]], global> to !tile.buffer<?x128xf32, #[[DQH]], global>
  %h = tile.slice %a[%i, %i, *, *] : !dq to !dqh
  return %r, %h : !rows, !dqh
}

// Rows of 6 elements reduce the alignment of a slice to half.
!six = !tile.buffer<?x6xf32, #tile.map<(l, d) -> (l, d), align = 16>, global>
!row = !tile.buffer<6xf32, #tile.map<(d) -> (d), align = 8>, global>
// CHECK-LABEL: func @alignment
func.func @alignment(%a: !six, %i: index) -> !row {
  // CHECK: to !tile.buffer<6xf32, #{{.+}}, global>
  %r = tile.slice %a[%i, *] : !six to !row
  return %r : !row
}
