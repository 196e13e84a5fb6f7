//===- SeedKernelTest.cpp - Attention's gradients, from the example -------===//
//
// Compares examples/attention_sink_backward.mlir with float64, with the
// author's layout of dQ and with the compiler's.
//
//===----------------------------------------------------------------------===//
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "tile/Executor/Executor.h"
#include "tile/InitAll.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>

using namespace mlir;
using namespace tile;

namespace {

constexpr int64_t kHeads = 2, kDim = 128;

/// A dense [1, heads, rows, 128] tensor. f16 holds rounded values.
template <typename T> struct Dense {
  std::vector<T> data;
  std::vector<double> values;
  int64_t heads, rows;

  Dense(int64_t heads, int64_t rows, unsigned seed = 0)
      : data(heads * rows * kDim + 32, T(0)), values(heads * rows * kDim, 0),
        heads(heads), rows(rows) {
    if (!seed)
      return;
    std::mt19937 generator(seed);
    std::normal_distribution<float> normal(0, 0.5);
    for (size_t i = 0; i < values.size(); ++i) {
      llvm::APFloat value(normal(generator));
      bool lossy;
      value.convert(llvm::APFloat::IEEEhalf(),
                    llvm::APFloat::rmNearestTiesToEven, &lossy);
      begin()[i] = T(value.bitcastToAPInt().getZExtValue());
      value.convert(llvm::APFloat::IEEEdouble(),
                    llvm::APFloat::rmNearestTiesToEven, &lossy);
      values[i] = value.convertToDouble();
    }
  }
  /// Aligned to 16 bytes.
  T *begin() {
    auto address = reinterpret_cast<uintptr_t>(data.data());
    return reinterpret_cast<T *>((address + 15) / 16 * 16);
  }
  const double *row(int64_t head, int64_t i) const {
    return &values[(head * rows + i) * kDim];
  }
  cpu::Tensor tensor() {
    return {begin(),
            sizeof(T) == 2 ? "f16" : "f32",
            {1, heads, rows, kDim},
            {heads * rows * kDim, rows * kDim, kDim, 1}};
  }
};

std::string replaced(std::string text, StringRef from, StringRef to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;
       at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

/// The example with the compiler's layout of dQ, and a kernel that reads dQ.
std::string withOwnLayout(std::string text) {
  text = replaced(text, "!dq_blocks {", "!sums {tile.accumulator, ");
  size_t first;
  while ((first = text.find("\n!dq_")) != std::string::npos)
    text.erase(first, text.find('\n', first + 1) - first);
  text = replaced(text, "!dq_blocks", "!sums");
  text = replaced(text, "!dq_rows", "!sum_rows");
  return text + R"(
tile.kernel @read(%dq: !sums {tile.accumulator, tile.name = "dq"},
                  %plain: !sums {tile.name = "plain"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %heads = tile.dim %plain[1] : !sums
  %rows = tile.dim %plain[2] : !sums
  %blocks = arith.ceildivui %rows, %c64 : index
  tile.grid %blocks, %heads, %c1
  %block = tile.program_id x
  %h = tile.program_id y
  %row = arith.muli %block, %c64 : index
  %from = tile.slice %dq[%c0, %h, *, *] : !sums to !sum_rows
  %to = tile.slice %plain[%c0, %h, *, *] : !sums to !sum_rows
  %t = tile.load %from[%row, %c0] : !sum_rows -> tensor<64x128xf32>
  tile.store %t, %to[%row, %c0] : tensor<64x128xf32>, !sum_rows
})";
}

class SeedKernel
    : public testing::TestWithParam<std::tuple<int64_t, bool, const char *>> {};

TEST_P(SeedKernel, GradientsAgreeWithFloat64) {
  auto [rows, own, chip] = GetParam();
  auto file = llvm::MemoryBuffer::getFile(
      TILE_SOURCE_DIR "/examples/attention_sink_backward.mlir");
  ASSERT_TRUE(bool(file));
  std::string text = (*file)->getBuffer().str();
  if (own)
    text = withOwnLayout(text);
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  ASSERT_TRUE(module);
  cpu::ProgramOptions options;
  options.compile.chip = chip;
  FailureOr<cpu::Program> program = cpu::Program::compile(*module, options);
  ASSERT_TRUE(succeeded(program));

  int64_t whole = (rows + 15) / 16 * 16; // blocks of dQ
  Dense<uint16_t> q(kHeads, rows, 1), k(1, rows, 2), v(1, rows, 3),
      dO(kHeads, rows, 4);
  Dense<float> dq(kHeads, whole), dk(1, rows), dv(1, rows), plain(kHeads, rows);
  const double scale = 1 / std::sqrt(double(kDim));
  auto dot = [](const double *a, const double *b) {
    double sum = 0;
    for (int64_t d = 0; d < kDim; ++d)
      sum += a[d] * b[d];
    return sum;
  };
  auto add = [](double *to, double factor, const double *from) {
    for (int64_t d = 0; d < kDim; ++d)
      to[d] += factor * from[d];
  };

  // Other inputs of the kernel: the log-sum-exp of the rows, with a sink of
  // logit 0.5, and rowsum(O * dO).
  std::vector<float> lse(kHeads * rows), delta(kHeads * rows);
  std::vector<double> wantQ(kHeads * rows * kDim, 0), wantK(rows * kDim, 0),
      wantV(rows * kDim, 0);
  for (int64_t h = 0; h < kHeads; ++h)
    for (int64_t i = 0; i < rows; ++i) {
      std::vector<double> p(i + 1), dp(i + 1);
      double sum = std::exp(0.5), weighted = 0;
      for (int64_t j = 0; j <= i; ++j)
        sum += p[j] = std::exp(scale * dot(q.row(h, i), k.row(0, j)));
      for (int64_t j = 0; j <= i; ++j) {
        p[j] /= sum;
        dp[j] = dot(dO.row(h, i), v.row(0, j));
        weighted += p[j] * dp[j];
      }
      lse[h * rows + i] = float(std::log2(sum));
      delta[h * rows + i] = float(weighted);
      for (int64_t j = 0; j <= i; ++j) {
        double ds = p[j] * (dp[j] - weighted);
        add(&wantQ[(h * rows + i) * kDim], ds, k.row(0, j));
        add(&wantK[j * kDim], ds, q.row(h, i));
        add(&wantV[j * kDim], p[j], dO.row(h, i));
      }
    }
  cpu::Tensor lseTensor{
      lse.data(), "f32", {1, kHeads, rows}, {kHeads * rows, rows, 1}};
  cpu::Tensor deltaTensor{
      delta.data(), "f32", {1, kHeads, rows}, {kHeads * rows, rows, 1}};
  std::vector<cpu::Argument> arguments = {
      q.tensor(),  k.tensor(),  v.tensor(),  dO.tensor(), lseTensor,
      deltaTensor, dq.tensor(), dk.tensor(), dv.tensor(), scale};
  if (own)
    arguments.push_back(plain.tensor());
  ASSERT_TRUE(succeeded(program->run(arguments, {})));

  // P and dS are rounded to f16 before the MMAs.
  auto compare = [](const char *what, double got, double want, int64_t at) {
    ASSERT_NEAR(got, want, 4e-3 + 4e-3 * std::abs(want)) << what << ' ' << at;
  };
  for (int64_t i = 0; i < rows * kDim; ++i) {
    compare("dK", dk.begin()[i], wantK[i], i);
    compare("dV", dv.begin()[i], wantV[i], i);
  }
  for (int64_t h = 0; h < kHeads; ++h)
    for (int64_t l = 0; l < rows; ++l)
      for (int64_t d = 0; d < kDim; ++d) {
        // The formula of the author's layout.
        int64_t place = own ? (h * rows + l) * kDim + d
                            : (h * whole + l / 8 * 8) * kDim +
                                  (d / 8 * 2 + d % 2) * 32 + 4 * (l % 8) +
                                  d % 8 / 2;
        compare("dQ", own ? plain.begin()[place] : dq.begin()[place],
                wantQ[(h * rows + l) * kDim + d], place);
      }
}

INSTANTIATE_TEST_SUITE_P(Layouts, SeedKernel,
                         testing::Combine(testing::Values(64, 90),
                                          testing::Bool(),
                                          testing::Values("sm_80", "sm_90a")));

} // namespace
