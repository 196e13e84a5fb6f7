//===- AttentionTest.cpp - Attention on the CPU, against float64 ----------===//

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "tile/Chips/Chips.h"
#include "tile/Executor/Executor.h"
#include "tile/InitAll.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>

using namespace mlir;
using namespace tile;

namespace {

/// A tensor [B, S, H, D] of f16, and the values of its elements.
struct Half {
  std::vector<uint16_t> bits;
  std::vector<double> values;
  llvm::SmallVector<int64_t, 4> shape;

  Half(llvm::ArrayRef<int64_t> shape, unsigned seed)
      : shape(shape.begin(), shape.end()) {
    std::mt19937 generator(seed);
    std::normal_distribution<float> normal;
    size_t count = shape[0] * shape[1] * shape[2] * shape[3];
    // The allocator aligns to 16 bytes.
    for (size_t i = 0; i < count; ++i) {
      llvm::APFloat value(normal(generator));
      bool lossy;
      value.convert(llvm::APFloat::IEEEhalf(),
                    llvm::APFloat::rmNearestTiesToEven, &lossy);
      bits.push_back(value.bitcastToAPInt().getZExtValue());
      value.convert(llvm::APFloat::IEEEdouble(),
                    llvm::APFloat::rmNearestTiesToEven, &lossy);
      values.push_back(value.convertToDouble());
    }
  }
  size_t at(int64_t b, int64_t s, int64_t h, int64_t d) const {
    return ((b * shape[1] + s) * shape[2] + h) * shape[3] + d;
  }
  cpu::Tensor tensor() {
    return {bits.data(),
            "f16",
            shape,
            {shape[1] * shape[2] * shape[3], shape[2] * shape[3], shape[3], 1}};
  }
  double get(size_t i) const {
    llvm::APFloat value(llvm::APFloat::IEEEhalf(), llvm::APInt(16, bits[i]));
    bool lossy;
    value.convert(llvm::APFloat::IEEEdouble(),
                  llvm::APFloat::rmNearestTiesToEven, &lossy);
    return value.convertToDouble();
  }
};

class ExecutorAttention : public testing::TestWithParam<const char *> {};

TEST_P(ExecutorAttention, AgreesWithFloat64) {
  constexpr int64_t batch = 1, queries = 37, keys = 101, heads = 2, d = 64;
  std::string source = llvm::formatv(R"(
!t = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
func.func @attention(%q: !t, %k: !t, %v: !t, %o: !t, %scale: f32) {{
  tile.attention %q, %k, %v, %o scale %scale {{causal} : !t, !t, !t, !t
  return
})");
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(source, &context);
  ASSERT_TRUE(module);
  cpu::ProgramOptions options;
  options.compile.chip = GetParam();
  FailureOr<cpu::Program> program = cpu::Program::compile(*module, options);
  ASSERT_TRUE(succeeded(program));

  Half q({batch, queries, heads, d}, 1), k({batch, keys, 1, d}, 2),
      v({batch, keys, 1, d}, 3), o({batch, queries, heads, d}, 4);
  double scale = 1 / std::sqrt(double(d));
  // Progress is reported once for every block.
  cpu::RunOptions run;
  std::vector<uint64_t> progress;
  uint64_t blocks = 0;
  run.progress = [&](uint64_t done, uint64_t all) {
    progress.push_back(done);
    blocks = all;
  };
  ASSERT_TRUE(succeeded(program->run(
      {q.tensor(), k.tensor(), v.tensor(), o.tensor(), scale}, run)));
  ASSERT_EQ(progress.size(), blocks);
  for (uint64_t i = 0; i < blocks; ++i)
    EXPECT_EQ(progress[i], i + 1);

  double worst = 0;
  for (int64_t i = 0; i < queries; ++i)
    for (int64_t h = 0; h < heads; ++h) {
      std::vector<double> weights;
      double sum = 0;
      for (int64_t j = 0; j <= i + keys - queries; ++j) {
        double score = 0;
        for (int64_t e = 0; e < d; ++e)
          score += q.values[q.at(0, i, h, e)] * k.values[k.at(0, j, 0, e)];
        sum += weights.emplace_back(std::exp(score * scale));
      }
      for (int64_t e = 0; e < d; ++e) {
        double expected = 0;
        for (size_t j = 0; j < weights.size(); ++j)
          expected += weights[j] / sum * v.values[v.at(0, j, 0, e)];
        double difference = std::abs(o.get(o.at(0, i, h, e)) - expected);
        // NaN counts as a large error.
        worst = difference <= worst ? worst : difference;
      }
    }
  EXPECT_LT(worst, 2e-3);
}

INSTANTIATE_TEST_SUITE_P(Chips, ExecutorAttention, testing::ValuesIn([] {
                           std::vector<const char *> names;
                           for (const Chip &chip : chips())
                             names.push_back(chip.name.data());
                           return names;
                         }()));

} // namespace
