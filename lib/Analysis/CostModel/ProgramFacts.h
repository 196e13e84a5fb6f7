//===- ProgramFacts.h - What candidates have in common ----------*- C++ -*-===//
//
// Internal to the cost model (tile/Analysis/CostModel.h).
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_ANALYSIS_COSTMODEL_PROGRAMFACTS_H
#define TILE_LIB_ANALYSIS_COSTMODEL_PROGRAMFACTS_H

#include "tile/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include <vector>

namespace tile {

/// A tile in registers.
struct RegisterTile {
  mlir::RankedTensorType type;
  /// Bits that an element takes.
  int64_t elementBits;

  bool operator==(const RegisterTile &other) const {
    return type == other.type && elementBits == other.elementBits;
  }
};

/// Returns the tile that `value` has in registers; nothing if the tile is in
/// shared memory, or computed where it is used.
std::optional<RegisterTile> getRegisterTile(mlir::Value value);

/// Properties of a kernel that are the same for all candidates. The kernel must
/// not change while this lives.
class ProgramFacts {
public:
  explicit ProgramFacts(KernelOp kernel);

  /// Returns true if `value` is computed from elements of buffers or tiles.
  bool dependsOnData(mlir::Value value) const {
    return fromData.contains(value);
  }

  /// Returns isMaskOfCoordinates(op).
  bool isMask(mlir::Operation *op) const { return masks.contains(op); }

  bool hasProducts;
  /// Whether threads load elements of global memory one by one.
  bool loadsElements = false;
  /// The tiles that threads load by accesses of several elements.
  llvm::SetVector<mlir::RankedTensorType> wideTiles;
  /// The types of all tiles, and of those that do not only feed products.
  llvm::SetVector<mlir::RankedTensorType> tiles, heldTiles;
  /// The tiles in registers. A place of the program has numbers of these, one
  /// for each tile that is live there.
  std::vector<RegisterTile> registerTiles;
  std::vector<std::vector<unsigned>> places;

private:
  void findLive(mlir::Block &block, llvm::SetVector<mlir::Value> live);

  llvm::DenseSet<mlir::Value> fromData;
  llvm::DenseSet<mlir::Operation *> masks;
};

} // namespace tile

#endif // TILE_LIB_ANALYSIS_COSTMODEL_PROGRAMFACTS_H
