//===- TileMatmulOps.td - The named matrix product (stage S0) -*- tablegen -*-===//
//
// Included by TileOps.td.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DIALECT_TILE_IR_TILEMATMULOPS_TD
#define TILE_DIALECT_TILE_IR_TILEMATMULOPS_TD

def Tile_MatmulOp : Tile_Op<"matmul", [
    AttrSizedOperandSegments, RecursiveMemoryEffects, SingleBlock]> {
  let summary = "matrix product on global buffers";
  let description = [{
    Computes, for every batch,

    ```
    c[i, j] = sum_k a[i, k] * b[k, j]
    ```

    Shapes: a [..., M, K], b [..., K, N], c [..., M, N]; with `transpose_a`, a is
    [..., K, M], and with `transpose_b`, b is [..., N, K]. The strides may be any.
    The dimensions in front are batches. All operands that have them have the same
    ones; an a or b of rank 2 is the same for all batches. Extents may be any,
    zero too. What types leave open of their agreement is checked at launch
    (`tile.require`).

    | a and b | sums | c |
    |---|---|---|
    | f16, bf16 | f32 | f16, bf16, f32 |
    | f32, with `precision` as in `tile.dot` | f32 | f16, bf16, f32 |
    | i8 | i32 | i32 |

    ```mlir
    func.func @linear(%x: !x, %w: !w, %y: !y) {
      tile.matmul %x, %w to %y {transpose_b} : !x, !w, !y
      return
    }
    ```

    `tile-expand-matmul` turns the function into a kernel of its name: a plain loop
    over K, like the one of examples/gemm.mlir. The extents of its tiles are the
    parameters BM, BN and BK (`tile.param`). `schedule` sets fields of the kernel's
    schedule.

    **Epilogue.** A region computes c from the sums, for one tile of c. Its
    arguments are the tile of sums, the indices of the batch, and the row and the
    column of its first element. `tile.yield` gives the tile that is stored to c.
    The region may read other buffers, write them, and call functions. Several b
    give several sums, and several c several results; with an epilogue there may be
    no c.

    ```mlir
    // y = relu(x * w + bias)
    func.func @layer(%x: !x, %w: !w, %bias: !bias, %y: !y) {
      tile.matmul %x, %w to %y : !x, !w, !y epilogue {
      ^bb0(%sum: !sum, %row: index, %column: index):
        %bm = tile.param BM in [64, 128]
        %bn = tile.param BN in [64, 128, 256]
        %zero = arith.constant 0.0 : f32
        %zeros = tensor.splat %zero[%bm, %bn] : !sum
        %b = tile.load %bias[%column] : !bias -> tensor<?xf32, #tile.open<BN>>
        %bs = tile.broadcast %b along 0 : tensor<?xf32, #tile.open<BN>> -> !sum
        %z = arith.addf %sum, %bs : !sum
        %r = arith.maximumf %z, %zeros : !sum
        %rounded = arith.truncf %r : !sum to tensor<?x?xbf16, #tile.open<BM, BN>>
        tile.yield %rounded : tensor<?x?xbf16, #tile.open<BM, BN>>
      }
      return
    }
    ```

    where !sum is `tensor<?x?xf32, #tile.open<BM, BN>>`. A parameter BM, BN or BK in
    the region replaces the one that the kernel would have, with its values. The
    sums of elements outside of c are 0, and nothing is stored for them.

    **Groups.** The number of rows of each group is in memory, so that no launch
    waits for it:

    - `ends %ends`: the rows of a and c are those of the groups, one after the
      other; a is [M, K], b [G, K, N], c [M, N]. Group g has the rows from
      ends[g - 1] (0 for the first) to before ends[g], and is multiplied by b[g].
      The ends must ascend and be at most M. Rows behind the last group are not
      written. Excludes `transpose_a`.
    - `counts %counts`: a is [G, M, K], b [G, K, N], c [G, M, N]. Only the first
      counts[g] rows of group g are computed, of M at most. The others are neither
      read nor written.

    Both are i32 [G]. The row that the epilogue gets counts from the first row of
    the group; so do the rows of a tile that is stored to c.

    ```mlir
    tile.matmul %tokens, %experts to %out ends %ends
        : !tokens, !experts, !out, !ends
    ```

    **Few tiles.** Where c has fewer tiles than the chip has multiprocessors,
    blocks share the iterations of a tile. The field `split` of the schedule does
    this with the same bits in each run, and memory for the parts of a sum
    (`tile-split-reduction`); so does `stream_k` for the tiles of the last wave. `atomic %sums` needs no such memory: blocks add their
    sums to it atomically, in any order. The kernels are @f_zero, which clears
    %sums, @f_product and @f_epilogue; `schedule` is that of @f_product. %sums is one
    buffer for each b, of the type of the sums and the shape [..., M', N'], where M'
    and N' are M and N rounded up to multiples of 16. The layout within it is the
    compiler's choice (`tile-choose-accumulators`). Groups have no `atomic`.
  }];
  let arguments = (ins Tile_Input<>:$a, Tile_Input<Variadic<Tile_BufferType>>:$b,
    Tile_Output<Variadic<Tile_BufferType>>:$c,
    Tile_Input<Optional<Tile_BufferType>>:$ends,
    Tile_Input<Optional<Tile_BufferType>>:$counts,
    Tile_Scratch<Variadic<Tile_BufferType>>:$sums,
    UnitAttr:$transpose_a, UnitAttr:$transpose_b,
    OptionalAttr<Tile_ProductPrecision>:$precision,
    OptionalAttr<Tile_ScheduleAttr>:$schedule);
  let regions = (region MaxSizedRegion<1>:$epilogue);
  let assemblyFormat = [{
    $a `,` $b (`to` $c^)? (`ends` $ends^)? (`counts` $counts^)? (`atomic` $sums^)?
    (`precision` `(` $precision^ `)`)? attr-dict `:` type(operands)
    (`epilogue` $epilogue^)?
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the number of batch dimensions.
    int64_t getBatchRank();
    /// Returns the type of the elements of sums.
    ::mlir::Type getSumType();
    /// Returns the tile of BM x BN elements of type `element`.
    ::mlir::RankedTensorType getTile(::mlir::Type element);
    /// Returns the extents that have to agree, those that others are compared
    /// with first.
    ::llvm::SmallVector<::tile::NamedExtent> getNamedExtents();
  }];
}

#endif // TILE_DIALECT_TILE_IR_TILEMATMULOPS_TD
