//===- Passes.td - Buffers in shared memory ----------------*- tablegen -*-===//
#ifndef TILE_DIALECT_TILE_TRANSFORMS_MEMORY_PASSES_TD
#define TILE_DIALECT_TILE_TRANSFORMS_MEMORY_PASSES_TD

include "mlir/Pass/PassBase.td"

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

#endif // TILE_DIALECT_TILE_TRANSFORMS_MEMORY_PASSES_TD
