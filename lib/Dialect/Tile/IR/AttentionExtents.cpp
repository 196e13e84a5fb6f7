//===- AttentionExtents.cpp - Extents of attention ------------------------===//

#include "AttentionExtents.h"
#include "NamedExtents.h"

using namespace mlir;
using namespace tile;

/// Returns the name of this kind of extent in messages.
static StringRef nameExtent(AttentionExtent kind) {
  // In the order of AttentionExtent.
  static constexpr StringLiteral names[] = {
      "batch",  "length", "length", "heads",     "heads",
      "extent", "parts",  "pages",  "page size", "rows of parts"};
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
  /// Adds the extents of a buffer that has another one like q or lse for each
  /// part of the keys.
  void addParts(StringRef name, Value buffer, ArrayRef<AttentionExtent> kinds) {
    addOne(name, buffer, 0, AttentionExtent::Parts);
    add(name, buffer, kinds, /*dim=*/1);
  }
  /// Adds the batch extent, unless the buffers are packed, and then `kinds`,
  /// from dimension `dim` on.
  void add(StringRef name, Value buffer, ArrayRef<AttentionExtent> kinds,
           int64_t dim = 0) {
    if (!packed)
      addOne(name, buffer, dim++, AttentionExtent::Batch);
    for (AttentionExtent kind : kinds)
      addOne(name, buffer, dim++, kind);
  }
  /// Adds the extents of the first dimensions.
  void addAll(StringRef name, Value buffer, ArrayRef<AttentionExtent> kinds) {
    for (auto [dim, kind] : llvm::enumerate(kinds))
      addOne(name, buffer, dim, kind);
  }
  void addVector(StringRef name, Value buffer, AttentionExtent kind) {
    addAll(name, buffer, kind);
  }
  /// Adds the extents of k or v.
  template <typename OpT> void addKeys(StringRef name, Value buffer, OpT op) {
    using Kind = AttentionExtent;
    SmallVector<Kind> kinds{Kind::Batch, Kind::Keys, Kind::KVHeads};
    if (op.isPaged())
      kinds = {Kind::Pages, Kind::PageKeys, Kind::KVHeads};
    else if (op.getCuK())
      kinds = {Kind::Keys, Kind::KVHeads};
    addAll(name, buffer, kinds);
  }
  template <typename OpT> void addCommon(OpT op) {
    using Kind = AttentionExtent;
    addHeads("q", op.getQ(), Kind::Queries, Kind::Heads);
    addKeys("k", op.getK(), op);
    addKeys("v", op.getV(), op);
    addHeads("o", op.getO(), Kind::Queries, Kind::Heads);
    if (op.getSink())
      addVector("sink", op.getSink(), Kind::Heads);
    if (op.getCuQ())
      addVector("cu_q", op.getCuQ(), Kind::Bounds);
    if (op.getCuK())
      addVector("cu_k", op.getCuK(), Kind::Bounds);
  }

  SmallVector<NamedExtent> extents;

private:
  void addOne(StringRef name, Value buffer, int64_t dim, AttentionExtent kind) {
    extents.push_back(
        {name.str(), buffer, dim, unsigned(kind), nameExtent(kind)});
  }

  bool packed;
};
} // namespace

SmallVector<NamedExtent> AttentionOp::getNamedExtents() {
  ExtentList list(isPacked());
  list.addCommon(*this);
  if (getKeyLengths())
    list.addVector("key_lengths", getKeyLengths(), AttentionExtent::Batch);
  if (getCuPages())
    list.addVector("cu_pages", getCuPages(), AttentionExtent::Bounds);
  else if (getPageTable())
    list.addVector("page_table", getPageTable(), AttentionExtent::Batch);
  if (getTreeMask())
    list.add("tree_mask", getTreeMask(), AttentionExtent::Queries);
  if (getLse())
    list.addRows("lse", getLse());
  using Kind = AttentionExtent;
  if (getWorks()) {
    list.addAll("o_parts", getOParts(), {Kind::PartRows, Kind::Heads});
    list.addAll("lse_parts", getLseParts(), {Kind::Heads, Kind::PartRows});
  } else if (getOParts()) {
    list.addParts("o_parts", getOParts(), {Kind::Queries, Kind::Heads});
    list.addParts("lse_parts", getLseParts(), {Kind::Heads, Kind::Queries});
  }
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

LogicalResult tile::verifyAttentionExtents(Operation *op,
                                           ArrayRef<NamedExtent> extents) {
  if (failed(verifyNamedExtents(op, extents)))
    return failure();
  auto find = [&](AttentionExtent kind) -> std::optional<int64_t> {
    for (const NamedExtent &extent : extents)
      if (extent.kind == unsigned(kind) && !extent.mayExceed &&
          !ShapedType::isDynamic(extent.get()))
        return extent.get();
    return std::nullopt;
  };
  std::optional<int64_t> heads = find(AttentionExtent::Heads),
                         kvHeads = find(AttentionExtent::KVHeads);
  if (heads && kvHeads && (*kvHeads == 0 || *heads % *kvHeads != 0))
    return op->emitOpError()
           << "heads of q (" << *heads << ") are no multiple of heads of k ("
           << *kvHeads << ")";
  return success();
}
