//===- Reports.cpp - What kernels print -----------------------------------===//

#include "Reports.h"
#include "Block.h"
#include "tile/Dialect/TileGPU/IR/Reports.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/Support/MathExtras.h"
#include <cstdio>

using namespace tile::cpu;

void PrintedText::add(uint64_t block, std::string text, Sink sink) {
  texts.emplace(block, std::move(text));
  for (auto first = texts.begin(); first != texts.end() && first->first == next;
       first = texts.erase(first), ++next)
    if (!first->second.empty())
      sink(first->second);
}

void PrintedText::finish(Sink sink) {
  for (auto &[block, text] : texts)
    if (!text.empty())
      sink(text);
  texts.clear();
}

namespace {
/// Reads the arguments of a text, each at a multiple of its size.
class ArgumentReader {
public:
  explicit ArgumentReader(const char *memory) : memory(memory) {}

  template <typename T> T next() {
    offset = llvm::alignTo(offset, sizeof(T));
    T value;
    std::memcpy(&value, memory + offset, sizeof(T));
    offset += sizeof(T);
    return value;
  }

private:
  const char *memory;
  uint64_t offset = 0;
};
} // namespace

template <typename T>
static void append(std::string &text, const std::string &conversion, T value) {
  int size = std::snprintf(nullptr, 0, conversion.c_str(), value);
  std::string part(std::max(size, 0) + 1, '\0');
  std::snprintf(part.data(), part.size(), conversion.c_str(), value);
  part.pop_back();
  text += part;
}

/// Appends the text of a format. Returns the conversion that is not supported;
/// an empty one if there is none.
static std::string format(std::string &text, llvm::StringRef format,
                          ArgumentReader arguments) {
  while (!format.empty()) {
    size_t begin = format.find('%');
    text += format.take_front(begin);
    if (begin == llvm::StringRef::npos)
      return {};
    format = format.drop_front(begin);
    size_t end = format.find_first_not_of("-+ #0123456789.l", 1);
    std::string conversion =
        format.take_front(end + (end != format.npos)).str();
    format = format.drop_front(conversion.size());
    bool isLong = conversion.find('l') != std::string::npos;
    switch (conversion.back()) {
    case '%':
      text += conversion.size() == 1 ? "" : "%";
      if (conversion.size() == 1)
        return conversion;
      break;
    case 'd':
    case 'i':
    case 'u':
    case 'o':
    case 'x':
    case 'X':
    case 'c':
      if (isLong)
        append(text, conversion, arguments.next<int64_t>());
      else
        append(text, conversion, arguments.next<int32_t>());
      break;
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
      llvm::erase(conversion, 'l');
      append(text, conversion, arguments.next<double>());
      break;
    default:
      return conversion;
    }
  }
  return {};
}

/// Refuses a call without a format and the address of arguments.
static llvm::Error decodeText(const llvm::CallBase &call, Site &) {
  bool hasBoth = call.arg_size() == 2 &&
                 call.getArgOperand(0)->getType()->isPointerTy() &&
                 call.getArgOperand(1)->getType()->isPointerTy();
  if (hasBoth &&
      (call.getType()->isVoidTy() || call.getType()->isIntegerTy(32)))
    return llvm::Error::success();
  return llvm::createStringError("not the addresses of a format and arguments");
}

/// Appends the text of a call with a format and the address of its arguments,
/// as format() does.
static std::string appendText(std::string &text, const Call &call) {
  return format(text, reinterpret_cast<const char *>(call.integer(0)),
                ArgumentReader(reinterpret_cast<char *>(call.integer(1))));
}

static void print(Thread &thread, const Call &call) {
  if (appendText(thread.printed, call).empty()) {
    if (call.site->resultSize != 0)
      call.setResult<int32_t>(0);
    return;
  }
  thread.block->fail(thread, *call.site, [&] {
    std::string text;
    return Report("the executor cannot print '" + appendText(text, call) + "'");
  });
}

static void failAssertion(Thread &thread, const Call &call) {
  thread.block->fail(thread, *call.site, [&] {
    std::string text;
    appendText(text, call);
    llvm::StringRef message = llvm::StringRef(text).rtrim('\n');
    // The report names the place, too.
    message.consume_front(thread.block->describeThread(thread.id));
    return Report(message);
  });
}

static void trap(Thread &thread, const Call &call) {
  thread.block->fail(thread, *call.site,
                     [] { return Report("executes a trap"); });
}

llvm::ArrayRef<Instruction> tile::cpu::reportInstructions() {
  static const Instruction rows[] = {
      {tile::gpu::kPrintFunction, Work::Report, print, nullptr, nullptr,
       decodeText},
      {tile::gpu::kFailFunction, Work::Report, failAssertion, nullptr, nullptr,
       decodeText},
      {"llvm.trap", Work::Report, trap},
  };
  return rows;
}
