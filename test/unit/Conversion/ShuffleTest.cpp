//===- ShuffleTest.cpp - Lane exchanges of AMD chips ----------------------===//
//
// Evaluates the replacement of every gpu.shuffle xor by tile-to-amdgpu lane by
// lane, as the instruction set architecture guides define the instructions.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "tile/Chips/Chips.h"
#include "tile/Conversion/TileToAMDGPU/Passes.h"
#include "tile/InitAll.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

using namespace mlir;

namespace {

/// Returns the lane that lane `l` reads in a DPP move; -1 if the chip does not
/// have this control.
int64_t readDpp(uint32_t control, int64_t l, bool isGfx10) {
  int64_t row = l & ~15, lane = l & 15;
  if (control <= 0xFF) // quad_perm
    return (l & ~3) | ((control >> (2 * (l & 3))) & 3);
  if (control > 0x120 && control <= 0x12F) // row_ror
    return row | ((lane - (control - 0x120)) & 15);
  if (control == 0x140) // row_mirror
    return row | (15 - lane);
  if (control == 0x141) // row_half_mirror
    return (l & ~7) | (7 - (l & 7));
  if (isGfx10 && control >= 0x160 && control <= 0x16F) // row_xmask
    return l ^ (control - 0x160);
  return -1;
}

/// Returns the DPP control of an amdgpu.dpp; ~0 for one that the pass does not
/// use.
uint32_t getControl(amdgpu::DPPOp dpp) {
  Attribute argument = dpp.getPermArgument().value_or(Attribute());
  switch (dpp.getKind()) {
  case amdgpu::DPPPerm::quad_perm: {
    uint32_t control = 0;
    for (auto [i, lane] :
         llvm::enumerate(cast<ArrayAttr>(argument).getAsRange<IntegerAttr>()))
      control |= lane.getInt() << (2 * i);
    return control;
  }
  case amdgpu::DPPPerm::row_ror:
    return 0x120 + cast<IntegerAttr>(argument).getInt();
  case amdgpu::DPPPerm::row_mirror:
    return 0x140;
  case amdgpu::DPPPerm::row_half_mirror:
    return 0x141;
  default:
    return ~0u;
  }
}

/// Returns the lane of the block argument whose value lane `l` of `value` has;
/// -1 if that is unknown.
int64_t origin(Value value, int64_t l, const tile::Chip &chip) {
  if (isa<BlockArgument>(value))
    return l;
  bool isGfx10 = chip.warpSize == 32;
  Operation *op = value.getDefiningOp();
  if (auto dpp = dyn_cast<amdgpu::DPPOp>(op)) {
    int64_t source = readDpp(getControl(dpp), l, isGfx10);
    return source < 0 ? -1 : origin(dpp.getSrc(), source, chip);
  }
  if (auto dpp = dyn_cast<ROCDL::DPPUpdateOp>(op)) {
    int64_t source = readDpp(dpp.getDppCtrl(), l, isGfx10);
    return source < 0 ? -1 : origin(dpp.getSrc(), source, chip);
  }
  if (auto permlane = dyn_cast<ROCDL::PermlaneX16Op>(op)) {
    APInt select;
    if (!isGfx10 ||
        !matchPattern(l & 8 ? permlane.getSrc2() : permlane.getSrc1(),
                      m_ConstantInt(&select)))
      return -1;
    int64_t lane = (select.getZExtValue() >> (4 * (l & 7))) & 15;
    return origin(permlane.getSrc0(), ((l ^ 16) & ~15) | lane, chip);
  }
  if (auto swap = dyn_cast<amdgpu::PermlaneSwapOp>(op))
    return chip.name == "gfx950"
               ? origin(swap.getSrc(), l ^ swap.getRowLength(), chip)
               : -1;
  if (auto swizzle = dyn_cast<amdgpu::SwizzleBitModeOp>(op)) {
    int64_t lane = ((l & 31 & swizzle.getAndMask()) | swizzle.getOrMask()) ^
                   swizzle.getXorMask();
    return origin(swizzle.getSrc(), (l & ~31) | lane, chip);
  }
  return -1;
}

TEST(Shuffle, ExchangesLanes) {
  DialectRegistry registry;
  tile::registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  for (const tile::Chip &chip : tile::chips()) {
    if (chip.vendor != tile::Vendor::AMD)
      continue;
    for (int64_t mask = 0; mask < chip.warpSize; ++mask) {
      SCOPED_TRACE(llvm::formatv("{0}, mask {1}", chip.name, mask).str());
      std::string text = llvm::formatv(R"(
        module attributes {{tile.target = "{0}"} {{
          func.func @f(%x: i32) -> i32 {{
            %mask = arith.constant {1} : i32
            %width = arith.constant {2} : i32
            %y, %valid = gpu.shuffle xor %x, %mask, %width : i32
            return %y : i32
          }
        })",
                                       chip.name, mask, chip.warpSize);
      OwningOpRef<ModuleOp> module =
          parseSourceString<ModuleOp>(text, &context);
      ASSERT_TRUE(module);
      PassManager passes(&context);
      passes.addPass(tile::createTileToAMDGPU());
      ASSERT_TRUE(succeeded(passes.run(*module)));
      Value result;
      module->walk([&](func::ReturnOp op) { result = op.getOperand(0); });
      if (isa_and_nonnull<mlir::gpu::ShuffleOp>(result.getDefiningOp())) {
        EXPECT_TRUE(chip.warpSize == 64 && chip.name != "gfx950" && mask >= 32);
        continue;
      }
      for (int64_t lane = 0; lane < chip.warpSize; ++lane)
        EXPECT_EQ(origin(result, lane, chip), lane ^ mask) << "lane " << lane;
    }
  }
}

} // namespace
