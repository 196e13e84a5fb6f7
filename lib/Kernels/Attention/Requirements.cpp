//===- Requirements.cpp - What attention asks of extents ------------------===//

#include "Requirements.h"
#include "../ExpandFunctions.h"
#include "AttentionBuilder.h"
#include "Works.h"
#include <map>

using namespace mlir;
using namespace tile;

/// Lengths are below this: coordinates have 32 bits, and windows reach to both
/// sides.
static constexpr int64_t kMostRows = (int64_t(1) << 30) - 1;

/// The parts of the keys are blocks along y.
static constexpr int64_t kMostParts = 65535;

namespace {
class RequirementBuilder {
public:
  RequirementBuilder(ImplicitLocOpBuilder &builder, const IRMapping &mapping)
      : b(builder), mapping(mapping) {}

  template <typename OpT> void buildCommon(OpT op);
  void buildLengths(AttentionOp op);
  void buildStats(AttentionBackwardOp op);
  void buildWorks(AttentionOp op, const Schedule &schedule);

private:
  Value lookup(Value operand) { return mapping.lookup(operand); }
  /// An extent of an operand of the operation, constant if it is known.
  Value extentOf(Value operand, int64_t dim) {
    return b.createOrFold<DimOp>(lookup(operand), dim);
  }
  void require(Value operand, int64_t dim, Relation relation, Value value,
               const Twine &reason) {
    requireExtent(b, lookup(operand), dim, relation, value, reason);
  }

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }

  ImplicitLocOpBuilder &b;
  const IRMapping &mapping;
};
} // namespace

template <typename OpT> void RequirementBuilder::buildCommon(OpT op) {
  SmallVector<NamedExtent> extents = op.getNamedExtents();
  requireNamedExtents(b, extents, mapping);
  std::map<AttentionExtent, const NamedExtent *> first;
  for (const NamedExtent &extent : extents)
    first.try_emplace(AttentionExtent(extent.kind), &extent);
  const NamedExtent &heads = *first[AttentionExtent::Heads],
                    &kvHeads = *first[AttentionExtent::KVHeads];
  if (ShapedType::isDynamic(heads.get()) ||
      ShapedType::isDynamic(kvHeads.get()))
    require(heads.buffer, heads.dim, Relation::MultipleOf,
            extentOf(kvHeads.buffer, kvHeads.dim), "the " + kvHeads.describe());
  for (AttentionExtent kind : {AttentionExtent::Queries, AttentionExtent::Keys})
    if (auto it = first.find(kind); it != first.end())
      require(it->second->buffer, it->second->dim, Relation::AtMost,
              index(kMostRows), "the most rows that kernels count");
  if (auto it = first.find(AttentionExtent::Parts); it != first.end()) {
    require(it->second->buffer, 0, Relation::AtLeast, index(1),
            "the fewest parts of the keys");
    require(it->second->buffer, 0, Relation::AtMost, index(kMostParts),
            "the most parts of the keys");
  }
  if (auto it = first.find(AttentionExtent::Bounds); it != first.end())
    require(it->second->buffer, 0, Relation::AtLeast, index(1),
            "one more than there are sequences");
}

void RequirementBuilder::buildLengths(AttentionOp op) {
  if (op.getTreeMask() && !op.getCuQ())
    require(op.getQ(), 1, Relation::AtMost,
            index(32 * op.getTreeMask().getType().getShape().back()),
            "the nodes that tree_mask has bits for");
  TypedValue<BufferType> bounds = op.getCuQ() ? op.getCuQ() : op.getCuPages();
  if (!bounds || !op.getKeyLengths())
    return;
  require(op.getKeyLengths(), 0, Relation::Equal,
          b.createOrFold<arith::SubIOp>(extentOf(bounds, 0), index(1)),
          Twine("the number of sequences of ") +
              (op.getCuQ() ? "cu_q" : "cu_pages"));
}

void RequirementBuilder::buildWorks(AttentionOp op, const Schedule &schedule) {
  auto divideUp = [&](Value x, Value y) {
    return b.createOrFold<arith::CeilDivUIOp>(x, y);
  };
  auto add = [&](Value x, Value y) {
    return b.createOrFold<arith::AddIOp>(x, y);
  };
  int64_t queries = countTileQueries(schedule);
  Value heads = schedule.packsHeads()
                    ? extentOf(op.getK(), op.getCuK() ? 1 : 2)
                    : extentOf(op.getQ(), op.getCuQ() ? 1 : 2);
  Value rows = b.createOrFold<arith::MulIOp>(MultiprocessorsOp::create(b),
                                             index(kPartsOfBlock * queries));
  require(op.getOParts(), 0, Relation::AtLeast,
          divideUp(rows, b.createOrFold<arith::MaxUIOp>(heads, index(1))),
          "the rows of parts that fill the GPU");
  WorkBounds most = boundWorks(b, op, mapping, schedule);
  require(op.getWorks(), 0, Relation::AtLeast,
          add(add(most.tiles, index(1)), add(most.parts, most.parts)),
          "the most works, and one row more");
}

void RequirementBuilder::buildStats(AttentionBackwardOp op) {
  if (!op.isPacked()) {
    Value blocks = b.createOrFold<arith::CeilDivUIOp>(extentOf(op.getQ(), 1),
                                                      index(kScratchRows));
    require(op.getStats(), 3, Relation::Equal,
            b.createOrFold<arith::MulIOp>(blocks, index(kScratchRows)),
            "the length of q in whole blocks of " + Twine(kScratchRows));
    return;
  }
  Value sequences =
      b.createOrFold<arith::SubIOp>(extentOf(op.getCuQ(), 0), index(1));
  Value moved = b.createOrFold<arith::MulIOp>(sequences, index(kStatsRows));
  Value rows = b.createOrFold<arith::AddIOp>(extentOf(op.getQ(), 0), moved);
  require(op.getStats(), 2, Relation::AtLeast, rows,
          "the length of q and " + Twine(kStatsRows) +
              " rows for each sequence");
}

void tile::buildRequirements(ImplicitLocOpBuilder &builder, Operation *op,
                             const IRMapping &mapping) {
  RequirementBuilder requirements(builder, mapping);
  if (auto forward = dyn_cast<AttentionOp>(op)) {
    requirements.buildCommon(forward);
    return requirements.buildLengths(forward);
  }
  auto backward = cast<AttentionBackwardOp>(op);
  requirements.buildCommon(backward);
  requirements.buildStats(backward);
}

void tile::buildWorksRequirements(ImplicitLocOpBuilder &builder, AttentionOp op,
                                  const IRMapping &mapping,
                                  const Schedule &schedule) {
  RequirementBuilder(builder, mapping).buildWorks(op, schedule);
}
