//===- TileGPU.cpp - The tile_gpu dialect ---------------------------------===//

#include "tile/Dialect/TileGPU/IR/TileGPU.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "tile/Chips/Mma.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile::gpu;

#include "tile/Dialect/TileGPU/IR/TileGPUDialect.cpp.inc"
#define GET_OP_CLASSES
#include "tile/Dialect/TileGPU/IR/TileGPUOps.cpp.inc"

void TileGPUDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "tile/Dialect/TileGPU/IR/TileGPUOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// ManifestOp
//===----------------------------------------------------------------------===//

LogicalResult ManifestOp::verify() {
  if (getGrid().size() != 3)
    return emitOpError() << "needs a grid of three expressions, got "
                         << getGrid();
  if (getBlock().size() != 3 ||
      llvm::any_of(getBlock(), [](int64_t extent) { return extent < 1; }))
    return emitOpError() << "needs a block of three positive numbers, got "
                         << getBlockAttr();
  return success();
}

LogicalResult ManifestOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Operation *module = (*this)->getParentOp();
  if (isa_and_present<FunctionOpInterface>(
          symbols.lookupSymbolIn(module, getKernelAttr())))
    return success();
  return emitOpError() << "is of " << getKernelAttr()
                       << ", which is no function of the module";
}

ManifestOp tile::gpu::findManifest(Operation *kernel) {
  auto module = dyn_cast<mlir::gpu::GPUModuleOp>(kernel->getParentOp());
  if (!module)
    return {};
  StringAttr name = SymbolTable::getSymbolName(kernel);
  for (auto manifest : module.getOps<ManifestOp>())
    if (manifest.getKernelAttr().getAttr() == name)
      return manifest;
  return {};
}

//===----------------------------------------------------------------------===//
// MmaOp
//===----------------------------------------------------------------------===//

static Type getElementType(MLIRContext *context, tile::MmaElement element) {
  Builder b(context);
  // In the order of MmaElement.
  Type types[] = {b.getF16Type(), b.getBF16Type(), b.getF32Type(),
                  b.getF32Type(), b.getI8Type(),   b.getI32Type()};
  return types[static_cast<unsigned>(element)];
}

LogicalResult MmaOp::verify() {
  const tile::Mma *row = tile::findMma(getInstruction());
  if (!row)
    return emitOpError() << "names the unknown instruction \""
                         << getInstruction() << '"';
  if (row->warps > 1)
    return emitOpError() << "names \"" << row->name
                         << "\", which is no instruction of one warp";
  auto check = [&](StringRef what, Type actual, const tile::Layout &fragment,
                   tile::MmaElement element) -> LogicalResult {
    auto expected = VectorType::get(fragment.axisSize(tile::kRegister),
                                    getElementType(getContext(), element));
    if (actual == expected)
      return success();
    return emitOpError() << "takes " << expected << " as " << what << " of \""
                         << row->name << "\", got " << actual;
  };
  if (failed(check("a", getA().getType(), row->a, row->operand)) ||
      failed(check("b", getB().getType(), row->b, row->operand)))
    return failure();
  return check("c", getC().getType(), row->acc, row->accumulator);
}

LogicalResult WgmmaOp::verify() {
  const tile::Mma *row = tile::findMma(getInstruction());
  if (!row || !row->isAsync)
    return emitOpError() << "names \"" << getInstruction()
                         << "\", which is no instruction of four warps";
  int64_t registers = row->acc.axisSize(tile::kRegister);
  int64_t columns = getC().getType().getNumElements() / registers * row->n;
  if (getC().getType().getNumElements() % registers != 0 ||
      columns > row->maxColumns)
    return emitOpError() << "accumulates a multiple of " << row->n
                         << " columns up to " << row->maxColumns << ", "
                         << registers << " registers for each " << row->n
                         << ", got " << getC().getType();
  auto expected = VectorType::get(row->a.axisSize(tile::kRegister),
                                  getElementType(getContext(), row->operand));
  if (isa<VectorType>(getA().getType()) && getA().getType() != expected)
    return emitOpError() << "takes " << expected
                         << " or a descriptor as a of \"" << row->name
                         << "\", got " << getA().getType();
  Type sum = getElementType(getContext(), row->accumulator);
  if (getC().getType().getElementType() != sum)
    return emitOpError() << "accumulates " << sum << " by \"" << row->name
                         << "\", got " << getC().getType();
  if (row->needsKMajor && (getAMnMajor() || getBMnMajor()))
    return emitOpError() << "has an operand that is not K-major, which \""
                         << row->name << "\" does not read";
  if (isa<VectorType>(getA().getType()) && getAMnMajor())
    return emitOpError("has a in registers, where nothing is major");
  return success();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Checks that `memory` is in `space` and has contiguous elements.
static LogicalResult verifyMemory(Operation *op, StringRef what,
                                  MemRefType memory,
                                  mlir::gpu::AddressSpace space) {
  auto attr =
      dyn_cast_or_null<mlir::gpu::AddressSpaceAttr>(memory.getMemorySpace());
  if (!attr || attr.getValue() != space)
    return op->emitOpError()
           << "needs " << what << " in "
           << mlir::gpu::AddressSpaceAttr::get(op->getContext(), space)
           << ", got " << memory;
  if (!memory.getLayout().isIdentity())
    return op->emitOpError()
           << "needs " << what << " without a layout map, got " << memory;
  return success();
}

LogicalResult MatrixDescriptorOp::verify() {
  return verifyMemory(*this, "memory", getMemory().getType(),
                      mlir::gpu::AddressSpace::Workgroup);
}

//===----------------------------------------------------------------------===//
// AtomicRMWOp
//===----------------------------------------------------------------------===//

std::optional<tile::AtomicKind>
tile::gpu::getAtomicKind(arith::AtomicRMWKind kind) {
  using Kind = arith::AtomicRMWKind;
  // In the order of AtomicKind.
  static constexpr Kind kinds[] = {Kind::addf, Kind::addi, Kind::maxs,
                                   Kind::mins, Kind::maxu, Kind::minu,
                                   Kind::ori,  Kind::andi};
  const Kind *found = llvm::find(kinds, kind);
  if (found == std::end(kinds))
    return std::nullopt;
  return static_cast<AtomicKind>(found - kinds);
}

std::optional<tile::AtomicElement> tile::gpu::getAtomicElement(Type type) {
  Builder b(type.getContext());
  // In the order of AtomicElement.
  Type types[] = {b.getF16Type(), b.getBF16Type(), b.getF32Type(),
                  b.getF64Type(), b.getI32Type(),  b.getI64Type()};
  Type *found = llvm::find(types, type);
  if (found == std::end(types))
    return std::nullopt;
  return static_cast<AtomicElement>(found - types);
}

/// Checks the kind, the memory and the elements of an atomic.
template <typename OpT> static LogicalResult verifyAtomic(OpT op) {
  MemRefType memory = op.getMemory().getType();
  Type element = cast<VectorType>(op.getValue().getType()).getElementType();
  std::optional<tile::AtomicKind> kind = getAtomicKind(op.getKind());
  if (!kind || isa<FloatType>(element) != (kind == tile::AtomicKind::AddF))
    return op.emitOpError() << "has no kind " << stringifyEnum(op.getKind())
                            << " for elements of type " << element;
  constexpr bool reachesShared = std::is_same_v<OpT, AtomicRMWOp>;
  auto space =
      dyn_cast_or_null<mlir::gpu::AddressSpaceAttr>(memory.getMemorySpace());
  if (!space || space.getValue() == mlir::gpu::AddressSpace::Private ||
      (!reachesShared &&
       space.getValue() == mlir::gpu::AddressSpace::Workgroup))
    return op.emitOpError()
           << (reachesShared ? "needs global or workgroup memory, got "
                             : "needs global memory, got ")
           << memory;
  if (!memory.getLayout().isIdentity())
    return op.emitOpError()
           << "needs memory without a layout map, got " << memory;
  if (memory.getElementType() != element)
    return op.emitOpError()
           << "combines elements of type " << element << " into " << memory;
  return success();
}

static LogicalResult verifyWindow(Operation *op, int64_t window) {
  if (!llvm::isInt<32>(window))
    return op->emitOpError() << "has a window of " << window
                             << " bytes; offsets reach less than 2^31";
  return success();
}

LogicalResult BufferAtomicRMWOp::verify() {
  if (failed(verifyAtomic(*this)))
    return failure();
  return verifyWindow(*this, getWindow());
}

/// Checks the memory and the elements of an access through a buffer descriptor.
template <typename OpT> static LogicalResult verifyBufferAccess(OpT op) {
  MemRefType memory = op.getMemory().getType();
  auto type = cast<VectorType>(op.getValue().getType());
  auto space =
      dyn_cast_or_null<mlir::gpu::AddressSpaceAttr>(memory.getMemorySpace());
  if (!space || space.getValue() != mlir::gpu::AddressSpace::Global)
    return op.emitOpError() << "needs global memory, got " << memory;
  if (!memory.getLayout().isIdentity())
    return op.emitOpError()
           << "needs memory without a layout map, got " << memory;
  Type element = type.getElementType();
  if (memory.getElementType() != element)
    return op.emitOpError()
           << "accesses elements of type " << element << " in " << memory;
  int64_t bits = element.isIntOrFloat()
                     ? type.getNumElements() * element.getIntOrFloatBitWidth()
                     : 0;
  if (bits < 8 || bits > 128 || !llvm::isPowerOf2_64(bits))
    return op.emitOpError()
           << "accesses " << type << "; it must have 1, 2, 4, 8 or 16 bytes";
  return verifyWindow(op, op.getWindow());
}

LogicalResult BufferLoadOp::verify() { return verifyBufferAccess(*this); }

LogicalResult BufferStoreOp::verify() { return verifyBufferAccess(*this); }

LogicalResult AtomicRMWOp::verify() {
  if (failed(verifyAtomic(*this)))
    return failure();
  auto type = cast<VectorType>(getValue().getType());
  if (getResult() && getResult().getType() != type)
    return emitOpError() << "returns " << getResult().getType() << " for "
                         << type;
  return success();
}

//===----------------------------------------------------------------------===//
// Chips
//===----------------------------------------------------------------------===//

/// Checks that `chip` supports `op`; otherwise emits an error at `op`.
static LogicalResult verifyOnChip(Operation *op, const tile::Chip &chip) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](MmaOp mma) -> LogicalResult {
        if (llvm::is_contained(chip.mma, mma.getInstruction()))
          return success();
        InFlightDiagnostic diag = mma.emitOpError()
                                  << '"' << mma.getInstruction()
                                  << "\" is not an instruction of " << chip.name
                                  << "; it has ";
        llvm::interleaveComma(chip.mma, diag);
        return diag;
      })
      .Case([&](AtomicRMWOp atomic) -> LogicalResult {
        auto type = cast<VectorType>(atomic.getValue().getType());
        auto space = cast<mlir::gpu::AddressSpaceAttr>(
            atomic.getMemory().getType().getMemorySpace());
        bool shared = space.getValue() == mlir::gpu::AddressSpace::Workgroup;
        if (tile::findAtomic(chip, *getAtomicKind(atomic.getKind()),
                             *getAtomicElement(type.getElementType()),
                             type.getNumElements(), shared))
          return success();
        return atomic.emitOpError()
               << "combines " << type << " at once into "
               << (shared ? "workgroup" : "global") << " memory; " << chip.name
               << " has no such instruction";
      })
      .Case([&](BufferAtomicRMWOp atomic) -> LogicalResult {
        auto type = cast<VectorType>(atomic.getValue().getType());
        if (tile::findBufferAtomic(chip, *getAtomicKind(atomic.getKind()),
                                   *getAtomicElement(type.getElementType()),
                                   type.getNumElements()))
          return success();
        return atomic.emitOpError()
               << "combines " << type << " at once within a window; "
               << chip.name << " has no such instruction";
      })
      .Case<BufferLoadOp, BufferStoreOp>([&](Operation *op) -> LogicalResult {
        if (chip.bufferFlags != 0)
          return success();
        return op->emitOpError("accesses a window of memory; ")
               << chip.name << " has no such instruction";
      })
      .Case<CommitCopiesOp, WaitCopiesOp>([&](Operation *op) -> LogicalResult {
        if (chip.asyncCopy.mechanism == tile::AsyncCopy::DirectToLDS)
          return success();
        return op->emitOpError("groups copies to workgroup memory; ")
               << chip.name << " has no such copies";
      })
      .Case([&](mlir::gpu::ShuffleOp shuffle) -> LogicalResult {
        APInt width;
        if (!matchPattern(shuffle.getWidth(), m_ConstantInt(&width)) ||
            width.ule(chip.warpSize))
          return success();
        return shuffle.emitOpError()
               << "exchanges among " << width.getZExtValue()
               << " lanes; a warp of " << chip.name << " has " << chip.warpSize;
      })
      .Default(success());
}

LogicalResult tile::gpu::verifyChip(Operation *root, const Chip &chip,
                                    Vendor vendor) {
  if (chip.vendor != vendor) {
    auto name = [](Vendor vendor) {
      return vendor == Vendor::NVIDIA ? "NVIDIA" : "AMD";
    };
    return root->emitError()
           << "is compiled for " << chip.name << ", a chip of "
           << name(chip.vendor) << ", not of " << name(vendor);
  }
  // The lowering of tiles makes many operations of one, all at its location.
  // One error at each location is enough.
  llvm::SmallPtrSet<const void *, 4> failed;
  root->walk([&](Operation *op) {
    const void *loc = op->getLoc().getAsOpaquePointer();
    if (!failed.contains(loc) && mlir::failed(verifyOnChip(op, chip)))
      failed.insert(loc);
  });
  return success(failed.empty());
}
