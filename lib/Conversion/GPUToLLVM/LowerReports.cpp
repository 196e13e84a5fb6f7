//===- LowerReports.cpp - Calls that print --------------------------------===//

#include "LowerReports.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "tile/Dialect/TileGPU/IR/Reports.h"
#include "tile/Dialect/TileGPU/IR/TileGPU.h"
#include "llvm/ADT/StringMap.h"
#include <map>

using namespace mlir;
using namespace tile;

/// The address spaces of AMD for constants and for the memory of a thread.
static constexpr unsigned kConstantSpace = 4, kPrivateSpace = 5;

/// The most arguments that the driver of NVIDIA prints at once.
static constexpr size_t kMostArguments = 32;

namespace {
class ReportLowering {
public:
  ReportLowering(mlir::gpu::GPUModuleOp module, const Chip &chip)
      : module(module), isAMD(chip.vendor == Vendor::AMD),
        pointer(LLVM::LLVMPointerType::get(module.getContext())) {}

  LogicalResult lower(Operation *op, StringRef format, ValueRange arguments,
                      StringRef function);

private:
  FailureOr<LLVM::LLVMFuncOp> getFunction(Operation *op, StringRef name);
  void definePrintAndTrap(LLVM::LLVMFuncOp function, LLVM::LLVMFuncOp print);
  Value emitText(ImplicitLocOpBuilder &b, StringRef text);
  Value emitMemory(ImplicitLocOpBuilder &b, Operation *op, Type type);

  mlir::gpu::GPUModuleOp module;
  bool isAMD;
  LLVM::LLVMPointerType pointer;
  llvm::StringMap<LLVM::GlobalOp> texts;
  unsigned textCount = 0;
  /// The memory for arguments, by the function and the type.
  std::map<std::pair<Operation *, const void *>, Value> memory;
};
} // namespace

/// Verifies that the conversions of `format` read arguments of these types.
static LogicalResult verifyFormat(Operation *op, StringRef format,
                                  TypeRange types) {
  if (types.size() > kMostArguments)
    return op->emitOpError()
           << "has " << types.size() << " arguments; a text has at most "
           << kMostArguments;
  size_t next = 0;
  for (size_t at = format.find('%'); at != StringRef::npos;
       at = format.find('%', at)) {
    StringRef rest = format.drop_front(at + 1);
    if (rest.consume_front("%")) {
      at += 2;
      continue;
    }
    rest = rest.drop_while(
        [](char c) { return StringRef("-+ #0123456789.").contains(c); });
    bool isLong = rest.consume_front("ll") || rest.consume_front("l");
    char letter = rest.empty() ? '\0' : rest.front();
    StringRef conversion =
        format.slice(at, format.size() - rest.size() + !rest.empty());
    bool isInteger = StringRef("diuoxXc").contains(letter) && letter != '\0';
    bool isReal = StringRef("fFeEgGaA").contains(letter) && letter != '\0';
    if (!isInteger && !isReal)
      return op->emitOpError()
             << "has the conversion '" << conversion
             << "' in its format; supported are those of integers and floats";
    if (next == types.size())
      return op->emitOpError() << "has no argument for the conversion '"
                               << conversion << "' of its format";
    Type type = types[next];
    bool fits = isReal ? type.isF64() : type.isInteger(isLong ? 64 : 32);
    if (!fits)
      return op->emitOpError() << "prints argument " << next << " by '"
                               << conversion << "', which is for "
                               << (isReal   ? "f64"
                                   : isLong ? "i64"
                                            : "i32")
                               << ", not " << type;
    ++next;
    at = format.size() - rest.size() + 1;
  }
  if (next != types.size())
    return op->emitOpError() << "has " << types.size()
                             << " arguments, but its format prints " << next;
  return success();
}

/// Emits an argument as C passes it: integers of at least 32 bits, and f64.
/// Returns null for a type that cannot be passed.
static Value promote(ImplicitLocOpBuilder &b, Value value) {
  Type type = value.getType();
  if (type.isIndex())
    return arith::IndexCastOp::create(b, b.getI64Type(), value);
  if (!type.isSignlessInteger() && !isa<FloatType>(type))
    return {};
  unsigned bits = type.getIntOrFloatBitWidth();
  if (isa<FloatType>(type)) {
    if (bits > 64 || bits < 16)
      return {};
    if (bits == 16)
      value = arith::ExtFOp::create(b, b.getF32Type(), value);
    return bits == 64 ? value : arith::ExtFOp::create(b, b.getF64Type(), value);
  }
  if (bits == 32 || bits == 64)
    return value;
  if (bits > 64)
    return {};
  Type wide = bits < 32 ? b.getI32Type() : b.getI64Type();
  return bits == 1 ? Value(arith::ExtUIOp::create(b, wide, value))
                   : Value(arith::ExtSIOp::create(b, wide, value));
}

/// Returns the address of the text in a constant of the module.
Value ReportLowering::emitText(ImplicitLocOpBuilder &b, StringRef text) {
  LLVM::GlobalOp &global = texts[text];
  if (!global) {
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    std::string bytes = text.str() + '\0';
    auto type = LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size());
    std::string name;
    do
      name = "tile_text_" + std::to_string(textCount++);
    while (module.lookupSymbol(name));
    global = LLVM::GlobalOp::create(
        builder, module.getLoc(), type, /*isConstant=*/true,
        LLVM::Linkage::Private, name, builder.getStringAttr(bytes),
        /*alignment=*/1, isAMD ? kConstantSpace : 0);
  }
  Value address = LLVM::AddressOfOp::create(b, global);
  return isAMD ? LLVM::AddrSpaceCastOp::create(b, pointer, address) : address;
}

/// Returns the address of memory of the thread for a value of `type`. Calls of
/// one function use it one after another.
Value ReportLowering::emitMemory(ImplicitLocOpBuilder &b, Operation *op,
                                 Type type) {
  auto function = op->getParentOfType<FunctionOpInterface>();
  Value &address = memory[{function, type.getAsOpaquePointer()}];
  if (!address) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&function.getFunctionBody().front());
    auto local = isAMD
                     ? LLVM::LLVMPointerType::get(b.getContext(), kPrivateSpace)
                     : pointer;
    Value one = LLVM::ConstantOp::create(b, b.getI32Type(), 1);
    address = LLVM::AllocaOp::create(b, local, type, one, /*alignment=*/8);
    if (isAMD)
      address = LLVM::AddrSpaceCastOp::create(b, pointer, address);
  }
  return address;
}

/// Gives kFailFunction a body.
void ReportLowering::definePrintAndTrap(LLVM::LLVMFuncOp function,
                                        LLVM::LLVMFuncOp print) {
  // So that it is one call in the kernel.
  function.setNoInline(true);
  ImplicitLocOpBuilder b(function.getLoc(), function.getContext());
  Block *body = function.addEntryBlock(b);
  b.setInsertionPointToStart(body);
  LLVM::CallOp::create(b, print, body->getArguments());
  LLVM::Trap::create(b);
  LLVM::ReturnOp::create(b, ValueRange());
}

FailureOr<LLVM::LLVMFuncOp> ReportLowering::getFunction(Operation *op,
                                                        StringRef name) {
  MLIRContext *context = module.getContext();
  bool isPrint = name == tile::gpu::kPrintFunction;
  Type result = isPrint ? Type(IntegerType::get(context, 32))
                        : Type(LLVM::LLVMVoidType::get(context));
  auto type = LLVM::LLVMFunctionType::get(result, {pointer, pointer});
  if (Operation *known = module.lookupSymbol(name)) {
    auto function = dyn_cast<LLVM::LLVMFuncOp>(known);
    if (function && function.getFunctionType() == type)
      return function;
    return op->emitOpError() << "calls '" << name
                             << "', but the module has another symbol of this "
                                "name";
  }
  LLVM::LLVMFuncOp print;
  if (!isPrint && !isAMD) {
    FailureOr<LLVM::LLVMFuncOp> found =
        getFunction(op, tile::gpu::kPrintFunction);
    if (failed(found))
      return failure();
    print = *found;
  }
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto function =
      LLVM::LLVMFuncOp::create(builder, module.getLoc(), name, type);
  // A call that stands for two has no place in the source.
  function.setPassthroughAttr(builder.getStrArrayAttr({"nomerge"}));
  if (print)
    definePrintAndTrap(function, print);
  return function;
}

LogicalResult ReportLowering::lower(Operation *op, StringRef format,
                                    ValueRange arguments, StringRef function) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  if (!op->getParentOfType<FunctionOpInterface>())
    return op->emitOpError("is in no function");
  SmallVector<Value> values;
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    Value value = promote(b, argument);
    if (!value)
      return op->emitOpError() << "cannot print argument " << i << " of type "
                               << argument.getType();
    values.push_back(value);
  }
  if (failed(verifyFormat(op, format, ValueRange(values).getTypes())))
    return failure();
  FailureOr<LLVM::LLVMFuncOp> callee = getFunction(op, function);
  if (failed(callee))
    return failure();
  Value address = LLVM::ZeroOp::create(b, pointer);
  if (!values.empty()) {
    auto type = LLVM::LLVMStructType::getLiteral(
        b.getContext(), llvm::to_vector(ValueRange(values).getTypes()));
    address = emitMemory(b, op, type);
    for (auto [i, value] : llvm::enumerate(values)) {
      Value place = LLVM::GEPOp::create(
          b, pointer, type, address,
          ArrayRef<LLVM::GEPArg>{0, LLVM::GEPArg(int32_t(i))});
      LLVM::StoreOp::create(b, value, place);
    }
  }
  LLVM::CallOp::create(b, *callee, ValueRange{emitText(b, format), address});
  op->erase();
  return success();
}

LogicalResult tile::lowerReports(mlir::gpu::GPUModuleOp module,
                                 const Chip &chip) {
  ReportLowering lowering(module, chip);
  WalkResult result = module.walk([&](Operation *op) -> WalkResult {
    if (auto print = dyn_cast<mlir::gpu::PrintfOp>(op))
      return lowering.lower(op, print.getFormat(), print.getArgs(),
                            tile::gpu::kPrintFunction);
    if (auto fail = dyn_cast<tile::gpu::FailOp>(op))
      return lowering.lower(op, fail.getFormat(), fail.getArgs(),
                            tile::gpu::kFailFunction);
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
