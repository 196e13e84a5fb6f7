//===- TileRingOps.cpp - Rings and products in flight ---------------------===//

#include "OptionalError.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tile;

//===----------------------------------------------------------------------===//
// RingType, PendingType
//===----------------------------------------------------------------------===//

BufferType RingType::getStorageType(BufferType tile, int64_t stages) {
  if (stages == 1)
    return tile;
  SmallVector<int64_t> shape{stages};
  llvm::append_range(shape, tile.getShape());
  auto quiet = [&] { return makeDroppedError(tile.getContext()); };
  auto storage = BufferType::getChecked(
      quiet, tile.getContext(), ArrayRef<int64_t>(shape), tile.getElementType(),
      tile.getLayout(), tile.getSpace());
  if (!storage)
    return {};
  SmallVector<bool> kept(shape.size(), true);
  kept[0] = false;
  FailureOr<BufferType> slot = SliceOp::inferType(storage, kept, quiet);
  return succeeded(slot) && *slot == tile ? storage : BufferType();
}

BufferType RingType::getBarriersType() const {
  auto layout = PaddedAttr::get(getContext(), 0, ArrayRef<int64_t>{0});
  return BufferType::get(
      getContext(), {getStages()}, IntegerType::get(getContext(), 64),
      cast<LayoutAttrInterface>(Attribute(layout)), MemorySpace::Shared);
}

LogicalResult
RingType::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                 BufferType tile, int64_t stages) {
  if (!tile.isShared())
    return emitError() << "a ring has shared buffers, got " << tile;
  if (stages < 1)
    return emitError() << "a ring has at least one stage, got " << stages;
  if (!getStorageType(tile, stages))
    return emitError() << stages << " buffers of type " << tile
                       << " cannot be stacked to a ring";
  return success();
}

LogicalResult
PendingType::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                    RankedTensorType tile) {
  Type element = tile.getElementType();
  if (!isTile(tile) || !(element.isF32() || element.isInteger(32)))
    return emitError() << "a product in flight is a tile of f32 or i32, got "
                       << tile;
  return success();
}

//===----------------------------------------------------------------------===//
// Rings
//===----------------------------------------------------------------------===//

ParseResult RingCreateOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand, 3> memory;
  RingType type;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOperandList(memory) ||
      parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseColonType(type))
    return failure();
  if (memory.empty() || memory.size() > 3)
    return parser.emitError(loc)
           << "expected storage and, if roles share the ring, mbarriers 'full' "
              "and 'empty'; got "
           << memory.size() << " operands";
  SmallVector<Type, 3> types(memory.size(), type.getBarriersType());
  types.front() = type.getStorageType();
  result.addTypes(type);
  return parser.resolveOperands(memory, types, loc, result.operands);
}

void RingCreateOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getOperands();
  printer.printOptionalAttrDict((*this)->getAttrs());
  printer << " : " << getType();
}

LogicalResult RingCreateOp::verify() {
  RingType type = getType();
  auto check = [&](Value memory, BufferType expected, StringRef name) {
    if (memory.getType() != expected)
      return LogicalResult(emitOpError()
                           << "needs " << name << " of type " << expected
                           << ", got " << memory.getType());
    if (!memory.getDefiningOp<AllocOp>())
      return LogicalResult(emitOpError() << "needs a tile.alloc as " << name);
    for (Operation *user : memory.getUsers())
      if (user != *this && isa<RingCreateOp>(user))
        return LogicalResult(emitOpError()
                             << "shares its " << name << " with another ring");
    return success();
  };
  if (failed(check(getStorage(), type.getStorageType(), "storage")))
    return failure();
  if (getBarriers().size() > 2)
    return emitOpError() << "needs at most two buffers of mbarriers, got "
                         << getBarriers().size();
  StringRef names[] = {"'full'", "'empty'"};
  for (auto [barriers, name] : llvm::zip(getBarriers(), names))
    if (failed(check(barriers, type.getBarriersType(), name)))
      return failure();
  if (getFull() && !isa<KernelOp>((*this)->getParentOp()))
    return emitOpError(
        "has mbarriers and must be at the top level of a kernel");
  if (getFull() && !getEmpty() && type.getStages() != 1)
    return emitOpError() << "has " << type.getStages()
                         << " stages and no 'empty'; a ring that is filled "
                            "once has one stage";
  return success();
}

LogicalResult RingPublishOp::verify() {
  if (getSlots().empty())
    return emitOpError("needs a slot to publish");
  return success();
}

/// Returns the values that `value`, which an scf.for carries, may be: what the
/// loop starts with and what an iteration yields. Empty for other values.
static SmallVector<Value, 2> getIncoming(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto loop = dyn_cast_or_null<scf::ForOp>(
      argument ? argument.getOwner()->getParentOp() : value.getDefiningOp());
  if (!loop || value == loop.getInductionVar())
    return {};
  unsigned number = argument ? argument.getArgNumber() - 1
                             : cast<OpResult>(value).getResultNumber();
  return {loop.getInitArgs()[number], loop.getYieldedValues()[number]};
}

SmallVector<Operation *, 2> tile::getOrigins(Value value) {
  SmallVector<Operation *, 2> origins;
  llvm::SmallSetVector<Value, 4> values;
  values.insert(value);
  for (size_t i = 0; i < values.size(); ++i) {
    SmallVector<Value, 2> incoming = getIncoming(values[i]);
    values.insert_range(incoming);
    if (Operation *op = values[i].getDefiningOp(); op && incoming.empty())
      origins.push_back(op);
  }
  return origins;
}

RingCreateOp tile::getRing(Value slot) {
  for (Operation *op : getOrigins(slot))
    if (isa<RingAcquireOp, RingTakeOp>(op))
      return getRingOf(op);
  return {};
}

RingCreateOp tile::getRingOf(Operation *op) {
  return op->getOperand(0).getDefiningOp<RingCreateOp>();
}

//===----------------------------------------------------------------------===//
// AwaitOp
//===----------------------------------------------------------------------===//

LogicalResult AwaitOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                        ValueRange operands, DictionaryAttr,
                                        OpaqueProperties, RegionRange,
                                        SmallVectorImpl<Type> &types) {
  for (Type type : operands.getTypes()) {
    auto pending = dyn_cast<PendingType>(type);
    types.push_back(pending ? pending.getTile() : type);
  }
  return success();
}

LogicalResult AwaitOp::verify() {
  if (getProducts().empty())
    return emitOpError("needs a product to wait for");
  return success();
}
