//===- InitAll.h - Registration of dialects and passes ----------*- C++ -*-===//
#ifndef TILE_INITALL_H
#define TILE_INITALL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace tile {

/// Registers the dialects of the project, the dialects that they are lowered
/// to, and the interface implementations and translations that these need.
void registerAllDialects(mlir::DialectRegistry &registry);

/// Registers all passes and pipelines of the project.
void registerAllPasses();

} // namespace tile

#endif // TILE_INITALL_H
