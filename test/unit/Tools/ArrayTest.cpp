//===- ArrayTest.cpp - Arrays in memory and in .npy files -----------------===//

#include "Tools/Array.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>

using namespace tile;

namespace {

/// A temporary file, removed with this object.
class TemporaryFile {
public:
  explicit TemporaryFile(llvm::StringRef content = {}) {
    int descriptor;
    EXPECT_FALSE(
        llvm::sys::fs::createTemporaryFile("array", "npy", descriptor, name));
    llvm::raw_fd_ostream os(descriptor, /*shouldClose=*/true);
    os << content;
  }
  ~TemporaryFile() { llvm::sys::fs::remove(name); }
  llvm::StringRef path() const { return name; }

private:
  llvm::SmallString<64> name;
};

/// Returns a file of version 1 with this header and these bytes.
std::string npy(llvm::StringRef header, llvm::StringRef data) {
  std::string text("\x93NUMPY\x01\x00", 8);
  text += char(header.size() & 0xff);
  text += char(header.size() >> 8);
  return text + header.str() + data.str();
}

std::string header(llvm::StringRef descr, llvm::StringRef shape,
                   llvm::StringRef fortran = "False") {
  return llvm::formatv(
      "{{'descr': '{0}', 'fortran_order': {1}, 'shape': {2}, }\n", descr,
      fortran, shape);
}

/// Returns the error for a file; empty if the file is accepted.
std::string refusal(llvm::StringRef content, llvm::StringRef type = "f32") {
  TemporaryFile file(content);
  llvm::Expected<Array> array = readNpy(file.path(), type);
  if (array)
    return {};
  std::string message = llvm::toString(array.takeError());
  // The name differs from run to run.
  llvm::StringRef text = message;
  EXPECT_TRUE(text.consume_front(("'" + file.path() + "' ").str())) << message;
  return text.str();
}

/// Returns the nearest number of a format, ties to even, computed in doubles.
double roundTo(double value, int mantissaBits, int minExponent,
               double largest) {
  if (value == 0 || std::isnan(value) || std::isinf(value))
    return value;
  int exponent;
  std::frexp(value, &exponent);
  double unit =
      std::ldexp(1.0, std::max(exponent - 1, minExponent) - mantissaBits);
  double rounded = std::nearbyint(value / unit) * unit;
  return std::abs(rounded) > largest ? std::copysign(INFINITY, value) : rounded;
}

TEST(Array, RoundsToNearestEven) {
  struct Format {
    const char *type;
    int mantissaBits, minExponent;
    double largest;
  } formats[] = {{"f16", 10, -14, 65504},
                 {"bf16", 7, -126, std::ldexp(255.0, 120)},
                 {"f32", 23, -126, 3.4028234663852886e38}};
  std::mt19937_64 random(1);
  for (const Format &format : formats) {
    llvm::Expected<Array> array = Array::create({2}, format.type);
    ASSERT_TRUE(bool(array));
    for (int i = 0; i < 20000; ++i) {
      double value =
          std::ldexp(double(int64_t(random())), int(random() % 300) - 210);
      if (i % 3 == 0) // halfway between two numbers
        value = roundTo(value, format.mantissaBits + 1, format.minExponent,
                        HUGE_VAL);
      array->set(1, value);
      EXPECT_EQ(array->get(1), roundTo(value, format.mantissaBits,
                                       format.minExponent, format.largest))
          << format.type << " of " << value;
      EXPECT_EQ(array->get(0), 0);
    }
    array->set(0, NAN);
    EXPECT_TRUE(std::isnan(array->get(0)));
  }
}

TEST(Array, ReadsWhatItWrites) {
  for (llvm::StringRef type : {"f16", "bf16", "f32", "f64", "i32", "i64"})
    for (llvm::SmallVector<int64_t> shape :
         {llvm::SmallVector<int64_t>{}, {7}, {2, 3, 5}, {3, 0, 2}}) {
      llvm::Expected<Array> array = Array::create(shape, type);
      ASSERT_TRUE(bool(array));
      for (int64_t i = 0; i < array->size(); ++i)
        array->set(i, i * i - 20);
      TemporaryFile file;
      EXPECT_FALSE(bool(writeNpy(file.path(), *array)));
      // The data begin at a multiple of 64 bytes.
      uint64_t bytes = 0;
      EXPECT_FALSE(llvm::sys::fs::file_size(file.path(), bytes));
      EXPECT_EQ((bytes - array->bytes().size()) % 64, 0u);

      llvm::Expected<Array> again = readNpy(file.path(), type);
      ASSERT_TRUE(bool(again));
      EXPECT_EQ(again->shape(), array->shape());
      EXPECT_EQ(again->bytes(), array->bytes());
      auto numbers = readNpyAsDouble(file.path(), type, shape);
      ASSERT_TRUE(bool(numbers));
      ASSERT_EQ(int64_t(numbers->size()), array->size());
      for (int64_t i = 0; i < array->size(); ++i)
        EXPECT_EQ((*numbers)[i], array->get(i));
    }
}

TEST(Array, KeepsFortranOrder) {
  // Elements are counted in C order: element (i, j) is 10 * i + j.
  int32_t data[] = {0, 10, 1, 11, 2, 12};
  std::string content = npy(header("<i4", "(2, 3)", "True"),
                            {reinterpret_cast<const char *>(data), 24});
  TemporaryFile file(content);
  llvm::Expected<Array> array = readNpy(file.path(), "i32");
  ASSERT_TRUE(bool(array));
  EXPECT_TRUE(array->isFortran());
  std::vector<double> expected = {0, 1, 2, 10, 11, 12};
  for (auto [i, value] : llvm::enumerate(expected))
    EXPECT_EQ(array->get(i), value);
  cpu::Tensor tensor = array->tensor();
  EXPECT_EQ(llvm::ArrayRef(tensor.strides), llvm::ArrayRef<int64_t>({1, 2}));
  auto numbers = readNpyAsDouble(file.path(), "i32", {2, 3});
  ASSERT_TRUE(bool(numbers));
  EXPECT_EQ(*numbers, expected);

  array->set(1, 7);
  TemporaryFile copy;
  EXPECT_FALSE(bool(writeNpy(copy.path(), *array)));
  llvm::Expected<Array> again = readNpy(copy.path(), "i32");
  ASSERT_TRUE(bool(again));
  EXPECT_TRUE(again->isFortran());
  EXPECT_EQ(again->get(1), 7);
  EXPECT_EQ(again->bytes(), array->bytes());

  // float64 to f16, and arrays of other ranks.
  double doubles[] = {1, 2, 3, 4, 5, 6, 7, 8};
  TemporaryFile wide(npy(header("<f8", "(2, 2, 2)", "True"),
                         {reinterpret_cast<const char *>(doubles), 64}));
  llvm::Expected<Array> cube = readNpy(wide.path(), "f16");
  ASSERT_TRUE(bool(cube));
  const double inOrder[] = {1, 5, 3, 7, 2, 6, 4, 8};
  for (auto [i, value] : llvm::enumerate(inOrder))
    EXPECT_EQ(cube->get(i), value);
  TemporaryFile empty(npy(header("<f4", "(0, 3)", "True"), ""));
  ASSERT_TRUE(bool(readNpyAsDouble(empty.path(), "f32", {0, 3})));
}

TEST(Array, ReadsOtherFilesOfFloats) {
  float singles[] = {1.0f, 1.0f / 3, 1e-9f};
  TemporaryFile file(npy(header("<f4", "(3,)"),
                         {reinterpret_cast<const char *>(singles), 12}));
  llvm::Expected<Array> array = readNpy(file.path(), "f16");
  ASSERT_TRUE(bool(array));
  EXPECT_EQ(array->get(0), 1);
  EXPECT_EQ(array->get(1), roundTo(1.0f / 3, 10, -14, 65504));
  EXPECT_EQ(array->get(2), 0);
  // Element types that other packages write for the bits of bf16.
  for (const char *type : {"<u2", "<i2", "<V2", "|V2"}) {
    TemporaryFile bits(npy(header(type, "(2)"), {"\x80\x3f\x00\xc0", 4}));
    llvm::Expected<Array> values = readNpy(bits.path(), "bf16");
    ASSERT_TRUE(bool(values)) << type;
    EXPECT_EQ(values->get(0), 1);
    EXPECT_EQ(values->get(1), -2);
  }
  // Version 2 has a longer header.
  std::string text = header("<f4", "(1,)");
  std::string second("\x93NUMPY\x02\x00", 8);
  second += std::string({char(text.size()), 0, 0, 0}) + text + "\0\0\x80\x3f";
  second.resize(12 + text.size());
  second += std::string("\0\0\x80\x3f", 4);
  TemporaryFile file2(second);
  llvm::Expected<Array> one = readNpy(file2.path(), "f32");
  ASSERT_TRUE(bool(one));
  EXPECT_EQ(one->get(0), 1);
}

TEST(Array, RefusesWhatItCannotRead) {
  EXPECT_EQ(refusal(""), "is not a .npy file");
  EXPECT_EQ(refusal("PK\x03\x04 an archive"), "is not a .npy file");
  EXPECT_EQ(refusal({"\x93NUMPY\x01\x00", 8}), "is not a .npy file");
  EXPECT_EQ(refusal({"\x93NUMPY\x04\x00\x00\x00\x00\x00", 12}),
            "has version 4 of the format, which is not known");
  std::string good = npy(header("<f4", "(1,)"), {"\0\0\0\0", 4});
  EXPECT_EQ(refusal(good), "");
  EXPECT_EQ(refusal(llvm::StringRef(good).drop_back(20)),
            "ends within its header");
  EXPECT_EQ(refusal(llvm::StringRef(good).drop_back(1)),
            "has 3 bytes of data, its header says 4");
  EXPECT_EQ(refusal(good + "x"), "has 5 bytes of data, its header says 4");

  EXPECT_EQ(refusal(npy("{}\n", "")),
            "does not say the type of its elements, or that of a structure");
  EXPECT_EQ(refusal(npy("{'descr': [('x', '<f4')], 'fortran_order': False, "
                        "'shape': (1,)}",
                        {"\0\0\0\0", 4})),
            "does not say the type of its elements, or that of a structure");
  for (llvm::StringRef order : {"", "1", "None"})
    EXPECT_EQ(refusal(npy(header("<f4", "(1,)", order), {"\0\0\0\0", 4})),
              "does not say whether it is in Fortran order");
  EXPECT_EQ(refusal(npy("{'descr': '<f4', 'fortran_order': False}", "")),
            "has no shape");
  for (const char *shape :
       {"(x,)", "(-1,)", "(1,,2)", "(1.5,)", "(4294967296, 4294967296)",
        "(1L,)", "(2305843009213693952,)"})
    EXPECT_EQ(refusal(npy(header("<f4", shape), "")),
              "has a shape that is no list of extents")
        << shape;
  for (const char *type : {"", "<", "<f", "O", "<fx", "<f-4"})
    EXPECT_EQ(
        refusal(npy(header(type, "(1,)"), {"\0\0\0\0", 4})),
        llvm::formatv("has elements of type '{0}', which is not known", type)
            .str());
  EXPECT_EQ(refusal(npy(header(">f4", "(1,)"), {"\0\0\0\0", 4})),
            "has elements of type '>f4', f32 is needed");
  EXPECT_EQ(refusal(npy(header(">u2", "(1,)"), {"\0\0", 2}), "bf16"),
            "has elements of type '>u2', bf16 is needed");
  EXPECT_EQ(refusal(npy(header("<f4", "(1,)"), {"\0\0\0\0", 4}), "i32"),
            "has elements of type '<f4', i32 is needed");
}

TEST(Array, RefusesOtherShapesToCompareWith) {
  TemporaryFile file(npy(header("<f4", "(1,)"), {"\0\0\0\0", 4}));
  auto numbers = readNpyAsDouble(file.path(), "f32", {1, 1});
  ASSERT_FALSE(bool(numbers));
  EXPECT_TRUE(llvm::StringRef(llvm::toString(numbers.takeError()))
                  .ends_with("does not have the shape of what it is compared "
                             "with"));
}

/// Returns the error for a description; empty if it is accepted.
std::string refusalOf(llvm::StringRef description) {
  llvm::Expected<Array> array = makeArray(description);
  return array ? "" : llvm::toString(array.takeError());
}

TEST(Array, IsMadeAsDescribed) {
  llvm::Expected<Array> zeros = makeArray("zeros:2x3:i32");
  ASSERT_TRUE(bool(zeros));
  EXPECT_EQ(zeros->size(), 6);
  EXPECT_EQ(zeros->get(5), 0);
  llvm::Expected<Array> nan = makeArray("nan:4:bf16");
  ASSERT_TRUE(bool(nan));
  EXPECT_TRUE(std::isnan(nan->get(3)));

  llvm::Expected<Array> a = makeArray("random:100x100:f32:7"),
                        same = makeArray("random:100x100:f32:7"),
                        other = makeArray("random:100x100:f32:8");
  ASSERT_TRUE(a && same && other);
  EXPECT_EQ(a->bytes(), same->bytes());
  EXPECT_NE(a->bytes(), other->bytes());
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < a->size(); ++i) {
    sum += a->get(i);
    squares += a->get(i) * a->get(i);
  }
  EXPECT_NEAR(sum / a->size(), 0, 0.05);
  EXPECT_NEAR(squares / a->size(), 1, 0.05);

  for (llvm::StringRef bad :
       {"", "random", "random:2:f32", "zeros:2:f32:1", "ones:2:f32", "nan::f32",
        "nan:2x:f32", "nan:axb:f32", "random:2:f32:x"})
    EXPECT_EQ(refusalOf(bad),
              ("'" + bad +
               "' is none of random:SHAPE:DTYPE:SEED, "
               "zeros:SHAPE:DTYPE and nan:SHAPE:DTYPE with a shape "
               "such as 2x64x4x128")
                  .str());
  EXPECT_EQ(refusalOf("nan:2:i32"), "'nan:2:i32': integers are never nan");
  EXPECT_EQ(refusalOf("zeros:2:f8"), "there is no type 'f8', only f16, bf16, "
                                     "f32, f64, i8, i32 and i64");
  EXPECT_EQ(refusalOf("zeros:-2:f32"), "the array is too large");
  EXPECT_EQ(refusalOf("zeros:9999999999x9999999999:f32"),
            "the array is too large");
}

} // namespace
