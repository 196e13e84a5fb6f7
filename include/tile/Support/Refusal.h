//===- Refusal.h - Reasons why something cannot be done ---------*- C++ -*-===//
#ifndef TILE_SUPPORT_REFUSAL_H
#define TILE_SUPPORT_REFUSAL_H

#include <optional>
#include <string>

namespace tile {

/// The reason why something cannot be done, as a clause for a remark;
/// std::nullopt if it can be done.
///
///   if (Refusal refusal = checkCopy(copy))
///     return refusal;
using Refusal = std::optional<std::string>;

} // namespace tile

#endif // TILE_SUPPORT_REFUSAL_H
