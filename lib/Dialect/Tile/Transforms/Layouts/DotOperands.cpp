//===- DotOperands.cpp - Operands of products in fragments ----------------===//

#include "DotOperands.h"
#include "mlir/IR/Remarks.h"
#include "tile/Analysis/Registers.h"
#include "tile/Layout/Queries.h"

using namespace mlir;
using namespace tile;

Value tile::convertTile(OpBuilder &builder, Value value,
                        LayoutAttrInterface layout) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getEncoding() == Attribute(layout))
    return value;
  return ConvertLayoutOp::create(builder, value.getLoc(),
                                 withLayout(type, layout), value);
}

bool tile::crossesThreads(RankedTensorType from, RankedTensorType to) {
  ConversionKind kind =
      planConversion(getCanonicalLayout(from), getCanonicalLayout(to)).kind;
  return kind == ConversionKind::WarpShuffle ||
         kind == ConversionKind::SharedMemory;
}

/// Returns the products that read `tile`, or a conversion of it, as operand b.
static SmallVector<DotOp, 1> findReaders(Value tile) {
  SmallVector<DotOp, 1> readers;
  SmallVector<Value> values{tile};
  while (!values.empty())
    for (OpOperand &use : values.pop_back_val().getUses()) {
      if (isa<ConvertLayoutOp>(use.getOwner()))
        values.push_back(use.getOwner()->getResult(0));
      else if (auto dot = dyn_cast<DotOp>(use.getOwner());
               dot && &use == &dot.getBMutable())
        readers.push_back(dot);
    }
  return readers;
}

/// Stores an operand to shared memory as soon as it is computed, which ends the
/// life of its registers. A transposed operand is stored before the
/// transposition.
void DotOperands::store(OpOperand &operand) {
  // Other users may want the transposed tile in another layout; the instruction
  // was chosen for the tile before the transposition.
  auto transpose = skipConversions(operand.get()).getDefiningOp<TransposeOp>();
  Value source = transpose ? transpose.getSource() : operand.get();
  auto type = cast<RankedTensorType>(source.getType());
  builder.setInsertionPointAfterValue(source);
  // All products that read the tile share one buffer.
  SmallVector<DotOp, 1> readers = findReaders(source);
  if (transpose && operand.getOperandNumber() == 1)
    readers.push_back(cast<DotOp>(operand.getOwner()));
  Value shared = convertTile(
      builder, source, placement.chooseLayout(type, /*fastDim=*/0, readers));
  if (transpose) {
    LayoutAttrInterface layout =
        PermuteAttr::get(builder.getContext(), transpose.getOrder(),
                         getLayoutAttr(shared.getType()));
    shared = TransposeOp::create(
        builder, transpose.getLoc(),
        withLayout(cast<RankedTensorType>(transpose.getType()), layout), shared,
        transpose.getOrder());
  }
  operand.set(shared);
}

/// Returns the tile that `value` is, before conversions and transpositions.
static Value findTile(Value value) {
  while (auto op = value.getDefiningOp()) {
    if (!isa<ConvertLayoutOp, TransposeOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// Returns true if the products in `loop` read one tile alone that is known in
/// front of it, once.
static bool hasOneInvariant(LoopLikeOpInterface loop) {
  int64_t count = 0;
  loop->walk([&](DotOp dot) {
    for (Value operand : {dot.getA(), dot.getB()})
      count += loop.isDefinedOutsideOfLoop(findTile(operand));
  });
  return count == 1;
}

/// Returns the registers of a thread for the largest tile that is in flight to
/// shared memory in `loop`.
static int64_t countInFlight(LoopLikeOpInterface loop, int64_t threads) {
  int64_t most = 0;
  loop->walk([&](LoadOp load) {
    auto tile = dyn_cast<RankedTensorType>(load.getType());
    if (tile && isSharedTile(tile))
      most = std::max<int64_t>(
          most, llvm::divideCeil(tile.getNumElements() *
                                     tile.getElementTypeBitWidth(),
                                 32 * threads));
  });
  return most;
}

/// Returns the number of registers that are in use in `loop` if `operand` is
/// kept in registers across it: those of all accumulators and of the operand.
int64_t DotOperands::registersAcross(LoopLikeOpInterface loop,
                                     OpOperand &operand, MmaAttr mma) {
  auto countFragments = [&](unsigned index) {
    Operation *dot = operand.getOwner();
    auto type = cast<RankedTensorType>(dot->getOperand(index).getType());
    return countRegisters(
        withLayout(type, DotOperandAttr::get(dot->getContext(), index, mma)));
  };
  unsigned index = operand.getOperandNumber();
  int64_t registers = countFragments(index);
  loop->walk(
      [&](DotOp other) { registers += countRegisters(other.getTile()); });
  // Reads by ldmatrix are scheduled fragment by fragment. LLVM moves others
  // ahead, but only as far as the registers allow, so a single operand may take
  // what tiles in flight leave.
  if (!chip.ldmatrix)
    registers += hasOneInvariant(loop)
                     ? countInFlight(loop, kernel.getNumWarps() * chip.warpSize)
                     : countFragments(1 - index);
  return registers;
}

/// Returns the loop in front of which an operand that `loop` keeps in registers
/// is read. In front of all loops, its shared memory serves others in them.
LoopLikeOpInterface DotOperands::findPlace(LoopLikeOpInterface loop,
                                           Value operand) {
  if (chip.ldmatrix)
    return loop;
  for (auto outer = loop->getParentOfType<LoopLikeOpInterface>();
       outer && outer.isDefinedOutsideOfLoop(operand);
       outer = outer->getParentOfType<LoopLikeOpInterface>())
    loop = outer;
  return loop;
}

/// Brings an operand to the registers, in the layout of a fragment: before the
/// loop around the product if the operand is known there and the registers
/// allow, else right before the product.
void DotOperands::load(OpOperand &operand, MmaAttr mma) {
  Operation *dot = operand.getOwner();
  unsigned index = operand.getOperandNumber();
  auto loop = dot->getParentOfType<LoopLikeOpInterface>();
  builder.setInsertionPoint(dot);
  if (loop && loop.isDefinedOutsideOfLoop(operand.get())) {
    int64_t registers = registersAcross(loop, operand, mma);
    if (registers <= budget * chip.maxRegisters / 100)
      builder.setInsertionPoint(findPlace(loop, operand.get()));
    else if (isSharedTile(operand.get().getType()))
      remark::missed(dot->getLoc(), remark::RemarkOpts::name("operand-reloaded")
                                        .category("tile-assign-layouts"))
          << remark::reason("operand {0} is read from shared memory in every "
                            "iteration: keeping it would take {1} registers "
                            "with the accumulators",
                            index == 0 ? "a" : "b", registers);
  }
  operand.set(convertTile(builder, operand.get(),
                          DotOperandAttr::get(dot->getContext(), index, mma)));
}

void DotOperands::convert(OpOperand &operand) {
  auto dot = cast<DotOp>(operand.getOwner());
  MmaAttr mma = products.lookup(dot);
  unsigned index = operand.getOperandNumber();
  auto type = dyn_cast<RankedTensorType>(operand.get().getType());
  if (!type)
    return;
  OperandSpaces spaces = mma.getMma().spaces[index];
  bool canBeShared = spaces.shared && canReadShared(dot, index, mma.getMma());
  if (canBeShared && isSharedTile(type))
    return;
  auto fragment = DotOperandAttr::get(dot.getContext(), index, mma);
  if (!spaces.registers ||
      (canBeShared && crossesThreads(type, withLayout(type, fragment))))
    store(operand);
  else
    load(operand, mma);
}
