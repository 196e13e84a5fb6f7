//===- KernelPattern.h - What a kernel must be for a schedule ---*- C++ -*-===//
//
// The value of #tile.kernel_pattern (TileSchedule.td), which documents the
// fields.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DIALECT_TILE_IR_KERNELPATTERN_H
#define TILE_DIALECT_TILE_IR_KERNELPATTERN_H

#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/LogicalResult.h"
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace tile {

/// The keys that a mask hides: none, those behind the query, or others too.
enum class MaskKind { None, Causal, Window };

/// The properties of a kernel that rows of schedules are matched with.
struct KernelFeatures {
  int64_t products, head, query, value, bits;
  MaskKind mask = MaskKind::None;
  bool softcap = false, packed = false, atomicResults = false, merge = false,
       parts = false, packHeads = false, keyLengths = false;
  /// 0 if it is not known.
  int64_t keys = 0, rows = 0;

  /// Returns the features as text, in the form of a pattern.
  std::string describe() const;
};

/// Conditions on the features of a kernel; a field that is not given holds for
/// every kernel.
struct KernelPattern {
  struct Interval {
    int64_t least = 0, most = std::numeric_limits<int64_t>::max();

    bool contains(int64_t value) const {
      return value >= least && value <= most;
    }
    bool operator==(const Interval &other) const {
      return least == other.least && most == other.most;
    }
  };

  Interval products, head, query, value, bits, keys, rows;
  std::optional<MaskKind> mask;
  std::optional<bool> softcap, packed, atomicResults, merge, parts, packHeads,
      keyLengths;

  /// Calls `visit` with the name of each field and its member of each of
  /// `structs`, which are patterns or features, in the order in which the
  /// fields print.
  template <typename VisitT, typename... StructsT>
  static void forEachField(VisitT visit, StructsT &...structs) {
    visit(llvm::StringRef("products"), structs.products...);
    visit(llvm::StringRef("head"), structs.head...);
    visit(llvm::StringRef("query"), structs.query...);
    visit(llvm::StringRef("value"), structs.value...);
    visit(llvm::StringRef("bits"), structs.bits...);
    visit(llvm::StringRef("mask"), structs.mask...);
    visit(llvm::StringRef("softcap"), structs.softcap...);
    visit(llvm::StringRef("packed"), structs.packed...);
    visit(llvm::StringRef("atomic_results"), structs.atomicResults...);
    visit(llvm::StringRef("merge"), structs.merge...);
    visit(llvm::StringRef("parts"), structs.parts...);
    visit(llvm::StringRef("pack_heads"), structs.packHeads...);
    visit(llvm::StringRef("key_lengths"), structs.keyLengths...);
    visit(llvm::StringRef("keys"), structs.keys...);
    visit(llvm::StringRef("rows"), structs.rows...);
  }

  /// Returns true if a kernel with these features fulfils all conditions.
  bool matches(const KernelFeatures &features) const;

  bool operator==(const KernelPattern &other) const;
};

llvm::hash_code hash_value(const KernelPattern &pattern);

/// Conditions on the extents of buffers and the values of scalars, by the names
/// of arguments; nothing for an extent that may be any number.
using SizePattern =
    llvm::StringMap<llvm::SmallVector<std::optional<KernelPattern::Interval>>>;

/// Parses `argument = extents, ...`. An extent is a number, a range `n..m`, or
/// `?`. Calls `fail` with the place of an error in `text` and its message.
llvm::LogicalResult parseSizePattern(
    llvm::StringRef text, SizePattern &pattern,
    llvm::function_ref<void(size_t place, const llvm::Twine &message)> fail);

} // namespace tile

#endif // TILE_DIALECT_TILE_IR_KERNELPATTERN_H
