// RUN: tile-opt %s --tile-sink-fragment-loads | FileCheck %s

#shared = #gpu.address_space<workgroup>

// Each read goes where its first user is, with the slices of its result.
// CHECK-LABEL: func @fragments
// CHECK: %[[X:.+]] = tile_gpu.load_matrix
// CHECK-NEXT: %[[X0:.+]] = vector.extract_strided_slice %[[X]] {offsets = [0]
// CHECK-NEXT: %[[A:.+]] = tile_gpu.load_matrix
// CHECK-NEXT: tile_gpu.mma "mma.m16n8k16.f16" %[[A]], %[[X0]],
// CHECK-NEXT: %[[X1:.+]] = vector.extract_strided_slice %[[X]] {offsets = [4]
// CHECK-NEXT: tile_gpu.mma "mma.m16n8k16.f16" %[[A]], %[[X1]],
// CHECK-NEXT: %[[Y:.+]] = tile_gpu.load_matrix
// CHECK-NEXT: %[[Y0:.+]] = vector.extract_strided_slice %[[Y]]
// CHECK-NEXT: tile_gpu.mma "mma.m16n8k16.f16" %[[A]], %[[Y0]],
func.func @fragments(%m: memref<?xf16, #shared>, %i: index, %j: index, %c: vector<4xf32>)
    -> vector<4xf32> {
  %a = tile_gpu.load_matrix %m[%i] : memref<?xf16, #shared> -> vector<8xf16>
  %x = tile_gpu.load_matrix %m[%i] : memref<?xf16, #shared> -> vector<8xf16>
  %y = tile_gpu.load_matrix %m[%j] : memref<?xf16, #shared> -> vector<8xf16>
  %x0 = vector.extract_strided_slice %x {offsets = [0], sizes = [4], strides = [1]} : vector<8xf16> to vector<4xf16>
  %x1 = vector.extract_strided_slice %x {offsets = [4], sizes = [4], strides = [1]} : vector<8xf16> to vector<4xf16>
  %y0 = vector.extract_strided_slice %y {offsets = [0], sizes = [4], strides = [1]} : vector<8xf16> to vector<4xf16>
  %d0 = tile_gpu.mma "mma.m16n8k16.f16" %a, %x0, %c : vector<8xf16>, vector<4xf16>, vector<4xf32>
  %d1 = tile_gpu.mma "mma.m16n8k16.f16" %a, %x1, %d0 : vector<8xf16>, vector<4xf16>, vector<4xf32>
  %d2 = tile_gpu.mma "mma.m16n8k16.f16" %a, %y0, %d1 : vector<8xf16>, vector<4xf16>, vector<4xf32>
  return %d2 : vector<4xf32>
}

// Not past a barrier or a store: what is read may be overwritten there.
// CHECK-LABEL: func @fence
// CHECK: tile_gpu.load_matrix
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: arith.negf
func.func @fence(%m: memref<?xf16, #shared>, %i: index) -> vector<8xf16> {
  %a = tile_gpu.load_matrix %m[%i] : memref<?xf16, #shared> -> vector<8xf16>
  gpu.barrier
  %n = arith.negf %a : vector<8xf16>
  return %n : vector<8xf16>
}

// A user inside a loop: to the front of the loop, not into it.
// CHECK-LABEL: func @loop
// CHECK: arith.constant
// CHECK: %[[A:.+]] = tile_gpu.load_matrix
// CHECK-NEXT: scf.for
// CHECK: arith.addf %{{.+}}, %[[A]]
func.func @loop(%m: memref<?xf16, #shared>, %i: index, %n: index) -> vector<8xf16> {
  %a = tile_gpu.load_matrix %m[%i] : memref<?xf16, #shared> -> vector<8xf16>
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : vector<8xf16>
  %r = scf.for %k = %i to %n step %c1 iter_args(%s = %zero) -> vector<8xf16> {
    %t = arith.addf %s, %a : vector<8xf16>
    scf.yield %t : vector<8xf16>
  }
  return %r : vector<8xf16>
}

// A constant distance from an address outside the loop is added at the access,
// where it is part of the instruction.
// CHECK-LABEL: func @address
// CHECK: scf.for
// CHECK: %[[I:.+]] = arith.addi %{{.+}}, %c64
// CHECK-NEXT: tile_gpu.load_matrix %{{.+}}[%[[I]]]
func.func @address(%m: memref<?xf16, #shared>, %i: index, %n: index) -> vector<8xf16> {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : vector<8xf16>
  %j = arith.addi %i, %c64 : index
  %r = scf.for %k = %i to %n step %c1 iter_args(%s = %zero) -> vector<8xf16> {
    %a = tile_gpu.load_matrix %m[%j] : memref<?xf16, #shared> -> vector<8xf16>
    %t = arith.addf %s, %a : vector<8xf16>
    scf.yield %t : vector<8xf16>
  }
  return %r : vector<8xf16>
}
