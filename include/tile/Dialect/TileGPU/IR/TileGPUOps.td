//===- TileGPUOps.td - Operations of the tile_gpu dialect --*- tablegen -*-===//
#ifndef TILE_DIALECT_TILEGPU_IR_TILEGPUOPS_TD
#define TILE_DIALECT_TILEGPU_IR_TILEGPUOPS_TD

include "mlir/Dialect/Arith/IR/ArithBase.td"
include "mlir/Dialect/LLVMIR/LLVMTypes.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "tile/Dialect/Tile/IR/TileAttrs.td"
include "tile/Dialect/TileGPU/IR/TileGPUDialect.td"

class TileGPU_Op<string mnemonic, list<Trait> traits = []>
    : Op<TileGPU_Dialect, mnemonic, traits>;

def TileGPU_Operand : FixedVectorOfRankAndType<[1], [F16, BF16]>;
def TileGPU_Accumulator : FixedVectorOfRankAndType<[1], [F32]>;
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
    (Target/MatrixDescriptor.h). `distance` is the offset of the instruction's
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
    takes d as an operand and covers its `tile_gpu.wgmma_commit`.

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

def TileGPU_WgmmaCommitOp
    : TileGPU_Op<"wgmma_commit", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "commits a group of wgmmas";
  let description = [{
    ```mlir
    tile_gpu.wgmma_commit
    ```
  }];
  let assemblyFormat = "attr-dict";
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

def TileGPU_FenceAsyncOp
    : TileGPU_Op<"fence_async", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "makes writes to workgroup memory visible to wgmma and TMA";
  let description = [{
    ```mlir
    tile_gpu.fence_async
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def TileGPU_LoadMatrixOp : TileGPU_Op<"load_matrix"> {
  let summary = "loads 1, 2 or 4 matrices of 8 x 8 elements of 16 bits";
  let description = [{
    `index` of lane 8 * i + r is the start of row r of matrix i: 8 elements of
    `memory`, aligned to their 16 bytes. Element 2 * i + j of the result of lane
    l is element (l / 4, 2 * (l % 4) + j) of matrix i; with `transpose`, of its
    transpose. The result has 2 elements per matrix. All lanes of the warp must
    execute it; the indices of lanes beyond the last matrix are ignored.

    ```mlir
    %v = tile_gpu.load_matrix %smem[%index] {transpose}
        : memref<4096xf16, #gpu.address_space<workgroup>> -> vector<8xf16>
    ```
  }];
  let arguments = (ins
    Arg<TileGPU_Memory, "in workgroup memory", [MemRead]>:$memory,
    Index:$index, UnitAttr:$transpose);
  let results = (outs TileGPU_Operand:$result);
  let assemblyFormat = [{
    $memory `[` $index `]` attr-dict `:` type($memory) `->` type($result)
  }];
  let hasVerifier = 1;
}

def TileGPU_StoreMatrixOp : TileGPU_Op<"store_matrix"> {
  let summary = "stores 1, 2 or 4 matrices of 8 x 8 elements of 16 bits";
  let description = [{
    The inverse of `tile_gpu.load_matrix`: `index` of lane 8 * i + r is the
    address of row r of matrix i, and elements 2 * i + j of `value` are those
    that `load_matrix` returns.

    ```mlir
    tile_gpu.store_matrix %v, %smem[%index]
        : vector<8xf16>, memref<4096xf16, #gpu.address_space<workgroup>>
    ```
  }];
  let arguments = (ins TileGPU_Operand:$value,
    Arg<TileGPU_Memory, "in workgroup memory", [MemWrite]>:$memory,
    Index:$index, UnitAttr:$transpose);
  let assemblyFormat = [{
    $value `,` $memory `[` $index `]` attr-dict `:` type($value) `,` type($memory)
  }];
  let hasVerifier = 1;
}

def TileGPU_Atomic : FixedVectorOfRankAndType<[1], [F16, BF16, F32, F64, I32, I64]>;

def TileGPU_AtomicRMWOp : TileGPU_Op<"atomic_rmw"> {
  let summary = "atomically combines contiguous elements with memory";
  let description = [{
    memory[index + i] = kind(memory[index + i], value[i]) for every element i of
    the vector. Each element is combined atomically, the vector is not. The chip
    must have a row of that width in the table of atomics (Target/Atomics.h).
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
    As `tile_gpu.atomic_rmw`, relaxed and of device scope, at `offset` bytes
    (unsigned) after memory[base]. The operation has no effect if the offset is
    outside the `window`, a size in bytes below 2^31: a mask is an offset outside
    the window and needs no branch. `base` is the same for all threads of a warp.
    `offset` is a multiple of the size of the value, or outside the window. The
    chip must have a row of the buffer form (Target/Atomics.h).

    ```mlir
    tile_gpu.buffer_atomic_rmw addf %v, %m[%base], %offset {window = 8192}
        : vector<1xf32>, memref<?xf32, #gpu.address_space<global>>
    ```
  }];
  let arguments = (ins AtomicRMWKindAttr:$kind, TileGPU_Atomic:$value,
    Arg<TileGPU_Memory, "in global memory", [MemRead, MemWrite]>:$memory,
    Index:$base, I32:$offset, ConfinedAttr<I64Attr, [IntPositive]>:$window);
  let assemblyFormat = [{
    $kind $value `,` $memory `[` $base `]` `,` $offset attr-dict `:` type($value) `,` type($memory)
  }];
  let hasVerifier = 1;
}

def TileGPU_AsyncCopyOp : TileGPU_Op<"async_copy"> {
  let summary = "starts a copy of one thread from global to workgroup memory";
  let description = [{
    Copies `elements` elements, together 4, 8 or 16 bytes; both addresses are
    aligned to that size. The first `valid` elements (0 to `elements`) are read,
    the others become zero. The copy belongs to the next `tile_gpu.commit_group`
    and is complete after a `tile_gpu.wait_group` that covers the group.

    ```mlir
    tile_gpu.async_copy %src[%i], %dst[%j], %valid {elements = 8}
        : memref<?xf16, #gpu.address_space<global>>,
          memref<4096xf16, #gpu.address_space<workgroup>>
    ```
  }];
  let arguments = (ins
    Arg<TileGPU_Memory, "in global memory", [MemRead]>:$source,
    Index:$sourceIndex,
    Arg<TileGPU_Memory, "in workgroup memory", [MemWrite]>:$dest,
    Index:$destIndex, Index:$valid,
    ConfinedAttr<I64Attr, [IntPositive]>:$elements);
  let assemblyFormat = [{
    $source `[` $sourceIndex `]` `,` $dest `[` $destIndex `]` `,` $valid attr-dict
    `:` type($source) `,` type($dest)
  }];
  let hasVerifier = 1;
}

// The effects keep copies and accesses from being moved across these two.
def TileGPU_CommitGroupOp
    : TileGPU_Op<"commit_group", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "commits a group of asynchronous copies";
  let description = [{
    The copies that this thread has started since the last commit form a group.

    ```mlir
    tile_gpu.commit_group
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def TileGPU_WaitGroupOp
    : TileGPU_Op<"wait_group", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits for asynchronous copies";
  let description = [{
    Waits until at most `pending` of the newest groups of this thread are in
    flight. The data is visible to other threads after a `gpu.barrier`.

    ```mlir
    tile_gpu.wait_group 1
    ```
  }];
  let arguments = (ins ConfinedAttr<I32Attr, [IntNonNegative]>:$pending);
  let assemblyFormat = "$pending attr-dict";
}

//===----------------------------------------------------------------------===//
// mbarriers and TMA
//===----------------------------------------------------------------------===//

def TileGPU_Barriers : MemRefRankOf<[I64], [1]>;

class TileGPU_BarrierOp<string mnemonic>
    : TileGPU_Op<mnemonic, [MemoryEffects<[MemRead, MemWrite]>]>;

def TileGPU_MBarrierInitOp : TileGPU_BarrierOp<"mbarrier_init"> {
  let summary = "initializes an mbarrier in workgroup memory";
  let description = [{
    A phase of the mbarrier ends after `arrivals` arrivals and the bytes that
    they expect. One thread initializes the mbarrier. All threads may use it
    after a `tile_gpu.mbarrier_fence` of that thread and a `gpu.barrier`.

    ```mlir
    tile_gpu.mbarrier_init %barriers[%i], 8
        : memref<?xi64, #gpu.address_space<workgroup>>
    ```
  }];
  let arguments = (ins TileGPU_Barriers:$memory, Index:$index,
                       ConfinedAttr<I32Attr, [IntPositive]>:$arrivals);
  let assemblyFormat = "$memory `[` $index `]` `,` $arrivals attr-dict `:` type($memory)";
}

def TileGPU_MBarrierFenceOp : TileGPU_BarrierOp<"mbarrier_fence"> {
  let summary = "makes initialized mbarriers visible to TMA";
  let description = [{
    ```mlir
    tile_gpu.mbarrier_fence
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def TileGPU_MBarrierArriveOp : TileGPU_BarrierOp<"mbarrier_arrive"> {
  let summary = "arrives at an mbarrier in the thread whose number is 0";
  let description = [{
    The thread arrives if `number`, for example its lane, is 0. Its earlier
    accesses are visible to the threads that wait for the phase.

    ```mlir
    tile_gpu.mbarrier_arrive %barriers[%i], %lane
        : memref<?xi64, #gpu.address_space<workgroup>>
    ```
  }];
  let arguments = (ins TileGPU_Barriers:$memory, Index:$index, I32:$number);
  let assemblyFormat = "$memory `[` $index `]` `,` $number attr-dict `:` type($memory)";
}

def TileGPU_MBarrierExpectOp : TileGPU_BarrierOp<"mbarrier_expect"> {
  let summary = "arrives at an mbarrier and adds to the bytes that it expects from TMA";
  let description = [{
    ```mlir
    tile_gpu.mbarrier_expect %barriers[%i], 32768
        : memref<?xi64, #gpu.address_space<workgroup>>
    ```
  }];
  let arguments = (ins TileGPU_Barriers:$memory, Index:$index,
                       ConfinedAttr<I32Attr, [IntPositive]>:$bytes);
  let assemblyFormat = "$memory `[` $index `]` `,` $bytes attr-dict `:` type($memory)";
}

def TileGPU_MBarrierWaitOp : TileGPU_BarrierOp<"mbarrier_wait"> {
  let summary = "waits for the end of a phase of an mbarrier";
  let description = [{
    Waits until the phase of parity `phase` has ended, which is the current phase
    or the previous one.

    ```mlir
    tile_gpu.mbarrier_wait %barriers[%i], %phase
        : memref<?xi64, #gpu.address_space<workgroup>>
    ```
  }];
  let arguments = (ins TileGPU_Barriers:$memory, Index:$index, I32:$phase);
  let assemblyFormat = "$memory `[` $index `]` `,` $phase attr-dict `:` type($memory)";
}

def TileGPU_BulkCopyOp : TileGPU_BarrierOp<"bulk_copy"> {
  let summary = "starts a TMA load of a box of a tensor";
  let description = [{
    TMA reads a box of the tensor map (Target/TensorMap.h) at `coordinates`,
    innermost dimension first, and writes it to memory[index]. Elements out of
    bounds become zero. The bytes count for the current phase of the mbarrier.
    `cache` is the eviction priority in the L2 cache.

    ```mlir
    tile_gpu.bulk_copy %map[%column, %row], %smem[%i], %barriers[%j]
        : memref<?xf16, #gpu.address_space<workgroup>>,
          memref<?xi64, #gpu.address_space<workgroup>>, !llvm.ptr
    ```
  }];
  let arguments = (ins LLVM_AnyPointer:$map, Variadic<I32>:$coordinates,
                       TileGPU_Memory:$memory, Index:$index,
                       TileGPU_Barriers:$barriers, Index:$barrier,
                       OptionalAttr<Tile_CachePriority>:$cache);
  let assemblyFormat = [{
    $map `[` $coordinates `]` `,` $memory `[` $index `]` `,` $barriers `[` $barrier `]`
    (`cache` `(` $cache^ `)`)? attr-dict `:` type($memory) `,` type($barriers) `,` qualified(type($map))
  }];
}

def TileGPU_SetRegistersOp : TileGPU_BarrierOp<"set_registers"> {
  let summary = "sets the number of registers of the threads of a warpgroup";
  let description = [{
    Releases registers or, with `increase`, waits until enough are free.

    ```mlir
    tile_gpu.set_registers 240 {increase}
    ```
  }];
  let arguments = (ins I32Attr:$count, UnitAttr:$increase);
  let assemblyFormat = "$count attr-dict";
}

def TileGPU_NamedBarrierOp : TileGPU_BarrierOp<"named_barrier"> {
  let summary = "a barrier of some warps of the block";
  let description = [{
    `threads` threads meet at barrier `number` (1 to 15) plus `offset`, which is
    the same in all lanes of a warp. With `arrive`, the threads arrive without
    waiting.

    ```mlir
    tile_gpu.named_barrier 1, 256
    tile_gpu.named_barrier 3 + %group, 256 {arrive}
    ```
  }];
  let arguments = (ins ConfinedAttr<I32Attr, [IntMinValue<1>, IntMaxValue<15>]>:$number,
                       Optional<I32>:$offset,
                       ConfinedAttr<I32Attr, [IntPositive]>:$threads,
                       UnitAttr:$arrive);
  let assemblyFormat = "$number (`+` $offset^)? `,` $threads attr-dict";
}

def TileGPU_ThreadOp : TileGPU_BarrierOp<"thread"> {
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

def TileGPU_WarpSyncOp : TileGPU_BarrierOp<"warp_sync"> {
  let summary = "a barrier of the lanes of a warp that also orders memory";
  let description = [{
    ```mlir
    tile_gpu.warp_sync
    ```
  }];
  let assemblyFormat = "attr-dict";
}

//===----------------------------------------------------------------------===//
// Programmatic dependent launch
//===----------------------------------------------------------------------===//

def TileGPU_WaitPrerequisitesOp : TileGPU_BarrierOp<"wait_prerequisites"> {
  let summary = "waits until the previous kernel has ended";
  let description = [{
    Waits until the previous kernel has ended and its writes are visible to all
    threads of this one.

    ```mlir
    tile_gpu.wait_prerequisites
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def TileGPU_LaunchDependentsOp : TileGPU_BarrierOp<"launch_dependents"> {
  let summary = "allows the next kernel to start";
  let description = [{
    The next kernel may start once a thread of every block has executed this, or
    the block has ended.

    ```mlir
    tile_gpu.launch_dependents
    ```
  }];
  let assemblyFormat = "attr-dict";
}

include "tile/Dialect/TileGPU/IR/TileGPUBulkOps.td"

#endif // TILE_DIALECT_TILEGPU_IR_TILEGPUOPS_TD
