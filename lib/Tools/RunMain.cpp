//===- RunMain.cpp - The tile-run tool ------------------------------------===//

#include "tile/Tools/RunMain.h"
#include "Array.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/FileUtilities.h"
#include "tile/Chips/Chips.h"
#include "tile/Driver/ReadProgram.h"
#include "tile/Executor/Executor.h"
#include "tile/InitAll.h"
#include "tile/Tools/CommonOptions.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"
#include <chrono>
#include <cmath>

using namespace mlir;
namespace cl = llvm::cl;

namespace {

struct Arguments {
  std::string input;
  tile::cpu::ProgramOptions program;
  tile::cpu::RunOptions run;
  std::vector<std::string> values, outputs, expected;
  double rtol, atol;
  bool timing, remarks;
};

/// The arguments of a run, with the memory of the buffers.
struct Operands {
  llvm::ArrayRef<tile::cpu::Parameter> parameters;
  /// Memory of the buffers; empty for scalars.
  std::vector<std::optional<tile::Array>> arrays;
  std::vector<tile::cpu::Argument> arguments;
};

} // namespace

static llvm::raw_ostream &error() {
  return llvm::WithColor::error(llvm::errs(), "tile-run");
}

static Arguments parseArguments(int argc, char **argv) {
  static cl::OptionCategory category("tile-run options");
  static cl::opt<std::string> input(cl::Positional, cl::desc("<input file>"),
                                    cl::init("-"), cl::cat(category));
  static cl::opt<std::string> chip(
      "chip", cl::desc("The chip to compile for; 'help' lists them"),
      cl::value_desc("name"), cl::cat(category));
  static cl::opt<char> level("O", cl::desc("Optimisation level, 0 to 3"),
                             cl::Prefix, cl::init('3'), cl::cat(category));
  static cl::list<std::string> values(
      "arg",
      cl::desc("An argument, in the order of the parameters or by its name: a "
               ".npy file, random:SHAPE:DTYPE:SEED, zeros:SHAPE:DTYPE, "
               "nan:SHAPE:DTYPE, a number, or true or false"),
      cl::value_desc("[name=]value"), cl::cat(category));
  static cl::list<std::string> outputs(
      "out",
      cl::desc("Where to write a buffer; without a name the next one that the "
               "kernels write to"),
      cl::value_desc("[name=]file.npy"), cl::cat(category));
  static cl::list<std::string> expected(
      "expect",
      cl::desc("What a buffer must then hold; without a name the next one that "
               "the kernels write to"),
      cl::value_desc("[name=]file.npy"), cl::cat(category));
  static cl::opt<double> rtol("rtol", cl::desc("Relative error allowed"),
                              cl::init(1e-2), cl::cat(category));
  static cl::opt<double> atol("atol", cl::desc("Absolute error allowed"),
                              cl::init(1e-2), cl::cat(category));
  static cl::opt<std::string> grid(
      "grid", cl::desc("Blocks to run, instead of what the manifest says"),
      cl::value_desc("X,Y,Z"), cl::cat(category));
  static cl::opt<unsigned> jobs(
      "jobs", cl::desc("Threads of this machine; default: one for each core"),
      cl::init(0), cl::cat(category));
  static cl::opt<uint64_t> turns(
      "max-turns",
      cl::desc("How often the threads of a block may go round loops while none "
               "of them ends or waits; 0: for ever"),
      cl::init(tile::cpu::RunOptions().maxTurns), cl::cat(category));
  enum class Checks { Off, On };
  static cl::opt<Checks> checks(
      "checks",
      cl::desc("Whether to watch accesses to memory and what orders them:"),
      cl::values(clEnumValN(Checks::On, "on", "yes, the default"),
                 clEnumValN(Checks::Off, "off", "no, which is faster")),
      cl::init(Checks::On), cl::cat(category));
  // LLVM has an option of this name for its own statistics.
  if (cl::Option *other = cl::getRegisteredOptions().lookup("stats"))
    other->setArgStr("llvm-stats");
  static cl::opt<bool> stats(
      "stats",
      cl::desc("Print what the kernels did: instructions by kind, bytes, bank "
               "conflicts"),
      cl::cat(category));
  static cl::opt<bool> timing(
      "timing", cl::desc("Print the time of compiling and running to stderr"),
      cl::cat(category));
  static cl::opt<bool> remarks(
      "remarks", cl::desc("Print the optimization remarks of the compiler"),
      cl::cat(category));
  static tile::KernelOptions kernels(category);
  cl::HideUnrelatedOptions(category);
  tile::setVersionPrinter();
  cl::ParseCommandLineOptions(argc, argv,
                              "runs kernels, compiled for a GPU, on the CPU\n");

  auto fail = [&](const llvm::Twine &message) {
    error() << message << "\n";
    std::exit(1);
  };
  if (chip == "help") {
    for (const tile::Chip &row : tile::chips())
      llvm::outs() << row.name << "\n";
    std::exit(0);
  }
  if (level < '0' || level > '3')
    fail("the optimisation level is one of -O0, -O1, -O2 and -O3");

  Arguments arguments;
  arguments.input = input;
  arguments.program.compile.chip = chip;
  arguments.program.compile.optLevel = level - '0';
  kernels.copyTo(arguments.program.compile);
  arguments.program.checks = checks == Checks::On;
  arguments.program.statistics = stats;
  arguments.values = values;
  arguments.outputs = outputs;
  arguments.expected = expected;
  arguments.rtol = rtol;
  arguments.atol = atol;
  arguments.timing = timing;
  arguments.remarks = remarks;
  arguments.run.jobs = jobs;
  arguments.run.maxTurns = turns;
  if (!grid.empty()) {
    llvm::SmallVector<StringRef> extents;
    StringRef(grid).split(extents, ',');
    std::array<int64_t, 3> blocks{1, 1, 1};
    if (extents.size() > 3)
      fail("--grid has at most three extents");
    for (auto [i, extent] : llvm::enumerate(extents))
      if (extent.trim().getAsInteger(10, blocks[i]) || blocks[i] < 0 ||
          blocks[i] > std::numeric_limits<int32_t>::max())
        fail("--grid=" + grid + " is not a list of extents");
    arguments.run.grid = blocks;
  }
  return arguments;
}

/// Splits `name=value` where `name` is a parameter, and returns its index.
static std::optional<unsigned>
takeName(StringRef &text, llvm::ArrayRef<tile::cpu::Parameter> parameters) {
  auto [name, value] = text.split('=');
  if (value.data() == nullptr || name.size() == text.size())
    return std::nullopt;
  for (auto [i, parameter] : llvm::enumerate(parameters))
    if (parameter.name == name) {
      text = value;
      return i;
    }
  return std::nullopt;
}

static llvm::Error fillOperand(Operands &operands, unsigned index,
                               StringRef text) {
  const tile::cpu::Parameter &parameter = operands.parameters[index];
  if (!parameter.isBuffer) {
    double real;
    int64_t integer;
    if (parameter.type == "i1" && (text == "true" || text == "false"))
      operands.arguments[index] = int64_t(text == "true");
    else if (!text.getAsInteger(0, integer))
      operands.arguments[index] = integer;
    else if (!text.getAsDouble(real))
      operands.arguments[index] = real;
    else
      return llvm::createStringError("'" + text + "' is not a number");
    return llvm::Error::success();
  }
  auto array = text.ends_with(".npy") ? tile::readNpy(text, parameter.type)
                                      : tile::makeArray(text);
  if (!array)
    return array.takeError();
  operands.arrays[index] = std::move(*array);
  operands.arguments[index] = operands.arrays[index]->tensor();
  return llvm::Error::success();
}

static llvm::Error fillOperands(Operands &operands,
                                const std::vector<std::string> &values) {
  size_t count = operands.parameters.size();
  operands.arrays.resize(count);
  operands.arguments.resize(count);
  std::vector<bool> given(count);
  unsigned next = 0;
  for (StringRef value : values) {
    std::optional<unsigned> index = takeName(value, operands.parameters);
    while (!index && next < count && given[next])
      ++next;
    unsigned place = index.value_or(next);
    if (place >= count || given[place])
      return llvm::createStringError("--arg " + value +
                                     " is one too many: the kernels take " +
                                     llvm::Twine(count));
    given[place] = true;
    if (llvm::Error error = fillOperand(operands, place, value))
      return llvm::createStringError("argument '" +
                                     operands.parameters[place].name +
                                     "': " + llvm::toString(std::move(error)));
  }
  for (auto [i, parameter] : llvm::enumerate(operands.parameters)) {
    if (given[i])
      continue;
    std::string type = parameter.type;
    if (parameter.isBuffer) {
      llvm::raw_string_ostream os(type);
      os << " buffer ";
      llvm::interleave(
          parameter.shape, os,
          [&](auto extent) { extent ? os << *extent : os << '?'; }, "x");
    }
    return llvm::createStringError(
        llvm::formatv("argument {0} '{1}' ({2}) is not given: say --arg", i,
                      parameter.name, type));
  }
  return llvm::Error::success();
}

/// Returns the buffer that `text` names, or the next one that a kernel writes.
static llvm::Expected<unsigned> findOutput(const Operands &operands,
                                           StringRef &text, unsigned &next) {
  std::optional<unsigned> index = takeName(text, operands.parameters);
  if (!index) {
    while (next < operands.parameters.size() &&
           !operands.parameters[next].isWritten)
      ++next;
    index = next++;
  }
  if (*index >= operands.parameters.size())
    return llvm::createStringError("the kernels write to fewer buffers than "
                                   "there are outputs");
  if (!operands.arrays[*index])
    return llvm::createStringError("'" + operands.parameters[*index].name +
                                   "' is not a buffer");
  return *index;
}

/// Compares the array with a file and prints the largest difference. Returns
/// whether an element differs by more than allowed.
static llvm::Expected<bool> differs(const tile::Array &array, StringRef name,
                                    StringRef file,
                                    const Arguments &arguments) {
  llvm::Expected<std::vector<double>> reference =
      tile::readNpyAsDouble(file, array.type(), array.shape());
  if (!reference)
    return reference.takeError();
  int64_t wrong = 0, worst = -1;
  double largest = 0, excess = -1;
  for (int64_t i = 0; i < array.size(); ++i) {
    double value = array.get(i), wanted = (*reference)[i];
    if (value == wanted || (std::isnan(value) && std::isnan(wanted)))
      continue;
    double difference = std::abs(value - wanted);
    double allowed = arguments.atol + arguments.rtol * std::abs(wanted);
    // NaN counts as the largest difference.
    bool far = !(difference <= allowed);
    double over = std::isnan(difference) ? HUGE_VAL : difference - allowed;
    largest = std::isnan(difference) ? HUGE_VAL : std::max(largest, difference);
    wrong += far;
    if (far && (worst < 0 || over > excess)) {
      worst = i;
      excess = over;
    }
  }
  llvm::outs() << llvm::formatv("{0}: largest difference {1:e2}", name,
                                largest);
  if (wrong != 0) {
    llvm::SmallVector<int64_t> index(array.shape().size());
    int64_t rest = worst;
    for (size_t d = index.size(); d-- > 0; rest /= array.shape()[d])
      index[d] = rest % array.shape()[d];
    llvm::outs() << llvm::formatv(
        "; {0} of {1} elements are wrong, ({2:$[, ]}) the most: {3} instead "
        "of {4}",
        wrong, array.size(), llvm::make_range(index.begin(), index.end()),
        array.get(worst), (*reference)[worst]);
  }
  llvm::outs() << "\n";
  return wrong != 0;
}

/// Shows a progress bar on stderr if that is a terminal and the run takes long.
static void addProgress(tile::cpu::RunOptions &options) {
  if (!llvm::sys::Process::StandardErrIsDisplayed())
    return;
  using Clock = std::chrono::steady_clock;
  options.progress = [start = Clock::now(), last = Clock::now(),
                      shown = false](uint64_t done, uint64_t all) mutable {
    using namespace std::chrono_literals;
    Clock::time_point now = Clock::now();
    if (done == all && shown) {
      llvm::errs() << "\r\x1b[K";
      return;
    }
    if (now - start < 1s || now - last < 100ms || done == all)
      return;
    last = now;
    shown = true;
    constexpr unsigned width = 40;
    unsigned full = width * done / all;
    llvm::errs() << "\r[" << std::string(full, '#')
                 << std::string(width - full, ' ') << "] " << done << "/" << all
                 << " blocks";
  };
}

int tile::runMain(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  Arguments arguments = parseArguments(argc, argv);
  auto fail = [](llvm::Error problem) {
    error() << llvm::toString(std::move(problem)) << "\n";
    return 1;
  };

  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> input =
      openInputFile(arguments.input, &message);
  if (!input) {
    error() << message << "\n";
    return 1;
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(input), SMLoc());
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  SourceMgrDiagnosticHandler handler(sources, &context);
  if (arguments.remarks)
    printRemarks(context);

  auto start = std::chrono::steady_clock::now();
  auto lap = [&](StringRef stage) {
    auto now = std::chrono::steady_clock::now();
    if (arguments.timing)
      llvm::errs() << llvm::formatv(
          "{0,8:f1} ms  {1}\n",
          std::chrono::duration<double>(now - start).count() * 1e3, stage);
    start = now;
  };
  OwningOpRef<ModuleOp> module = readProgram(sources, context);
  if (!module)
    return 1;
  FailureOr<cpu::Program> program =
      cpu::Program::compile(*module, arguments.program);
  if (failed(program))
    return 1;
  lap("compile");

  Operands operands{program->parameters(), {}, {}};
  if (llvm::Error problem = fillOperands(operands, arguments.values))
    return fail(std::move(problem));
  lap("arguments");
  addProgress(arguments.run);
  std::vector<cpu::Statistics> statistics;
  arguments.run.statistics = &statistics;
  if (failed(program->run(operands.arguments, arguments.run)))
    return 1;
  lap("run");
  for (const cpu::Statistics &kernel : statistics)
    kernel.print(llvm::outs());

  unsigned next = 0;
  for (StringRef text : arguments.outputs) {
    llvm::Expected<unsigned> index = findOutput(operands, text, next);
    if (!index)
      return fail(index.takeError());
    if (llvm::Error problem = writeNpy(text, *operands.arrays[*index]))
      return fail(std::move(problem));
  }
  next = 0;
  bool wrong = false;
  for (StringRef text : arguments.expected) {
    llvm::Expected<unsigned> index = findOutput(operands, text, next);
    if (!index)
      return fail(index.takeError());
    llvm::Expected<bool> result =
        differs(*operands.arrays[*index], operands.parameters[*index].name,
                text, arguments);
    if (!result)
      return fail(result.takeError());
    wrong |= *result;
  }
  return wrong ? 1 : 0;
}
