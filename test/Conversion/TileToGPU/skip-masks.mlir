// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},gpu.module(tile-skip-masks))' | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=gfx942},gpu.module(tile-skip-masks))' | FileCheck %s --check-prefix=AMD

// AMD-NOT: scf.if
gpu.module @kernels {
  // The elements of the last group of columns decide.
  // CHECK-LABEL: gpu.func @below
  // CHECK-SAME: %[[LENGTH:.*]]: i32, %[[X:.*]]: vector<8xf32>, %[[Y:.*]]: memref
  // CHECK: %[[WHOLE:.*]] = arith.cmpi sgt, %[[LENGTH]], %c259_i32 : i32
  // CHECK: %[[RESULT:.*]] = scf.if %[[WHOLE]] -> (vector<8xf32>) {
  // CHECK: scf.yield %[[X]]
  // CHECK: } else {
  // CHECK: %[[MASK:.*]] = arith.cmpi sgt, %{{.*}}, %cst
  // CHECK: %[[SELECTED:.*]] = arith.select %[[MASK]], %[[X]]
  // CHECK: scf.yield %[[SELECTED]]
  // CHECK: vector.store %[[RESULT]]
  gpu.func @below(%length: i32, %x: vector<8xf32>, %y: memref<8xf32>) {
    %c0 = arith.constant 0 : index
    %columns = arith.constant dense<[0, 1, 2, 3, 256, 257, 258, 259]> : vector<8xi32>
    %hidden = arith.constant dense<0xFF800000> : vector<8xf32>
    %end = vector.broadcast %length : i32 to vector<8xi32>
    %mask = arith.cmpi sgt, %end, %columns : vector<8xi32>
    %seen = arith.select %mask, %x, %hidden : vector<8xi1>, vector<8xf32>
    vector.store %seen, %y[%c0] : memref<8xf32>, vector<8xf32>
    gpu.return
  }

  // Of more elements, groups of eight are compared if a block has few warps; the last
  // group has four.
  // CHECK-LABEL: gpu.func @groups
  // CHECK-SAME: %[[LENGTH:.*]]: i32, %[[X:.*]]: vector<20xf32>, %[[Y:.*]]: memref
  // CHECK: arith.cmpi sgt, %[[LENGTH]], %c515_i32 : i32
  // CHECK: scf.yield %[[X]]
  // CHECK: } else {
  // CHECK: %[[X0:.*]] = vector.extract_strided_slice %[[X]] {offsets = [0], sizes = [8]
  // CHECK: arith.cmpi sgt, %[[LENGTH]], %c7_i32 : i32
  // CHECK: scf.yield %[[X0]]
  // CHECK: arith.cmpi sgt, %[[LENGTH]], %c263_i32 : i32
  // CHECK: %[[X2:.*]] = vector.extract_strided_slice %[[X]] {offsets = [16], sizes = [4]
  // CHECK: arith.cmpi sgt, %[[LENGTH]], %c515_i32{{.*}} : i32
  // CHECK: arith.select %{{.*}}, %[[X2]]
  gpu.func @groups(%length: i32, %x: vector<20xf32>, %y: memref<20xf32>)
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %columns = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 256, 257, 258, 259, 260, 261, 262,
        263, 512, 513, 514, 515]> : vector<20xi32>
    %hidden = arith.constant dense<0xFF800000> : vector<20xf32>
    %end = vector.broadcast %length : i32 to vector<20xi32>
    %mask = arith.cmpi sgt, %end, %columns : vector<20xi32>
    %seen = arith.select %mask, %x, %hidden : vector<20xi1>, vector<20xf32>
    vector.store %seen, %y[%c0] : memref<20xf32>, vector<20xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @many_warps
  // CHECK: arith.cmpi sgt, %{{.*}}, %c515_i32 : i32
  // CHECK-NOT: vector.extract_strided_slice
  gpu.func @many_warps(%length: i32, %x: vector<20xf32>, %y: memref<20xf32>)
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %columns = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 256, 257, 258, 259, 260, 261, 262,
        263, 512, 513, 514, 515]> : vector<20xi32>
    %hidden = arith.constant dense<0xFF800000> : vector<20xf32>
    %end = vector.broadcast %length : i32 to vector<20xi32>
    %mask = arith.cmpi sgt, %end, %columns : vector<20xi32>
    %seen = arith.select %mask, %x, %hidden : vector<20xi1>, vector<20xf32>
    vector.store %seen, %y[%c0] : memref<20xf32>, vector<20xf32>
    gpu.return
  }

  // The least constant decides whether a number is below all.
  // CHECK-LABEL: gpu.func @above
  // CHECK: arith.cmpi sle, %{{.*}}, %c-3_i32 : i32
  gpu.func @above(%first: i32, %x: vector<8xf32>, %y: memref<8xf32>) {
    %c0 = arith.constant 0 : index
    %columns = arith.constant dense<[4, 1, 2, 3, -3, 5, 6, 7]> : vector<8xi32>
    %hidden = arith.constant dense<0.0> : vector<8xf32>
    %begin = vector.broadcast %first : i32 to vector<8xi32>
    %mask = arith.cmpi sle, %begin, %columns : vector<8xi32>
    %seen = arith.select %mask, %x, %hidden : vector<8xi1>, vector<8xf32>
    vector.store %seen, %y[%c0] : memref<8xf32>, vector<8xf32>
    gpu.return
  }

  // The label of a row equals one column only, four elements are few, and what is left
  // of a row differs between iterations.
  // CHECK-LABEL: gpu.func @others
  // CHECK-NOT: scf.if
  gpu.func @others(%label: i32, %length: i32, %x: vector<8xf32>, %z: vector<4xf32>,
                   %y: memref<8xf32>) {
    %c0 = arith.constant 0 : index
    %c1_i32 = arith.constant 1 : i32
    %c9_i32 = arith.constant 9 : i32
    %columns = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7]> : vector<8xi32>
    %few = arith.constant dense<[0, 1, 2, 3]> : vector<4xi32>
    %hidden = arith.constant dense<0.0> : vector<8xf32>
    %hidden4 = arith.constant dense<0.0> : vector<4xf32>
    %labels = vector.broadcast %label : i32 to vector<8xi32>
    %is_label = arith.cmpi eq, %labels, %columns : vector<8xi32>
    %chosen = arith.select %is_label, %x, %hidden : vector<8xi1>, vector<8xf32>
    vector.store %chosen, %y[%c0] : memref<8xf32>, vector<8xf32>
    %end4 = vector.broadcast %length : i32 to vector<4xi32>
    %mask4 = arith.cmpi sgt, %end4, %few : vector<4xi32>
    %seen4 = arith.select %mask4, %z, %hidden4 : vector<4xi1>, vector<4xf32>
    vector.store %seen4, %y[%c0] : memref<8xf32>, vector<4xf32>
    scf.for %n = %c1_i32 to %c9_i32 step %c1_i32 : i32 {
      %left = arith.subi %length, %n : i32
      %end = vector.broadcast %left : i32 to vector<8xi32>
      %mask = arith.cmpi sgt, %end, %columns : vector<8xi32>
      %seen = arith.select %mask, %x, %hidden : vector<8xi1>, vector<8xf32>
      vector.store %seen, %y[%c0] : memref<8xf32>, vector<8xf32>
    }
    gpu.return
  }
}
