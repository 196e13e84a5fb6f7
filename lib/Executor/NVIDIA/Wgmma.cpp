//===- Wgmma.cpp - MMAs of a warpgroup ------------------------------------===//
//
// Each of the four warps computes its 16 rows, so a row of the table acts for
// one warp. The MMA is computed when it is issued, from the current content of
// shared memory. The checks report who changes the operands or uses the result
// before the wait for the MMA.
// Sources: PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions", and
// Chips/NVIDIA/MatrixDescriptor.h.
//
//===----------------------------------------------------------------------===//

#include "../Block.h"
#include "../MatrixElement.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/bit.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstrTypes.h"

using namespace tile;
using namespace tile::cpu;

namespace {

/// A decoded wgmma.mma_async.
struct Wgmma {
  const Mma *row;
  /// Columns of the result.
  unsigned n;
  bool fromZero, aInRegisters, aMnMajor, bMnMajor;
  /// The first operands of C, A and B.
  unsigned firstC, firstA, firstB;
};

/// The elements of a matrix descriptor.
class SharedMatrix {
public:
  SharedMatrix(Warp &warp, const Site &site, uint64_t descriptor, bool mnMajor,
               unsigned bytes)
      : warp(warp), site(site), mnMajor(mnMajor), bytes(bytes) {
    auto begin = reinterpret_cast<uintptr_t>(warp.threads->shared);
    start = begin + (((descriptor & 0x3fff) * 16 - begin) & 0x3ffff);
    leading = (descriptor >> 16 & 0x3fff) * 16;
    stride = (descriptor >> 32 & 0x3fff) * 16;
    // Swizzle mode 0 is none, 1 is 128 bytes, 2 is 64 bytes, 3 is 32 bytes.
    unsigned mode = descriptor >> 62;
    width = mode == 0 ? 16 : 256 >> mode;
  }

  /// Calls function(mn, k, element) for `count` rows from `first` and `depth`
  /// columns, in the order of memory.
  template <typename Function>
  void forEach(unsigned first, unsigned count, unsigned depth,
               Function function) {
    if (mnMajor)
      for (unsigned k = 0; k < depth; ++k)
        for (unsigned mn = first; mn < first + count; ++mn)
          function(mn, k, at(mn, k));
    else
      for (unsigned mn = first; mn < first + count; ++mn)
        for (unsigned k = 0; k < depth; ++k)
          function(mn, k, at(mn, k));
  }

private:
  const char *at(unsigned mn, unsigned k) {
    unsigned columns = width / bytes;
    uint64_t address =
        mnMajor ? start + mn / columns * leading + k / 8 * stride +
                      k % 8 * width + bytes * (mn % columns)
                : start + mn / 8 * stride + mn % 8 * width + bytes * k;
    address ^= (address >> 7 & (width / 16 - 1)) << 4;
    if (uint64_t next = address & ~uint64_t(15); next != chunk) {
      chunk = next;
      data = warp.block->accessShared(*warp.threads, site, chunk, 16, 16,
                                      AccessKind::ProductRead);
    }
    return data + address % 16;
  }

  Warp &warp;
  const Site &site;
  bool mnMajor;
  /// Bytes of an element.
  unsigned bytes;
  uint64_t start;
  unsigned leading, stride, width;
  /// The 16 bytes of the last read.
  uint64_t chunk = 0;
  const char *data = nullptr;
};

} // namespace

/// Returns the row of m64n<N>k<K>.<accumulator>.<operand>.<operand>, and sets
/// its columns; null if there is none.
static const Mma *findRow(llvm::StringRef shape, unsigned &columns) {
  if (!shape.consume_front("m64n") || shape.consumeInteger(10, columns))
    return nullptr;
  for (const Mma &row : mmas()) {
    llvm::StringRef operand = getPtxType(row.operand);
    std::string name =
        ("k" + llvm::Twine(row.k) + "." + getPtxType(row.accumulator) + "." +
         operand + "." + operand)
            .str();
    if (row.isAsync && shape == name)
      return &row;
  }
  return nullptr;
}

/// Decodes wgmma.mma_async.sync.aligned.m64n<N>k<K>.<acc>.<type>.<type>
/// {$0, ...}, {$i, ...} or $i, $i, <scale d>[, 1, 1][, <a major>][, <b major>];
/// Floats have signs, and elements of 16 bits have majors.
static llvm::Error decode(const llvm::CallBase &call, Site &site) {
  llvm::StringRef text =
      llvm::cast<llvm::InlineAsm>(call.getCalledOperand())->getAsmString();
  auto wgmma = std::make_shared<Wgmma>();
  llvm::StringRef name = text.split(' ').first;
  name.consume_front("wgmma.mma_async.sync.aligned.");
  wgmma->row = findRow(name, wgmma->n);
  if (!wgmma->row)
    return llvm::createStringError("no shape and types that it knows");
  llvm::SmallVector<llvm::StringRef> tail;
  text.rsplit('$').second.rtrim(';').split(tail, ',');
  wgmma->aInRegisters = text.count('{') == 2;
  // The operand's number, the scale, two signs, and one or two majors.
  unsigned signs = isInteger(wgmma->row->operand) ? 0 : 2;
  unsigned majors = wgmma->row->needsKMajor ? 0 : wgmma->aInRegisters ? 1 : 2;
  auto isOne = [](llvm::StringRef text) { return text.trim() == "1"; };
  if (tail.size() != 2 + signs + majors ||
      !llvm::all_of(llvm::ArrayRef(tail).slice(2, signs), isOne))
    return llvm::createStringError("scales or majors that it does not know");
  wgmma->fromZero = tail[1].trim() == "0";
  wgmma->aMnMajor = majors == 2 && isOne(tail[2 + signs]);
  wgmma->bMnMajor = majors != 0 && isOne(tail.back());
  unsigned operands = site.operands.size();
  wgmma->firstC = 0;
  wgmma->firstB = operands - 1;
  // A has 4 registers in all types.
  wgmma->firstA = operands - (wgmma->aInRegisters ? 5 : 2);
  unsigned tied = wgmma->firstA;
  if (tied != wgmma->n / 2 && !(tied == 0 && wgmma->fromZero))
    return llvm::createStringError("accumulators that are not tied");
  site.data = std::move(wgmma);
  return llvm::Error::success();
}

/// Multiplies floats, or words for integers.
template <typename T>
static void multiply(Warp &warp, const Site &site, const Wgmma &wgmma,
                     llvm::ArrayRef<Call> lanes) {
  const Mma &row = *wgmma.row;
  constexpr unsigned rows = 16, mostDepth = 32, mostColumns = 256;
  unsigned n = wgmma.n, first = warp.inBlock % row.warps * row.m;
  unsigned bytes = getBits(row.operand) / 8;
  T a[rows][mostDepth], b[mostDepth][mostColumns], d[rows][mostColumns];

  if (wgmma.aInRegisters) {
    for (int64_t lane = 0; lane < row.warpSize; ++lane)
      for (int64_t reg = 0; reg < row.a.axisSize(kRegister); ++reg) {
        auto at = row.a.element(reg, lane, 0);
        a[at[0]][at[1]] = readElement<T>(
            row.operand, lanes[lane].operandBytes(wgmma.firstA) + bytes * reg);
      }
  } else {
    SharedMatrix shared(warp, site, lanes[0].integer(wgmma.firstA),
                        wgmma.aMnMajor, bytes);
    shared.forEach(first, row.m, row.k,
                   [&](unsigned mn, unsigned k, const char *element) {
                     a[mn - first][k] = readElement<T>(row.operand, element);
                   });
  }
  SharedMatrix shared(warp, site, lanes[0].integer(wgmma.firstB),
                      wgmma.bMnMajor, bytes);
  shared.forEach(0, n, row.k,
                 [&](unsigned mn, unsigned k, const char *element) {
                   b[k][mn] = readElement<T>(row.operand, element);
                 });

  // Fragments of row.n columns follow one another.
  int64_t registers = row.acc.axisSize(kRegister);
  auto forEach = [&](auto function) {
    for (int64_t lane = 0; lane < row.warpSize; ++lane)
      for (int64_t reg = 0; reg < registers; ++reg) {
        auto at = row.acc.element(reg, lane, 0);
        for (unsigned part = 0; part < n / row.n; ++part)
          function(lane, part * registers + reg,
                   d[at[0]][part * row.n + at[1]]);
      }
  };
  // An MMA may accumulate onto an MMA in flight.
  llvm::SmallSet<uint32_t, 4> added;
  forEach([&](unsigned lane, unsigned reg, T &value) {
    uint32_t bits =
        wgmma.fromZero ? 0 : lanes[lane].operand<uint32_t>(wgmma.firstC + reg);
    if (LLVM_UNLIKELY(Products::isToken(bits))) {
      unsigned of;
      if (PendingProduct *product = warp.products.find(bits, of)) {
        bits = product->value(lane, of);
        added.insert(product->firstSerial);
      } else if (!isInteger(wgmma.row->operand)) {
        // An integer may have the bits of a token.
        failEarlyUse(warp.threads[lane], site, bits);
      }
    }
    value = bitCast<T>(bits);
  });
  for (uint32_t firstSerial : added)
    warp.products.erase(firstSerial);
  for (unsigned i = 0; i < row.m; ++i)
    for (unsigned k = 0; k < row.k; ++k) {
      T factor = a[i][k];
      for (unsigned j = 0; j < n; ++j)
        d[i][j] += factor * b[k][j];
    }
  if (!warp.block->getChecker()) {
    forEach([&](unsigned lane, unsigned reg, T &value) {
      lanes[lane].setResult(value, 4 * reg);
    });
    return;
  }
  PendingProduct &product =
      warp.products.start(site, row.warpSize, registers * (n / row.n));
  forEach([&](unsigned lane, unsigned reg, T &value) {
    product.value(lane, reg) = bitCast<uint32_t>(value);
    lanes[lane].setResult(product.token(reg), 4 * reg);
  });
}

static void multiply(Warp &warp, llvm::ArrayRef<Call> lanes) {
  const Site &site = *lanes[0].site;
  const auto &wgmma = *static_cast<const Wgmma *>(site.data.get());
  if (isInteger(wgmma.row->operand))
    multiply<uint32_t>(warp, site, wgmma, lanes);
  else
    multiply<float>(warp, site, wgmma, lanes);
}

/// Fences and waits return 32-bit registers. The final values of completed MMAs
/// replace their tokens.
static void passThrough(Warp &warp, llvm::ArrayRef<Call> lanes) {
  llvm::SmallSet<uint32_t, 4> complete;
  for (auto [lane, call] : llvm::enumerate(lanes))
    for (unsigned i = 0; 4 * i < call.site->resultSize; ++i) {
      auto bits = call.operand<uint32_t>(i);
      unsigned reg;
      PendingProduct *product =
          Products::isToken(bits) ? warp.products.find(bits, reg) : nullptr;
      if (product && warp.products.isComplete(*product)) {
        bits = product->value(lane, reg);
        complete.insert(product->firstSerial);
      }
      call.setResult(bits, 4 * i);
    }
  for (uint32_t firstSerial : complete)
    warp.products.erase(firstSerial);
}

static void commit(Warp &warp, llvm::ArrayRef<Call>) {
  if (Checker *checker = warp.block->getChecker())
    warp.products.commit(checker->closeProducts(warp));
}

/// Emulates wgmma.wait_group.sync.aligned <groups>;
static llvm::Error decodeWait(const llvm::CallBase &call, Site &site) {
  auto *text = llvm::dyn_cast<llvm::InlineAsm>(call.getCalledOperand());
  if (!text) {
    site.immediate =
        llvm::cast<llvm::ConstantInt>(call.getArgOperand(0))->getZExtValue();
    return llvm::Error::success();
  }
  llvm::StringRef groups = text->getAsmString();
  groups = groups.split(' ').second.trim(" ;");
  if (groups.getAsInteger(10, site.immediate))
    return llvm::createStringError("no number of groups");
  return llvm::Error::success();
}

static void wait(Warp &warp, llvm::ArrayRef<Call> lanes) {
  if (Checker *checker = warp.block->getChecker())
    checker->awaitProducts(warp, warp.products.wait(lanes[0].site->immediate));
  passThrough(warp, lanes);
}

static void fenceProxy(Thread &thread, const Call &) {
  if (Checker *checker = thread.block->getChecker())
    checker->fenceProxy(thread);
}

void cpu::failEarlyUse(Thread &thread, const Site &site, uint32_t token) {
  thread.block->fail(thread, site, [&] {
    Report report("uses the accumulator of an MMA before the wait for it");
    unsigned reg;
    if (PendingProduct *product = thread.warp->products.find(token, reg))
      report.notes = {{product->site->position, "the MMA starts here"}};
    return report;
  });
}

llvm::ArrayRef<Instruction> tile::cpu::wgmmaInstructions() {
  static const Instruction rows[] = {
      {"wgmma.mma_async.*", Work::Matrix, nullptr, multiply, nullptr, decode,
       /*masked=*/false, /*handsOn=*/true},
      {"wgmma.fence.sync.aligned", Work::Matrix, nullptr, passThrough, nullptr,
       nullptr, /*masked=*/false, /*handsOn=*/true},
      {"wgmma.wait_group.sync.aligned", Work::Matrix, nullptr, wait, nullptr,
       decodeWait, /*masked=*/false, /*handsOn=*/true},
      {"llvm.nvvm.wgmma.fence.sync.aligned", Work::Matrix, nullptr,
       passThrough},
      {"llvm.nvvm.wgmma.commit_group.sync.aligned", Work::Matrix, nullptr,
       commit},
      {"llvm.nvvm.wgmma.wait_group.sync.aligned", Work::Matrix, nullptr, wait,
       nullptr, decodeWait},
      {"llvm.nvvm.fence.proxy.async.shared_cta", Work::Barrier, fenceProxy},
  };
  return rows;
}
