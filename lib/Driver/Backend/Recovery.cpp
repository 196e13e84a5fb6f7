//===- Recovery.cpp - Recovers from fatal errors of LLVM ------------------===//
//
// The handler leaves by longjmp, as LLVM's CrashRecoveryContext does. That
// class would also install signal handlers, which belong to the host.
//
//===----------------------------------------------------------------------===//

#include "Recovery.h"
#include "llvm/Support/Compiler.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"
#include <csetjmp>
#include <mutex>

#if LLVM_ADDRESS_SANITIZER_BUILD
#include <sanitizer/lsan_interface.h>
#endif

namespace {

struct Recovery {
  std::jmp_buf start;
  std::string message;
  Recovery *outer;
};

thread_local Recovery *current = nullptr;

void handleFatalError(void *, const char *reason, bool) {
  if (!current) {
    llvm::errs() << "LLVM ERROR: " << reason << '\n';
    return;
  }
  current->message = reason;
  std::longjmp(current->start, 1);
}

/// Installs the handler while at least one call is active.
class HandlerScope {
public:
  HandlerScope() {
    std::lock_guard<std::mutex> lock(mutex);
    if (active++ == 0)
      llvm::install_fatal_error_handler(handleFatalError);
  }
  ~HandlerScope() {
    std::lock_guard<std::mutex> lock(mutex);
    if (--active == 0)
      llvm::remove_fatal_error_handler();
  }

private:
  static std::mutex mutex;
  static unsigned active;
};

std::mutex HandlerScope::mutex;
unsigned HandlerScope::active = 0;

} // namespace

std::optional<std::string>
tile::catchFatalErrors(llvm::function_ref<void()> work) {
  HandlerScope scope;
#if LLVM_ADDRESS_SANITIZER_BUILD
  // Memory of a back end that a longjmp leaves is never freed.
  __lsan::ScopedDisabler disabler;
#endif
  // On the heap: local variables are undefined after the longjmp.
  auto *recovery = new Recovery;
  recovery->outer = current;
  current = recovery;
  bool failed = setjmp(recovery->start) != 0;
  if (!failed)
    work();
  // `current` is this call's again: an inner call has restored it.
  recovery = current;
  current = recovery->outer;
  std::optional<std::string> message;
  if (failed)
    message = std::move(recovery->message);
  delete recovery;
  return message;
}
