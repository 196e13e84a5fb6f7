//===- KernelParameters.cpp - The parameters of a kernel ------------------===//

#include "KernelParameters.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tile;

/// Returns the value that `value` stands for: during the conversion, the parts
/// of a buffer are cast to a buffer and back.
static Value lookThroughCasts(Value value) {
  while (auto parts = value.getDefiningOp<UnrealizedConversionCastOp>()) {
    auto whole =
        parts.getNumOperands() == 1
            ? parts.getOperand(0).getDefiningOp<UnrealizedConversionCastOp>()
            : UnrealizedConversionCastOp();
    unsigned number = cast<OpResult>(value).getResultNumber();
    if (!whole || number >= whole.getNumOperands())
      break;
    value = whole.getOperand(number);
  }
  return value;
}

std::optional<ParameterPart> tile::findParameter(Value value) {
  auto argument = dyn_cast<BlockArgument>(lookThroughCasts(value));
  auto func =
      argument
          ? dyn_cast<mlir::gpu::GPUFuncOp>(argument.getOwner()->getParentOp())
          : mlir::gpu::GPUFuncOp();
  auto manifest =
      func ? tile::gpu::findManifest(func) : tile::gpu::ManifestOp();
  if (!manifest)
    return std::nullopt;
  unsigned left = argument.getArgNumber();
  for (auto [number, attr] : llvm::enumerate(manifest.getParams())) {
    auto param = cast<DictionaryAttr>(attr);
    ParameterPart part{manifest, unsigned(number),
                       param.getAs<StringAttr>("name").getValue(), "", 0};
    if (left-- == 0)
      return part;
    for (StringRef field : {"shape", "strides"}) {
      auto numbers = param.getAs<ArrayAttr>(field);
      if (!numbers)
        continue;
      for (auto [dim, extent] : llvm::enumerate(numbers))
        if (isa<UnitAttr>(extent) && left-- == 0) {
          part.field = field;
          part.dim = dim;
          return part;
        }
    }
  }
  return std::nullopt;
}

void tile::limitStride(const ParameterPart &part, int64_t limit) {
  tile::gpu::ManifestOp manifest = part.manifest;
  Builder b(manifest.getContext());
  SmallVector<Attribute> params(manifest.getParams().getValue());
  auto param = cast<DictionaryAttr>(params[part.number]);
  SmallVector<Attribute> limits(param.getAs<ArrayAttr>("strides").size(),
                                b.getUnitAttr());
  if (auto before = param.getAs<ArrayAttr>("stride_limits"))
    limits.assign(before.begin(), before.end());
  if (auto before = dyn_cast<IntegerAttr>(limits[part.dim]))
    limit = std::min(limit, before.getInt());
  limits[part.dim] = b.getI64IntegerAttr(limit);
  NamedAttrList fields(param);
  fields.set("stride_limits", b.getArrayAttr(limits));
  params[part.number] = fields.getDictionary(b.getContext());
  manifest.setParamsAttr(b.getArrayAttr(params));
}
