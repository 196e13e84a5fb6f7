//===- Passes.td - Passes over the program of a thread -----*- tablegen -*-===//
#ifndef TILE_DIALECT_TILEGPU_TRANSFORMS_PASSES_TD
#define TILE_DIALECT_TILEGPU_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def TileVerifyTarget : Pass<"tile-verify-target", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Check that the chip can run every operation of a GPU module";
  let description = [{
    A back end ends the process at an operation that its chip does not support
    ("Cannot select"). This pass reports such operations first, at their
    locations: operations of the other vendor or of a later chip, MMAs that are
    not rows of the chip's table (shape, element types, fragment lengths), types
    and address spaces without a machine representation, unsupported memory
    orders and scopes, calls of undefined functions, and blocks or shared memory
    beyond the chip's limits. It changes nothing and runs on S5 and S6.
  }];
  let options = [
    Option<"llvmOnly", "llvm-only", "bool", /*default=*/"false",
           "Also refuse operations outside the LLVM dialects">
  ];
}

#endif // TILE_DIALECT_TILEGPU_TRANSFORMS_PASSES_TD
