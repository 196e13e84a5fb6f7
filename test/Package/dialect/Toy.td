// A dialect with one operation over tile buffers.
include "mlir/IR/OpBase.td"
include "tile/Dialect/Tile/IR/TileTypes.td"

def Toy_Dialect : Dialect {
  let name = "toy";
  let cppNamespace = "::toy";
  let dependentDialects = ["::tile::TileDialect"];
}

def Toy_ScaleOp : Op<Toy_Dialect, "scale"> {
  let summary = "writes a buffer of static shape, times a factor, to another";
  let arguments = (ins Tile_BufferType:$from, Tile_BufferType:$to, F32Attr:$factor);
  let assemblyFormat = [{
    $from `to` $to `by` $factor attr-dict `:` type($from) `,` type($to)
  }];
}
