//===- Pipelines.h - Pipelines from tiles to LLVM ---------------*- C++ -*-===//
//
// One function per vendor, shared by tile-opt, tile-translate, the C API and
// Python. A module may enter a pipeline at any stage S0 to S5: each pass leaves
// IR of a later stage unchanged.
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
  Option<std::string> schedule{
      *this, "schedule",
      llvm::cl::desc("Fields of the schedules of the kernels (see "
                     "tile-apply-schedule)")};
  Option<std::string> sizes{
      *this, "sizes",
      llvm::cl::desc("The problem that open extents are chosen for (see "
                     "tile-close-extents)")};
  Option<unsigned> candidates{
      *this, "candidates", llvm::cl::init(6),
      llvm::cl::desc("The candidates for open extents that remarks show (see "
                     "tile-close-extents)")};
  Option<std::string> schedules{
      *this, "schedules",
      llvm::cl::desc("Folder with a file <chip>.mlir of schedules (see "
                     "tile-expand-attention)")};
  Option<bool> assertions{*this, "assertions", llvm::cl::init(true),
                          llvm::cl::desc("Keep the assertions of kernels (see "
                                         "tile-strip-assertions)")};
};
using TileToNVVMOptions = TileToLLVMOptions;
using TileToROCDLOptions = TileToLLVMOptions;

/// Builds the pipeline from stages S0 to S5 to S6 (LLVM dialect) for NVIDIA
/// chips: `--tile-to-nvvm=chip=sm_90a`.
void buildTileToNVVMPipeline(mlir::OpPassManager &pm,
                             const TileToNVVMOptions &options);
/// Builds the pipeline from stages S0 to S5 to S6 (LLVM dialect) for AMD chips:
/// `--tile-to-rocdl=chip=gfx1100`.
void buildTileToROCDLPipeline(mlir::OpPassManager &pm,
                              const TileToROCDLOptions &options);

/// Builds the last part of both pipelines: from S5 (the program of one thread)
/// to S6 (LLVM dialect).
void buildDeviceToLLVMPipeline(mlir::OpPassManager &pm);

void registerPipelines();

} // namespace tile

#endif // TILE_PIPELINES_PIPELINES_H
