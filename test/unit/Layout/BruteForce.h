//===- BruteForce.h - Layouts by enumeration --------------------*- C++ -*-===//
//
// The reference for tests of the algebra. It uses only the definition of a
// layout, evaluates it digit by digit and visits every index.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TEST_UNIT_LAYOUT_BRUTEFORCE_H
#define TILE_TEST_UNIT_LAYOUT_BRUTEFORCE_H

#include "tile/Layout/Layout.h"
#include "llvm/Support/raw_ostream.h"
#include <functional>
#include <map>
#include <ostream>
#include <set>
#include <vector>

namespace tile {

/// Prints a layout in messages of GoogleTest.
inline void PrintTo(const Layout &layout, std::ostream *os) {
  *os << layout.str();
}

namespace test {

using Tuple = std::vector<int64_t>;

inline Tuple toTuple(llvm::ArrayRef<int64_t> values) {
  return Tuple(values.begin(), values.end());
}

/// Returns the sizes of the axes.
inline Tuple axisSizes(const Layout &layout) {
  Tuple sizes;
  for (unsigned a = 0; a < layout.numAxes(); ++a) {
    int64_t size = 1;
    for (const Digit &digit : layout.axis(a))
      size *= digit.extent;
    sizes.push_back(size);
  }
  return sizes;
}

/// Calls `visit` for every index tuple below `sizes`; the first index is the
/// fastest.
inline void forEachIndex(const Tuple &sizes,
                         const std::function<void(const Tuple &)> &visit) {
  Tuple index(sizes.size(), 0);
  while (true) {
    visit(index);
    size_t a = 0;
    while (a < sizes.size() && ++index[a] == sizes[a])
      index[a++] = 0;
    if (a == sizes.size())
      return;
  }
}

/// Evaluates the definition of a layout: splits the index of every axis into
/// its digits.
inline Tuple define(const Layout &layout, const Tuple &index) {
  auto permute = [](Swizzle swizzle, int64_t offset) {
    for (unsigned i = 0; i < swizzle.bits; ++i)
      if (offset >> (swizzle.base + swizzle.shift + i) & 1)
        offset ^= int64_t(1) << (swizzle.base + i);
    return offset;
  };
  Tuple coords(layout.rank(), 0);
  for (unsigned a = 0; a < layout.numAxes(); ++a) {
    int64_t place = 1;
    int64_t value =
        a == 0 ? permute(layout.inputSwizzle(), index[0]) : index[a];
    for (const Digit &digit : layout.axis(a)) {
      if (digit.stride != 0)
        coords[digit.dim] += value / place % digit.extent * digit.stride;
      place *= digit.extent;
    }
  }
  if (layout.swizzle().bits != 0)
    coords[0] = permute(layout.swizzle(), coords[0]);
  return coords;
}

/// Returns the coordinates of every index tuple.
inline std::map<Tuple, Tuple> table(const Layout &layout) {
  std::map<Tuple, Tuple> result;
  forEachIndex(axisSizes(layout), [&](const Tuple &index) {
    result[index] = define(layout, index);
  });
  return result;
}

inline std::set<Tuple> image(const Layout &layout) {
  std::set<Tuple> result;
  for (const auto &entry : table(layout))
    result.insert(entry.second);
  return result;
}

/// Returns true if `function` is a layout: a list of digits per axis. On each
/// axis, a digit ends where the function is no longer linear: a longer digit
/// would be wrong, and a shorter one would be continued by the next.
inline bool
isLayoutFunction(const Tuple &sizes, size_t rank,
                 const std::function<Tuple(const Tuple &)> &function) {
  std::vector<Digits> axes;
  for (size_t a = 0; a < sizes.size(); ++a) {
    Digits digits;
    auto at = [&](int64_t value) {
      Tuple index(sizes.size(), 0);
      index[a] = value;
      return function(index);
    };
    for (int64_t place = 1; place < sizes[a];) {
      Tuple unit = at(place);
      Digit digit{1, 0, 0};
      for (size_t d = 0; d < rank; ++d) {
        if (unit[d] == 0)
          continue;
        if (digit.stride != 0)
          return false;
        digit.dim = d;
        digit.stride = unit[d];
      }
      auto isLinearAt = [&](int64_t v) {
        Tuple expected(rank, 0);
        if (digit.stride != 0)
          expected[digit.dim] = v * digit.stride;
        return at(v * place) == expected;
      };
      while (digit.extent * place < sizes[a] && isLinearAt(digit.extent))
        ++digit.extent;
      if (sizes[a] % (digit.extent * place) != 0)
        return false;
      place *= digit.extent;
      digits.push_back(digit);
    }
    axes.push_back(digits);
  }
  Layout layout = Layout::map(axes, llvm::SmallVector<int64_t>(rank, 1));
  bool same = true;
  forEachIndex(sizes, [&](const Tuple &index) {
    same = same && define(layout, index) == function(index);
  });
  return same;
}

} // namespace test
} // namespace tile

#endif // TILE_TEST_UNIT_LAYOUT_BRUTEFORCE_H
