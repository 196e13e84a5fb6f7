//===- TileClusterOps.td - Blocks of a cluster -------------*- tablegen -*-===//
#ifndef TILE_DIALECT_TILE_IR_TILECLUSTEROPS_TD
#define TILE_DIALECT_TILE_IR_TILECLUSTEROPS_TD

def Tile_ClusterRankOp : Tile_Op<"cluster_rank", [Pure,
    DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>]> {
  let summary = "number of this block in its cluster";
  let description = [{
    The number of the block among those that have its coordinates in the grid:
    from 0 to `cluster_blocks` - 1 of the kernel.

    ```mlir
    tile.kernel @rows() attributes {cluster_blocks = 4 : i32} {
      %c1 = arith.constant 1 : index
      tile.grid %c1, %c1, %c1
      %rank = tile.cluster_rank
    }
    ```
  }];
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

def Tile_ClusterReduceOp : Tile_Op<"cluster_reduce", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "combines the tiles of the blocks of a cluster";
  let description = [{
    Combines the elements at the same place of the tiles of all blocks of the
    cluster, in the order of the blocks, with `kind` (as `tile.reduce`). The
    result of block r is the r-th of as many equal parts of the rows as there are
    blocks (`cluster_blocks` of the kernel), or in every block the whole tile, if
    the result has the shape of the operand. All blocks of the cluster execute
    the operation.

    ```mlir
    tile.kernel @sums() attributes {cluster_blocks = 4 : i32} {
      %c1 = arith.constant 1 : index
      tile.grid %c1, %c1, %c1
      %ones = arith.constant dense<1.0> : tensor<128x64xf32>
      %rows = tile.cluster_reduce addf %ones : tensor<128x64xf32> -> tensor<32x64xf32>
      %all = tile.cluster_reduce maxnumf %ones : tensor<128x64xf32> -> tensor<128x64xf32>
    }
    ```

    The tiles cross the cluster through the shared memory of its blocks. After
    `tile-decompose-conversions`, the operand is a tile in shared memory, and a
    buffer after `tile-bufferize`: the operation then waits at a barrier of
    the cluster until all blocks have written their tiles, and arrives at another
    one when it has read them. The block waits there before it accesses shared
    memory again or ends.
  }];
  let arguments = (ins AtomicRMWKindAttr:$kind, AnyTypeOf<[Tile_Tile, Tile_BufferType]>:$source);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $kind $source attr-dict `:` qualified(type($source)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

#endif // TILE_DIALECT_TILE_IR_TILECLUSTEROPS_TD
