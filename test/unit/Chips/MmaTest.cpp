//===- MmaTest.cpp - Every matrix instruction of the table ----------------===//
//
// Compares the fragments with the formulas of the vendors' documents, given
// here per element and not in digits.
//
//===----------------------------------------------------------------------===//
#include "tile/Chips/Mma.h"
#include "Layout/BruteForce.h"
#include "gtest/gtest.h"

using namespace tile;
using namespace tile::test;

namespace {

/// A (lane, register) that holds the element.
struct Holder {
  int64_t lane, reg;
};
using Formula = std::function<std::vector<Holder>(int64_t, int64_t)>;

/// The fragments of one family. On AMD, B(k, column) is A(column, k).
struct Reference {
  llvm::StringLiteral prefix;
  int64_t m, n, k, lanes;
  int64_t registersA, registersB, registersAcc;
  Formula a, b, acc;
  std::vector<MmaElement> elements = {MmaElement::F16, MmaElement::BF16};
};

Formula mirrored(Formula a) {
  return [a](int64_t k, int64_t column) { return a(column, k); };
}

/// A of a wave that divides the depth in runs of `run` elements.
Formula depthRuns(int64_t rows, int64_t run) {
  return [=](int64_t i, int64_t k) {
    return std::vector<Holder>{{i + rows * (k / run), k % run}};
  };
}

/// MFMA's 32 x 32 accumulator.
std::vector<Holder> squareOf32(int64_t i, int64_t j) {
  return {{j + 32 * (i / 4 % 2), 4 * (i / 8) + i % 4}};
}
/// MFMA's 16 x 16 accumulator.
std::vector<Holder> squareOf16(int64_t i, int64_t j) {
  return {{j + 16 * (i / 4), i % 4}};
}

std::vector<Reference> references() {
  std::vector<Reference> result;
  // PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type".
  result.push_back(
      {"mma.m16n8k16", 16, 8, 16, 32, 8, 4, 4,
       [](int64_t row, int64_t k) {
         return std::vector<Holder>{
             {row % 8 * 4 + k % 8 / 2, k % 2 + row / 8 * 2 + k / 8 * 4}};
       },
       [](int64_t k, int64_t column) {
         return std::vector<Holder>{
             {column * 4 + k % 8 / 2, k % 2 + k / 8 * 2}};
       },
       [](int64_t row, int64_t column) {
         return std::vector<Holder>{
             {row % 8 * 4 + column / 2, column % 2 + row / 8 * 2}};
       }});
  // "Register Fragments": warp w of the four has the rows from 16 w on.
  result.push_back(result.back());
  result.back().prefix = "wgmma.m64k16";
  // "Matrix Fragments for mma.m16n8k8": .tf32.
  result.push_back({"mma.m16n8k8",
                    16,
                    8,
                    8,
                    32,
                    4,
                    2,
                    4,
                    [](int64_t row, int64_t k) {
                      return std::vector<Holder>{
                          {row % 8 * 4 + k % 4, row / 8 + k / 4 * 2}};
                    },
                    [](int64_t k, int64_t column) {
                      return std::vector<Holder>{{column * 4 + k % 4, k / 4}};
                    },
                    result.front().acc,
                    {MmaElement::TF32}});
  // "Matrix Fragments for mma.m16n8k32": .s8.
  Formula rowsOfBytes = [](int64_t row, int64_t k) {
    return std::vector<Holder>{
        {row % 8 * 4 + k % 16 / 4, k % 4 + row / 8 * 4 + k / 16 * 8}};
  };
  Formula columnsOfBytes = [](int64_t k, int64_t column) {
    return std::vector<Holder>{{column * 4 + k % 16 / 4, k % 4 + k / 16 * 4}};
  };
  result.push_back({"mma.m16n8k32",
                    16,
                    8,
                    32,
                    32,
                    16,
                    8,
                    4,
                    rowsOfBytes,
                    columnsOfBytes,
                    result.front().acc,
                    {MmaElement::I8}});
  result.push_back(result[result.size() - 2]);
  result.back().prefix = "wgmma.m64k8";
  // The table has 16 columns, since their number is a multiple of 16.
  result.push_back({"wgmma.m64k32",
                    16,
                    16,
                    32,
                    32,
                    16,
                    16,
                    8,
                    rowsOfBytes,
                    [=](int64_t k, int64_t column) {
                      Holder holder = columnsOfBytes(k, column % 8)[0];
                      holder.reg += column / 8 * 8;
                      return std::vector<Holder>{holder};
                    },
                    [](int64_t row, int64_t column) {
                      return std::vector<Holder>{
                          {row % 8 * 4 + column % 8 / 2,
                           column % 2 + row / 8 * 2 + column / 8 * 4}};
                    },
                    {MmaElement::I8}});
  Formula gfx11 = [](int64_t i, int64_t k) {
    return std::vector<Holder>{{i, k}, {i + 16, k}};
  };
  result.push_back({"wmma.gfx11.16x16x16", 16, 16, 16, 32, 16, 16, 8, gfx11,
                    mirrored(gfx11), [](int64_t i, int64_t j) {
                      return std::vector<Holder>{{j + 16 * (i % 2), i / 2}};
                    }});
  result.push_back({"wmma.gfx12.16x16x16", 16, 16, 16, 32, 8, 8, 8,
                    depthRuns(16, 8), mirrored(depthRuns(16, 8)),
                    [](int64_t i, int64_t j) {
                      return std::vector<Holder>{{j + 16 * (i / 8), i % 8}};
                    }});
  result.push_back({"mfma.16x16x16", 16, 16, 16, 64, 4, 4, 4, depthRuns(16, 4),
                    mirrored(depthRuns(16, 4)), squareOf16});
  result.push_back({"mfma.32x32x8", 32, 32, 8, 64, 4, 4, 16, depthRuns(32, 4),
                    mirrored(depthRuns(32, 4)), squareOf32});
  result.push_back({"mfma.16x16x32", 16, 16, 32, 64, 8, 8, 4, depthRuns(16, 8),
                    mirrored(depthRuns(16, 8)), squareOf16});
  result.push_back({"mfma.32x32x16", 32, 32, 16, 64, 8, 8, 16, depthRuns(32, 8),
                    mirrored(depthRuns(32, 8)), squareOf32});
  // The depth in runs of 4, as many as an accumulator has consecutive rows.
  auto chained = [](int64_t size) -> Formula {
    return [=](int64_t i, int64_t k) {
      int64_t lanes = 64 / size, run = k / 4;
      return std::vector<Holder>{
          {i + size * (run % lanes), run / lanes * 4 + k % 4}};
    };
  };
  result.push_back({"mfma.16x16x32.chained", 16, 16, 32, 64, 8, 8, 4,
                    chained(16), mirrored(chained(16)), squareOf16});
  result.push_back({"mfma.32x32x16.chained", 32, 32, 16, 64, 8, 8, 16,
                    chained(32), mirrored(chained(32)), squareOf32});
  // WMMA of integers has the fragments of WMMA of floats.
  for (Reference &reference : result)
    if (reference.prefix.starts_with("wmma"))
      reference.elements.push_back(MmaElement::I8);
  // AMD's matrix instruction calculator: v_mfma_f32_16x16x4_f32, ...
  auto addMfma = [&](llvm::StringLiteral prefix, int64_t size, int64_t k,
                     MmaElement element) {
    int64_t run = k * size / 64;
    result.push_back({prefix,
                      size,
                      size,
                      k,
                      64,
                      run,
                      run,
                      size * size / 64,
                      depthRuns(size, run),
                      mirrored(depthRuns(size, run)),
                      size == 16 ? squareOf16 : squareOf32,
                      {element}});
  };
  addMfma("mfma.16x16x4", 16, 4, MmaElement::F32);
  addMfma("mfma.32x32x2", 32, 2, MmaElement::F32);
  addMfma("mfma.16x16x16", 16, 16, MmaElement::I8);
  addMfma("mfma.32x32x8", 32, 8, MmaElement::I8);
  addMfma("mfma.16x16x32", 16, 32, MmaElement::I8);
  addMfma("mfma.32x32x16", 32, 16, MmaElement::I8);
  addMfma("mfma.16x16x64", 16, 64, MmaElement::I8);
  addMfma("mfma.32x32x32", 32, 32, MmaElement::I8);
  return result;
}

/// Returns the names of the rows of a reference.
std::vector<std::pair<std::string, MmaElement>>
rowsOf(const Reference &reference) {
  std::vector<std::pair<std::string, MmaElement>> rows;
  for (MmaElement element : reference.elements)
    rows.push_back(
        {(reference.prefix + "." + stringify(element)).str(), element});
  return rows;
}

void check(const Layout &fragment, const Formula &formula, int64_t rows,
           int64_t columns, int64_t registers, int64_t lanes) {
  EXPECT_EQ(llvm::toString(fragment.verify()), "");
  EXPECT_EQ(fragment.family(), LayoutFamily::Distributed);
  EXPECT_EQ(toTuple(fragment.shape()), Tuple({rows, columns}));
  EXPECT_EQ(axisSizes(fragment), Tuple({registers, lanes, 1}));
  EXPECT_TRUE(fragment.isSurjective());
  EXPECT_TRUE(fragment.isInjective());
  int64_t holders = 0;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      for (Holder holder : formula(row, column)) {
        ++holders;
        EXPECT_EQ(define(fragment, {holder.reg, holder.lane, 0}),
                  Tuple({row, column}));
      }
  // Every register is used.
  EXPECT_EQ(holders, registers * lanes);
}

TEST(Mma, FragmentsAreThoseOfTheDocuments) {
  for (const Reference &reference : references())
    for (auto [name, element] : rowsOf(reference)) {
      SCOPED_TRACE(name);
      const Mma *row = findMma(name);
      ASSERT_TRUE(row);
      EXPECT_EQ(row->operand, element);
      EXPECT_EQ(row->accumulator,
                isInteger(element) ? MmaElement::I32 : MmaElement::F32);
      EXPECT_EQ(
          Tuple({row->m, row->n, row->k, row->warpSize}),
          Tuple({reference.m, reference.n, reference.k, reference.lanes}));
      check(row->a, reference.a, row->m, row->k, reference.registersA,
            reference.lanes);
      check(row->b, reference.b, row->k, row->n, reference.registersB,
            reference.lanes);
      check(row->acc, reference.acc, row->m, row->n, reference.registersAcc,
            reference.lanes);
    }
}

TEST(Mma, EveryRowHasAReference) {
  std::set<std::string> names, known;
  for (const Reference &reference : references())
    for (auto [name, element] : rowsOf(reference))
      EXPECT_TRUE(known.insert(name).second) << name;
  for (const Mma &row : mmas()) {
    EXPECT_TRUE(names.insert(row.name.str()).second) << row.name.str();
    EXPECT_EQ(findMma(row.name), &row);
  }
  EXPECT_EQ(names, known);
  EXPECT_EQ(findMma("mma.m16n8k16"), nullptr);
}

TEST(Mma, TransposedUseNeedsMirroredOperands) {
  for (const Mma &row : mmas()) {
    SCOPED_TRACE(row.name.str());
    if (row.preferTransposed) {
      EXPECT_EQ(row.m, row.n);
      EXPECT_TRUE(row.b.equivalent(row.a.permuteDims({1, 0})));
    }
    EXPECT_EQ(row.warps, row.isAsync ? 4 : 1);
    EXPECT_EQ(row.preferTransposed, row.operation == "amdgpu.mfma" ||
                                        row.name.starts_with("wmma.gfx12"));
  }
}

/// wgmma reads B by a descriptor only and is the only asynchronous instruction
/// (PTX ISA, "wgmma.mma_async"). The others read registers.
TEST(Mma, SpacesAndAsynchrony) {
  for (const Mma &row : mmas()) {
    SCOPED_TRACE(row.name.str());
    bool isWgmma = row.name.starts_with("wgmma");
    EXPECT_EQ(row.isAsync, isWgmma);
    for (unsigned operand : {0u, 1u}) {
      EXPECT_EQ(row.spaces[operand].shared, isWgmma);
      EXPECT_EQ(row.spaces[operand].registers, !isWgmma || operand == 0);
    }
    EXPECT_EQ(row.needsKMajor, isWgmma && getBits(row.operand) != 16);
    EXPECT_EQ(getBits(row.accumulator), 32);
  }
}

TEST(Mma, ChipsHaveRates) {
  for (const Chip &chip : chips())
    for (llvm::StringRef name : chip.mma) {
      SCOPED_TRACE(name.str());
      const Mma *row = findMma(name);
      ASSERT_TRUE(row);
      EXPECT_GT(getPeakRate(chip, *row), 0);
      EXPECT_EQ(row->warpSize, chip.warpSize);
    }
}

} // namespace
