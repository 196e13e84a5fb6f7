//===- AttentionExtents.cpp - Extents of the named operations -------------===//

#include "AttentionExtents.h"
#include "mlir/IR/BuiltinTypes.h"
#include <map>

using namespace mlir;
using namespace tile;

int64_t NamedExtent::get() const {
  return cast<BufferType>(buffer.getType()).getShape()[dim];
}

StringRef tile::describeExtent(AttentionExtent kind) {
  // In the order of AttentionExtent.
  static constexpr StringLiteral names[] = {"batch", "length", "length",
                                            "heads", "heads",  "extent"};
  return names[static_cast<unsigned>(kind)];
}

namespace {
/// Collects the extents of the buffers of a named operation.
class ExtentList {
public:
  explicit ExtentList(bool packed) : packed(packed) {}

  /// Adds the extents of a buffer like q: [B, S, H, D], or packed [T, H, D].
  void addHeads(StringRef name, Value buffer, AttentionExtent length,
                AttentionExtent heads, bool mayExceed = false) {
    add(name, buffer, {length, heads});
    extents[extents.size() - 2].mayExceed = mayExceed;
  }
  /// Adds the extents of a buffer like lse: [B, H, S], or packed [H, T].
  void addRows(StringRef name, Value buffer) {
    add(name, buffer, {AttentionExtent::Heads, AttentionExtent::Queries});
  }
  /// Adds the batch extent, unless the buffers are packed, and then `kinds`.
  void add(StringRef name, Value buffer, ArrayRef<AttentionExtent> kinds) {
    int64_t dim = 0;
    if (!packed)
      extents.push_back({name, buffer, dim++, AttentionExtent::Batch});
    for (AttentionExtent kind : kinds)
      extents.push_back({name, buffer, dim++, kind});
  }
  void addVector(StringRef name, Value buffer, AttentionExtent kind) {
    extents.push_back({name, buffer, 0, kind});
  }
  template <typename OpT> void addCommon(OpT op) {
    using Kind = AttentionExtent;
    addHeads("q", op.getQ(), Kind::Queries, Kind::Heads);
    addHeads("k", op.getK(), Kind::Keys, Kind::KVHeads);
    addHeads("v", op.getV(), Kind::Keys, Kind::KVHeads);
    addHeads("o", op.getO(), Kind::Queries, Kind::Heads);
    if (op.getSink())
      addVector("sink", op.getSink(), Kind::Heads);
    if (!op.isPacked())
      return;
    addVector("cu_q", op.getCuQ(), Kind::Bounds);
    addVector("cu_k", op.getCuK(), Kind::Bounds);
  }

  SmallVector<NamedExtent> extents;

private:
  bool packed;
};
} // namespace

SmallVector<NamedExtent> AttentionOp::getNamedExtents() {
  ExtentList list(isPacked());
  list.addCommon(*this);
  if (getLse())
    list.addRows("lse", getLse());
  return list.extents;
}

SmallVector<NamedExtent> AttentionBackwardOp::getNamedExtents() {
  using Kind = AttentionExtent;
  ExtentList list(isPacked());
  list.addCommon(*this);
  list.addHeads("do", getDO(), Kind::Queries, Kind::Heads);
  list.addRows("lse", getLse());
  if (getDLse())
    list.addRows("dlse", getDLse());
  list.addHeads("dq", getDq(), Kind::Queries, Kind::Heads);
  list.addHeads("dk", getDk(), Kind::Keys, Kind::KVHeads);
  list.addHeads("dv", getDv(), Kind::Keys, Kind::KVHeads);
  list.add("stats", getStats(), Kind::Heads);
  if (getDqAcc())
    list.addHeads("dq_acc", getDqAcc(), Kind::Queries, Kind::Heads,
                  /*mayExceed=*/true);
  if (getKvMode()) {
    bool atomic = *getKvMode() == KVAccumulation::Atomic;
    Kind heads = atomic ? Kind::KVHeads : Kind::Heads;
    list.addHeads("dk_acc", getDkAcc(), Kind::Keys, heads, atomic);
    list.addHeads("dv_acc", getDvAcc(), Kind::Keys, heads, atomic);
  }
  if (getDSink())
    list.addVector("dsink", getDSink(), Kind::Heads);
  return list.extents;
}

LogicalResult tile::verifyExtents(Operation *op,
                                  ArrayRef<NamedExtent> extents) {
  std::map<AttentionExtent, const NamedExtent *> known;
  for (const NamedExtent &extent : extents) {
    if (ShapedType::isDynamic(extent.get()))
      continue;
    if (extent.mayExceed) {
      auto it = known.find(extent.kind);
      if (it != known.end() && extent.get() < it->second->get())
        return op->emitOpError()
               << describeExtent(extent.kind) << " of " << extent.name << " is "
               << extent.get() << ", less than the "
               << describeExtent(extent.kind) << " of " << it->second->name
               << ", " << it->second->get();
      continue;
    }
    auto [it, isNew] = known.try_emplace(extent.kind, &extent);
    const NamedExtent &other = *it->second;
    if (!isNew && other.get() != extent.get())
      return op->emitOpError()
             << "extents differ: " << describeExtent(extent.kind) << " of "
             << other.name << " is " << other.get() << ", "
             << describeExtent(extent.kind) << " of " << extent.name << " is "
             << extent.get();
  }
  auto heads = known.find(AttentionExtent::Heads),
       kvHeads = known.find(AttentionExtent::KVHeads),
       bounds = known.find(AttentionExtent::Bounds);
  if (heads != known.end() && kvHeads != known.end()) {
    int64_t many = heads->second->get(), few = kvHeads->second->get();
    if (few == 0 || many % few != 0)
      return op->emitOpError()
             << "heads of q (" << many << ") are no multiple of heads of k ("
             << few << ")";
  }
  if (bounds != known.end() && bounds->second->get() == 0)
    return op->emitOpError()
           << "cu_q and cu_k must have one element more than sequences";
  return success();
}
