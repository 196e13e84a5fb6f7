//===- InitAll.h - Registration of everything -------------------*- C++ -*-===//
#ifndef TILE_INITALL_H
#define TILE_INITALL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace tile {

/// The tile dialects, the dialects that their lowerings go through, and the
/// interface implementations and translations those need.
void registerAllDialects(mlir::DialectRegistry &registry);

/// All passes and pipelines of the project.
void registerAllPasses();

} // namespace tile

#endif // TILE_INITALL_H
