//===- TileKernelOps.cpp - Kernels and their grids ------------------------===//

#include "ScheduleAttr.h"
#include "VerifyTokens.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "tile/Dialect/Tile/IR/DefinedValues.h"
#include "tile/Dialect/Tile/IR/LaunchExpressions.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile;

//===----------------------------------------------------------------------===//
// KernelOp
//===----------------------------------------------------------------------===//

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> arguments,
                      ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag, std::string &) {
    return builder.getFunctionType(arguments, results);
  };
  SMLoc loc = parser.getCurrentLocation();
  if (function_interface_impl::parseFunctionOp(
          parser, result, /*allowVariadic=*/false,
          getFunctionTypeAttrName(result.name), buildType,
          getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name)))
    return failure();
  // Without this check, attributes of a wrong type would be dropped silently.
  if (failed(verifyInherentAttrs(result.name, result.attributes, [&] {
        return parser.emitError(loc) << "'" << result.name << "' op ";
      })))
    return failure();
  Region *body = result.regions.front().get();
  if (body->empty())
    return parser.emitError(parser.getCurrentLocation(),
                            "a kernel needs a body");
  ensureTerminator(*body, parser.getBuilder(), result.location);
  return success();
}

void KernelOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(
      printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
      getArgAttrsAttrName(), getResAttrsAttrName());
}

LogicalResult
KernelOp::verifyArguments(TypeRange types,
                          llvm::function_ref<InFlightDiagnostic()> emitError) {
  for (auto [i, type] : llvm::enumerate(types)) {
    if (auto buffer = dyn_cast<BufferType>(type)) {
      if (buffer.isShared())
        return emitError() << "argument " << i
                           << " is a shared buffer; arguments are global";
      if (buffer.isPaged())
        return emitError() << "argument " << i
                           << " is a view of pages; arguments are the pages "
                              "and the table";
      continue;
    }
    if (!(type.isF16() || type.isBF16() || type.isF32() || type.isF64() ||
          type.isSignlessInteger(1) || type.isSignlessInteger(32) ||
          type.isSignlessInteger(64) || type.isIndex()))
      return emitError() << "argument " << i << " has type " << type
                         << "; expected a global buffer, f16, bf16, f32, f64, "
                            "i1, i32, i64 or index";
  }
  return success();
}

LogicalResult KernelOp::verify() {
  if (!getFunctionType().getResults().empty())
    return emitOpError("must not return values");
  if (failed(verifyArguments(getFunctionType().getInputs(),
                             [&] { return emitOpError(); })))
    return failure();
  if (getNumWarps() > kMostClusterWarps)
    return emitOpError() << "has " << getNumWarps()
                         << " warps; a cluster has at most "
                         << kMostClusterWarps;
  if (getClusterBlocks() > kMostClusterBlocks)
    return emitOpError() << "has clusters of " << getClusterBlocks()
                         << " blocks; a cluster has at most "
                         << kMostClusterBlocks;
  if (getClusterBlocks() > 1 && getNumWarps() > kMostWarps)
    return emitOpError() << "has blocks of " << getNumWarps()
                         << " warps; a block has at most " << kMostWarps;
  if (std::optional<DictionaryAttr> extents = getExtents())
    for (NamedAttribute extent : *extents)
      if (!extent.getValue() || !isa<IntegerAttr>(extent.getValue()))
        return emitOpError() << "'extents' must be numbers, got "
                             << extent.getName() << " = " << extent.getValue();
  // The warps of a kernel with open extents may be open, too.
  std::optional<int64_t> warps = getNumWarps();
  if (!getNumWarpsAttr() && !getParams(*this).empty())
    warps = std::nullopt;
  return verifyKernelSchedule(tile::getSchedule(*this), warps,
                              [&] { return emitOpError(); });
}

/// Verifies the types of the values that `op` defines. Passes build types
/// without checks, so this is where a layout that does not suit its tile shows.
static LogicalResult verifyDefinedTypes(Operation *op,
                                        llvm::SmallDenseSet<Type> &verified) {
  auto verify = [&](Type type) -> LogicalResult {
    if (!verified.insert(type).second)
      return success();
    auto emitError = [&] {
      InFlightDiagnostic diag = op->emitOpError();
      diag << "defines a value of type " << type << ": ";
      return diag;
    };
    if (auto buffer = dyn_cast<BufferType>(type))
      return BufferType::verify(emitError, buffer.getShape(),
                                buffer.getElementType(), buffer.getLayout(),
                                buffer.getSpace());
    if (auto ring = dyn_cast<RingType>(type))
      return RingType::verify(emitError, ring.getTile(), ring.getStages());
    if (auto pending = dyn_cast<PendingType>(type))
      type = pending.getTile();
    if (LayoutAttrInterface layout = getLayoutAttr(type)) {
      auto tile = cast<RankedTensorType>(type);
      return verifyTileLayout(layout, tile.getShape(), tile.getElementType(),
                              emitError);
    }
    return success();
  };
  for (Value value : getDefinedValues(op))
    if (failed(verify(value.getType())))
      return failure();
  return success();
}

LogicalResult KernelOp::verifyRegions() {
  llvm::SmallDenseSet<Type> verified;
  WalkResult types = (*this)->walk<WalkOrder::PreOrder>([&](Operation *op) {
    return WalkResult(verifyDefinedTypes(op, verified));
  });
  if (types.wasInterrupted() || failed(verifyOpenExtents(*this)))
    return failure();
  int64_t grids = llvm::range_size(getBody().front().getOps<GridOp>());
  if (grids != 1)
    return emitOpError() << "needs exactly one tile.grid at the top level of "
                            "its body, found "
                         << grids;
  if (failed(verifyProducts(*this)))
    return failure();
  return verifyRings(*this);
}

GridOp KernelOp::getGrid() {
  return *getBody().front().getOps<GridOp>().begin();
}

LogicalResult WaitPrerequisitesOp::verify() {
  if (!isa<KernelOp, WarpRolesOp>((*this)->getParentOp()))
    return emitOpError("must be at the top level of a kernel or of a role, "
                       "where every thread comes by");
  return success();
}

//===----------------------------------------------------------------------===//
// GridOp, RequireOp
//===----------------------------------------------------------------------===//

StringRef tile::getLaunchOperator(Operation *op) {
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case<arith::AddIOp>([](auto) { return "add"; })
      .Case<arith::SubIOp>([](auto) { return "sub"; })
      .Case<arith::MulIOp>([](auto) { return "mul"; })
      .Case<arith::CeilDivUIOp, arith::CeilDivSIOp>(
          [](auto) { return "ceildiv"; })
      .Case<arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp>(
          [](auto) { return "floordiv"; })
      .Case<arith::RemUIOp, arith::RemSIOp>([](auto) { return "mod"; })
      .Case<arith::MinUIOp, arith::MinSIOp>([](auto) { return "min"; })
      .Case<arith::MaxUIOp, arith::MaxSIOp>([](auto) { return "max"; })
      .Default([](Operation *) { return ""; });
}

/// Verifies that launchers can compute `values` from the kernel's arguments.
static LogicalResult verifyLaunchValues(Operation *user, ValueRange values) {
  // Follows the values back to arguments. Only integer arguments give integers.
  // The kernel has only one block here.
  SmallVector<Value> worklist(values);
  llvm::SmallPtrSet<Value, 8> seen;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getType().isInteger(1))
        return user->emitOpError()
               << "depends on argument " << argument.getArgNumber()
               << " of type i1, which the manifest cannot express";
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (auto dim = dyn_cast<DimOp>(op)) {
      if (isa<BlockArgument>(dim.getBuffer()))
        continue;
      return user->emitOpError() << "depends on the extent of a buffer that is "
                                    "no argument of the kernel";
    }
    if (!isa<MultiprocessorsOp, ParamOp, arith::ConstantOp, arith::IndexCastOp,
             arith::IndexCastUIOp>(op) &&
        getLaunchOperator(op).empty()) {
      InFlightDiagnostic diag = user->emitOpError()
                                << "depends on '" << op->getName()
                                << "', which the manifest cannot express";
      diag.attachNote(op->getLoc()) << "used here";
      return diag;
    }
    llvm::append_range(worklist, op->getOperands());
  }
  return success();
}

LogicalResult GridOp::verify() {
  return verifyLaunchValues(*this, getOperands());
}

LogicalResult RequireOp::verify() {
  int64_t dim = getDim(), rank = getBuffer().getType().getRank();
  if (!isa<BlockArgument>(getBuffer()))
    return emitOpError("needs a buffer that is an argument of the kernel");
  if (dim < 0 || dim >= rank)
    return emitOpError() << "dimension " << dim
                         << " does not exist in a buffer of rank " << rank;
  return verifyLaunchValues(*this, getValue());
}

std::optional<bool> RequireOp::decide() {
  int64_t extent = getBuffer().getType().getShape()[getDim()];
  APInt constant;
  if (ShapedType::isDynamic(extent) ||
      !matchPattern(getValue(), m_ConstantInt(&constant)))
    return std::nullopt;
  int64_t value = constant.getSExtValue();
  switch (getRelation()) {
  case Relation::Equal:
    return extent == value;
  case Relation::AtLeast:
    return extent >= value;
  case Relation::AtMost:
    return extent <= value;
  case Relation::MultipleOf:
    return value == 0 ? extent == 0 : extent % value == 0;
  }
  return std::nullopt;
}

StringRef RequireOp::describe(Relation relation) {
  // In the order of Relation.
  static constexpr StringLiteral texts[] = {"", "at least ", "at most ",
                                            "a multiple of "};
  return texts[static_cast<unsigned>(relation)];
}

LogicalResult RequireOp::canonicalize(RequireOp op, PatternRewriter &rewriter) {
  if (op.decide() != true)
    return failure();
  rewriter.eraseOp(op);
  return success();
}

//===----------------------------------------------------------------------===//
// ProgramIdOp, DimOp
//===----------------------------------------------------------------------===//

static ConstantIntRanges getRange(int64_t least, int64_t most) {
  unsigned bits = IndexType::kInternalStorageBitWidth;
  return ConstantIntRanges::fromSigned(APInt(bits, least), APInt(bits, most));
}

/// A launch has fewer than 2^31 blocks along each dimension.
void ProgramIdOp::inferResultRanges(ArrayRef<ConstantIntRanges>,
                                    SetIntRangeFn setResultRanges) {
  setResultRanges(getResult(), getRange(0, llvm::maxIntN(32) - 1));
}

/// The launcher checks that extents are less than 2^31.
void DimOp::inferResultRanges(ArrayRef<ConstantIntRanges>,
                              SetIntRangeFn setResultRanges) {
  setResultRanges(getResult(), getRange(0, llvm::maxIntN(32)));
}

LogicalResult DimOp::verify() {
  int64_t dim = getDim();
  if (dim < 0 || dim >= getBuffer().getType().getRank())
    return emitOpError() << "dimension " << dim
                         << " does not exist in a buffer of rank "
                         << getBuffer().getType().getRank();
  return success();
}

OpFoldResult DimOp::fold(FoldAdaptor) {
  int64_t extent = getBuffer().getType().getShape()[getDim()];
  if (!ShapedType::isDynamic(extent))
    return IntegerAttr::get(IndexType::get(getContext()), extent);
  if (auto slice = getBuffer().getDefiningOp<SliceOp>()) {
    int64_t dim = getDim();
    for (auto [i, kept] : llvm::enumerate(slice.getKept()))
      if (kept && dim-- == 0) {
        getBufferMutable().assign(slice.getSource());
        setDim(i);
        return getResult();
      }
  }
  if (auto narrow = getBuffer().getDefiningOp<NarrowOp>()) {
    if (narrow.getDim() == getDim())
      return narrow.getLength();
    getBufferMutable().assign(narrow.getSource());
    return getResult();
  }
  return {};
}
