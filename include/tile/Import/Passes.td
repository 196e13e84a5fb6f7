//===- Passes.td - Import from other dialects -----------------------------===//

#ifndef TILE_IMPORT_PASSES
#define TILE_IMPORT_PASSES

include "mlir/Pass/PassBase.td"

def TileImportAttention : Pass<"tile-import-attention", "::mlir::ModuleOp"> {
  let summary = "Turn attention of ONNX and PyTorch into tile functions";
  let description = [{
    Replaces the module by one function for each attention operation in it. The
    function has the name of the function around the operation, and the arguments
    q, k, v and o. The operations are unregistered ones in generic syntax:

    - `onnx.Attention` (opset 23, as onnx-mlir prints it);
    - `torch.aten.scaled_dot_product_attention` (as torch-mlir prints it).

    The shapes of the buffers are [batch, length, heads, head dimension],
    whatever the order of the imported tensor; callers permute the dimensions of
    their arrays without a copy.

    Both sources align a causal mask to the top left: query i sees the keys j <=
    i. So the offset of tile.attention is 0, unless the lengths are known to be
    equal.

    An operation is refused, too, if it has anything that tile.attention does not
    compute: explicit masks, dropout, caches of keys and values, other outputs,
    other precisions of the softmax, and attributes that the pass does not know.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect", "::tile::TileDialect"];
}

#endif // TILE_IMPORT_PASSES
