//===- TileLaunchOps.td - Kernels that overlap the one before -*- tablegen -*-===//
#ifndef TILE_DIALECT_TILE_IR_TILELAUNCHOPS_TD
#define TILE_DIALECT_TILE_IR_TILELAUNCHOPS_TD

def Tile_WaitPrerequisitesOp : Tile_Op<"wait_prerequisites"> {
  let summary = "waits for the end of the kernels before this one";
  let description = [{
    A kernel with this operation may start before the kernel in front of it in
    the module has ended (programmatic dependent launch, where the chip has it;
    elsewhere kernels follow each other and the operation is nothing). It waits
    here until that one has ended and what it wrote is visible. As every such
    kernel waits before it ends, all kernels before have ended, too.

    It stands at the top level of the kernel, or of each of its roles: every
    thread comes by. In front of it, nothing may touch what kernels before write,
    and nothing may write what they touch; tile-verify-prerequisites checks that.

    ```mlir
    %k = tile.load %keys[%row, %c0] : ...
    tile.wait_prerequisites
    %d = tile.load %delta[%row] : ... // of the kernel before
    ```
  }];
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

def Tile_LaunchDependentsOp : Tile_Op<"launch_dependents", [
    HasParent<"::tile::KernelOp">]> {
  let summary = "lets the kernel behind this one start";
  let description = [{
    When all blocks of threads have come here, or ended, the next kernel of the
    module starts wherever there is room, if it is one that waits
    (tile.wait_prerequisites). What this kernel does is visible to that one after
    its wait, no matter where this stands.

    ```mlir
    tile.launch_dependents
    ```
  }];
  let assemblyFormat = "attr-dict";
}

#endif // TILE_DIALECT_TILE_IR_TILELAUNCHOPS_TD
