//===- TileOps.td - Operations of the tile dialect ---------*- tablegen -*-===//
#ifndef TILE_DIALECT_TILE_IR_TILEOPS_TD
#define TILE_DIALECT_TILE_IR_TILEOPS_TD

include "mlir/Dialect/Arith/IR/ArithBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/InferIntRangeInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "tile/Dialect/Tile/IR/TileSchedule.td"
include "tile/Dialect/Tile/IR/TileTypes.td"

class Tile_Op<string mnemonic, list<Trait> traits = []>
    : Op<Tile_Dialect, mnemonic, traits>;

// Buffers that an operation reads, writes or both. Their types tell the memory.
def Tile_ReadBuffer : Arg<Tile_BufferType, "", [MemRead]>;
def Tile_WrittenBuffer : Arg<Tile_BufferType, "", [MemWrite]>;
def Tile_UpdatedBuffer : Arg<Tile_BufferType, "", [MemRead, MemWrite]>;

class Tile_TileOf<list<Type> elements, string elementNames>
    : Type<And<[CPred<"::tile::isTile($_self) || ::tile::isOpenTile($_self)">,
                SubstLeaves<"$_self",
                  "::llvm::cast<::mlir::RankedTensorType>($_self).getElementType()",
                  AnyTypeOf<elements>.predicate>]>,
           "tile of " # elementNames # " (a tensor of positive extents, static or "
           "named by #tile.open, rank 1 or more, at most 2^20 elements, no other "
           "encoding but a layout)",
           "::mlir::RankedTensorType">;
def Tile_Tile : Tile_TileOf<[F16, BF16, F32, F64, I1, I8, I32, I64],
                            "f16, bf16, f32, f64, i1, i8, i32 or i64">;
def Tile_FactorTile : Tile_TileOf<[F16, BF16, F32, I8], "f16, bf16, f32 or i8">;
def Tile_SumTile : Tile_TileOf<[F32, I32], "f32 or i32">;
def Tile_IndexTile : Tile_TileOf<[I32, I64], "i32 or i64">;

include "tile/Dialect/Tile/IR/TileKernelOps.td"
include "tile/Dialect/Tile/IR/TileMemoryOps.td"

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

def Tile_DotOp : Tile_Op<"dot", [
    DeclareOpInterfaceMethods<Tile_TileLayoutOpInterface, ["requireLayouts"]>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "matrix product";
  let description = [{
    Computes a * b + acc for a: MxK, b: KxN, acc: MxN. a and b have one element
    type. `instruction` pins a row of the instruction table (Chips/Mma.h). `warps`
    pins the numbers of warps along the rows and the columns of the result.

    | a and b | acc | sums |
    |---|---|---|
    | f16, bf16 | f32 | rounded to f32 |
    | i8, signed | i32 | exact modulo 2^32 |
    | f32, with `precision` | f32 | rounded to f32 |

    ```mlir
    %s = tile.dot %q, %kt, %zero
        : tensor<128x64xf16>, tensor<64x64xf16> -> tensor<128x64xf32>
    %n = tile.dot %x, %y, %none
        : tensor<128x64xi8>, tensor<64x64xi8> -> tensor<128x64xi32>
    %d = tile.dot %e, %f, %zero precision(tf32)
        : tensor<128x64xf32>, tensor<64x64xf32> -> tensor<128x64xf32>
    ```

    f32 operands need `precision`, since no chip multiplies them at full precision
    and at the rate of a matrix product:

    * `tf32` keeps the 11 leading bits of each operand. They are rounded to
      nearest, except that wgmma cuts off the others of an operand in shared
      memory. So an element of the result differs from the exact one by at most
      2^-9 times the sum of |a||b|, plus the rounding of the sums. Chips without
      tf32 compute a closer result: CDNA multiplies f32, and on RDNA the product
      becomes one of `bf16x3`.
    * `bf16x3` divides each operand into two bf16 numbers, x = hi + lo, and adds
      lo * hi, hi * lo and hi * hi, on every chip. The error is at most 3 * 2^-16
      times the sum of |a||b|, plus the rounding of the sums.
      `tile-expand-products` writes it as three products of bf16.

    Under both, an infinite operand, or one beyond 3.39e38, may give a NaN. An
    operand below 2^-118 may lose more of its bits: it may be off by 2^-134.

    After tile-assign-layouts, the layouts of a and b are `#tile.dot_operand` of
    the layout of acc. wgmma reads b, and optionally a, from shared memory; these
    operands are tiles with a swizzled memory layout, and buffers after
    tile-bufferize.

    ```mlir
    %s = tile.dot %qs, %ks, %zero
        : !tile.buffer<128x64xf16, #tile.swizzle<128>, shared>,
          !tile.buffer<64x64xf16, #tile.permute<[1, 0], #tile.swizzle<128>>, shared>
          -> tensor<128x64xf32, #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>>
    ```

    With `async`, which requires wgmma, the operation only starts the MMA and
    yields a `!tile.pending`. `tile.await` makes it a tile. Until then the
    buffers that the dot reads must not be overwritten. The accumulator may be a
    product in flight, too; its type is written then. `tile-overlap-dots` makes
    dots asynchronous.

    ```mlir
    !operand = tensor<64x64xf16, #tile.swizzle<128>>
    !result = tensor<64x64xf32, #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>>
    %p = tile.dot async %q, %k, %zero : !operand, !operand -> !tile.pending<!result>
    %r = tile.dot async %q, %k, %p
        : !operand, !operand, !tile.pending<!result> -> !tile.pending<!result>
    %s = tile.await %r : !tile.pending<!result>
    ```
  }];
  let arguments = (ins AnyTypeOf<[Tile_FactorTile, Tile_BufferType]>:$a,
                       AnyTypeOf<[Tile_FactorTile, Tile_BufferType]>:$b,
                       AnyTypeOf<[Tile_SumTile, Tile_PendingType]>:$acc,
                       OptionalAttr<StrAttr>:$instruction,
                       OptionalAttr<DenseI64ArrayAttr>:$warps,
                       OptionalAttr<Tile_ProductPrecision>:$precision,
                       UnitAttr:$async);
  let results = (outs AnyTypeOf<[Tile_SumTile, Tile_PendingType]>:$result);
  let assemblyFormat = [{
    (`async` $async^)? $a `,` $b `,` $acc (`precision` `(` $precision^ `)`)?
    attr-dict `:` custom<DotTypes>(type($a), type($b), type($acc), type($result))
  }];
  // A product of which nothing is pinned.
  let builders = [OpBuilder<(ins "::mlir::Type":$type, "::mlir::Value":$a,
                                 "::mlir::Value":$b, "::mlir::Value":$acc), [{
    build($_builder, $_state, type, a, b, acc, ::mlir::StringAttr(),
          ::mlir::DenseI64ArrayAttr(), ::tile::ProductPrecisionAttr(),
          /*async=*/false);
  }]>];
  let extraClassDeclaration = [{
    /// Returns the type of the product: that of the result, or of the tile that
    /// tile.await makes of it.
    ::mlir::RankedTensorType getTile();
    /// Returns true if an instruction of this row computes the product: its
    /// elements are those of the operands, or as precise as `precision` asks.
    bool isComputedBy(const ::tile::Mma &row);
  }];
  let hasVerifier = 1;
}

def Tile_ReduceOp : Tile_Op<"reduce", [Pure,
    DeclareOpInterfaceMethods<Tile_TileLayoutOpInterface, ["inferLayouts", "requireLayouts"]>]> {
  let summary = "reduces a tile along one dimension";
  let description = [{
    Combines the elements along `dim` with `kind`: addf, mulf, maximumf,
    minimumf, maxnumf, minnumf, addi, muli, maxs, mins, maxu, minu, andi, ori,
    xori.
    The order of the combinations is not specified.

    ```mlir
    %max = tile.reduce maxnumf %s along 1 : tensor<128x64xf32> -> tensor<128xf32>
    ```

    A tile of one dimension becomes a tile of one element, which tensor.extract
    makes a scalar. `tile-expand-operations` makes such a tile the only row of
    another one, so layouts are for tiles of two or more dimensions.

    ```mlir
    %sum_tile = tile.reduce addf %row along 0 : tensor<128xf32> -> tensor<1xf32>
    %sum = tensor.extract %sum_tile[%c0] : tensor<1xf32>
    ```
  }];
  let arguments = (ins AtomicRMWKindAttr:$kind, Tile_Tile:$source,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$dim);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $kind $source `along` $dim attr-dict `:` qualified(type($source)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

/// A reduction without exchange between some threads. `layoutMethod` is the
/// method of Layout that gives the layout of the result.
class Tile_PartialReductionOp<string mnemonic, string layoutMethod>
    : Tile_Op<mnemonic, [Pure]> {
  let arguments = (ins AtomicRMWKindAttr:$kind, Tile_Tile:$source,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$dim);
  let results = (outs Tile_Tile:$result);
  let builders = [OpBuilder<(ins "::mlir::arith::AtomicRMWKind":$kind,
                                 "::mlir::Value":$source, "int64_t":$dim)>];
  let assemblyFormat = [{
    $kind $source `along` $dim attr-dict `:` qualified(type($source)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the layout of a result along `dim` of a tile with the layout
    /// `source`.
    static Layout reduceLayout(const Layout &source, unsigned dim) {
      return source.}] # layoutMethod # [{(dim);
    }
  }];
}

def Tile_ReduceInWarpsOp
    : Tile_PartialReductionOp<"reduce_in_warps", "reduceInWarps"> {
  let summary = "reduces a tile along one dimension within each warp";
  let description = [{
    Like `tile.reduce`, but without exchange between warps. Along `dim`, the
    result has one element for each warp that shares that dimension of the
    source, and each warp holds its own element. `tile-decompose-reductions`
    creates this operation for reductions over several warps.

    ```mlir
    // 4 warps side by side, 8 of 32 columns each.
    #mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 4]>
    #partial = #tile.layout<register = [2 -> d0 * 8], lane = [4 -> 0, 8 -> d0], warp = [4 -> d1]>
    %part = tile.reduce_in_warps addf %s along 1
        : tensor<16x32xf32, #mma> -> tensor<16x4xf32, #partial>
    ```

    Both tiles have layouts; that of the result follows from that of the source
    (Layout::reduceInWarps). The kinds are those of `tile.reduce`.
  }];
}

def Tile_ReduceInThreadsOp
    : Tile_PartialReductionOp<"reduce_in_threads", "reduceInThreads"> {
  let summary = "reduces a tile along one dimension within each thread";
  let description = [{
    Like `tile.reduce`, but without exchange between threads. Along `dim`, the
    result has one element for each lane of each warp that shares that dimension
    of the source, and each thread holds its own element.
    `tile-defer-reductions` creates this operation for reductions whose results
    a loop adds up.

    ```mlir
    // 4 lanes share the columns of a row.
    #mma = #tile.mma<"mma.m16n8k16.f16", warps = [4, 1]>
    #partial = #tile.layout<register = [2 -> d0 * 8], lane = [4 -> d1, 8 -> d0], warp = [4 -> d0 * 16]>
    %part = tile.reduce_in_threads addf %s along 1
        : tensor<64x32xf32, #mma> -> tensor<64x4xf32, #partial>
    ```

    Both tiles have layouts; that of the result follows from that of the source
    (Layout::reduceInThreads). The kinds are those of `tile.reduce`.
  }];
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, ReturnLike, Terminator,
    ParentOneOf<["::tile::AssociativeScanOp", "::tile::AssociativeScanInWarpsOp",
                 "::tile::JoinAssociativeScansOp", "::tile::MatmulOp"]>]> {
  let summary = "ends the region of an operation on tiles";
  let description = [{
    Gives the tiles that the epilogue of a matrix product stores, one to each c, or
    the numbers that the region of a scan combines elements to.

    ```mlir
    tile.matmul %x, %w to %y : !x, !w, !y epilogue {
    ^bb0(%sum: !sum, %row: index, %column: index):
      %rounded = arith.truncf %sum : !sum to tensor<?x?xbf16, #tile.open<BM, BN>>
      tile.yield %rounded : tensor<?x?xbf16, #tile.open<BM, BN>>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyTypeOf<[Tile_Tile, AnyFloat, AnySignlessInteger]>>:$values);
  let assemblyFormat = "($values^ `:` qualified(type($values)))? attr-dict";
}

def Tile_UnitTriangularInverseOp : Tile_Op<"unit_triangular_inverse", [Pure, AllTypesMatch<["source", "result"]>]> {
  let summary = "inverse of a lower triangular matrix with ones on its diagonal";
  let description = [{
    Computes the inverse of I + L, where L has the elements of `source` below the
    diagonal and zeros elsewhere. The other elements of `source` are not used. The
    result has ones on the diagonal and zeros above it.

    ```mlir
    %t = tile.unit_triangular_inverse %a : tensor<64x64xf32>
    ```

    The delta rule needs it: a chunk of n steps, each of which uses the results of
    all steps before it, becomes a product with this matrix.

    The tile is square, its elements are f32, and it has no layout.
    `tile-expand-operations` replaces the operation by 2 * (ceil(log2(n)) - 1)
    steps with a product of n x n x n each, which doubles the size of the inverted
    diagonal blocks (Higham, "Accuracy and Stability of Numerical Algorithms",
    14.2.2). Each product is the sum of three products of bf16 tiles, with
    a relative error of about 2^-16 of the sums of absolute values. Elements that
    are infinite give NaN.
  }];
  let arguments = (ins Tile_TileOf<[F32], "f32">:$source);
  let results = (outs Tile_TileOf<[F32], "f32">:$result);
  let assemblyFormat = [{ $source attr-dict `:` qualified(type($source)) }];
  let hasVerifier = 1;
}

def Tile_BroadcastOp : Tile_Op<"broadcast", [Pure,
    DeclareOpInterfaceMethods<Tile_TileLayoutOpInterface, ["inferLayouts", "requireLayouts"]>]> {
  let summary = "repeats a tile along a new dimension";
  let description = [{
    Computes result[.., i, ..] = source[..] for all i of the new dimension `dim`.
    Use `tensor.splat` to make a tile of a scalar.

    ```mlir
    %m = tile.broadcast %max along 1 : tensor<128xf32> -> tensor<128x64xf32>
    ```
  }];
  let arguments = (ins Tile_Tile:$source, ConfinedAttr<I64Attr, [IntNonNegative]>:$dim);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $source `along` $dim attr-dict `:` qualified(type($source)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Tile_BroadcastInWarpsOp : Tile_Op<"broadcast_in_warps", [Pure]> {
  let summary = "repeats a tile along one dimension within each warp";
  let description = [{
    The reverse of `tile.reduce_in_warps`: each warp repeats its own element along
    `dim` for all elements that it has of the result. No element moves between
    threads. `tile-join-reductions` creates this operation.

    ```mlir
    // 4 warps side by side, 8 of 32 columns each.
    #mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 4]>
    #partial = #tile.layout<register = [2 -> d0 * 8], lane = [4 -> 0, 8 -> d0], warp = [4 -> d1]>
    %t = tile.broadcast_in_warps %part along 1
        : tensor<16x4xf32, #partial> -> tensor<16x32xf32, #mma>
    ```

    Both tiles have layouts; that of the source follows from that of the result
    (Layout::reduceInWarps).
  }];
  let arguments = (ins Tile_Tile:$source, ConfinedAttr<I64Attr, [IntNonNegative]>:$dim);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $source `along` $dim attr-dict `:` qualified(type($source)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Tile_IotaOp : Tile_Op<"iota", [Pure,
    DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>,
    DeclareOpInterfaceMethods<Tile_TileLayoutOpInterface, ["isRematerializable"]>]> {
  let summary = "the coordinate of each element";
  let description = [{
    Computes result[.., i, ..] = i, the coordinate along `dim`.

    ```mlir
    %col = tile.iota along 1 : tensor<128x64xi32>
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$dim);
  let results = (outs Tile_IndexTile:$result);
  let assemblyFormat = "`along` $dim attr-dict `:` qualified(type($result))";
  let hasVerifier = 1;
}

def Tile_TransposeOp : Tile_Op<"transpose", [Pure,
    DeclareOpInterfaceMethods<Tile_TileLayoutOpInterface, ["inferLayouts", "requireLayouts"]>]> {
  let summary = "a tile with its dimensions reordered";
  let description = [{
    Dimension i of the result is dimension `order[i]` of the source. The
    elements stay where they are and only the layout changes, so the operation
    costs nothing.

    ```mlir
    %kt = tile.transpose %k [1, 0] : tensor<64x128xf16> -> tensor<128x64xf16>
    ```
  }];
  let arguments = (ins AnyTypeOf<[Tile_Tile, Tile_BufferType]>:$source,
                       DenseI64ArrayAttr:$order);
  let results = (outs AnyTypeOf<[Tile_Tile, Tile_BufferType]>:$result);
  let assemblyFormat = [{
    $source $order attr-dict `:` qualified(type($source)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Tile_ConvertLayoutOp : Tile_Op<"convert_layout", [Pure]> {
  let summary = "converts a tile to another layout";
  let description = [{
    The result has the elements of the source. A conversion between two
    distributed layouts is lowered to register moves, warp shuffles or an
    exchange through shared memory, as the layouts require, or to nothing if they
    agree. A conversion from a memory layout is a read of shared memory (by
    ldmatrix where it fits); one to a memory layout is a write.

    ```mlir
    %a = tile.convert_layout %p : tensor<128x64xf16, #mma> -> tensor<128x64xf16, #a>
    ```
  }];
  let arguments = (ins Tile_Tile:$source);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source attr-dict `:` qualified(type($source)) `->` qualified(type($result))";
  let hasVerifier = 1;
  let hasFolder = 1;
}

include "tile/Dialect/Tile/IR/TileClusterOps.td"
include "tile/Dialect/Tile/IR/TileLaunchOps.td"
include "tile/Dialect/Tile/IR/TileDebugOps.td"
include "tile/Dialect/Tile/IR/TileScanOps.td"
include "tile/Dialect/Tile/IR/TileShapeOps.td"
include "tile/Dialect/Tile/IR/TileParamOps.td"
include "tile/Dialect/Tile/IR/TileRoleOps.td"
include "tile/Dialect/Tile/IR/TileAttentionOps.td"
include "tile/Dialect/Tile/IR/TileMatmulOps.td"
include "tile/Dialect/Tile/IR/TileScheduleOps.td"

#endif // TILE_DIALECT_TILE_IR_TILEOPS_TD
