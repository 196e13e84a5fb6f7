//===- Products.h - Matrix products that a warp has started -----*- C++ -*-===//
//
// wgmma goes on after its instruction. Where accesses are checked, its result
// registers hold tokens until a wait that covers the product hands them on; a
// token that anything else uses is a use before the wait.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_TARGET_CPU_PRODUCTS_H
#define TILE_LIB_TARGET_CPU_PRODUCTS_H

#include <cstdint>
#include <deque>
#include <vector>

namespace tile::cpu {

struct Site;

/// A product whose result has been neither waited for nor added to.
struct PendingProduct {
  const Site *site;
  /// Of the token of its first register.
  uint32_t firstSerial;
  unsigned registers;
  /// The number of the group that it belongs to.
  uint64_t group;
  /// What the registers of lane 0, then of lane 1... are to hold.
  std::vector<float> values;

  uint32_t token(unsigned reg) const;
  float &value(unsigned lane, unsigned reg) {
    return values[lane * registers + reg];
  }
};

class Products {
public:
  /// Whether a 32-bit register holds a token: a NaN that no conversion from a
  /// 16-bit type makes.
  static bool isToken(uint32_t bits) {
    return (bits & 0xffe00001) == 0x7fe00001;
  }

  void clear() { *this = {}; }
  PendingProduct &start(const Site &site, unsigned lanes, unsigned registers);
  /// The product of a token and which of its registers, or null.
  PendingProduct *find(uint32_t token, unsigned &reg);
  void erase(const PendingProduct &product);

  /// Closes a group, after which the engine is at `step`.
  void commit(uint32_t step);
  /// Waits until `pending` groups are left; returns the step of the last that
  /// is complete, 0 for none.
  uint32_t wait(uint64_t pending);
  bool isComplete(const PendingProduct &product) const {
    return product.group < firstPending;
  }

private:
  std::deque<PendingProduct> products;
  /// Steps of the groups that have been committed and not waited for.
  std::deque<uint32_t> groups;
  uint64_t firstPending = 0;
  uint32_t nextSerial = 0;
};

} // namespace tile::cpu

#endif // TILE_LIB_TARGET_CPU_PRODUCTS_H
