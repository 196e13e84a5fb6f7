//===- QueriesTest.cpp - Access width, bank conflicts, conversions --------===//
//
// Compares each query with an enumeration of all registers, lanes and warps,
// for layouts of kernels and for seeded random ones.
//
//===----------------------------------------------------------------------===//
#include "tile/Layout/Queries.h"
#include "Layout/BruteForce.h"
#include "Layout/Samples.h"
#include "tile/Chips/Mma.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"
#include <random>

using namespace tile;
using namespace tile::test;

namespace {

/// The offsets of a pair of layouts, by the definition.
struct Enumerated {
  Enumerated(const Layout &dist, const Layout &memory)
      : registers(dist.axisSize(kRegister)), lanes(dist.axisSize(kLane)),
        warps(dist.axisSize(kWarp)) {
    std::set<Tuple> seen;
    for (int64_t reg = 0; reg < registers; ++reg)
      if (seen.insert(define(dist, {reg, 0, 0})).second)
        distinct.push_back(reg);
    offsets.resize(lanes * warps);
    for (int64_t thread = 0; thread < lanes * warps; ++thread)
      for (int64_t reg = 0; reg < registers; ++reg)
        offsets[thread].push_back(define(
            memory, define(dist, {reg, thread % lanes, thread / lanes}))[0]);
  }

  bool isGrouped(const std::vector<int64_t> &order, int64_t width) const {
    if (order.size() % width != 0)
      return false;
    for (const std::vector<int64_t> &thread : offsets)
      for (size_t i = 0; i < order.size(); ++i) {
        int64_t first = thread[order[i - i % width]];
        if (first % width != 0 ||
            thread[order[i]] != first + int64_t(i % width))
          return false;
      }
    return true;
  }

  /// Returns the width of the widest grouping. The memory must have one offset
  /// per element, so that thread 0 determines the order within an access.
  int64_t widest(int64_t maxWidth) const {
    std::vector<int64_t> order = distinct;
    llvm::sort(order, [&](int64_t x, int64_t y) {
      return offsets[0][x] < offsets[0][y];
    });
    int64_t width = 1;
    for (int64_t w = 2; w <= maxWidth; w *= 2)
      if (isGrouped(order, w))
        width = w;
    return width;
  }

  int64_t conflicts(const AccessGroups &groups, unsigned elementBits,
                    unsigned banks) const {
    int64_t worst = 1;
    visitBatches(groups, elementBits, banks,
                 [&](int64_t sweeps) { worst = std::max(worst, sweeps); });
    return worst;
  }

  BankPasses passes(const AccessGroups &groups, unsigned elementBits,
                    unsigned banks) const {
    BankPasses result;
    result.accesses = groups.order.size() / groups.width * warps;
    visitBatches(groups, elementBits, banks, [&](int64_t sweeps) {
      result.passes += sweeps;
      result.conflicts += sweeps - 1;
    });
    return result;
  }

  /// Calls `visit` with the largest number of words that a batch of lanes
  /// accesses in one bank.
  void visitBatches(const AccessGroups &groups, unsigned elementBits,
                    unsigned banks,
                    llvm::function_ref<void(int64_t)> visit) const {
    int64_t bytes = groups.width * elementBits / 8;
    int64_t batch = std::max<int64_t>(
        1, std::min(lanes, banks * 4 / std::max<int64_t>(bytes, 4)));
    for (size_t group = 0; group < groups.order.size(); group += groups.width)
      for (int64_t warp = 0; warp < warps; ++warp)
        for (int64_t lane = 0; lane < lanes; lane += batch) {
          std::map<int64_t, std::set<int64_t>> wordsOfBank;
          for (int64_t l = lane; l < std::min(lane + batch, lanes); ++l) {
            int64_t offset = offsets[l + lanes * warp][groups.order[group]];
            int64_t byte = offset * elementBits / 8;
            for (int64_t b = byte; b < byte + bytes; ++b)
              wordsOfBank[b / 4 % banks].insert(b / 4);
          }
          size_t sweeps = 0;
          for (const auto &bank : wordsOfBank)
            sweeps = std::max(sweeps, bank.second.size());
          visit(sweeps);
        }
  }

  /// Compares the segments of the first warp, access by access.
  void checkSegments(const AccessGroups &groups, int64_t segment,
                     SegmentCount found) const {
    bool exists = false;
    for (size_t i = 0; i < groups.order.size(); i += groups.width) {
      std::set<int64_t> elements, segments;
      for (int64_t lane = 0; lane < lanes; ++lane)
        for (int64_t j = 0; j < groups.width; ++j) {
          int64_t offset = offsets[lane][groups.order[i + j]];
          elements.insert(offset);
          segments.insert(offset / segment);
        }
      int64_t touched = segments.size();
      int64_t least = (elements.size() + segment - 1) / segment;
      EXPECT_LE(touched * found.least, found.touched * least);
      exists |= touched == found.touched && least == found.least;
    }
    EXPECT_TRUE(exists);
  }

  int64_t registers, lanes, warps;
  std::vector<int64_t> distinct;
  /// One list of offsets per thread, with an offset per register.
  std::vector<std::vector<int64_t>> offsets;
};

std::string describe(const Layout &dist, const Layout &memory) {
  return dist.str() + " in " + memory.str();
}

void check(const Layout &dist, const Layout &memory, int64_t maxWidth,
           unsigned elementBits) {
  Enumerated all(dist, memory);
  AccessGroups groups = widestAccess(dist, memory, maxWidth);
  std::vector<int64_t> order(groups.order.begin(), groups.order.end());
  ASSERT_TRUE(all.isGrouped(order, groups.width)) << describe(dist, memory);
  EXPECT_EQ(std::set<int64_t>(order.begin(), order.end()),
            std::set<int64_t>(all.distinct.begin(), all.distinct.end()));
  EXPECT_EQ(order.size(), all.distinct.size());
  EXPECT_EQ(groups.width, all.widest(maxWidth)) << describe(dist, memory);
  for (int64_t segment : {4, 16, 32})
    all.checkSegments(groups, segment,
                      countSegments(dist, {memory}, groups, segment));
  for (unsigned banks : {32, 64}) {
    EXPECT_EQ(bankConflicts(dist, memory, maxWidth, elementBits, banks),
              all.conflicts(groups, elementBits, banks))
        << describe(dist, memory);
    BankPasses found =
        countBankPasses(dist, memory, maxWidth, elementBits, banks);
    BankPasses expected = all.passes(groups, elementBits, banks);
    EXPECT_EQ(
        std::tuple(found.accesses, found.passes, found.conflicts),
        std::tuple(expected.accesses, expected.passes, expected.conflicts))
        << describe(dist, memory);
  }
}

/// Compares the plan with the elements that registers and lanes hold.
void checkPlan(const Layout &from, const Layout &to) {
  ConversionPlan plan = planConversion(from, to);
  std::map<Tuple, Tuple> have = table(from), want = table(to);
  Tuple sizes = axisSizes(to);
  // For each register of the result, find the operand's registers that hold its
  // element in every thread.
  bool isPermutation = true, isIdentity = axisSizes(from) == sizes;
  for (int64_t reg = 0; reg < sizes[kRegister]; ++reg) {
    auto fits = [&](int64_t source) {
      for (int64_t lane = 0; lane < sizes[kLane]; ++lane)
        for (int64_t warp = 0; warp < sizes[kWarp]; ++warp)
          if (have.at({source, lane, warp}) != want.at({reg, lane, warp}))
            return false;
      return true;
    };
    bool found = false;
    for (int64_t s = 0; s < axisSizes(from)[kRegister] && !found; ++s)
      found = fits(s);
    isPermutation = isPermutation && found;
    isIdentity = isIdentity && found && fits(reg);
    if (!plan.source.empty()) {
      EXPECT_TRUE(fits(plan.source[reg])) << from.str() << " to " << to.str();
    }
  }
  std::map<int64_t, std::set<Tuple>> held;
  for (const auto &[index, coords] : have)
    held[index[kWarp]].insert(coords);
  bool stays = llvm::all_of(want, [&](const auto &entry) {
    return held[entry.first[kWarp]].count(entry.second) != 0;
  });
  ConversionKind expected = isIdentity      ? ConversionKind::None
                            : isPermutation ? ConversionKind::RegisterPermute
                            : stays         ? ConversionKind::WarpShuffle
                                            : ConversionKind::SharedMemory;
  EXPECT_EQ(int(plan.kind), int(expected)) << from.str() << " to " << to.str();
  bool hasSource = plan.kind == ConversionKind::None ||
                   plan.kind == ConversionKind::RegisterPermute;
  EXPECT_EQ(plan.source.size(), hasSource ? size_t(sizes[kRegister]) : 0u);
}

const Mma &mma(llvm::StringRef name) { return *findMma(name); }

TEST(Queries, SharedMemoryOfMatrixOperands) {
  for (const Mma &row : mmas()) {
    SCOPED_TRACE(row.name.str());
    for (const Layout *fragment : {&row.a, &row.b, &row.acc})
      for (int64_t columns : {64, 96, 192}) {
        if (columns % fragment->shape()[1] != 0)
          continue;
        Layout dist = tiled(*fragment, 64, columns, 1);
        for (int64_t bytes : {32, 64, 128})
          if (columns * 2 % bytes == 0)
            check(dist, tmaSwizzled(64, columns, bytes), 8, 16);
        check(dist, padded(64, columns, 8), 8, 16);
      }
  }
}

TEST(Queries, SharedMemoryOfCopies) {
  for (int64_t columns : {64, 128, 192, 256})
    for (int64_t vector : {1, 2, 4, 8}) {
      Layout dist = blocked(64, columns, vector, 8, 32, 4);
      for (int64_t bytes : {32, 64, 128})
        check(dist, tmaSwizzled(64, columns, bytes), 8, 16);
      check(dist, padded(64, columns, 4), 8, 16);
      check(dist, padded(64, columns, 0).permuteAxes({1, 0}), 1, 32);
    }
  for (int64_t columns : {80, 96, 176, 192, 576})
    check(blocked(32, columns, 8, 2, 32, 2), padded(32, columns, 8), 8, 16);
}

TEST(Queries, KnownWidthsAndConflicts) {
  // Rows of 128 bytes: neither a copy to swizzled memory nor a read of
  // fragments has conflicts.
  Layout copy = blocked(64, 64, 8, 8, 32, 4);
  Layout swizzled = tmaSwizzled(64, 64, 128);
  EXPECT_EQ(widestAccess(copy, swizzled, 8).width, 8);
  EXPECT_EQ(widestAccess(copy, swizzled, 4).width, 4);
  EXPECT_EQ(bankConflicts(copy, swizzled, 8, 16), 1);
  // Each lane reads 16 bytes of its own row, as ldmatrix does.
  Layout rows =
      Layout::distributed({{8, 1, 1}}, {{32, 0, 1}}, {{8, 1, 8}}, {32, 64});
  EXPECT_EQ(bankConflicts(rows, tmaSwizzled(32, 64, 128), 8, 16), 1);
  EXPECT_EQ(bankConflicts(rows, padded(32, 64, 0), 8, 16), 8);
  EXPECT_EQ(bankConflicts(rows, padded(32, 64, 8), 8, 16), 1);
  // All lanes read one word.
  Layout same = Layout::distributed({}, {{32, 0, 0}}, {}, {1});
  EXPECT_EQ(bankConflicts(same, Layout::strided({1}, {1}), 1, 32), 1);
}

/// Reads of 16 bytes on CDNA: lanes 0 to 3 go with 20 to 23 on gfx942, and also
/// with 12 to 15 and 24 to 27 on gfx950 (Chips.cpp).
TEST(Queries, LanesOfWideReads) {
  Banks gfx942 = findChip("gfx942")->getReadBanks();
  Banks gfx950 = findChip("gfx950")->getReadBanks();
  std::vector<int64_t> first;
  for (int64_t place = 0; place < 16; ++place)
    first.push_back(gfx950.laneAt(place, 16));
  EXPECT_EQ(first, std::vector<int64_t>({0, 1, 2, 3, 12, 13, 14, 15, 20, 21, 22,
                                         23, 24, 25, 26, 27}));
  EXPECT_EQ(gfx942.laneAt(4, 16), 20);
  EXPECT_EQ(gfx942.laneAt(32 + 4, 16), 32 + 20);
  EXPECT_EQ(gfx942.laneAt(4, 8), 4);
  // Lanes 4 apart read the same banks, lanes 16 apart do not.
  Layout apart16 = Layout::distributed(
      {{8, 1, 1}}, {{4, 1, 8}, {2, 0, 1}, {2, 0, 2}, {2, 1, 32}, {2, 0, 4}}, {},
      {8, 64});
  Layout rows = Layout::strided({8, 64}, {64, 1});
  EXPECT_EQ(bankConflicts(apart16, rows, 8, 16), 2);
  EXPECT_EQ(bankConflicts(apart16, rows, 8, 16, gfx942), 1);
  // Nor do those 8 apart.
  Layout apart8 = Layout::distributed(
      {{8, 1, 1}}, {{4, 1, 8}, {2, 0, 1}, {2, 1, 32}, {2, 1, 64}, {2, 0, 2}},
      {}, {4, 128});
  Layout wide = Layout::strided({4, 128}, {128, 1});
  EXPECT_EQ(bankConflicts(apart8, wide, 8, 16, /*banks=*/64), 2);
  EXPECT_EQ(bankConflicts(apart8, wide, 8, 16, gfx950), 1);
  // Stores of gfx950 use half of the banks.
  EXPECT_EQ(
      bankConflicts(apart8, wide, 8, 16, findChip("gfx950")->getStoreBanks()),
      2);
}

TEST(Queries, PermutedAccumulatorIsScalar) {
  // The pair (l, d), (l, d+1) of the accumulator is 32 elements apart in the
  // permuted memory: no access of two elements.
  Layout dist = tiled(mma("mma.m16n8k16.f16").acc, 64, 64, 4);
  Layout memory = llvm::cantFail(
      Layout::strided({8, 8, 2, 32}, {512, 64, 32, 1}).compose(dqMap(64, 64)));
  check(dist, memory, 4, 32);
  EXPECT_EQ(widestAccess(dist, memory, 4).width, 1);
  EXPECT_EQ(widestAccess(dist, padded(64, 64, 0), 4).width, 2);
  // A thread that holds every second of 8 columns has 4 neighbours in memory.
  Layout strided = Layout::distributed(
      {{4, 1, 2}}, {{2, 1, 1}, {8, 1, 8}, {2, 0, 1}}, {{32, 0, 2}}, {64, 64});
  check(strided, memory, 4, 32);
  EXPECT_EQ(widestAccess(strided, memory, 4).width, 4);
  Layout dynamic =
      llvm::cantFail(Layout::strided({kDynamic, 8, 2, 32}, {512, 64, 32, 1})
                         .compose(dqMap(kDynamic, 64)));
  EXPECT_EQ(widestAccess(strided, dynamic, 4).width, 4);
}

TEST(Queries, RegistersThatReplicate) {
  Layout dist =
      Layout::distributed({{2, 0, 0}, {4, 0, 1}}, {{32, 0, 4}}, {}, {128});
  AccessGroups groups = widestAccess(dist, Layout::strided({128}, {1}), 8);
  EXPECT_EQ(groups.width, 4);
  EXPECT_EQ(groups.order, (llvm::SmallVector<int64_t>{0, 2, 4, 6}));
}

TEST(Queries, MemoryThatBroadcasts) {
  // A row vector as a matrix: both rows of a thread are accessed.
  Layout dist =
      Layout::distributed({{2, 0, 1}, {4, 1, 1}}, {{32, 1, 4}}, {}, {2, 128});
  AccessGroups groups =
      widestAccess(dist, Layout::strided({2, 128}, {0, 1}), 8);
  EXPECT_EQ(groups.width, 4);
  EXPECT_EQ(groups.order, (llvm::SmallVector<int64_t>{0, 2, 4, 6, 1, 3, 5, 7}));
}

TEST(Queries, MemoryWithoutCommonDigits) {
  // Three columns per lane and panels of 8: there is no composition, so each
  // offset is checked.
  Layout dist =
      Layout::distributed({{3, 1, 1}}, {{16, 1, 3}, {2, 0, 1}}, {}, {2, 48});
  Layout memory = Layout::memory(
      {{Digit{2, 0, 8}}, {Digit{8, 0, 1}, Digit{6, 0, 16}}}, 96, {1, 1, 2});
  llvm::Expected<Layout> composed = memory.compose(dist);
  ASSERT_FALSE(bool(composed));
  llvm::consumeError(composed.takeError());
  check(dist, memory, 8, 16);
}

TEST(Queries, PlansBetweenInstructions) {
  const Mma &f16 = mma("mma.m16n8k16.f16");
  // Two neighbouring accumulators are the left operand of the next product.
  Layout acc = tiled(f16.acc, 64, 64, 4), operand = tiled(f16.a, 64, 64, 4);
  EXPECT_EQ(int(planConversion(acc, operand).kind), int(ConversionKind::None));
  checkPlan(acc, operand);
  // An MFMA accumulator is operand B of the next product without a conversion.
  const Mma &mfma = mma("mfma.16x16x16.f16");
  EXPECT_EQ(int(planConversion(mfma.acc, mfma.b).kind),
            int(ConversionKind::None));
  const Mma &gfx12 = mma("wmma.gfx12.16x16x16.f16");
  EXPECT_EQ(int(planConversion(gfx12.acc, gfx12.b).kind),
            int(ConversionKind::None));
  EXPECT_EQ(int(planConversion(gfx12.acc, gfx12.a).kind),
            int(ConversionKind::WarpShuffle));
  const Mma &gfx11 = mma("wmma.gfx11.16x16x16.f16");
  EXPECT_EQ(int(planConversion(gfx11.acc, gfx11.b).kind),
            int(ConversionKind::WarpShuffle));
  checkPlan(gfx11.acc, gfx11.b);
  checkPlan(gfx11.b, gfx11.acc);
  const Mma &wide = mma("mfma.32x32x8.f16");
  for (const Layout &from :
       {tiled(wide.acc, 64, 64, 2), tiled(wide.b, 64, 64, 2),
        tiled(mfma.acc, 64, 64, 2), blocked(64, 64, 4, 16, 64, 2)})
    for (const Layout &to :
         {tiled(wide.acc, 64, 64, 2), tiled(mfma.a, 64, 64, 2),
          blocked(64, 64, 4, 16, 64, 2)})
      checkPlan(from, to);
}

TEST(Queries, PlansOfEveryKind) {
  Layout rows = blocked(32, 64, 8, 8, 32, 4);
  auto kind = [](const Layout &from, const Layout &to) {
    checkPlan(from, to);
    return planConversion(from, to).kind;
  };
  Layout swapped =
      Layout::distributed({{2, 0, 16}, {8, 1, 1}}, Digits(rows.axis(kLane)),
                          Digits(rows.axis(kWarp)), {32, 64});
  EXPECT_EQ(kind(rows, rows), ConversionKind::None);
  EXPECT_EQ(kind(rows, swapped), ConversionKind::RegisterPermute);
  EXPECT_EQ(kind(rows, blocked(32, 64, 4, 8, 32, 4)),
            ConversionKind::WarpShuffle);
  EXPECT_EQ(kind(rows, blocked(32, 64, 8, 4, 32, 4)),
            ConversionKind::SharedMemory);
  // A thread that needs fewer registers than it holds.
  Layout some =
      Layout::distributed({{2, 0, 0}, {4, 0, 1}}, {{8, 0, 4}}, {}, {32});
  Layout fewer = Layout::distributed({{4, 0, 1}}, {{8, 0, 4}}, {}, {32});
  EXPECT_EQ(kind(some, fewer), ConversionKind::RegisterPermute);
  EXPECT_EQ(kind(fewer, some), ConversionKind::RegisterPermute);
  // Every warp holds all elements, so that any placement of warps is possible.
  Layout all = Layout::distributed({{8, 0, 1}}, {{4, 0, 8}}, {{2, 0, 0}}, {32});
  Layout apart =
      Layout::distributed({{4, 0, 1}}, {{4, 0, 4}}, {{2, 0, 16}}, {32});
  EXPECT_EQ(kind(all, apart), ConversionKind::WarpShuffle);
  EXPECT_EQ(kind(apart, all), ConversionKind::SharedMemory);
  // The numbers of warps differ.
  Layout single = Layout::distributed({{8, 0, 1}}, {{4, 0, 8}}, {}, {32});
  EXPECT_EQ(planConversion(single, all).kind, ConversionKind::SharedMemory);
}

/// Distributed layouts and memories whose digits come in random order.
class RandomQueries : public testing::TestWithParam<unsigned> {
protected:
  int64_t below(int64_t limit) { return engine() % uint64_t(limit); }

  /// Distributes factors of the shape to registers, about 8 lanes, and warps.
  Layout distributed(llvm::ArrayRef<int64_t> shape) {
    llvm::SmallVector<Digits, 3> axes(3);
    for (auto [dim, extent] : llvm::enumerate(shape)) {
      int64_t stride = 1;
      while (stride < extent) {
        int64_t factor = extent / stride;
        for (int64_t f : {2, 3, 5, 4, 2})
          if (factor % f == 0 && below(2) == 0) {
            factor = f;
            break;
          }
        axes[below(3)].push_back({factor, unsigned(dim), stride});
        stride *= factor;
      }
    }
    for (Digits &axis : axes) {
      if (below(5) == 0)
        axis.push_back({2, 0, 0});
      for (size_t i = axis.size(); i > 1; --i)
        if (below(3) == 0)
          std::swap(axis[i - 1], axis[below(i)]);
    }
    return Layout::distributed(axes[0], axes[1], axes[2], shape);
  }

  std::mt19937 engine{GetParam()};
};

TEST_P(RandomQueries, Access) {
  const int64_t shapes[][2] = {{16, 32}, {6, 80}, {8, 96}, {12, 20}, {32, 16}};
  llvm::ArrayRef<int64_t> shape = shapes[below(5)];
  Layout dist = distributed(shape);
  Swizzle swizzle;
  if (below(2)) {
    swizzle.bits = 1 + below(3);
    swizzle.base = below(4);
    swizzle.shift = swizzle.bits + below(2);
  }
  int64_t rowStride = shape[1] + 4 * below(3);
  Layout memory = Layout::strided(shape, {rowStride, 1}, swizzle);
  if (below(3) == 0)
    memory =
        Layout::memory({{Digit{shape[0], 0, 4}},
                        {Digit{4, 0, 1}, Digit{shape[1] / 4, 0, shape[0] * 4}}},
                       shape[0] * shape[1]);
  check(dist, memory, 8, 16);
}

TEST_P(RandomQueries, Conversion) {
  llvm::SmallVector<int64_t, 4> shape = {8, 12};
  Layout from = distributed(shape), to = distributed(shape);
  // Both layouts need the same threads; split registers and lanes again.
  Digits lanes(from.axis(kLane)), registers(from.axis(kRegister));
  switch (below(4)) {
  case 0:
    std::reverse(lanes.begin(), lanes.end());
    break;
  case 1:
    std::reverse(registers.begin(), registers.end());
    break;
  case 2:
    for (Digit &lane : lanes)
      for (Digit &reg : registers)
        if (lane.extent == reg.extent)
          std::swap(lane, reg);
    break;
  default:
    if (axisSizes(from)[kLane] == axisSizes(to)[kLane] &&
        axisSizes(from)[kWarp] == axisSizes(to)[kWarp])
      checkPlan(from, to);
  }
  checkPlan(from, Layout::distributed(registers, lanes,
                                      Digits(from.axis(kWarp)), shape));
}

/// Returns the result of findWarpBoxes, by the definition.
static std::optional<std::array<int64_t, 2>> boxesOf(const Layout &dist) {
  int64_t warps = dist.axisSize(kWarp);
  std::map<Tuple, std::set<int64_t>> holders;
  int64_t held = 0;
  for (int64_t warp = 0; warp < warps; ++warp)
    for (int64_t lane = 0; lane < dist.axisSize(kLane); ++lane)
      for (int64_t reg = 0; reg < dist.axisSize(kRegister); ++reg, ++held)
        holders[define(dist, {reg, lane, warp})].insert(warp);
  int64_t rows = dist.shape()[0], columns = dist.shape()[1];
  if (held != rows * columns || int64_t(holders.size()) != held)
    return std::nullopt;
  for (int64_t m = 1; m <= warps; ++m) {
    int64_t n = warps / m;
    if (m * n != warps || rows % m != 0 || columns % n != 0)
      continue;
    if (llvm::all_of(holders, [&](const auto &element) {
          int64_t row = element.first[0] / (rows / m);
          int64_t column = element.first[1] / (columns / n);
          return *element.second.begin() == row + m * column;
        }))
      return std::array<int64_t, 2>{m, n};
  }
  return std::nullopt;
}

TEST_P(RandomQueries, WarpBoxes) {
  const int64_t shapes[][2] = {{16, 32}, {6, 80}, {8, 96}, {32, 16}};
  Layout dist = distributed(shapes[below(4)]);
  EXPECT_EQ(findWarpBoxes(dist), boxesOf(dist));
  // Each warp holds one box, which its lanes and registers cover.
  int64_t m = 1 << below(3), n = 1 << below(3);
  Digits warps{{m, 0, 16}, {n, 1, 8}};
  if (below(4) == 0)
    std::swap(warps[0], warps[1]);
  Layout boxes = Layout::distributed(
      Digits{{2, 0, 1}, {2, 0, 2}}, Digits{{4, 0, 4}, {8, 1, 1}}, warps,
      llvm::SmallVector<int64_t, 4>{16 * m, 8 * n});
  EXPECT_EQ(findWarpBoxes(boxes), boxesOf(boxes));
}

/// Returns the result of findRegistersOfPart, by the definition.
static std::optional<llvm::SmallVector<int64_t>>
registersOf(const Layout &whole, const Layout &part,
            llvm::ArrayRef<int64_t> offsets) {
  if (whole.axisSize(kLane) != part.axisSize(kLane) ||
      whole.axisSize(kWarp) != part.axisSize(kWarp))
    return std::nullopt;
  auto isSame = [&](int64_t from, int64_t to) {
    for (int64_t warp = 0; warp < part.axisSize(kWarp); ++warp)
      for (int64_t lane = 0; lane < part.axisSize(kLane); ++lane) {
        Tuple element = define(part, {to, lane, warp});
        for (auto [coordinate, offset] : llvm::zip_equal(element, offsets))
          coordinate += offset;
        if (define(whole, {from, lane, warp}) != element)
          return false;
      }
    return true;
  };
  llvm::SmallVector<int64_t> result;
  for (int64_t to = 0; to < part.axisSize(kRegister); ++to) {
    int64_t from = 0;
    while (from < whole.axisSize(kRegister) && !isSame(from, to))
      ++from;
    if (from == whole.axisSize(kRegister))
      return std::nullopt;
    result.push_back(from);
  }
  return result;
}

TEST_P(RandomQueries, RegistersOfPart) {
  llvm::SmallVector<int64_t, 4> shape = {8, 24};
  Layout whole = distributed(shape);
  unsigned dim = below(2);
  int64_t count = 1 << below(3);
  shape[dim] /= count;
  llvm::SmallVector<int64_t, 2> offsets = {0, 0};
  offsets[dim] = below(count) * shape[dim];
  // Registers that walk over parts are left out. Parts of other digits differ.
  Digits registers;
  for (const Digit &digit : whole.axis(kRegister))
    if (digit.dim != dim || digit.stride < shape[dim])
      registers.push_back(digit);
  Layout part = Layout::distributed(registers, Digits(whole.axis(kLane)),
                                    Digits(whole.axis(kWarp)), shape);
  EXPECT_EQ(findRegistersOfPart(whole, part, offsets),
            registersOf(whole, part, offsets));
  Layout other = distributed(shape);
  EXPECT_EQ(findRegistersOfPart(whole, other, offsets),
            registersOf(whole, other, offsets));
}

TEST(RegistersOfPart, ColumnsOfAnMma) {
  // Warps have rows of their own; registers walk over the columns.
  Layout whole =
      Layout::distributed({{2, 1, 1}, {2, 0, 8}, {4, 1, 8}},
                          {{4, 1, 2}, {8, 0, 1}}, {{2, 0, 16}}, {32, 32});
  Layout part =
      Layout::distributed({{2, 1, 1}, {2, 0, 8}, {2, 1, 8}},
                          {{4, 1, 2}, {8, 0, 1}}, {{2, 0, 16}}, {32, 16});
  EXPECT_EQ(findRegistersOfPart(whole, part, {0, 16}),
            (llvm::SmallVector<int64_t>{8, 9, 10, 11, 12, 13, 14, 15}));
  // Columns that belong to different warps.
  Layout apart =
      Layout::distributed({{2, 1, 1}, {2, 0, 8}, {2, 1, 8}},
                          {{4, 1, 2}, {8, 0, 1}}, {{2, 1, 16}}, {16, 32});
  Layout half = Layout::distributed(
      {{2, 1, 1}, {2, 0, 8}}, {{4, 1, 2}, {8, 0, 1}}, {{2, 1, 8}}, {16, 16});
  EXPECT_EQ(findRegistersOfPart(apart, half, {0, 16}), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomQueries, testing::Range(0u, 200u));

} // namespace
