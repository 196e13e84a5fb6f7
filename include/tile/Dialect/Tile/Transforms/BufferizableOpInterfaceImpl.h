//===- BufferizableOpInterfaceImpl.h - Bufferization of tiles ---*- C++ -*-===//
#ifndef TILE_DIALECT_TILE_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H
#define TILE_DIALECT_TILE_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace tile {

/// Lets tile.load, tile.transpose and tile.convert_layout be bufferized where
/// they touch tiles in shared memory. Tiles in registers have no buffers: keep
/// operations on those alone out by the filter of the options.
void registerBufferizableOpInterfaceExternalModels(
    mlir::DialectRegistry &registry);

} // namespace tile

#endif // TILE_DIALECT_TILE_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H
