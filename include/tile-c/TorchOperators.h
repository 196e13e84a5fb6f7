//===- TorchOperators.h - Operators of PyTorch without Python ---*- C -*-===//
//
// Kernels for operators of PyTorch's dispatcher that run a call without Python
// if they have a plan for it. A call without a plan goes to another operator,
// whose kernel is Python's. That kernel may store a plan: the next call with
// tensors of these shapes, strides, types and devices, and these numbers, uses
// it. python/tile/fast.py installs the operators.
//
// This uses PyTorch's stable C functions
// (torch/csrc/inductor/aoti_torch/c/shim.h), which the caller finds: the
// library neither includes nor links PyTorch. Functions return 0 on success.
//
// Calls of the operators may come from several threads. Only one thread at a
// time may install and remove.
//
//===--------------------------------------------------------------------===//
#ifndef TILE_C_TORCHOPERATORS_H
#define TILE_C_TORCHOPERATORS_H

#include "tile-c/PreparedLaunch.h"
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  TILE_TORCH_RANK = 8,
  /// Operators that can be installed at once.
  TILE_TORCH_OPERATORS = 4
};

/// A kernel of PyTorch's stable interface.
typedef void (*TileTorchKernel)(uint64_t *stack, uint64_t argumentCount,
                                uint64_t resultCount);

/// The functions of PyTorch, named like those of shim.h without `aoti_torch_`.
typedef struct {
  int32_t (*libraryInitImpl)(const char *space, const char *key,
                             const char *file, uint32_t line, void **library);
  int32_t (*libraryImpl)(void *library, const char *name, TileTorchKernel);
  int32_t (*deleteLibraryObject)(void *library);
  int32_t (*callDispatcher)(const char *name, const char *overload,
                            uint64_t *stack);
  int32_t (*isDefined)(void *tensor, bool *result);
  int32_t (*getDim)(void *tensor, int64_t *result);
  int32_t (*getSizes)(void *tensor, int64_t **result);
  int32_t (*getStrides)(void *tensor, int64_t **result);
  int32_t (*getDtype)(void *tensor, int32_t *result);
  int32_t (*getDeviceType)(void *tensor, int32_t *result);
  int32_t (*getDeviceIndex)(void *tensor, int32_t *result);
  int32_t (*getDataPtr)(void *tensor, void **result);
  int32_t (*emptyStrided)(int64_t rank, const int64_t *sizes,
                          const int64_t *strides, int32_t dtype,
                          int32_t deviceType, int32_t deviceIndex,
                          void **tensor);
  int32_t (*newUninitializedTensor)(void **tensor);
  int32_t (*deleteTensorObject)(void *tensor);
  /// Throws PyTorch's exception if `condition` is false.
  void (*check)(bool condition, const char *function, const char *file,
                uint32_t line, const char *message);
  /// Null without CUDA.
  int32_t (*getCurrentCudaStream)(int32_t device, void **stream);
  /// Frees the value of an optional argument; null where that is free().
  int32_t (*deleteStableIvalue)(uint64_t *value);
  /// at::globalContext() and its deterministicAlgorithms().
  const void *(*globalContext)(void);
  bool (*deterministicAlgorithms)(const void *context);
} TileTorchFunctions;

/// An operator of the namespace aten.
typedef struct {
  const char *name;
  /// The operator with namespace that calls without a plan go to. It has the
  /// same arguments, and of the results those that are tensors.
  const char *fallback;
  /// A letter for each argument: T tensor, i integer, f real number, b boolean;
  /// t, j and r for tensors, integers and real numbers that may be absent.
  const char *arguments;
  /// A letter for each result: T or i.
  const char *results;
  /// The index of the argument with the scale of the scores, of letter r. Plans
  /// do not depend on its value.
  uint32_t scale;
} TileTorchOperator;

/// A tensor that a call allocates.
typedef struct {
  int32_t dtype;
  uint32_t rank;
  int64_t sizes[TILE_TORCH_RANK], strides[TILE_TORCH_RANK];
} TileTorchBuffer;

/// A value of the launch that is `offset` bytes from the start of an argument,
/// or of a buffer if `isBuffer` is not zero.
typedef struct {
  uint32_t value;
  int isBuffer;
  uint32_t index;
  int64_t offset;
} TileTorchAddress;

typedef enum {
  TILE_TORCH_BUFFER = 0,
  TILE_TORCH_UNDEFINED = 1,
  TILE_TORCH_INTEGER = 2
} TileTorchResultKind;

/// A result of an operator. `kind` is a TileTorchResultKind; `number` is the
/// index of the buffer or the integer.
typedef struct {
  int kind;
  int64_t number;
} TileTorchResult;

/// How to run calls of one kind. Arrays are copied.
typedef struct {
  /// Belongs to the plan from then on. If it is null, `run` is called.
  TilePreparedLaunch *launch;
  int (*run)(const TileLaunchValue *values);
  /// The values of the launch, of which some are replaced at each call.
  const TileLaunchValue *values;
  size_t valueCount;
  const TileTorchAddress *addresses;
  size_t addressCount;
  const TileTorchBuffer *buffers;
  size_t bufferCount;
  const TileTorchResult *results;
  size_t resultCount;
  /// Bit i: argument i is a tensor whose address must be a multiple of 16.
  uint64_t aligned;
  /// The value of the launch that is the scale, and the scale of calls that
  /// give none. The scale must be finite and not negative.
  uint32_t scaleValue;
  double scale;
  /// The device of buffers, as PyTorch's functions number types of devices.
  int32_t deviceType, deviceIndex;
} TileTorchPlan;

/// Registers kernels for `key`, such as CUDA. `driver` may be null: then no
/// plan may have a launch. Returns -1 if operators are installed already.
int tileTorchInstall(const TileTorchFunctions *functions,
                     const TileDriver *driver, const char *key,
                     const TileTorchOperator *operators, size_t count);

/// Removes the kernels. Their plans stay for the next installation for the key.
void tileTorchRemove(void);

/// Removes all plans.
void tileTorchForget(void);

/// Stores a plan for the call that went to the fallback operator on this
/// thread. Returns -1 if there is none.
int tileTorchStore(const TileTorchPlan *plan);

/// Gives the integers among the results of the call that went to the fallback
/// operator on this thread, or the error that it ends with, if that is not
/// null. Returns -1 if there is no such call.
int tileTorchAnswer(const char *error, const int64_t *integers, size_t count);

/// Returns how many calls ran with a plan.
uint64_t tileTorchPlannedCalls(void);

#ifdef __cplusplus
}
#endif

#endif // TILE_C_TORCHOPERATORS_H
