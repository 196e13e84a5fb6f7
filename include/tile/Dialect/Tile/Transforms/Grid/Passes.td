//===- Passes.td - The grid and its works ------------------*- tablegen -*-===//
#ifndef TILE_DIALECT_TILE_TRANSFORMS_GRID_PASSES_TD
#define TILE_DIALECT_TILE_TRANSFORMS_GRID_PASSES_TD

include "mlir/Pass/PassBase.td"

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

#endif // TILE_DIALECT_TILE_TRANSFORMS_GRID_PASSES_TD
