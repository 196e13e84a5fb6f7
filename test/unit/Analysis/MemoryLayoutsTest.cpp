//===- MemoryLayoutsTest.cpp - Chosen layouts, against enumeration --------===//
#include "tile/Analysis/MemoryLayouts.h"
#include "mlir/IR/MLIRContext.h"
#include "tile/Chips/Chips.h"
#include "tile/InitAll.h"
#include "tile/Layout/Queries.h"
#include "gtest/gtest.h"
#include <random>
#include <set>

using namespace mlir;
using namespace tile;

namespace {

class MemoryLayouts : public testing::Test {
protected:
  MemoryLayouts() : context(registry(), MLIRContext::Threading::DISABLED) {
    context.loadAllAvailableDialects();
  }
  static DialectRegistry registry() {
    DialectRegistry registry;
    registerAllDialects(registry);
    return registry;
  }
  MLIRContext context;
};

/// A random map: digits of three coordinates distributed to results. Its value
/// at every element equals that of the affine expression, and its storage is
/// row major.
TEST_F(MemoryLayouts, MapIsItsExpression) {
  std::mt19937 random(7);
  auto pick = [&](int64_t n) { return int64_t(random() % n); };
  for (int round = 0; round < 200; ++round) {
    unsigned rank = 1 + pick(3);
    SmallVector<Digits> axes(rank);
    SmallVector<int64_t> shape;
    // Every digit has its own result, so that the map is injective.
    unsigned results = 0;
    for (Digits &axis : axes) {
      int64_t extent = 1;
      for (int64_t digits = 1 + pick(3); digits-- > 0;) {
        int64_t count = 2 + pick(4);
        axis.push_back({count, results++, 1});
        extent *= count;
      }
      // The extent need not be a multiple of the last digit's place value.
      shape.push_back(extent - pick(axis.back().extent));
    }
    std::vector<unsigned> order(results);
    for (unsigned i = 0; i < results; ++i)
      order[i] = i;
    std::shuffle(order.begin(), order.end(), random);
    for (Digits &axis : axes)
      for (Digit &digit : axis)
        digit.dim = order[digit.dim];
    SmallVector<int64_t> extents(results, kDynamic);
    MapAttr map = MapAttr::get(&context, Layout::map(axes, extents), 0);
    FailureOr<Layout> storage = map.getLayout(shape, 32, nullptr);
    FailureOr<Layout> digits = map.getMapLayout(shape, nullptr);
    ASSERT_TRUE(succeeded(storage) && succeeded(digits));
    EXPECT_FALSE(bool(digits->verify()));
    EXPECT_TRUE(digits->isInjective(/*countReplication=*/true));

    // Affine arithmetic gives the place of each element and the extents of
    // results.
    SmallVector<int64_t> reach(results, 0);
    std::vector<SmallVector<int64_t>> places;
    std::vector<SmallVector<int64_t, 4>> elements;
    SmallVector<int64_t, 4> element(rank, 0);
    for (;;) {
      elements.push_back(element);
      SmallVector<int64_t> place;
      SmallVector<Attribute> constants;
      for (int64_t coordinate : element)
        constants.push_back(
            IntegerAttr::get(IndexType::get(&context), coordinate));
      SmallVector<Attribute> folded;
      ASSERT_TRUE(succeeded(map.getMap().constantFold(constants, folded)));
      for (auto [i, value] : llvm::enumerate(folded)) {
        place.push_back(cast<IntegerAttr>(value).getInt());
        reach[i] = std::max(reach[i], place.back());
      }
      places.push_back(place);
      unsigned dim = 0;
      while (dim < rank && ++element[dim] == shape[dim])
        element[dim++] = 0;
      if (dim == rank)
        break;
    }
    std::set<int64_t> offsets;
    for (auto [coordinates, place] : llvm::zip_equal(elements, places)) {
      int64_t offset = 0;
      for (auto [i, value] : llvm::enumerate(place)) {
        ASSERT_EQ(digits->apply(coordinates)[i], value);
        offset = offset * digits->shape()[i] + value;
        ASSERT_GT(digits->shape()[i], reach[i]);
      }
      ASSERT_EQ(storage->offset(coordinates), offset);
      ASSERT_LT(offset, storage->shape().front());
      ASSERT_TRUE(offsets.insert(offset).second);
    }
  }
}

/// For the accumulator of every matrix instruction of every chip, one access of
/// a warp is a contiguous run of memory, with accesses as wide as the chip
/// adds.
TEST_F(MemoryLayouts, AccumulatorsAreWideAndCoalesced) {
  for (const Chip &chip : chips())
    for (StringRef name : chip.mma)
      for (bool transposed : {false, true})
        for (int64_t warps : {1, 2, 4}) {
          const Mma *row = findMma(name);
          if (transposed && row->m != row->n)
            continue;
          SCOPED_TRACE((chip.name + ", " + name).str());
          auto mma = MmaAttr::get(&context, StringAttr::get(&context, name),
                                  {warps, 1}, transposed);
          int64_t tile[] = {row->m * warps * 2, row->n * 4};
          FailureOr<Layout> fragment = mma.getLayout(tile, 32, nullptr);
          ASSERT_TRUE(succeeded(fragment));
          if (fragment->replication(kRegister) != 1)
            continue;
          int64_t shape[] = {kDynamic, kDynamic, tile[1]};
          FailureOr<MapAttr> map = chooseAccumulatorLayout(
              &context, *fragment, shape, 1, 2, AtomicElement::F32, chip);
          ASSERT_TRUE(succeeded(map));
          auto buffer =
              BufferType::get(&context, ArrayRef(shape).drop_front(),
                              Float32Type::get(&context),
                              *map->getSlice({false, true, true}, 16, nullptr),
                              MemorySpace::Global);
          Layout memory = buffer.getTileMemory(tile);
          AccessGroups groups = widestAccess(*fragment, memory, 4);
          int64_t width =
              atomicWidths(chip, AtomicKind::AddF, AtomicElement::F32, false)
                  .front();
          // Wider accesses may be possible, too.
          EXPECT_GE(groups.width, width);
          groups = widestAccess(*fragment, memory, width);
          int64_t lanes = chip.warpSize / fragment->replication(kLane);
          for (int64_t warp = 0; warp < warps; ++warp)
            for (size_t i = 0; i < groups.order.size(); i += width) {
              std::set<int64_t> offsets;
              int64_t rows = 0;
              for (int64_t lane = 0; lane < chip.warpSize; ++lane) {
                auto first = fragment->element(groups.order[i], lane, warp);
                for (int64_t j = 0; j < width; ++j) {
                  auto element =
                      fragment->element(groups.order[i + j], lane, warp);
                  rows += element[0] != first[0];
                  offsets.insert(memory.offset(element));
                }
              }
              // No dynamic bound divides an access.
              EXPECT_EQ(rows, 0);
              EXPECT_EQ(int64_t(offsets.size()), lanes * width);
              EXPECT_EQ(*offsets.rbegin() - *offsets.begin() + 1,
                        lanes * width);
              EXPECT_EQ(*offsets.begin() % (lanes * width), 0);
            }
        }
}

/// A tile with the coalesced layout of a memory is read in the order of
/// offsets.
TEST_F(MemoryLayouts, CoalescedFollowsMemory) {
  // (row, column) -> blocks of 4 x 8 elements, columns first.
  Layout memory =
      Layout::memory({{{4, 0, 1}, {8, 0, 128}}, {{8, 0, 4}, {4, 0, 32}}}, 1024);
  int64_t shape[] = {32, 32};
  LayoutAttrInterface attr =
      getCoalescedLayout(&context, shape, memory, 4, 32, 2);
  FailureOr<Layout> dist = attr.getLayout(shape, 32, nullptr);
  ASSERT_TRUE(succeeded(dist));
  EXPECT_TRUE(dist->isSurjective());
  AccessGroups groups = widestAccess(*dist, memory, 4);
  EXPECT_EQ(groups.width, 4);
  for (int64_t warp = 0; warp < 2; ++warp)
    for (int64_t lane = 0; lane < 32; ++lane)
      EXPECT_EQ(memory.offset(dist->element(groups.order[0], lane, warp)),
                (warp * 32 + lane) * 4);
}

/// V of attention on CDNA 3: lanes store transposed blocks of 4 x 8 elements,
/// and fragments read 4 rows of a column. Padded rows alone serve neither.
TEST_F(MemoryLayouts, PaddingServesAllAccesses) {
  const Chip &chip = *findChip("gfx942");
  int64_t shape[] = {64, 128};
  Layout writer = Layout::distributed(
      {{8, 1, 1}, {4, 0, 1}}, {{16, 1, 8}, {4, 0, 4}}, {{4, 0, 16}}, shape);
  Layout reader =
      Layout::distributed({{4, 0, 1}, {8, 1, 16}, {4, 0, 16}},
                          {{16, 1, 1}, {4, 0, 4}}, {{4, 0, 0}}, shape);
  std::vector<AccessOfLayout> accesses;
  for (const Layout &access : {writer, reader})
    accesses.push_back([access](LayoutAttrInterface) { return access; });
  auto count = [&](LayoutAttrInterface layout) {
    Layout memory = *layout.getLayout(shape, 16, nullptr);
    BankPasses sum;
    for (const Layout &access : {writer, reader}) {
      BankPasses one = countBankPasses(access, memory, 8, 16, chip.banks);
      sum.accesses += one.accesses;
      sum.passes += one.passes;
      sum.conflicts += one.conflicts;
    }
    return sum;
  };
  LayoutAttrInterface plain = PaddedAttr::get(&context, 8, {0, 1});
  LayoutAttrInterface chosen =
      choosePadding(&context, shape, 16, {0, 1}, 16, accesses, chip);
  EXPECT_GT(count(plain).conflicts, 0);
  EXPECT_EQ(count(chosen).conflicts, 0);
  EXPECT_EQ(count(chosen).accesses, count(plain).accesses);
  // Reads of 8 bytes alone need rows that are padded by 8 bytes.
  EXPECT_EQ(choosePadding(&context, shape, 16, {0, 1}, 16, accesses[1], chip),
            PaddedAttr::get(&context, 4, {0, 1}));
}

/// The chosen padding never takes more cycles than the given one, and hardly
/// more memory.
TEST_F(MemoryLayouts, PaddingIsNeverWorse) {
  std::mt19937 random(11);
  for (int round = 0; round < 60; ++round) {
    const Chip &chip = *findChip(round % 2 ? "gfx1100" : "gfx950");
    int64_t bits = 8 << random() % 3;
    int64_t shape[] = {16 << random() % 3, 16 << random() % 3};
    std::vector<AccessOfLayout> accesses;
    std::vector<Layout> layouts;
    for (int access = 0; access < 2; ++access) {
      int64_t rows = 1 << random() % 4, columns = 1 << random() % 4;
      unsigned fast = random() % 2;
      layouts.push_back(*BlockedAttr::getCoalesced(
                             &context, shape, {rows, columns},
                             {int64_t(fast), int64_t(1 - fast)}, chip.warpSize,
                             /*warps=*/2)
                             .getLayout(shape, bits, nullptr));
      accesses.push_back(
          [layout = layouts.back()](LayoutAttrInterface) { return layout; });
    }
    auto cycles = [&](const Layout &memory) {
      int64_t sum = 0;
      for (const Layout &access : layouts) {
        BankPasses count = countBankPasses(access, memory, 128 / bits, bits,
                                           chip.getReadBanks());
        sum += count.accesses + count.passes;
      }
      return sum;
    };
    int64_t order[] = {int64_t(round / 2 % 2), int64_t(1 - round / 2 % 2)};
    Layout plain = *PaddedAttr::get(&context, 128 / bits, order)
                        .getLayout(shape, bits, nullptr);
    Layout chosen =
        *choosePadding(&context, shape, bits, order, 16, accesses, chip)
             .getLayout(shape, bits, nullptr);
    EXPECT_TRUE(chosen.isInjective());
    EXPECT_LE(cycles(chosen), cycles(plain));
    EXPECT_LE((chosen.shape()[0] - plain.shape()[0]) * bits / 8,
              chip.sharedBytes / 32);
  }
}

/// Swizzles of chunks of 8 bytes; the rows of the second one are half as wide.
TEST_F(MemoryLayouts, SwizzledChunks) {
  auto layout = [&](unsigned bytes) {
    return *SwizzleAttr::get(&context, bytes, /*banks=*/32, /*chunk=*/8)
                .getLayout({64, 16}, 16, nullptr);
  };
  Layout whole = layout(32), narrow = layout(64);
  EXPECT_EQ(whole.shape()[0], 64 * 16);
  EXPECT_EQ(narrow.shape()[0], 64 * 32);
  EXPECT_TRUE(whole.isInjective());
  EXPECT_TRUE(narrow.isInjective());
  for (int64_t r = 0; r < 64; ++r)
    for (int64_t c = 0; c < 16; ++c) {
      EXPECT_EQ(whole.offset({r, c}),
                r * 16 + ((c / 4) ^ (r / 4 % 4)) * 4 + c % 4);
      EXPECT_EQ(narrow.offset({r, c}),
                r * 32 + ((c / 4) ^ (r / 2 % 8)) * 4 + c % 4);
    }
}

/// dS of attention on gfx950: lanes store 4 rows of a column, and reads that
/// transpose take 4 rows of 4 columns. No padding serves both.
TEST_F(MemoryLayouts, SwizzleWherePaddingConflicts) {
  const Chip &chip = *findChip("gfx950");
  struct Case {
    int64_t rows;
    Digits stored, storing, read, reading;
    LayoutAttrInterface expected;
  };
  auto swizzled = [&](unsigned bytes) -> LayoutAttrInterface {
    return PermuteAttr::get(&context, {1, 0},
                            SwizzleAttr::get(&context, bytes, 32, 8));
  };
  const Case cases[] = {{32,
                         {{4, 0, 1}, {4, 0, 8}},
                         {{32, 1, 1}, {2, 0, 4}},
                         {{4, 0, 1}, {2, 1, 4}, {8, 1, 16}},
                         {{4, 0, 4}, {4, 1, 1}, {2, 0, 16}, {2, 1, 8}},
                         swizzled(64)},
                        {16,
                         {{4, 0, 1}, {2, 1, 64}},
                         {{16, 1, 1}, {4, 0, 4}},
                         {{4, 0, 1}, {2, 1, 4}, {4, 1, 32}},
                         {{4, 0, 4}, {4, 1, 1}, {4, 1, 8}},
                         swizzled(64)}};
  for (const Case &test : cases) {
    int64_t shape[] = {test.rows, 128};
    Digits columns{{4, 1, test.rows == 32 ? 32 : 16}};
    std::vector<AccessOfLayout> accesses;
    auto add = [&](const Digits &registers, const Digits &lanes,
                   const Digits &warps, bool isStore) {
      Layout layout = Layout::distributed(registers, lanes, warps, shape);
      accesses.emplace_back([layout](LayoutAttrInterface) { return layout; },
                            isStore);
    };
    add(test.stored, test.storing, columns, /*isStore=*/true);
    add(test.read, test.reading, {{4, 0, 0}}, /*isStore=*/false);
    LayoutAttrInterface chosen =
        choosePadding(&context, shape, 16, {0, 1}, 16, accesses, chip);
    EXPECT_EQ(chosen, test.expected);
    EXPECT_EQ(countConflicts(chosen, shape, 16, accesses, chip), 0);
  }
}

/// K of attention on gfx1100: lanes write columns of 16 rows in parts of 4 or 8
/// bytes, of 4 or 2 rows for each warp, as the bounds want it. Reads of 16
/// bytes would leave the parts of several columns in the same banks. Those of
/// twice 8 bytes are one instruction, too.
TEST_F(MemoryLayouts, PaddingForPairsOfReads) {
  const Chip &chip = *findChip("gfx1100");
  Type element = Float16Type::get(&context);
  for (int64_t columns : {96, 128}) {
    auto source = BufferType::get(
        &context, {kDynamic, columns}, element,
        StridedAttr::get(&context, {kDynamic, 1}, {8, 1}, /*align=*/16),
        MemorySpace::Global);
    int64_t shape[] = {16, columns};
    Layout read =
        Layout::distributed({{16, 0, 1}, {columns / 16, 1, 16}},
                            {{16, 1, 1}, {2, 0, 0}}, {{4, 0, 0}}, shape);
    std::vector<AccessOfLayout> accesses;
    accesses.emplace_back([read](LayoutAttrInterface) { return read; });
    LayoutAttrInterface layout = chooseCopiedLayout(
        source, shape, {0, 1}, 16, accesses, /*warps=*/4, chip);
    Layout memory = *layout.getLayout(shape, 16, nullptr);
    EXPECT_EQ(widestAccess(read, memory, 8).width, 4);
    auto dest =
        BufferType::get(&context, shape, element, layout, MemorySpace::Shared);
    Layout copy = *getCopyLayout(source, dest, 8, /*warps=*/4, chip)
                       .getLayout(shape, 16, nullptr);
    accesses.emplace_back([copy](LayoutAttrInterface) { return copy; },
                          /*isStore=*/true);
    EXPECT_EQ(countConflicts(layout, shape, 16, accesses, chip), 0);
    // A warp loads 64 bytes or more of a row.
    int64_t lanes = 1;
    for (const Digit &digit : copy.axis(kLane))
      lanes *= digit.dim == 1 ? digit.extent : 1;
    EXPECT_GE(lanes * copy.axis(kLane)[0].stride * 2, 64);
  }
}

} // namespace
