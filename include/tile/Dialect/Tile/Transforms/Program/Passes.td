//===- Passes.td - Targets, calls and operations -----------*- tablegen -*-===//
#ifndef TILE_DIALECT_TILE_TRANSFORMS_PROGRAM_PASSES_TD
#define TILE_DIALECT_TILE_TRANSFORMS_PROGRAM_PASSES_TD

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

#endif // TILE_DIALECT_TILE_TRANSFORMS_PROGRAM_PASSES_TD
