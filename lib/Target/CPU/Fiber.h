//===- Fiber.h - Stacks and the switch between them -------------*- C++ -*-===//
//
// The switch itself is Boost.Context's. AddressSanitizer is told of every one.
// UndefinedBehaviorSanitizer keeps nothing about stacks and need not be.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_TARGET_CPU_FIBER_H
#define TILE_LIB_TARGET_CPU_FIBER_H

#include "llvm/Support/Error.h"
#include <boost/context/detail/fcontext.hpp>
#include <cstddef>

namespace tile::cpu {

/// Where an execution was left, and the stack that it runs on. The context of
/// an operating system's thread is a default-constructed one.
struct Context {
  boost::context::detail::fcontext_t handle = nullptr;
  /// Of the stack; for AddressSanitizer.
  const void *bottom = nullptr;
  std::size_t size = 0;
  void *fakeStack = nullptr;
};

/// Stacks of one size, each above a page that may not be touched, so that an
/// overflow faults instead of overwriting its neighbour.
class Stacks {
public:
  static llvm::Expected<Stacks> allocate(std::size_t count, std::size_t bytes);
  Stacks(Stacks &&other);
  Stacks &operator=(Stacks &&) = delete;
  ~Stacks();

  /// Makes `context` start at `entry` on stack `index`, on which nothing may
  /// run that has not called leaveContext(). The argument of `entry` goes to
  /// enterContext() first. `entry` never returns.
  void prepare(Context &context, std::size_t index,
               void (*entry)(boost::context::detail::transfer_t));

private:
  Stacks() = default;
  char *memory = nullptr;
  std::size_t count = 0, bytes = 0, page = 0;
};

/// Leaves `from`, where a later switch to it continues, and continues `to`.
void switchContext(Context &from, Context &to);

/// Continues `to` for good: what runs now is never continued.
[[noreturn]] void leaveContext(Context &to);

/// To be called first in the entry of a context; returns the context.
Context &enterContext(boost::context::detail::transfer_t transfer);

} // namespace tile::cpu

#endif // TILE_LIB_TARGET_CPU_FIBER_H
