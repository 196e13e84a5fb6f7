// Operations of nvvm that MLIR's translation to LLVM IR does not know, or whose
// lowering in MLIR or LLVM does not order memory.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},gpu.module(tile-gpu-to-llvm))' \
// RUN:   | FileCheck %s

gpu.module @m {
  // CHECK-LABEL: llvm.func @arrive
  // CHECK-SAME: (%[[N:.*]]: i32)
  gpu.func @arrive(%n: i32) {
    %threads = arith.constant 256 : i32
    // CHECK: llvm.call_intrinsic "llvm.nvvm.barrier.cta.arrive.aligned.count"(%[[N]], %{{.*}}) : (i32, i32) -> ()
    nvvm.barrier.arrive id = %n number_of_threads = %threads
    // CHECK: %[[ZERO:.*]] = llvm.mlir.constant(0 : i32)
    // CHECK: llvm.call_intrinsic "llvm.nvvm.barrier.cta.arrive.aligned.count"(%[[ZERO]], %{{.*}})
    nvvm.barrier.arrive number_of_threads = %threads
    gpu.return
  }

  // CHECK-LABEL: llvm.func @launch
  gpu.func @launch() {
    // CHECK: llvm.inline_asm has_side_effects "griddepcontrol.launch_dependents;", "~{memory}"
    nvvm.griddepcontrol launch_dependents
    // CHECK: llvm.inline_asm has_side_effects "griddepcontrol.wait;", "~{memory}"
    nvvm.griddepcontrol wait
    gpu.return
  }

  // The translation would drop the predicate.
  // CHECK-LABEL: llvm.func @predicates
  // CHECK-SAME: (%[[S:.*]]: !llvm.ptr<3>, %[[N:.*]]: i32, %[[P:.*]]: i1, %[[MAP:.*]]: !llvm.ptr)
  gpu.func @predicates(%s: !llvm.ptr<3>, %n: i32, %p: i1, %map: !llvm.ptr) {
    // CHECK: llvm.inline_asm has_side_effects asm_dialect = att "@$2 mbarrier.init.shared.b64 [$0], $1;", "{{[lr]}},r,b,~{memory}" %[[S]], %[[N]], %[[P]]
    nvvm.mbarrier.init %s, %n, predicate = %p : !llvm.ptr<3>, i32, i1
    // CHECK: mbarrier.try_wait.parity{{.*}}~{memory}
    nvvm.mbarrier.try_wait.parity %s, %n, %n : !llvm.ptr<3>, i32, i32
    gpu.return
  }

  // Addresses of shared memory occupy one register.
  // CHECK-LABEL: llvm.func @barriers
  // CHECK-SAME: (%[[S:.*]]: !llvm.ptr<3>, %[[N:.*]]: i32, %[[G:.*]]: !llvm.ptr)
  gpu.func @barriers(%s: !llvm.ptr<3>, %n: i32, %g: !llvm.ptr) {
    %zero = arith.constant 0 : i32
    %eight = arith.constant 8 : i32
    %bytes = arith.constant 4096 : i32
    // CHECK: %[[A:.*]] = llvm.ptrtoint %[[S]] : !llvm.ptr<3> to i32
    // CHECK: llvm.inline_asm has_side_effects "mbarrier.init.shared::cta.b64 [$0], 8;", "r,~{memory}" %[[A]]
    nvvm.mbarrier.init %s, %eight : !llvm.ptr<3>, i32
    // CHECK: "mbarrier.init.shared::cta.b64 [$0], $1;", "r,r,~{memory}" %{{.*}}, %[[N]]
    nvvm.mbarrier.init %s, %n : !llvm.ptr<3>, i32
    // CHECK: "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], 4096;", "r,~{memory}"
    nvvm.mbarrier.arrive.expect_tx %s, %bytes : !llvm.ptr<3>, i32
    // CHECK: "mbarrier.arrive.shared::cta.b64 _, [$0];", "r,~{memory}"
    nvvm.mbarrier.arrive %s : !llvm.ptr<3>
    // CHECK: mbarrier.try_wait.parity.shared::cta.b64 ended, [$0], $1;\0A@!ended bra again;\0A}", "r,r,~{memory}" %{{.*}}, %[[N]]
    nvvm.mbarrier.try_wait.parity %s, %n, %zero : !llvm.ptr<3>, i32, i32
    // The other forms stay MLIR's.
    // CHECK: nvvm.mbarrier.init %[[G]], %[[N]] : !llvm.ptr, i32
    nvvm.mbarrier.init %g, %n : !llvm.ptr, i32
    // CHECK: nvvm.mbarrier.arrive %[[S]] : !llvm.ptr<3> -> i64
    %state = nvvm.mbarrier.arrive %s : !llvm.ptr<3> -> i64
    // CHECK: nvvm.mbarrier.arrive.expect_tx %[[S]], %[[N]] {relaxed = true}
    nvvm.mbarrier.arrive.expect_tx %s, %n {relaxed = true} : !llvm.ptr<3>, i32
    gpu.return
  }

  // CHECK-LABEL: llvm.func @bulk
  gpu.func @bulk(%map: !llvm.ptr, %x: i32, %s: !llvm.ptr<3>, %d: !llvm.ptr<7>, %h: i64, %p: i1) {
    // CHECK: "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1, {$2, $3}], [$4];", "r,l,r,r,r,~{memory}"
    nvvm.cp.async.bulk.tensor.shared.cluster.global %d, %map, %s, box[%x, %x] : !llvm.ptr<7>, !llvm.ptr
    // CHECK: "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [$0], [$1, {$2}], [$3], $4;", "r,l,r,r,l,~{memory}"
    nvvm.cp.async.bulk.tensor.shared.cluster.global %d, %map, %s, box[%x] l2_cache_hint = %h : !llvm.ptr<7>, !llvm.ptr
    // CHECK: "@$4 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [$1, {$2, $3}], [$0];", "r,l,r,r,b,~{memory}"
    nvvm.cp.async.bulk.tensor.global.shared.cta %map, %s, box[%x, %x], predicate = %p : !llvm.ptr, !llvm.ptr<3>
    // CHECK: "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group.L2::cache_hint [$1, {$2}], [$0], $3;", "r,l,r,l,~{memory}"
    nvvm.cp.async.bulk.tensor.global.shared.cta %map, %s, box[%x] l2_cache_hint = %h : !llvm.ptr, !llvm.ptr<3>
    // CHECK: "cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.bulk_group [$1, {$2}], [$0];", "r,l,r,~{memory}"
    nvvm.cp.async.bulk.tensor.reduce %map, %s, box[%x] {redKind = #nvvm.tma_redux_kind<add>} : !llvm.ptr, !llvm.ptr<3>
    // CHECK: nvvm.cp.async.bulk.tensor.reduce {{.*}}max
    nvvm.cp.async.bulk.tensor.reduce %map, %s, box[%x] {redKind = #nvvm.tma_redux_kind<max>} : !llvm.ptr, !llvm.ptr<3>
    gpu.return
  }
}
