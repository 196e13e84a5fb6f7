//===- LowerBufferAccess.cpp - Lowers accesses to windows -----------------===//
//
// An access to a window of memory becomes an instruction of AMD with a buffer
// descriptor: the base and the size of the window in scalar registers. The
// instruction checks the offset of each lane against the size.
//
//===----------------------------------------------------------------------===//

#include "LowerBufferAccess.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "tile/Dialect/TileGPU/IR/TileGPU.h"

using namespace mlir;
using namespace tile;

namespace {
template <typename OpT>
struct BufferAccessPattern : ConvertOpToLLVMPattern<OpT> {
  BufferAccessPattern(const LLVMTypeConverter &converter, const Chip &chip)
      : ConvertOpToLLVMPattern<OpT>(converter), chip(chip) {}

protected:
  static Value number(OpBuilder &b, Location loc, int64_t value) {
    return LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(value));
  }

  /// Emits the descriptor of the window of `op`.
  Value emitDescriptor(ConversionPatternRewriter &b, OpT op,
                       typename OpT::Adaptor adaptor) const {
    Location loc = op.getLoc();
    Value start =
        this->getStridedElementPtr(b, loc, op.getMemory().getType(),
                                   adaptor.getMemory(), adaptor.getBase());
    return ROCDL::MakeBufferRsrcOp::create(
        b, loc, LLVM::LLVMPointerType::get(b.getContext(), kBufferSpace), start,
        LLVM::ConstantOp::create(b, loc, b.getI16IntegerAttr(0)),
        LLVM::ConstantOp::create(b, loc, b.getI64IntegerAttr(op.getWindow())),
        number(b, loc, chip.bufferFlags));
  }

  /// Returns the offset that all lanes add.
  static Value getWaveOffset(ConversionPatternRewriter &b, OpT op,
                             typename OpT::Adaptor adaptor) {
    Value distance = adaptor.getDistance();
    return distance ? distance : number(b, op.getLoc(), 0);
  }

  /// Returns the type of the register for a vector: its bits as an integer of
  /// at most 32 bits, or as words.
  static Type getRegisterType(VectorType type) {
    unsigned bits = type.getNumElements() * type.getElementTypeBitWidth();
    if (bits <= 32)
      return IntegerType::get(type.getContext(), bits);
    return VectorType::get({bits / 32},
                           IntegerType::get(type.getContext(), 32));
  }

  const Chip &chip;

private:
  /// Descriptors of 128 bits.
  static constexpr unsigned kBufferSpace = 8;
};

struct BufferAtomicToLLVM : BufferAccessPattern<tile::gpu::BufferAtomicRMWOp> {
  using BufferAccessPattern::BufferAccessPattern;

  LogicalResult matchAndRewrite(tile::gpu::BufferAtomicRMWOp op,
                                OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    Location loc = op.getLoc();
    auto type = cast<VectorType>(op.getValue().getType());
    AtomicKind kind = *tile::gpu::getAtomicKind(op.getKind());
    if (!findBufferAtomic(chip, kind,
                          *tile::gpu::getAtomicElement(type.getElementType()),
                          type.getNumElements()))
      return op.emitOpError() << "is not available on " << chip.name;
    Value descriptor = emitDescriptor(b, op, adaptor);
    Value value = adaptor.getValue();
    if (type.getNumElements() == 1)
      value = LLVM::ExtractElementOp::create(b, loc, value, number(b, loc, 0));
    LLVM::CallIntrinsicOp::create(
        b, loc, value.getType(), b.getStringAttr(getBufferIntrinsic(kind)),
        ValueRange{value, descriptor, adaptor.getOffset(),
                   getWaveOffset(b, op, adaptor),
                   number(b, loc, chip.devicePolicy)});
    b.eraseOp(op);
    return success();
  }
};

struct BufferLoadToLLVM : BufferAccessPattern<tile::gpu::BufferLoadOp> {
  using BufferAccessPattern::BufferAccessPattern;

  LogicalResult matchAndRewrite(tile::gpu::BufferLoadOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    Location loc = op.getLoc();
    auto type = cast<VectorType>(
        getTypeConverter()->convertType(op.getValue().getType()));
    Value zero = number(b, loc, 0);
    Value loaded = ROCDL::RawPtrBufferLoadOp::create(
        b, loc, getRegisterType(type), emitDescriptor(b, op, adaptor),
        adaptor.getOffset(), getWaveOffset(b, op, adaptor), /*aux=*/zero,
        ArrayAttr(), ArrayAttr(), ArrayAttr());
    b.replaceOpWithNewOp<LLVM::BitcastOp>(op, type, loaded);
    return success();
  }
};

struct BufferStoreToLLVM : BufferAccessPattern<tile::gpu::BufferStoreOp> {
  using BufferAccessPattern::BufferAccessPattern;

  LogicalResult matchAndRewrite(tile::gpu::BufferStoreOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    Location loc = op.getLoc();
    auto type = cast<VectorType>(adaptor.getValue().getType());
    Value zero = number(b, loc, 0);
    Value bits = LLVM::BitcastOp::create(b, loc, getRegisterType(type),
                                         adaptor.getValue());
    b.replaceOpWithNewOp<ROCDL::RawPtrBufferStoreOp>(
        op, bits, emitDescriptor(b, op, adaptor), adaptor.getOffset(),
        getWaveOffset(b, op, adaptor), /*aux=*/zero, ArrayAttr(), ArrayAttr(),
        ArrayAttr());
    return success();
  }
};
} // namespace

void tile::populateBufferAccessToLLVMPatterns(
    const LLVMTypeConverter &converter, RewritePatternSet &patterns,
    const Chip &chip) {
  patterns.add<BufferAtomicToLLVM, BufferLoadToLLVM, BufferStoreToLLVM>(
      converter, chip);
}
