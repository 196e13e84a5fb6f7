//===- main.cpp - A program that uses the installed library ---------------===//

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "tile/Driver/Compile.h"
#include "tile/InitAll.h"

// Compiles a file of tile IR (first argument) for a chip (second argument).
// Writes the PTX to stdout and the manifest to stderr.
int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  tile::registerAllDialects(registry);
  mlir::MLIRContext context(registry);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceFile<mlir::ModuleOp>(argc > 1 ? argv[1] : "-", &context);
  if (!module)
    return 1;

  tile::CompileOptions options;
  options.chip = argc > 2 ? argv[2] : "sm_80";
  llvm::FailureOr<tile::Artifact> artifact =
      tile::compile(*module, tile::OutputKind::PTX, options);
  if (failed(artifact))
    return 1;
  llvm::outs() << artifact->data;
  llvm::errs() << artifact->manifest << '\n';
  return 0;
}
