//===- tile-opt.cpp - Runs passes on tile IR ------------------------------===//

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "tile/InitAll.h"
#include "tile/Tools/CommonOptions.h"

int main(int argc, char **argv) {
  tile::setVersionPrinter();
  mlir::DialectRegistry registry;
  tile::registerAllDialects(registry);
  tile::registerAllPasses();
  mlir::registerTransformsPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "tile optimizer driver\n", registry));
}
