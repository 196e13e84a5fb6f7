//===- SharedMemory.h - Which shared memory is used when --------*- C++ -*-===//
//
// What the passes on shared buffers ask of a kernel at stage S4: which
// allocation a buffer is part of, who accesses it, and where it can be put.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DIALECT_TILE_TRANSFORMS_SHAREDMEMORY_H
#define TILE_DIALECT_TILE_TRANSFORMS_SHAREDMEMORY_H

#include "tile/Dialect/Tile/IR/Tile.h"

namespace tile {

/// The allocation that `buffer` is a view of, through tile.slice and
/// tile.transpose; null for a buffer in global memory or from elsewhere.
AllocOp getRootAlloc(mlir::Value buffer);

/// Fails, with an error at the operation, where a shared buffer comes from
/// anything but an allocation or a view: which memory it is is then unknown.
mlir::LogicalResult verifySharedBuffers(KernelOp kernel);

/// An access of one operation to shared memory.
struct SharedAccess {
  AllocOp root;
  bool isWrite;
  /// A write that is complete only after a tile.wait_group.
  bool isAsync;
};

/// The accesses of `op` itself, not of operations in its regions. All buffers
/// must have a root (see verifySharedBuffers).
llvm::SmallVector<SharedAccess, 2> getSharedAccesses(mlir::Operation *op);

/// All operations that use `root` or views of it, views excluded.
llvm::SmallVector<mlir::Operation *> getBufferUsers(AllocOp root);

/// The operations of the block of `copy` in which `buffer`, its destination, is
/// read: the first and the last. Says why not where something else than reads
/// after the copy happens to the buffer.
std::string findReaders(CopyOp copy, AllocOp buffer, mlir::Operation *&first,
                        mlir::Operation *&last);

/// `stages` buffers of one type as one, or null if the layout does not stack.
BufferType getRingType(BufferType buffer, int64_t stages);

/// Whether the copy engine fills this buffer: what orders its accesses are
/// barriers in memory.
bool isFilledInBulk(AllocOp root);

/// Whether each warp of the first role writes its own part of this buffer alone
/// and has the copy engine store that: nothing but the warp orders the two.
bool isStoredByParts(AllocOp root);

/// A buffer in the memory of a block: bytes [offset, offset + bytes), live
/// while the operations numbered first to last, in program order, run.
struct PlannedBuffer {
  AllocOp alloc;
  int64_t offset = 0;
  int64_t bytes;
  int64_t alignment;
  int64_t first, last;

  bool overlaps(const PlannedBuffer &other) const {
    return offset < other.offset + other.bytes && other.offset < offset + bytes;
  }
  bool liveWith(const PlannedBuffer &other) const {
    return first <= other.last && other.first <= last;
  }
};

struct SharedPlan {
  /// In program order of the allocations.
  llvm::SmallVector<PlannedBuffer> buffers;
  /// The end of the last buffer.
  int64_t bytes = 0;
};

/// Places all buffers of a kernel. Offsets that allocations have already are
/// taken as they are, checked by nobody. `loopsApart` keeps the buffers that
/// are allocated in one loop from sharing memory.
SharedPlan planSharedMemory(KernelOp kernel, bool loopsApart);

/// planSharedMemory with buffers in loops apart if that takes at most `limit`
/// bytes, else with all sharing. `shareInLoops`, if given, says which.
SharedPlan planSharedMemoryWithin(KernelOp kernel, int64_t limit,
                                  bool *shareInLoops = nullptr);

} // namespace tile

#endif // TILE_DIALECT_TILE_TRANSFORMS_SHAREDMEMORY_H
