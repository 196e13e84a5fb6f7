//===- Passes.td - Masks -----------------------------------*- tablegen -*-===//
#ifndef TILE_DIALECT_TILE_TRANSFORMS_MASKS_PASSES_TD
#define TILE_DIALECT_TILE_TRANSFORMS_MASKS_PASSES_TD

include "mlir/Pass/PassBase.td"

def TileSplitMaskedLoops : Pass<"tile-split-masked-loops", "::tile::KernelOp"> {
  let summary = "Splits loops into iterations with and without a mask (S1)";
  let description = [{
    A comparison of coordinates with a bound (arith.cmpi with an order, signed or
    unsigned) often holds for all elements of the tile in most iterations: the last
    keys need a mask, those before do not. One unsigned comparison may test both
    sides of a window. The pass splits a loop with matrix products
    where such a comparison begins or ceases to hold for the whole tile, and
    replaces the comparison by true in the iterations between. One that does not
    depend on the iteration holds in all of them or in none. At most three loops
    result.

    ```mlir output
    %r = scf.for %n = %c0 to %keys step %c64 iter_args(%a = %init) -> (!acc) {
      %left = arith.subi %keys, %n : index
      %left32 = arith.index_cast %left : index to i32
      %end = tensor.splat %left32 : tensor<128x64xi32>
      %visible = arith.cmpi slt, %column, %end : tensor<128x64xi32>
      %seen = arith.select %visible, %s, %hidden : ...
      ...
    }
    // becomes
    %full = ...   // keys rounded down to a multiple of 64
    %r0 = scf.for %n = %c0 to %full step %c64 iter_args(%a = %init) -> (!acc) {
      ...         // with %s instead of %seen
    }
    %r = scf.for %n = %full to %keys step %c64 iter_args(%a = %r0) -> (!acc) {
      ...         // as before
    }
    ```

    The operands of the comparison must be affine functions of the induction
    variable and of `tile.iota`, by addition, subtraction, multiplication by a
    constant, casts, `tensor.splat`, `tile.broadcast` and `tile.transpose`. Where
    one of them does not fit its type in some iteration, all iterations run with
    the mask. The tile of the comparison has two dimensions or more. A loop or a
    kernel with `keep_loops` in its schedule is unchanged; the pass sets it on the
    loops that it makes. The remark `loop-split` reports success.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def TileJoinComparisons : Pass<"tile-join-comparisons", "::tile::KernelOp"> {
  let summary = "One comparison of coordinates for each element of a mask (S2)";
  let description = [{
    A mask is often a conjunction: the columns before the last key, and those up
    to the diagonal. The pass writes each comparison of a coordinate with a bound
    as `coordinate <= bound` or `coordinate >= bound`, where the bound is a scalar
    or has one element for each index of the other dimension. Of several upper
    bounds the least remains, of several lower bounds the greatest. A comparison
    that is the same along the coordinate becomes a part of the bound.

    ```mlir output
    %end = tensor.splat %left : tensor<128x64xi32, #mma>
    %inside = arith.cmpi slt, %column, %end : tensor<128x64xi32, #mma>
    %key = arith.addi %column, %n : tensor<128x64xi32, #mma>
    %before = arith.cmpi sle, %key, %query : tensor<128x64xi32, #mma>
    %visible = arith.andi %inside, %before : tensor<128x64xi1, #mma>
    // becomes
    %last = arith.minsi ..., ... : tensor<128xi32, #tile.slice<1, #mma>>
    %bound = tile.broadcast %last along 1 : ... -> tensor<128x64xi32, #mma>
    %visible = arith.cmpi sle, %column, %bound : tensor<128x64xi32, #mma>
    ```

    Disjunctions (`arith.ori`), negations (`arith.xori`) and nested selections
    with one alternative are handled alike. The coordinate is the one for which a
    thread computes less, by the layout of the tile. A mask that would not become
    cheaper is unchanged.

    The result never changes: a comparison whose sums could wrap around in their
    type, by the ranges of the values and by the other bounds of the conjunction,
    remains, unless the program marks them as sums that do not (`overflow<nsw>`).
    Masks have two dimensions and a layout. The remark
    `comparisons-joined` reports success.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect",
                           "::tile::TileDialect"];
}

#endif // TILE_DIALECT_TILE_TRANSFORMS_MASKS_PASSES_TD
