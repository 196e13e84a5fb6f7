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
  let summary = "Turns tile.attention into kernels";
  let description = [{
    A func.func that holds nothing but named tile operations, and arith
    operations that compute their scalars, becomes one `tile.kernel` per named
    operation, with the same arguments: @f becomes @f, or @f_0, @f_1, ... if
    there are several. Other functions stay as they are.

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

    Options left at 0 are chosen for the chip and the head dimension. Errors:
    another operation or a result in such a function, or a use of it; a named
    operation elsewhere; sizes that no matrix instruction divides.
  }];
  let options = [
    Option<"blockM", "block-m", "int64_t", "0", "rows per block of threads">,
    Option<"blockN", "block-n", "int64_t", "0", "keys per step">,
    Option<"numWarps", "num-warps", "int64_t", "0", "warps per block of threads">];
  let dependentDialects = ["::mlir::math::MathDialect", "::mlir::scf::SCFDialect"];
}

def TileAssignLayouts : Pass<"tile-assign-layouts", "::tile::KernelOp"> {
  let summary = "Gives every tile a layout (S1 to S2)";
  let description = [{
    Chooses a matrix instruction of the chip for every `tile.dot` (the first
    row of its list that divides the product among the warps; pinned ones are
    honoured or refused), gives accumulators its `#tile.mma` layout, and spreads
    layouts along elementwise operations, reductions, broadcasts and loops.
    Tiles that are loaded only to be multiplied go through shared memory.
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

def TileDecomposeConversions : Pass<"tile-decompose-conversions", "::tile::KernelOp"> {
  let summary = "Takes layout conversions between threads through shared memory";
  let description = [{
    A `tile.convert_layout` between two distributed layouts for which some
    thread needs an element of another thread becomes a write to a padded tile
    in shared memory and a read from it. Conversions within a thread stay.

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

#endif // TILE_DIALECT_TILE_TRANSFORMS_PASSES_TD
