//===- Matrix.cpp - MMAs of one warp --------------------------------------===//
//
// The row of the instruction table that the lowering used says which lane holds
// which element. Products of floats of up to 16 bits and of tf32 are exact in
// f32, those of f32 are rounded. Sums are rounded to f32 one after another,
// which is the least precision that hardware guarantees. Sums of integers wrap
// around.
//
//===----------------------------------------------------------------------===//

#include "Block.h"
#include "MatrixElement.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

using namespace tile;
using namespace tile::cpu;

namespace {

/// A fragment's layout as a table: the element in register r of lane l, lane by
/// lane.
struct Fragment {
  unsigned registers;
  std::vector<unsigned> elements;
};

/// A row of Mma.h in terms of bytes in frames.
struct Product {
  const Mma *row;
  Fragment a, b, acc;
  /// A is stored row by row, B column by column.
  unsigned m, n, k;
  /// The first operands of A, B and C in the call.
  unsigned firstA, firstB, firstC;
};

} // namespace

/// The largest fragment of the table has 32 rows of 32 elements, or 16 of 64.
static constexpr unsigned kMostElements = 32 * 32;

static Fragment makeFragment(const Layout &layout, unsigned columns) {
  Fragment fragment;
  fragment.registers = layout.axisSize(kRegister);
  for (int64_t lane = 0; lane < layout.axisSize(kLane); ++lane)
    for (int64_t reg = 0; reg < fragment.registers; ++reg) {
      auto element = layout.element(reg, lane, 0);
      fragment.elements.push_back(element[0] * columns + element[1]);
    }
  return fragment;
}

/// Reads a fragment into `to`, whose elements are floats, or words for
/// integers.
template <typename T>
static void gather(const Fragment &fragment, MmaElement type,
                   llvm::ArrayRef<Call> lanes, unsigned operand, T *to) {
  // The type is a constant in each case of the loop.
  withElement(type, [&](auto constant) {
    constexpr MmaElement kType = constant;
    const unsigned *element = fragment.elements.data();
    for (const Call &lane : lanes) {
      const char *registers = lane.operandBytes(operand);
      for (unsigned i = 0; i < fragment.registers; ++i, ++element)
        to[*element] =
            readElement<T>(kType, registers + getBits(kType) / 8 * i);
    }
  });
}

template <typename T>
static void multiply(const Product &product, llvm::ArrayRef<Call> lanes) {
  T a[kMostElements], b[kMostElements], d[kMostElements];
  gather(product.a, product.row->operand, lanes, product.firstA, a);
  gather(product.b, product.row->operand, lanes, product.firstB, b);
  gather(product.acc, product.row->accumulator, lanes, product.firstC, d);
  for (unsigned i = 0; i < product.m; ++i)
    for (unsigned l = 0; l < product.k; ++l) {
      T factor = a[i * product.k + l];
      // Pointers let the compiler use vectors.
      T *sums = d + i * product.n;
      const T *factors = b + l * product.n;
      for (unsigned j = 0; j < product.n; ++j)
        sums[j] += factor * factors[j];
    }
  const unsigned *element = product.acc.elements.data();
  for (const Call &lane : lanes)
    for (unsigned i = 0; i < product.acc.registers; ++i, ++element)
      lane.setResult(d[*element], 4 * i);
}

static void multiply(Warp &, llvm::ArrayRef<Call> lanes) {
  const auto &product =
      *static_cast<const Product *>(lanes[0].site->data.get());
  if (isInteger(product.row->operand))
    multiply<uint32_t>(product, lanes);
  else
    multiply<float>(product, lanes);
}

/// Returns the bytes of `element` in a register.
static unsigned sizeOf(MmaElement element) { return getBits(element) / 8; }

/// Finds the row of the call, and the first operand of each fragment.
static llvm::Error decode(const llvm::CallBase &call, Site &site) {
  static const auto &products = *[] {
    auto *products = new llvm::StringMap<Product>;
    for (const Mma &row : mmas())
      if (!row.intrinsic.empty())
        // The first row has the depth in the order of the documents.
        products->try_emplace(row.intrinsic,
                              Product{&row, makeFragment(row.a, row.k),
                                      makeFragment(row.b, row.n),
                                      makeFragment(row.acc, row.n),
                                      unsigned(row.m), unsigned(row.n),
                                      unsigned(row.k), 0, 0, 0});
    return products;
  }();
  auto found = products.find(call.getCalledFunction()->getName());
  if (found == products.end())
    return llvm::createStringError("no row of the table of matrix "
                                   "instructions is this");
  const Mma &row = *found->second.row;
  // An operand may hold several registers.
  unsigned operand = 0;
  bool isUnsigned = false;
  auto skip = [&](const Fragment &fragment, MmaElement type) {
    // An immediate says whether the operand of a WMMA of integers has a sign.
    if (call.getArgOperand(operand)->getType()->isIntegerTy(1)) {
      auto *sign =
          llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(operand));
      isUnsigned |= !sign || sign->isZero();
      ++operand;
    }
    unsigned first = operand;
    for (unsigned left = fragment.registers * sizeOf(type);
         left > 0 && operand < site.operands.size(); ++operand) {
      // Consecutive operands are contiguous in the frame.
      left -= std::min(left, site.operands[operand].size);
    }
    return first;
  };
  auto product = std::make_shared<Product>(found->second);
  product->firstA = skip(product->a, row.operand);
  product->firstB = skip(product->b, row.operand);
  product->firstC = skip(product->acc, row.accumulator);
  if (isUnsigned)
    return llvm::createStringError("operands without a sign");
  site.data = std::move(product);
  // The immediates of MFMA permute or negate operands.
  for (; operand < call.arg_size(); ++operand) {
    auto *constant =
        llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(operand));
    if (!constant || !constant->isZero())
      return llvm::createStringError("operand %u is not 0", operand);
  }
  return llvm::Error::success();
}

llvm::ArrayRef<Instruction> tile::cpu::matrixInstructions() {
  static const Instruction rows[] = {
      {"llvm.nvvm.mma.*", Work::Matrix, nullptr, multiply, nullptr, decode},
      {"llvm.amdgcn.wmma.*", Work::Matrix, nullptr, multiply, nullptr, decode},
      {"llvm.amdgcn.mfma.*", Work::Matrix, nullptr, multiply, nullptr, decode},
  };
  return rows;
}
