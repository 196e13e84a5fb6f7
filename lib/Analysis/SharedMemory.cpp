//===- SharedMemory.cpp - Queries on shared buffers -----------------------===//

#include "tile/Analysis/SharedMemory.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "tile/Layout/Queries.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;

static bool isView(Operation *op) {
  return isa<SliceOp, TransposeOp, RingCreateOp, RingAcquireOp, RingTakeOp>(op);
}

static bool isSharedBuffer(Type type) {
  auto buffer = dyn_cast<BufferType>(type);
  return buffer && buffer.isShared();
}

AllocOp tile::getRootAlloc(Value buffer) {
  Operation *op = buffer.getDefiningOp();
  while (op && isView(op))
    op = op->getOperand(0).getDefiningOp();
  return dyn_cast_or_null<AllocOp>(op);
}

LogicalResult tile::verifySharedBuffers(KernelOp kernel) {
  WalkResult result = kernel.walk<WalkOrder::PreOrder>([](Operation *op) {
    bool bad = !isa<AllocOp>(op) && !isView(op) &&
               llvm::any_of(op->getResultTypes(), isSharedBuffer);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        bad |= llvm::any_of(block.getArgumentTypes(), isSharedBuffer);
    if (!bad)
      return WalkResult::advance();
    op->emitOpError("chooses a shared buffer at run time; only tile.alloc, "
                    "tile.slice, tile.transpose and rings may make one");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

SmallVector<SharedAccess, 2> tile::getSharedAccesses(Operation *op) {
  SmallVector<SharedAccess, 2> accesses;
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface || op->getNumRegions() != 0)
    return accesses;
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  auto copy = dyn_cast<CopyOp>(op);
  for (const MemoryEffects::EffectInstance &effect : effects) {
    Value value = effect.getValue();
    auto buffer = value ? dyn_cast<BufferType>(value.getType()) : BufferType();
    if (!buffer || !buffer.isShared() ||
        !isa<MemoryEffects::Read, MemoryEffects::Write>(effect.getEffect()))
      continue;
    accesses.push_back({getRootAlloc(value),
                        isa<MemoryEffects::Write>(effect.getEffect()),
                        copy && copy.getAsync()});
  }
  return accesses;
}

SmallVector<Operation *> tile::getBufferUsers(AllocOp root) {
  SmallVector<Operation *> users;
  SmallVector<Value> views{root.getResult()};
  while (!views.empty()) {
    Value view = views.pop_back_val();
    for (Operation *user : view.getUsers()) {
      auto ring = dyn_cast<RingCreateOp>(user);
      if (ring && view != ring.getStorage()) {
        llvm::append_range(users, ring->getUsers());
        // A copy that fills a slot arrives at its mbarrier.
        if (view == ring.getFull())
          for (Operation *advance : ring->getUsers())
            if (auto acquire = dyn_cast<RingAcquireOp>(advance))
              llvm::append_range(users, acquire.getSlot().getUsers());
      } else if (isView(user)) {
        views.push_back(user->getResult(0));
      } else {
        users.push_back(user);
      }
    }
  }
  return users;
}

bool tile::isFilledInBulk(AllocOp root) {
  return llvm::any_of(getBufferUsers(root), [&](Operation *user) {
    auto copy = dyn_cast<BulkCopyOp>(user);
    return copy && getRootAlloc(copy.getDest()) == root;
  });
}

bool tile::isStoredByParts(AllocOp root) {
  std::optional<SmallVector<int64_t, 2>> parts;
  auto agree = [&](ArrayRef<int64_t> other) {
    if (!parts)
      parts.emplace(other);
    return ArrayRef<int64_t>(*parts) == other;
  };
  bool isStored = false;
  for (Operation *user : getBufferUsers(root)) {
    if (auto store = dyn_cast<StoreOp>(user)) {
      auto tile = cast<RankedTensorType>(store.getValue().getType());
      std::optional<std::array<int64_t, 2>> boxes;
      if (store.getBuffer() == root.getResult() &&
          tile.getShape() == root.getType().getShape())
        boxes = findWarpBoxes(getCanonicalLayout(tile));
      if (!boxes || !agree(*boxes))
        return false;
    } else if (isa<BulkStoreOp, BulkReduceOp>(user)) {
      isStored = true;
      if (user->getOperand(0) != root.getResult() ||
          !agree(cast<BulkOpInterface>(user).getPartCounts()))
        return false;
    } else {
      return false;
    }
  }
  return isStored && parts != SmallVector<int64_t, 2>{1, 1};
}

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

/// Returns the outermost loop around `op` that does not contain `scope`; `op`
/// if there is none.
static Operation *liftOutOfLoops(Operation *op, Operation *scope) {
  Operation *lifted = op;
  for (Operation *parent = op->getParentOp();
       parent && !parent->isProperAncestor(scope);
       parent = parent->getParentOp())
    if (isa<LoopLikeOpInterface>(parent))
      lifted = parent;
  return lifted;
}

/// Returns the role that contains `op` and its tile.warp_roles operation.
static std::pair<Region *, Operation *> findRole(Operation *op) {
  for (Region *region = op->getParentRegion(); region;
       region = region->getParentRegion())
    if (isa<WarpRolesOp>(region->getParentOp()))
      return {region, region->getParentOp()};
  return {nullptr, nullptr};
}

/// Returns the values by which the asynchronous MMA `op` is known: its result,
/// those of MMAs that add to it and those of loops that carry it.
static llvm::SmallSetVector<Value, 2> getProducts(Operation *op) {
  llvm::SmallSetVector<Value, 2> products;
  if (auto dot = dyn_cast<DotOp>(op); dot && dot.getAsync())
    products.insert(dot.getResult());
  for (size_t i = 0; i < products.size(); ++i)
    for (OpOperand &use : products[i].getUses()) {
      Operation *user = use.getOwner();
      auto loop = dyn_cast<scf::ForOp>(
          isa<scf::YieldOp>(user) ? user->getParentOp() : user);
      if (isa<DotOp>(user)) {
        products.insert(user->getResult(0));
      } else if (loop) {
        unsigned number = use.getOperandNumber();
        if (user == loop)
          number -= loop.getNumControlOperands();
        products.insert(loop.getRegionIterArg(number));
        products.insert(loop.getResult(number));
      }
    }
  return products;
}

/// Returns the first operation after `store`, in its block or in one around it,
/// that waits for it; the kernel if no operation is known to do so.
static Operation *findBulkWait(Operation *store, KernelOp kernel) {
  for (Operation *op = store; op != kernel; op = op->getParentOp())
    for (Operation *next = op->getNextNode(); next; next = next->getNextNode())
      if (auto wait = dyn_cast<BulkWaitOp>(next);
          wait && wait.getPending() == 0)
        return wait;
  return kernel;
}

/// Returns the alignment of a buffer in bytes. The widest access needs 16
/// bytes, TMA 128. A swizzle permutes chunks within 1024 bytes.
static int64_t getAlignment(BufferType type, bool isCopiedInBulk) {
  if (type.getCanonicalLayout().swizzle().bits != 0)
    return 1024;
  return isCopiedInBulk ? 128 : 16;
}

/// Returns the alignment of a buffer of the kernel in bytes.
static int64_t getAlignment(AllocOp alloc) {
  return getAlignment(
      alloc.getType(),
      llvm::any_of(getBufferUsers(alloc), llvm::IsaPred<BulkOpInterface>));
}

std::optional<int64_t> tile::getGroupBytes(AllocOp root) {
  auto kernel = root->getParentOfType<KernelOp>();
  for (auto roles : kernel.getBody().front().getOps<WarpRolesOp>()) {
    SmallVector<Operation *> users = getBufferUsers(root);
    if (roles.getGroups() > 1 && !users.empty() &&
        llvm::all_of(users,
                     [&](Operation *op) { return roles.isConsumer(op); }))
      return llvm::alignTo(root.getType().getStorageBytes(),
                           getAlignment(root));
  }
  return std::nullopt;
}

SharedMemoryModel::SharedMemoryModel(KernelOp kernel) : kernel(kernel) {
  int64_t next = 0;
  number(kernel, next);
  int64_t groups = 1;
  for (auto roles : kernel.getBody().front().getOps<WarpRolesOp>())
    groups = roles.getGroups();
  kernel.walk<WalkOrder::PreOrder>([&](AllocOp alloc) {
    Buffer buffer;
    buffer.alloc = alloc;
    buffer.pinned = alloc.getOffset();
    buffer.bytes = alloc.getType().getStorageBytes();
    if (std::optional<int64_t> bytes = getGroupBytes(alloc))
      buffer.bytes = groups * *bytes;
    buffer.alignment = getAlignment(alloc);
    buffer.position = span(alloc).first;
    buffer.live = liveRange(alloc);
    buffer.idle = idleRange(alloc);
    buffer.loop = loopAround(alloc);
    buffers.push_back(buffer);
  });
}

/// Numbers `op` and the operations in its regions from `next` on.
void SharedMemoryModel::number(Operation *op, int64_t &next) {
  int64_t first = next++;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Operation &inner : block)
        number(&inner, next);
  spans[op] = {first, next - 1};
}

/// Returns the numbers of the innermost loop around `op`.
std::optional<SharedMemoryModel::Range>
SharedMemoryModel::loopAround(Operation *op) const {
  if (auto loop = op->getParentOfType<LoopLikeOpInterface>())
    return span(loop);
  return std::nullopt;
}

bool tile::hasOneRole(RingCreateOp ring) {
  if (!ring.getFull())
    return false;
  Region *filling = nullptr, *reading = nullptr;
  for (Operation *user : ring->getUsers())
    (isa<RingAcquireOp>(user) ? filling : reading) = findRole(user).first;
  return filling == reading;
}

/// Returns true if warps that use `alloc` may be an iteration of a loop apart.
static bool isOrdered(AllocOp alloc) {
  return alloc->hasAttr(kOrderedAttr) ||
         llvm::any_of(alloc->getUsers(), [&](Operation *user) {
           auto ring = dyn_cast<RingCreateOp>(user);
           return ring && ring.getStorage() == alloc.getResult() &&
                  hasOneRole(ring);
         });
}

/// Returns the first and the last operation number between which the contents
/// of a buffer must be preserved.
SharedMemoryModel::Range SharedMemoryModel::liveRange(AllocOp alloc) const {
  // One warp may use another buffer while the others still use this one.
  if (isOrdered(alloc))
    return span(kernel);
  auto [first, last] = span(alloc);
  int64_t lastRead = -1, lastAsync = -1;
  bool used = false;
  Region *role = nullptr;
  for (Operation *user : getBufferUsers(alloc)) {
    // Roles run at the same time, so a buffer of two roles is live during all
    // of both.
    auto [userRole, roles] = findRole(user);
    if (roles && role && role != userRole) {
      auto [begin, end] = span(roles);
      first = std::min(first, begin);
      last = std::max(last, end);
    }
    role = userRole ? userRole : role;
    auto [begin, end] = span(liftOutOfLoops(user, alloc));
    first = used ? std::min(first, begin) : begin;
    last = used ? std::max(last, end) : end;
    used = true;
    // A TMA store reads its source until its wait.
    if (isa<BulkStoreOp, BulkReduceOp>(user))
      last = std::max(last, span(findBulkWait(user, kernel)).second);
    // An MMA reads its operands until it is awaited.
    for (Value product : getProducts(user)) {
      for (Operation *await : product.getUsers())
        last = std::max(last, span(liftOutOfLoops(await, alloc)).second);
      Operation *loop = product.getParentBlock()->getParentOp();
      if (isa<BlockArgument>(product) && loop->isProperAncestor(alloc)) {
        first = std::min(first, span(loop).first);
        last = std::max(last, span(loop).second);
      }
    }
    for (const SharedAccess &access : getSharedAccesses(user)) {
      if (access.isAsync)
        lastAsync = std::max(lastAsync, begin);
      else if (!access.isWrite)
        lastRead = std::max(lastRead, end);
    }
  }
  // An asynchronous copy without a read after it may have no wait.
  if (lastAsync > lastRead)
    last = span(kernel).second;
  return {first, last};
}

/// Returns the operations of the first role behind its last use of the memory
/// of a ring.
SharedMemoryModel::Range SharedMemoryModel::idleRange(AllocOp alloc) const {
  Range none = {0, -1};
  if (!alloc->hasAttr(kDrainedAttr))
    return none;
  int64_t last = -1;
  Region *first = nullptr;
  for (Operation *user : getBufferUsers(alloc)) {
    auto [role, roles] = findRole(user);
    if (!roles)
      return none;
    if (role != &roles->getRegion(0))
      continue;
    first = role;
    last = std::max(last, span(liftOutOfLoops(user, alloc)).second);
    for (Value product : getProducts(user))
      for (Operation *await : product.getUsers())
        last = std::max(last, span(liftOutOfLoops(await, alloc)).second);
  }
  return first ? Range(last + 1, span(&first->front().back()).second) : none;
}

void SharedMemoryModel::remove(AllocOp alloc) {
  llvm::erase_if(buffers,
                 [&](const Buffer &buffer) { return buffer.alloc == alloc; });
}

void SharedMemoryModel::repeat(int64_t groups) {
  for (Buffer &buffer : buffers)
    if (groups > 1)
      buffer.bytes = groups * llvm::alignTo(buffer.bytes, buffer.alignment);
}

void SharedMemoryModel::add(BufferType type, Operation *position,
                            Operation *first, Operation *last,
                            bool isCopiedInBulk, ArrayRef<Operation *> uses) {
  Buffer buffer;
  buffer.bytes = type.getStorageBytes();
  buffer.alignment = getAlignment(type, isCopiedInBulk);
  buffer.position = span(position).first;
  buffer.live = {span(first).first, span(last).second};
  for (Operation *use : uses)
    buffer.idle = {std::max(buffer.idle.first,
                            span(liftOutOfLoops(use, position)).second + 1),
                   buffer.live.second};
  buffer.loop = loopAround(position);
  // After the other buffers at this position, which were added before it.
  auto place = llvm::upper_bound(buffers, buffer.position,
                                 [](int64_t position, const Buffer &other) {
                                   return position < other.position;
                                 });
  buffers.insert(place, buffer);
}

SharedPlan SharedMemoryModel::place(bool loopsApart) const {
  SharedPlan plan;
  plan.sharesInLoops = !loopsApart;
  for (const Buffer &buffer : buffers) {
    auto [first, last] = buffer.live;
    if (loopsApart && buffer.loop) {
      first = std::min(first, buffer.loop->first);
      last = std::max(last, buffer.loop->second);
    }
    plan.buffers.push_back({buffer.alloc, buffer.pinned.value_or(0),
                            buffer.bytes, buffer.alignment, first, last,
                            buffer.idle.first, buffer.idle.second});
  }

  // Places pinned buffers, then the others by decreasing size, each at the
  // lowest free offset.
  SmallVector<PlannedBuffer *> placed, pending;
  for (auto [buffer, planned] : llvm::zip_equal(buffers, plan.buffers))
    (buffer.pinned ? placed : pending).push_back(&planned);
  // Both pointers point into plan.buffers, so buffers of equal size stay in
  // program order.
  llvm::sort(pending, [](PlannedBuffer *a, PlannedBuffer *b) {
    return a->bytes != b->bytes ? a->bytes > b->bytes : a < b;
  });
  for (PlannedBuffer *buffer : pending) {
    llvm::sort(placed, [](PlannedBuffer *a, PlannedBuffer *b) {
      return a->offset < b->offset;
    });
    buffer->offset = 0;
    for (PlannedBuffer *other : placed)
      if (buffer->liveWith(*other) && buffer->overlaps(*other))
        buffer->offset =
            llvm::alignTo(other->offset + other->bytes, buffer->alignment);
    placed.push_back(buffer);
  }
  for (PlannedBuffer &buffer : plan.buffers)
    plan.bytes = std::max(plan.bytes, buffer.offset + buffer.bytes);
  return plan;
}

SharedPlan SharedMemoryModel::placeWithin(int64_t limit) const {
  SharedPlan plan = place(/*loopsApart=*/true);
  return plan.bytes > limit ? place(/*loopsApart=*/false) : plan;
}

SharedPlan tile::planSharedMemory(KernelOp kernel, bool loopsApart) {
  return SharedMemoryModel(kernel).place(loopsApart);
}

SharedPlan tile::planSharedMemoryWithin(KernelOp kernel, int64_t limit) {
  return SharedMemoryModel(kernel).placeWithin(limit);
}
