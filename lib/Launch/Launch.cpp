//===- Launch.cpp - Reads manifests and checks arguments ------------------===//

#include "tile/Launch/Launch.h"
#include "tile/Chips/NVIDIA/TensorMap.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <limits>

using namespace tile::launch;
using llvm::createStringError;
using llvm::formatv;
namespace json = llvm::json;

unsigned tile::launch::elementBytes(llvm::StringRef type) {
  return llvm::StringSwitch<unsigned>(type)
      .Case("i8", 1)
      .Cases({"f16", "bf16"}, 2)
      .Cases({"f32", "i32"}, 4)
      .Cases({"f64", "i64"}, 8)
      .Default(0);
}

const llvm::fltSemantics *tile::launch::findFormat(llvm::StringRef type) {
  return llvm::StringSwitch<const llvm::fltSemantics *>(type)
      .Case("f16", &llvm::APFloat::IEEEhalf())
      .Case("bf16", &llvm::APFloat::BFloat())
      .Case("f32", &llvm::APFloat::IEEEsingle())
      .Case("f64", &llvm::APFloat::IEEEdouble())
      .Default(nullptr);
}

/// Returns the bits of an integer type, 1 for i1; 0 for other types.
static unsigned integerBits(llvm::StringRef type) {
  return llvm::StringSwitch<unsigned>(type)
      .Case("i1", 1)
      .Case("i32", 32)
      .Cases({"i64", "index"}, 64)
      .Default(0);
}

/// Rounds a number to a format, to the nearest, ties to even.
static llvm::APFloat roundTo(const llvm::fltSemantics &format,
                             const Argument &argument) {
  llvm::APFloat number(format);
  if (const auto *integer = std::get_if<int64_t>(&argument)) {
    number.convertFromAPInt(llvm::APInt(64, *integer, /*isSigned=*/true),
                            /*IsSigned=*/true,
                            llvm::APFloat::rmNearestTiesToEven);
    return number;
  }
  bool isInexact;
  number = llvm::APFloat(std::get<double>(argument));
  number.convert(format, llvm::APFloat::rmNearestTiesToEven, &isInexact);
  return number;
}

uint64_t tile::launch::packScalar(llvm::StringRef type,
                                  const Argument &argument) {
  if (const llvm::fltSemantics *format = findFormat(type))
    return roundTo(*format, argument).bitcastToAPInt().getZExtValue();
  uint64_t mask = llvm::maskTrailingOnes<uint64_t>(integerBits(type));
  return uint64_t(std::get<int64_t>(argument)) & mask;
}

//===----------------------------------------------------------------------===//
// The manifest
//===----------------------------------------------------------------------===//

static llvm::SmallVector<std::optional<int64_t>, 4>
parseExtents(const json::Array *array) {
  llvm::SmallVector<std::optional<int64_t>, 4> extents;
  if (array)
    for (const json::Value &value : *array)
      extents.push_back(value.getAsInteger());
  return extents;
}

static llvm::Expected<Parameter> parseParameter(const json::Object &object) {
  Parameter parameter;
  std::optional<llvm::StringRef> kind = object.getString("kind");
  parameter.name = object.getString("name").value_or("").str();
  parameter.type = object.getString("type").value_or("").str();
  if (kind == "scalar") {
    parameter.nonNegative = object.getBoolean("nonnegative").value_or(false);
    if (!findFormat(parameter.type) && integerBits(parameter.type) == 0)
      return createStringError("parameter '" + parameter.name +
                               "' of the manifest is a scalar of type '" +
                               parameter.type + "', which is unknown");
    return parameter;
  }
  if (kind != "buffer")
    return createStringError(
        formatv("the executor does not know parameters of kind '{0}'",
                kind.value_or("")));
  parameter.isBuffer = true;
  parameter.shape = parseExtents(object.getArray("shape"));
  parameter.strides = parseExtents(object.getArray("strides"));
  for (auto divisor : parseExtents(object.getArray("stride_divisibility")))
    parameter.strideDivisibility.push_back(divisor.value_or(1));
  parameter.strideDivisibility.resize(parameter.strides.size(), 1);
  parameter.strideLimits = parseExtents(object.getArray("stride_limits"));
  parameter.strideLimits.resize(parameter.strides.size());
  parameter.alignment = object.getInteger("alignment").value_or(1);
  bool isMapped = object.get("storage");
  if (parameter.alignment < 1 ||
      llvm::any_of(
          parameter.strideDivisibility,
          [](int64_t divisor) { return divisor < 1; }) ||
      (isMapped ? 0 : parameter.shape.size()) != parameter.strides.size() ||
      elementBytes(parameter.type) == 0)
    return createStringError("parameter '" + parameter.name +
                             "' of the manifest is malformed");
  return parameter;
}

/// Returns nothing if the entry does not fit the parameters.
static std::optional<TensorMapSpec>
parseTensorMap(const json::Object &object,
               llvm::ArrayRef<Parameter> parameters) {
  TensorMapSpec map;
  map.argument = object.getInteger("argument").value_or(-1);
  map.swizzle = object.getInteger("swizzle").value_or(0);
  map.ragged = object.getInteger("ragged").value_or(-1);
  auto numbers = [&](llvm::StringRef key, llvm::SmallVectorImpl<int64_t> &to) {
    if (const json::Array *array = object.getArray(key))
      for (const json::Value &value : *array)
        to.push_back(value.getAsInteger().value_or(-1));
  };
  numbers("dims", map.dims);
  numbers("box", map.box);
  if (map.argument < 0 || map.argument >= int64_t(parameters.size()))
    return std::nullopt;
  size_t rank = parameters[map.argument].strides.size();
  size_t count = map.dims.size();
  if (rank < 2 || rank > size_t(tile::kTensorMapRank) || count > rank ||
      map.box.size() != count || map.ragged < -1 ||
      map.ragged >= int64_t(rank) ||
      (count < rank && (count != 2 || map.ragged < 0)) ||
      (map.ragged >= 0 && count > size_t(tile::kMostRaggedRank)))
    return std::nullopt;
  for (auto [dim, extent] : llvm::zip_equal(map.dims, map.box))
    if (dim < 0 || dim >= int64_t(rank) || extent < 1)
      return std::nullopt;
  return map;
}

/// The names of relations, in their order, and their words in messages.
static constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral>
    kRelations[] = {{"equal", ""},
                    {"at_least", "at least "},
                    {"at_most", "at most "},
                    {"multiple_of", "a multiple of "}};

/// Returns nothing if the entry does not fit the parameters.
static std::optional<Requirement>
parseRequirement(const json::Value &value,
                 llvm::ArrayRef<Parameter> parameters) {
  const json::Object *object = value.getAsObject();
  if (!object)
    return std::nullopt;
  Requirement requirement;
  requirement.argument = object->getInteger("argument").value_or(-1);
  requirement.dim = object->getInteger("dim").value_or(-1);
  requirement.reason = object->getString("reason").value_or("").str();
  const json::Value *expression = object->get("value");
  const auto *relation = llvm::find_if(kRelations, [&](const auto &known) {
    return object->getString("relation") == known.first;
  });
  if (!expression || relation == std::end(kRelations) ||
      requirement.argument < 0 ||
      requirement.argument >= int64_t(parameters.size()) ||
      requirement.dim < 0 ||
      requirement.dim >= int64_t(parameters[requirement.argument].shape.size()))
    return std::nullopt;
  requirement.value = *expression;
  requirement.relation =
      Requirement::Relation(relation - std::begin(kRelations));
  return requirement;
}

llvm::Expected<std::vector<KernelSpec>>
tile::launch::parseManifest(const json::Value &manifest) {
  auto malformed = [] {
    return createStringError("the manifest is malformed");
  };
  const json::Object *root = manifest.getAsObject();
  const json::Array *array = root ? root->getArray("kernels") : nullptr;
  if (!array)
    return malformed();
  std::vector<KernelSpec> kernels;
  for (const json::Value &value : *array) {
    const json::Object *object = value.getAsObject();
    const json::Array *block = object ? object->getArray("block") : nullptr;
    const json::Array *grid = object ? object->getArray("grid") : nullptr;
    const json::Array *params = object ? object->getArray("params") : nullptr;
    if (!block || block->size() != 3 || !grid || grid->size() != 3 || !params)
      return malformed();
    KernelSpec kernel;
    kernel.multiprocessors = root->getInteger("multiprocessors").value_or(1);
    if (kernel.multiprocessors < 1)
      return malformed();
    kernel.name = object->getString("name").value_or("").str();
    kernel.sharedBytes = object->getInteger("shared_bytes").value_or(0);
    kernel.grid = *grid;
    for (int i = 0; i < 3; ++i)
      kernel.block[i] = (*block)[i].getAsInteger().value_or(0);
    if (llvm::any_of(kernel.block, [](int64_t x) { return x < 1 || x > 1024; }))
      return malformed();
    for (const json::Value &param : *params) {
      if (!param.getAsObject())
        return malformed();
      if (param.getAsObject()->getString("kind") == "tensor_map") {
        std::optional<TensorMapSpec> map =
            parseTensorMap(*param.getAsObject(), kernel.parameters);
        if (!map)
          return malformed();
        kernel.tensorMaps.push_back(std::move(*map));
        continue;
      }
      if (!kernel.tensorMaps.empty())
        return malformed();
      llvm::Expected<Parameter> parameter =
          parseParameter(*param.getAsObject());
      if (!parameter)
        return parameter.takeError();
      kernel.parameters.push_back(std::move(*parameter));
      const json::Value *storage = param.getAsObject()->get("storage");
      kernel.storage.push_back(storage ? *storage : json::Value(nullptr));
    }
    if (const json::Value *requirements = object->get("requires")) {
      if (!requirements->getAsArray())
        return malformed();
      for (const json::Value &value : *requirements->getAsArray()) {
        std::optional<Requirement> requirement =
            parseRequirement(value, kernel.parameters);
        if (!requirement)
          return malformed();
        kernel.requirements.push_back(std::move(*requirement));
      }
    }
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

static llvm::Error checkTensor(const Parameter &parameter,
                               const Tensor &tensor) {
  if (tensor.type != parameter.type)
    return createStringError(
        formatv("type is {0}, must be {1}", tensor.type, parameter.type));
  if (tensor.shape.size() != parameter.shape.size() ||
      tensor.strides.size() != tensor.shape.size())
    return createStringError(formatv("rank is {0}, must be {1}",
                                     tensor.shape.size(),
                                     parameter.shape.size()));
  bool empty = llvm::is_contained(tensor.shape, 0);
  for (unsigned i = 0; i < tensor.shape.size(); ++i) {
    int64_t extent = tensor.shape[i], stride = tensor.strides[i];
    if (extent < 0 || extent > std::numeric_limits<int32_t>::max())
      return createStringError(
          formatv("extent {0} is {1}, must be below 2^31", i, extent));
    if (parameter.shape[i] && *parameter.shape[i] != extent)
      return createStringError(formatv("extent {0} is {1}, must be {2}", i,
                                       extent, *parameter.shape[i]));
    // No address depends on the stride of such a dimension.
    if (empty || extent == 1 || parameter.strides.empty())
      continue;
    if (parameter.strides[i] && *parameter.strides[i] != stride)
      return createStringError(formatv("stride {0} is {1}, must be {2}", i,
                                       stride, *parameter.strides[i]));
    if (stride % parameter.strideDivisibility[i] != 0)
      return createStringError(formatv("stride {0} is {1}, must be divisible "
                                       "by {2}",
                                       i, stride,
                                       parameter.strideDivisibility[i]));
    std::optional<int64_t> limit = parameter.strideLimits[i];
    if (limit && (stride < 0 || stride > *limit))
      return createStringError(formatv("stride {0} is {1}, must be between 0 "
                                       "and {2}",
                                       i, stride, *limit));
  }
  auto address = reinterpret_cast<uintptr_t>(tensor.data);
  if (!empty && address % parameter.alignment != 0)
    return createStringError(formatv("address {0:x} must be aligned to {1} "
                                     "bytes",
                                     address, parameter.alignment));
  return llvm::Error::success();
}

static llvm::Error checkScalar(const Parameter &parameter,
                               const Argument &argument) {
  const auto *integer = std::get_if<int64_t>(&argument);
  const auto *real = std::get_if<double>(&argument);
  double number = real ? *real : double(*integer);
  if (parameter.nonNegative && !(std::isfinite(number) && number >= 0))
    return createStringError(
        formatv("must be finite and not negative, got {0}", number));
  auto doesNotFit = [&] {
    return integer ? createStringError(formatv("{0} does not fit {1}", *integer,
                                               parameter.type))
                   : createStringError(formatv("{0} does not fit {1}", *real,
                                               parameter.type));
  };
  if (const llvm::fltSemantics *format = findFormat(parameter.type)) {
    bool overflows =
        std::isfinite(number) && !roundTo(*format, argument).isFinite();
    return overflows ? doesNotFit() : llvm::Error::success();
  }
  if (!integer)
    return createStringError(formatv("must be an integer, not {0}", *real));
  unsigned bits = integerBits(parameter.type);
  bool fits =
      bits == 1 ? llvm::isUInt<1>(*integer) : llvm::isIntN(bits, *integer);
  return fits ? llvm::Error::success() : doesNotFit();
}

llvm::Expected<int64_t> tile::launch::evaluate(const json::Value &expression,
                                               int64_t multiprocessors,
                                               FindArgument find) {
  if (std::optional<int64_t> integer = expression.getAsInteger())
    return *integer;
  auto malformed = [] {
    return createStringError("an expression of the manifest is malformed");
  };
  const json::Array *array = expression.getAsArray();
  if (!array || array->empty())
    return malformed();
  std::optional<llvm::StringRef> op = (*array)[0].getAsString();
  if (op == "multiprocessors" && array->size() == 1)
    return multiprocessors;
  if (!op || array->size() < 2)
    return malformed();
  if (*op == "dim" || *op == "arg") {
    const Argument *argument = find((*array)[1]);
    if (!argument)
      return malformed();
    if (*op == "arg") {
      const auto *value = std::get_if<int64_t>(argument);
      if (!value)
        return malformed();
      return *value;
    }
    const auto *tensor = std::get_if<Tensor>(argument);
    std::optional<int64_t> dim =
        array->size() == 3 ? (*array)[2].getAsInteger() : std::nullopt;
    if (!tensor || !dim || *dim < 0 || *dim >= int64_t(tensor->shape.size()))
      return malformed();
    return tensor->shape[*dim];
  }
  if (array->size() != 3)
    return malformed();
  llvm::Expected<int64_t> a = evaluate((*array)[1], multiprocessors, find);
  if (!a)
    return a.takeError();
  llvm::Expected<int64_t> b = evaluate((*array)[2], multiprocessors, find);
  if (!b)
    return b.takeError();
  bool divides = *op == "floordiv" || *op == "ceildiv" || *op == "mod";
  if (divides && *b <= 0)
    return createStringError(
        formatv("an expression of the manifest divides by {0}", *b));
  int64_t sum = 0, difference = 0, product = 0;
  if ((*op == "add" && llvm::AddOverflow(*a, *b, sum)) ||
      (*op == "sub" && llvm::SubOverflow(*a, *b, difference)) ||
      (*op == "mul" && llvm::MulOverflow(*a, *b, product)))
    return createStringError("an expression of the manifest exceeds 64 bits");
  auto result =
      llvm::StringSwitch<std::optional<int64_t>>(*op)
          .Case("add", sum)
          .Case("sub", difference)
          .Case("mul", product)
          .Case("min", std::min(*a, *b))
          .Case("max", std::max(*a, *b))
          .Case("floordiv", divides ? llvm::divideFloorSigned(*a, *b) : 0)
          .Case("ceildiv", divides ? llvm::divideCeilSigned(*a, *b) : 0)
          .Case("mod", divides ? llvm::mod(*a, *b) : 0)
          .Default(std::nullopt);
  if (!result)
    return malformed();
  return *result;
}

llvm::Expected<int64_t>
tile::launch::evaluate(const json::Value &expression, const KernelSpec &kernel,
                       llvm::ArrayRef<Argument> arguments) {
  return evaluate(expression, kernel.multiprocessors,
                  [&](const json::Value &parameter) -> const Argument * {
                    std::optional<int64_t> index = parameter.getAsInteger();
                    return index && *index >= 0 &&
                                   *index < int64_t(arguments.size())
                               ? &arguments[*index]
                               : nullptr;
                  });
}

/// A permuted buffer occupies more storage than it has elements if an extent is
/// not a multiple of a block.
static llvm::Error checkStorage(const json::Value &expression,
                                const KernelSpec &kernel, const Tensor &tensor,
                                llvm::ArrayRef<Argument> arguments) {
  if (expression.getAsNull() || llvm::is_contained(tensor.shape, 0))
    return llvm::Error::success();
  llvm::Expected<int64_t> needed = evaluate(expression, kernel, arguments);
  if (!needed)
    return needed.takeError();
  int64_t span = 1;
  for (auto [extent, stride] : llvm::zip_equal(tensor.shape, tensor.strides))
    span += (extent - 1) * stride;
  if (span >= *needed)
    return llvm::Error::success();
  return createStringError(formatv("spans {0} elements, must span {1}: its "
                                   "layout stores whole blocks",
                                   span, *needed));
}

static llvm::Error checkRequirement(const Requirement &requirement,
                                    const KernelSpec &kernel,
                                    llvm::ArrayRef<Argument> arguments) {
  const auto &tensor = std::get<Tensor>(arguments[requirement.argument]);
  int64_t extent = tensor.shape[requirement.dim];
  llvm::Expected<int64_t> value =
      evaluate(requirement.value, kernel, arguments);
  if (!value)
    return value.takeError();
  bool holds = false;
  switch (requirement.relation) {
  case Requirement::Relation::Equal:
    holds = extent == *value;
    break;
  case Requirement::Relation::AtLeast:
    holds = extent >= *value;
    break;
  case Requirement::Relation::AtMost:
    holds = extent <= *value;
    break;
  case Requirement::Relation::MultipleOf:
    holds = *value == 0 ? extent == 0 : extent % *value == 0;
    break;
  }
  if (holds)
    return llvm::Error::success();
  return createStringError(
      formatv("extent {0} is {1}, must be {2}{3}: {4}", requirement.dim, extent,
              kRelations[unsigned(requirement.relation)].second, *value,
              requirement.reason));
}

llvm::Error tile::launch::checkArguments(const KernelSpec &kernel,
                                         llvm::ArrayRef<Argument> arguments) {
  if (arguments.size() != kernel.parameters.size())
    return createStringError(formatv("{0} arguments, there are {1}",
                                     arguments.size(),
                                     kernel.parameters.size()));
  auto name = [&](int64_t i, llvm::Error error) -> llvm::Error {
    if (!error)
      return error;
    return createStringError(formatv("argument {0} '{1}': {2}", i,
                                     kernel.parameters[i].name,
                                     llvm::toString(std::move(error))));
  };
  auto check = [&](size_t i) -> llvm::Error {
    const Parameter &parameter = kernel.parameters[i];
    const auto *tensor = std::get_if<Tensor>(&arguments[i]);
    if (parameter.isBuffer != (tensor != nullptr))
      return createStringError(parameter.isBuffer
                                   ? "must be a tensor, not a number"
                                   : "must be a number, not a tensor");
    return tensor ? checkTensor(parameter, *tensor)
                  : checkScalar(parameter, arguments[i]);
  };
  for (size_t i = 0; i < arguments.size(); ++i)
    if (llvm::Error error = name(i, check(i)))
      return error;
  // Conditions that depend on several arguments.
  for (const Requirement &requirement : kernel.requirements)
    if (llvm::Error error =
            name(requirement.argument,
                 checkRequirement(requirement, kernel, arguments)))
      return error;
  for (size_t i = 0; i < arguments.size(); ++i)
    if (const auto *tensor = std::get_if<Tensor>(&arguments[i]))
      if (llvm::Error error = name(
              i, checkStorage(kernel.storage[i], kernel, *tensor, arguments)))
        return error;
  return llvm::Error::success();
}

llvm::Expected<std::array<int64_t, 3>>
tile::launch::evaluateGrid(const KernelSpec &kernel,
                           llvm::ArrayRef<Argument> arguments) {
  std::array<int64_t, 3> grid{};
  constexpr int64_t kLimits[] = {std::numeric_limits<int32_t>::max(), 65535,
                                 65535};
  for (auto [axis, extent, expression, limit] :
       llvm::zip_equal(llvm::StringRef("xyz"), grid, kernel.grid, kLimits)) {
    llvm::Expected<int64_t> value = evaluate(expression, kernel, arguments);
    if (!value)
      return value.takeError();
    if (*value < 0 || *value > limit)
      return createStringError(
          formatv("{0}: grid extent {1} is {2}, must be between 0 and {3}",
                  kernel.name, axis, *value, limit));
    extent = *value;
  }
  return grid;
}
