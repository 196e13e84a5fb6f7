//===- Reports.h - What a program reports -----------------------*- C++ -*-===//
#ifndef TILE_DIALECT_TILE_IR_REPORTS_H
#define TILE_DIALECT_TILE_IR_REPORTS_H

#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tile {

/// The side effect of assertions and prints. Other operations neither read nor
/// write this resource.
struct ReportsResource : mlir::SideEffects::Resource::Base<ReportsResource> {
  llvm::StringRef getName() final { return "reports"; }
};

} // namespace tile

#endif // TILE_DIALECT_TILE_IR_REPORTS_H
