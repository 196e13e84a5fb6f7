//===- Array.cpp - Arrays in memory and in .npy files ---------------------===//

#include "Array.h"
#include "tile/Launch/Launch.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace tile;
using llvm::createStringError;
using llvm::Expected;
using llvm::formatv;
using llvm::StringRef;

static constexpr size_t kAlignment = 256;

/// Returns the NumPy name of an element type; empty if there is none.
static StringRef npyType(StringRef type) {
  return llvm::StringSwitch<StringRef>(type)
      .Case("f16", "<f2")
      .Case("bf16", "<u2")
      .Case("f32", "<f4")
      .Case("f64", "<f8")
      .Case("i8", "|i1")
      .Case("i32", "<i4")
      .Case("i64", "<i8")
      .Default("");
}
/// Returns the bytes of an element of a NumPy type such as `<f4`; 0 if the type
/// is not a number.
static int64_t npyBytes(StringRef type) {
  int64_t bytes;
  return type.size() < 3 || type.drop_front(2).getAsInteger(10, bytes) ? 0
                                                                       : bytes;
}

void Array::Free::operator()(char *memory) const { std::free(memory); }

Expected<Array> Array::create(llvm::ArrayRef<int64_t> shape, StringRef type,
                              Order order) {
  if (npyType(type).empty())
    return createStringError(formatv("there is no type '{0}', only f16, bf16, "
                                     "f32, f64, i8, i32 and i64",
                                     type));
  Array array;
  array.extents.assign(shape.begin(), shape.end());
  array.element = type.str();
  array.storageOrder = order;
  array.count = 1;
  for (int64_t extent : shape)
    if (extent < 0 || llvm::MulOverflow(array.count, extent, array.count) ||
        array.count > (int64_t(1) << 40))
      return createStringError("the array is too large");
  size_t bytes = llvm::alignTo(
      std::max<int64_t>(array.count * launch::elementBytes(type), 1),
      kAlignment);
  array.memory.reset(
      static_cast<char *>(std::aligned_alloc(kAlignment, bytes)));
  if (!array.memory)
    return createStringError("no memory for an array of %zu bytes", bytes);
  std::memset(array.memory.get(), 0, bytes);
  return array;
}

cpu::Tensor Array::tensor() {
  cpu::Tensor tensor;
  tensor.data = memory.get();
  tensor.type = element;
  tensor.shape = extents;
  tensor.strides.resize(extents.size());
  int64_t stride = 1;
  for (size_t i = 0; i < extents.size(); ++i) {
    size_t dim = isFortran() ? i : extents.size() - 1 - i;
    tensor.strides[dim] = stride;
    stride *= std::max<int64_t>(extents[dim], 1);
  }
  return tensor;
}

char *Array::at(int64_t i) const {
  int64_t offset = i;
  if (isFortran()) {
    offset = 0;
    int64_t stride = count;
    for (size_t dim = extents.size(); dim-- > 0; i /= extents[dim]) {
      stride /= extents[dim];
      offset += i % extents[dim] * stride;
    }
  }
  return memory.get() + offset * launch::elementBytes(element);
}

StringRef Array::bytes() const {
  return {memory.get(), size_t(count * launch::elementBytes(element))};
}
llvm::MutableArrayRef<char> Array::mutableBytes() {
  return {memory.get(), size_t(count * launch::elementBytes(element))};
}

double Array::get(int64_t i) const {
  uint64_t bits = 0;
  std::memcpy(&bits, at(i), launch::elementBytes(element));
  if (const llvm::fltSemantics *semantics = launch::findFormat(element)) {
    llvm::APFloat value(*semantics,
                        llvm::APInt(8 * launch::elementBytes(element), bits));
    bool lossy;
    value.convert(llvm::APFloat::IEEEdouble(),
                  llvm::APFloat::rmNearestTiesToEven, &lossy);
    return value.convertToDouble();
  }
  return static_cast<double>(
      llvm::SignExtend64(bits, 8 * launch::elementBytes(element)));
}

void Array::set(int64_t i, double value) {
  uint64_t bits;
  if (const llvm::fltSemantics *semantics = launch::findFormat(element)) {
    llvm::APFloat number(value);
    bool lossy;
    number.convert(*semantics, llvm::APFloat::rmNearestTiesToEven, &lossy);
    bits = number.bitcastToAPInt().getZExtValue();
  } else {
    bits = static_cast<uint64_t>(static_cast<int64_t>(value));
  }
  std::memcpy(at(i), &bits, launch::elementBytes(element));
}

//===----------------------------------------------------------------------===//
// .npy, version 1.0 to 3.0 (NumPy, "A Simple File Format for NumPy Arrays")
//===----------------------------------------------------------------------===//

namespace {
struct NpyFile {
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  std::string type;
  llvm::SmallVector<int64_t, 4> shape;
  Array::Order order = Array::Order::C;
  StringRef data;
};
} // namespace

/// Returns the text after `'key':` in the header; empty if the key is missing.
static StringRef valueOf(StringRef header, StringRef key) {
  size_t at = header.find(("'" + key + "'").str());
  if (at == StringRef::npos)
    return {};
  return header.drop_front(at + key.size() + 2).ltrim(": ");
}

static Expected<NpyFile> openNpy(StringRef path) {
  auto bad = [&](const llvm::Twine &why) {
    return createStringError("'" + path + "' " + why);
  };
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return bad("cannot be read: " + buffer.getError().message());
  NpyFile file;
  file.buffer = std::move(*buffer);
  StringRef text = file.buffer->getBuffer();
  if (!text.consume_front("\x93NUMPY") || text.size() < 6)
    return bad("is not a .npy file");
  if (text[0] < 1 || text[0] > 3)
    return bad("has version " + llvm::Twine(int(text[0])) +
               " of the format, which is not known");
  unsigned lengthBytes = text[0] == 1 ? 2 : 4;
  uint32_t length = lengthBytes == 2
                        ? llvm::support::endian::read16le(text.data() + 2)
                        : llvm::support::endian::read32le(text.data() + 2);
  text = text.drop_front(2 + lengthBytes);
  if (text.size() < length)
    return bad("ends within its header");
  StringRef header = text.take_front(length);
  file.data = text.drop_front(length);
  StringRef type = valueOf(header, "descr");
  if (!type.consume_front("'"))
    return bad("does not say the type of its elements, or that of a structure");
  file.type = type.take_until([](char c) { return c == '\''; }).str();
  int64_t bytes = npyBytes(file.type);
  if (bytes <= 0)
    return bad("has elements of type '" + file.type + "', which is not known");
  StringRef fortran = valueOf(header, "fortran_order");
  if (fortran.starts_with("True"))
    file.order = Array::Order::Fortran;
  else if (!fortran.starts_with("False"))
    return bad("does not say whether it is in Fortran order");
  StringRef shape = valueOf(header, "shape");
  if (!shape.consume_front("("))
    return bad("has no shape");
  shape = shape.take_until([](char c) { return c == ')'; });
  while (!shape.trim().empty()) {
    auto [extent, rest] = shape.split(',');
    int64_t value;
    if (extent.trim().getAsInteger(10, value) || value < 0 ||
        llvm::MulOverflow(bytes, value, bytes))
      return bad("has a shape that is no list of extents");
    file.shape.push_back(value);
    shape = rest;
  }
  if (bytes != int64_t(file.data.size()))
    return bad("has " + llvm::Twine(file.data.size()) +
               " bytes of data, its header says " + llvm::Twine(bytes));
  return file;
}

Expected<Array> tile::readNpy(StringRef path, StringRef type) {
  Expected<NpyFile> file = openNpy(path);
  if (!file)
    return file.takeError();
  Expected<Array> array = Array::create(file->shape, type, file->order);
  if (!array)
    return array.takeError();
  bool bits = type == "bf16" && (file->type == "<u2" || file->type == "<i2" ||
                                 file->type == "<V2" || file->type == "|V2");
  if (file->type == npyType(type) || bits) {
    std::memcpy(array->mutableBytes().data(), file->data.data(),
                file->data.size());
    return array;
  }
  if (launch::findFormat(type) &&
      (file->type == "<f8" || file->type == "<f4")) {
    Expected<Array> wide = Array::create(
        file->shape, file->type == "<f8" ? "f64" : "f32", file->order);
    if (!wide)
      return wide.takeError();
    std::memcpy(wide->mutableBytes().data(), file->data.data(),
                file->data.size());
    for (int64_t i = 0; i < array->size(); ++i)
      array->set(i, wide->get(i));
    return array;
  }
  return createStringError("'" + path + "' has elements of type '" +
                           file->type + "', " + type + " is needed");
}

Expected<std::vector<double>>
tile::readNpyAsDouble(StringRef path, StringRef type,
                      llvm::ArrayRef<int64_t> shape) {
  Expected<NpyFile> file = openNpy(path);
  if (!file)
    return file.takeError();
  if (llvm::ArrayRef<int64_t>(file->shape) != shape)
    return createStringError("'" + path +
                             "' does not have the shape of what "
                             "it is compared with");
  StringRef own = llvm::StringSwitch<StringRef>(file->type)
                      .Case("<f2", "f16")
                      .Case("<f4", "f32")
                      .Case("<f8", "f64")
                      .Case("|i1", "i8")
                      .Case("<i4", "i32")
                      .Case("<i8", "i64")
                      .Default(type);
  Expected<Array> array = readNpy(path, own);
  if (!array)
    return array.takeError();
  std::vector<double> values;
  for (int64_t i = 0; i < array->size(); ++i)
    values.push_back(array->get(i));
  return values;
}

llvm::Error tile::writeNpy(StringRef path, const Array &array) {
  std::string header =
      formatv("{{'descr': '{0}', 'fortran_order': {1}, 'shape': (",
              npyType(array.type()), array.isFortran() ? "True" : "False");
  for (int64_t extent : array.shape())
    header += std::to_string(extent) + ",";
  header += "), }";
  // The header ends with a line feed, and the data begins at a multiple of 64
  // bytes.
  header.resize(llvm::alignTo(10 + header.size() + 1, 64) - 10 - 1, ' ');
  header += '\n';
  std::error_code code;
  llvm::raw_fd_ostream os(path, code);
  if (!code) {
    os << StringRef("\x93NUMPY\x01\x00", 8) << char(header.size() & 0xff)
       << char(header.size() >> 8) << header << array.bytes();
    os.close();
    code = os.error();
    os.clear_error();
  }
  if (code)
    return createStringError("cannot write '" + path + "': " + code.message());
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Arrays from descriptions
//===----------------------------------------------------------------------===//

namespace {
/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number
/// generators, 2014).
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// Returns a number between 0 and 1, neither included.
  double uniform() { return (double(next() >> 11) + 0.5) * 0x1p-53; }
  /// Returns a number of the standard normal distribution (Box-Muller).
  double normal() {
    double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * M_PI * uniform());
  }

private:
  uint64_t state;
};
} // namespace

Expected<Array> tile::makeArray(StringRef description) {
  llvm::SmallVector<StringRef> parts;
  description.split(parts, ':');
  auto malformed = [&] {
    return createStringError(
        "'" + description +
        "' is none of random:SHAPE:DTYPE:SEED, zeros:SHAPE:DTYPE and "
        "nan:SHAPE:DTYPE with a shape such as 2x64x4x128");
  };
  bool random = parts[0] == "random", nan = parts[0] == "nan";
  if (!(random || nan || parts[0] == "zeros") ||
      parts.size() != (random ? 4 : 3))
    return malformed();
  llvm::SmallVector<StringRef> extents;
  llvm::SmallVector<int64_t> shape;
  parts[1].split(extents, 'x');
  for (StringRef extent : extents)
    if (extent.getAsInteger(10, shape.emplace_back()))
      return malformed();
  uint64_t seed = 0;
  if (random && parts[3].getAsInteger(10, seed))
    return malformed();
  Expected<Array> array = Array::create(shape, parts[2]);
  if (!array)
    return array.takeError();
  if (parts[0] == "zeros")
    return array;
  bool integer = !launch::findFormat(parts[2]);
  if (nan && integer)
    return createStringError("'" + description + "': integers are never nan");
  Random numbers(seed);
  for (int64_t i = 0; i < array->size(); ++i)
    array->set(i, nan       ? std::nan("")
                  : integer ? double(numbers.next() & 255)
                            : numbers.normal());
  return array;
}
