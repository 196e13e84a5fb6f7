//===- Pipelines.h - The whole way from tiles to LLVM -----------*- C++ -*-===//
//
// One function a vendor, used by tile-opt, tile-translate, the C API and
// Python alike. A module may enter at any stage: a pass has nothing to do on
// IR that is past it.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PIPELINES_PIPELINES_H
#define TILE_PIPELINES_PIPELINES_H

#include "mlir/Pass/PassOptions.h"
#include <string>

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace tile {

struct TileToLLVMOptions : mlir::PassPipelineOptions<TileToLLVMOptions> {
  Option<std::string> chip{
      *this, "chip",
      llvm::cl::desc("The chip to compile for; the module's 'tile.target' if "
                     "not given")};
};
using TileToNVVMOptions = TileToLLVMOptions;
using TileToROCDLOptions = TileToLLVMOptions;

/// S0..S5 to S6, NVIDIA: `--tile-to-nvvm=chip=sm_90a`.
void buildTileToNVVMPipeline(mlir::OpPassManager &pm,
                             const TileToNVVMOptions &options);
/// S0..S5 to S6, AMD: `--tile-to-rocdl=chip=gfx1100`.
void buildTileToROCDLPipeline(mlir::OpPassManager &pm,
                              const TileToROCDLOptions &options);

/// Only the tail of both: S5 (one thread's program) to S6 (LLVM dialect).
void buildDeviceToLLVMPipeline(mlir::OpPassManager &pm);

void registerPipelines();

} // namespace tile

#endif // TILE_PIPELINES_PIPELINES_H
