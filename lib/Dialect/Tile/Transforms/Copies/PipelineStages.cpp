//===- PipelineStages.cpp - The stages of copies that run ahead -----------===//

#include "Pipeline.h"
#include "tile/Analysis/Registers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;

/// Refuses a kernel that takes more shared memory than the chip has.
static Refusal checkSharedBytes(const SharedMemoryModel &model,
                                const Chip &chip, int64_t stages) {
  int64_t bytes = model.placeWithin(chip.sharedBytes).bytes;
  if (bytes <= chip.sharedBytes)
    return std::nullopt;
  return "with " + std::to_string(stages) + " stage" +
         (stages == 1 ? "" : "s") + " the kernel takes " +
         std::to_string(bytes) + " bytes of shared memory; " + chip.name.str() +
         " has " + std::to_string(chip.sharedBytes);
}

int64_t tile::chooseStages(KernelOp kernel, const Chip &chip, bool oneGroup,
                           Refusal &noStages) {
  SharedMemoryModel model(kernel);
  noStages = "a loop cannot have the stages that its author asks for";
  for (int64_t stages : {2, 1}) {
    FailureOr<SmallVector<CopyStream>> streams =
        planCopyStreams(kernel, stages, oneGroup, /*report=*/false);
    if (failed(streams))
      continue;
    SharedMemoryModel pipelined = model;
    addRings(*streams, pipelined);
    noStages = checkSharedBytes(pipelined, chip, stages);
    if (!noStages)
      return stages;
  }
  return 0;
}

/// Registers that LLVM for AMD takes beyond the estimate in loops with copies
/// in flight (attention at head dimensions 64 and 128: 38 to 72).
static constexpr int64_t kFlightMargin = 72;

/// Returns the most registers of a thread for tiles that are in flight at once:
/// those of a group.
static int64_t countInFlight(ArrayRef<CopyStream> streams, int64_t threads) {
  int64_t most = 0;
  for (const CopyStream &stream : streams)
    for (const CopyGroup &group : stream.front().groups) {
      int64_t registers = 0;
      for (const BufferCopy &copy : group.copies) {
        BufferType type = AllocOp(copy.buffer).getType();
        int64_t bits = ShapedType::getNumElements(type.getShape()) *
                       int64_t(type.getElementBits());
        registers += llvm::divideCeil(bits, 32 * threads);
      }
      most = std::max(most, registers);
    }
  return most;
}

/// Refuses rings for `streams` if the registers or the shared memory do not
/// suffice for the tiles in flight.
static Refusal checkFlight(KernelOp kernel, const Chip &chip,
                           ArrayRef<CopyStream> streams, int64_t stages) {
  int64_t registers =
      estimateRegisters(kernel).total +
      countInFlight(streams, kernel.getNumWarps() * chip.warpSize) +
      kFlightMargin;
  if (int64_t limit = getRegisterLimit(kernel, chip); registers > limit)
    return "with tiles in flight a thread needs about " +
           std::to_string(registers) + " registers, of " +
           std::to_string(limit);
  SharedMemoryModel model(kernel);
  addRings(streams, model);
  return checkSharedBytes(model, chip, stages);
}

int64_t tile::chooseStagesThroughRegisters(KernelOp kernel, const Chip &chip,
                                           bool oneGroup, Refusal &noStages) {
  noStages = "a loop cannot have the stages that its author asks for";
  int64_t chosen = 0;
  size_t most = 0;
  for (int64_t stages : {1, 2}) {
    FailureOr<SmallVector<CopyStream>> streams =
        planCopyStreams(kernel, stages, oneGroup, /*report=*/false);
    if (failed(streams))
      continue;
    size_t loops = 0;
    for (const CopyStream &stream : *streams)
      loops += stream.size();
    if (loops <= most)
      continue;
    noStages = checkFlight(kernel, chip, *streams, stages);
    if (noStages)
      break;
    chosen = stages;
    most = loops;
  }
  return chosen;
}
