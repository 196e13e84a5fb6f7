// The executor supports buffer instructions with bounds checks by offset alone, whose
// descriptor is made in place or chosen from such. Other descriptors are errors, and so
// are bounds that the offset of the wave decides.
//
// RUN: split-file %s %t
// RUN: tile-run %t/known.mlir --chip=gfx942 --arg=random:64:f32:1 --arg=zeros:64:f32 --out=b=%t.npy
// RUN: tile-run %t/plain.mlir --chip=gfx942 --arg=random:64:f32:1 --arg=zeros:64:f32 --expect=b=%t.npy
// RUN: not tile-run %t/flags.mlir --chip=gfx942 --arg=random:64:f32:1 --arg=zeros:64:f32 2>&1 | FileCheck %s --check-prefix=FLAGS
// RUN: not tile-run %t/stride.mlir --chip=gfx942 --arg=random:64:f32:1 --arg=zeros:64:f32 2>&1 | FileCheck %s --check-prefix=FLAGS
// RUN: not tile-run %t/wave.mlir --chip=gfx942 --arg=random:64:f32:1 --arg=zeros:64:f32 2>&1 | FileCheck %s --check-prefix=WAVE
// RUN: sed 's/constant(64 : i64)/constant(32 : i64)/' %t/known.mlir > %t/fewer.mlir
// RUN: tile-run %t/choice.mlir --chip=gfx942 --arg=random:64:f32:1 --arg=zeros:64:f32 --out=b=%t.npy
// RUN: tile-run %t/fewer.mlir --chip=gfx942 --arg=random:64:f32:1 --arg=zeros:64:f32 --expect=b=%t.npy
// RUN: tile-run %t/branches.mlir --chip=gfx942 --arg=random:64:f32:1 --arg=zeros:64:f32 --expect=b=%t.npy
// RUN: sed 's/%fewer, %flags/%fewer, %zero/' %t/choice.mlir > %t/unknown.mlir
// RUN: not tile-run %t/unknown.mlir --chip=gfx942 --arg=random:64:f32:1 --arg=zeros:64:f32 2>&1 | FileCheck %s --check-prefix=FLAGS

// FLAGS: error: the executor does not know this form of 'llvm.amdgcn.raw.ptr.buffer.atomic.fadd.f32': the stride or the flags of its descriptor
// WAVE: error: kernel 'k', block (0, 0, 0), thread {{[0-9]+}}: 'llvm.amdgcn.raw.ptr.buffer.atomic.fadd.f32' is in the bounds of its descriptor without the offset of the wave only

//--- known.mlir
#global = #gpu.address_space<global>
gpu.module @kernels {
  tile_gpu.manifest @k {grid = [1, 1, 1], block = array<i64: 64, 1, 1>, shared_bytes = 0 : i64,
      params = [{kind = "buffer", name = "a", type = "f32", rank = 1, shape = [64],
                  strides = [1], stride_divisibility = [1], alignment = 16},
                  {kind = "buffer", name = "b", type = "f32", rank = 1, shape = [64],
                  strides = [1], stride_divisibility = [1], alignment = 16}]}
  gpu.func @k(%a: memref<64xf32, #global>, %b: memref<64xf32, #global>) kernel {
    %t = gpu.thread_id x
    %i = arith.index_castui %t : index to i32
    %c4 = arith.constant 4 : i32
    %offset = arith.muli %i, %c4 : i32
    %one = arith.constant 1.0 : f32
    %address = memref.extract_aligned_pointer_as_index %b : memref<64xf32, #global> -> index
    %bits = arith.index_cast %address : index to i64
    %base = llvm.inttoptr %bits : i64 to !llvm.ptr<1>
    %stride = llvm.mlir.constant(0 : i16) : i16
    %bytes = llvm.mlir.constant(64 : i64) : i64
    %flags = llvm.mlir.constant(159744 : i32) : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %wave = llvm.mlir.constant(0 : i32) : i32
    %d = rocdl.make.buffer.rsrc %base, %stride, %bytes, %flags : !llvm.ptr<1> to !llvm.ptr<8>
    rocdl.raw.ptr.buffer.atomic.fadd %one, %d, %offset, %wave, %zero : f32
    gpu.return
  }
}

//--- plain.mlir
// The first 16 threads are within the 64 bytes.
#global = #gpu.address_space<global>
gpu.module @kernels {
  tile_gpu.manifest @k {grid = [1, 1, 1], block = array<i64: 64, 1, 1>, shared_bytes = 0 : i64,
      params = [{kind = "buffer", name = "a", type = "f32", rank = 1, shape = [64],
                  strides = [1], stride_divisibility = [1], alignment = 16},
                  {kind = "buffer", name = "b", type = "f32", rank = 1, shape = [64],
                  strides = [1], stride_divisibility = [1], alignment = 16}]}
  gpu.func @k(%a: memref<64xf32, #global>, %b: memref<64xf32, #global>) kernel {
    %t = gpu.thread_id x
    %c16 = arith.constant 16 : index
    %one = arith.constant 1.0 : f32
    %in = arith.cmpi ult, %t, %c16 : index
    scf.if %in {
      memref.store %one, %b[%t] : memref<64xf32, #global>
    }
    gpu.return
  }
}

//--- flags.mlir
#global = #gpu.address_space<global>
gpu.module @kernels {
  tile_gpu.manifest @k {grid = [1, 1, 1], block = array<i64: 64, 1, 1>, shared_bytes = 0 : i64,
      params = [{kind = "buffer", name = "a", type = "f32", rank = 1, shape = [64],
                  strides = [1], stride_divisibility = [1], alignment = 16},
                  {kind = "buffer", name = "b", type = "f32", rank = 1, shape = [64],
                  strides = [1], stride_divisibility = [1], alignment = 16}]}
  gpu.func @k(%a: memref<64xf32, #global>, %b: memref<64xf32, #global>) kernel {
    %t = gpu.thread_id x
    %i = arith.index_castui %t : index to i32
    %c4 = arith.constant 4 : i32
    %offset = arith.muli %i, %c4 : i32
    %one = arith.constant 1.0 : f32
    %address = memref.extract_aligned_pointer_as_index %b : memref<64xf32, #global> -> index
    %bits = arith.index_cast %address : index to i64
    %base = llvm.inttoptr %bits : i64 to !llvm.ptr<1>
    %stride = llvm.mlir.constant(0 : i16) : i16
    %bytes = llvm.mlir.constant(64 : i64) : i64
    %flags = llvm.mlir.constant(0 : i32) : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %wave = llvm.mlir.constant(0 : i32) : i32
    %d = rocdl.make.buffer.rsrc %base, %stride, %bytes, %flags : !llvm.ptr<1> to !llvm.ptr<8>
    rocdl.raw.ptr.buffer.atomic.fadd %one, %d, %offset, %wave, %zero : f32
    gpu.return
  }
}

//--- stride.mlir
#global = #gpu.address_space<global>
gpu.module @kernels {
  tile_gpu.manifest @k {grid = [1, 1, 1], block = array<i64: 64, 1, 1>, shared_bytes = 0 : i64,
      params = [{kind = "buffer", name = "a", type = "f32", rank = 1, shape = [64],
                  strides = [1], stride_divisibility = [1], alignment = 16},
                  {kind = "buffer", name = "b", type = "f32", rank = 1, shape = [64],
                  strides = [1], stride_divisibility = [1], alignment = 16}]}
  gpu.func @k(%a: memref<64xf32, #global>, %b: memref<64xf32, #global>) kernel {
    %t = gpu.thread_id x
    %i = arith.index_castui %t : index to i32
    %c4 = arith.constant 4 : i32
    %offset = arith.muli %i, %c4 : i32
    %one = arith.constant 1.0 : f32
    %address = memref.extract_aligned_pointer_as_index %b : memref<64xf32, #global> -> index
    %bits = arith.index_cast %address : index to i64
    %base = llvm.inttoptr %bits : i64 to !llvm.ptr<1>
    %stride = llvm.mlir.constant(4 : i16) : i16
    %bytes = llvm.mlir.constant(64 : i64) : i64
    %flags = llvm.mlir.constant(159744 : i32) : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %wave = llvm.mlir.constant(0 : i32) : i32
    %d = rocdl.make.buffer.rsrc %base, %stride, %bytes, %flags : !llvm.ptr<1> to !llvm.ptr<8>
    rocdl.raw.ptr.buffer.atomic.fadd %one, %d, %offset, %wave, %zero : f32
    gpu.return
  }
}

//--- wave.mlir
#global = #gpu.address_space<global>
gpu.module @kernels {
  tile_gpu.manifest @k {grid = [1, 1, 1], block = array<i64: 64, 1, 1>, shared_bytes = 0 : i64,
      params = [{kind = "buffer", name = "a", type = "f32", rank = 1, shape = [64],
                  strides = [1], stride_divisibility = [1], alignment = 16},
                  {kind = "buffer", name = "b", type = "f32", rank = 1, shape = [64],
                  strides = [1], stride_divisibility = [1], alignment = 16}]}
  gpu.func @k(%a: memref<64xf32, #global>, %b: memref<64xf32, #global>) kernel {
    %t = gpu.thread_id x
    %i = arith.index_castui %t : index to i32
    %c4 = arith.constant 4 : i32
    %offset = arith.muli %i, %c4 : i32
    %one = arith.constant 1.0 : f32
    %address = memref.extract_aligned_pointer_as_index %b : memref<64xf32, #global> -> index
    %bits = arith.index_cast %address : index to i64
    %base = llvm.inttoptr %bits : i64 to !llvm.ptr<1>
    %stride = llvm.mlir.constant(0 : i16) : i16
    %bytes = llvm.mlir.constant(64 : i64) : i64
    %flags = llvm.mlir.constant(159744 : i32) : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %wave = llvm.mlir.constant(8 : i32) : i32
    %d = rocdl.make.buffer.rsrc %base, %stride, %bytes, %flags : !llvm.ptr<1> to !llvm.ptr<8>
    rocdl.raw.ptr.buffer.atomic.fadd %one, %d, %offset, %wave, %zero : f32
    gpu.return
  }
}

//--- choice.mlir
// The lowest bit of an address is 0.
#global = #gpu.address_space<global>
gpu.module @kernels {
  tile_gpu.manifest @k {grid = [1, 1, 1], block = array<i64: 64, 1, 1>, shared_bytes = 0 : i64,
      params = [{kind = "buffer", name = "a", type = "f32", rank = 1, shape = [64],
                  strides = [1], stride_divisibility = [1], alignment = 16},
                  {kind = "buffer", name = "b", type = "f32", rank = 1, shape = [64],
                  strides = [1], stride_divisibility = [1], alignment = 16}]}
  gpu.func @k(%a: memref<64xf32, #global>, %b: memref<64xf32, #global>) kernel {
    %t = gpu.thread_id x
    %i = arith.index_castui %t : index to i32
    %c4 = arith.constant 4 : i32
    %offset = arith.muli %i, %c4 : i32
    %one = arith.constant 1.0 : f32
    %address = memref.extract_aligned_pointer_as_index %b : memref<64xf32, #global> -> index
    %bits = arith.index_cast %address : index to i64
    %base = llvm.inttoptr %bits : i64 to !llvm.ptr<1>
    %stride = llvm.mlir.constant(0 : i16) : i16
    %bytes = llvm.mlir.constant(64 : i64) : i64
    %flags = llvm.mlir.constant(159744 : i32) : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %wave = llvm.mlir.constant(0 : i32) : i32
    %d = rocdl.make.buffer.rsrc %base, %stride, %bytes, %flags : !llvm.ptr<1> to !llvm.ptr<8>
    %fewer = llvm.mlir.constant(32 : i64) : i64
    %e = rocdl.make.buffer.rsrc %base, %stride, %fewer, %flags : !llvm.ptr<1> to !llvm.ptr<8>
    %which = llvm.trunc %bits : i64 to i1
    %either = llvm.select %which, %d, %e : i1, !llvm.ptr<8>
    rocdl.raw.ptr.buffer.atomic.fadd %one, %either, %offset, %wave, %zero : f32
    gpu.return
  }
}

//--- branches.mlir
#global = #gpu.address_space<global>
gpu.module @kernels {
  tile_gpu.manifest @k {grid = [1, 1, 1], block = array<i64: 64, 1, 1>, shared_bytes = 0 : i64,
      params = [{kind = "buffer", name = "a", type = "f32", rank = 1, shape = [64],
                  strides = [1], stride_divisibility = [1], alignment = 16},
                  {kind = "buffer", name = "b", type = "f32", rank = 1, shape = [64],
                  strides = [1], stride_divisibility = [1], alignment = 16}]}
  gpu.func @k(%a: memref<64xf32, #global>, %b: memref<64xf32, #global>) kernel {
    %t = gpu.thread_id x
    %i = arith.index_castui %t : index to i32
    %c4 = arith.constant 4 : i32
    %offset = arith.muli %i, %c4 : i32
    %one = arith.constant 1.0 : f32
    %address = memref.extract_aligned_pointer_as_index %b : memref<64xf32, #global> -> index
    %bits = arith.index_cast %address : index to i64
    %base = llvm.inttoptr %bits : i64 to !llvm.ptr<1>
    %stride = llvm.mlir.constant(0 : i16) : i16
    %bytes = llvm.mlir.constant(64 : i64) : i64
    %flags = llvm.mlir.constant(159744 : i32) : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %wave = llvm.mlir.constant(0 : i32) : i32
    %d = rocdl.make.buffer.rsrc %base, %stride, %bytes, %flags : !llvm.ptr<1> to !llvm.ptr<8>
    %fewer = llvm.mlir.constant(32 : i64) : i64
    %e = rocdl.make.buffer.rsrc %base, %stride, %fewer, %flags : !llvm.ptr<1> to !llvm.ptr<8>
    %which = llvm.trunc %bits : i64 to i1
    cf.cond_br %which, ^join(%d : !llvm.ptr<8>), ^join(%e : !llvm.ptr<8>)
  ^join(%either: !llvm.ptr<8>):
    rocdl.raw.ptr.buffer.atomic.fadd %one, %either, %offset, %wave, %zero : f32
    gpu.return
  }
}
