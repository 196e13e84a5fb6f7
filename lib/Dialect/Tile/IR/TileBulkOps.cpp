//===- TileBulkOps.cpp - Verifiers of TMA operations ----------------------===//

#include "BulkOps.h"
#include "mlir/IR/Builders.h"
#include "tile/Chips/NVIDIA/TensorMap.h"

using namespace mlir;
using namespace tile;

#include "tile/Dialect/Tile/IR/TileOpInterfaces.cpp.inc"

//===----------------------------------------------------------------------===//
// Tiles and tensor maps
//===----------------------------------------------------------------------===//

/// Verifies the operands that all TMA operations have. `verb` describes the
/// access to the argument in errors, for example "copies from".
static LogicalResult verifyBulk(BulkOpInterface op, StringRef verb) {
  if (bool(op.getStart()) != bool(op.getLength()))
    return op->emitOpError(
        "needs both a start and a length of its range of rows");
  BufferType argument = op.getArgument().getType(), tile = op.getTileType();
  auto block = dyn_cast<BlockArgument>(op.getArgument());
  if (!block || !isa<KernelOp>(block.getOwner()->getParentOp()))
    return op->emitOpError() << verb << " an argument of the kernel";
  if (int64_t(op.getIndices().size()) != argument.getRank())
    return op->emitOpError()
           << "has " << op.getIndices().size()
           << " indices for a buffer of rank " << argument.getRank();
  ArrayRef<int64_t> dims = op.getDims();
  if (!tile.isShared() || dims.empty() || dims.size() > 2 ||
      tile.getRank() != int64_t(dims.size()) ||
      tile.getElementType() != argument.getElementType())
    return op->emitOpError()
           << "copies a tile of one or two dimensions and "
              "the elements of the "
           << (isa<BulkCopyOp, BulkPrefetchOp>(*op) ? "source" : "destination")
           << ", got " << tile;
  for (int64_t dim : dims)
    if (dim < 0 || dim >= argument.getRank())
      return op->emitOpError()
             << "dimension " << dim << " does not exist in a buffer of rank "
             << argument.getRank();
  if (Refusal refusal =
          checkTensorMap(argument, dims, tile, bool(op.getStart())))
    return op->emitOpError() << "has no tensor map: " << *refusal;
  return success();
}

Refusal tile::checkTensorMap(BufferType source, ArrayRef<int64_t> dims,
                             BufferType dest, bool isRagged) {
  auto strided = dyn_cast<StridedAttr>(source.getLayout());
  if (!strided)
    return "the source is permuted";
  if (source.getRank() > kTensorMapRank)
    return "the source has more than 5 dimensions";
  if (isRagged && dims.size() != 2)
    return "the end of one sequence is no multiple of 16 bytes, and neighbours "
           "past it are those of the next";
  if (dims.size() == 2 && dims[0] == dims[1])
    return "both dimensions of the tile are one of the source";
  int64_t bytes = source.getElementBits() / 8;
  if (source.getAlignment() % 16 != 0)
    return "the source is not aligned to 16 bytes";
  for (int64_t dim = 0; dim < source.getRank(); ++dim) {
    int64_t stride = strided.getStrides()[dim];
    if (dim == dims.back() && stride != 1)
      return "the columns of the tile are not neighbours in the source";
    if (stride == kDynamic)
      stride = strided.getDivisors()[dim];
    if (dim != dims.back() && (stride * bytes % 16 != 0 || stride == 0))
      return "stride " + std::to_string(dim) +
             " of the source is no multiple of 16 bytes";
  }
  if (!matchTensorMap(dest.getCanonicalLayout(), bytes))
    return dims.size() == 1
               ? "the tile is not up to 256 neighbours of whole 128 bytes"
               : "the tile is not stored as boxes of up to 256 rows of a "
                 "swizzle's width";
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// BulkCopyOp, BulkPrefetchOp
//===----------------------------------------------------------------------===//

TypedValue<BufferType> BulkCopyOp::getArgument() { return getSource(); }
BufferType BulkCopyOp::getTileType() { return getDest().getType(); }

LogicalResult BulkCopyOp::verify() {
  if (bool(getSlot()) == bool(getBarriers()) ||
      bool(getBarriers()) != bool(getIndex()))
    return emitOpError("needs a slot that it fills or an mbarrier, not both");
  if (getBarriers() && failed(verifyBarriers(*this, getBarriers().getType())))
    return failure();
  if (failed(verifyBulk(*this, "copies from")))
    return failure();
  if (bool(getPageDim()) != bool(getTable()) || (getTable() && !getStart()))
    return emitOpError("needs a table, the dimension of the pages and a range "
                       "of rows together");
  if (!getTable())
    return success();
  if (failed(PagedOp::verifyTable(*this, getTable().getType())))
    return failure();
  BufferType source = getSource().getType();
  int64_t dim = *getPageDim(), rows = getDims().front();
  if (dim >= source.getRank() || llvm::is_contained(getDims(), dim))
    return emitOpError() << "has no pages along dimension " << dim << " of "
                         << source;
  if (Refusal refusal = checkPageRows(source.getShape()[rows],
                                      getTileType().getShape().front()))
    return emitOpError() << "has no tensor map: " << *refusal;
  return success();
}

int64_t tile::getPageRows(int64_t page, int64_t rows) {
  return int64_t(1) << llvm::countr_zero(uint64_t(page | rows));
}

Refusal tile::checkPageRows(int64_t page, int64_t rows) {
  // The rows of a swizzle's pattern.
  constexpr int64_t least = 8;
  if (!ShapedType::isDynamic(page) && getPageRows(page, rows) >= least)
    return std::nullopt;
  return "no multiple of " + std::to_string(least) +
         " rows divides both a page and the tile";
}

TypedValue<BufferType> BulkPrefetchOp::getArgument() { return getSource(); }
BufferType BulkPrefetchOp::getTileType() { return cast<BufferType>(getTile()); }

LogicalResult BulkPrefetchOp::verify() {
  return verifyBulk(*this, "fetches from");
}

//===----------------------------------------------------------------------===//
// BulkStoreOp, BulkReduceOp
//===----------------------------------------------------------------------===//

/// Returns the number of warps that execute `op`; 1 if one thread runs its
/// role.
static int64_t countWarpsAt(Operation *op) {
  for (Region *region = op->getParentRegion(); region;
       region = region->getParentRegion())
    if (auto roles = dyn_cast<WarpRolesOp>(region->getParentOp()))
      return region->getRegionNumber() == 0 ? roles.getWarps().front() : 1;
  return op->getParentOfType<KernelOp>().getNumWarps();
}

template <typename OpT> static SmallVector<int64_t, 2> partCounts(OpT op) {
  if (std::optional<ArrayRef<int64_t>> parts = op.getParts())
    return SmallVector<int64_t, 2>(*parts);
  return {1, 1};
}

template <typename OpT>
static LogicalResult verifyBulkOut(OpT op, StringRef verb) {
  if (failed(verifyBulk(op, verb)))
    return failure();
  std::optional<ArrayRef<int64_t>> parts = op.getParts();
  if (!parts)
    return success();
  BufferType tile = op.getTileType();
  if (parts->size() != 2 || (*parts)[0] < 1 || (*parts)[1] < 1 ||
      tile.getRank() != 2)
    return op.emitOpError()
           << "divides a tile of two dimensions into parts along both, got "
           << tile << " and " << *parts;
  int64_t warps = countWarpsAt(op);
  if (warps == 1 || (*parts)[0] * (*parts)[1] != warps)
    return op.emitOpError() << "has " << (*parts)[0] << " x " << (*parts)[1]
                            << " parts, of which each warp of the first role "
                               "stores one; there are "
                            << warps << " here";
  int64_t bytes = tile.getElementBits() / 8;
  TensorMapBoxes boxes = *matchTensorMap(tile.getCanonicalLayout(), bytes);
  // Each box must start at a multiple of 128 bytes in shared memory. Source:
  // PTX ISA, "cp.async.bulk.tensor".
  if (boxes.rows % (*parts)[0] != 0 || boxes.count % (*parts)[1] != 0 ||
      boxes.rows / (*parts)[0] * boxes.columns * bytes % 128 != 0)
    return op.emitOpError()
           << "cuts boxes of " << boxes.rows << " x " << boxes.columns
           << " elements, " << boxes.count << " side by side, into "
           << (*parts)[0] << " x " << (*parts)[1]
           << " parts; each begins at a multiple of 128 bytes";
  return success();
}

TypedValue<BufferType> BulkStoreOp::getArgument() { return getDest(); }
BufferType BulkStoreOp::getTileType() { return getSource().getType(); }
SmallVector<int64_t, 2> BulkStoreOp::getPartCounts() {
  return partCounts(*this);
}
LogicalResult BulkStoreOp::verify() {
  return verifyBulkOut(*this, "stores to");
}

TypedValue<BufferType> BulkReduceOp::getArgument() { return getDest(); }
BufferType BulkReduceOp::getTileType() { return getSource().getType(); }
SmallVector<int64_t, 2> BulkReduceOp::getPartCounts() {
  return partCounts(*this);
}
LogicalResult BulkReduceOp::verify() {
  Type element = getSource().getType().getElementType();
  if (!element.isF32() && !element.isF16() && !element.isBF16())
    return emitOpError() << "adds elements of f16, bf16 or f32, got "
                         << element;
  return verifyBulkOut(*this, "adds to");
}

LogicalResult BulkAddOp::verify() {
  BufferType source = getSource().getType(), dest = getDest().getType();
  Type element = source.getElementType();
  if (!source.isShared() || dest.isShared())
    return emitOpError("adds a shared buffer to a global one");
  if (!isa<FloatType>(element) || element != dest.getElementType())
    return emitOpError()
           << "adds float elements to those of the same type, got " << element
           << " and " << dest.getElementType();
  if (source.getRank() != dest.getRank() ||
      int64_t(getIndices().size()) != dest.getRank())
    return emitOpError() << "adds a tile of rank " << source.getRank() << " at "
                         << getIndices().size()
                         << " indices to a buffer of rank " << dest.getRank();
  auto roles = (*this)->getParentOfType<WarpRolesOp>();
  if (!roles || roles.getRoles().front().isAncestor((*this)->getParentRegion()))
    return emitOpError(
        "needs a role of one thread, which is any role but the first");
  return success();
}
