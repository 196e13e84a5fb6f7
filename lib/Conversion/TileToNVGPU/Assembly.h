//===- Assembly.h - Instructions that LLVM does not name --------*- C++ -*-===//
#ifndef TILE_LIB_CONVERSION_TILETONVGPU_ASSEMBLY_H
#define TILE_LIB_CONVERSION_TILETONVGPU_ASSEMBLY_H

#include "mlir/IR/Builders.h"

namespace tile {

/// An instruction without results, which no access to memory moves across;
/// `text` says where the operands go.
void emitAssembly(mlir::OpBuilder &builder, mlir::Location loc,
                  const llvm::Twine &text, llvm::StringRef constraints,
                  mlir::ValueRange operands);

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETONVGPU_ASSEMBLY_H
