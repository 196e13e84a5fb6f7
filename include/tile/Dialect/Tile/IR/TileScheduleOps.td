//===- TileScheduleOps.td - Data of schedules --------------*- tablegen -*-===//
//
// Included by TileOps.td.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DIALECT_TILE_IR_TILESCHEDULEOPS_TD
#define TILE_DIALECT_TILE_IR_TILESCHEDULEOPS_TD

def Tile_ScheduleRowOp : Tile_Op<"schedule_row", [
    HasParent<"::mlir::ModuleOp">]> {
  let summary = "a schedule for kernels of one kind";
  let description = [{
    A row of a file `schedules/<chip>.mlir`: the schedule of the kernels that the
    pattern describes. The first row of the file that matches a kernel counts.
    The schedule has at least `tile` and `warps`.

    ```mlir
    tile.schedule_row <products = 2, head from 65 to 128>
        use <tile = [128, 64], warps = 4>
    ```
  }];
  let arguments = (ins Tile_KernelPatternAttr:$pattern, Tile_ScheduleAttr:$schedule);
  let assemblyFormat = "$pattern `use` $schedule attr-dict";
  let hasVerifier = 1;
}

def Tile_KernelRowOp : Tile_Op<"kernel_row", [
    HasParent<"::mlir::ModuleOp">]> {
  let summary = "a schedule for a kernel with open extents";
  let description = [{
    A row of a file `schedules/<chip>.mlir`: the schedule of the kernels of this
    name that leave the extents in `params` open, for problems of these sizes.
    `sizes` gives extents of buffers and values of scalars by the names of
    arguments: numbers, ranges of which both bounds are included, and `?`, which
    holds for any. The first row of the file that matches a kernel counts. Fields
    that the program or an option gives remain. `python -m tile.tune` writes rows.

    ```mlir
    tile.kernel_row @gemm sizes "a = 64..128x7168, b = ?x2112"
        use <params = {BM = 64, BN = 64, BK = 128}, warps = 4, stages = 6>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, OptionalAttr<StrAttr>:$sizes,
                       Tile_ScheduleAttr:$schedule);
  let assemblyFormat = "$kernel (`sizes` $sizes^)? `use` $schedule attr-dict";
  let hasVerifier = 1;
}

def Tile_IncludeSchedulesOp : Tile_Op<"include_schedules", [
    HasParent<"::mlir::ModuleOp">]> {
  let summary = "the rows of another chip";
  let description = [{
    Stands for the rows of the file of another chip. In a file that replaces one of
    the compiler's, the name of the same chip stands for the compiler's rows.

    ```mlir
    tile.include_schedules "sm_80"
    ```
  }];
  let arguments = (ins StrAttr:$chip);
  let assemblyFormat = "$chip attr-dict";
}

#endif // TILE_DIALECT_TILE_IR_TILESCHEDULEOPS_TD
