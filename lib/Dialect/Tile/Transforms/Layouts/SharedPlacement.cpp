//===- SharedPlacement.cpp - Tiles that go through shared memory ----------===//

#include "SharedPlacement.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tile/Analysis/MemoryLayouts.h"
#include "tile/Analysis/RunAhead.h"
#include "tile/Analysis/TransposingReads.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tile;

/// The widest shared access of a thread, in bytes. Rows are padded by one.
static constexpr int64_t kAccessBytes = 16;
/// The smallest asynchronous copy, in bits (PTX ISA, "cp.async").
static constexpr unsigned kSmallestCopyBits = 32;

/// Returns true if a tile with this swizzle, in bytes, has whole rows and all
/// `readers` can read it.
bool SharedPlacement::isSwizzleReadable(RankedTensorType type, int64_t swizzle,
                                        ArrayRef<DotOp> readers) {
  int64_t rowBytes = type.getDimSize(1) * type.getElementTypeBitWidth() / 8;
  return rowBytes % swizzle == 0 && llvm::all_of(readers, [&](DotOp dot) {
           MmaAttr mma = products.lookup(dot);
           return !mma.getMma().spaces[1].shared ||
                  descriptorBytes(dot, mma) % swizzle == 0;
         });
}

LayoutAttrInterface SharedPlacement::chooseLayout(RankedTensorType type,
                                                  int64_t fastDim,
                                                  ArrayRef<DotOp> readers) {
  MLIRContext *context = type.getContext();
  int64_t padding = kAccessBytes * 8 / type.getElementTypeBitWidth();
  if (!chip.ldmatrix)
    return PaddedAttr::get(context, padding, {fastDim, 1 - fastDim});
  // ldmatrix transposes on the way, so tiles stay as they are in memory.
  for (unsigned swizzle : {128, 64, 32})
    if (isSwizzleReadable(type, swizzle, readers))
      return SwizzleAttr::get(context, swizzle);
  return PaddedAttr::get(context, padding, {1, 0});
}

/// Returns the fragment that `read` reads, in the dimensions of the tile.
FailureOr<Layout> SharedPlacement::getFragment(const OperandRead &read) {
  MmaAttr mma = products.lookup(cast<DotOp>(read.use->getOwner()));
  auto view = cast<RankedTensorType>(read.use->get().getType());
  FailureOr<Layout> fragment =
      DotOperandAttr::get(mma.getContext(), read.use->getOperandNumber(), mma)
          .getLayout(view.getShape(), view.getElementTypeBitWidth(), nullptr);
  if (failed(fragment) || !read.isSwapped)
    return fragment;
  return fragment->permuteDims({1, 0});
}

/// Returns true if all `reads` of a tile of `type` with `layout` have at least
/// 8 bytes, also by transposing elements among lanes.
bool SharedPlacement::isReadableAs(LayoutAttrInterface layout,
                                   RankedTensorType type,
                                   ArrayRef<OperandRead> reads) {
  constexpr unsigned kReadBits = 64;
  unsigned bits = type.getElementTypeBitWidth();
  Layout memory = getCanonicalLayout(withLayout(type, layout));
  return llvm::all_of(reads, [&](const OperandRead &read) {
    FailureOr<Layout> fragment = getFragment(read);
    return succeeded(fragment) &&
           bits * widestAccess(getReadAddresses(*fragment, memory, bits, chip),
                               memory, kReadBits / bits)
                       .width ==
               kReadBits;
  });
}

/// Returns the dimension along which a tile is contiguous in shared memory:
/// that of global memory if reads transpose on the way, so that the copy does
/// not, else `contracted`.
int64_t SharedPlacement::chooseFastDim(LoadOp load, int64_t contracted,
                                       ArrayRef<OperandRead> reads) {
  auto memory = dyn_cast<StridedAttr>(load.getBuffer().getType().getLayout());
  if (!chip.transposingReads || !memory)
    return contracted;
  for (int64_t dim : {0, 1})
    if (auto type = cast<RankedTensorType>(load.getType());
        memory.getStrides()[dim] == 1 &&
        isReadableAs(chooseLayout(type, dim, /*readers=*/{}), type, reads))
      return dim;
  return contracted;
}

/// Returns the layout for a tile that copies without registers fill, null if
/// the tile has none: such copies fill contiguous memory, so rows have no
/// padding, and they keep the order of the elements in global memory. Among the
/// swizzles that spread the rows over all banks of the chip, it is the widest
/// one with which `reads`, also those that transpose, have the fewest
/// conflicts: a copy reads as many bytes of a row at a time.
LayoutAttrInterface
SharedPlacement::chooseDirectLayout(LoadOp load, int64_t fastDim,
                                    ArrayRef<OperandRead> reads) {
  auto type = cast<RankedTensorType>(load.getType());
  auto source = dyn_cast<StridedAttr>(load.getBuffer().getType().getLayout());
  if (chip.asyncCopy.mechanism != AsyncCopy::DirectToLDS ||
      !runsCopiesAhead(kernel, chip) || fastDim != 1 || !source ||
      source.getStrides().back() != 1)
    return {};
  unsigned bits = type.getElementTypeBitWidth();
  LayoutAttrInterface best;
  int64_t fewest = 0;
  for (unsigned swizzle : {256, 128, 64, 32}) {
    if (swizzle > 4 * chip.banks || !isSwizzleReadable(type, swizzle, {}))
      continue;
    auto layout = SwizzleAttr::get(type.getContext(), swizzle, chip.banks);
    Layout memory = getCanonicalLayout(withLayout(type, layout));
    int64_t cycles = 0;
    for (const OperandRead &read : reads)
      if (FailureOr<Layout> fragment = getFragment(read); succeeded(fragment)) {
        BankPasses count = countBankPasses(
            getReadAddresses(*fragment, memory, bits, chip), memory,
            chip.maxSharedAccess * 8 / bits, bits, chip.getReadBanks());
        cycles += count.accesses + count.passes;
      }
    if (best && cycles >= fewest)
      continue;
    best = layout;
    fewest = cycles;
  }
  return best;
}

/// Returns the layout for a tile that passes through registers to shared memory
/// and from there to the fragments of `reads`: rows along `fastDim`, so that
/// the copy and the reads together have the fewest bank conflicts.
LayoutAttrInterface
SharedPlacement::choosePaddedLayout(LoadOp load, int64_t fastDim,
                                    ArrayRef<OperandRead> reads) {
  auto type = cast<RankedTensorType>(load.getType());
  BufferType source = load.getBuffer().getType();
  int64_t bits = type.getElementTypeBitWidth();
  std::vector<AccessOfLayout> accesses;
  for (const OperandRead &read : reads)
    accesses.push_back([&](LayoutAttrInterface layout) -> FailureOr<Layout> {
      FailureOr<Layout> fragment = getFragment(read);
      if (failed(fragment))
        return failure();
      return getReadAddresses(
          *fragment, getCanonicalLayout(withLayout(type, layout)), bits, chip);
    });
  return chooseCopiedLayout(source, type.getShape(), {fastDim, 1 - fastDim},
                            kAccessBytes, accesses, kernel.getNumWarps(), chip);
}

/// Returns true if a use of `load`, which products read, can read the tile back
/// from shared memory: the copy to shared memory then runs ahead of the loop
/// iteration, which a load to registers does not.
static bool canReadBack(LoadOp load, OpOperand &use, const Chip &chip) {
  return isa<scf::ForOp>(load->getParentOp()) &&
         load->getBlock() == use.getOwner()->getBlock() &&
         !use.getOwner()->hasTrait<OpTrait::IsTerminator>() &&
         runsCopiesAhead(load->getParentOfType<KernelOp>(), chip);
}

/// Places the tile that `load` reads if products use it, directly or through
/// transposes, and all other uses can read it back.
void SharedPlacement::placeOperand(LoadOp load, TileLayouts &layouts) {
  auto type = cast<RankedTensorType>(load.getType());
  if (type.getEncoding() || load.getBuffer().getType().isShared() ||
      type.getRank() != 2)
    return;
  // Views of the tile, and whether their dimensions are swapped.
  SmallVector<std::pair<Value, bool>> views{{load.getResult(), false}};
  SmallVector<TransposeOp> transposes;
  std::optional<int64_t> contracted;
  SmallVector<DotOp> readers;
  SmallVector<OperandRead> reads;
  while (!views.empty()) {
    auto [view, isSwapped] = views.pop_back_val();
    for (OpOperand &use : view.getUses()) {
      if (auto transpose = dyn_cast<TransposeOp>(use.getOwner())) {
        if (getLayoutAttr(transpose.getType()))
          return;
        bool swaps = transpose.getOrder()[0] == 1;
        views.push_back({transpose.getResult(), isSwapped != swaps});
        transposes.push_back(transpose);
        continue;
      }
      auto dot = dyn_cast<DotOp>(use.getOwner());
      if (!dot || use.getOperandNumber() > 1) {
        if (dot || !canReadBack(load, use, chip))
          return;
        continue;
      }
      int64_t dim = use.getOperandNumber() == 0 ? 1 : 0;
      contracted = isSwapped ? 1 - dim : dim;
      reads.push_back({&use, isSwapped});
      if (use.getOperandNumber() == 1)
        readers.push_back(dot);
    }
  }
  if (!contracted)
    return;
  int64_t fastDim = chooseFastDim(load, *contracted, reads);
  LayoutAttrInterface layout = chooseDirectLayout(load, fastDim, reads);
  if (!layout && !chip.ldmatrix)
    layout = choosePaddedLayout(load, fastDim, reads);
  if (!layout)
    layout = chooseLayout(type, fastDim, readers);
  auto dest =
      BufferType::get(type.getContext(), type.getShape(), type.getElementType(),
                      layout, MemorySpace::Shared);
  if (dest.getStorageBytes() > chip.sharedBytes) {
    // It comes to the registers of the products, if all read the same
    // fragments.
    SetVector<LayoutAttrInterface> fragments;
    for (const OperandRead &read : reads)
      fragments.insert(DotOperandAttr::get(
          type.getContext(), read.use->getOperandNumber(),
          products.lookup(cast<DotOp>(read.use->getOwner()))));
    if (fragments.size() == 1 && transposes.empty())
      layouts.insert({load.getResult(), fragments.front()});
    return;
  }
  layouts.insert({load.getResult(), layout});
  for (TransposeOp transpose : transposes)
    layouts.insert(
        {transpose.getResult(),
         PermuteAttr::get(transpose.getContext(), transpose.getOrder(),
                          layouts.lookup(transpose.getSource()))});
}

void SharedPlacement::placeOperands(TileLayouts &layouts) {
  kernel.walk([&](LoadOp load) { placeOperand(load, layouts); });
}

/// Returns true if threads hold copies of elements of `type`.
static bool hasCopies(RankedTensorType type, LayoutAttrInterface layout) {
  return getCanonicalLayout(withLayout(type, layout)).inputSize() >
         type.getNumElements();
}

/// Returns the buffer that `buffer` is a part of.
static Value findWhole(Value buffer) {
  while (isa_and_nonnull<SliceOp, NarrowOp, PagedOp>(buffer.getDefiningOp()))
    buffer = buffer.getDefiningOp()->getOperand(0);
  return buffer;
}

/// Returns true if all operations that read `tile`, also its transposed views,
/// are in `block`.
static bool isReadInside(Value tile, Block *block) {
  return llvm::all_of(tile.getUsers(), [&](Operation *user) {
    return user->getBlock() == block &&
           !user->hasTrait<OpTrait::IsTerminator>() &&
           (!isa<TransposeOp>(user) || isReadInside(user->getResult(0), block));
  });
}

/// Returns true if the tile that `load` reads to registers with a layout, which
/// repeats its elements if `isRepeated`, may come through shared memory
/// instead.
bool SharedPlacement::canComeShared(LoadOp load, LayoutAttrInterface layout,
                                    bool isRepeated) {
  auto type = cast<RankedTensorType>(load.getType());
  BufferType buffer = load.getBuffer().getType();
  if (type.getEncoding() || type.getRank() > 2 || buffer.isShared() || !layout)
    return false;
  int64_t bits = type.getElementTypeBitWidth();
  // A tile in a sliced layout is repeated along the dimension that is left out,
  // by all threads along it.
  if (type.getRank() == 1 && bits >= kSmallestCopyBits)
    return isa<SliceAttr>(layout);
  // Beside products, producers may copy smaller elements and tiles.
  return !products.empty() && (isRepeated || hasCopies(type, layout)) &&
         isReadInside(load, load->getBlock()) &&
         (bits >= kSmallestCopyBits ||
          ((chip.bulkCopy || type.getRank() == 2) &&
           buffer.getAlignment() >= kAccessBytes &&
           type.getShape().back() * bits % (8 * kAccessBytes) == 0));
}

/// Places a tile, and its transposed views.
void SharedPlacement::place(LoadOp load, TileLayouts &layouts) {
  auto type = cast<RankedTensorType>(load.getType());
  MLIRContext *context = kernel->getContext();
  LayoutAttrInterface layout =
      type.getRank() == 2 ? chooseLayout(type, /*fastDim=*/1, /*readers=*/{})
                          : cast<LayoutAttrInterface>(
                                PaddedAttr::get(context, /*padding=*/0, {0}));
  layouts.insert_or_assign(load.getResult(), layout);
  for (Operation *user : load->getUsers())
    if (auto transpose = dyn_cast<TransposeOp>(user);
        transpose && !getLayoutAttr(transpose.getType()))
      layouts.insert_or_assign(
          transpose.getResult(),
          PermuteAttr::get(context, transpose.getOrder(), layout));
}

void SharedPlacement::placeRepeated(TileLayouts &layouts,
                                    const DenseSet<LoadOp> &sources) {
  if (!runsCopiesAhead(kernel, chip))
    return;
  RunAhead runAhead(kernel);
  SmallVector<LoadOp> repeated;
  DenseSet<std::pair<Value, Type>> placed;
  auto keyOf = [](LoadOp load) {
    return std::pair(findWhole(load.getBuffer()), load.getType());
  };
  kernel.walk([&](LoadOp load) {
    if (!canComeShared(load, layouts.lookup(load.getResult()),
                       sources.contains(load)))
      return;
    auto loop = dyn_cast<scf::ForOp>(load->getParentOp());
    if (!loop) {
      repeated.push_back(load);
    } else if (!runAhead.checkLoad(load, loop)) {
      place(load, layouts);
      placed.insert(keyOf(load));
    }
  });
  // The first tile of a rotated loop is read before it, and comes the same way.
  for (LoadOp load : repeated)
    if (placed.contains(keyOf(load)))
      place(load, layouts);
}
