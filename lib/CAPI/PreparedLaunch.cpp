//===- PreparedLaunch.cpp - Launches prepared for repeated use ------------===//

#include "tile-c/PreparedLaunch.h"
#include "tile/Launch/Launch.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

using llvm::SmallVector;

namespace {

/// CUlaunchAttribute of cuda.h, where the value is an int.
struct LaunchAttribute {
  int id, padding, value, rest[15];
};
static_assert(sizeof(LaunchAttribute) == 72);

/// CUlaunchConfig of cuda.h.
struct LaunchConfig {
  uint32_t grid[3], block[3], sharedBytes;
  void *stream;
  const LaunchAttribute *attributes;
  uint32_t attributeCount;
};
static_assert(sizeof(LaunchConfig) == 56);

/// CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION.
constexpr LaunchAttribute kOverlaps = {6, 0, 1, {}};

/// Encoded maps that are kept of one argument.
constexpr size_t kMaxMaps = 1024;

struct alignas(TILE_TENSOR_MAP_ALIGNMENT) EncodedMap {
  std::array<char, TILE_TENSOR_MAP_BYTES> bytes;
};

/// The tensor maps of one argument of a kernel.
class Maps {
public:
  explicit Maps(const TilePreparedMap &map) : map(map) {}

  /// Copies the map for the value's address to `encoded`. Maps are kept,
  /// because addresses recur and the driver takes 17 us to encode a map.
  int get(const TileDriver &driver, const TileLaunchValue *values,
          EncodedMap &encoded) {
    const TileTensorMapArguments &arguments = map.arguments;
    uint64_t address = map.isEmpty ? arguments.address : values[map.value].word;
    std::lock_guard<std::mutex> guard(mutex);
    auto found = known.find(address);
    if (found == known.end()) {
      if (int status = driver.tensorMapEncodeTiled(
              encoded.bytes.data(), arguments.type, arguments.rank,
              reinterpret_cast<void *>(address), arguments.extents,
              arguments.strides, arguments.box, arguments.steps,
              arguments.interleave, arguments.swizzle, arguments.promotion,
              arguments.fill))
        return status;
      if (known.size() >= kMaxMaps)
        known.clear();
      known.emplace(address, encoded);
      return 0;
    }
    encoded = found->second;
    return 0;
  }

private:
  const TilePreparedMap map;
  std::mutex mutex;
  std::unordered_map<uint64_t, EncodedMap> known;
};

class Kernel {
public:
  explicit Kernel(const TilePreparedKernel &kernel)
      : function(kernel.function), config(),
        memory((kernel.memoryBytes + 7) / 8),
        patches(kernel.patches, kernel.patches + kernel.patchCount),
        offsets(kernel.offsets, kernel.offsets + kernel.offsetCount) {
    std::copy_n(kernel.grid, 3, config.grid);
    std::copy_n(kernel.block, 3, config.block);
    config.sharedBytes = kernel.sharedBytes;
    config.attributes = &kOverlaps;
    config.attributeCount = kernel.overlaps ? 1 : 0;
    if (kernel.memoryBytes)
      memcpy(memory.data(), kernel.memory, kernel.memoryBytes);
    for (size_t i = 0; i < kernel.mapCount; ++i)
      maps.push_back(std::make_unique<Maps>(kernel.maps[i]));
  }

  int launch(const TileDriver &driver, const TileLaunchValue *values,
             void *stream) const {
    SmallVector<uint64_t, 64> parameters(memory.begin(), memory.end());
    char *base = reinterpret_cast<char *>(parameters.data());
    for (const TileParameterPatch &patch : patches) {
      const TileLaunchValue &value = values[patch.value];
      auto put = [&](auto field) {
        memcpy(base + patch.offset, &field, sizeof(field));
      };
      auto round = [&](const char *type) {
        return tile::launch::packScalar(type, value.real);
      };
      switch (patch.kind) {
      case TILE_PATCH_F32:
        put(float(value.real));
        break;
      case TILE_PATCH_F16:
        put(uint16_t(round("f16")));
        break;
      case TILE_PATCH_BF16:
        put(uint16_t(round("bf16")));
        break;
      case TILE_PATCH_I32:
        put(int32_t(value.word));
        break;
      case TILE_PATCH_I1:
        put(uint8_t(value.word));
        break;
      default:
        put(value.word);
      }
    }
    SmallVector<void *, 64> addresses;
    for (uint32_t offset : offsets)
      addresses.push_back(base + offset);
    // The driver copies the maps at the launch.
    SmallVector<EncodedMap, 8> encoded(maps.size());
    for (auto [map, place] : llvm::zip(maps, encoded)) {
      if (int status = map->get(driver, values, place))
        return status;
      addresses.push_back(place.bytes.data());
    }
    LaunchConfig given = config;
    given.stream = stream;
    return driver.launchKernelEx(&given, function, addresses.data(), nullptr);
  }

private:
  void *function;
  LaunchConfig config;
  /// Words, so that parameters are aligned.
  std::vector<uint64_t> memory;
  std::vector<TileParameterPatch> patches;
  std::vector<uint32_t> offsets;
  std::vector<std::unique_ptr<Maps>> maps;
};

} // namespace

struct TilePreparedLaunch {
  TileDriver driver;
  void *context;
  std::vector<Kernel> kernels;
};

TilePreparedLaunch *tilePreparedLaunchCreate(const TileDriver *driver,
                                             void *context,
                                             const TilePreparedKernel *kernels,
                                             size_t count) {
  auto *launch = new TilePreparedLaunch{*driver, context, {}};
  for (size_t i = 0; i < count; ++i)
    launch->kernels.emplace_back(kernels[i]);
  return launch;
}

int tilePreparedLaunchRun(TilePreparedLaunch *launch,
                          const TileLaunchValue *values, void *stream) {
  const TileDriver &driver = launch->driver;
  void *current = nullptr;
  if (int status = driver.ctxGetCurrent(&current))
    return status;
  bool entered = current != launch->context;
  if (entered)
    if (int status = driver.ctxPushCurrent(launch->context))
      return status;
  int status = 0;
  for (const Kernel &kernel : launch->kernels)
    if ((status = kernel.launch(driver, values, stream)))
      break;
  if (entered)
    driver.ctxPopCurrent(&current);
  return status;
}

void tilePreparedLaunchDestroy(TilePreparedLaunch *launch) { delete launch; }
