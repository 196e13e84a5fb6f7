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

def TileAssignLayouts : Pass<"tile-assign-layouts", "::tile::KernelOp"> {
  let summary = "Gives every tile a layout (S1 to S2)";
  let description = [{
    Chooses a matrix instruction of the chip for every `tile.dot` (the first
    row of its list that divides the product among the warps; pinned ones are
    honoured or refused), gives accumulators its `#tile.mma` layout, and spreads
    layouts along elementwise operations, reductions, broadcasts and loops.
    Tiles that are loaded only to be multiplied go through shared memory.
    Everything else is laid out for coalesced access. Where layouts meet, an
    explicit `tile.convert_layout` is inserted. Layouts that the author wrote
    stay as they are.

    ```mlir
    %k = tile.load %kh[%n, %c0] : !kh -> tensor<64x128xf16>
    %kt = tile.transpose %k [1, 0] : tensor<64x128xf16> -> tensor<128x64xf16>
    %s = tile.dot %q, %kt, %zero : tensor<128x128xf16>, tensor<128x64xf16>
                                   -> tensor<128x64xf32>
    // becomes
    %k = tile.load %kh[%n, %c0] : !kh -> tensor<64x128xf16, #tile.swizzle<128>>
    %kt = tile.transpose %k [1, 0] : tensor<64x128xf16, #tile.swizzle<128>>
        -> tensor<128x64xf16, #tile.permute<[1, 0], #tile.swizzle<128>>>
    %a = tile.convert_layout %q : ... -> tensor<128x128xf16, #dot_a>
    %b = tile.convert_layout %kt : ... -> tensor<128x64xf16, #dot_b>
    %s = tile.dot %a, %b, %zero : ... -> tensor<128x64xf32, #mma>
    ```

    Remark `operand-reloaded`: an operand from outside a loop does not fit the
    registers beside the accumulators and is read again in every iteration.
    Fails where no instruction divides a product, and on operations that are
    not elementwise and unknown.
  }];
  let dependentDialects = ["::tile::TileDialect"];
  let options = [Option<"operandBudget", "operand-budget", "int64_t", "70",
      "percent of the registers that accumulators and an operand kept across "
      "a loop may take">];
}

#endif // TILE_DIALECT_TILE_TRANSFORMS_PASSES_TD
