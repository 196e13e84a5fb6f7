//===- Attention.cpp - Attention of ONNX and PyTorch ----------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/SymbolTable.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Import/Passes.h"
#include "llvm/ADT/StringSet.h"
#include <cmath>
#include <optional>

namespace tile {
#define GEN_PASS_DEF_TILEIMPORTATTENTION
#include "tile/Import/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

/// A tensor of any source. Dynamic extents are ShapedType::kDynamic.
struct Tensor {
  SmallVector<int64_t> shape;
  Type element;
};

/// A tensor with the dimensions batch, length, heads and head dimension.
struct Heads {
  int64_t batch, length, heads, dim;
  Type element;
};

/// An attention operation, as its source defines it.
struct Attention {
  Heads q, k, v;
  /// 1 / sqrt(head dimension) if there is none.
  std::optional<double> scale;
  double softcap = 0;
  /// Query i sees the keys j <= i.
  bool topLeftCausal = false;
};

} // namespace

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// Parses `vtensor<[1,8,?,64],f16>` or `tensor<...>`, a type of torch-mlir.
static FailureOr<Tensor> parseTorchTensor(StringRef text,
                                          MLIRContext *context) {
  if (!text.consume_front("vtensor<[") && !text.consume_front("tensor<["))
    return failure();
  auto [extents, rest] = text.split(']');
  Tensor tensor;
  while (!extents.empty()) {
    auto [extent, others] = extents.split(',');
    int64_t value;
    if (extent.trim() == "?")
      value = ShapedType::kDynamic;
    else if (extent.trim().getAsInteger(10, value) || value < 0)
      return failure();
    tensor.shape.push_back(value);
    extents = others;
  }
  if (!rest.consume_front(",") || !rest.consume_back(">"))
    return failure();
  rest = rest.trim();
  if (rest == "f16")
    tensor.element = Float16Type::get(context);
  else if (rest == "bf16")
    tensor.element = BFloat16Type::get(context);
  else if (rest == "f32")
    tensor.element = Float32Type::get(context);
  else if (rest == "f64")
    tensor.element = Float64Type::get(context);
  else
    return failure();
  return tensor;
}

static FailureOr<Tensor> getTensor(Operation *op, Value value, StringRef name) {
  Type type = value.getType();
  if (auto ranked = dyn_cast<RankedTensorType>(type))
    return Tensor{SmallVector<int64_t>(ranked.getShape()),
                  ranked.getElementType()};
  if (auto opaque = dyn_cast<OpaqueType>(type))
    if (opaque.getDialectNamespace() == "torch") {
      FailureOr<Tensor> tensor =
          parseTorchTensor(opaque.getTypeData(), op->getContext());
      if (succeeded(tensor))
        return tensor;
    }
  return op->emitOpError() << name
                           << " must be a ranked tensor of floating-point "
                              "numbers, got "
                           << type;
}

/// Returns a tensor [batch, heads, length, head dimension].
static FailureOr<Heads> getHeads(Operation *op, Value value, StringRef name) {
  FailureOr<Tensor> tensor = getTensor(op, value, name);
  if (failed(tensor))
    return failure();
  if (tensor->shape.size() != 4)
    return op->emitOpError()
           << name << " must have the dimensions batch, heads, length and head "
           << "dimension, got rank " << tensor->shape.size();
  ArrayRef<int64_t> shape = tensor->shape;
  return Heads{shape[0], shape[2], shape[1], shape[3], tensor->element};
}

/// Returns a tensor [batch, length, heads * head dimension] of ONNX.
static FailureOr<Heads> getPackedHeads(Operation *op, Value value,
                                       StringRef name, int64_t heads,
                                       StringRef attribute) {
  FailureOr<Tensor> tensor = getTensor(op, value, name);
  if (failed(tensor))
    return failure();
  ArrayRef<int64_t> shape = tensor->shape;
  if (heads <= 0)
    return op->emitOpError() << name << " has rank 3 and needs the attribute '"
                             << attribute << "', a number of heads";
  if (ShapedType::isDynamic(shape[2]) || shape[2] % heads != 0)
    return op->emitOpError()
           << "the last extent of " << name << " must be a multiple of '"
           << attribute << "' = " << heads;
  return Heads{shape[0], shape[1], heads, shape[2] / heads, tensor->element};
}

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

/// Returns the attributes of an unregistered operation, `<{...}>` included.
static DictionaryAttr getAttributes(Operation *op) {
  NamedAttrList attributes(op->getDiscardableAttrDictionary());
  if (auto properties =
          dyn_cast_or_null<DictionaryAttr>(op->getPropertiesAsAttribute()))
    attributes.append(properties.getValue());
  return attributes.getDictionary(op->getContext());
}

static std::optional<double> getNumber(Attribute attribute) {
  if (auto number = dyn_cast_or_null<FloatAttr>(attribute))
    return number.getValueAsDouble();
  if (auto number = dyn_cast_or_null<IntegerAttr>(attribute))
    if (number.getValue().getBitWidth() <= 64)
      return number.getType().isUnsignedInteger() ||
                     number.getType().isInteger(1)
                 ? double(number.getValue().getZExtValue())
                 : double(number.getValue().getSExtValue());
  return std::nullopt;
}

/// Returns a number of heads; 0 if `number` is none.
static int64_t getCount(double number) {
  return number >= 1 && number < (1 << 30) && std::floor(number) == number
             ? int64_t(number)
             : 0;
}

/// Returns whether an optional operand or result of ONNX is absent.
static bool isAbsent(Value value) { return isa<NoneType>(value.getType()); }

static FailureOr<Attention> readOnnx(Operation *op) {
  static constexpr StringLiteral operands[] = {
      "Q", "K", "V", "attn_mask", "past_key", "past_value", "nonpad_kv_seqlen"};
  if (op->getNumOperands() < 3)
    return op->emitOpError() << "needs the operands Q, K and V";
  for (unsigned i = 3; i < op->getNumOperands(); ++i)
    if (!isAbsent(op->getOperand(i)))
      return op->emitOpError()
             << "has operand " << i
             << (i < std::size(operands) ? (" (" + operands[i] + ")").str()
                                         : "")
             << ", which cannot be imported";
  for (unsigned i = 1; i < op->getNumResults(); ++i)
    if (!isAbsent(op->getResult(i)) && !op->getResult(i).use_empty())
      return op->emitOpError() << "has a used result " << i
                               << "; only the first, Y, can be imported";

  Attention attention;
  int64_t qHeads = 0, kvHeads = 0;
  for (NamedAttribute attribute : getAttributes(op)) {
    StringRef name = attribute.getName();
    // onnx-mlir names its nodes.
    if (name == "onnx_node_name")
      continue;
    std::optional<double> number = getNumber(attribute.getValue());
    auto refuse = [&] {
      return op->emitOpError()
             << "has the attribute '" << name << "' = " << attribute.getValue()
             << ", which cannot be imported";
    };
    if (!number)
      return refuse();
    if (name == "scale")
      attention.scale = *number;
    else if (name == "softcap")
      attention.softcap = *number;
    else if (name == "is_causal")
      attention.topLeftCausal = *number != 0;
    else if (name == "q_num_heads")
      qHeads = getCount(*number);
    else if (name == "kv_num_heads")
      kvHeads = getCount(*number);
    else if (name == "softmax_precision") {
      // 1 is f32, in which tile.attention computes.
      if (*number != 1)
        return refuse();
    } else if (name == "qk_matmul_output_mode") {
      // It describes result 3, which has no use.
    } else {
      return refuse();
    }
  }

  auto read = [&](unsigned i, int64_t heads, StringRef attribute) {
    Value value = op->getOperand(i);
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.getRank() == 3
               ? getPackedHeads(op, value, operands[i], heads, attribute)
               : getHeads(op, value, operands[i]);
  };
  FailureOr<Heads> q = read(0, qHeads, "q_num_heads");
  if (failed(q))
    return failure();
  FailureOr<Heads> k = read(1, kvHeads, "kv_num_heads");
  if (failed(k))
    return failure();
  FailureOr<Heads> v = read(2, kvHeads, "kv_num_heads");
  if (failed(v))
    return failure();
  attention.q = *q;
  attention.k = *k;
  attention.v = *v;
  return attention;
}

/// Returns the `value` of a torch.constant.*; nothing for other values.
static std::optional<double> getTorchConstant(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !op->getName().getStringRef().starts_with("torch.constant."))
    return std::nullopt;
  return getNumber(getAttributes(op).get("value"));
}

static bool isTorchNone(Value value) {
  Operation *op = value.getDefiningOp();
  return op && op->getName().getStringRef() == "torch.constant.none";
}

static FailureOr<Attention> readTorch(Operation *op) {
  if (op->getNumOperands() != 8)
    return op->emitOpError()
           << "needs 8 operands (query, key, value, attn_mask, dropout_p, "
              "is_causal, scale, enable_gqa), got "
           << op->getNumOperands();
  Attention attention;
  Heads *heads[] = {&attention.q, &attention.k, &attention.v};
  static constexpr StringLiteral names[] = {"query", "key", "value"};
  for (unsigned i = 0; i < 3; ++i) {
    FailureOr<Heads> found = getHeads(op, op->getOperand(i), names[i]);
    if (failed(found))
      return failure();
    *heads[i] = *found;
  }
  if (!isTorchNone(op->getOperand(3)))
    return op->emitOpError() << "has an attn_mask, which cannot be imported";
  std::optional<double> dropout = getTorchConstant(op->getOperand(4));
  if (!dropout || *dropout != 0)
    return op->emitOpError() << "dropout_p must be the constant 0.0";
  std::optional<double> causal = getTorchConstant(op->getOperand(5));
  if (!causal)
    return op->emitOpError() << "is_causal must be a constant";
  attention.topLeftCausal = *causal != 0;
  if (!isTorchNone(op->getOperand(6))) {
    attention.scale = getTorchConstant(op->getOperand(6));
    if (!attention.scale)
      return op->emitOpError() << "scale must be a constant or none";
  }
  std::optional<double> groups = getTorchConstant(op->getOperand(7));
  if (!groups)
    return op->emitOpError() << "enable_gqa must be a constant";
  if (*groups == 0 && attention.q.heads != attention.k.heads)
    return op->emitOpError()
           << "query and key must have equal numbers of heads without "
              "enable_gqa";
  return attention;
}

//===----------------------------------------------------------------------===//
// The tile function
//===----------------------------------------------------------------------===//

/// Returns the type of a buffer whose rows are contiguous and aligned to 16
/// bytes, wherever they lie.
static BufferType getBufferType(const Heads &tensor) {
  MLIRContext *context = tensor.element.getContext();
  int64_t vector = 128 / tensor.element.getIntOrFloatBitWidth();
  constexpr int64_t dynamic = ShapedType::kDynamic;
  auto layout = StridedAttr::get(context, {dynamic, dynamic, dynamic, 1},
                                 {vector, vector, vector, 1}, /*align=*/16);
  return BufferType::get(
      context, {tensor.batch, tensor.length, tensor.heads, tensor.dim},
      tensor.element, layout, MemorySpace::Global);
}

static LogicalResult emit(Operation *op, const Attention &attention,
                          StringRef name, ImplicitLocOpBuilder &b) {
  for (auto [tensor, which] :
       {std::pair(attention.q, "q"), std::pair(attention.k, "k"),
        std::pair(attention.v, "v")}) {
    if (!tensor.element.isF16() && !tensor.element.isBF16())
      return op->emitOpError()
             << "the elements of " << which << " must be f16 or bf16, got "
             << tensor.element;
    if (ShapedType::isDynamic(tensor.dim))
      return op->emitOpError()
             << "the head dimension of " << which << " must be static";
  }
  Heads o = attention.q;
  o.dim = attention.v.dim;
  SmallVector<Type> types;
  for (const Heads &tensor : {attention.q, attention.k, attention.v, o})
    types.push_back(getBufferType(tensor));
  auto func = func::FuncOp::create(b, name, b.getFunctionType(types, {}));
  static constexpr StringLiteral arguments[] = {"q", "k", "v", "o"};
  for (auto [i, argument] : llvm::enumerate(arguments))
    func.setArgAttr(i, TileDialect::kNameAttr, b.getStringAttr(argument));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(func.addEntryBlock());
  auto number = [&](double value) -> Value {
    return arith::ConstantOp::create(b, b.getF32FloatAttr(float(value)));
  };
  Value scale =
      number(attention.scale.value_or(1 / std::sqrt(double(attention.q.dim))));
  Value softcap = attention.softcap != 0 ? number(attention.softcap) : Value();
  // Lengths that are known to be equal need no offset.
  bool areEqual = !ShapedType::isDynamic(attention.q.length) &&
                  attention.q.length == attention.k.length;
  Value offset;
  if (attention.topLeftCausal && !areEqual)
    offset = arith::ConstantOp::create(b, b.getI32IntegerAttr(0));
  ValueRange buffers = func.getArguments();
  AttentionOp::create(
      b, buffers[0], buffers[1], buffers[2], buffers[3],
      /*lse=*/Value(), /*o_parts=*/Value(),
      /*lse_parts=*/Value(), /*works=*/Value(), /*least_q=*/Value(),
      /*most_q=*/Value(), /*sink=*/Value(),
      /*cu_q=*/Value(), /*cu_k=*/Value(), /*max_q=*/Value(),
      /*key_lengths=*/Value(), /*page_table=*/Value(), /*cu_pages=*/Value(),
      /*tree_mask=*/Value(), scale, softcap,
      /*left=*/Value(), /*right=*/Value(), offset, attention.topLeftCausal,
      /*merge=*/false,
      /*reuse_works=*/false, /*concurrent=*/false,
      /*expected_keys=*/IntegerAttr(), /*expected_rows=*/IntegerAttr(),
      ScheduleAttr());
  func::ReturnOp::create(b);
  return success();
}

/// Returns the name of the function around `op`, or of the operation.
static StringRef getFunctionName(Operation *op) {
  for (Operation *parent = op->getParentOp(); parent;
       parent = parent->getParentOp())
    if (auto name =
            parent->getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName());
        name && !isa<ModuleOp>(parent))
      return name;
  return "attention";
}

namespace {
struct ImportAttention : tile::impl::TileImportAttentionBase<ImportAttention> {
  using TileImportAttentionBase::TileImportAttentionBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    OwningOpRef<ModuleOp> imported = ModuleOp::create(module.getLoc());
    llvm::StringSet<> names;
    bool failed = false;
    module.walk([&](Operation *op) {
      StringRef kind = op->getName().getStringRef();
      FailureOr<Attention> attention;
      if (kind == "onnx.Attention")
        attention = readOnnx(op);
      else if (kind == "torch.aten.scaled_dot_product_attention")
        attention = readTorch(op);
      else
        return;
      std::string name = getFunctionName(op).str();
      for (unsigned i = 1; !names.insert(name).second; ++i)
        name = (getFunctionName(op) + "_" + Twine(i)).str();
      ImplicitLocOpBuilder b(op->getLoc(), op->getContext());
      b.setInsertionPointToEnd(imported->getBody());
      if (mlir::failed(attention) ||
          mlir::failed(emit(op, *attention, name, b)))
        failed = true;
    });
    if (!failed && names.empty()) {
      module.emitError() << "the module has no attention to import: neither "
                            "onnx.Attention nor "
                            "torch.aten.scaled_dot_product_attention";
      failed = true;
    }
    if (failed)
      return signalPassFailure();
    // Attributes of the source, such as the version of torch-mlir, go too.
    module->setDiscardableAttrs(DictionaryAttr::get(&getContext()));
    module.getBodyRegion().takeBody(imported->getBodyRegion());
  }
};
} // namespace
