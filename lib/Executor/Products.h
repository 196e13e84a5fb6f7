//===- Products.h - MMAs in flight ------------------------------*- C++ -*-===//
//
// wgmma is asynchronous. Where accesses are checked, its accumulator registers
// hold tokens until a wait covers the MMA. Any other use of a token is an early
// use.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_EXECUTOR_PRODUCTS_H
#define TILE_LIB_EXECUTOR_PRODUCTS_H

#include <cstdint>
#include <deque>
#include <vector>

namespace tile::cpu {

struct Site;

/// An MMA that has been neither waited for nor added to.
struct PendingProduct {
  const Site *site;
  /// The token in its first register.
  uint32_t firstSerial;
  unsigned registers;
  /// The number of its group.
  uint64_t group;
  /// The final values of the registers, lane by lane.
  std::vector<uint32_t> values;

  uint32_t token(unsigned reg) const;
  uint32_t &value(unsigned lane, unsigned reg) {
    return values[lane * registers + reg];
  }
};

class Products {
public:
  /// Returns whether a 32-bit register holds a token: a NaN that no conversion
  /// from a 16-bit type yields.
  /// 16-bit type makes.
  static bool isToken(uint32_t bits) {
    return (bits & 0xffe00001) == 0x7fe00001;
  }

  void clear() { *this = {}; }
  PendingProduct &start(const Site &site, unsigned lanes, unsigned registers);
  /// Returns the MMA of a token and the index of its register, or null.
  PendingProduct *find(uint32_t token, unsigned &reg);
  /// Removes the MMA with this token in its first register. Others may move.
  void erase(uint32_t firstSerial);

  /// Closes a group; the MMAs are then at `step`.
  void commit(uint32_t step);
  /// Waits until at most `pending` groups are in flight. Returns the step of
  /// the last completed group; 0 if there is none.
  uint32_t wait(uint64_t pending);
  bool isComplete(const PendingProduct &product) const {
    return product.group < firstPending;
  }

private:
  std::deque<PendingProduct> products;
  /// Steps of the committed groups that have not been waited for.
  std::deque<uint32_t> groups;
  uint64_t firstPending = 0;
  uint32_t nextSerial = 0;
};

} // namespace tile::cpu

#endif // TILE_LIB_EXECUTOR_PRODUCTS_H
