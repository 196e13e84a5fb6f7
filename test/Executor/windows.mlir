// Loads and stores through windows of memory, for each width. Threads outside of the
// window read zeros and write nothing. A bound that depends on the offset of all lanes is
// refused, since chips differ in it.
//
// RUN: split-file %s %t
// RUN: tile-run %t/copy.mlir --chip=gfx942 --arg=random:128:f16:1 --arg=zeros:128:f16 --out=b=%t/942.npy
// RUN: tile-run %t/copy.mlir --chip=gfx1201 --arg=%t/942.npy --arg=zeros:128:f16 --expect=%t/942.npy
// RUN: tile-run %t/copy.mlir --chip=gfx1100 --arg=%t/942.npy --arg=zeros:128:f16 --expect=%t/942.npy
// RUN: not tile-run %t/outside.mlir --chip=gfx942 --arg=random:128:f32:1 --arg=zeros:63:f32 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// RUN: not tile-run %t/distance.mlir --chip=gfx942 --arg=random:128:f32:1 --arg=zeros:64:f32 2>&1 | FileCheck %s --check-prefix=DISTANCE

// OUTSIDE: outside.mlir:13:{{[0-9]+}}: error: kernel 'k', block (0, 0, 0), thread 63: writes 4 bytes outside of every argument, 4 bytes past the end of 'b'
// DISTANCE: distance.mlir:13:{{[0-9]+}}: error: kernel 'k', block (0, 0, 0), thread 0: 'llvm.amdgcn.raw.ptr.buffer.load.{{[a-z0-9]+}}' is in the bounds of its descriptor without the offset of the wave only

//--- copy.mlir
#global = #gpu.address_space<global>
gpu.module @kernels {
  tile_gpu.manifest @k {grid = [1, 1, 1], block = array<i64: 128, 1, 1>, shared_bytes = 0 : i64,
      params = [{kind = "buffer", name = "a", type = "f16", rank = 1, shape = [128],
                  strides = [1], stride_divisibility = [1], alignment = 16},
                  {kind = "buffer", name = "b", type = "f16", rank = 1, shape = [128],
                  strides = [1], stride_divisibility = [1], alignment = 16}]}
  gpu.func @k(%a: memref<128xf16, #global>, %b: memref<128xf16, #global>) kernel {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : i32
    %c4 = arith.constant 4 : i32
    %c8 = arith.constant 8 : i32
    %c16 = arith.constant 16 : i32
    %c64 = arith.constant 64 : i32
    %c128 = arith.constant 128 : i32
    %c192 = arith.constant 192 : i32
    %i = arith.index_castui %t : index to i32
    // 32 elements each, by 32, 16, 8 and 4 threads; the others are outside.
    %o2 = arith.muli %i, %c2 : i32
    %v2 = tile_gpu.buffer_load %a[%c0], %o2 {window = 64} : memref<128xf16, #global>, vector<1xf16>
    tile_gpu.buffer_store %v2, %b[%c0], %o2 {window = 64} : vector<1xf16>, memref<128xf16, #global>
    %o4 = arith.muli %i, %c4 : i32
    %m4 = arith.cmpi ult, %o4, %c64 : i32
    %outside = arith.constant -2147483648 : i32
    %p4 = arith.select %m4, %o4, %outside : i32
    %v4 = tile_gpu.buffer_load %a[%c0], %p4 + %c64 {window = 256} : memref<128xf16, #global>, vector<2xf16>
    tile_gpu.buffer_store %v4, %b[%c0], %p4 + %c64 {window = 256} : vector<2xf16>, memref<128xf16, #global>
    %o8 = arith.muli %i, %c8 : i32
    %m8 = arith.cmpi ult, %o8, %c64 : i32
    %p8 = arith.select %m8, %o8, %outside : i32
    %v8 = tile_gpu.buffer_load %a[%c0], %p8 + %c128 {window = 256} : memref<128xf16, #global>, vector<4xf16>
    tile_gpu.buffer_store %v8, %b[%c0], %p8 + %c128 {window = 256} : vector<4xf16>, memref<128xf16, #global>
    %o16 = arith.muli %i, %c16 : i32
    %m16 = arith.cmpi ult, %o16, %c64 : i32
    %p16 = arith.select %m16, %o16, %outside : i32
    %v16 = tile_gpu.buffer_load %a[%c0], %p16 + %c192 {window = 256} : memref<128xf16, #global>, vector<8xf16>
    tile_gpu.buffer_store %v16, %b[%c0], %p16 + %c192 {window = 256} : vector<8xf16>, memref<128xf16, #global>
    gpu.return
  }
}

//--- outside.mlir
#global = #gpu.address_space<global>
gpu.module @kernels {
  tile_gpu.manifest @k {grid = [1, 1, 1], block = array<i64: 128, 1, 1>, shared_bytes = 0 : i64,
      params = [{kind = "buffer", name = "a", type = "f32", rank = 1, shape = [128], strides = [1], stride_divisibility = [1], alignment = 16},
                  {kind = "buffer", name = "b", type = "f32", rank = 1, shape = [unit], strides = [1], stride_divisibility = [1], alignment = 16}]}
  gpu.func @k(%a: memref<128xf32, #global>, %b: memref<?xf32, #global>, %n: index) kernel {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : i32
    %i = arith.index_castui %t : index to i32
    %o = arith.muli %i, %c4 : i32
    %v = tile_gpu.buffer_load %a[%c0], %o {window = 512} : memref<128xf32, #global>, vector<1xf32>
    tile_gpu.buffer_store %v, %b[%c0], %o {window = 256} : vector<1xf32>, memref<?xf32, #global>
    gpu.return
  }
}

//--- distance.mlir
#global = #gpu.address_space<global>
gpu.module @kernels {
  tile_gpu.manifest @k {grid = [1, 1, 1], block = array<i64: 128, 1, 1>, shared_bytes = 0 : i64,
      params = [{kind = "buffer", name = "a", type = "f32", rank = 1, shape = [128], strides = [1], stride_divisibility = [1], alignment = 16},
                  {kind = "buffer", name = "b", type = "f32", rank = 1, shape = [unit], strides = [1], stride_divisibility = [1], alignment = 16}]}
  gpu.func @k(%a: memref<128xf32, #global>, %b: memref<?xf32, #global>, %n: index) kernel {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : i32
    %c256 = arith.constant 256 : i32
    %i = arith.index_castui %t : index to i32
    %o = arith.muli %i, %c4 : i32
    %v = tile_gpu.buffer_load %a[%c0], %o + %c256 {window = 256} : memref<128xf32, #global>, vector<1xf32>
    tile_gpu.buffer_store %v, %b[%c0], %o {window = 256} : vector<1xf32>, memref<?xf32, #global>
    gpu.return
  }
}
