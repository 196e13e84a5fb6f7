//===- Reports.h - What a program reports -----------------------*- C++ -*-===//
#ifndef TILE_DIALECT_TILE_IR_REPORTS_H
#define TILE_DIALECT_TILE_IR_REPORTS_H

#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tile {

/// What assertions and prints write to. It is no memory that other operations
/// access.
struct ReportsResource : mlir::SideEffects::Resource::Base<ReportsResource> {
  llvm::StringRef getName() final { return "reports"; }
};

} // namespace tile

#endif // TILE_DIALECT_TILE_IR_REPORTS_H
