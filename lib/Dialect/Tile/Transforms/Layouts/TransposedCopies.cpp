//===- TransposedCopies.cpp - Tiles in shared memory in both orders -------===//
//
// Products may contract either dimension of a tile. Fragments are read by wide
// accesses along the dimension that is contiguous in shared memory, and by
// single elements along the other one, unless the chip transposes them on the
// way. A second load writes the tile in the other order.
//
//===----------------------------------------------------------------------===//

#include "TransposedCopies.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"
#include "tile/Analysis/MemoryLayouts.h"
#include "tile/Analysis/TransposingReads.h"
#include "tile/Layout/Queries.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"
#include <vector>

using namespace mlir;
using namespace tile;

/// The bits of a register, and the bytes of the widest access.
static constexpr int64_t kRegisterBits = 32, kAccessBytes = 16;

/// The part of the registers of a thread that copies may take: with 36 of 256,
/// backward attention on gfx1100 at a head dimension of 96 spills, with 32 at
/// 128 it does not.
static constexpr int64_t kCopyShare = 8;

namespace {
/// A conversion of a tile in shared memory, or of a transposed view of it, to
/// registers.
struct Read {
  ConvertLayoutOp convert;
  bool isSwapped;
  /// The elements of threads, in the dimensions of the tile.
  Layout threads;
};
} // namespace

static int64_t countBytes(RankedTensorType tile) {
  return getCanonicalLayout(tile).shape().front() *
         tile.getElementTypeBitWidth() / 8;
}

/// Returns the reads of the tile that `load` reads; nothing if it has other
/// users.
static std::optional<std::vector<Read>> findReads(LoadOp load) {
  std::vector<Read> reads;
  SmallVector<std::pair<Value, bool>> views{{load.getResult(), false}};
  while (!views.empty()) {
    auto [view, isSwapped] = views.pop_back_val();
    for (Operation *user : view.getUsers()) {
      if (auto transpose = dyn_cast<TransposeOp>(user)) {
        bool swaps = transpose.getOrder()[0] == 1;
        views.push_back({transpose.getResult(), isSwapped != swaps});
        continue;
      }
      auto convert = dyn_cast<ConvertLayoutOp>(user);
      if (!convert || isSharedTile(convert.getType()))
        return std::nullopt;
      Layout threads = getCanonicalLayout(convert.getType());
      if (isSwapped)
        threads = threads.permuteDims({1, 0});
      reads.push_back({convert, isSwapped, threads});
    }
  }
  return reads;
}

/// Returns the bits of an access by `threads` to a tile of `type`.
static int64_t countBits(const Layout &threads, RankedTensorType type,
                         const Chip &chip) {
  Layout memory = getCanonicalLayout(type);
  unsigned bits = type.getElementTypeBitWidth();
  Layout addresses = getReadAddresses(threads, memory, bits, chip);
  return bits *
         widestAccess(addresses, memory, chip.maxSharedAccess * 8 / bits).width;
}

/// Calls `visit` with the operations that use `tile` or transposed views of it.
static void forEachUser(Value tile,
                        llvm::function_ref<void(Operation *)> visit) {
  for (Operation *user : tile.getUsers()) {
    if (isa<TransposeOp>(user))
      forEachUser(user->getResult(0), visit);
    else
      visit(user);
  }
}

/// Returns how many iterations of `loop` the copies to shared memory are for.
static int64_t countStages(scf::ForOp loop) {
  std::optional<int64_t> stages = getSchedule(loop).stages;
  if (!stages)
    stages = getSchedule(loop->getParentOfType<KernelOp>()).stages;
  return std::max<int64_t>(stages.value_or(1), 1);
}

/// Returns the bytes of shared memory by which `op` exchanges elements between
/// threads.
static int64_t countExchanged(Operation *op, int64_t warps) {
  auto bytesOf = [](RankedTensorType type) {
    return type.getNumElements() *
           llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  };
  if (isa<ReduceOp, ScanOp>(op))
    return warps * bytesOf(cast<RankedTensorType>(op->getResult(0).getType()));
  auto convert = dyn_cast<ConvertLayoutOp>(op);
  if (!convert || isSharedTile(convert.getSource().getType()))
    return 0;
  auto from = cast<RankedTensorType>(convert.getSource().getType());
  RankedTensorType type = convert.getType();
  ConversionKind kind =
      planConversion(getCanonicalLayout(from), getCanonicalLayout(type)).kind;
  if (kind != ConversionKind::WarpShuffle &&
      kind != ConversionKind::SharedMemory)
    return 0;
  return bytesOf(type) + kAccessBytes * *llvm::max_element(type.getShape());
}

/// Returns the bytes of shared memory that `loop` needs: the tiles that are
/// defined in it, and those from outside that it or a loop around it uses. If
/// copies run several iterations ahead, they do so beside all tiles from
/// outside. If `loop` is null, returns those of the tiles that are defined
/// outside of all loops.
static int64_t countBytes(KernelOp kernel, scf::ForOp loop) {
  int64_t stages = loop ? countStages(loop) : 1, bytes = 0;
  kernel.walk([&](Operation *op) {
    if (isa<TransposeOp>(op) || op->getNumResults() != 1)
      return;
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (!type || !getLayoutAttr(type))
      return;
    auto around = op->getParentOfType<LoopLikeOpInterface>();
    bool isInside = loop ? loop->isProperAncestor(op) : !around;
    if (!isSharedTile(type)) {
      bytes += isInside ? countExchanged(op, kernel.getNumWarps()) : 0;
      return;
    }
    bool isLive = isInside || (stages > 1 && !around);
    forEachUser(op->getResult(0), [&](Operation *user) {
      for (Operation *outer = loop; outer && outer != kernel;
           outer = outer->getParentOp())
        isLive |= outer->isProperAncestor(user) && !outer->isProperAncestor(op);
    });
    if (isLive)
      bytes += countBytes(type) * (isInside && isa<LoadOp>(op) ? stages : 1);
  });
  return bytes;
}

/// Returns the registers of a thread for a tile that it copies to shared
/// memory.
static int64_t countCopied(LoadOp load, const Chip &chip) {
  auto type = dyn_cast<RankedTensorType>(load.getType());
  if (!type || !isSharedTile(type))
    return 0;
  int64_t threads =
      load->getParentOfType<KernelOp>().getNumWarps() * chip.warpSize;
  return llvm::divideCeil(type.getNumElements() * type.getElementTypeBitWidth(),
                          kRegisterBits * threads);
}

/// Returns true if `loop` has registers for the copies of an iteration, which
/// run ahead of it, and for one more of `load`.
static bool hasRegisters(LoadOp load, scf::ForOp loop, const Chip &chip) {
  int64_t registers = 0;
  loop->walk([&](LoadOp other) { registers += countCopied(other, chip); });
  if (loop->isProperAncestor(load))
    registers += countCopied(load, chip);
  return kCopyShare * registers <= chip.maxRegisters;
}

/// Returns true if `added` bytes fit `loop` beside what it needs, and as many
/// blocks fit a multiprocessor as before.
static bool fits(LoadOp load, scf::ForOp loop, int64_t added,
                 const Chip &chip) {
  auto kernel = load->getParentOfType<KernelOp>();
  int64_t bytes = countBytes(kernel, loop);
  int64_t outside = countBytes(kernel, /*loop=*/{});
  bool isOutside = !load->getParentOfType<LoopLikeOpInterface>();
  if (loop->isProperAncestor(load))
    added *= countStages(loop);
  int64_t before = std::max(bytes, outside);
  int64_t after = std::max(bytes + added, outside + (isOutside ? added : 0));
  if (after <= chip.sharedBytes &&
      chip.sharedBytes / after >= chip.sharedBytes / before)
    return true;
  remark::missed(load.getLoc(), remark::RemarkOpts::name("single-elements")
                                    .category("tile-assign-layouts"))
      << remark::reason("products read single elements of the tile: a "
                        "transposed copy would take {0} bytes of shared memory "
                        "beside {1}",
                        added, before);
  return false;
}

/// Returns the layout of the second tile: the order of `layout` reversed, and
/// with the fewest bank conflicts.
static LayoutAttrInterface chooseLayout(LoadOp load, PaddedAttr layout,
                                        ArrayRef<Read> reads,
                                        const Chip &chip) {
  auto type = cast<RankedTensorType>(load.getType());
  std::vector<AccessOfLayout> accesses;
  for (const Read &read : reads)
    accesses.push_back(
        [&](LayoutAttrInterface) -> FailureOr<Layout> { return read.threads; });
  SmallVector<int64_t> order(llvm::reverse(layout.getOrder()));
  return chooseCopiedLayout(
      load.getBuffer().getType(), type.getShape(), order, kAccessBytes,
      accesses, load->getParentOfType<KernelOp>().getNumWarps(), chip);
}

static void addTransposedCopy(LoadOp load, const Chip &chip) {
  auto type = dyn_cast<RankedTensorType>(load.getType());
  if (!type || !isSharedTile(type) || type.getRank() != 2 ||
      type.getElementTypeBitWidth() >= kRegisterBits ||
      load.getBuffer().getType().isShared())
    return;
  auto layout = dyn_cast<PaddedAttr>(type.getEncoding());
  std::optional<std::vector<Read>> reads = findReads(load);
  if (!layout || !reads)
    return;
  llvm::SetVector<scf::ForOp> loops;
  llvm::erase_if(*reads, [&](Read &read) {
    auto loop = dyn_cast<scf::ForOp>(read.convert->getParentOp());
    if (!loop || countBits(read.threads, type, chip) >= kRegisterBits)
      return true;
    loops.insert(loop);
    return false;
  });
  if (reads->empty())
    return;
  RankedTensorType other =
      withLayout(type, chooseLayout(load, layout, *reads, chip));
  if (llvm::any_of(*reads,
                   [&](const Read &read) {
                     return countBits(read.threads, other, chip) <
                            kRegisterBits;
                   }) ||
      !llvm::all_of(loops, [&](scf::ForOp loop) {
        return hasRegisters(load, loop, chip) &&
               fits(load, loop, countBytes(other), chip);
      }))
    return;
  OpBuilder builder(load);
  builder.setInsertionPointAfter(load);
  auto copy = cast<LoadOp>(builder.clone(*load));
  copy.getResult().setType(other);
  Value swapped;
  for (Read &read : *reads) {
    Value source = copy.getResult();
    if (read.isSwapped) {
      const int64_t order[] = {1, 0};
      if (!swapped) {
        Attribute permuted =
            PermuteAttr::get(builder.getContext(), order, getLayoutAttr(other));
        auto view =
            RankedTensorType::get({type.getDimSize(1), type.getDimSize(0)},
                                  type.getElementType(), permuted);
        swapped =
            TransposeOp::create(builder, load.getLoc(), view, source, order);
      }
      source = swapped;
    }
    read.convert.getSourceMutable().assign(source);
  }
}

void tile::addTransposedCopies(KernelOp kernel, const Chip &chip) {
  SmallVector<LoadOp> loads;
  kernel.walk([&](LoadOp load) { loads.push_back(load); });
  for (LoadOp load : loads)
    addTransposedCopy(load, chip);
}
