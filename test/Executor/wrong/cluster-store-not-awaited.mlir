// A store to another block of a cluster has arrived when the mbarrier there has
// counted its bytes.
//
// RUN: not tile-run %s --chip=sm_90a --arg=zeros:64:f32 2>&1 | FileCheck %s
// RUN: sed -e 's,// RIGHT: ,,' %s | tile-run - --chip=sm_90a --arg=zeros:64:f32

// CHECK: wrong/cluster-store-not-awaited.mlir:[[@LINE+42]]:{{[0-9]+}}: error: kernel 'k', block ({{[01]}}, 0, 0), thread {{[0-9]+}}: reads byte {{[0-9]+}} of shared memory, which no thread has written

#global = #gpu.address_space<global>
#shared = #gpu.address_space<workgroup>

gpu.module @kernels {
  tile_gpu.manifest @k {grid = [2, 1, 1], block = array<i64: 32, 1, 1>, shared_bytes = 32 : i64,
      params = [{kind = "buffer", name = "a", type = "f32", rank = 1, shape = [64],
                  strides = [1], stride_divisibility = [1], alignment = 16}]}
  gpu.func @k(%a: memref<64xf32, #global>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>, nvvm.cluster_dim = array<i32: 2, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %four = arith.constant 4 : i32
    %sixteen = arith.constant 16 : i32
    %t = gpu.thread_id x
    %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
    %memory = gpu.dynamic_shared_memory : memref<?xi8, #shared>
    %begin = memref.extract_aligned_pointer_as_index %memory : memref<?xi8, #shared> -> index
    %address = arith.index_cast %begin : index to i32
    %counter = llvm.inttoptr %address : i32 to !llvm.ptr<3>
    %place = arith.addi %address, %sixteen : i32
    %slot = llvm.inttoptr %place : i32 to !llvm.ptr<3>
    %is_first = arith.cmpi eq, %t, %c0 : index
    scf.if %is_first {
      nvvm.mbarrier.init %counter, %one : !llvm.ptr<3>, i32
      nvvm.fence.mbarrier.init
      nvvm.mbarrier.arrive.expect_tx %counter, %four : !llvm.ptr<3>, i32
    }
    nvvm.cluster.arrive.relaxed {aligned}
    nvvm.cluster.wait {aligned}
    scf.if %is_first {
      %other = arith.subi %one, %rank : i32
      %there = nvvm.mapa %slot, %other : !llvm.ptr<3> -> !llvm.ptr<7>
      %its = nvvm.mapa %counter, %other : !llvm.ptr<3> -> !llvm.ptr<7>
      %to = llvm.ptrtoint %there : !llvm.ptr<7> to i32
      %barrier = llvm.ptrtoint %its : !llvm.ptr<7> to i32
      llvm.inline_asm has_side_effects "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [$0], $2, [$1];", "r,r,r,~{memory}" %to, %barrier, %rank : (i32, i32, i32) -> ()
    }
    // RIGHT: nvvm.mbarrier.try_wait.parity %counter, %zero, %zero : !llvm.ptr<3>, i32, i32
    %v = llvm.load %slot : !llvm.ptr<3> -> i32
    %f = arith.sitofp %v : i32 to f32
    %block = arith.index_cast %rank : i32 to index
    %row = arith.muli %block, %c32 : index
    %i = arith.addi %row, %t : index
    memref.store %f, %a[%i] : memref<64xf32, #global>
    gpu.return
  }
}
