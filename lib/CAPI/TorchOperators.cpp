//===- TorchOperators.cpp - Operators of PyTorch without Python -----------===//

#include "tile-c/TorchOperators.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/bit.h"
#include <array>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

using llvm::ArrayRef;
using llvm::SmallVector;

namespace {

/// Plans that an operator keeps; with more it starts over.
constexpr size_t kMaxPlans = 4096;

/// Describes a call except for addresses and the scale.
using Key = SmallVector<uint64_t, 128>;

struct LaunchDeleter {
  void operator()(TilePreparedLaunch *launch) const {
    tilePreparedLaunchDestroy(launch);
  }
};

/// The owner's copy of a TileTorchPlan.
struct Plan {
  explicit Plan(const TileTorchPlan &plan)
      : launch(plan.launch), run(plan.run),
        values(plan.values, plan.values + plan.valueCount),
        addresses(plan.addresses, plan.addresses + plan.addressCount),
        buffers(plan.buffers, plan.buffers + plan.bufferCount),
        results(plan.results, plan.results + plan.resultCount),
        aligned(plan.aligned), scaleValue(plan.scaleValue), scale(plan.scale),
        deviceType(plan.deviceType), deviceIndex(plan.deviceIndex) {}

  std::unique_ptr<TilePreparedLaunch, LaunchDeleter> launch;
  int (*run)(const TileLaunchValue *values);
  std::vector<TileLaunchValue> values;
  std::vector<TileTorchAddress> addresses;
  std::vector<TileTorchBuffer> buffers;
  std::vector<TileTorchResult> results;
  uint64_t aligned;
  uint32_t scaleValue;
  double scale;
  int32_t deviceType, deviceIndex;
};

/// Plans by their keys. Safe to use from several threads.
class Plans {
public:
  std::shared_ptr<const Plan> find(ArrayRef<uint64_t> key) const {
    std::shared_lock<std::shared_mutex> guard(mutex);
    auto [begin, end] = plans.equal_range(llvm::hash_value(key));
    for (const auto &[hash, entry] : llvm::make_range(begin, end))
      if (ArrayRef<uint64_t>(entry.first) == key)
        return entry.second;
    return nullptr;
  }

  void store(ArrayRef<uint64_t> key, std::shared_ptr<const Plan> plan) {
    std::unique_lock<std::shared_mutex> guard(mutex);
    size_t hash = llvm::hash_value(key);
    auto [begin, end] = plans.equal_range(hash);
    for (auto &[hash, entry] : llvm::make_range(begin, end))
      if (ArrayRef<uint64_t>(entry.first) == key) {
        entry.second = std::move(plan);
        return;
      }
    if (plans.size() >= kMaxPlans)
      plans.clear();
    plans.emplace(hash, Entry(key.vec(), std::move(plan)));
  }

  void clear() {
    std::unique_lock<std::shared_mutex> guard(mutex);
    plans.clear();
  }

private:
  using Entry = std::pair<std::vector<uint64_t>, std::shared_ptr<const Plan>>;
  mutable std::shared_mutex mutex;
  std::unordered_multimap<size_t, Entry> plans;
};

class Operator;

/// A call that the fallback operator computes.
struct FallbackCall {
  Operator &op;
  /// Null if PyTorch could not describe the arguments.
  const Key *key;
  FallbackCall *outer;
  SmallVector<int64_t, 2> integers = {};
  bool failed = false;
};

/// The functions of PyTorch and of the CUDA driver, set at installation.
TileTorchFunctions torch;
std::optional<TileDriver> driver;
void *library = nullptr;
std::atomic<uint64_t> plannedCalls = 0;

/// Where the operators are installed: CUDA.
std::string dispatchKey;

/// The innermost call of this thread, and the text of its error, which must
/// live until PyTorch has copied it.
thread_local FallbackCall *fallbackCall = nullptr;
thread_local std::string failure;

/// A tensor argument.
void *tensorOf(uint64_t word) { return reinterpret_cast<void *>(word); }

class Operator {
public:
  void install(const TileTorchOperator &from) {
    if (name != from.name || arguments != from.arguments)
      plans.clear();
    name = from.name;
    fallback = from.fallback;
    arguments = from.arguments;
    results = from.results;
    scale = from.scale;
  }

  /// Replaces the arguments on the stack by the results. Throws PyTorch's
  /// exception with the text in `failure` if it returns false.
  bool call(uint64_t *stack) {
    Key key;
    bool isDescribed = describe(stack, key);
    if (isDescribed)
      if (std::shared_ptr<const Plan> plan = plans.find(key))
        if (run(*plan, stack))
          return true;
    return callFallback(stack, isDescribed ? &key : nullptr);
  }

  Plans plans;

private:
  /// Returns the value of an optional argument, null if it is absent.
  static const uint64_t *optional(uint64_t word) {
    return reinterpret_cast<const uint64_t *>(word);
  }

  bool describe(const uint64_t *stack, Key &key) const {
    key.push_back(torch.deterministicAlgorithms(torch.globalContext()));
    if (driver) {
      // A launch belongs to a context.
      void *context = nullptr;
      if (driver->ctxGetCurrent(&context))
        return false;
      key.push_back(reinterpret_cast<uint64_t>(context));
    }
    for (auto [index, letter] : llvm::enumerate(arguments)) {
      uint64_t word = stack[index];
      if (index == scale)
        continue;
      if (letter == 't' || letter == 'j' || letter == 'r') {
        key.push_back(word != 0);
        if (!word)
          continue;
        word = *optional(word);
      }
      if (letter != 'T' && letter != 't')
        key.push_back(word);
      else if (!describeTensor(tensorOf(word), key))
        return false;
    }
    return true;
  }

  static bool describeTensor(void *tensor, Key &key) {
    bool isDefined = false;
    if (torch.isDefined(tensor, &isDefined))
      return false;
    if (!isDefined) {
      key.push_back(~uint64_t(0));
      return true;
    }
    int64_t rank, *sizes, *strides;
    int32_t dtype, deviceType, deviceIndex;
    if (torch.getDim(tensor, &rank) || torch.getSizes(tensor, &sizes) ||
        torch.getStrides(tensor, &strides) || torch.getDtype(tensor, &dtype) ||
        torch.getDeviceType(tensor, &deviceType) ||
        torch.getDeviceIndex(tensor, &deviceIndex))
      return false;
    key.push_back(rank);
    key.push_back(uint64_t(uint32_t(dtype)) << 32 | uint32_t(deviceIndex));
    key.push_back(deviceType);
    key.append(sizes, sizes + rank);
    key.append(strides, strides + rank);
    return true;
  }

  /// Returns the tensor of argument `index`, which is there.
  void *tensorArgument(const uint64_t *stack, size_t index) const {
    return tensorOf(arguments[index] == 't' ? *optional(stack[index])
                                            : stack[index]);
  }

  /// Runs a call; returns false if nothing was done, or nothing that matters.
  bool run(const Plan &plan, uint64_t *stack) {
    double factor = plan.scale;
    if (const uint64_t *given = optional(stack[scale]))
      factor = llvm::bit_cast<double>(*given);
    if (!(factor >= 0 && std::isfinite(factor)))
      return false;
    for (uint64_t rest = plan.aligned; rest; rest &= rest - 1) {
      void *address;
      if (torch.getDataPtr(tensorArgument(stack, llvm::countr_zero(rest)),
                           &address) ||
          reinterpret_cast<uint64_t>(address) % 16)
        return false;
    }

    SmallVector<void *, 8> buffers;
    auto giveUp = [&] {
      for (void *buffer : buffers)
        torch.deleteTensorObject(buffer);
      return false;
    };
    for (const TileTorchBuffer &buffer : plan.buffers) {
      void *tensor;
      if (torch.emptyStrided(buffer.rank, buffer.sizes, buffer.strides,
                             buffer.dtype, plan.deviceType, plan.deviceIndex,
                             &tensor))
        return giveUp();
      buffers.push_back(tensor);
    }
    SmallVector<TileLaunchValue, 32> values(plan.values.begin(),
                                            plan.values.end());
    for (const TileTorchAddress &from : plan.addresses) {
      void *address;
      if (torch.getDataPtr(from.isBuffer ? buffers[from.index]
                                         : tensorArgument(stack, from.index),
                           &address))
        return giveUp();
      values[from.value].word =
          reinterpret_cast<uint64_t>(address) + from.offset;
    }
    values[plan.scaleValue].real = factor;
    void *stream = nullptr;
    if (plan.launch &&
        torch.getCurrentCudaStream(plan.deviceIndex, &stream) != 0)
      return giveUp();
    if (plan.launch
            ? tilePreparedLaunchRun(plan.launch.get(), values.data(), stream)
            : plan.run(values.data()))
      return giveUp();

    freeArguments(stack);
    uint64_t returned = 0;
    for (auto [result, word] : llvm::zip(
             plan.results,
             llvm::MutableArrayRef<uint64_t>(stack, plan.results.size()))) {
      void *tensor = nullptr;
      if (result.kind == TILE_TORCH_BUFFER) {
        tensor = buffers[result.number];
        returned |= uint64_t(1) << result.number;
      } else if (result.kind == TILE_TORCH_UNDEFINED) {
        torch.newUninitializedTensor(&tensor);
      }
      word = tensor ? reinterpret_cast<uint64_t>(tensor) : result.number;
    }
    // Memory that is free in PyTorch is used again only behind the kernels.
    for (auto [index, buffer] : llvm::enumerate(buffers))
      if (!(returned >> index & 1))
        torch.deleteTensorObject(buffer);
    plannedCalls.fetch_add(1, std::memory_order_relaxed);
    return true;
  }

  /// Frees the tensors on the stack, and the optional values.
  void freeArguments(const uint64_t *stack) const {
    for (auto [index, letter] : llvm::enumerate(arguments)) {
      uint64_t word = stack[index];
      if (letter == 'T')
        torch.deleteTensorObject(tensorOf(word));
      if ((letter != 't' && letter != 'j' && letter != 'r') || !word)
        continue;
      if (letter == 't')
        torch.deleteTensorObject(tensorOf(*optional(word)));
      auto *value = reinterpret_cast<uint64_t *>(word);
      if (torch.deleteStableIvalue)
        torch.deleteStableIvalue(value);
      else
        free(value);
    }
  }

  bool callFallback(uint64_t *stack, const Key *key) {
    FallbackCall call{*this, key, fallbackCall};
    fallbackCall = &call;
    // This takes the arguments from the stack.
    int32_t status = torch.callDispatcher(fallback.c_str(), "", stack);
    fallbackCall = call.outer;
    size_t integers = llvm::count(results, 'i');
    if (status != 0) {
      failure = "PyTorch could not call " + fallback;
      return false;
    }
    size_t tensors = results.size() - integers;
    if (call.failed || call.integers.size() != integers) {
      for (size_t i = 0; i < tensors; ++i)
        torch.deleteTensorObject(tensorOf(stack[i]));
      if (!call.failed)
        failure = fallback + " did not answer";
      return false;
    }
    // Put the integers between the tensors.
    for (size_t i = results.size(); i-- > 0;)
      stack[i] =
          results[i] == 'i' ? call.integers[--integers] : stack[--tensors];
    return true;
  }

  std::string name, fallback, arguments, results;
  size_t scale = 0;
};

/// Operators live as long as the process, because threads may call them at its
/// end.
Operator &operatorAt(size_t index) {
  static auto *operators = new std::array<Operator, TILE_TORCH_OPERATORS>;
  return (*operators)[index];
}

template <size_t index> void kernel(uint64_t *stack, uint64_t, uint64_t) {
  // No frame in between has anything to clean up when the exception passes.
  if (!operatorAt(index).call(stack))
    torch.check(false, "tile", __FILE__, __LINE__, failure.c_str());
}

constexpr TileTorchKernel kKernels[TILE_TORCH_OPERATORS] = {
    kernel<0>, kernel<1>, kernel<2>, kernel<3>};

} // namespace

int tileTorchInstall(const TileTorchFunctions *functions,
                     const TileDriver *cuda, const char *key,
                     const TileTorchOperator *given, size_t count) {
  if (library || count > TILE_TORCH_OPERATORS)
    return -1;
  if (dispatchKey != key)
    tileTorchForget();
  dispatchKey = key;
  torch = *functions;
  driver.reset();
  if (cuda)
    driver = *cuda;
  for (size_t i = 0; i < count; ++i)
    operatorAt(i).install(given[i]);
  if (torch.libraryInitImpl("aten", key, __FILE__, __LINE__, &library))
    return -1;
  for (size_t i = 0; i < count; ++i)
    if (torch.libraryImpl(library, given[i].name, kKernels[i])) {
      tileTorchRemove();
      return -1;
    }
  return 0;
}

void tileTorchRemove() {
  if (library)
    torch.deleteLibraryObject(library);
  library = nullptr;
}

void tileTorchForget() {
  for (size_t i = 0; i < TILE_TORCH_OPERATORS; ++i)
    operatorAt(i).plans.clear();
}

int tileTorchStore(const TileTorchPlan *plan) {
  // The plan owns its launch, also if it is not stored.
  auto owned = std::make_shared<const Plan>(*plan);
  if (!fallbackCall || !fallbackCall->key)
    return -1;
  fallbackCall->op.plans.store(*fallbackCall->key, std::move(owned));
  return 0;
}

int tileTorchAnswer(const char *error, const int64_t *integers, size_t count) {
  if (!fallbackCall)
    return -1;
  fallbackCall->failed = error != nullptr;
  if (error)
    failure = error;
  fallbackCall->integers.assign(integers, integers + count);
  return 0;
}

uint64_t tileTorchPlannedCalls() { return plannedCalls; }
