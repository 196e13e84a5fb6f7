//===- Kernel.cpp - tile.kernel to gpu.func, and its manifest -------------===//

#include "Kernel.h"
#include "Roles.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Dialect/TileGPU/IR/TileGPU.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile;

//===----------------------------------------------------------------------===//
// The manifest, as attributes
//===----------------------------------------------------------------------===//

/// Returns `value` as an expression of the manifest (docs/Manifest.md). The
/// verifiers of tile.grid and tile.require allow no other values.
static Attribute launchExpression(Value value) {
  Builder builder(value.getContext());
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return builder.getI64IntegerAttr(constant.getSExtValue());
  if (auto argument = dyn_cast<BlockArgument>(value))
    return builder.getArrayAttr(
        {builder.getStringAttr("arg"),
         builder.getI64IntegerAttr(argument.getArgNumber())});
  Operation *op = value.getDefiningOp();
  if (auto dim = dyn_cast<DimOp>(op))
    return builder.getArrayAttr(
        {builder.getStringAttr("dim"),
         builder.getI64IntegerAttr(
             cast<BlockArgument>(dim.getBuffer()).getArgNumber()),
         builder.getI64IntegerAttr(dim.getDim())});
  if (isa<MultiprocessorsOp>(op))
    return builder.getArrayAttr({builder.getStringAttr("multiprocessors")});
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op))
    return launchExpression(op->getOperand(0));
  StringRef name =
      llvm::TypeSwitch<Operation *, StringRef>(op)
          .Case<arith::AddIOp>([](auto) { return "add"; })
          .Case<arith::SubIOp>([](auto) { return "sub"; })
          .Case<arith::MulIOp>([](auto) { return "mul"; })
          .Case<arith::CeilDivUIOp, arith::CeilDivSIOp>(
              [](auto) { return "ceildiv"; })
          .Case<arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp>(
              [](auto) { return "floordiv"; })
          .Case<arith::RemUIOp, arith::RemSIOp>([](auto) { return "mod"; })
          .Case<arith::MinUIOp, arith::MinSIOp>([](auto) { return "min"; })
          .Case<arith::MaxUIOp, arith::MaxSIOp>([](auto) { return "max"; });
  return builder.getArrayAttr({builder.getStringAttr(name),
                               launchExpression(op->getOperand(0)),
                               launchExpression(op->getOperand(1))});
}

static std::string typeName(Type type) {
  std::string name;
  llvm::raw_string_ostream(name) << type;
  return name;
}

/// Returns the storage of a buffer with a map, in elements, as an expression of
/// the extents of parameter `argument`. It is the product of the extents of the
/// results; each extent is 1 + the largest sum of the digits of the result.
static Attribute storageExpression(BufferType buffer, unsigned argument) {
  Builder builder(buffer.getContext());
  auto number = [&](int64_t value) -> Attribute {
    return builder.getI64IntegerAttr(value);
  };
  auto apply = [&](StringRef op, Attribute a, Attribute b) -> Attribute {
    return builder.getArrayAttr({builder.getStringAttr(op), a, b});
  };
  Layout map = *cast<MapAttr>(buffer.getLayout())
                    .getMapLayout(buffer.getShape(), nullptr);
  int64_t known = 1;
  Attribute product;
  for (unsigned result = 0; result < map.rank(); ++result) {
    if (map.shape()[result] != kDynamic) {
      known *= map.shape()[result];
      continue;
    }
    int64_t constant = 1;
    Attribute extent;
    for (unsigned dim = 0; dim < map.numAxes(); ++dim) {
      int64_t begin = 1;
      for (const Digit &digit : map.axis(dim)) {
        bool counts = digit.stride != 0 && digit.dim == result;
        if (digit.extent != kDynamic) {
          constant += counts ? (digit.extent - 1) * digit.stride : 0;
          begin *= digit.extent;
          continue;
        }
        if (!counts)
          continue;
        constant -= digit.stride;
        Attribute count = builder.getArrayAttr(
            {builder.getStringAttr("dim"), number(argument), number(dim)});
        if (begin != 1)
          count = apply("ceildiv", count, number(begin));
        if (digit.stride != 1)
          count = apply("mul", count, number(digit.stride));
        extent = extent ? apply("add", extent, count) : count;
      }
    }
    if (constant != 0)
      extent = apply("add", extent, number(constant));
    product = product ? apply("mul", product, extent) : extent;
  }
  if (!product)
    return number(known);
  return known == 1 ? product : apply("mul", product, number(known));
}

/// Returns one entry of `params`; a unit attribute stands for `null`.
static Attribute parameter(Type type, StringRef name, unsigned argument,
                           bool nonNegative) {
  Builder builder(type.getContext());
  SmallVector<NamedAttribute> fields;
  auto set = [&](StringRef key, Attribute value) {
    fields.push_back(builder.getNamedAttr(key, value));
  };
  auto number = [&](int64_t value) -> Attribute {
    return builder.getI64IntegerAttr(value);
  };
  auto numbers = [&](ArrayRef<int64_t> values) {
    return builder.getArrayAttr(
        llvm::map_to_vector(values, [&](int64_t value) -> Attribute {
          return value == kDynamic ? builder.getUnitAttr() : number(value);
        }));
  };
  set("name", builder.getStringAttr(name));
  auto buffer = dyn_cast<BufferType>(type);
  if (!buffer) {
    set("kind", builder.getStringAttr("scalar"));
    set("type", builder.getStringAttr(typeName(type)));
    if (nonNegative)
      set("nonnegative", builder.getBoolAttr(true));
    return builder.getDictionaryAttr(fields);
  }
  set("kind", builder.getStringAttr("buffer"));
  set("type", builder.getStringAttr(typeName(buffer.getElementType())));
  set("rank", number(buffer.getRank()));
  set("shape", numbers(buffer.getShape()));
  set("alignment", number(buffer.getAlignment()));
  auto strided = dyn_cast<StridedAttr>(buffer.getLayout());
  if (!strided) {
    set("storage", storageExpression(buffer, argument));
    set("blocks", numbers(llvm::map_to_vector(
                      llvm::seq<int64_t>(0, buffer.getRank()),
                      [&](int64_t dim) { return buffer.getPeriod(dim); })));
    return builder.getDictionaryAttr(fields);
  }
  set("strides", numbers(strided.getStrides()));
  SmallVector<int64_t> divisors;
  for (auto [stride, divisor] :
       llvm::zip_equal(strided.getStrides(), strided.getDivisors()))
    divisors.push_back(stride == kDynamic ? divisor : 1);
  set("stride_divisibility", numbers(divisors));
  return builder.getDictionaryAttr(fields);
}

/// Removes the requirements from the kernel and returns them as attributes. A
/// requirement on constants needs no check at launch if it is met, and is an
/// error if not.
static FailureOr<ArrayAttr> extractRequirements(KernelOp kernel) {
  Builder builder(kernel.getContext());
  SmallVector<Attribute> requirements;
  for (auto op : llvm::make_early_inc_range(
           kernel.getBody().front().getOps<RequireOp>())) {
    auto argument = cast<BlockArgument>(op.getBuffer());
    std::optional<bool> holds = op.decide();
    if (holds == false) {
      APInt value;
      matchPattern(op.getValue(), m_ConstantInt(&value));
      return op.emitOpError()
             << "does not hold: extent " << op.getDim() << " of argument "
             << argument.getArgNumber() << " is "
             << cast<BufferType>(argument.getType()).getShape()[op.getDim()]
             << ", must be " << RequireOp::describe(op.getRelation())
             << value.getSExtValue() << ": " << op.getReason();
    }
    if (!holds) {
      auto set = [&](StringRef key, Attribute value) {
        return builder.getNamedAttr(key, value);
      };
      requirements.push_back(builder.getDictionaryAttr(
          {set("argument", builder.getI64IntegerAttr(argument.getArgNumber())),
           set("dim", builder.getI64IntegerAttr(op.getDim())),
           set("relation",
               builder.getStringAttr(stringifyRelation(op.getRelation()))),
           set("value", launchExpression(op.getValue())),
           set("reason", op.getReasonAttr())}));
    }
    op.erase();
  }
  return builder.getArrayAttr(requirements);
}

/// Erases what only the grid and requirements were computed from. The kernel
/// may not use the rest of what is known at launch only.
static LogicalResult eraseLaunchNumbers(KernelOp kernel) {
  SmallVector<Operation *> numbers;
  kernel.walk([&](MultiprocessorsOp op) {
    SmallVector<Operation *> worklist{op};
    while (!worklist.empty()) {
      Operation *number = worklist.pop_back_val();
      numbers.push_back(number);
      llvm::append_range(worklist, number->getUsers());
    }
  });
  llvm::SmallPtrSet<Operation *, 8> erased;
  for (Operation *number : llvm::reverse(numbers))
    if (!erased.contains(number) && isOpTriviallyDead(number)) {
      erased.insert(number);
      number->erase();
    }
  for (Operation *number : numbers)
    if (!erased.contains(number) && isa<MultiprocessorsOp>(number))
      return number->emitOpError() << "is known at launch only: the grid and "
                                      "requirements may depend on it, the code "
                                      "of a kernel may not";
  return success();
}

//===----------------------------------------------------------------------===//
// Outlining
//===----------------------------------------------------------------------===//

SmallVector<Type> tile::flattenBuffer(BufferType buffer) {
  MLIRContext *context = buffer.getContext();
  Type index = IndexType::get(context);
  auto space = buffer.isShared() ? mlir::gpu::AddressSpace::Workgroup
                                 : mlir::gpu::AddressSpace::Global;
  SmallVector<Type> types{
      MemRefType::get({ShapedType::kDynamic}, buffer.getElementType(),
                      MemRefLayoutAttrInterface(),
                      mlir::gpu::AddressSpaceAttr::get(context, space)),
      index};
  if (buffer.isShared())
    return types;
  types.append(llvm::count(buffer.getShape(), ShapedType::kDynamic), index);
  if (auto strided = dyn_cast<StridedAttr>(buffer.getLayout()))
    types.append(llvm::count(strided.getStrides(), kDynamic), index);
  return types;
}

FailureOr<mlir::gpu::GPUFuncOp> tile::outlineKernel(KernelOp kernel,
                                                    const Chip &chip,
                                                    OpBuilder &builder,
                                                    RoleContext &context) {
  OpBuilder::InsertionGuard guard(builder);
  Location loc = kernel.getLoc();
  FailureOr<ArrayAttr> requirements = extractRequirements(kernel);
  if (failed(requirements))
    return failure();

  // Signature: for each buffer its pointer, dynamic extents and dynamic
  // strides.
  SmallVector<Type> inputs;
  SmallVector<Attribute> params;
  for (auto [i, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    auto name = kernel.getArgAttrOfType<StringAttr>(i, TileDialect::kNameAttr);
    params.push_back(parameter(
        type, name ? name.getValue().str() : "arg" + std::to_string(i), i,
        kernel.getArgAttr(i, TileDialect::kNonNegativeAttr) != nullptr));
    auto buffer = dyn_cast<BufferType>(type);
    if (!buffer) {
      inputs.push_back(type);
      continue;
    }
    SmallVector<Type> parts = flattenBuffer(buffer);
    parts.erase(parts.begin() + 1); // a kernel's buffers start at offset 0
    llvm::append_range(inputs, parts);
  }
  // The tensor maps follow, each by value.
  prepareRoles(kernel, chip.warpSize, context);
  SmallVector<Attribute> maps =
      collectTensorMaps(kernel, inputs.size(), context);
  llvm::append_range(params, maps);
  inputs.append(maps.size(), LLVM::LLVMPointerType::get(builder.getContext()));
  auto func = mlir::gpu::GPUFuncOp::create(
      builder, loc, kernel.getName(),
      builder.getFunctionType(inputs, TypeRange()));
  func->setAttr(mlir::gpu::GPUDialect::getKernelFuncAttrName(),
                builder.getUnitAttr());
  // Without this, ptxas ignores the numbers of registers of the roles.
  if (setsRegisters(kernel))
    func->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                  builder.getI32IntegerAttr(1));
  Schedule schedule;
  schedule.saveRegisters = getSchedule(kernel).saveRegisters;
  setSchedule(func, schedule);
  int64_t threads = countWarps(kernel) * chip.warpSize;
  func.setKnownBlockSizeAttr(
      builder.getDenseI32ArrayAttr({int32_t(threads), 1, 1}));
  GridOp grid = kernel.getGrid();
  int64_t sharedBytes = kernel.getSharedBytes().value_or(0);
  bool waits =
      kernel.walk([](WaitPrerequisitesOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  builder.setInsertionPoint(func);
  tile::gpu::ManifestOp::create(
      builder, loc, kernel.getName(),
      builder.getArrayAttr({launchExpression(grid.getX()),
                            launchExpression(grid.getY()),
                            launchExpression(grid.getZ())}),
      ArrayRef<int64_t>{threads, 1, 1}, sharedBytes,
      builder.getArrayAttr(params),
      requirements->empty() ? ArrayAttr() : *requirements,
      waits && chip.dependentLaunch);
  grid->erase();
  if (failed(eraseLaunchNumbers(kernel)))
    return failure();

  // Compute the arguments of the old body from the new ones.
  Block &entry = func.getBody().front();
  builder.setInsertionPointToStart(&entry);
  Value zero;
  auto next = entry.args_begin();
  auto globalAlign = [&](BufferType buffer, unsigned argument) {
    if (buffer.getAlignment() > buffer.getElementBits() / 8)
      func.setArgAttr(argument, "llvm.align",
                      builder.getI64IntegerAttr(buffer.getAlignment()));
  };
  SmallVector<Value> replacements;
  for (Type type : kernel.getArgumentTypes()) {
    auto buffer = dyn_cast<BufferType>(type);
    if (!buffer) {
      replacements.push_back(*next++);
      continue;
    }
    if (!zero)
      zero = arith::ConstantIndexOp::create(builder, loc, 0);
    globalAlign(buffer, std::distance(entry.args_begin(), next));
    SmallVector<Value> parts{*next++, zero};
    while (parts.size() < flattenBuffer(buffer).size())
      parts.push_back(*next++);
    replacements.push_back(
        UnrealizedConversionCastOp::create(builder, loc, buffer, parts)
            .getResult(0));
  }
  Block &body = kernel.getBody().front();
  for (auto [argument, replacement] :
       llvm::zip_equal(body.getArguments(), replacements))
    argument.replaceAllUsesWith(replacement);
  body.getTerminator()->erase();
  entry.getOperations().splice(entry.end(), body.getOperations());
  builder.setInsertionPointToEnd(&entry);
  mlir::gpu::ReturnOp::create(builder, loc);

  // Shared memory is one array of bytes.
  if (chip.vendor == Vendor::AMD && sharedBytes > 0)
    func.addWorkgroupAttribution(
        MemRefType::get(
            {sharedBytes}, builder.getI8Type(), MemRefLayoutAttrInterface(),
            mlir::gpu::AddressSpaceAttr::get(
                builder.getContext(), mlir::gpu::AddressSpace::Workgroup)),
        loc);
  return func;
}
