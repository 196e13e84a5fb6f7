//===- TileDebugOps.td - Assertions and prints -------------*- tablegen -*-===//
//
// Included by TileOps.td.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DIALECT_TILE_IR_TILEDEBUGOPS_TD
#define TILE_DIALECT_TILE_IR_TILEDEBUGOPS_TD

// The reports of a program. The write effect on them keeps assertions and prints
// in order, and keeps passes from removing, repeating or hoisting them.
def Tile_Reports : Resource<"::tile::ReportsResource">;

def Tile_AssertOp : Tile_Op<"assert", [MemoryEffects<[MemWrite<Tile_Reports>]>]> {
  let summary = "a condition that must hold";
  let description = [{
    Stops the kernel if `condition`, or an element of it, is false. What the
    buffers of a kernel that is stopped hold is not defined.

    - On the CPU the executor reports an error at this operation, with the
      message, the block, the thread and the index of the element.
    - On NVIDIA each thread that holds such an element prints the same by
      `vprintf` and executes `trap`; the CUDA driver returns an error from then
      on.
    - On AMD such a thread executes `s_trap`, and nothing is printed.

    Each thread checks the elements that it holds.

    ```mlir
    tile.assert %fits, "a sequence is longer than its pages" : i1
    %inside = arith.cmpi slt, %indices, %rows : tensor<64xi32>
    tile.assert %inside, "an index is out of bounds" : tensor<64xi1>
    ```

    The message must not be empty and must not have control characters.

    Assertions and prints stay in their order. They cost time: a loop with one is
    not rotated, and ptxas runs the asynchronous products (wgmma) of a kernel that
    may print one after another (its message C7510). The pass
    `tile-strip-assertions` removes all assertions: `tile-translate
    --no-assertions`, or `assertions=False` in Python.
  }];
  let arguments = (ins AnyTypeOf<[I1, Tile_TileOf<[I1], "i1">]>:$condition,
                       StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict `:` type($condition)";
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def Tile_PrintOp : Tile_Op<"print", [MemoryEffects<[MemWrite<Tile_Reports>]>]> {
  let summary = "prints a number or a tile";
  let description = [{
    Prints `value`, or each element of it once, in a line with the label, the
    block, the thread that prints and the index of the element:

    ```text output
    scores: block (0, 0, 0), thread 33: [8, 2] = 0.5
    ```

    Floats have enough digits to tell them apart, and an i1 is 0 or 1.

    - On the CPU the executor prints to the standard output, by block and then by
      thread.
    - On NVIDIA threads call `vprintf`, and the driver orders the lines. It keeps
      the last of them if they exceed its buffer (1 MiB, or
      CU_LIMIT_PRINTF_FIFO_SIZE).
    - Code objects of AMD cannot print; making one of a program that prints is an
      error. The executor prints for AMD's chips, too.

    A thread prints its lines in the order of the program. Each group of
    consumers prints scalars of its own.

    ```mlir
    tile.print "scores" %s : tensor<64x128xf32>
    tile.print "rows" %rows : index
    ```

    With `within`, an extent for each dimension, only the elements inside these
    extents are printed; `tile-pad-extents` sets it where it adds elements. The
    label must not be empty and must not have control characters.
  }];
  let arguments = (ins StrAttr:$label,
    AnyTypeOf<[F16, BF16, F32, F64, I1, I32, I64, Index, Tile_Tile]>:$value,
    OptionalAttr<DenseI64ArrayAttr>:$within);
  let assemblyFormat = [{
    $label $value (`within` $within^)? attr-dict `:` type($value)
  }];
  let hasVerifier = 1;
}

#endif // TILE_DIALECT_TILE_IR_TILEDEBUGOPS_TD
