//===- SharedMemoryModelTest.cpp - The model against rewritten kernels ----===//
//
// Passes choose by the model of a kernel before its rewrite. Here the kernels
// of the examples are rewritten, and the model of the result must agree.
//
//===----------------------------------------------------------------------===//
#include "Dialect/Tile/Transforms/Copies/Pipeline.h"
#include "Dialect/Tile/Transforms/WarpRoles/SplitRoles.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "tile/Analysis/SharedMemory.h"
#include "tile/Chips/Chips.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "tile/InitAll.h"
#include "tile/Kernels/Attention/Passes.h"
#include "gtest/gtest.h"
#include <filesystem>

using namespace mlir;
using namespace tile;

namespace {

class SharedModel : public testing::TestWithParam<const char *> {
protected:
  SharedModel() : context(registry(), MLIRContext::Threading::DISABLED) {
    context.loadAllAvailableDialects();
  }
  static DialectRegistry registry() {
    DialectRegistry registry;
    registerAllDialects(registry);
    return registry;
  }

  /// Calls `check` for each kernel of the examples that has shared buffers, as
  /// it is before tile-specialize-warps. Returns their number.
  int forEachKernel(llvm::function_ref<void(KernelOp)> check) {
    int count = 0;
    std::filesystem::path folder(TILE_SOURCE_DIR "/examples");
    for (const auto &file : std::filesystem::directory_iterator(folder)) {
      if (file.path().extension() != ".mlir")
        continue;
      SCOPED_TRACE(file.path().filename().string());
      // Some examples have no tiles of this chip's instructions.
      ScopedDiagnosticHandler quiet(&context,
                                    [](Diagnostic &) { return success(); });
      auto module = parseSourceFile<ModuleOp>(file.path().string(), &context);
      if (!module || failed(prepare(*module)))
        continue;
      for (KernelOp kernel : module->getOps<KernelOp>()) {
        if (SharedMemoryModel(kernel).place(false).buffers.empty())
          continue;
        ++count;
        check(kernel);
      }
    }
    return count;
  }

  /// Expects that both models place buffers of the same sizes and alignments at
  /// the same offsets.
  static void expectSame(const SharedMemoryModel &predicted,
                         const SharedMemoryModel &real) {
    for (bool loopsApart : {false, true}) {
      auto places = [&](const SharedMemoryModel &model) {
        std::vector<std::array<int64_t, 3>> result;
        for (const PlannedBuffer &buffer : model.place(loopsApart).buffers)
          result.push_back({buffer.offset, buffer.bytes, buffer.alignment});
        llvm::sort(result);
        return result;
      };
      EXPECT_EQ(places(predicted), places(real));
      EXPECT_EQ(predicted.place(loopsApart).bytes,
                real.place(loopsApart).bytes);
    }
  }

  MLIRContext context;

private:
  LogicalResult prepare(ModuleOp module) {
    PassManager manager(&context);
    TileAttachTargetOptions target;
    target.chip = GetParam();
    manager.addPass(createTileAttachTarget(target));
    manager.addPass(createTileExpandAttention());
    manager.addPass(createCanonicalizerPass());
    manager.addPass(createCSEPass());
    manager.addPass(createTileChooseAccumulators());
    OpPassManager &kernel = manager.nest<KernelOp>();
    kernel.addPass(createTilePadExtents());
    kernel.addPass(createTileAssignLayouts());
    kernel.addPass(createCSEPass());
    kernel.addPass(createTileDecomposeReductions());
    kernel.addPass(createTileDecomposeConversions());
    kernel.addPass(createCSEPass());
    kernel.addPass(createTileBufferize());
    return manager.run(module);
  }
};

TEST_P(SharedModel, WarpRoles) {
  int compared = 0;
  forEachKernel([&](KernelOp kernel) {
    for (bool takesSums : {false, true}) {
      WarpPlan plan, trialPlan;
      if (planWarps(kernel, takesSums, plan))
        continue;
      OwningOpRef<KernelOp> trial = kernel.clone();
      ASSERT_FALSE(planWarps(*trial, takesSums, trialPlan));
      Schedule schedule = getSchedule(*trial);
      schedule.producers = 1;
      schedule.storers = takesSums;
      setSchedule(*trial, schedule);
      splitRoles(*trial, trialPlan);
      expectSame(modelRoles(kernel, plan), SharedMemoryModel(*trial));
      ++compared;
    }
  });
  // Tiles for ldmatrix are swizzled; TMA can copy them on these chips.
  EXPECT_GE(compared, findChip(GetParam())->ldmatrix ? 4 : 0);
}

TEST_P(SharedModel, CopyStreams) {
  int compared = 0;
  forEachKernel([&](KernelOp kernel) {
    for (int64_t stages : {1, 2, 3})
      for (bool oneGroup : {false, true}) {
        auto plan = [&](KernelOp kernel) {
          return planCopyStreams(kernel, stages, oneGroup, /*report=*/false);
        };
        FailureOr<SmallVector<CopyStream>> streams = plan(kernel);
        if (failed(streams) || streams->empty())
          continue;
        SharedMemoryModel predicted(kernel);
        addRings(*streams, predicted);
        OwningOpRef<KernelOp> trial = kernel.clone();
        FailureOr<SmallVector<CopyStream>> trialStreams = plan(*trial);
        ASSERT_TRUE(succeeded(trialStreams));
        pipelineStreams(*trialStreams, *findChip(GetParam()));
        expectSame(predicted, SharedMemoryModel(*trial));
        ++compared;
      }
  });
  EXPECT_GE(compared, 10);
}

INSTANTIATE_TEST_SUITE_P(Chips, SharedModel,
                         testing::Values("sm_90a", "sm_80", "gfx942"));

} // namespace
