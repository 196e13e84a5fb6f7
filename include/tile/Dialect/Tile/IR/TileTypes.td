//===- TileTypes.td - Types of the tile dialect ------------*- tablegen -*-===//
#ifndef TILE_DIALECT_TILE_IR_TILETYPES_TD
#define TILE_DIALECT_TILE_IR_TILETYPES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/Dialect/Bufferization/IR/BufferizationTypeInterfaces.td"
include "tile/Dialect/Tile/IR/TileAttrs.td"

def Tile_BufferType : TypeDef<Tile_Dialect, "Buffer", [
    ShapedTypeInterface,
    DeclareTypeInterfaceMethods<Bufferization_BufferLikeTypeInterface>]> {
  let mnemonic = "buffer";
  let summary = "memory with a layout";
  let description = [{
    An array of `shape` elements in global or shared memory. The layout, of the
    memory family, maps element coordinates to offsets in elements. Shared
    buffers have static shapes. An alignment of the size of an element is the
    default and is dropped: for f32, `#tile.strided<[1], align = 4>` is
    `#tile.strided<[1]>`.

    ```mlir
    !tile.buffer<?x?x?x128xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
    !tile.buffer<64x128xf16, #tile.swizzle<128>, shared>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape,
    "::mlir::Type":$elementType, "::tile::LayoutAttrInterface":$layout,
    "::tile::MemorySpace":$space);
  let builders = [TypeBuilder<(ins "::llvm::ArrayRef<int64_t>":$shape,
      "::mlir::Type":$elementType, "::tile::LayoutAttrInterface":$layout,
      "::tile::MemorySpace":$space), [{
    return $_get($_ctxt, shape, elementType,
                 dropDefaultAlignment(layout, elementType), space);
  }]>];
  let skipDefaultBuilders = 1;
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    // Methods of ShapedType, by which bufferization compares tiles and buffers.
    // The layout must be valid for the new shape.
    bool hasRank() const { return true; }
    ::mlir::ShapedType cloneWith(::std::optional<::llvm::ArrayRef<int64_t>> shape,
                                 ::mlir::Type elementType) const;
    unsigned getElementBits() const {
      return getElementType().getIntOrFloatBitWidth();
    }
    /// Returns `layout` without its alignment if that is the default, the size
    /// of an element, so that equal buffers have equal types.
    static ::tile::LayoutAttrInterface
    dropDefaultAlignment(::tile::LayoutAttrInterface layout,
                         ::mlir::Type elementType);
    bool isShared() const { return getSpace() == ::tile::MemorySpace::Shared; }
    /// Returns the known alignment of the base of a global buffer, in bytes.
    int64_t getAlignment() const;
    /// Returns the memory layout of a tile of shape `tile` at the origin of this
    /// buffer. It is also that of a tile at multiples of getPeriod(). The tile
    /// may be larger than the buffer. Extents may be kDynamic unless the buffer
    /// is shared.
    ::tile::Layout getTileMemory(::llvm::ArrayRef<int64_t> tile) const;
    /// Returns the period of the layout along `dim`, in elements: it has the
    /// same digits from each multiple of the period on.
    int64_t getPeriod(unsigned dim) const;
    /// Returns the canonical layout, which is valid by construction.
    ::tile::Layout getCanonicalLayout() const;
    /// Returns the elements of storage of a static buffer.
    int64_t getStorageSize() const;
    /// Returns the bytes of storage of a static buffer.
    int64_t getStorageBytes() const {
      return getStorageSize() * getElementBits() / 8;
    }
  }];
}

#endif // TILE_DIALECT_TILE_IR_TILETYPES_TD
