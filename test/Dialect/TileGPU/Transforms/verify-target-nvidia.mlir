// RUN: tile-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(gpu.module(tile-verify-target))'

module attributes {tile.target = "sm_80"} {
  gpu.module @m {
    gpu.func @other_vendor(%a: vector<4xf16>, %c: vector<4xf32>) {
      // expected-error @+1 {{'amdgpu.mfma' op is for the other vendor's chips; the target is sm_80}}
      %d = amdgpu.mfma 16x16x16 %a * %a + %c blgp = none : vector<4xf16>, vector<4xf16>, vector<4xf32>
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = "sm_80"} {
  gpu.module @m {
    llvm.func @later_chip() {
      // expected-error @+1 {{'nvvm.setmaxregister' op needs sm_90a or later; the target is sm_80}}
      nvvm.setmaxregister increase 240
      llvm.return
    }
  }
}

// -----

module attributes {tile.target = "sm_89"} {
  gpu.module @m {
    llvm.func @own_requirement() {
      // expected-error @+1 {{'nvvm.cluster.wait' op needs sm_90 or later; the target is sm_89}}
      nvvm.cluster.wait
      llvm.return
    }
  }
}

// -----

module attributes {tile.target = "sm_90a"} {
  gpu.module @m {
    llvm.func @available() {
      nvvm.setmaxregister increase 240
      nvvm.cluster.wait
      nvvm.wgmma.fence.aligned
      llvm.return
    }
  }
}

// -----

module attributes {tile.target = "sm_120a"} {
  gpu.module @m {
    llvm.func @available_later() {
      nvvm.setmaxregister increase 240
      nvvm.cluster.wait
      // expected-error @+1 {{'nvvm.wgmma.fence.aligned' op needs sm_90a; the target is sm_120a}}
      nvvm.wgmma.fence.aligned
      llvm.return
    }
  }
}

// -----

module attributes {tile.target = "sm_80"} {
  gpu.module @m {
    gpu.func @shape(%a: vector<2x2xf16>, %b: vector<1x2xf16>, %c: vector<2x2xf32>) {
      // expected-error @+1 {{'nvgpu.mma.sync' op of shape 16x8x8 with these element types is not an instruction of sm_80; it has mma.m16n8k16.f16, mma.m16n8k16.bf16}}
      %d = nvgpu.mma.sync(%a, %b, %c) {mmaShape = [16, 8, 8]} : (vector<2x2xf16>, vector<1x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = "sm_80"} {
  gpu.module @m {
    gpu.func @wide_integer(%a: i128) {
      // expected-error @+1 {{'arith.addi' op uses the type 'i128', which is wider than 64 bits}}
      %b = arith.addi %a, %a : i128
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = "sm_80"} {
  gpu.module @m {
    gpu.func @storage_type(%a: vector<4xf8E4M3FN>) {
      // expected-error @+1 {{'arith.extf' op computes with 'vector<4xf8E4M3FN>', which is a storage type}}
      %b = arith.extf %a : vector<4xf8E4M3FN> to vector<4xf32>
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = "sm_80"} {
  gpu.module @m {
    gpu.func @scalable(%a: vector<[4]xf32>) {
      // expected-error @+1 {{'arith.addf' op uses the type 'vector<[4]xf32>', which is scalable}}
      %b = arith.addf %a, %a : vector<[4]xf32>
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = "sm_80"} {
  gpu.module @m {
    llvm.func @space(%a: !llvm.ptr<9>) {
      // expected-error @+1 {{'llvm.load' op uses the type '!llvm.ptr<9>', whose address space the chip does not have}}
      %b = llvm.load %a : !llvm.ptr<9> -> i32
      llvm.return
    }
  }
}

// -----

module attributes {tile.target = "sm_80"} {
  gpu.module @m {
    llvm.func @scope(%p: !llvm.ptr<1>, %v: f32) {
      // expected-error @+1 {{'llvm.atomicrmw' op has the scope "agent", which sm_80 does not have}}
      %0 = llvm.atomicrmw fadd %p, %v syncscope("agent") monotonic : !llvm.ptr<1>, f32
      llvm.return
    }
  }
}

// -----

module attributes {tile.target = "sm_80"} {
  gpu.module @m {
    llvm.func @vector_atomic(%p: !llvm.ptr<1>, %v: vector<2xf16>, %w: vector<4xf32>) {
      %0 = llvm.atomicrmw fadd %p, %v monotonic : !llvm.ptr<1>, vector<2xf16>
      // expected-error @+1 {{'llvm.atomicrmw' op is on 'vector<4xf32>'; an atomic operation is on a scalar or on two 16-bit floats}}
      %1 = llvm.atomicrmw fadd %p, %w monotonic : !llvm.ptr<1>, vector<4xf32>
      llvm.return
    }
  }
}

// -----

module attributes {tile.target = "sm_80"} {
  gpu.module @m {
    llvm.func @__nv_expf(f32) -> f32
    llvm.func @vprintf(!llvm.ptr, !llvm.ptr) -> i32
    llvm.func @device_library(%a: f32, %p: !llvm.ptr) {
      %0 = llvm.call @vprintf(%p, %p) : (!llvm.ptr, !llvm.ptr) -> i32
      // expected-error @+1 {{'llvm.call' op calls '__nv_expf', which is not defined; no device library is linked}}
      %1 = llvm.call @__nv_expf(%a) : (f32) -> f32
      llvm.return
    }
  }
}

// -----

module attributes {tile.target = "sm_80"} {
  gpu.module @m {
    llvm.func @intrinsic(%a: f32) {
      // expected-error @+1 {{'llvm.call_intrinsic' op calls llvm.amdgcn.rsq.f32, which sm_80 does not have}}
      %0 = llvm.call_intrinsic "llvm.amdgcn.rsq.f32"(%a) : (f32) -> f32
      llvm.return
    }
  }
}

// -----

module attributes {tile.target = "sm_89"} {
  gpu.module @m {
    tile_gpu.manifest @shared {grid = [1, 1, 1], block = array<i64: 32, 1, 1>, shared_bytes = 101377 : i64,
        params = []}
    // expected-error @+1 {{'gpu.func' op needs 101377 bytes of shared memory; a block on sm_89 has at most 101376}}
    gpu.func @shared() kernel {
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = "sm_89"} {
  gpu.module @m {
    tile_gpu.manifest @fits {grid = [1, 1, 1], block = array<i64: 256, 2, 2>, shared_bytes = 101376 : i64,
        params = []}
    gpu.func @fits() kernel {
      gpu.return
    }
    tile_gpu.manifest @threads {grid = [1, 1, 1], block = array<i64: 1024, 2, 1>, shared_bytes = 0 : i64,
        params = []}
    // expected-error @+1 {{'gpu.func' op has 2048 threads a block; sm_89 has at most 1024}}
    gpu.func @threads() kernel {
      gpu.return
    }
  }
}

// -----

// expected-error @below {{no target chip: set tile.target on the module (pass tile-attach-target)}}
gpu.module @m {}

// -----

module attributes {tile.target = "sm_80"} {
  gpu.module @m {
    llvm.mlir.global internal constant @number(7 : i32) : i32
    // expected-error @+1 {{'llvm.intr.trap' op is in no function}}
    llvm.intr.trap
  }
}

// -----

module attributes {tile.target = "sm_80"} {
  gpu.module @m {
    gpu.func @rounding(%a: vector<4xf32>) {
      // expected-error @+1 {{'arith.truncf' op has the rounding mode toward_zero; floats are rounded to the nearest, ties to even}}
      %b = arith.truncf %a toward_zero : vector<4xf32> to vector<4xf16>
      %c = arith.truncf %a to_nearest_even : vector<4xf32> to vector<4xf16>
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = "sm_80"} {
  gpu.module @m {
    gpu.func @rounding_llvm(%s: f32) {
      // expected-error @+1 {{'llvm.intr.experimental.constrained.fptrunc' op has the rounding mode towardzero; floats are rounded to the nearest, ties to even}}
      %d = llvm.intr.experimental.constrained.fptrunc %s towardzero ignore : f32 to f16
      gpu.return
    }
  }
}
