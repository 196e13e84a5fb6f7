//===- Scratch.cpp - Shapes of scratch buffers ----------------------------===//

#include "tile/Launch/Scratch.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <limits>
#include <numeric>

using namespace tile::launch;
using llvm::ArrayRef;
using llvm::createStringError;
using llvm::Expected;
using llvm::formatv;
namespace json = llvm::json;

/// Steps in which a shape grows to the size that its layout needs. One or two
/// are enough unless the size grows with each of them.
static constexpr int kMaxGrowths = 16;

/// The extent of a dimension that is not known yet.
static constexpr int64_t kUnknown = -1;

/// The largest extent of a tensor.
static constexpr int64_t kMaxExtent = std::numeric_limits<int32_t>::max();

/// Returns the least common multiple of two positive numbers; kMaxExtent + 1 if
/// no extent is a multiple of both.
static int64_t leastMultiple(int64_t a, int64_t b) {
  llvm::APInt product(128, a / std::gcd(a, b));
  product *= llvm::APInt(128, b);
  return product.getLimitedValue(kMaxExtent + 1);
}

/// Returns the smallest multiple of `multiple` that is not below `number`.
static Expected<int64_t> roundUp(int64_t number, int64_t multiple) {
  if (number > kMaxExtent || multiple > kMaxExtent)
    return createStringError("an extent of a scratch buffer is not below 2^31");
  return int64_t(llvm::alignTo(number, multiple));
}

namespace {
/// A condition on an extent of a scratch buffer.
struct Bound {
  const KernelSpec *kernel;
  const Requirement *requirement;
};

/// Finds extents one by one, each after those that its bounds depend on.
class Solver {
public:
  Solver(ArrayRef<KernelSpec> kernels,
         const std::map<std::string, Argument> &given);
  Expected<std::vector<ScratchBuffer>> solve();

private:
  /// Sets an extent if all that its bounds depend on is known; returns whether
  /// it did.
  Expected<bool> findExtent(const std::string &name, size_t dim);
  /// Adds rows until a dense buffer of the shape suits its kernels: a buffer
  /// with permuted elements must hold whole blocks, and strides must have the
  /// divisors that the manifest names. Only an extent that may exceed its bound
  /// can grow.
  llvm::Error grow(const ScratchBuffer &buffer);

  bool isKnown(const json::Value &expression, const KernelSpec &kernel) const;
  Expected<int64_t> evaluateFor(const json::Value &expression,
                                const KernelSpec &kernel) const;
  Tensor &tensorOf(const std::string &name) {
    return std::get<Tensor>(arguments[name]);
  }

  ArrayRef<KernelSpec> kernels;
  /// All arguments, with the shapes of scratch buffers as far as they are
  /// known.
  std::map<std::string, Argument> arguments;
  std::vector<ScratchBuffer> buffers;
  /// For each scratch buffer, its first kernel and its position there.
  std::map<std::string, std::pair<const KernelSpec *, size_t>> owners;
  std::map<std::pair<std::string, size_t>, std::vector<Bound>> bounds;
};
} // namespace

Solver::Solver(ArrayRef<KernelSpec> kernels,
               const std::map<std::string, Argument> &given)
    : kernels(kernels), arguments(given) {
  for (const KernelSpec &kernel : kernels) {
    for (auto [position, parameter] : llvm::enumerate(kernel.parameters)) {
      if (!parameter.isBuffer || given.count(parameter.name) ||
          !owners.try_emplace(parameter.name, &kernel, position).second)
        continue;
      Tensor tensor;
      tensor.type = parameter.type;
      for (std::optional<int64_t> extent : parameter.shape)
        tensor.shape.push_back(extent.value_or(kUnknown));
      arguments[parameter.name] = tensor;
      buffers.push_back({parameter.name, parameter.type, {}});
    }
    for (const Requirement &requirement : kernel.requirements)
      bounds[{kernel.parameters[requirement.argument].name, requirement.dim}]
          .push_back({&kernel, &requirement});
  }
}

Expected<std::vector<ScratchBuffer>> Solver::solve() {
  std::vector<std::pair<std::string, size_t>> missing;
  for (const ScratchBuffer &buffer : buffers)
    for (auto [dim, extent] : llvm::enumerate(tensorOf(buffer.name).shape))
      if (extent == kUnknown)
        missing.emplace_back(buffer.name, dim);
  while (!missing.empty()) {
    std::vector<std::pair<std::string, size_t>> waiting;
    for (const auto &[name, dim] : missing) {
      Expected<bool> isFound = findExtent(name, dim);
      if (!isFound)
        return isFound.takeError();
      if (!*isFound)
        waiting.emplace_back(name, dim);
    }
    if (waiting.size() == missing.size())
      return createStringError(
          formatv("the manifest does not determine extent {0} of '{1}'",
                  waiting.front().second, waiting.front().first));
    missing = std::move(waiting);
  }
  for (ScratchBuffer &buffer : buffers)
    if (llvm::Error error = grow(buffer))
      return error;
  for (ScratchBuffer &buffer : buffers)
    buffer.shape = tensorOf(buffer.name).shape;
  return std::move(buffers);
}

Expected<bool> Solver::findExtent(const std::string &name, size_t dim) {
  int64_t least = 0, multiple = 1;
  bool isDetermined = false;
  for (const Bound &bound : bounds[{name, dim}]) {
    if (!isKnown(bound.requirement->value, *bound.kernel))
      return false;
    Expected<int64_t> value =
        evaluateFor(bound.requirement->value, *bound.kernel);
    if (!value)
      return value.takeError();
    switch (bound.requirement->relation) {
    case Requirement::Relation::MultipleOf:
      if (*value > 0)
        multiple = leastMultiple(multiple, *value);
      break;
    case Requirement::Relation::AtMost:
      break;
    case Requirement::Relation::Equal:
    case Requirement::Relation::AtLeast:
      least = std::max(least, *value);
      isDetermined = true;
      break;
    }
  }
  if (!isDetermined)
    return false;
  Expected<int64_t> extent = roundUp(least, multiple);
  if (!extent)
    return extent.takeError();
  tensorOf(name).shape[dim] = *extent;
  return true;
}

llvm::Error Solver::grow(const ScratchBuffer &buffer) {
  Tensor &tensor = tensorOf(buffer.name);
  auto [kernel, position] = owners[buffer.name];
  const Parameter &parameter = kernel->parameters[position];
  if (llvm::is_contained(tensor.shape, 0))
    return llvm::Error::success();
  // The last dimension of which all bounds may be exceeded.
  size_t dim = tensor.shape.size();
  for (size_t i = tensor.shape.size(); i-- > 0 && dim == tensor.shape.size();) {
    auto found = bounds.find({buffer.name, i});
    if (found != bounds.end() &&
        llvm::all_of(found->second, [](const Bound &bound) {
          return bound.requirement->relation == Requirement::Relation::AtLeast;
        }))
      dim = i;
  }
  if (dim == tensor.shape.size())
    return llvm::Error::success();

  // The elements of the dimensions from `first` on; without `dim`, how many
  // elements one more row is.
  auto countElements = [&](size_t first, bool withDim) -> Expected<int64_t> {
    int64_t product = 1;
    for (size_t i = first; i < tensor.shape.size(); ++i)
      if ((withDim || i != dim) &&
          llvm::MulOverflow(product, tensor.shape[i], product))
        return createStringError("'" + buffer.name +
                                 "' has more than 2^63 elements");
    return product;
  };
  Expected<int64_t> rest = countElements(0, /*withDim=*/false);
  if (!rest)
    return rest.takeError();
  if (const json::Value &storage = kernel->storage[position];
      !storage.getAsNull()) {
    for (int growth = 0;; ++growth) {
      Expected<int64_t> needed = evaluateFor(storage, *kernel);
      if (!needed)
        return needed.takeError();
      Expected<int64_t> elements = countElements(0, /*withDim=*/true);
      if (!elements)
        return elements.takeError();
      if (*needed <= *elements)
        break;
      if (growth == kMaxGrowths)
        return createStringError(
            formatv("the layout of '{0}' needs more elements than its shape "
                    "has, whatever extent {1} is",
                    buffer.name, dim));
      tensor.shape[dim] = llvm::divideCeil(*needed, *rest);
    }
  }
  // Strides of the dimensions outside of `dim` are multiples of its extent.
  int64_t multiple = 1;
  for (size_t i = 0; i < std::min(dim, parameter.strides.size()); ++i) {
    if (parameter.strides[i])
      continue;
    Expected<int64_t> step = countElements(i + 1, /*withDim=*/false);
    if (!step)
      return step.takeError();
    int64_t divisor = parameter.strideDivisibility[i];
    multiple = leastMultiple(multiple, divisor / std::gcd(divisor, *step));
  }
  Expected<int64_t> extent = roundUp(tensor.shape[dim], multiple);
  if (!extent)
    return extent.takeError();
  tensor.shape[dim] = *extent;
  return llvm::Error::success();
}

bool Solver::isKnown(const json::Value &expression,
                     const KernelSpec &kernel) const {
  const json::Array *array = expression.getAsArray();
  if (!array || array->empty())
    return true;
  std::optional<llvm::StringRef> op = (*array)[0].getAsString();
  bool isDim = op == "dim" && array->size() == 3;
  if (isDim || (op == "arg" && array->size() == 2)) {
    std::optional<int64_t> position = (*array)[1].getAsInteger();
    if (!position || *position < 0 ||
        *position >= int64_t(kernel.parameters.size()))
      return true; // Evaluation says what is wrong.
    auto found = arguments.find(kernel.parameters[*position].name);
    if (found == arguments.end())
      return false;
    const auto *tensor = std::get_if<Tensor>(&found->second);
    std::optional<int64_t> dim =
        isDim ? (*array)[2].getAsInteger() : std::nullopt;
    return !tensor || !dim || *dim < 0 ||
           *dim >= int64_t(tensor->shape.size()) ||
           tensor->shape[*dim] != kUnknown;
  }
  return llvm::all_of(llvm::drop_begin(*array), [&](const json::Value &part) {
    return isKnown(part, kernel);
  });
}

Expected<int64_t> Solver::evaluateFor(const json::Value &expression,
                                      const KernelSpec &kernel) const {
  llvm::SmallVector<Argument> values;
  for (const Parameter &parameter : kernel.parameters) {
    auto found = arguments.find(parameter.name);
    values.push_back(found == arguments.end() ? Argument(int64_t(0))
                                              : found->second);
  }
  return evaluate(expression, kernel, values);
}

Expected<std::vector<ScratchBuffer>>
tile::launch::findScratchBuffers(ArrayRef<KernelSpec> kernels,
                                 const std::map<std::string, Argument> &given) {
  return Solver(kernels, given).solve();
}
