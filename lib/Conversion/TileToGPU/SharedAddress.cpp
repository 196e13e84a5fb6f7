//===- SharedAddress.cpp - Addresses of workgroup memory ------------------===//

#include "SharedAddress.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

Value tile::sharedAddress(OpBuilder &builder, Location loc, Value memory,
                          Value index) {
  int64_t bytes =
      cast<MemRefType>(memory.getType()).getElementTypeBitWidth() / 8;
  Value base =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, memory);
  Value width = arith::ConstantIndexOp::create(builder, loc, bytes);
  Value offset = arith::MulIOp::create(builder, loc, index, width);
  Value address = arith::AddIOp::create(builder, loc, base, offset);
  return arith::IndexCastUIOp::create(builder, loc, builder.getI32Type(),
                                      address);
}

Value tile::sharedPointer(OpBuilder &builder, Location loc, Value memory,
                          Value index, NVVM::NVVMMemorySpace space) {
  auto type = LLVM::LLVMPointerType::get(builder.getContext(),
                                         static_cast<unsigned>(space));
  return LLVM::IntToPtrOp::create(builder, loc, type,
                                  sharedAddress(builder, loc, memory, index));
}
