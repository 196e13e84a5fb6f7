// The chip decides whether copies are asynchronous and how many stages fit.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_80},tile.kernel(tile-pipeline))' \
// RUN:   --remarks-filter='tile-.*' --remark-format=emitRemark 2>&1 >/dev/null | FileCheck %s --check-prefix=SM80
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_89},tile.kernel(tile-pipeline))' \
// RUN:   --remarks-filter='tile-.*' --remark-format=emitRemark 2>&1 >/dev/null | FileCheck %s --check-prefix=SM89
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=gfx1100},tile.kernel(tile-pipeline))' \
// RUN:   --remarks-filter='tile-.*' --remark-format=emitRemark 2>%t.remarks | FileCheck %s --check-prefix=GFX
// RUN: FileCheck %s --check-prefix=GFX-REMARK < %t.remarks
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=gfx950},tile.kernel(tile-pipeline))' \
// RUN:   --remarks-filter='tile-.*' --remark-format=emitRemark 2>%t.remarks | FileCheck %s --check-prefix=GFX
// RUN: FileCheck %s --check-prefix=GFX950-REMARK < %t.remarks

#row = #tile.blocked<thread = [1, 8], lane = [4, 8], warp = [4, 1], order = [1, 0]>
!t = tensor<128x128xf16, #row>
!s = !tile.buffer<128x128xf16, #tile.swizzle<128>, shared>
!g = !tile.buffer<?x128xf16, #tile.strided<[?:8, 1], align = 16>, global>

// Four buffers of 32 KiB fit sm_80; sm_89 has 99 KiB.
// SM80: remark: [Passed] loop-pipelined {{.*}}groups=2, stages=2
// SM89: remark: [Passed] loop-pipelined {{.*}}groups=2, stages=1
// Copies through registers run ahead in the fewest stages for which there is memory and
// for which there are registers.
// GFX-REMARK: remark: [Missed] copy-not-pipelined {{.*}}Reason="with tiles in flight a thread needs about
// GFX950-REMARK: remark: [Passed] loop-pipelined {{.*}}groups=2, stages=1
// GFX-LABEL: tile.kernel @two
// GFX950-LABEL: tile.kernel @two
tile.kernel @two(%k: !g, %v: !g, %n: index, %out: !g) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  scf.for %i = %c0 to %n step %c1 {
    %ks = tile.alloc : !s
    tile.copy %k[%i, %c0], %ks : !g, !s
    %kr = tile.load %ks[%c0, %c0] : !s -> !t
    %kx = arith.addf %kr, %kr : !t
    %vs = tile.alloc : !s
    tile.copy %v[%i, %c0], %vs : !g, !s
    %vr = tile.load %vs[%c0, %c0] : !s -> !t
    %y = arith.addf %kx, %vr : !t
    tile.store %y, %out[%i, %c0] : !t, !g
  }
}

// The remark gives the bytes that the kernel would take.
// SM80: remark: [Passed] loop-pipelined {{.*}}groups=4, stages=1
// SM89: remark: [Missed] copy-not-pipelined {{.*}}Reason="with 1 stage the kernel takes 131072 bytes of shared memory; sm_89 has 101376"
tile.kernel @four(%k: !g, %n: index, %out: !g) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  scf.for %i = %c0 to %n step %c1 {
    %s0 = tile.alloc : !s
    tile.copy %k[%i, %c0], %s0 : !g, !s
    %x0 = tile.load %s0[%c0, %c0] : !s -> !t
    tile.store %x0, %out[%i, %c0] : !t, !g
    %s1 = tile.alloc : !s
    tile.copy %k[%i, %c0], %s1 : !g, !s
    %x1 = tile.load %s1[%c0, %c0] : !s -> !t
    tile.store %x1, %out[%i, %c0] : !t, !g
    %s2 = tile.alloc : !s
    tile.copy %k[%i, %c0], %s2 : !g, !s
    %x2 = tile.load %s2[%c0, %c0] : !s -> !t
    tile.store %x2, %out[%i, %c0] : !t, !g
    %s3 = tile.alloc : !s
    tile.copy %k[%i, %c0], %s3 : !g, !s
    %x3 = tile.load %s3[%c0, %c0] : !s -> !t
    tile.store %x3, %out[%i, %c0] : !t, !g
  }
}
