//===- tile-import.cpp - Imports attention of other frameworks ------------===//

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "tile/Import/Passes.h"
#include "tile/InitAll.h"
#include "tile/Tools/CommonOptions.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  tile::setVersionPrinter();
  mlir::DialectRegistry registry;
  tile::registerAllDialects(registry);
  auto [input, output] = mlir::registerAndParseCLIOptions(
      argc, argv, "tile import driver\n", registry);

  mlir::MlirOptMainConfig config =
      mlir::MlirOptMainConfig::createFromCLOptions();
  // The dialects of ONNX and PyTorch are unregistered.
  config.allowUnregisteredDialects(true);
  config.setPassPipelineSetupFn([](mlir::PassManager &pm) {
    pm.addPass(tile::createTileImportAttention());
    return mlir::success();
  });

  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> source =
      mlir::openInputFile(input, &message);
  if (!source) {
    llvm::errs() << message << '\n';
    return 1;
  }
  std::unique_ptr<llvm::ToolOutputFile> file =
      mlir::openOutputFile(output, &message);
  if (!file) {
    llvm::errs() << message << '\n';
    return 1;
  }
  if (failed(
          mlir::MlirOptMain(file->os(), std::move(source), registry, config)))
    return 1;
  file->keep();
  return 0;
}
