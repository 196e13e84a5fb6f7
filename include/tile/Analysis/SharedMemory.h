//===- SharedMemory.h - Queries on shared buffers ---------------*- C++ -*-===//
//
// Queries on the shared buffers of a kernel at stage S4: the allocation of a
// buffer, its accesses, and the placement of all buffers.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_ANALYSIS_SHAREDMEMORY_H
#define TILE_ANALYSIS_SHAREDMEMORY_H

#include "tile/Dialect/Tile/IR/Tile.h"

namespace tile {

/// The stages of a ring. More stages hide no more latency of a copy; a single
/// one lets no copy run ahead.
inline constexpr int64_t kMostStages = 4, kFewestStages = 2;

/// On an allocation: mbarriers order the accesses of the warps of one role,
/// which may be an iteration of a loop apart (tile-lower-rings).
inline constexpr llvm::StringLiteral kOrderedAttr = "tile.ordered";

/// On the memory of a ring: the first role has read all that other roles fill
/// when it is behind its last use (tile-specialize-warps).
inline constexpr llvm::StringLiteral kDrainedAttr = "tile.drained";

/// Returns true if `ring` has mbarriers, and warps of one role fill its slots
/// and read them.
bool hasOneRole(RingCreateOp ring);

/// Returns the allocation that `buffer` is a view of, through tile.slice,
/// tile.transpose and slots of rings; null for a buffer in global memory or of
/// another origin.
AllocOp getRootAlloc(mlir::Value buffer);

/// Verifies that every shared buffer is an allocation or a view of one.
/// Otherwise reports an error at the operation: it is unknown which memory the
/// buffer is.
mlir::LogicalResult verifySharedBuffers(KernelOp kernel);

/// An access of one operation to shared memory.
struct SharedAccess {
  AllocOp root;
  bool isWrite;
  /// True for a write that is complete only after a tile.wait_group.
  bool isAsync;
};

/// Returns the accesses of `op` itself, without those of operations in its
/// regions. All buffers must have a root (see verifySharedBuffers).
llvm::SmallVector<SharedAccess, 2> getSharedAccesses(mlir::Operation *op);

/// Returns all operations that use `root` or views of it, except the views. For
/// the mbarriers of a ring, these are the operations that use its slots.
llvm::SmallVector<mlir::Operation *> getBufferUsers(AllocOp root);

/// Returns true if TMA fills this buffer. Its accesses are then ordered by
/// mbarriers.
bool isFilledInBulk(AllocOp root);

/// Returns true if each warp of the first role writes its own part of this
/// buffer and stores that part by TMA. The accesses need no barrier then,
/// because the threads of one warp are already ordered.
bool isStoredByParts(AllocOp root);

/// Returns the bytes from the buffer of one group of consumers
/// (tile.warp_roles) to that of the next; none if `root` is one buffer, which
/// all groups and other roles use.
std::optional<int64_t> getGroupBytes(AllocOp root);

/// A buffer in shared memory. It occupies the bytes [offset, offset + bytes).
/// It is live from operation number `first` to operation number `last`, in
/// program order.
struct PlannedBuffer {
  /// Null for a buffer that the kernel does not have yet.
  AllocOp alloc;
  int64_t offset = 0;
  int64_t bytes;
  int64_t alignment;
  int64_t first, last;
  /// A range in between in which other buffers may have the memory; empty if
  /// `idleLast` is less than `idleFirst`.
  int64_t idleFirst = 0, idleLast = -1;

  bool overlaps(const PlannedBuffer &other) const {
    return offset < other.offset + other.bytes && other.offset < offset + bytes;
  }
  bool liveWith(const PlannedBuffer &other) const {
    return first <= other.last && other.first <= last && !isIdleFor(other) &&
           !other.isIdleFor(*this);
  }
  /// Returns true if this buffer is idle as long as `other` is live.
  bool isIdleFor(const PlannedBuffer &other) const {
    return idleFirst <= other.first && other.last <= idleLast;
  }
};

struct SharedPlan {
  /// In program order of the allocations.
  llvm::SmallVector<PlannedBuffer> buffers;
  /// The end of the last buffer.
  int64_t bytes = 0;
  /// Whether buffers that are allocated in one loop share memory.
  bool sharesInLoops = false;
};

/// The shared memory of a kernel as values: the sizes and the live ranges of
/// its buffers. Passes change a copy of the model to find out how many bytes
/// the kernel takes after a rewrite, without rewriting it.
class SharedMemoryModel {
public:
  explicit SharedMemoryModel(KernelOp kernel);

  /// Removes a buffer of the kernel.
  void remove(AllocOp alloc);

  /// Lets each of `groups` groups of consumers have its own copy of the buffers
  /// that the model has now.
  void repeat(int64_t groups);

  /// Adds a buffer of `type` that would be allocated right before `position`,
  /// and live from the start of `first` to the end of `last`, but idle behind
  /// the last of `uses` if there are any. TMA accesses the buffer if
  /// `isCopiedInBulk`.
  void add(BufferType type, mlir::Operation *position, mlir::Operation *first,
           mlir::Operation *last, bool isCopiedInBulk = false,
           llvm::ArrayRef<mlir::Operation *> uses = {});

  /// Chooses the offsets of all buffers: the largest buffer first, each at the
  /// lowest free offset. Existing offsets of allocations are kept and not
  /// checked. If `loopsApart`, buffers that are allocated in one loop do not
  /// share memory.
  SharedPlan place(bool loopsApart) const;

  /// Places buffers of one loop apart if that takes at most `limit` bytes, else
  /// lets all buffers share memory.
  SharedPlan placeWithin(int64_t limit) const;

private:
  using Range = std::pair<int64_t, int64_t>;
  struct Buffer {
    AllocOp alloc;
    std::optional<int64_t> pinned;
    int64_t bytes, alignment;
    /// The number of the operation that the allocation is, or is right before.
    int64_t position;
    Range live, idle = {0, -1};
    /// The innermost loop around the allocation, empty if there is none.
    std::optional<Range> loop;
  };

  void number(mlir::Operation *op, int64_t &next);
  Range span(mlir::Operation *op) const { return spans.lookup(op); }
  Range liveRange(AllocOp alloc) const;
  Range idleRange(AllocOp alloc) const;
  std::optional<Range> loopAround(mlir::Operation *op) const;

  KernelOp kernel;
  /// The first and the last number of each operation, in program order. The
  /// numbers of an operation include those of the operations in its regions.
  llvm::DenseMap<mlir::Operation *, Range> spans;
  /// In program order.
  llvm::SmallVector<Buffer> buffers;
};

/// Chooses the offsets of all shared buffers of a kernel (see
/// SharedMemoryModel::place).
SharedPlan planSharedMemory(KernelOp kernel, bool loopsApart);

/// Chooses the offsets within `limit` bytes if possible (see
/// SharedMemoryModel::placeWithin).
SharedPlan planSharedMemoryWithin(KernelOp kernel, int64_t limit);

} // namespace tile

#endif // TILE_ANALYSIS_SHAREDMEMORY_H
