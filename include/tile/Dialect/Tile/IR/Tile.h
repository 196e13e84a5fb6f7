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
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tile/Layout/Layout.h"
#include "tile/Target/Mma.h"

#include "tile/Dialect/Tile/IR/TileDialect.h.inc"
#include "tile/Dialect/Tile/IR/TileEnums.h.inc"
#include "tile/Dialect/Tile/IR/TileInterfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "tile/Dialect/Tile/IR/TileAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "tile/Dialect/Tile/IR/TileTypes.h.inc"

namespace tile {

/// The two kinds of memory that operations touch.
struct GlobalMemory : mlir::SideEffects::Resource::Base<GlobalMemory> {
  llvm::StringRef getName() final { return "tile.global"; }
};
struct SharedMemory : mlir::SideEffects::Resource::Base<SharedMemory> {
  llvm::StringRef getName() final { return "tile.shared"; }
};

/// Most elements of a tile or a shared buffer: more than the registers or the
/// shared memory of a block hold, few enough to enumerate.
inline constexpr int64_t kMostTileElements = int64_t(1) << 20;

/// Tiles and shared buffers have at least one dimension, static positive
/// extents, and kMostTileElements elements at most. `emitError` may be null.
llvm::LogicalResult
verifyTileShape(llvm::ArrayRef<int64_t> shape,
                llvm::function_ref<mlir::InFlightDiagnostic()> emitError);
/// True for a ranked tensor of such a shape whose encoding, if any, is a
/// layout.
bool isTile(mlir::Type type);
/// Shared memory needs a layout of static size that gives every element an
/// offset of its own. `attr` is named in errors.
llvm::LogicalResult
verifyStorage(const Layout &layout, mlir::Attribute attr,
              llvm::function_ref<mlir::InFlightDiagnostic()> emitError);
/// By what one step of each result of a map moves the offset in row-major
/// storage. Extents that are dynamic are represented by numbers with the same
/// divisors. Empty if 64 bits do not hold them.
llvm::SmallVector<int64_t> getStorageStrides(const Layout &map);
/// The layout attribute of a tile, or null.
LayoutAttrInterface getLayoutAttr(mlir::Type tile);
/// True for a tile that lives in shared memory (its layout is of the memory
/// family).
bool isSharedTile(mlir::Type tile);
/// The canonical layout of a laid-out tile; valid by construction.
Layout getCanonicalLayout(mlir::RankedTensorType tile);
/// `tile` with another layout attribute (null: none).
mlir::RankedTensorType withLayout(mlir::RankedTensorType tile,
                                  mlir::Attribute layout);

} // namespace tile

namespace tile {
class GridOp;
class ReturnOp;

/// Kinds of extents of the named operations. Those of one kind agree.
enum class AttentionExtent { Batch, Queries, Keys, Heads, KVHeads, Bounds };
/// What messages call an extent of this kind.
llvm::StringRef describeExtent(AttentionExtent kind);
/// An extent of a buffer that a named operation calls `name`.
struct NamedExtent {
  llvm::StringRef name;
  mlir::Value buffer;
  int64_t dim;
  AttentionExtent kind;
  /// Of scratch memory: it may be larger than those that agree.
  bool mayExceed = false;

  /// mlir::ShapedType::kDynamic if it is not known.
  int64_t get() const;
};

/// The registers that each thread starts with, where a block takes all of a
/// multiprocessor: what its roles can share among themselves.
int64_t getRegisterShare(int64_t threads);
/// Why no tensor map (Target/TensorMap.h) takes a tile along `dims` of `source`
/// to `dest`, from a part of the rows if it `isRagged`; empty if one does.
std::string getTensorMapObstacle(BufferType source,
                                 llvm::ArrayRef<int64_t> dims, BufferType dest,
                                 bool isRagged);

} // namespace tile

#include "tile/Dialect/Tile/IR/TileOpInterfaces.h.inc"

#define GET_OP_CLASSES
#include "tile/Dialect/Tile/IR/TileOps.h.inc"

#endif // TILE_DIALECT_TILE_IR_TILE_H
