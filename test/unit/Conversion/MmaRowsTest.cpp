//===- MmaRowsTest.cpp - Every matrix instruction of every chip -----------===//
//
// Compiles tile_gpu.mma with each row of the instruction table to the assembly
// of each chip that has it.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "tile/Chips/Chips.h"
#include "tile/Chips/Mma.h"
#include "tile/InitAll.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

using namespace mlir;
using tile::Chip;
using tile::Mma;
using tile::MmaElement;

namespace {

/// Returns the MLIR type of the elements in registers.
StringRef getType(MmaElement element) {
  return stringify(element == MmaElement::TF32 ? MmaElement::F32 : element);
}

/// Returns a kernel that loads its fragments, multiplies and stores the
/// product.
std::string makeKernel(const Chip &chip, const Mma &row) {
  return llvm::formatv(
      R"(
#global = #gpu.address_space<global>
module attributes {{tile.target = "{0}"} {{
gpu.module @kernels {{
gpu.func @k(%A: memref<4096x{1}, #global>, %B: memref<4096x{1}, #global>,
            %C: memref<4096x{6}, #global>) kernel {{
  %i = gpu.thread_id x
  %a = vector.load %A[%i] : memref<4096x{1}, #global>, vector<{2}x{1}>
  %b = vector.load %B[%i] : memref<4096x{1}, #global>, vector<{3}x{1}>
  %c = vector.load %C[%i] : memref<4096x{6}, #global>, vector<{4}x{6}>
  %d = tile_gpu.mma "{5}" %a, %b, %c : vector<{2}x{1}>, vector<{3}x{1}>, vector<{4}x{6}>
  vector.store %d, %C[%i] : memref<4096x{6}, #global>, vector<{4}x{6}>
  gpu.return
}
}
})",
      chip.name, getType(row.operand), row.a.axisSize(tile::kRegister),
      row.b.axisSize(tile::kRegister), row.acc.axisSize(tile::kRegister),
      row.name, getType(row.accumulator));
}

std::string makePipeline(const Chip &chip) {
  if (chip.vendor == tile::Vendor::NVIDIA)
    return llvm::formatv(
        "tile-to-nvgpu,"
        "nvvm-attach-target{{chip={0} features=+ptx{1}},"
        "gpu.module(tile-lower-kernel-abi,tile-gpu-to-llvm,"
        "reconcile-unrealized-casts),gpu-module-to-binary{{format=isa}",
        chip.name, chip.ptxVersion);
  return llvm::formatv(
      "tile-to-amdgpu,rocdl-attach-target{{chip={0}},"
      "gpu.module(convert-amdgpu-to-rocdl{{chipset={0}},"
      "convert-gpu-to-rocdl{{chipset={0} use-bare-ptr-memref-call-conv=true},"
      "reconcile-unrealized-casts),gpu-module-to-binary{{format=isa}",
      chip.name);
}

/// Returns the mnemonic of the row in the assembly language. That of CDNA2 has
/// no underscore in front of the type.
std::string makeMnemonic(const Chip &chip, const Mma &row) {
  StringRef operation = row.operation;
  if (operation.consume_front("amdgpu.")) {
    // WMMA can multiply bytes with and without signs.
    bool hasSigns = operation == "wmma" && isInteger(row.operand);
    bool isCDNA2 = chip.name == "gfx90a";
    return llvm::formatv(
        "v_{0}_{1}_{2}x{3}x{4}{5}{6}{7} ", operation,
        stringify(row.accumulator), row.m, row.n, row.k, isCDNA2 ? "" : "_",
        hasSigns ? "iu8" : stringify(row.operand),
        isCDNA2 && row.operand == MmaElement::BF16 ? "_1k" : "");
  }
  return llvm::formatv("mma.sync.aligned.m{0}n{1}k{2}.row.col.{3}.{4}.{4}.{3}",
                       row.m, row.n, row.k, getPtxType(row.accumulator),
                       getPtxType(row.operand));
}

TEST(MmaRows, ReachAssembly) {
  DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registerAllGPUToLLVMIRTranslations(registry);
  tile::registerAllDialects(registry);
  mlir::registerAllPasses();
  tile::registerAllPasses();
  llvm::StringSet<> seen;
  for (const Chip &chip : tile::chips())
    for (StringRef name : chip.mma) {
      SCOPED_TRACE((chip.name + ", " + name).str());
      const Mma *row = tile::findMma(name);
      ASSERT_TRUE(row);
      seen.insert(name);
      // wgmma reads shared memory: see test/Conversion/TileToNVGPU/wgmma.mlir.
      if (!row->spaces[1].registers)
        continue;
      MLIRContext context(registry, MLIRContext::Threading::DISABLED);
      OwningOpRef<ModuleOp> module =
          parseSourceString<ModuleOp>(makeKernel(chip, *row), &context);
      ASSERT_TRUE(module);
      PassManager passes(&context);
      ASSERT_TRUE(succeeded(parsePassPipeline(makePipeline(chip), passes)));
      ASSERT_TRUE(succeeded(passes.run(*module)));
      std::string assembly;
      module->walk([&](gpu::BinaryOp binary) {
        auto object = cast<gpu::ObjectAttr>(binary.getObjects()[0]);
        assembly = object.getObject().getValue().str();
      });
      EXPECT_TRUE(StringRef(assembly).contains(makeMnemonic(chip, *row)))
          << assembly;
    }
  for (const Mma &row : tile::mmas())
    EXPECT_TRUE(seen.contains(row.name)) << "no chip has " << row.name.str();
}

} // namespace
