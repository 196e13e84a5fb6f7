//===- tile-reduce.cpp - Shrinks a failing tile program -------------------===//

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"
#include "mlir/Transforms/Passes.h"
#include "tile/InitAll.h"
#include "tile/Reducer/Passes.h"
#include "tile/Tools/CommonOptions.h"

int main(int argc, char **argv) {
  tile::setVersionPrinter();
  mlir::DialectRegistry registry;
  tile::registerAllDialects(registry);
  tile::registerAllPasses();
  tile::registerTileReducerPasses();
  mlir::registerTransformsPasses();
  mlir::MLIRContext context(registry);
  return failed(mlir::mlirReduceMain(argc, argv, context));
}
