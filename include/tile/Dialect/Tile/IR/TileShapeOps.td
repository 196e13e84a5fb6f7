//===- TileShapeOps.td - Parts and shapes of tiles ---------*- tablegen -*-===//
#ifndef TILE_DIALECT_TILE_IR_TILESHAPEOPS_TD
#define TILE_DIALECT_TILE_IR_TILESHAPEOPS_TD

class Tile_ShapeOp<string mnemonic> : Tile_Op<mnemonic, [Pure,
    DeclareOpInterfaceMethods<Tile_TileLayoutOpInterface, ["inferLayouts", "requireLayouts"]>]> {
  let hasVerifier = 1;
}

def Tile_ReshapeOp : Tile_ShapeOp<"reshape"> {
  let summary = "a tile with another shape";
  let description = [{
    The result has the elements of the source in row-major order. The shapes have
    equally many elements; open extents of the source are extents of the result.

    ```mlir
    // Groups of 32 columns.
    %g = tile.reshape %x : tensor<64x128xf32> -> tensor<64x4x32xf32>
    ```

    The elements stay where they are and only the layout changes, so the
    operation costs nothing, unless the layout of the source does not divide
    along the dimensions of the result. `tile-assign-layouts` converts the source
    then.
  }];
  let arguments = (ins Tile_Tile:$source);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source attr-dict `:` qualified(type($source)) `->` qualified(type($result))";
}

def Tile_ExtractOp : Tile_ShapeOp<"extract"> {
  let summary = "a part of a tile";
  let description = [{
    Computes result[i, ..] = source[i + offsets[0], ..]. The result has all of a
    dimension whose extent is open.

    ```mlir
    %right = tile.extract %x [0, 64] : tensor<128x128xf16> -> tensor<128x64xf16>
    ```

    If the extent of the result does not divide that of the source and the offset
    along each dimension, tile-assign-layouts lets the part go through shared
    memory. After that pass, no element moves between threads: each thread holds the
    elements of the result among its elements of the source (findRegistersOfPart).
    `tile-stage-stores` creates this operation, too, to store a tile in parts.

    ```mlir
    #mma = #tile.mma<"wgmma.m64k16.f16", warps = [8, 1]>
    %right = tile.extract %o [0, 64]
        : tensor<128x128xf16, #mma> -> tensor<128x64xf16, #mma>
    ```
  }];
  let arguments = (ins Tile_Tile:$source, DenseI64ArrayAttr:$offsets);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $source $offsets attr-dict `:` qualified(type($source)) `->` qualified(type($result))
  }];
}

def Tile_ConcatenateOp : Tile_ShapeOp<"concatenate"> {
  let summary = "tiles side by side";
  let description = [{
    The result has the elements of the sources, one source after the other along
    `dim`, whose extent is static. All sources have one type.

    ```mlir
    %x = tile.concatenate %left, %right along 1
        : tensor<64x32xf32> -> tensor<64x64xf32>
    ```

    With layouts, each thread holds its elements of the result among its elements
    of the sources.
  }];
  let arguments = (ins Variadic<Tile_Tile>:$sources,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$dim);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $sources `along` $dim attr-dict `:`
    custom<EqualTypes>(ref($sources), type($sources)) `->` qualified(type($result))
  }];
}

#endif // TILE_DIALECT_TILE_IR_TILESHAPEOPS_TD
