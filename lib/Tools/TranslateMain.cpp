//===- TranslateMain.cpp - The tile-translate tool ------------------------===//

#include "tile/Tools/TranslateMain.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/FileUtilities.h"
#include "tile/Chips/Chips.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Driver/AMD/IssueModel.h"
#include "tile/Driver/Compile.h"
#include "tile/Driver/ReadProgram.h"
#include "tile/Driver/ResourceUsage.h"
#include "tile/InitAll.h"
#include "tile/Tools/CommonOptions.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/WithColor.h"
#include <chrono>

using namespace mlir;
namespace cl = llvm::cl;

namespace {

/// The parsed command line. It is a plain struct, because the linker, a library
/// in this process, resets all command line options.
struct Arguments {
  std::string input, output, manifest;
  /// Nothing: the input is a code object, whose resources are printed.
  std::optional<tile::OutputKind> kind;
  tile::CompileOptions compile;
  bool timing, resources, remarks;
  int64_t launchShared;
};

} // namespace

static Arguments parseArguments(int argc, char **argv) {
  static cl::OptionCategory category("tile-translate options");
  static cl::opt<std::string> input(cl::Positional, cl::desc("<input file>"),
                                    cl::init("-"), cl::cat(category));
  static cl::opt<std::string> output("o", cl::desc("Where to write"),
                                     cl::value_desc("file"), cl::init("-"),
                                     cl::cat(category));
  static cl::opt<tile::OutputKind> kind(
      cl::desc("What to write:"),
      cl::values(
          clEnumValN(tile::OutputKind::PTX, "tile-to-ptx", "PTX (NVIDIA)"),
          clEnumValN(tile::OutputKind::HSACO, "tile-to-hsaco",
                     "a code object (AMD)"),
          clEnumValN(tile::OutputKind::LLVMIR, "tile-to-llvmir",
                     "LLVM IR, optimised as for the chip")),
      cl::cat(category));
  static cl::opt<std::string> chip(
      "chip", cl::desc("The chip to compile for; 'help' lists them"),
      cl::value_desc("name"), cl::cat(category));
  static cl::opt<char> level("O", cl::desc("Optimisation level, 0 to 3"),
                             cl::Prefix, cl::init('3'), cl::cat(category));
  static cl::opt<std::string> manifest(
      "manifest", cl::desc("Also write what a launcher needs, as JSON"),
      cl::value_desc("file"), cl::cat(category));
  static cl::opt<bool> timing(
      "timing", cl::desc("Print the time of each stage to stderr"),
      cl::cat(category));
  static cl::opt<bool> resources(
      "resources",
      cl::desc(
          "Print the registers and memory of each kernel to stdout, one "
          "JSON object a line; on AMD also its inner loops by unit. Alone, "
          "it reads a code object"),
      cl::cat(category));
  static cl::opt<int64_t> launchShared(
      "launch-shared",
      cl::desc("Bytes of the LDS that launches of the code object of "
               "--resources add to those of its metadata"),
      cl::value_desc("bytes"), cl::init(0), cl::cat(category));
  static cl::opt<bool> remarks(
      "remarks", cl::desc("Print the optimization remarks of the compiler"),
      cl::cat(category));
  static tile::KernelOptions kernels(category);
  cl::HideUnrelatedOptions(category);
  tile::setVersionPrinter();
  cl::ParseCommandLineOptions(argc, argv, "compiler of tile programs\n");

  auto fail = [&](const llvm::Twine &message) {
    llvm::WithColor::error(llvm::errs(), "tile-translate") << message << "\n";
    std::exit(1);
  };
  if (chip == "help") {
    for (const tile::Chip &row : tile::chips())
      llvm::outs() << row.name << "\n";
    std::exit(0);
  }
  bool isCodeObject = resources && kind.getNumOccurrences() == 0;
  if (kind.getNumOccurrences() != 1 && !isCodeObject)
    fail("say one of --tile-to-ptx, --tile-to-hsaco and --tile-to-llvmir");
  if (level < '0' || level > '3')
    fail("the optimisation level is one of -O0, -O1, -O2 and -O3");
  if (isCodeObject && (output != "-" || !manifest.empty()))
    fail("--resources of a code object writes to stdout, without -o and "
         "--manifest");
  if (launchShared.getNumOccurrences() != 0 && !isCodeObject)
    fail("--launch-shared is for --resources of a code object");
  if (launchShared < 0)
    fail("--launch-shared is negative");
  if (resources && !isCodeObject && output == "-")
    fail("--resources needs -o: both would write to stdout");
  if (!manifest.empty() && manifest == output)
    fail("--manifest and -o name the same file");

  Arguments arguments;
  arguments.input = input;
  arguments.output = output;
  arguments.manifest = manifest;
  if (!isCodeObject)
    arguments.kind = kind;
  arguments.compile.chip = chip;
  arguments.compile.optLevel = level - '0';
  arguments.compile.requireManifest = !manifest.empty();
  kernels.copyTo(arguments.compile);
  arguments.timing = timing;
  arguments.resources = resources;
  arguments.launchShared = launchShared;
  arguments.remarks = remarks;
  return arguments;
}

/// Writes a whole file, or none.
static LogicalResult writeFile(StringRef path, StringRef data, Location loc) {
  std::string message;
  std::unique_ptr<llvm::ToolOutputFile> file = openOutputFile(path, &message);
  if (!file)
    return emitError(loc) << message;
  file->os() << data;
  file->os().close();
  if (std::error_code code = file->os().error()) {
    file->os().clear_error();
    return emitError(loc) << "cannot write " << path << ": " << code.message();
  }
  file->keep();
  return success();
}

/// Prints the resources and the loops of the kernels of an AMD code object.
/// Launches add `launchShared` bytes of the LDS.
static llvm::Error printCodeObject(StringRef data, const tile::Chip &chip,
                                   int64_t launchShared = 0) {
  auto kernels = tile::readCodeObjectResources(data);
  if (!kernels)
    return kernels.takeError();
  auto loops = tile::readCodeObjectLoops(data, chip.name);
  if (!loops)
    return loops.takeError();
  for (tile::KernelResources &kernel : *kernels) {
    kernel.sharedBytes += launchShared;
    llvm::json::Value line = tile::toJSON(kernel);
    for (const tile::AMDKernelLoops &code : *loops)
      if (code.name == kernel.name)
        for (auto &[key, value] : tile::describeLoops(code, kernel, chip))
          (*line.getAsObject())[key] = value;
    llvm::outs() << line << "\n";
  }
  return llvm::Error::success();
}

/// Prints the resources and the loops of the kernels of a code object from any
/// compiler. The chip is that of the code object; `expected` may name it too.
static llvm::Error readCodeObject(StringRef data, StringRef expected,
                                  int64_t launchShared) {
  llvm::Expected<std::string> name = tile::readCodeObjectChip(data);
  if (!name)
    return name.takeError();
  if (!expected.empty() && expected != *name)
    return llvm::createStringError("the code object is for " + *name +
                                   ", not for " + expected);
  const tile::Chip *chip = tile::findChip(*name);
  if (!chip)
    return llvm::createStringError("the code object is for " + *name +
                                   ", which is no chip of --chip=help");
  return printCodeObject(data, *chip, launchShared);
}

/// Prints the resources of the kernels of `module`. Their spills are remarks;
/// compile() emits those of code objects.
static LogicalResult printResources(const tile::Artifact &artifact,
                                    ModuleOp module) {
  Location loc = module.getLoc();
  if (artifact.kind == tile::OutputKind::LLVMIR)
    return emitError(loc, "LLVM IR has no registers; --resources is for PTX "
                          "and HSACO");
  StringRef chip =
      module->getAttrOfType<StringAttr>(tile::TileDialect::kTargetAttr);
  if (artifact.kind == tile::OutputKind::HSACO) {
    if (llvm::Error error =
            printCodeObject(artifact.data, *tile::findChip(chip)))
      return emitError(loc, llvm::toString(std::move(error)));
    return success();
  }
  std::optional<std::string> ptxas = tile::findPtxas();
  if (!ptxas) {
    llvm::outs() << "unknown (no ptxas)\n";
    return success();
  }
  llvm::Expected<std::vector<tile::KernelResources>> kernels =
      tile::readPtxResources(artifact.data, chip, *ptxas);
  if (!kernels)
    return emitError(loc, llvm::toString(kernels.takeError()));
  reportSpills(module, *kernels);
  for (const tile::KernelResources &kernel : *kernels)
    llvm::outs() << tile::toJSON(kernel) << "\n";
  return success();
}

static void printTimes(const std::vector<tile::StageTime> &times) {
  double total = 0;
  for (const tile::StageTime &time : times) {
    llvm::errs() << llvm::formatv("{0,8:f1} ms  {1}\n", time.seconds * 1e3,
                                  time.stage);
    total += time.seconds;
  }
  llvm::errs() << llvm::formatv("{0,8:f1} ms  total\n", total * 1e3);
}

int tile::translateMain(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  Arguments arguments = parseArguments(argc, argv);

  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> input =
      openInputFile(arguments.input, &message);
  if (!input) {
    llvm::WithColor::error(llvm::errs(), "tile-translate") << message << "\n";
    return 1;
  }
  if (!arguments.kind) {
    llvm::Error error = readCodeObject(
        input->getBuffer(), arguments.compile.chip, arguments.launchShared);
    if (!error)
      return 0;
    llvm::WithColor::error(llvm::errs(), "tile-translate")
        << arguments.input << ": " << llvm::toString(std::move(error)) << "\n";
    return 1;
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(input), SMLoc());

  auto start = std::chrono::steady_clock::now();
  DialectRegistry registry;
  registerAllDialects(registry);
  // Modules are small: starting threads costs more than it saves.
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  SourceMgrDiagnosticHandler handler(sources, &context);
  if (arguments.remarks)
    printRemarks(context);
  OwningOpRef<ModuleOp> module = readProgram(sources, context);
  if (!module)
    return 1;
  double parseTime =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();

  FailureOr<Artifact> artifact =
      compile(*module, *arguments.kind, arguments.compile);
  if (failed(artifact))
    return 1;
  artifact->times.insert(artifact->times.begin(), {"parse", parseTime});

  Location loc = module->getLoc();
  if (!arguments.manifest.empty()) {
    std::string text = llvm::formatv("{0:2}\n", artifact->manifest);
    if (failed(writeFile(arguments.manifest, text, loc)))
      return 1;
  }
  if (failed(writeFile(arguments.output, artifact->data, loc)))
    return 1;
  if (arguments.resources && failed(printResources(*artifact, *module)))
    return 1;
  if (arguments.timing)
    printTimes(artifact->times);
  return 0;
}
