//===- Passes.h - Conversion of tiles to one thread's program ---*- C++ -*-===//
#ifndef TILE_CONVERSION_TILETOGPU_PASSES_H
#define TILE_CONVERSION_TILETOGPU_PASSES_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "tile/Dialect/TileGPU/IR/TileGPU.h"

namespace tile {

#define GEN_PASS_DECL
#include "tile/Conversion/TileToGPU/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "tile/Conversion/TileToGPU/Passes.h.inc"

} // namespace tile

#endif // TILE_CONVERSION_TILETOGPU_PASSES_H
