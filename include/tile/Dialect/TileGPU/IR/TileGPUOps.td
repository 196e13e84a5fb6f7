//===- TileGPUOps.td - Operations of the tile_gpu dialect --*- tablegen -*-===//
#ifndef TILE_DIALECT_TILEGPU_IR_TILEGPUOPS_TD
#define TILE_DIALECT_TILEGPU_IR_TILEGPUOPS_TD

include "mlir/Dialect/Arith/IR/ArithBase.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "tile/Dialect/Tile/IR/TileAttrs.td"
include "tile/Dialect/TileGPU/IR/TileGPUDialect.td"

class TileGPU_Op<string mnemonic, list<Trait> traits = []>
    : Op<TileGPU_Dialect, mnemonic, traits>;

def TileGPU_Operand : FixedVectorOfRankAndType<[1], [F16, BF16, F32, I8]>;
def TileGPU_Accumulator : FixedVectorOfRankAndType<[1], [F32, I32]>;
def TileGPU_Memory : MemRefRankOf<[I8, I16, I32, I64, F16, BF16, F32, F64], [1]>;

def TileGPU_MmaOp : TileGPU_Op<"mma", [Pure, AllTypesMatch<["c", "d"]>]> {
  let summary = "an MMA of one warp";
  let description = [{
    d = a * b + c. The lanes of a warp together hold the operands.
    `instruction` is a row of the instruction table, whose layouts map elements
    to lanes and to positions in their vectors.

    ```mlir
    %d = tile_gpu.mma "mma.m16n8k16.f16" %a, %b, %c
        : vector<8xf16>, vector<4xf16>, vector<4xf32>
    ```
  }];
  let arguments = (ins StrAttr:$instruction, TileGPU_Operand:$a,
                       TileGPU_Operand:$b, TileGPU_Accumulator:$c);
  let results = (outs TileGPU_Accumulator:$d);
  let assemblyFormat = [{
    $instruction $a `,` $b `,` $c attr-dict `:` type($a) `,` type($b) `,` type($c)
  }];
  let hasVerifier = 1;
}

def TileGPU_MatrixDescriptorOp : TileGPU_Op<"matrix_descriptor", [Pure]> {
  let summary = "the descriptor of a wgmma operand in workgroup memory";
  let description = [{
    The 64-bit descriptor of an operand whose first element is at `index` of
    `memory`. `bits` are the fields other than the address: strides and swizzle
    (Chips/NVIDIA/MatrixDescriptor.h). `distance` is the offset of the instruction's
    operand from there, in units of 16 bytes.

    ```mlir
    %d = tile_gpu.matrix_descriptor %smem[%index]
        {bits = 0x4000004000000000, distance = 2 : i32}
        : memref<?xf16, #gpu.address_space<workgroup>>
    ```
  }];
  let arguments = (ins TileGPU_Memory:$memory, Index:$index, I64Attr:$bits,
    DefaultValuedAttr<ConfinedAttr<I32Attr, [IntNonNegative]>, "0">:$distance);
  let results = (outs I64:$descriptor);
  let assemblyFormat = "$memory `[` $index `]` attr-dict `:` type($memory)";
  let hasVerifier = 1;
}

// The effects keep these operations in order, and keep loads and stores from
// being moved across them.
def TileGPU_WgmmaFenceOp : TileGPU_Op<"wgmma_fence", [
    MemoryEffects<[MemRead, MemWrite]>,
    RangedTypesMatchWith<"results are the values", "values", "results",
                         "$_self">]> {
  let summary = "orders register accesses before the following wgmmas";
  let description = [{
    Precedes a batch of `tile_gpu.wgmma` and returns the values that they read
    from registers, so that nothing writes these registers after the fence.

    ```mlir
    %a1, %c1 = tile_gpu.wgmma_fence %a, %c : vector<8xf16>, vector<64xf32>
    ```
  }];
  let arguments = (ins
    Variadic<AnyTypeOf<[TileGPU_Operand, TileGPU_Accumulator]>>:$values);
  let results = (outs
    Variadic<AnyTypeOf<[TileGPU_Operand, TileGPU_Accumulator]>>:$results);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def TileGPU_WgmmaOp : TileGPU_Op<"wgmma", [
    MemoryEffects<[MemRead, MemWrite]>, AllTypesMatch<["c", "d"]>]> {
  let summary = "starts an MMA of a warpgroup";
  let description = [{
    d = a * b + c, or a * b with `zero`, for 64 rows, 16 of them in each warp.
    `c` holds the accumulator fragments of `instruction` (a row of the
    instruction table of kind wgmma), one after another along the columns. `b`
    is a descriptor (tile_gpu.matrix_descriptor); `a` is a descriptor or a
    fragment in registers. `a_mn_major` and `b_mn_major` mark operands in shared
    memory whose contiguous dimension is not the contracted one.

    The MMA is complete, and d may be used, after a `tile_gpu.wgmma_wait` that
    takes d as an operand and covers its `nvvm.wgmma.commit.group.sync.aligned`.

    ```mlir
    %d = tile_gpu.wgmma "wgmma.m64k16.f16" %a, %b, %c {b_mn_major}
        : vector<8xf16>, vector<64xf32>
    ```
  }];
  let arguments = (ins StrAttr:$instruction,
    AnyTypeOf<[TileGPU_Operand, I64]>:$a, I64:$b, TileGPU_Accumulator:$c,
    UnitAttr:$zero, UnitAttr:$a_mn_major, UnitAttr:$b_mn_major);
  let results = (outs TileGPU_Accumulator:$d);
  let assemblyFormat = [{
    $instruction $a `,` $b `,` $c attr-dict `:` type($a) `,` type($c)
  }];
  let hasVerifier = 1;
}

def TileGPU_WgmmaWaitOp : TileGPU_Op<"wgmma_wait", [
    MemoryEffects<[MemRead, MemWrite]>,
    RangedTypesMatchWith<"results are the values", "values", "results",
                         "$_self">]> {
  let summary = "waits for groups of wgmmas";
  let description = [{
    Waits until at most `pending` of the newest groups are in flight, and returns
    the accumulators of completed MMAs, so that their uses follow the wait.

    ```mlir
    %s = tile_gpu.wgmma_wait 0, %d : vector<64xf32>
    ```
  }];
  let arguments = (ins ConfinedAttr<I32Attr, [IntNonNegative]>:$pending,
                       Variadic<TileGPU_Accumulator>:$values);
  let results = (outs Variadic<TileGPU_Accumulator>:$results);
  let assemblyFormat = "$pending (`,` $values^ `:` type($values))? attr-dict";
}

def TileGPU_Atomic : FixedVectorOfRankAndType<[1], [F16, BF16, F32, F64, I32, I64]>;

def TileGPU_AtomicRMWOp : TileGPU_Op<"atomic_rmw"> {
  let summary = "atomically combines contiguous elements with memory";
  let description = [{
    memory[index + i] = kind(memory[index + i], value[i]) for every element i of
    the vector. Each element is combined atomically, the vector is not. The chip
    must have a row of that width in the table of atomics (Chips/Atomics.h).
    `index` and the address are multiples of the width. The optional result is
    the old content of the memory.

    ```mlir
    tile_gpu.atomic_rmw addf %v, %m[%i] order(relaxed) scope(device)
        : vector<4xf32>, memref<?xf32, #gpu.address_space<global>>
    ```
  }];
  let arguments = (ins AtomicRMWKindAttr:$kind, TileGPU_Atomic:$value,
    Arg<TileGPU_Memory, "in global or workgroup memory", [MemRead, MemWrite]>:$memory,
    Index:$index, Tile_MemoryOrder:$order, Tile_MemoryScope:$scope);
  let results = (outs Optional<TileGPU_Atomic>:$result);
  let assemblyFormat = [{
    $kind $value `,` $memory `[` $index `]` `order` `(` $order `)` `scope` `(` $scope `)`
    attr-dict `:` type($value) `,` type($memory) (`->` type($result)^)?
  }];
  let hasVerifier = 1;
}

def TileGPU_BufferAtomicRMWOp : TileGPU_Op<"buffer_atomic_rmw"> {
  let summary = "atomically combines contiguous elements within a window of memory";
  let description = [{
    As `tile_gpu.atomic_rmw`, relaxed and of device scope, at `offset` +
    `distance` bytes after memory[base]. Both are unsigned; `distance` is 0 if it
    is not given, and below 2^31. The operation has no effect if the offset alone
    is outside the `window`, a size in bytes below 2^31: a mask is an offset
    outside the window and needs no branch. If the offset is inside, so must be
    the place that is updated. `base` and `distance` are the same for all threads
    of a warp. The place is a multiple of the size of the value. The chip must
    have a row of the buffer form (Chips/Atomics.h).

    ```mlir
    tile_gpu.buffer_atomic_rmw addf %v, %m[%base], %offset {window = 8192}
        : vector<1xf32>, memref<?xf32, #gpu.address_space<global>>
    ```
  }];
  let arguments = (ins AtomicRMWKindAttr:$kind, TileGPU_Atomic:$value,
    Arg<TileGPU_Memory, "in global memory", [MemRead, MemWrite]>:$memory,
    Index:$base, I32:$offset, Optional<I32>:$distance,
    ConfinedAttr<I64Attr, [IntPositive]>:$window);
  let assemblyFormat = [{
    $kind $value `,` $memory `[` $base `]` `,` $offset (`+` $distance^)? attr-dict
    `:` type($value) `,` type($memory)
  }];
  let hasVerifier = 1;
}

def TileGPU_WindowMemory : MemRefRankOf<[AnyType], [1]>;
def TileGPU_WindowVector : FixedVectorOfRankAndType<[1], [AnyType]>;

def TileGPU_BufferLoadOp : TileGPU_Op<"buffer_load"> {
  let summary = "loads contiguous elements within a window of memory";
  let description = [{
    Loads a vector of 1, 2, 4, 8 or 16 bytes at `offset` + `distance` bytes after
    memory[base]. Both are unsigned; `distance` is 0 if it is not given, and below
    2^31. The result is zeros if the offset alone is outside the `window`, a size
    in bytes below 2^31: a mask is an offset outside the window and needs no
    branch. If the offset is inside, so must be the place that is read. `base` and
    `distance` are the same for all threads of a warp. The place is a multiple of
    the size of the vector. The chip must have buffer descriptors (AMD).

    ```mlir
    %v = tile_gpu.buffer_load %m[%base], %offset + %distance {window = 8192}
        : memref<?xf16, #gpu.address_space<global>>, vector<8xf16>
    ```
  }];
  let arguments = (ins
    Arg<TileGPU_WindowMemory, "in global memory", [MemRead]>:$memory,
    Index:$base, I32:$offset, Optional<I32>:$distance,
    ConfinedAttr<I64Attr, [IntPositive]>:$window);
  let results = (outs TileGPU_WindowVector:$value);
  let assemblyFormat = [{
    $memory `[` $base `]` `,` $offset (`+` $distance^)? attr-dict
    `:` type($memory) `,` type($value)
  }];
  let hasVerifier = 1;
}

def TileGPU_BufferStoreOp : TileGPU_Op<"buffer_store"> {
  let summary = "stores contiguous elements within a window of memory";
  let description = [{
    As `tile_gpu.buffer_load`, but stores `value`. The operation has no effect if
    the offset is outside the window.

    ```mlir
    tile_gpu.buffer_store %v, %m[%base], %offset {window = 8192}
        : vector<8xf16>, memref<?xf16, #gpu.address_space<global>>
    ```
  }];
  let arguments = (ins TileGPU_WindowVector:$value,
    Arg<TileGPU_WindowMemory, "in global memory", [MemWrite]>:$memory,
    Index:$base, I32:$offset, Optional<I32>:$distance,
    ConfinedAttr<I64Attr, [IntPositive]>:$window);
  let assemblyFormat = [{
    $value `,` $memory `[` $base `]` `,` $offset (`+` $distance^)? attr-dict
    `:` type($value) `,` type($memory)
  }];
  let hasVerifier = 1;
}

def TileGPU_CommitCopiesOp : TileGPU_Op<"commit_copies"> {
  let summary = "closes a group of copies to workgroup memory";
  let description = [{
    Puts the copies of this wave to workgroup memory (`amdgpu.gather_to_lds`)
    since its last `tile_gpu.commit_copies` into a group.

    ```mlir
    tile_gpu.commit_copies
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def TileGPU_WaitCopiesOp : TileGPU_Op<"wait_copies"> {
  let summary = "waits for groups of copies to workgroup memory";
  let description = [{
    Waits until at most the `pending` newest groups of this wave are incomplete.
    AMD's hardware has no groups of copies: `tile-to-amdgpu` waits by the number
    of newer copies.

    ```mlir
    tile_gpu.wait_copies 2
    ```
  }];
  let arguments = (ins ConfinedAttr<I32Attr, [IntNonNegative]>:$pending);
  let assemblyFormat = "$pending attr-dict";
}

def TileGPU_ThreadOp : TileGPU_Op<"thread", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "the index of the thread, read at this place";
  let description = [{
    As `gpu.thread_id x`, but values computed from it are not hoisted out of
    loops, where they would occupy registers during the whole loop.

    ```mlir
    %t = tile_gpu.thread
    ```
  }];
  let results = (outs I32:$thread);
  let assemblyFormat = "attr-dict";
}

def TileGPU_RecomputeOp : TileGPU_Op<"recompute", [NoMemoryEffect]> {
  let summary = "a number whose uses are not hoisted";
  let description = [{
    The lowering of `tile.recompute`: returns `value`, but values computed from
    the result are not moved before this operation. On AMD the result is replaced
    by the operand.

    ```mlir
    %row1 = tile_gpu.recompute %row
    ```
  }];
  let arguments = (ins I32:$value);
  let results = (outs I32:$result);
  let assemblyFormat = "$value attr-dict";
}

def TileGPU_FailOp : TileGPU_Op<"fail", [MemoryEffects<[MemWrite]>]> {
  let summary = "stops the kernel with a message";
  let description = [{
    Prints `format` with its arguments, where the chip can print, and stops the
    kernel. The format is that of `gpu.printf`.

    ```mlir
    tile_gpu.fail "thread %u: an index is out of bounds" (%thread : i32)
    ```
  }];
  let arguments = (ins StrAttr:$format,
                       Variadic<AnyTypeOf<[I32, I64, F64]>>:$args);
  let assemblyFormat = "$format (`(` $args^ `:` type($args) `)`)? attr-dict";
}

def TileGPU_ManifestOp : TileGPU_Op<"manifest", [
    HasParent<"::mlir::gpu::GPUModuleOp">,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the manifest entry of a kernel";
  let description = [{
    The entry of `kernel`, a function of the same module, in the manifest
    (docs/Manifest.md): expressions for the three extents of the grid, the
    threads of a block, the bytes of shared memory, the parameters, and the
    requirements on extents. `overlaps_previous` says that the kernel waits for
    the preceding one itself. The values have the structure of the JSON:
    dictionaries, arrays, strings, integers, and unit attributes for null. The
    operation has no code.

    ```mlir
    gpu.module @kernels {
      tile_gpu.manifest @scale {
          grid = [["ceildiv", ["dim", 0, 0], 128], 1, 1],
          block = array<i64: 128, 1, 1>, shared_bytes = 0 : i64,
          params = [{kind = "buffer", name = "x", type = "f32", rank = 1,
                     shape = [unit], strides = [1], stride_divisibility = [1],
                     alignment = 4} ]}
      gpu.func @scale(%x: memref<?xf32, #gpu.address_space<global>>, %n: index)
          kernel {
        gpu.return
      }
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, ArrayAttr:$grid,
    DenseI64ArrayAttr:$block,
    ConfinedAttr<I64Attr, [IntNonNegative]>:$shared_bytes, DictArrayAttr:$params,
    OptionalAttr<DictArrayAttr>:$requirements, UnitAttr:$overlaps_previous);
  let assemblyFormat = "$kernel attr-dict";
  let hasVerifier = 1;
}

#endif // TILE_DIALECT_TILEGPU_IR_TILEGPUOPS_TD
