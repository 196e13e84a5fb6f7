//===- TileLaunchOps.td - Dependent kernel launches --------*- tablegen -*-===//
#ifndef TILE_DIALECT_TILE_IR_TILELAUNCHOPS_TD
#define TILE_DIALECT_TILE_IR_TILELAUNCHOPS_TD

def Tile_WaitPrerequisitesOp : Tile_Op<"wait_prerequisites"> {
  let summary = "waits for the end of the preceding kernels";
  let description = [{
    A kernel with this operation may start before the preceding kernel of the
    module has ended, on chips with programmatic dependent launch. The operation
    waits until the preceding kernel has ended and its writes are visible. All
    earlier kernels have ended then, too, because each kernel waits before it
    ends. On other chips kernels run one after the other and the operation does
    nothing. Source: CUDA Programming Guide, "Programmatic Dependent Launch".

    The operation is at the top level of the kernel, or of each of its roles, so
    that every thread executes it. Operations before it must not access memory
    that preceding kernels write, and must not write memory that they access;
    tile-verify-prerequisites checks this.

    ```mlir
    %k = tile.load %kh[%row, %c0] : !kh -> tensor<64x128xf16>
    tile.wait_prerequisites
    // Written by the preceding kernel.
    %d = tile.load %dqh[%row, %c0] : !dqh -> tensor<64x128xf32>
    ```
  }];
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

def Tile_LaunchDependentsOp : Tile_Op<"launch_dependents", [
    HasParent<"::tile::KernelOp">]> {
  let summary = "lets the next kernel start";
  let description = [{
    Once every block of this kernel has executed this operation or has ended,
    blocks of the next kernel of the module may start on multiprocessors with
    free resources. This applies only if the next kernel has a tile.wait_prerequisites. After
    that wait it sees all writes of this kernel, also those after this
    operation.

    ```mlir
    tile.launch_dependents
    ```
  }];
  let assemblyFormat = "attr-dict";
}

#endif // TILE_DIALECT_TILE_IR_TILELAUNCHOPS_TD
