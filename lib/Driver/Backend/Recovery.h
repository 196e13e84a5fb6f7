//===- Recovery.h - Recovers from fatal errors of LLVM ----------*- C++ -*-===//
//
// LLVM's back ends report unsupported input as a fatal error, which ends the
// process. A compiler in a host process must not end it.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_DRIVER_BACKEND_RECOVERY_H
#define TILE_LIB_DRIVER_BACKEND_RECOVERY_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>
#include <string>

namespace tile {

/// Runs `work` on this thread. Returns the message if LLVM reported a fatal
/// error. Destructors between the error and this call have then not run, so the
/// caller must abandon every LLVM object that `work` touched without destroying
/// it. Calls may be nested and run on several threads. While a call is active,
/// it replaces the process's LLVM fatal error handler. Fatal errors of other
/// threads are printed and end the process, as without a handler.
std::optional<std::string> catchFatalErrors(llvm::function_ref<void()> work);

} // namespace tile

#endif // TILE_LIB_DRIVER_BACKEND_RECOVERY_H
