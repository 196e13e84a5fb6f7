// RUN: tile-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(gpu.module(tile-lower-kernel-abi))'

gpu.module @m {
  // expected-error @+1 {{kernel argument #1 of type 'memref<?x?xf32, 1>' cannot be passed as one pointer: its strides are not static}}
  gpu.func @strides(%i: i32, %x: memref<?x?xf32, 1>) kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @+1 {{kernel argument #0 of type 'memref<?xf32, strided<[1], offset: ?>, 1>' cannot be passed as one pointer: its offset is not 0}}
  gpu.func @offset(%x: memref<?xf32, strided<[1], offset: ?>, 1>) kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @+1 {{kernel argument #0 of type 'memref<?xf32, #gpu.address_space<workgroup>>' cannot be passed as one pointer: it is not in global memory}}
  gpu.func @space(%x: memref<?xf32, #gpu.address_space<workgroup>>) kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @+1 {{kernel argument #0 of type 'memref<8x8xf32, affine_map<(d0, d1) -> (d0 + d1, d0 mod 2)>, 1>' cannot be passed as one pointer: its layout is not strided}}
  gpu.func @layout(%x: memref<8x8xf32, affine_map<(d0, d1) -> (d0 + d1, d0 mod 2)>, 1>) kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @+1 {{kernel argument #0 of type 'memref<*xf32>' cannot be passed as one pointer}}
  gpu.func @unranked(%x: memref<*xf32>) kernel {
    gpu.return
  }
}
