//===- Arguments.h - Kernel arguments in memory -----------------*- C++ -*-===//
#ifndef TILE_LIB_EXECUTOR_ARGUMENTS_H
#define TILE_LIB_EXECUTOR_ARGUMENTS_H

#include "NVIDIA/TensorMapImage.h"
#include "tile/Executor/Executor.h"
#include <deque>

namespace tile::cpu {

using launch::KernelSpec;

/// Checks one argument for each parameter and returns the kernel's arguments, 8
/// bytes each. Arguments that are tensor maps point into `images`.
llvm::Expected<std::vector<uint64_t>>
packArguments(const KernelSpec &kernel, llvm::ArrayRef<Argument> arguments,
              std::deque<TensorMapImage> &images);

} // namespace tile::cpu

#endif // TILE_LIB_EXECUTOR_ARGUMENTS_H
