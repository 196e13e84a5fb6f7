// A load of the first elements of a vector becomes one load where all exist, and else a
// load of each that exists. Other masked loads stay. A load of a row becomes a branch for
// each element.
// RUN: tile-opt %s --tile-expand-masked-loads | FileCheck %s

!memory = memref<?xbf16, #gpu.address_space<global>>

// CHECK-LABEL: func.func @first(
// CHECK-SAME: %[[X:.*]]: memref{{.*}}, %[[I:.*]]: index, %[[COUNT:.*]]: index)
// CHECK-NOT: vector.create_mask
// CHECK: %[[WHOLE:.*]] = arith.cmpi sgt, %[[COUNT]], %c1
// CHECK: scf.if %[[WHOLE]] -> (vector<2xbf16>) {
// CHECK-NEXT: vector.load %[[X]][%[[I]]] {alignment = 4 : i64} : {{.*}}, vector<2xbf16>
// CHECK: } else {
// CHECK: %[[SOME:.*]] = arith.cmpi sgt, %[[COUNT]], %c0
// CHECK: scf.if %[[SOME]] -> (vector<2xbf16>) {
// CHECK: vector.load %[[X]][%[[I]]] {alignment = 2 : i64} : {{.*}}, vector<1xbf16>
// CHECK: arith.cmpi sgt, %[[COUNT]], %c1
// CHECK: scf.if
// CHECK: vector.load %[[X]][%{{.*}}] {alignment = 2 : i64} : {{.*}}, vector<1xbf16>
// CHECK-NOT: vector.maskedload
// CHECK: return
func.func @first(%x: !memory, %i: index, %count: index) -> vector<2xbf16> {
  %zeros = arith.constant dense<0.0> : vector<2xbf16>
  %mask = vector.create_mask %count : vector<2xi1>
  %0 = vector.maskedload %x[%i], %mask, %zeros {alignment = 4 : i64} : !memory, vector<2xi1>, vector<2xbf16> into vector<2xbf16>
  return %0 : vector<2xbf16>
}

// CHECK-LABEL: func.func @others(
// CHECK-COUNT-2: vector.maskedload
func.func @others(%x: !memory, %i: index, %mask: vector<2xi1>, %count: index, %rest: vector<2xbf16>)
    -> (vector<2xbf16>, vector<2xbf16>) {
  %zeros = arith.constant dense<0.0> : vector<2xbf16>
  %0 = vector.maskedload %x[%i], %mask, %zeros : !memory, vector<2xi1>, vector<2xbf16> into vector<2xbf16>
  %first = vector.create_mask %count : vector<2xi1>
  %1 = vector.maskedload %x[%i], %first, %rest : !memory, vector<2xi1>, vector<2xbf16> into vector<2xbf16>
  return %0, %1 : vector<2xbf16>, vector<2xbf16>
}

// CHECK-LABEL: func.func @row(
// CHECK-SAME: %[[X:.*]]: memref{{.*}}, %[[I:.*]]: index, %[[PLACE:.*]]: i32, %[[COUNT:.*]]: i32)
// CHECK-DAG: %[[LEFT:.*]] = arith.subi %[[COUNT]], %[[PLACE]]
// CHECK-DAG: %[[INDEX:.*]] = arith.index_castui %[[PLACE]]
// CHECK: %[[START:.*]] = arith.addi %[[I]], %[[INDEX]]
// CHECK: %[[HAS_FIRST:.*]] = arith.cmpi sgt, %[[LEFT]], %c0
// CHECK: scf.if %[[HAS_FIRST]] -> (vector<1xbf16>) {
// CHECK-NEXT: vector.load %[[X]][%[[START]]] {alignment = 2 : i64}
// CHECK: %[[HAS_SECOND:.*]] = arith.cmpi sgt, %[[LEFT]], %c64
// CHECK: scf.if %[[HAS_SECOND]] -> (vector<1xbf16>) {
// CHECK: vector.load
// CHECK-NOT: vector.gather
// CHECK: return
func.func @row(%x: !memory, %i: index, %place: i32, %count: i32) -> vector<2xbf16> {
  %zeros = arith.constant dense<0.0> : vector<2xbf16>
  %distances = arith.constant dense<[0, 64]> : vector<2xi32>
  %places = vector.broadcast %place : i32 to vector<2xi32>
  %indices = arith.addi %places, %distances : vector<2xi32>
  %counts = vector.broadcast %count : i32 to vector<2xi32>
  %mask = arith.cmpi slt, %indices, %counts : vector<2xi32>
  %0 = vector.gather %x[%i] [%indices], %mask, %zeros
      : !memory, vector<2xi32>, vector<2xi1>, vector<2xbf16> into vector<2xbf16>
  return %0 : vector<2xbf16>
}

// CHECK-LABEL: func.func @other_gather(
// CHECK: vector.gather
func.func @other_gather(%x: !memory, %i: index, %indices: vector<2xi32>, %mask: vector<2xi1>)
    -> vector<2xbf16> {
  %zeros = arith.constant dense<0.0> : vector<2xbf16>
  %0 = vector.gather %x[%i] [%indices], %mask, %zeros
      : !memory, vector<2xi32>, vector<2xi1>, vector<2xbf16> into vector<2xbf16>
  return %0 : vector<2xbf16>
}
