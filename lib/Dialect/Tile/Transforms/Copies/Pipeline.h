//===- Pipeline.h - Copies that run ahead of their use ----------*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_TRANSFORMS_COPIES_PIPELINE_H
#define TILE_LIB_DIALECT_TILE_TRANSFORMS_COPIES_PIPELINE_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tile/Analysis/RunAhead.h"
#include "tile/Analysis/SharedMemory.h"
#include "tile/Chips/Chips.h"

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
void pipelineStreams(llvm::MutableArrayRef<CopyStream> streams,
                     const Chip &chip);

/// Returns the largest number of stages, up to two, with which the kernel fits
/// the shared memory of the chip; 0 and the reason in `noStages` if one stage
/// does not fit.
int64_t chooseStages(KernelOp kernel, const Chip &chip, bool oneGroup,
                     Refusal &noStages);

/// Returns the fewest stages with which the copies of the most loops run ahead
/// through registers: a tile is in flight for one phase, whatever the number of
/// stages is. Returns 0 and the reason in `noStages` if there are none.
int64_t chooseStagesThroughRegisters(KernelOp kernel, const Chip &chip,
                                     bool oneGroup, Refusal &noStages);

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_TRANSFORMS_COPIES_PIPELINE_H
