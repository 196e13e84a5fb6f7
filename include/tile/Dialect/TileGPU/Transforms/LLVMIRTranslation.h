//===- LLVMIRTranslation.h - tile_gpu to LLVM IR ----------------*- C++ -*-===//
#ifndef TILE_DIALECT_TILEGPU_TRANSFORMS_LLVMIRTRANSLATION_H
#define TILE_DIALECT_TILEGPU_TRANSFORMS_LLVMIRTRANSLATION_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace tile {

/// Registers the translation of tile_gpu to LLVM IR. A tile_gpu.manifest
/// produces no code. Other operations of the dialect have no translation.
void registerTileGPUDialectTranslation(mlir::DialectRegistry &registry);

} // namespace tile

#endif // TILE_DIALECT_TILEGPU_TRANSFORMS_LLVMIRTRANSLATION_H
