//===- Passes.td - Passes over tile programs ---------------*- tablegen -*-===//
#ifndef TILE_DIALECT_TILE_TRANSFORMS_PASSES_TD
#define TILE_DIALECT_TILE_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def TileAttachTarget : Pass<"tile-attach-target", "::mlir::ModuleOp"> {
  let summary = "Records the chip that a module is compiled for";
  let description = [{
    Sets the module attribute `tile.target`, which later passes read. Fails if
    the module already has another chip.

    ```mlir output
    module { ... }
    // tile-attach-target{chip=sm_80}
    module attributes {tile.target = "sm_80"} { ... }
    ```
  }];
  let options = [Option<"chip", "chip", "std::string", "\"\"",
                        "a chip of the table (tile-translate --chip=help lists them)">];
}

def TileInlineCalls : Pass<"tile-inline-calls", "::mlir::ModuleOp"> {
  let summary = "Replaces calls in kernels by the bodies of the functions (S1)";
  let description = [{
    A kernel may call functions over tiles, buffers and scalars (`func.call`). The
    pass inlines them, and erases functions that nothing uses any more.

    ```mlir output
    func.func private @square(%x: tensor<64xf32>) -> tensor<64xf32> {
      %y = arith.mulf %x, %x : tensor<64xf32>
      return %y : tensor<64xf32>
    }
    ```

    Fails for a function without a body, for one with branches between blocks,
    and for one that calls itself.
  }];
}

def TileStripAssertions : Pass<"tile-strip-assertions", "::mlir::ModuleOp"> {
  let summary = "Removes assertions, and what only they need (S1)";
  let description = [{
    Erases each `tile.assert`, and then operations whose results nothing uses, such
    as the comparison of its condition and the loads for it. A module without
    assertions is unchanged. Prints remain.

    ```mlir output
    %inside = arith.cmpi slt, %indices, %rows : tensor<64xi32>
    tile.assert %inside, "an index is out of bounds" : tensor<64xi1>
    // becomes nothing
    ```
  }];
}

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

def TileExpandOperations : Pass<"tile-expand-operations", "::tile::KernelOp"> {
  let summary = "Replaces operations that others express (S1)";
  let description = [{
    `tile.masked_load` becomes a `tile.load` and an `arith.select`. With an other
    value, comparisons of coordinates with the extents of the buffer join the
    mask, along dimensions that the tile may exceed.

    ```mlir output
    %x = tile.masked_load %xh[%row, %c0] mask %m : !xh -> tensor<16x64xf32>
    // becomes
    %t = tile.load %xh[%row, %c0] : !xh -> tensor<16x64xf32>
    %zero = arith.constant dense<0.0> : tensor<16x64xf32>
    %x = arith.select %m, %t, %zero : tensor<16x64xi1>, tensor<16x64xf32>
    ```

    The `tile.reduce` of a tile of one dimension becomes that of a tile of one
    row. `tile.unit_triangular_inverse` becomes matrix products.
  }];
}

def TileExpandProducts : Pass<"tile-expand-products", "::tile::KernelOp"> {
  let summary = "Replaces products of f32 by products of bf16 (S1)";
  let description = [{
    A product of precision `bf16x3` becomes three products of bf16. So does one of
    precision `tf32` on a chip that multiplies neither tf32 nor f32. The operands
    are divided into two bf16 numbers, x = hi + lo, where hi is x rounded to bf16
    and lo is x - hi rounded to bf16. The small terms are added first, and lo * lo
    is left out. `tile.dot` states the error. If x is NaN, lo is, whatever hi is.

    ```mlir output
    %d = tile.dot %a, %b, %acc precision(bf16x3)
        : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    // becomes
    %hi = arith.truncf %a fastmath<nnan> : tensor<64x64xf32> to tensor<64x64xbf16>
    %up = arith.extf %hi : tensor<64x64xbf16> to tensor<64x64xf32>
    %rest = arith.subf %a, %up : tensor<64x64xf32>
    %lo = arith.truncf %rest : tensor<64x64xf32> to tensor<64x64xbf16>
    // the same for %b
    %d0 = tile.dot %lo, %bhi, %acc : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    %d1 = tile.dot %hi, %blo, %d0 : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    %d = tile.dot %hi, %bhi, %d1 : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    ```

    Precondition: the chip is attached. Postcondition: the remaining products of
    f32 have an instruction of the chip. Illegal: a product of precision `bf16x3`
    whose operand is in shared memory.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def TileSwapOperands : Pass<"tile-swap-operands", "::tile::KernelOp"> {
  let summary = "Computes products transposed for MMAs of one order (S1)";
  let description = [{
    The wgmma of tf32 reads operands from shared memory whose columns, along the
    depth, are contiguous; others would have to go through registers, and only a
    can. If b is loaded with contiguous rows and a with contiguous columns, the
    product is computed transposed, C^T = B^T * A^T: threads load single elements of
    B, of 32 bits, to registers. The accumulator is that of a loop, which carries the
    transposed sum, or has equal elements. Products with a pinned instruction or
    grid of warps, and kernels with `cluster_split`, stay as they are.

    ```mlir output
    %sum = scf.for %i = %c0 to %k step %c32 iter_args(%acc = %zero) -> (tensor<128x256xf32>) {
      %a = tile.load %ab[%row, %i] : !m -> tensor<128x32xf32>
      %b = tile.load %bb[%i, %column] : !m -> tensor<32x256xf32>
      %next = tile.dot %a, %b, %acc precision(tf32) : ...
      scf.yield %next : tensor<128x256xf32>
    }
    // becomes
    %t = scf.for ... iter_args(%acc = %zero_t) -> (tensor<256x128xf32>) {
      ...
      %bt = tile.transpose %b [1, 0] : tensor<32x256xf32> -> tensor<256x32xf32>
      %at = tile.transpose %a [1, 0] : tensor<128x32xf32> -> tensor<32x128xf32>
      %next = tile.dot %bt, %at, %acc precision(tf32) : ...
      scf.yield %next : tensor<256x128xf32>
    }
    %sum = tile.transpose %t [1, 0] : tensor<256x128xf32> -> tensor<128x256xf32>
    ```

    Precondition: the chip is attached.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def TileSplitReduction : Pass<"tile-split-reduction", "::mlir::ModuleOp"> {
  let summary = "Lets several blocks share the iterations of a loop (S1)";
  let description = [{
    A matrix product with few rows has fewer tiles than the chip has
    multiprocessors. The pass carries out the field `split = n` of a kernel's
    schedule: n blocks compute a tile. Each runs a range of the iterations of the
    kernel's loop and stores its sum. Another kernel, which follows it, adds the
    sums in their order and does all that comes after the loop. So the bits of the
    result do not depend on the run.

    The sums are in a buffer of their type, which becomes the last parameter of both
    kernels: the caller allocates it as scratch memory (`shapes` of the manifest).
    The second kernel starts while the first one ends, on chips with programmatic
    dependent launch.

    ```mlir output
    tile.kernel @gemm(%a: !a, %b: !b, %c: !c) attributes {schedule = #tile.schedule<split = 4>} {
      tile.grid %rows, %columns, %c1
      %sum = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (tensor<64x32xf32>) { ... }
      "store"(%sum, %c)
    }
    // becomes
    !parts = !tile.buffer<?x64x32xf32, #tile.strided<[2048, 32, 1], align = 16>, global>
    tile.kernel @gemm(%a: !a, %b: !b, %c: !c, %parts: !parts {tile.name = "gemm_parts"}) {
      tile.launch_dependents
      tile.require %parts[0] at_least %blocks, "..." : !parts    // 4 * %rows * %columns
      tile.grid %rows, %columns, %c4
      %sum = scf.for %i = %first to %last step %c64 iter_args(%acc = %zero) -> (tensor<64x32xf32>) { ... }
      %mine = tile.slice %parts[%number, *, *] : !parts
      tile.store %sum, %mine[%c0, %c0] : ...
    }
    tile.kernel @gemm_sum(%a: !a, %b: !b, %c: !c, %parts: !parts {tile.name = "gemm_parts"}) {
      tile.wait_prerequisites
      tile.grid %rows, %columns, %c1
      %sum = ...                                                 // of 4 tiles of %parts
      "store"(%sum, %c)
    }
    ```

    With `cluster_split = n`, the blocks are those of a cluster: at each place of the grid,
    n blocks run the kernel and differ in their `tile.cluster_rank`. They add their sums
    through their shared memory, so there is no second kernel and no buffer. Each of them
    computes 1 / n of the rows of the result. So what stands behind the loop must
    compute each row from the same row of other tiles, and n must divide the rows.
    Behind a `tile.transpose`, the rows are columns.

    ```mlir output
    tile.kernel @gemm(%a: !a, %b: !b, %c: !c) attributes {cluster_blocks = 4 : i32} {
      tile.grid %rows, %columns, %c1
      %rank = tile.cluster_rank
      %sum = scf.for %i = %first to %last step %c64 iter_args(%acc = %zero) -> (tensor<64x32xf32>) { ... }
      %part = tile.cluster_reduce addf %sum : tensor<64x32xf32> -> tensor<16x32xf32>
      "store"(%part, %c)                                         // the rows from %rank * 16 on
    }
    ```

    With `stream_k = n`, each of n blocks has the same number of whole tiles, and
    the n blocks share the iterations of the r tiles that are left, r < n (stream-K).
    Each has r / n of the iterations of a tile. Most blocks have a part of one tile:
    the first r blocks the first iterations of each tile, the next r blocks the next
    ones, and so on. The other blocks share the last iterations of all tiles. Each of
    them has those of four tiles on average at most: otherwise there is one part
    less for single blocks, or no tile is shared. The launch has one dimension:
    whole tiles, then the first parts of all blocks, then their second parts, and so
    on. The second kernel adds the sums of the r tiles; the buffer has room for 2 n.

    A kernel that begins with zeros and, behind the loop, only adds the sums to
    memory by `tile.atomic_rmw` needs neither the buffer nor the second kernel: each
    block adds its part.

    The kernel has one loop at its top level. The loop adds to each tile that it
    carries, of f32 or i32 and without a layout, by `tile.dot`, `arith.addf` and
    `arith.addi`; neither it nor what stands in front of it writes memory. The
    kernel reads no numbers of blocks or multiprocessors (`tile.num_programs`,
    `tile.multiprocessors`), and its author has not ordered its launch
    (`tile.wait_prerequisites`). It is an error if a kernel with `split`,
    `cluster_split` or `stream_k` does not meet these conditions. The remark `reduction-split` reports
    success.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect",
                           "::tile::TileDialect"];
}

def TileSplitMaskedLoops : Pass<"tile-split-masked-loops", "::tile::KernelOp"> {
  let summary = "Splits loops into iterations with and without a mask (S1)";
  let description = [{
    A comparison of coordinates with a bound (arith.cmpi with an order, signed or
    unsigned) often holds for all elements of the tile in most iterations: the last
    keys need a mask, those before do not. One unsigned comparison may test both
    sides of a window. The pass splits a loop with matrix products
    where such a comparison begins or ceases to hold for the whole tile, and
    replaces the comparison by true in the iterations between. One that does not
    depend on the iteration holds in all of them or in none. At most three loops
    result.

    ```mlir output
    %r = scf.for %n = %c0 to %keys step %c64 iter_args(%a = %init) -> (!acc) {
      %left = arith.subi %keys, %n : index
      %left32 = arith.index_cast %left : index to i32
      %end = tensor.splat %left32 : tensor<128x64xi32>
      %visible = arith.cmpi slt, %column, %end : tensor<128x64xi32>
      %seen = arith.select %visible, %s, %hidden : ...
      ...
    }
    // becomes
    %full = ...   // keys rounded down to a multiple of 64
    %r0 = scf.for %n = %c0 to %full step %c64 iter_args(%a = %init) -> (!acc) {
      ...         // with %s instead of %seen
    }
    %r = scf.for %n = %full to %keys step %c64 iter_args(%a = %r0) -> (!acc) {
      ...         // as before
    }
    ```

    The operands of the comparison must be affine functions of the induction
    variable and of `tile.iota`, by addition, subtraction, multiplication by a
    constant, casts, `tensor.splat`, `tile.broadcast` and `tile.transpose`. Where
    one of them does not fit its type in some iteration, all iterations run with
    the mask. The tile of the comparison has two dimensions or more. A loop or a
    kernel with `keep_loops` in its schedule is unchanged; the pass sets it on the
    loops that it makes. The remark `loop-split` reports success.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def TileOrderBlocks : Pass<"tile-order-blocks", "::tile::KernelOp"> {
  let summary = "Chooses the order in which blocks walk over a grid (S1)";
  let description = [{
    Blocks start in the order of their numbers. In a matrix product, blocks that
    run at the same time read the same tiles from the second-level cache if they
    form a rectangle of the grid. The pass replaces the first two dimensions of
    the grid by one, and each `tile.program_id` of them by a function of the
    number of the block: it walks over a group of blocks along x, then along y,
    then over the next group along x. In panels of m blocks, a group is walked
    over m blocks along y, then along x, then over the next m along y. A last
    panel of fewer blocks is walked along x, then along y. The divisors depend on the
    launch only: no division waits for another one, and a persistent kernel computes
    their reciprocals once.

    The field `order` of the schedule gives the order. Without it, blocks form
    groups if a loop reads tiles whose place depends on x alone, and others whose
    place depends on y alone. The blocks that run at the same time read
    `group * bytes of x + ceil(multiprocessors / group) * bytes of y`. The size of
    a group is the power of two up to 64 with which these are fewest; of two sizes,
    the larger one.

    On a chip of several dies, which it gives consecutive blocks in turn, the
    blocks of each die have consecutive numbers in this walk, and `multiprocessors`
    are those of a die: each die has a second-level cache of its own. Where blocks
    along x alone read the same tiles in a loop (`rows-on-dies`), those for one y and
    z run on one die. Each die runs every `dies`-th of these rows; all share the rows
    that are left. The three dimensions of the grid become one.

    On NVIDIA's chips, consecutive blocks join their reads of the same bytes. A
    rectangle of 12 blocks, h along x and w along y, reads `h * bytes of x + w *
    bytes of y`. If groups alone let each of them read more than 20 bytes in a
    cycle (in the time of the products, or of its reads at the rate of the
    second-level cache), panels have the power of two of blocks with which these
    bytes are fewest. A group with fewer than `2 * h` blocks along x has panels
    of one block.

    ```mlir output
    tile.grid %rows, %columns, %c1
    %x = tile.program_id x
    %y = tile.program_id y
    // becomes, in groups of 16
    %blocks = arith.muli %rows, %columns : index
    tile.grid %blocks, %c1, %c1
    %id = tile.program_id x                     // in 32 bits
    %last = ...                                 // (%rows + 15) / 16 - 1
    %height = ...                               // %rows - %last * 16
    %most = arith.minui %rows32, %c16_i32 : i32
    %all = arith.muli %most, %columns32 : i32
    %group, %in_group = ...                     // %id divided by %all
    %is_last = arith.cmpi eq, %group, %last : i32
    %column, %row = ...                         // %in_group divided by 16, by %height if %is_last
    %first = arith.muli %group, %c16_i32 : i32
    %x = arith.addi %first, %row : i32
    %y = %column
    ```

    Kernels that read `tile.num_programs` or `tile.multiprocessors` keep their
    order; it is an error if their schedule asks for groups. The remark
    `blocks-ordered` gives the size of a group and of a panel.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def TileChooseAccumulators
    : Pass<"tile-choose-accumulators", "::mlir::ModuleOp"> {
  let summary = "Chooses the layouts of global accumulators (S1)";
  let description = [{
    An accumulator is a buffer that only the kernels of the module use. The
    arguments with the attribute `tile.accumulator` and one `tile.name` (or with
    one name in `tile.accumulator = "name"`) are one accumulator. The pass
    replaces its `#tile.strided` layout in all kernels by a `#tile.map` that
    makes the atomic additions of an MMA result coalesced and as wide as the
    chip has them (chooseAccumulatorLayout in Analysis/MemoryLayouts.h). For
    kernels that read the buffer, tile-assign-layouts chooses tiles in the order
    of its storage.

    ```mlir output
    tile.kernel @add(%dq: !dq {tile.accumulator, tile.name = "dq"}, ...) {
      ...
      tile.atomic_rmw addf %dot, %dqh[%row, %c0] : tensor<64x128xf32>, !dqh
    }
    // On sm_90a the type of %dq becomes, in all kernels that have it,
    !tile.buffer<?x128xf32, #tile.map<(l, d) -> (l floordiv 8, d floordiv 16,
        16 * (l mod 8) + 4 * ((d mod 8) floordiv 2)
            + 2 * ((d mod 16) floordiv 8) + d mod 2), align = 16>, global>
    ```

    The manifest gives the storage that such a buffer needs. The pass removes the
    attribute from accumulators with a chosen layout. The remark
    `accumulator-layout` gives the layout, or the reason why the buffer is
    unchanged: no fragment determines a layout, a slice fixes a row or a
    column, or the extents that the program requires (`equal`) may end within a
    block of the fragments. Fails for an accumulator without a name, with a layout other than
    `#tile.strided`, or with different types in two kernels.
  }];
}

def TilePadExtents : Pass<"tile-pad-extents", "::tile::KernelOp"> {
  let summary = "Pads tile extents that threads or instructions do not divide (S1)";
  let description = [{
    Extents such as 60 or 100 have few factors of two. Few threads share such a
    tile while the others hold copies, and no matrix instruction divides it. The
    pass pads an extent to the multiple of a power of two that leaves the fewest
    elements per thread, and the extents of a `tile.dot` to the smallest product
    that an instruction of the chip divides among the warps. One extent is
    padded alike in all tiles of the kernel.

    Loads read zero in the padding; stores and atomics skip it: both access a
    `tile.narrow` of their buffer that ends with the tile. Reductions and reverse
    scans see a neutral element there, products zeros along the contracted
    dimension, integer divisions a divisor of 1, and assertions a condition that
    holds. Prints skip the padding. Other scans reach it last.

    ```mlir
    !b = !tile.buffer<?xf32, #tile.strided<[1]>, global>
    %t = tile.load %b[%i] : !b -> tensor<60xf32>
    // becomes
    %end = arith.addi %i, %c60 : index
    %length = arith.minsi %rows, %end : index
    %n = tile.narrow %b[0] from %c0 length %length : !b
    %t = tile.load %n[%i] : !b -> tensor<64xf32>
    ```

    Extents of tiles that the author laid out, of tiles in shared buffers, of
    accesses to buffers with a `#tile.map`, and those that `tile.reshape`,
    `tile.extract` or `tile.concatenate` changes stay as they are. The remark
    `extent-padded` names the extents.
  }];
  let dependentDialects = ["::tile::TileDialect", "::mlir::arith::ArithDialect"];
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

def TileAssignLayouts : Pass<"tile-assign-layouts", "::tile::KernelOp"> {
  let summary = "Gives every tile a layout (S1 to S2)";
  let description = [{
    Chooses a matrix instruction for every `tile.dot`: the first one in the
    chip's list that divides the product among the warps. A pinned instruction is
    used or refused with an error. Accumulators get the `#tile.mma` layout of the
    instruction. Layouts are propagated through the operations that implement
    `TileLayoutOpInterface`: elementwise operations, reductions, broadcasts,
    loops and others. Of several layouts that reach a tile, the one with the fewest
    copies of its elements wins. Layouts that the author wrote are kept.

    Warps are placed along the rows of a product first, so that rows are reduced
    within a warp and a product can be an operand of the next one without a
    conversion. If a product is only written to memory, the warps form a grid as
    square as possible. `warps` of the `tile.dot` pins the grid.

    Tiles that are loaded only as MMA operands go through shared memory. On chips
    with asynchronous copies, so do values per row or column that a loop reads
    for all warps. All other tiles get a layout with coalesced accesses, which
    starts at loads from global memory: a thread has as many neighbours as one
    access can have, and neighbouring threads have neighbouring accesses. Between
    different layouts the pass inserts a `tile.convert_layout`. Where that would
    move elements between threads, a tile of few elements that is computed from
    tiles in shared memory is computed again in the other layout.

    On chips without `ldmatrix`, a tile of 16-bit elements of which products in a
    loop contract both dimensions is loaded twice, each time with one of them
    contiguous, unless reads transpose the elements (gfx950) or the second tile
    would leave less room to other blocks, or to the registers of copies. The
    remark `single-elements` reports a tile for which shared memory has no room.

    ```mlir output
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

    The remark `operand-reloaded` reports an operand from outside a loop that
    does not fit the registers beside the accumulators; it is read from shared
    memory again in every iteration. Fails if no instruction divides a product,
    and for operations of other dialects that do not implement
    `TileLayoutOpInterface`.
  }];
  let dependentDialects = ["::tile::TileDialect"];
  let options = [Option<"operandBudget", "operand-budget", "int64_t", "70",
      "percent of the registers that accumulators and an operand kept across "
      "a loop may take">];
}

def TileJoinComparisons : Pass<"tile-join-comparisons", "::tile::KernelOp"> {
  let summary = "One comparison of coordinates for each element of a mask (S2)";
  let description = [{
    A mask is often a conjunction: the columns before the last key, and those up
    to the diagonal. The pass writes each comparison of a coordinate with a bound
    as `coordinate <= bound` or `coordinate >= bound`, where the bound is a scalar
    or has one element for each index of the other dimension. Of several upper
    bounds the least remains, of several lower bounds the greatest. A comparison
    that is the same along the coordinate becomes a part of the bound.

    ```mlir output
    %end = tensor.splat %left : tensor<128x64xi32, #mma>
    %inside = arith.cmpi slt, %column, %end : tensor<128x64xi32, #mma>
    %key = arith.addi %column, %n : tensor<128x64xi32, #mma>
    %before = arith.cmpi sle, %key, %query : tensor<128x64xi32, #mma>
    %visible = arith.andi %inside, %before : tensor<128x64xi1, #mma>
    // becomes
    %last = arith.minsi ..., ... : tensor<128xi32, #tile.slice<1, #mma>>
    %bound = tile.broadcast %last along 1 : ... -> tensor<128x64xi32, #mma>
    %visible = arith.cmpi sle, %column, %bound : tensor<128x64xi32, #mma>
    ```

    Disjunctions (`arith.ori`), negations (`arith.xori`) and nested selections
    with one alternative are handled alike. The coordinate is the one for which a
    thread computes less, by the layout of the tile. A mask that would not become
    cheaper is unchanged.

    The result never changes: a comparison whose sums could wrap around in their
    type, by the ranges of the values and by the other bounds of the conjunction,
    remains, unless the program marks them as sums that do not (`overflow<nsw>`).
    Masks have two dimensions and a layout. The remark
    `comparisons-joined` reports success.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect",
                           "::tile::TileDialect"];
}

def TileLoadAhead : Pass<"tile-load-ahead", "::tile::KernelOp"> {
  let summary = "Issues loads of later iterations in this one (S2)";
  let description = [{
    A thread waits for a load at the first use of its result. In innermost loops
    without products, the pass lets an iteration issue the loads of a later one, and
    carries their results. They arrive while the iterations between compute. The
    loads are ahead by as many iterations, at most 4, as a multiprocessor needs to
    use the rate of global memory: its loads in flight have as many bytes as arrive
    within the latency of a load, or half an iteration less if more than two blocks copy.

    ```mlir output
    scf.for %i = %first to %end step %step {
      %t = tile.load %x[%i, %c0] : !x -> !t
      "use"(%t)
    }
    // tile-load-ahead
    %t0 = scf.if %runs -> (!t) { ... }                    // the load at %first
    scf.for %i = %first to %end step %step iter_args(%t = %t0) -> (!t) {
      %tn = scf.if %has_next -> (!t) {
        %next = arith.addi %i, %step : index
        %loaded = tile.load %x[%next, %c0] : !x -> !t
        scf.yield %loaded : !t
      } else {
        scf.yield %zeros : !t
      }
      "use"(%t)
      scf.yield %tn : !t
    }
    ```

    A part of a row that begins at any element is copied to shared memory in
    aligned words, if the threads of the loop wait for each other in any case.

    A load of a tile also moves in front of operations that wait for the load of a
    scalar, if it does not depend on them.

    The indices of such loads depend on the induction variable and on values from
    outside of the loop only, and the loop does not write what they read. Scalars
    are loaded ahead beside tiles, from arguments that the kernel never writes.

    The results take registers. By the estimate of tile-check-registers, a
    multiprocessor must still have room for four fifths of the blocks that it had
    room for before. Chips with asynchronous copies keep the results in shared
    memory where the warps of a block wait for each other, or where registers hold
    no results and the loop leaves room for one or two blocks only, which wait at
    the same time, unless accesses have one element of 16 bits: the pass sets `stages` and `keep_loops` in the schedule of the loop, and
    `tile-copy-ahead` makes the copies. Elements that are loaded alone stay in their
    iteration where the warps of a block wait for each other: their registers would
    take the place of another block. The remark `loads-ahead` reports the iterations and the
    registers. `keep_loops` in the schedule of the kernel or of a loop prevents the
    change.
  }];
  let options = [
    Option<"distance", "distance", "int64_t", "0",
           "iterations by which loads are ahead; 0 lets the pass choose">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def TileCheckRegisters : Pass<"tile-check-registers", "::tile::KernelOp"> {
  let summary = "Checks that tiles fit the registers of a thread (S2)";
  let description = [{
    Fails for a tile that takes more registers per thread than there are: a
    loaded tile, a product, a converted tile, or one that a loop carries. The
    limit is that of the chip or, in a kernel with roles, that of the consumers
    (the field `registers` of the schedule). Fails for any tile of which a thread
    computes more than 1024 elements. Both limits exempt operands of products that
    are read from shared memory fragment by fragment. The remark `tile-copies`
    names tiles of which several threads hold each element, with the registers
    that they take.

    ```
    error: 'tile.dot' op needs 256 registers a thread for a tile of 128x128xf32,
           and more for operands and addresses; a thread of sm_80 has 255
    ```

    The remark `registers` estimates the registers of a thread at the operation
    where the live tiles take the most of them, and names these tiles. It is
    `registers-exceeded` if the estimate is above the limit: the back end may
    spill registers.
  }];
}

def TileDeferReductions : Pass<"tile-defer-reductions", "::tile::KernelOp"> {
  let summary = "Moves the exchange of reductions behind loops";
  let description = [{
    A loop that carries a sum, and adds the result of a `tile.reduce` to it in
    every iteration, needs the whole sum behind the loop only. The pass makes the
    loop carry the part of each thread. The exchange between lanes and warps
    follows the loop.

    ```mlir output
    %sum = scf.for ... iter_args(%before = %zero) -> (tensor<128xf32, #row>) {
      %step = tile.reduce addf %p along 1 : tensor<128x64xf32, #mma> -> tensor<128xf32, #row>
      %next = math.fma %before, %factor, %step fastmath<reassoc> : tensor<128xf32, #row>
      scf.yield %next
    }
    // becomes
    %parts = scf.for ... iter_args(%before = %zeros) -> (tensor<128x4xf32, #partial>) {
      %step = tile.reduce_in_threads addf %p along 1 : tensor<128x64xf32, #mma> -> tensor<128x4xf32, #partial>
      %factors = tile.broadcast %factor along 1 : ... -> tensor<128x4xf32, #partial>
      %next = math.fma %before, %factors, %step : tensor<128x4xf32, #partial>
      scf.yield %next
    }
    %sum = tile.reduce addf %parts along 1 : tensor<128x4xf32, #partial> -> tensor<128xf32, #row>
    ```

    A sum may be scaled (`arith.mulf`, `math.fma`), selected (`arith.select`),
    and carried through several loops and `scf.if`. Operations of one kind other
    than addition may be combined and selected. The order of the additions
    changes, and products of the sum are distributed to its parts: all
    floating-point additions and multiplications of the sum must have
    `fastmath<reassoc>`. Maxima, minima, and integers need no flag.

    The remark `reduction-deferred` names the loops' reductions, and
    `reduction-not-deferred` the operation that lacks the flag.
  }];
  let dependentDialects = ["::tile::TileDialect", "::mlir::arith::ArithDialect"];
}

def TileJoinReductions : Pass<"tile-join-reductions", "::tile::KernelOp"> {
  let summary = "Exchanges the maximum and the sum of a softmax at once (S2)";
  let description = [{
    A softmax reduces x to its maximum, and exp(x - maximum) to a sum. If several
    warps share the dimension, each computes its part of the sum relative to its
    own maximum, and all exchange both numbers with one barrier instead of two.
    exp(x - maximum) becomes a product with a number of each warp, exp(maximum of
    the warp - maximum), and with what other factor each row has.

    The pass takes f32 tiles, `maxnumf` or `maximumf`, `math.exp` or `math.exp2`,
    a positive, finite constant as scale of the differences, and terms of the sum
    that are the exponentials or their products with another tile.

    ```mlir output
    %most = tile.reduce maxnumf %x along 1 : ...
    %d = arith.subf %x, %most_t : ...
    %e = math.exp %d : ...
    %sum = tile.reduce addf %e along 1 : ...
    // becomes
    %w = tile.reduce_in_warps maxnumf %x along 1 : ...
    %d = arith.subf %x, %w_t : ...
    %e = math.exp %d : ...
    %p = tile.reduce_in_warps addf %e along 1 : ...
    // %ws and %ps are those of all warps, through shared memory.
    %most = tile.reduce maxnumf %ws along 1 : ...
    %f = math.exp %ws_below_most : ...
    %product = arith.mulf %ps, %f : ...
    %sum = tile.reduce addf %product along 1 : ...
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
}

def TileDecomposeReductions : Pass<"tile-decompose-reductions", "::tile::KernelOp"> {
  let summary = "Splits reductions and scans over several warps";
  let description = [{
    A `tile.reduce` along a dimension that several warps share becomes three
    operations: a reduction within each warp, a conversion that gives every
    thread the results of all warps for its elements, and a reduction of these
    within each thread. The conversion moves elements between warps, so
    `tile-decompose-conversions` lowers it to an exchange through shared memory.

    ```mlir
    #mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 4]>
    #partial = #tile.layout<register = [2 -> d0 * 8], lane = [4 -> 0, 8 -> d0], warp = [4 -> d1]>
    #all = #tile.layout<register = [2 -> d0 * 8, 4 -> d1], lane = [4 -> 0, 8 -> d0], warp = [4 -> 0]>
    %m = tile.reduce maxnumf %s along 1
        : tensor<16x32xf32, #mma> -> tensor<16xf32, #tile.slice<1, #mma>>
    // becomes, with 4 warps side by side
    %p = tile.reduce_in_warps maxnumf %s along 1
        : tensor<16x32xf32, #mma> -> tensor<16x4xf32, #partial>
    %q = tile.convert_layout %p : tensor<16x4xf32, #partial> -> tensor<16x4xf32, #all>
    %m = tile.reduce maxnumf %q along 1
        : tensor<16x4xf32, #all> -> tensor<16xf32, #tile.slice<1, #mma>>
    ```

    Where many warps share the dimension, and lanes of a warp have the same
    elements of the result, these lanes divide the results of the warps: the
    last reduction exchanges between them.

    A `tile.scan` along such a dimension becomes a scan of the elements that each
    warp has side by side, a conversion that gives every thread the totals of
    all these runs, and the combination of each element with the totals of the
    runs before its own.

    ```mlir
    #mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 4]>
    #totals = #tile.layout<register = [2 -> d0 * 8, 2 -> d1 * 4], lane = [4 -> 0, 8 -> d0], warp = [4 -> d1]>
    #all = #tile.layout<register = [8 -> d1, 2 -> d0 * 8], lane = [4 -> 0, 8 -> d0], warp = [4 -> 0]>
    %y = tile.scan addf %s along 1 : tensor<16x64xf32, #mma>
    // becomes, with 4 warps side by side, each with two runs of 8 columns
    %p, %t = tile.scan_in_warps addf %s along 1
        : tensor<16x64xf32, #mma> -> tensor<16x8xf32, #totals>
    %q = tile.convert_layout %t : tensor<16x8xf32, #totals> -> tensor<16x8xf32, #all>
    %y = tile.join_scans addf %p, %q along 1
        : tensor<16x64xf32, #mma>, tensor<16x8xf32, #all>
    ```

    The remarks `reduction-through-shared-memory` and
    `scan-through-shared-memory` give the number of warps that share the
    dimension.
  }];
  let dependentDialects = ["::tile::TileDialect"];
}

def TileDecomposeConversions : Pass<"tile-decompose-conversions", "::tile::KernelOp"> {
  let summary = "Splits layout conversions between threads";
  let description = [{
    A `tile.convert_layout` between two distributed layouts that moves elements
    between threads becomes a write to a tile in shared memory, right after the
    source is computed, and a read of that tile. The write is at the conversion
    if other tiles need the memory until then. The dimension that makes both
    accesses wide is the contiguous one of the tile. Its rows are swizzled if
    ldmatrix reads them, else padded if the chip has the memory. Conversions
    within a thread are unchanged. A transposed source is written before the
    transposition, so that readers of both forms share one tile after CSE.

    ```mlir
    %b = tile.convert_layout %a : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #blocked>
    // becomes
    %s = tile.convert_layout %a : tensor<64x64xf16, #mma>
        -> tensor<64x64xf16, #tile.padded<8, order = [1, 0]>>
    %b = tile.convert_layout %s : tensor<64x64xf16, #tile.padded<8, order = [1, 0]>>
        -> tensor<64x64xf16, #blocked>
    ```

    Tiles of i1 are written as i32. A tile that exceeds the shared memory of the
    chip is exchanged in halves of the bits of its elements, one after the other.
    The remark `conversion-through-shared-memory` gives the reason and the size
    in bytes.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::tile::TileDialect"];
}

def TileRepeatReads : Pass<"tile-repeat-reads", "::tile::KernelOp"> {
  let summary = "Reads fragments again instead of keeping them in registers";
  let description = [{
    Products that share an operand in shared memory share its fragments only if
    no tile is written to shared memory between them. Else the later product
    reads them again: threads wait for each other there, so that all fragments
    would be in registers at once, while a product needs those of one step.

    ```mlir
    %f = tile.convert_layout %k : tensor<64x32xf16, #tile.padded<8, order = [1, 0]>>
        -> tensor<64x32xf16, #dot_a>
    %x = tile.dot %f, %g, %zero : tensor<64x32xf16, #dot_a>, tensor<32x64xf16, #dot_b>
        -> tensor<64x64xf32, #mma>
    %s = tile.convert_layout %x : tensor<64x64xf32, #mma>
        -> tensor<64x64xf32, #tile.padded<4, order = [1, 0]>>
    // A product behind that has fragments of its own:
    %f2 = tile.convert_layout %k : tensor<64x32xf16, #tile.padded<8, order = [1, 0]>>
        -> tensor<64x32xf16, #dot_a>
    %y = tile.dot %f2, %h, %zero : tensor<64x32xf16, #dot_a>, tensor<32x64xf16, #dot_b>
        -> tensor<64x64xf32, #mma>
    ```
  }];
}

def TileBufferize : Pass<"tile-bufferize", "::tile::KernelOp"> {
  let summary = "Turns tiles in shared memory into buffers (S2 to S4)";
  let description = [{
    Runs one-shot bufferization on the operations that use tiles with a memory
    layout. Tiles in registers remain values. The encoding of a tile becomes the
    layout of its buffer.

    ```mlir output
    %k = tile.load %kh[%n, %c0] : !kh -> tensor<64x128xf16, #tile.swizzle<128>>
    %kt = tile.transpose %k [1, 0] : tensor<64x128xf16, #tile.swizzle<128>>
        -> tensor<128x64xf16, #tile.permute<[1, 0], #tile.swizzle<128>>>
    %b = tile.convert_layout %kt : ... -> tensor<128x64xf16, #dot_b>
    // becomes
    %k = tile.alloc : !tile.buffer<64x128xf16, #tile.swizzle<128>, shared>
    tile.copy %kh[%n, %c0], %k : !kh, ...
    %kt = tile.transpose %k [1, 0] : ... -> !tile.buffer<128x64xf16, #tile.permute<...>, shared>
    %b = tile.load %kt[%zero, %zero] : ... -> tensor<128x64xf16, #dot_b>
    ```

    A conversion to a memory layout becomes `tile.alloc` and `tile.store`. Only
    `tile.load`, `tile.transpose` and `tile.convert_layout` may use tiles in
    shared memory. Fails at any other operation, for example at a loop that
    carries such a tile. Requires `tile-decompose-conversions`. Later passes add
    the offsets of buffers and the barriers.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::bufferization::BufferizationDialect",
                           "::tile::TileDialect"];
}

def TileChooseRoles : Pass<"tile-choose-roles", "::tile::KernelOp"> {
  let summary = "Chooses warp roles, registers and stages (S4)";
  let description = [{
    Sets the fields `producers`, `storers`, `registers` and `stages` of the schedule of a
    kernel on a chip with TMA. Fields that the author gives remain. A kernel gets
    producer warps if asynchronous products in a loop read tiles that the loop
    copies, unless its schedule has `producers = 0`.

    - One producer warp issues the copies by TMA. If the consumers need more registers
      than the block starts with, there are 4 producer warps, and `registers`
      moves their registers to the consumers. The need is the estimate of
      Analysis/Registers and a margin.
    - One storer warp lets TMA add the tiles that loops add to global memory by
      atomics (see tile-specialize-warps), if there is shared memory for them
      beside 2 stages. If the consumers need more registers than the block starts
      with, there are 3, which are a warpgroup with the producer.
    - The rings have as many stages as the shared memory has room for, from 4 to
      2, beside the buffers through which stores leave by TMA: those for whole
      tiles, or, for more stages, those for parts (tile-stage-stores). If the registers
      suffice for two blocks on a multiprocessor, so must the shared memory.
    - The kernel is persistent (`work_stages`, see tile-persist) if a multiprocessor
      has room for one block only, no loop adds tiles to global memory, and the
      rings of the tiles of a work fit as well.
      Two blocks on a multiprocessor hide each other's prologues and epilogues.

    ```mlir output
    tile.kernel @gemm(...) attributes {num_warps = 8 : i32} {
      scf.for ... {
        tile.copy %a[%row, %i], %as : !matrix, !as
        tile.copy %b[%i, %column], %bs : !matrix, !bs
        tile.dot %as, %bs, %acc : !as, !bs -> tensor<128x256xf32, #mma>
      }
      ...
    }
    // becomes
    tile.kernel @gemm(...) attributes {num_warps = 8 : i32,
        schedule = #tile.schedule<producers = 1, stages = 3>} { ... }
    ```

    The remark `roles-chosen` gives the schedule and the blocks that share a
    multiprocessor. The remark `roles-not-chosen` gives the reason why a kernel
    with such loops has no roles: TMA cannot do enough of its copies (see
    tile-specialize-warps), its registers or its shared memory do not suffice, or
    one warpgroup would run alone where two run without roles.
  }];
}

def TilePersist : Pass<"tile-persist", "::tile::KernelOp"> {
  let summary = "Makes the grid a loop over works (S4)";
  let description = [{
    Carries out `work_stages = n` of the schedule of a kernel. A work is a block of
    the grid as written. The launch has at most one block for each multiprocessor,
    and each block does several works in a loop. Scalars that do not depend on the
    block stay in front of the loop, unless they follow from a `tile.recompute`. The
    loop asks for n stages of the rings of
    tiles that are copied once for each work.

    ```mlir output
    tile.grid %rows, %columns, %c1
    %x = tile.program_id x
    %y = tile.program_id y
    ...
    // becomes
    %works = arith.muli %rows, %columns : index
    %multiprocessors = tile.multiprocessors
    %launched = arith.minui %works, %multiprocessors : index
    tile.grid %launched, %c1, %c1
    %block = tile.program_id x                  // in 32 bits
    %blocks = tile.num_programs x
    %reciprocal = arith.divui %most, %rows : i32            // (2^32 - 1) / rows
    scf.for %work = %block to %works step %blocks : i32 {
      %y, %x = ...                                // the quotient and the remainder
                                                  // of %work by %rows
      ...
    } {tile.schedule = #tile.schedule<stages = n>}
    ```

    Works are counted in 32 bits. A division by an extent is a multiplication with
    its reciprocal, which is computed once, and a correction. A launch must have
    fewer than 2^31 works, less one for each multiprocessor. The pass cannot check
    the number, and nothing reports a launch with more, which leaves works out.

    If one bound of a loop with products depends on x and the other does not, works
    along x differ in length. They are dealt to the blocks in rounds then, the longest
    first. Every other round goes over the blocks backwards. Large grids are divided
    into groups of coordinates y and z, which follow each other, so that several
    blocks read the same memory at the same time. A group has about two rounds or
    more; one, if there is an even number of such groups.

    If a kernel has roles, n is at least 2, and a work has products before and after
    its loops, the loop over works is rotated: the products at the end of a work
    start after the first product of the next work and run beside the operations on
    its result. The loop carries what the end reads, zeros at first:

    ```mlir output
    %last = scf.for %work ... iter_args(%p = %zeros, %x_before = %c0) {
      %s = tile.dot %q, %k, %zero : ...           // of %work
      %o = tile.dot %p, %v, %zero : ...           // of the work before
      %e = math.exp2 %s : ...
      scf.if %is_not_first {
        tile.store %o, ...
      }
      %next_p = scf.for ...
      scf.yield %next_p, %x
    }
    // the end of the last work
    ```

    The remarks `works-overlapped` and `works-not-overlapped` report it.

    With `without-products`, the pass is for kernels without products only, whose
    tiles have layouts. Unless the schedule has `work_stages`, a kernel that loads
    tiles outside of loops becomes a loop on chips with asynchronous copies in two
    cases. Its warps wait for each other, a multiprocessor has registers for one
    block, or for up to three of clusters, and each block has shared memory for the
    tiles of its next work, which tile-load-ahead copies. Or its warps do not wait
    for each other, and a block moves its bytes in less time than the next one takes
    to start. The launch has as many blocks, or clusters of them, as registers allow
    at a time. An scf.if with the same condition in all works stands around a loop
    for each branch then, and what all works load alike is loaded once:

    ```mlir output
    scf.if %is_short {
      %w = tile.load %weights[%c0] : ...
      scf.for %work = %block to %works step %blocks : i32 {
        ...
      }
    } else {
      scf.for %work = %block to %works step %blocks : i32 {
        ...
      }
    }
    ```

    The remark `kernel-persistent` reports success. The remark
    `kernel-not-persistent` gives the reason why a kernel is unchanged: it reads
    the extents of the launch, waits for another launch, has roles already, or is
    for AMD, whose blocks cannot read how many there are.
  }];
  let options = [Option<"withoutProducts", "without-products", "bool", "false",
                        "Only kernels without products, before "
                        "tile-load-ahead.">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def TileDelayProducts : Pass<"tile-delay-products", "::tile::KernelOp"> {
  let summary = "Computes products of exchanged tiles one iteration late (S4)";
  let description = [{
    Warpgroups that exchange a tile through shared memory in each iteration of a
    loop wait for each other there: all of them compute at the same time, and then
    the products of all of them run at the same time. If the products that read
    the tile only leave the loop by atomic additions, this pass lets them wait for
    the next iteration. A warpgroup may then be almost an iteration ahead of
    another one.

    The tile goes through a ring with two slots, which the warpgroups fill and read
    themselves. A tile of zeros enters it before the loop, which is added to rows that
    no buffer has, and the last products follow the loop:

    ```mlir output
    scf.for %i = %begin to %end step %s {
      %b = tile.alloc : !tile
      tile.store %t, %b[%c0, %c0] : ...
      %p = tile.dot %b, %k, %zero : ...
      tile.atomic_rmw addf %p, %sum[%i, %c0] : ...
    }
    // becomes
    %b0, %s0 = tile.ring.acquire %ring : !ring
    tile.store %zeros, %b0[%c0, %c0] : ...
    tile.fence_async
    tile.ring.publish %s0
    %last = scf.for %i = %begin to %end step %s iter_args(%before = %nowhere) {
      %b1, %s1 = tile.ring.acquire %ring : !ring
      tile.store %t, %b1[%c0, %c0] : ...
      tile.fence_async
      tile.ring.publish %s1
      %b2, %s2 = tile.ring.take %ring : !ring
      %p = tile.dot %b2, %k, %zero : ...
      tile.ring.release %s2
      tile.atomic_rmw addf %p, %sum[%before, %c0] : ...
      scf.yield %i
    }
    ...                      // the products of iteration %last
    ```

    Consecutive loops of one block with the same products share the ring. Zeros enter
    it before the first loop, and the last products follow the last loop.

    A kernel with `late_products = false` in its schedule is unchanged: where loops have
    few iterations, the products of zeros and those behind the loop take longer than
    the others gain. Only in kernels with roles (`producers` of the schedule) and
    several warpgroups in one group of consumers, if shared memory suffices, and if as
    many blocks share a multiprocessor as before. An addition is at the number of the
    iteration, and nothing else in the kernel may read or write what it changes. The remark `products-delayed` gives the bytes of shared
    memory that the kernel takes.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect", "::tile::TileDialect"];
}

def TileSpecializeWarps : Pass<"tile-specialize-warps", "::tile::KernelOp"> {
  let summary = "Splits kernels into producer and consumer warps (S4)";
  let description = [{
    In a kernel whose schedule (`#tile.schedule`) has `producers = n`, copies
    from global to shared memory become TMA copies (`tile.bulk_copy`) in a role of
    n producer warps (`tile.warp_roles`). The consumers keep copies that TMA cannot
    do, or that depend on values which a loop computes. `registers = [c, p]` gives the
    registers of a thread of the consumers and of the producers. Copies of one
    argument to buffers of one type share one ring of buffers. The ring has the
    `stages` of the loop around the copies or else of the kernel, two by default. The
    consumers wait for a tile before its first read and release it after its last
    read. The producers run the slice of the program that the copies depend on.

    With `storers = m`, atomic additions in loops become TMA
    reductions (`tile.bulk_add`) if possible; otherwise a remark gives the
    reason. The consumers write the tile to a ring of one stage, and a third role
    of m warps adds it from there. That role runs the slice of the program that
    the additions depend on. `c` gives the registers of the first role then, and
    `p` those of both others.

    If the rings do not fit in shared memory, one of them has a stage less: that
    whose tiles are in use for the shortest part of an iteration. If they still do
    not fit, additions leave from registers.

    ```mlir output
    scf.for %i = %c0 to %n step %c64 {
      %k = tile.alloc : !b
      tile.copy %kh[%i, %c0], %k : !g, !b            // %kh: a slice of %arg
      "read"(%k)
    }
    // becomes
    tile.warp_roles warps = [8, 4] {
      scf.for %i = %c0 to %n step %c64 {
        %k, %slot = tile.ring.take %ring : !tile.ring<!b, 2>
        "read"(%k)
        tile.ring.release %slot
      }
    }, {
      scf.for %i = %c0 to %n step %c64 {
        %k, %slot = tile.ring.acquire %ring : !tile.ring<!b, 2>
        tile.bulk_copy %arg[%b, %i, %h, %c0] dims [1, 3], %k fills %slot : !arg, !b
      }
    }
    ```

    A kernel is unchanged if its producers would copy fewer than 8 times as many
    bytes as its consumers keep. The remark `warps-not-specialized` gives the reason
    why the consumers keep the first of these copies. A kernel is also unchanged if
    its author has synchronised it, or if it needs more tiles at once than a ring
    has stages. The remark `warps-specialized` reports success, with the
    bytes of shared memory, and with the estimated registers of a thread of the
    consumers and their limit.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect", "::tile::TileDialect"];
}

def TileOverlapDots : Pass<"tile-overlap-dots", "::tile::KernelOp"> {
  let summary = "Makes matrix products asynchronous (S4)";
  let description = [{
    A `tile.dot` by wgmma that reads buffers filled by TMA becomes asynchronous.
    A `tile.await` is inserted before the first operation that uses its result or
    overwrites the registers that it reads. A slot of a ring (tile.ring.take) is
    released after the await of the last product that reads it. So operations
    between a dot and its use overlap with it:

    ```mlir output
    %s = tile.dot %q, %k, %zero : ...
    %o1 = tile.dot %p, %v, %o : ...
    %e = math.exp2 %s : ...
    // becomes
    %s0 = tile.dot async %q, %k, %zero : ... -> !tile.pending<...>
    %o0 = tile.dot async %p, %v, %o : ... -> !tile.pending<...>
    %s = tile.await %s0 : ...
    %e = math.exp2 %s : ...                     // while %o0 is computed
    %o1 = tile.await %o0 : ...
    ```

    Products that the program itself starts (`tile.dot async`) stay as they are.
    Scalars that no operation needs before the first await are computed after the
    products have started.

    In a kernel with roles whose schedule has `turns`, the warpgroups take
    turns (`tile.await_turn`, `tile.pass_turn`) to start dots that overlap.
  }];
  let dependentDialects = ["::tile::TileDialect"];
}

def TileStageStores : Pass<"tile-stage-stores", "::tile::KernelOp"> {
  let summary = "Stores tiles in registers by TMA (S4)";
  let description = [{
    In a kernel with roles, a `tile.store` of a tile in registers to a kernel
    argument becomes a store to a staging buffer in shared memory and a TMA store
    (`tile.bulk_store`). If each warp holds a box of the tile, it stores that box
    itself; otherwise one thread stores the whole tile. The staging buffer is the
    first of these that exists:

    - a buffer of the same type that was filled by one copy and is not read any
      more;
    - a new buffer, if the shared memory suffices;
    - two new buffers for parts of the tile, which are stored in turn
      (`tile.extract`). A part has all rows, and columns of 128 bytes. If threads
      would have to exchange elements for that, as those of a transposed product,
      a part is some whole rows with as many elements;
    - the buffer of a ring of one stage that the iteration does not read any
      more. It is released at the end of the iteration, and the next copy into it
      waits until then.

    ```mlir output
    tile.store %t, %oh[%row, %c0] : tensor<128x64xf16, #mma>, !oh  // %oh: a slice of %o
    // becomes
    tile.bulk_wait 0 read
    tile.store %t, %staging[%c0, %c0] : tensor<128x64xf16, #mma>, !staging
    tile.fence_async
    tile.bulk_store %staging, %o[%b, %row, %h, %c0] dims [1, 3] parts [8, 1]
        : !staging, !o
    ...
    tile.bulk_wait 0 read                       // at the end of the role
    ```

    The remark `store-not-staged` gives the reason why a tile is still stored
    from registers.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::tile::TileDialect"];
}

def TileLowerRings : Pass<"tile-lower-rings", "::tile::KernelOp"> {
  let summary = "Turns rings into barriers, waits and slot numbers (S4)";
  let description = [{
    A role counts the tiles that it fills or takes. Tile number i of a ring of s
    stages is in slot i mod s, in phase (i / s) mod 2 of its mbarriers. Loops
    carry the counts. Rings that all loops fill alike share one count. Without
    mbarriers, loops carry the number of a slot.

    Rings whose slots are in use together share mbarriers, so that each side waits
    once: no wait stands between the copies to their slots, and one of them, the
    holder, is taken first. The slots of the others are taken right after that of
    the holder, or later if their copies take less time than a wait or start
    before those of the holder. They are released before that of the holder or
    soon after it. Releases that follow each other soon are one arrival. Copies
    to slots that are taken right after each other start with the smallest one.

    | operation | becomes, with mbarriers |
    |---|---|
    | `tile.ring.create` | `tile.init_barriers`, and a `tile.barrier` after the last one |
    | `tile.ring.acquire` | a `tile.wait_barrier` for `empty` and a `tile.slice` |
    | `tile.bulk_copy` that fills a slot | a copy with the mbarrier of the slot in `full` |
    | `tile.ring.publish` | a `tile.arrive_barrier` at `full` |
    | `tile.ring.take` | a `tile.wait_barrier` for `full` and a `tile.slice` |
    | `tile.ring.release` | a `tile.arrive_barrier` at `empty` |

    | operation | becomes, without mbarriers |
    |---|---|
    | `tile.ring.acquire` | a `tile.slice` |
    | `tile.ring.publish` | a `tile.commit_group` |
    | `tile.ring.take` | a `tile.wait_group` and a `tile.slice` |
    | `tile.ring.create`, `tile.ring.release` | nothing |

    The wait leaves the newer groups in flight: the smallest number of groups that
    any path of the program commits after the tile. A tile that an earlier wait
    covers has none.

    Some copies have no instruction that copies to the layout of their slot: all of
    gfx11 and gfx12, and on other AMD chips those to padded rows. There a
    `tile.copy async` that alone fills a slot without mbarriers goes through
    registers: it becomes a `tile.load` in its place and a `tile.store` before the
    next slot is acquired or taken. The load is in flight beside the operations
    between, which `tile.schedule_barrier` keeps there. Without other copies there
    are no groups.

    A token that a loop carries becomes the number of its slot. All warps of the
    first role arrive at an mbarrier, or the one thread of another role.

    ```mlir output
    scf.for %i = %c0 to %n step %c64 {
      %k, %slot = tile.ring.take %ring : !tile.ring<!b, 2>
      "read"(%k)
      tile.ring.release %slot
    }
    // becomes
    scf.for %i = %c0 to %n step %c64 iter_args(%count = %zero) -> (i32) {
      tile.wait_barrier %full[%slot] phase %phase : !barriers  // %count mod 2, %count / 2 mod 2
      %k = tile.slice %storage[%slot, *, *] : !storage to !b
      "read"(%k)
      tile.arrive_barrier %empty[%slot] : !barriers
      scf.yield %next : i32                                    // %count + 1
    }
    ```

    The pass comes after those that fill rings and move products and stores
    (tile-overlap-dots, tile-stage-stores, tile-pipeline): none of them sees an
    mbarrier or the number of a slot.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect", "::tile::TileDialect"];
}

def TilePipeline : Pass<"tile-pipeline", "::tile::KernelOp"> {
  let summary = "Pipelines copies to shared memory in loops (S4)";
  let description = [{
    The copies in an `scf.for` from global memory to buffers of the loop are
    issued ahead of the iteration that reads them, to rings of `stages` slots.
    Copies are grouped by the point at which they are read first. The slots of a
    group are published together, and its readers wait for that group only. When
    the readers of a group start, those of the previous group are done, and its
    slots are filled for the iteration `stages` later. With two groups, even one stage overlaps the copy of one
    group with the use of the other (the order of FlashAttention-2). Copies between
    whose first reads no tile is used are one group.

    ```mlir output
    scf.for %i = %c0 to %n step %c64 {
      %k = tile.alloc : !b
      tile.copy %kh[%i, %c0], %k : !g, !b
      "read"(%k)
    }
    // becomes, with stages = 2
    %ring = tile.ring.create %storage : !tile.ring<!b, 2>
    %k0, %slot0 = tile.ring.acquire %ring : !tile.ring<!b, 2>
    scf.if ... {                                      // if there is an iteration
      tile.copy async %kh[%c0, %c0], %k0 : !g, !b
    }
    tile.ring.publish %slot0
    scf.for %i = %c0 to %n step %c64 {
      %k, %slot = tile.ring.take %ring : !tile.ring<!b, 2>
      %next, %nextslot = tile.ring.acquire %ring : !tile.ring<!b, 2>
      scf.if ... {                                    // if there is a next one
        tile.copy async %kh[%i + 64, %c0], %next : !g, !b
      }
      tile.ring.publish %nextslot
      "read"(%k)
      tile.ring.release %slot
    }
    ```

    A loop directly after this one with the same step and copies uses the same
    rings: the last iterations of the first loop copy the tiles of the first
    iterations of the second.

    AMD chips fill slots through registers (see tile-lower-rings). If a schedule
    asks for stages, those of gfx9 do so for padded slots only, and fill the
    others without registers. If none does, these loops get the fewest stages with
    which a copy runs ahead, one or two, and none if the kernel lacks registers
    for the tiles in flight.

    Elsewhere, copies outside of such loops become asynchronous, too, in rings of
    one slot; the tile is taken before its first read. Loads from their buffers,
    and in loops loads whose memory is not overwritten, move to their first use.
    `tile-insert-barriers` adds the barriers.

    `tile.schedule = #tile.schedule<stages = n>` on a loop pins its number of
    stages. Fails for such a loop that cannot be pipelined. The field `stages` of
    the kernel's schedule is for the loops without one. In these the remark
    `copy-not-pipelined` gives the reason why a copy remains in its iteration.
    The remark `loop-pipelined` reports success, with the bytes of shared memory
    that the kernel takes.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect", "::tile::TileDialect"];
  let options = [
    Option<"stages", "stages", "int64_t", "0",
           "buffers of each ring; 0: those of the kernel's schedule, else two if the "
           "shared memory suffices, else one">,
    Option<"oneGroup", "one-group", "bool", "false",
           "wait for all copies of an iteration at once: fewer barriers, less "
           "overlap">];
}

def TilePlanSharedMemory : Pass<"tile-plan-shared-memory", "::tile::KernelOp"> {
  let summary = "Assigns offsets to shared buffers (S4)";
  let description = [{
    Buffers that are never live at the same time may share memory. A buffer is
    live from its first to its last use; if it is used across iterations of a
    loop, it is live in the whole loop. Buffers that are allocated in one loop do
    not share memory if the shared memory suffices, because sharing needs more
    barriers in every iteration. Offsets are multiples of 16 bytes, for swizzled
    buffers of 1024 bytes. If the buffers do not fit, a tile that several loads
    read is stored again for each of them, so that its buffer is not live in
    between.

    ```mlir output
    tile.kernel @k(...) {
      %a = tile.alloc : !tile.buffer<64x128xf16, #tile.swizzle<128>, shared>
      %b = tile.alloc : !tile.buffer<64x64xf32, #tile.padded<4, order = [1, 0]>, shared>
      ...
    }
    // becomes
    tile.kernel @k(...) attributes {shared_bytes = 33792 : i64} {
      %a = tile.alloc {offset = 17408 : i64} : ...
      %b = tile.alloc {offset = 0 : i64} : ...
      ...
    }
    ```

    Offsets that the author wrote are kept. Fails for such an offset if it is
    misaligned, or if the buffer overlaps another one with a pinned offset that
    is live at the same time. Fails with a table of the buffers if a kernel needs
    more shared memory than the chip has. The remark `buffers-share-in-loop`
    reports buffers of one loop that share memory.
  }];
  let dependentDialects = ["::tile::TileDialect"];
}

def TileAlternateBuffers
    : Pass<"tile-alternate-buffers", "::tile::KernelOp"> {
  let summary = "Gives tiles that warps exchange in loops two buffers (S4)";
  let description = [{
    A tile that warps store to shared memory and then read, in each iteration of a
    loop, needs two barriers: one before the reads, and one before the store of
    the next iteration. With two buffers that take turns, the first barrier is
    enough.

    ```mlir output
    scf.for %i = ... {
      %s = tile.alloc : !tile
      tile.store %t, %s[%c0, %c0] : ...
      ...
    }
    // becomes
    %both = tile.alloc : !two
    scf.for %i = ... iter_args(%count = %c0_i32) -> (i32) {
      %number = arith.remui %count, %c2_i32 : i32
      %slot = arith.index_castui %number : i32 to index
      %s = tile.slice %both[%slot, *, *] : !two to !tile
      tile.store %t, %s[%c0, %c0] : ...
      ...
      %next = arith.addi %count, %c1_i32 : i32
      scf.yield %next : i32
    }
    ```

    A loop that carries the count of the tiles of a ring needs no other one.

    The tile is an operand of products in a kernel with warp roles, or the only
    one that the iteration exchanges, such as the parts of a reduction. Two
    exchanges in an iteration order each other. All such buffers of a kernel are
    doubled or none: if the shared memory suffices, as many blocks share a
    multiprocessor as before, and the kernel does not run on clusters, whose
    blocks wait before each exchange anyway. The remark `buffers-alternate` gives
    the bytes of shared memory that the kernel takes.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect", "::tile::TileDialect"];
}

def TileInsertBarriers : Pass<"tile-insert-barriers", "::tile::KernelOp"> {
  let summary = "Inserts barriers between accesses to memory (S4)";
  let description = [{
    Inserts a `tile.barrier` between two accesses to the same shared memory by
    different threads if at least one of them is a write and there is no barrier
    between them. This includes accesses in and after branches and around the
    back edges of loops. Buffers with overlapping offsets are the same memory.
    Slots of one ring are different memory if their numbers are known to differ:
    numbers that `tile-lower-rings` or `tile-alternate-buffers` computes from one
    value, at different distances.

    Inserts a `tile.barrier global` between a read and a write of one kernel
    argument, unless each element belongs to one thread, the same for both. Two
    loads or stores have that property if their buffers, indices and layouts are
    equal, no thread holds a copy, and between iterations of a loop also if
    neither buffer nor indices change. There is also such a barrier between
    accesses to global memory and a `tile.atomic_rmw` behind them that releases,
    or one before them that acquires: a single thread executes it.

    An asynchronous copy starts to write its buffer when it is issued and is
    complete at the next `tile.wait_group`. The pass does not check that this
    wait covers the copy.

    ```mlir output
    tile.store %t, %s[%c0, %c0] : ...
    %u = tile.load %s[%c0, %c0] : ...
    // becomes
    tile.store %t, %s[%c0, %c0] : ...
    tile.barrier
    %u = tile.load %s[%c0, %c0] : ...
    ```

    If a branch or loop needs a barrier only because of accesses before it, the
    barrier is inserted before the branch or loop.

    Matrix instructions and TMA see writes to shared memory after a
    `tile.fence_async`. The pass inserts it before the last barrier in front of
    such an operation, or of an arrival (tile.arrive_barrier) for which an
    operation of another role may wait. A fence
    waits for all accesses that its thread has in flight. So fenced arrivals
    (tile.arrive_barrier) move to the next fence of their block, unless a loop or
    branch is in between. Without one they share a fence, which stands in front of
    the next await, beside the products in flight.

    The pass requires the offsets
    of `tile-plan-shared-memory`. Existing barriers are kept and taken into
    account.
  }];
  let dependentDialects = ["::tile::TileDialect"];
}

def TileVerifyPrerequisites
    : Pass<"tile-verify-prerequisites", "::mlir::ModuleOp"> {
  let summary = "Checks accesses of kernels before they wait for others";
  let description = [{
    Verifies the module and changes nothing. A kernel with
    `tile.wait_prerequisites` may run at the same time as the preceding kernel,
    and as earlier kernels as long as each kernel in between waits, too. Fails if
    the kernel, before it waits, reads memory that one of them writes, or writes
    memory that one of them accesses. Arguments with the same name are the same
    buffer. The executor does not find such errors, because it runs kernels one
    after the other.

    ```mlir output
    tile.kernel @first(%s: !b {tile.name = "s"}) { ... tile.store %t, %s[%i] ... }
    tile.kernel @second(%s: !b {tile.name = "s"}) {
      %t = tile.load %s[%i] : ... // error: reads 's' before tile.wait_prerequisites
      tile.wait_prerequisites
    }
    ```
  }];
}

def TileScaleAfterReduction
    : Pass<"tile-scale-after-reduction", "::tile::KernelOp"> {
  let summary = "Multiplies maxima instead of all elements by a scale (S4)";
  let description = [{
    Rounding is monotonic, so the maximum (`maxnumf`) or the minimum of the
    products of f32 elements and one positive, finite scale is the product of the
    scale and the maximum of the elements. The pass rewrites such a `tile.reduce`.
    The sign of the scale decides at run time which form is computed. A constant
    scale decides at compile time.

    If the product has readers other than the reduction, these must be additions
    or subtractions from it. They become FMAs, which do not need the product.

    Loops with asynchronous products get a copy for positive, finite scales
    instead of a branch: ptxas schedules nothing across a branch, and moves the
    wait for a product in flight to its end. In the copy, the scale also moves
    behind selections of elements of the product and of zeros or infinities, as
    masks have them. The pass copies the outermost loop that has such products,
    unless it carries one.

    ```mlir output
    %product = arith.mulf %scores, %scales : tensor<128x64xf32, #mma>
    %most = tile.reduce maxnumf %product along 1 : ...
    // becomes
    %most = scf.if %is_positive -> (tensor<128xf32, #row>) {
      %0 = tile.reduce maxnumf %scores along 1 : ...
      %1 = arith.mulf %0, %row_of_scales : ...
      scf.yield %1 : ...
    } else {
      %product = arith.mulf %scores, %scales : ...
      %0 = tile.reduce maxnumf %product along 1 : ...
      scf.yield %0 : ...
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // TILE_DIALECT_TILE_TRANSFORMS_PASSES_TD
