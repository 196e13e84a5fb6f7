//===- Products.h - Matrix products of a thread -----------------*- C++ -*-===//
#ifndef TILE_LIB_CONVERSION_TILETOGPU_PRODUCTS_H
#define TILE_LIB_CONVERSION_TILETOGPU_PRODUCTS_H

#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "tile/Dialect/Tile/IR/Contains.h"
#include "tile/Dialect/TileGPU/IR/TileGPU.h"

namespace tile {

/// Returns true if `op` is a product, in flight or not.
inline bool isProduct(mlir::Operation &op) {
  return mlir::isa<tile::gpu::MmaOp, mlir::nvgpu::WarpgroupMmaOp>(op);
}

/// Returns true if `root` is or contains a product.
inline bool containsProduct(mlir::Operation *root) {
  return containsOp(root, [](mlir::Operation *op) { return isProduct(*op); });
}

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETOGPU_PRODUCTS_H
