//===- BufferAccess.cpp - Accesses through buffer descriptors -------------===//

#include "BufferAccess.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "tile/Dialect/Tile/IR/Contains.h"
#include "tile/Dialect/TileGPU/IR/TileGPU.h"

using namespace mlir;
using namespace tile;

/// Returns true if a loop with products contains `op`.
static bool isInProducts(Operation *op) {
  auto loop = op->getParentOfType<LoopLikeOpInterface>();
  return loop && containsOp(loop, llvm::IsaPred<DotOp, tile::gpu::MmaOp>);
}

std::optional<BufferAccess>
BufferAccess::find(Emitter &b, Operation *op, const Chip &chip,
                   const Layout &dist, const BufferParts &buffer,
                   ValueRange indices, GlobalAccess &access,
                   const AccessWidth &width) {
  if (chip.bufferFlags == 0)
    return std::nullopt;
  // A load of one element for all lanes is one of a scalar.
  if (dist.replication(kLane) == dist.axisSize(kLane))
    return std::nullopt;
  std::string reason;
  if (std::optional<Window> window =
          Window::find(dist, buffer, indices, reason))
    return BufferAccess(b, dist, buffer, indices, access, width,
                        std::move(*window), isInProducts(op));
  const AccessGroups &groups = width.groups;
  for (size_t i = 0; i < groups.order.size(); i += groups.width)
    if (access.isBounded(groups.order[i])) {
      remark::missed(
          op->getLoc(),
          remark::RemarkOpts::name("access-branch").category("tile-vectorize"))
          << remark::reason("elements out of bounds are skipped by a branch: "
                            "{0}",
                            reason);
      break;
    }
  return std::nullopt;
}

BufferAccess::BufferAccess(Emitter &b, const Layout &dist,
                           const BufferParts &buffer, ValueRange indices,
                           GlobalAccess &access, const AccessWidth &width,
                           Window found, bool isInProducts)
    : b(b), buffer(buffer), access(access), groups(width.groups),
      partialDim(width.partialDim), window(std::move(found)) {
  window.limitStrides();
  base = Window::emitBase(b, buffer, indices);
  thread = Window::emitThreadOffset(b, dist, buffer);
  if (partialDim && isInProducts)
    cuts = emitCuts(dist, indices[*partialDim]);
}

Value BufferAccess::emitCuts(const Layout &dist, Value index) {
  // Accesses start at multiples of their width.
  if (!llvm::isPowerOf2_64(groups.width) ||
      knownDivisor(index) % groups.width != 0)
    return nullptr;
  for (int64_t warp = 0; warp < dist.axisSize(kWarp); ++warp)
    for (int64_t lane = 0; lane < dist.axisSize(kLane); ++lane)
      for (size_t i = 0; i < groups.order.size(); i += groups.width)
        if (dist.element(groups.order[i], lane, warp)[*partialDim] %
            groups.width)
          return nullptr;
  Value extent = b.toSignedI32(buffer.extent(b, *partialDim));
  return arith::CmpIOp::create(
      b, arith::CmpIPredicate::ne,
      arith::AndIOp::create(b, extent, b.i32(groups.width - 1)), b.i32(0));
}

/// Returns the type of the bits of `type` as words.
static VectorType wordsOf(Emitter &b, VectorType type) {
  int64_t bits = type.getNumElements() * type.getElementTypeBitWidth();
  int64_t word = std::min<int64_t>(bits, 32);
  return VectorType::get({bits / word}, b.getIntegerType(word));
}

Value BufferAccess::emitCount(int64_t i) {
  return access.countAlong(groups.order[i * groups.width], *partialDim,
                           groups.width);
}

void BufferAccess::emitAll(
    Value active, llvm::function_ref<void(int64_t, Window::Place)> emit) {
  auto first = [&](int64_t i) { return groups.order[i * groups.width]; };
  for (Run run : runsOfEqualBounds(access, groups)) {
    // Bounds that may cut an access do not if its last element lies within
    // them.
    int64_t last = groups.order[(run.begin + 1) * groups.width - 1];
    Value condition =
        b.both(active, access.inBounds(partialDim ? last : first(run.begin)));
    for (int64_t i = run.begin; i < run.end; ++i)
      emit(i, window.emitPlace(b, buffer, condition, thread, first(i)));
  }
}

void BufferAccess::emitPieces(
    int64_t i, Value active,
    llvm::function_ref<void(int64_t, Window::Place, Value)> emit) {
  int64_t r = groups.order[i * groups.width];
  int64_t elementBytes = buffer.type.getElementBits() / 8;
  Value count = emitCount(i), inside = b.both(active, access.inBounds(r));
  for (int64_t size = groups.width / 2; size > 0; size /= 2) {
    // The elements in front of the piece are in larger pieces.
    Value before = arith::AndIOp::create(b, count, b.i32(-2 * size));
    Value hasPiece = arith::CmpIOp::create(
        b, arith::CmpIPredicate::ne,
        arith::AndIOp::create(b, count, b.i32(size)), b.i32(0));
    emit(size,
         window.emitPlace(b, buffer, b.both(inside, hasPiece),
                          b.add(thread, b.mul(before, elementBytes)), r),
         before);
  }
}

Value BufferAccess::emitHasPieces(Value active) {
  Value inside = partialDim ? access.allInBoundsAlong(*partialDim) : Value();
  if (!inside)
    return nullptr;
  Value outside = arith::XOrIOp::create(
      b, inside, arith::ConstantOp::create(b, b.getBoolAttr(true)));
  return b.both(active, b.both(cuts, outside));
}

/// Emits the elements of access i if the bounds cut it; zeros otherwise and out
/// of bounds.
Value BufferAccess::loadPieces(int64_t i, VectorType type, Value active) {
  int64_t bits = type.getElementTypeBitWidth();
  VectorType words = wordsOf(b, type);
  Value result;
  emitPieces(i, active, [&](int64_t size, Window::Place place, Value before) {
    auto part = VectorType::get({size}, type.getElementType());
    auto number = b.getIntegerType(bits * size);
    Value piece = tile::gpu::BufferLoadOp::create(b, part, buffer.memory, base,
                                                  place.offset, place.distance,
                                                  window.bytes());
    piece = vector::ExtractOp::create(
        b, vector::BitCastOp::create(b, VectorType::get({1}, number), piece),
        0);
    Value zero = b.zeros(number);
    SmallVector<Value> places(groups.width / size, zero);
    for (int64_t first = 0; first < groups.width; first += 2 * size)
      places[first / size] =
          2 * size == groups.width
              ? piece
              : b.select(b.equal(before, b.i32(first)), piece, zero);
    Value placed = vector::FromElementsOp::create(
        b, VectorType::get({groups.width / size}, number), places);
    placed = vector::BitCastOp::create(b, words, placed);
    result = result ? Value(arith::OrIOp::create(b, result, placed)) : placed;
  });
  return vector::BitCastOp::create(b, type, result);
}

SmallVector<Value> BufferAccess::load(VectorType group, Value active) {
  SmallVector<Value> parts;
  emitAll(active, [&](int64_t, Window::Place place) {
    parts.push_back(tile::gpu::BufferLoadOp::create(
        b, group, buffer.memory, base, place.offset, place.distance,
        window.bytes()));
  });
  Value hasPieces = emitHasPieces(active);
  if (!hasPieces)
    return parts;
  SmallVector<Type> types(parts.size(), group);
  return b.emitIf(
      hasPieces, types,
      [&] {
        SmallVector<Value> all;
        for (auto [i, part] : llvm::enumerate(parts)) {
          VectorType words = wordsOf(b, group);
          Value pieces = loadPieces(i, group, active);
          all.push_back(vector::BitCastOp::create(
              b, group,
              arith::OrIOp::create(
                  b, vector::BitCastOp::create(b, words, part),
                  vector::BitCastOp::create(b, words, pieces))));
        }
        return all;
      },
      [&] { return parts; });
}

/// Emits stores of the elements of access i if the bounds cut it.
void BufferAccess::storePieces(int64_t i, Value part) {
  auto type = cast<VectorType>(part.getType());
  emitPieces(
      i, /*active=*/Value(),
      [&](int64_t size, Window::Place place, Value before) {
        auto number = b.getIntegerType(size * type.getElementTypeBitWidth());
        Value all = vector::BitCastOp::create(
            b, VectorType::get({groups.width / size}, number), part);
        Value piece = vector::ExtractOp::create(b, all, 0);
        for (int64_t first = 2 * size; first < groups.width; first += 2 * size)
          piece =
              b.select(b.equal(before, b.i32(first)),
                       vector::ExtractOp::create(b, all, first / size), piece);
        Value value = vector::BitCastOp::create(
            b, VectorType::get({size}, type.getElementType()),
            vector::FromElementsOp::create(b, VectorType::get({1}, number),
                                           piece));
        tile::gpu::BufferStoreOp::create(b, value, buffer.memory, base,
                                         place.offset, place.distance,
                                         window.bytes());
      });
}

void BufferAccess::store(ArrayRef<Value> parts) {
  emitAll(/*active=*/Value(), [&](int64_t i, Window::Place place) {
    tile::gpu::BufferStoreOp::create(b, parts[i], buffer.memory, base,
                                     place.offset, place.distance,
                                     window.bytes());
  });
  Value hasPieces = emitHasPieces(/*active=*/Value());
  if (!hasPieces)
    return;
  OpBuilder::InsertionGuard guard(b);
  b.enterIf(hasPieces);
  for (auto [i, part] : llvm::enumerate(parts))
    storePieces(i, part);
}
