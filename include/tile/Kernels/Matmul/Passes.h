//===- Passes.h - Passes over named matrix products -------------*- C++ -*-===//
#ifndef TILE_KERNELS_MATMUL_PASSES_H
#define TILE_KERNELS_MATMUL_PASSES_H

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace tile {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "tile/Kernels/Matmul/Passes.h.inc"

} // namespace tile

#endif // TILE_KERNELS_MATMUL_PASSES_H
