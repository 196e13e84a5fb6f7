// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile.kernel(tile-schedule))' \
// RUN:   --remark-format=emitRemark --remarks-filter=tile-schedule -o %t.mlir 2>&1 | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_80},tile.kernel(tile-schedule))' \
// RUN:   --remark-format=emitRemark --remarks-filter=tile-schedule -o /dev/null 2>&1 | FileCheck %s --check-prefix=SM80
// Of all these loops, those of @rotated and @no_turns alone are rotated.
// RUN: FileCheck %s --check-prefix=IR < %t.mlir

// SM80-COUNT-12: [Missed] loop-not-rotated {{.*}} Reason="the kernel has no producer warps"
// SM80-NOT: remark

!a = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
!c = !tile.buffer<?x64xf32, #tile.strided<[?:8, 1], align = 16>, global>
!n = !tile.buffer<?xi32, #tile.strided<[1], align = 4>, global>
!d = !tile.buffer<?x128xf32, #tile.strided<[?:8, 1], align = 16>, global>
!h = tensor<128x64xf16>
!s = tensor<128x128xf32>
!o = tensor<128x64xf32>

// IR-LABEL: tile.kernel @rotated
// IR-SAME: #tile.schedule<producers = 4, turns>
// IR: tile.dot
// IR: scf.for
// IR: }
// IR: tile.dot
tile.kernel @rotated(%a: !a, %c: !c, %n: !n) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  tile.grid %c1, %c1, %c1
  %rows = tile.dim %a[0] : !a
  %zero = arith.constant dense<0.0> : !o
  %no_s = arith.constant dense<0.0> : !s
  %q = tile.load %a[%c0, %c0] : !a -> !h
  // CHECK: [[#@LINE+1]]:{{[0-9]+}}: remark: [Passed] loop-rotated {{.*}} busiest-unit={{.*}}, carried-registers={{.*}}, exact=true, interval={{[0-9]+}}, interval-as-written={{[0-9]+}}, limited-by="{{.*}}", recurrence-bound={{[0-9]+}}, registers={{[0-9]+}}, registers-limit=240, resource-bound={{[0-9]+}}
  %r = scf.for %i = %c0 to %rows step %c128 iter_args(%out = %zero) -> (!o) {
    %k = tile.load %a[%i, %c0] : !a -> !h
    %kt = tile.transpose %k [1, 0] : !h -> tensor<64x128xf16>
    %s = tile.dot %q, %kt, %no_s : !h, tensor<64x128xf16> -> !s
    %e = math.exp2 %s : !s
    %p = arith.truncf %e : !s to tensor<128x128xf16>
    %v = tile.load %a[%i, %c0] : !a -> !h
    %new = tile.dot %p, %v, %out : tensor<128x128xf16>, !h -> !o
    scf.yield %new : !o
  }
  tile.store %r, %c[%c0, %c0] : !o, !c
}

// The author does not want turns.
// IR-LABEL: tile.kernel @no_turns
// IR-SAME: #tile.schedule<producers = 4, turns = false>
// IR: tile.dot
// IR: scf.for
// IR: }
// IR: tile.dot
// IR: tile.kernel
// IR-NOT: arith.divui
tile.kernel @no_turns(%a: !a, %c: !c, %n: !n) attributes {num_warps = 8 : i32, schedule = #tile.schedule<producers = 4, turns = false>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  tile.grid %c1, %c1, %c1
  %rows = tile.dim %a[0] : !a
  %zero = arith.constant dense<0.0> : !o
  %no_s = arith.constant dense<0.0> : !s
  %q = tile.load %a[%c0, %c0] : !a -> !h
  // CHECK: [[#@LINE+1]]:{{[0-9]+}}: remark: [Passed] loop-rotated
  %r = scf.for %i = %c0 to %rows step %c128 iter_args(%out = %zero) -> (!o) {
    %k = tile.load %a[%i, %c0] : !a -> !h
    %kt = tile.transpose %k [1, 0] : !h -> tensor<64x128xf16>
    %s = tile.dot %q, %kt, %no_s : !h, tensor<64x128xf16> -> !s
    %e = math.exp2 %s : !s
    %p = arith.truncf %e : !s to tensor<128x128xf16>
    %v = tile.load %a[%i, %c0] : !a -> !h
    %new = tile.dot %p, %v, %out : tensor<128x128xf16>, !h -> !o
    scf.yield %new : !o
  }
  tile.store %r, %c[%c0, %c0] : !o, !c
}

tile.kernel @none(%a: !a, %c: !c, %n: !n) attributes {num_warps = 8 : i32, schedule = #tile.schedule<producers = 0>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  tile.grid %c1, %c1, %c1
  %rows = tile.dim %a[0] : !a
  %zero = arith.constant dense<0.0> : !o
  %no_s = arith.constant dense<0.0> : !s
  %q = tile.load %a[%c0, %c0] : !a -> !h
  // CHECK: [[#@LINE+1]]:{{[0-9]+}}: remark: [Missed] loop-not-rotated {{.*}} Reason="the kernel has no producer warps"
  %r = scf.for %i = %c0 to %rows step %c128 iter_args(%out = %zero) -> (!o) {
    %k = tile.load %a[%i, %c0] : !a -> !h
    %kt = tile.transpose %k [1, 0] : !h -> tensor<64x128xf16>
    %s = tile.dot %q, %kt, %no_s : !h, tensor<64x128xf16> -> !s
    %e = math.exp2 %s : !s
    %p = arith.truncf %e : !s to tensor<128x128xf16>
    %v = tile.load %a[%i, %c0] : !a -> !h
    %new = tile.dot %p, %v, %out : tensor<128x128xf16>, !h -> !o
    scf.yield %new : !o
  }
  tile.store %r, %c[%c0, %c0] : !o, !c
}

tile.kernel @one_group(%a: !a, %c: !c, %n: !n) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  tile.grid %c1, %c1, %c1
  %rows = tile.dim %a[0] : !a
  %zero = arith.constant dense<0.0> : !o
  %no_s = arith.constant dense<0.0> : !s
  %q = tile.load %a[%c0, %c0] : !a -> !h
  // CHECK: [[#@LINE+1]]:{{[0-9]+}}: remark: [Missed] loop-not-rotated {{.*}} Reason="one warpgroup may have no producer warps"
  %r = scf.for %i = %c0 to %rows step %c128 iter_args(%out = %zero) -> (!o) {
    %k = tile.load %a[%i, %c0] : !a -> !h
    %kt = tile.transpose %k [1, 0] : !h -> tensor<64x128xf16>
    %s = tile.dot %q, %kt, %no_s : !h, tensor<64x128xf16> -> !s
    %e = math.exp2 %s : !s
    %p = arith.truncf %e : !s to tensor<128x128xf16>
    %v = tile.load %a[%i, %c0] : !a -> !h
    %new = tile.dot %p, %v, %out : tensor<128x128xf16>, !h -> !o
    scf.yield %new : !o
  }
  tile.store %r, %c[%c0, %c0] : !o, !c
}

tile.kernel @store(%a: !a, %c: !c, %n: !n, %d: !d) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  tile.grid %c1, %c1, %c1
  %rows = tile.dim %a[0] : !a
  %zero = arith.constant dense<0.0> : !o
  %no_s = arith.constant dense<0.0> : !s
  %q = tile.load %a[%c0, %c0] : !a -> !h
  // CHECK: [[#@LINE+1]]:{{[0-9]+}}: remark: [Missed] loop-not-rotated {{.*}} Reason="the loop reads what 'tile.store' writes"
  %r = scf.for %i = %c0 to %rows step %c128 iter_args(%out = %zero) -> (!o) {
    %k = tile.load %a[%i, %c0] : !a -> !h
    %kt = tile.transpose %k [1, 0] : !h -> tensor<64x128xf16>
    %s = tile.dot %q, %kt, %no_s : !h, tensor<64x128xf16> -> !s
    %e = math.exp2 %s : !s
    %p = arith.truncf %e : !s to tensor<128x128xf16>
    %v = tile.load %a[%i, %c0] : !a -> !h
    %new = tile.dot %p, %v, %out : tensor<128x128xf16>, !h -> !o
    %old = tile.load %d[%i, %c0] : !d -> !s
    %both = arith.addf %s, %old : !s
    tile.store %both, %d[%i, %c0] : !s, !d
    scf.yield %new : !o
  }
  tile.store %r, %c[%c0, %c0] : !o, !c
}

tile.kernel @by_author(%a: !a, %c: !c, %n: !n) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  tile.grid %c1, %c1, %c1
  %rows = tile.dim %a[0] : !a
  %zero = arith.constant dense<0.0> : !o
  %no_s = arith.constant dense<0.0> : !s
  %q = tile.load %a[%c0, %c0] : !a -> !h
  %no_p = arith.constant dense<0.0> : tensor<128x128xf16>
  // CHECK: [[#@LINE+1]]:{{[0-9]+}}: remark: [Missed] loop-not-rotated {{.*}} Reason="a product reads a tile of the iteration before"
  %r:2 = scf.for %i = %c0 to %rows step %c128 iter_args(%out = %zero, %w = %no_p) -> (!o, tensor<128x128xf16>) {
    %k = tile.load %a[%i, %c0] : !a -> !h
    %kt = tile.transpose %k [1, 0] : !h -> tensor<64x128xf16>
    %s = tile.dot %q, %kt, %no_s : !h, tensor<64x128xf16> -> !s
    %v = tile.load %a[%i, %c0] : !a -> !h
    %new = tile.dot %w, %v, %out : tensor<128x128xf16>, !h -> !o
    %e = math.exp2 %s : !s
    %p = arith.truncf %e : !s to tensor<128x128xf16>
    scf.yield %new, %p : !o, tensor<128x128xf16>
  }
  tile.store %r#0, %c[%c0, %c0] : !o, !c
}

tile.kernel @branch(%a: !a, %c: !c, %n: !n) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  tile.grid %c1, %c1, %c1
  %rows = tile.dim %a[0] : !a
  %zero = arith.constant dense<0.0> : !o
  %no_s = arith.constant dense<0.0> : !s
  %q = tile.load %a[%c0, %c0] : !a -> !h
  // CHECK: [[#@LINE+1]]:{{[0-9]+}}: remark: [Missed] loop-not-rotated {{.*}} Reason="'scf.if' must stay in its iteration"
  %r = scf.for %i = %c0 to %rows step %c128 iter_args(%out = %zero) -> (!o) {
    %k = tile.load %a[%i, %c0] : !a -> !h
    %kt = tile.transpose %k [1, 0] : !h -> tensor<64x128xf16>
    %s = tile.dot %q, %kt, %no_s : !h, tensor<64x128xf16> -> !s
    %e = math.exp2 %s : !s
    %p = arith.truncf %e : !s to tensor<128x128xf16>
    %is = arith.cmpi eq, %i, %c0 : index
    %start = scf.if %is -> (!o) {
      scf.yield %zero : !o
    } else {
      scf.yield %out : !o
    }
    %v = tile.load %a[%i, %c0] : !a -> !h
    %new = tile.dot %p, %v, %start : tensor<128x128xf16>, !h -> !o
    scf.yield %new : !o
  }
  tile.store %r, %c[%c0, %c0] : !o, !c
}

tile.kernel @page(%a: !a, %c: !c, %n: !n) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  tile.grid %c1, %c1, %c1
  %rows = tile.dim %a[0] : !a
  %zero = arith.constant dense<0.0> : !o
  %no_s = arith.constant dense<0.0> : !s
  %q = tile.load %a[%c0, %c0] : !a -> !h
  // CHECK: [[#@LINE+1]]:{{[0-9]+}}: remark: [Missed] loop-not-rotated {{.*}} Reason="'tile.load_scalar' must not run if the loop has no iteration"
  %r = scf.for %i = %c0 to %rows step %c128 iter_args(%out = %zero) -> (!o) {
    %page = tile.load_scalar %n[%i] : !n -> i32
    %at = arith.index_cast %page : i32 to index
    %k = tile.load %a[%at, %c0] : !a -> !h
    %kt = tile.transpose %k [1, 0] : !h -> tensor<64x128xf16>
    %s = tile.dot %q, %kt, %no_s : !h, tensor<64x128xf16> -> !s
    %e = math.exp2 %s : !s
    %p = arith.truncf %e : !s to tensor<128x128xf16>
    %v = tile.load %a[%i, %c0] : !a -> !h
    %new = tile.dot %p, %v, %out : tensor<128x128xf16>, !h -> !o
    scf.yield %new : !o
  }
  tile.store %r, %c[%c0, %c0] : !o, !c
}

// One tile feeds both products, so they stay in one iteration.
tile.kernel @one_tile(%a: !a, %c: !c, %n: !n) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  tile.grid %c1, %c1, %c1
  %rows = tile.dim %a[0] : !a
  %zero = arith.constant dense<0.0> : !o
  %no_s = arith.constant dense<0.0> : !s
  %q = tile.load %a[%c0, %c0] : !a -> !h
  // CHECK: [[#@LINE+1]]:{{[0-9]+}}: remark: [Analysis] loop-schedule {{.*}} interval=[[I:[0-9]+]], interval-as-written=[[I]],
  %r = scf.for %i = %c0 to %rows step %c128 iter_args(%out = %zero) -> (!o) {
    %k = tile.load %a[%i, %c0] : !a -> !h
    %kt = tile.transpose %k [1, 0] : !h -> tensor<64x128xf16>
    %s = tile.dot %q, %kt, %no_s : !h, tensor<64x128xf16> -> !s
    %e = math.exp2 %s : !s
    %p = arith.truncf %e : !s to tensor<128x128xf16>
    %new = tile.dot %p, %k, %out : tensor<128x128xf16>, !h -> !o
    scf.yield %new : !o
  }
  tile.store %r, %c[%c0, %c0] : !o, !c
}

// There is nothing that a product could run beside.
tile.kernel @gemm(%a: !a, %c: !c, %n: !n, %d: !d) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  tile.grid %c1, %c1, %c1
  %rows = tile.dim %a[0] : !a
  %zero = arith.constant dense<0.0> : !o
  %no_s = arith.constant dense<0.0> : !s
  %q = tile.load %a[%c0, %c0] : !a -> !h
  // CHECK: [[#@LINE+1]]:{{[0-9]+}}: remark: [Analysis] loop-schedule {{.*}} interval=[[I:[0-9]+]], interval-as-written=[[I]],
  %r = scf.for %i = %c0 to %rows step %c128 iter_args(%out = %no_s) -> (!s) {
    %k = tile.load %a[%i, %c0] : !a -> !h
    %kt = tile.transpose %k [1, 0] : !h -> tensor<64x128xf16>
    %new = tile.dot %q, %kt, %out : !h, tensor<64x128xf16> -> !s
    scf.yield %new : !s
  }
  tile.store %r, %d[%c0, %c0] : !s, !d
}

tile.kernel @shift(%a: !a, %c: !c, %n: !n) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  tile.grid %c1, %c1, %c1
  %rows = tile.dim %a[0] : !a
  %zero = arith.constant dense<0.0> : !o
  %no_s = arith.constant dense<0.0> : !s
  %q = tile.load %a[%c0, %c0] : !a -> !h
  // CHECK: [[#@LINE+1]]:{{[0-9]+}}: remark: [Missed] loop-not-rotated {{.*}} Reason="it yields one of its own arguments"
  %r:3 = scf.for %i = %c0 to %rows step %c128 iter_args(%out = %zero, %x = %c0, %y = %c1) -> (!o, index, index) {
    %k = tile.load %a[%i, %c0] : !a -> !h
    %kt = tile.transpose %k [1, 0] : !h -> tensor<64x128xf16>
    %s = tile.dot %q, %kt, %no_s : !h, tensor<64x128xf16> -> !s
    %e = math.exp2 %s : !s
    %p = arith.truncf %e : !s to tensor<128x128xf16>
    %v = tile.load %a[%i, %c0] : !a -> !h
    %new = tile.dot %p, %v, %out : tensor<128x128xf16>, !h -> !o
    scf.yield %new, %y, %i : !o, index, index
  }
  tile.store %r#0, %c[%c0, %c0] : !o, !c
}

// A rotated loop exceeds the registers of a consumer thread.
tile.kernel @registers(%a: !a, %c: !c, %n: !n) attributes {num_warps = 8 : i32, schedule = #tile.schedule<producers = 4, registers = [128, 24]>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  tile.grid %c1, %c1, %c1
  %rows = tile.dim %a[0] : !a
  %zero = arith.constant dense<0.0> : !o
  %no_s = arith.constant dense<0.0> : !s
  %q = tile.load %a[%c0, %c0] : !a -> !h
  // CHECK: [[#@LINE+1]]:{{[0-9]+}}: remark: [Analysis] loop-schedule {{.*}} interval=[[I:[0-9]+]], interval-as-written=[[I]], {{.*}} registers-limit=128,
  %r = scf.for %i = %c0 to %rows step %c128 iter_args(%out = %zero) -> (!o) {
    %k = tile.load %a[%i, %c0] : !a -> !h
    %kt = tile.transpose %k [1, 0] : !h -> tensor<64x128xf16>
    %s = tile.dot %q, %kt, %no_s : !h, tensor<64x128xf16> -> !s
    %e = math.exp2 %s : !s
    %p = arith.truncf %e : !s to tensor<128x128xf16>
    %v = tile.load %a[%i, %c0] : !a -> !h
    %new = tile.dot %p, %v, %out : tensor<128x128xf16>, !h -> !o
    scf.yield %new : !o
  }
  tile.store %r, %c[%c0, %c0] : !o, !c
}

// CHECK-NOT: remark
tile.kernel @kept(%a: !a, %c: !c, %n: !n) attributes {num_warps = 8 : i32, schedule = #tile.schedule<keep_loops>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  tile.grid %c1, %c1, %c1
  %rows = tile.dim %a[0] : !a
  %zero = arith.constant dense<0.0> : !o
  %no_s = arith.constant dense<0.0> : !s
  %q = tile.load %a[%c0, %c0] : !a -> !h
  %r = scf.for %i = %c0 to %rows step %c128 iter_args(%out = %zero) -> (!o) {
    %k = tile.load %a[%i, %c0] : !a -> !h
    %kt = tile.transpose %k [1, 0] : !h -> tensor<64x128xf16>
    %s = tile.dot %q, %kt, %no_s : !h, tensor<64x128xf16> -> !s
    %e = math.exp2 %s : !s
    %p = arith.truncf %e : !s to tensor<128x128xf16>
    %v = tile.load %a[%i, %c0] : !a -> !h
    %new = tile.dot %p, %v, %out : tensor<128x128xf16>, !h -> !o
    scf.yield %new : !o
  }
  tile.store %r, %c[%c0, %c0] : !o, !c
}

tile.kernel @kept_loop(%a: !a, %c: !c, %n: !n) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  tile.grid %c1, %c1, %c1
  %rows = tile.dim %a[0] : !a
  %zero = arith.constant dense<0.0> : !o
  %no_s = arith.constant dense<0.0> : !s
  %q = tile.load %a[%c0, %c0] : !a -> !h
  %r = scf.for %i = %c0 to %rows step %c128 iter_args(%out = %zero) -> (!o) {
    %k = tile.load %a[%i, %c0] : !a -> !h
    %kt = tile.transpose %k [1, 0] : !h -> tensor<64x128xf16>
    %s = tile.dot %q, %kt, %no_s : !h, tensor<64x128xf16> -> !s
    %e = math.exp2 %s : !s
    %p = arith.truncf %e : !s to tensor<128x128xf16>
    %v = tile.load %a[%i, %c0] : !a -> !h
    %new = tile.dot %p, %v, %out : tensor<128x128xf16>, !h -> !o
    scf.yield %new : !o
  } {tile.schedule = #tile.schedule<keep_loops>}
  tile.store %r, %c[%c0, %c0] : !o, !c
}
