// RUN: tile-opt %s --pass-pipeline='builtin.module(gpu.module(tile-gpu-to-llvm))' | FileCheck %s

// Vectors that are assembled from parts. A chain of n insertions must not
// become n shuffles of the whole vector: LLVM needs quadratic time for them.

module attributes {tile.target = "sm_80"} {
gpu.module @m {
  // Single elements: one insertion of a scalar for each.
  // CHECK-LABEL: llvm.func @elements
  // CHECK-NOT: llvm.shufflevector
  // CHECK-COUNT-4: llvm.insertelement %{{.+}} : vector<4xf32>
  // CHECK-NOT: llvm.insertelement
  // CHECK: llvm.return
  func.func @elements(%a: vector<1xf32>, %b: vector<1xf32>, %c: vector<1xf32>,
                      %d: vector<1xf32>) -> vector<4xf32> {
    %0 = arith.constant dense<0.0> : vector<4xf32>
    %1 = vector.insert_strided_slice %a, %0 {offsets = [0], strides = [1]} : vector<1xf32> into vector<4xf32>
    %2 = vector.insert_strided_slice %b, %1 {offsets = [1], strides = [1]} : vector<1xf32> into vector<4xf32>
    %3 = vector.insert_strided_slice %c, %2 {offsets = [2], strides = [1]} : vector<1xf32> into vector<4xf32>
    %4 = vector.insert_strided_slice %d, %3 {offsets = [3], strides = [1]} : vector<1xf32> into vector<4xf32>
    return %4 : vector<4xf32>
  }

  // Wider parts: a balanced tree of concatenations.
  // CHECK-LABEL: llvm.func @parts
  // CHECK-SAME: %[[A:.+]]: vector<2xf32>, %[[B:.+]]: vector<2xf32>, %[[C:.+]]: vector<2xf32>, %[[D:.+]]: vector<2xf32>)
  // CHECK: %[[AB:.+]] = llvm.shufflevector %[[A]], %[[B]] [0, 1, 2, 3] : vector<2xf32>
  // CHECK-NEXT: %[[CD:.+]] = llvm.shufflevector %[[C]], %[[D]] [0, 1, 2, 3] : vector<2xf32>
  // CHECK-NEXT: %[[ABCD:.+]] = llvm.shufflevector %[[AB]], %[[CD]] [0, 1, 2, 3, 4, 5, 6, 7] : vector<4xf32>
  // CHECK-NEXT: llvm.return %[[ABCD]]
  func.func @parts(%a: vector<2xf32>, %b: vector<2xf32>, %c: vector<2xf32>,
                   %d: vector<2xf32>) -> vector<8xf32> {
    %0 = arith.constant dense<0.0> : vector<8xf32>
    %1 = vector.insert_strided_slice %a, %0 {offsets = [0], strides = [1]} : vector<2xf32> into vector<8xf32>
    %2 = vector.insert_strided_slice %b, %1 {offsets = [2], strides = [1]} : vector<2xf32> into vector<8xf32>
    %3 = vector.insert_strided_slice %c, %2 {offsets = [4], strides = [1]} : vector<2xf32> into vector<8xf32>
    %4 = vector.insert_strided_slice %d, %3 {offsets = [6], strides = [1]} : vector<2xf32> into vector<8xf32>
    return %4 : vector<8xf32>
  }

  // The number of parts is odd: the shorter half is extended by poison.
  // CHECK-LABEL: llvm.func @three
  // CHECK-SAME: %[[A:.+]]: vector<2xf32>, %[[B:.+]]: vector<2xf32>, %[[C:.+]]: vector<2xf32>)
  // CHECK: %[[AB:.+]] = llvm.shufflevector %[[A]], %[[B]] [0, 1, 2, 3]
  // CHECK-NEXT: %[[CX:.+]] = llvm.shufflevector %[[C]], %[[C]] [0, 1, -1, -1]
  // CHECK-NEXT: llvm.shufflevector %[[AB]], %[[CX]] [0, 1, 2, 3, 4, 5]
  func.func @three(%a: vector<2xf32>, %b: vector<2xf32>, %c: vector<2xf32>) -> vector<6xf32> {
    %0 = arith.constant dense<0.0> : vector<6xf32>
    %1 = vector.insert_strided_slice %a, %0 {offsets = [0], strides = [1]} : vector<2xf32> into vector<6xf32>
    %2 = vector.insert_strided_slice %b, %1 {offsets = [2], strides = [1]} : vector<2xf32> into vector<6xf32>
    %3 = vector.insert_strided_slice %c, %2 {offsets = [4], strides = [1]} : vector<2xf32> into vector<6xf32>
    return %3 : vector<6xf32>
  }

  // Later insertions win, and elements that no insertion writes stay. The value
  // in the middle of the chain has another use.
  // CHECK-LABEL: llvm.func @overlap
  // CHECK-SAME: %[[A:.+]]: vector<2xf32>, %[[B:.+]]: vector<2xf32>, %[[S:.+]]: vector<4xf32>)
  // CHECK: %[[S23:.+]] = llvm.shufflevector %[[S]], %[[S]] [2, 3]
  // CHECK-NEXT: %[[FIRST:.+]] = llvm.shufflevector %[[A]], %[[S23]] [0, 1, 2, 3]
  // CHECK: llvm.extractelement %[[A]]
  // CHECK: %[[AB:.+]] = llvm.shufflevector %{{.+}}, %[[B]] [0, 2, 3]
  // CHECK: llvm.extractelement %[[S]]
  // CHECK: %[[SECOND:.+]] = llvm.shufflevector %[[AB]], %{{.+}} [0, 1, 2, 3]
  // CHECK: llvm.insertvalue %[[FIRST]], %{{.+}}[0]
  // CHECK: llvm.insertvalue %[[SECOND]], %{{.+}}[1]
  // CHECK: llvm.return
  func.func @overlap(%a: vector<2xf32>, %b: vector<2xf32>, %s: vector<4xf32>) -> (vector<4xf32>, vector<4xf32>) {
    %1 = vector.insert_strided_slice %a, %s {offsets = [0], strides = [1]} : vector<2xf32> into vector<4xf32>
    %2 = vector.insert_strided_slice %b, %1 {offsets = [1], strides = [1]} : vector<2xf32> into vector<4xf32>
    return %1, %2 : vector<4xf32>, vector<4xf32>
  }

  // A slice of one element is no shuffle.
  // CHECK-LABEL: llvm.func @slices
  // CHECK-NOT: llvm.shufflevector
  // CHECK-COUNT-2: llvm.extractelement %{{.+}} : vector<8xf32>
  // CHECK-NOT: llvm.shufflevector
  // CHECK: llvm.return
  func.func @slices(%a: vector<8xf32>) -> (vector<1xf32>, vector<1xf32>) {
    %0 = vector.extract_strided_slice %a {offsets = [3], sizes = [1], strides = [1]} : vector<8xf32> to vector<1xf32>
    %1 = vector.shuffle %a, %a [13] : vector<8xf32>, vector<8xf32>
    return %0, %1 : vector<1xf32>, vector<1xf32>
  }
}
}
