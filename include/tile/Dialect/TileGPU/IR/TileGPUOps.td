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
  let summary = "a matrix instruction of one warp";
  let description = [{
    d = a * b + c, where all lanes of a warp together hold the operands. The
    `instruction` is a row of the instruction table; its layouts say which lane
    holds which element in which place of its vector.

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
  let summary = "how wgmma finds an operand in workgroup memory";
  let description = [{
    The 64-bit descriptor of an operand whose first element is at `index` of
    `memory`; `bits` are its fields beside the address: strides and swizzle
    (Target/MatrixDescriptor.h). `distance` counts the units of 16 bytes from
    there to what one instruction reads.

    ```mlir
    %d = tile_gpu.matrix_descriptor %smem[%index]
        {bits = 0x4000004000000000, distance = 2}
        : memref<?xf16, #gpu.address_space<workgroup>>
    ```
  }];
  let arguments = (ins TileGPU_Memory:$memory, Index:$index, I64Attr:$bits,
    DefaultValuedAttr<ConfinedAttr<I32Attr, [IntNonNegative]>, "0">:$distance);
  let results = (outs I64:$descriptor);
  let assemblyFormat = "$memory `[` $index `]` attr-dict `:` type($memory)";
  let hasVerifier = 1;
}

// The effects keep these in order, and loads and stores on their side.
def TileGPU_WgmmaFenceOp : TileGPU_Op<"wgmma_fence", [
    MemoryEffects<[MemRead, MemWrite]>,
    RangedTypesMatchWith<"results are the values", "values", "results",
                         "$_self">]> {
  let summary = "orders registers before the products that follow";
  let description = [{
    Comes before a batch of `tile_gpu.wgmma` and hands on the registers that
    they read: nothing can write those after the fence.

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
  let summary = "starts a matrix product of four warps";
  let description = [{
    d = a * b + c, or a * b with `zero`, for 64 rows of which each warp holds 16.
    `c` holds the accumulator fragments of `instruction` (a row of the
    instruction table of kind wgmma) one after another along the columns. `b` is
    a descriptor (tile_gpu.matrix_descriptor), `a` one too or the fragment in
    registers. `a_mn_major` and `b_mn_major` say that neighbours in memory do
    not differ in the contracted dimension.

    The product is complete, and d may be used, after a `tile_gpu.wgmma_wait`
    that d passes through and that covers its `tile_gpu.wgmma_commit`.

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
  let summary = "closes a group of matrix products";
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
  let summary = "waits for groups of matrix products";
  let description = [{
    Waits until at most `pending` of the newest groups are unfinished, and hands
    on the products that are complete then: a use of a result cannot come
    before.

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
  let summary = "workgroup memory as written is visible to wgmma";
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
    Lane 8 * i + r gives in `index` where row r of matrix i begins: 8 elements
    (16 bytes, so aligned) of `memory`. Element 2 * i + j of the result of lane
    l is element (l / 4, 2 * (l % 4) + j) of matrix i; with `transpose`, of its
    transpose. The result has 2 elements per matrix. All lanes of the warp must
    take part; the indices of lanes beyond the last matrix are ignored.

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
    The reverse of `tile_gpu.load_matrix`: lane 8 * i + r says in `index` where
    row r of matrix i goes, and lane l has in elements 2 * i + j of `value` what
    that gives it.

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
  let summary = "combines neighbouring elements into memory, atomically each";
  let description = [{
    memory[index + i] = kind(memory[index + i], value[i]) for every element i
    of the vector, each in one step of its own. The chip must have a row of
    that width in the table of atomics (Target/Atomics.h); `index` is a
    multiple of the width, and so is the address. The result, if asked for, is
    what the memory held before.

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
  let summary = "combines neighbouring elements within a window of memory";
  let description = [{
    As `tile_gpu.atomic_rmw`, relaxed and among the threads of the device, at
    `offset` bytes (unsigned) behind memory[base]. Nothing happens if that is
    not within the `window`, so many bytes, less than 2^31: a mask is an offset
    out of the window and needs no branch. `base` is the same for all threads of
    a warp. `offset` is a multiple of the size of the value or out of the
    window. The chip must have a row of this form (Target/Atomics.h).

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
    Copies `elements` elements, 4, 8 or 16 bytes in all and so aligned on both
    sides, of which the first `valid` (0 to `elements`) are read and the others
    become zero. The copy belongs to the next `tile_gpu.commit_group` and is
    complete after a `tile_gpu.wait_group` that covers that group.

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

// The effects keep copies and accesses on their side of these two.
def TileGPU_CommitGroupOp
    : TileGPU_Op<"commit_group", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "closes a group of asynchronous copies";
  let description = [{
    The copies that this thread started since the last one form a group.

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
    Waits until at most `pending` of the newest groups of this thread are
    unfinished. Other threads see the data after a `gpu.barrier`.

    ```mlir
    tile_gpu.wait_group 1
    ```
  }];
  let arguments = (ins ConfinedAttr<I32Attr, [IntNonNegative]>:$pending);
  let assemblyFormat = "$pending attr-dict";
}

//===----------------------------------------------------------------------===//
// Barriers and the copy engine
//===----------------------------------------------------------------------===//

def TileGPU_Barriers : MemRefRankOf<[I64], [1]>;

class TileGPU_BarrierOp<string mnemonic>
    : TileGPU_Op<mnemonic, [MemoryEffects<[MemRead, MemWrite]>]>;

def TileGPU_MBarrierInitOp : TileGPU_BarrierOp<"mbarrier_init"> {
  let summary = "makes a word of workgroup memory a barrier";
  let description = [{
    A phase of the barrier ends when `arrivals` arrivals and the bytes that they
    announced have come. One thread does this; all may use the barrier after a
    `tile_gpu.mbarrier_fence` of that thread and a `gpu.barrier`.

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
  let summary = "barriers as initialised are visible to the copy engine";
  let description = [{
    ```mlir
    tile_gpu.mbarrier_fence
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def TileGPU_MBarrierArriveOp : TileGPU_BarrierOp<"mbarrier_arrive"> {
  let summary = "one arrival, of the thread whose number is 0";
  let description = [{
    The thread arrives if `number` is 0, its lane for example. What it did
    before is visible to those that wait for the phase.

    ```mlir
    tile_gpu.mbarrier_arrive %barriers[%i], %lane
        : memref<?xi64, #gpu.address_space<workgroup>>
    ```
  }];
  let arguments = (ins TileGPU_Barriers:$memory, Index:$index, I32:$number);
  let assemblyFormat = "$memory `[` $index `]` `,` $number attr-dict `:` type($memory)";
}

def TileGPU_MBarrierExpectOp : TileGPU_BarrierOp<"mbarrier_expect"> {
  let summary = "one arrival that announces bytes of the copy engine";
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
  let summary = "waits for the end of a phase";
  let description = [{
    Waits until the phase of parity `phase` has ended: the running one, or the
    one before.

    ```mlir
    tile_gpu.mbarrier_wait %barriers[%i], %phase
        : memref<?xi64, #gpu.address_space<workgroup>>
    ```
  }];
  let arguments = (ins TileGPU_Barriers:$memory, Index:$index, I32:$phase);
  let assemblyFormat = "$memory `[` $index `]` `,` $phase attr-dict `:` type($memory)";
}

def TileGPU_BulkCopyOp : TileGPU_BarrierOp<"bulk_copy"> {
  let summary = "starts a copy of a box of a tensor to workgroup memory";
  let description = [{
    The copy engine fills the box that the tensor map describes (see
    Target/TensorMap.h) from the element at `coordinates`, the innermost
    dimension first; what is outside of the tensor becomes zero. The bytes count
    for the phase of the barrier that has announced them. `cache` says how the
    second-level cache treats what was read.

    ```mlir
    tile_gpu.bulk_copy %map[%column, %row], %smem[%i], %barriers[%j]
        : memref<?xf16, #gpu.address_space<workgroup>>,
          memref<?xi64, #gpu.address_space<workgroup>>
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
  let summary = "changes how many registers each thread of four warps has";
  let description = [{
    Gives registers back, or with `increase` waits until there are enough.

    ```mlir
    tile_gpu.set_registers 240 {increase}
    ```
  }];
  let arguments = (ins I32Attr:$count, UnitAttr:$increase);
  let assemblyFormat = "$count attr-dict";
}

def TileGPU_NamedBarrierOp : TileGPU_BarrierOp<"named_barrier"> {
  let summary = "some warps of the block meet";
  let description = [{
    `threads` threads meet at barrier `number` (1 to 15), plus `offset`, which is
    the same in all lanes of a warp. With `arrive`, these threads count, but do
    not wait.

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
  let summary = "the number of the thread, read where it stands";
  let description = [{
    The same as `gpu.thread_id x`, but nothing computed from it moves out of a
    loop, where it would take registers in all that the loop does.

    ```mlir
    %t = tile_gpu.thread
    ```
  }];
  let results = (outs I32:$thread);
  let assemblyFormat = "attr-dict";
}

def TileGPU_RecomputeOp : TileGPU_Op<"recompute", [NoMemoryEffect]> {
  let summary = "a number that is not to be known from before";
  let description = [{
    What `tile.recompute` is lowered to: `value`, but nothing computed from the
    result moves in front of this operation. On AMD it is its operand.

    ```mlir
    %row1 = tile_gpu.recompute %row
    ```
  }];
  let arguments = (ins I32:$value);
  let results = (outs I32:$result);
  let assemblyFormat = "$value attr-dict";
}

def TileGPU_WarpSyncOp : TileGPU_BarrierOp<"warp_sync"> {
  let summary = "the lanes of a warp meet; what each did is visible to all";
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
  let summary = "waits until the kernel before this one has ended";
  let description = [{
    Until it has ended, and what it wrote is visible to all threads of this one.

    ```mlir
    tile_gpu.wait_prerequisites
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def TileGPU_LaunchDependentsOp : TileGPU_BarrierOp<"launch_dependents"> {
  let summary = "the kernel behind this one may start";
  let description = [{
    Once a thread of every block has come here, or the block has ended.

    ```mlir
    tile_gpu.launch_dependents
    ```
  }];
  let assemblyFormat = "attr-dict";
}

include "tile/Dialect/TileGPU/IR/TileGPUBulkOps.td"

#endif // TILE_DIALECT_TILEGPU_IR_TILEGPUOPS_TD
