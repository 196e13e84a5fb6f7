//===- Passes.td - Passes over tile programs ---------------*- tablegen -*-===//
#ifndef TILE_DIALECT_TILE_TRANSFORMS_PASSES_TD
#define TILE_DIALECT_TILE_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def TileAttachTarget : Pass<"tile-attach-target", "::mlir::ModuleOp"> {
  let summary = "Records the chip that a module is compiled for";
  let description = [{
    Sets the module attribute `tile.target`, which the passes that follow read.
    A module that names another chip already is an error.

    ```mlir
    module { ... }
    // tile-attach-target{chip=sm_80}
    module attributes {tile.target = "sm_80"} { ... }
    ```
  }];
  let options = [Option<"chip", "chip", "std::string", "\"\"",
                        "a chip of the table (tile-translate --chip=help lists them)">];
}

def TileExpandAttention : Pass<"tile-expand-attention", "::mlir::ModuleOp"> {
  let summary = "Turns tile.attention and its gradients into kernels";
  let description = [{
    A func.func that holds nothing but named tile operations, and arith
    operations that compute their scalars, becomes one `tile.kernel` per
    `tile.attention`, with the same arguments: @f becomes @f, or @f_0, @f_1, ...
    if there are several named operations. A `tile.attention_backward` becomes
    the kernels @f_stats, ..., which have to run in their order (see there).
    Other functions stay as they are.

    The kernel is flash attention 2: a block of threads computes `block-m` rows
    of one head, over the keys in steps of `block-n`. Blocks of keys that all
    its rows see go through a loop without masks, blocks that no row sees are
    skipped.

    ```mlir
    func.func @f(%q: !q, %k: !q, %v: !q, %o: !q, %scale: f32) {
      tile.attention %q, %k, %v, %o scale %scale {causal} : !q, !q, !q, !q
      return
    }
    // tile-expand-attention
    tile.kernel @f(%q: !q, %k: !q, %v: !q, %o: !q, %scale: f32)
        attributes {num_warps = 4 : i32} {
      ...
      tile.grid %row_blocks, %heads, %batch
      ...
      %qt = tile.load %qh[%row, %c0] : !qh -> tensor<128x64xf16>
      %full:3 = scf.for %n = %c0 to %full_end step %c64
          iter_args(%acc = %zero, %max = %minus_inf, %sum = %none) -> (...) {
        ...
        %s = tile.dot %qt, %kt, %zeros
            : tensor<128x64xf16>, tensor<64x64xf16> -> tensor<128x64xf32>
        ...
        %acc_next = tile.dot %p, %vt, %acc_scaled
            : tensor<128x64xf16>, tensor<64x64xf16> -> tensor<128x64xf32>
        scf.yield %acc_next, %max_next, %sum_next : ...
      }
      %all:3 = scf.for %n = %full_end to %end step %c64
          iter_args(%acc = %full#0, %max = %full#1, %sum = %full#2) -> (...) {
        // The same with a mask.
      }
      ...
      tile.store %out, %oh[%row, %c0] : tensor<128x64xf16>, !qh
    }
    ```

    The kernels of `tile.attention_backward`:

    | kernel | a block has | and computes |
    |---|---|---|
    | @f_stats | 32 queries | delta and lse to base 2; zeros in dq_acc |
    | @f_dsink | a head | dsink, if there are sinks |
    | @f_zero  | 32 keys | zeros in dk_acc and dv_acc, for `kv_acc atomic` |
    | @f_dkv   | `block-n` keys | dK and dV over the queries in steps of `block-m`; with dq_acc, adds to it |
    | @f_dq    | 32 or `block-m` queries | dQ from dq_acc, or without it over the keys in steps of `block-n` |
    | @f_sum   | 32 keys | dK and dV from dk_acc and dv_acc |

    Options left at 0 are chosen for the chip and the head dimension. Errors:
    another operation or a result in such a function, or a use of it; a named
    operation elsewhere; sizes that no matrix instruction divides.
  }];
  let options = [
    Option<"blockM", "block-m", "int64_t", "0", "rows per block of threads">,
    Option<"blockN", "block-n", "int64_t", "0", "keys per step">,
    Option<"numWarps", "num-warps", "int64_t", "0", "warps per block of threads">,
    Option<"queryWarps", "query-warps", "int64_t", "0",
      "of these, warps side by side along the queries where a block has keys">];
  let dependentDialects = ["::mlir::math::MathDialect", "::mlir::scf::SCFDialect"];
}

def TileChooseAccumulators
    : Pass<"tile-choose-accumulators", "::mlir::ModuleOp"> {
  let summary = "Lays out global accumulators as it suits what is added (S1)";
  let description = [{
    The arguments with the attribute `tile.accumulator` and the same `tile.name`
    (or with `tile.accumulator = "name"` and the same name there) are one buffer
    that the kernels of the module use among themselves. Its
    `#tile.strided` layout is replaced, in all of them, by the `#tile.map` that
    makes the atomic additions of a matrix product's accumulator coalesced and
    as wide as the chip has them (chooseAccumulatorLayout in Analysis/
    MemoryLayouts.h). Kernels that read the buffer are given tiles in the order
    of its storage by tile-assign-layouts.

    ```mlir
    tile.kernel @add(%dq: !dq {tile.accumulator, tile.name = "dq"}, ...) {
      ...
      tile.atomic_rmw addf %dot, %dqh[%row, %c0] : tensor<64x128xf32>, !dqh
    }
    // On sm_90a the type of %dq becomes, in all kernels that have it,
    !tile.buffer<?x128xf32, #tile.map<(l, d) -> (l floordiv 8, d floordiv 16,
        16 * (l mod 8) + 4 * ((d mod 8) floordiv 2)
            + 2 * ((d mod 16) floordiv 8) + d mod 2), align = 16>, global>
    ```

    The storage that such a buffer needs is in the manifest. The attribute goes
    once the layout is chosen. Remark `accumulator-layout`: the layout, or that
    no fragment forces one, or a slice fixes a row or a column, and the buffer
    stays as it is. Errors: an accumulator without a name, with another layout
    than `#tile.strided`, or with different types in two kernels.
  }];
}

def TileAssignLayouts : Pass<"tile-assign-layouts", "::tile::KernelOp"> {
  let summary = "Gives every tile a layout (S1 to S2)";
  let description = [{
    Chooses a matrix instruction of the chip for every `tile.dot` (the first
    row of its list that divides the product among the warps; pinned ones are
    honoured or refused), gives accumulators its `#tile.mma` layout, and spreads
    layouts along elementwise operations, reductions, broadcasts and loops.
    Warps lie along the rows of a product as far as they go, so that rows are
    reduced within a warp and the product is an operand of the next one where it
    is; in squares if it is only written to memory; or as `warps` of the
    `tile.dot` says. Tiles that are loaded only to be multiplied go through
    shared memory, and so do values per row or column that a loop reads for all
    warps, where copies are asynchronous.
    Everything else is laid out for coalesced access. Where layouts meet, an
    explicit `tile.convert_layout` is inserted. Layouts that the author wrote
    stay as they are.

    ```mlir
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

    Remark `operand-reloaded`: an operand from outside a loop does not fit the
    registers beside the accumulators and is read again in every iteration.
    Fails where no instruction divides a product, and on operations that are
    not elementwise and unknown.
  }];
  let dependentDialects = ["::tile::TileDialect"];
  let options = [Option<"operandBudget", "operand-budget", "int64_t", "70",
      "percent of the registers that accumulators and an operand kept across "
      "a loop may take">];
}

def TileDecomposeReductions : Pass<"tile-decompose-reductions", "::tile::KernelOp"> {
  let summary = "Takes reductions over several warps through shared memory";
  let description = [{
    A `tile.reduce` along a dimension that several warps share becomes one within
    each warp, a conversion that gives every thread the results of all warps for
    its elements, and a reduction of those, within each thread. The conversion
    crosses warps: `tile-decompose-conversions` takes it through shared memory.

    ```mlir
    %m = tile.reduce maxnumf %s along 1
        : tensor<16x32xf32, #mma> -> tensor<16xf32, #tile.slice<1, #mma>>
    // becomes, with 4 warps side by side
    %p = tile.reduce_in_warps maxnumf %s along 1
        : tensor<16x32xf32, #mma> -> tensor<16x4xf32, #partial>
    %q = tile.convert_layout %p : tensor<16x4xf32, #partial> -> tensor<16x4xf32, #all>
    %m = tile.reduce maxnumf %q along 1
        : tensor<16x4xf32, #all> -> tensor<16xf32, #tile.slice<1, #mma>>
    ```

    Remark `reduction-through-shared-memory`: how many warps share the dimension.
  }];
  let dependentDialects = ["::tile::TileDialect"];
}

def TileDecomposeConversions : Pass<"tile-decompose-conversions", "::tile::KernelOp"> {
  let summary = "Takes layout conversions between threads through shared memory";
  let description = [{
    A `tile.convert_layout` between two distributed layouts for which some
    thread needs an element of another thread becomes a write to a tile in
    shared memory, where the source is computed, and a read from it. Its rows
    are the dimension that makes both wide, swizzled where ldmatrix reads them
    and else padded. Conversions within a thread stay; a transposed source is
    written before it is transposed, so that readers of both can share it (CSE
    does the rest).

    ```mlir
    %b = tile.convert_layout %a : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #blocked>
    // becomes
    %s = tile.convert_layout %a : tensor<64x64xf16, #mma>
        -> tensor<64x64xf16, #tile.padded<8, order = [1, 0]>>
    %b = tile.convert_layout %s : tensor<64x64xf16, #tile.padded<8, order = [1, 0]>>
        -> tensor<64x64xf16, #blocked>
    ```

    Tiles of i1 are written as i32. Remark `conversion-through-shared-memory`:
    why, and how many bytes.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::tile::TileDialect"];
}

def TileBufferize : Pass<"tile-bufferize", "::tile::KernelOp"> {
  let summary = "Turns tiles in shared memory into buffers (S2 to S4)";
  let description = [{
    Runs one-shot bufferization on the operations that touch tiles with a memory
    layout; tiles in registers stay values. The encoding of a tile becomes the
    layout of its buffer.

    ```mlir
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
    `tile.load`, `tile.transpose` and `tile.convert_layout` may touch tiles in
    shared memory: any other operation, a loop that carries one in particular,
    is an error at that operation. Run `tile-decompose-conversions` first.
    Buffers have no offsets and accesses no barriers yet.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::bufferization::BufferizationDialect",
                           "::tile::TileDialect"];
}

def TileSpecializeWarps : Pass<"tile-specialize-warps", "::tile::KernelOp"> {
  let summary = "Gives the copies to shared memory to warps of their own (S4)";
  let description = [{
    In a kernel with the attribute `tile.producer_warps = n`, all copies from
    global to shared memory become copies of the copy engine (`tile.bulk_copy`)
    in a role of n further warps (`tile.warp_roles`); `tile.registers = [c, p]`
    is how many registers a thread of either role has. Copies of one argument
    into buffers of one type go through one ring of buffers: `tile.stages` of
    the loop around them, two unless given. The consumers wait for a tile before
    they read it first and release it after they have read it last; the producer
    is the slice of the program that the copies need.

    With `tile.storing_warps = m`, what loops add to memory atomically leaves by
    the copy engine, too, as far as it can (`tile.bulk_add`; else a remark says
    why not): the consumers put it into a ring of one buffer, and a third role of
    m warps, which is the slice that needs, adds it from there. `c` and `p` are
    then the registers of the first role and of both others.

    ```mlir
    scf.for %i = %c0 to %n step %c64 {
      %k = tile.alloc : !b
      tile.copy %kh[%i, %c0], %k : !g, !b            // %kh: a slice of %arg
      "read"(%k)
    }
    // becomes
    tile.warp_roles warps = [8, 4] {
      scf.for %i = %c0 to %n step %c64 iter_args(%count = %c0) {
        %k = tile.slice %ring[%slot, *, *] : !ring to !b   // %slot = %count mod 2
        tile.wait_barrier %full[%slot] phase %phase : !barriers
        "read"(%k)
        tile.arrive_barrier %empty[%slot] : !barriers
        scf.yield ...                                      // %count + 1
      }
    }, {
      scf.for %i = %c0 to %n step %c64 iter_args(%count = %c0) {
        tile.wait_barrier %empty[%slot] phase %before : !barriers
        tile.bulk_copy %arg[%b, %i, %h, %c0] dims [1, 3], %k, %full[%slot]
            : !arg, !b, !barriers
        scf.yield ...
      }
    }
    ```

    Where a copy is not one that the copy engine can make, or depends on what a
    loop computes, the kernel stays as it is, with the remark
    `warps-not-specialized` and the reason; else it gets `warps-specialized`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect", "::tile::TileDialect"];
}

def TileOverlapDots : Pass<"tile-overlap-dots", "::tile::KernelOp"> {
  let summary = "Starts matrix products and waits for them late (S4)";
  let description = [{
    A `tile.dot` of wgmma that reads buffers of the copy engine becomes
    asynchronous: it is started where it stands, and `tile.wait_dots` comes
    before the first operation that uses its result or overwrites the registers
    that it reads. Releases of its buffers move behind that. So what stands
    between a dot and its use runs beside it:

    ```mlir
    %s = tile.dot %q, %k, %zero : ...
    %o1 = tile.dot %p, %v, %o : ...
    %e = math.exp2 %s : ...
    // becomes
    %s0 = tile.dot async %q, %k, %zero : ...
    %o0 = tile.dot async %p, %v, %o : ...
    %s = tile.wait_dots 1, %s0 : ...
    %e = math.exp2 %s : ...                     // while %o0 is computed
    %o1 = tile.wait_dots 0, %o0 : ...
    ```

    In a kernel with roles and the attribute `tile.turns`, the groups of four
    warps take turns (`tile.await_turn`, `tile.pass_turn`) to start dots that run
    one beside the other.
  }];
  let dependentDialects = ["::tile::TileDialect"];
}

def TileStageStores : Pass<"tile-stage-stores", "::tile::KernelOp"> {
  let summary = "Lets the copy engine store what is in registers (S4)";
  let description = [{
    In a kernel with roles, a `tile.store` of a tile in registers to a kernel
    argument becomes one to a buffer in shared memory that the copy engine
    stores (`tile.bulk_store`). Warps that hold a box of the tile each store
    their own; else one thread stores all. The buffer is one that a tile was
    copied to once and that nobody reads any more, where there is one of the
    same type; otherwise a new one, if there is memory for it; otherwise the one
    buffer of a ring that the iteration does not read any more, which is then
    released at its end.

    ```mlir
    tile.store %t, %oh[%row, %c0] : tensor<128x64xf16, #mma>, !oh  // %oh: a slice of %o
    // becomes
    tile.bulk_wait 0 read
    tile.store %t, %staging[%c0, %c0] : tensor<128x64xf16, #mma>, !staging
    tile.fence_async
    tile.bulk_store %staging, %o[%b, %row, %h, %c0] dims [1, 3] parts [8, 1]
        : !staging, !o
    ...
    tile.bulk_wait 0                            // at the end of the role
    ```

    Remark `store-not-staged`: why a tile is stored from registers, piece by
    piece.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::tile::TileDialect"];
}

def TilePipeline : Pass<"tile-pipeline", "::tile::KernelOp"> {
  let summary = "Runs copies to shared memory ahead of their use (S4)";
  let description = [{
    Where the chip has asynchronous copies, the copies of an `scf.for` from
    global memory to buffers of the loop go to rings of `stages` buffers, ahead
    of the iteration that reads them. Copies are grouped by when they are read:
    each group has its own `tile.commit_group`, and its readers wait for it
    alone. As soon as the readers of one group start, those of the group before
    are done, and its buffer is filled for `stages` iterations later. With two
    groups even a single stage overlaps one group's copy with the other's use
    (the order of FlashAttention-2).

    ```mlir
    scf.for %i = %c0 to %n step %c64 {
      %k = tile.alloc : !b
      tile.copy %kh[%i, %c0], %k : !g, !b
      "read"(%k)
    }
    // becomes, with stages = 2
    %ring = tile.alloc : !ring                        // 2 x !b
    scf.if ... {                                      // if there is an iteration
      %k0 = tile.slice %ring[%c0, *, *] : !ring to !b
      tile.copy async %kh[%c0, %c0], %k0 : !g, !b
    }
    tile.commit_group
    scf.for %i = %c0 to %n step %c64 iter_args(%slot = %c0) {
      %k = tile.slice %ring[%slot, *, *] : !ring to !b
      %other = arith.subi %c1, %slot : index
      tile.wait_group 0
      scf.if ... {                                    // if there is a next one
        %next = tile.slice %ring[%other, *, *] : !ring to !b
        tile.copy async %kh[%i + 64, %c0], %next : !g, !b
      }
      tile.commit_group
      "read"(%k)
      scf.yield %other
    }
    ```

    A loop right after, with the same step and copies, goes on in the same
    rings: the last iterations of one loop fetch for the first of the next.

    Copies elsewhere become asynchronous too and are waited for where they are
    first read; loads from their buffer, and in loops loads that repeat what
    nobody overwrites, move down to their first use. Barriers are the concern of
    `tile-insert-barriers`.

    The attribute `tile.stages` on a loop pins its number of stages. A pinned
    loop that cannot be pipelined is an error; otherwise a copy that stays in
    its iteration gets the remark `copy-not-pipelined` with the reason, and a
    loop that was pipelined the remark `loop-pipelined`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect", "::tile::TileDialect"];
  let options = [
    Option<"stages", "stages", "int64_t", "0",
           "buffers of each ring; 0: two where the shared memory allows, else one">,
    Option<"oneGroup", "one-group", "bool", "false",
           "wait for all copies of an iteration at once: fewer barriers, less "
           "overlap">];
}

def TilePlanSharedMemory : Pass<"tile-plan-shared-memory", "::tile::KernelOp"> {
  let summary = "Gives every shared buffer its offset (S4)";
  let description = [{
    Buffers that are never live at once may share memory. A buffer is live from
    its first to its last use; one that outlives an iteration of a loop, in all
    of the loop. Buffers made in one loop are kept apart while they fit: sharing
    takes more barriers in every iteration. Offsets are multiples of 16 bytes,
    1024 for swizzled buffers.

    ```mlir
    tile.kernel @k(...) {
      %a = tile.alloc : !tile.buffer<64x128xf16, #tile.swizzle<128>, shared>
      %b = tile.alloc : !tile.buffer<64x64xf32, #tile.padded<4, order = [1, 0]>, shared>
      ...
    }
    // becomes
    tile.kernel @k(...) attributes {tile.shared_bytes = 33792 : i64} {
      %a = tile.alloc {offset = 17408 : i64} : ...
      %b = tile.alloc {offset = 0 : i64} : ...
      ...
    }
    ```

    Offsets that the author wrote are kept; one that is misaligned or overlaps
    another pinned buffer that is live at the same time is an error. So is a
    kernel that needs more than the chip has, with a table of its buffers.
    Remark `buffers-share-in-loop`: those of a loop had to share.
  }];
  let dependentDialects = ["::tile::TileDialect"];
}

def TileInsertBarriers : Pass<"tile-insert-barriers", "::tile::KernelOp"> {
  let summary = "Synchronises the threads that share memory (S4)";
  let description = [{
    Inserts `tile.barrier` wherever shared memory that some thread has read or
    written since the last barrier is about to be overwritten, or read after a
    write, by others: in straight-line code, in and after branches, and around
    the back edges of loops. Buffers at overlapping offsets are one memory.

    An asynchronous copy overwrites its buffer when it is issued and has written
    it at the `tile.wait_group` that follows; that the wait covers it is the
    concern of whoever issued it.

    ```mlir
    tile.store %t, %s[%c0, %c0] : ...
    %u = tile.load %s[%c0, %c0] : ...
    // becomes
    tile.store %t, %s[%c0, %c0] : ...
    tile.barrier
    %u = tile.load %s[%c0, %c0] : ...
    ```

    A barrier that only what precedes a branch or loop makes necessary goes
    before it. Needs the offsets of `tile-plan-shared-memory`. Barriers that are
    there already are kept and counted on.
  }];
  let dependentDialects = ["::tile::TileDialect"];
}

def TileVerifyPrerequisites
    : Pass<"tile-verify-prerequisites", "::mlir::ModuleOp"> {
  let summary = "Checks what kernels do before they wait for others";
  let description = [{
    Changes nothing. A kernel with `tile.wait_prerequisites` may run beside the
    one before it, and beside those before that one as long as each of them
    waits, too. It is an error if, before it waits, it reads what one of them
    writes, or writes what one of them touches; buffers are the same if their
    parameters have the same name. Kernels that run one after another on the
    CPU cannot show it.

    ```mlir
    tile.kernel @first(%s: !b {tile.name = "s"}) { ... tile.store %t, %s[%i] ... }
    tile.kernel @second(%s: !b {tile.name = "s"}) {
      %t = tile.load %s[%i] : ... // error: reads 's' before tile.wait_prerequisites
      tile.wait_prerequisites
    }
    ```
  }];
}

#endif // TILE_DIALECT_TILE_TRANSFORMS_PASSES_TD
