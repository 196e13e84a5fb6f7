//===- BulkAddPatterns.cpp - Bulk reductions to global memory -------------===//

#include "../Access/GlobalAccess.h"
#include "../Access/VectorAccess.h"
#include "../Lowering.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "tile/Analysis/BulkRuns.h"
#include "tile/Conversion/GPUToLLVM/NVIDIA/Assembly.h"

using namespace mlir;
using namespace tile;

/// Returns the name of the type of the elements in the instruction.
static std::string typeSuffix(Type element) {
  std::string name;
  llvm::raw_string_ostream(name) << element;
  return element.getIntOrFloatBitWidth() == 16 ? "noftz." + name : name;
}

/// Starts to add `count` elements from `index` of `source` on to those from
/// `place` of `dest` on, if `active`. nvvm has no cp.reduce.async.bulk.
static void emitBulkAdd(Emitter &b, Value source, Value index, Value dest,
                        Value place, int64_t count, Value active) {
  Type element = cast<MemRefType>(source.getType()).getElementType();
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, dest);
  Value to = arith::IndexCastUIOp::create(b, b.getI64Type(),
                                          b.add(base, b.mul(place, bytes)));
  emitAssembly(b,
               "@$2 cp.reduce.async.bulk.global.shared::cta.bulk_group.add." +
                   typeSuffix(element) + " [$0], [$1], " +
                   Twine(count * bytes) + ";",
               "l,r,b", {to, b.sharedAddress(source, index), active});
}

static LogicalResult convertBulkAdd(BulkAddOp op, Parts<BulkAddOp> operands,
                                    Lowering &b) {
  BufferParts source(op.getSource().getType(), operands.getSource());
  BufferParts dest(op.getDest().getType(), operands.getDest());
  SmallVector<Value> indices = single(operands.getIndices());
  BulkRuns runs = findBulkRuns(source.type, memoryOperand(dest, indices));
  if (runs.refusal)
    return op.emitOpError() << "cannot be done by TMA: " << *runs.refusal;
  // Runs start at multiples of 16 bytes from the start of the source.
  int64_t bytes =
      knownDivisor(source.offset) * source.type.getElementBits() / 8;
  if (bytes % kBulkBytes != 0)
    return op.emitOpError() << "cannot be done by TMA: its source is known to "
                               "begin at a multiple of "
                            << bytes << " bytes, which must be " << kBulkBytes;
  GlobalAccess access(b, runs.order, dest, indices);
  for (const BulkRun &run : runs.runs) {
    Value index = b.add(source.offset, run.begin);
    Value active = access.inBounds(run.begin);
    if (!active)
      active = arith::ConstantIntOp::create(b, 1, 1);
    emitBulkAdd(b, source.memory, index, dest.memory, access.offset(run.begin),
                run.count, active);
  }
  NVVM::CpAsyncBulkCommitGroupOp::create(b);
  return b.erase(op);
}

void tile::addBulkAddConversions(ConversionAdder &conversions) {
  conversions.addAll(convertBulkAdd);
}
