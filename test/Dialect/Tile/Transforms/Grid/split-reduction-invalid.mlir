// RUN: tile-opt %s -split-input-file -verify-diagnostics \
// RUN:   --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile-split-reduction)'

!m = !tile.buffer<?x?xf32, #tile.strided<[?:8, 1], align = 16>, global>
!t = tensor<64x64xf32>

// expected-error@+1 {{'tile.kernel' op cannot have 'split = 2' in its schedule: the kernel has no loop}}
tile.kernel @k(%a: !m, %o: !m) attributes {num_warps = 4 : i32, schedule = #tile.schedule<split = 2>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %k = tile.dim %a[1] : !m
  %zero = arith.constant dense<0.0> : !t
}

// -----

!m = !tile.buffer<?x?xf32, #tile.strided<[?:8, 1], align = 16>, global>
!t = tensor<64x64xf32>

// expected-error@+1 {{'tile.kernel' op cannot have 'split = 2' in its schedule: the kernel has several loops}}
tile.kernel @k(%a: !m, %o: !m) attributes {num_warps = 4 : i32, schedule = #tile.schedule<split = 2>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %k = tile.dim %a[1] : !m
  %zero = arith.constant dense<0.0> : !t
  %r = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (!t) {
    %t = tile.load %a[%c0, %i] : !m -> !t
    %n = arith.addf %acc, %t : !t
    scf.yield %n : !t
  }
  %q = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (!t) {
    %t = tile.load %a[%c0, %i] : !m -> !t
    %n = arith.addf %acc, %t : !t
    scf.yield %n : !t
  }
}

// -----

!m = !tile.buffer<?x?xf32, #tile.strided<[?:8, 1], align = 16>, global>
!t = tensor<64x64xf32>

// expected-error@+1 {{'tile.kernel' op cannot have 'split = 2' in its schedule: the loop has no result}}
tile.kernel @k(%a: !m, %o: !m) attributes {num_warps = 4 : i32, schedule = #tile.schedule<split = 2>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %k = tile.dim %a[1] : !m
  %zero = arith.constant dense<0.0> : !t
  scf.for %i = %c0 to %k step %c64 {
  }
}

// -----

!m = !tile.buffer<?x?xf32, #tile.strided<[?:8, 1], align = 16>, global>
!t = tensor<64x64xf32>

// expected-error@+1 {{'tile.kernel' op cannot have 'split = 2' in its schedule: value 0 of the loop is read by 'arith.mulf', not only added to}}
tile.kernel @k(%a: !m, %o: !m) attributes {num_warps = 4 : i32, schedule = #tile.schedule<split = 2>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %k = tile.dim %a[1] : !m
  %zero = arith.constant dense<0.0> : !t
  %r = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (!t) {
    %t = tile.load %a[%c0, %i] : !m -> !t
    %n = arith.mulf %acc, %t : !t
    scf.yield %n : !t
  }
  tile.store %r, %o[%c0, %c0] : !t, !m
}

// -----

!m = !tile.buffer<?x?xf32, #tile.strided<[?:8, 1], align = 16>, global>
!t = tensor<64x64xf32>

// expected-error@+1 {{'tile.kernel' op cannot have 'split = 2' in its schedule: value 0 of the loop is used several times in an iteration}}
tile.kernel @k(%a: !m, %o: !m) attributes {num_warps = 4 : i32, schedule = #tile.schedule<split = 2>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %k = tile.dim %a[1] : !m
  %zero = arith.constant dense<0.0> : !t
  %r = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (!t) {
    %t = tile.load %a[%c0, %i] : !m -> !t
    %n = arith.addf %acc, %acc : !t
    scf.yield %n : !t
  }
  tile.store %r, %o[%c0, %c0] : !t, !m
}

// -----

!m = !tile.buffer<?x?xf32, #tile.strided<[?:8, 1], align = 16>, global>
!t = tensor<64x64xf32>

// expected-error@+1 {{'tile.kernel' op cannot have 'split = 2' in its schedule: value 0 of the loop becomes another one in the next iteration}}
tile.kernel @k(%a: !m, %o: !m) attributes {num_warps = 4 : i32, schedule = #tile.schedule<split = 2>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %k = tile.dim %a[1] : !m
  %zero = arith.constant dense<0.0> : !t
  %r:2 = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero, %b = %zero) -> (!t, !t) {
    %t = tile.load %a[%c0, %i] : !m -> !t
    %n = arith.addf %acc, %t : !t
    scf.yield %b, %n : !t, !t
  }
}

// -----

!m = !tile.buffer<?x?xf32, #tile.strided<[?:8, 1], align = 16>, global>
!t = tensor<64x64xf32>

// expected-error@+1 {{'tile.kernel' op cannot have 'split = 2' in its schedule: value 0 of the loop is no tile of f32 or i32}}
tile.kernel @k(%a: !m, %o: !m) attributes {num_warps = 4 : i32, schedule = #tile.schedule<split = 2>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %k = tile.dim %a[1] : !m
  %zero = arith.constant dense<0.0> : !t
  %r = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %c0) -> (index) {
    %n = arith.addi %acc, %i : index
    scf.yield %n : index
  }
}

// -----

!m = !tile.buffer<?x?xf32, #tile.strided<[?:8, 1], align = 16>, global>
!t = tensor<64x64xf32>

// expected-error@+1 {{'tile.kernel' op cannot have 'split = 2' in its schedule: 'tile.store' stands in the loop}}
tile.kernel @k(%a: !m, %o: !m) attributes {num_warps = 4 : i32, schedule = #tile.schedule<split = 2>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %k = tile.dim %a[1] : !m
  %zero = arith.constant dense<0.0> : !t
  %r = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (!t) {
    %t = tile.load %a[%c0, %i] : !m -> !t
    %n = arith.addf %acc, %t : !t
    tile.store %t, %o[%c0, %i] : !t, !m
    scf.yield %n : !t
  }
}

// -----

!m = !tile.buffer<?x?xf32, #tile.strided<[?:8, 1], align = 16>, global>
!t = tensor<64x64xf32>

// expected-error@+1 {{'tile.kernel' op cannot have 'split = 2' in its schedule: 'tile.store' stands in front of the loop}}
tile.kernel @k(%a: !m, %o: !m) attributes {num_warps = 4 : i32, schedule = #tile.schedule<split = 2>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %k = tile.dim %a[1] : !m
  %zero = arith.constant dense<0.0> : !t
  tile.store %zero, %o[%c0, %c0] : !t, !m
  %r = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (!t) {
    %t = tile.load %a[%c0, %i] : !m -> !t
    %n = arith.addf %acc, %t : !t
    scf.yield %n : !t
  }
}

// -----

!m = !tile.buffer<?x?xf32, #tile.strided<[?:8, 1], align = 16>, global>
!t = tensor<64x64xf32>

// expected-error@+1 {{'tile.kernel' op cannot have 'split = 2' in its schedule: the kernel has a 'tile.num_programs'}}
tile.kernel @k(%a: !m, %o: !m) attributes {num_warps = 4 : i32, schedule = #tile.schedule<split = 2>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %k = tile.dim %a[1] : !m
  %zero = arith.constant dense<0.0> : !t
  %r = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (!t) {
    %t = tile.load %a[%c0, %i] : !m -> !t
    %n = arith.addf %acc, %t : !t
    scf.yield %n : !t
  }
  %p = tile.num_programs x
  tile.store %r, %o[%p, %c0] : !t, !m
}

// -----

!m = !tile.buffer<?x?xf32, #tile.strided<[?:8, 1], align = 16>, global>
!t = tensor<64x64xf32>

// expected-error@+1 {{'tile.kernel' op cannot have 'split = 2' in its schedule: the kernel has a 'tile.wait_prerequisites'}}
tile.kernel @k(%a: !m, %o: !m) attributes {num_warps = 4 : i32, schedule = #tile.schedule<split = 2>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %k = tile.dim %a[1] : !m
  %zero = arith.constant dense<0.0> : !t
  %r = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (!t) {
    %t = tile.load %a[%c0, %i] : !m -> !t
    %n = arith.addf %acc, %t : !t
    scf.yield %n : !t
  }
  tile.wait_prerequisites
  tile.store %r, %o[%c0, %c0] : !t, !m
}

// -----

!m = !tile.buffer<?x?xf32, #tile.strided<[?:8, 1], align = 16>, global>
!t = tensor<64x64xf32>

// expected-error@+1 {{'tile.kernel' op cannot have 'split = 2' in its schedule: value 0 of the loop is not used in an iteration}}
tile.kernel @k(%a: !m, %o: !m) attributes {num_warps = 4 : i32, schedule = #tile.schedule<split = 2>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %k = tile.dim %a[1] : !m
  %zero = arith.constant dense<0.0> : !t
  %r = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (!t) {
    %t = tile.load %a[%c0, %i] : !m -> !t
    scf.yield %t : !t
  }
}

// -----

!m = !tile.buffer<?x?xf32, #tile.strided<[?:8, 1], align = 16>, global>
!t = tensor<f32>

// expected-error@+1 {{'tile.kernel' op cannot have 'split = 2' in its schedule: value 0 of the loop is no tile of f32 or i32}}
tile.kernel @k(%a: !m, %o: !m) attributes {num_warps = 4 : i32, schedule = #tile.schedule<split = 2>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %k = tile.dim %a[1] : !m
  %zero = arith.constant dense<0.0> : !t
  %r = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (!t) {
    %n = arith.addf %acc, %zero : !t
    scf.yield %n : !t
  }
}

// -----

!m = !tile.buffer<?x?xf32, #tile.strided<[?:8, 1], align = 16>, global>

// expected-error@+1 {{'tile.kernel' op cannot have 'stream_k = 132' in its schedule: the kernel has no loop}}
tile.kernel @k(%a: !m) attributes {num_warps = 4 : i32, schedule = #tile.schedule<stream_k = 132>} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}

// -----

!m = !tile.buffer<?x?xf32, #tile.strided<[?:8, 1], align = 16>, global>
!t = tensor<64x64xf32>

// expected-error@+1 {{'tile.kernel' op cannot have 'cluster_split = 3' in its schedule: 3 blocks cannot divide 64 rows}}
tile.kernel @k(%a: !m, %o: !m) attributes {num_warps = 4 : i32, schedule = #tile.schedule<cluster_split = 3>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %k = tile.dim %a[1] : !m
  %zero = arith.constant dense<0.0> : !t
  %r = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (!t) {
    %t = tile.load %a[%c0, %i] : !m -> !t
    %n = arith.addf %acc, %t : !t
    scf.yield %n : !t
  }
  tile.store %r, %o[%c0, %c0] : !t, !m
}

// -----

!m = !tile.buffer<?x?xf32, #tile.strided<[?:8, 1], align = 16>, global>
!t = tensor<64x64xf32>

// expected-error@+1 {{'tile.kernel' op cannot have 'cluster_split = 2' in its schedule: 'tile.reduce' behind the loop may need other rows of a tile}}
tile.kernel @k(%a: !m, %o: !m) attributes {num_warps = 4 : i32, schedule = #tile.schedule<cluster_split = 2>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %k = tile.dim %a[1] : !m
  %zero = arith.constant dense<0.0> : !t
  %r = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (!t) {
    %t = tile.load %a[%c0, %i] : !m -> !t
    %n = arith.addf %acc, %t : !t
    scf.yield %n : !t
  }
  %sums = tile.reduce addf %r along 0 : !t -> tensor<64xf32>
  %all = tile.broadcast %sums along 0 : tensor<64xf32> -> !t
  tile.store %all, %o[%c0, %c0] : !t, !m
}

// -----

!m = !tile.buffer<?x?xf32, #tile.strided<[?:8, 1], align = 16>, global>
!t = tensor<64x64xf32>

// expected-error@+1 {{'tile.kernel' op cannot have 'cluster_split = 2' in its schedule: 'arith.addf' behind the loop may need other rows of a tile}}
tile.kernel @k(%a: !m, %o: !m) attributes {num_warps = 4 : i32, schedule = #tile.schedule<cluster_split = 2>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %k = tile.dim %a[1] : !m
  %zero = arith.constant dense<0.0> : !t
  %r = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (!t) {
    %t = tile.load %a[%c0, %i] : !m -> !t
    %n = arith.addf %acc, %t : !t
    scf.yield %n : !t
  }
  %turned = tile.transpose %r [1, 0] : !t -> !t
  %both = arith.addf %r, %turned : !t
  tile.store %both, %o[%c0, %c0] : !t, !m
}

// -----

!m = !tile.buffer<?x?xf32, #tile.strided<[?:8, 1], align = 16>, global>
!t = tensor<64x64xf32>

// expected-error@+1 {{'tile.kernel' op cannot have 'cluster_split = 2' in its schedule: 'tile.load' may read rows that another block writes}}
tile.kernel @k(%a: !m, %o: !m) attributes {num_warps = 4 : i32, schedule = #tile.schedule<cluster_split = 2>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %k = tile.dim %a[1] : !m
  %zero = arith.constant dense<0.0> : !t
  %r = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (!t) {
    %t = tile.load %a[%c0, %i] : !m -> !t
    %n = arith.addf %acc, %t : !t
    scf.yield %n : !t
  }
  %other = tile.load %o[%c1, %c0] : !m -> !t
  %sum = arith.addf %r, %other : !t
  tile.store %sum, %o[%c0, %c0] : !t, !m
}

// -----

!m = !tile.buffer<?x?xf32, #tile.strided<[?:8, 1], align = 16>, global>
!t = tensor<64x64xf32>

// A block would load rows of the tile and store columns of it.
// expected-error@+1 {{'tile.kernel' op cannot have 'cluster_split = 2' in its schedule: 'tile.load' may read rows that another block writes}}
tile.kernel @k(%a: !m, %o: !m) attributes {num_warps = 4 : i32, schedule = #tile.schedule<cluster_split = 2>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %k = tile.dim %a[1] : !m
  %zero = arith.constant dense<0.0> : !t
  %r = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (!t) {
    %t = tile.load %a[%c0, %i] : !m -> !t
    %n = arith.addf %acc, %t : !t
    scf.yield %n : !t
  }
  %old = tile.load %o[%c0, %c0] : !m -> !t
  %sum = arith.addf %r, %old : !t
  %turned = tile.transpose %sum [1, 0] : !t -> !t
  tile.store %turned, %o[%c0, %c0] : !t, !m
}

// -----

!m = !tile.buffer<?x?xf32, #tile.strided<[?:8, 1], align = 16>, global>
!v = !tile.buffer<?xf32, #tile.strided<[1]>, global>
!t = tensor<64x64xf32>

// The largest elements of rows become a row, which all rows need.
// expected-error@+1 {{'tile.kernel' op cannot have 'cluster_split = 2' in its schedule: 'arith.addf' behind the loop may need other rows of a tile}}
tile.kernel @k(%a: !m, %o: !m, %v: !v) attributes {num_warps = 4 : i32, schedule = #tile.schedule<cluster_split = 2>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %k = tile.dim %a[1] : !m
  %zero = arith.constant dense<0.0> : !t
  %r = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (!t) {
    %t = tile.load %a[%c0, %i] : !m -> !t
    %n = arith.addf %acc, %t : !t
    scf.yield %n : !t
  }
  %most = tile.reduce maximumf %r along 1 : !t -> tensor<64xf32>
  %line = tile.broadcast %most along 0 : tensor<64xf32> -> !t
  %s = arith.addf %r, %line : !t
  tile.store %s, %o[%c0, %c0] : !t, !m
}

// -----

!m = !tile.buffer<?x?xf32, #tile.strided<[?:8, 1], align = 16>, global>
!v = !tile.buffer<?xf32, #tile.strided<[1]>, global>
!t = tensor<64x64xf32>

// A vector is a row and a column.
// expected-error@+1 {{'tile.kernel' op cannot have 'cluster_split = 2' in its schedule: 'tile.load' behind the loop is needed with all its rows}}
tile.kernel @k(%a: !m, %o: !m, %v: !v) attributes {num_warps = 4 : i32, schedule = #tile.schedule<cluster_split = 2>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %k = tile.dim %a[1] : !m
  %zero = arith.constant dense<0.0> : !t
  %r = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (!t) {
    %t = tile.load %a[%c0, %i] : !m -> !t
    %n = arith.addf %acc, %t : !t
    scf.yield %n : !t
  }
  %b = tile.load %v[%c0] : !v -> tensor<64xf32>
  %line = tile.broadcast %b along 0 : tensor<64xf32> -> !t
  %column = tile.broadcast %b along 1 : tensor<64xf32> -> !t
  %both = arith.mulf %line, %column : !t
  %s = arith.addf %r, %both : !t
  tile.store %s, %o[%c0, %c0] : !t, !m
}

// -----

!m = !tile.buffer<?x?xf32, #tile.strided<[?:8, 1], align = 16>, global>
!v = !tile.buffer<?xf32, #tile.strided<[1]>, global>
!t = tensor<64x64xf32>

// A constant scales a row and columns.
// expected-error@+1 {{'tile.kernel' op cannot have 'cluster_split = 2' in its schedule: 'arith.constant' behind the loop is needed with all its rows}}
tile.kernel @k(%a: !m, %o: !m, %v: !v) attributes {num_warps = 4 : i32, schedule = #tile.schedule<cluster_split = 2>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %k = tile.dim %a[1] : !m
  %zero = arith.constant dense<0.0> : !t
  %r = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (!t) {
    %t = tile.load %a[%c0, %i] : !m -> !t
    %n = arith.addf %acc, %t : !t
    scf.yield %n : !t
  }
  %two = arith.constant dense<2.0> : tensor<64xf32>
  %b = tile.load %v[%c0] : !v -> tensor<64xf32>
  %scaled = arith.mulf %b, %two : tensor<64xf32>
  %line = tile.broadcast %scaled along 0 : tensor<64xf32> -> !t
  %column = tile.broadcast %two along 1 : tensor<64xf32> -> !t
  %both = arith.mulf %line, %column : !t
  %s = arith.addf %r, %both : !t
  tile.store %s, %o[%c0, %c0] : !t, !m
}

// -----

!m = !tile.buffer<?x?xf32, #tile.strided<[?:8, 1], align = 16>, global>
!v = !tile.buffer<?xf32, #tile.strided<[1]>, global>
!t = tensor<64x64xf32>

// A row of the result that another block may have written.
// expected-error@+1 {{'tile.kernel' op cannot have 'cluster_split = 2' in its schedule: 'tile.load' may read rows that another block writes}}
tile.kernel @k(%a: !m, %o: !m, %v: !v) attributes {num_warps = 4 : i32, schedule = #tile.schedule<cluster_split = 2>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %k = tile.dim %a[1] : !m
  %zero = arith.constant dense<0.0> : !t
  %r = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (!t) {
    %t = tile.load %a[%c0, %i] : !m -> !t
    %n = arith.addf %acc, %t : !t
    scf.yield %n : !t
  }
  %top = tile.slice %o[%c1, *] : !m
  %b = tile.load %top[%c0] : !tile.buffer<?xf32, #tile.strided<[1], align = 16>, global> -> tensor<64xf32>
  %line = tile.broadcast %b along 0 : tensor<64xf32> -> !t
  %s = arith.addf %r, %line : !t
  tile.store %s, %o[%c0, %c0] : !t, !m
}
