//===- CommonOptions.cpp - Options of several tools -----------------------===//

#include "tile/Tools/CommonOptions.h"
#include "Version.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

std::string tile::versionText() {
  return "Tile " TILE_VERSION ", LLVM " LLVM_VERSION_STRING;
}

void tile::setVersionPrinter() {
  llvm::cl::SetVersionPrinter([](llvm::raw_ostream &os) {
    os << "Tile " << TILE_VERSION << '\n';
    os.flush();
    llvm::cl::PrintVersionMessage();
  });
}

tile::KernelOptions::KernelOptions(llvm::cl::OptionCategory &category)
    : schedule(
          "schedule",
          llvm::cl::desc("Fields of the schedules of all kernels, for example "
                         "'tile = [128, 64], stages = 3', or of some: "
                         "'@name: fields; ...'"),
          llvm::cl::value_desc("fields"), llvm::cl::cat(category)),
      sizes("sizes",
            llvm::cl::desc("The problem that open extents are chosen for, by "
                           "the arguments: 'a = 4096x7168, n = 3, ...'"),
            llvm::cl::value_desc("extents"), llvm::cl::cat(category)),
      schedules("schedules",
                llvm::cl::desc("Folder of files <chip>.mlir that replace the "
                               "compiler's schedules; default: "
                               "$TILE_SCHEDULES"),
                llvm::cl::value_desc("folder"), llvm::cl::cat(category)),
      candidates("candidates",
                 llvm::cl::desc("The candidates for open extents that remarks "
                                "show; default: 6"),
                 llvm::cl::value_desc("number"), llvm::cl::init(6),
                 llvm::cl::cat(category)),
      noAssertions("no-assertions",
                   llvm::cl::desc("Remove the assertions of kernels "
                                  "(tile.assert)"),
                   llvm::cl::cat(category)) {}

void tile::KernelOptions::copyTo(CompileOptions &options) const {
  options.schedule = schedule;
  options.sizes = sizes;
  options.schedules = schedules;
  options.candidates = candidates;
  options.assertions = !noAssertions;
}

void tile::printRemarks(mlir::MLIRContext &context) {
  // `all` alone enables no kind of remark.
  const std::string ours = "tile-.*";
  mlir::remark::RemarkCategories categories{ours, ours, ours, ours, ours};
  // Fails only if there is an engine already.
  (void)mlir::remark::enableOptimizationRemarks(
      context, /*streamer=*/nullptr,
      std::make_unique<mlir::remark::RemarkEmittingPolicyAll>(), categories,
      /*printAsEmitRemarks=*/true);
}
