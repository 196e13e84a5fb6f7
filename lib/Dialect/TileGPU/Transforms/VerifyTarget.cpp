//===- VerifyTarget.cpp - Reports unsupported operations ------------------===//
//
// LLVM's back ends end the process at an operation that they cannot select.
// This pass finds all known causes and reports each at its operation.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "tile/Chips/Mma.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "tile/Dialect/TileGPU/IR/Reports.h"
#include "tile/Dialect/TileGPU/IR/TileGPU.h"
#include "tile/Dialect/TileGPU/Transforms/Passes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Regex.h"

namespace tile {
#define GEN_PASS_DEF_TILEVERIFYTARGET
#include "tile/Dialect/TileGPU/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

//===----------------------------------------------------------------------===//
// Tables. The first row whose prefix matches the name of an operation applies.
//===----------------------------------------------------------------------===//

/// The chips that have an operation.
enum class Availability {
  /// Those from an architecture on.
  Later,
  /// Those with the suffix "a" from an architecture on.
  LaterSpecific,
  /// The one of an architecture with the suffix "a".
  OneSpecific
};

struct NvidiaRequirement {
  StringLiteral prefix;
  int sm;
  Availability availability = Availability::Later;
};

/// Operations without a requirement of their own in MLIR.
constexpr NvidiaRequirement kNvidia[] = {
    {"nvgpu.device_async_", 80},
    {"nvgpu.ldmatrix", 75},
    {"nvgpu.mbarrier.try_wait", 90},
    {"nvgpu.mbarrier.", 80},
    {"nvgpu.mma.", 80},
    {"nvgpu.tma.", 90},
    {"nvgpu.warpgroup.", 90, Availability::OneSpecific},
    {"nvvm.barrier.cta", 80},
    {"nvvm.cluster.", 90},
    {"nvvm.cp.async.bulk.", 90},
    {"nvvm.cp.async.", 80},
    {"nvvm.elect.sync", 90},
    {"nvvm.fence.mbarrier.init", 90},
    {"nvvm.fence.proxy", 90},
    {"nvvm.griddepcontrol", 90},
    {"nvvm.ldmatrix", 75},
    {"nvvm.mbarrier.arrive.expect_tx", 90},
    {"nvvm.mbarrier.try_wait", 90},
    {"nvvm.mbarrier.", 80},
    {"nvvm.mma.", 80},
    {"nvvm.setmaxregister", 90, Availability::LaterSpecific},
    {"nvvm.st.bulk", 100},
    {"nvvm.stmatrix", 90},
    {"nvvm.tcgen05.", 100, Availability::OneSpecific},
    {"nvvm.wgmma.", 90, Availability::OneSpecific},
};

struct AmdRequirement {
  StringLiteral prefix;
  /// Prefixes of the names of the chips that support it.
  ArrayRef<StringLiteral> chips;
};

constexpr StringLiteral kGfx9[] = {"gfx9"};
constexpr StringLiteral kGfx942Up[] = {"gfx942", "gfx950"};
constexpr StringLiteral kGfx950[] = {"gfx950"};
constexpr StringLiteral kBeforeGfx12[] = {"gfx9", "gfx10", "gfx11"};
constexpr StringLiteral kGfx10Up[] = {"gfx10", "gfx11", "gfx12"};
constexpr StringLiteral kGfx11Up[] = {"gfx11", "gfx12"};
constexpr StringLiteral kGfx12[] = {"gfx12"};
constexpr StringLiteral kGfx1250[] = {"gfx1250"};
constexpr StringLiteral kFp8[] = {"gfx942", "gfx950", "gfx12"};

constexpr AmdRequirement kAmd[] = {
    {"amdgpu.ext_packed_fp8", kFp8},
    {"amdgpu.gather_to_lds", kGfx9},
    {"amdgpu.mfma", kGfx9},
    {"amdgpu.packed_", kFp8},
    {"amdgpu.permlane_swap", kGfx950},
    {"amdgpu.scaled_", kGfx950},
    {"amdgpu.sparse_mfma", kGfx942Up},
    {"amdgpu.transpose_load", kGfx950},
    {"amdgpu.wmma", kGfx11Up},
    {"rocdl.cluster.", kGfx1250},
    {"rocdl.ds.load.tr", kGfx1250},
    {"rocdl.ds.read.tr", kGfx950},
    {"rocdl.global.load.async.", kGfx1250},
    {"rocdl.global.load.lds", kGfx9},
    {"rocdl.global.load.tr", kGfx12},
    {"rocdl.load.to.lds", kGfx9},
    {"rocdl.mfma.scale.", kGfx950},
    {"rocdl.mfma.", kGfx9},
    {"rocdl.permlane16.swap", kGfx950},
    {"rocdl.permlane32.swap", kGfx950},
    {"rocdl.permlanex16", kGfx10Up},
    {"rocdl.raw.ptr.buffer.load.lds", kGfx9},
    {"rocdl.s.barrier.signal", kGfx12},
    {"rocdl.s.barrier.wait", kGfx12},
    {"rocdl.s.wait.", kGfx12},
    {"rocdl.s.waitcnt", kBeforeGfx12},
    {"rocdl.smfmac.", kGfx942Up},
    {"rocdl.tensor.", kGfx1250},
    {"rocdl.wmma.", kGfx11Up},
    // These become calls of a device library, and none is linked.
    {"gpu.cluster_", {}},
    {"gpu.grid_dim", {}},
    {"rocdl.grid.dim.", {}},
    {"rocdl.workgroup.dim.", {}},
};

/// Address spaces of pointers that the back ends support.
constexpr unsigned kNvidiaSpaces[] = {0, 1, 3, 4, 5, 6, 7};
constexpr unsigned kAmdSpaces[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};

constexpr StringLiteral kNvidiaScopes[] = {"", "singlethread", "block",
                                           "cluster", "device"};
constexpr StringLiteral kAmdScopes[] = {"",
                                        "singlethread",
                                        "wavefront",
                                        "workgroup",
                                        "agent",
                                        "one-as",
                                        "singlethread-one-as",
                                        "wavefront-one-as",
                                        "agent-one-as",
                                        "workgroup-one-as"};

//===----------------------------------------------------------------------===//
// The checks
//===----------------------------------------------------------------------===//

/// The matrix product of an operation. Fragment sizes are elements per thread.
struct MmaRequest {
  /// As the column of the table.
  StringRef operation;
  int64_t m, n, k;
  MmaElement operand, accumulator;
  int64_t a, b, acc;
};

int64_t getNumElements(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? vector.getNumElements() : 1;
}

/// Returns the request of an operation that multiplies f16 or bf16 matrices, or
/// one of i8 on AMD. The table lacks instructions for others, which are left to
/// the back end.
std::optional<MmaRequest> getMmaRequest(Operation *op) {
  auto make = [&](int64_t m, int64_t n, int64_t k, Value a, Value b,
                  Value acc) -> std::optional<MmaRequest> {
    std::optional<MmaElement> operand = getMmaElement(getElementTypeOrSelf(a));
    std::optional<MmaElement> accumulator =
        getMmaElement(getElementTypeOrSelf(acc));
    if (!operand || getBits(*operand) > 16 || !accumulator ||
        (*operand == MmaElement::I8 && isa<nvgpu::MmaSyncOp>(op)))
      return std::nullopt;
    return MmaRequest{op->getName().getStringRef(),
                      m,
                      n,
                      k,
                      *operand,
                      *accumulator,
                      getNumElements(a.getType()),
                      getNumElements(b.getType()),
                      getNumElements(acc.getType())};
  };
  auto makeAMD = [&](auto mma) {
    return make(mma.getM(), mma.getN(), mma.getK(), mma.getSourceA(),
                mma.getSourceB(), mma.getDestC());
  };
  if (auto mma = dyn_cast<nvgpu::MmaSyncOp>(op)) {
    std::array<int64_t, 3> shape = mma.getMmaShapeAsArray();
    return make(shape[0], shape[1], shape[2], mma.getMatrixA(),
                mma.getMatrixB(), mma.getMatrixC());
  }
  if (auto mfma = dyn_cast<amdgpu::MFMAOp>(op))
    return mfma.getBlocks() == 1 ? makeAMD(mfma) : std::nullopt;
  if (auto wmma = dyn_cast<amdgpu::WMMAOp>(op))
    return makeAMD(wmma);

  // ROCDL has one operation for each instruction, with bf16 operands as i16.
  static const llvm::Regex pattern(
      "^rocdl\\.(mfma|wmma)\\.(f32|f16|bf16)\\.([0-9]+)x([0-9]+)x([0-9]+)\\.?"
      "(f16|bf16)(\\.1k)?$");
  StringRef name = op->getName().getStringRef();
  SmallVector<StringRef> match;
  if (!(name.starts_with("rocdl.mfma.") || name.starts_with("rocdl.wmma.")) ||
      !pattern.match(name, &match) || op->getNumOperands() < 3)
    return std::nullopt;
  auto element = [](StringRef name) {
    return name == "f32"    ? MmaElement::F32
           : name == "bf16" ? MmaElement::BF16
                            : MmaElement::F16;
  };
  MmaRequest request;
  request.operation = match[1] == "mfma" ? amdgpu::MFMAOp::getOperationName()
                                         : amdgpu::WMMAOp::getOperationName();
  match[3].getAsInteger(10, request.m);
  match[4].getAsInteger(10, request.n);
  match[5].getAsInteger(10, request.k);
  request.accumulator = element(match[2]);
  request.operand = element(match[6]);
  request.a = getNumElements(op->getOperand(0).getType());
  request.b = getNumElements(op->getOperand(1).getType());
  request.acc = getNumElements(op->getOperand(2).getType());
  return request;
}

/// Checks the operations of one GPU module against one chip. Every check emits
/// its own error.
class Verifier {
public:
  Verifier(const Chip &chip, bool llvmOnly) : chip(chip), llvmOnly(llvmOnly) {
    if (chip.vendor != Vendor::NVIDIA)
      return;
    StringRef number = chip.name;
    number.consume_front("sm_");
    architectureSpecific = number.consume_back("a");
    number.getAsInteger(10, sm);
  }

  LogicalResult verify(Operation *op);

private:
  bool isNvidia() const { return chip.vendor == Vendor::NVIDIA; }
  LogicalResult verifyDialect(Operation *op);
  LogicalResult verifyRequirement(Operation *op);
  LogicalResult verifyMma(Operation *op);
  LogicalResult verifyDirectCopy(Operation *op);
  LogicalResult verifyTypes(Operation *op);
  LogicalResult verifyType(Operation *op, Type type);
  LogicalResult verifyRounding(Operation *op);
  LogicalResult verifyAtomics(Operation *op);
  LogicalResult verifyBufferAdd(Operation *op);
  LogicalResult verifyCall(Operation *op);
  LogicalResult verifyKernel(Operation *op);
  LogicalResult verifyPlace(Operation *op);

  const Chip &chip;
  bool llvmOnly;
  int sm = 0;
  bool architectureSpecific = false;
  /// Types that have been checked.
  llvm::DenseSet<Type> goodTypes;
};

LogicalResult Verifier::verifyDialect(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  bool foreign = isNvidia() ? dialect == "amdgpu" || dialect == "rocdl"
                            : dialect == "nvgpu" || dialect == "nvvm";
  if (foreign)
    return op->emitOpError("is for the other vendor's chips; the target is ")
           << chip.name;
  if (!llvmOnly || dialect == "llvm" || dialect == "nvvm" ||
      dialect == "rocdl" ||
      isa<mlir::gpu::GPUModuleOp, tile::gpu::ManifestOp>(op))
    return success();
  if (auto cast = dyn_cast<UnrealizedConversionCastOp>(op)) {
    InFlightDiagnostic diag = op->emitError("no lowering turns ");
    llvm::interleaveComma(cast.getOperandTypes(), diag);
    diag << " into ";
    llvm::interleaveComma(cast.getResultTypes(), diag);
    for (Operation *user : op->getUsers())
      diag.attachNote(user->getLoc()) << "used by '" << user->getName() << "'";
    return diag;
  }
  return op->emitOpError("was not lowered to the LLVM dialect");
}

LogicalResult Verifier::verifyRequirement(Operation *op) {
  StringRef name = op->getName().getStringRef();
  if (!isNvidia()) {
    for (const AmdRequirement &row : kAmd) {
      if (!name.starts_with(row.prefix))
        continue;
      if (llvm::any_of(row.chips, [&](StringRef prefix) {
            return chip.name.starts_with(prefix);
          }))
        return success();
      if (row.chips.empty())
        return op->emitOpError("needs a device library, and none is linked");
      InFlightDiagnostic diag = op->emitOpError("is not available on ")
                                << chip.name << ", only on ";
      llvm::interleaveComma(row.chips, diag,
                            [&](StringRef c) { diag << c << "*"; });
      return diag;
    }
    return success();
  }

  auto refuse = [&](int required, Availability availability) {
    bool specific = availability != Availability::Later;
    bool later = availability != Availability::OneSpecific;
    return op->emitOpError("needs sm_")
           << required << (specific ? "a" : "") << (later ? " or later" : "")
           << "; the target is " << chip.name;
  };
  if (auto required = dyn_cast<NVVM::RequiresSMInterface>(op)) {
    NVVM::NVVMCheckSMVersion needed = required.getRequiredMinSMVersion();
    if (!needed.isCompatibleWith(
            NVVM::NVVMCheckSMVersion(architectureSpecific, sm)))
      return refuse(needed.smVersionList.front(),
                    needed.archAccelerated ? Availability::OneSpecific
                                           : Availability::Later);
  }
  for (const NvidiaRequirement &row : kNvidia) {
    if (!name.starts_with(row.prefix))
      continue;
    bool isLater = row.availability != Availability::OneSpecific;
    bool available =
        (isLater ? sm >= row.sm : sm == row.sm) &&
        (row.availability == Availability::Later || architectureSpecific);
    if (!available)
      return refuse(row.sm, row.availability);
    break;
  }
  return success();
}

LogicalResult Verifier::verifyMma(Operation *op) {
  std::optional<MmaRequest> request = getMmaRequest(op);
  if (!request)
    return success();
  auto size = [](const Layout &layout) { return layout.axisSize(kRegister); };
  for (StringRef name : chip.mma) {
    const Mma *row = findMma(name);
    if (!row || row->operation != request->operation || row->m != request->m ||
        row->n != request->n || row->k != request->k ||
        row->operand != request->operand ||
        row->accumulator != request->accumulator)
      continue;
    if (size(row->a) == request->a && size(row->b) == request->b &&
        size(row->acc) == request->acc)
      return success();
    return op->emitOpError("has fragments of ")
           << request->a << ", " << request->b << " and " << request->acc
           << " elements a thread; " << row->name << " on " << chip.name
           << " has " << size(row->a) << ", " << size(row->b) << " and "
           << size(row->acc);
  }
  InFlightDiagnostic diag =
      op->emitOpError("of shape ")
      << request->m << "x" << request->n << "x" << request->k
      << " with these element types is not an instruction of " << chip.name
      << "; it has ";
  llvm::interleaveComma(chip.mma, diag, [&](StringRef name) { diag << name; });
  return diag;
}

/// Checks the size of a copy to the LDS. Every chip that has such copies also
/// has those of 1 and 2 bytes.
LogicalResult Verifier::verifyDirectCopy(Operation *op) {
  int64_t bytes =
      llvm::TypeSwitch<Operation *, int64_t>(op)
          .Case([](amdgpu::GatherToLDSOp copy) {
            Type type = copy.getTransferType();
            return getNumElements(type) *
                   getElementTypeOrSelf(type).getIntOrFloatBitWidth() / 8;
          })
          .Case<ROCDL::LoadToLDSOp, ROCDL::GlobalLoadLDSOp>(
              [](auto copy) { return copy.getSize(); })
          .Default([](Operation *) { return 1; });
  if (bytes == 1 || bytes == 2 ||
      llvm::is_contained(chip.asyncCopy.bytes, bytes))
    return success();
  InFlightDiagnostic diag = op->emitOpError("copies ")
                            << bytes << " bytes a lane to the LDS; "
                            << chip.name << " has copies of 1, 2";
  for (int64_t legal : llvm::reverse(chip.asyncCopy.bytes))
    diag << ", " << legal;
  return diag << " bytes";
}

LogicalResult Verifier::verifyType(Operation *op, Type type) {
  if (goodTypes.contains(type))
    return success();
  auto refuse = [&](StringRef why) {
    return op->emitOpError("uses the type ") << type << ", " << why;
  };
  auto verifySpace = [&](unsigned space) -> LogicalResult {
    bool known = isNvidia() ? llvm::is_contained(kNvidiaSpaces, space)
                            : llvm::is_contained(kAmdSpaces, space);
    return known ? success()
                 : refuse("whose address space the chip does not have");
  };
  LogicalResult result =
      llvm::TypeSwitch<Type, LogicalResult>(type)
          .Case([&](IntegerType t) -> LogicalResult {
            return t.getWidth() <= 64 ? success()
                                      : refuse("which is wider than 64 bits");
          })
          .Case([&](FloatType t) -> LogicalResult {
            return t.getWidth() <= 64 ? success()
                                      : refuse("which the chip does not have");
          })
          .Case([&](VectorType t) -> LogicalResult {
            return t.isScalable() ? refuse("which is scalable")
                                  : verifyType(op, t.getElementType());
          })
          .Case([&](MemRefType t) -> LogicalResult {
            auto space = dyn_cast_or_null<IntegerAttr>(t.getMemorySpace());
            if (space && failed(verifySpace(space.getInt())))
              return failure();
            return verifyType(op, t.getElementType());
          })
          .Case([&](LLVM::LLVMPointerType t) {
            return verifySpace(t.getAddressSpace());
          })
          .Case([&](LLVM::LLVMArrayType t) {
            return verifyType(op, t.getElementType());
          })
          .Case([&](LLVM::LLVMStructType t) -> LogicalResult {
            for (Type element : t.getBody())
              if (failed(verifyType(op, element)))
                return failure();
            return success();
          })
          .Case<LLVM::LLVMX86AMXType, LLVM::LLVMPPCFP128Type,
                LLVM::LLVMTargetExtType>(
              [&](Type) { return refuse("which the chip does not have"); })
          .Default([](Type) { return success(); });
  if (succeeded(result))
    goodTypes.insert(type);
  return result;
}

LogicalResult Verifier::verifyTypes(Operation *op) {
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  size_t numValues = types.size();
  for (Region &region : op->getRegions())
    for (Block &block : region)
      llvm::append_range(types, block.getArgumentTypes());
  for (Type type : types)
    if (failed(verifyType(op, type)))
      return failure();

  // Floats of 8 bits and less are storage types: vendor operations convert
  // them.
  if (!isa_and_present<arith::ArithDialect, math::MathDialect>(
          op->getDialect()) ||
      isa<arith::ConstantOp, arith::BitcastOp, arith::SelectOp>(op))
    return success();
  for (Type type : ArrayRef(types).take_front(numValues)) {
    auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
    if (element && element.getWidth() < 16)
      return op->emitOpError("computes with ")
             << type << ", which is a storage type";
  }
  return success();
}

/// Checks that floats are rounded to nearest. LLVM's back ends for GPUs ignore
/// any other rounding mode.
LogicalResult Verifier::verifyRounding(Operation *op) {
  StringRef mode;
  if (auto rounding = dyn_cast<arith::ArithRoundingModeInterface>(op)) {
    if (auto attr = rounding.getRoundingModeAttr();
        attr && attr.getValue() != arith::RoundingMode::to_nearest_even)
      mode = arith::stringifyRoundingMode(attr.getValue());
  } else if (auto rounding = dyn_cast<LLVM::RoundingModeOpInterface>(op)) {
    if (auto attr = rounding.getRoundingModeAttr();
        attr && attr.getValue() != LLVM::RoundingMode::NearestTiesToEven)
      mode = LLVM::stringifyRoundingMode(attr.getValue());
  }
  if (mode.empty())
    return success();
  return op->emitOpError("has the rounding mode ")
         << mode << "; floats are rounded to the nearest, ties to even";
}

/// Checks the buffer form of an addition of floats, which not every chip has.
LogicalResult Verifier::verifyBufferAdd(Operation *op) {
  Value value;
  if (auto add = dyn_cast<ROCDL::RawPtrBufferAtomicFaddOp>(op))
    value = add.getVdata();
  else if (auto call = dyn_cast<LLVM::CallIntrinsicOp>(op);
           call && !call.getArgs().empty() &&
           call.getIntrin().starts_with(getBufferIntrinsic(AtomicKind::AddF)))
    value = call.getArgs().front();
  if (!value || isNvidia())
    return success();
  Type type = value.getType();
  std::optional<AtomicElement> element =
      tile::gpu::getAtomicElement(getElementTypeOrSelf(type));
  if (element &&
      findBufferAtomic(chip, AtomicKind::AddF, *element, getNumElements(type)))
    return success();
  return op->emitOpError("adds ") << type << " through a buffer descriptor; "
                                  << chip.name << " has no such instruction";
}

LogicalResult Verifier::verifyAtomics(Operation *op) {
  std::optional<StringRef> scope;
  Type value;
  if (auto rmw = dyn_cast<LLVM::AtomicRMWOp>(op)) {
    scope = rmw.getSyncscope().value_or("");
    value = rmw.getVal().getType();
  } else if (auto exchange = dyn_cast<LLVM::AtomicCmpXchgOp>(op)) {
    scope = exchange.getSyncscope().value_or("");
    value = exchange.getVal().getType();
  } else if (auto fence = dyn_cast<LLVM::FenceOp>(op)) {
    scope = fence.getSyncscope().value_or("");
  }
  if (!scope)
    return verifyBufferAdd(op);
  ArrayRef<StringLiteral> scopes =
      isNvidia() ? ArrayRef(kNvidiaScopes) : ArrayRef(kAmdScopes);
  if (!llvm::is_contained(scopes, *scope))
    return op->emitOpError("has the scope \"")
           << *scope << "\", which " << chip.name << " does not have";
  auto vector = dyn_cast_or_null<VectorType>(value);
  if (vector &&
      (vector.getNumElements() != 2 || vector.getElementTypeBitWidth() != 16))
    return op->emitOpError("is on ")
           << value << "; an atomic operation is on a scalar or on two 16-bit "
           << "floats";
  return success();
}

LogicalResult Verifier::verifyCall(Operation *op) {
  if (auto intrinsic = dyn_cast<LLVM::CallIntrinsicOp>(op)) {
    StringRef name = intrinsic.getIntrin();
    StringRef own = isNvidia() ? "nvvm" : "amdgcn";
    for (StringRef vendor : {"nvvm", "amdgcn", "x86", "aarch64"})
      if (name.starts_with(("llvm." + vendor + ".").str()) && vendor != own)
        return op->emitOpError("calls ")
               << name << ", which " << chip.name << " does not have";
    return success();
  }
  auto call = dyn_cast<CallOpInterface>(op);
  if (!call)
    return success();
  auto symbol = dyn_cast<SymbolRefAttr>(call.getCallableForCallee());
  if (!symbol)
    return success();
  auto callee = dyn_cast_or_null<FunctionOpInterface>(
      SymbolTable::lookupNearestSymbolFrom(op, symbol));
  StringRef name = symbol.getLeafReference();
  // The driver of NVIDIA provides a few functions.
  bool builtIn =
      name.starts_with("llvm.") ||
      llvm::is_contained({tile::gpu::kPrintFunction, tile::gpu::kFailFunction},
                         name) ||
      (isNvidia() &&
       llvm::is_contained({"__assertfail", "malloc", "free"}, name));
  if (!callee || (callee.isExternal() && !builtIn))
    return op->emitOpError("calls '")
           << name << "', which is not defined; no device library is linked";
  return success();
}

/// Checks the limits of a launch.
LogicalResult Verifier::verifyKernel(Operation *op) {
  auto gpuFunc = dyn_cast<mlir::gpu::GPUFuncOp>(op);
  auto llvmFunc = dyn_cast<LLVM::LLVMFuncOp>(op);
  bool isKernel =
      (gpuFunc && gpuFunc.isKernel()) ||
      (llvmFunc &&
       llvmFunc->hasAttr(mlir::gpu::GPUDialect::getKernelFuncAttrName()));
  if (!isKernel)
    return success();

  int64_t shared = 0;
  if (tile::gpu::ManifestOp manifest = tile::gpu::findManifest(op)) {
    int64_t threads = 1;
    for (int64_t extent : manifest.getBlock())
      threads *= std::min<int64_t>(extent, 2 * kMostThreads);
    if (threads > kMostThreads)
      return op->emitOpError("has ")
             << threads << " threads a block; " << chip.name << " has at most "
             << kMostThreads;
    // On AMD this memory is static, and counted below.
    if (isNvidia())
      shared = manifest.getSharedBytes();
  }
  if (gpuFunc)
    for (BlockArgument buffer : gpuFunc.getWorkgroupAttributions()) {
      auto type = cast<MemRefType>(buffer.getType());
      if (!type.hasStaticShape() || !type.getElementType().isIntOrFloat())
        return op->emitOpError("has shared memory of type ")
               << type << "; its size must be static";
      shared += type.getNumElements() *
                llvm::divideCeil(type.getElementTypeBitWidth(), 8);
    }
  if (llvmFunc) {
    llvm::SmallDenseSet<Operation *> globals;
    DataLayout layout = DataLayout::closest(op);
    llvmFunc.walk([&](LLVM::AddressOfOp address) {
      auto global =
          dyn_cast_or_null<LLVM::GlobalOp>(SymbolTable::lookupNearestSymbolFrom(
              address, address.getGlobalNameAttr()));
      if (global && global.getAddrSpace() == 3 && globals.insert(global).second)
        shared += layout.getTypeSize(global.getGlobalType()).getFixedValue();
    });
  }
  if (shared > chip.sharedBytes)
    return op->emitOpError("needs ")
           << shared << " bytes of shared memory; a block on " << chip.name
           << " has at most " << chip.sharedBytes;
  return success();
}

/// Checks that operations that do something are in functions. The translation
/// to LLVM IR crashes at others.
LogicalResult Verifier::verifyPlace(Operation *op) {
  if (!isa_and_nonnull<mlir::gpu::GPUModuleOp>(op->getParentOp()) ||
      isa<SymbolOpInterface, tile::gpu::ManifestOp, LLVM::GlobalCtorsOp,
          LLVM::GlobalDtorsOp, LLVM::ModuleFlagsOp, LLVM::LinkerOptionsOp>(op))
    return success();
  return op->emitOpError("is in no function");
}

LogicalResult Verifier::verify(Operation *op) {
  return success(succeeded(verifyDialect(op)) && succeeded(verifyPlace(op)) &&
                 succeeded(verifyRequirement(op)) && succeeded(verifyMma(op)) &&
                 succeeded(verifyDirectCopy(op)) &&
                 succeeded(verifyTypes(op)) && succeeded(verifyRounding(op)) &&
                 succeeded(verifyAtomics(op)) && succeeded(verifyCall(op)) &&
                 succeeded(verifyKernel(op)));
}

class VerifyTarget : public tile::impl::TileVerifyTargetBase<VerifyTarget> {
public:
  using TileVerifyTargetBase::TileVerifyTargetBase;

private:
  void runOnOperation() override {
    const Chip *chip = getTargetChip(getOperation());
    if (!chip)
      return signalPassFailure();
    Verifier verifier(*chip, llvmOnly);
    WalkResult result = getOperation().walk(
        [&](Operation *op) { return WalkResult(verifier.verify(op)); });
    if (result.wasInterrupted())
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace
