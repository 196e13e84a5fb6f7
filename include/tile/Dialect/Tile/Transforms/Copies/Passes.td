//===- Passes.td - Copies and rings ------------------------*- tablegen -*-===//
#ifndef TILE_DIALECT_TILE_TRANSFORMS_COPIES_PASSES_TD
#define TILE_DIALECT_TILE_TRANSFORMS_COPIES_PASSES_TD

include "mlir/Pass/PassBase.td"

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

#endif // TILE_DIALECT_TILE_TRANSFORMS_COPIES_PASSES_TD
