//===- AtomicWidthTest.cpp - How wide atomics are, and what they add up to ===//
//
// There is one kernel per condition that determines the width of an atomic. It
// is compiled for six chips. Its widths are compared with those that the
// condition allows, and its result on the CPU with a sum element by element.
//
//===----------------------------------------------------------------------===//
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "tile/Conversion/TileToGPU/Passes.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "tile/Dialect/TileGPU/IR/TileGPU.h"
#include "tile/Executor/Executor.h"
#include "tile/InitAll.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"
#include <functional>
#include <set>

using namespace mlir;
using namespace tile;

namespace {

/// One chip for each set of atomic instructions.
constexpr const char *kChips[] = {"sm_80",  "sm_90a",  "gfx90a", "gfx942",
                                  "gfx950", "gfx1100", "gfx1201"};

AtomicElement elementOf(const std::string &type) {
  for (AtomicElement element :
       {AtomicElement::F16, AtomicElement::BF16, AtomicElement::F32,
        AtomicElement::F64, AtomicElement::I32, AtomicElement::I64})
    if (stringify(element) == type)
      return element;
  ADD_FAILURE() << type;
  return AtomicElement::F32;
}

bool isInteger(const std::string &type) { return type[0] == 'i'; }

/// An array in memory of numbers that every type represents exactly.
class Memory {
public:
  Memory(const std::string &type, int64_t count, int64_t seed) : type(type) {
    for (int64_t i = 0; i < count; ++i)
      values.push_back(double((i * 7 + seed) % 13 - 4));
    bytes.resize(count * width() / 8 + 64);
    encode();
  }
  unsigned width() const {
    return type == "f16" || type == "bf16"  ? 16
           : type == "f32" || type == "i32" ? 32
                                            : 64;
  }
  char *data() {
    // The address is aligned to 64 bytes.
    return bytes.data() + (64 - reinterpret_cast<uintptr_t>(bytes.data()) % 64);
  }
  const llvm::fltSemantics &semantics() const {
    return type == "f16"    ? llvm::APFloat::IEEEhalf()
           : type == "bf16" ? llvm::APFloat::BFloat()
           : type == "f32"  ? llvm::APFloat::IEEEsingle()
                            : llvm::APFloat::IEEEdouble();
  }
  void encode() {
    for (size_t i = 0; i < values.size(); ++i) {
      uint64_t bits = uint64_t(int64_t(values[i]));
      if (!isInteger(type)) {
        llvm::APFloat value(values[i]);
        bool lossy;
        value.convert(semantics(), llvm::APFloat::rmNearestTiesToEven, &lossy);
        bits = value.bitcastToAPInt().getZExtValue();
      }
      memcpy(data() + i * width() / 8, &bits, width() / 8);
    }
  }
  double get(size_t i) {
    uint64_t bits = 0;
    memcpy(&bits, data() + i * width() / 8, width() / 8);
    if (isInteger(type))
      return double(width() == 32 ? int64_t(int32_t(bits)) : int64_t(bits));
    llvm::APFloat value(semantics(), llvm::APInt(width(), bits));
    bool lossy;
    value.convert(llvm::APFloat::IEEEdouble(),
                  llvm::APFloat::rmNearestTiesToEven, &lossy);
    return value.convertToDouble();
  }

  std::string type;
  std::vector<double> values;

private:
  std::vector<char> bytes;
};

/// A condition on the width. The tile has `rows` x `columns` elements of a
/// source without gaps.
struct Case {
  const char *name;
  /// The type of the destination: shape, layout and space; `%E` is the element
  /// type.
  std::string dest;
  /// The extents and strides of the argument `dest`, and its storage, in
  /// elements.
  llvm::SmallVector<int64_t, 4> shape, strides;
  int64_t storage;
  /// Returns the offset of an element, in elements.
  std::function<int64_t(int64_t, int64_t)> offset;
  /// The widest access that the condition allows on any chip, in elements.
  int64_t widest;
  /// Whether the tile is a window. On AMD, masked atomics then have the buffer
  /// form.
  bool isWindow = true;
  int64_t startRow = 0, startColumn = 0;
  int64_t rows = 16, columns = 32;
  /// The layouts of the tile for 32 and for 64 lanes; coalesced if empty.
  std::string layout32 = "#tile.blocked<thread = [1, 8], lane = [8, 4], warp = "
                         "[1, 1], order = [1, 0]>";
  std::string layout64 = "#tile.blocked<thread = [1, 8], lane = [16, 4], warp "
                         "= [1, 1], order = [1, 0]>";
};

std::string source(const Case &test, const std::string &type,
                   const Chip &chip) {
  std::string dest = test.dest;
  while (dest.find("%E") != std::string::npos)
    dest.replace(dest.find("%E"), 2, type);
  std::string layout = chip.warpSize == 32 ? test.layout32 : test.layout64;
  return llvm::formatv(
      R"(
!src = !tile.buffer<{0}x{1}x{2}, #tile.strided<[{1}, 1], align = 16>, global>
!dst = {3}
!tile = tensor<{0}x{1}x{2}{4}>
tile.kernel @k(%src: !src, %dst: !dst {{tile.name = "dst"})
    attributes {{num_warps = 1 : i32} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %row = arith.constant {5} : index
  %column = arith.constant {6} : index
  tile.grid %c1, %c1, %c1
  %t = tile.load %src[%c0, %c0] : !src -> !tile
  tile.atomic_rmw {7} %t, %dst[%row, %column] : !tile, !dst
})",
      test.rows, test.columns, type, dest, layout.empty() ? "" : ", " + layout,
      test.startRow, test.startColumn, isInteger(type) ? "addi" : "addf");
}

class AtomicWidth : public testing::Test {
protected:
  AtomicWidth() : context(registry(), MLIRContext::Threading::DISABLED) {}

  static DialectRegistry registry() {
    DialectRegistry registry;
    registerAllDialects(registry);
    return registry;
  }

  /// Returns the widths of the atomics of one thread, in elements. Those of the
  /// buffer form are added to `buffer` instead if it is not null.
  std::set<int64_t> widths(const std::string &text, const char *chip,
                           std::set<int64_t> *buffer = nullptr) {
    std::set<int64_t> result;
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return result;
    PassManager pm(&context);
    TileAttachTargetOptions target;
    target.chip = chip;
    pm.addPass(createTileAttachTarget(target));
    pm.addPass(createTileChooseAccumulators());
    OpPassManager &kernel = pm.nest<KernelOp>();
    kernel.addPass(createTileAssignLayouts());
    kernel.addPass(createTileDecomposeConversions());
    kernel.addPass(createTileBufferize());
    kernel.addPass(createTilePipeline());
    kernel.addPass(createTileLowerRings());
    kernel.addPass(createTilePlanSharedMemory());
    kernel.addPass(createTileInsertBarriers());
    pm.addPass(createTileVectorize());
    if (failed(pm.run(*module)))
      return result;
    module->walk([&](tile::gpu::AtomicRMWOp op) {
      result.insert(cast<VectorType>(op.getValue().getType()).getNumElements());
    });
    module->walk([&](tile::gpu::BufferAtomicRMWOp op) {
      (buffer ? *buffer : result)
          .insert(cast<VectorType>(op.getValue().getType()).getNumElements());
    });
    return result;
  }

  bool run(const std::string &text, const char *chip,
           llvm::ArrayRef<cpu::Argument> arguments) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return false;
    cpu::ProgramOptions options;
    options.compile.chip = chip;
    FailureOr<cpu::Program> program = cpu::Program::compile(*module, options);
    return succeeded(program) && succeeded(program->run(arguments, {}));
  }

  void check(const Case &test, const std::string &type) {
    for (const char *name : kChips) {
      SCOPED_TRACE(std::string(test.name) + ", " + type + " on " + name);
      const Chip &chip = *findChip(name);
      std::string text = source(test, type, chip);
      int64_t expected = 1;
      for (int64_t width : atomicWidths(
               chip, isInteger(type) ? AtomicKind::AddI : AtomicKind::AddF,
               elementOf(type), /*shared=*/false))
        if (width <= test.widest)
          expected = std::max(expected, width);
      AtomicKind kind = isInteger(type) ? AtomicKind::AddI : AtomicKind::AddF;
      std::set<int64_t> buffer, other = widths(text, name, &buffer);
      bool inBuffer = test.isWindow &&
                      findBufferAtomic(chip, kind, elementOf(type), expected);
      EXPECT_EQ(inBuffer ? buffer : other, std::set<int64_t>{expected});
      EXPECT_TRUE((inBuffer ? other : buffer).empty());

      Memory src(type, test.rows * test.columns, 1), dst(type, test.storage, 5);
      std::vector<double> want = dst.values;
      for (int64_t i = 0; i < test.rows; ++i)
        for (int64_t j = 0; j < test.columns; ++j)
          if (test.startRow + i >= 0 && test.startRow + i < test.shape[0] &&
              test.startColumn + j < test.shape[1])
            want[test.offset(test.startRow + i, test.startColumn + j)] +=
                src.values[i * test.columns + j];
      cpu::Tensor srcTensor{
          src.data(), type, {test.rows, test.columns}, {test.columns, 1}};
      cpu::Tensor dstTensor{dst.data(), type, test.shape, test.strides};
      ASSERT_TRUE(run(text, name, {srcTensor, dstTensor}));
      for (size_t i = 0; i < want.size(); ++i)
        ASSERT_EQ(dst.get(i), want[i]) << "offset " << i;
    }
  }

  MLIRContext context;
};

Case plain() {
  return {"plain",
          "!tile.buffer<?x32x%E, #tile.strided<[32, 1], align = 16>, global>",
          {20, 32},
          {32, 1},
          640,
          [](int64_t i, int64_t j) { return i * 32 + j; },
          /*widest=*/8};
}

TEST_F(AtomicWidth, EveryType) {
  for (const char *type : {"f16", "bf16", "f32", "f64", "i32", "i64"})
    check(plain(), type);
}

/// The layout of tilelang's issue 1366: neighbours in a fragment are not
/// contiguous in memory.
TEST_F(AtomicWidth, PermutedDestination) {
  Case test = plain();
  test.name = "permuted destination";
  test.dest = "!tile.buffer<?x32x%E, #tile.map<(l, d) -> (l floordiv 8, d "
              "floordiv 8, d mod 2, 4 * (l mod 8) + (d mod 8) floordiv 2), "
              "align = 16>, global>";
  test.shape = {24, 32};
  test.storage = 24 * 32;
  test.offset = [](int64_t l, int64_t d) {
    return ((l / 8 * 4 + d / 8) * 2 + d % 2) * 32 + 4 * (l % 8) + d % 8 / 2;
  };
  test.widest = 4; // columns 0, 2, 4 and 6 of a row
  check(test, "f32");
  check(test, "f16");
  // A lane of this fragment holds two neighbouring columns, which are 32
  // elements apart in memory.
  test.layout32 = "#tile.mma<\"mma.m16n8k16.f16\", warps = [1, 1]>";
  std::string text = source(test, "f32", *findChip("sm_90a"));
  EXPECT_EQ(widths(text, "sm_90a"), std::set<int64_t>{1});
  // The start is not a multiple of the period of the layout.
  test.layout32 = plain().layout32;
  test.startRow = 3;
  test.isWindow = false;
  check(test, "f32");
  test.startColumn = 2;
  test.widest = 1;
  check(test, "f32");
}

/// A tile that starts before its buffer: only the elements inside are added.
TEST_F(AtomicWidth, NegativeStart) {
  Case test = plain();
  test.name = "negative start";
  test.startRow = -8;
  check(test, "f32");
  // The number of the period is the fastest dimension of the storage, so that
  // the distance of columns is dynamic.
  test.isWindow = false;
  test.dest = "!tile.buffer<?x32x%E, #tile.map<(l, d) -> (l mod 8, d, l "
              "floordiv 8), align = 16>, global>";
  test.shape = {24, 32};
  test.storage = 24 * 32;
  test.offset = [](int64_t l, int64_t d) {
    return (l % 8 * 32 + d) * 3 + l / 8;
  };
  test.widest = 1;
  check(test, "f32");
}

TEST_F(AtomicWidth, SwizzledSource) {
  Case test = plain();
  test.name = "swizzled shared source";
  test.layout32 = test.layout64 = "#tile.swizzle<64>";
  check(test, "f16");
  test.layout32 = test.layout64 = "#tile.swizzle<128>";
  check(test, "f32");
}

TEST_F(AtomicWidth, PermutedFragment) {
  Case test = plain();
  test.name = "permuted registers";
  test.layout32 = "#tile.layout<register = [2 -> d1 * 4, 2 -> d1 * 2, 2 -> d1, "
                  "2 -> d0 * 8], lane = [4 -> d1 * 8, 8 -> d0], warp = []>";
  test.layout64 = "#tile.layout<register = [2 -> d1 * 4, 2 -> d1 * 2, 2 -> d1]"
                  ", lane = [4 -> d1 * 8, 16 -> d0], warp = []>";
  check(test, "f16");
  check(test, "f32");
}

TEST_F(AtomicWidth, InvariantDestination) {
  // B[i]: all columns have one place.
  Case test = plain();
  test.name = "column invariant";
  test.dest = "!tile.buffer<?x32x%E, #tile.strided<[1, 0], align = 16>, "
              "global>";
  test.strides = {1, 0};
  test.storage = 20;
  test.offset = [](int64_t i, int64_t) { return i; };
  test.widest = 1;
  test.layout32 = "#tile.blocked<thread = [1, 4], lane = [4, 8], warp = [1, 1]"
                  ", order = [1, 0]>";
  test.layout64 = "#tile.blocked<thread = [1, 4], lane = [8, 8], warp = [1, 1]"
                  ", order = [1, 0]>";
  check(test, "f32");
  test.layout32 = plain().layout32;
  test.layout64 = plain().layout64;
  // B[j]: the rows of a thread have one place, and columns are neighbours.
  test.name = "row invariant";
  test.dest = "!tile.buffer<?x32x%E, #tile.strided<[0, 1], align = 16>, "
              "global>";
  test.strides = {0, 1};
  test.storage = 32;
  test.offset = [](int64_t, int64_t j) { return j; };
  test.widest = 8;
  check(test, "f32");
  check(test, "f16");
  // B[0].
  test.name = "invariant";
  test.dest = "!tile.buffer<?x32x%E, #tile.strided<[0, 0], align = 16>, "
              "global>";
  test.strides = {0, 0};
  test.storage = 1;
  test.offset = [](int64_t, int64_t) { return 0; };
  test.widest = 1;
  check(test, "f32");
  // A buffer of one element.
  test.name = "shape 1x1";
  test.dest = "!tile.buffer<1x1x%E, #tile.strided<[1, 1], align = 16>, global>";
  test.shape = {1, 1};
  test.strides = {1, 1};
  check(test, "f32");
}

TEST_F(AtomicWidth, Alignment) {
  Case test = plain();
  test.name = "odd base";
  test.dest = "!tile.buffer<?x32x%E, #tile.strided<[32, 1]>, global>";
  test.widest = 1;
  check(test, "f32");
  test.name = "half a base";
  test.dest = "!tile.buffer<?x32x%E, #tile.strided<[32, 1], align = 8>, "
              "global>";
  test.widest = 2;
  check(test, "f32");
}

TEST_F(AtomicWidth, ElementOffset) {
  Case test = plain();
  test.name = "odd element offset";
  test.dest = "!tile.buffer<?x64x%E, #tile.strided<[64, 1], align = 16>, "
              "global>";
  test.shape = {20, 64};
  test.strides = {64, 1};
  test.storage = 20 * 64;
  test.offset = [](int64_t i, int64_t j) { return i * 64 + j; };
  test.startColumn = 1;
  test.widest = 1;
  check(test, "f32");
  test.startColumn = 2;
  test.widest = 2;
  check(test, "f32");
  test.startColumn = 4;
  test.widest = 4;
  check(test, "f32");
  check(test, "f16");
}

TEST_F(AtomicWidth, Strides) {
  Case test = plain();
  test.name = "columns 2 apart";
  test.dest = "!tile.buffer<?x32x%E, #tile.strided<[64, 2], align = 16>, "
              "global>";
  test.strides = {64, 2};
  test.storage = 20 * 64;
  test.offset = [](int64_t i, int64_t j) { return i * 64 + j * 2; };
  test.widest = 1;
  check(test, "f32");
  test.name = "dynamic column stride";
  // A thread has one row. Those of two rows would take turns, each with a mask
  // of its own.
  test.layout32 = "#tile.blocked<thread = [1, 16], lane = [16, 2], warp = [1, "
                  "1], order = [1, 0]>";
  test.dest = "!tile.buffer<?x32x%E, #tile.strided<[64, ?], align = 16>, "
              "global>";
  check(test, "f32");
  test.layout32 = plain().layout32;
  test.name = "dynamic row stride";
  test.strides = {35, 1};
  test.storage = 20 * 35;
  test.offset = [](int64_t i, int64_t j) { return i * 35 + j; };
  test.dest = "!tile.buffer<?x32x%E, #tile.strided<[?, 1], align = 16>, "
              "global>";
  check(test, "f32");
  for (int64_t divisor : {2, 4}) {
    test.name = "dynamic row stride with a divisor";
    test.strides = {36, 1};
    test.storage = 20 * 36;
    test.offset = [](int64_t i, int64_t j) { return i * 36 + j; };
    test.dest =
        "!tile.buffer<?x32x%E, #tile.strided<[?:" + std::to_string(divisor) +
        ", 1], align = 16>, global>";
    test.widest = divisor;
    check(test, "f32");
    check(test, "f16");
  }
}

/// Rows of a window, each with one mask: every element uses the buffer form.
TEST_F(AtomicWidth, MaskedRows) {
  Case test = plain();
  test.name = "four columns a thread";
  test.layout32 = "#tile.blocked<thread = [1, 4], lane = [4, 8], warp = [1, 1]"
                  ", order = [1, 0]>";
  test.layout64 = "#tile.blocked<thread = [1, 4], lane = [8, 8], warp = [1, 1]"
                  ", order = [1, 0]>";
  test.widest = 4;
  test.startRow = 7;
  for (const char *type : {"f16", "bf16", "f32", "f64", "i32", "i64"})
    check(test, type);
  test.name = "strided rows that begin before the buffer";
  test.startRow = -5;
  test.shape = {9, 32};
  test.strides = {48, 1};
  test.storage = 9 * 48;
  test.offset = [](int64_t i, int64_t j) { return i * 48 + j; };
  test.dest = "!tile.buffer<?x32x%E, #tile.strided<[48, 1], align = 16>, "
              "global>";
  check(test, "f16");
  check(test, "bf16");
  check(test, "f32");
  test.name = "permuted rows";
  test.dest = "!tile.buffer<?x32x%E, #tile.map<(l, d) -> (l floordiv 8, d, l "
              "mod 8), align = 16>, global>";
  test.startRow = 8;
  test.shape = {16, 32};
  test.storage = 16 * 32;
  test.offset = [](int64_t l, int64_t d) {
    return (l / 8 * 32 + d) * 8 + l % 8;
  };
  test.widest = 1;
  check(test, "f32");
}

TEST_F(AtomicWidth, MaskedTail) {
  Case test = plain();
  test.name = "dynamic end of a row";
  test.dest = "!tile.buffer<?x?x%E, #tile.strided<[32, 1], align = 16>, "
              "global>";
  test.shape = {13, 29};
  test.widest = 1;
  check(test, "f32");
  for (auto [extent, widest] :
       {std::pair{30, 2}, std::pair{28, 4}, std::pair{24, 8}}) {
    test.name = "static end of a row";
    test.shape = {13, extent};
    test.dest = "!tile.buffer<?x" + std::to_string(extent) +
                "x%E, #tile.strided<[32, 1], align = 16>, global>";
    test.widest = widest;
    check(test, "f32");
    check(test, "f16");
  }
  // The rows have 4 elements and are contiguous. An access of 8 would span two
  // rows, and the buffer may end between them.
  test.name = "groups over two rows";
  test.rows = 32;
  test.columns = 4;
  test.layout32 = test.layout64 =
      "#tile.layout<register = [4 -> d1, 2 -> d0], lane = [16 -> d0 * 2, LANES "
      "-> 0], warp = []>";
  test.layout32.replace(test.layout32.find("LANES"), 5, "2");
  test.layout64.replace(test.layout64.find("LANES"), 5, "4");
  test.dest = "!tile.buffer<?x4x%E, #tile.strided<[4, 1], align = 16>, global>";
  test.shape = {13, 4};
  test.strides = {4, 1};
  test.storage = 13 * 4;
  test.offset = [](int64_t i, int64_t j) { return i * 4 + j; };
  test.widest = 4;
  check(test, "f16");
}

TEST_F(AtomicWidth, Replication) {
  // Registers and lanes hold copies: every element is added once.
  Case test = plain();
  test.name = "replicated";
  test.layout32 = "#tile.layout<register = [2 -> 0, 4 -> d1, 8 -> d0], lane = "
                  "[8 -> d1 * 4, 2 -> 0, 2 -> d0 * 8], warp = []>";
  test.layout64 = "#tile.layout<register = [2 -> 0, 4 -> d1, 8 -> d0], lane = "
                  "[8 -> d1 * 4, 4 -> 0, 2 -> d0 * 8], warp = []>";
  test.widest = 4;
  check(test, "f32");
  check(test, "f16");
}

TEST_F(AtomicWidth, RefusesStorageThatIsTooSmall) {
  Case test = plain();
  test.dest = "!tile.buffer<?x32x%E, #tile.map<(l, d) -> (l floordiv 8, d, l "
              "mod 8), align = 16>, global>";
  std::string text = source(test, "f32", *findChip("sm_90a"));
  Memory src("f32", 16 * 32, 1), dst("f32", 24 * 32, 1);
  cpu::Tensor srcTensor{src.data(), "f32", {16, 32}, {32, 1}};
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  cpu::Tensor ragged{dst.data(), "f32", {20, 32}, {32, 1}};
  EXPECT_FALSE(run(text, "sm_90a", {srcTensor, ragged}));
  EXPECT_NE(message.find("spans 640 elements, must span 768"),
            std::string::npos)
      << message;
  cpu::Tensor whole{dst.data(), "f32", {24, 32}, {32, 1}};
  EXPECT_TRUE(run(text, "sm_90a", {srcTensor, whole}));
}

//===----------------------------------------------------------------------===//
// Other kernels
//===----------------------------------------------------------------------===//

/// No chip has vector atomics of f32 on shared memory.
TEST_F(AtomicWidth, SharedDestination) {
  for (const char *name : kChips)
    for (const char *type : {"f16", "f32"}) {
      SCOPED_TRACE(std::string(type) + " on " + name);
      std::string text = llvm::formatv(R"(
!b = !tile.buffer<16x64x{0}, #tile.strided<[64, 1], align = 16>, global>
!s = !tile.buffer<16x64x{0}, #tile.swizzle<128>, shared>
tile.kernel @k(%src: !b, %dst: !b) attributes {{num_warps = 2 : i32} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.load %src[%c0, %c0] : !b -> tensor<16x64x{0}>
  %s = tile.alloc : !s
  tile.store %t, %s[%c0, %c0] : tensor<16x64x{0}>, !s
  tile.atomic_rmw addf %t, %s[%c0, %c0] : tensor<16x64x{0}>, !s
  tile.atomic_rmw addf %t, %s[%c0, %c0] : tensor<16x64x{0}>, !s
  %u = tile.load %s[%c0, %c0] : !s -> tensor<16x64x{0}>
  tile.store %u, %dst[%c0, %c0] : tensor<16x64x{0}>, !b
})",
                                       type);
      auto possible = atomicWidths(*findChip(name), AtomicKind::AddF,
                                   elementOf(type), /*shared=*/true);
      EXPECT_EQ(widths(text, name), std::set<int64_t>{possible.front()});
      Memory src(type, 1024, 1), dst(type, 1024, 2);
      cpu::Tensor a{src.data(), type, {16, 64}, {64, 1}};
      cpu::Tensor b{dst.data(), type, {16, 64}, {64, 1}};
      ASSERT_TRUE(run(text, name, {a, b}));
      for (size_t i = 0; i < 1024; ++i)
        ASSERT_EQ(dst.get(i), 3 * src.values[i]) << i;
    }
}

/// Every thread that holds a copy of an element gets its old value.
TEST_F(AtomicWidth, ReturnsOldValues) {
  for (const char *name : kChips)
    for (const char *type : {"f16", "f32", "f64", "i32", "i64"}) {
      SCOPED_TRACE(std::string(type) + " on " + name);
      std::string text = llvm::formatv(R"(
!b = !tile.buffer<?x{0}, #tile.strided<[1], align = 16>, global>
tile.kernel @k(%src: !b, %dst: !b, %old: !b) attributes {{num_warps = 1 : i32} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.load %src[%c0] : !b -> tensor<16x{0}>
  %o = tile.atomic_rmw {1} %t, %dst[%c0] order(acq_rel)
      : tensor<16x{0}>, !b -> tensor<16x{0}>
  tile.store %o, %old[%c0] : tensor<16x{0}>, !b
})",
                                       type, isInteger(type) ? "maxs" : "addf");
      Memory src(type, 16, 1), dst(type, 16, 2), old(type, 16, 3);
      auto tensor = [&](Memory &memory, int64_t extent) {
        return cpu::Tensor{memory.data(), type, {extent}, {1}};
      };
      // The last elements are out of bounds: unchanged, and their old value is
      // 0.
      ASSERT_TRUE(
          run(text, name, {tensor(src, 16), tensor(dst, 13), tensor(old, 16)}));
      for (size_t i = 0; i < 16; ++i) {
        double sum = isInteger(type) ? std::max(src.values[i], dst.values[i])
                                     : src.values[i] + dst.values[i];
        ASSERT_EQ(old.get(i), i < 13 ? dst.values[i] : 0) << i;
        ASSERT_EQ(dst.get(i), i < 13 ? sum : dst.values[i]) << i;
      }
    }
}

/// Two atomics in one loop have different widths.
TEST_F(AtomicWidth, TwoInOneLoop) {
  const std::string text = R"(
!b = !tile.buffer<?x32xf32, #tile.strided<[32, 1], align = 16>, global>
!c = !tile.buffer<?x32xf32, #tile.strided<[?:2, 1], align = 16>, global>
tile.kernel @k(%src: !b, %wide: !b, %narrow: !c) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %rows = tile.dim %src[0] : !b
  tile.grid %c1, %c1, %c1
  scf.for %i = %c0 to %rows step %c16 {
    %t = tile.load %src[%i, %c0] : !b -> tensor<16x32xf32>
    tile.atomic_rmw addf %t, %wide[%i, %c0] : tensor<16x32xf32>, !b
    tile.atomic_rmw addf %t, %narrow[%c0, %c0] : tensor<16x32xf32>, !c
  }
})";
  EXPECT_EQ(widths(text, "sm_90a"), (std::set<int64_t>{2, 4}));
  EXPECT_EQ(widths(text, "sm_80"), (std::set<int64_t>{1}));
  for (const char *name : kChips) {
    SCOPED_TRACE(name);
    Memory src("f32", 40 * 32, 1), wide("f32", 40 * 32, 2),
        narrow("f32", 16 * 34, 3);
    ASSERT_TRUE(run(text, name,
                    {cpu::Tensor{src.data(), "f32", {40, 32}, {32, 1}},
                     cpu::Tensor{wide.data(), "f32", {40, 32}, {32, 1}},
                     cpu::Tensor{narrow.data(), "f32", {16, 32}, {34, 1}}}));
    std::vector<double> want = narrow.values;
    for (int64_t i = 0; i < 40; ++i)
      for (int64_t j = 0; j < 32; ++j) {
        ASSERT_EQ(wide.get(i * 32 + j),
                  wide.values[i * 32 + j] + src.values[i * 32 + j]);
        want[i % 16 * 34 + j] += src.values[i * 32 + j];
      }
    for (size_t i = 0; i < want.size(); ++i)
      ASSERT_EQ(narrow.get(i), want[i]) << i;
  }
}

/// The layout that the compiler chooses is coalesced and as wide as the chip
/// adds. Another kernel reads the sums.
TEST_F(AtomicWidth, ChosenAccumulator) {
  const std::string text = R"(
!h = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!f = !tile.buffer<?x64xf32, #tile.strided<[64, 1], align = 16>, global>
tile.kernel @add(%a: !h {tile.name = "a"}, %b: !h {tile.name = "b"},
                 %acc: !f {tile.name = "acc", tile.accumulator})
    attributes {num_warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %rows = tile.dim %a[0] : !h
  %blocks = arith.ceildivui %rows, %c32 : index
  tile.grid %blocks, %c1, %c1
  %block = tile.program_id x
  %row = arith.muli %block, %c32 : index
  %at = tile.load %a[%row, %c0] : !h -> tensor<32x64xf16>
  %bt = tile.load %b[%c0, %c0] : !h -> tensor<64x64xf16>
  %zero = arith.constant dense<0.0> : tensor<32x64xf32>
  %d = tile.dot %at, %bt, %zero
      : tensor<32x64xf16>, tensor<64x64xf16> -> tensor<32x64xf32>
  tile.atomic_rmw addf %d, %acc[%row, %c0] : tensor<32x64xf32>, !f
}
tile.kernel @read(%acc: !f {tile.name = "acc", tile.accumulator},
                  %out: !f {tile.name = "out"}) attributes {num_warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %rows = tile.dim %out[0] : !f
  %blocks = arith.ceildivui %rows, %c32 : index
  tile.grid %blocks, %c1, %c1
  %block = tile.program_id x
  %row = arith.muli %block, %c32 : index
  %t = tile.load %acc[%row, %c0] : !f -> tensor<32x64xf32>
  tile.store %t, %out[%row, %c0] : tensor<32x64xf32>, !f
})";
  for (const char *name : kChips) {
    SCOPED_TRACE(name);
    auto possible = atomicWidths(*findChip(name), AtomicKind::AddF,
                                 AtomicElement::F32, /*shared=*/false);
    EXPECT_EQ(widths(text, name), std::set<int64_t>{possible.front()});
    constexpr int64_t rows = 50, padded = 64;
    Memory a("f16", rows * 64, 1), b("f16", 64 * 64, 2),
        acc("f32", padded * 64, 0), out("f32", rows * 64, 3);
    std::fill(acc.values.begin(), acc.values.end(), 0);
    acc.encode();
    auto tensor = [](Memory &memory, int64_t extent) {
      return cpu::Tensor{memory.data(), memory.type, {extent, 64}, {64, 1}};
    };
    ASSERT_TRUE(run(text, name,
                    {tensor(a, rows), tensor(b, 64), tensor(acc, padded),
                     tensor(out, rows)}));
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < 64; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < 64; ++k)
          sum += a.values[i * 64 + k] * b.values[k * 64 + j];
        ASSERT_EQ(out.get(i * 64 + j), sum) << i << ' ' << j;
      }
  }
}

} // namespace
