//===- ClusterExchange.h - Exchanges between blocks -------------*- C++ -*-===//
//
// An exchange: threads store to shared memory, wait at a barrier, and load what
// others have stored. Where the bytes that arrive are known, an mbarrier counts
// them, and nothing else has to be ordered.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_CONVERSION_TILETOGPU_NVIDIA_CLUSTEREXCHANGE_H
#define TILE_LIB_CONVERSION_TILETOGPU_NVIDIA_CLUSTEREXCHANGE_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <string>

namespace tile {

/// Returns true if `value` is shared memory.
bool isSharedMemory(mlir::Value value);

struct ClusterExchange {
  mlir::gpu::BarrierOp barrier;
  llvm::SmallVector<mlir::vector::StoreOp> stores;
  /// The first and the last operation of the barrier's block with these stores,
  /// and with loads of what they have stored; the barrier without loads.
  mlir::Operation *firstStore = nullptr, *lastStore = nullptr;
  mlir::Operation *lastLoad = nullptr;
  /// Bytes that all threads store.
  int64_t bytes = 0;
};

/// Finds the exchanges of a function of `threads` threads. All its accesses to
/// shared memory must belong to them, and one must end before the next one
/// begins. Otherwise returns the reason. `exchanges` are in the order of the
/// program.
std::optional<std::string>
findExchanges(mlir::gpu::GPUFuncOp func, int64_t threads,
              llvm::SmallVectorImpl<ClusterExchange> &exchanges);

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETOGPU_NVIDIA_CLUSTEREXCHANGE_H
