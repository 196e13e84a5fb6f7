//===- BankPassesTest.cpp - The model of banks and the executor's counts --===//
//
// A kernel stores a tile to shared memory in one distribution and reads it back
// in another. The passes over the banks that the layout algebra expects are
// those that the executor counts.
//
//===----------------------------------------------------------------------===//
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "tile/Chips/Chips.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Executor/Executor.h"
#include "tile/InitAll.h"
#include "tile/Layout/Queries.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace tile;

namespace {

constexpr const char *kChips[] = {"gfx90a",  "gfx942",  "gfx950", "gfx1100",
                                  "gfx1151", "gfx1200", "gfx1201"};

class BankPassesOfChips : public testing::Test {
protected:
  BankPassesOfChips() : context(registry(), MLIRContext::Threading::DISABLED) {
    context.loadAllAvailableDialects();
  }
  static DialectRegistry registry() {
    DialectRegistry registry;
    registerAllDialects(registry);
    return registry;
  }

  FailureOr<Layout> parse(const std::string &layout) {
    auto attr =
        dyn_cast_or_null<LayoutAttrInterface>(parseAttribute(layout, &context));
    if (!attr)
      return failure();
    return attr.getLayout({64, 64}, 16, nullptr);
  }

  /// Checks the counts of a tile of 64 x 64 f16, and whether there are
  /// conflicts.
  void check(const char *name, const std::string &writer,
             const std::string &shared, const std::string &reader,
             bool hasConflicts) {
    SCOPED_TRACE(name + (": " + writer) + " to " + shared);
    const Chip &chip = *findChip(name);
    std::string text = llvm::formatv(
        R"(
!g = !tile.buffer<64x64xf16, #tile.strided<[64, 1], align = 16>, global>
tile.kernel @k(%src: !g, %dst: !g) attributes {{num_warps = 1 : i32} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.load %src[%c0, %c0] : !g -> tensor<64x64xf16, {0}>
  %s = tile.convert_layout %t : tensor<64x64xf16, {0}> -> tensor<64x64xf16, {1}>
  %r = tile.convert_layout %s : tensor<64x64xf16, {1}> -> tensor<64x64xf16, {2}>
  tile.store %r, %dst[%c0, %c0] : tensor<64x64xf16, {2}>, !g
})",
        writer, shared, reader);
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    cpu::ProgramOptions options;
    options.compile.chip = name;
    options.statistics = true;
    FailureOr<cpu::Program> program = cpu::Program::compile(*module, options);
    ASSERT_TRUE(succeeded(program));
    std::vector<uint16_t> src(64 * 64), dst(64 * 64);
    for (size_t i = 0; i < src.size(); ++i)
      src[i] = uint16_t(i);
    std::vector<cpu::Statistics> counts;
    cpu::RunOptions runOptions;
    runOptions.statistics = &counts;
    ASSERT_TRUE(succeeded(
        program->run({cpu::Tensor{src.data(), "f16", {64, 64}, {64, 1}},
                      cpu::Tensor{dst.data(), "f16", {64, 64}, {64, 1}}},
                     runOptions)));
    EXPECT_EQ(src, dst);

    FailureOr<Layout> memory = parse(shared);
    ASSERT_TRUE(succeeded(memory));
    BankPasses expected;
    for (const auto &[threads, banks] :
         {std::pair(writer, chip.getStoreBanks()),
          std::pair(reader, chip.getReadBanks())}) {
      FailureOr<Layout> dist = parse(threads);
      ASSERT_TRUE(succeeded(dist));
      BankPasses found =
          countBankPasses(*dist, *memory, chip.maxSharedAccess / 2, 16, banks);
      expected.passes += found.passes;
      expected.conflicts += found.conflicts;
    }
    ASSERT_EQ(counts.size(), 1u);
    EXPECT_EQ(int64_t(counts[0].sharedSweeps + counts[0].bankConflicts),
              expected.passes);
    EXPECT_EQ(int64_t(counts[0].bankConflicts), expected.conflicts);
    EXPECT_EQ(expected.conflicts != 0, hasConflicts);
  }

  MLIRContext context;
};

/// Lanes that transpose blocks of 4 x 8 elements, and lanes that read 4 rows of
/// one column, as fragments do.
TEST_F(BankPassesOfChips, TransposedTile) {
  for (const char *name : kChips) {
    bool isWide = findChip(name)->warpSize == 64;
    std::string writer = llvm::formatv(
        "#tile.blocked<thread = [4, 8], lane = [{0}, 8], warp = [1, 1], order "
        "= [1, 0]>",
        isWide ? 8 : 4);
    std::string reader = llvm::formatv(
        "#tile.layout<register = [4 -> d0, 4 -> d1 * 16, {0} -> d0 * {1}], "
        "lane = [16 -> d1, {2} -> d0 * 4], warp = []>",
        isWide ? 4 : 8, isWide ? 16 : 8, isWide ? 4 : 2);
    check(name, writer, "#tile.padded<8, order = [0, 1]>", reader, true);
    check(name, writer, "#tile.padded<0, order = [0, 1]>", reader, true);
    // With 32 banks, 16 lanes access 8 bytes each in one pass: groups of rows
    // with padding of their own serve both sides.
    if (findChip(name)->banks == 32)
      check(name, writer,
            "#tile.padded<4, order = [0, 1], group = 16, groupPad = 8>", reader,
            false);
  }
}

} // namespace
