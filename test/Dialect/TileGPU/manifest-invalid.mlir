// RUN: tile-opt %s -split-input-file -verify-diagnostics

gpu.module @m {
  // expected-error @+1 {{'tile_gpu.manifest' op is of @k, which is no function of the module}}
  tile_gpu.manifest @k {grid = [1, 1, 1], block = array<i64: 32, 1, 1>, shared_bytes = 0 : i64, params = []}
}

// -----

gpu.module @m {
  // expected-error @+1 {{'tile_gpu.manifest' op needs a grid of three expressions, got [1, 1]}}
  tile_gpu.manifest @k {grid = [1, 1], block = array<i64: 32, 1, 1>, shared_bytes = 0 : i64, params = []}
  gpu.func @k() kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @+1 {{'tile_gpu.manifest' op needs a block of three positive numbers, got array<i64: 32>}}
  tile_gpu.manifest @k {grid = [1, 1, 1], block = array<i64: 32>, shared_bytes = 0 : i64, params = []}
  gpu.func @k() kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @+1 {{'tile_gpu.manifest' op needs a block of three positive numbers, got array<i64: 32, 0, 1>}}
  tile_gpu.manifest @k {grid = [1, 1, 1], block = array<i64: 32, 0, 1>, shared_bytes = 0 : i64, params = []}
  gpu.func @k() kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @+1 {{attribute 'shared_bytes' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  tile_gpu.manifest @k {grid = [1, 1, 1], block = array<i64: 32, 1, 1>, shared_bytes = -1 : i64, params = []}
  gpu.func @k() kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @+1 {{attribute 'params' failed to satisfy constraint}}
  tile_gpu.manifest @k {grid = [1, 1, 1], block = array<i64: 32, 1, 1>, shared_bytes = 0 : i64, params = [1]}
  gpu.func @k() kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @+1 {{'tile_gpu.manifest' op expects parent op 'gpu.module'}}
    tile_gpu.manifest @k {grid = [1, 1, 1], block = array<i64: 32, 1, 1>, shared_bytes = 0 : i64, params = []}
    gpu.return
  }
}
