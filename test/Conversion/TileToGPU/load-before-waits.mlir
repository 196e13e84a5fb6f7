// RUN: tile-opt %s --allow-unregistered-dialect --tile-load-before-waits | FileCheck %s

#global = #gpu.address_space<global>

gpu.module @kernels {
  // The load of a page's number, with what it needs, moves before the wait. What
  // uses the number stays.
  // CHECK-LABEL: gpu.func @page
  // CHECK: scf.for
  // CHECK-NEXT: %[[ROW:.+]] = arith.muli %{{.+}}, %c16_i32
  // CHECK-NEXT: %[[EXISTS:.+]] = arith.cmpi slt, %[[ROW]], %{{.+}} : i32
  // CHECK-NEXT: %[[PAGE:.+]] = scf.if %[[EXISTS]]
  // CHECK: memref.load
  // CHECK: nvvm.mbarrier.try_wait.parity
  // CHECK-NEXT: arith.addi %[[PAGE]], %[[ROW]]
  gpu.func @page(%table: memref<?xi32, #global>, %end: i32, %barrier: !llvm.ptr<3>) kernel {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c16 = arith.constant 16 : i32
    scf.for %i = %c0 to %end step %c1 : i32 {
      nvvm.mbarrier.try_wait.parity %barrier, %c0, %c0 : !llvm.ptr<3>, i32, i32
      %row = arith.muli %i, %c16 : i32
      %exists = arith.cmpi slt, %row, %end : i32
      %page = scf.if %exists -> (i32) {
        %number = arith.index_cast %row : i32 to index
        %entry = memref.load %table[%number] : memref<?xi32, #global>
        scf.yield %entry : i32
      } else {
        scf.yield %c0 : i32
      }
      %place = arith.addi %page, %row : i32
      "test.use"(%place) : (i32) -> ()
    }
    gpu.return
  }

  // Nothing moves that the kernel may write, that depends on a load of such memory,
  // that has another effect, or whose memory another kernel may still write.
  // CHECK-LABEL: gpu.func @stays
  // CHECK-NOT: memref.load
  // CHECK: nvvm.mbarrier.try_wait.parity
  // CHECK: memref.load
  // CHECK: memref.load
  // CHECK: memref.load
  // CHECK: nvvm.griddepcontrol wait
  // CHECK-NEXT: memref.load
  gpu.func @stays(%table: memref<?xi32, #global>, %written: memref<?xindex, #global>, %i: index, %if: i1,
                  %barrier: !llvm.ptr<3>) kernel {
    %c0 = arith.constant 0 : i32
    nvvm.mbarrier.try_wait.parity %barrier, %c0, %c0 : !llvm.ptr<3>, i32, i32
    memref.store %i, %written[%i] : memref<?xindex, #global>
    %j = memref.load %written[%i] : memref<?xindex, #global>
    %a = memref.load %table[%j] : memref<?xi32, #global>
    scf.if %if {
      %b = memref.load %table[%i] : memref<?xi32, #global>
      "test.use"(%b) : (i32) -> ()
    }
    nvvm.griddepcontrol wait
    %c = memref.load %table[%i] : memref<?xi32, #global>
    "test.use"(%a, %c) : (i32, i32) -> ()
    gpu.return
  }
}
