//===- Allocation.cpp - Allocation of vector registers on AMD -------------===//
//
// LLVM's greedy allocator asks for each value that has no register, for each
// register and for each value in it, whether that value may move to another
// register. Where most values do not fit, the time grows with the square of the
// registers: a kernel with 512 elements of a thread took 76 seconds, one with
// 476 compare-and-swap loops 48 seconds. LLVM's basic allocator moves the
// values with the fewest uses to memory. It takes one to five seconds, and
// spills 10 % less to 30 % more.
//
// The greedy allocator also splits values at the edges of blocks, and looks for
// the best of these places in all blocks that a value passes. Checks and
// compare-and-swap loops of each element make hundreds of blocks: with 2021 of
// them, it took three seconds for 98 registers too many.
//
// For a long function whose values need more than twice the registers, the
// passes up to the allocation take 5 to 18 seconds, and the basic allocator as
// long. Most of what such a function does is to move values from and to memory.
// Code without optimization takes two to eleven seconds.
//
//===----------------------------------------------------------------------===//

#include "Allocation.h"
#include "llvm/CodeGen/LiveIntervals.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/RegisterClassInfo.h"
#include "llvm/CodeGen/TargetRegisterInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/PassInfo.h"
#include "llvm/PassRegistry.h"

using namespace llvm;

/// The most instructions of a function for which LLVM's slow ways are worth
/// their time. Kernels of attention and of the examples have up to 5200.
static constexpr int64_t kMostInstructions = 8192;

bool tile::RegisterDemand::isLong() const {
  return instructions > kMostInstructions;
}

/// The values of a long function that do not fit are enough. In others, half of
/// the registers more would not suffice: the kernels of attention and of the
/// examples need up to 1.2 times the registers.
bool tile::RegisterDemand::isCrowded() const {
  return 2 * live > (isLong() ? 2 : 3) * available;
}

/// Such functions, of random programs, spill 16 to 40 KB of a thread.
bool tile::RegisterDemand::isHopeless() const {
  return isLong() && live > 2 * available;
}

/// The share of the registers that limitScheduling() leaves. The loop of a
/// product with 188 of 192 live registers spilled 16 bytes.
static constexpr int64_t kReserved = 32;

bool tile::RegisterDemand::isTight() const {
  return live <= available && live > available - available / kReserved;
}

/// The attribute for the most vector registers. The scheduler reads it, and so
/// would the allocator.
static constexpr StringLiteral kLimit = "amdgpu-num-vgpr";

void tile::limitScheduling(Function &function, const RegisterDemand &demand) {
  int64_t limit = demand.available - demand.available / kReserved;
  function.addFnAttr(kLimit, std::to_string(limit));
}

/// Returns the vector registers of a value of LLVM IR.
static int64_t countRegisters(Type *type, const DataLayout &layout) {
  if (!type->isVectorTy() && !type->isFloatingPointTy())
    return 0;
  return divideCeil(layout.getTypeSizeInBits(type).getFixedValue(), 32);
}

tile::RegisterDemand tile::estimateDemand(const Function &function,
                                          int64_t available) {
  const DataLayout &layout = function.getDataLayout();
  DenseMap<const User *, int64_t> numbers;
  for (const Instruction &inst : instructions(function))
    numbers.try_emplace(&inst, numbers.size());
  // The registers that become live behind each instruction, or cease to be.
  SmallVector<int64_t> changes(numbers.size());
  for (const Instruction &inst : instructions(function)) {
    int64_t number = numbers[&inst], last = number;
    for (const User *user : inst.users())
      last = std::max(last, numbers.lookup(user));
    int64_t count = countRegisters(inst.getType(), layout);
    changes[number] += count;
    changes[last] -= count;
  }
  RegisterDemand demand;
  demand.available = available;
  demand.instructions = numbers.size();
  int64_t live = 0;
  for (int64_t change : changes) {
    live += change;
    demand.live = std::max(demand.live, live);
  }
  return demand;
}

namespace {
/// Measures the demands of functions, and finds those that are crowded.
class MeasureDemand : public MachineFunctionPass {
public:
  static char ID;
  MeasureDemand(tile::RegisterDemands &demands, tile::IsKept isKept)
      : MachineFunctionPass(ID), demands(demands), isKept(std::move(isKept)) {}

  StringRef getPassName() const override { return "Register demand"; }

  void getAnalysisUsage(AnalysisUsage &usage) const override {
    usage.addRequired<LiveIntervalsWrapperPass>();
    usage.setPreservesAll();
    MachineFunctionPass::getAnalysisUsage(usage);
  }

  bool runOnMachineFunction(MachineFunction &function) override;

private:
  tile::RegisterDemands &demands;
  tile::IsKept isKept;
};
} // namespace

char MeasureDemand::ID = 0;

/// Removes all instructions but those that end a block.
static void discard(MachineFunction &function, LiveIntervals &intervals) {
  MachineRegisterInfo &registers = function.getRegInfo();
  for (MachineBasicBlock &block : function)
    for (MachineInstr &inst : llvm::make_early_inc_range(block)) {
      if (inst.isTerminator()) {
        for (MachineOperand &operand : inst.all_uses())
          operand.setIsUndef(operand.isUndef() || operand.getReg().isVirtual());
        continue;
      }
      for (MachineInstr &part : llvm::make_range(
               inst.getIterator(), getBundleEnd(inst.getIterator())))
        intervals.RemoveMachineInstrFromMaps(part);
      inst.eraseFromParent();
    }
  for (unsigned i = 0, e = registers.getNumVirtRegs(); i < e; ++i) {
    Register value = Register::index2VirtReg(i);
    if (intervals.hasInterval(value))
      intervals.removeInterval(value);
  }
  for (MCRegUnit unit : registers.getTargetRegisterInfo()->regunits())
    intervals.removeRegUnit(unit);
}

bool MeasureDemand::runOnMachineFunction(MachineFunction &function) {
  LiveIntervals &intervals = getAnalysis<LiveIntervalsWrapperPass>().getLIS();
  MachineRegisterInfo &registers = function.getRegInfo();
  const TargetRegisterInfo &target = *registers.getTargetRegisterInfo();
  function.getFunction().removeFnAttr(kLimit);
  // The allocators begin with this, too.
  registers.freezeReservedRegs();
  RegisterClassInfo classes;
  classes.runOnMachineFunction(function);

  // The registers that become live at an instruction, or cease to be.
  SmallVector<std::pair<SlotIndex, int64_t>> changes;
  auto add = [&](const LiveRange &range, int64_t count) {
    for (const LiveRange::Segment &segment : range) {
      changes.push_back({segment.start, count});
      changes.push_back({segment.end, -count});
    }
  };
  tile::RegisterDemand demand;
  for (const MachineBasicBlock &block : function)
    demand.instructions += block.size();
  for (unsigned i = 0, e = registers.getNumVirtRegs(); i < e; ++i) {
    Register value = Register::index2VirtReg(i);
    if (registers.reg_nodbg_empty(value) || !intervals.hasInterval(value))
      continue;
    const TargetRegisterClass &type = *registers.getRegClass(value);
    // On CDNA, a value may move to accumulation registers.
    const TargetRegisterClass *widest =
        target.getLargestLegalSuperClass(&type, function);
    demand.available = std::max<int64_t>(demand.available,
                                         classes.getNumAllocatableRegs(widest));
    int64_t count = divideCeil(target.getRegSizeInBits(type), 32);
    const LiveInterval &interval = intervals.getInterval(value);
    if (!interval.hasSubRanges()) {
      add(interval, count);
      continue;
    }
    unsigned lanes = registers.getMaxLaneMaskForVReg(value).getNumLanes();
    for (const LiveInterval::SubRange &part : interval.subranges())
      add(part, divideCeil(count * part.LaneMask.getNumLanes(), lanes));
  }
  llvm::sort(changes);
  int64_t live = 0;
  for (const auto &[index, count] : changes) {
    live += count;
    demand.live = std::max(demand.live, live);
  }
  demands[function.getName()] = demand;
  if (isKept(function.getName(), demand))
    return false;
  discard(function, intervals);
  return true;
}

void tile::allocateCrowdedFunctions(TargetPassConfig &config,
                                    RegisterDemands &demands, IsKept isKept) {
  // Without optimization, LLVM's fast allocator needs no live intervals.
  if (config.getOptLevel() == CodeGenOptLevel::None)
    return;
  // The pass in front of the allocation of vector registers; scalar registers
  // and those of whole waves are allocated before.
  const PassInfo *place = PassRegistry::getPassRegistry()->getPassInfo(
      StringRef("amdgpu-reserve-wwm-regs"));
  if (!place)
    return;
  auto isOfCrowded = [&demands](const TargetRegisterInfo &,
                                const MachineRegisterInfo &registers,
                                Register value) {
    return !registers.reg_empty(value) &&
           demands
               .lookup(
                   registers.reg_begin(value)->getParent()->getMF()->getName())
               .isCrowded();
  };
  config.insertPass(place->getTypeInfo(),
                    new MeasureDemand(demands, std::move(isKept)));
  config.insertPass(&MeasureDemand::ID,
                    createBasicRegisterAllocator(isOfCrowded));
}
