// A page table that is read ahead with its copies gives the same result as
// computed page numbers. Its entries past the end are not read.
//
// DEFINE: %{chip} =
// DEFINE: %{arguments} = --arg=random:448x64:f16:1 --arg=%t.pages.npy --arg=random:64x64:f32:2
// DEFINE: %{check} = sed -e 's,// COMPUTED: ,,' %s | tile-run - --chip=%{chip} %{arguments} --out=%t.c.npy \
// DEFINE:   && sed -e 's,// TABLE: ,,' %s | tile-run - --chip=%{chip} %{arguments} --expect=%t.c.npy
// RUN: %python %S/Inputs/pages.py %t.pages.npy
// REDEFINE: %{chip} = sm_80
// RUN: %{check}
// REDEFINE: %{chip} = gfx942
// RUN: %{check}

!k = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!table = !tile.buffer<?xi32, #tile.strided<[1], align = 4>, global>
!o = !tile.buffer<64x64xf32, #tile.strided<[64, 1], align = 16>, global>

tile.kernel @k(%a: !k, %pages: !table, %o: !o) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c7 = arith.constant 7 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %n = tile.dim %pages[0] : !table
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> tensor<64x64xf32> {
    // COMPUTED: %three = arith.muli %i, %c3 : index
    // COMPUTED: %page = arith.remui %three, %c7 : index
    // TABLE: %entry = tile.load_scalar %pages[%i] : !table -> i32
    // TABLE: %page = arith.index_cast %entry : i32 to index
    %row = arith.muli %page, %c64 : index
    %x = tile.load %a[%row, %c0] : !k -> tensor<64x64xf16>
    %xt = tile.transpose %x [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>
    %y = tile.dot %x, %xt, %acc : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %y : tensor<64x64xf32>
  }
  tile.store %sum, %o[%c0, %c0] : tensor<64x64xf32>, !o
}
