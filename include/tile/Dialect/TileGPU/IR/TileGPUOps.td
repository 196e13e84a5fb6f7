//===- TileGPUOps.td - Operations of the tile_gpu dialect --*- tablegen -*-===//
#ifndef TILE_DIALECT_TILEGPU_IR_TILEGPUOPS_TD
#define TILE_DIALECT_TILEGPU_IR_TILEGPUOPS_TD

include "mlir/Dialect/Arith/IR/ArithBase.td"
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

#endif // TILE_DIALECT_TILEGPU_IR_TILEGPUOPS_TD
