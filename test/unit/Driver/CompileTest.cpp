//===- CompileTest.cpp - The compiler as a library ------------------------===//
//
// Properties that a host process relies on and that a command-line test cannot
// show: the compiler works again after every kind of failure, and on several
// threads.
//
//===----------------------------------------------------------------------===//

#include "tile/Driver/Compile.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "tile/Driver/ResourceUsage.h"
#include "tile/InitAll.h"
#include "gtest/gtest.h"
#include <thread>

using namespace mlir;

namespace {

constexpr StringLiteral kKernel = R"(
  gpu.module @kernels {
    tile_gpu.manifest @k {
        grid = [1, 1, 1], block = array<i64: 32, 1, 1>, shared_bytes = 0 : i64,
        params = [{kind = "buffer", name = "x", type = "f32", rank = 1,
                   shape = [unit], strides = [1], stride_divisibility = [1],
                   alignment = 4}]}
    gpu.func @k(%x: memref<?xf32, #gpu.address_space<global>>) kernel {
      %i = gpu.thread_id x
      %v = memref.load %x[%i] : memref<?xf32, #gpu.address_space<global>>
      %e = math.exp2 %v : f32
      memref.store %e, %x[%i] : memref<?xf32, #gpu.address_space<global>>
      gpu.return
    }
  })";

/// A program that the verifier accepts and the back end cannot select: the
/// instruction needs a later PTX version than the chip's row has.
constexpr StringLiteral kFatal = R"(
  gpu.module @kernels {
    llvm.func @k(%p: !llvm.ptr, %size: i32) attributes {gpu.kernel, nvvm.kernel} {
      nvvm.fence.proxy.acquire #nvvm.mem_scope<gpu> %p, %size
      llvm.return
    }
  })";

/// A program that the linker rejects: its inline assembly refers to an
/// undefined symbol.
constexpr StringLiteral kUndefined = R"(
  gpu.module @kernels {
    llvm.func @k() attributes {gpu.kernel, rocdl.kernel} {
      llvm.inline_asm has_side_effects "s_mov_b32 s0, missing@rel32@lo", "~{s0}" : () -> ()
      llvm.return
    }
  })";

struct Result {
  std::optional<tile::Artifact> artifact;
  std::string errors;
};

Result compileText(StringRef text, tile::OutputKind kind, StringRef chip) {
  DialectRegistry registry;
  tile::registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  Result result;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    result.errors += diagnostic.str() + "\n";
  });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return result;
  tile::CompileOptions options;
  options.chip = chip.str();
  FailureOr<tile::Artifact> artifact = tile::compile(*module, kind, options);
  if (succeeded(artifact))
    result.artifact = std::move(*artifact);
  return result;
}

std::string compilePtx() {
  Result result = compileText(kKernel, tile::OutputKind::PTX, "sm_80");
  EXPECT_EQ(result.errors, "");
  return result.artifact ? result.artifact->data : "";
}

std::string compileHsaco() {
  Result result = compileText(kKernel, tile::OutputKind::HSACO, "gfx1100");
  EXPECT_EQ(result.errors, "");
  return result.artifact ? result.artifact->data : "";
}

TEST(CompileTest, SameInputSameArtifact) {
  std::string ptx = compilePtx(), hsaco = compileHsaco();
  EXPECT_NE(ptx.find(".entry k("), std::string::npos);
  EXPECT_EQ(compilePtx(), ptx);
  EXPECT_EQ(compileHsaco(), hsaco);
}

TEST(CompileTest, SurvivesFatalErrorsOfTheBackEnd) {
  std::string ptx = compilePtx();
  for (int i = 0; i < 3; ++i) {
    Result failed = compileText(kFatal, tile::OutputKind::PTX, "sm_90a");
    EXPECT_FALSE(failed.artifact);
    EXPECT_NE(failed.errors.find("LLVM: Cannot select"), std::string::npos)
        << failed.errors;
    EXPECT_EQ(compilePtx(), ptx);
  }
}

TEST(CompileTest, SurvivesErrorsOfTheLinker) {
  std::string hsaco = compileHsaco();
  for (int i = 0; i < 3; ++i) {
    Result failed = compileText(kUndefined, tile::OutputKind::HSACO, "gfx1100");
    EXPECT_FALSE(failed.artifact);
    EXPECT_NE(failed.errors.find("undefined symbol: missing"),
              std::string::npos)
        << failed.errors;
    EXPECT_EQ(compileHsaco(), hsaco);
  }
}

TEST(CompileTest, ReportsErrorsOfInlineAssembly) {
  Result failed = compileText(R"(
    gpu.module @kernels {
      llvm.func @k() attributes {gpu.kernel, rocdl.kernel} {
        llvm.inline_asm has_side_effects "nonsense", "" : () -> ()
        llvm.return
      }
    })",
                              tile::OutputKind::HSACO, "gfx1100");
  EXPECT_FALSE(failed.artifact);
  EXPECT_NE(failed.errors.find("invalid instruction"), std::string::npos)
      << failed.errors;
}

TEST(CompileTest, SeveralThreads) {
  std::string ptx = compilePtx(), hsaco = compileHsaco();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      for (int j = 0; j < 3; ++j) {
        if (i == 3)
          compileText(kFatal, tile::OutputKind::PTX, "sm_90a");
        else if (i % 2)
          EXPECT_EQ(compilePtx(), ptx);
        else
          EXPECT_EQ(compileHsaco(), hsaco);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(ResourceUsageTest, ReadsCodeObjects) {
  auto kernels = tile::readCodeObjectResources(compileHsaco());
  ASSERT_TRUE(!!kernels) << llvm::toString(kernels.takeError());
  ASSERT_EQ(kernels->size(), 1u);
  const tile::KernelResources &kernel = kernels->front();
  EXPECT_EQ(kernel.name, "k");
  EXPECT_GT(kernel.registers, 0);
  EXPECT_EQ(kernel.spillBytes, 0);
  EXPECT_EQ(kernel.argumentBytes, 8);
  EXPECT_EQ(kernel.waveSize, 32);
  auto chip = tile::readCodeObjectChip(compileHsaco());
  ASSERT_TRUE(!!chip) << llvm::toString(chip.takeError());
  EXPECT_EQ(*chip, "gfx1100");
}

TEST(ResourceUsageTest, RefusesOtherFiles) {
  for (StringRef file : {"", "not an ELF file at all, but rather long text"}) {
    auto kernels = tile::readCodeObjectResources(file);
    EXPECT_FALSE(!!kernels);
    llvm::consumeError(kernels.takeError());
  }
  // Half of a program.
  std::string hsaco = compileHsaco();
  auto kernels =
      tile::readCodeObjectResources(StringRef(hsaco).take_front(1000));
  EXPECT_FALSE(!!kernels);
  llvm::consumeError(kernels.takeError());
}

} // namespace
