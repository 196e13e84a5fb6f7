// RUN: tile-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(gpu.module(tile-gpu-to-llvm))'

module attributes {tile.target = "sm_80"} {
  gpu.module @m {
    gpu.func @text(%n: i32) kernel {
      // expected-error @+1 {{'gpu.printf' op has the conversion '%s' in its format; supported are those of integers and floats}}
      gpu.printf "%s", %n : i32
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = "gfx942"} {
  gpu.module @m {
    gpu.func @cut_off(%n: i32) kernel {
      // expected-error @+1 {{'gpu.printf' op has the conversion '%5' in its format; supported are those of integers and floats}}
      gpu.printf "%d %5", %n : i32
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = "sm_80"} {
  gpu.module @m {
    gpu.func @missing(%n: i32) kernel {
      // expected-error @+1 {{'gpu.printf' op has no argument for the conversion '%f' of its format}}
      gpu.printf "%d %f", %n : i32
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = "sm_80"} {
  gpu.module @m {
    gpu.func @unused(%n: i32) kernel {
      // expected-error @+1 {{'gpu.printf' op has 1 arguments, but its format prints 0}}
      gpu.printf "100%%", %n : i32
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = "sm_80"} {
  gpu.module @m {
    gpu.func @width(%n: index) kernel {
      // expected-error @+1 {{'gpu.printf' op prints argument 0 by '%d', which is for i32, not 'i64'}}
      gpu.printf "%d", %n : index
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = "sm_80"} {
  gpu.module @m {
    gpu.func @real(%real: f64) kernel {
      // expected-error @+1 {{'tile_gpu.fail' op prints argument 0 by '%lx', which is for i64, not 'f64'}}
      tile_gpu.fail "%lx"(%real : f64)
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = "sm_80"} {
  gpu.module @m {
    gpu.func @wide(%n: i128) kernel {
      // expected-error @+1 {{'gpu.printf' op cannot print argument 0 of type 'i128'}}
      gpu.printf "%d", %n : i128
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = "sm_80"} {
  gpu.module @m {
    llvm.func @vprintf(!llvm.ptr)
    gpu.func @another(%n: i32) kernel {
      // expected-error @+1 {{'gpu.printf' op calls 'vprintf', but the module has another symbol of this name}}
      gpu.printf "%d", %n : i32
      gpu.return
    }
  }
}
