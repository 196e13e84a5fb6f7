//===- OpenExtents.cpp - Extents that have names --------------------------===//

#include "tile/Dialect/Tile/IR/OpenExtents.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "tile/Dialect/Tile/IR/DefinedValues.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tile;

//===----------------------------------------------------------------------===//
// OpenAttr
//===----------------------------------------------------------------------===//

Attribute OpenAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> names;
  auto parseName = [&]() -> ParseResult {
    StringRef name;
    if (parser.parseKeyword(&name))
      return failure();
    names.push_back(parser.getBuilder().getStringAttr(name));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parseName))
    return {};
  return get(parser.getContext(), names);
}

void OpenAttr::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(getNames(), printer,
                        [&](StringAttr name) { printer << name.getValue(); });
  printer << '>';
}

LogicalResult OpenAttr::verifyEncoding(
    ArrayRef<int64_t> shape, Type,
    llvm::function_ref<InFlightDiagnostic()> emitError) const {
  size_t open = llvm::count_if(shape, ShapedType::isDynamic);
  if (open != getNames().size() || open == 0)
    return emitError() << Attribute(*this) << " has " << getNames().size()
                       << " names for " << open << " open extents";
  for (int64_t extent : shape)
    if (!ShapedType::isDynamic(extent) && extent < 1)
      return emitError() << "extents must be positive, got " << extent;
  return success();
}

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

std::string tile::describeExtent(const TileExtent &extent) {
  if (extent.name)
    return extent.name.str();
  return ShapedType::isDynamic(extent.number) ? "?"
                                              : std::to_string(extent.number);
}

std::string tile::describeExtents(ArrayRef<TileExtent> extents,
                                  StringRef separator) {
  return llvm::join(llvm::map_range(extents,
                                    [](const TileExtent &extent) {
                                      return describeExtent(extent);
                                    }),
                    separator);
}

SmallVector<TileExtent> tile::getExtents(ShapedType type) {
  ArrayRef<StringAttr> names;
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    if (auto open = dyn_cast_or_null<OpenAttr>(tensor.getEncoding()))
      names = open.getNames();
  SmallVector<TileExtent> extents;
  for (int64_t extent : type.getShape()) {
    extents.push_back({extent, {}});
    if (!ShapedType::isDynamic(extent) || names.empty())
      continue;
    extents.back().name = names.front();
    names = names.drop_front();
  }
  return extents;
}

bool tile::isOpenTile(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isa_and_nonnull<OpenAttr>(tensor.getEncoding());
}

SmallVector<ParamOp, 4> tile::getParams(KernelOp kernel) {
  return llvm::to_vector(kernel.getBody().front().getOps<ParamOp>());
}

std::string tile::describeNumbers(DictionaryAttr numbers) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(numbers, os, [&](NamedAttribute number) {
    os << number.getName().getValue() << " = ";
    if (auto value = dyn_cast<IntegerAttr>(number.getValue()))
      os << value.getInt();
  });
  return text;
}

void tile::noteExtents(InFlightDiagnostic &diag, KernelOp kernel) {
  if (std::optional<DictionaryAttr> extents = kernel.getExtents())
    diag.attachNote(kernel.getLoc())
        << "the extents of the kernel are " << describeNumbers(*extents);
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

LogicalResult ParamOp::verify() {
  StringRef name = getParameter();
  bool isName = !name.empty() && !llvm::isDigit(name.front()) &&
                llvm::all_of(name, [](char c) {
                  return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.';
                });
  if (!isName)
    return emitOpError()
           << "has the name '" << name
           << "'; a name consists of letters, digits and '_', and "
              "does not begin with a digit";
  if (getValues().empty())
    return emitOpError() << "lists no value for '" << name << "'";
  for (auto [i, value] : llvm::enumerate(getValues())) {
    if (value < 1 || value > kMostTileElements)
      return emitOpError() << "values lie in 1 .. " << kMostTileElements
                           << ", got " << value;
    if (llvm::is_contained(getValues().take_front(i), value))
      return emitOpError() << "lists the value " << value << " twice";
  }
  return success();
}

/// Returns the parameters of `kernel` by their names.
static FailureOr<llvm::StringMap<ParamOp>> getParamsByName(KernelOp kernel) {
  llvm::StringMap<ParamOp> params;
  for (ParamOp param : getParams(kernel)) {
    auto [known, isNew] = params.try_emplace(param.getParameter(), param);
    if (isNew)
      continue;
    InFlightDiagnostic diag = param.emitOpError()
                              << "is a second parameter '"
                              << param.getParameter() << "'";
    diag.attachNote(known->second.getLoc()) << "defined here";
    return diag;
  }
  return params;
}

/// Adds the names of the parameters to an error about an unknown one.
static InFlightDiagnostic &&listParams(InFlightDiagnostic &&diag,
                                       KernelOp kernel) {
  SmallVector<ParamOp, 4> params = getParams(kernel);
  if (params.empty())
    return std::move(diag << "; it has none");
  diag << "; it has ";
  llvm::interleaveComma(params, diag,
                        [&](ParamOp param) { diag << param.getParameter(); });
  return std::move(diag);
}

/// Verifies that the sizes of an open tile are the parameters that its type
/// names.
static LogicalResult verifySizes(tensor::SplatOp splat) {
  auto open = dyn_cast_or_null<OpenAttr>(splat.getType().getEncoding());
  if (!open)
    return success();
  for (auto [size, name] :
       llvm::zip(splat.getDynamicSizes(), open.getNames())) {
    auto param = size.getDefiningOp<ParamOp>();
    if (!param || param.getParameterAttr() != name)
      return splat.emitOpError()
             << "expected the parameter '" << name.getValue()
             << "' as a size of " << splat.getType() << ", got "
             << (param ? "'" + param.getParameter().str() + "'"
                       : std::string("another value"));
  }
  return success();
}

/// Verifies that the tiles of an elementwise operation have the same extents.
static LogicalResult verifyEqualExtents(Operation *op) {
  if (!op->hasTrait<OpTrait::Elementwise>())
    return success();
  RankedTensorType first;
  auto verify = [&](Type type) -> LogicalResult {
    auto tile = dyn_cast<RankedTensorType>(type);
    if (!tile)
      return success();
    if (!first)
      first = tile;
    if (getExtents(first) == getExtents(tile))
      return success();
    return op->emitOpError()
           << "mixes tiles of different extents, "
           << describeExtents(getExtents(first), "x") << " and "
           << describeExtents(getExtents(tile), "x");
  };
  for (Type type : op->getOperandTypes())
    if (failed(verify(type)))
      return failure();
  for (Type type : op->getResultTypes())
    if (failed(verify(type)))
      return failure();
  return success();
}

LogicalResult tile::verifyOpenExtents(KernelOp kernel) {
  FailureOr<llvm::StringMap<ParamOp>> params = getParamsByName(kernel);
  if (failed(params))
    return failure();
  llvm::StringMap<bool> isUsed;
  llvm::SmallDenseSet<Type> verified;
  auto verify = [&](Operation *op, Type type) -> LogicalResult {
    if (!isOpenTile(type) || !verified.insert(type).second)
      return success();
    auto open = cast<OpenAttr>(cast<RankedTensorType>(type).getEncoding());
    for (StringAttr name : open.getNames()) {
      if (!params->contains(name.getValue()))
        return listParams(op->emitOpError()
                              << "names the extent '" << name.getValue()
                              << "', which is no parameter of the kernel",
                          kernel);
      isUsed[name.getValue()] = true;
    }
    return success();
  };
  WalkResult result = kernel->walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Value value : getDefinedValues(op))
      if (failed(verify(op, value.getType())))
        return WalkResult::interrupt();
    if (params->empty())
      return WalkResult::advance();
    if (auto splat = dyn_cast<tensor::SplatOp>(op);
        splat && failed(verifySizes(splat)))
      return WalkResult::interrupt();
    return WalkResult(verifyEqualExtents(op));
  });
  if (result.wasInterrupted())
    return failure();
  for (ParamOp param : getParams(kernel))
    if (param->use_empty() && !isUsed.lookup(param.getParameter()))
      return param.emitOpError()
             << "defines '" << param.getParameter()
             << "', which is neither an extent of a tile nor used";
  std::optional<DictionaryAttr> given = tile::getSchedule(kernel).params;
  if (!given)
    return success();
  for (NamedAttribute entry : *given) {
    StringRef name = entry.getName().getValue();
    int64_t value = cast<IntegerAttr>(entry.getValue()).getInt();
    auto param = params->find(name);
    if (param == params->end())
      return listParams(kernel.emitOpError()
                            << "has a schedule with a value of '" << name
                            << "', which is no parameter of the kernel",
                        kernel);
    ArrayRef<int64_t> values = param->second.getValues();
    if (llvm::is_contained(values, value))
      continue;
    InFlightDiagnostic diag = kernel.emitOpError()
                              << "has a schedule with '" << name << " = "
                              << value << "'; its values are ";
    llvm::interleaveComma(values, diag);
    diag.attachNote(param->second.getLoc()) << "defined here";
    return diag;
  }
  return success();
}
