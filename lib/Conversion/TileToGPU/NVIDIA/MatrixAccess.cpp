//===- MatrixAccess.cpp - Fragments by ldmatrix and stmatrix --------------===//

#include "MatrixAccess.h"
#include "../Access/ThreadAddress.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <numeric>

using namespace mlir;
using namespace tile;

/// ldmatrix and stmatrix move matrices of 8 rows of 16 bytes. A lane has 32
/// bits of a row: one or several elements. Only elements of 16 bits can be
/// transposed. Source: PTX ISA, "ldmatrix" and "stmatrix".
static constexpr int64_t kRows = 8, kRowBits = 128, kRegisterBits = 32;
static constexpr unsigned kTransposedBits = 16;

namespace {
/// A register and a lane of the tile's layout.
struct Place {
  int64_t reg, lane;
};
} // namespace

/// Returns the register and lane that hold element (row, column) of the matrix
/// in the registers from `reg` on. A register of 32 bits has `packed` elements.
static Place holderOf(int64_t reg, int64_t row, int64_t column, int64_t packed,
                      bool transpose) {
  if (transpose)
    std::swap(row, column);
  int64_t lanes = kRowBits / kRegisterBits;
  return {reg + column % packed, lanes * row + column / packed};
}

/// Returns the digits of the register axis above the lowest `count` registers;
/// std::nullopt if `count` does not divide the extents there.
static std::optional<Digits> registersAbove(const Layout &dist, int64_t count) {
  Digits result;
  for (Digit digit : dist.axis(kRegister)) {
    int64_t below = std::gcd(count, digit.extent);
    count /= below;
    if (digit.extent == below)
      continue;
    if (count != 1)
      return std::nullopt;
    result.push_back({digit.extent / below, digit.dim, digit.stride * below});
  }
  return count == 1 ? std::optional(result) : std::nullopt;
}

/// Returns the layout of the row addresses, if the coordinates are linear in
/// the bits of the lane.
static std::optional<Layout> rowAddresses(const Layout &dist, int64_t matrices,
                                          int64_t packed, bool transpose) {
  std::optional<Digits> groups = registersAbove(dist, packed * matrices);
  if (!groups)
    return std::nullopt;
  auto origin = dist.element(0, 0, 0);
  Digits lanes;
  for (int64_t bit = 1; bit < 32; bit *= 2) {
    // Lane 8 * i + r addresses row r of matrix i.
    int64_t matrix = bit / kRows;
    Place place = matrix == 0 ? holderOf(0, bit, 0, packed, transpose)
                              : Place{packed * matrix, 0};
    if (matrix >= matrices) {
      lanes.push_back({2, 0, 0}); // the addresses of these lanes are not read
      continue;
    }
    auto coordinates = dist.element(place.reg, place.lane, 0);
    Digit digit{2, 0, 0};
    for (auto [dim, coordinate] : llvm::enumerate(coordinates)) {
      int64_t distance = coordinate - origin[dim];
      if (distance == 0)
        continue;
      if (distance < 0 || digit.stride != 0)
        return std::nullopt;
      digit = {2, unsigned(dim), distance};
    }
    lanes.push_back(digit);
  }
  return Layout::distributed(*groups, lanes, Digits(dist.axis(kWarp)),
                             dist.shape());
}

/// Checks that every matrix row is contiguous and aligned to 16 bytes, at the
/// address that `matrices` gives.
static bool hasContiguousRows(const Layout &dist, const Layout &memory,
                              ArrayRef<int64_t> start,
                              const MatrixAccess &matrices, int64_t packed) {
  const int64_t columns = packed * kRowBits / kRegisterBits;
  auto offset = [&](SmallVector<int64_t, 4> coordinates) {
    for (auto [coordinate, shift] : llvm::zip_equal(coordinates, start))
      coordinate += shift;
    return memory.offset(coordinates);
  };
  int64_t groups = matrices.access.axisSize(kRegister);
  int64_t warps = dist.replication(kWarp) == dist.axisSize(kWarp)
                      ? 1
                      : dist.axisSize(kWarp);
  for (int64_t warp = 0; warp < warps; ++warp)
    for (int64_t group = 0; group < groups; ++group)
      for (int64_t matrix = 0; matrix < matrices.matrices; ++matrix)
        for (int64_t row = 0; row < kRows; ++row) {
          int64_t begin = offset(
              matrices.access.element(group, kRows * matrix + row, warp));
          if (begin % columns != 0)
            return false;
          int64_t reg = packed * (matrices.matrices * group + matrix);
          for (int64_t column = 0; column < columns; ++column) {
            Place place =
                holderOf(reg, row, column, packed, matrices.transpose);
            if (offset(dist.element(place.reg, place.lane, warp)) !=
                begin + column)
              return false;
          }
        }
  return true;
}

std::optional<MatrixAccess> tile::matchMatrixAccess(const Layout &dist,
                                                    const Layout &memory,
                                                    ArrayRef<int64_t> start,
                                                    unsigned elementBits) {
  int64_t registers = dist.axisSize(kRegister);
  if (elementBits < 8 || elementBits > kRegisterBits ||
      dist.axisSize(kLane) != 32)
    return std::nullopt;
  int64_t packed = kRegisterBits / elementBits;
  for (int64_t matrices : {4, 2, 1}) {
    if (registers % (packed * matrices) != 0)
      continue;
    for (bool transpose : {false, true}) {
      if (transpose && elementBits != kTransposedBits)
        continue;
      std::optional<Layout> access =
          rowAddresses(dist, matrices, packed, transpose);
      if (!access)
        continue;
      MatrixAccess candidate{matrices, transpose, *access};
      if (hasContiguousRows(dist, memory, start, candidate, packed))
        return candidate;
    }
  }
  return std::nullopt;
}

Value tile::emitLoadMatrix(Emitter &b, const MatrixAccess &matrices,
                           VectorType type, BufferType buffer,
                           ArrayRef<int64_t> start, Value memory,
                           Value offset) {
  SharedOffsets offsets(b, matrices.access, buffer.getCanonicalLayout(), start,
                        offset);
  int64_t packed = kRegisterBits / type.getElementTypeBitWidth();
  int64_t size = packed * matrices.matrices;
  auto part = VectorType::get({size}, type.getElementType());
  auto rows =
      VectorType::get({matrices.matrices, packed}, type.getElementType());
  SmallVector<Value> parts;
  for (int64_t group = 0; group < type.getNumElements() / size; ++group)
    parts.push_back(vector::ShapeCastOp::create(
        b, part,
        nvgpu::LdMatrixOp::create(b, rows, memory, offsets.at(group),
                                  matrices.transpose, matrices.matrices)));
  return b.join(type, parts);
}

/// Stores matrices, of each of which `part` has 32 bits. nvgpu has no stmatrix.
static void storeMatrices(Emitter &b, Value part, Value memory, Value offset,
                          bool transpose) {
  auto type = cast<VectorType>(part.getType());
  int64_t matrices =
      type.getNumElements() * type.getElementTypeBitWidth() / kRegisterBits;
  Value words = vector::BitCastOp::create(
      b, VectorType::get({matrices}, b.getI32Type()), part);
  SmallVector<Value> sources;
  for (int64_t i = 0; i < matrices; ++i)
    sources.push_back(vector::ExtractOp::create(b, words, i));
  NVVM::StMatrixOp::create(
      b, b.sharedPointer(memory, offset), sources,
      transpose ? NVVM::MMALayout::col : NVVM::MMALayout::row,
      // In elements of 16 bits.
      NVVM::LdStMatrixShapeAttr::get(b.getContext(), kRows, kRows),
      NVVM::LdStMatrixEltType::B16);
}

void tile::emitStoreMatrix(Emitter &b, const MatrixAccess &matrices,
                           Value vector, BufferType buffer,
                           ArrayRef<int64_t> start, Value memory,
                           Value offset) {
  SharedOffsets offsets(b, matrices.access, buffer.getCanonicalLayout(), start,
                        offset);
  auto type = cast<VectorType>(vector.getType());
  int64_t size =
      kRegisterBits / type.getElementTypeBitWidth() * matrices.matrices;
  int64_t groups = type.getNumElements() / size;
  for (int64_t group = 0; group < groups; ++group) {
    Value part = b.slice(vector, group * size, size);
    storeMatrices(b, part, memory, offsets.at(group), matrices.transpose);
  }
}
