//===- Scratch.cpp - Shapes of scratch buffers ----------------------------===//

#include "tile/Launch/Scratch.h"
#include "llvm/Support/FormatVariadic.h"
#include <limits>

using namespace tile::launch;
using llvm::createStringError;
namespace json = llvm::json;

/// Returns the shape that an entry of `shapes` gives.
static llvm::Expected<Tensor>
evaluateShape(const json::Array &extents, llvm::StringRef name,
              int64_t multiprocessors,
              const std::map<std::string, Argument> &arguments) {
  Tensor tensor;
  std::string missing;
  for (const json::Value &expression : extents) {
    llvm::Expected<int64_t> extent =
        evaluate(expression, multiprocessors,
                 [&](const json::Value &parameter) -> const Argument * {
                   auto found = arguments.find(
                       parameter.getAsString().value_or("").str());
                   if (found != arguments.end())
                     return &found->second;
                   missing = parameter.getAsString().value_or("").str();
                   return nullptr;
                 });
    if (!extent && !missing.empty()) {
      llvm::consumeError(extent.takeError());
      return createStringError(llvm::formatv(
          "the shape of '{0}' depends on '{1}', which is not given", name,
          missing));
    }
    if (!extent)
      return extent.takeError();
    if (*extent < 0 || *extent > std::numeric_limits<int32_t>::max())
      return createStringError(
          "an extent of a scratch buffer is not below 2^31");
    tensor.shape.push_back(*extent);
  }
  return tensor;
}

llvm::Expected<std::vector<ScratchBuffer>>
tile::launch::findScratchBuffers(const json::Value &manifest,
                                 const std::map<std::string, Argument> &given) {
  llvm::Expected<std::vector<KernelSpec>> kernels = parseManifest(manifest);
  if (!kernels)
    return kernels.takeError();
  const json::Object &root = *manifest.getAsObject();
  int64_t multiprocessors = root.getInteger("multiprocessors").value_or(1);
  // Each entry may refer to buffers of entries before it.
  std::map<std::string, Argument> arguments = given;
  if (const json::Array *shapes = root.getArray("shapes"))
    for (const json::Value &shape : *shapes) {
      const json::Object *entry = shape.getAsObject();
      std::optional<llvm::StringRef> name =
          entry ? entry->getString("name") : std::nullopt;
      const json::Array *extents = entry ? entry->getArray("extents") : nullptr;
      if (!name || !extents)
        return createStringError("the manifest is malformed");
      if (arguments.count(name->str()))
        continue;
      llvm::Expected<Tensor> tensor =
          evaluateShape(*extents, *name, multiprocessors, arguments);
      if (!tensor)
        return tensor.takeError();
      arguments[name->str()] = std::move(*tensor);
    }
  std::vector<ScratchBuffer> buffers;
  for (const KernelSpec &kernel : *kernels)
    for (const Parameter &parameter : kernel.parameters) {
      if (!parameter.isBuffer || given.count(parameter.name) ||
          llvm::any_of(buffers, [&](const ScratchBuffer &buffer) {
            return buffer.name == parameter.name;
          }))
        continue;
      auto found = arguments.find(parameter.name);
      if (found == arguments.end())
        return createStringError("the manifest does not determine the shape "
                                 "of '" +
                                 parameter.name + "'");
      buffers.push_back({parameter.name, parameter.type,
                         std::get<Tensor>(found->second).shape});
    }
  return buffers;
}
