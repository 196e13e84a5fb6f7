//===- Launch.cpp - C interface to check launch arguments -----------------===//

#include "tile-c/Launch.h"
#include "tile/Launch/Launch.h"
#include "tile/Launch/Scratch.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>

using namespace tile::launch;

static int fail(char *message, const std::string &text) {
  if (message) {
    strncpy(message, text.c_str(), TILE_LAUNCH_MESSAGE - 1);
    message[TILE_LAUNCH_MESSAGE - 1] = '\0';
  }
  return -1;
}

static Argument convert(const TileLaunchArgument &argument) {
  if (!argument.type)
    return argument.isReal ? Argument(argument.real)
                           : Argument(argument.integer);
  Tensor tensor;
  tensor.data = reinterpret_cast<void *>(uintptr_t(argument.address));
  tensor.type = argument.type;
  tensor.shape.assign(argument.shape, argument.shape + argument.rank);
  if (argument.strides)
    tensor.strides.assign(argument.strides, argument.strides + argument.rank);
  return tensor;
}

static llvm::Expected<llvm::json::Value> parse(const char *manifest) {
  llvm::Expected<llvm::json::Value> json = llvm::json::parse(manifest);
  if (!json)
    return llvm::createStringError("the manifest is no JSON: " +
                                   llvm::toString(json.takeError()));
  return json;
}

int tileCheckLaunch(const char *manifest, const char *kernel,
                    const TileLaunchArgument *arguments, size_t count,
                    int64_t multiprocessors, int64_t grid[3], char *message) {
  auto failWith = [&](llvm::Error error) {
    return fail(message, llvm::toString(std::move(error)));
  };
  llvm::Expected<llvm::json::Value> json = parse(manifest);
  if (!json)
    return failWith(json.takeError());
  llvm::Expected<std::vector<KernelSpec>> kernels = parseManifest(*json);
  if (!kernels)
    return failWith(kernels.takeError());
  auto spec = llvm::find_if(*kernels, [&](const KernelSpec &candidate) {
    return candidate.name == kernel;
  });
  if (spec == kernels->end())
    return fail(message,
                "the manifest has no kernel '" + std::string(kernel) + "'");
  if (multiprocessors < 0)
    return fail(message, "a GPU of " + std::to_string(multiprocessors) +
                             " multiprocessors");
  if (multiprocessors != 0)
    spec->multiprocessors = multiprocessors;
  std::vector<Argument> values;
  for (size_t i = 0; i < count; ++i)
    values.push_back(convert(arguments[i]));
  if (llvm::Error error = checkArguments(*spec, values))
    return failWith(std::move(error));
  llvm::Expected<std::array<int64_t, 3>> extents = evaluateGrid(*spec, values);
  if (!extents)
    return failWith(extents.takeError());
  llvm::copy(*extents, grid);
  return 0;
}

int tileFindScratch(const char *manifest, const char *name,
                    const char *const *names,
                    const TileLaunchArgument *arguments, size_t count,
                    TileLaunchScratch *scratch, char *message) {
  auto failWith = [&](llvm::Error error) {
    return fail(message, llvm::toString(std::move(error)));
  };
  llvm::Expected<llvm::json::Value> json = parse(manifest);
  if (!json)
    return failWith(json.takeError());
  std::map<std::string, Argument> given;
  for (size_t i = 0; i < count; ++i)
    given[names[i]] = convert(arguments[i]);
  llvm::Expected<std::vector<ScratchBuffer>> buffers =
      findScratchBuffers(*json, given);
  if (!buffers)
    return failWith(buffers.takeError());
  for (const ScratchBuffer &buffer : *buffers) {
    if (buffer.name != name)
      continue;
    if (buffer.shape.size() > TILE_LAUNCH_RANK)
      return fail(message, "'" + buffer.name + "' has more than 8 dimensions");
    *scratch = {};
    strncpy(scratch->type, buffer.type.c_str(), sizeof(scratch->type) - 1);
    scratch->rank = buffer.shape.size();
    llvm::copy(buffer.shape, scratch->shape);
    return 0;
  }
  return fail(message,
              "the kernels have no scratch buffer '" + std::string(name) + "'");
}
