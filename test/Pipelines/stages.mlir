// A program that was printed after any stage can be compiled from there to the same result.
// RUN: tile-opt %s --tile-to-nvvm=chip=sm_80 > %t.whole
// RUN: tile-opt %s --tile-attach-target=chip=sm_80 --tile-expand-attention --canonicalize --cse > %t.s1
// RUN: tile-opt %t.s1 --tile-to-nvvm | cmp - %t.whole
// RUN: tile-opt %t.s1 --tile-schedule --tile-split-masked-loops --tile-assign-layouts \
// RUN:   --cse --tile-join-comparisons --cse > %t.s2
// Canonicalization changes the operations that the split leaves, and reorders constants.
// RUN: tile-opt %t.s2 --tile-defer-reductions --canonicalize --cse > %t.s3
// RUN: tile-opt %t.s3 --tile-to-nvvm > %t.split
// RUN: tile-opt %t.s3 --tile-decompose-reductions --tile-decompose-conversions --tile-bufferize > %t.s4
// RUN: tile-opt %t.s4 --tile-to-nvvm | cmp - %t.split
// RUN: tile-opt %t.s4 --tile-pipeline > %t.rings
// RUN: tile-opt %t.rings --tile-to-nvvm -o %t.again
// RUN: tile-opt %t.rings --tile-lower-rings --tile-plan-shared-memory --tile-insert-barriers \
// RUN:   --tile-vectorize --canonicalize --cse > %t.s5
// RUN: tile-opt %t.s5 --tile-to-nvvm | cmp - %t.split
// The result is a stage, too; canonicalization reorders its constants.
// RUN: tile-opt %t.whole --tile-to-nvvm -o %t.again
// Bytecode gives the same result.
// RUN: tile-opt %t.s3 --emit-bytecode | tile-opt --tile-to-nvvm | cmp - %t.split
// RUN: FileCheck %s --input-file=%t.whole

// CHECK: tile_gpu.manifest @attention {
// CHECK: llvm.func @attention(
// CHECK: nvvm.cp.async.shared.global
// CHECK: nvvm.ldmatrix
// CHECK: nvvm.mma.sync

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

func.func @attention(%q: !q, %k: !q, %v: !q, %o: !q, %scale: f32) {
  tile.attention %q, %k, %v, %o scale %scale {causal} : !q, !q, !q, !q
  return
}
