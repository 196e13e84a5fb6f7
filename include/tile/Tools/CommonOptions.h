//===- CommonOptions.h - Options that several tools have --------*- C++ -*-===//
#ifndef TILE_TOOLS_COMMONOPTIONS_H
#define TILE_TOOLS_COMMONOPTIONS_H

#include "tile/Driver/Compile.h"
#include "llvm/Support/CommandLine.h"
#include <string>

namespace mlir {
class MLIRContext;
}

namespace tile {

/// Returns the versions of this project and of LLVM: `Tile 0.1.0, LLVM 22.1.8`.
std::string versionText();

/// Makes `--version` print the version of this project, then that of LLVM. Call
/// it before the command line is parsed.
void setVersionPrinter();

/// Makes the optimisation remarks of the project's passes diagnostics of
/// `context`, as `tile-opt --remarks-filter='tile-.*'
/// --remark-format=emitRemark` does.
void printRemarks(mlir::MLIRContext &context);

/// Options for what kernels become: `--schedule`, `--sizes`, `--candidates`,
/// `--schedules` and `--no-assertions`.
class KernelOptions {
public:
  explicit KernelOptions(llvm::cl::OptionCategory &category);

  /// Copies the values of the options.
  void copyTo(CompileOptions &options) const;

private:
  llvm::cl::opt<std::string> schedule, sizes, schedules;
  llvm::cl::opt<unsigned> candidates;
  llvm::cl::opt<bool> noAssertions;
};

} // namespace tile

#endif // TILE_TOOLS_COMMONOPTIONS_H
