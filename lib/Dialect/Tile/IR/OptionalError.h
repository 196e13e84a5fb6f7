//===- OptionalError.h - Errors that the caller may not want ----*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_IR_OPTIONALERROR_H
#define TILE_LIB_DIALECT_TILE_IR_OPTIONALERROR_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include <optional>

namespace tile {

using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;

/// An error that is reported, or a failure without an error if `emitError` is
/// null.
class OptionalError {
public:
  explicit OptionalError(EmitError emitError) {
    if (emitError)
      error.emplace(emitError());
  }
  template <typename ArgT> OptionalError &operator<<(ArgT &&argument) {
    if (error)
      *error << std::forward<ArgT>(argument);
    return *this;
  }
  operator llvm::LogicalResult() const { return llvm::failure(); }
  template <typename T> operator llvm::FailureOr<T>() const {
    return llvm::failure();
  }

private:
  std::optional<mlir::InFlightDiagnostic> error;
};

/// Returns an error that is not reported.
inline mlir::InFlightDiagnostic makeDroppedError(mlir::MLIRContext *context) {
  mlir::InFlightDiagnostic error =
      mlir::emitError(mlir::UnknownLoc::get(context));
  error.abandon();
  return error;
}

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_IR_OPTIONALERROR_H
