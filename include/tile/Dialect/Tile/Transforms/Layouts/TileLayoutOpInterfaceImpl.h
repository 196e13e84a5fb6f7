//===- TileLayoutOpInterfaceImpl.h - Layouts of other dialects --*- C++ -*-===//
#ifndef TILE_DIALECT_TILE_TRANSFORMS_LAYOUTS_TILELAYOUTOPINTERFACEIMPL_H
#define TILE_DIALECT_TILE_TRANSFORMS_LAYOUTS_TILELAYOUTOPINTERFACEIMPL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace tile {

/// Registers the layouts of arith.constant, tensor.splat, scf.for, scf.if,
/// scf.yield, and of all elementwise operations of arith and math.
void registerTileLayoutOpInterfaceExternalModels(
    mlir::DialectRegistry &registry);

} // namespace tile

#endif // TILE_DIALECT_TILE_TRANSFORMS_LAYOUTS_TILELAYOUTOPINTERFACEIMPL_H
