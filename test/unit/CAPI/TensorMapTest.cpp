//===- TensorMapTest.cpp - Tensor maps of a manifest, from C --------------===//
//
// A function that records its arguments replaces the driver. The elements that
// TMA would read with these arguments are compared with those of the tensor.
//
//===----------------------------------------------------------------------===//

#include "tile-c/TensorMap.h"
#include "gtest/gtest.h"
#include <array>
#include <string>
#include <vector>

namespace {

const char *const kManifest = R"({
  "version": 2, "chip": "sm_90a", "kind": "ptx", "kernels": [
    {"name": "zero", "params": [{"kind": "scalar", "name": "n", "type": "i32"}]},
    {"name": "attention", "grid": [1, 1, 1], "block": [128, 1, 1], "params": [
      {"kind": "buffer", "name": "q", "type": "bf16", "rank": 4,
       "shape": [null, null, null, 128], "strides": [null, null, null, 1],
       "stride_divisibility": [8, 8, 8, 1], "alignment": 16},
      {"kind": "scalar", "name": "scale", "type": "f32"},
      {"kind": "buffer", "name": "lse", "type": "f32", "rank": 3,
       "shape": [null, null, null], "strides": [null, null, 1],
       "stride_divisibility": [4, 4, 1], "alignment": 16},
      {"kind": "tensor_map", "argument": 0, "dims": [3, 1, 2, 0],
       "box": [64, 128, 1, 1], "swizzle": 128},
      {"kind": "tensor_map", "argument": 2, "dims": [2, 1, 0],
       "box": [64, 1, 1], "swizzle": 0}]}]})";

struct Message {
  char text[TILE_TENSOR_MAP_MESSAGE] = "";
  operator char *() { return text; }
};

std::string replaced(std::string text, const std::string &from,
                     const std::string &to) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

TEST(TensorMapC, ReadsThoseOfAKernel) {
  TileTensorMap maps[3];
  Message message;
  ASSERT_EQ(tileReadTensorMaps(kManifest, "attention", maps, 3, message), 2)
      << message.text;
  EXPECT_EQ(maps[0].argument, 0u);
  EXPECT_STREQ(maps[0].type, "bf16");
  EXPECT_EQ(maps[0].rank, 4u);
  EXPECT_EQ(maps[0].swizzle, 128u);
  for (auto [i, dim, box] : {std::array{0u, 3u, 64u}, std::array{1u, 1u, 128u},
                             std::array{2u, 2u, 1u}, std::array{3u, 0u, 1u}}) {
    EXPECT_EQ(maps[0].dims[i], dim);
    EXPECT_EQ(maps[0].box[i], box);
  }
  EXPECT_EQ(maps[1].argument, 2u);
  EXPECT_STREQ(maps[1].type, "f32");
  EXPECT_EQ(maps[1].rank, 3u);
  EXPECT_EQ(maps[1].swizzle, 0u);
  // Writes only as many maps as the array can hold; that may be none.
  TileTensorMap one[2] = {{}, {}};
  one[1].rank = 77;
  EXPECT_EQ(tileReadTensorMaps(kManifest, "attention", one, 1, nullptr), 2);
  EXPECT_EQ(one[1].rank, 77u);
  EXPECT_EQ(tileReadTensorMaps(kManifest, "zero", nullptr, 0, nullptr), 0);
}

TEST(TensorMapC, SaysWhatIsWrongWithAManifest) {
  auto error = [](const std::string &manifest, const char *kernel) {
    Message message;
    TileTensorMap maps[2];
    EXPECT_EQ(tileReadTensorMaps(manifest.c_str(), kernel, maps, 2, message),
              -1);
    EXPECT_EQ(tileReadTensorMaps(manifest.c_str(), kernel, maps, 2, nullptr),
              -1);
    return std::string(message.text);
  };
  EXPECT_EQ(error(kManifest, "backward"),
            "the manifest has no kernel 'backward'");
  EXPECT_EQ(error(std::string("{"), "x").rfind("the manifest is no JSON: ", 0),
            0u);
  EXPECT_EQ(error("[]", "x"), "expected object when parsing manifest");
  EXPECT_EQ(error(replaced(kManifest, "\"version\": 2", "\"version\": 1"), "x"),
            "the manifest has version 1, not 2");
  EXPECT_EQ(error(replaced(kManifest, "\"swizzle\": 128", "\"swizzle\": \"\""),
                  "attention"),
            "expected integer at manifest.kernels[1].params[3].swizzle");
  const char *none =
      "parameter 3 of kernel 'attention' describes no tensor map";
  EXPECT_EQ(error(replaced(kManifest, "\"argument\": 0", "\"argument\": 1"),
                  "attention"),
            none);
  EXPECT_EQ(error(replaced(kManifest, "\"argument\": 0", "\"argument\": 9"),
                  "attention"),
            none);
  EXPECT_EQ(
      error(replaced(kManifest, "[3, 1, 2, 0]", "[3, 1, 2]"), "attention"),
      none);
  EXPECT_EQ(
      error(replaced(kManifest, "[3, 1, 2, 0]", "[4, 1, 2, 0]"), "attention"),
      none);
  EXPECT_EQ(error(replaced(kManifest, "[64, 128, 1, 1]", "[0, 1, 1, 1]"),
                  "attention"),
            none);
  // A long message is truncated.
  std::string name(1000, 'k');
  EXPECT_EQ(error(kManifest, name.c_str()).size(),
            size_t(TILE_TENSOR_MAP_MESSAGE - 1));
}

//===----------------------------------------------------------------------===//
// Encoding
//===----------------------------------------------------------------------===//

TileTensorMapArguments given;

int keep(void *map, int type, uint32_t rank, void *address,
         const uint64_t *extents, const uint64_t *strides, const uint32_t *box,
         const uint32_t *steps, int interleave, int swizzle, int promotion,
         int fill) {
  given = {};
  given.type = type;
  given.rank = rank;
  given.address = reinterpret_cast<uintptr_t>(address);
  for (uint32_t i = 0; i < rank; ++i) {
    given.extents[i] = extents[i];
    given.box[i] = box[i];
    given.steps[i] = steps[i];
    if (i > 0)
      given.strides[i - 1] = strides[i - 1];
  }
  given.interleave = interleave;
  given.swizzle = swizzle;
  given.promotion = promotion;
  given.fill = fill;
  memset(map, 0x5a, TILE_TENSOR_MAP_BYTES);
  return 0;
}

int refuse(void *, int, uint32_t, void *, const uint64_t *, const uint64_t *,
           const uint32_t *, const uint32_t *, int, int, int, int) {
  return 801;
}

struct alignas(TILE_TENSOR_MAP_ALIGNMENT) Encoded {
  unsigned char bytes[TILE_TENSOR_MAP_BYTES + 64] = {};
};

TileTensorMap readMap(int number) {
  TileTensorMap maps[2];
  EXPECT_EQ(tileReadTensorMaps(kManifest, "attention", maps, 2, nullptr), 2);
  return maps[number];
}

TEST(TensorMapC, TheCopyEngineFindsEveryElement) {
  TileTensorMap map = readMap(0);
  for (std::vector<int64_t> strides :
       {std::vector<int64_t>{5 * 3 * 128, 3 * 128, 128, 1},
        std::vector<int64_t>{5 * 3 * 136, 136, 5 * 136, 1}}) {
    std::vector<int64_t> shape = {2, 5, 3, 128};
    TileTensorMapTensor tensor = {0x7f0000001000, 4, shape.data(),
                                  strides.data(), 0};
    Encoded encoded;
    Message message;
    ASSERT_EQ(tileEncodeTensorMap(&map, &tensor, keep, encoded.bytes, message),
              0)
        << message.text;
    EXPECT_EQ(encoded.bytes[0], 0x5a);
    EXPECT_EQ(encoded.bytes[TILE_TENSOR_MAP_BYTES], 0);
    // CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, _SWIZZLE_128B, _L2_PROMOTION_L2_256B.
    EXPECT_EQ(given.type, 9);
    EXPECT_EQ(given.swizzle, 3);
    EXPECT_EQ(given.promotion, 2);
    EXPECT_EQ(given.interleave, 0);
    EXPECT_EQ(given.fill, 0);
    ASSERT_EQ(given.rank, 4u);
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(given.extents[i], uint64_t(shape[map.dims[i]]));
      EXPECT_EQ(given.box[i], map.box[i]);
      EXPECT_EQ(given.steps[i], 1u);
    }
    for (int64_t b = 0; b < shape[0]; ++b)
      for (int64_t s = 0; s < shape[1]; ++s)
        for (int64_t h = 0; h < shape[2]; ++h)
          for (int64_t d = 0; d < shape[3]; ++d) {
            int64_t at[] = {b, s, h, d};
            uint64_t address = given.address + at[map.dims[0]] * 2;
            for (int i = 1; i < 4; ++i)
              address += at[map.dims[i]] * given.strides[i - 1];
            int64_t offset = b * strides[0] + s * strides[1] + h * strides[2] +
                             d * strides[3];
            ASSERT_EQ(address, tensor.address + 2 * offset);
          }
  }
}

TEST(TensorMapC, CopiesEndWithEachSequence) {
  const char *manifest = R"({"version": 2, "kernels": [{"name": "packed",
    "params": [
      {"kind": "buffer", "name": "k", "type": "f16", "rank": 3},
      {"kind": "tensor_map", "argument": 0, "dims": [2, 0, 1], "ragged": 0,
       "box": [64, 128, 1], "swizzle": 128}]}]})";
  TileTensorMap map;
  Message message;
  ASSERT_EQ(tileReadTensorMaps(manifest, "packed", &map, 1, message), 1)
      << message.text;
  EXPECT_EQ(map.isRagged, 1u);
  EXPECT_EQ(map.ragged, 0u);
  for (std::vector<int64_t> strides : {std::vector<int64_t>{2 * 64, 64, 1},
                                       std::vector<int64_t>{64, 1000, 1}}) {
    std::vector<int64_t> shape = {9, 2, 64};
    TileTensorMapTensor tensor = {0x7f0000001000, 3, shape.data(),
                                  strides.data(), 0};
    TileTensorMapArguments arguments;
    ASSERT_EQ(tileTensorMapArguments(&map, &tensor, &arguments, message), 0)
        << message.text;
    ASSERT_EQ(arguments.rank, 5u);
    EXPECT_EQ(arguments.box[3] * arguments.box[4], 1u);
    EXPECT_EQ(arguments.steps[3] * arguments.steps[4], 1u);
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(arguments.strides[i] % 16, 0u);
      EXPECT_LT(arguments.strides[i], uint64_t(1) << 40);
    }
    int64_t all = int64_t(1) << 30;
    for (int64_t begin = 0; begin <= shape[0]; ++begin)
      for (int64_t length = 0; begin + length <= shape[0]; ++length)
        for (int64_t row = 0; row < 2 * shape[0]; ++row)
          for (int64_t h = 0; h < shape[1]; ++h) {
            int64_t at[] = {5, all - length + row, h, begin + length, all};
            bool isInside = true;
            uint64_t address = arguments.address + 2 * at[0];
            for (int i = 0; i < 5; ++i) {
              isInside &= at[i] >= 0 && uint64_t(at[i]) < arguments.extents[i];
              if (i > 0)
                address += at[i] * arguments.strides[i - 1];
            }
            ASSERT_EQ(isInside, row < length);
            ASSERT_EQ(address,
                      tensor.address + 2 * ((begin + row) * strides[0] +
                                            h * strides[1] + at[0]));
          }
  }
  // Tensors and maps that do not match are errors.
  auto refuse = [&](TileTensorMap map, int64_t rows, int64_t stride) {
    int64_t shape[] = {rows, 2, 64}, strides[] = {stride, 64, 1};
    TileTensorMapTensor tensor = {0x1000, 3, shape, strides, 0};
    TileTensorMapArguments arguments;
    Message message;
    EXPECT_EQ(tileTensorMapArguments(&map, &tensor, &arguments, message), -1);
    return std::string(message.text);
  };
  EXPECT_EQ(refuse(map, (int64_t(1) << 30) + 1, 128),
            "extent 0 is 1073741825, must be at most 2^30 for sequences in it");
  EXPECT_EQ(refuse(map, 9, int64_t(1) << 34),
            "stride 0 is 17179869184, must be divisible by 8 and below 2^35 "
            "bytes");
  TileTensorMap columns = map;
  columns.ragged = 2;
  EXPECT_EQ(refuse(columns, 9, 128),
            "dimension 2 of 3 cannot have the ends of sequences");
  std::string other = replaced(manifest, "\"ragged\": 0", "\"ragged\": 3");
  EXPECT_EQ(tileReadTensorMaps(other.c_str(), "packed", &map, 1, message), -1);
  EXPECT_STREQ(message.text,
               "parameter 1 of kernel 'packed' describes no tensor map");
}

/// A ragged map of more than three dimensions: an offset in units of 16 bytes
/// replaces those along which a copy does not extend.
TEST(TensorMapC, OffsetsReplaceDimensions) {
  const char *manifest = R"({"version": 2, "kernels": [{"name": "cached",
    "params": [
      {"kind": "buffer", "name": "k", "type": "f16", "rank": 4},
      {"kind": "tensor_map", "argument": 0, "dims": [3, 1], "ragged": 1,
       "box": [64, 16], "swizzle": 128}]}]})";
  TileTensorMap map;
  Message message;
  ASSERT_EQ(tileReadTensorMaps(manifest, "cached", &map, 1, message), 1)
      << message.text;
  EXPECT_EQ(map.rank, 4u);
  EXPECT_EQ(map.count, 2u);
  int64_t shape[] = {4, 16, 2, 64}, all = int64_t(1) << 30;
  auto encode = [&](const std::vector<int64_t> &strides, uint64_t address,
                    TileTensorMapArguments &arguments) {
    TileTensorMapTensor tensor = {address, 4, shape, strides.data(), 0x2000};
    return tileTensorMapArguments(&map, &tensor, &arguments, message);
  };
  TileTensorMapArguments arguments;
  for (std::vector<int64_t> strides :
       {std::vector<int64_t>{16 * 2 * 64, 2 * 64, 64, 1},
        std::vector<int64_t>{3 * 16 * 2 * 64, 64, 16 * 64, 1}}) {
    ASSERT_EQ(encode(strides, 0x7f0000001000, arguments), 0) << message.text;
    ASSERT_EQ(arguments.rank, 5u);
    for (int64_t page = 0; page < 4; ++page)
      for (int64_t head = 0; head < 2; ++head)
        for (int64_t begin = 0; begin < 16; ++begin)
          for (int64_t length = 0; begin + length <= 16; ++length)
            for (int64_t row = 0; row < 16; ++row) {
              int64_t offset = (page * strides[0] + head * strides[2]) * 2 / 16;
              int64_t at[] = {5, all - length + row, offset, begin + length,
                              all};
              bool isInside = true;
              uint64_t address = arguments.address + 2 * at[0];
              for (int i = 0; i < 5; ++i) {
                isInside &= uint64_t(at[i]) < arguments.extents[i];
                if (i > 0)
                  address += at[i] * arguments.strides[i - 1];
              }
              ASSERT_EQ(isInside, row < length);
              ASSERT_EQ(address,
                        0x7f0000001000 + 2 * (page * strides[0] +
                                              (begin + row) * strides[1] +
                                              head * strides[2] + 5));
            }
  }
  // Offsets fit 31 bits.
  int64_t step = ((int64_t(1) << 34) - 64) / 3;
  EXPECT_EQ(encode({step - 8, 128, 64, 1}, 0x1000, arguments), 0);
  EXPECT_EQ(encode({step, 128, 64, 1}, 0x1000, arguments), -1);
  EXPECT_STREQ(message.text,
               "stride 2 is 64, must be divisible by 8 and give offsets below "
               "2^35 bytes");
  EXPECT_EQ(encode({4, 128, 64, 1}, 0x1000, arguments), -1);
  EXPECT_STREQ(message.text,
               "stride 0 is 4, must be divisible by 8 and give offsets below "
               "2^35 bytes");
  shape[0] = 0;
  ASSERT_EQ(encode({-3, -3, -3, 1}, 0x1001, arguments), 0) << message.text;
  EXPECT_EQ(arguments.address, 0x2000u);
  for (uint32_t i = 0; i < 5; ++i)
    EXPECT_EQ(arguments.extents[i], 1u);
  // Only a ragged map has offsets.
  for (const char *ragged : {"", "\"ragged\": 0, "}) {
    std::string other = replaced(manifest, "\"ragged\": 1,", ragged);
    TileTensorMap none;
    bool isRead =
        tileReadTensorMaps(other.c_str(), "cached", &none, 1, message) == 1;
    EXPECT_TRUE(!isRead || encode({2048, 128, 64, 1}, 0x1000, arguments) == 0);
    EXPECT_EQ(isRead, ragged[0] != 0);
  }
}

TEST(TensorMapC, SmallTensors) {
  TileTensorMap map = readMap(1);
  TileTensorMapArguments arguments;
  // Strides of dimensions with one element are not checked.
  int64_t shape[] = {1, 1, 7}, strides[] = {7, -3, 1};
  TileTensorMapTensor tensor = {0x1000, 3, shape, strides, 0};
  Message message;
  ASSERT_EQ(tileTensorMapArguments(&map, &tensor, &arguments, message), 0)
      << message.text;
  EXPECT_EQ(arguments.type, 7);
  EXPECT_EQ(arguments.swizzle, 0);
  EXPECT_EQ(arguments.strides[0], 16u);
  EXPECT_EQ(arguments.strides[1], 16u);
}

/// Every box of such a map holds zeros: the element in the map is a zero.
TEST(TensorMapC, TensorsWithoutElements) {
  TileTensorMap ragged = readMap(1);
  ragged.isRagged = 1;
  ragged.ragged = ragged.dims[1];
  for (const TileTensorMap &map : {readMap(0), readMap(1), ragged}) {
    TileTensorMapArguments arguments;
    // Neither the strides nor the address count.
    std::vector<int64_t> shape(map.rank, 7), strides(map.rank, -3);
    shape[map.rank - 2] = 0;
    Message message;
    for (uint64_t address : {0, 0x1001, 0x1000}) {
      TileTensorMapTensor tensor = {address, map.rank, shape.data(),
                                    strides.data(), 0x2000};
      ASSERT_EQ(tileTensorMapArguments(&map, &tensor, &arguments, message), 0)
          << message.text;
      EXPECT_EQ(arguments.address, 0x2000u);
      EXPECT_EQ(arguments.rank, map.rank + (map.isRagged ? 2 : 0));
      for (uint32_t i = 0; i < arguments.rank; ++i)
        EXPECT_EQ(arguments.extents[i], 1u);
      for (uint32_t i = 0; i + 1 < arguments.rank; ++i)
        EXPECT_EQ(arguments.strides[i], 16u);
      tensor.zeros = 0;
      EXPECT_EQ(tileTensorMapArguments(&map, &tensor, &arguments, message), -1);
      EXPECT_STREQ(message.text,
                   "a tensor without elements needs the address of 16 zeros");
    }
  }
}

TEST(TensorMapC, SaysWhatIsWrongWithATensor) {
  const TileTensorMap map = readMap(1);
  int64_t shape[] = {2, 3, 64}, strides[] = {192, 64, 1};
  const TileTensorMapTensor tensor = {0x1000, 3, shape, strides, 0};
  auto error = [&](TileTensorMap map, TileTensorMapTensor tensor) {
    Message message;
    Encoded encoded;
    EXPECT_EQ(tileEncodeTensorMap(&map, &tensor, keep, encoded.bytes, message),
              -1);
    EXPECT_EQ(tileEncodeTensorMap(&map, &tensor, keep, encoded.bytes, nullptr),
              -1);
    return std::string(message.text);
  };
  auto changed = [&](auto change) {
    TileTensorMapTensor other = tensor;
    std::vector<int64_t> extents(shape, shape + 3), steps(strides, strides + 3);
    other.shape = extents.data();
    other.strides = steps.data();
    change(other, extents, steps);
    return error(map, other);
  };
  using Numbers = std::vector<int64_t>;
  EXPECT_EQ(changed([](auto &t, Numbers &, Numbers &) { t.rank = 2; }),
            "rank is 2, must be 3");
  EXPECT_EQ(changed([](auto &t, Numbers &, Numbers &) { t.address = 0x1008; }),
            "address 0x1008 must be aligned to 16 bytes and not 0");
  EXPECT_EQ(changed([](auto &t, Numbers &, Numbers &) { t.address = 0; }),
            "address 0x0 must be aligned to 16 bytes and not 0");
  EXPECT_EQ(changed([](auto &, Numbers &e, Numbers &) { e[1] = -1; }),
            "extent 1 is -1, must be below 2^31");
  EXPECT_EQ(
      changed([](auto &, Numbers &e, Numbers &) { e[0] = int64_t(1) << 31; }),
      "extent 0 is 2147483648, must be below 2^31");
  EXPECT_EQ(changed([](auto &, Numbers &, Numbers &s) { s[2] = 2; }),
            "stride 2 is 2, must be 1");
  const char *divisible = ", must be divisible by 4 and below 2^40 bytes";
  EXPECT_EQ(changed([](auto &, Numbers &, Numbers &s) { s[1] = 66; }),
            std::string("stride 1 is 66") + divisible);
  EXPECT_EQ(changed([](auto &, Numbers &, Numbers &s) { s[0] = -192; }),
            std::string("stride 0 is -192") + divisible);
  EXPECT_EQ(
      changed([](auto &, Numbers &, Numbers &s) { s[0] = int64_t(1) << 38; }),
      std::string("stride 0 is 274877906944") + divisible);

  auto broken = [&](auto change) {
    TileTensorMap other = map;
    change(other);
    return error(other, tensor);
  };
  EXPECT_EQ(broken([](TileTensorMap &m) { m.rank = 6; }),
            "the map has 6 dimensions");
  EXPECT_EQ(broken([](TileTensorMap &m) { m.dims[1] = 2; }),
            "the dimensions of the map are not the tensor's");
  EXPECT_EQ(broken([](TileTensorMap &m) { m.box[1] = 257; }),
            "the map copies 257 elements at once");
  EXPECT_EQ(broken([](TileTensorMap &m) { m.swizzle = 16; }),
            "the map has a swizzle of 16 bytes");
  EXPECT_EQ(broken([](TileTensorMap &m) { m.type[0] = 'g'; }),
            "the map has elements of an unknown type");

  Encoded encoded;
  Message message;
  EXPECT_EQ(
      tileEncodeTensorMap(&map, &tensor, keep, encoded.bytes + 16, message),
      -1);
  EXPECT_STREQ(message, "the map must be aligned to 64 bytes");
  EXPECT_EQ(tileEncodeTensorMap(&map, &tensor, refuse, encoded.bytes, message),
            801);
  EXPECT_STREQ(message, "cuTensorMapEncodeTiled returned 801");
}

} // namespace
