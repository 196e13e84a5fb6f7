//===- ReadTensorMaps.cpp - Tensor maps of a manifest, read from C --------===//

#include "tile-c/TensorMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/JSON.h"
#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace json = llvm::json;

namespace {

/// The fields of a parameter of any kind; absent fields are empty.
struct Parameter {
  std::string kind, type;
  int64_t rank = 0, argument = -1, swizzle = -1;
  std::optional<int64_t> ragged;
  std::vector<int64_t> dims, box;
};

struct Kernel {
  std::string name;
  std::vector<Parameter> params;
};

struct Manifest {
  int64_t version = 0;
  std::vector<Kernel> kernels;
};

bool fromJSON(const json::Value &value, Parameter &result, json::Path path) {
  json::ObjectMapper object(value, path);
  if (!object || !object.map("kind", result.kind))
    return false;
  if (result.kind == "buffer")
    return object.map("type", result.type) && object.map("rank", result.rank);
  if (result.kind != "tensor_map")
    return true;
  return object.map("argument", result.argument) &&
         object.map("dims", result.dims) && object.map("box", result.box) &&
         object.map("swizzle", result.swizzle) &&
         object.mapOptional("ragged", result.ragged);
}

bool fromJSON(const json::Value &value, Kernel &result, json::Path path) {
  json::ObjectMapper object(value, path);
  return object && object.map("name", result.name) &&
         object.map("params", result.params);
}

bool fromJSON(const json::Value &value, Manifest &result, json::Path path) {
  json::ObjectMapper object(value, path);
  return object && object.map("version", result.version) &&
         object.map("kernels", result.kernels);
}

} // namespace

static int fail(char *message, const std::string &text) {
  if (message) {
    strncpy(message, text.c_str(), TILE_TENSOR_MAP_MESSAGE - 1);
    message[TILE_TENSOR_MAP_MESSAGE - 1] = '\0';
  }
  return -1;
}

/// Returns the tensor map that `param` describes; std::nullopt if it does not
/// fit the other parameters.
static std::optional<TileTensorMap>
convert(const Parameter &param, const std::vector<Parameter> &params) {
  if (param.argument < 0 || param.argument >= int64_t(params.size()))
    return std::nullopt;
  const Parameter &buffer = params[param.argument];
  TileTensorMap map = {};
  map.argument = param.argument;
  if (buffer.kind != "buffer" || buffer.type.size() >= sizeof(map.type) ||
      buffer.rank < 1 || buffer.rank > TILE_TENSOR_MAP_RANK ||
      param.dims.empty() || param.dims.size() > size_t(buffer.rank) ||
      (param.dims.size() < size_t(buffer.rank) && !param.ragged) ||
      param.box.size() != param.dims.size() || param.swizzle < 0 ||
      param.swizzle > 128)
    return std::nullopt;
  memcpy(map.type, buffer.type.c_str(), buffer.type.size());
  map.rank = buffer.rank;
  map.count = param.dims.size();
  map.swizzle = param.swizzle;
  if (param.ragged) {
    if (*param.ragged < 0 || *param.ragged >= buffer.rank)
      return std::nullopt;
    map.isRagged = 1;
    map.ragged = *param.ragged;
  }
  for (uint32_t i = 0; i < map.count; ++i) {
    if (param.dims[i] < 0 || param.dims[i] >= buffer.rank || param.box[i] < 1 ||
        param.box[i] > UINT32_MAX)
      return std::nullopt;
    map.dims[i] = param.dims[i];
    map.box[i] = param.box[i];
  }
  return map;
}

int tileReadTensorMaps(const char *text, const char *name, TileTensorMap *maps,
                       size_t capacity, char *message) {
  llvm::Expected<json::Value> value = json::parse(text);
  if (!value)
    return fail(message, "the manifest is no JSON: " +
                             llvm::toString(value.takeError()));
  Manifest manifest;
  json::Path::Root root("manifest");
  if (!fromJSON(*value, manifest, root))
    return fail(message, llvm::toString(root.getError()));
  if (manifest.version != 2)
    return fail(message, "the manifest has version " +
                             std::to_string(manifest.version) + ", not 2");
  for (const Kernel &kernel : manifest.kernels) {
    if (kernel.name != name)
      continue;
    size_t count = 0;
    for (size_t i = 0; i < kernel.params.size(); ++i) {
      if (kernel.params[i].kind != "tensor_map")
        continue;
      std::optional<TileTensorMap> map =
          convert(kernel.params[i], kernel.params);
      if (!map)
        return fail(message, "parameter " + std::to_string(i) + " of kernel '" +
                                 kernel.name + "' describes no tensor map");
      if (count < capacity)
        maps[count] = *map;
      ++count;
    }
    return int(count);
  }
  return fail(message,
              "the manifest has no kernel '" + std::string(name) + "'");
}
