//===- NamedExtents.cpp - Extents of the named operations -----------------===//

#include "NamedExtents.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace tile;

int64_t NamedExtent::get() const {
  return cast<BufferType>(buffer.getType()).getShape()[dim];
}

std::string NamedExtent::describe() const {
  return (kindName + " of " + name).str();
}

LogicalResult tile::verifyNamedExtents(Operation *op,
                                       ArrayRef<NamedExtent> extents) {
  llvm::SmallDenseMap<unsigned, const NamedExtent *> known;
  for (const NamedExtent &extent : extents) {
    if (ShapedType::isDynamic(extent.get()))
      continue;
    if (extent.mayExceed) {
      const NamedExtent *other = known.lookup(extent.kind);
      if (other && extent.get() < other->get())
        return op->emitOpError() << extent.describe() << " is " << extent.get()
                                 << ", less than the " << other->describe()
                                 << ", " << other->get();
      continue;
    }
    const NamedExtent &other =
        *known.try_emplace(extent.kind, &extent).first->second;
    if (other.get() != extent.get())
      return op->emitOpError()
             << "extents differ: " << other.describe() << " is " << other.get()
             << ", " << extent.describe() << " is " << extent.get();
  }
  return success();
}
