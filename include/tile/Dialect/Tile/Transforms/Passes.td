//===- Passes.td - Passes over tile programs ---------------*- tablegen -*-===//
#ifndef TILE_DIALECT_TILE_TRANSFORMS_PASSES_TD
#define TILE_DIALECT_TILE_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def TileAttachTarget : Pass<"tile-attach-target", "::mlir::ModuleOp"> {
  let summary = "Records the chip that a module is compiled for";
  let description = [{
    Sets the module attribute `tile.target`, which the passes that follow read.
    A module that names another chip already is an error.

    ```mlir
    module { ... }
    // tile-attach-target{chip=sm_80}
    module attributes {tile.target = "sm_80"} { ... }
    ```
  }];
  let options = [Option<"chip", "chip", "std::string", "\"\"",
                        "a chip of the table (tile-translate --chip=help lists them)">];
}

#endif // TILE_DIALECT_TILE_TRANSFORMS_PASSES_TD
