//===- Passes.td - Roles of warps --------------------------*- tablegen -*-===//
#ifndef TILE_DIALECT_TILE_TRANSFORMS_WARPROLES_PASSES_TD
#define TILE_DIALECT_TILE_TRANSFORMS_WARPROLES_PASSES_TD

include "mlir/Pass/PassBase.td"

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

#endif // TILE_DIALECT_TILE_TRANSFORMS_WARPROLES_PASSES_TD
