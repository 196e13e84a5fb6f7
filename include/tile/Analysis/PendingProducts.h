//===- PendingProducts.h - Matrix products in flight ------------*- C++ -*-===//
//
// Asynchronous MMAs end in the order in which they were started, and the
// hardware waits until at most a constant number of them is in flight (PTX ISA,
// "wgmma.wait_group"). The number for a tile.await follows from the program:
// the MMAs that are certainly started after those that it waits for.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_ANALYSIS_PENDINGPRODUCTS_H
#define TILE_ANALYSIS_PENDINGPRODUCTS_H

#include "tile/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"

namespace tile {

/// The waits for products in flight in an operation. The analysis holds while
/// conversions move operations and replace operands.
class PendingProducts {
public:
  struct Wait {
    /// The number of products that may stay in flight.
    int64_t younger;
    /// For each product, whether another product adds to it or a loop carries
    /// it on, so that its registers are still in use.
    llvm::BitVector continued;

    /// Returns true for the number of such a product, among all operands.
    bool isContinued(size_t operand) const {
      return operand < continued.size() && continued.test(operand);
    }
  };

  /// Analyses all tile.await in `root`.
  explicit PendingProducts(mlir::Operation *root);

  const Wait &getWait(AwaitOp op) const { return waits.at(op); }

private:
  llvm::DenseMap<mlir::Operation *, Wait> waits;
};

/// Returns the smallest number of products that any path of the program starts
/// between `product` and `op`.
int64_t countYoungerProducts(mlir::Value product, mlir::Operation *op);

} // namespace tile

#endif // TILE_ANALYSIS_PENDINGPRODUCTS_H
