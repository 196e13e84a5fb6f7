//===- tile-lsp-server.cpp - Language server for tile IR ------------------===//

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "tile/InitAll.h"
#include "tile/Tools/CommonOptions.h"

int main(int argc, char **argv) {
  tile::setVersionPrinter();
  mlir::DialectRegistry registry;
  tile::registerAllDialects(registry);
  return failed(mlir::MlirLspServerMain(argc, argv, registry));
}
