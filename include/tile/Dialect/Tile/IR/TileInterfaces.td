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

#endif // TILE_DIALECT_TILE_IR_TILEINTERFACES_TD
