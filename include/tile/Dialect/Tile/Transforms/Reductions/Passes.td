//===- Passes.td - Reductions ------------------------------*- tablegen -*-===//
#ifndef TILE_DIALECT_TILE_TRANSFORMS_REDUCTIONS_PASSES_TD
#define TILE_DIALECT_TILE_TRANSFORMS_REDUCTIONS_PASSES_TD

include "mlir/Pass/PassBase.td"

def TileDeferReductions : Pass<"tile-defer-reductions", "::tile::KernelOp"> {
  let summary = "Moves the exchange of reductions behind loops";
  let description = [{
    A loop that carries a sum, and adds the result of a `tile.reduce` to it in
    every iteration, needs the whole sum behind the loop only. The pass makes the
    loop carry the part of each thread. The exchange between lanes and warps
    follows the loop.

    ```mlir output
    %sum = scf.for ... iter_args(%before = %zero) -> (tensor<128xf32, #row>) {
      %step = tile.reduce addf %p along 1 : tensor<128x64xf32, #mma> -> tensor<128xf32, #row>
      %next = math.fma %before, %factor, %step fastmath<reassoc> : tensor<128xf32, #row>
      scf.yield %next
    }
    // becomes
    %parts = scf.for ... iter_args(%before = %zeros) -> (tensor<128x4xf32, #partial>) {
      %step = tile.reduce_in_threads addf %p along 1 : tensor<128x64xf32, #mma> -> tensor<128x4xf32, #partial>
      %factors = tile.broadcast %factor along 1 : ... -> tensor<128x4xf32, #partial>
      %next = math.fma %before, %factors, %step : tensor<128x4xf32, #partial>
      scf.yield %next
    }
    %sum = tile.reduce addf %parts along 1 : tensor<128x4xf32, #partial> -> tensor<128xf32, #row>
    ```

    A sum may be scaled (`arith.mulf`, `math.fma`), selected (`arith.select`),
    and carried through several loops and `scf.if`. Operations of one kind other
    than addition may be combined and selected. The order of the additions
    changes, and products of the sum are distributed to its parts: all
    floating-point additions and multiplications of the sum must have
    `fastmath<reassoc>`. Maxima, minima, and integers need no flag.

    The remark `reduction-deferred` names the loops' reductions, and
    `reduction-not-deferred` the operation that lacks the flag.
  }];
  let dependentDialects = ["::tile::TileDialect", "::mlir::arith::ArithDialect"];
}

def TileJoinReductions : Pass<"tile-join-reductions", "::tile::KernelOp"> {
  let summary = "Exchanges the maximum and the sum of a softmax at once (S2)";
  let description = [{
    A softmax reduces x to its maximum, and exp(x - maximum) to a sum. If several
    warps share the dimension, each computes its part of the sum relative to its
    own maximum, and all exchange both numbers with one barrier instead of two.
    exp(x - maximum) becomes a product with a number of each warp, exp(maximum of
    the warp - maximum), and with what other factor each row has.

    The pass takes f32 tiles, `maxnumf` or `maximumf`, `math.exp` or `math.exp2`,
    a positive, finite constant as scale of the differences, and terms of the sum
    that are the exponentials or their products with another tile.

    ```mlir output
    %most = tile.reduce maxnumf %x along 1 : ...
    %d = arith.subf %x, %most_t : ...
    %e = math.exp %d : ...
    %sum = tile.reduce addf %e along 1 : ...
    // becomes
    %w = tile.reduce_in_warps maxnumf %x along 1 : ...
    %d = arith.subf %x, %w_t : ...
    %e = math.exp %d : ...
    %p = tile.reduce_in_warps addf %e along 1 : ...
    // %ws and %ps are those of all warps, through shared memory.
    %most = tile.reduce maxnumf %ws along 1 : ...
    %f = math.exp %ws_below_most : ...
    %product = arith.mulf %ps, %f : ...
    %sum = tile.reduce addf %product along 1 : ...
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
}

def TileDecomposeReductions : Pass<"tile-decompose-reductions", "::tile::KernelOp"> {
  let summary = "Splits reductions and scans over several warps";
  let description = [{
    A `tile.reduce` along a dimension that several warps share becomes three
    operations: a reduction within each warp, a conversion that gives every
    thread the results of all warps for its elements, and a reduction of these
    within each thread. The conversion moves elements between warps, so
    `tile-decompose-conversions` lowers it to an exchange through shared memory.

    ```mlir
    #mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 4]>
    #partial = #tile.layout<register = [2 -> d0 * 8], lane = [4 -> 0, 8 -> d0], warp = [4 -> d1]>
    #all = #tile.layout<register = [2 -> d0 * 8, 4 -> d1], lane = [4 -> 0, 8 -> d0], warp = [4 -> 0]>
    %m = tile.reduce maxnumf %s along 1
        : tensor<16x32xf32, #mma> -> tensor<16xf32, #tile.slice<1, #mma>>
    // becomes, with 4 warps side by side
    %p = tile.reduce_in_warps maxnumf %s along 1
        : tensor<16x32xf32, #mma> -> tensor<16x4xf32, #partial>
    %q = tile.convert_layout %p : tensor<16x4xf32, #partial> -> tensor<16x4xf32, #all>
    %m = tile.reduce maxnumf %q along 1
        : tensor<16x4xf32, #all> -> tensor<16xf32, #tile.slice<1, #mma>>
    ```

    Where many warps share the dimension, and lanes of a warp have the same
    elements of the result, these lanes divide the results of the warps: the
    last reduction exchanges between them.

    A `tile.scan` along such a dimension becomes a scan of the elements that each
    warp has side by side, a conversion that gives every thread the totals of
    all these runs, and the combination of each element with the totals of the
    runs before its own.

    ```mlir
    #mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 4]>
    #totals = #tile.layout<register = [2 -> d0 * 8, 2 -> d1 * 4], lane = [4 -> 0, 8 -> d0], warp = [4 -> d1]>
    #all = #tile.layout<register = [8 -> d1, 2 -> d0 * 8], lane = [4 -> 0, 8 -> d0], warp = [4 -> 0]>
    %y = tile.scan addf %s along 1 : tensor<16x64xf32, #mma>
    // becomes, with 4 warps side by side, each with two runs of 8 columns
    %p, %t = tile.scan_in_warps addf %s along 1
        : tensor<16x64xf32, #mma> -> tensor<16x8xf32, #totals>
    %q = tile.convert_layout %t : tensor<16x8xf32, #totals> -> tensor<16x8xf32, #all>
    %y = tile.join_scans addf %p, %q along 1
        : tensor<16x64xf32, #mma>, tensor<16x8xf32, #all>
    ```

    The remarks `reduction-through-shared-memory` and
    `scan-through-shared-memory` give the number of warps that share the
    dimension.
  }];
  let dependentDialects = ["::tile::TileDialect"];
}

def TileScaleAfterReduction
    : Pass<"tile-scale-after-reduction", "::tile::KernelOp"> {
  let summary = "Multiplies maxima instead of all elements by a scale (S4)";
  let description = [{
    Rounding is monotonic, so the maximum (`maxnumf`) or the minimum of the
    products of f32 elements and one positive, finite scale is the product of the
    scale and the maximum of the elements. The pass rewrites such a `tile.reduce`.
    The sign of the scale decides at run time which form is computed. A constant
    scale decides at compile time.

    If the product has readers other than the reduction, these must be additions
    or subtractions from it. They become FMAs, which do not need the product.

    Loops with asynchronous products get a copy for positive, finite scales
    instead of a branch: ptxas schedules nothing across a branch, and moves the
    wait for a product in flight to its end. In the copy, the scale also moves
    behind selections of elements of the product and of zeros or infinities, as
    masks have them. The pass copies the outermost loop that has such products,
    unless it carries one.

    ```mlir output
    %product = arith.mulf %scores, %scales : tensor<128x64xf32, #mma>
    %most = tile.reduce maxnumf %product along 1 : ...
    // becomes
    %most = scf.if %is_positive -> (tensor<128xf32, #row>) {
      %0 = tile.reduce maxnumf %scores along 1 : ...
      %1 = arith.mulf %0, %row_of_scales : ...
      scf.yield %1 : ...
    } else {
      %product = arith.mulf %scores, %scales : ...
      %0 = tile.reduce maxnumf %product along 1 : ...
      scf.yield %0 : ...
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // TILE_DIALECT_TILE_TRANSFORMS_REDUCTIONS_PASSES_TD
