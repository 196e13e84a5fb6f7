//===- ChooseAccumulators.cpp - Layouts of global accumulators ------------===//
//
// An accumulator that only the kernels of one module use may have any layout in
// memory. The pass chooses one that fits the fragments that are added to it.
// The type of the argument changes in all kernels with this accumulator, so the
// kernels that clear or read it use the same layout.
//
//===----------------------------------------------------------------------===//

#include "MmaChoice.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"
#include "tile/Analysis/AccessWidth.h"
#include "tile/Analysis/MemoryLayouts.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "tile/Dialect/TileGPU/IR/TileGPU.h"
#include "llvm/ADT/MapVector.h"

namespace tile {
#define GEN_PASS_DEF_TILECHOOSEACCUMULATORS
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// Returns the layout that tile-assign-layouts will assign to `value`, if it
/// follows from a matrix product or from a layout that the author wrote;
/// otherwise returns null. Looks through at most `depth` operations. Fails with
/// an error if a matrix product has no instruction.
static FailureOr<LayoutAttrInterface>
findFragment(Value value, int64_t numWarps, const Chip &chip, unsigned depth) {
  LayoutAttrInterface none;
  auto tile = dyn_cast<RankedTensorType>(value.getType());
  if (!tile || depth == 0)
    return none;
  if (LayoutAttrInterface pinned = getLayoutAttr(tile))
    return pinned.getFamily() == LayoutFamily::Distributed ? pinned : none;
  auto fragmentOf = [&](Value other) {
    return findFragment(other, numWarps, chip, depth - 1);
  };
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || argument.getArgNumber() == 0)
      return none;
    return fragmentOf(loop.getYieldedValues()[argument.getArgNumber() - 1]);
  }
  Operation *op = value.getDefiningOp();
  if (auto dot = dyn_cast<DotOp>(op)) {
    FailureOr<MmaAttr> mma = chooseMma(dot, numWarps, chip);
    if (failed(mma))
      return failure();
    return LayoutAttrInterface(*mma);
  }
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return fragmentOf(
        loop.getYieldedValues()[cast<OpResult>(value).getResultNumber()]);
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    FailureOr<LayoutAttrInterface> source = fragmentOf(transpose.getSource());
    if (failed(source) || !*source)
      return source;
    return LayoutAttrInterface(
        PermuteAttr::get(op->getContext(), transpose.getOrder(), *source));
  }
  if (op->hasTrait<OpTrait::Elementwise>())
    for (Value operand : op->getOperands()) {
      FailureOr<LayoutAttrInterface> fragment = fragmentOf(operand);
      if (failed(fragment) || *fragment)
        return fragment;
    }
  return none;
}

namespace {
struct ChooseAccumulators
    : tile::impl::TileChooseAccumulatorsBase<ChooseAccumulators> {
  using TileChooseAccumulatorsBase::TileChooseAccumulatorsBase;
  void runOnOperation() override;

private:
  /// All kernel arguments that are one accumulator.
  using Group = SmallVector<std::pair<KernelOp, unsigned>>;

  LogicalResult chooseLayout(const Group &group, const Chip &chip);
  LogicalResult setArgumentType(KernelOp kernel, unsigned argument,
                                BufferType type);
};
} // namespace

namespace {
/// An atomic addition, and the dimensions of the argument along which its tile
/// extends.
struct Addition {
  AtomicRMWOp op;
  SmallVector<unsigned> dims;
};
} // namespace

/// Collects the atomic additions to a buffer and to its slices. `dims` are the
/// dimensions of the argument that the buffer still has.
static void collectAdditions(Value buffer, ArrayRef<unsigned> dims,
                             SmallVectorImpl<Addition> &found) {
  for (OpOperand &use : buffer.getUses()) {
    if (auto slice = dyn_cast<SliceOp>(use.getOwner())) {
      SmallVector<unsigned> kept;
      for (auto [dim, keep] : llvm::zip_equal(dims, slice.getKept()))
        if (keep)
          kept.push_back(dim);
      collectAdditions(slice.getResult(), kept, found);
    } else if (auto atomic = dyn_cast<AtomicRMWOp>(use.getOwner());
               atomic && atomic.getKind() == arith::AtomicRMWKind::addf &&
               dims.size() == 2) {
      found.push_back({atomic, llvm::to_vector(dims)});
    }
  }
}

/// Returns true if all slices of a buffer are possible with the layout `map`.
static bool canSlice(Value buffer, MapAttr map) {
  return llvm::all_of(buffer.getUsers(), [&](Operation *user) {
    auto slice = dyn_cast<SliceOp>(user);
    if (!slice)
      return true;
    FailureOr<MapAttr> sliced = map.getSlice(slice.getKept(), 0, nullptr);
    return succeeded(sliced) && canSlice(slice.getResult(), *sliced);
  });
}

/// Returns true if the layout stores elements beyond a static extent: it stores
/// whole periods, and the memory of the argument ends with its extents. The
/// manifest states how much memory dynamic extents need.
static bool needsMoreMemory(BufferType type) {
  for (auto [dim, extent] : llvm::enumerate(type.getShape()))
    if (extent != kDynamic && extent % type.getPeriod(dim) != 0)
      return true;
  return false;
}

/// Returns true if the extents of `buffer` that `kernel` requires may end
/// within a period of the layout of `type`: the caller provides memory for the
/// extents only.
static bool mayEndWithinPeriod(KernelOp kernel, Value buffer, BufferType type) {
  return llvm::any_of(kernel.getBody().front().getOps<RequireOp>(),
                      [&](RequireOp require) {
                        return require.getBuffer() == buffer &&
                               require.getRelation() == Relation::Equal &&
                               knownDivisor(require.getValue()) %
                                       type.getPeriod(require.getDim()) !=
                                   0;
                      });
}

static LogicalResult updateSlices(Value buffer) {
  for (Operation *user : buffer.getUsers()) {
    auto slice = dyn_cast<SliceOp>(user);
    if (!slice)
      continue;
    FailureOr<BufferType> type =
        SliceOp::inferType(cast<BufferType>(buffer.getType()), slice.getKept(),
                           [&] { return slice.emitOpError(); });
    if (failed(type))
      return failure();
    slice.getResult().setType(*type);
    if (failed(updateSlices(slice.getResult())))
      return failure();
  }
  return success();
}

LogicalResult ChooseAccumulators::setArgumentType(KernelOp kernel,
                                                  unsigned argument,
                                                  BufferType type) {
  SmallVector<Type> inputs(kernel.getArgumentTypes());
  inputs[argument] = type;
  kernel.setFunctionType(FunctionType::get(&getContext(), inputs, {}));
  Value value = kernel.getBody().getArgument(argument);
  value.setType(type);
  return updateSlices(value);
}

LogicalResult ChooseAccumulators::chooseLayout(const Group &group,
                                               const Chip &chip) {
  auto [first, number] = group.front();
  Value example = first.getBody().getArgument(number);
  auto type = dyn_cast<BufferType>(example.getType());
  auto strided = type ? dyn_cast<StridedAttr>(type.getLayout()) : StridedAttr();
  if (!strided || type.isShared())
    return first.emitOpError()
           << "argument " << number
           << " is an accumulator, so it must be a global buffer with a "
              "#tile.strided layout, got "
           << example.getType();
  for (auto [kernel, argument] : group)
    if (Type other = kernel.getBody().getArgument(argument).getType();
        other != type)
      return kernel.emitOpError()
             << "argument " << argument << " is the same accumulator as one of "
             << "@" << first.getName() << ", but has the type " << other
             << ", not " << type;

  bool endsWithin = false;
  for (auto [kernel, argument] : group) {
    SmallVector<Addition> additions;
    collectAdditions(kernel.getBody().getArgument(argument),
                     llvm::to_vector(llvm::seq<unsigned>(0, type.getRank())),
                     additions);
    for (Addition &addition : additions) {
      AtomicRMWOp atomic = addition.op;
      FailureOr<LayoutAttrInterface> fragment = findFragment(
          atomic.getValue(), kernel.getNumWarps(), chip, /*depth=*/16);
      if (failed(fragment))
        return failure();
      if (!*fragment)
        continue;
      auto tile = cast<RankedTensorType>(atomic.getValue().getType());
      Type element = tile.getElementType();
      FailureOr<Layout> layout =
          fragment->getLayout(tile.getShape(), element.getIntOrFloatBitWidth(),
                              [&] { return atomic.emitOpError(); });
      if (failed(layout))
        return failure();
      FailureOr<MapAttr> map = chooseAccumulatorLayout(
          &getContext(), *layout, type.getShape(), addition.dims[0],
          addition.dims[1], *tile::gpu::getAtomicElement(element), chip);
      if (failed(map) || !llvm::all_of(group, [&](auto entry) {
            return canSlice(entry.first.getBody().getArgument(entry.second),
                            *map);
          }))
        continue;
      auto mapped = BufferType::getChecked(
          [&] { return atomic.emitOpError(); }, &getContext(), type.getShape(),
          type.getElementType(), LayoutAttrInterface(*map), type.getSpace());
      if (!mapped)
        return failure();
      bool mayEnd = llvm::any_of(group, [&](auto entry) {
        auto [other, place] = entry;
        return mayEndWithinPeriod(other, other.getBody().getArgument(place),
                                  mapped);
      });
      endsWithin |= mayEnd;
      if (needsMoreMemory(mapped) || mayEnd)
        continue;
      std::string text;
      llvm::raw_string_ostream(text) << *map;
      remark::passed(atomic.getLoc(),
                     remark::RemarkOpts::name("accumulator-layout")
                         .category("tile-choose-accumulators"))
          << remark::reason("{0}", text);
      for (auto [other, place] : group)
        if (failed(setArgumentType(other, place, mapped)))
          return failure();
      return success();
    }
  }
  remark::missed(first.getLoc(), remark::RemarkOpts::name("accumulator-layout")
                                     .category("tile-choose-accumulators"))
      << remark::reason("argument {0} stays as it is: no fragment of a matrix "
                        "product is added to whole rows and columns of it{1}",
                        number,
                        endsWithin ? ", as far as its requirements tell" : "");
  return success();
}

void ChooseAccumulators::runOnOperation() {
  llvm::MapVector<StringAttr, Group> groups;
  for (auto kernel : getOperation().getOps<KernelOp>())
    for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
      Attribute attribute = kernel.getArgAttr(i, TileDialect::kAccumulatorAttr);
      if (!attribute)
        continue;
      auto name = dyn_cast<StringAttr>(attribute);
      if (!name)
        name = kernel.getArgAttrOfType<StringAttr>(i, TileDialect::kNameAttr);
      if (!name) {
        kernel.emitOpError() << "argument " << i
                             << " is an accumulator, so it needs a 'tile.name' "
                                "for the kernels that share it";
        return signalPassFailure();
      }
      groups[name].push_back({kernel, i});
    }
  if (groups.empty())
    return markAllAnalysesPreserved();
  const Chip *chip = getTargetChip(getOperation());
  if (!chip)
    return signalPassFailure();
  for (auto &[name, group] : groups) {
    if (failed(chooseLayout(group, *chip)))
      return signalPassFailure();
    // The layout is final: a later run of the pass must not change it.
    for (auto [kernel, argument] : group)
      kernel.removeArgAttr(argument, TileDialect::kAccumulatorAttr);
  }
}
