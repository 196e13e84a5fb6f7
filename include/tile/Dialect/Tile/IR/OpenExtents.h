//===- OpenExtents.h - Extents that have names ------------------*- C++ -*-===//
//
// A kernel may leave extents of its tiles open: types name parameters
// (#tile.open), and tile.param lists the values that a parameter may have.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DIALECT_TILE_IR_OPENEXTENTS_H
#define TILE_DIALECT_TILE_IR_OPENEXTENTS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include <string>

namespace tile {
class KernelOp;
class ParamOp;

/// An extent of a tile or a buffer: a number, or the name of a parameter.
struct TileExtent {
  int64_t number = mlir::ShapedType::kDynamic;
  mlir::StringAttr name;

  bool operator==(const TileExtent &other) const {
    return number == other.number && name == other.name;
  }
  bool operator!=(const TileExtent &other) const { return !(*this == other); }
};

/// Returns the number or the name of an extent, for messages.
std::string describeExtent(const TileExtent &extent);
/// Returns the extents separated by `separator`.
std::string describeExtents(llvm::ArrayRef<TileExtent> extents,
                            llvm::StringRef separator = ", ");

/// Returns the extents of a tile or a buffer.
llvm::SmallVector<TileExtent> getExtents(mlir::ShapedType type);

/// Returns true for a tensor with an encoding #tile.open.
bool isOpenTile(mlir::Type type);

/// Returns the parameters of a kernel in the order of the program.
llvm::SmallVector<ParamOp, 4> getParams(KernelOp kernel);

/// Verifies the parameters of a kernel, the tiles whose extents they are, and
/// the values that its schedule gives them.
llvm::LogicalResult verifyOpenExtents(KernelOp kernel);

/// Returns `BM = 128, BN = 256` for a dictionary of integers.
std::string describeNumbers(mlir::DictionaryAttr numbers);

/// Adds a note with the extents that the compiler or a schedule gave to the
/// kernel, if the program left extents open.
void noteExtents(mlir::InFlightDiagnostic &diag, KernelOp kernel);

} // namespace tile

#endif // TILE_DIALECT_TILE_IR_OPENEXTENTS_H
