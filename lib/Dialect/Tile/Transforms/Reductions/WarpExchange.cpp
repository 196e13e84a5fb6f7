//===- WarpExchange.cpp - Results of all warps ----------------------------===//

#include "WarpExchange.h"

using namespace mlir;
using namespace tile;

/// Cycles until a thread has combined one more element, and until two lanes
/// have combined theirs.
static constexpr int64_t kCombineCycles = 5, kExchangeCycles = 25;

int64_t tile::countWarps(RankedTensorType tile, int64_t dim) {
  if (!getLayoutAttr(tile))
    return 1;
  return getCanonicalLayout(tile).reduceInWarps(dim).shape()[dim];
}

/// Returns into how many parts copies of `extent` elements in the lanes of a
/// warp are best divided: a thread combines its part element by element, and
/// then each exchange between lanes combines two parts.
static int64_t countParts(int64_t extent, int64_t copies) {
  int64_t best = 1, parts = 1;
  auto cost = [&](int64_t parts) {
    return extent / parts * kCombineCycles +
           llvm::Log2_64(parts) * kExchangeCycles;
  };
  while (parts * 2 <= copies && extent % (parts * 2) == 0)
    if (cost(parts *= 2) < cost(best))
      best = parts;
  return best;
}

/// Divides the elements along `dim`, of which all threads have copies, into
/// parts among the lanes with the same elements along the other dimensions.
static Layout divideAmongLanes(const Layout &layout, unsigned dim) {
  int64_t extent = layout.shape()[dim], copies = 1;
  for (const Digit &digit : layout.axis(kLane))
    if (digit.stride == 0)
      copies *= digit.extent;
  int64_t parts = countParts(extent, copies);
  Digits registers(layout.axis(kRegister)), lanes;
  // The elements of a part follow each other, for wide loads.
  registers.front().extent /= parts;
  int64_t stride = extent / parts;
  for (const Digit &digit : layout.axis(kLane)) {
    int64_t taken =
        digit.stride == 0 ? std::min(digit.extent, extent / stride) : 1;
    if (taken == 1) {
      lanes.push_back(digit);
      continue;
    }
    lanes.push_back({taken, dim, stride});
    if (taken != digit.extent)
      lanes.push_back({digit.extent / taken, 0, 0});
    stride *= taken;
  }
  Digits warps(layout.axis(kWarp));
  return Layout::distributed(registers, lanes, warps, layout.shape());
}

RankedTensorType tile::getExchangedType(ReduceOp reduce) {
  auto source = cast<RankedTensorType>(reduce.getSource().getType());
  auto result = cast<RankedTensorType>(reduce.getType());
  int64_t dim = reduce.getDim(), warps = countWarps(source, dim);
  Layout all = getCanonicalLayout(result).insertDim(dim, warps);
  return withLayout(source, divideAmongLanes(all, dim));
}
