//===- Queries.cpp - Queries on pairs of layouts --------------------------===//
//
// The coordinates of an element are the sum of those of its register and those
// of its thread. So a query examines registers and threads separately if the
// memory layout allows it: if the composition of the two layouts has digits and
// no swizzle changes offsets inside of an access.
//
//===----------------------------------------------------------------------===//
#include "tile/Layout/Queries.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

using namespace tile;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::SmallVectorImpl;

namespace {

/// Returns the sum of value * stride * weights[dim] over the digits, for each
/// index.
std::vector<int64_t> sums(ArrayRef<Digit> digits, ArrayRef<int64_t> weights) {
  std::vector<int64_t> result = {0};
  for (const Digit &digit : digits) {
    int64_t step = digit.stride == 0 ? 0 : digit.stride * weights[digit.dim];
    size_t count = result.size();
    result.reserve(count * digit.extent);
    for (int64_t v = 1; v < digit.extent; ++v)
      for (size_t i = 0; i < count; ++i)
        result.push_back(result[i] + v * step);
  }
  return result;
}

/// Returns the row-major strides of a shape.
SmallVector<int64_t, 4> rowMajor(ArrayRef<int64_t> shape) {
  SmallVector<int64_t, 4> weights(shape.size(), 1);
  for (unsigned d = shape.size(); d-- > 1;)
    weights[d - 1] = weights[d] * shape[d];
  return weights;
}

Digits threadDigits(const Layout &dist) {
  Digits digits(dist.axis(kLane));
  llvm::append_range(digits, dist.axis(kWarp));
  return digits;
}

/// The offsets of all registers of all threads in a memory. The number of a
/// thread is lane + lanes * warp.
class Offsets {
public:
  Offsets(const Layout &dist, const Layout &memory,
          ArrayRef<int64_t> start = {})
      : memory(memory), swizzle(memory.swizzle()),
        start(start.begin(), start.end()) {
    llvm::Expected<Layout> composed = memory.compose(dist);
    std::optional<int64_t> origin = originOffset();
    if (composed && origin) {
      const int64_t weight = 1;
      threads = threadDigits(*composed);
      registerParts.push_back(sums(composed->axis(kRegister), weight));
      for (int64_t &part : registerParts.back())
        part += *origin;
      threadParts.push_back(sums(threads, weight));
      isLinear = true;
      return;
    }
    // The composition has no digits: add up the coordinates and apply the
    // memory layout to the sum.
    if (!composed)
      llvm::consumeError(composed.takeError());
    SmallVector<int64_t, 4> weights(dist.rank(), 0);
    for (unsigned d = 0; d < dist.rank(); ++d) {
      weights[d] = 1;
      registerParts.push_back(sums(dist.axis(kRegister), weights));
      threadParts.push_back(sums(threadDigits(dist), weights));
      weights[d] = 0;
    }
  }

  int64_t numThreads() const { return threadParts.front().size(); }

  int64_t operator()(int64_t reg, int64_t thread) const {
    if (isLinear)
      return swizzle(registerParts[0][reg] + threadParts[0][thread]);
    SmallVector<int64_t, 4> coords;
    for (auto [registerPart, threadPart] :
         llvm::zip_equal(registerParts, threadParts))
      coords.push_back(registerPart[reg] + threadPart[thread]);
    for (auto [dim, first] : llvm::enumerate(start))
      coords[dim] += first;
    return memory.offset(coords);
  }

  /// Returns true if two registers of a thread are equally far apart in all
  /// threads.
  bool isShiftedByRegisters() const { return isLinear && swizzle.bits == 0; }

  /// Returns true if the same lanes of two warps are a multiple of `elements`
  /// apart. A warp has `lanes`.
  bool areWarpsApart(int64_t lanes, int64_t elements) const {
    if (!isLinear)
      return false;
    for (int64_t thread = 0; thread < numThreads(); thread += lanes)
      if ((threadParts[0][thread] - threadParts[0][0]) % elements != 0)
        return false;
    return true;
  }

  /// Returns whether every aligned access of `width` elements of thread 0 is
  /// also one in all other threads; std::nullopt if the digits do not decide
  /// this and each offset must be checked.
  std::optional<bool> holdsInAllThreads(int64_t width) const {
    if (!isLinear ||
        (swizzle.bits != 0 && width > (int64_t(1) << swizzle.base)))
      return std::nullopt;
    return llvm::all_of(threads, [&](const Digit &digit) {
      return digit.extent == 1 || digit.stride % width == 0;
    });
  }

private:
  /// Returns the offset, before the swizzle, that the start adds to all
  /// offsets; std::nullopt if the layout from the start on differs from that at
  /// the origin.
  std::optional<int64_t> originOffset() const {
    int64_t offset = 0;
    for (auto [dim, first] : llvm::enumerate(start)) {
      if (first == 0)
        continue;
      ArrayRef<Digit> digits = memory.axis(dim);
      int64_t period = 1;
      for (const Digit &digit : digits.drop_back())
        period *= digit.extent;
      if (digits.empty() || first % period != 0)
        return std::nullopt;
      offset += first / period * digits.back().stride;
    }
    return offset;
  }

  const Layout &memory;
  Swizzle swizzle;
  SmallVector<int64_t, 4> start;
  bool isLinear = false;
  /// The digits of all threads, if linear.
  Digits threads;
  /// If linear, one list of offsets before the swizzle; otherwise one list of
  /// coordinates per dimension.
  SmallVector<std::vector<int64_t>, 4> registerParts, threadParts;
};

/// Returns the first register of every distinct element.
SmallVector<int64_t> distinctRegisters(const Layout &dist) {
  std::vector<int64_t> elements =
      sums(dist.axis(kRegister), rowMajor(dist.shape()));
  std::vector<bool> seen(llvm::product_of(dist.shape()));
  SmallVector<int64_t> result;
  for (auto [reg, element] : llvm::enumerate(elements)) {
    if (!seen[element])
      result.push_back(reg);
    seen[element] = true;
  }
  return result;
}

/// Returns true if the groups of `width` registers in `order` are aligned
/// accesses of contiguous elements in `thread`.
bool isGrouped(const Offsets &offsets, ArrayRef<int64_t> order, int64_t width,
               int64_t thread) {
  for (size_t first = 0; first < order.size(); first += width) {
    int64_t offset = offsets(order[first], thread);
    if (offset % width != 0)
      return false;
    for (int64_t i = 1; i < width; ++i)
      if (offsets(order[first + i], thread) != offset + i)
        return false;
  }
  return true;
}

/// Returns the registers of distinct elements, sorted by offset. Distinct
/// elements at one offset (a memory that broadcasts) are put into separate
/// rounds, so that the accesses of each round can be wide.
SmallVector<int64_t> accessOrder(const Layout &dist, const Offsets &offsets) {
  std::vector<std::pair<int64_t, int64_t>> offsetsAndRegisters;
  for (int64_t reg : distinctRegisters(dist))
    offsetsAndRegisters.push_back({offsets(reg, 0), reg});
  // llvm::sort calls qsort for these, which is slower.
  std::sort(offsetsAndRegisters.begin(), offsetsAndRegisters.end());
  SmallVector<SmallVector<int64_t>, 1> rounds;
  int64_t round = 0, last = 0;
  for (auto [place, entry] : llvm::enumerate(offsetsAndRegisters)) {
    round = place != 0 && entry.first == last ? round + 1 : 0;
    last = entry.first;
    if (round == int64_t(rounds.size()))
      rounds.emplace_back();
    rounds[round].push_back(entry.second);
  }
  SmallVector<int64_t> order;
  for (const SmallVector<int64_t> &registers : rounds)
    llvm::append_range(order, registers);
  return order;
}

bool isGroupedInAllThreads(const Offsets &offsets, ArrayRef<int64_t> order,
                           int64_t width) {
  if (!isGrouped(offsets, order, width, 0))
    return false;
  if (std::optional<bool> holds = offsets.holdsInAllThreads(width))
    return *holds;
  for (int64_t thread = 1; thread < offsets.numThreads(); ++thread)
    if (!isGrouped(offsets, order, width, thread))
      return false;
  return true;
}

AccessGroups widestAccess(ArrayRef<int64_t> order,
                          ArrayRef<const Offsets *> memories,
                          int64_t maxWidth) {
  AccessGroups groups;
  groups.order.assign(order.begin(), order.end());
  for (int64_t width =
           llvm::bit_floor(uint64_t(std::max<int64_t>(maxWidth, 1)));
       width > 1; width /= 2) {
    if (order.size() % width != 0 ||
        !llvm::all_of(memories, [&](const Offsets *offsets) {
          return isGroupedInAllThreads(*offsets, order, width);
        }))
      continue;
    groups.width = width;
    break;
  }
  return groups;
}

/// Returns the largest number of different words in one bank.
int64_t sweeps(SmallVectorImpl<int64_t> &words, unsigned banks) {
  // llvm::sort calls qsort for integers, which is slower.
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  SmallVector<int64_t, 64> load(banks, 0);
  for (int64_t word : words)
    ++load[word % banks];
  return *llvm::max_element(load);
}

} // namespace

SmallVector<int64_t> tile::registerOffsets(const Layout &dist,
                                           const Layout &memory) {
  Offsets offsets(dist, memory);
  SmallVector<int64_t> result;
  for (int64_t reg = 0; reg < dist.axisSize(kRegister); ++reg)
    result.push_back(offsets(reg, /*thread=*/0));
  return result;
}

std::vector<int64_t> tile::registerCoordinates(const Layout &dist,
                                               unsigned dim) {
  SmallVector<int64_t, 4> weights(dist.rank(), 0);
  weights[dim] = 1;
  return sums(dist.axis(kRegister), weights);
}

AccessGroups tile::widestAccess(const Layout &dist, const Layout &memory,
                                int64_t maxWidth) {
  Offsets offsets(dist, memory);
  return ::widestAccess(accessOrder(dist, offsets), &offsets, maxWidth);
}

AccessGroups tile::widestAccess(const Layout &dist,
                                ArrayRef<PlacedMemory> memories,
                                int64_t maxWidth) {
  std::vector<Offsets> offsets;
  for (const PlacedMemory &memory : memories)
    offsets.emplace_back(dist, memory.layout, memory.start);
  SmallVector<const Offsets *> pointers;
  for (const Offsets &memory : offsets)
    pointers.push_back(&memory);
  return ::widestAccess(accessOrder(dist, offsets.front()), pointers, maxWidth);
}

std::optional<AccessObstacle>
tile::findObstacle(const Layout &dist, ArrayRef<PlacedMemory> memories,
                   int64_t width, AccessGroups *groups) {
  SmallVector<int64_t> order;
  int64_t lanes = dist.axisSize(kLane);
  for (auto [number, memory] : llvm::enumerate(memories)) {
    Offsets offsets(dist, memory.layout, memory.start);
    if (order.empty())
      order = accessOrder(dist, offsets);
    if (order.size() % width != 0)
      return AccessObstacle{AccessObstacle::Count,
                            unsigned(number),
                            int64_t(order.size()),
                            {},
                            {}};
    if (isGroupedInAllThreads(offsets, order, width))
      continue;
    for (int64_t thread = 0; thread < offsets.numThreads(); ++thread)
      for (size_t i = 0; i < order.size(); ++i) {
        auto element = [&](size_t place) {
          return dist.element(order[place], thread % lanes, thread / lanes);
        };
        int64_t offset = offsets(order[i], thread);
        if (i % width == 0 && offset % width != 0)
          return AccessObstacle{AccessObstacle::Alignment,
                                unsigned(number),
                                offset,
                                element(i),
                                {}};
        if (i % width == 0)
          continue;
        int64_t distance = offset - offsets(order[i - 1], thread);
        if (distance != 1)
          return AccessObstacle{AccessObstacle::Distance, unsigned(number),
                                distance, element(i - 1), element(i)};
      }
  }
  if (groups)
    *groups = {width, std::move(order)};
  return std::nullopt;
}

/// Calls `visit` with the passes over the banks of each access of each batch of
/// lanes that the hardware serves at once, and with the number of warps that
/// have such an access, until it returns false. Returns the accesses of a
/// thread.
static AccessGroups
visitBatches(const Layout &dist, const Layout &memory, int64_t width,
             unsigned elementBits, const Banks &banks,
             llvm::function_ref<bool(int64_t sweeps, int64_t warps)> visit) {
  constexpr int64_t bankBits = 32;
  Offsets offsets(dist, memory);
  AccessGroups groups =
      ::widestAccess(accessOrder(dist, offsets), &offsets, width);
  int64_t accessBits = groups.width * elementBits;
  int64_t lanes = dist.axisSize(kLane);
  int64_t accessBytes = llvm::divideCeil(accessBits, 8);
  int64_t lanesAtOnce = std::min(banks.lanesAtOnce(accessBytes), lanes);
  // The order of service must stay within a warp.
  int64_t period = Banks::kBlockLanes * banks.blocks.size();
  bool isReordered = period != 0 && lanes % period == 0;
  auto threadAt = [&](int64_t place) {
    int64_t warp = place / lanes * lanes;
    return isReordered ? warp + banks.laneAt(place - warp, accessBytes) : place;
  };

  // Whole words between two accesses, or two warps, move all lanes to other
  // banks alike, and most batches have the same distances between lanes.
  bool isShifted = offsets.isShiftedByRegisters();
  int64_t threads = offsets.numThreads(), warps = 1;
  if (isShifted &&
      offsets.areWarpsApart(lanes, llvm::divideCeil(bankBits, elementBits))) {
    warps = threads / lanes;
    threads = lanes;
  }
  // The passes of an access by the place of its first bit in a word, and the
  // distances between its lanes.
  llvm::SmallDenseMap<int64_t, int64_t, 4> known;
  SmallVector<int64_t, 64> distances, last;
  SmallVector<int64_t, 128> words;
  for (int64_t begin = 0; begin < threads;) {
    // The last batch of a warp may be short; no batch spans two warps.
    int64_t end = std::min(begin + lanesAtOnce, (begin / lanes + 1) * lanes);
    if (isShifted) {
      int64_t reg = groups.order.front(), first = offsets(reg, threadAt(begin));
      distances.clear();
      for (int64_t place = begin; place < end; ++place)
        distances.push_back(offsets(reg, threadAt(place)) - first);
      if (distances != last)
        known.clear();
      std::swap(distances, last);
    }
    for (size_t i = 0; i < groups.order.size(); i += groups.width) {
      int64_t reg = groups.order[i];
      int64_t first = offsets(reg, threadAt(begin)) * elementBits;
      int64_t &count = known[first % bankBits];
      if (count == 0 || !isShifted) {
        words.clear();
        for (int64_t place = begin; place < end; ++place) {
          int64_t bit = offsets(reg, threadAt(place)) * elementBits;
          for (int64_t word = bit / bankBits;
               word <= (bit + accessBits - 1) / bankBits; ++word)
            words.push_back(word);
        }
        count = sweeps(words, banks.count);
      }
      if (!visit(count, warps))
        return groups;
    }
    begin = end;
  }
  return groups;
}

int64_t tile::bankConflicts(const Layout &dist, const Layout &memory,
                            int64_t width, unsigned elementBits,
                            const Banks &banks) {
  int64_t worst = 1;
  visitBatches(dist, memory, width, elementBits, banks,
               [&](int64_t sweeps, int64_t) {
                 worst = std::max(worst, sweeps);
                 return true;
               });
  return worst;
}

BankPasses tile::countBankPasses(const Layout &dist, const Layout &memory,
                                 int64_t width, unsigned elementBits,
                                 const Banks &banks, int64_t limit) {
  BankPasses result;
  AccessGroups groups = visitBatches(dist, memory, width, elementBits, banks,
                                     [&](int64_t sweeps, int64_t warps) {
                                       result.passes += warps * sweeps;
                                       result.conflicts += warps * (sweeps - 1);
                                       return result.passes <= limit;
                                     });
  result.accesses = groups.order.size() / groups.width * dist.axisSize(kWarp);
  return result;
}

SegmentCount tile::countSegments(const Layout &dist, const PlacedMemory &memory,
                                 const AccessGroups &groups, int64_t segment) {
  Offsets offsets(dist, memory.layout, memory.start);
  SegmentCount worst;
  for (size_t i = 0; i < groups.order.size(); i += groups.width) {
    llvm::SmallDenseSet<int64_t> elements, segments;
    for (int64_t lane = 0; lane < dist.axisSize(kLane); ++lane)
      for (int64_t next = 0; next < groups.width; ++next) {
        int64_t offset = offsets(groups.order[i], lane) + next;
        elements.insert(offset);
        segments.insert(offset / segment);
      }
    SegmentCount count{int64_t(segments.size()),
                       int64_t(llvm::divideCeil(elements.size(), segment))};
    if (worst.least == 0 ||
        count.touched * worst.least > worst.touched * count.least)
      worst = count;
  }
  return worst;
}

ConversionPlan tile::planConversion(const Layout &from, const Layout &to) {
  ConversionPlan plan;
  Layout source = from.coalesced(), target = to.coalesced();
  auto sameAxis = [&](unsigned axis) {
    return source.axis(axis) == target.axis(axis);
  };
  SmallVector<int64_t, 4> weights = rowMajor(from.shape());
  std::vector<int64_t> have = sums(source.axis(kRegister), weights);
  std::vector<int64_t> want = sums(target.axis(kRegister), weights);

  // If a thread adds the same coordinates in both layouts, thread 0 represents
  // all threads.
  if (sameAxis(kLane) && sameAxis(kWarp)) {
    llvm::DenseMap<int64_t, int64_t> holder;
    for (auto [reg, element] : llvm::enumerate(have))
      holder.try_emplace(element, reg);
    bool isIdentity = have == want;
    for (auto [reg, element] : llvm::enumerate(want)) {
      auto it = holder.find(element);
      if (it == holder.end())
        break;
      plan.source.push_back(isIdentity ? reg : it->second);
    }
    if (plan.source.size() == want.size()) {
      plan.kind =
          isIdentity ? ConversionKind::None : ConversionKind::RegisterPermute;
      return plan;
    }
    plan.source.clear();
  }

  // The elements of warp 0, from those of its thread 0. Another warp adds the
  // coordinates of its own digits.
  auto warpElements = [&](const Layout &layout, std::vector<int64_t> elements) {
    std::vector<int64_t> result;
    for (int64_t lane : sums(layout.axis(kLane), weights))
      for (int64_t element : elements)
        result.push_back(lane + element);
    llvm::sort(result);
    result.erase(std::unique(result.begin(), result.end()), result.end());
    return result;
  };
  have = warpElements(source, std::move(have));
  want = warpElements(target, std::move(want));
  std::vector<int64_t> haveAt = sums(source.axis(kWarp), weights);
  std::vector<int64_t> wantAt = sums(target.axis(kWarp), weights);
  if (haveAt.size() != wantAt.size())
    return plan;
  auto staysInWarp = [&](int64_t move) {
    return llvm::all_of(want, [&](int64_t element) {
      return std::binary_search(have.begin(), have.end(), element + move);
    });
  };
  // Few differences are distinct; there is one if both layouts place the warps
  // equally.
  llvm::SmallDenseSet<int64_t> seen;
  for (auto [haveWarp, wantWarp] : llvm::zip_equal(haveAt, wantAt)) {
    int64_t move = wantWarp - haveWarp;
    if (seen.insert(move).second && !staysInWarp(move))
      return plan;
  }
  plan.kind = ConversionKind::WarpShuffle;
  return plan;
}

//===----------------------------------------------------------------------===//
// Boxes of elements per warp
//===----------------------------------------------------------------------===//

std::optional<std::array<int64_t, 2>> tile::findWarpBoxes(const Layout &dist) {
  if (dist.shape().size() != 2)
    return std::nullopt;
  int64_t registers = dist.axisSize(kRegister), lanes = dist.axisSize(kLane);
  int64_t warps = dist.axisSize(kWarp);
  for (unsigned axis : {kRegister, kLane, kWarp})
    if (dist.replication(axis) != 1)
      return std::nullopt;
  auto forEach = [&](int64_t warp, auto visit) {
    for (int64_t reg = 0; reg < registers; ++reg)
      for (int64_t lane = 0; lane < lanes; ++lane)
        if (!visit(dist.element(reg, lane, warp)))
          return false;
    return true;
  };
  // The elements of the first warp give the size of the boxes.
  std::array<int64_t, 2> box{1, 1}, count;
  forEach(0, [&](ArrayRef<int64_t> element) {
    for (unsigned dim : {0, 1})
      box[dim] = std::max(box[dim], element[dim] + 1);
    return true;
  });
  for (unsigned dim : {0, 1}) {
    if (dist.shape()[dim] % box[dim] != 0)
      return std::nullopt;
    count[dim] = dist.shape()[dim] / box[dim];
  }
  if (count[0] * count[1] != warps || box[0] * box[1] != registers * lanes)
    return std::nullopt;
  for (int64_t warp = 0; warp < warps; ++warp)
    if (!forEach(warp, [&](ArrayRef<int64_t> element) {
          return element[0] / box[0] == warp % count[0] &&
                 element[1] / box[1] == warp / count[0];
        }))
      return std::nullopt;
  return count;
}

std::optional<SmallVector<int64_t>>
tile::findRegistersOfPart(const Layout &whole, const Layout &part,
                          ArrayRef<int64_t> offsets) {
  SmallVector<int64_t, 4> weights = rowMajor(whole.shape());
  if (sums(threadDigits(whole), weights) != sums(threadDigits(part), weights))
    return std::nullopt;
  int64_t start = 0;
  for (auto [offset, weight] : llvm::zip_equal(offsets, weights))
    start += offset * weight;
  llvm::DenseMap<int64_t, int64_t> registers;
  for (auto [reg, sum] : llvm::enumerate(sums(whole.axis(kRegister), weights)))
    registers.try_emplace(sum, reg);
  SmallVector<int64_t> result;
  for (int64_t sum : sums(part.axis(kRegister), weights)) {
    auto it = registers.find(start + sum);
    if (it == registers.end())
      return std::nullopt;
    result.push_back(it->second);
  }
  return result;
}
