// RUN: tile-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(gpu.module(tile-lower-kernel-abi))' | FileCheck %s

#global = #gpu.address_space<global>
#shared = #gpu.address_space<workgroup>

gpu.module @m {
  // Aligned for every copy instruction of every target.
  // CHECK: llvm.mlir.global external @tile_dynamic_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

  // CHECK-LABEL: gpu.func @arguments(
  // CHECK-SAME: %[[X:.+]]: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias}, %[[I:.+]]: index, %[[S:.+]]: f32, %[[Y:.+]]: !llvm.ptr<1>, %{{.+}}: !llvm.ptr<1>)
  // CHECK-SAME: kernel
  // CHECK: %[[P:.+]] = llvm.mlir.poison : !llvm.struct<(ptr<1>, ptr<1>, i64, array<1 x i64>, array<1 x i64>)>
  // CHECK: %[[A:.+]] = llvm.insertvalue %[[X]], %[[P]][0]
  // CHECK: %[[B:.+]] = llvm.insertvalue %[[X]], %[[A]][1]
  // CHECK: llvm.mlir.constant(0 : index)
  // CHECK: llvm.insertvalue %{{.+}}[2]
  // CHECK: builtin.unrealized_conversion_cast %{{.+}} to memref<?xf16, #gpu.address_space<global>>
  // CHECK: builtin.unrealized_conversion_cast %{{.+}} to memref<?x8xf32, 1>
  // CHECK-NOT: unrealized_conversion_cast
  gpu.func @arguments(%x: memref<?xf16, #global> {llvm.align = 16 : i64, llvm.noalias},
                      %i: index, %s: f32, %y: memref<?x8xf32, 1>,
                      %unused: memref<?xf32, #global>) kernel {
    %v = memref.load %x[%i] : memref<?xf16, #global>
    memref.store %s, %y[%i, %i] : memref<?x8xf32, 1>
    gpu.return
  }

  tile_gpu.manifest @block {grid = [1, 1, 1], block = array<i64: 64, 2, 1>, shared_bytes = 0 : i64,
      params = []}
  // CHECK-LABEL: gpu.func @block
  // CHECK-SAME: known_block_size = array<i32: 64, 2, 1>
  // CHECK-DAG: %[[C64:.+]] = arith.constant 64 : index
  // CHECK-DAG: %[[C2:.+]] = arith.constant 2 : index
  // CHECK: "test.use"(%[[C64]], %[[C2]])
  gpu.func @block() kernel {
    %x = gpu.block_dim x
    %y = gpu.block_dim y
    "test.use"(%x, %y) : (index, index) -> ()
    gpu.return
  }

  // CHECK-LABEL: gpu.func @shared(
  // CHECK-SAME: workgroup(%{{.+}}: memref<64xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}, %{{.+}}: memref<64xf32, #gpu.address_space<workgroup>> {llvm.align = 128 : i64})
  // CHECK: %[[ADDRESS:.+]] = llvm.mlir.addressof @tile_dynamic_shared : !llvm.ptr<3>
  // CHECK: %[[MEMREF:.+]] = builtin.unrealized_conversion_cast %{{.+}} to memref<?xi8, #gpu.address_space<workgroup>>
  // CHECK: "test.use"(%[[MEMREF]])
  gpu.func @shared() workgroup(%a: memref<64xf32, #shared>,
                               %b: memref<64xf32, #shared> {llvm.align = 128 : i64}) kernel {
    %0 = gpu.dynamic_shared_memory : memref<?xi8, #shared>
    "test.use"(%0) : (memref<?xi8, #shared>) -> ()
    gpu.return
  }
}
