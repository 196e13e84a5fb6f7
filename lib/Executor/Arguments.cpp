//===- Arguments.cpp - Kernel arguments in memory -------------------------===//

#include "Arguments.h"
#include "llvm/ADT/STLExtras.h"

using namespace tile;
using namespace tile::cpu;

static TensorMapImage makeImage(const tile::launch::TensorMapSpec &map,
                                const Tensor &tensor) {
  unsigned width = tile::launch::elementBytes(tensor.type);
  TensorMapImage image = TensorMapImage();
  image.base = static_cast<const char *>(tensor.data);
  image.mark = TensorMapImage::kMark;
  image.rank = map.dims.size();
  image.elementBytes = width;
  for (AtomicElement element :
       {AtomicElement::F16, AtomicElement::BF16, AtomicElement::F32,
        AtomicElement::F64, AtomicElement::I32, AtomicElement::I64})
    if (stringify(element) == tensor.type)
      image.element = element;
  image.swizzle = map.swizzle;
  for (auto [i, dim] : llvm::enumerate(map.dims)) {
    image.box[i] = map.box[i];
    image.extents[i] = tensor.shape[dim];
    image.strides[i] = tensor.strides[dim] * width;
    if (dim == map.ragged)
      image.extents[i] = tile::kRaggedRows;
  }
  auto addDimension = [&](int64_t stride) {
    image.box[image.rank] = 1;
    image.extents[image.rank] = tile::kRaggedExtent;
    image.strides[image.rank++] = stride;
  };
  if (map.dims.size() < tensor.shape.size())
    addDimension(tile::kOffsetUnit);
  if (map.ragged >= 0) {
    int64_t rowBytes = tensor.strides[map.ragged] * width;
    addDimension(rowBytes);
    addDimension(tile::kRaggedBytes - rowBytes);
  }
  return image;
}

llvm::Expected<std::vector<uint64_t>>
tile::cpu::packArguments(const KernelSpec &kernel,
                         llvm::ArrayRef<Argument> arguments,
                         std::deque<TensorMapImage> &images) {
  if (llvm::Error error = launch::checkArguments(kernel, arguments))
    return error;
  std::vector<uint64_t> packed;
  for (auto [parameter, argument] :
       llvm::zip_equal(kernel.parameters, arguments)) {
    const auto *tensor = std::get_if<Tensor>(&argument);
    if (!tensor) {
      packed.push_back(launch::packScalar(parameter.type, argument));
      continue;
    }
    packed.push_back(reinterpret_cast<uintptr_t>(tensor->data));
    for (unsigned d = 0; d < tensor->shape.size(); ++d)
      if (!parameter.shape[d])
        packed.push_back(tensor->shape[d]);
    for (unsigned d = 0; d < parameter.strides.size(); ++d) {
      if (parameter.strides[d])
        continue;
      // The stride of a dimension with one element is never used.
      bool unused = tensor->shape[d] <= 1 &&
                    tensor->strides[d] % parameter.strideDivisibility[d] != 0;
      packed.push_back(unused ? parameter.strideDivisibility[d]
                              : tensor->strides[d]);
    }
  }
  for (const launch::TensorMapSpec &map : kernel.tensorMaps) {
    images.push_back(makeImage(map, std::get<Tensor>(arguments[map.argument])));
    packed.push_back(reinterpret_cast<uintptr_t>(&images.back()));
  }
  return packed;
}
