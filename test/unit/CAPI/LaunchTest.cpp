//===- LaunchTest.cpp - What a manifest asks of arguments, from C ---------===//

#include "tile-c/Launch.h"
#include "tile/Launch/Launch.h"
#include "gtest/gtest.h"
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace {

const char *const kManifest = R"({
  "version": 2, "chip": "sm_90a", "multiprocessors": 132, "kind": "ptx",
  "kernels": [
    {"name": "persistent", "grid": [["min", ["arg", 0], ["multiprocessors"]], 1, 1],
     "block": [32, 1, 1], "shared_bytes": 0,
     "params": [{"kind": "scalar", "name": "n", "type": "index"}]},
    {"name": "grid", "grid": [["arg", 0], ["arg", 1], ["mul", ["arg", 2], ["arg", 2]]],
     "block": [32, 1, 1], "shared_bytes": 0,
     "params": [{"kind": "scalar", "name": "x", "type": "index"},
                {"kind": "scalar", "name": "y", "type": "index"},
                {"kind": "scalar", "name": "z", "type": "index"}]},
    {"name": "zero", "grid": [1, 1, 1], "block": [32, 1, 1], "shared_bytes": 0,
     "params": [{"kind": "scalar", "name": "n", "type": "i32"}]},
    {"name": "narrow", "grid": [1, 1, 1], "block": [32, 1, 1], "shared_bytes": 0,
     "params": [{"kind": "scalar", "name": "h", "type": "f16"},
                {"kind": "scalar", "name": "b", "type": "bf16"},
                {"kind": "scalar", "name": "flag", "type": "i1"}]},
    {"name": "rows", "grid": [["ceildiv", ["dim", 0, 0], 64], ["arg", 3], 2],
     "block": [128, 1, 1], "shared_bytes": 0,
     "requires": [
       {"argument": 1, "dim": 0, "relation": "RELATION", "reason": "as q says",
        "value": ["add", ["dim", 0, 0], ["mul", ["arg", 3], 2]]}],
     "params": [
      {"kind": "buffer", "name": "q", "type": "bf16", "rank": 2,
       "shape": [null, 64], "strides": [null, 1],
       "stride_divisibility": [8, 1], "alignment": 16},
      {"kind": "buffer", "name": "stats", "type": "f32", "rank": 1,
       "shape": [null], "strides": [1], "stride_divisibility": [1],
       "alignment": 4},
      {"kind": "scalar", "name": "scale", "type": "f32", "nonnegative": true},
      {"kind": "scalar", "name": "n", "type": "index"},
      {"kind": "tensor_map", "argument": 0, "dims": [1, 0],
       "box": [64, 64], "swizzle": 128}]}]})";

std::string manifestWith(const std::string &relation) {
  std::string text = kManifest;
  return text.replace(text.find("RELATION"), 8, relation);
}

/// The arguments of kernel `rows`. They are valid if stats has the required
/// rows.
struct Arguments {
  int64_t shape[2], strides[2] = {64, 1}, rows, one = 1;
  std::vector<TileLaunchArgument> values;

  explicit Arguments(int64_t queries, int64_t rows, int64_t n = 3)
      : shape{queries, 64}, rows(rows) {
    values.push_back({"bf16", 0x1000, 2, shape, strides, 0, 0, 0});
    values.push_back({"f32", 0x2004, 1, &this->rows, &one, 0, 0, 0});
    values.push_back({nullptr, 0, 0, nullptr, nullptr, 1, 0.5, 0});
    values.push_back({nullptr, 0, 0, nullptr, nullptr, 0, 0, n});
  }
};

/// Returns the error message, or the grid as text.
std::string launch(const std::string &manifest,
                   const std::vector<TileLaunchArgument> &arguments,
                   const char *kernel, int64_t multiprocessors = 0) {
  int64_t grid[3] = {-1, -1, -1};
  char message[TILE_LAUNCH_MESSAGE] = "";
  if (tileCheckLaunch(manifest.c_str(), kernel, arguments.data(),
                      arguments.size(), multiprocessors, grid, message) != 0)
    return message;
  return std::to_string(grid[0]) + " " + std::to_string(grid[1]) + " " +
         std::to_string(grid[2]);
}

std::string launch(const std::string &manifest, const Arguments &arguments,
                   const char *kernel = "rows") {
  return launch(manifest, arguments.values, kernel);
}

/// Launches `kernel` with numbers.
std::string launchNumbers(const char *kernel, std::vector<int64_t> numbers,
                          int64_t multiprocessors = 0) {
  std::vector<TileLaunchArgument> arguments;
  for (int64_t number : numbers)
    arguments.push_back({nullptr, 0, 0, nullptr, nullptr, 0, 0, number});
  return launch(manifestWith("equal"), arguments, kernel, multiprocessors);
}

TEST(LaunchC, CountsMultiprocessors) {
  EXPECT_EQ(launchNumbers("persistent", {1000}), "132 1 1");
  EXPECT_EQ(launchNumbers("persistent", {1000}, 114), "114 1 1");
  EXPECT_EQ(launchNumbers("persistent", {7}, 114), "7 1 1");
  EXPECT_EQ(launchNumbers("persistent", {7}, -1),
            "a GPU of -1 multiprocessors");
}

TEST(LaunchC, LimitsGrids) {
  EXPECT_EQ(launchNumbers("grid", {0x7fffffff, 65535, 2}),
            "2147483647 65535 4");
  EXPECT_EQ(launchNumbers("grid", {0x80000000, 1, 1}),
            "grid: grid extent x is 2147483648, must be between 0 and "
            "2147483647");
  EXPECT_EQ(launchNumbers("grid", {1, 65536, 1}),
            "grid: grid extent y is 65536, must be between 0 and 65535");
  EXPECT_EQ(launchNumbers("grid", {1, 1, 256}),
            "grid: grid extent z is 65536, must be between 0 and 65535");
  EXPECT_EQ(launchNumbers("grid", {1, 1, int64_t(1) << 32}),
            "an expression of the manifest exceeds 64 bits");
}

TEST(LaunchC, ChecksNarrowScalars) {
  auto narrow = [](double h, double b, int64_t flag) {
    return launch(manifestWith("equal"),
                  {{nullptr, 0, 0, nullptr, nullptr, 1, h, 0},
                   {nullptr, 0, 0, nullptr, nullptr, 1, b, 0},
                   {nullptr, 0, 0, nullptr, nullptr, 0, 0, flag}},
                  "narrow");
  };
  double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(narrow(65519, 3.3e38, 1), "1 1 1");
  EXPECT_EQ(narrow(infinity, -infinity, 0), "1 1 1");
  EXPECT_EQ(narrow(65520, 0, 1), "argument 0 'h': 65520.00 does not fit f16");
  EXPECT_EQ(narrow(0, -1e39, 1).substr(0, 14), "argument 1 'b'");
  EXPECT_EQ(narrow(0, 0, 2), "argument 2 'flag': 2 does not fit i1");
  EXPECT_EQ(narrow(0, 0, -1), "argument 2 'flag': -1 does not fit i1");
  EXPECT_EQ(launchNumbers("narrow", {65520, 0, 1}),
            "argument 0 'h': 65520 does not fit f16");
  EXPECT_EQ(launchNumbers("narrow", {-3, 7, 1}), "1 1 1");
}

TEST(LaunchC, ChecksIntegers) {
  // The grid and the kernel see one number.
  EXPECT_EQ(launchNumbers("zero", {0x7fffffff}), "1 1 1");
  EXPECT_EQ(launchNumbers("zero", {-int64_t(0x80000000)}), "1 1 1");
  EXPECT_EQ(launchNumbers("zero", {0x80000000}),
            "argument 0 'n': 2147483648 does not fit i32");
}

TEST(LaunchC, PacksScalars) {
  using tile::launch::packScalar;
  double infinity = std::numeric_limits<double>::infinity();
  // Between two neighbours, ties go to the even one.
  EXPECT_EQ(packScalar("f16", 1 + 0x1p-11), 0x3c00u);
  EXPECT_EQ(packScalar("f16", 1 + 3 * 0x1p-11), 0x3c02u);
  EXPECT_EQ(packScalar("bf16", 1 + 0x1p-8), 0x3f80u);
  EXPECT_EQ(packScalar("bf16", 1 + 3 * 0x1p-8), 0x3f82u);
  // One rounding: by way of f32, this would be a tie.
  EXPECT_EQ(packScalar("bf16", 1 + 0x1p-8 + 0x1p-40), 0x3f81u);
  EXPECT_EQ(packScalar("bf16", -infinity), 0xff80u);
  EXPECT_EQ(packScalar("bf16", std::nan("")), 0x7fc0u);
  EXPECT_EQ(packScalar("f16", std::nan("")), 0x7e00u);
  EXPECT_EQ(packScalar("f32", int64_t(-2)), 0xc0000000u);
  EXPECT_EQ(packScalar("f64", 0.5), 0x3fe0000000000000u);
  EXPECT_EQ(packScalar("i1", int64_t(1)), 1u);
  EXPECT_EQ(packScalar("i32", int64_t(-1)), 0xffffffffu);
  EXPECT_EQ(packScalar("index", int64_t(-1)), ~uint64_t(0));
}

TEST(LaunchC, ChecksRequirements) {
  std::string equal = manifestWith("equal"), least = manifestWith("at_least"),
              most = manifestWith("at_most"),
              multiple = manifestWith("multiple_of");
  EXPECT_EQ(launch(equal, Arguments(100, 106)), "2 3 2");
  EXPECT_EQ(launch(equal, Arguments(100, 107)),
            "argument 1 'stats': extent 0 is 107, must be 106: as q says");
  EXPECT_EQ(launch(least, Arguments(100, 107)), "2 3 2");
  EXPECT_EQ(
      launch(least, Arguments(100, 105)),
      "argument 1 'stats': extent 0 is 105, must be at least 106: as q says");
  EXPECT_EQ(launch(most, Arguments(100, 105)), "2 3 2");
  EXPECT_EQ(
      launch(most, Arguments(100, 107)),
      "argument 1 'stats': extent 0 is 107, must be at most 106: as q says");
  EXPECT_EQ(launch(multiple, Arguments(100, 212)), "2 3 2");
  EXPECT_EQ(launch(multiple, Arguments(100, 107)),
            "argument 1 'stats': extent 0 is 107, must be a multiple of 106: "
            "as q says");
  EXPECT_EQ(launch(multiple, Arguments(0, 0, 0)), "0 0 2");
  EXPECT_EQ(launch(multiple, Arguments(0, 1, 0)),
            "argument 1 'stats': extent 0 is 1, must be a multiple of 0: as q "
            "says");
}

TEST(LaunchC, ChecksEachArgument) {
  std::string manifest = manifestWith("equal");
  Arguments stride(100, 106), aligned(100, 106), scale(100, 106), few(100, 106);
  stride.strides[0] = 68;
  EXPECT_EQ(launch(manifest, stride),
            "argument 0 'q': stride 0 is 68, must be divisible by 8");
  std::string limited = manifest,
              divisors = R"("stride_divisibility": [8, 1],)";
  limited.insert(limited.find(divisors), R"("stride_limits": [71, null], )");
  stride.strides[0] = 72;
  EXPECT_EQ(launch(limited, stride),
            "argument 0 'q': stride 0 is 72, must be between 0 and 71");
  stride.strides[0] = -64;
  EXPECT_EQ(launch(limited, stride),
            "argument 0 'q': stride 0 is -64, must be between 0 and 71");
  EXPECT_EQ(launch(limited, Arguments(100, 106)),
            launch(manifest, Arguments(100, 106)));
  aligned.values[0].address = 0x1008;
  EXPECT_EQ(launch(manifest, aligned),
            "argument 0 'q': address 0x1008 must be aligned to 16 bytes");
  scale.values[2].real = -1;
  EXPECT_EQ(launch(manifest, scale),
            "argument 2 'scale': must be finite and not negative, got -1.00");
  few.values.pop_back();
  EXPECT_EQ(launch(manifest, few), "3 arguments, there are 4");
}

TEST(LaunchC, StridesAndAddressOfTensorsWithoutElements) {
  Arguments empty(0, 6), single(1, 7);
  for (Arguments *arguments : {&empty, &single})
    arguments->strides[0] = 68;
  empty.strides[1] = 3;
  empty.values[0].address = 0x1008;
  EXPECT_EQ(launch(manifestWith("equal"), empty), "0 3 2");
  EXPECT_EQ(launch(manifestWith("equal"), single), "1 3 2");
  single.strides[1] = 3;
  EXPECT_EQ(launch(manifestWith("equal"), single),
            "argument 0 'q': stride 1 is 3, must be 1");
}

/// Two kernels with scratch buffers `a`, `b` and `c`.
const char *const kScratch = R"({
  "version": 2, "chip": "sm_90a", "kind": "ptx", "kernels": [
    {"name": "first", "grid": [1, 1, 1], "block": [32, 1, 1], "shared_bytes": 0,
     "params": [
      {"kind": "buffer", "name": "q", "type": "bf16", "rank": 1,
       "shape": [null], "strides": [1], "stride_divisibility": [1],
       "alignment": 4},
      {"kind": "buffer", "name": "b", "type": "i32", "rank": 2,
       "shape": [null, 3], "strides": [3, 1], "stride_divisibility": [1, 1],
       "alignment": 4},
      {"kind": "buffer", "name": "a", "type": "f32", "rank": 2,
       "shape": [null, null], "strides": [null, 1],
       "stride_divisibility": [4, 1], "alignment": 4},
      {"kind": "scalar", "name": "n", "type": "index"}]},
    {"name": "second", "grid": [1, 1, 1], "block": [32, 1, 1],
     "shared_bytes": 0,
     "params": [
      {"kind": "buffer", "name": "a", "type": "f32", "rank": 2,
       "shape": [null, null], "strides": [null, 1],
       "stride_divisibility": [4, 1], "alignment": 4},
      {"kind": "buffer", "name": "c", "type": "f16", "rank": 2,
       "shape": [null, 4], "alignment": 4,
       "storage": ["mul", ["mul", ["ceildiv", ["dim", 1, 0], 16], 16], 4]}]}],
  "shapes": [
    {"name": "a", "extents": [["dim", "q", 0],
       ["mul", ["ceildiv", ["max", ["add", ["dim", "q", 0], ["arg", "n"]], 21],
                           4], 4]]},
    {"name": "b", "extents": [
       ["mul", ["ceildiv", ["mul", ["dim", "a", 1], 2], 16], 16], 3]},
    {"name": "c", "extents": [
       ["mul", ["ceildiv", ["dim", "a", 1], 16], 16], 4]}]})";

/// Returns type and shape of a scratch buffer, or the error message.
std::string findScratch(const char *name, int64_t rows, int64_t n,
                        const char *manifest = kScratch,
                        std::vector<const char *> names = {"q", "n"}) {
  std::vector<TileLaunchArgument> arguments = {
      {"bf16", 0, 1, &rows, nullptr, 0, 0, 0},
      {nullptr, 0, 0, nullptr, nullptr, 0, 0, n}};
  TileLaunchScratch scratch;
  char message[TILE_LAUNCH_MESSAGE] = "";
  if (tileFindScratch(manifest, name, names.data(), arguments.data(),
                      names.size(), &scratch, message) != 0)
    return message;
  std::string text = scratch.type;
  for (int64_t i = 0; i < scratch.rank; ++i)
    text += " " + std::to_string(scratch.shape[i]);
  return text;
}

TEST(LaunchC, FindsScratchBuffers) {
  EXPECT_EQ(findScratch("a", 5, 7), "f32 5 24");
  EXPECT_EQ(findScratch("a", 30, 3), "f32 30 36");
  // The shapes of `b` and `c` depend on that of `a`.
  EXPECT_EQ(findScratch("b", 5, 7), "i32 48 3");
  EXPECT_EQ(findScratch("b", 30, 3), "i32 80 3");
  EXPECT_EQ(findScratch("c", 5, 7), "f16 32 4");
  EXPECT_EQ(findScratch("c", 0, 32), "f16 32 4");
  EXPECT_EQ(findScratch("a", 0, 32), "f32 0 32");
}

TEST(LaunchC, RefusesScratchBuffersThatItCannotFind) {
  EXPECT_EQ(findScratch("n", 5, 7), "the kernels have no scratch buffer 'n'");
  EXPECT_EQ(findScratch("q", 5, 7), "the kernels have no scratch buffer 'q'");
  EXPECT_EQ(findScratch("a", 5, 7, kScratch, {"q"}),
            "the shape of 'a' depends on 'n', which is not given");
  EXPECT_EQ(findScratch("a", 5, 7, kScratch, {}),
            "the shape of 'a' depends on 'q', which is not given");
  EXPECT_EQ(findScratch("a", 5, 7, "{"), findScratch("b", 5, 7, "{"));
  EXPECT_EQ(findScratch("a", 5, 7, "{}"), "the manifest is malformed");
  // Extents have 31 bits.
  EXPECT_EQ(findScratch("a", 5, int64_t(1) << 31),
            "an extent of a scratch buffer is not below 2^31");
  EXPECT_EQ(findScratch("b", 5, int64_t(1) << 30),
            "an extent of a scratch buffer is not below 2^31");
  auto replaced = [](const std::string &from, const std::string &to) {
    std::string text = kScratch;
    return text.replace(text.find(from), from.size(), to);
  };
  std::string fewer =
      replaced(R"("name": "c", "extents")", R"("name": "d", "extents")");
  EXPECT_EQ(findScratch("a", 5, 7, fewer.c_str()),
            "the manifest does not determine the shape of 'c'");
  std::string list =
      replaced(R"({"name": "a", "extents": [)", R"({"name": "a", "bounds": [)");
  EXPECT_EQ(findScratch("a", 5, 7, list.c_str()), "the manifest is malformed");
  std::string sum =
      replaced(R"(["add", ["dim", "q", 0])", R"(["plus", ["dim", "q", 0])");
  EXPECT_EQ(findScratch("a", 5, 7, sum.c_str()),
            "an expression of the manifest is malformed");
}

TEST(LaunchC, RefusesManifestsThatDoNotFit) {
  Arguments arguments(100, 106);
  EXPECT_EQ(launch("{", arguments).substr(0, 23), "the manifest is no JSON");
  EXPECT_EQ(launch("{}", arguments), "the manifest is malformed");
  EXPECT_EQ(launch(kManifest, arguments), "the manifest is malformed");
  EXPECT_EQ(launch(manifestWith("equal"), arguments, "other"),
            "the manifest has no kernel 'other'");
  // Divisors of strides and addresses.
  for (std::string divisor :
       {"[8, 1], \"alignment\": 16", "[0, 1], \"alignment\": 16",
        "[-8, 1], \"alignment\": 16", "[8, 1], \"alignment\": 0"}) {
    std::string manifest = manifestWith("equal"),
                first = "[8, 1], \"alignment\": 16";
    size_t place =
        manifest.find("\"strides\": [null, 1],\n       \"stride_div");
    place = manifest.find("[8, 1]", place);
    size_t end = manifest.find("16", place) + 2;
    manifest.replace(place, end - place, divisor);
    EXPECT_EQ(launch(manifest, arguments),
              divisor == first ? "2 3 2"
                               : "parameter 'q' of the manifest is malformed");
  }
}

} // namespace
