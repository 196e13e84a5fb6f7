// The rows of a chip's schedules may depend on the keys of a sequence: those that the
// type of k tells, or `expected_keys`.
// RUN: tile-opt %s --tile-attach-target=chip=sm_90a --tile-expand-attention | FileCheck %s

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!long = !tile.buffer<?x4096x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

// CHECK-LABEL: tile.kernel @unknown
// CHECK-SAME: num_warps = 16
func.func @unknown(%q: !q, %k: !q, %v: !q, %o: !q, %scale: f32) {
  tile.attention %q, %k, %v, %o scale %scale : !q, !q, !q, !q
  return
}

// CHECK-LABEL: tile.kernel @few
// CHECK-SAME: num_warps = 16
func.func @few(%q: !q, %k: !q, %v: !q, %o: !q, %scale: f32) {
  tile.attention %q, %k, %v, %o scale %scale {expected_keys = 2047 : i64} : !q, !q, !q, !q
  return
}

// CHECK-LABEL: tile.kernel @many
// CHECK-SAME: num_warps = 12
func.func @many(%q: !q, %k: !q, %v: !q, %o: !q, %scale: f32) {
  tile.attention %q, %k, %v, %o scale %scale {expected_keys = 2048 : i64} : !q, !q, !q, !q
  return
}

// With few rows of queries for each multiprocessor, tiles are small.
// CHECK-LABEL: tile.kernel @rows64
// CHECK-SAME: num_warps = 4
func.func @rows64(%q: !q, %k: !q, %v: !q, %o: !q, %scale: f32) {
  tile.attention %q, %k, %v, %o scale %scale {expected_rows = 64 : i64} : !q, !q, !q, !q
  return
}

// CHECK-LABEL: tile.kernel @rows128
// CHECK-SAME: num_warps = 8
func.func @rows128(%q: !q, %k: !q, %v: !q, %o: !q, %scale: f32) {
  tile.attention %q, %k, %v, %o scale %scale {expected_rows = 128 : i64} : !q, !q, !q, !q
  return
}

// CHECK-LABEL: tile.kernel @rows129
// CHECK-SAME: num_warps = 16
func.func @rows129(%q: !q, %k: !q, %v: !q, %o: !q, %scale: f32) {
  tile.attention %q, %k, %v, %o scale %scale {expected_rows = 129 : i64} : !q, !q, !q, !q
  return
}

// CHECK-LABEL: tile.kernel @of_the_type
// CHECK-SAME: num_warps = 12
func.func @of_the_type(%q: !q, %k: !long, %v: !long, %o: !q, %scale: f32) {
  tile.attention %q, %k, %v, %o scale %scale {causal} : !q, !long, !long, !q
  return
}
