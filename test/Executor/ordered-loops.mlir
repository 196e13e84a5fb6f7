// A loop with writes to global memory computes what the loop as written does, after 0
// to 3 iterations: in the best order for a chip with asynchronous products, and in
// orders that are drawn at random.

// DEFINE: %{inputs} = --arg=q=random:192x64:f16:1 --arg=k=random:64x64:f16:2 --arg=w=nan:256x64:f32 --arg=dq=zeros:192x64:f32 --arg=dk=nan:256x64:f32
// DEFINE: %{chip} = sm_80
// DEFINE: %{seed} = 0
// DEFINE: %{fields} = stages = 2
// DEFINE: %{order} = tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=%{chip}},tile-apply-schedule{schedule="%{fields}"},tile.kernel(tile-schedule{seed=%{seed}}))' -o %t.mlir
// DEFINE: %{check} = tile-run %t.mlir --chip=%{chip} %{inputs} --expect=w=%t.w.npy --expect=dq=%t.dq.npy --expect=dk=%t.dk.npy --atol=1e-4
// DEFINE: %{written} = tile-run %s --chip=%{chip} %{inputs} --out=w=%t.w.npy --out=dq=%t.dq.npy --out=dk=%t.dk.npy

// RUN: %{written}
// REDEFINE: %{seed} = 1
// RUN: %{order} && %{check}
// REDEFINE: %{seed} = 2
// RUN: %{order} && %{check}
// REDEFINE: %{seed} = 3
// RUN: %{order} && %{check}
// REDEFINE: %{seed} = 4
// RUN: %{order} && %{check}
// REDEFINE: %{chip} = gfx942
// RUN: %{written} && %{order} && %{check}
// REDEFINE: %{chip} = gfx1100
// RUN: %{written} && %{order} && %{check}
// REDEFINE: %{chip} = sm_90a
// REDEFINE: %{fields} = producers = 4
// RUN: %{written} && %{order} && %{check}
// REDEFINE: %{seed} = 0
// RUN: %{order} && FileCheck %s < %t.mlir && %{check}

// The products of both loads come first; the addition comes before the last product
// ends, and the writes of one argument keep their order.
// CHECK: scf.for
// CHECK: tile.dot
// CHECK-NEXT: tile.load
// CHECK-NEXT: tile.transpose
// CHECK-NEXT: tile.dot
// CHECK: tile.store
// CHECK: tile.store
// CHECK: scf.yield

!half = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!float = !tile.buffer<?x64xf32, #tile.strided<[64, 1], align = 16>, global>
!t = tensor<64x64xf32>
!h = tensor<64x64xf16>

tile.kernel @sums(%q: !half {tile.name = "q"}, %k: !half {tile.name = "k"}, %w: !float {tile.name = "w"},
                  %dq: !float {tile.name = "dq"}, %dk: !float {tile.name = "dk"})
    attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  tile.grid %c4, %c1, %c1
  // Block i has i iterations.
  %block = tile.program_id x
  %end = arith.muli %block, %c64 : index
  %kt = tile.load %k[%c0, %c0] : !half -> !h
  %zero = arith.constant dense<0.0> : !t
  %scale = arith.constant dense<0.1> : !t
  %own = arith.muli %block, %c64 : index
  %sum = scf.for %m = %c0 to %end step %c64 iter_args(%acc = %zero) -> (!t) {
    %qt = tile.load %q[%m, %c0] : !half -> !h
    %q_t = tile.transpose %qt [1, 0] : !h -> !h
    %s = tile.dot %kt, %q_t, %zero {warps = array<i64: 4, 1>} : !h, !h -> !t
    %s2 = arith.mulf %s, %scale : !t
    %p = math.exp2 %s2 : !t
    // The second of these remains.
    tile.store %s2, %w[%own, %c0] : !t, !float
    tile.store %p, %w[%own, %c0] : !t, !float
    %p16 = arith.truncf %p : !t to !h
    %next = tile.dot %p16, %qt, %acc {warps = array<i64: 4, 1>} : !h, !h -> !t
    %q2 = tile.load %q[%own, %c0] : !half -> !h
    %q2_t = tile.transpose %q2 [1, 0] : !h -> !h
    %dp = tile.dot %kt, %q2_t, %zero {warps = array<i64: 4, 1>} : !h, !h -> !t
    %ds = arith.mulf %p, %dp : !t
    %ds16 = arith.truncf %ds : !t to !h
    %ds_t = tile.transpose %ds16 [1, 0] : !h -> !h
    %part = tile.dot %ds_t, %kt, %zero {warps = array<i64: 4, 1>} : !h, !h -> !t
    tile.atomic_rmw addf %part, %dq[%m, %c0] : !t, !float
    scf.yield %next : !t
  }
  tile.store %sum, %dk[%own, %c0] : !t, !float
}
