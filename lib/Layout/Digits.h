//===- Digits.h - The digits of a layout ------------------------*- C++ -*-===//
//
// Helpers of the layout algebra, for this folder only. The algebra works on
// digits. Where two digits of one dimension overlap, it enumerates the sums of
// that dimension. Dimensions are independent, because each digit changes one
// dimension only.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_LAYOUT_DIGITS_H
#define TILE_LIB_LAYOUT_DIGITS_H

#include "tile/Layout/Layout.h"
#include "llvm/ADT/Twine.h"
#include <limits>
#include <string>

namespace tile::detail {

/// Stands for "no limit"; small enough that sums do not overflow.
inline constexpr int64_t kUnbounded = std::numeric_limits<int64_t>::max() / 4;

/// A digit with its axis and its position in the axis.
struct Located {
  unsigned axis, position;
  int64_t extent, stride;
};

/// Returns an extent as text, "?" if it is dynamic.
std::string extentText(int64_t extent);

/// Returns a digit as text, like "4 -> d1 * 8".
std::string digitText(const Digit &digit);

/// Returns extents or coordinates as text, like "(4, 8)".
std::string tupleText(llvm::ArrayRef<int64_t> tuple);

/// Returns an error with this message.
llvm::Error error(const llvm::Twine &message);

/// Returns the digits that change dimension `dim`, smallest stride first.
llvm::SmallVector<Located, 8> digitsOf(const Layout &layout, unsigned dim);

/// Returns the index of `axis` whose digit at `position` is `value` and whose
/// other digits are zero.
int64_t indexOf(const Layout &layout, unsigned axis, unsigned position,
                int64_t value);

/// Returns the indices of the axes of a static layout for one of its
/// inputSize() inputs. The first axis varies fastest.
llvm::SmallVector<int64_t, 4> unflatten(const Layout &layout, int64_t number);

/// Returns true if each stride exceeds the largest sum of the digits with
/// smaller strides. All sums are distinct then; otherwise two may be equal.
/// `digits` are sorted by stride.
bool stridesSeparate(llvm::ArrayRef<Located> digits);

/// Finds two indices with equal sums of the digits of one dimension and writes
/// them to `witness`. Returns false if there are none.
bool findCollision(const Layout &layout, llvm::SmallVector<Located, 8> digits,
                   Layout::Witness *witness);

/// Removes digits of extent 1 and merges digits that continue each other. Equal
/// functions give equal results.
Digits coalesce(llvm::ArrayRef<Digit> digits);

/// Returns the largest sum of the digits of one dimension, at most kUnbounded;
/// kDynamic if it is unknown.
int64_t largestCoordinate(const Layout &layout, unsigned dim);

/// Returns the swizzle without the bits that are zero in all offsets up to
/// `largest`.
Swizzle effectiveSwizzle(Swizzle swizzle, int64_t largest);

} // namespace tile::detail

#endif // TILE_LIB_LAYOUT_DIGITS_H
