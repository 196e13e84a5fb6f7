//===- MemoryLayouts.cpp - Layouts for wide accesses ----------------------===//

#include "tile/Analysis/MemoryLayouts.h"
#include "tile/Layout/Queries.h"
#include "llvm/ADT/STLExtras.h"
#include <limits>
#include <numeric>
#include <tuple>

using namespace mlir;
using namespace tile;

/// Moves the lowest values of `digits`, in order, to the end of `result`, until
/// it has `count` of them or no further factor divides the rest of `count`.
static void moveValues(SmallVectorImpl<Digit> &digits, int64_t count,
                       Digits &result) {
  for (Digit &digit : digits) {
    int64_t part = std::gcd(digit.extent, count);
    if (part != 1) {
      result.push_back({part, digit.dim, digit.stride});
      digit.extent /= part;
      digit.stride *= part;
      count /= part;
    }
    // A digit after one that remains is not contiguous with the moved values.
    if (digit.extent != 1)
      break;
  }
  llvm::erase_if(digits, [](const Digit &digit) { return digit.extent == 1; });
}

static int64_t numValues(ArrayRef<Digit> digits) {
  int64_t product = 1;
  for (const Digit &digit : digits)
    product *= digit.extent;
  return product;
}

LayoutAttrInterface tile::getCoalescedLayout(MLIRContext *context,
                                             ArrayRef<int64_t> shape,
                                             const Layout &memory,
                                             int64_t width, int64_t lanes,
                                             int64_t warps) {
  // The digits of the coordinates, sorted by their strides in memory.
  struct Entry {
    Digit digit;
    int64_t step; // stride in memory
  };
  SmallVector<Entry> entries;
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    int64_t begin = 1;
    for (const Digit &digit : memory.axis(dim)) {
      int64_t inside = std::min(digit.extent, extent / begin);
      if (inside > 1)
        entries.push_back({{inside, unsigned(dim), begin}, digit.stride});
      begin *= digit.extent;
      if (begin >= extent)
        break;
    }
  }
  llvm::sort(entries, [](const Entry &a, const Entry &b) {
    return std::tuple(a.step, a.digit.dim, a.digit.stride) <
           std::tuple(b.step, b.digit.dim, b.digit.stride);
  });
  SmallVector<Digit> digits;
  for (const Entry &entry : entries)
    digits.push_back(entry.digit);

  Digits registers, laneDigits, warpDigits;
  if (!entries.empty() && entries.front().step == 1)
    moveValues(digits, width, registers);
  moveValues(digits, lanes, laneDigits);
  moveValues(digits, warps, warpDigits);
  if (int64_t copies = lanes / numValues(laneDigits); copies > 1)
    laneDigits.push_back({copies, 0, 0});
  if (int64_t copies = warps / numValues(warpDigits); copies > 1)
    warpDigits.push_back({copies, 0, 0});
  registers.append(digits.begin(), digits.end());
  return DistributedAttr::get(
      context, Layout::distributed(registers, laneDigits, warpDigits, shape));
}

LayoutAttrInterface tile::getDefaultLayout(MLIRContext *context,
                                           ArrayRef<int64_t> shape,
                                           int64_t bits, int64_t lanes,
                                           int64_t warps) {
  int64_t rank = shape.size();
  SmallVector<int64_t> thread(rank, 1), order;
  for (int64_t dim = rank; dim-- > 0;)
    order.push_back(dim);
  LayoutAttrInterface best;
  int64_t fewest = 0;
  for (int64_t width = std::gcd(128 / std::max<int64_t>(bits, 8), shape.back());
       width > 0; width /= 2) {
    thread[rank - 1] = width;
    LayoutAttrInterface layout =
        BlockedAttr::getCoalesced(context, shape, thread, order, lanes, warps);
    int64_t registers =
        layout.getLayout(shape, 8, nullptr)->axisSize(kRegister);
    if (!best || registers < fewest) {
      best = layout;
      fewest = registers;
    }
    // No thread holds a second access that another one could do.
    if (registers <= width)
      break;
  }
  return best;
}

/// The bits of each of two accesses by one instruction.
static constexpr int64_t kPairedBits = 64;

LayoutAttrInterface
tile::choosePadding(MLIRContext *context, ArrayRef<int64_t> shape, int64_t bits,
                    ArrayRef<int64_t> order, int64_t padding,
                    ArrayRef<AccessOfLayout> accesses, const Chip &chip) {
  struct Cost {
    int64_t cycles = 0, conflicts = 0, elements = 0;
  };
  auto inElements = [&](int64_t bytes) { return bytes * 8 / bits; };
  LayoutAttrInterface best =
      PaddedAttr::get(context, inElements(padding), order);
  constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
  // Whether two reads of 8 bytes count as one instruction.
  bool pairsReads = false;
  // Returns nothing if the cost is above `limit`.
  auto measure = [&](LayoutAttrInterface layout,
                     int64_t limit) -> std::optional<Cost> {
    FailureOr<Layout> memory = layout.getLayout(shape, bits, nullptr);
    if (failed(memory))
      return std::nullopt;
    Cost cost;
    cost.elements = memory->shape().front();
    for (const AccessOfLayout &access : accesses) {
      FailureOr<Layout> threads = access.threads(layout);
      if (failed(threads))
        return std::nullopt;
      int64_t width = chip.maxSharedAccess * 8 / bits;
      BankPasses count = countBankPasses(*threads, *memory, width, bits,
                                         access.isStore ? chip.getStoreBanks()
                                                        : chip.getReadBanks(),
                                         limit - cost.cycles);
      if (pairsReads && !access.isStore &&
          widestAccess(*threads, *memory, width).width * bits == kPairedBits)
        count.accesses = llvm::divideCeil(count.accesses, 2);
      cost.cycles += count.accesses + count.passes;
      cost.conflicts += count.conflicts;
      if (cost.cycles > limit)
        return std::nullopt;
    }
    return cost;
  };
  std::optional<Cost> plain = measure(best, kNoLimit);
  if (!plain || plain->conflicts == 0 || order.size() < 2)
    return best;

  // Groups of rows repeat the banks of their rows. The padding between them
  // moves the rows of another group to the banks that are left.
  struct Candidate {
    int64_t elements;
    size_t number;
    PaddedAttr layout;
  };
  SmallVector<Candidate> family;
  // Larger tiles could cost a block that runs at the same time. Rows are spread
  // over twice as many banks by twice the padding.
  int64_t room =
      plain->elements + inElements(chip.sharedBytes / 1024 * chip.banks);
  auto addCandidate = [&](PaddedAttr layout) {
    FailureOr<Layout> memory = layout.getLayout(shape, bits, nullptr);
    if (succeeded(memory) && memory->shape().front() <= room)
      family.push_back({memory->shape().front(), family.size(), layout});
  };
  int64_t rows = shape[order[1]];
  for (int64_t pad : {0, 4, 8, 16, 32, 48, 64}) {
    if (pad * 8 % bits != 0)
      continue;
    addCandidate(PaddedAttr::get(context, inElements(pad), order));
    for (int64_t group = 2; group < rows && rows % group == 0; group *= 2)
      for (int64_t groupPad : {4, 8, 16, 32, 64})
        if (groupPad * 8 % bits == 0)
          addCandidate(PaddedAttr::get(context, inElements(pad), order, group,
                                       inElements(groupPad)));
  }
  llvm::sort(family, [](const Candidate &a, const Candidate &b) {
    return std::tie(a.elements, a.number) < std::tie(b.elements, b.number);
  });
  // Rows that are aligned to the widest access mostly take the fewest accesses.
  int64_t fewest = plain->cycles, least = plain->cycles - plain->conflicts;
  int64_t size = plain->elements, conflicts = plain->conflicts;
  auto chooseFromFamily = [&] {
    for (const Candidate &candidate : family) {
      std::optional<Cost> cost = measure(candidate.layout, fewest);
      if (!cost ||
          std::tie(cost->cycles, candidate.elements) >= std::tie(fewest, size))
        continue;
      best = candidate.layout;
      fewest = cost->cycles;
      size = candidate.elements;
      conflicts = cost->conflicts;
      if (conflicts == 0 && fewest <= least)
        break;
    }
  };
  chooseFromFamily();
  if (conflicts == 0 || shape.size() != 2)
    return best;

  // Swizzled addresses take an instruction for each access that is not at a
  // constant distance from another one: only where padding does not serve.
  for (unsigned banks : {32, 64})
    for (unsigned chunk : {16, 8})
      for (unsigned bytes = 32; bytes <= 4 * std::min(banks, chip.banks);
           bytes *= 2) {
        LayoutAttrInterface swizzle =
            SwizzleAttr::get(context, bytes, banks, chunk);
        if (order[0] != 1)
          swizzle = PermuteAttr::get(context, {1, 0}, swizzle);
        std::optional<Cost> cost = measure(swizzle, fewest);
        if (!cost || cost->elements > room || cost->cycles >= fewest)
          continue;
        best = swizzle;
        fewest = cost->cycles;
        size = cost->elements;
        conflicts = cost->conflicts;
      }
  if (conflicts == 0 || chip.vendor != Vendor::AMD)
    return best;

  // AMD's chips read twice 8 bytes by one instruction, which lets padding move
  // rows by 8 bytes, too. It comes last because its constants reach 2 KiB,
  // those of other reads 64 KiB: larger tiles take more addresses.
  pairsReads = true;
  chooseFromFamily();
  return best;
}

int64_t tile::countConflicts(LayoutAttrInterface layout,
                             ArrayRef<int64_t> shape, int64_t bits,
                             ArrayRef<AccessOfLayout> accesses,
                             const Chip &chip) {
  Layout memory = *layout.getLayout(shape, bits, nullptr);
  int64_t conflicts = 0;
  for (const AccessOfLayout &access : accesses)
    if (FailureOr<Layout> threads = access.threads(layout); succeeded(threads))
      conflicts += countBankPasses(*threads, memory,
                                   chip.maxSharedAccess * 8 / bits, bits,
                                   access.isStore ? chip.getStoreBanks()
                                                  : chip.getReadBanks())
                       .conflicts;
  return conflicts;
}

FailureOr<MapAttr> tile::chooseAccumulatorLayout(
    MLIRContext *context, const Layout &fragment, ArrayRef<int64_t> shape,
    unsigned rows, unsigned columns, AtomicElement element, const Chip &chip) {
  unsigned rank = shape.size();
  if (fragment.rank() != 2 || rank < 2 || rows == columns ||
      fragment.replication(kRegister) != 1)
    return failure();
  const unsigned dims[] = {rows, columns};
  auto isStatic = [&](unsigned dim) { return shape[dims[dim]] != kDynamic; };

  // The digits of one access: registers along static dimensions first, then
  // those along dynamic ones.
  SmallVector<Digit> registers;
  for (bool wanted : {true, false})
    for (const Digit &digit : fragment.axis(kRegister))
      if (isStatic(digit.dim) == wanted && digit.extent != 1)
        registers.push_back(digit);
  int64_t width =
      atomicWidths(chip, AtomicKind::AddF, element, /*shared=*/false).front();
  Digits inner;
  for (Digit &digit : registers) {
    int64_t part = std::gcd(digit.extent, width);
    // The layout stores whole periods, of which a static extent is a multiple.
    if (isStatic(digit.dim)) {
      int64_t extent = shape[dims[digit.dim]];
      part = extent % digit.stride == 0 ? std::gcd(part, extent / digit.stride)
                                        : 1;
    }
    if (part == 1)
      continue;
    inner.push_back({part, digit.dim, digit.stride});
    width /= part;
  }
  for (const Digit &digit : fragment.axis(kLane))
    if (digit.stride != 0 && digit.extent != 1)
      inner.push_back(digit);

  // The digits of each coordinate that an access of a warp covers. Below, the
  // gaps between them and above them become digits of their own.
  struct Piece {
    int64_t begin, extent, step;
  };
  SmallVector<Piece> pieces[2];
  int64_t step = 1;
  for (const Digit &digit : inner) {
    pieces[digit.dim].push_back({digit.stride, digit.extent, step});
    step *= digit.extent;
  }
  // The results of the map, outermost first: the other dimensions, the highest
  // digits of rows and columns, the digits in gaps, and the accesses of a warp.
  SmallVector<Digits> axes(rank);
  unsigned results = rank;
  unsigned others = 0;
  for (unsigned dim = 0; dim < rank; ++dim)
    if (dim != rows && dim != columns)
      axes[dim].push_back({kDynamic, others++, 1});
  for (unsigned dim : {0u, 1u}) {
    Digits &axis = axes[dims[dim]];
    llvm::sort(pieces[dim], [](const Piece &a, const Piece &b) {
      return a.begin < b.begin;
    });
    int64_t end = 1;
    for (const Piece &piece : pieces[dim]) {
      if (piece.begin % end != 0)
        return failure();
      if (piece.begin != end)
        axis.push_back({piece.begin / end, results++, 1});
      axis.push_back({piece.extent, ~0u, piece.step});
      end = piece.begin * piece.extent;
    }
    axis.push_back({kDynamic, others + dim, 1});
  }
  for (Digits &axis : axes)
    for (Digit &digit : axis)
      if (digit.dim == ~0u)
        digit.dim = results;
  SmallVector<int64_t> extents(results + 1, kDynamic);
  return MapAttr::get(context, Layout::map(axes, extents),
                      /*align=*/16);
}

/// The bytes along a row of global memory that neighbouring lanes access.
static constexpr int64_t kRowBytes = 64;

/// Splits digits into those of the prime factors 2; others stay whole.
static Digits splitPowers(ArrayRef<Digit> digits) {
  Digits factors;
  for (Digit digit : digits) {
    for (; digit.extent % 2 == 0 && digit.extent > 2; digit.extent /= 2) {
      factors.push_back({2, digit.dim, digit.stride});
      digit.stride *= 2;
    }
    factors.push_back(digit);
  }
  return factors;
}

/// Returns `layout` with the threads in the order that stores to `dest` with
/// the fewest passes over the banks. The last lanes along the dimension of the
/// first ones move behind the other lanes, so that a warp accesses the same
/// elements as before, neighbours by neighbours. If that leaves conflicts and
/// `movesRows`, lanes change places with warps, but not those of kRowBytes: a
/// warp accesses other rows.
static LayoutAttrInterface interleaveLanes(LayoutAttrInterface layout,
                                           BufferType dest, bool movesRows,
                                           const Chip &chip) {
  ArrayRef<int64_t> shape = dest.getShape();
  int64_t bits = dest.getElementBits();
  Layout plain = *layout.getLayout(shape, bits, nullptr);
  Layout memory = dest.getCanonicalLayout();
  auto count = [&](const Layout &threads, int64_t limit) {
    return countBankPasses(threads, memory, chip.maxSharedAccess * 8 / bits,
                           bits, chip.getStoreBanks(), limit);
  };
  BankPasses fewest = count(plain, std::numeric_limits<int64_t>::max());
  ArrayRef<Digit> lanes = plain.axis(kLane);
  if (fewest.conflicts == 0 || lanes.empty() || lanes[0].stride == 0)
    return layout;
  Digits registers(plain.axis(kRegister));
  auto consider = [&](const Digits &lanes, const Digits &warps) {
    Layout candidate = Layout::distributed(registers, lanes, warps, shape);
    BankPasses passes = count(candidate, fewest.passes - 1);
    if (passes.accesses > fewest.accesses || passes.passes >= fewest.passes)
      return;
    fewest = passes;
    layout = DistributedAttr::get(layout.getContext(), candidate);
  };
  Digits warps(plain.axis(kWarp));
  Digit first = lanes[0];
  for (int64_t kept = first.extent;
       lanes.size() > 1 && kept % 2 == 0 && kept > 2;) {
    kept /= 2;
    Digits moved{{kept, first.dim, first.stride}};
    llvm::append_range(moved, lanes.drop_front());
    moved.push_back({first.extent / kept, first.dim, first.stride * kept});
    consider(moved, warps);
  }
  if (!movesRows)
    return layout;
  Digits laneFactors = splitPowers(lanes), warpFactors = splitPowers(warps);
  // The first lane of another row.
  size_t place = 0;
  for (int64_t bytes = first.stride * bits / 8;
       place < laneFactors.size() && laneFactors[place].dim == first.dim &&
       bytes < kRowBytes;
       ++place)
    bytes *= laneFactors[place].extent;
  for (size_t last = laneFactors.size(); last-- > place;)
    for (size_t begin = place; begin < laneFactors.size(); ++begin)
      for (size_t i = 0; i < warpFactors.size(); ++i) {
        if (fewest.conflicts == 0)
          return layout;
        Digits moved(laneFactors), others(warpFactors);
        if (warpFactors[i].extent != moved[last].extent ||
            warpFactors[i].stride == 0)
          continue;
        others[i] = moved[last];
        moved.erase(moved.begin() + last);
        moved.insert(moved.begin() + begin, warpFactors[i]);
        consider(moved, others);
      }
  return layout;
}

/// Returns how many threads have blocks of a tile, up to `threads`. Blocks that
/// no power of two of threads divides leave some without any.
static int64_t countThreads(ArrayRef<int64_t> shape, ArrayRef<int64_t> block,
                            int64_t threads) {
  int64_t count = 1;
  for (auto [extent, inBlock] : llvm::zip_equal(shape, block))
    count *= (extent / inBlock) & -(extent / inBlock);
  return std::min(count, threads);
}

/// Narrows `block`, which a thread copies at a time by loads along `fast` and
/// stores along `fastShared`, until a thread has the fewest loads and stores. A
/// thread without a block takes a branch around its stores.
static void narrowBlock(ArrayRef<int64_t> shape, int64_t fast,
                        int64_t fastShared, int64_t bytes, int64_t threads,
                        SmallVectorImpl<int64_t> &block) {
  // The instructions of a branch: its condition, and to enter and leave it.
  constexpr int64_t kBranch = 4;
  int64_t elements = 1;
  for (int64_t extent : shape)
    elements *= extent;
  auto costOf = [&](ArrayRef<int64_t> block) {
    int64_t count = countThreads(shape, block, threads);
    return llvm::divideCeil(elements, count * block[fast]) +
           llvm::divideCeil(elements, count * block[fastShared]) +
           (count < threads ? kBranch : 0);
  };
  SmallVector<int64_t> candidate(block.begin(), block.end());
  int64_t fewest = costOf(block);
  // Loads of less than 4 bytes are as slow as those of 4.
  for (;; candidate[fast] /= 2) {
    int64_t widest = candidate[fastShared];
    for (;; candidate[fastShared] /= 2) {
      if (int64_t cost = costOf(candidate); cost < fewest) {
        fewest = cost;
        block = candidate;
      }
      if (fast == fastShared || candidate[fastShared] % 2 != 0)
        break;
    }
    candidate[fastShared] = widest;
    if (candidate[fast] % 2 != 0 || candidate[fast] * bytes <= 4)
      break;
  }
}

static LayoutAttrInterface getCopyLayout(BufferType source, BufferType dest,
                                         int64_t width, int64_t warps,
                                         bool movesRows, const Chip &chip) {
  int64_t lanes = chip.warpSize;
  ArrayRef<int64_t> shape = dest.getShape();
  if (isa<MapAttr>(source.getLayout()))
    return getCoalescedLayout(source.getContext(), shape,
                              source.getTileMemory(shape), width, lanes, warps);
  int64_t rank = shape.size(), bytes = dest.getElementBits() / 8;
  int64_t fast = rank - 1, fastShared = rank - 1;
  auto strided = cast<StridedAttr>(source.getLayout());
  Layout memory = dest.getCanonicalLayout();
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (strided.getStrides()[dim] == 1)
      fast = dim;
    if (!memory.axis(dim).empty() && memory.axis(dim)[0].stride == 1)
      fastShared = dim;
  }
  SmallVector<int64_t> thread(rank, 1), order{fast};
  thread[fast] = std::gcd(width, shape[fast]);
  if (fastShared != fast)
    thread[fastShared] = std::gcd(8 / bytes, shape[fastShared]);
  int64_t threads = lanes * warps;
  if (!chip.asyncCopy.isDefault)
    narrowBlock(shape, fast, fastShared, bytes, threads, thread);
  // Wide stores to shared memory are not worth more than half of the threads.
  else if (fastShared != fast)
    while (thread[fastShared] % 2 == 0 &&
           2 * countThreads(shape, thread, threads) < threads)
      thread[fastShared] /= 2;
  for (int64_t dim = rank; dim-- > 0;)
    if (dim != fast)
      order.push_back(dim);
  LayoutAttrInterface layout = BlockedAttr::getCoalesced(
      source.getContext(), shape, thread, order, lanes, warps);
  return chip.ldmatrix ? layout
                       : interleaveLanes(layout, dest, movesRows, chip);
}

LayoutAttrInterface tile::getCopyLayout(BufferType source, BufferType dest,
                                        int64_t width, int64_t warps,
                                        const Chip &chip) {
  return ::getCopyLayout(source, dest, width, warps, /*movesRows=*/true, chip);
}

LayoutAttrInterface tile::chooseCopiedLayout(BufferType source,
                                             ArrayRef<int64_t> shape,
                                             ArrayRef<int64_t> order,
                                             int64_t padding,
                                             ArrayRef<AccessOfLayout> reads,
                                             int64_t warps, const Chip &chip) {
  MLIRContext *context = source.getContext();
  int64_t bits = source.getElementBits();
  LayoutAttrInterface best;
  int64_t fewest = 0;
  // The bounds of rows that a warp does not share take vector instructions,
  // which on some chips add up with MMAs.
  bool addsBounds = chip.throughput.pairs == F32Pairs::Dual;
  for (bool movesRows : {!addsBounds, true}) {
    std::vector<AccessOfLayout> accesses(reads);
    auto copy = [&](LayoutAttrInterface layout) -> FailureOr<Layout> {
      auto dest = BufferType::get(context, shape, source.getElementType(),
                                  layout, MemorySpace::Shared);
      return ::getCopyLayout(source, dest, chip.maxGlobalAccess * 8 / bits,
                             warps, movesRows, chip)
          .getLayout(shape, bits, nullptr);
    };
    // The order of the lanes of a copy takes the most time to find.
    accesses.emplace_back(copy, /*isStore=*/true);
    LayoutAttrInterface layout =
        choosePadding(context, shape, bits, order, padding, accesses, chip);
    int64_t conflicts = countConflicts(layout, shape, bits, accesses, chip);
    if (!best || conflicts < fewest) {
      best = layout;
      fewest = conflicts;
    }
    if (movesRows || fewest == 0)
      break;
  }
  return best;
}
