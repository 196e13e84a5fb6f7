//===- Executor.cpp - Compiled kernels on the CPU -------------------------===//

#include "tile/Executor/Executor.h"
#include "Arguments.h"
#include "Block.h"
#include "Redirect.h"
#include "SharedAddresses.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "tile/Chips/Chips.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "tile/Driver/Unoptimized.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include <thread>

using namespace mlir;
using namespace tile;
using namespace tile::cpu;
namespace orc = llvm::orc;

struct Program::Implementation {
  MLIRContext *context = nullptr;
  const Chip *chip = nullptr;
  /// The location of the program, and that of each kernel in it.
  LocationAttr loc;
  std::vector<LocationAttr> kernelLocs;
  /// The blocks of a cluster of each kernel.
  std::vector<unsigned> clusterBlocks;
  bool checks = true, counts = false;
  Redirected redirected;
  llvm::json::Value manifest = nullptr;
  std::vector<KernelSpec> kernels;
  std::vector<Parameter> parameters;
  /// For each kernel, the indices of its parameters in `parameters`.
  std::vector<llvm::SmallVector<unsigned>> selections;
  using Entry = void (*)(Thread *, const uint64_t *);
  std::vector<Entry> entries;
  /// The addresses and sizes of Redirected::constants.
  std::vector<std::pair<uintptr_t, uint64_t>> constants;
  /// Bytes of stack that a thread of a kernel needs, without the runtime.
  size_t frameBytes = 0;
  std::unique_ptr<orc::LLJIT> jit;

  /// Returns the location of `position`; `fallback` if it is not known.
  Location locate(const Position &position, Location fallback) const {
    if (position.file.empty())
      return fallback;
    return FileLineColLoc::get(context, position.file, position.line,
                               position.column);
  }
  llvm::Error selectParameters();
  void findWritten(const llvm::Module &module);
  void findClusters(const llvm::Module &module);
  llvm::Error compile(llvm::orc::ThreadSafeModule module);
  LogicalResult runKernel(unsigned index, llvm::ArrayRef<Argument> arguments,
                          const RunOptions &options);
  void emit(const Launch &launch, Location kernel) const;
};

Program::Program(std::unique_ptr<Implementation> implementation)
    : implementation(std::move(implementation)) {}
Program::Program(Program &&) = default;
Program &Program::operator=(Program &&) = default;
Program::~Program() = default;

llvm::ArrayRef<Parameter> Program::parameters() const {
  return implementation->parameters;
}

const llvm::json::Value &Program::manifest() const {
  return implementation->manifest;
}

llvm::Error Program::Implementation::selectParameters() {
  for (const KernelSpec &kernel : kernels) {
    llvm::SmallVector<unsigned> selection;
    for (const Parameter &parameter : kernel.parameters) {
      auto known = llvm::find_if(parameters, [&](const Parameter &other) {
        return other.name == parameter.name;
      });
      selection.push_back(known - parameters.begin());
      if (known == parameters.end())
        parameters.push_back(parameter);
      else if (known->isBuffer != parameter.isBuffer)
        return llvm::createStringError("two kernels mean different things by "
                                       "the parameter '" +
                                       parameter.name + "'");
    }
    selections.push_back(std::move(selection));
  }
  return llvm::Error::success();
}

/// Returns whether the memory that `pointer`, an argument, points to may be
/// written. The function must not have been rewritten.
static bool mayBeWritten(const llvm::Value &pointer) {
  llvm::SmallVector<const llvm::Value *> worklist{&pointer};
  llvm::SmallPtrSet<const llvm::Value *, 16> seen{&pointer};
  while (!worklist.empty()) {
    const llvm::Value *value = worklist.pop_back_val();
    for (const llvm::Use &use : value->uses()) {
      const llvm::User *user = use.getUser();
      if (llvm::isa<llvm::LoadInst, llvm::ICmpInst>(user))
        continue;
      if (llvm::isa<llvm::StoreInst>(user) ||
          llvm::isa<llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(user))
        return true;
      if (auto *call = llvm::dyn_cast<llvm::CallBase>(user)) {
        bool derives = call->getType()->isPointerTy();
        if (!derives && call->isDataOperand(&use) &&
            call->onlyReadsMemory(call->getDataOperandNo(&use)))
          continue;
        if (!derives && !call->onlyReadsMemory())
          return true;
      }
      if (seen.insert(user).second)
        worklist.push_back(user);
    }
  }
  return false;
}

/// Returns whether TMA writes through this tensor map.
static bool isStoredThrough(const llvm::Value &map) {
  return llvm::any_of(map.users(), [](const llvm::User *user) {
    auto *call = llvm::dyn_cast<llvm::CallBase>(user);
    if (!call)
      return llvm::isa<llvm::CastInst>(user) && isStoredThrough(*user);
    auto *assembly = llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand());
    return assembly && assembly->getAsmString().contains(".global.shared::cta");
  });
}

/// Finds the parameters that kernels write. A buffer is one pointer and one
/// argument for each dynamic extent and stride.
void Program::Implementation::findWritten(const llvm::Module &module) {
  for (auto [kernel, selection] : llvm::zip_equal(kernels, selections)) {
    const llvm::Function *function = module.getFunction(kernel.name);
    unsigned argument = 0;
    for (auto [parameter, index] :
         llvm::zip_equal(kernel.parameters, selection)) {
      if (!function || argument >= function->arg_size())
        return;
      if (parameter.isBuffer && mayBeWritten(*function->getArg(argument)))
        parameters[index].isWritten = true;
      argument += 1 + llvm::count(parameter.shape, std::nullopt) +
                  llvm::count(parameter.strides, std::nullopt);
    }
    for (const launch::TensorMapSpec &map : kernel.tensorMaps)
      if (argument < function->arg_size() &&
          isStoredThrough(*function->getArg(argument++)))
        parameters[selection[map.argument]].isWritten = true;
  }
}

/// Finds the blocks of the clusters of kernels.
void Program::Implementation::findClusters(const llvm::Module &module) {
  for (const KernelSpec &kernel : kernels) {
    const llvm::Function *function = module.getFunction(kernel.name);
    unsigned blocks = 1;
    if (function && function->hasFnAttribute("nvvm.cluster_dim"))
      function->getFnAttribute("nvvm.cluster_dim")
          .getValueAsString()
          .split(',')
          .first.getAsInteger(10, blocks);
    clusterBlocks.push_back(blocks);
  }
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

namespace {
/// Sums the stack frames of all compiled functions. Each is at most once on a
/// stack, because kernels do not recurse.
class FrameSizes : public llvm::DiagnosticHandler {
public:
  explicit FrameSizes(size_t &bytes) : bytes(bytes) {}

  /// Makes the back end report the frame of every function.
  static void request(llvm::Module &module) {
    for (llvm::Function &function : module)
      if (!function.isDeclaration())
        function.addFnAttr("warn-stack-size", "0");
  }
  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    const auto *frame = llvm::dyn_cast<llvm::DiagnosticInfoStackSize>(&info);
    if (frame)
      bytes += frame->getStackSize();
    return frame;
  }

private:
  size_t &bytes;
};
} // namespace

/// The most instructions of a basic block. The time that LLVM takes to order
/// those of a block with calls grows with the square of their number.
static constexpr unsigned kBlockSize = 256;

llvm::Error
Program::Implementation::compile(llvm::orc::ThreadSafeModule module) {
  static const bool initialized = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)initialized;
  llvm::Expected<orc::JITTargetMachineBuilder> machine =
      orc::JITTargetMachineBuilder::detectHost();
  if (!machine)
    return machine.takeError();
  machine->setCodeGenOptLevel(llvm::CodeGenOptLevel::None);
  llvm::Expected<std::unique_ptr<orc::LLJIT>> created =
      orc::LLJITBuilder()
          .setJITTargetMachineBuilder(std::move(*machine))
          .create();
  if (!created)
    return created.takeError();
  jit = std::move(*created);
  module.withModuleDo([&](llvm::Module &module) {
    module.setTargetTriple(jit->getTargetTriple());
    module.setDataLayout(jit->getDataLayout());
    // Nobody reads the names of the values that replace vectors.
    module.getContext().setDiscardValueNames(true);
    prepareUnoptimized(module, kBlockSize);
    FrameSizes::request(module);
    module.getContext().setDiagnosticHandler(
        std::make_unique<FrameSizes>(frameBytes));
  });

  orc::SymbolMap symbols;
  auto define = [&](llvm::StringRef name, void *address) {
    symbols[jit->mangleAndIntern(name)] = {orc::ExecutorAddr::fromPtr(address),
                                           llvm::JITSymbolFlags::Exported |
                                               llvm::JITSymbolFlags::Callable};
  };
  define("tile_cpu_call", reinterpret_cast<void *>(&runCall));
  define("tile_cpu_access", reinterpret_cast<void *>(&runAccess));
  define("tile_cpu_fence", reinterpret_cast<void *>(&runFence));
  define("tile_cpu_visit", reinterpret_cast<void *>(&runVisit));
  define("tile_cpu_division", reinterpret_cast<void *>(&runDivision));
  define("tile_cpu_turn", reinterpret_cast<void *>(&runTurn));
  define("tile_cpu_use", reinterpret_cast<void *>(&runUse));
  define("tile_cpu_shared", reinterpret_cast<void *>(&sharedMemory));
  for (llvm::ArrayRef<cpu::Instruction> rows :
       {nvidiaInstructions(), amdInstructions()})
    for (const cpu::Instruction &row : rows)
      if (row.host)
        define(("tile_cpu_host." + row.name).str(), row.host);
  if (llvm::Error error = jit->getMainJITDylib().define(
          orc::absoluteSymbols(std::move(symbols))))
    return error;
  if (llvm::Error error = jit->addIRModule(std::move(module)))
    return error;
  for (const KernelSpec &kernel : kernels) {
    llvm::Expected<orc::ExecutorAddr> address =
        jit->lookup(kernel.name + ".entry");
    if (!address)
      return address.takeError();
    entries.push_back(address->toPtr<Entry>());
  }
  for (const auto &[name, bytes] : redirected.constants) {
    llvm::Expected<orc::ExecutorAddr> address = jit->lookup(name);
    if (!address)
      return address.takeError();
    constants.push_back({address->getValue(), bytes});
  }
  return llvm::Error::success();
}

/// Returns the source location of the kernel with this name; the location of
/// `module` if it is not known.
static LocationAttr findKernelLoc(ModuleOp module, llvm::StringRef name) {
  LocationAttr loc = module.getLoc();
  module.walk([&](FunctionOpInterface function) {
    if (function.getName() != name)
      return WalkResult::advance();
    // The lowering to LLVM adds debug information around the location.
    if (auto source = function.getLoc()->findInstanceOf<FileLineColLoc>())
      loc = source;
    return WalkResult::interrupt();
  });
  return loc;
}

FailureOr<Program> Program::compile(ModuleOp module,
                                    const ProgramOptions &options) {
  // Before LLVM lets the heap grow.
  cpu::SharedAddresses::get();
  Location loc = module.getLoc();
  CompileOptions lowering = options.compile;
  lowering.requireManifest = true;
  lowering.sourceLocations = true;
  FailureOr<Artifact> artifact =
      tile::compile(module, OutputKind::LLVMIR, lowering);
  if (failed(artifact))
    return failure();

  auto program = std::make_unique<Implementation>();
  program->context = module.getContext();
  program->loc = loc;
  program->chip = getTargetChip(module);
  program->checks = options.checks;
  program->counts = options.statistics;
  auto fail = [&](llvm::Error error) {
    return emitError(loc, llvm::toString(std::move(error)));
  };
  llvm::Expected<std::vector<KernelSpec>> kernels =
      launch::parseManifest(artifact->manifest);
  if (!kernels)
    return fail(kernels.takeError());
  program->kernels = std::move(*kernels);
  program->manifest = std::move(artifact->manifest);
  for (const KernelSpec &kernel : program->kernels)
    program->kernelLocs.push_back(findKernelLoc(module, kernel.name));
  if (llvm::Error error = program->selectParameters())
    return fail(std::move(error));

  auto context = std::make_unique<llvm::LLVMContext>();
  llvm::SMDiagnostic message;
  std::unique_ptr<llvm::Module> ir = llvm::parseIR(
      llvm::MemoryBufferRef(artifact->data, "kernels"), message, *context);
  if (!ir)
    return emitError(loc, "LLVM IR: ") << message.getMessage();
  program->findWritten(*ir);
  program->findClusters(*ir);
  std::vector<Obstacle> obstacles =
      redirect(*ir, program->redirected, options.checks || options.statistics);
  for (const Obstacle &obstacle : obstacles)
    emitError(program->locate(obstacle.position, loc), obstacle.message);
  if (!obstacles.empty())
    return failure();
  llvm::StripDebugInfo(*ir);
  if (llvm::Error error = program->compile(
          llvm::orc::ThreadSafeModule(std::move(ir), std::move(context))))
    return fail(std::move(error));
  return Program(std::move(program));
}

//===----------------------------------------------------------------------===//
// Launch
//===----------------------------------------------------------------------===//

void Program::Implementation::emit(const Launch &launch,
                                   Location kernel) const {
  const Report &report = *launch.report;
  InFlightDiagnostic diagnostic = emitError(locate(report.position, kernel));
  diagnostic << describeThread(launch.kernel, report.block, report.thread)
             << report.message;
  for (auto &[position, note] : report.notes)
    diagnostic.attachNote(locate(position, kernel)) << note;
}

/// The alignment of the shared memory of each block of a cluster: that of
/// swizzled tiles.
static constexpr size_t kSharedMemoryAlignment = 1024;

/// Stacks at a time. Each takes two memory mappings, and Linux allows a process
/// 65530 of them (vm.max_map_count).
static constexpr uint64_t kMostStacks = 16384;

/// Runs all blocks of a launch on at most `jobs` threads of the host.
static llvm::Error runBlocks(Launch &launch, unsigned jobs,
                             const RunOptions &options) {
  uint64_t all = uint64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2];
  std::atomic<uint64_t> next{0};
  std::mutex mutex;
  uint64_t done = 0;
  llvm::Error failure = llvm::Error::success();
  auto work = [&] {
    llvm::Expected<std::unique_ptr<cpu::Block>> block =
        cpu::Block::create(launch);
    if (!block) {
      std::lock_guard<std::mutex> lock(mutex);
      failure = llvm::joinErrors(std::move(failure), block.takeError());
      return;
    }
    for (uint64_t i; !launch.failed && (i = next++) < all;) {
      Dim3 index{unsigned(i % launch.grid[0]),
                 unsigned(i / launch.grid[0] % launch.grid[1]),
                 unsigned(i / launch.grid[0] / launch.grid[1])};
      if (!(*block)->run(index))
        return;
      std::lock_guard<std::mutex> lock(mutex);
      ++done;
      if (options.progress)
        options.progress(done, all);
    }
  };
  uint64_t stacks =
      uint64_t(launch.block[0]) * launch.block[1] * launch.block[2];
  uint64_t most = std::max<uint64_t>(kMostStacks / stacks, 1);
  std::vector<std::thread> threads;
  for (uint64_t i = 1; i < std::min<uint64_t>({jobs, all, most}); ++i)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
  return failure;
}

LogicalResult
Program::Implementation::runKernel(unsigned index,
                                   llvm::ArrayRef<Argument> arguments,
                                   const RunOptions &options) {
  const KernelSpec &kernel = kernels[index];
  auto fail = [&](llvm::Error error) {
    return emitError(kernelLocs[index], llvm::toString(std::move(error)));
  };
  llvm::SmallVector<Argument> own;
  for (unsigned i : selections[index])
    own.push_back(arguments[i]);
  std::deque<TensorMapImage> images;
  llvm::Expected<std::vector<uint64_t>> packed =
      packArguments(kernel, own, images);
  if (!packed)
    return fail(packed.takeError());
  llvm::Expected<std::array<int64_t, 3>> grid =
      launch::evaluateGrid(kernel, own);
  if (!grid)
    return fail(grid.takeError());
  if (options.grid)
    grid = *options.grid;
  if (llvm::is_contained(*grid, 0))
    return success();

  Launch launch;
  launch.kernel = kernel.name;
  launch.entry = entries[index];
  launch.arguments = std::move(*packed);
  launch.warpSize = chip->warpSize;
  for (int i = 0; i < 3; ++i) {
    launch.grid[i] = (*grid)[i];
    launch.block[i] = kernel.block[i];
  }
  // On AMD the manifest counts the memory that the module declares.
  launch.shared =
      chip->vendor == Vendor::NVIDIA
          ? redirected.staticShared + kernel.sharedBytes
          : std::max<size_t>(redirected.staticShared, kernel.sharedBytes);
  launch.clusterBlocks = clusterBlocks[index];
  launch.grid[0] /= launch.clusterBlocks;
  launch.block[0] *= launch.clusterBlocks;
  if (launch.clusterBlocks > 1)
    launch.shared = launch.clusterBlocks *
                    llvm::alignTo(launch.shared, kSharedMemoryAlignment);
  launch.frameBytes = frameBytes;
  launch.barriersFence = chip->vendor == Vendor::NVIDIA;
  launch.readBanks = chip->getReadBanks();
  launch.storeBanks = chip->getStoreBanks();
  launch.maxTurns = options.maxTurns;
  Statistics statistics;
  statistics.kernel = kernel.name;
  if (counts && options.statistics)
    launch.statistics = &statistics;
  CheckedLaunch checked;
  checked.unit = redirected.unit;
  checked.sites = &redirected.sites;
  checked.constants = constants;
  if (checks) {
    for (auto [i, argument] : llvm::enumerate(own))
      if (const auto *tensor = std::get_if<Tensor>(&argument)) {
        const Parameter &parameter = parameters[selections[index][i]];
        checked.buffers.emplace_back(parameter, *tensor, checked.unit);
      }
    launch.checked = &checked;
  }
  auto write = [&](llvm::StringRef text) {
    if (options.print)
      return options.print(text);
    llvm::outs() << text;
    llvm::outs().flush();
  };
  launch.sink = write;
  unsigned jobs = options.jobs
                      ? options.jobs
                      : std::max(1u, std::thread::hardware_concurrency());
  if (llvm::Error error = runBlocks(launch, jobs, options))
    return fail(std::move(error));
  if (!launch.report) {
    if (launch.statistics)
      options.statistics->push_back(std::move(statistics));
    return success();
  }
  launch.printed.finish(write);
  emit(launch, kernelLocs[index]);
  return failure();
}

LogicalResult Program::run(llvm::ArrayRef<Argument> arguments,
                           const RunOptions &options) {
  Implementation &program = *implementation;
  if (arguments.size() != program.parameters.size())
    return emitError(program.loc)
           << "there are " << arguments.size()
           << " arguments, the kernels take " << program.parameters.size();
  for (unsigned i = 0; i < program.kernels.size(); ++i)
    if (failed(program.runKernel(i, arguments, options)))
      return failure();
  return success();
}
