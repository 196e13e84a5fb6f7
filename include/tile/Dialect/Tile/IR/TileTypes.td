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
    /// Returns whether the buffer is a view of pages (`tile.paged`).
    bool isPaged() const;
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

def Tile_RingType : TypeDef<Tile_Dialect, "Ring"> {
  let mnemonic = "ring";
  let summary = "shared buffers that tiles go through, one after another";
  let description = [{
    A ring has `stages` slots, each a shared buffer of type `tile`. One warp role
    fills the slots (`tile.ring.acquire`), another one reads them
    (`tile.ring.take`); or the same threads fill and read them. Tile number i of
    the program order is in slot i mod `stages` on both sides.
    `tile-lower-rings` computes these numbers.

    ```mlir
    !tile.ring<!tile.buffer<64x128xf16, #tile.swizzle<128>, shared>, 2>
    ```
  }];
  let parameters = (ins "::tile::BufferType":$tile, "int64_t":$stages);
  let assemblyFormat = "`<` qualified($tile) `,` $stages `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Returns the type of `stages` buffers one after another; `tile` itself for
    /// one stage. Returns null if the layout does not allow to stack buffers.
    static ::tile::BufferType getStorageType(::tile::BufferType tile,
                                             int64_t stages);
    ::tile::BufferType getStorageType() const {
      return getStorageType(getTile(), getStages());
    }
    /// Returns the type of a buffer with one mbarrier for each slot.
    ::tile::BufferType getBarriersType() const;
  }];
}

def Tile_SlotType : TypeDef<Tile_Dialect, "Slot"> {
  let mnemonic = "slot";
  let summary = "the right to use one slot of a ring";
  let description = [{
    A token. `tile.ring.acquire` yields the right to fill a slot, which ends when
    the slot has been filled; `tile.ring.take` yields the right to read a slot,
    which ends with `tile.ring.release`. Every token is used up exactly once. An
    `scf.for` may carry the token of a slot that is read: the iteration that
    receives it releases the slot.

    ```mlir
    !tile.slot
    ```
  }];
}

def Tile_PendingType : TypeDef<Tile_Dialect, "Pending"> {
  let mnemonic = "pending";
  let summary = "a matrix product in flight";
  let description = [{
    The result of a `tile.dot async`. `tile.await` makes it a tile. Another
    `tile.dot async` may add to it while it is in flight, and an `scf.for` may
    carry it over its back edge: no wait is implied. What the product reads must
    not change until a `tile.await` of this product or of a later one: products
    end in the order in which they were started.

    ```mlir
    !tile.pending<tensor<64x64xf32, #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>>>
    ```
  }];
  let parameters = (ins "::mlir::RankedTensorType":$tile);
  let assemblyFormat = "`<` $tile `>`";
  let genVerifyDecl = 1;
}

#endif // TILE_DIALECT_TILE_IR_TILETYPES_TD
