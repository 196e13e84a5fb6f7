//===- BufferShapes.cpp - The smallest shapes of buffers ------------------===//

#include "BufferShapes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"
#include <limits>
#include <numeric>

using namespace llvm;

namespace {

/// A requirement on an extent; the value names the parameters, and is nothing
/// if it is malformed.
struct Bound {
  StringRef relation;
  std::optional<json::Value> value;
};

struct Buffer {
  /// The first parameter that is this buffer.
  const json::Object *param;
  /// The requirements of all kernels on each extent.
  std::vector<std::vector<Bound>> bounds;
};

/// Builds the entries in an order in which each can be evaluated.
class ShapeBuilder {
public:
  explicit ShapeBuilder(const json::Array &kernels);
  json::Array build();

private:
  /// Returns the extents of a buffer; nothing if they are not determined, or if
  /// they depend on a buffer of `pending`.
  std::optional<json::Array> extentsOf(StringRef name, const Buffer &buffer);
  /// Returns `expression` with known extents of `self` in place of their names.
  std::optional<json::Value>
  resolve(const json::Value &expression, StringRef self,
          ArrayRef<std::optional<json::Value>> extents) const;

  MapVector<StringRef, Buffer> buffers;
  StringSet<> pending;
};

} // namespace

static json::Value apply(StringRef op, json::Value a, json::Value b) {
  return json::Array{op, std::move(a), std::move(b)};
}

static json::Value roundUp(json::Value value, const json::Value &multiple) {
  if (multiple.getAsInteger() == 1)
    return value;
  return apply("mul", apply("ceildiv", std::move(value), multiple), multiple);
}

static int64_t leastMultiple(int64_t a, int64_t b) {
  int64_t product = 0;
  if (b < 1 || MulOverflow(a, b / std::gcd(a, b), product) ||
      product > std::numeric_limits<int32_t>::max())
    return a;
  return product;
}

/// Returns entry `index` of an array of numbers; nothing if it is null or
/// missing.
static std::optional<int64_t> numberAt(const json::Object &param, StringRef key,
                                       size_t index) {
  const json::Array *array = param.getArray(key);
  return array && index < array->size() ? (*array)[index].getAsInteger()
                                        : std::nullopt;
}

/// Returns the name of parameter `number`; nothing if there is none.
static std::optional<StringRef> nameOf(const json::Array &params,
                                       std::optional<int64_t> number) {
  if (!number || *number < 0 || *number >= int64_t(params.size()))
    return std::nullopt;
  const json::Object *param = params[*number].getAsObject();
  return param ? param->getString("name") : std::nullopt;
}

/// Returns `expression` with names in place of the numbers of parameters.
static std::optional<json::Value> withNames(const json::Value &expression,
                                            const json::Array &params) {
  const json::Array *array = expression.getAsArray();
  if (!array)
    return expression;
  json::Array result;
  bool isParameter = false;
  for (auto [i, part] : enumerate(*array)) {
    if (i == 1 && isParameter) {
      std::optional<StringRef> name = nameOf(params, part.getAsInteger());
      if (!name)
        return std::nullopt;
      result.push_back(*name);
      continue;
    }
    isParameter = part.getAsString() == "dim" || part.getAsString() == "arg";
    std::optional<json::Value> named = withNames(part, params);
    if (!named)
      return std::nullopt;
    result.push_back(std::move(*named));
  }
  return result;
}

ShapeBuilder::ShapeBuilder(const json::Array &kernels) {
  for (const json::Value &kernel : kernels) {
    const json::Object &object = *kernel.getAsObject();
    const json::Array &params = *object.getArray("params");
    for (const json::Value &value : params) {
      const json::Object *param = value.getAsObject();
      std::optional<StringRef> name = param->getString("name");
      const json::Array *shape = param->getArray("shape");
      if (param->getString("kind") != "buffer" || !name || !shape)
        continue;
      if (buffers.try_emplace(*name, Buffer{param, {}}).second)
        buffers[*name].bounds.resize(shape->size());
    }
    const json::Array *requirements = object.getArray("requires");
    if (!requirements)
      continue;
    for (const json::Value &value : *requirements) {
      const json::Object *requirement = value.getAsObject();
      std::optional<StringRef> name =
          nameOf(params, requirement->getInteger("argument"));
      auto buffer = name ? buffers.find(*name) : buffers.end();
      int64_t dim = requirement->getInteger("dim").value_or(-1);
      const json::Value *bound = requirement->get("value");
      if (buffer != buffers.end() && dim >= 0 &&
          dim < int64_t(buffer->second.bounds.size()))
        buffer->second.bounds[dim].push_back(
            {requirement->getString("relation").value_or(""),
             bound ? withNames(*bound, params) : std::nullopt});
    }
  }
}

json::Array ShapeBuilder::build() {
  std::vector<StringRef> waiting;
  for (auto &[name, buffer] : buffers) {
    // An extent without a lower bound is only known to the caller.
    bool isDetermined = true;
    for (auto [dim, bounds] : enumerate(buffer.bounds))
      isDetermined &=
          numberAt(*buffer.param, "shape", dim).has_value() ||
          any_of(bounds, [](const Bound &bound) {
            return bound.relation == "equal" || bound.relation == "at_least";
          });
    if (isDetermined) {
      waiting.push_back(name);
      pending.insert(name);
    }
  }
  json::Array shapes;
  while (!waiting.empty()) {
    std::vector<StringRef> later;
    for (StringRef name : waiting) {
      std::optional<json::Array> extents =
          extentsOf(name, buffers.find(name)->second);
      if (!extents) {
        later.push_back(name);
        continue;
      }
      pending.erase(name);
      shapes.push_back(
          json::Object{{"name", name}, {"extents", std::move(*extents)}});
    }
    // Extents that depend on each other: the caller gives one of the buffers.
    if (later.size() == waiting.size()) {
      pending.erase(later.front());
      later.erase(later.begin());
    }
    waiting = std::move(later);
  }
  return shapes;
}

std::optional<json::Value>
ShapeBuilder::resolve(const json::Value &expression, StringRef self,
                      ArrayRef<std::optional<json::Value>> extents) const {
  const json::Array *array = expression.getAsArray();
  if (!array || array->empty())
    return expression;
  if ((*array)[0].getAsString() == "dim" && array->size() == 3) {
    std::optional<StringRef> name = (*array)[1].getAsString();
    if (name != self)
      return name && pending.contains(*name) ? std::nullopt
                                             : std::optional(expression);
    int64_t dim = (*array)[2].getAsInteger().value_or(-1);
    return dim >= 0 && dim < int64_t(extents.size()) ? extents[dim]
                                                     : std::nullopt;
  }
  json::Array result;
  for (const json::Value &part : *array) {
    std::optional<json::Value> resolved = resolve(part, self, extents);
    if (!resolved)
      return std::nullopt;
    result.push_back(std::move(*resolved));
  }
  return result;
}

std::optional<json::Array> ShapeBuilder::extentsOf(StringRef name,
                                                   const Buffer &buffer) {
  size_t rank = buffer.bounds.size();
  // Rows that may be added make a dense tensor suit its kernels: a permuted
  // layout stores whole blocks, and strides have the divisors that the kernels
  // need. They are added along the last extent that only has lower bounds.
  size_t growing = rank;
  for (auto [dim, bounds] : enumerate(buffer.bounds))
    if (!bounds.empty() && all_of(bounds, [](const Bound &bound) {
          return bound.relation == "at_least";
        }))
      growing = dim;
  int64_t rows = 1;
  if (growing < rank)
    rows = leastMultiple(
        1, numberAt(*buffer.param, "blocks", growing).value_or(1));
  for (size_t dim = 0; growing < rank && dim < growing; ++dim) {
    // The stride of an outer dimension is a multiple of the rows. Extents that
    // only the caller knows count as 1.
    if (numberAt(*buffer.param, "strides", dim))
      continue;
    int64_t divisor =
        numberAt(*buffer.param, "stride_divisibility", dim).value_or(1);
    if (divisor < 1 || divisor > std::numeric_limits<int32_t>::max())
      continue;
    int64_t step = 1;
    for (size_t inner = dim + 1; inner < rank; ++inner)
      if (inner != growing)
        step = step *
               (numberAt(*buffer.param, "shape", inner).value_or(1) % divisor) %
               divisor;
    rows = leastMultiple(rows, divisor / std::gcd(divisor, step));
  }

  std::vector<std::optional<json::Value>> extents(rank);
  for (size_t found = 0, before = 1; found != before;) {
    before = found;
    for (size_t dim = 0; dim < rank; ++dim) {
      if (extents[dim])
        continue;
      if (std::optional<int64_t> known =
              numberAt(*buffer.param, "shape", dim)) {
        extents[dim] = *known;
        ++found;
        continue;
      }
      std::vector<json::Value> least, multiples;
      bool isKnown = true;
      for (const Bound &bound : buffer.bounds[dim]) {
        if (bound.relation == "at_most")
          continue;
        std::optional<json::Value> value =
            bound.value ? resolve(*bound.value, name, extents) : std::nullopt;
        isKnown &= value.has_value();
        if (!value)
          break;
        auto &values = bound.relation == "multiple_of" ? multiples : least;
        if (!is_contained(values, *value))
          values.push_back(std::move(*value));
      }
      // No expression is the least common multiple of two that are not known.
      if (!isKnown || least.empty() ||
          (multiples.size() > 1 && any_of(multiples, [](const json::Value &m) {
             return !m.getAsInteger();
           })))
        continue;
      json::Value extent = least.front();
      for (const json::Value &other : drop_begin(least))
        extent = apply("max", std::move(extent), other);
      int64_t multiple = dim == growing ? rows : 1;
      for (const json::Value &value : multiples)
        if (std::optional<int64_t> number = value.getAsInteger())
          multiple = leastMultiple(multiple, *number);
        else
          extent = roundUp(std::move(extent), apply("max", value, 1));
      extents[dim] = roundUp(std::move(extent), multiple);
      ++found;
    }
  }
  json::Array result;
  for (std::optional<json::Value> &extent : extents) {
    if (!extent)
      return std::nullopt;
    result.push_back(std::move(*extent));
  }
  return result;
}

json::Array tile::describeShapes(const json::Array &kernels) {
  return ShapeBuilder(kernels).build();
}
