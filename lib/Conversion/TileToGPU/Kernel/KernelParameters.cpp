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

/// Returns the parameter and the dimension whose extent `part` is: another one
/// if launchers check that both are equal.
static std::pair<int64_t, int64_t> getExtent(ParameterPart part) {
  std::pair<int64_t, int64_t> extent{part.number, part.dim};
  ArrayAttr requirements = part.manifest.getRequirementsAttr();
  if (!requirements)
    return extent;
  for (auto required : requirements.getAsRange<DictionaryAttr>()) {
    auto number = [&](StringRef key) {
      return required.getAs<IntegerAttr>(key).getInt();
    };
    auto value = required.getAs<ArrayAttr>("value");
    if (number("argument") != extent.first || number("dim") != extent.second ||
        required.getAs<StringAttr>("relation").getValue() != "equal" ||
        !value || value.size() != 3 ||
        value[0] != StringAttr::get(value.getContext(), "dim"))
      continue;
    return {cast<IntegerAttr>(value[1]).getInt(),
            cast<IntegerAttr>(value[2]).getInt()};
  }
  return extent;
}

bool tile::areEqualExtents(Value a, Value b) {
  if (lookThroughCasts(a) == lookThroughCasts(b))
    return true;
  std::optional<ParameterPart> first = findParameter(a),
                               second = findParameter(b);
  return first && second && first->field == "shape" &&
         second->field == "shape" && getExtent(*first) == getExtent(*second);
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
