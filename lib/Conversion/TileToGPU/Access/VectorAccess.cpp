//===- VectorAccess.cpp - Vectors of tiles and their accesses -------------===//

#include "VectorAccess.h"
#include "../Kernel/KernelParameters.h"
#include "ThreadAddress.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "tile/Dialect/TileGPU/IR/TileGPU.h"

using namespace mlir;
using namespace tile;

Value tile::loadVector(Emitter &b, Value memory, Value offset,
                       VectorType type) {
  return vector::LoadOp::create(
      b, type, memory, ValueRange{offset}, /*nontemporal=*/false,
      llvm::MaybeAlign(type.getNumElements() * type.getElementTypeBitWidth() /
                       8));
}

void tile::storeVector(Emitter &b, Value value, Value memory, Value offset) {
  auto type = cast<VectorType>(value.getType());
  vector::StoreOp::create(b, value, memory, ValueRange{offset},
                          /*nontemporal=*/false,
                          llvm::MaybeAlign(type.getNumElements() *
                                           type.getElementTypeBitWidth() / 8));
}

Value tile::loadFirstElements(Emitter &b, Value memory, Value offset,
                              VectorType type, Value count) {
  Value mask = vector::CreateMaskOp::create(
      b, VectorType::get(type.getShape(), b.getI1Type()), count);
  return vector::MaskedLoadOp::create(
      b, type, memory, ValueRange{offset}, mask, b.zeros(type),
      llvm::MaybeAlign(type.getNumElements() * type.getElementTypeBitWidth() /
                       8));
}

Value tile::getLoadedCount(vector::MaskedLoadOp load) {
  auto mask = load.getMask().getDefiningOp<vector::CreateMaskOp>();
  bool isZero = matchPattern(load.getPassThru(), m_Zero()) ||
                matchPattern(load.getPassThru(), m_PosZeroFloat());
  return mask && isZero ? mask.getOperand(0) : Value();
}

Value tile::loadRow(Emitter &b, const RowLoad &row, Type element) {
  int64_t count = row.distances.size();
  auto type = VectorType::get(count, element);
  auto places = VectorType::get(count, b.getI32Type());
  SmallVector<int32_t> distances(row.distances.begin(), row.distances.end());
  Value indices = b.add(
      vector::BroadcastOp::create(b, places, row.place),
      arith::ConstantOp::create(
          b, DenseElementsAttr::get(places, ArrayRef<int32_t>(distances))));
  Value mask =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, indices,
                            vector::BroadcastOp::create(b, places, row.count));
  return vector::GatherOp::create(b, type, row.memory, ValueRange{row.offset},
                                  indices, mask, b.zeros(type));
}

std::optional<RowLoad> tile::matchRowLoad(vector::GatherOp gather) {
  auto splat = [](Value value) {
    auto broadcast = value.getDefiningOp<vector::BroadcastOp>();
    bool isScalar = broadcast && broadcast.getSourceType().isInteger(32);
    return isScalar ? broadcast.getSource() : Value();
  };
  auto sum = gather.getIndices().getDefiningOp<arith::AddIOp>();
  auto mask = gather.getMask().getDefiningOp<arith::CmpIOp>();
  DenseIntElementsAttr distances;
  auto memory = dyn_cast<MemRefType>(gather.getBase().getType());
  bool isRow = sum && mask && gather.getVectorType().getRank() == 1 &&
               gather.getOffsets().size() == 1 && memory &&
               memory.getLayout().isIdentity() &&
               mask.getPredicate() == arith::CmpIPredicate::slt &&
               mask.getLhs() == gather.getIndices() &&
               matchPattern(sum.getRhs(), m_Constant(&distances)) &&
               (matchPattern(gather.getPassThru(), m_Zero()) ||
                matchPattern(gather.getPassThru(), m_PosZeroFloat()));
  if (!isRow)
    return std::nullopt;
  RowLoad row{gather.getBase(),
              gather.getOffsets().front(),
              splat(sum.getLhs()),
              splat(mask.getRhs()),
              {}};
  for (const APInt &distance : distances.getValues<APInt>())
    row.distances.push_back(distance.getSExtValue());
  return row.place && row.count ? std::optional(row) : std::nullopt;
}

SmallVector<Value> tile::emitFirstElements(
    Emitter &b, VectorType type, int64_t width, Value count,
    llvm::function_ref<SmallVector<Value>()> emitAll,
    llvm::function_ref<SmallVector<Value>(int64_t)> emitElement) {
  auto has = [&](int64_t element) -> Value {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, count,
                                 b.index(element));
  };
  SmallVector<Type> types(type ? 1 : 0, type), singles;
  if (type)
    singles.push_back(VectorType::get({1}, type.getElementType()));
  auto emitElements = [&] {
    SmallVector<Value> elements;
    for (int64_t element = 0; element < width; ++element)
      llvm::append_range(
          elements, b.emitIf(element == 0 ? Value() : has(element), singles,
                             [&] { return emitElement(element); }));
    if (type)
      elements = {b.join(type, elements)};
    return elements;
  };
  return b.emitIf(has(width - 1), types, emitAll, [&] {
    // Most threads behind the end have no element.
    return b.emitIf(has(0), types, emitElements);
  });
}

Value tile::fromAccesses(Emitter &b, VectorType type, const Layout &dist,
                         const AccessGroups &groups, ArrayRef<Value> parts) {
  auto ordered =
      VectorType::get({int64_t(groups.order.size())}, type.getElementType());
  Value result = b.join(ordered, parts);
  // Permutes from access order to register order; copies of an element have the
  // place of that element.
  std::map<SmallVector<int64_t, 4>, int64_t> places;
  for (auto [place, r] : llvm::enumerate(groups.order))
    places[dist.element(r, 0, 0)] = place;
  SmallVector<int64_t> indices;
  bool identity = type == ordered;
  for (int64_t r = 0; r < type.getNumElements(); ++r) {
    indices.push_back(places.at(dist.element(r, 0, 0)));
    identity &= indices.back() == r;
  }
  return identity
             ? result
             : Value(vector::ShuffleOp::create(b, result, result, indices));
}

SmallVector<Value> tile::toAccesses(Emitter &b, Value vector,
                                    const AccessGroups &groups) {
  SmallVector<Value> parts;
  for (size_t i = 0; i < groups.order.size(); i += groups.width)
    parts.push_back(vector::ShuffleOp::create(
        b, vector, vector, ArrayRef(groups.order).slice(i, groups.width)));
  return parts;
}

FailureOr<SmallVector<int64_t>> tile::constantStart(Operation *op,
                                                    ValueRange indices) {
  if (std::optional<SmallVector<int64_t>> start =
          getConstantIntValues(getAsOpFoldResult(indices)))
    return *start;
  return op->emitOpError("accesses a shared buffer at indices that are not "
                         "constant; slice the buffer instead");
}

SmallVector<Value> tile::sharedOffsets(Emitter &b, const Layout &dist,
                                       const BufferParts &buffer,
                                       ArrayRef<int64_t> start,
                                       const AccessGroups &groups) {
  SharedOffsets offsets(b, dist, buffer.type.getCanonicalLayout(), start,
                        buffer.offset);
  SmallVector<Value> result;
  for (size_t i = 0; i < groups.order.size(); i += groups.width)
    result.push_back(offsets.at(groups.order[i]));
  return result;
}

MemoryOperand tile::memoryOperand(const BufferParts &buffer,
                                  ValueRange indices) {
  SmallVector<int64_t> divisors;
  for (Value extent : buffer.extents)
    divisors.push_back(extent ? knownDivisor(extent) : 1);
  std::string name = "shared memory";
  if (auto part = findParameter(buffer.memory))
    name = "%" + part->name.str();
  else if (!buffer.type.isShared())
    name = "a buffer";
  return {buffer.type, indices, name, divisors};
}

void tile::remarkLimits(Operation *op, const AccessWidth &width) {
  auto report = [&](StringRef name, const std::string &reason) {
    remark::missed(op->getLoc(),
                   remark::RemarkOpts::name(name).category("tile-vectorize"))
        << remark::reason("{0}", reason);
  };
  for (const WidthLimit &limit : width.limits)
    report(limit.id, limit.str());
  for (const UncoalescedAccess &access : width.uncoalesced)
    report("uncoalesced", access.str());
}
