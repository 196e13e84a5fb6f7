// RUN: tile-opt %s --tile-sink-fragment-loads | FileCheck %s

#shared = #gpu.address_space<workgroup>
#global = #gpu.address_space<global>

// Each read moves to its first user, together with the slices of its result.
// CHECK-LABEL: func @fragments
// CHECK: %[[XR:.+]] = nvgpu.ldmatrix
// CHECK-NEXT: %[[X:.+]] = vector.shape_cast %[[XR]]
// CHECK-NEXT: %[[X0:.+]] = vector.extract_strided_slice %[[X]] {offsets = [0]
// CHECK-NEXT: %[[AR:.+]] = nvgpu.ldmatrix
// CHECK-NEXT: %[[A:.+]] = vector.shape_cast %[[AR]]
// CHECK-NEXT: tile_gpu.mma "mma.m16n8k16.f16" %[[A]], %[[X0]],
// CHECK-NEXT: %[[X1:.+]] = vector.extract_strided_slice %[[X]] {offsets = [4]
// CHECK-NEXT: tile_gpu.mma "mma.m16n8k16.f16" %[[A]], %[[X1]],
// CHECK-NEXT: %[[YR:.+]] = nvgpu.ldmatrix
// CHECK-NEXT: %[[Y:.+]] = vector.shape_cast %[[YR]]
// CHECK-NEXT: %[[Y0:.+]] = vector.extract_strided_slice %[[Y]]
// CHECK-NEXT: tile_gpu.mma "mma.m16n8k16.f16" %[[A]], %[[Y0]],
func.func @fragments(%m: memref<?xf16, #shared>, %i: index, %j: index, %c: vector<4xf32>)
    -> vector<4xf32> {
  %a_rows = nvgpu.ldmatrix %m[%i] {numTiles = 4 : i32, transpose = false} : memref<?xf16, #shared> -> vector<4x2xf16>
  %a = vector.shape_cast %a_rows : vector<4x2xf16> to vector<8xf16>
  %x_rows = nvgpu.ldmatrix %m[%i] {numTiles = 4 : i32, transpose = false} : memref<?xf16, #shared> -> vector<4x2xf16>
  %x = vector.shape_cast %x_rows : vector<4x2xf16> to vector<8xf16>
  %y_rows = nvgpu.ldmatrix %m[%j] {numTiles = 4 : i32, transpose = false} : memref<?xf16, #shared> -> vector<4x2xf16>
  %y = vector.shape_cast %y_rows : vector<4x2xf16> to vector<8xf16>
  %x0 = vector.extract_strided_slice %x {offsets = [0], sizes = [4], strides = [1]} : vector<8xf16> to vector<4xf16>
  %x1 = vector.extract_strided_slice %x {offsets = [4], sizes = [4], strides = [1]} : vector<8xf16> to vector<4xf16>
  %y0 = vector.extract_strided_slice %y {offsets = [0], sizes = [4], strides = [1]} : vector<8xf16> to vector<4xf16>
  %d0 = tile_gpu.mma "mma.m16n8k16.f16" %a, %x0, %c : vector<8xf16>, vector<4xf16>, vector<4xf32>
  %d1 = tile_gpu.mma "mma.m16n8k16.f16" %a, %x1, %d0 : vector<8xf16>, vector<4xf16>, vector<4xf32>
  %d2 = tile_gpu.mma "mma.m16n8k16.f16" %a, %y0, %d1 : vector<8xf16>, vector<4xf16>, vector<4xf32>
  return %d2 : vector<4xf32>
}

// Reads do not move past a barrier or a store, which may overwrite their source.
// CHECK-LABEL: func @fence
// CHECK: nvgpu.ldmatrix
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: vector.shape_cast
// CHECK-NEXT: arith.negf
func.func @fence(%m: memref<?xf16, #shared>, %i: index) -> vector<8xf16> {
  %a_rows = nvgpu.ldmatrix %m[%i] {numTiles = 4 : i32, transpose = false} : memref<?xf16, #shared> -> vector<4x2xf16>
  %a = vector.shape_cast %a_rows : vector<4x2xf16> to vector<8xf16>
  gpu.barrier
  %n = arith.negf %a : vector<8xf16>
  return %n : vector<8xf16>
}

// If the user is inside a loop, the read moves before the loop, not into it.
// CHECK-LABEL: func @loop
// CHECK: arith.constant
// CHECK: %[[AR:.+]] = nvgpu.ldmatrix
// CHECK-NEXT: %[[A:.+]] = vector.shape_cast %[[AR]]
// CHECK-NEXT: scf.for
// CHECK: arith.addf %{{.+}}, %[[A]]
func.func @loop(%m: memref<?xf16, #shared>, %i: index, %n: index) -> vector<8xf16> {
  %a_rows = nvgpu.ldmatrix %m[%i] {numTiles = 4 : i32, transpose = false} : memref<?xf16, #shared> -> vector<4x2xf16>
  %a = vector.shape_cast %a_rows : vector<4x2xf16> to vector<8xf16>
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : vector<8xf16>
  %r = scf.for %k = %i to %n step %c1 iter_args(%s = %zero) -> vector<8xf16> {
    %t = arith.addf %s, %a : vector<8xf16>
    scf.yield %t : vector<8xf16>
  }
  return %r : vector<8xf16>
}

// The addition of a constant to an address from outside the loop moves to the
// access, where it is part of the instruction.
// CHECK-LABEL: func @address
// CHECK: scf.for
// CHECK: %[[I:.+]] = arith.addi %{{.+}}, %c64
// CHECK-NEXT: nvgpu.ldmatrix %{{.+}}[%[[I]]]
func.func @address(%m: memref<?xf16, #shared>, %i: index, %n: index) -> vector<8xf16> {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : vector<8xf16>
  %j = arith.addi %i, %c64 : index
  %r = scf.for %k = %i to %n step %c1 iter_args(%s = %zero) -> vector<8xf16> {
    %a_rows = nvgpu.ldmatrix %m[%j] {numTiles = 4 : i32, transpose = false} : memref<?xf16, #shared> -> vector<4x2xf16>
    %a = vector.shape_cast %a_rows : vector<4x2xf16> to vector<8xf16>
    %t = arith.addf %s, %a : vector<8xf16>
    scf.yield %t : vector<8xf16>
  }
  return %r : vector<8xf16>
}

// Loads of workgroup memory move, too; loads of global memory do not.
// CHECK-LABEL: func @vectors
// CHECK: %[[G:.+]] = vector.load %{{.+}} : memref<?xf16, #gpu.address_space<global>>
// CHECK-NEXT: arith.negf %[[G]]
// CHECK-NEXT: %[[A:.+]] = vector.load %{{.+}} : memref<?xf16, #gpu.address_space<workgroup>>
// CHECK-NEXT: arith.addf %{{.+}}, %[[A]]
func.func @vectors(%m: memref<?xf16, #shared>, %g: memref<?xf16, #global>, %i: index) -> vector<8xf16> {
  %b = vector.load %g[%i] : memref<?xf16, #global>, vector<8xf16>
  %a = vector.load %m[%i] : memref<?xf16, #shared>, vector<8xf16>
  %n = arith.negf %b : vector<8xf16>
  %s = arith.addf %n, %a : vector<8xf16>
  return %s : vector<8xf16>
}

// Reads do not move past a store in a loop, either.
// CHECK-LABEL: func @store_in_loop
// CHECK: vector.load
// CHECK-NEXT: scf.for
// CHECK: arith.negf
func.func @store_in_loop(%m: memref<?xf16, #shared>, %i: index, %v: vector<8xf16>) -> vector<8xf16> {
  %c1 = arith.constant 1 : index
  %a = vector.load %m[%i] : memref<?xf16, #shared>, vector<8xf16>
  scf.for %k = %i to %i step %c1 {
    vector.store %v, %m[%k] : memref<?xf16, #shared>, vector<8xf16>
  }
  %n = arith.negf %a : vector<8xf16>
  return %n : vector<8xf16>
}

// A slice of shuffled parts needs only its own parts.
// CHECK-LABEL: func @parts
// CHECK: %[[P0:.+]] = vector.load %{{.+}}[%arg1]
// CHECK-NEXT: %[[S0:.+]] = vector.insert_strided_slice %[[P0]], %{{.+}} {offsets = [0]
// CHECK-NEXT: %[[P2:.+]] = vector.load %{{.+}}[%arg3]
// CHECK-NEXT: %[[F0:.+]] = vector.insert_strided_slice %[[P2]], %[[S0]] {offsets = [4]
// CHECK-NEXT: tile_gpu.mma "mma.m16n8k16.f16" %[[F0]],
// CHECK: %[[P1:.+]] = vector.load %{{.+}}[%arg2]
// CHECK: %[[P3:.+]] = vector.load %{{.+}}[%arg4]
// CHECK-NOT: vector.shuffle
// CHECK: tile_gpu.mma
func.func @parts(%m: memref<?xf16, #shared>, %i0: index, %i1: index, %i2: index, %i3: index,
    %b: vector<4xf16>, %c: vector<4xf32>) -> vector<4xf32> {
  %zero = arith.constant dense<0.0> : vector<16xf16>
  %p0 = vector.load %m[%i0] : memref<?xf16, #shared>, vector<4xf16>
  %p1 = vector.load %m[%i1] : memref<?xf16, #shared>, vector<4xf16>
  %p2 = vector.load %m[%i2] : memref<?xf16, #shared>, vector<4xf16>
  %p3 = vector.load %m[%i3] : memref<?xf16, #shared>, vector<4xf16>
  %0 = vector.insert_strided_slice %p0, %zero {offsets = [0], strides = [1]} : vector<4xf16> into vector<16xf16>
  %1 = vector.insert_strided_slice %p1, %0 {offsets = [4], strides = [1]} : vector<4xf16> into vector<16xf16>
  %2 = vector.insert_strided_slice %p2, %1 {offsets = [8], strides = [1]} : vector<4xf16> into vector<16xf16>
  %3 = vector.insert_strided_slice %p3, %2 {offsets = [12], strides = [1]} : vector<4xf16> into vector<16xf16>
  %t = vector.shuffle %3, %3 [0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7, 12, 13, 14, 15] : vector<16xf16>, vector<16xf16>
  %a0 = vector.extract_strided_slice %t {offsets = [0], sizes = [8], strides = [1]} : vector<16xf16> to vector<8xf16>
  %a1 = vector.extract_strided_slice %t {offsets = [8], sizes = [8], strides = [1]} : vector<16xf16> to vector<8xf16>
  %d0 = tile_gpu.mma "mma.m16n8k16.f16" %a0, %b, %c : vector<8xf16>, vector<4xf16>, vector<4xf32>
  %d1 = tile_gpu.mma "mma.m16n8k16.f16" %a1, %b, %d0 : vector<8xf16>, vector<4xf16>, vector<4xf32>
  return %d1 : vector<4xf32>
}

// Interleaved elements, and a slice of one part.
// CHECK-LABEL: func @elements
// CHECK-SAME: %[[X:[a-z0-9]+]]: vector<2xf16>, %[[Y:[a-z0-9]+]]: vector<2xf16>
// CHECK-DAG: %[[X0:.+]] = vector.extract %[[X]][0]
// CHECK-DAG: %[[X1:.+]] = vector.extract %[[X]][1]
// CHECK-DAG: %[[Y0:.+]] = vector.extract %[[Y]][0]
// CHECK-DAG: %[[A:.+]] = vector.from_elements %[[X0]], %[[Y0]], %[[X1]] : vector<3xf16>
// CHECK-DAG: %[[C:.+]] = vector.extract_strided_slice %[[Y]] {offsets = [1], sizes = [1]
// CHECK: return %[[A]], %[[C]]
func.func @elements(%x: vector<2xf16>, %y: vector<2xf16>) -> (vector<3xf16>, vector<1xf16>) {
  %zero = arith.constant dense<0.0> : vector<4xf16>
  %0 = vector.insert_strided_slice %x, %zero {offsets = [0], strides = [1]} : vector<2xf16> into vector<4xf16>
  %1 = vector.insert_strided_slice %y, %0 {offsets = [2], strides = [1]} : vector<2xf16> into vector<4xf16>
  %t = vector.shuffle %1, %1 [0, 2, 1, 3] : vector<4xf16>, vector<4xf16>
  %a = vector.extract_strided_slice %t {offsets = [0], sizes = [3], strides = [1]} : vector<4xf16> to vector<3xf16>
  %b = vector.extract_strided_slice %t {offsets = [3], sizes = [1], strides = [1]} : vector<4xf16> to vector<1xf16>
  return %a, %b : vector<3xf16>, vector<1xf16>
}

// Elements that no insertion wrote are unchanged.
// CHECK-LABEL: func @not_inserted
// CHECK: vector.insert_strided_slice
// CHECK: %[[T:.+]] = vector.shuffle
// CHECK: vector.extract_strided_slice %[[T]]
func.func @not_inserted(%x: vector<2xf16>, %z: vector<4xf16>) -> vector<2xf16> {
  %0 = vector.insert_strided_slice %x, %z {offsets = [0], strides = [1]} : vector<2xf16> into vector<4xf16>
  %t = vector.shuffle %0, %0 [0, 2, 1, 3] : vector<4xf16>, vector<4xf16>
  %a = vector.extract_strided_slice %t {offsets = [0], sizes = [2], strides = [1]} : vector<4xf16> to vector<2xf16>
  return %a : vector<2xf16>
}

// Shuffles select the elements of stores. If the elements were loaded one by
// one, or by one access, the stores use the loaded vectors. Other shuffles stay
// one operation.
// CHECK-LABEL: func @stores
// CHECK-SAME: %[[A:[a-z0-9]+]]: vector<1xf16>, %[[B:[a-z0-9]+]]: vector<1xf16>, %[[C:[a-z0-9]+]]: vector<2xf16>
// CHECK-DAG: %[[A0:.+]] = vector.extract %[[A]][0]
// CHECK-DAG: %[[B0:.+]] = vector.extract %[[B]][0]
// CHECK-DAG: %[[BA:.+]] = vector.from_elements %[[B0]], %[[A0]] : vector<2xf16>
// CHECK-DAG: %[[BC:.+]] = vector.shuffle %{{.+}} [1, 3]
// CHECK: return %[[B]], %[[BA]], %[[C]], %[[BC]]
func.func @stores(%a: vector<1xf16>, %b: vector<1xf16>, %c: vector<2xf16>)
    -> (vector<1xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>) {
  %zero = arith.constant dense<0.0> : vector<4xf16>
  %0 = vector.insert_strided_slice %a, %zero {offsets = [0], strides = [1]} : vector<1xf16> into vector<4xf16>
  %1 = vector.insert_strided_slice %b, %0 {offsets = [1], strides = [1]} : vector<1xf16> into vector<4xf16>
  %2 = vector.insert_strided_slice %c, %1 {offsets = [2], strides = [1]} : vector<2xf16> into vector<4xf16>
  %x = vector.shuffle %2, %2 [1] : vector<4xf16>, vector<4xf16>
  %y = vector.shuffle %2, %2 [1, 4] : vector<4xf16>, vector<4xf16>
  %z = vector.shuffle %2, %2 [2, 3] : vector<4xf16>, vector<4xf16>
  %w = vector.shuffle %2, %2 [1, 3] : vector<4xf16>, vector<4xf16>
  return %x, %y, %z, %w : vector<1xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>
}
