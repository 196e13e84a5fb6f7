//===- RandomLayoutTest.cpp - The algebra against enumeration -------------===//
//
// Seeded random layouts, with extents such as 3, 5, 6, 7, 80 and 96. Results
// are compared at every index. An operation may fail only if enumeration shows
// that no layout is the result.
//
//===----------------------------------------------------------------------===//
#include "Layout/BruteForce.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "gtest/gtest.h"
#include <random>

using namespace tile;
using namespace tile::test;
using llvm::ArrayRef;
using llvm::Expected;
using llvm::SmallVector;

namespace {

/// Draws random layouts. It uses only the numbers of the engine, so that all
/// standard libraries draw the same layouts.
class Random {
public:
  explicit Random(unsigned seed) : engine(seed) {}

  int64_t below(int64_t limit) { return engine() % uint64_t(limit); }
  bool chance(int64_t in) { return below(in) == 0; }
  int64_t pick(std::initializer_list<int64_t> values) {
    return values.begin()[below(values.size())];
  }
  template <typename Range> void shuffle(Range &range) {
    for (size_t i = range.size(); i > 1; --i)
      std::swap(range[i - 1], range[below(i)]);
  }

  SmallVector<int64_t, 4> shape(int64_t limit) {
    SmallVector<int64_t, 4> result;
    int64_t size = 1;
    for (int64_t i = 0, rank = 1 + below(3); i < rank; ++i) {
      int64_t extent = pick({1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 80, 96});
      if (size * extent > limit)
        extent = 1 + below(3);
      size *= extent;
      result.push_back(extent);
    }
    return result;
  }

  /// Returns random factors of `extent`, some of which may be 1.
  SmallVector<int64_t, 8> factors(int64_t extent) {
    SmallVector<int64_t, 8> result;
    while (extent > 1) {
      SmallVector<int64_t, 16> divisors;
      for (int64_t f = 2; f <= extent; ++f)
        if (extent % f == 0)
          divisors.push_back(f);
      result.push_back(divisors[below(divisors.size())]);
      extent /= result.back();
    }
    if (chance(4))
      result.push_back(1);
    return result;
  }

  /// Returns axes whose digits together enumerate `shape`.
  SmallVector<Digits, 3> bijection(ArrayRef<int64_t> shape, unsigned axes) {
    Digits digits;
    for (auto [dim, extent] : llvm::enumerate(shape)) {
      int64_t stride = 1;
      for (int64_t factor : factors(extent)) {
        digits.push_back({factor, unsigned(dim), stride});
        stride *= factor;
      }
    }
    if (!chance(3))
      shuffle(digits);
    SmallVector<Digits, 3> result(axes);
    for (const Digit &digit : digits)
      result[below(axes)].push_back(digit);
    return result;
  }

  /// Removes, replicates and overlaps digits. Coordinates stay inside `shape`.
  void damage(SmallVector<Digits, 3> &axes) {
    for (Digits &axis : axes) {
      if (!axis.empty() && chance(3))
        axis.erase(axis.begin() + below(axis.size()));
      if (chance(4))
        axis.insert(axis.begin() + below(axis.size() + 1),
                    {pick({2, 3, 4}), 0, 0});
      for (Digit &digit : axis)
        if (digit.stride > 1 && chance(8))
          digit.stride = 1 + below(digit.stride);
    }
  }

  Layout bijectiveMap(int64_t limit) {
    SmallVector<int64_t, 4> extents = shape(limit);
    return Layout::map(bijection(extents, 1 + below(3)), extents);
  }

  /// Returns a distributed layout, map or memory layout, which may be invalid.
  Layout any(int64_t limit) {
    if (chance(3))
      return memory(shape(limit));
    SmallVector<int64_t, 4> extents = shape(limit);
    SmallVector<Digits, 3> axes = bijection(extents, 3);
    damage(axes);
    if (chance(2))
      return Layout::distributed(axes[0], axes[1], axes[2], extents);
    return Layout::map(axes, extents);
  }

  /// Returns a memory layout for coordinates in `extents`. The digits of each
  /// axis have strides in random order, with or without padding and swizzle.
  Layout memory(ArrayRef<int64_t> extents) {
    SmallVector<Digits, 3> axes(extents.size());
    SmallVector<std::pair<unsigned, unsigned>> order;
    for (auto [axis, extent] : llvm::enumerate(extents))
      for (int64_t factor : factors(extent)) {
        order.push_back({unsigned(axis), unsigned(axes[axis].size())});
        axes[axis].push_back({factor, 0, 0});
      }
    shuffle(order);
    int64_t stride = 1;
    for (auto [axis, position] : order) {
      if (chance(6))
        stride += below(5);
      axes[axis][position].stride = stride;
      stride *= axes[axis][position].extent;
    }
    Swizzle swizzle;
    if (chance(2)) {
      swizzle.bits = 1 + below(3);
      swizzle.base = below(4);
      swizzle.shift = swizzle.bits + below(3);
      stride =
          llvm::alignTo(stride, int64_t(1) << (swizzle.bits + swizzle.base));
    }
    return Layout::memory(axes, stride, swizzle);
  }

  /// Returns the same function with other digits.
  Layout resplit(const Layout &layout) {
    SmallVector<Digits, 3> axes;
    for (unsigned a = 0; a < layout.numAxes(); ++a) {
      Digits digits;
      for (const Digit &digit : layout.axis(a)) {
        int64_t stride = digit.stride;
        for (int64_t factor : factors(digit.extent)) {
          digits.push_back({factor, digit.dim, stride});
          stride *= factor;
        }
      }
      axes.push_back(digits);
    }
    if (layout.family() == LayoutFamily::Memory)
      return Layout::memory(axes, layout.shape()[0], layout.swizzle());
    if (layout.family() == LayoutFamily::Distributed)
      return Layout::distributed(axes[0], axes[1], axes[2], layout.shape());
    return Layout::map(axes, layout.shape());
  }

private:
  std::mt19937 engine;
};

constexpr int64_t kLimit = 1000;

class RandomLayout : public testing::TestWithParam<unsigned> {
protected:
  Random random{GetParam()};
};

/// Returns the layout of the offset before the swizzle.
Layout withoutSwizzle(const Layout &layout) {
  SmallVector<Digits, 3> axes;
  for (unsigned a = 0; a < layout.numAxes(); ++a)
    axes.push_back(Digits(layout.axis(a)));
  return Layout::map(axes, layout.shape());
}

TEST_P(RandomLayout, Apply) {
  Layout layout = random.any(kLimit);
  for (const auto &[index, coords] : table(layout)) {
    ASSERT_EQ(toTuple(layout.apply(index)), coords) << layout.str();
    if (layout.family() == LayoutFamily::Memory) {
      ASSERT_EQ(layout.offset(index), coords[0]) << layout.str();
    }
  }
}

TEST_P(RandomLayout, Verify) {
  Layout layout = random.any(kLimit);
  if (layout.family() == LayoutFamily::Memory) {
    // The storage may be too small.
    SmallVector<Digits, 3> axes;
    for (unsigned a = 0; a < layout.numAxes(); ++a)
      axes.push_back(Digits(layout.axis(a)));
    int64_t size = layout.shape()[0];
    layout = Layout::memory(axes, std::max<int64_t>(1, size - random.below(8)),
                            layout.swizzle());
  }
  bool inside = true;
  for (const auto &entry : table(layout))
    for (auto [coord, extent] : llvm::zip_equal(entry.second, layout.shape()))
      inside = inside && coord < extent;
  llvm::Error error = layout.verify();
  EXPECT_EQ(!error, inside) << layout.str();
  llvm::consumeError(std::move(error));
}

TEST_P(RandomLayout, Compose) {
  Layout inner = random.any(kLimit);
  while (inner.swizzle().bits != 0)
    inner = random.any(kLimit);
  Layout outer = random.chance(2)
                     ? random.memory(inner.shape())
                     : Layout::map(random.bijection(inner.shape(), 1), {1});
  if (outer.family() == LayoutFamily::Map) {
    // The outer layout is a map whose axes are the dimensions of inner.
    SmallVector<Digits, 3> axes;
    SmallVector<int64_t, 4> shape = {1, 1};
    for (int64_t extent : inner.shape()) {
      Digits digits;
      for (int64_t factor : random.factors(extent)) {
        unsigned dim = random.below(2);
        digits.push_back({factor, dim, shape[dim]});
        shape[dim] *= factor;
      }
      axes.push_back(digits);
    }
    outer = Layout::map(axes, shape);
  }
  Expected<Layout> result = outer.compose(inner);
  if (!result) {
    llvm::consumeError(result.takeError());
    Layout linear = withoutSwizzle(outer);
    EXPECT_FALSE(isLayoutFunction(axisSizes(inner), outer.rank(),
                                  [&](const Tuple &index) {
                                    return define(linear, define(inner, index));
                                  }))
        << outer.str() << " of " << inner.str();
    return;
  }
  EXPECT_FALSE(bool(result->verify()));
  for (const auto &[index, coords] : table(inner))
    ASSERT_EQ(define(*result, index), define(outer, coords))
        << outer.str() << " of " << inner.str();
}

TEST_P(RandomLayout, Invert) {
  Layout layout =
      random.chance(2) ? random.bijectiveMap(kLimit) : random.any(kLimit);
  int64_t size = 1;
  for (int64_t extent : layout.shape())
    size *= extent;
  bool isBijection =
      int64_t(image(layout).size()) == size && layout.inputSize() == size;
  Expected<Layout> inverse = layout.invert();
  ASSERT_EQ(bool(inverse), isBijection) << layout.str();
  if (!inverse) {
    llvm::consumeError(inverse.takeError());
    return;
  }
  EXPECT_FALSE(bool(inverse->verify()));
  for (const auto &[index, coords] : table(layout))
    ASSERT_EQ(define(*inverse, coords), index) << layout.str();
}

TEST_P(RandomLayout, Complement) {
  Layout whole = random.bijectiveMap(kLimit);
  SmallVector<Digits, 3> axes;
  for (unsigned a = 0; a < whole.numAxes(); ++a) {
    Digits digits(whole.axis(a));
    llvm::erase_if(digits, [&](const Digit &) { return random.chance(3); });
    axes.push_back(digits);
  }
  Layout part = Layout::map(axes, whole.shape());
  Expected<Layout> rest = part.complement();
  ASSERT_TRUE(bool(rest)) << part.str() << ": "
                          << llvm::toString(rest.takeError());
  EXPECT_EQ(rest->numAxes(), 1u);
  std::set<Tuple> seen;
  for (const auto &mine : table(part))
    for (const auto &theirs : table(*rest)) {
      Tuple sum = mine.second;
      for (size_t d = 0; d < sum.size(); ++d)
        sum[d] += theirs.second[d];
      ASSERT_TRUE(seen.insert(sum).second) << part.str();
    }
  EXPECT_EQ(seen, image(whole)) << part.str();
}

TEST_P(RandomLayout, Divide) {
  Layout layout = random.any(kLimit);
  SmallVector<int64_t, 4> tiler;
  Tuple sizes = axisSizes(layout), divided;
  for (int64_t size : sizes) {
    SmallVector<int64_t> divisors;
    for (int64_t f = 1; f <= size; ++f)
      if (size % f == 0)
        divisors.push_back(f);
    tiler.push_back(divisors[random.below(divisors.size())]);
    divided.push_back(tiler.back());
    divided.push_back(size / tiler.back());
  }
  auto whole = [&](const Tuple &index) {
    Tuple result;
    for (size_t a = 0; a < tiler.size(); ++a)
      result.push_back(index[2 * a] + tiler[a] * index[2 * a + 1]);
    return result;
  };
  Expected<Layout> result = layout.divide(tiler);
  if (!result) {
    llvm::consumeError(result.takeError());
    Layout linear = withoutSwizzle(layout);
    EXPECT_FALSE(isLayoutFunction(
        divided, layout.rank(),
        [&](const Tuple &index) { return define(linear, whole(index)); }))
        << layout.str();
    return;
  }
  ASSERT_EQ(axisSizes(*result), divided);
  for (const auto &[index, coords] : table(*result))
    ASSERT_EQ(coords, define(layout, whole(index))) << layout.str();
}

TEST_P(RandomLayout, Product) {
  SmallVector<int64_t, 4> outerShape = random.shape(20), innerShape;
  for (size_t i = 0; i < outerShape.size(); ++i)
    innerShape.push_back(1 + random.below(7));
  Layout inner = Layout::map(random.bijection(innerShape, 2), innerShape);
  Layout outer = Layout::map(random.bijection(outerShape, 2), outerShape);
  Layout result = llvm::cantFail(inner.product(outer));
  Tuple sizes = axisSizes(inner);
  for (const auto &[index, coords] : table(result)) {
    Tuple low, high, expected;
    for (size_t a = 0; a < sizes.size(); ++a) {
      low.push_back(index[a] % sizes[a]);
      high.push_back(index[a] / sizes[a]);
    }
    for (size_t d = 0; d < innerShape.size(); ++d)
      expected.push_back(define(inner, low)[d] +
                         innerShape[d] * define(outer, high)[d]);
    ASSERT_EQ(coords, expected) << inner.str() << " x " << outer.str();
  }
}

TEST_P(RandomLayout, PermuteAndDrop) {
  Layout layout = random.any(kLimit);
  while (layout.family() == LayoutFamily::Memory)
    layout = random.any(kLimit);
  SmallVector<unsigned, 4> dims, axes;
  for (unsigned d = 0; d < layout.rank(); ++d)
    dims.push_back(d);
  for (unsigned a = 0; a < layout.numAxes(); ++a)
    axes.push_back(a);
  random.shuffle(dims);
  random.shuffle(axes);
  Layout byDims = layout.permuteDims(dims), byAxes = layout.permuteAxes(axes);
  unsigned dropped = random.below(layout.rank());
  Layout fewer = layout.dropDim(dropped);
  EXPECT_FALSE(bool(byDims.verify()));
  EXPECT_FALSE(bool(fewer.verify()));
  std::map<Tuple, std::set<Tuple>> kept, expectedKept;
  bool isDistributed = layout.family() == LayoutFamily::Distributed;
  auto thread = [&](Tuple index) {
    if (isDistributed)
      index[kRegister] = 0;
    return index;
  };
  for (const auto &[index, coords] : table(layout)) {
    Tuple moved, byAxesIndex, rest = coords;
    for (unsigned d : dims)
      moved.push_back(coords[d]);
    for (unsigned a : axes)
      byAxesIndex.push_back(index[a]);
    rest.erase(rest.begin() + dropped);
    ASSERT_EQ(define(byDims, index), moved);
    ASSERT_EQ(define(byAxes, byAxesIndex), coords);
    expectedKept[thread(index)].insert(rest);
  }
  for (const auto &[index, coords] : table(fewer))
    kept[thread(index)].insert(coords);
  EXPECT_EQ(kept, expectedKept) << layout.str();
  if (isDistributed) {
    EXPECT_EQ(fewer.replication(kRegister), 1);
  }
}

TEST_P(RandomLayout, Reshape) {
  Layout layout = random.any(kLimit);
  while (layout.family() == LayoutFamily::Memory)
    layout = random.any(kLimit);
  int64_t size = 1;
  for (int64_t extent : layout.shape())
    size *= extent;
  SmallVector<int64_t, 8> shape = random.factors(size);
  random.shuffle(shape);
  if (shape.empty())
    shape.push_back(1);
  auto reshaped = [&](const Tuple &index) {
    int64_t number = 0;
    for (auto [coord, extent] :
         llvm::zip_equal(define(layout, index), layout.shape()))
      number = number * extent + coord;
    Tuple coords(shape.size());
    for (size_t d = shape.size(); d-- > 0;) {
      coords[d] = number % shape[d];
      number /= shape[d];
    }
    return coords;
  };
  Expected<Layout> result = layout.reshape(shape);
  if (!result) {
    llvm::consumeError(result.takeError());
    EXPECT_FALSE(isLayoutFunction(axisSizes(layout), shape.size(), reshaped))
        << layout.str();
    return;
  }
  EXPECT_EQ(result->family(), layout.family());
  EXPECT_EQ(result->shape(), ArrayRef<int64_t>(shape));
  for (const auto &[index, coords] : table(*result))
    ASSERT_EQ(coords, reshaped(index)) << layout.str();
}

TEST_P(RandomLayout, Equivalence) {
  Layout layout = random.any(kLimit), other = random.resplit(layout);
  EXPECT_TRUE(layout.equivalent(other))
      << layout.str() << " and " << other.str();
  EXPECT_EQ(layout.coalesced(), other.coalesced());
  // A slightly changed layout: enumeration shows whether it is equal.
  SmallVector<Digits, 3> axes;
  for (unsigned a = 0; a < layout.numAxes(); ++a)
    axes.push_back(Digits(other.axis(a)));
  Digits &axis = axes[random.below(axes.size())];
  random.shuffle(axis);
  Swizzle swizzle = layout.swizzle();
  if (swizzle.bits > 1 && random.chance(2))
    --swizzle.bits;
  Layout changed =
      layout.family() == LayoutFamily::Memory
          ? Layout::memory(axes, layout.shape()[0], swizzle)
      : layout.family() == LayoutFamily::Distributed
          ? Layout::distributed(axes[0], axes[1], axes[2], layout.shape())
          : Layout::map(axes, layout.shape());
  EXPECT_EQ(layout.equivalent(changed), table(layout) == table(changed))
      << layout.str() << " and " << changed.str();
  if (layout.family() != LayoutFamily::Distributed)
    return;
  auto perThread = [](const Layout &dist) {
    std::map<Tuple, std::set<Tuple>> result;
    for (const auto &[index, coords] : table(dist))
      result[{index[kLane], index[kWarp]}].insert(coords);
    return result;
  };
  EXPECT_EQ(layout.equivalentUpToRegisters(changed),
            perThread(layout) == perThread(changed))
      << layout.str() << " and " << changed.str();
}

TEST_P(RandomLayout, ImageQueries) {
  Layout layout = random.any(kLimit);
  std::map<Tuple, Tuple> all = table(layout);
  std::set<Tuple> reached = image(layout);
  EXPECT_EQ(layout.imageSize(), int64_t(reached.size())) << layout.str();
  Layout linear = withoutSwizzle(layout);
  int64_t size = 1, replication = 1;
  for (int64_t extent : layout.shape())
    size *= extent;
  for (unsigned a = 0; a < layout.numAxes(); ++a)
    replication *= layout.replication(a);
  EXPECT_EQ(layout.isSurjective(), int64_t(image(linear).size()) == size)
      << layout.str();
  Layout::Witness witness;
  bool isInjective = layout.isInjective(false, &witness);
  EXPECT_EQ(isInjective, reached.size() * replication == all.size())
      << layout.str();
  if (!isInjective) {
    EXPECT_NE(witness.first, witness.second);
    EXPECT_EQ(all.at(toTuple(witness.first)), all.at(toTuple(witness.second)));
  }
  bool isStrict = layout.isInjective(true, &witness);
  EXPECT_EQ(isStrict, reached.size() == all.size()) << layout.str();
  if (!isStrict) {
    EXPECT_NE(witness.first, witness.second);
    EXPECT_EQ(all.at(toTuple(witness.first)), all.at(toTuple(witness.second)));
  }
}

TEST_P(RandomLayout, Contiguity) {
  Layout layout = random.any(kLimit);
  std::map<Tuple, Tuple> all = table(layout);
  for (unsigned a = 0; a < layout.numAxes(); ++a) {
    int64_t size = layout.axisSize(a);
    if (size == 1)
      continue;
    for (unsigned d = 0; d < layout.rank(); ++d) {
      auto holds = [&](int64_t width) {
        return llvm::all_of(all, [&](const auto &entry) {
          Tuple index = entry.first;
          int64_t position = index[a] % width;
          index[a] -= position;
          Tuple first = all.at(index);
          bool isAligned = first[d] % width == 0;
          first[d] += position;
          return isAligned && entry.second == first;
        });
      };
      int64_t width = 1;
      while (size % (2 * width) == 0 && holds(2 * width))
        width *= 2;
      // A swizzle whose source bits are constant may allow more.
      if (layout.swizzle().bits != 0)
        EXPECT_LE(layout.contiguity(a, d), width) << layout.str();
      else
        EXPECT_EQ(layout.contiguity(a, d), width) << layout.str();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomLayout, testing::Range(0u, 150u));

} // namespace
