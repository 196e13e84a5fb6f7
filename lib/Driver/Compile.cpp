//===- Compile.cpp - From a tile module to an artifact --------------------===//

#include "tile/Driver/Compile.h"
#include "Backend/Backend.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/ROCDL/ROCDLToLLVMIRTranslation.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "tile/Dialect/TileGPU/Transforms/LLVMIRTranslation.h"
#include "tile/Driver/Manifest.h"
#include "tile/Driver/ResourceUsage.h"
#include "tile/Pipelines/Pipelines.h"
#include <mutex>

using namespace mlir;

namespace tile {

namespace {

/// Records the time of every pass, summed over all operations it runs on.
class PassTimer : public PassInstrumentation {
public:
  explicit PassTimer(std::vector<StageTime> &times) : times(times) {}

private:
  using Clock = std::chrono::steady_clock;

  void runBeforePass(Pass *pass, Operation *) override {
    std::lock_guard<std::mutex> lock(mutex);
    starts[pass] = Clock::now();
  }
  void runAfterPass(Pass *pass, Operation *) override { record(pass); }
  void runAfterPassFailed(Pass *pass, Operation *) override { record(pass); }

  void record(Pass *pass) {
    Clock::time_point now = Clock::now();
    // Nested pass managers are passes without a name. The passes in them are
    // recorded.
    if (pass->getArgument().empty())
      return;
    std::lock_guard<std::mutex> lock(mutex);
    double seconds = std::chrono::duration<double>(now - starts[pass]).count();
    auto stage = llvm::find_if(times, [&](const StageTime &time) {
      return time.stage == pass->getArgument();
    });
    if (stage == times.end())
      times.push_back({pass->getArgument().str(), seconds});
    else
      stage->seconds += seconds;
  }

  std::vector<StageTime> &times;
  std::mutex mutex;
  llvm::DenseMap<Pass *, Clock::time_point> starts;
};

} // namespace

static void registerTranslations(MLIRContext &context) {
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
  registerROCDLDialectTranslation(registry);
  registerTileGPUDialectTranslation(registry);
  context.appendDialectRegistry(registry);
}

static LogicalResult verifyKind(ModuleOp module, const Chip &chip,
                                OutputKind kind) {
  if (kind == OutputKind::PTX && chip.vendor != Vendor::NVIDIA)
    return module.emitError() << "PTX is for NVIDIA chips, not " << chip.name;
  if (kind == OutputKind::HSACO && chip.vendor != Vendor::AMD)
    return module.emitError() << "HSACO is for AMD chips, not " << chip.name;
  return success();
}

/// Returns the one GPU module that the pipeline leaves.
static FailureOr<gpu::GPUModuleOp> getGPUModule(ModuleOp module) {
  auto modules = llvm::to_vector(module.getOps<gpu::GPUModuleOp>());
  if (modules.empty())
    return module.emitError("there is nothing to compile: the module holds no "
                            "kernel");
  if (modules.size() > 1)
    return modules[1].emitError("is a second GPU module; an artifact has one");
  return modules.front();
}

llvm::FailureOr<Artifact> compile(ModuleOp module, OutputKind kind,
                                  const CompileOptions &options) {
  const Chip *target =
      options.chip.empty() ? getTargetChip(module) : findChip(options.chip);
  if (!target) {
    if (!options.chip.empty())
      module.emitError() << "unknown target chip \"" << options.chip
                         << "\"; tile-translate --chip=help lists the chips";
    return failure();
  }
  const Chip &chip = *target;
  if (failed(verifyKind(module, chip, kind)))
    return failure();

  Artifact artifact;
  artifact.kind = kind;
  MLIRContext *context = module.getContext();
  registerTranslations(*context);
  PassManager pm(context);
  // The module was verified when it was parsed or built, and the passes check
  // their preconditions. Verification after every pass would double the time.
  pm.enableVerifier(false);
  pm.addInstrumentation(std::make_unique<PassTimer>(artifact.times));
  TileToLLVMOptions pipeline;
  pipeline.chip = chip.name.str();
  pipeline.schedule = options.schedule;
  pipeline.sizes = options.sizes;
  pipeline.candidates = options.candidates;
  pipeline.schedules = options.schedules;
  pipeline.assertions = options.assertions;
  if (chip.vendor == Vendor::NVIDIA)
    buildTileToNVVMPipeline(pm, pipeline);
  else
    buildTileToROCDLPipeline(pm, pipeline);
  if (options.sourceLocations)
    pm.addPass(LLVM::createDIScopeForLLVMFuncOpPass());
  if (failed(pm.run(module)))
    return failure();

  FailureOr<gpu::GPUModuleOp> gpuModule = getGPUModule(module);
  if (failed(gpuModule))
    return failure();
  FailureOr<llvm::json::Value> manifest =
      buildManifest(*gpuModule, chip, kind, options.requireManifest);
  if (failed(manifest))
    return failure();
  artifact.manifest = std::move(*manifest);

  Stopwatch stopwatch(artifact.times);
  if (failed(runBackend(*gpuModule, chip, kind, options.optLevel, stopwatch,
                        artifact.data)))
    return failure();
  if (kind == OutputKind::HSACO) {
    stopwatch.restart();
    FailureOr<std::string> linked = linkCodeObject(*gpuModule, artifact.data);
    if (failed(linked))
      return failure();
    artifact.data = std::move(*linked);
    stopwatch.lap("link");
    // An object without kernels has no metadata.
    if (auto resources = readCodeObjectResources(artifact.data))
      reportSpills(module, *resources);
    else
      llvm::consumeError(resources.takeError());
  }
  return artifact;
}

} // namespace tile
