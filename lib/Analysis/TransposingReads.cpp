//===- TransposingReads.cpp - Reads of the LDS that transpose -------------===//
//
// Source: CDNA4 ISA guide, "DS_READ_B64_TR_B16".
//
//===----------------------------------------------------------------------===//

#include "tile/Analysis/TransposingReads.h"
#include <numeric>

using namespace mlir;
using namespace tile;

/// The rows of a read, and the elements of one that a lane addresses.
static constexpr int64_t kRows = 4, kElements = 4;
static constexpr unsigned kElementBits = 16;

/// Removes the lowest `count` values from `digits` and returns them; fails if a
/// digit has neither a multiple nor a factor of them.
static std::optional<Digits> takeValues(Digits &digits, int64_t count) {
  Digits taken;
  while (count != 1) {
    if (digits.empty())
      return std::nullopt;
    Digit &digit = digits.front();
    int64_t part = std::gcd(digit.extent, count);
    if (part == 1 && digit.extent != 1)
      return std::nullopt;
    taken.push_back({part, digit.dim, digit.stride});
    count /= part;
    digit.extent /= part;
    digit.stride *= part;
    if (digit.extent == 1)
      digits.erase(digits.begin());
  }
  return taken;
}

/// Returns the layout of the addresses: the elements of a row are in lanes of
/// the result, and the rows in its registers.
static std::optional<Layout> getAddresses(const Layout &dist) {
  Digits registers(dist.axis(kRegister)), lanes(dist.axis(kLane));
  std::optional<Digits> rows = takeValues(registers, kRows);
  std::optional<Digits> elements = takeValues(lanes, kElements);
  std::optional<Digits> parts = takeValues(lanes, kRows);
  if (!rows || !elements || !parts)
    return std::nullopt;
  elements->append(registers);
  parts->append(*rows);
  parts->append(lanes);
  return Layout::distributed(*elements, *parts, Digits(dist.axis(kWarp)),
                             dist.shape());
}

std::optional<TransposingReads>
tile::findTransposingReads(const Layout &dist, const PlacedMemory &memory,
                           unsigned elementBits, const Chip &chip) {
  if (!chip.transposingReads || elementBits != kElementBits ||
      dist.replication(kRegister) != 1)
    return std::nullopt;
  std::optional<Layout> addresses = getAddresses(dist);
  if (!addresses || widestAccess(dist, memory, kElements).width == kElements)
    return std::nullopt;
  TransposingReads reads{*addresses,
                         widestAccess(*addresses, memory, kElements)};
  if (reads.groups.width != kElements ||
      int64_t(reads.groups.order.size()) != dist.axisSize(kRegister))
    return std::nullopt;
  // Each read has the registers of four rows.
  for (auto [i, number] : llvm::enumerate(reads.groups.order))
    if (number % kElements != int64_t(i) % kElements ||
        number / kElements !=
            reads.groups.order[i / kElements * kElements] / kElements)
      return std::nullopt;
  return reads;
}

Layout tile::getReadAddresses(const Layout &dist, const Layout &memory,
                              unsigned elementBits, const Chip &chip) {
  auto reads = findTransposingReads(dist, {memory}, elementBits, chip);
  return reads ? reads->addresses : dist;
}

int64_t tile::countSharedReads(const Layout &dist, const Layout &memory,
                               unsigned elementBits, const Chip &chip) {
  AccessGroups groups =
      widestAccess(getReadAddresses(dist, memory, elementBits, chip), memory,
                   chip.maxSharedAccess * 8 / elementBits);
  return int64_t(groups.order.size()) / groups.width;
}
