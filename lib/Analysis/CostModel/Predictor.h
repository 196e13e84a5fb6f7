//===- Predictor.h - The parts of the cost model ----------------*- C++ -*-===//
//
// Internal to the cost model (tile/Analysis/CostModel.h).
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_ANALYSIS_COSTMODEL_PREDICTOR_H
#define TILE_LIB_ANALYSIS_COSTMODEL_PREDICTOR_H

#include "ProgramFacts.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tile/Analysis/CostModel.h"
#include "tile/Analysis/GridDimensions.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include <vector>

namespace tile {

/// Cycles in which a block with roles writes an element of a tile to global
/// memory if the tile does not leave through shared memory.
inline constexpr double kElementStoreCycles = 0.5;

/// Warps that use all units of a multiprocessor: one for each of its four
/// parts.
inline constexpr double kPartWarps = 4;

/// Cycles of the units, for all threads of a block; those of `Serial` for one
/// warpgroup.
using Units = std::array<double, kCostUnits>;

inline double &at(Units &units, CostUnit unit) { return units[unsigned(unit)]; }

/// How a product is divided among the warps.
struct ProductGrid {
  const Mma *mma;
  int64_t rows, columns;
  /// The extents, padded to what the warps divide.
  int64_t m, n, k;
};

/// Predicts the cost of a kernel for one candidate.
class Predictor {
public:
  Predictor(KernelOp kernel, const Chip &chip, const ProblemSizes &sizes,
            const ProgramFacts &facts, const Candidate &candidate)
      : kernel(kernel), chip(chip), rates(chip.throughput), sizes(sizes),
        facts(facts), candidate(candidate),
        groups(std::max<double>(candidate.warps, 1) / kPartWarps),
        clusterBlocks(countClusterBlocks(chip, candidate.warps)) {}

  Refusal run(Cost &cost);

private:
  /// The work of a region: that of one iteration if it is a loop, and inner
  /// loops.
  struct Work {
    Units units{};
    double iterations = 1;
    /// Bytes that are copied to shared memory ahead, and elements that are
    /// stored to global memory.
    double copiedBytes = 0, storedElements = 0;
    /// The copy of the smallest tile starts first: the bytes of that tile, and
    /// those of its buffer.
    double firstBytes = 0, firstSource = 0;
    /// The bytes of the largest buffer with a copied tile, and how many times
    /// all blocks together read that buffer.
    double largestSource = 0, largestReads = 0;
    /// Cycles in which one warpgroup occupies the matrix unit, and its other
    /// work.
    double products = 0, others = 0;
    /// Cycles in which a warpgroup waits, whatever the others do.
    double latency = 0;
    /// Registers of the tiles that products read and that the iteration
    /// computes from other products; 0 if there are none.
    int64_t chainedRegisters = 0;
    /// Whether threads load tiles to registers, the bytes of these, and whether
    /// loads of the next iteration are issued in this one.
    bool waitsForLoads = false;
    double loadedBytes = 0;
    bool loadsAhead = false;
    /// Elements that all threads load and store, with copies.
    double accessedElements = 0;
    /// The part of these bytes that differs from block to block, and the bytes
    /// that threads store.
    double ownBytes = 0, storedBytes = 0;
    /// Whether a thread loads each element alone.
    bool loadsElements = false;
    /// Whether the warps of a block wait for each other.
    bool waitsForOthers = false;
    std::vector<Work> loops;
  };

  double guess();
  double evaluate(mlir::Value value);
  double countIterations(mlir::scf::ForOp loop);
  double compute(mlir::Value value);
  double evaluateExtent(mlir::Value buffer, int64_t dim);
  llvm::SmallVector<int64_t> getShape(mlir::Type tile) const;
  double countElements(mlir::Type tile) const;
  double countHeldElements(mlir::Type tile) const;
  double countBytes(mlir::Value tile, mlir::Value buffer);

  llvm::SmallVector<const Mma *> listInstructions(DotOp dot) const;
  bool suits(DotOp dot, const Mma &mma, int64_t rows) const;
  std::optional<ProductGrid> divideBy(const Mma &mma, DotOp dot, int64_t m,
                                      int64_t n, int64_t k) const;
  std::optional<ProductGrid> select(DotOp dot, int64_t m, int64_t n,
                                    int64_t k) const;
  std::optional<ProductGrid> divide(DotOp dot) const;
  std::optional<double> getRequestCost(LoadOp load) const;
  void visit(mlir::Block &block, Work &work);
  void visit(mlir::Operation *op, Work &work);
  void visitBranch(mlir::scf::IfOp op, Work &work);
  void visitRows(mlir::Operation &loop, Work &work);
  void visitProduct(DotOp dot, Work &work);
  void visitInverse(UnitTriangularInverseOp inverse, Work &work);
  void visitCompute(mlir::Operation *op, Work &work);
  void addThreadWork(Work &work) const;
  void addAccess(mlir::Value tile, mlir::Value buffer, Work &work);
  void addMoved(mlir::Value buffer, double bytes, double requests, Work &work);
  double countBufferBytes(mlir::Value buffer);
  double countMemoryBytes(double blocks);
  double countMissedBytes(double blocks, double resident);
  double getExchangeCycles() const;
  double getTileExchangeCycles() const;

  int64_t estimateTiles() const;
  int64_t countExchangedBytes(int64_t others) const;
  int64_t countRegisters(const RegisterTile &tile) const;
  Refusal chooseRoles(Schedule given, int64_t chained, Cost &cost,
                      bool &isSlower);
  void addStaging(mlir::Type tile, int64_t elementBits);
  Refusal checkCluster();
  void exchangeSums(Work &work);
  void storeSums(Work &work);
  double getSumTime(double blocks) const;
  double getSharedTime(const Work &work, const Cost &cost) const;
  double getCacheGain(double blocks) const;
  double getCacheCycles(const Work &work) const;
  int64_t countChained(const Work &work) const;
  Refusal checkElements() const;
  Refusal checkDivision() const;
  bool hasNarrowAccesses() const;
  double getLoadCycles(const Work &work) const;
  bool loadsNextWork(const Work &work, int64_t resident) const;
  double countCopiedRegisters(const Work &work) const;
  double countSparedRegisters(const Work &work) const;
  Refusal chooseMemory(const Work &work, Cost &cost);
  bool isRotated(const Work &work) const;
  double getChainTime(const Work &work, int64_t blocks) const;
  static double countStageBytes(const Work &work);
  double getQueueFactor(const Work &work, const Cost &cost) const;
  double countInFlight(const Work &work, const Cost &cost) const;
  double getIdleFactor(const Work &work, const Cost &cost) const;
  double getTime(const Work &work, int64_t blocks, const Cost &cost) const;
  void addTotals(const Work &work, double times, Cost &cost) const;

  KernelOp kernel;
  const Chip &chip;
  const Throughput &rates;
  const ProblemSizes &sizes;
  const ProgramFacts &facts;
  Candidate candidate;
  /// Groups of warps that use all units of a multiprocessor.
  double groups;
  /// Blocks of the cluster that runs the program; 1 without one.
  int64_t clusterBlocks;
  /// The elements of a thread of a softmax whose maximum and sum warps exchange
  /// at once.
  int64_t joinedElements = 0;
  std::array<double, 3> grid{};
  GridDimensions dimensions;
  /// The loop whose iterations `split` blocks share, if they do.
  mlir::scf::ForOp splitLoop;
  /// Whether another kernel adds the sums of these blocks.
  bool storesSums = false;
  /// Bytes of the sums that a block of a cluster leaves to the others. They
  /// take the memory of the rings.
  int64_t exchangedSumBytes = 0;
  /// The number of splitLoop among the loops of the kernel's body.
  size_t splitLoopNumber = 0;
  llvm::DenseMap<mlir::Value, double> numbers;
  /// The extents of buffers that are being evaluated.
  llvm::DenseSet<std::pair<mlir::Value, int64_t>> evaluated;
  /// Whether some of them are guesses.
  bool hasGuessed = false;
  /// The place of the block in the grid to which `numbers` belong, from 0 to 1.
  double place = 0.5;
  /// Bytes that a block moves of each buffer.
  llvm::MapVector<mlir::Value, double> moved;
  /// Iterations of the loops that are being visited.
  double times = 1;
  /// Blocks of the launch, of those of a cluster one.
  double programs = 0;
  /// The rate of the second-level cache relative to that with all
  /// multiprocessors.
  double cacheGain = 1;
  bool isAsync = false, isPadded = false;
  /// Whether several warps share rows of a product.
  bool sharesRows = false;
  /// Whether rows of tiles may end beyond those of their buffers, so that
  /// threads would copy them element by element.
  bool copiesElements = false;
  /// The most elements of a tile that a thread loads or stores alone.
  double singleElements = 0;
  /// Registers of a thread for the fragments of a product whose instructions
  /// read registers, and those that an asynchronous product needs.
  int64_t fragments = 0, issueRegisters = 0;
  /// Registers of the live tiles of the program as written.
  int64_t tiles = 0;
  /// Bytes of shared memory for each stage, and beside the rings.
  int64_t stageBytes = 0, fixedBytes = 0;
  /// Bytes of the staging buffers for whole tiles, and for parts of them.
  int64_t stagedBytes = 0, stagedPartBytes = 0;
  /// Bytes of each tile that threads compute and that a product reads from
  /// shared memory.
  llvm::MapVector<mlir::Value, int64_t> exchanged;
  /// Bytes of the operands that inverses of triangular matrices exchange.
  int64_t inverseBytes = 0;
  /// The lanes that have the same element of a computed tile, which a product
  /// reads from registers, by its type.
  llvm::DenseMap<mlir::Type, int64_t> copies;
  /// Bytes of the tiles that storer warps can add to global memory in loops.
  int64_t addedBytes = 0;
  /// The share of the bytes through the second-level cache that global memory
  /// moves.
  double memoryShare = 0;
  /// The elements of which a thread holds a multiple: those of an access.
  double accessElements = 8;
};

/// Returns true if neighbouring columns of operand b of `dot` are neighbours in
/// shared memory too. A transposed b is stored in its form before the
/// transposition.
bool hasColumnsSideBySide(DotOp dot);

} // namespace tile

#endif // TILE_LIB_ANALYSIS_COSTMODEL_PREDICTOR_H
