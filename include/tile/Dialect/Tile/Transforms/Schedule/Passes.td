//===- Passes.td - Schedules and the order of loops --------*- tablegen -*-===//
#ifndef TILE_DIALECT_TILE_TRANSFORMS_SCHEDULE_PASSES_TD
#define TILE_DIALECT_TILE_TRANSFORMS_SCHEDULE_PASSES_TD

include "mlir/Pass/PassBase.td"

def TileApplySchedule : Pass<"tile-apply-schedule", "::mlir::ModuleOp"> {
  let summary = "Sets fields of schedules, and checks schedules against the chip";
  let description = [{
    The option `schedule` holds fields of a `#tile.schedule`, or such an
    attribute. Each kernel, and each named operation, gets the fields that its
    schedule may have; its other fields remain. `@name: fields` sets the fields of
    one kernel, by the name that it has after tile-expand-attention. Semicolons
    separate several such parts. `warps` of a kernel becomes its `num_warps`.

    ```mlir output
    tile.attention %q, %k, %v, %o scale %scale {schedule = #tile.schedule<warps = 8>} : ...
    // tile-apply-schedule{schedule="tile = [128, 64], stages = 3"}
    tile.attention %q, %k, %v, %o scale %scale
        {schedule = #tile.schedule<tile = [128, 64], warps = 8, stages = 3>} : ...
    ```

    Fails for an error in the option, at `--schedule:1:column`; for a field or a
    parameter that no chosen kernel has and for a name that no kernel has; for a kernel with
    producers on a chip without TMA; and for a `tile.schedule_row` in the program.
  }];
  let options = [
    Option<"schedule", "schedule", "std::string", "\"\"",
           "fields of the schedules of all kernels, or '@name: fields; ...'">];
}

def TileCloseExtents : Pass<"tile-close-extents", "::tile::KernelOp"> {
  let summary = "Gives open extents their values (S1)";
  let description = [{
    Replaces the parameters of a kernel (`tile.param`) by numbers, in its types
    (`#tile.open`) and its computations. The field `params` of the kernel's
    schedule gives values. If it does not give all, or the kernel has no
    `num_warps`, the first row for the kernel and the sizes in the file of the chip
    gives them and other fields (`tile.kernel_row`), unless it contradicts a value
    that is given. Without a row, the pass takes the values with the least
    predicted time (Analysis/CostModel.h). The kernel keeps the values as `extents`, which errors
    of later passes name. A kernel without parameters remains.

    ```mlir output
    %bm = tile.param BM in [64, 128]
    %zero = tensor.splat %c0[%bm] : tensor<?x64xf32, #tile.open<BM>>
    // with schedule = #tile.schedule<params = {BM = 128}> becomes
    %bm = arith.constant 128 : index
    %zero = tensor.splat %c0 : tensor<128x64xf32>
    ```

    The option `sizes` holds the extents of buffers and the values of scalars that
    the program is compiled for, for example `a = 4096x7168, n = 3`; `?` is an
    unknown extent. Without them, the prediction is for a large problem. The
    program is correct for all sizes.

    The file of the chip is that of the folder `schedules`, else of the environment
    variable TILE_SCHEDULES, else of the compiler.

    The remarks `extents-chosen` and `extents-rejected` give the first `candidates`
    with their predicted cycles and the unit that bounds them, and
    `extents-from-row` a schedule that a row gives. `reduction-not-split` says why
    blocks cannot share the iterations of a loop (tile-split-reduction) where the
    chosen values leave multiprocessors without a block. Fails
    if no candidate fits the chip, and for a tile that is too large.
  }];
  let options = [
    Option<"sizes", "sizes", "std::string", "\"\"",
           "the problem that open extents are chosen for: 'argument = extents, ...'">,
    Option<"candidates", "candidates", "unsigned", "6",
           "the candidates that remarks show">,
    Option<"schedules", "schedules", "std::string", "\"\"",
           "folder with a file <chip>.mlir of schedules">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def TileSchedule : Pass<"tile-schedule", "::tile::KernelOp"> {
  let summary = "Rotates loops so that products run beside other iterations (S1)";
  let description = [{
    Asynchronous products of one iteration run beside the operations of the next
    one. The pass divides a loop with products into nodes, gives each node the
    cycles that it takes on the chip, and searches the stages and the order with
    the shortest interval between two iterations. Stage 0 of an iteration is
    executed together with stage 1 of the iteration before.

    ```mlir output
    %r:2 = scf.for %i = %c0 to %n step %c64 iter_args(%o = %zero, %m = %none) -> (...) {
      %s = tile.dot %q, %k, %no_scores : ...   // keys of %i
      %p, %max, %scaled = "softmax"(%s, %m, %o)
      %next = tile.dot %p, %v, %scaled : ...   // values of %i
      scf.yield %next, %max : ...
    }
    // becomes
    %s0 = tile.dot ...                         // keys of %c0
    %p0, %max0, %scaled0 = "softmax"(%s0, %none, %zero)
    %l:3 = scf.for %i = %c64 to %n step %c64
        iter_args(%p = %p0, %scaled = %scaled0, %m = %max0) -> (...) {
      %s = tile.dot %q, %k, %no_scores : ...   // keys of %i
      %o = tile.dot %p, %v, %scaled : ...      // values of %i - 64
      %p1, %max1, %scaled1 = "softmax"(%s, %m, %o)
      scf.yield %p1, %scaled1, %max1 : ...
    }
    %last = tile.dot %l#0, %v, %l#1 : ...      // values of the last iteration
    %empty = arith.cmpi sge, %c0, %n : index
    %r0 = arith.select %empty, %zero, %last : ...
    ```

    Products overlap other operations only if TMA fills their operands, so the
    chip must have TMA. Several warpgroups gain most from rotated loops if the
    products of one run beside the exponentials of another: the pass sets `turns`
    in the schedule of their kernel, unless the schedule has `turns = false`. If
    the consumers need more registers than their share, it sets four producer
    warps, which give them theirs.

    Stores and atomic additions to global memory are nodes, too, if nothing in the
    loop reads what they write. Such a loop is not rotated, but its operations get
    another order if an iteration takes less time in it: products start as early as
    their operands permit, and additions leave beside other products. Of the orders
    whose time is at most 2 percent longer than the shortest, the pass takes the one
    that is closest to the order as written. Writes of
    one argument keep their order, additions excepted, and so do loads. The remark
    `loop-reordered` reports it. Where no rotation fits the registers, loops without
    writes are reordered alike.

    Several warpgroups that take no turns have their products on the matrix unit at
    the same time. There, products that only add to what the loop carries start when
    the operands of all products of the iteration are computed: nothing waits for
    them, and they would slow down those that others wait for.

    A loop or a kernel with `keep_loops` in its schedule is unchanged. So is a
    kernel with `producers = 0`, or with one warpgroup and no `producers`. Loops
    with operations that must stay in their iteration, such as barriers, remain as
    they are; so do loops whose products read a tile of the iteration before,
    because their author rotated them. The remark `loop-not-rotated` gives the reason.

    The remark `loop-rotated` gives the interval in cycles before and after, its
    bounds by the busiest unit and by recurrences, what limits it, and an estimate
    of the registers. A loop that gains less than 3 percent remains as it is; the
    remark is `loop-schedule` then. A rotation that leaves less than 32 registers to
    ptxas gives way to one that leaves them and takes at most 15 percent longer.
    The result of a product that the loop carries is read before the next products
    start.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
  let options = [
    Option<"seed", "seed", "uint64_t", "0",
           "for tests: rotates loops of all kernels by a schedule drawn from "
           "this number; 0: the best schedule">];
}

#endif // TILE_DIALECT_TILE_TRANSFORMS_SCHEDULE_PASSES_TD
