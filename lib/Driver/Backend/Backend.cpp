//===- Backend.cpp - LLVM IR, optimization, code generation ---------------===//

#include "Backend.h"
#include "CopyFactors.h"
#include "Emit.h"
#include "JoinAddresses.h"
#include "JoinLogic.h"
#include "NarrowPhis.h"
#include "Recovery.h"
#include "RoundPairs.h"
#include "SingleElements.h"
#include "SinkScalars.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include <mutex>

using namespace mlir;

namespace tile {

/// Returns the location of the first kernel, for errors that LLVM does not
/// locate; that of the module if there is no kernel.
static Location findKernelLoc(gpu::GPUModuleOp module) {
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (!function.isExternal())
      return function.getLoc();
  return module.getLoc();
}

namespace {

/// Forwards the diagnostics of an LLVM context to MLIR.
class DiagnosticForwarder : public llvm::DiagnosticHandler {
public:
  DiagnosticForwarder(gpu::GPUModuleOp module, bool &failed)
      : module(module), failed(failed) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    std::string text;
    llvm::raw_string_ostream os(text);
    llvm::DiagnosticPrinterRawOStream printer(os);
    info.print(printer);
    switch (info.getSeverity()) {
    case llvm::DS_Error:
      failed = true;
      emitError(locate(info)) << "LLVM: " << text;
      break;
    case llvm::DS_Warning:
      emitWarning(locate(info)) << "LLVM: " << text;
      break;
    case llvm::DS_Remark:
    case llvm::DS_Note:
      break;
    }
    return true;
  }

private:
  Location locate(const llvm::DiagnosticInfo &info) {
    const llvm::Function *function = nullptr;
    if (info.getKind() == llvm::DK_ResourceLimit ||
        info.getKind() == llvm::DK_StackSize ||
        info.getKind() == llvm::DK_Unsupported ||
        info.getKind() == llvm::DK_Lowering)
      function =
          &static_cast<const llvm::DiagnosticInfoWithLocationBase &>(info)
               .getFunction();
    auto symbol = function ? module.lookupSymbol(function->getName()) : nullptr;
    return symbol ? symbol->getLoc() : findKernelLoc(module);
  }

  gpu::GPUModuleOp module;
  bool &failed;
};

/// Skips passes of LLVM's back ends for functions.
///
/// On AMD, straight line strength reduction finds nothing behind
/// joinSharedAddresses, and LICM would undo sinkScalars. In functions with many
/// variable addresses, these are not split into a variable and a constant part,
/// and not reassociated: reassociation compares each sum with all others, and
/// the sums that it adds take GVN and the folding of operands as long. 450
/// addresses take 15 seconds and 15 times as many additions, 2105 more than ten
/// minutes. Attention has up to 122.
///
/// On NVIDIA, strength reduction is skipped for functions with many variable
/// addresses. It compares each of them with all others, and asks for each pair
/// which users of a value would see poison: 300 addresses in global memory with
/// strides known at run time take a minute, 650 in shared memory half a second.
/// Attention has up to 150 in global memory. The functions that gain, those of
/// rows and of products, have up to 250 in all. In one block, 172 addresses and
/// variable sums take 28 seconds, 64 of int4_gemm on sm_100a 0.6. 137 sums in
/// 129 blocks take 25 seconds; in attention and the examples, up to 44 blocks
/// have sums. Reassociation is skipped there, too, and where one block has many
/// addresses and many other blocks have some: 676 in 375 blocks, of which one
/// has 256 with its sums, take a minute. Machine sinking is skipped where loops
/// without products add up floats and store: it moves the additions behind the
/// branches of the stores, beside which the summands are live then.
class PassGate : public llvm::OptPassGate {
public:
  void inspect(llvm::Module &module, const Chip &chip) {
    isAMD = chip.vendor == Vendor::AMD;
    for (llvm::Function &function : module) {
      int64_t addresses = 0, most = 0;
      int64_t blocksWithAddresses = 0, blocksWithSums = 0;
      for (const llvm::BasicBlock &block : function) {
        int64_t count = llvm::count_if(block, isVariableAddress);
        int64_t sums = llvm::count_if(block, isVariableSum);
        addresses += count;
        blocksWithAddresses += count > 0;
        blocksWithSums += sums > 0;
        most = std::max(most, count + sums);
      }
      std::string unit = ("function (" + function.getName() + ")").str();
      bool isCrowded = !isAMD && most > kMostInBlock;
      bool hasManySums =
          !isAMD && (blocksWithSums > kMostBlocks ||
                     (isCrowded && blocksWithAddresses > kMostBlocks));
      if (addresses > kMostAddresses || isCrowded || hasManySums)
        withManyAddresses.insert(unit);
      if (hasManySums)
        withManySums.insert(unit);
      if (!isAMD && hasSumsBesideStores(function) &&
          llvm::none_of(llvm::instructions(function), isProduct))
        withPlainSums.insert(unit);
    }
  }

  bool isEnabled() const override {
    return isAMD || !withManyAddresses.empty() || !withPlainSums.empty();
  }

  bool shouldRunPass(StringRef pass, StringRef unit) const override {
    if (isAMD)
      return pass != "slsr" && pass != "Loop Invariant Code Motion" &&
             ((pass != "separate-const-offset-from-gep" &&
               pass != "nary-reassociate") ||
              !withManyAddresses.contains(unit));
    return !(pass == "slsr" && withManyAddresses.contains(unit)) &&
           !(pass == "nary-reassociate" && withManySums.contains(unit)) &&
           !(pass == "machine-sink" && withPlainSums.contains(unit));
  }

private:
  static bool isVariableAddress(const llvm::Instruction &inst) {
    constexpr unsigned kGlobalMemory = 1, kSharedMemory = 3; // of both vendors
    auto *address = dyn_cast<llvm::GetElementPtrInst>(&inst);
    return address && !address->hasAllConstantIndices() &&
           (address->getPointerAddressSpace() == kGlobalMemory ||
            address->getPointerAddressSpace() == kSharedMemory);
  }

  /// Returns true if an instruction is that of a matrix unit.
  static bool isProduct(const llvm::Instruction &inst) {
    auto *call = dyn_cast<llvm::CallBase>(&inst);
    if (!call)
      return false;
    if (auto *text = dyn_cast<llvm::InlineAsm>(call->getCalledOperand()))
      return text->getAsmString().contains("mma");
    const llvm::Function *callee = call->getCalledFunction();
    return callee && callee->getName().contains("mma");
  }

  /// Returns true if a loop carries a float, and stores.
  static bool hasSumsBesideStores(llvm::Function &function) {
    if (function.isDeclaration())
      return false;
    auto isFloat = [](const llvm::PHINode &phi) {
      return phi.getType()->isFPOrFPVectorTy();
    };
    auto stores = [](const llvm::BasicBlock *block) {
      return llvm::any_of(*block, [](const llvm::Instruction &inst) {
        return llvm::isa<llvm::StoreInst>(inst);
      });
    };
    llvm::DominatorTree dominators(function);
    llvm::LoopInfo loops(dominators);
    return llvm::any_of(loops.getLoopsInPreorder(), [&](llvm::Loop *loop) {
      return llvm::any_of(loop->getHeader()->phis(), isFloat) &&
             llvm::any_of(loop->blocks(), stores);
    });
  }

  static bool isVariableSum(const llvm::Instruction &inst) {
    return inst.getOpcode() == llvm::Instruction::Add &&
           inst.getType()->isIntegerTy(64) &&
           !llvm::isa<llvm::Constant>(inst.getOperand(1));
  }

  static constexpr int64_t kMostAddresses = 256, kMostInBlock = 63,
                           kMostBlocks = 96;
  bool isAMD = false;
  /// The functions, described as passes describe them to the gate.
  llvm::StringSet<> withManyAddresses, withManySums, withPlainSums;
};

/// The LLVM objects of one compilation. They are on the heap, so that they can
/// be abandoned after a fatal error.
struct Session {
  PassGate gate;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  std::unique_ptr<llvm::TargetMachine> machine;
  llvm::SmallString<0> output;
  /// The register pressure of the functions, by their names.
  RegisterDemands demands;
  /// Whether an error was emitted as a diagnostic.
  bool failed = false;
};

} // namespace

static void initializeTarget(Vendor vendor) {
  static std::once_flag nvidia, amd;
  if (vendor == Vendor::NVIDIA)
    std::call_once(nvidia, [] {
      LLVMInitializeNVPTXTargetInfo();
      LLVMInitializeNVPTXTarget();
      LLVMInitializeNVPTXTargetMC();
      LLVMInitializeNVPTXAsmPrinter();
    });
  else
    // The parser is for inline assembly.
    std::call_once(amd, [] {
      LLVMInitializeAMDGPUTargetInfo();
      LLVMInitializeAMDGPUTarget();
      LLVMInitializeAMDGPUTargetMC();
      LLVMInitializeAMDGPUAsmPrinter();
      LLVMInitializeAMDGPUAsmParser();
    });
}

static std::string getFeatures(const Chip &chip) {
  if (chip.vendor == Vendor::NVIDIA)
    return ("+ptx" + llvm::Twine(chip.ptxVersion)).str();
  return chip.features.str();
}

static std::unique_ptr<llvm::TargetMachine>
createMachine(const Chip &chip, unsigned optLevel, std::string &error) {
  initializeTarget(chip.vendor);
  llvm::Triple triple(chip.vendor == Vendor::NVIDIA ? "nvptx64-nvidia-cuda"
                                                    : "amdgcn-amd-amdhsa");
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  llvm::TargetOptions options;
  // Contracts a * b + c to one instruction, as nvcc and hipcc do by default.
  options.AllowFPOpFusion = llvm::FPOpFusion::Fast;
  // At level 3 NVPTX adds two runs of global value numbering without an effect
  // on this code.
  if (chip.vendor == Vendor::NVIDIA)
    optLevel = std::min(optLevel, 2u);
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, chip.name, getFeatures(chip), options,
                                  llvm::Reloc::PIC_, std::nullopt,
                                  llvm::CodeGenOpt::getLevel(optLevel).value_or(
                                      llvm::CodeGenOptLevel::Aggressive)));
  if (!machine)
    error = "LLVM has no back end for this chip";
  return machine;
}

static void setTargetOf(llvm::Module &module,
                        const llvm::TargetMachine &machine, const Chip &chip) {
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    function.addFnAttr("target-features", machine.getTargetFeatureString());
    // Otherwise each operand of a maximum takes an instruction that makes
    // signaling NaNs quiet.
    if (chip.vendor == Vendor::AMD)
      function.addFnAttr("amdgpu-ieee", "false");
  }
  // Code object 5 loads on ROCm 5.5 and later; LLVM's default needs 6.4.
  if (chip.vendor == Vendor::AMD)
    module.addModuleFlag(llvm::Module::Error, "amdhsa_code_object_version",
                         500);
}

/// The optimizations for NVIDIA. Tiles arrive as vectors of all registers of a
/// thread, which PTX does not have. They are scalarized first: later, every phi
/// of a loop would copy them element by element through selects. Two 16-bit
/// floats stay one register. The other passes are those from which
/// straight-line kernels gain. Loop invariants have been hoisted in MLIR; LICM
/// would also hoist address immediates into registers. The default pipelines
/// take four times as long, and ptxas generates no better code.
static constexpr llvm::StringLiteral kNVIDIAPipeline =
    "function(scalarizer<min-bits=32>,early-cse,"
    "instcombine<max-iterations=1;no-verify-fixpoint>,simplifycfg,"
    "loop(loop-rotate),early-cse,adce)";

/// The optimizations for AMD. The attributor finds that kernels need no
/// accumulation registers, and which arguments of the system they do not read.
/// The default pipelines take twice as long, and code generation makes no
/// better code of the result (docs/notes/amd-attention.md).
static constexpr llvm::StringLiteral kAMDPipeline =
    "function(sroa,early-cse,instcombine<max-iterations=1;no-verify-fixpoint>,"
    "simplifycfg,reassociate,loop(loop-rotate),loop-mssa(licm),loop(indvars),"
    "early-cse<memssa>,instcombine<max-iterations=1;no-verify-fixpoint>,adce),"
    "amdgpu-attributor";

static void optimize(llvm::Module &module, llvm::TargetMachine &machine,
                     const Chip &chip, unsigned optLevel) {
  llvm::PipelineTuningOptions tuning;
  // The layouts already vectorize the kernel.
  tuning.LoopVectorization = false;
  tuning.LoopInterleaving = false;
  tuning.SLPVectorization = false;
  llvm::PassBuilder builder(&machine, tuning);

  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  const llvm::OptimizationLevel levels[] = {
      llvm::OptimizationLevel::O0, llvm::OptimizationLevel::O1,
      llvm::OptimizationLevel::O2, llvm::OptimizationLevel::O3};
  const llvm::OptimizationLevel &level = levels[std::min(optLevel, 3u)];
  llvm::ModulePassManager passes;
  if (level == llvm::OptimizationLevel::O0)
    passes = builder.buildO0DefaultPipeline(level);
  else
    llvm::cantFail(builder.parsePassPipeline(
        passes,
        chip.vendor == Vendor::NVIDIA ? kNVIDIAPipeline : kAMDPipeline));
  passes.run(module, modules);
  if (level == llvm::OptimizationLevel::O0)
    return;
  if (chip.vendor == Vendor::NVIDIA)
    joinLogic(module);
  if (chip.vendor == Vendor::AMD) {
    joinSharedAddresses(module);
    narrowPhis(module);
    functions.clear();
    sinkScalars(module, functions, chip.warpSize);
    scalarizeSingleElements(module);
  }
  if (chip.throughput.pairs == F32Pairs::Dual) {
    copyFactors(module, functions);
    roundPairs(module);
  }
}

/// Emits a remark for each function whose values need far too many registers.
static void reportCrowded(gpu::GPUModuleOp module,
                          const RegisterDemands &demands) {
  auto options =
      remark::RemarkOpts::name("registers-crowded").category("tile-driver");
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    auto entry = demands.find(function.getSymName());
    if (entry == demands.end() || !entry->second.isCrowded())
      continue;
    const RegisterDemand &demand = entry->second;
    auto missed = remark::missed(function.getLoc(), options);
    if (demand.isUnoptimized)
      missed << remark::reason(
          "code is generated without optimization: the values of {0} "
          "instructions take far more registers than {1}",
          demand.instructions, demand.available);
    else
      missed << remark::reason(
          "the values of a thread take up to {0} registers at once, of {1}; "
          "LLVM's basic allocator spills the others, and code is not generated "
          "in several ways",
          demand.live, demand.available);
  }
}

LogicalResult runBackend(gpu::GPUModuleOp module, const Chip &chip,
                         OutputKind kind, unsigned optLevel,
                         Stopwatch &stopwatch, std::string &output) {
  if (kind == OutputKind::HSACO && failed(replaceReports(module, chip)))
    return failure();
  auto session = std::make_unique<Session>();
  // Only readers of LLVM IR need value names.
  session->context.setDiscardValueNames(kind != OutputKind::LLVMIR);
  session->context.setOptPassGate(session->gate);
  session->context.setDiagnosticHandler(
      std::make_unique<DiagnosticForwarder>(module, session->failed));
  session->module = translateModuleToLLVMIR(
      module, session->context, module.getName(), /*disableVerification=*/true);
  if (!session->module)
    return module.emitError("the module could not be translated to LLVM IR");
  stopwatch.lap("LLVM IR");

  std::string error;
  session->machine = createMachine(chip, optLevel, error);
  if (!session->machine)
    return module.emitError() << chip.name << ": " << error;
  setTargetOf(*session->module, *session->machine, chip);

  std::optional<std::string> fatal = catchFatalErrors([&] {
    optimize(*session->module, *session->machine, chip, optLevel);
    stopwatch.lap("optimise");
    if (session->failed)
      return;
    session->gate.inspect(*session->module, chip);
    llvm::raw_svector_ostream os(session->output);
    if (kind == OutputKind::LLVMIR) {
      session->module->print(os, nullptr);
      return;
    }
    llvm::legacy::PassManager passes;
    llvm::TargetMachine &machine = *session->machine;
    unsigned ways = 1;
    if (kind == OutputKind::PTX
            ? machine.addPassesToEmitFile(passes, os, nullptr,
                                          llvm::CodeGenFileType::AssemblyFile)
            : emitObject(machine, *session->module, session->demands, ways,
                         session->output)) {
      session->failed = true;
      module.emitError() << chip.name << ": LLVM cannot emit this file type";
      return;
    }
    if (kind == OutputKind::PTX)
      passes.run(*session->module);
    std::string stage = "code generation";
    if (ways > 1)
      stage += ", " + std::to_string(ways) + " ways";
    stopwatch.lap(stage);
  });
  if (fatal) {
    // The objects may be in any state.
    (void)session.release();
    return emitError(findKernelLoc(module)) << "LLVM: " << *fatal;
  }
  if (session->failed)
    return failure();
  reportCrowded(module, session->demands);
  output.assign(session->output.begin(), session->output.end());
  return success();
}

} // namespace tile
