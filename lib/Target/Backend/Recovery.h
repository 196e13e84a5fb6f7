//===- Recovery.h - Survive fatal errors of LLVM ----------------*- C++ -*-===//
//
// LLVM's back ends report what they cannot do as a fatal error, which ends the
// process. A compiler that lives in a host process may not do that.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_TARGET_BACKEND_RECOVERY_H
#define TILE_LIB_TARGET_BACKEND_RECOVERY_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>
#include <string>

namespace tile {

/// Runs `work` on this thread. Returns the message if LLVM reported a fatal
/// error; destructors between the report and here have then not run, so the
/// caller must abandon, not destroy, every LLVM object that `work` touched.
/// May be nested and called by several threads. While a call is active, the
/// process's LLVM fatal error handler is this one; fatal errors of other
/// threads are printed and end the process, as without a handler.
std::optional<std::string> catchFatalErrors(llvm::function_ref<void()> work);

} // namespace tile

#endif // TILE_LIB_TARGET_BACKEND_RECOVERY_H
