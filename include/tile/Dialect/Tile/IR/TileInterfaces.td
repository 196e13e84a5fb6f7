//===- TileInterfaces.td - Interfaces of the tile dialect --*- tablegen -*-===//
#ifndef TILE_DIALECT_TILE_IR_TILEINTERFACES_TD
#define TILE_DIALECT_TILE_IR_TILEINTERFACES_TD

include "mlir/IR/OpBase.td"

def Tile_LayoutAttrInterface : AttrInterface<"LayoutAttrInterface"> {
  let cppNamespace = "::tile";
  let description = [{
    A layout attribute. For a given shape it denotes one canonical layout of the
    algebra (Layout/Layout.h), whatever its syntax. All other properties are
    queries on the canonical layout.
  }];
  let methods = [
    InterfaceMethod<[{
      Returns the canonical layout of a tile or buffer of this shape.
      `elementBits` is the width of one element in bits. On failure, reports an
      error that names the dimension through `emitError` unless that is null.
    }],
    "::llvm::FailureOr<::tile::Layout>", "getLayout",
    (ins "::llvm::ArrayRef<int64_t>":$shape, "unsigned":$elementBits,
         "::llvm::function_ref<::mlir::InFlightDiagnostic()>":$emitError)>,
    InterfaceMethod<"Returns the family of the canonical layout.",
    "::tile::LayoutFamily", "getFamily", (ins)>,
  ];
}

def Tile_BulkOpInterface : OpInterface<"BulkOpInterface"> {
  let cppNamespace = "::tile";
  let description = [{
    A TMA operation with a tensor map (Chips/NVIDIA/TensorMap.h). It moves a tile
    between a kernel argument and shared memory. The tile starts at some indices
    of the argument and extends along some of its dimensions.
  }];
  let methods = [
    InterfaceMethod<"Returns the kernel argument.",
      "::mlir::TypedValue<::tile::BufferType>", "getArgument">,
    InterfaceMethod<[{
      Returns the indices of the tile's first element, one per dimension of the
      argument.
    }], "::mlir::OperandRange", "getIndices">,
    InterfaceMethod<
      "Returns the dimensions of the argument along which the tile extends.",
      "::llvm::ArrayRef<int64_t>", "getDims">,
    InterfaceMethod<"Returns the type of the tile's buffer in shared memory.",
      "::tile::BufferType", "getTileType">,
    InterfaceMethod<[{
      Returns the first row of the range of rows that bounds the tile (see
      `within` of tile.bulk_copy); null if the argument's extents bound it.
    }], "::mlir::Value", "getStart", (ins), "", [{ return {}; }]>,
    InterfaceMethod<
      "Returns the number of rows of that range; null if there is no range.",
      "::mlir::Value", "getLength", (ins), "", [{ return {}; }]>,
    InterfaceMethod<[{
      Returns the table of the pages that have the rows (see `pages` of
      tile.bulk_copy); null if they lie in the argument at one distance.
    }], "::mlir::TypedValue<::tile::BufferType>", "getTable", (ins), "",
      [{ return {}; }]>,
    InterfaceMethod<[{
      Returns the numbers of parts of the tile along its rows and columns; each
      warp of the role moves one part. {1, 1} if one thread moves the whole tile.
    }], "::llvm::SmallVector<int64_t, 2>", "getPartCounts", (ins), "",
      [{ return {1, 1}; }]>,
  ];
}

def Tile_TileLayoutOpInterface : OpInterface<"TileLayoutOpInterface"> {
  let cppNamespace = "::tile";
  let description = [{
    An operation on tiles whose layouts depend on each other. tile-assign-layouts
    asks each operation which layouts it prefers for its other tiles once the
    layout of one tile is known, and which layouts it needs in the end. Tiles
    are the operands, the results and the arguments of the regions of the
    operation. An operation that keeps the default implementations takes its
    operands in any layout, and has results of any layout.
  }];
  let methods = [
    InterfaceMethod<[{
      `value`, a tile of this operation, has `layout`. Calls `propose` for each
      other tile of the operation that can have a layout with which no
      conversion is needed. tile-assign-layouts ignores the proposal for a tile
      that has a layout already.
    }], "void", "inferLayouts",
    (ins "::mlir::Value":$value, "::tile::LayoutAttrInterface":$layout,
         "::llvm::function_ref<void(::mlir::Value, ::tile::LayoutAttrInterface)>":$propose),
    "", [{ return; }]>,
    InterfaceMethod<[{
      All tiles of this operation have layouts. Tells `requirements` which
      layouts the operation needs; tile-assign-layouts inserts conversions for
      the others.
    }], "void", "requireLayouts",
    (ins "::tile::LayoutRequirements &":$requirements), "", [{ return; }]>,
    InterfaceMethod<[{
      Gives `result` the layout. Reports an error and fails if the operation
      cannot have it.
    }], "::llvm::LogicalResult", "setLayout",
    (ins "::mlir::OpResult":$result, "::tile::LayoutAttrInterface":$layout),
    "", [{
      result.setType(::tile::withLayout(
          ::llvm::cast<::mlir::RankedTensorType>(result.getType()), layout));
      return ::llvm::success();
    }]>,
    InterfaceMethod<[{
      Returns true if the operation makes a tile of no other tile, so that it is
      cheaper to repeat it for each use than to convert its result.
    }], "bool", "isRematerializable", (ins), "", [{ return false; }]>,
  ];
}

#endif // TILE_DIALECT_TILE_IR_TILEINTERFACES_TD
