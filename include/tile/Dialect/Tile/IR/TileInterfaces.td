//===- TileInterfaces.td - Interfaces of the tile dialect --*- tablegen -*-===//
#ifndef TILE_DIALECT_TILE_IR_TILEINTERFACES_TD
#define TILE_DIALECT_TILE_IR_TILEINTERFACES_TD

include "mlir/IR/OpBase.td"

def Tile_LayoutAttrInterface : AttrInterface<"LayoutAttrInterface"> {
  let cppNamespace = "::tile";
  let description = [{
    A layout: whatever an attribute prints as, it denotes one canonical layout
    of the algebra for a given shape. Every other question is a query on that.
  }];
  let methods = [
    InterfaceMethod<[{
      The canonical layout of a tile or buffer of this shape. `elementBits` is
      the width of one element. On failure an error that names the dimension
      has been reported through `emitError`, which may be null to ask quietly.
    }],
    "::llvm::FailureOr<::tile::Layout>", "getLayout",
    (ins "::llvm::ArrayRef<int64_t>":$shape, "unsigned":$elementBits,
         "::llvm::function_ref<::mlir::InFlightDiagnostic()>":$emitError)>,
    InterfaceMethod<"Which family the canonical layout belongs to.",
    "::tile::LayoutFamily", "getFamily", (ins)>,
  ];
}

def Tile_BulkOpInterface : OpInterface<"BulkOpInterface"> {
  let cppNamespace = "::tile";
  let description = [{
    What the copy engine moves through a tensor map (Target/TensorMap.h): a tile
    of a kernel argument, from some indices on and along some of its dimensions,
    and a tile in shared memory of the same elements.
  }];
  let methods = [
    InterfaceMethod<"The kernel argument.",
      "::mlir::TypedValue<::tile::BufferType>", "getArgument">,
    InterfaceMethod<"The tile's first element, one index per dimension.",
      "::mlir::OperandRange", "getIndices">,
    InterfaceMethod<"The dimensions of the argument along which the tile lies.",
      "::llvm::ArrayRef<int64_t>", "getDims">,
    InterfaceMethod<"How the tile is stored in shared memory.",
      "::tile::BufferType", "getTileType">,
    InterfaceMethod<[{
      The first of the argument's rows that alone the tile is of, see
      `within` of tile.bulk_copy; null if it is of all.
    }], "::mlir::Value", "getStart", (ins), "", [{ return {}; }]>,
    InterfaceMethod<"How many these are; null if the tile is of all rows.",
      "::mlir::Value", "getLength", (ins), "", [{ return {}; }]>,
    InterfaceMethod<[{
      How many parts of the tile there are along its rows and columns, of which
      every warp of the role moves its own; {1, 1} if one thread moves all.
    }], "::llvm::SmallVector<int64_t, 2>", "getPartCounts", (ins), "",
      [{ return {1, 1}; }]>,
  ];
}

#endif // TILE_DIALECT_TILE_IR_TILEINTERFACES_TD
