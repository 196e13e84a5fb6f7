//===- Emit.cpp - Code generation for AMD chips ---------------------------===//
//
// The scheduler estimates how many registers a region takes, and the estimate
// is too low for the wide fragments of RDNA 3. Machine sinking moves an MMA
// past branches to the end of a loop, while the loads of its operands stay, so
// that all fragments are live at once. Both cost spills. Most kernels gain from
// the scheduler for latency, from whole vectors and from the passes that move
// and share instructions, so a module is compiled again only if it spills: with
// loads side by side, with each value next to its first use, for the fewest
// registers, and without moving what a loop repeats in front of it: integers
// that a loop around another one uses would be live in both. No order of
// instructions avoids spills of more than all registers. Without spills, a
// module is compiled again with loads side by side if a kernel takes all
// registers and the LDS has room for more waves.
//
//===----------------------------------------------------------------------===//

#include "Emit.h"
#include "PairReads.h"
#include "SinkToUses.h"
#include "tile/Chips/Chips.h"
#include "tile/Driver/AMD/IssueModel.h"
#include "tile/Driver/ResourceUsage.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include <tuple>

namespace {
/// A way to generate code.
struct Attempt {
  /// The strategy of the scheduler; empty for the default.
  llvm::StringLiteral strategy;
  /// Whether machine instructions are moved and shared.
  bool movesInstructions;
  /// Whether each value is computed next to its first use.
  bool sinksToUses = false;
  /// Whether machine instructions move in front of loops.
  bool hoists = true;
};
} // namespace

static constexpr Attempt sinking = {"", false, /*sinksToUses=*/true};
static constexpr Attempt attempts[] = {
    {"", true},
    {"max-memory-clause", true},
    sinking,
    {"iterative-minreg", false},
    {"iterative-minreg", true, /*sinksToUses=*/true},
    {"", false, /*sinksToUses=*/true, /*hoists=*/false}};

/// The bytes of the registers of a thread.
static constexpr int64_t kRegisterBytes = 256 * 4;

/// The most instructions of a block that are scheduled after the allocation of
/// registers. The time grows with their square: 22,000 take 8 seconds. Kernels
/// whose tiles fit in the registers have up to 2,500.
static constexpr size_t kMostScheduled = 8192;

/// The most instructions of a block for which code is generated again. The
/// time for the allocation of registers grows with the values that are live:
/// 8,700 instructions took 14 seconds, and take half a second with each value
/// next to its first use. Kernels with products have up to 3,000.
static constexpr size_t kMostRepeated = 3584;

/// Returns true if a block has more than `most` instructions.
static bool hasLongBlock(const llvm::Module &module, size_t most) {
  for (const llvm::Function &function : module)
    for (const llvm::BasicBlock &block : function)
      if (block.size() > most)
        return true;
  return false;
}

/// TargetMachine::addPassesToEmitFile with a choice of passes.
static bool emit(llvm::TargetMachine &machine, llvm::Module &module,
                 const Attempt &attempt, llvm::SmallVectorImpl<char> &output) {
  llvm::legacy::PassManager passes;
  llvm::raw_svector_ostream os(output);
  llvm::TargetPassConfig *config = machine.createPassConfig(passes);
  if (!config)
    return true;
  if (!attempt.strategy.empty())
    for (llvm::Function &function : module)
      function.addFnAttr("amdgpu-sched-strategy", attempt.strategy);
  if (attempt.sinksToUses)
    tile::sinkToUses(module, machine);
  if (!attempt.movesInstructions) {
    config->disablePass(&llvm::MachineSinkingLegacyID);
    config->disablePass(&llvm::MachineCSELegacyID);
  }
  if (!attempt.hoists)
    config->disablePass(&llvm::EarlyMachineLICMID);
  if (hasLongBlock(module, kMostScheduled))
    config->disablePass(&llvm::PostRASchedulerID);
  // The pass manager owns both objects.
  passes.add(config);
  auto *info = new llvm::MachineModuleInfoWrapperPass(&machine);
  passes.add(info);
  if (config->addISelPasses())
    return true;
  config->addMachinePasses();
  config->setInitialized();
  if (machine.addAsmPrinter(passes, os, /*DwoOut=*/nullptr,
                            llvm::CodeGenFileType::ObjectFile,
                            info->getMMI().getContext()))
    return true;
  passes.add(llvm::createFreeMachineFunctionPass());
  passes.run(module);
  return false;
}

namespace {
/// The cost of the register allocation of all kernels of an object.
struct RegisterCost {
  /// The bytes of private memory.
  int64_t stackBytes = 0;
  /// The waves of a SIMD for which there are no registers although the LDS has
  /// room for them.
  int64_t lostWaves = 0;
  /// Whether waves are lost to a kernel that takes all registers.
  bool takesAll = false;

  bool operator<(const RegisterCost &other) const {
    return std::tie(stackBytes, lostWaves) <
           std::tie(other.stackBytes, other.lostWaves);
  }
};
} // namespace

static RegisterCost getCost(llvm::ArrayRef<char> object,
                            const tile::Chip &chip) {
  RegisterCost cost;
  auto kernels = tile::readCodeObjectResources(
      llvm::StringRef(object.data(), object.size()));
  if (!kernels) {
    llvm::consumeError(kernels.takeError());
    return cost;
  }
  for (const tile::KernelResources &kernel : *kernels) {
    auto countWaves = [&](int64_t registers) {
      return tile::countWavesPerSIMD(
          chip, registers,
          llvm::divideCeil(kernel.blockThreads.value_or(1), chip.warpSize),
          kernel.sharedBytes);
    };
    int64_t lost = countWaves(0) - countWaves(kernel.registers);
    cost.stackBytes += kernel.stackBytes;
    cost.lostWaves += lost;
    cost.takesAll |= lost > 0 && kernel.registers >= chip.maxRegisters;
  }
  return cost;
}

bool tile::emitObject(llvm::TargetMachine &machine, llvm::Module &module,
                      llvm::SmallVectorImpl<char> &output) {
  addBasesOfPairs(module);
  // Code generation changes the module.
  std::unique_ptr<llvm::Module> original = llvm::CloneModule(module);
  const Chip &chip = *findChip(machine.getTargetCPU());
  llvm::SmallVector<char, 0> best;
  RegisterCost least;
  llvm::ArrayRef<Attempt> tried = attempts;
  if (hasLongBlock(module, kMostRepeated))
    tried = sinking;
  for (const Attempt &attempt : tried) {
    std::unique_ptr<llvm::Module> copy;
    if (&attempt != tried.begin())
      copy = llvm::CloneModule(*original);
    llvm::SmallVector<char, 0> object;
    if (emit(machine, copy ? *copy : module, attempt, object)) {
      // The first attempt says whether the machine emits objects at all.
      if (best.empty())
        return true;
      continue;
    }
    RegisterCost cost = getCost(object, chip);
    if (best.empty() || cost < least) {
      best = std::move(object);
      least = cost;
    }
    // One more attempt may leave registers for more waves.
    bool isEnough = !least.takesAll || &attempt != tried.begin();
    if ((least.stackBytes == 0 && isEnough) ||
        least.stackBytes > kRegisterBytes)
      break;
  }
  llvm::append_range(output, best);
  return false;
}
