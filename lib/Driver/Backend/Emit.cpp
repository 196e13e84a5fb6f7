//===- Emit.cpp - Code generation for AMD chips ---------------------------===//
//
// The scheduler estimates how many registers a region takes, and the estimate
// is too low for the wide fragments of RDNA 3, which costs spills. Most kernels
// gain from the scheduler for latency, from whole vectors and from the passes
// that move and share instructions, so a kernel is compiled again only if it
// spills: with some registers that the scheduler leaves, with loads side by
// side, without moving what a loop repeats in front of it, with each value next
// to its first use, without sharing values among blocks, and for the fewest
// registers. An integer that moves in front of an outer loop is live in the
// inner one, too, and a value that blocks in front of a loop and behind it
// share is live in the loop. No order of instructions avoids spills of more
// than all registers. Without spills, a kernel is compiled again with loads
// side by side if it takes all registers and the LDS has room for more waves. A
// kernel that needs many more registers than there are is compiled with each
// value next to its first use only, and a long kernel in one way. The kernels
// of a module are compiled together, each in its own way; a kernel whose code
// would take too long is compiled without optimization if it is alone.
//
// Machine sinking moves an MMA whose result only other blocks use to one of
// them, and with it the MMAs whose sum it takes. The loads of their operands
// stay, so that all fragments are live at once. Functions with such an MMA are
// compiled without machine sinking.
//
//===----------------------------------------------------------------------===//

#include "Emit.h"
#include "Allocation.h"
#include "PairReads.h"
#include "RoundToBF16.h"
#include "SinkToUses.h"
#include "tile/Chips/Chips.h"
#include "tile/Driver/AMD/IssueModel.h"
#include "tile/Driver/ResourceUsage.h"
#include "tile/Driver/Unoptimized.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/PassInfo.h"
#include "llvm/PassRegistry.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include <limits>
#include <map>
#include <tuple>
#include <vector>

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
  /// Whether values that blocks have in common are computed once.
  bool sharesValues = true;
  /// Whether the scheduler leaves a few registers to the allocator.
  bool reservesRegisters = false;
};
} // namespace

static constexpr Attempt sinking = {"", false, /*sinksToUses=*/true};
/// In the order in which they are tried. The second and third one mend most
/// spills.
static constexpr Attempt attempts[] = {
    {"", true},
    {"", true, /*sinksToUses=*/false, /*hoists=*/true, /*sharesValues=*/true,
     /*reservesRegisters=*/true},
    sinking,
    {"max-memory-clause", true},
    {"", true, /*sinksToUses=*/false, /*hoists=*/false},
    {"", true, /*sinksToUses=*/false, /*hoists=*/true, /*sharesValues=*/false},
    {"iterative-minreg", false},
    {"iterative-minreg", false, /*sinksToUses=*/true, /*hoists=*/true,
     /*sharesValues=*/false},
    {"", false, /*sinksToUses=*/true, /*hoists=*/false}};

static constexpr const Attempt *sinkingAttempt = &attempts[2];
static_assert(sinkingAttempt->sinksToUses);
/// The one with another strategy of the scheduler. It keeps the order of values
/// of the first attempt, as the next one does.
static constexpr const Attempt *clauseAttempt = &attempts[3];
static_assert(!clauseAttempt->strategy.empty());
static constexpr const Attempt *unsharedAttempt = &attempts[5];
static_assert(!unsharedAttempt->sharesValues);

/// Returns true if the registers of an attempt are not allocated, because the
/// values need more than there are. The first attempt is followed by
/// `sinkingAttempt` then, or by `sinking`, and each other one comes after an
/// attempt whose registers were allocated.
static bool isDiscarded(const Attempt *attempt,
                        const tile::RegisterDemand &demand) {
  if (attempt == std::begin(attempts) && demand.isCrowded())
    return true;
  return attempt != &sinking && attempt != sinkingAttempt &&
         demand.isExcessive();
}

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
static bool hasLongBlock(const llvm::Function &function, size_t most) {
  return llvm::any_of(function, [&](const llvm::BasicBlock &block) {
    return block.size() > most;
  });
}

/// The most integers with an addition in a loop for which loop strength
/// reduction looks for cheaper ways to compute them. Its time grows with more
/// than their square: 300 take 20 seconds.
static constexpr unsigned kMostReduced = 256;

/// Returns true if a block carries more than kMostReduced integers that an
/// addition computes. Elements of vectors count: they become scalars before
/// loop strength reduction.
static bool carriesManySums(const llvm::Function &function) {
  auto isSum = [](const llvm::Value *value) {
    auto *op = llvm::dyn_cast<llvm::BinaryOperator>(value);
    return op && op->getOpcode() == llvm::Instruction::Add;
  };
  return llvm::any_of(function, [&](const llvm::BasicBlock &block) {
    unsigned count = 0;
    for (const llvm::PHINode &phi : block.phis())
      if (llvm::any_of(phi.incoming_values(), isSum)) {
        auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(phi.getType());
        count += vector ? vector->getNumElements() : 1;
      }
    return count > kMostReduced;
  });
}

/// Returns true if only other blocks use the result of an MMA, and no phi does.
/// An MMA is a convergent intrinsic with a vector that it adds to.
static bool hasSinkableMMA(const llvm::Function &function) {
  return llvm::any_of(
      llvm::instructions(function), [](const llvm::Instruction &inst) {
        auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&inst);
        llvm::Type *type = inst.getType();
        return call && call->isConvergent() && type->isVectorTy() &&
               !inst.use_empty() &&
               llvm::any_of(call->args(),
                            [type](const llvm::Use &argument) {
                              return argument->getType() == type;
                            }) &&
               llvm::none_of(inst.users(), [&](const llvm::User *user) {
                 auto *other = llvm::cast<llvm::Instruction>(user);
                 return other->getParent() == inst.getParent() ||
                        llvm::isa<llvm::PHINode>(other);
               });
      });
}

/// The way to generate code of each function, by its name.
using Choice = llvm::StringMap<const Attempt *>;

namespace {
/// Skips machine passes for functions, beside those that the gate of the
/// context skips, while it exists.
class AttemptGate : public llvm::OptPassGate {
public:
  AttemptGate(const llvm::Module &module, const Choice &choice)
      : context(module.getContext()), outer(context.getOptPassGate()),
        reducesLoops(llvm::none_of(module, carriesManySums)) {
    for (const auto &entry : choice) {
      std::string unit = ("function (" + entry.first() + ")").str();
      attempts[unit] = entry.second;
      if (hasSinkableMMA(*module.getFunction(entry.first())))
        unsunk.insert(unit);
    }
    context.setOptPassGate(*this);
  }
  ~AttemptGate() override { context.setOptPassGate(outer); }

  bool isEnabled() const override { return true; }

  bool shouldRunPass(llvm::StringRef pass,
                     llvm::StringRef unit) const override {
    if (outer.isEnabled() && !outer.shouldRunPass(pass, unit))
      return false;
    // Passes of loops give their names, and no function.
    if (!reducesLoops && pass == "Loop Strength Reduction")
      return false;
    auto entry = attempts.find(unit);
    if (entry == attempts.end())
      return true;
    auto is = [&](const char &id) {
      const llvm::PassInfo *info =
          llvm::PassRegistry::getPassRegistry()->getPassInfo(&id);
      return info && info->getPassArgument() == pass;
    };
    if (!entry->second->movesInstructions &&
        (is(llvm::MachineSinkingLegacyID) || is(llvm::MachineCSELegacyID)))
      return false;
    if (unsunk.contains(unit) && is(llvm::MachineSinkingLegacyID))
      return false;
    if (!entry->second->sharesValues && (pass == "gvn" || pass == "early-cse"))
      return false;
    return entry->second->hoists || !is(llvm::EarlyMachineLICMID);
  }

private:
  llvm::LLVMContext &context;
  llvm::OptPassGate &outer;
  /// By the descriptions that passes give of functions.
  Choice attempts;
  /// Those that are compiled without machine sinking in each attempt.
  llvm::StringSet<> unsunk;
  bool reducesLoops;
};
} // namespace

/// TargetMachine::addPassesToEmitFile with a choice of passes. `known` are the
/// demands of functions in the attempt before.
static bool emit(llvm::TargetMachine &machine, llvm::Module &module,
                 const Choice &choice, const tile::RegisterDemands &known,
                 tile::RegisterDemands &demands,
                 llvm::SmallVectorImpl<char> &output) {
  llvm::legacy::PassManager passes;
  llvm::raw_svector_ostream os(output);
  llvm::TargetPassConfig *config = machine.createPassConfig(passes);
  if (!config)
    return true;
  AttemptGate gate(module, choice);
  for (llvm::Function &function : module) {
    auto entry = choice.find(function.getName());
    if (entry == choice.end())
      continue;
    const Attempt &attempt = *entry->second;
    if (!attempt.strategy.empty())
      function.addFnAttr("amdgpu-sched-strategy", attempt.strategy);
    if (attempt.reservesRegisters)
      tile::limitScheduling(function, known.lookup(entry->first()));
    if (attempt.sinksToUses)
      tile::sinkToUses(function, machine);
    else
      tile::addBasesOfPairs(function);
  }
  if (llvm::any_of(module, [](const llvm::Function &function) {
        return hasLongBlock(function, kMostScheduled);
      }))
    config->disablePass(&llvm::PostRASchedulerID);
  // The pass manager owns both objects.
  passes.add(config);
  auto *info = new llvm::MachineModuleInfoWrapperPass(&machine);
  passes.add(info);
  if (config->addISelPasses())
    return true;
  tile::allocateCrowdedFunctions(
      *config, demands,
      [&choice](llvm::StringRef function, const tile::RegisterDemand &demand) {
        return !isDiscarded(choice.lookup(function), demand) &&
               !(choice.size() == 1 && demand.isHopeless());
      });
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
/// The cost of the register allocation of a kernel.
struct RegisterCost {
  /// The bytes of private memory.
  int64_t stackBytes = 0;
  /// The waves of a SIMD for which there are no registers although the LDS has
  /// room for them.
  int64_t lostWaves = 0;
  /// Whether waves are lost and the kernel takes all registers.
  bool takesAll = false;

  bool operator<(const RegisterCost &other) const {
    return std::tie(stackBytes, lostWaves) <
           std::tie(other.stackBytes, other.lostWaves);
  }
};

/// The search for the way to generate code of a kernel.
struct Search {
  /// The one that is tried, the best of those before, and its cost.
  const Attempt *current, *best = nullptr;
  RegisterCost least;
  /// The fewest registers that an attempt needed.
  int64_t leastLive = std::numeric_limits<int64_t>::max();
  /// Whether the registers of the first attempt were not allocated.
  bool isFirstDiscarded = false;
  bool isDone = false;

  void advance(const RegisterCost &cost, const tile::RegisterDemand &demand);

private:
  const Attempt *getNext(const tile::RegisterDemand &demand) const;
};
} // namespace

const Attempt *Search::getNext(const tile::RegisterDemand &demand) const {
  // Nothing spills. Another strategy of the scheduler may leave registers for
  // more waves.
  if (current == std::begin(attempts) && least.stackBytes == 0)
    return clauseAttempt;
  // The same order of values needs as many registers.
  if (current == sinkingAttempt && isFirstDiscarded)
    return unsharedAttempt;
  // Values that leave some registers spill for another reason.
  if (current == std::begin(attempts) && !demand.isTight())
    return sinkingAttempt;
  return current + 1;
}

/// Takes the cost of the current attempt and chooses the next one, or the best
/// one at the end. `demand` is that of the current attempt.
void Search::advance(const RegisterCost &cost,
                     const tile::RegisterDemand &demand) {
  leastLive = std::min(leastLive, demand.live);
  bool isCandidate = !isDiscarded(current, demand);
  if (!isCandidate && current == std::begin(attempts)) {
    // Another order of instructions does not help.
    bool isLast = demand.isCrowded() || demand.isLong();
    current = isLast ? &sinking : sinkingAttempt;
    isFirstDiscarded = true;
    return;
  }
  if (isCandidate && (!best || cost < least)) {
    best = current;
    least = cost;
  }
  // One more attempt may leave registers for more waves.
  bool isEnough = !least.takesAll || current != std::begin(attempts);
  // If every attempt lacks a fifth of the registers, none helps.
  isDone = (least.stackBytes == 0 && isEnough) ||
           least.stackBytes > kRegisterBytes || demand.isLong() ||
           5 * leastLive > 6 * demand.available || current == &sinking ||
           current + 1 == std::end(attempts);
  current = isDone ? best : getNext(demand);
}

/// Returns the costs of the kernels of an object, by their names.
static llvm::StringMap<RegisterCost> getCosts(llvm::ArrayRef<char> object,
                                              const tile::Chip &chip) {
  llvm::StringMap<RegisterCost> costs;
  auto kernels = tile::readCodeObjectResources(
      llvm::StringRef(object.data(), object.size()));
  if (!kernels) {
    llvm::consumeError(kernels.takeError());
    return costs;
  }
  for (const tile::KernelResources &kernel : *kernels) {
    auto countWaves = [&](int64_t registers) {
      return tile::countWavesPerSIMD(
          chip, registers,
          llvm::divideCeil(kernel.blockThreads.value_or(1), chip.warpSize),
          kernel.sharedBytes);
    };
    int64_t lost = countWaves(0) - countWaves(kernel.registers);
    costs[kernel.name] = {kernel.stackBytes, lost,
                          lost > 0 && kernel.registers >= chip.maxRegisters};
  }
  return costs;
}

/// The most instructions of a block in code without optimization, where values
/// pass from block to block in memory: blocks of 256 took a random program 84
/// KB of a thread, those of 4096 took 30.
static constexpr unsigned kUnoptimizedBlock = 4096;

/// Emits the code of `module` without optimization. `demand` is that of its
/// only kernel.
static bool emitUnoptimized(llvm::TargetMachine &machine, llvm::Module &module,
                            tile::RegisterDemand &demand,
                            llvm::SmallVectorImpl<char> &output) {
  demand.isUnoptimized = true;
  // Integer arithmetic would store the steps of each element.
  tile::roundToBF16(module, /*byIntegers=*/false);
  tile::prepareUnoptimized(module, kUnoptimizedBlock);
  llvm::CodeGenOptLevel level = machine.getOptLevel();
  machine.setOptLevel(llvm::CodeGenOptLevel::None);
  tile::RegisterDemands demands;
  bool failed =
      emit(machine, module, /*choice=*/{}, /*known=*/{}, demands, output);
  machine.setOptLevel(level);
  return failed;
}

bool tile::emitObject(llvm::TargetMachine &machine, llvm::Module &module,
                      RegisterDemands &demands, unsigned &ways,
                      llvm::SmallVectorImpl<char> &output) {
  ways = 1;
  const Chip &chip = *findChip(machine.getTargetCPU());
  llvm::StringMap<Search> searches;
  for (const llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    searches[function.getName()].current =
        hasLongBlock(function, kMostRepeated) ? &sinking : std::begin(attempts);
  }
  bool isAlone = searches.size() == 1;
  if (isAlone) {
    llvm::StringRef kernel = searches.begin()->first();
    RegisterDemand demand =
        estimateDemand(*module.getFunction(kernel), chip.maxRegisters);
    if (demand.isHopeless())
      return emitUnoptimized(machine, module, demands[kernel] = demand, output);
  }
  // The demands and the object of each list of attempts, which has one attempt
  // for each function in the order of `searches`.
  struct Emission {
    RegisterDemands demands;
    llvm::SmallVector<char, 0> object;
  };
  std::map<std::vector<const Attempt *>, Emission> emissions;
  while (true) {
    Choice choice;
    std::vector<const Attempt *> current;
    for (const auto &entry : searches) {
      choice[entry.first()] = entry.second.current;
      current.push_back(entry.second.current);
    }
    auto [emission, isNew] = emissions.try_emplace(current);
    auto &[itsDemands, object] = emission->second;
    if (isNew) {
      // Code generation changes the module.
      std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module);
      roundToBF16(*copy, !machine.getMCSubtargetInfo()->checkFeatures(
                             "+bf16-cvt-insts"));
      if (emit(machine, *copy, choice, demands, itsDemands, object))
        return true;
    }
    ways = emissions.size();
    demands = itsDemands;
    if (isAlone && demands[choice.begin()->first()].isHopeless())
      return emitUnoptimized(machine, module, demands[choice.begin()->first()],
                             output);
    llvm::StringMap<RegisterCost> costs = getCosts(object, chip);
    bool isFinal = true;
    for (auto &entry : searches) {
      Search &search = entry.second;
      const Attempt *emitted = search.current;
      if (!search.isDone)
        search.advance(costs.lookup(entry.first()),
                       demands.lookup(entry.first()));
      isFinal &= search.current == emitted;
    }
    if (!isFinal)
      continue;
    llvm::append_range(output, object);
    return false;
  }
}
