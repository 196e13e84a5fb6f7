//===- LowerAtomics.cpp - Lowers atomics to instructions of the chip ------===//
//
// The table of atomics lists the instructions. On AMD all of them are LLVM's
// atomicrmw, except for the buffer form (LowerBufferAccess.cpp). On NVIDIA,
// LLVM 22 renders atomicrmw correctly only for relaxed scalars of device scope:
// it drops other orders and scopes, and splits pairs of 16-bit floats into
// loops. All other atomics become PTX instructions in inline assembly.
//
//===----------------------------------------------------------------------===//

#include "LowerAtomics.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "tile/Conversion/GPUToLLVM/NVIDIA/Assembly.h"
#include "tile/Dialect/TileGPU/IR/TileGPU.h"

using namespace mlir;
using namespace tile;

static LLVM::AtomicBinOp getBinOp(AtomicKind kind) {
  using Op = LLVM::AtomicBinOp;
  // In the order of AtomicKind.
  static constexpr Op operations[] = {Op::fadd, Op::add,  Op::max, Op::min,
                                      Op::umax, Op::umin, Op::_or, Op::_and};
  return operations[static_cast<unsigned>(kind)];
}

static LLVM::AtomicOrdering getOrdering(AtomicOrder order) {
  using Ordering = LLVM::AtomicOrdering;
  // In the order of AtomicOrder.
  static constexpr Ordering orderings[] = {Ordering::monotonic,
                                           Ordering::acquire, Ordering::release,
                                           Ordering::acq_rel};
  return orderings[static_cast<unsigned>(order)];
}

/// Returns LLVM's name of a scope. System scope has no name.
static StringRef getSyncScope(Vendor vendor, AtomicScope scope) {
  switch (scope) {
  case AtomicScope::Block:
    return vendor == Vendor::NVIDIA ? "block" : "workgroup";
  case AtomicScope::Device:
    return vendor == Vendor::NVIDIA ? "device" : "agent";
  case AtomicScope::System:
    return "";
  }
  llvm_unreachable("not an atomic scope");
}

namespace {
struct AtomicToLLVM : ConvertOpToLLVMPattern<tile::gpu::AtomicRMWOp> {
  AtomicToLLVM(const LLVMTypeConverter &converter, const Chip &chip)
      : ConvertOpToLLVMPattern(converter), chip(chip) {}

  LogicalResult
  matchAndRewrite(tile::gpu::AtomicRMWOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<VectorType>(op.getValue().getType());
    auto space = cast<mlir::gpu::AddressSpaceAttr>(
        op.getMemory().getType().getMemorySpace());
    bool shared = space.getValue() == mlir::gpu::AddressSpace::Workgroup;
    AtomicKind kind = *tile::gpu::getAtomicKind(op.getKind());
    AtomicOrder order = tile::gpu::getOrder(op.getOrder());
    AtomicScope scope = tile::gpu::getScope(op.getScope());
    const Atomic *row = findAtomic(
        chip, kind, *tile::gpu::getAtomicElement(type.getElementType()),
        type.getNumElements(), shared);
    if (!row)
      return op.emitOpError() << "is not available on " << chip.name;
    Value pointer =
        getStridedElementPtr(rewriter, loc, op.getMemory().getType(),
                             adaptor.getMemory(), adaptor.getIndex());
    bool isPlain = row->width == 1 && order == AtomicOrder::Relaxed &&
                   scope == AtomicScope::Device;
    bool usesLLVM = row->ptx.empty() || isPlain;
    Value old = usesLLVM ? emitRMW(rewriter, op, adaptor.getValue(), pointer,
                                   kind, order, scope)
                         : emitPtx(rewriter, op, adaptor.getValue(), pointer,
                                   getPtxAtomic(*row, kind, order, scope,
                                                shared, bool(op.getResult())),
                                   shared);
    if (op.getResult())
      rewriter.replaceOp(op, old);
    else
      rewriter.eraseOp(op);
    return success();
  }

private:
  Value emitRMW(OpBuilder &b, tile::gpu::AtomicRMWOp op, Value value,
                Value pointer, AtomicKind kind, AtomicOrder order,
                AtomicScope scope) const {
    Location loc = op.getLoc();
    auto type = cast<VectorType>(value.getType());
    bool scalar = type.getNumElements() == 1;
    Value zero = LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(0));
    if (scalar)
      value = LLVM::ExtractElementOp::create(b, loc, value, zero);
    auto rmw = LLVM::AtomicRMWOp::create(b, loc, getBinOp(kind), pointer, value,
                                         getOrdering(order),
                                         getSyncScope(chip.vendor, scope));
    if (chip.vendor == Vendor::AMD) {
      // Launchers pass device memory. Without this promise LLVM emits loops
      // that also work on fine-grained host memory.
      ROCDL::ROCDLDialect::NoFineGrainedMemoryAttrHelper fine(b.getContext());
      ROCDL::ROCDLDialect::NoRemoteMemoryAttrHelper remote(b.getContext());
      fine.setAttr(rmw, b.getUnitAttr());
      remote.setAttr(rmw, b.getUnitAttr());
      // gfx90a takes denormal numbers of f32 as zero in global memory; other
      // chips keep them.
      if (kind == AtomicKind::AddF) {
        ROCDL::ROCDLDialect::IgnoreDenormalModeAttrHelper denormal(
            b.getContext());
        denormal.setAttr(rmw, b.getUnitAttr());
      }
    }
    if (!op.getResult() || !scalar)
      return rmw;
    Value poison = LLVM::PoisonOp::create(b, loc, type);
    return LLVM::InsertElementOp::create(b, loc, poison, rmw, zero);
  }

  Value emitPtx(OpBuilder &b, tile::gpu::AtomicRMWOp op, Value value,
                Value pointer, StringRef instruction, bool shared) const {
    Location loc = op.getLoc();
    auto type = cast<VectorType>(value.getType());
    Type element = type.getElementType();
    int64_t bits = type.getElementTypeBitWidth();
    // The content of one PTX register: an element, or two 16-bit floats.
    bool packed = bits == 16 && type.getNumElements() > 1;
    int64_t count = packed ? type.getNumElements() / 2 : type.getNumElements();
    Type part = packed       ? Type(b.getI32Type())
                : bits == 16 ? Type(b.getI16Type())
                             : element;
    auto parts = VectorType::get({count}, part);
    if (part != element)
      value = LLVM::BitcastOp::create(b, loc, parts, value);
    StringRef letter = bits == 16 && !packed ? "h"
                       : element.isF32()     ? "f"
                       : element.isF64()     ? "d"
                       : bits == 64          ? "l"
                                             : "r";
    // `atom` always returns the old values; `red` never does.
    bool returns = instruction.starts_with("atom");
    auto list = [&](int64_t first) {
      std::string text;
      for (int64_t i = 0; i < count; ++i)
        text += (i ? ", $" : "$") + std::to_string(first + i);
      return count > 1 ? "{" + text + "}" : text;
    };
    int64_t address = returns ? count : 0;
    std::string assembly = instruction.str() + " ", constraints;
    if (returns)
      assembly += list(0) + ", ";
    assembly +=
        "[$" + std::to_string(address) + "], " + list(address + 1) + ";";
    if (returns)
      for (int64_t i = 0; i < count; ++i)
        constraints += ("=" + letter + ",").str();
    constraints += shared ? "r" : "l";
    for (int64_t i = 0; i < count; ++i)
      constraints += ("," + letter).str();
    constraints += ",~{memory}";

    SmallVector<Value> operands;
    // The address operand of the instruction is a 32-bit register.
    operands.push_back(
        shared ? LLVM::PtrToIntOp::create(b, loc, b.getI32Type(), pointer)
                     .getResult()
               : pointer);
    for (int64_t i = 0; i < count; ++i)
      operands.push_back(LLVM::ExtractElementOp::create(
          b, loc, value,
          LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(i))));
    Type result = LLVM::LLVMVoidType::get(b.getContext());
    if (returns)
      result = count == 1 ? part
                          : LLVM::LLVMStructType::getLiteral(
                                b.getContext(), SmallVector<Type>(count, part));
    ImplicitLocOpBuilder here(loc, b);
    Operation *call =
        emitInlineAssembly(here, returns ? TypeRange(result) : TypeRange(),
                           assembly, constraints, operands);
    if (!op.getResult())
      return {};
    Value old = LLVM::PoisonOp::create(b, loc, parts);
    for (int64_t i = 0; i < count; ++i) {
      Value piece = call->getResult(0);
      if (count > 1)
        piece = LLVM::ExtractValueOp::create(b, loc, piece, i);
      old = LLVM::InsertElementOp::create(
          b, loc, old, piece,
          LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(i)));
    }
    return part == element ? old : LLVM::BitcastOp::create(b, loc, type, old);
  }

  const Chip &chip;
};
} // namespace

void tile::populateAtomicToLLVMPatterns(const LLVMTypeConverter &converter,
                                        RewritePatternSet &patterns,
                                        const Chip &chip) {
  patterns.add<AtomicToLLVM>(converter, chip);
}
