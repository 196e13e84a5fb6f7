//===- TileAttentionOps.cpp - Verifiers of named attention ----------------===//

#include "AttentionExtents.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "tile/Dialect/Tile/IR/Tile.h"

using namespace mlir;
using namespace tile;

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static constexpr StringLiteral kElements =
    "f16 or bf16 elements, like the other buffers";
static constexpr StringLiteral kResultElements =
    "elements of the type of q or f32";

/// Kernels select among the words of a row of a tree mask one by one.
static constexpr int64_t kMostTreeWords = 8;

namespace {
/// Checks the types of the buffers of an operation, one at a time.
class BufferChecker {
public:
  BufferChecker(Operation *op, bool packed) : op(op), packed(packed) {}

  /// Checks a tensor of keys or values: [B, S, H, D], packed [T, H, D], or
  /// pages [P, R, H, D].
  LogicalResult checkKeys(StringRef name, BufferType type, Type element,
                          bool isPacked, bool isPaged) {
    BufferChecker check(op, isPacked);
    if (failed(check.checkHeads(name, type, element, kElements)))
      return failure();
    if (isPaged && ShapedType::isDynamic(type.getShape()[1]))
      return op->emitOpError()
             << "the page size of " << name << " must be static, got " << type;
    return success();
  }

  /// Checks a tensor of heads: [B, S, H, D], or packed [T, H, D], behind
  /// `outer` more dimensions.
  LogicalResult checkHeads(StringRef name, BufferType type,
                           ArrayRef<Type> elements, StringRef elementNames,
                           int64_t outer = 0) {
    int64_t rank = (packed ? 3 : 4) + outer;
    if (type.isShared() || type.getRank() != rank)
      return op->emitOpError()
             << name << " must be a global buffer of rank " << rank
             << (packed ? " (sequences are packed)" : "") << ", got " << type;
    if (!llvm::is_contained(elements, type.getElementType()))
      return op->emitOpError() << name << " must have " << elementNames
                               << ", got " << type.getElementType();
    if (ShapedType::isDynamic(type.getShape().back()))
      return op->emitOpError()
             << "the head dimension of " << name << " must be static";
    return success();
  }

  /// Checks a buffer of one number per row: [B, H, Sq], or packed [H, Tq].
  LogicalResult checkRows(StringRef name, BufferType type) {
    return checkNumbers(name, type, 3, "heads, length of q", /*isValid=*/true);
  }

  /// Checks a buffer of one number per part and row.
  LogicalResult checkPartRows(StringRef name, BufferType type) {
    return checkNumbers(name, type, 4, "heads, length of q", /*isValid=*/true,
                        "parts, ");
  }

  /// Checks the buffers of parts that a table of works numbers.
  LogicalResult checkPartsOfWorks(BufferType o, BufferType lse) {
    auto isValid = [](BufferType type, int64_t rank) {
      return !type.isShared() && type.getRank() == rank &&
             type.getElementType().isF32();
    };
    if (!isValid(o, 3) || ShapedType::isDynamic(o.getShape().back()))
      return op->emitOpError() << "o_parts must be a global f32 buffer of rank "
                                  "3 [rows, heads, static head dimension], got "
                               << o;
    if (!isValid(lse, 2))
      return op->emitOpError() << "lse_parts must be a global f32 buffer of "
                                  "rank 2 [heads, rows], got "
                               << lse;
    return success();
  }

  /// Checks a buffer of two numbers per row: [B, H, 2, R], or packed [H, 2, R],
  /// where R is a number of rows in whole blocks.
  LogicalResult checkStats(StringRef name, BufferType type) {
    bool hasTwo = type.getRank() > 1 && type.getShape().drop_back().back() == 2;
    return checkNumbers(name, type, 4, "heads, 2, rows", hasTwo);
  }

  /// Checks a buffer of words with a bit for each node of a tree: [B, Sq, W],
  /// or packed [Tq, W].
  LogicalResult checkTreeMask(StringRef name, BufferType type) {
    int64_t rank = packed ? 2 : 3;
    if (type.isShared() || type.getRank() != rank ||
        !type.getElementType().isSignlessInteger(32))
      return op->emitOpError()
             << name << " must be a global i32 buffer of rank " << rank << " ["
             << (packed ? "" : "batch, ") << "length of q, words], got "
             << type;
    int64_t words = type.getShape().back();
    if (ShapedType::isDynamic(words) || words < 1 || words > kMostTreeWords)
      return op->emitOpError()
             << name << " must have a static number of words from 1 to "
             << kMostTreeWords << ", got " << type;
    return success();
  }

  /// Checks a buffer of rank 1.
  LogicalResult checkVector(StringRef name, BufferType type,
                            ArrayRef<Type> elements, StringRef elementNames) {
    if (type.isShared() || type.getRank() != 1 ||
        !llvm::is_contained(elements, type.getElementType()))
      return op->emitOpError() << name << " must be a global " << elementNames
                               << " buffer of rank 1, got " << type;
    return success();
  }

private:
  /// Checks a buffer with the dimensions `outer`, the batch if the sequences
  /// are not packed, and `axes`.
  LogicalResult checkNumbers(StringRef name, BufferType type, int64_t rank,
                             StringRef axes, bool isValid,
                             StringRef outer = "") {
    rank -= packed;
    if (isValid && !type.isShared() && type.getRank() == rank &&
        type.getElementType().isF32())
      return success();
    return op->emitOpError()
           << name << " must be a global f32 buffer of rank " << rank << " ["
           << outer << (packed ? "" : "batch, ") << axes << "], got " << type;
  }

  Operation *op;
  bool packed;
};
} // namespace

/// Verifies that `element`, the element type of q, is f16 or bf16.
static LogicalResult verifyElement(Operation *op, Type element) {
  if (element.isF16() || element.isBF16())
    return success();
  return op->emitOpError()
         << "q must have f16 or bf16 elements, like the other "
         << "buffers, got " << element;
}

/// Verifies the operands of both directions: q, k, v, o and optional ones.
template <typename OpT>
static LogicalResult verifyCommon(OpT op, BufferChecker &check) {
  BufferType q = op.getQ().getType(), k = op.getK().getType(),
             v = op.getV().getType(), o = op.getO().getType();
  Type element = q.getElementType();
  MLIRContext *context = op.getContext();
  if (failed(verifyElement(op, element)) ||
      failed(check.checkHeads("q", q, element, kElements)) ||
      failed(
          check.checkKeys("k", k, element, bool(op.getCuK()), op.isPaged())) ||
      failed(
          check.checkKeys("v", v, element, bool(op.getCuK()), op.isPaged())) ||
      failed(check.checkHeads("o", o, {element, Float32Type::get(context)},
                              kResultElements)))
    return failure();
  int64_t d = q.getShape().back(), dv = v.getShape().back();
  if (k.getShape().back() != d)
    return op.emitOpError() << "head dimensions of q and k differ: " << d
                            << " and " << k.getShape().back();
  if (o.getShape().back() != dv)
    return op.emitOpError() << "head dimensions of v and o differ: " << dv
                            << " and " << o.getShape().back();
  for (int64_t extent : {d, dv})
    if (extent < 8 || extent > 256 || extent % 8 != 0)
      return op.emitOpError()
             << "head dimensions " << d << " (q, k) and " << dv
             << " (v) are not supported: each must be a multiple of 8 from 8 "
                "to 256";
  if (op.getSink() && failed(check.checkVector("sink", op.getSink().getType(),
                                               {Float16Type::get(context),
                                                BFloat16Type::get(context),
                                                Float32Type::get(context)},
                                               "f16, bf16 or f32")))
    return failure();
  if (op.isPacked()) {
    Type i32 = IntegerType::get(context, 32);
    if (failed(check.checkVector("cu_q", op.getCuQ().getType(), i32, "i32")) ||
        (op.getCuK() &&
         failed(check.checkVector("cu_k", op.getCuK().getType(), i32, "i32"))))
      return failure();
  }
  APFloat number(0.0f);
  if (matchPattern(op.getScale(), m_ConstantFloat(&number)) &&
      (!number.isFinite() || (number.isNegative() && !number.isZero())))
    return op.emitOpError() << "scale must be finite and not negative, got "
                            << number.convertToDouble();
  if (op.getSoftcap() &&
      matchPattern(op.getSoftcap(), m_ConstantFloat(&number)) &&
      (!number.isFinite() || number.isNegative() || number.isZero()))
    return op.emitOpError() << "softcap must be finite and positive, got "
                            << number.convertToDouble();
  // A side of the window that is an attribute would be ignored.
  for (NamedAttribute attribute : op->getDiscardableAttrs())
    if (!attribute.getNameDialect())
      return op.emitOpError()
             << "has no attribute '" << attribute.getName().getValue() << "'";
  return success();
}

/// Verifies that either all of these optional operands are present or none.
static LogicalResult
verifyTogether(Operation *op, ArrayRef<std::pair<StringRef, Value>> operands) {
  auto [first, value] = operands.front();
  for (auto [name, other] : operands.drop_front())
    if (!value != !other)
      return op->emitOpError() << "has " << (value ? first : name)
                               << " without " << (value ? name : first);
  return success();
}

//===----------------------------------------------------------------------===//
// The window
//===----------------------------------------------------------------------===//

/// Whether a side of a window, which may be null, can bound anything.
static bool canBound(Value side) {
  APInt constant;
  return side && !(matchPattern(side, m_ConstantInt(&constant)) &&
                   constant.isNegative());
}

bool AttentionOp::isLeftBounded() { return canBound(getLeft()); }
bool AttentionOp::isRightBounded() {
  return getCausal() || canBound(getRight());
}
bool AttentionBackwardOp::isLeftBounded() { return canBound(getLeft()); }
bool AttentionBackwardOp::isRightBounded() {
  return getCausal() || canBound(getRight());
}

//===----------------------------------------------------------------------===//
// AttentionOp
//===----------------------------------------------------------------------===//

/// Verifies the fields of a schedule of `op`, the attribute `name`.
static LogicalResult verifySchedule(Operation *op, StringRef name,
                                    ScheduleAttr schedule,
                                    ArrayRef<StringRef> fields) {
  if (!schedule)
    return success();
  return verifyFields("the attribute '" + name.str() + "'", fields,
                      schedule.getFields(), [&] { return op->emitOpError(); });
}

LogicalResult AttentionOp::verify() {
  if (failed(verifySchedule(*this, getScheduleAttrName(), getScheduleAttr(),
                            getScheduleFields())))
    return failure();
  if (getCuK() && getKeyLengths())
    return emitOpError("has both cu_k and key_lengths");
  // Packed queries have keys that are packed, too, or that have lengths.
  Value keys = getCuK() ? getCuK() : getKeyLengths();
  if (getPageTable() && !getKeyLengths())
    return emitOpError("has page_table without key_lengths");
  if (getCuPages() && !getPageTable())
    return emitOpError("has cu_pages without page_table");
  if (failed(
          verifyTogether(*this, {{"cu_q", getCuQ()}, {"max_q", getMaxQ()}})) ||
      (getCuQ() &&
       failed(verifyTogether(*this, {{"cu_q", getCuQ()}, {"cu_k", keys}}))) ||
      failed(verifyTogether(*this,
                            {{"left", getLeft()}, {"right", getRight()}})) ||
      failed(verifyTogether(
          *this, {{"o_parts", getOParts()}, {"lse_parts", getLseParts()}})) ||
      failed(verifyTogether(
          *this, {{"least_q", getLeastQ()}, {"most_q", getMostQ()}})))
    return failure();
  if (getWorks() && !getOParts())
    return emitOpError("has works without o_parts");
  if (getReuseWorks() && !getWorks())
    return emitOpError("has reuse_works without works");
  if (getLeastQ() && !getWorks())
    return emitOpError("has least_q without works");
  if (getLeastQ() && !getCuQ())
    return emitOpError("has least_q without cu_q");
  if (getConcurrent() && !getLeastQ())
    return emitOpError("has concurrent without least_q");
  BufferChecker check(*this, isPacked());
  if (failed(verifyCommon(*this, check)))
    return failure();
  if (getLse() && failed(check.checkRows("lse", getLse().getType())))
    return failure();
  Type i32 = IntegerType::get(getContext(), 32);
  if (getOParts()) {
    BufferType parts = getOParts().getType();
    BufferType rows = getLseParts().getType();
    if (getWorks() ? failed(check.checkPartsOfWorks(parts, rows))
                   : failed(check.checkHeads("o_parts", parts,
                                             Float32Type::get(getContext()),
                                             "f32 elements", /*outer=*/1)) ||
                         failed(check.checkPartRows("lse_parts", rows)))
      return failure();
    if (parts.getShape().back() != getO().getType().getShape().back())
      return emitOpError() << "head dimensions of o and o_parts differ: "
                           << getO().getType().getShape().back() << " and "
                           << parts.getShape().back();
  }
  if (getWorks()) {
    BufferType works = getWorks().getType();
    if (works.isShared() || works.getRank() != 2 ||
        works.getElementType() != i32 || works.getShape()[1] != 5)
      return emitOpError()
             << "works must be a global i32 buffer [works, 5], got " << works;
  }
  if (getMerge() && !getLse())
    return emitOpError() << "merges into o and lse, but has no lse";
  if (getKeyLengths() &&
      failed(check.checkVector("key_lengths", getKeyLengths().getType(), i32,
                               "i32")))
    return failure();
  if (getPageTable()) {
    BufferType table = getPageTable().getType();
    auto strided = dyn_cast<StridedAttr>(table.getLayout());
    int64_t rank = getCuPages() ? 1 : 2;
    if (table.isShared() || table.getRank() != rank ||
        table.getElementType() != i32 || !strided)
      return emitOpError() << "page_table must be a global i32 buffer of rank "
                           << rank
                           << (getCuPages() ? " [pages] (beside cu_pages)"
                                            : " [batch, pages]")
                           << ", got " << table;
  }
  if (getCuPages() &&
      failed(check.checkVector("cu_pages", getCuPages().getType(), i32, "i32")))
    return failure();
  if (getTreeMask() &&
      failed(check.checkTreeMask("tree_mask", getTreeMask().getType())))
    return failure();
  return verifyAttentionExtents(*this, getNamedExtents());
}

//===----------------------------------------------------------------------===//
// AttentionBackwardOp
//===----------------------------------------------------------------------===//

LogicalResult AttentionBackwardOp::verify() {
  if (failed(verifySchedule(*this, getDkvScheduleAttrName(),
                            getDkvScheduleAttr(), getKeysScheduleFields())) ||
      failed(verifySchedule(*this, getDqScheduleAttrName(), getDqScheduleAttr(),
                            getQueriesScheduleFields())))
    return failure();
  if (getDqScheduleAttr() && getDqAcc())
    return emitOpError(
        "cannot have dq_schedule beside dq_acc, with which dq has "
        "no kernel of its own");
  if (failed(verifyTogether(*this, {{"cu_q", getCuQ()},
                                    {"cu_k", getCuK()},
                                    {"max_q", getMaxQ()},
                                    {"max_k", getMaxK()}})) ||
      failed(verifyTogether(*this,
                            {{"left", getLeft()}, {"right", getRight()}})) ||
      failed(verifyTogether(*this,
                            {{"sink", getSink()}, {"dsink", getDSink()}})) ||
      failed(verifyTogether(*this,
                            {{"dk_acc", getDkAcc()}, {"dv_acc", getDvAcc()}})))
    return failure();
  if (!getKvMode() != !getDkAcc())
    return emitOpError() << "needs kv_mode and dk_acc together";

  BufferChecker check(*this, isPacked());
  if (failed(verifyCommon(*this, check)))
    return failure();
  Type element = getQ().getType().getElementType();
  Type f32 = Float32Type::get(getContext());
  auto sameHeadDim = [&](StringRef name, BufferType type, StringRef otherName,
                         BufferType other) -> LogicalResult {
    if (type.getShape().back() == other.getShape().back())
      return success();
    return emitOpError() << "head dimensions of " << otherName << " and "
                         << name << " differ: " << other.getShape().back()
                         << " and " << type.getShape().back();
  };
  auto checkLike = [&](StringRef name, BufferType type, StringRef otherName,
                       BufferType other, ArrayRef<Type> elements,
                       StringRef elementNames) -> LogicalResult {
    if (failed(check.checkHeads(name, type, elements, elementNames)))
      return failure();
    return sameHeadDim(name, type, otherName, other);
  };
  BufferType q = getQ().getType(), k = getK().getType(), v = getV().getType();
  if (failed(checkLike("do", getDO().getType(), "o", getO().getType(), element,
                       kElements)) ||
      failed(check.checkRows("lse", getLse().getType())) ||
      (getDLse() && failed(check.checkRows("dlse", getDLse().getType()))) ||
      failed(checkLike("dq", getDq().getType(), "q", q, {element, f32},
                       kResultElements)) ||
      failed(checkLike("dk", getDk().getType(), "k", k, {element, f32},
                       kResultElements)) ||
      failed(checkLike("dv", getDv().getType(), "v", v, {element, f32},
                       kResultElements)) ||
      failed(check.checkStats("stats", getStats().getType())))
    return failure();
  if (getDqAcc() && failed(checkLike("dq_acc", getDqAcc().getType(), "q", q,
                                     f32, "f32 elements")))
    return failure();
  if (getKvMode()) {
    bool atomic = *getKvMode() == KVAccumulation::Atomic;
    SmallVector<Type> elements{f32};
    StringRef names = "f32 elements to add to atomically";
    if (!atomic) {
      elements.push_back(element);
      names = "f32 elements or those of k";
    }
    if (failed(checkLike("dk_acc", getDkAcc().getType(), "k", k, elements,
                         names)) ||
        failed(
            checkLike("dv_acc", getDvAcc().getType(), "v", v, elements, names)))
      return failure();
  }
  if (getDSink() &&
      failed(check.checkVector("dsink", getDSink().getType(), f32, "f32")))
    return failure();
  return verifyAttentionExtents(*this, getNamedExtents());
}
