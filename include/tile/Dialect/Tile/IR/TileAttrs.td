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

// In the order of AtomicOrder and AtomicScope (Chips/Atomics.h).
def Tile_MemoryOrder : I32EnumAttr<"MemoryOrder", "memory order of an atomic operation", [
    I32EnumAttrCase<"Relaxed", 0, "relaxed">,
    I32EnumAttrCase<"Acquire", 1, "acquire">,
    I32EnumAttrCase<"Release", 2, "release">,
    I32EnumAttrCase<"AcqRel", 3, "acq_rel">]> {
  let cppNamespace = "::tile";
}

def Tile_MemoryScope : I32EnumAttr<"MemoryScope", "scope of an atomic operation", [
    I32EnumAttrCase<"Block", 0, "block">,
    I32EnumAttrCase<"Device", 1, "device">,
    I32EnumAttrCase<"System", 2, "system">]> {
  let cppNamespace = "::tile";
}

def Tile_CachePriority : I32EnumAttr<"CachePriority",
    "eviction priority in the L2 cache", [
    I32EnumAttrCase<"EvictFirst", 0, "evict_first">,
    I32EnumAttrCase<"EvictLast", 1, "evict_last">]> {
  let cppNamespace = "::tile";
}

def Tile_Dimension : I32EnumAttr<"Dimension", "axis of the launch grid", [
    I32EnumAttrCase<"x", 0>, I32EnumAttrCase<"y", 1>, I32EnumAttrCase<"z", 2>]> {
  let cppNamespace = "::tile";
}

def Tile_Relation : I32EnumAttr<"Relation", "relation of an extent to a number", [
    I32EnumAttrCase<"Equal", 0, "equal">,
    I32EnumAttrCase<"AtLeast", 1, "at_least">,
    I32EnumAttrCase<"AtMost", 2, "at_most">,
    I32EnumAttrCase<"MultipleOf", 3, "multiple_of">]> {
  let cppNamespace = "::tile";
}

def Tile_ProductPrecision : I32EnumAttr<"ProductPrecision",
    "how a matrix product multiplies f32 elements", [
    I32EnumAttrCase<"TF32", 0, "tf32">,
    I32EnumAttrCase<"BF16x3", 1, "bf16x3">]> {
  let cppNamespace = "::tile";
}

def Tile_KVAccumulation : I32EnumAttr<"KVAccumulation",
    "accumulation of dK and dV over the query heads of a group", [
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
    A function (register, lane, warp) -> coordinates. Each axis is a list of
    digits, fastest first. The digit `e -> dK * s` has the values 0 to e - 1; the
    value v adds v * s to coordinate K (`* 1` is not printed). The digit `e -> 0`
    is replication.

    ```mlir
    // The accumulator of mma.m16n8k16: lane 5, register 2 holds (9, 2).
    #tile.layout<register = [2 -> d1, 2 -> d0 * 8],
                 lane = [4 -> d1 * 2, 8 -> d0], warp = []>
    ```

    Illegal: digits that exceed the shape of the tile, or do not cover it.
  }];
  let parameters = (ins
    ArrayRefParameter<"::tile::Digit">:$registers,
    ArrayRefParameter<"::tile::Digit">:$lanes,
    ArrayRefParameter<"::tile::Digit">:$warps);
  let assemblyFormat = [{
    `<` `register` `=` custom<Digits>($registers) `,`
        `lane` `=` custom<Digits>($lanes) `,`
        `warp` `=` custom<Digits>($warps) `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Returns the attribute of a distributed layout.
    static DistributedAttr get(::mlir::MLIRContext *context,
                               const ::tile::Layout &layout);
  }];
}

def Tile_BlockedAttr : Tile_LayoutAttr<"Blocked", "blocked"> {
  let summary = "rectangular blocks per thread, lane and warp";
  let description = [{
    Every thread holds a block of `thread` elements. The lanes of a warp are a
    `lane` grid of such blocks, and the warps a `warp` grid of those. `order`
    lists the dimensions, fastest first. A larger tile repeats the pattern in
    registers; in a smaller tile threads hold copies (replication).

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
    /// Returns the layout of a tile of `shape` whose lanes and warps go along
    /// the dimensions in `order`, fastest first, with blocks of `thread`
    /// elements. Lanes and warps that are left over hold copies; the result is
    /// then a generic layout (#tile.layout).
    static ::tile::LayoutAttrInterface
    getCoalesced(::mlir::MLIRContext *context, ::llvm::ArrayRef<int64_t> shape,
                 ::llvm::ArrayRef<int64_t> thread,
                 ::llvm::ArrayRef<int64_t> order, int64_t lanes, int64_t warps);
  }];
}

def Tile_MmaAttr : Tile_LayoutAttr<"Mma", "mma"> {
  let summary = "accumulator of a matrix instruction";
  let description = [{
    The C and D fragments of one row of the instruction table (Chips/Mma.h,
    which names the source of each fragment layout) for a `warps` grid of warps.
    Registers repeat the fragment over the tile, first along dimension 1, then
    along dimension 0. If four warps execute an instruction together (wgmma),
    the warpgroups that share rows hold contiguous ranges of columns: with two of
    them, the first and the second half. With `transposed`, the operands of the
    instruction are swapped, so that the tile is the transposed result of the
    instruction.

    ```mlir
    #tile.mma<"mma.m16n8k16.f16", warps = [4, 1]>
    //   on 64x8: warp w owns rows 16*w .. 16*w+15
    ```

    Illegal: an unknown instruction; a tile extent that is not a multiple of the
    instruction's extent times the warps along it (smaller tiles are
    replicated).
  }];
  let parameters = (ins "::mlir::StringAttr":$instruction,
    ArrayRefParameter<"int64_t">:$warps, DefaultValuedParameter<"bool", "false">:$transposed);
  let assemblyFormat = [{
    `<` $instruction `,` `warps` `=` `[` $warps `]`
        (`,` custom<Transposed>($transposed)^)? `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Returns the row of the instruction table.
    const ::tile::Mma &getMma() const;
    /// Returns the extents of the result of one instruction, in elements.
    ::llvm::SmallVector<int64_t, 2> getInstructionShape() const;
  }];
}

def Tile_DotOperandAttr : Tile_LayoutAttr<"DotOperand", "dot_operand"> {
  let summary = "A or B operand of a matrix instruction";
  let description = [{
    The fragments of operand `index` (0: A, M x K; 1: B, K x N) of the matrix
    product whose accumulator has the layout `parent`. Registers repeat first
    along dimension 1, then along dimension 0, like those of the accumulator.
    Warps that need the same elements hold copies.

    ```mlir
    #tile.dot_operand<0, <"mma.m16n8k16.f16", warps = [4, 1]>>
    ```
  }];
  let parameters = (ins "unsigned":$index, "::tile::MmaAttr":$parent);
  let assemblyFormat = "`<` $index `,` $parent `>`";
  let genVerifyDecl = 1;
}

def Tile_SliceAttr : Tile_LayoutAttr<"Slice", "slice"> {
  let summary = "result of a reduction along one dimension";
  let description = [{
    The layout of a tile of one dimension less than `parent`. Each thread holds
    the element c if in `parent` it holds an element whose coordinates, without
    dimension `dim`, are c. Threads that differ only along `dim` hold copies.

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
    The layout of a transposed tile, whose elements stay where they are:
    dimension i of the tile is dimension `order[i]` of `parent`.

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
  let summary = "shared memory with the 32, 64, 128 or 256 byte swizzle";
  let description = [{
    The innermost dimension is split into columns of `bytes` bytes. Each column
    stores its rows one after the other. Within row r, the 16-byte chunk c is
    stored at chunk c ^ f(r). So one chunk of 8 rows is in different groups of
    banks. TMA writes this layout, and wgmma and ldmatrix read it without bank
    conflicts. Source: PTX ISA, "Swizzling modes".

    ```mlir
    #tile.swizzle<128>
    //   64x128xf16: offset(r, c) = (c / 64) * 4096 + r * 64
    //                              + ((c % 64) / 8 ^ r % 8) * 8 + c % 8
    ```

    f(r) changes after 128 bytes, which are all banks of most chips. With
    `banks = 64` it changes after 256 bytes, for chips with 64 banks. TMA, wgmma
    and ldmatrix do not have that form.

    ```mlir
    #tile.swizzle<256, banks = 64>
    //   64x128xf16: offset(r, c) = r * 128 + (c / 8 ^ r % 16) * 8 + c % 8
    ```

    With `chunk = 8`, chunks have 8 bytes, for accesses of that size, and a row
    of fewer bytes takes `bytes`. TMA, wgmma and ldmatrix do not have that form
    either.

    ```mlir
    #tile.swizzle<32, chunk = 8>
    //   64x16xf16: offset(r, c) = r * 16 + (c / 4 ^ r / 4 % 4) * 4 + c % 4
    #tile.swizzle<64, chunk = 8>
    //   64x16xf16: offset(r, c) = r * 32 + (c / 4 ^ r / 2 % 8) * 4 + c % 4
    ```

    The dimensions before the last two stack whole tiles. Illegal: other rows
    whose size is not a multiple of `bytes`; elements wider than a chunk; 256
    bytes with 32 banks.
  }];
  let parameters = (ins "unsigned":$bytes,
                        DefaultValuedParameter<"unsigned", "32">:$banks,
                        DefaultValuedParameter<"unsigned", "16">:$chunk);
  let assemblyFormat = "`<` $bytes (`,` struct($banks, $chunk)^)? `>`";
  let skipDefaultBuilders = 1;
  let builders = [AttrBuilder<(ins "unsigned":$bytes,
                                   CArg<"unsigned", "32">:$banks,
                                   CArg<"unsigned", "16">:$chunk), [{
    return $_get($_ctxt, bytes, banks, chunk);
  }]>];
  let genVerifyDecl = 1;
}

def Tile_PaddedAttr : Tile_LayoutAttr<"Padded", "padded"> {
  let summary = "shared memory with padded rows";
  let description = [{
    The dimensions are stored in `order`, fastest first. `pad` unused elements
    follow each row of the fastest dimension.

    ```mlir
    #tile.padded<8, order = [1, 0]>     // 64x64: offset(r, c) = r * 72 + c
    #tile.padded<8, order = [0, 1]>     // 64x64: offset(r, c) = c * 72 + r
    ```

    `groupPad` further unused elements follow each `group` rows, so that rows
    which are `group` apart are in different banks, too. Illegal: a number of
    rows, the extent of the second dimension of `order`, that is not a multiple
    of `group`.

    ```mlir
    #tile.padded<8, order = [0, 1], group = 8, groupPad = 4>
    //   64x64: offset(r, c) = c * 72 + c / 8 * 4 + r
    ```

    Further leading dimensions, not in `order`, stack whole tiles.
  }];
  // Without groups, `group` and `groupPad` are 0.
  let parameters = (ins "int64_t":$pad, ArrayRefParameter<"int64_t">:$order,
    DefaultValuedParameter<"int64_t", "0">:$group,
    DefaultValuedParameter<"int64_t", "0">:$groupPad);
  let assemblyFormat = [{
    `<` $pad `,` `order` `=` `[` $order `]`
    (`,` `group` `=` $group^ `,` `groupPad` `=` $groupPad)? `>`
  }];
  let skipDefaultBuilders = 1;
  let builders = [AttrBuilder<(ins "int64_t":$pad,
                                   "::llvm::ArrayRef<int64_t>":$order,
                                   CArg<"int64_t", "0">:$group,
                                   CArg<"int64_t", "0">:$groupPad), [{
    return $_get($_ctxt, pad, order, group, groupPad);
  }]>];
  let genVerifyDecl = 1;
}

def Tile_StridedAttr : Tile_LayoutAttr<"Strided", "strided"> {
  let summary = "plain strides, static or dynamic with a known divisor";
  let description = [{
    Element (i, j, ...) is at the offset i * s0 + j * s1 + ..., in elements, from
    the base. A stride is a number, `?` (known at run time), or `?:n` (known at
    run time and a multiple of n). `align` is the alignment of the base in bytes,
    by default that of one element. Launchers check divisors and alignment.

    ```mlir
    #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>
    ```

    With `page = r`, the first dimension consists of pages of r elements, which lie
    anywhere (`tile.paged`): its stride is `?` or `?:n`, and n divides the
    distances between pages and those inside of one.

    ```mlir
    #tile.strided<[?:8, 1], align = 16, page = 64>
    ```
  }];
  // A dynamic stride has strides[i] == kDynamic and divisors[i] >= 1. Without
  // pages, `page` is 0.
  let parameters = (ins ArrayRefParameter<"int64_t">:$strides,
    ArrayRefParameter<"int64_t">:$divisors,
    DefaultValuedParameter<"int64_t", "0">:$align,
    DefaultValuedParameter<"int64_t", "0">:$page);
  let builders = [AttrBuilder<(ins "::llvm::ArrayRef<int64_t>":$strides,
                                   "::llvm::ArrayRef<int64_t>":$divisors,
                                   "int64_t":$align), [{
    return $_get($_ctxt, strides, divisors, align, /*page=*/0);
  }]>];
  let assemblyFormat = [{
    `<` custom<Strides>($strides, $divisors, $align, $page) `>`
  }];
  let genVerifyDecl = 1;
}

def Tile_MapAttr : Tile_LayoutAttr<"Map", "map"> {
  let summary = "memory whose elements are permuted";
  let description = [{
    The map takes the coordinates (d0, d1, ...) of an element to its coordinates
    in the storage, which is a row-major array. Each extent of the storage is as
    large as the map needs for the extents of the buffer; dynamic ones are
    computed at run time. `align` is the alignment of the base in bytes, by
    default that of one element.

    ```mlir
    // Rows of 8 x 8 blocks. Within a block, the two columns of a lane's
    // accumulator of mma.m16n8k16 are apart, so that the 32 lanes of a warp add
    // to contiguous elements.
    #tile.map<(l, d) -> (l floordiv 8, d floordiv 8, d mod 2,
                         4 * (l mod 8) + (d mod 8) floordiv 2), align = 16>
    //   on ?x128: (1, 3) is in block (0, 0) at (1, 5), offset 32 + 5
    ```

    A buffer of 250 x 128 elements has the storage of 32 x 16 blocks of 64
    elements, which is more than its elements need. The manifest gives the size,
    and launchers check it.

    Each result of the map is a sum of digits of dimensions times constants. A
    digit is dK, or its `mod` and `floordiv` by constants, each of which divides
    the next. Illegal: two elements at one place (the error names them), the same
    digit of a dimension in two results, negative factors, and constant terms.
  }];
  let parameters = (ins "::mlir::AffineMap":$map,
    DefaultValuedParameter<"int64_t", "0">:$align);
  let assemblyFormat = "`<` $map (`,` `align` `=` $align^)? `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Returns the attribute of `map`, a layout of the map family: each axis is
    /// a dimension of the affine map. The extent of an axis' last digit is
    /// ignored.
    static MapAttr get(::mlir::MLIRContext *context, const ::tile::Layout &map,
                       int64_t align);
    /// Returns the map for a buffer of this shape, whose extents may be dynamic,
    /// as a layout of the map family: coordinates -> storage coordinates. The
    /// last digit of each axis extends to the end of the dimension.
    ::llvm::FailureOr<::tile::Layout>
    getMapLayout(::llvm::ArrayRef<int64_t> shape,
                 ::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError) const;
    /// Returns the map of a slice that keeps the dimensions with kept[i]: the
    /// results that depend on other dimensions are removed. Fails if these are
    /// not the leading results; reports an error unless `emitError` is null.
    ::llvm::FailureOr<::tile::MapAttr>
    getSlice(::llvm::ArrayRef<bool> kept, int64_t align,
             ::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError) const;
  }];
}

//===----------------------------------------------------------------------===//
// Open extents
//===----------------------------------------------------------------------===//

def Tile_OpenAttr : AttrDef<Tile_Dialect, "Open", [
    DeclareAttrInterfaceMethods<VerifiableTensorEncoding, ["verifyEncoding"]>]> {
  let mnemonic = "open";
  let summary = "the names of a tile's open extents";
  let description = [{
    The encoding of a tile whose extents are not all known yet. It names a
    parameter of the kernel (`tile.param`) for each `?`, in their order. Extents
    are equal if their names are. `tile-close-extents` replaces them by numbers.

    ```mlir
    !tile = tensor<?x128x?xf32, #tile.open<BM, BN>>
    ```

    Illegal: another number of names than of `?`; extents that are not positive.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$names);
  let hasCustomAssemblyFormat = 1;
}

#endif // TILE_DIALECT_TILE_IR_TILEATTRS_TD
