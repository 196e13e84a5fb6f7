//===- TileParamOps.td - Open extents ----------------------*- tablegen -*-===//
//
// Included by TileOps.td.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DIALECT_TILE_IR_TILEPARAMOPS_TD
#define TILE_DIALECT_TILE_IR_TILEPARAMOPS_TD

def Tile_ParamOp : Tile_Op<"param", [
    ParentOneOf<["::tile::KernelOp", "::tile::MatmulOp"]>]> {
  let summary = "a number that the author leaves to the compiler";
  let description = [{
    A parameter of the kernel with its name and the values that it may have. The
    compiler chooses one of them (`tile-close-extents`). The result is this value.

    Types name parameters as extents of tiles (`#tile.open`). `tensor.splat` makes
    such a tile of a scalar; its sizes are the parameters that its type names, in
    their order.

    ```mlir
    tile.kernel @copy(%src: !b, %dst: !b) {
      %rows = tile.param ROWS in [32, 64, 128]
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %all = tile.dim %src[0] : !b
      %blocks = arith.ceildivui %all, %rows : index
      tile.grid %blocks, %c1, %c1
      %block = tile.program_id x
      %row = arith.muli %block, %rows : index
      %one = arith.constant 1.0 : f16
      %ones = tensor.splat %one[%rows] : tensor<?x128xf16, #tile.open<ROWS>>
      %t = tile.load %src[%row, %c0] : !b -> tensor<?x128xf16, #tile.open<ROWS>>
      %sum = arith.addf %t, %ones : tensor<?x128xf16, #tile.open<ROWS>>
      tile.store %sum, %dst[%row, %c0] : tensor<?x128xf16, #tile.open<ROWS>>, !b
    }
    ```

    Illegal: values that are not positive or come twice; two parameters of one
    name; a parameter without a use; an extent that no parameter of the kernel
    names; an operation whose tiles must agree and have different names.
  }];
  let arguments = (ins StrAttr:$parameter, DenseI64ArrayAttr:$values);
  let results = (outs Index:$result);
  let assemblyFormat = "custom<Parameter>($parameter) `in` $values attr-dict";
  let hasVerifier = 1;
}

#endif // TILE_DIALECT_TILE_IR_TILEPARAMOPS_TD
