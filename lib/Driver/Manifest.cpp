//===- Manifest.cpp - Writes manifests ------------------------------------===//

#include "tile/Driver/Manifest.h"
#include "BufferShapes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "tile/Dialect/TileGPU/IR/TileGPU.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
namespace json = llvm::json;

namespace tile {

/// Returns the JSON of an attribute; nothing if it has no JSON form.
static std::optional<json::Value> toJSON(Attribute attr) {
  using Result = std::optional<json::Value>;
  return llvm::TypeSwitch<Attribute, Result>(attr)
      .Case([](UnitAttr) -> Result { return json::Value(nullptr); })
      .Case([](BoolAttr a) -> Result { return json::Value(a.getValue()); })
      .Case([](IntegerAttr a) -> Result {
        return json::Value(a.getValue().getSExtValue());
      })
      .Case([](FloatAttr a) -> Result {
        return json::Value(a.getValueAsDouble());
      })
      .Case([](StringAttr a) -> Result { return json::Value(a.getValue()); })
      .Case([](DenseI64ArrayAttr a) -> Result {
        return json::Value(json::Array(a.asArrayRef()));
      })
      .Case([](ArrayAttr a) -> Result {
        json::Array array;
        for (Attribute element : a) {
          std::optional<json::Value> value = toJSON(element);
          if (!value)
            return std::nullopt;
          array.push_back(std::move(*value));
        }
        return json::Value(std::move(array));
      })
      .Case([](DictionaryAttr a) -> Result {
        json::Object object;
        for (NamedAttribute entry : a) {
          std::optional<json::Value> value = toJSON(entry.getValue());
          if (!value)
            return std::nullopt;
          object[entry.getName().getValue()] = std::move(*value);
        }
        return json::Value(std::move(object));
      })
      .Default([](Attribute) -> Result { return std::nullopt; });
}

static StringRef kindName(OutputKind kind) {
  switch (kind) {
  case OutputKind::LLVMIR:
    return "llvmir";
  case OutputKind::PTX:
    return "ptx";
  case OutputKind::HSACO:
    return "hsaco";
  }
  return "";
}

FailureOr<json::Value> buildManifest(mlir::gpu::GPUModuleOp module,
                                     const Chip &chip, OutputKind kind,
                                     bool required) {
  json::Array kernels;
  bool incomplete = false;
  for (auto func : module.getOps<LLVM::LLVMFuncOp>()) {
    if (!func->hasAttr(mlir::gpu::GPUDialect::getKernelFuncAttrName()))
      continue;
    tile::gpu::ManifestOp manifest = tile::gpu::findManifest(func);
    if (!manifest) {
      if (required)
        return func.emitError("the kernel has no tile_gpu.manifest");
      incomplete = true;
      continue;
    }
    json::Object kernel{{"name", func.getSymName()}};
    std::pair<StringRef, Attribute> fields[] = {
        {"grid", manifest.getGridAttr()},
        {"block", manifest.getBlockAttr()},
        {"shared_bytes", manifest.getSharedBytesAttr()},
        {"params", manifest.getParamsAttr()},
        {"requires", manifest.getRequirementsAttr()}};
    for (auto [key, attr] : fields) {
      if (!attr)
        continue;
      std::optional<json::Value> value = toJSON(attr);
      if (!value)
        return manifest.emitOpError()
               << '\'' << key << "' has no JSON form: " << attr;
      kernel[key] = std::move(*value);
    }
    if (manifest.getOverlapsPrevious())
      kernel["overlaps_previous"] = true;
    kernels.push_back(std::move(kernel));
  }
  if (incomplete)
    return json::Value(nullptr);
  json::Array shapes = describeShapes(kernels);
  return json::Value(json::Object{{"version", 2},
                                  {"chip", chip.name},
                                  {"multiprocessors", chip.processors},
                                  {"kind", kindName(kind)},
                                  {"kernels", std::move(kernels)},
                                  {"shapes", std::move(shapes)}});
}

} // namespace tile
