//===- RegistersTest.cpp - Registers of live tiles ------------------------===//
#include "tile/Analysis/Registers.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "tile/InitAll.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace tile;

namespace {

class Registers : public testing::Test {
protected:
  Registers() : context(registry(), MLIRContext::Threading::DISABLED) {
    context.loadAllAvailableDialects();
    context.allowUnregisteredDialects();
  }
  static DialectRegistry registry() {
    DialectRegistry registry;
    registerAllDialects(registry);
    return registry;
  }

  static constexpr StringRef aliases = R"(
    !x = !tile.buffer<128x64xf32, #tile.strided<[64, 1], align = 16>, global>
    !h = !tile.buffer<128x64xf16, #tile.strided<[64, 1], align = 16>, global>
    !shared = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
    #mma = #tile.mma<"mma.m16n8k16.f16", warps = [4, 1]>
    #a = #tile.dot_operand<0, #mma>
    #b = #tile.dot_operand<1, #mma>
    #wgmma = #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>
    #wgmma_a = #tile.dot_operand<0, #wgmma>
    #rows = #tile.slice<1, #mma>
    // A thread holds 64 registers of !t, 32 of !half and 4 of !row.
    !t = tensor<128x64xf32, #mma>
    !half = tensor<128x64xf16, #mma>
    !row = tensor<128xf32, #rows>
    !acc = tensor<64x64xf32, #wgmma>
    !weights = tensor<64x64xf16, #wgmma_a>
    !pending = !tile.pending<!acc>
  )";

  /// Returns the peak of a kernel of 4 warps with this body.
  RegisterPeak estimate(StringRef body, StringRef attributes = "") {
    std::string text = aliases.str() +
                       "tile.kernel @k(%x: !x, %h: !h, %n: index) attributes "
                       "{num_warps = 4 : i32" +
                       attributes.str() +
                       "} {\n"
                       "  %c0 = arith.constant 0 : index\n"
                       "  %c1 = arith.constant 1 : index\n"
                       "  tile.grid %c1, %c1, %c1\n" +
                       body.str() + "}\n";
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text;
    if (!module)
      return {};
    kernel = *module->getOps<KernelOp>().begin();
    return estimateRegisters(kernel);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  KernelOp kernel;
};

TEST_F(Registers, OfTiles) {
  auto count = [&](StringRef type) {
    module = parseSourceString<ModuleOp>(
        aliases.str() + "\"test.op\"() {type = " + type.str() + "} : () -> ()",
        &context);
    auto attribute = module->getBody()->front().getAttrOfType<TypeAttr>("type");
    return countRegisters(cast<RankedTensorType>(attribute.getValue()));
  };
  EXPECT_EQ(count("tensor<128x64xf32, #mma>"), 64);
  EXPECT_EQ(count("tensor<128x64xf64, #mma>"), 128);
  // Elements of 16 bits are packed; narrower ones are not.
  EXPECT_EQ(count("tensor<128x64xf16, #mma>"), 32);
  EXPECT_EQ(count("tensor<128x64xi1, #mma>"), 64);
  // All threads of a row hold its sum.
  EXPECT_EQ(count("tensor<128xf32, #rows>"), 4);
  // All warps hold operand b.
  EXPECT_EQ(count("tensor<64x64xf16, #b>"), 64);
  EXPECT_EQ(count("tensor<64x64xf16, #tile.swizzle<128>>"), 0);
}

TEST_F(Registers, ElementwiseResultsReplaceTheirOperands) {
  RegisterPeak peak = estimate(R"(
    %t = tile.load %x[%c0, %c0] : !x -> !t
    %e = math.exp2 %t : !t
    %f = arith.truncf %e : !t to !half
    tile.store %f, %h[%c0, %c0] : !half, !h
  )");
  EXPECT_EQ(peak.tiles, 64);
  EXPECT_GT(peak.total, peak.tiles);
  // An operand that is used later stays.
  peak = estimate(R"(
    %t = tile.load %x[%c0, %c0] : !x -> !t
    %e = math.exp2 %t : !t
    %f = arith.truncf %e : !t to !half
    tile.store %f, %h[%c0, %c0] : !half, !h
    tile.store %t, %x[%c0, %c0] : !t, !x
  )");
  EXPECT_EQ(peak.tiles, 64 + 32);
  // Values between elementwise operations take no registers.
  peak = estimate(R"(
    %t = tile.load %x[%c0, %c0] : !x -> !t
    %e = math.exp2 %t : !t
    %u = arith.mulf %t, %e : !t
    tile.store %u, %x[%c0, %c0] : !t, !x
  )");
  EXPECT_EQ(peak.tiles, 64);
}

TEST_F(Registers, ComputedElementsAreNotHeld) {
  // Constants, coordinates and predicates take no registers, and a repeated row
  // takes those of the row.
  RegisterPeak peak = estimate(R"(
    %t = tile.load %x[%c0, %c0] : !x -> !t
    %m = tile.reduce maxnumf %t along 1 : !t -> !row
    %all = tile.broadcast %m along 1 : !row -> !t
    %zero = arith.constant dense<0.0> : !t
    %i = tile.iota along 1 : tensor<128x64xi32, #mma>
    %limit = arith.constant dense<17> : tensor<128x64xi32, #mma>
    %hidden = arith.cmpi sgt, %i, %limit : tensor<128x64xi32, #mma>
    %d = arith.subf %t, %all : !t
    %s = arith.select %hidden, %zero, %d : tensor<128x64xi1, #mma>, !t
    tile.store %s, %x[%c0, %c0] : !t, !x
  )");
  EXPECT_EQ(peak.tiles, 64 + 4);
}

TEST_F(Registers, ValuesAreLiveInWholeLoops) {
  // %t is read in every iteration, so it is live beside the sum at its end.
  RegisterPeak peak = estimate(R"(
    %t = tile.load %x[%c0, %c0] : !x -> !t
    %zero = arith.constant dense<0.0> : !t
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> !t {
      %u = arith.addf %s, %t : !t
      %v = tile.load %h[%i, %c0] : !h -> !half
      %w = arith.extf %v : !half to !t
      %next = arith.mulf %u, %w : !t
      scf.yield %next : !t
    }
    tile.store %sum, %x[%c0, %c0] : !t, !x
  )");
  EXPECT_EQ(peak.tiles, 2 * 64 + 32);
  EXPECT_EQ(peak.live.size(), 3u);
  // Without the loop, %t ends at its use.
  peak = estimate(R"(
    %t = tile.load %x[%c0, %c0] : !x -> !t
    %u = math.exp2 %t : !t
    %v = tile.load %h[%c0, %c0] : !h -> !half
    %w = arith.extf %v : !half to !t
    %next = arith.mulf %u, %w : !t
    tile.store %next, %x[%c0, %c0] : !t, !x
  )");
  EXPECT_EQ(peak.tiles, 64 + 32);
}

TEST_F(Registers, BranchesShareRegisters) {
  RegisterPeak peak = estimate(R"(
    %condition = arith.cmpi slt, %n, %c1 : index
    %t = scf.if %condition -> !t {
      %u = tile.load %x[%c0, %c0] : !x -> !t
      scf.yield %u : !t
    } else {
      %u = tile.load %x[%c1, %c0] : !x -> !t
      scf.yield %u : !t
    }
    tile.store %t, %x[%c0, %c0] : !t, !x
  )");
  EXPECT_EQ(peak.tiles, 64);
}

TEST_F(Registers, ProductsReadFragmentsOneByOne) {
  StringRef body = R"(
    %as = tile.alloc : !tile.buffer<128x64xf16, #tile.swizzle<128>, shared>
    %bs = tile.alloc : !shared
    %zero = arith.constant dense<0.0> : !t
    %a = tile.load %as[%c0, %c0] : !tile.buffer<128x64xf16, #tile.swizzle<128>, shared> -> tensor<128x64xf16, #a>
    %b = tile.load %bs[%c0, %c0] : !shared -> tensor<64x64xf16, #b>
    %d = tile.dot %a, %b, %zero : tensor<128x64xf16, #a>, tensor<64x64xf16, #b> -> !t
    tile.store %d, %x[%c0, %c0] : !t, !x
  )";
  // One of four steps along the contracted dimension is in registers.
  EXPECT_EQ(estimate(body).tiles, 64 + 32 / 4 + 64 / 4);
}

TEST_F(Registers, ProductsInFlightHoldTheirOperands) {
  RegisterPeak peak = estimate(R"(
    %b = tile.alloc : !shared
    %zero = arith.constant dense<0.0> : !acc
    %w = tile.load %h[%c0, %c0] : !h -> !weights
    %p = tile.dot async %w, %b, %zero : !weights, !shared -> !pending
    %v = tile.load %x[%c0, %c0] : !x -> !acc
    %e = math.exp2 %v : !acc
    %d = tile.await %p : !pending
    %s = arith.addf %d, %e : !acc
    tile.store %s, %x[%c0, %c0] : !acc, !x
  )");
  EXPECT_EQ(peak.tiles, 32 + 16 + 32);
  // The operand of a product that is awaited at once is free for %v.
  peak = estimate(R"(
    %b = tile.alloc : !shared
    %zero = arith.constant dense<0.0> : !acc
    %w = tile.load %h[%c0, %c0] : !h -> !weights
    %p = tile.dot async %w, %b, %zero : !weights, !shared -> !pending
    %d = tile.await %p : !pending
    %v = tile.load %x[%c0, %c0] : !x -> !acc
    %e = math.exp2 %v : !acc
    %s = arith.addf %d, %e : !acc
    tile.store %s, %x[%c0, %c0] : !acc, !x
  )");
  EXPECT_EQ(peak.tiles, 32 + 32);
}

TEST_F(Registers, Limits) {
  const Chip &chip = *findChip("sm_90a");
  estimate("");
  EXPECT_EQ(getRegisterLimit(kernel, chip), chip.maxRegisters);
  estimate("",
           ", schedule = #tile.schedule<producers = 4, registers = [216, 40]>");
  EXPECT_EQ(getRegisterLimit(kernel, chip), 216);
  // Roles without a number share the registers: 65536 for 16 warps.
  estimate("", ", schedule = #tile.schedule<producers = 12>");
  EXPECT_EQ(getRegisterLimit(kernel, chip), 128);
  estimate("tile.warp_roles warps = [4, 4] registers = [208, 40] {\n}, {\n}\n");
  EXPECT_EQ(getRegisterLimit(kernel, chip), 208);
}

} // namespace
