//===- Kernel.cpp - tile.kernel to gpu.func, and its manifest -------------===//

#include "Kernel.h"
#include "../Roles.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tile/Dialect/Tile/IR/Contains.h"
#include "tile/Dialect/Tile/IR/LaunchExpressions.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Dialect/TileGPU/IR/TileGPU.h"

using namespace mlir;
using namespace tile;

//===----------------------------------------------------------------------===//
// The manifest, as attributes
//===----------------------------------------------------------------------===//

namespace {
/// Builds expressions of the manifest (docs/Manifest.md).
class ManifestBuilder : public Builder {
public:
  using Builder::Builder;

  Attribute number(int64_t value) { return getI64IntegerAttr(value); }
  /// Returns an array of numbers, where a unit attribute stands for `null`.
  Attribute numbers(ArrayRef<int64_t> values) {
    return getArrayAttr(
        llvm::map_to_vector(values, [&](int64_t value) -> Attribute {
          return value == kDynamic ? getUnitAttr() : number(value);
        }));
  }
  Attribute apply(StringRef name, ArrayRef<Attribute> operands = {}) {
    SmallVector<Attribute> expression{getStringAttr(name)};
    llvm::append_range(expression, operands);
    return getArrayAttr(expression);
  }
};
} // namespace

/// Returns `value` as an expression of the manifest. The verifiers of tile.grid
/// and tile.require allow no other values.
static Attribute launchExpression(Value value) {
  ManifestBuilder builder(value.getContext());
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return builder.number(*constant);
  if (auto argument = dyn_cast<BlockArgument>(value))
    return builder.apply("arg", builder.number(argument.getArgNumber()));
  Operation *op = value.getDefiningOp();
  if (auto dim = dyn_cast<DimOp>(op)) {
    auto argument = cast<BlockArgument>(dim.getBuffer());
    return builder.apply("dim", {builder.number(argument.getArgNumber()),
                                 builder.number(dim.getDim())});
  }
  if (isa<MultiprocessorsOp>(op))
    return builder.apply("multiprocessors");
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op))
    return launchExpression(op->getOperand(0));
  return builder.apply(getLaunchOperator(op),
                       {launchExpression(op->getOperand(0)),
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
  ManifestBuilder builder(buffer.getContext());
  Layout map = *cast<MapAttr>(buffer.getLayout())
                    .getMapLayout(buffer.getShape(), nullptr);
  int64_t known = 1;
  Attribute product;
  for (unsigned result = 0; result < map.rank(); ++result) {
    if (map.shape()[result] != kDynamic) {
      known *= map.shape()[result];
      continue;
    }
    MapExtent terms = getMapExtent(map, result);
    Attribute extent;
    for (auto [dim, divisor, factor] : terms.terms) {
      Attribute count =
          builder.apply("dim", {builder.number(argument), builder.number(dim)});
      if (divisor != 1)
        count = builder.apply("ceildiv", {count, builder.number(divisor)});
      if (factor != 1)
        count = builder.apply("mul", {count, builder.number(factor)});
      extent = extent ? builder.apply("add", {extent, count}) : count;
    }
    if (terms.constant != 0)
      extent = builder.apply("add", {extent, builder.number(terms.constant)});
    product = product ? builder.apply("mul", {product, extent}) : extent;
  }
  if (!product)
    return builder.number(known);
  return known == 1 ? product
                    : builder.apply("mul", {product, builder.number(known)});
}

/// Returns one entry of `params`.
static Attribute parameter(Type type, StringRef name, unsigned argument,
                           bool nonNegative) {
  ManifestBuilder builder(type.getContext());
  SmallVector<NamedAttribute> fields;
  auto set = [&](StringRef key, Attribute value) {
    fields.push_back(builder.getNamedAttr(key, value));
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
  set("rank", builder.number(buffer.getRank()));
  set("shape", builder.numbers(buffer.getShape()));
  set("alignment", builder.number(buffer.getAlignment()));
  auto strided = dyn_cast<StridedAttr>(buffer.getLayout());
  if (!strided) {
    set("storage", storageExpression(buffer, argument));
    set("blocks", builder.numbers(llvm::map_to_vector(
                      llvm::seq<int64_t>(0, buffer.getRank()),
                      [&](int64_t dim) { return buffer.getPeriod(dim); })));
    return builder.getDictionaryAttr(fields);
  }
  set("strides", builder.numbers(strided.getStrides()));
  SmallVector<int64_t> divisors;
  for (auto [stride, divisor] :
       llvm::zip_equal(strided.getStrides(), strided.getDivisors()))
    divisors.push_back(stride == kDynamic ? divisor : 1);
  set("stride_divisibility", builder.numbers(divisors));
  return builder.getDictionaryAttr(fields);
}

/// Removes the requirements from the kernel and returns them as attributes. A
/// requirement on constants needs no check at launch if it is met, and is an
/// error if not.
static FailureOr<ArrayAttr> extractRequirements(KernelOp kernel) {
  ManifestBuilder builder(kernel.getContext());
  SmallVector<Attribute> requirements;
  for (auto op : llvm::make_early_inc_range(
           kernel.getBody().front().getOps<RequireOp>())) {
    auto argument = cast<BlockArgument>(op.getBuffer());
    std::optional<bool> holds = op.decide();
    if (holds == false) {
      return op.emitOpError()
             << "does not hold: extent " << op.getDim() << " of argument "
             << argument.getArgNumber() << " is "
             << cast<BufferType>(argument.getType()).getShape()[op.getDim()]
             << ", must be " << RequireOp::describe(op.getRelation())
             << *getConstantIntValue(op.getValue()) << ": " << op.getReason();
    }
    if (!holds) {
      auto set = [&](StringRef key, Attribute value) {
        return builder.getNamedAttr(key, value);
      };
      requirements.push_back(builder.getDictionaryAttr(
          {set("argument", builder.number(argument.getArgNumber())),
           set("dim", builder.number(op.getDim())),
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
  if (!buffer.isPaged())
    return types;
  Type table =
      MemRefType::get({ShapedType::kDynamic}, IntegerType::get(context, 32),
                      MemRefLayoutAttrInterface(),
                      mlir::gpu::AddressSpaceAttr::get(context, space));
  types.append({index, table, index, index, index});
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
  if (int32_t blocks = kernel.getClusterBlocks(); blocks > 1)
    func->setAttr(NVVM::NVVMDialect::getClusterDimAttrName(),
                  builder.getDenseI32ArrayAttr({blocks, 1, 1}));
  GridOp grid = kernel.getGrid();
  int64_t sharedBytes = kernel.getSharedBytes().value_or(0);
  bool waits = containsOp(kernel, llvm::IsaPred<WaitPrerequisitesOp>);
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
