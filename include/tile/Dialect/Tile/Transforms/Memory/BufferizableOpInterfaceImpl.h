//===- BufferizableOpInterfaceImpl.h - Bufferization of tiles ---*- C++ -*-===//
#ifndef TILE_DIALECT_TILE_TRANSFORMS_MEMORY_BUFFERIZABLEOPINTERFACEIMPL_H
#define TILE_DIALECT_TILE_TRANSFORMS_MEMORY_BUFFERIZABLEOPINTERFACEIMPL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace tile {

/// Registers the bufferization of tile.load, tile.transpose and
/// tile.convert_layout for tiles in shared memory. Tiles in registers have no
/// buffers: the filter of the bufferization options must exclude operations
/// that use only those.
void registerBufferizableOpInterfaceExternalModels(
    mlir::DialectRegistry &registry);

} // namespace tile

#endif // TILE_DIALECT_TILE_TRANSFORMS_MEMORY_BUFFERIZABLEOPINTERFACEIMPL_H
