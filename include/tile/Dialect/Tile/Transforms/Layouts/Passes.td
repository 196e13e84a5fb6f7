//===- Passes.td - Layouts of tiles ------------------------*- tablegen -*-===//
#ifndef TILE_DIALECT_TILE_TRANSFORMS_LAYOUTS_PASSES_TD
#define TILE_DIALECT_TILE_TRANSFORMS_LAYOUTS_PASSES_TD

include "mlir/Pass/PassBase.td"

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

#endif // TILE_DIALECT_TILE_TRANSFORMS_LAYOUTS_PASSES_TD
