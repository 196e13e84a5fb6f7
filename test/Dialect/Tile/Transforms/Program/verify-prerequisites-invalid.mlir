// RUN: tile-opt %s --tile-verify-prerequisites -split-input-file -verify-diagnostics

!b = !tile.buffer<64xf32, #tile.strided<[1]>, global>
!bb = !tile.buffer<?x64xf32, #tile.strided<[?, 1]>, global>

tile.kernel @writes(%a: !bb {tile.name = "a"}) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zeros = arith.constant dense<0.0> : tensor<64xf32>
  tile.grid %c1, %c1, %c1
  %row = tile.slice %a[%c0, *] : !bb to !b
  // expected-note @+1 {{kernel @writes writes it here and may still run}}
  tile.store %zeros, %row[%c0] : tensor<64xf32>, !b
}
tile.kernel @reads(%o: !b {tile.name = "o"}, %a: !bb {tile.name = "a"}) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %row = tile.slice %a[%c1, *] : !bb to !b
  // expected-error @+1 {{'tile.load' op reads 'a' before tile.wait_prerequisites}}
  %t = tile.load %row[%c0] : !b -> tensor<64xf32>
  tile.wait_prerequisites
  tile.store %t, %o[%c0] : tensor<64xf32>, !b
}

// -----

// Memory that a running kernel reads must not be overwritten, either. Buffers without a name have
// the number of the argument as their name.

!b = !tile.buffer<64xf32, #tile.strided<[1]>, global>

tile.kernel @reads(%a: !b, %o: !b) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // expected-note @+1 {{kernel @reads reads it here and may still run}}
  %t = tile.load %a[%c0] : !b -> tensor<64xf32>
  tile.store %t, %o[%c0] : tensor<64xf32>, !b
}
tile.kernel @between(%a: !b) attributes {num_warps = 1 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  tile.wait_prerequisites
}
tile.kernel @adds(%a: !b) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ones = arith.constant dense<1.0> : tensor<64xf32>
  tile.grid %c1, %c1, %c1
  scf.for %i = %c0 to %c1 step %c1 {
    // expected-error @+1 {{'tile.atomic_rmw' op writes 'arg0' before tile.wait_prerequisites}}
    tile.atomic_rmw addf %ones, %a[%c0] : tensor<64xf32>, !b
  }
  tile.wait_prerequisites
}

// -----

// One role waits, the other does not.

!q = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
!tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>

tile.kernel @writes(%a: !q) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zeros = arith.constant dense<0.0> : tensor<64x64xf16>
  tile.grid %c1, %c1, %c1
  // expected-note @+1 {{kernel @writes writes it here}}
  tile.store %zeros, %a[%c0, %c0] : tensor<64x64xf16>, !q
}
tile.kernel @roles(%a: !q) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !tile
  %full = tile.alloc : !bars
  tile.init_barriers %full, 1 : !bars
  tile.barrier
  tile.warp_roles warps = [4, 4] {
    tile.wait_prerequisites
    tile.wait_barrier %full[%c0] phase %c0 : !bars
  }, {
    // expected-error @+1 {{'tile.bulk_copy' op reads 'arg0' before tile.wait_prerequisites}}
    tile.bulk_copy %a[%c0, %c0] dims [0, 1], %t, %full[%c0] : !q, !tile, !bars
    tile.wait_prerequisites
  }
}
