//===- Passes.td - Passes over named matrix products ------*- tablegen -*-===//
#ifndef TILE_KERNELS_MATMUL_PASSES_TD
#define TILE_KERNELS_MATMUL_PASSES_TD

include "mlir/Pass/PassBase.td"

def TileExpandMatmul : Pass<"tile-expand-matmul", "::mlir::ModuleOp"> {
  let summary = "Turns tile.matmul into kernels";
  let description = [{
    Expands each func.func that contains only `tile.matmul` and arith operations
    that compute scalars of its epilogues. Each `tile.matmul` becomes a
    `tile.kernel` with the arguments of the function. Function @f becomes kernel
    @f, or @f_0, @f_1, ... if it has several named operations, which must run in
    this order. Other functions are unchanged.

    A block computes one tile of the result. Its kernel is a plain loop, which the
    passes behind this one schedule like any other:

    ```mlir output
    func.func @f(%a: !a, %b: !b, %c: !c) {
      tile.matmul %a, %b to %c {transpose_b} : !a, !b, !c
      return
    }
    // tile-expand-matmul
    tile.kernel @f(%a: !a, %b: !b, %c: !c) {
      %bm = tile.param BM in [16, 32, 64, 128, 192, 256]
      ...
      tile.grid %row_blocks, %column_blocks, %c1
      ...
      %sum = scf.for %i = %c0 to %k step %bk iter_args(%acc = %zero) -> (!acc) {
        %at = tile.load %a[%row, %i] : !a -> tensor<?x?xbf16, #tile.open<BM, BK>>
        %bn = tile.load %b[%column, %i] : !b -> tensor<?x?xbf16, #tile.open<BN, BK>>
        %bt = tile.transpose %bn [1, 0] : ...
        %next = tile.dot %at, %bt, %acc : ...
        scf.yield %next : !acc
      }
      %rounded = arith.truncf %sum : ...
      tile.store %rounded, %c[%row, %column] : ...
    }
    ```

    BK lists numbers of 64, 128 and 256 bytes. With `ends`, a block finds its group
    by a binary search. With `atomic`, the kernels are @f_zero, @f_product and
    @f_epilogue.

    Fails if such a function contains another operation, has a result or is used,
    and if a `tile.matmul` is elsewhere.
  }];
  let dependentDialects = ["::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // TILE_KERNELS_MATMUL_PASSES_TD
