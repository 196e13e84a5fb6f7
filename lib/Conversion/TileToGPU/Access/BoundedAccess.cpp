//===- BoundedAccess.cpp - Loads and stores within bounds -----------------===//

#include "BoundedAccess.h"
#include "VectorAccess.h"

using namespace mlir;
using namespace tile;

namespace {
/// Emits the accesses of a tile to global memory, and their bounds checks.
class BoundedAccess {
public:
  BoundedAccess(Emitter &b, GlobalAccess &access, const AccessWidth &width,
                Value active)
      : b(b), access(access), groups(width.groups),
        partialDim(width.partialDim), active(active),
        count(groups.order.size() / groups.width) {}

  /// Emits an access by `emitAccess`, which takes its number, and the first
  /// elements of an access by `emitFirst`, which takes their number, too. They
  /// return a value of `type`; none if `type` is null. Returns the values of
  /// all accesses.
  using Emit = llvm::function_ref<SmallVector<Value>(int64_t)>;
  using EmitFirst = llvm::function_ref<SmallVector<Value>(int64_t, Value)>;
  SmallVector<Value> emit(VectorType type, Emit emitAccess,
                          EmitFirst emitFirst);

  Value offset(int64_t i) const { return offsets[i]; }
  /// Emits the number of elements of access i that are in bounds, an index.
  Value emitCount(int64_t i) {
    return access.countInBounds(groups.order[i * groups.width], *partialDim,
                                groups.width);
  }

private:
  bool hasManyChecks();
  Value emitIsUncut();
  void emitOffsets(int64_t end);
  SmallVector<Value> emitRuns(VectorType type, Emit emitAccess);
  SmallVector<Value> emitAll(int64_t begin, int64_t end, Emit emitAccess);

  SmallVector<Type> types(VectorType type, int64_t count) const {
    return SmallVector<Type>(type ? count : 0, type);
  }

  Emitter &b;
  GlobalAccess &access;
  const AccessGroups &groups;
  std::optional<unsigned> partialDim;
  /// Whether the thread has accesses; null if all threads have.
  Value active;
  int64_t count;
  SmallVector<Value> offsets;
};
} // namespace

/// Emits the offsets of the accesses in front of `end`, outside of the branches
/// that contain these.
void BoundedAccess::emitOffsets(int64_t end) {
  while (int64_t(offsets.size()) < end)
    offsets.push_back(
        access.offset(groups.order[offsets.size() * groups.width]));
}

SmallVector<Value> BoundedAccess::emitAll(int64_t begin, int64_t end,
                                          Emit emitAccess) {
  SmallVector<Value> parts;
  for (int64_t i = begin; i < end; ++i)
    llvm::append_range(parts, emitAccess(i));
  return parts;
}

/// Emits all accesses, each after a check. Accesses with equal checks share
/// one.
SmallVector<Value> BoundedAccess::emitRuns(VectorType type, Emit emitAccess) {
  SmallVector<Value> parts;
  for (Run run : runsOfEqualBounds(access, groups)) {
    emitOffsets(run.end);
    Value inside = access.inBounds(groups.order[run.begin * groups.width]);
    llvm::append_range(
        parts,
        b.emitIf(b.both(active, inside), types(type, run.end - run.begin),
                 [&] { return emitAll(run.begin, run.end, emitAccess); }));
  }
  return parts;
}

/// Returns true if one check of all elements of a thread replaces several.
bool BoundedAccess::hasManyChecks() {
  // One check more for threads at the end costs more than one less for others.
  constexpr size_t kFewChecks = 2;
  return access.crossesRows() &&
         runsOfEqualBounds(access, groups).size() > kFewChecks;
}

/// Emits whether the bounds cut none of the accesses, of which some may be
/// outside; returns null if one comparison does not tell.
Value BoundedAccess::emitIsUncut() {
  int64_t width = groups.width;
  auto place = [&](int64_t i) {
    return access.place(groups.order[i * width], *partialDim);
  };
  for (int64_t i = 1; i < count; ++i)
    if ((place(i) - place(0)) % width != 0)
      return nullptr;
  return access.endsAtMultiple(groups.order[0], *partialDim, width);
}

SmallVector<Value> BoundedAccess::emit(VectorType type, Emit emitAccess,
                                       EmitFirst emitFirst) {
  if (!partialDim && !hasManyChecks())
    return emitRuns(type, emitAccess);
  emitOffsets(count);
  auto emitCut = [&] {
    SmallVector<Value> parts;
    for (int64_t i = 0; i < count; ++i)
      llvm::append_range(parts, emitFirst(i, emitCount(i)));
    return parts;
  };
  auto emitWhole = [&] { return emitRuns(type, emitAccess); };
  auto emitChecked = [&] {
    if (!partialDim)
      return emitWhole();
    Value isUncut = count == 1 ? Value() : emitIsUncut();
    return isUncut ? b.emitIf(isUncut, types(type, count), emitWhole, emitCut)
                   : emitCut();
  };
  return b.emitIf(std::exchange(active, Value()), types(type, count),
                  [&]() -> SmallVector<Value> {
                    if (count == 1)
                      return emitChecked();
                    return b.emitIf(
                        access.allInBounds(), types(type, count),
                        [&] { return emitAll(0, count, emitAccess); },
                        emitChecked);
                  });
}

SmallVector<Value> tile::loadInBounds(Emitter &b, GlobalAccess &access,
                                      const AccessWidth &width, Value memory,
                                      VectorType group, Value active) {
  BoundedAccess bounded(b, access, width, active);
  auto load = [&](int64_t i) {
    return SmallVector<Value>{loadVector(b, memory, bounded.offset(i), group)};
  };
  auto loadFirst = [&](int64_t i, Value count) {
    return SmallVector<Value>{
        loadFirstElements(b, memory, bounded.offset(i), group, count)};
  };
  return bounded.emit(group, load, loadFirst);
}

void tile::storeInBounds(Emitter &b, GlobalAccess &access,
                         const AccessWidth &width, Value memory,
                         ArrayRef<Value> parts) {
  BoundedAccess bounded(b, access, width, /*active=*/Value());
  auto store = [&](int64_t i) {
    storeVector(b, parts[i], memory, bounded.offset(i));
    return SmallVector<Value>();
  };
  auto storeFirst = [&](int64_t i, Value count) {
    auto storeElement = [&](int64_t element) {
      storeVector(b, b.slice(parts[i], element, 1), memory,
                  b.add(bounded.offset(i), element));
      return SmallVector<Value>();
    };
    return emitFirstElements(
        b, VectorType(), width.groups.width, count, [&] { return store(i); },
        storeElement);
  };
  bounded.emit(VectorType(), store, storeFirst);
}
