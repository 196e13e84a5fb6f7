//===- Pipeline.h - Copies that run ahead of their use ----------*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_TRANSFORMS_PIPELINE_H
#define TILE_LIB_DIALECT_TILE_TRANSFORMS_PIPELINE_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tile/Analysis/RunAhead.h"
#include "tile/Analysis/SharedMemory.h"

namespace tile {

/// Copies of a loop that are committed and waited for together.
struct CopyGroup {
  llvm::SmallVector<BufferCopy> copies;
  /// The first and the last operation of the loop that read their buffers.
  mlir::Operation *first, *last;
};

/// A loop whose copies run ahead.
struct PlannedLoop {
  mlir::scf::ForOp loop;
  llvm::SmallVector<CopyGroup> groups;
  int64_t stages;
};

/// Loops that follow each other and go on with the same copies, in one set of
/// rings.
using CopyStream = llvm::SmallVector<PlannedLoop>;

/// Plans the innermost loops that copy, with `defaultStages` stages unless
/// their author asks for another number. With `oneGroup`, the copies of a loop
/// are one group. Fails if a loop cannot be pipelined as its author asks.
/// `report` turns on remarks and errors. `noStages` is the reason why
/// `defaultStages` is 0.
llvm::FailureOr<llvm::SmallVector<CopyStream>>
planCopyStreams(KernelOp kernel, int64_t defaultStages, bool oneGroup,
                bool report, const Refusal &noStages = std::nullopt);

/// Adds the rings of `streams` to the model of their kernel, in place of the
/// buffers of the copies.
void addRings(llvm::ArrayRef<CopyStream> streams, SharedMemoryModel &model);

/// Pipelines the loops.
void pipelineStreams(llvm::MutableArrayRef<CopyStream> streams);

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_TRANSFORMS_PIPELINE_H
