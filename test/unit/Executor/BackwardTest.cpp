//===- BackwardTest.cpp - Gradients on the CPU, against float64 -----------===//
//
// Forward and backward attention on every chip with every feature, compared
// with the formulas of tile.attention_backward. The memory around the sequences
// is NaN, and kernels must neither read nor overwrite it.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "tile/Chips/Chips.h"
#include "tile/Executor/Executor.h"
#include "tile/InitAll.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>

using namespace mlir;
using namespace tile;

namespace {

struct Config {
  const char *name;
  int64_t d, dv;
  const char *type;
  int64_t heads, kvHeads;
  /// Queries and keys of each sequence.
  std::vector<std::pair<int64_t, int64_t>> lengths;
  /// Visible keys to the left and right of the diagonal; -1 for all.
  int64_t left = -1, right = -1;
  bool packed = false, sink = false;
  double softcap = 0;
  bool dqAtomic = false;
  /// "", "separate" or "atomic".
  const char *kv = "";
};

// clang-format off
const Config kConfigs[] = {
    {"plain", 64, 64, "f16", 2, 2, {{20, 70}, {20, 70}}, -1, -1, false, false, 0, true},
    {"causal", 64, 64, "bf16", 2, 1, {{70, 137}}, -1, 0, false, false, 0, false, "separate"},
    {"window", 128, 128, "f16", 2, 1, {{70, 40}}, 9, 5, false, true, 0, true, "atomic"},
    {"packed", 64, 64, "f16", 2, 1, {{37, 41}, {0, 0}, {70, 30}, {0, 5}, {6, 0}}, -1, 0, true, true, 2, false},
    {"packed_atomic", 64, 64, "f16", 2, 1, {{9, 140}, {33, 20}}, 12, -1, true, false, 3, true, "separate"},
    {"packed_sums", 128, 128, "bf16", 2, 1, {{70, 41}, {5, 130}, {0, 9}, {64, 64}}, -1, 0, true, false, 0, true},
    {"packed_tight", 128, 128, "f16", 2, 1, {{70, 41}, {5, 130}, {0, 9}}, -1, 0, true, false, 2, true, "atomic"},
    {"d96", 96, 96, "f16", 1, 1, {{20, 50}}, -1, -1, false, false, 0, true},
    {"d192", 192, 128, "bf16", 1, 1, {{20, 40}}, -1, 0, false, false, 0, true},
    {"d256", 256, 256, "f16", 1, 1, {{20, 40}}, -1, -1, false, false, 0, false},
};
// clang-format on

const llvm::fltSemantics &semanticsOf(StringRef type) {
  return type == "bf16"  ? llvm::APFloat::BFloat()
         : type == "f16" ? llvm::APFloat::IEEEhalf()
                         : llvm::APFloat::IEEEsingle();
}

/// A contiguous tensor in memory.
class Array {
public:
  Array(StringRef type, ArrayRef<int64_t> shape)
      : type(type.str()), shape(shape.begin(), shape.end()),
        bytes(type.ends_with("16") ? 2 : 4) {
    strides.assign(shape.size(), 1);
    for (size_t i = shape.size(); i-- > 1;)
      strides[i - 1] = strides[i] * shape[i];
    // NaN in every float type.
    storage.assign(count() * bytes, char(0xff));
  }
  int64_t count() const { return strides.front() * shape.front(); }
  cpu::Tensor tensor() { return {storage.data(), type, shape, strides}; }

  int64_t at(ArrayRef<int64_t> index) const {
    int64_t offset = 0;
    for (auto [i, stride] : llvm::zip_equal(index, strides))
      offset += i * stride;
    return offset;
  }
  bool isUntouched(int64_t i) const {
    return llvm::all_of(ArrayRef(storage).slice(i * bytes, bytes),
                        [](char byte) { return byte == char(0xff); });
  }
  double get(int64_t i) const {
    uint32_t bits = 0;
    std::memcpy(&bits, storage.data() + i * bytes, bytes);
    llvm::APFloat value(semanticsOf(type), llvm::APInt(bytes * 8, bits));
    bool lossy;
    value.convert(llvm::APFloat::IEEEdouble(),
                  llvm::APFloat::rmNearestTiesToEven, &lossy);
    return value.convertToDouble();
  }
  void set(int64_t i, double number) {
    llvm::APFloat value(number);
    bool lossy;
    value.convert(semanticsOf(type), llvm::APFloat::rmNearestTiesToEven,
                  &lossy);
    setBits(i, value.bitcastToAPInt().getZExtValue());
  }
  void setBits(int64_t i, uint32_t bits) {
    std::memcpy(storage.data() + i * bytes, &bits, bytes);
  }

private:
  std::string type;
  SmallVector<int64_t, 4> shape, strides;
  int64_t bytes;
  std::vector<char> storage;
};

/// A configuration with its tensors.
class Problem {
public:
  explicit Problem(const Config &config) : c(config) {
    int64_t queries = kGap, keys = kGap;
    for (auto [sq, sk] : c.lengths) {
      startQ.push_back(queries);
      startK.push_back(keys);
      queries += sq;
      keys += sk;
    }
    totalQ = queries + kGap;
    totalK = keys + kGap;
    startQ.push_back(queries);
    startK.push_back(keys);
    std::mt19937 generator(7);
    std::normal_distribution<double> normal;
    for (const char *name : {"q", "k", "v", "do"}) {
      Array &array = add(name);
      forEach(name, [&](int64_t i) { array.set(i, normal(generator)); });
    }
    for (const char *name :
         {"o", "lse", "dq", "dk", "dv", "stats", "dq_acc", "dk_acc", "dv_acc"})
      add(name);
    if (c.sink) {
      Array &sink = add("sink");
      for (int64_t h = 0; h < c.heads; ++h)
        sink.set(h, normal(generator) + 1);
      add("dsink");
    }
    if (c.packed) {
      Array &cuQ = add("cu_q"), &cuK = add("cu_k");
      for (size_t i = 0; i < startQ.size(); ++i) {
        cuQ.setBits(i, startQ[i]);
        cuK.setBits(i, startK[i]);
      }
    }
  }

  std::string source() const;
  void run(const char *chip);
  void check();

private:
  /// Rows of no sequence before the first and after the last one.
  static constexpr int64_t kGap = 3;

  bool isKeySide(StringRef name) const {
    return name.ends_with("k") || name.ends_with("v") ||
           name.ends_with("k_acc") || name.ends_with("v_acc");
  }
  bool isRows(StringRef name) const { return name == "lse"; }
  int64_t headsOf(StringRef name) const {
    if (name.ends_with("_acc") && isKeySide(name) &&
        StringRef(c.kv) == "separate")
      return c.heads;
    return isKeySide(name) ? c.kvHeads : c.heads;
  }
  int64_t columnsOf(StringRef name) const {
    StringRef base = name;
    base.consume_back("_acc");
    return base == "v" || base == "o" || base == "do" || base == "dv" ? c.dv
                                                                      : c.d;
  }
  Array &add(StringRef name) {
    bool isVector = name.ends_with("sink") || name.starts_with("cu_");
    SmallVector<int64_t> shape;
    std::string type = c.type;
    if (isVector) {
      shape = {name.starts_with("cu_") ? int64_t(startQ.size()) : c.heads};
      type = name.starts_with("cu_") ? "i32" : "f32";
    } else {
      int64_t length = isKeySide(name) ? c.packed ? totalK : c.lengths[0].second
                       : c.packed      ? totalQ
                                       : c.lengths[0].first;
      // Atomics add whole blocks of rows, up to those of MFMA 32x32.
      if (name == "stats" ||
          (!c.packed && (name == "dq_acc" || (name.ends_with("_acc") &&
                                              StringRef(c.kv) == "atomic"))))
        length = llvm::alignTo(length + (c.packed ? 128 * c.lengths.size() : 0),
                               name == "stats" ? 16 : 32);
      if (!c.packed)
        shape.push_back(c.lengths.size());
      if (name == "stats")
        shape.append({c.heads, 2, length});
      else if (isRows(name))
        shape.append({headsOf(name), length});
      else
        shape.append({length, headsOf(name), columnsOf(name)});
      if (isRows(name) || name == "stats" || name.ends_with("_acc"))
        type = "f32";
    }
    return arrays.try_emplace(name.str(), type, shape).first->second;
  }
  /// Returns the element of sequence b, row s, head h and column e.
  int64_t at(StringRef name, int64_t b, int64_t s, int64_t h,
             int64_t e = 0) const {
    const Array &array = arrays.at(name.str());
    SmallVector<int64_t> index;
    if (c.packed)
      s += isKeySide(name) ? startK[b] : startQ[b];
    else
      index.push_back(b);
    if (isRows(name))
      index.append({h, s});
    else
      index.append({s, h, e});
    return array.at(index);
  }
  double get(StringRef name, int64_t b, int64_t s, int64_t h,
             int64_t e = 0) const {
    return arrays.at(name.str()).get(at(name, b, s, h, e));
  }
  /// Calls the function for all elements of the sequences.
  void forEach(StringRef name, function_ref<void(int64_t)> visit) const {
    for (auto [b, lengths] : llvm::enumerate(c.lengths))
      for (int64_t s = 0, n = isKeySide(name) ? lengths.second : lengths.first;
           s < n; ++s)
        for (int64_t h = 0; h < headsOf(name); ++h)
          for (int64_t e = 0; e < (isRows(name) ? 1 : columnsOf(name)); ++e)
            visit(at(name, b, s, h, e));
  }
  void expectNear(StringRef name, const std::vector<double> &expected);

  const Config &c;
  std::vector<int64_t> startQ, startK;
  int64_t totalQ, totalK;
  std::map<std::string, Array> arrays;
};

std::string Problem::source() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  StringRef dims = c.packed ? "?x?" : "?x?x?";
  StringRef layout = c.packed ? "#tile.strided<[?:8, ?:8, 1], align = 16>"
                              : "#tile.strided<[?:8, ?:8, ?:8, 1], align = 16>";
  auto heads = [&](StringRef name, int64_t d, StringRef type) {
    os << "!" << name << " = !tile.buffer<" << dims << "x" << d << "x" << type
       << ", " << layout << ", global>\n";
  };
  heads("q", c.d, c.type);
  heads("v", c.dv, c.type);
  heads("q_acc", c.d, "f32");
  heads("v_acc", c.dv, "f32");
  os << "!rows = !tile.buffer<" << dims << "xf32, #tile.strided<"
     << (c.packed ? "[?, 1]" : "[?, ?, 1]") << ">, global>\n"
     << "!stats = !tile.buffer<" << (c.packed ? "" : "?x")
     << "?x2x?xf32, #tile.strided<[" << (c.packed ? "" : "?:4, ")
     << "?:4, ?:4, 1], align = 16>, global>\n"
     << "!sink = !tile.buffer<?xf32, #tile.strided<[1]>, global>\n"
     << "!cu = !tile.buffer<?xi32, #tile.strided<[1]>, global>\n";

  auto function = [&](StringRef name,
                      ArrayRef<std::pair<StringRef, StringRef>> buffers,
                      StringRef scalars, StringRef operation) {
    os << "func.func @" << name << "(";
    for (auto [argument, type] : buffers)
      os << "%" << argument << ": !" << type << " {tile.name = \"" << argument
         << "\"}, ";
    os << scalars << "%scale: f32 {tile.name = \"scale\"}, "
       << "%cap: f32 {tile.name = \"cap\"}, "
       << "%left: i32 {tile.name = \"left\"}, "
       << "%right: i32 {tile.name = \"right\"}) {\n  " << operation
       << " scale %scale" << (c.softcap ? " softcap %cap" : "")
       << " window %left, %right : ";
    llvm::interleaveComma(buffers, os,
                          [&](auto buffer) { os << "!" << buffer.second; });
    os << "\n  return\n}\n";
  };
  using Buffers = SmallVector<std::pair<StringRef, StringRef>>;
  Buffers forward{
      {"q", "q"}, {"k", "q"}, {"v", "v"}, {"o", "v"}, {"lse", "rows"}};
  std::string operation = "tile.attention %q, %k, %v, %o lse %lse";
  Buffers backward{{"q", "q"},  {"k", "q"},        {"v", "v"},  {"o", "v"},
                   {"do", "v"}, {"lse", "rows"},   {"dq", "q"}, {"dk", "q"},
                   {"dv", "v"}, {"stats", "stats"}};
  std::string gradients =
      "tile.attention_backward %q, %k, %v, %o, %do, %lse to %dq, %dk, %dv "
      "using %stats";
  if (c.dqAtomic) {
    gradients += " dq_acc %dq_acc";
    backward.push_back({"dq_acc", "q_acc"});
  }
  if (*c.kv) {
    gradients += llvm::formatv(" kv_acc {0} %dk_acc, %dv_acc", c.kv);
    backward.append({{"dk_acc", "q_acc"}, {"dv_acc", "v_acc"}});
  }
  if (c.sink) {
    operation += " sink %sink";
    gradients += " sink %sink, %dsink";
    forward.push_back({"sink", "sink"});
    backward.append({{"sink", "sink"}, {"dsink", "sink"}});
  }
  std::string scalars;
  if (c.packed) {
    operation += " seqlens %cu_q, %cu_k max %max";
    gradients += " seqlens %cu_q, %cu_k max %max, %max";
    forward.append({{"cu_q", "cu"}, {"cu_k", "cu"}});
    backward.append({{"cu_q", "cu"}, {"cu_k", "cu"}});
    scalars = "%max: index {tile.name = \"max\"}, ";
  }
  function("forward", forward, scalars, operation);
  function("backward", backward, scalars, gradients);
  return text;
}

void Problem::run(const char *chip) {
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(source(), &context);
  ASSERT_TRUE(module);
  cpu::ProgramOptions options;
  options.compile.chip = chip;
  FailureOr<cpu::Program> program = cpu::Program::compile(*module, options);
  ASSERT_TRUE(succeeded(program));
  SmallVector<cpu::Argument> arguments;
  for (const cpu::Parameter &parameter : program->parameters()) {
    if (parameter.name == "scale")
      arguments.push_back(1 / std::sqrt(double(c.d)));
    else if (parameter.name == "cap")
      arguments.push_back(c.softcap);
    else if (parameter.name == "left")
      arguments.push_back(int64_t(c.left));
    else if (parameter.name == "right")
      arguments.push_back(int64_t(c.right));
    else if (parameter.name == "max")
      arguments.push_back(int64_t(32)); // some are longer
    else
      arguments.push_back(arrays.at(parameter.name).tensor());
  }
  ASSERT_TRUE(succeeded(program->run(arguments, {})));
}

void Problem::expectNear(StringRef name, const std::vector<double> &expected) {
  const Array &array = arrays.at(name.str());
  double unit = StringRef(c.type) == "bf16" ? 0.016 : 0.002;
  std::vector<bool> isInside(array.count());
  double worst = 0;
  forEach(name, [&](int64_t i) {
    isInside[i] = true;
    double allowed = unit * (1 + std::abs(expected[i]));
    double error = std::abs(array.get(i) - expected[i]) / allowed;
    // NaN counts as a large error.
    worst = error <= worst ? worst : error;
  });
  EXPECT_LE(worst, 1) << name.str();
  for (int64_t i = 0; i < array.count(); ++i)
    ASSERT_TRUE(isInside[i] || array.isUntouched(i))
        << name.str() << " is written outside the sequences";
}

void Problem::check() {
  std::map<std::string, std::vector<double>> expected;
  for (const char *name : {"o", "dq", "dk", "dv"})
    expected[name].assign(arrays.at(name).count(), 0);
  std::vector<double> dsink(c.heads);
  double scale = 1 / std::sqrt(double(c.d));
  for (auto [b, lengths] : llvm::enumerate(c.lengths)) {
    auto [sq, sk] = lengths;
    for (int64_t h = 0; h < c.heads; ++h)
      for (int64_t i = 0; i < sq; ++i) {
        int64_t kvh = h / (c.heads / c.kvHeads), diagonal = i + sk - sq;
        auto isSeen = [&](int64_t j) {
          return (c.left < 0 || j >= diagonal - c.left) &&
                 (c.right < 0 || j <= diagonal + c.right);
        };
        std::vector<double> score(sk), slope(sk), weight(sk);
        double sink = c.sink ? std::exp(arrays.at("sink").get(h)) : 0;
        double sum = sink;
        for (int64_t j = 0; j < sk; ++j) {
          for (int64_t e = 0; e < c.d; ++e)
            score[j] += get("q", b, i, h, e) * get("k", b, j, kvh, e);
          score[j] *= scale;
          slope[j] = scale;
          if (c.softcap) {
            double t = std::tanh(score[j] / c.softcap);
            score[j] = c.softcap * t;
            slope[j] *= 1 - t * t;
          }
          if (isSeen(j))
            sum += std::exp(score[j]);
        }
        for (int64_t j = 0; j < sk; ++j)
          weight[j] = isSeen(j) ? std::exp(score[j]) / sum : 0;
        double delta = 0;
        for (int64_t e = 0; e < c.dv; ++e) {
          double o = 0;
          for (int64_t j = 0; j < sk; ++j)
            o += weight[j] * get("v", b, j, kvh, e);
          expected["o"][at("o", b, i, h, e)] = o;
          delta += o * get("do", b, i, h, e);
        }
        if (sum > 0)
          dsink[h] -= sink / sum * delta;
        for (int64_t j = 0; j < sk; ++j) {
          double dp = 0;
          for (int64_t e = 0; e < c.dv; ++e) {
            double g = get("do", b, i, h, e);
            dp += g * get("v", b, j, kvh, e);
            expected["dv"][at("dv", b, j, kvh, e)] += weight[j] * g;
          }
          double ds = weight[j] * (dp - delta) * slope[j];
          for (int64_t e = 0; e < c.d; ++e) {
            expected["dq"][at("dq", b, i, h, e)] += ds * get("k", b, j, kvh, e);
            expected["dk"][at("dk", b, j, kvh, e)] += ds * get("q", b, i, h, e);
          }
        }
      }
  }
  for (auto &[name, values] : expected)
    expectNear(name, values);
  for (int64_t h = 0; c.sink && h < c.heads; ++h)
    EXPECT_NEAR(arrays.at("dsink").get(h), dsink[h],
                0.01 * (1 + std::abs(dsink[h])));
}

class ExecutorBackward
    : public testing::TestWithParam<std::tuple<const char *, Config>> {};

TEST_P(ExecutorBackward, AgreesWithFloat64) {
  auto [chip, config] = GetParam();
  Problem problem(config);
  problem.run(chip);
  if (!HasFatalFailure())
    problem.check();
}

/// Runs every configuration on one chip, packed batches also on the chip with
/// ragged tensor maps, and a different quarter of them on each of the other
/// chips. All configurations on all chips would take minutes.
std::vector<std::tuple<const char *, Config>> chooseTests() {
  std::vector<std::tuple<const char *, Config>> tests;
  for (auto [i, chip] : llvm::enumerate(chips()))
    for (auto [j, config] : llvm::enumerate(kConfigs))
      if (chip.name == "sm_80" || (chip.bulkCopy && config.packed) ||
          (i + j) % 4 == 0)
        tests.push_back({chip.name.data(), config});
  return tests;
}

INSTANTIATE_TEST_SUITE_P(Chips, ExecutorBackward,
                         testing::ValuesIn(chooseTests()),
                         [](const auto &info) {
                           return std::string(std::get<0>(info.param)) + "_" +
                                  std::get<1>(info.param).name;
                         });

} // namespace
