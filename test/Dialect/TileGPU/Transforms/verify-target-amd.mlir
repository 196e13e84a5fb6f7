// RUN: tile-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(gpu.module(tile-verify-target))'

module attributes {tile.target = "gfx1100"} {
  gpu.module @m {
    llvm.func @other_vendor() {
      // expected-error @+1 {{'nvvm.barrier0' op is for the other vendor's chips; the target is gfx1100}}
      nvvm.barrier0
      llvm.return
    }
  }
}

// -----

module attributes {tile.target = "gfx1201"} {
  gpu.module @m {
    gpu.func @fragments(%a: vector<16xf16>, %c: vector<8xf32>) {
      // expected-error @+1 {{'amdgpu.wmma' op has fragments of 16, 16 and 8 elements a thread; wmma.gfx12.16x16x16.f16 on gfx1201 has 8, 8 and 8}}
      %d = amdgpu.wmma 16x16x16 %a * %a + %c : vector<16xf16>, vector<16xf16>, vector<8xf32>
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = "gfx1201"} {
  gpu.module @m {
    llvm.func @rocdl_fragments(%a: vector<16xf16>, %c: vector<8xf32>) {
      // expected-error @+1 {{'rocdl.wmma.f32.16x16x16.f16' op has fragments of 16, 16 and 8 elements a thread; wmma.gfx12.16x16x16.f16 on gfx1201 has 8, 8 and 8}}
      %d = rocdl.wmma.f32.16x16x16.f16 %a, %a, %c : (vector<16xf16>, vector<16xf16>, vector<8xf32>) -> vector<8xf32>
      llvm.return
    }
  }
}

// -----

module attributes {tile.target = "gfx942"} {
  gpu.module @m {
    gpu.func @later_chip(%a: vector<8xf16>, %c: vector<4xf32>) {
      // expected-error @+1 {{'amdgpu.mfma' op of shape 16x16x32 with these element types is not an instruction of gfx942; it has mfma.16x16x16.f16}}
      %d = amdgpu.mfma 16x16x32 %a * %a + %c blgp = none : vector<8xf16>, vector<8xf16>, vector<4xf32>
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = "gfx942"} {
  gpu.module @m {
    gpu.func @family(%a: vector<16xf16>, %c: vector<8xf32>) {
      // expected-error @+1 {{'amdgpu.wmma' op is not available on gfx942, only on gfx11*, gfx12*}}
      %d = amdgpu.wmma 16x16x16 %a * %a + %c : vector<16xf16>, vector<16xf16>, vector<8xf32>
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = "gfx942"} {
  gpu.module @m {
    gpu.func @device_library() {
      // expected-error @+1 {{'gpu.grid_dim' op needs a device library, and none is linked}}
      %0 = gpu.grid_dim x
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = "gfx942"} {
  gpu.module @m {
    llvm.func @scope(%p: !llvm.ptr<1>, %v: f32) {
      %0 = llvm.atomicrmw fadd %p, %v syncscope("agent") monotonic : !llvm.ptr<1>, f32
      // expected-error @+1 {{'llvm.atomicrmw' op has the scope "device", which gfx942 does not have}}
      %1 = llvm.atomicrmw fadd %p, %v syncscope("device") monotonic : !llvm.ptr<1>, f32
      llvm.return
    }
  }
}

// -----

module attributes {tile.target = "gfx1100"} {
  gpu.module @m {
    llvm.func @buffer(%p: !llvm.ptr<8>, %v: f32, %w: vector<2xf16>, %n: i32) {
      rocdl.raw.ptr.buffer.atomic.fadd %v, %p, %n, %n, %n : f32
      // expected-error @+1 {{'rocdl.raw.ptr.buffer.atomic.fadd' op adds 'vector<2xf16>' through a buffer descriptor; gfx1100 has no such instruction}}
      rocdl.raw.ptr.buffer.atomic.fadd %w, %p, %n, %n, %n : vector<2xf16>
      llvm.return
    }
  }
}

// -----

module attributes {tile.target = "gfx942"} {
  gpu.module @m {
    llvm.func @buffer(%p: !llvm.ptr<8>, %v: vector<2xbf16>, %n: i32) {
      // expected-error @+1 {{'llvm.call_intrinsic' op adds 'vector<2xbf16>' through a buffer descriptor; gfx942 has no such instruction}}
      %0 = llvm.call_intrinsic "llvm.amdgcn.raw.ptr.buffer.atomic.fadd"(%v, %p, %n, %n, %n) : (vector<2xbf16>, !llvm.ptr<8>, i32, i32, i32) -> vector<2xbf16>
      llvm.return
    }
  }
}

// -----

// On AMD chips shared_bytes of the manifest repeats the static size.
module attributes {tile.target = "gfx1100"} {
  gpu.module @m {
    tile_gpu.manifest @fits {grid = [1, 1, 1], block = array<i64: 32, 1, 1>, shared_bytes = 65536 : i64,
        params = []}
    gpu.func @fits() workgroup(%lds: memref<65536xi8, #gpu.address_space<workgroup>>) kernel {
      gpu.return
    }
    // expected-error @+1 {{'gpu.func' op needs 65540 bytes of shared memory; a block on gfx1100 has at most 65536}}
    gpu.func @shared() workgroup(%lds: memref<16385xf32, #gpu.address_space<workgroup>>) kernel {
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = "gfx1100"} {
  gpu.module @m {
    llvm.mlir.global internal @lds() {addr_space = 3 : i32} : !llvm.array<16385 x f32>
    // expected-error @+1 {{'llvm.func' op needs 65540 bytes of shared memory; a block on gfx1100 has at most 65536}}
    llvm.func @shared_global() attributes {gpu.kernel, rocdl.kernel} {
      %0 = llvm.mlir.addressof @lds : !llvm.ptr<3>
      llvm.return
    }
  }
}

// -----

module attributes {tile.target = "gfx1100"} {
  gpu.module @m {
    // expected-error @+1 {{'gpu.func' op has shared memory of type 'memref<?xf32, #gpu.address_space<workgroup>>'; its size must be static}}
    gpu.func @dynamic() workgroup(%lds: memref<?xf32, #gpu.address_space<workgroup>>) kernel {
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = "gfx1100"} {
  gpu.module @m {
    // expected-error @+1 {{'gpu.func' op has shared memory of type 'memref<4xindex, #gpu.address_space<workgroup>>'; its size must be static}}
    gpu.func @element() workgroup(%lds: memref<4xindex, #gpu.address_space<workgroup>>) kernel {
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = "gfx942"} {
  gpu.module @m {
    gpu.func @copy_size(%g: memref<64xf32, #gpu.address_space<global>>, %s: memref<64xf32, #gpu.address_space<workgroup>>) {
      %c0 = arith.constant 0 : index
      amdgpu.gather_to_lds %g[%c0], %s[%c0] : f32, memref<64xf32, #gpu.address_space<global>>, memref<64xf32, #gpu.address_space<workgroup>>
      // expected-error @+1 {{'amdgpu.gather_to_lds' op copies 16 bytes a lane to the LDS; gfx942 has copies of 1, 2, 4 bytes}}
      amdgpu.gather_to_lds %g[%c0], %s[%c0] : vector<4xf32>, memref<64xf32, #gpu.address_space<global>>, memref<64xf32, #gpu.address_space<workgroup>>
      gpu.return
    }
  }
}

// -----

module attributes {tile.target = "gfx950"} {
  gpu.module @m {
    llvm.func @rocdl_copy_size(%g: !llvm.ptr<1>, %s: !llvm.ptr<3>) {
      rocdl.load.to.lds %g, %s, 16, 0, 0 : !llvm.ptr<1>
      // expected-error @+1 {{'rocdl.load.to.lds' op copies 8 bytes a lane to the LDS; gfx950 has copies of 1, 2, 4, 12, 16 bytes}}
      rocdl.load.to.lds %g, %s, 8, 0, 0 : !llvm.ptr<1>
      llvm.return
    }
  }
}
