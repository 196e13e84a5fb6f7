//===- FormClusters.cpp - Programs on the blocks of a cluster -------------===//

#include "../Emitter.h"
#include "ClusterExchange.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Remarks.h"
#include "tile/Conversion/GPUToLLVM/NVIDIA/Assembly.h"
#include "tile/Conversion/TileToGPU/Passes.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "tile/Dialect/TileGPU/IR/TileGPU.h"

namespace tile {
#define GEN_PASS_DEF_TILEFORMCLUSTERS
#include "tile/Conversion/TileToGPU/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// Bytes of an mbarrier, and their alignment.
static constexpr int64_t kBarrierBytes = 8;

namespace {
/// Divides the threads of one function among `blocks` blocks.
class ClusterFormer {
public:
  ClusterFormer(mlir::gpu::GPUFuncOp func, int64_t threads, int64_t blocks)
      : func(func), threads(threads), blocks(blocks),
        b(func.getLoc(), func.getContext()),
        manifest(tile::gpu::findManifest(func)) {}

  LogicalResult run();
  /// Lets blocks that are written as those of a cluster have one place in the
  /// grid.
  void placeBlocks();

private:
  LogicalResult check();
  void emitBarrier();
  void orderAll();
  void emitArrival();
  void emitWait();
  void countArrivals(ArrayRef<ClusterExchange> exchanges);
  void replaceExchange(const ClusterExchange &exchange);
  SmallVector<Value> emitCopies(Value pointer);
  void storeAsync(vector::StoreOp op);
  void replaceThread(mlir::gpu::ThreadIdOp op);
  void replaceBlock(mlir::gpu::BlockIdOp op);
  void replaceGrid(mlir::gpu::GridDimOp op);
  void replaceStore(vector::StoreOp op);
  void setSizes();

  mlir::gpu::GPUFuncOp func;
  /// Threads of a block.
  int64_t threads, blocks;
  Emitter b;
  tile::gpu::ManifestOp manifest;
  /// The mbarrier that counts the bytes of exchanges, a pointer to shared
  /// memory, and the variable of each thread with the parity of its phase.
  Value counter, parity;
};
} // namespace

/// Refuses accesses to shared memory that do not reach the other copies.
LogicalResult ClusterFormer::check() {
  WalkResult result = func.walk([&](Operation *op) -> WalkResult {
    if (llvm::none_of(op->getOperands(), isSharedMemory) ||
        isa<memref::ViewOp, vector::LoadOp, vector::StoreOp>(op))
      return WalkResult::advance();
    return op->emitOpError()
           << "needs the shared memory of one block, and the "
           << threads * blocks << " threads are those of a cluster of "
           << blocks << " blocks";
  });
  return failure(result.wasInterrupted());
}

/// Emits a barrier of all threads of the cluster.
void ClusterFormer::emitBarrier() {
  NVVM::ClusterArriveOp::create(b, b.getUnitAttr());
  NVVM::ClusterWaitOp::create(b, b.getUnitAttr());
}

void ClusterFormer::replaceThread(mlir::gpu::ThreadIdOp op) {
  b.setInsertionPointAfter(op);
  Value rank = b.toIndex(NVVM::ClusterId::create(b, b.getI32Type()));
  Value number = b.add(b.mul(rank, threads), op);
  op.getResult().replaceAllUsesExcept(number, number.getDefiningOp());
}

void ClusterFormer::replaceBlock(mlir::gpu::BlockIdOp op) {
  b.setInsertionPoint(op);
  op.getResult().replaceAllUsesWith(
      b.toIndex(NVVM::ClusterIdXOp::create(b, b.getI32Type())));
  op.erase();
}

void ClusterFormer::replaceGrid(mlir::gpu::GridDimOp op) {
  b.setInsertionPoint(op);
  op.getResult().replaceAllUsesWith(
      b.toIndex(NVVM::ClusterDimXOp::create(b, b.getI32Type())));
  op.erase();
}

/// Emits the addresses in all blocks of what `pointer` points to in this one.
SmallVector<Value> ClusterFormer::emitCopies(Value pointer) {
  auto cluster = LLVM::LLVMPointerType::get(
      b.getContext(), unsigned(NVVM::NVVMMemorySpace::SharedCluster));
  SmallVector<Value> copies;
  for (int64_t rank = 0; rank < blocks; ++rank)
    copies.push_back(NVVM::MapaOp::create(b, cluster, pointer, b.i32(rank)));
  return copies;
}

void ClusterFormer::replaceStore(vector::StoreOp op) {
  b.setInsertionPoint(op);
  Value pointer = b.sharedPointer(op.getBase(), op.getIndices().front());
  for (Value copy : emitCopies(pointer))
    LLVM::StoreOp::create(b, op.getValueToStore(), copy,
                          op.getAlignment().value_or(0));
  op.erase();
}

/// Lets each barrier be one of the cluster, which orders all accesses of its
/// threads. Another one at the start makes sure that all blocks have started.
void ClusterFormer::orderAll() {
  func.walk([&](Operation *op) {
    b.setLoc(op->getLoc());
    if (isa<mlir::gpu::BarrierOp>(op)) {
      b.setInsertionPoint(op);
      emitBarrier();
      op->erase();
    } else if (auto store = dyn_cast<vector::StoreOp>(op);
               store && isSharedMemory(store.getBase())) {
      replaceStore(store);
    }
  });
  b.setLoc(func.getLoc());
  b.setInsertionPointToStart(&func.getBody().front());
  emitBarrier();
}

//===----------------------------------------------------------------------===//
// Exchanges whose bytes are known
//===----------------------------------------------------------------------===//

/// Emits the arrival at the barrier of the cluster. It orders no accesses: a
/// fence of all of them takes about a microsecond.
void ClusterFormer::emitArrival() {
  NVVM::ClusterArriveRelaxedOp::create(b, b.getUnitAttr());
}

void ClusterFormer::emitWait() {
  NVVM::ClusterWaitOp::create(b, b.getUnitAttr());
}

/// Replaces a store by asynchronous ones, whose bytes the counters of the
/// blocks count.
void ClusterFormer::storeAsync(vector::StoreOp op) {
  b.setLoc(op.getLoc());
  b.setInsertionPoint(op);
  VectorType type = op.getVectorType();
  int64_t words = type.getNumElements() * type.getElementTypeBitWidth() / 32;
  Value vector = vector::BitCastOp::create(
      b, VectorType::get(words, b.getI32Type()), op.getValueToStore());
  Value pointer = b.sharedPointer(op.getBase(), op.getIndices().front());
  auto narrow = [&](Value address) -> Value {
    return LLVM::PtrToIntOp::create(b, b.getI32Type(), address);
  };
  SmallVector<Value> operands;
  for (int64_t i = 0; i < words; ++i)
    operands.push_back(vector::ExtractOp::create(b, vector, i));
  std::string kind = words == 1 ? "" : ".v" + std::to_string(words);
  std::string value = words == 1 ? "$2" : assemblyCoordinates(2, words);
  for (auto [to, barrier] :
       llvm::zip_equal(emitCopies(pointer), emitCopies(counter))) {
    SmallVector<Value> all{narrow(to), narrow(barrier)};
    all.append(operands);
    emitAssembly(b,
                 "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes" +
                     kind + ".b32 [$0], " + value + ", [$1];",
                 "r,r" + repeatConstraint("r", words), all);
  }
  op.erase();
}

/// Replaces the stores and the barrier of an exchange. It begins when all
/// threads have arrived at the barrier of the cluster since the previous one:
/// they have loaded what that has stored.
void ClusterFormer::replaceExchange(const ClusterExchange &exchange) {
  mlir::gpu::BarrierOp barrier = exchange.barrier;
  b.setLoc(barrier.getLoc());
  b.setInsertionPoint(exchange.firstStore);
  emitWait();
  {
    OpBuilder::InsertionGuard guard(b);
    Value thread = mlir::gpu::ThreadIdOp::create(b, mlir::gpu::Dimension::x);
    b.enterIf(b.equal(b.toI32(thread), b.i32(0)));
    NVVM::MBarrierArriveExpectTxOp::create(
        b, TypeRange(), counter, b.i32(exchange.bytes), NVVM::MemScopeKind::CTA,
        /*relaxed=*/false, /*predicate=*/Value());
  }
  for (vector::StoreOp store : exchange.stores)
    storeAsync(store);

  b.setLoc(barrier.getLoc());
  b.setInsertionPoint(barrier);
  Value phase = LLVM::LoadOp::create(b, b.getI32Type(), parity);
  NVVM::MBarrierTryWaitParityOp::create(b, counter, phase, b.i32(0));
  LLVM::StoreOp::create(b, arith::XOrIOp::create(b, phase, b.i32(1)), parity);

  // The barrier of a block orders its loads before the arrival.
  b.setInsertionPointAfter(exchange.lastLoad);
  mlir::gpu::BarrierOp::create(b);
  emitArrival();
}

/// Replaces exchanges by asynchronous stores to all blocks and the wait for
/// their bytes. Other barriers are not needed beside these.
void ClusterFormer::countArrivals(ArrayRef<ClusterExchange> exchanges) {
  SmallVector<mlir::gpu::BarrierOp> barriers;
  func.walk([&](mlir::gpu::BarrierOp op) { barriers.push_back(op); });

  Block &entry = func.getBody().front();
  b.setLoc(func.getLoc());
  b.setInsertionPointToStart(&entry);
  int64_t begin = llvm::alignTo(manifest.getSharedBytes(), kBarrierBytes);
  manifest.setSharedBytes(begin + kBarrierBytes);
  auto space = mlir::gpu::AddressSpaceAttr::get(
      b.getContext(), mlir::gpu::AddressSpace::Workgroup);
  Value memory = mlir::gpu::DynamicSharedMemoryOp::create(
      b, MemRefType::get({ShapedType::kDynamic}, b.getI8Type(),
                         MemRefLayoutAttrInterface(), space));
  counter = b.sharedPointer(memory, b.index(begin));
  parity = LLVM::AllocaOp::create(b, LLVM::LLVMPointerType::get(b.getContext()),
                                  b.getI32Type(), b.i32(1));
  LLVM::StoreOp::create(b, b.i32(0), parity);
  {
    OpBuilder::InsertionGuard guard(b);
    Value thread = mlir::gpu::ThreadIdOp::create(b, mlir::gpu::Dimension::x);
    b.enterIf(b.equal(b.toI32(thread), b.i32(0)));
    NVVM::MBarrierInitOp::create(b, counter, b.i32(1), Value());
    NVVM::FenceMbarrierInitOp::create(b);
  }
  emitArrival();
  for (const ClusterExchange &exchange : exchanges)
    replaceExchange(exchange);
  b.setLoc(func.getLoc());
  b.setInsertionPoint(entry.getTerminator());
  emitWait();
  for (mlir::gpu::BarrierOp op : barriers)
    op.erase();
}

/// Sets the threads of a block and the blocks of the grid and of a cluster.
void ClusterFormer::setSizes() {
  int32_t size = threads, count = blocks;
  func.setKnownBlockSizeAttr(b.getDenseI32ArrayAttr({size, 1, 1}));
  func->setAttr(NVVM::NVVMDialect::getClusterDimAttrName(),
                b.getDenseI32ArrayAttr({count, 1, 1}));
  SmallVector<Attribute> grid(manifest.getGrid().getValue());
  if (auto extent = dyn_cast<IntegerAttr>(grid[0]))
    grid[0] = b.getI64IntegerAttr(extent.getInt() * blocks);
  else
    grid[0] = b.getArrayAttr(
        {b.getStringAttr("mul"), grid[0], b.getI64IntegerAttr(blocks)});
  manifest.setGridAttr(b.getArrayAttr(grid));
  manifest.setBlock({threads, 1, 1});
}

LogicalResult ClusterFormer::run() {
  if (failed(check()))
    return failure();
  SmallVector<ClusterExchange> exchanges;
  std::optional<std::string> reason =
      findExchanges(func, threads * blocks, exchanges);
  func.walk([&](mlir::gpu::ThreadIdOp thread) {
    b.setLoc(thread.getLoc());
    replaceThread(thread);
  });
  placeBlocks();
  if (reason) {
    remark::missed(func.getLoc(), remark::RemarkOpts::name("count-arrivals")
                                      .category("tile-form-clusters"))
        << remark::reason("barriers of the cluster order all accesses: {0}",
                          *reason);
    orderAll();
  } else if (!exchanges.empty()) {
    countArrivals(exchanges);
  }
  return success();
}

void ClusterFormer::placeBlocks() {
  func.walk([&](Operation *op) {
    b.setLoc(op->getLoc());
    if (auto block = dyn_cast<mlir::gpu::BlockIdOp>(op)) {
      if (block.getDimension() == mlir::gpu::Dimension::x)
        replaceBlock(block);
    } else if (auto grid = dyn_cast<mlir::gpu::GridDimOp>(op)) {
      if (grid.getDimension() == mlir::gpu::Dimension::x)
        replaceGrid(grid);
    }
  });
  setSizes();
}

namespace {
struct FormClusters : tile::impl::TileFormClustersBase<FormClusters> {
  using TileFormClustersBase::TileFormClustersBase;

  void runOnOperation() override {
    const Chip *chip = getTargetChip(getOperation());
    if (!chip)
      return signalPassFailure();
    for (auto func : getOperation().getOps<mlir::gpu::GPUFuncOp>()) {
      std::optional<ArrayRef<int32_t>> size = func.getKnownBlockSize();
      if (!size || !tile::gpu::findManifest(func))
        continue;
      if (auto cluster = func->getAttrOfType<DenseI32ArrayAttr>(
              NVVM::NVVMDialect::getClusterDimAttrName())) {
        ClusterFormer(func, (*size)[0], cluster[0]).placeBlocks();
        continue;
      }
      if ((*size)[0] <= kMostThreads)
        continue;
      int64_t threads = (*size)[0];
      int64_t blocks = countClusterBlocks(*chip, threads / chip->warpSize);
      if (threads > blocks * kMostThreads) {
        func.emitOpError() << "has " << threads << " threads; " << chip->name
                           << " has at most " << blocks * kMostThreads;
        return signalPassFailure();
      }
      if (blocks > 1 &&
          failed(ClusterFormer(func, threads / blocks, blocks).run()))
        return signalPassFailure();
    }
  }
};
} // namespace
