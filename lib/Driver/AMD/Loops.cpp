//===- Loops.cpp - Instructions of the loops of code objects --------------===//

#include "tile/Driver/AMD/Loops.h"
#include "llvm-c/Target.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrAnalysis.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/Regex.h"
#include <map>
#include <mutex>

using namespace llvm;

namespace tile {

//===----------------------------------------------------------------------===//
// Mnemonics
//===----------------------------------------------------------------------===//

StringRef stringifyUnit(AMDUnit unit) {
  static constexpr StringLiteral names[kNumAMDUnits] = {
      "matrix", "vector", "transcendental", "shared",
      "memory", "wait",   "branch",         "scalar"};
  return names[static_cast<unsigned>(unit)];
}

/// Returns whether the text begins with one of the alternatives.
static bool startsWithAny(StringRef text, ArrayRef<StringLiteral> beginnings) {
  return any_of(beginnings,
                [&](StringRef begin) { return text.starts_with(begin); });
}

AMDUnit getUnit(StringRef mnemonic) {
  if (startsWithAny(mnemonic, {"v_mfma_", "v_smfmac_", "v_wmma_", "v_swmmac_"}))
    return AMDUnit::Matrix;
  // v_s_exp_f32 and others of gfx12, which have scalar results, take the same
  // unit.
  StringRef operation =
      mnemonic.drop_front(std::min<size_t>(2, mnemonic.size()));
  operation.consume_front("s_");
  if (startsWithAny(mnemonic, {"v_"}) &&
      startsWithAny(operation, {"exp_", "log_", "rcp_", "rsq_", "sqrt_", "sin_",
                                "cos_", "prng_", "tanh_"}))
    return AMDUnit::Transcendental;
  if (mnemonic.starts_with("v_"))
    return AMDUnit::Vector;
  if (mnemonic.starts_with("ds_"))
    return AMDUnit::Shared;
  if (startsWithAny(mnemonic, {"global_", "buffer_", "flat_", "scratch_",
                               "image_", "tbuffer_"}))
    return AMDUnit::Memory;
  if (startsWithAny(mnemonic,
                    {"s_wait", "s_nop", "s_barrier", "s_sleep", "s_delay"}))
    return AMDUnit::Wait;
  if (startsWithAny(mnemonic,
                    {"s_branch", "s_cbranch", "s_call", "s_setpc", "s_swappc"}))
    return AMDUnit::Branch;
  return AMDUnit::Scalar;
}

MatrixOperations getMatrixOperations(StringRef mnemonic) {
  // The shape may be followed by the number of products: 4x4x4_16b.
  static const Regex shape(
      "_([0-9]+)x([0-9]+)x([0-9]+)(_([0-9]+)b)?_?([a-z0-9]+)");
  SmallVector<StringRef> match;
  if (getUnit(mnemonic) != AMDUnit::Matrix || !shape.match(mnemonic, &match))
    return {};
  int64_t m, n, k, products = 1;
  if (match[1].getAsInteger(10, m) || match[2].getAsInteger(10, n) ||
      match[3].getAsInteger(10, k))
    return {};
  if (!match[5].empty() && match[5].getAsInteger(10, products))
    return {};
  StringRef type = match[6];
  MatrixOperations result;
  result.operations = 2 * m * n * k * products;
  if (startsWithAny(type, {"f16", "bf16"}))
    result.bits = 16;
  else if (startsWithAny(type, {"f32", "xf32", "f64"}))
    result.bits = 32;
  else
    result.bits = 8;
  return result;
}

int64_t getSharedBytes(StringRef mnemonic) {
  static const Regex width("_[bfuiB]?(8|16|32|64|96|128)(_|$)");
  SmallVector<StringRef> match;
  int64_t bits = 32;
  if (width.match(mnemonic, &match))
    match[1].getAsInteger(10, bits);
  bool isPair = mnemonic.contains("read2") || mnemonic.contains("write2") ||
                mnemonic.contains("2addr");
  return std::max<int64_t>(bits / 8, 4) * (isPair ? 2 : 1);
}

//===----------------------------------------------------------------------===//
// Disassembly
//===----------------------------------------------------------------------===//

namespace {

/// The parts of LLVM that disassemble the code of one chip.
class Disassembler {
public:
  static Expected<std::unique_ptr<Disassembler>> create(StringRef chip);

  struct Instruction {
    uint64_t address;
    std::string mnemonic;
    /// The target of a branch to a known address.
    std::optional<uint64_t> target;
    /// A load from global memory to the LDS.
    bool toShared;
  };

  /// Disassembles a function at that address.
  Expected<std::vector<Instruction>> run(ArrayRef<uint8_t> bytes,
                                         uint64_t address);

private:
  MCTargetOptions options;
  std::unique_ptr<const MCSubtargetInfo> subtarget;
  std::unique_ptr<const MCRegisterInfo> registers;
  std::unique_ptr<const MCAsmInfo> assembly;
  std::unique_ptr<const MCInstrInfo> instructions;
  std::unique_ptr<const MCInstrAnalysis> analysis;
  std::unique_ptr<MCContext> context;
  std::unique_ptr<MCInstPrinter> printer;
  std::unique_ptr<const MCDisassembler> disassembler;
};

} // namespace

Expected<std::unique_ptr<Disassembler>> Disassembler::create(StringRef chip) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
  });
  Triple triple("amdgcn-amd-amdhsa");
  std::string message;
  const Target *target = TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return createStringError(message);
  auto result = std::make_unique<Disassembler>();
  // Other compilers use the halves of registers, which the code generator of
  // this LLVM leaves alone unless it is told to use them.
  result->subtarget.reset(
      target->createMCSubtargetInfo(triple, chip, "+real-true16"));
  result->registers.reset(target->createMCRegInfo(triple));
  result->assembly.reset(
      target->createMCAsmInfo(*result->registers, triple, result->options));
  result->instructions.reset(target->createMCInstrInfo());
  result->analysis.reset(
      target->createMCInstrAnalysis(result->instructions.get()));
  result->context = std::make_unique<MCContext>(triple, result->assembly.get(),
                                                result->registers.get(),
                                                result->subtarget.get());
  result->printer.reset(target->createMCInstPrinter(
      triple, /*SyntaxVariant=*/0, *result->assembly, *result->instructions,
      *result->registers));
  result->disassembler.reset(
      target->createMCDisassembler(*result->subtarget, *result->context));
  if (!result->analysis || !result->printer || !result->disassembler)
    return createStringError("LLVM has no disassembler for " + chip);
  return result;
}

Expected<std::vector<Disassembler::Instruction>>
Disassembler::run(ArrayRef<uint8_t> bytes, uint64_t address) {
  std::vector<Instruction> result;
  for (uint64_t offset = 0; offset < bytes.size();) {
    MCInst inst;
    uint64_t size = 0;
    uint64_t here = address + offset;
    if (disassembler->getInstruction(inst, size, bytes.drop_front(offset), here,
                                     nulls()) != MCDisassembler::Success)
      return createStringError("unknown instruction at address 0x" +
                               utohexstr(here));
    Instruction instruction;
    instruction.address = here;
    std::string text;
    raw_string_ostream os(text);
    printer->printInst(&inst, here, /*Annot=*/"", *subtarget, os);
    StringRef line = StringRef(text).trim();
    instruction.mnemonic = line.take_until(isSpace).str();
    instruction.toShared =
        line.ends_with(" lds") || line.contains("_load_lds_");
    uint64_t target = 0;
    if (analysis->evaluateBranch(inst, here, size, target))
      instruction.target = target;
    result.push_back(std::move(instruction));
    offset += size;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

static void addInstruction(AMDWork &loop,
                           const Disassembler::Instruction &instruction) {
  StringRef mnemonic = instruction.mnemonic;
  AMDUnit unit = getUnit(mnemonic);
  ++loop.instructions[static_cast<unsigned>(unit)];
  if (unit == AMDUnit::Matrix) {
    MatrixOperations matrix = getMatrixOperations(mnemonic);
    int64_t &sum = matrix.bits == 16   ? loop.matrix16
                   : matrix.bits == 32 ? loop.matrix32
                                       : loop.matrix8;
    sum += matrix.operations;
  } else if (unit == AMDUnit::Shared) {
    bool isWrite =
        mnemonic.starts_with("ds_write") || mnemonic.starts_with("ds_store");
    (isWrite ? loop.sharedWrites : loop.sharedReads) +=
        getSharedBytes(mnemonic);
  } else if (instruction.toShared) {
    int64_t words = 1;
    size_t count = mnemonic.rfind("dwordx");
    if (count != StringRef::npos)
      mnemonic.substr(count + 6).getAsInteger(10, words);
    loop.sharedWrites += 4 * words;
  }
}

/// Returns the address behind the first branch without a condition behind
/// `address`.
static uint64_t findEnd(ArrayRef<Disassembler::Instruction> code,
                        uint64_t address) {
  for (const Disassembler::Instruction &instruction : code)
    if (instruction.address > address && instruction.mnemonic == "s_branch")
      return instruction.address + 1;
  return address;
}

/// Adds the instructions from `first` to `last`.
static void addInstructions(AMDLoop &loop,
                            ArrayRef<Disassembler::Instruction> code,
                            uint64_t first, uint64_t last) {
  uint64_t skipped = 0;
  for (const Disassembler::Instruction &instruction : code) {
    if (instruction.address < first || instruction.address > last)
      continue;
    addInstruction(loop.all, instruction);
    if (instruction.address >= skipped)
      addInstruction(loop.common, instruction);
    bool isSkipping =
        instruction.mnemonic == "s_cbranch_execz" && instruction.target;
    if (isSkipping && *instruction.target > instruction.address &&
        *instruction.target <= last)
      skipped = std::max(skipped, *instruction.target);
    // A block at the end of the loop branches back to where the others go on.
    if (isSkipping && *instruction.target >= first &&
        *instruction.target <= instruction.address)
      skipped = std::max(skipped, findEnd(code, instruction.address));
  }
}

/// Returns the loops of a function: the code from the target of a backward
/// branch to the last such branch.
static std::vector<AMDLoop>
findLoops(ArrayRef<Disassembler::Instruction> code) {
  if (code.empty())
    return {};
  std::map<uint64_t, uint64_t> ends;
  uint64_t begin = code.front().address;
  for (const Disassembler::Instruction &instruction : code)
    if (instruction.target && *instruction.target >= begin &&
        *instruction.target <= instruction.address)
      ends[*instruction.target] =
          std::max(ends[*instruction.target], instruction.address);

  struct Candidate {
    uint64_t begin, end;
    AMDLoop loop;
  };
  std::vector<Candidate> candidates;
  for (auto [first, last] : ends) {
    AMDLoop loop;
    loop.offset = first - begin;
    addInstructions(loop, code, first, last);
    candidates.push_back({first, last, loop});
  }
  std::vector<AMDLoop> loops;
  for (const Candidate &outer : candidates) {
    bool hasInner = false, innerHasMatrix = false;
    for (const Candidate &inner : candidates)
      if (inner.begin > outer.begin && inner.begin <= outer.end) {
        hasInner = true;
        innerHasMatrix |= inner.loop.all.count(AMDUnit::Matrix) != 0;
      }
    if (!hasInner ||
        (outer.loop.all.count(AMDUnit::Matrix) != 0 && !innerHasMatrix))
      loops.push_back(outer.loop);
  }
  return loops;
}

Expected<std::vector<AMDKernelLoops>> readCodeObjectLoops(StringRef codeObject,
                                                          StringRef chip) {
  using ELFT = object::ELF64LE;
  auto file = object::ELFFile<ELFT>::create(codeObject);
  if (!file)
    return file.takeError();
  auto disassembler = Disassembler::create(chip);
  if (!disassembler)
    return disassembler.takeError();
  auto sections = file->sections();
  if (!sections)
    return sections.takeError();
  // A linked object may have lost all but dynamic symbols, which a relocatable
  // one does not have.
  const ELFT::Shdr *table = nullptr;
  for (auto type : {ELF::SHT_SYMTAB, ELF::SHT_DYNSYM})
    for (const ELFT::Shdr &section : *sections)
      if (section.sh_type == type)
        table = &section;
  if (!table)
    return createStringError("the code object has no symbols");
  auto symbols = file->symbols(table);
  if (!symbols)
    return symbols.takeError();
  auto strings = file->getStringTableForSymtab(*table);
  if (!strings)
    return strings.takeError();
  std::vector<AMDKernelLoops> kernels;
  for (const ELFT::Sym &symbol : *symbols) {
    if (symbol.getType() != ELF::STT_FUNC || symbol.st_shndx == ELF::SHN_UNDEF)
      continue;
    auto name = symbol.getName(*strings);
    if (!name)
      return name.takeError();
    auto section = file->getSection(symbol.st_shndx);
    if (!section)
      return section.takeError();
    auto contents = file->getSectionContents(**section);
    if (!contents)
      return contents.takeError();
    uint64_t base = (*section)->sh_addr;
    uint64_t address = symbol.st_value, size = symbol.st_size;
    uint64_t start = address - base;
    if (address < base || start > contents->size() ||
        size > contents->size() - start)
      return createStringError("function " + *name + " is not in its section");
    auto code = (*disassembler)->run(contents->slice(start, size), address);
    if (!code)
      return createStringError("function " + *name + ": " +
                               toString(code.takeError()));
    kernels.push_back({name->str(), findLoops(*code)});
  }
  return kernels;
}

} // namespace tile
