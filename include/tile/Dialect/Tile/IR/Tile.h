//===- Tile.h - The tile dialect --------------------------------*- C++ -*-===//
//
// Dialect, attributes, types and operations. Their documentation is in the .td
// files of this folder.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DIALECT_TILE_IR_TILE_H
#define TILE_DIALECT_TILE_IR_TILE_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/BufferizationTypeInterfaces.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tile/Chips/Mma.h"
#include "tile/Dialect/Tile/IR/KernelPattern.h"
#include "tile/Dialect/Tile/IR/LayoutRequirements.h"
#include "tile/Dialect/Tile/IR/OpenExtents.h"
#include "tile/Dialect/Tile/IR/Reports.h"
#include "tile/Dialect/Tile/IR/Schedule.h"
#include "tile/Layout/Layout.h"
#include "tile/Support/Refusal.h"

#include "tile/Dialect/Tile/IR/TileDialect.h.inc"
#include "tile/Dialect/Tile/IR/TileEnums.h.inc"
#include "tile/Dialect/Tile/IR/TileInterfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "tile/Dialect/Tile/IR/TileAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "tile/Dialect/Tile/IR/TileTypes.h.inc"

namespace tile {

/// The largest number of elements of a tile or a shared buffer. It is more than
/// the registers or the shared memory of a block hold, and small enough to
/// enumerate the elements.
inline constexpr int64_t kMostTileElements = int64_t(1) << 20;

/// The largest number of elements of a constant tile whose elements differ.
/// Each thread selects its elements by comparisons.
inline constexpr int64_t kMostConstants = 1024;

/// Verifies the shape of a tile or a shared buffer: at least one dimension,
/// static positive extents, and at most kMostTileElements elements. Reports an
/// error unless `emitError` is null.
llvm::LogicalResult
verifyTileShape(llvm::ArrayRef<int64_t> shape,
                llvm::function_ref<mlir::InFlightDiagnostic()> emitError);
/// Returns true for a ranked tensor of such a shape whose encoding, if any, is
/// a layout.
bool isTile(mlir::Type type);
/// Verifies that `layout` can be that of shared memory: its size is static and
/// every element has an offset of its own. Errors name `attr`.
llvm::LogicalResult
verifyStorage(const Layout &layout, mlir::Attribute attr,
              llvm::function_ref<mlir::InFlightDiagnostic()> emitError);
/// Verifies that `layout` is a layout of tiles of this shape and element type:
/// every element has exactly one place, apart from declared copies (digits
/// '-> 0') in registers. `emitError` may be null.
llvm::LogicalResult
verifyTileLayout(LayoutAttrInterface layout, llvm::ArrayRef<int64_t> shape,
                 mlir::Type element,
                 llvm::function_ref<mlir::InFlightDiagnostic()> emitError);
/// Returns the strides of the row-major storage of a map, in elements, one per
/// result. Dynamic extents are represented by numbers with the same divisors.
/// Returns an empty vector if a stride does not fit 64 bits.
llvm::SmallVector<int64_t> getStorageStrides(const Layout &map);
/// Returns the layout attribute of a tile, or null.
LayoutAttrInterface getLayoutAttr(mlir::Type tile);
/// Returns true for a tile in shared memory: its layout is of the memory
/// family.
bool isSharedTile(mlir::Type tile);
/// Returns the canonical layout of a tile with a layout. It is valid by
/// construction.
Layout getCanonicalLayout(mlir::RankedTensorType tile);
/// Returns `tile` with another layout attribute; null removes the layout.
mlir::RankedTensorType withLayout(mlir::RankedTensorType tile,
                                  mlir::Attribute layout);
/// Returns a tile of the elements of `tile` with the shape of `layout`, a
/// distributed layout, and distributed like it.
mlir::RankedTensorType withLayout(mlir::RankedTensorType tile,
                                  const Layout &layout);

} // namespace tile

namespace tile {
class GridOp;
class ReturnOp;
class RingCreateOp;

/// Kinds of extents of attention. Extents of one kind are equal.
enum class AttentionExtent {
  Batch,
  Queries,
  Keys,
  Heads,
  KVHeads,
  Bounds,
  Parts,
  Pages,
  PageKeys,
  PartRows
};
/// Kinds of extents of tile.matmul. Batch dimension i is of the kind Batch + i.
enum class MatmulExtent { Rows, Columns, Depth, Batch };
/// The extent `dim` of `buffer`, an operand of a named operation with the name
/// `name`.
struct NamedExtent {
  std::string name;
  mlir::Value buffer;
  int64_t dim;
  /// A number of an enumeration of the operation, and its name in messages.
  unsigned kind;
  llvm::StringRef kindName;
  /// True for scratch memory, whose extent may be larger than the others of its
  /// kind.
  bool mayExceed = false;

  /// Returns the extent, or mlir::ShapedType::kDynamic if it is not static.
  int64_t get() const;
  /// Returns its name in messages: the kind and the operand.
  std::string describe() const;
};

/// Returns the operations that may have yielded `value`, the token of a slot or
/// a product in flight: its definition or, if scf.for carries it, those of the
/// values that it may be.
llvm::SmallVector<mlir::Operation *, 2> getOrigins(mlir::Value value);
/// Returns the ring of the token `slot`; null if no operation of a ring yields
/// it.
RingCreateOp getRing(mlir::Value slot);
/// Returns the ring that `op`, a tile.ring.acquire or tile.ring.take, advances.
RingCreateOp getRingOf(mlir::Operation *op);

/// Returns the number of registers that each thread of a block of `threads`
/// threads starts with if the block has a multiprocessor for itself. The roles
/// of the block redistribute these registers among themselves.
int64_t getRegisterShare(int64_t threads);
/// Refuses to copy a tile along `dims` of `source` to `dest` if there is no
/// tensor map for it (Chips/NVIDIA/TensorMap.h). If `isRagged`, the tile is
/// bounded by a range of rows of `source`.
Refusal checkTensorMap(BufferType source, llvm::ArrayRef<int64_t> dims,
                       BufferType dest, bool isRagged);
/// Returns the rows of a tile that one box of a tensor map has if they lie in
/// pages of `page` rows: the largest power of two that divides both.
int64_t getPageRows(int64_t page, int64_t rows);
/// Refuses to copy tiles of `rows` rows from pages of `page` rows if there is
/// no such box.
Refusal checkPageRows(int64_t page, int64_t rows);
/// Returns the element type of matrix instructions (Chips/Mma.h) for `type`;
/// std::nullopt if there is none. f32 is never tf32.
std::optional<MmaElement> getMmaElement(mlir::Type type);

} // namespace tile

#include "tile/Dialect/Tile/IR/TileOpInterfaces.h.inc"

#define GET_OP_CLASSES
#include "tile/Dialect/Tile/IR/TileOps.h.inc"

#endif // TILE_DIALECT_TILE_IR_TILE_H
