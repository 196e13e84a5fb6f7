//===- TileAttrs.td - Layout attributes --------------------*- tablegen -*-===//
#ifndef TILE_DIALECT_TILE_IR_TILEATTRS_TD
#define TILE_DIALECT_TILE_IR_TILEATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/TensorEncoding.td"
include "tile/Dialect/Tile/IR/TileDialect.td"
include "tile/Dialect/Tile/IR/TileInterfaces.td"

//===----------------------------------------------------------------------===//
// Enums
//===----------------------------------------------------------------------===//

def Tile_MemorySpace : I32EnumAttr<"MemorySpace", "memory of a buffer", [
    I32EnumAttrCase<"Global", 0, "global">,
    I32EnumAttrCase<"Shared", 1, "shared">]> {
  let cppNamespace = "::tile";
}

// In the order of AtomicOrder and AtomicScope (Target/Atomics.h).
def Tile_MemoryOrder : I32EnumAttr<"MemoryOrder", "memory order of an atomic operation", [
    I32EnumAttrCase<"Relaxed", 0, "relaxed">,
    I32EnumAttrCase<"Acquire", 1, "acquire">,
    I32EnumAttrCase<"Release", 2, "release">,
    I32EnumAttrCase<"AcqRel", 3, "acq_rel">]> {
  let cppNamespace = "::tile";
}

def Tile_MemoryScope : I32EnumAttr<"MemoryScope", "who takes part in an atomic operation", [
    I32EnumAttrCase<"Block", 0, "block">,
    I32EnumAttrCase<"Device", 1, "device">,
    I32EnumAttrCase<"System", 2, "system">]> {
  let cppNamespace = "::tile";
}

def Tile_CachePriority : I32EnumAttr<"CachePriority",
    "what the second-level cache keeps longer or gives up sooner", [
    I32EnumAttrCase<"EvictFirst", 0, "evict_first">,
    I32EnumAttrCase<"EvictLast", 1, "evict_last">]> {
  let cppNamespace = "::tile";
}

def Tile_Dimension : I32EnumAttr<"Dimension", "axis of the launch grid", [
    I32EnumAttrCase<"x", 0>, I32EnumAttrCase<"y", 1>, I32EnumAttrCase<"z", 2>]> {
  let cppNamespace = "::tile";
}

def Tile_Relation : I32EnumAttr<"Relation", "what an extent must be to a number", [
    I32EnumAttrCase<"Equal", 0, "equal">,
    I32EnumAttrCase<"AtLeast", 1, "at_least">,
    I32EnumAttrCase<"AtMost", 2, "at_most">,
    I32EnumAttrCase<"MultipleOf", 3, "multiple_of">]> {
  let cppNamespace = "::tile";
}

def Tile_KVAccumulation : I32EnumAttr<"KVAccumulation",
    "how the heads of a group add up their dK and dV", [
    I32EnumAttrCase<"Separate", 0, "separate">,
    I32EnumAttrCase<"Atomic", 1, "atomic">]> {
  let cppNamespace = "::tile";
}

//===----------------------------------------------------------------------===//
// Distributed layouts: tiles in registers
//===----------------------------------------------------------------------===//

class Tile_LayoutAttr<string name, string attrMnemonic>
    : AttrDef<Tile_Dialect, name, [
        DeclareAttrInterfaceMethods<Tile_LayoutAttrInterface>,
        DeclareAttrInterfaceMethods<VerifiableTensorEncoding, ["verifyEncoding"]>]> {
  let mnemonic = attrMnemonic;
}

def Tile_DistributedAttr : Tile_LayoutAttr<"Distributed", "layout"> {
  let summary = "generic distributed layout, digit by digit";
  let description = [{
    (register, lane, warp) -> coordinates, each axis a list of digits, fastest
    first. The digit `e -> dK * s` has e values, each moving coordinate K by s
    (`* 1` is not printed); `e -> 0` replicates.

    ```mlir
    // The accumulator of mma.m16n8k16: lane 5, register 2 holds (9, 2).
    #tile.layout<register = [2 -> d1, 2 -> d0 * 8],
                 lane = [4 -> d1 * 2, 8 -> d0], warp = []>
    ```

    Illegal: digits that leave the tile's shape, or do not cover it.
  }];
  // Digits flattened as (extent, dim, stride).
  let parameters = (ins
    ArrayRefParameter<"int64_t">:$registers, ArrayRefParameter<"int64_t">:$lanes,
    ArrayRefParameter<"int64_t">:$warps);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The attribute of a layout of the algebra.
    static DistributedAttr get(::mlir::MLIRContext *context,
                               const ::tile::Layout &layout);
  }];
}

def Tile_BlockedAttr : Tile_LayoutAttr<"Blocked", "blocked"> {
  let summary = "rectangular blocks per thread, lane and warp";
  let description = [{
    Every thread holds a block of `thread` elements, the lanes of a warp form a
    `lane` grid of such blocks, and the warps a `warp` grid of those; `order`
    lists the dimensions fastest first. The pattern repeats in registers to
    cover a larger tile, and is replicated where the tile is smaller.

    ```mlir
    #tile.blocked<thread = [1, 2], lane = [2, 2], warp = [1, 1], order = [1, 0]>
    //   on 2x4, the lane that owns each element:   0 0 1 1
    //                                              2 2 3 3
    ```

    Illegal: a tile extent that the pattern does not divide (or that does not
    divide the pattern).
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t">:$thread, ArrayRefParameter<"int64_t">:$lane,
    ArrayRefParameter<"int64_t">:$warp, ArrayRefParameter<"int64_t">:$order);
  let assemblyFormat = [{
    `<` `thread` `=` `[` $thread `]` `,` `lane` `=` `[` $lane `]` `,`
        `warp` `=` `[` $warp `]` `,` `order` `=` `[` $order `]` `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The layout of a `shape` tile whose lanes and warps go along the
    /// dimensions in `order`, fastest first, with blocks of `thread` elements.
    /// Lanes and warps that are left over hold copies (by a generic layout).
    static ::tile::LayoutAttrInterface
    getCoalesced(::mlir::MLIRContext *context, ::llvm::ArrayRef<int64_t> shape,
                 ::llvm::ArrayRef<int64_t> thread,
                 ::llvm::ArrayRef<int64_t> order, int64_t lanes, int64_t warps);
  }];
}

def Tile_MmaAttr : Tile_LayoutAttr<"Mma", "mma"> {
  let summary = "accumulator of a matrix instruction";
  let description = [{
    The fragments of C and D of one row of the instruction table
    (Target/Mma.h), for a `warps` grid of warps, repeated in registers over the
    tile: first along dimension 1, then along dimension 0. Where four warps
    perform an instruction together (wgmma), those that share rows have
    neighbouring columns: the first half of them, say, and the second. With
    `transposed` the operands of the instruction are swapped, so that the tile
    is its transposed result.

    ```mlir
    #tile.mma<"mma.m16n8k16.f16", warps = [4, 1]>
    //   on 64x8: warp w owns rows 16*w .. 16*w+15
    ```

    Illegal: an unknown instruction; a tile extent that is no multiple of the
    instruction's times the warps along it (smaller tiles are replicated).
  }];
  let parameters = (ins "::mlir::StringAttr":$instruction,
    ArrayRefParameter<"int64_t">:$warps, DefaultValuedParameter<"bool", "false">:$transposed);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The row of the table; never null.
    const ::tile::Mma &getMma() const;
    /// Elements along each dimension that one instruction of each warp covers.
    ::llvm::SmallVector<int64_t, 2> getInstructionShape() const;
  }];
}

def Tile_DotOperandAttr : Tile_LayoutAttr<"DotOperand", "dot_operand"> {
  let summary = "A or B operand of a matrix instruction";
  let description = [{
    The fragments of operand `index` (0: A, M x K; 1: B, K x N) of the product
    whose accumulator has the layout `parent`. Registers repeat first along
    dimension 1, then along dimension 0, as the accumulator's do. Warps that
    need the same elements hold copies.

    ```mlir
    #tile.dot_operand<0, <"mma.m16n8k16.f16", warps = [4, 1]>>
    ```
  }];
  let parameters = (ins "unsigned":$index, "::tile::MmaAttr":$parent);
  let assemblyFormat = "`<` $index `,` $parent `>`";
  let genVerifyDecl = 1;
}

def Tile_SliceAttr : Tile_LayoutAttr<"Slice", "slice"> {
  let summary = "what a reduction along one dimension leaves";
  let description = [{
    The layout of a tile of one dimension less: element c is where `parent`
    holds the elements whose coordinates without dimension `dim` are c. Threads
    that differ along `dim` only hold copies.

    ```mlir
    #tile.slice<1, #tile.mma<"mma.m16n8k16.f16", warps = [4, 1]>>
    //   on 64: lanes 4*r .. 4*r+3 of warp w hold elements 16*w+r, 16*w+r+8
    ```
  }];
  let parameters = (ins "unsigned":$dim, "::tile::LayoutAttrInterface":$parent);
  let assemblyFormat = "`<` $dim `,` $parent `>`";
  let genVerifyDecl = 1;
}

def Tile_PermuteAttr : Tile_LayoutAttr<"Permute", "permute"> {
  let summary = "a layout with its dimensions reordered";
  let description = [{
    Dimension i of the tile is dimension `order[i]` of `parent`: the layout of a
    transposed tile, whose elements stay where they are.

    ```mlir
    #tile.permute<[1, 0], #tile.swizzle<128>>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$order,
                        "::tile::LayoutAttrInterface":$parent);
  let assemblyFormat = "`<` `[` $order `]` `,` $parent `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Memory layouts: buffers and tiles in shared memory
//===----------------------------------------------------------------------===//

def Tile_SwizzleAttr : Tile_LayoutAttr<"Swizzle", "swizzle"> {
  let summary = "shared memory with the 32, 64 or 128 byte swizzle";
  let description = [{
    The innermost dimension is split into columns of `bytes` bytes; each column
    stores its rows one after the other, and within a row the 16-byte chunk c
    of row r is at chunk c ^ f(r), so that 8 rows of one chunk lie in 8
    different groups of banks. This is the layout that TMA writes and wgmma and
    ldmatrix read without bank conflicts (PTX ISA, "Swizzling modes").

    ```mlir
    #tile.swizzle<128>
    //   64x128xf16: offset(r, c) = (c / 64) * 4096 + r * 64
    //                              + ((c % 64) / 8 ^ r % 8) * 8 + c % 8
    ```

    Leading dimensions beyond the last two stack whole tiles. Illegal: rows
    that are no multiple of `bytes`; elements wider than 16 bytes.
  }];
  let parameters = (ins "unsigned":$bytes);
  let assemblyFormat = "`<` $bytes `>`";
  let genVerifyDecl = 1;
}

def Tile_PaddedAttr : Tile_LayoutAttr<"Padded", "padded"> {
  let summary = "shared memory with padded rows";
  let description = [{
    The dimensions in `order`, fastest first; `pad` elements follow each row of
    the fastest one.

    ```mlir
    #tile.padded<8, order = [1, 0]>     // 64x64: offset(r, c) = r * 72 + c
    #tile.padded<8, order = [0, 1]>     // 64x64: offset(r, c) = c * 72 + r
    ```

    Leading dimensions beyond those of `order` stack whole tiles.
  }];
  let parameters = (ins "int64_t":$pad, ArrayRefParameter<"int64_t">:$order);
  let assemblyFormat = "`<` $pad `,` `order` `=` `[` $order `]` `>`";
  let genVerifyDecl = 1;
}

def Tile_StridedAttr : Tile_LayoutAttr<"Strided", "strided"> {
  let summary = "plain strides, dynamic ones with a known divisor";
  let description = [{
    Element (i, j, ...) is at offset i * s0 + j * s1 + ... from the base. A
    stride is a number, `?` (known at run time), or `?:n` (known at run time,
    and a multiple of n). `align` is the alignment of the base in bytes; by
    default that of one element. Callers must honour both: the launcher checks
    them.

    ```mlir
    #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>
    ```
  }];
  // A dynamic stride has strides[i] == kDynamic and divisors[i] >= 1.
  let parameters = (ins ArrayRefParameter<"int64_t">:$strides,
    ArrayRefParameter<"int64_t">:$divisors,
    DefaultValuedParameter<"int64_t", "0">:$align);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Tile_MapAttr : Tile_LayoutAttr<"Map", "map"> {
  let summary = "memory whose elements are permuted";
  let description = [{
    The element at the coordinates (d0, d1, ...) is stored at the coordinates
    that the map gives, in an array that is stored row major. The extents of
    that array follow from those of the buffer, each as large as the map needs;
    dynamic ones are computed where the kernel runs. `align` is the alignment of
    the base in bytes, by default that of one element.

    ```mlir
    // Rows of 8 x 8 blocks, in each the two columns of an accumulator of
    // mma.m16n8k16 apart: what a warp adds at once are 32 neighbours.
    #tile.map<(l, d) -> (l floordiv 8, d floordiv 8, d mod 2,
                         4 * (l mod 8) + (d mod 8) floordiv 2), align = 16>
    //   on ?x128: (1, 3) is in block (0, 0) at (1, 5), offset 32 + 5
    ```

    The storage of 250 x 128 elements is that of 32 x 16 blocks of 64: more
    than the buffer has elements. The manifest says how much, and launchers
    check it.

    Each result is a sum of parts of dimensions, times constants: dK, and
    `mod` and `floordiv` of it by constants each of which divides the next.
    Illegal: two elements at one place (the error names them), parts of one
    dimension in two results unless they are different digits, negative factors
    and constant terms.
  }];
  let parameters = (ins "::mlir::AffineMap":$map,
    DefaultValuedParameter<"int64_t", "0">:$align);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The attribute of a map of the algebra, from as many dimensions as it has
    /// axes. The last digit of each axis may have any extent.
    static MapAttr get(::mlir::MLIRContext *context, const ::tile::Layout &map,
                       int64_t align);
    /// The map for a buffer of this shape (of which extents may be dynamic), as
    /// one of the algebra: coordinates -> coordinates in storage. The last digit
    /// of each axis reaches to the end of the dimension.
    ::llvm::FailureOr<::tile::Layout>
    getMapLayout(::llvm::ArrayRef<int64_t> shape,
                 ::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError) const;
    /// The map of a slice that keeps the dimensions marked so, without the
    /// results that belong to the others. Failure (with an error, if asked)
    /// where these are not the leading results.
    ::llvm::FailureOr<::tile::MapAttr>
    getSlice(::llvm::ArrayRef<bool> kept, int64_t align,
             ::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError) const;
  }];
}

#endif // TILE_DIALECT_TILE_IR_TILEATTRS_TD
