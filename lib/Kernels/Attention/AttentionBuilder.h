//===- AttentionBuilder.h - Heads and sequences of a kernel -----*- C++ -*-===//
#ifndef TILE_LIB_KERNELS_ATTENTION_ATTENTIONBUILDER_H
#define TILE_LIB_KERNELS_ATTENTION_ATTENTIONBUILDER_H

#include "../ProgramBuilder.h"
#include "mlir/IR/IRMapping.h"
#include "tile/Chips/Chips.h"
#include "llvm/Support/MathExtras.h"

namespace tile {

/// The two lengths of attention.
enum class Side { Queries, Keys };

/// The result of rows of queries for some of the keys.
struct RowResult {
  /// Output relative to 2^base2, and not divided by `sum`: [rows, Dv].
  mlir::Value acc;
  /// Logarithm to base 2 of what the others are relative to, -inf before the
  /// first visible key: [rows].
  mlir::Value base2;
  /// Sum of the weights: [rows].
  mlir::Value sum;
};

/// Where the result of rows goes: views of o and of lse, which may be null, in
/// which the rows begin at `row`. If `heads` is not 0, the rows are so many
/// heads at each of some queries, which begin at `row`; the views are [Sq, H,
/// Dv] and [H, Sq] then.
struct RowTarget {
  mlir::Value o, lse, row;
  int64_t heads = 0;
  /// The sink times log2(e), a scalar or one per row; null: none.
  mlir::Value sink2;
  /// Whether o and lse hold the result for other keys.
  bool merges = false;
  /// The first column of o, a multiple of the number of columns that are
  /// written; null: all columns.
  mlir::Value column;
  /// Whether lse is written, an i1; null: always.
  mlir::Value writesLse;
};

/// Columns of a tile of rows.
struct Columns {
  int64_t first, count;
};

/// What is kept per row of queries for the gradients: sum of o * do; logarithm
/// to base 2 of the sum of the weights, infinity where there are none.
enum class RowNumber { Delta, LseToBase2 };

/// Returns the columns of a tile of rows with `extent` elements. They are a
/// multiple of what each MMA of every chip contracts, and a row of 16-bit
/// elements is a multiple of 64 bytes, which swizzles without bank conflicts.
/// Columns outside the extent are read as zeros and not written.
inline int64_t padColumns(int64_t extent) { return llvm::alignTo(extent, 32); }

/// Returns the queries of a tile of rows, which are heads as well if they are
/// packed.
inline int64_t countTileQueries(const Schedule &schedule) {
  return (*schedule.tile)[0] / schedule.packHeads.value_or(1);
}

/// The fewest rows that each warp has if warps divide the rows of a tile.
inline constexpr int64_t kInstructionRows = 16;

/// Returns true if the warps of the kernel of tile.attention cannot divide the
/// rows of a tile, because these are few. Then they divide the keys and the
/// columns of V: the products are S^T = K Q^T and O^T = V^T P^T, whose columns
/// are the rows of the tile.
inline bool isTransposed(const Schedule &schedule) {
  return (*schedule.tile)[0] % (kInstructionRows * *schedule.warps) != 0;
}

/// Sequences of a packed batch take multiples of this many rows of stats, the
/// most that a block of threads reads at once.
inline constexpr int64_t kStatsRows = 128;

/// The heads whose blocks of one number run at the same time, where blocks with
/// larger numbers take less time. With more heads, the second-level cache does
/// not hold what these read; with fewer, long blocks start late
/// (docs/notes/hopper-backward.md).
inline constexpr int64_t kHeadsAtOnce = 8;

/// What all kernels of attention have in common: which head of which sequence
/// a block of threads works on, its views of the buffers, and the scores.
class AttentionBuilder : public ProgramBuilder {
public:
  /// As far as a window reaches: lengths are not larger, and sums with them fit
  /// 32 bits.
  static constexpr int64_t kFarthest = (int64_t(1) << 30) - 1;

protected:
  /// The operands of `op`, an AttentionOp or AttentionBackwardOp, are mapped by
  /// `mapping` to values of the kernel.
  template <typename OpT>
  AttentionBuilder(mlir::ImplicitLocOpBuilder &builder, OpT op,
                   const mlir::IRMapping &mapping,
                   const Schedule &schedule = {})
      : ProgramBuilder(builder), fewRegisters(schedule.registers),
        isPersistent(schedule.workStages.value_or(0) != 0), chip(findChip(op)),
        q(mapping.lookup(op.getQ())), k(mapping.lookup(op.getK())),
        v(mapping.lookup(op.getV())), scale(mapping.lookup(op.getScale())),
        softcap(mapping.lookupOrNull(op.getSoftcap())),
        cuQ(mapping.lookupOrNull(op.getCuQ())),
        cuK(mapping.lookupOrNull(op.getCuK())),
        maxQ(mapping.lookupOrNull(op.getMaxQ())),
        offset(mapping.lookupOrNull(op.getOffset())), causal(op.getCausal()),
        headDim(padColumns(op.getQ().getType().getShape().back())),
        valueDim(padColumns(op.getV().getType().getShape().back())),
        element(op.getQ().getType().getElementType()) {
    if constexpr (std::is_same_v<OpT, AttentionBackwardOp>) {
      maxK = mapping.lookupOrNull(op.getMaxK());
    } else {
      keyLengths = mapping.lookupOrNull(op.getKeyLengths());
      pageTable = mapping.lookupOrNull(op.getPageTable());
      cuPages = mapping.lookupOrNull(op.getCuPages());
      treeMask = mapping.lookupOrNull(op.getTreeMask());
    }
    if (op.isLeftBounded())
      left = mapping.lookup(op.getLeft());
    if (op.isRightBounded())
      right = causal ? Value(mlir::arith::ConstantIntOp::create(b, 0, 32))
                     : mapping.lookup(op.getRight());
  }

  /// Returns whether the queries are packed.
  bool isPacked() const { return bool(cuQ); }
  /// Returns the dimension of the heads in a buffer like q or k.
  int64_t headsAt(Side side) const {
    return (side == Side::Queries ? cuQ : cuK) ? 1 : 2;
  }

  /// One block of threads per `size` rows of `side`, head of q (or, if
  /// `kvHeads`, of k) and sequence; as many along y and z as `gridY` and
  /// `gridZ` say. Sets heads, group, blocks, head, kvHead and batchIndex, and
  /// enters the sequence; returns the block's number along `side`. Blocks of
  /// the same head follow each other, or, if `isLongestFirst`, blocks with the
  /// same number of kHeadsAtOnce heads. On a chip of several dies, blocks with
  /// the same number of a multiple of its dies follow each other: all blocks of
  /// a head run on one die and share what they read in its cache.
  Value launch(Side side, int64_t size, bool kvHeads = false,
               bool isLongestFirst = false, Value gridY = {}, Value gridZ = {});

  /// Sets group, head and kvHead; `owner`, an i32, is a head of q or, if
  /// gridOverKVHeads, of k.
  void setHead(Value owner, Value keyHeads);

  /// Computes head, kvHead and batchIndex again after launch(), so that the
  /// loops before need not keep them in registers.
  void recomputePlace();

  /// Returns how many keys a query sees to the left and to the right of key
  /// i + sk - sq: at most kFarthest, which is also what a side that a negative
  /// number leaves open becomes. Less than 0 if the mask's offset moves the
  /// side across that key.
  Value computeLeftReach() { return computeReach(left, /*isLeft=*/true); }
  Value computeRightReach() { return computeReach(right, /*isLeft=*/false); }

  /// Returns the number of sequences.
  Value countSequences();
  /// Returns the number of a sequence that a table of works gives. A table that
  /// holds something else must not make the kernel read elsewhere.
  Value limitSequence(Value sequence) {
    return mlir::arith::MinUIOp::create(b, sequence,
                                        sub(countSequences(), index(1)));
  }
  /// Returns the most keys of a sequence that is not packed.
  Value countRoom();
  /// Returns the keys that sequences with `entries` entries in a list of pages
  /// have: i32 or tiles of them. `last` counts those of their last pages.
  Value countKeysOfPages(Value entries, Value last);
  /// Returns the number of words of a query, and word `which` of the queries of
  /// the sequence in the tree mask: [Sq].
  int64_t countTreeWords();
  Value viewTreeWord(int64_t which);

  /// Returns a number as `like`, an i32 or a tile of them.
  Value number(Value like, Value scalar) {
    auto tile = mlir::dyn_cast<RankedTensorType>(like.getType());
    return tile ? splat(tile, scalar) : scalar;
  }
  Value number(Value like, int64_t value) {
    return number(like, i32(index(value)));
  }
  /// Sets sq, sk and where they start to those of a sequence.
  void enterSequence(Value batch);

  /// Calls `body` with the first row of the block, of `end` rows. Sequences of
  /// a packed batch may be shorter or longer than the grid was sized for: there
  /// `body` is inside a loop over the block, the block `blocks` further on, and
  /// so forth.
  void forEachBlock(Value end, int64_t size, Value block,
                    llvm::function_ref<void(Value)> body);

  /// The rows of one head of the sequence in a buffer like q or k: [S, D].
  Value viewHead(Value buffer, Side side, Value head);
  /// The same in a buffer like lse: [Sq].
  Value viewRows(Value buffer, Value head);

  /// Returns the row of a query of the sequence in a packed batch.
  Value locateQuery(Value query) { return add(startQ, query); }
  /// All heads of the sequence in a buffer like q: [Sq, H, D].
  Value viewSequence(Value buffer);
  /// The same in a buffer like lse: [H, Sq].
  Value viewSequenceRows(Value buffer);

  /// One number per row of a buffer like stats, by the name of the number.
  Value viewStats(Value buffer, RowNumber number, Value head);
  /// How many rows of a sequence a buffer like stats has: in a packed batch,
  /// what is past the end and before a multiple of kStatsRows is zero.
  Value countStats();

  /// Sets c and, with a softcap, inner.
  void computeFactors();
  /// The sink of a head, times log2(e).
  Value loadSink(Value sink, Value head);
  /// Those of the first `count` heads of a buffer.
  Value loadSinks(Value sinks, int64_t count);
  /// The scores of q * k, of which c * score is the logarithm to base 2 of a
  /// weight: themselves, or tanh(scale / cap * qk).
  Value score(Value qk);
  /// What the gradient of a score has to be multiplied by, but for the scale,
  /// to be that of q * k; null: 1.
  Value scoreDerivative(Value score);

  /// Returns rows of a buffer like q from `row` on, as f32: all columns, or
  /// `columns`.
  Value loadRows(Value buffer, int64_t count, Value row,
                 std::optional<Columns> columns = std::nullopt);
  /// Writes rows of f32, whose first column is `column`, in the element type of
  /// the buffer.
  void storeRows(Value rows, Value buffer, Value row, int64_t column = 0);
  /// Returns `count` rows of a target's o, as f32, or numbers of its lse.
  Value loadRows(const RowTarget &target, int64_t count);
  Value loadNumbers(const RowTarget &target, int64_t count);
  /// Writes them.
  void storeRows(const RowTarget &target, Value rows);
  void storeNumbers(const RowTarget &target, Value numbers);

  /// Writes the result of rows. Those that see no key have base2 = -inf, sum =
  /// 0 and acc = 0. The sink is one more score, without a value; the result for
  /// other keys is one more score, their lse, with the value o.
  void writeResult(const RowResult &result, const RowTarget &target);

  /// Returns a coordinate in the type that loops count in. What a loop carries
  /// takes registers, and 32 bits hold every coordinate; with enough registers,
  /// 64 bits save conversions.
  Value narrow(Value coordinate) {
    return fewRegisters ? i32(coordinate) : coordinate;
  }

  /// True if the schedule limits the registers of the warps that compute. They
  /// keep no coordinates in registers that can be computed again.
  const bool fewRegisters;
  /// True if tile-persist makes the grid a loop over works.
  const bool isPersistent;
  /// The chip that the kernel is for; null in tests of the expansion alone,
  /// which give none.
  const Chip *const chip;
  Value q, k, v, scale, softcap, cuQ, cuK, maxQ, maxK, keyLengths, pageTable,
      cuPages, treeMask;
  /// Position of query 0 less that of key 0, as i32; null: sk - sq.
  Value offset;
  bool causal;
  /// The sides of the window, as i32; null where nothing bounds it.
  Value left, right;
  /// Columns of the tiles of q and k, and of v: the head dimensions, padded.
  int64_t headDim, valueDim;
  Type element;

  /// Heads of q, heads of q per head of k, and blocks along the grid's side.
  Value heads, group, blocks;
  /// This block's position; `head` is null where the grid is over heads of k.
  Value head, kvHead, batchIndex;
  /// Lengths of the sequence.
  Value sq, sk;
  /// exp(s - m) = exp2(c * (score - ...)); inner: see score().
  Value c, inner;
  /// Whether blocks of threads have heads of k.
  bool gridOverKVHeads = false;

private:
  Value computeReach(Value side, bool isLeft);
  /// Rows whose f32 are 16 bytes, where alone the copy engine can begin.
  static constexpr int64_t kAlignedRows = 4;

  static const Chip *findChip(mlir::Operation *op);
  /// Sets blocks, heads, group, head and kvHead; returns the block's number and
  /// that of its sequence. `recomputes`: from values that are computed again.
  std::pair<Value, Value> enterPlace(bool recomputes);
  /// The side of the grid that launch() was called for.
  Side gridSide = Side::Queries;
  Value gridY, gridZ;
  int64_t gridSize = 1;
  /// The heads whose blocks of one number follow each other.
  int64_t headsAtOnce = 1;

  Value locateStats(Value buffer);
  /// Returns the number of keys of a sequence.
  Value countKeys(Value batch);
  Value lengthOf(Value bounds, Value batch, Value total, Value &start);

  /// Where a packed sequence starts, and its pages in a list of pages.
  Value startQ, startK, startPages, pageCount;
};

} // namespace tile

#endif // TILE_LIB_KERNELS_ATTENTION_ATTENTIONBUILDER_H
