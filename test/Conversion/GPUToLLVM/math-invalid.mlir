// RUN: tile-opt %s --allow-unregistered-dialect -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(gpu.module(tile-lower-math))'

module attributes {tile.target = "sm_80"} {
  gpu.module @m {
    gpu.func @double(%x: f64) {
      // expected-error @+1 {{'math.exp2' op on 'f64' has no instruction on sm_80, and no device library is linked}}
      %0 = math.exp2 %x : f64
      "test.use"(%0) : (f64) -> ()
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = "sm_90a"} {
  gpu.module @m {
    gpu.func @remainder(%x: f64) {
      // expected-error @+1 {{'arith.remf' op on 'f64' has no instruction on sm_90a, and no device library is linked}}
      %0 = arith.remf %x, %x : f64
      "test.use"(%0) : (f64) -> ()
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = "gfx1100"} {
  gpu.module @m {
    gpu.func @unknown_function(%x: vector<2xi32>) {
      // expected-error @+1 {{'math.ipowi' op on 'vector<2xi32>' has no instruction on gfx1100, and no device library is linked}}
      %0 = math.ipowi %x, %x : vector<2xi32>
      "test.use"(%0) : (vector<2xi32>) -> ()
      gpu.return
    }
  }
}
