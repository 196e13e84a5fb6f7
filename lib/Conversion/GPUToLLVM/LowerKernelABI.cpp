//===- LowerKernelABI.cpp - Lowers kernel arguments -----------------------===//

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "tile/Conversion/GPUToLLVM/Passes.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Dialect/TileGPU/IR/TileGPU.h"
#include <limits>

namespace tile {
#define GEN_PASS_DEF_TILELOWERKERNELABI
#include "tile/Conversion/GPUToLLVM/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

/// LLVM's numbers of address spaces. Both vendors use the same ones for global
/// and shared memory.
constexpr unsigned kGlobalSpace = 1, kSharedSpace = 3;

/// The alignment that swizzled TMA copies of sm_90 need, a multiple of that of
/// every other access.
constexpr int64_t kDynamicSharedAlignment = 1024;
constexpr int64_t kStaticSharedAlignment = 16;

constexpr StringLiteral kDynamicSharedName = "tile_dynamic_shared";

/// Returns the LLVM address space of a memref; nothing if a kernel argument
/// cannot point there.
std::optional<unsigned> getArgumentSpace(MemRefType type) {
  Attribute space = type.getMemorySpace();
  if (!space)
    return 0;
  if (auto gpuSpace = dyn_cast<mlir::gpu::AddressSpaceAttr>(space)) {
    if (gpuSpace.getValue() != mlir::gpu::AddressSpace::Global)
      return std::nullopt;
    return kGlobalSpace;
  }
  auto number = dyn_cast<IntegerAttr>(space);
  if (!number || (number.getInt() != 0 && number.getInt() != kGlobalSpace))
    return std::nullopt;
  return number.getInt();
}

class LowerKernelABI
    : public tile::impl::TileLowerKernelABIBase<LowerKernelABI> {
  void runOnOperation() override;
  LogicalResult lowerKernel(mlir::gpu::GPUFuncOp kernel,
                            const LLVMTypeConverter &converter);
  void lowerBlockSize(mlir::gpu::GPUFuncOp kernel);
  LogicalResult lowerDynamicShared(const LLVMTypeConverter &converter);
};

/// Returns a memref of these strides and offset 0 that starts at `pointer`. A
/// dynamic extent is unknown; the largest one makes every access in bounds.
Value buildMemRef(OpBuilder &b, Location loc,
                  const LLVMTypeConverter &converter, MemRefType type,
                  ArrayRef<int64_t> strides, Value pointer) {
  auto descriptor =
      MemRefDescriptor::poison(b, loc, converter.convertType(type));
  descriptor.setAllocatedPtr(b, loc, pointer);
  descriptor.setAlignedPtr(b, loc, pointer);
  descriptor.setConstantOffset(b, loc, 0);
  for (auto [i, extent] : llvm::enumerate(type.getShape())) {
    descriptor.setConstantSize(b, loc, i,
                               ShapedType::isDynamic(extent)
                                   ? std::numeric_limits<int64_t>::max()
                                   : extent);
    descriptor.setConstantStride(b, loc, i, strides[i]);
  }
  return UnrealizedConversionCastOp::create(b, loc, type, Value(descriptor))
      .getResult(0);
}

LogicalResult LowerKernelABI::lowerKernel(mlir::gpu::GPUFuncOp kernel,
                                          const LLVMTypeConverter &converter) {
  OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
  SmallVector<Type> inputs(kernel.getArgumentTypes());
  for (BlockArgument arg :
       kernel.getBody().getArguments().take_front(kernel.getNumArguments())) {
    auto type = dyn_cast<MemRefType>(arg.getType());
    if (!type) {
      if (isa<BaseMemRefType>(arg.getType()))
        return kernel.emitError("kernel argument #")
               << arg.getArgNumber() << " of type " << arg.getType()
               << " cannot be passed as one pointer";
      continue;
    }
    auto refuse = [&](StringRef why) {
      return kernel.emitError("kernel argument #")
             << arg.getArgNumber() << " of type " << type
             << " cannot be passed as one pointer: " << why;
    };
    SmallVector<int64_t> strides;
    int64_t offset;
    if (failed(type.getStridesAndOffset(strides, offset)))
      return refuse("its layout is not strided");
    if (offset != 0)
      return refuse("its offset is not 0");
    if (llvm::any_of(strides, ShapedType::isDynamic))
      return refuse("its strides are not static");
    std::optional<unsigned> space = getArgumentSpace(type);
    if (!space)
      return refuse("it is not in global memory");
    auto pointerType = LLVM::LLVMPointerType::get(&getContext(), *space);
    arg.setType(pointerType);
    inputs[arg.getArgNumber()] = pointerType;
    if (arg.use_empty())
      continue;
    // Made before the uses are replaced, because it is a use of the pointer.
    Value memref =
        buildMemRef(b, kernel.getLoc(), converter, type, strides, arg);
    arg.replaceUsesWithIf(memref, [&](OpOperand &use) {
      return !isa<LLVM::InsertValueOp>(use.getOwner());
    });
  }
  kernel.setFunctionType(b.getFunctionType(inputs, {}));

  for (unsigned i = 0, e = kernel.getNumWorkgroupAttributions(); i != e; ++i) {
    StringRef name = LLVM::LLVMDialect::getAlignAttrName();
    if (!kernel.getWorkgroupAttributionAttr(
            i, StringAttr::get(&getContext(), name)))
      kernel.setWorkgroupAttributionAttr(
          i, name, b.getI64IntegerAttr(kStaticSharedAlignment));
  }
  return success();
}

/// The block size of a launch is the one that the program was compiled for. It
/// becomes a constant; on AMD reading it would need a device library.
void LowerKernelABI::lowerBlockSize(mlir::gpu::GPUFuncOp kernel) {
  if (auto manifest = tile::gpu::findManifest(kernel);
      manifest && !kernel.getKnownBlockSize())
    kernel.setKnownBlockSize(SmallVector<int32_t>(manifest.getBlock()));
  std::optional<ArrayRef<int32_t>> known = kernel.getKnownBlockSize();
  if (!known)
    return;
  kernel.walk([&](mlir::gpu::BlockDimOp op) {
    OpBuilder b(op);
    op.replaceAllUsesWith(
        arith::ConstantIndexOp::create(
            b, op.getLoc(), (*known)[static_cast<unsigned>(op.getDimension())])
            .getResult());
    op.erase();
  });
}

LogicalResult
LowerKernelABI::lowerDynamicShared(const LLVMTypeConverter &converter) {
  SmallVector<mlir::gpu::DynamicSharedMemoryOp> ops;
  getOperation().walk(
      [&](mlir::gpu::DynamicSharedMemoryOp op) { ops.push_back(op); });
  if (ops.empty())
    return success();

  // Dynamic shared memory is an external array of unknown size.
  OpBuilder b = OpBuilder::atBlockBegin(getOperation().getBody());
  auto array = LLVM::LLVMArrayType::get(b.getI8Type(), 0);
  auto global = LLVM::GlobalOp::create(
      b, ops.front().getLoc(), array, /*isConstant=*/false,
      LLVM::Linkage::External, kDynamicSharedName, Attribute(),
      kDynamicSharedAlignment, kSharedSpace);
  SymbolTable(getOperation()).insert(global);
  for (mlir::gpu::DynamicSharedMemoryOp op : ops) {
    b.setInsertionPoint(op);
    Value address = LLVM::AddressOfOp::create(b, op.getLoc(), global);
    op.replaceAllUsesWith(buildMemRef(b, op.getLoc(), converter, op.getType(),
                                      /*strides=*/{1}, address));
    op.erase();
  }
  return success();
}

void LowerKernelABI::runOnOperation() {
  LowerToLLVMOptions options(&getContext());
  options.overrideIndexBitwidth(64);
  LLVMTypeConverter converter(&getContext(), options);
  converter.addTypeAttributeConversion(
      [](BaseMemRefType type, mlir::gpu::AddressSpaceAttr space) -> Attribute {
        bool global = space.getValue() == mlir::gpu::AddressSpace::Global;
        return IntegerAttr::get(IntegerType::get(type.getContext(), 64),
                                global ? kGlobalSpace : kSharedSpace);
      });
  for (auto kernel : getOperation().getOps<mlir::gpu::GPUFuncOp>()) {
    if (!kernel.isKernel())
      continue;
    if (failed(lowerKernel(kernel, converter)))
      return signalPassFailure();
    lowerBlockSize(kernel);
  }
  if (failed(lowerDynamicShared(converter)))
    signalPassFailure();
}

} // namespace
