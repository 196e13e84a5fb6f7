//===- Passes.td - Passes about the target --------------------------------===//

#ifndef TILE_TARGET_PASSES
#define TILE_TARGET_PASSES

include "mlir/Pass/PassBase.td"

def TileVerifyTarget : Pass<"tile-verify-target", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Check that the chip can run every operation of a GPU module";
  let description = [{
    A back end that meets an instruction that its chip does not have ends the
    process ("Cannot select"). This pass finds it first and says where it is:
    operations of the other vendor or of a later chip, matrix instructions that
    are not rows of the chip's table (shape, element types, fragment lengths),
    types and address spaces with no machine representation, memory orders and
    scopes, calls that nothing defines, blocks and shared memory beyond the
    chip's limits. It changes nothing and runs on S5 and S6.
  }];
  let options = [
    Option<"llvmOnly", "llvm-only", "bool", /*default=*/"false",
           "Also refuse every operation outside of the LLVM dialects">
  ];
}

#endif // TILE_TARGET_PASSES
