// Operations that no lowering converted are reported at their location.

// RUN: tile-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(gpu.module(tile-verify-target{llvm-only=true}))'

module attributes {tile.target = "sm_80"} {
  gpu.module @m {
    llvm.func @cast(%a: i64) {
      // expected-error @+1 {{no lowering turns 'i64' into 'index'}}
      %0 = builtin.unrealized_conversion_cast %a : i64 to index
      // expected-note @+1 {{used by 'arith.addi'}}
      %1 = arith.addi %0, %0 : index
      llvm.return
    }
  }
}

// -----

module attributes {tile.target = "sm_80"} {
  gpu.module @m {
    llvm.func @left_over(%a: i64) {
      // expected-error @+1 {{'arith.addi' op was not lowered to the LLVM dialect}}
      %0 = arith.addi %a, %a : i64
      llvm.return
    }
  }
}
