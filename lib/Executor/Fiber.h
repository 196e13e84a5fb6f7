//===- Fiber.h - Stacks and the switch between them -------------*- C++ -*-===//
//
// Boost.Context performs the switches, and AddressSanitizer is told of each.
// UndefinedBehaviorSanitizer has no state for stacks.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_EXECUTOR_FIBER_H
#define TILE_LIB_EXECUTOR_FIBER_H

#include "llvm/Support/Error.h"
#include <boost/context/detail/fcontext.hpp>
#include <cstddef>

namespace tile::cpu {

/// A suspended execution and its stack. A default-constructed context is that
/// of a thread of the operating system.
struct Context {
  boost::context::detail::fcontext_t handle = nullptr;
  /// Bounds of the stack.
  const void *bottom = nullptr;
  std::size_t size = 0;
  void *fakeStack = nullptr;
};

/// Stacks of one size. Below each lies a protected page, so that an overflow
/// faults instead of overwriting the next stack.
class Stacks {
public:
  static llvm::Expected<Stacks> allocate(std::size_t count, std::size_t bytes);
  Stacks(Stacks &&other);
  Stacks &operator=(Stacks &&) = delete;
  ~Stacks();

  /// Makes `context` start at `entry` on stack `index`, which no running
  /// context may use. `entry` must pass its argument to enterContext() first
  /// and must never return.
  void prepare(Context &context, std::size_t index,
               void (*entry)(boost::context::detail::transfer_t));

private:
  Stacks() = default;
  char *memory = nullptr;
  std::size_t count = 0, bytes = 0, page = 0;
};

/// Suspends `from` and continues `to`.
void switchContext(Context &from, Context &to);

/// Continues `to`; the current context never continues.
[[noreturn]] void leaveContext(Context &to);

/// Returns the context that starts. Its entry must call this first.
Context &enterContext(boost::context::detail::transfer_t transfer);

} // namespace tile::cpu

#endif // TILE_LIB_EXECUTOR_FIBER_H
