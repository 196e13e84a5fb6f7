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

  /// Emits an access by `emitAccess`, which takes its number, and an element of
  /// an access by `emitElement`. They return a value of `type`, or one element
  /// of it; none if `type` is null. Returns the values of all accesses.
  using Emit = llvm::function_ref<SmallVector<Value>(int64_t)>;
  using EmitElement = llvm::function_ref<SmallVector<Value>(int64_t, int64_t)>;
  SmallVector<Value> emit(VectorType type, Emit emitAccess,
                          EmitElement emitElement);

  Value offset(int64_t i) const { return offsets[i]; }

private:
  bool hasManyChecks();
  void emitOffsets(int64_t end);
  SmallVector<Value> emitRuns(VectorType type, Emit emitAccess);
  SmallVector<Value> emitPartial(VectorType type, int64_t i, Emit emitAccess,
                                 EmitElement emitElement);
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

/// Emits access `i`, or those of its elements that are in bounds.
SmallVector<Value> BoundedAccess::emitPartial(VectorType type, int64_t i,
                                              Emit emitAccess,
                                              EmitElement emitElement) {
  Value count = access.countInBounds(groups.order[i * groups.width],
                                     *partialDim, groups.width);
  auto has = [&](int64_t element) -> Value {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, count,
                                 b.index(element));
  };
  auto single = type ? VectorType::get({1}, type.getElementType()) : type;
  auto emitElements = [&] {
    SmallVector<Value> elements;
    for (int64_t element = 0; element < groups.width; ++element)
      llvm::append_range(elements,
                         b.emitIf(element == 0 ? Value() : has(element),
                                  types(single, 1),
                                  [&] { return emitElement(i, element); }));
    if (type)
      elements = {b.join(type, elements)};
    return elements;
  };
  return b.emitIf(
      has(groups.width - 1), types(type, 1), [&] { return emitAccess(i); },
      [&] {
        // Most threads behind the end have no element.
        return b.emitIf(has(0), types(type, 1), emitElements);
      });
}

/// Returns true if one check of all elements of a thread replaces several.
bool BoundedAccess::hasManyChecks() {
  // One check more for threads at the end costs more than one less for others.
  constexpr size_t kFewChecks = 2;
  return access.crossesRows() &&
         runsOfEqualBounds(access, groups).size() > kFewChecks;
}

SmallVector<Value> BoundedAccess::emit(VectorType type, Emit emitAccess,
                                       EmitElement emitElement) {
  if (!partialDim && !hasManyChecks())
    return emitRuns(type, emitAccess);
  emitOffsets(count);
  auto emitChecked = [&] {
    if (!partialDim)
      return emitRuns(type, emitAccess);
    SmallVector<Value> parts;
    for (int64_t i = 0; i < count; ++i)
      llvm::append_range(parts, emitPartial(type, i, emitAccess, emitElement));
    return parts;
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
  auto loadElement = [&](int64_t i, int64_t element) {
    auto single = VectorType::get({1}, group.getElementType());
    Value offset = b.add(bounded.offset(i), element);
    return SmallVector<Value>{loadVector(b, memory, offset, single)};
  };
  return bounded.emit(group, load, loadElement);
}

void tile::storeInBounds(Emitter &b, GlobalAccess &access,
                         const AccessWidth &width, Value memory,
                         ArrayRef<Value> parts) {
  BoundedAccess bounded(b, access, width, /*active=*/Value());
  auto store = [&](int64_t i) {
    storeVector(b, parts[i], memory, bounded.offset(i));
    return SmallVector<Value>();
  };
  auto storeElement = [&](int64_t i, int64_t element) {
    Value offset = b.add(bounded.offset(i), element);
    storeVector(b, b.slice(parts[i], element, 1), memory, offset);
    return SmallVector<Value>();
  };
  bounded.emit(VectorType(), store, storeElement);
}
