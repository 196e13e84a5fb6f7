//===- Executor.cpp - C interface of the executor -------------------------===//

#include "tile-c/Executor.h"
#include "Options.h"
#include "mlir/IR/MLIRContext.h"
#include "tile/Driver/ReadProgram.h"
#include "tile/Executor/Executor.h"
#include "tile/InitAll.h"
#include "tile/Tools/CommonOptions.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace tile;

struct TileExecutorProgram {
  MLIRContext context;
  llvm::SourceMgr sources;
  std::optional<cpu::Program> program;
  /// Statistics of the last run, per kernel.
  std::vector<cpu::Statistics> statistics;
  /// Receives what kernels print; null for the standard output.
  std::function<void(llvm::StringRef)> print;

  explicit TileExecutorProgram(const DialectRegistry &registry)
      : context(registry, MLIRContext::Threading::DISABLED) {
    context.printOpOnDiagnostic(false);
  }
};

static char *copyText(llvm::StringRef text) {
  auto *copy = static_cast<char *>(malloc(text.size() + 1));
  if (copy) {
    memcpy(copy, text.data(), text.size());
    copy[text.size()] = '\0';
  }
  return copy;
}

/// Calls `work` and returns its result. Sets `message` to a copy of the
/// diagnostics, or to null if there are none.
static bool collect(TileExecutorProgram &program, char **message,
                    llvm::function_ref<bool()> work) {
  std::string text;
  llvm::raw_string_ostream os(text);
  SourceMgrDiagnosticHandler handler(program.sources, &program.context, os);
  bool done = work();
  if (message)
    *message = text.empty() ? nullptr : copyText(text);
  return done;
}

TileExecutorProgram *tileExecutorCompile(const char *source, const char *name,
                                         const TileCompileOptions *options,
                                         int checks, int statistics,
                                         char **message) {
  DialectRegistry registry;
  registerAllDialects(registry);
  auto program = std::make_unique<TileExecutorProgram>(registry);
  program->sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(source, name), llvm::SMLoc());
  bool compiled = collect(*program, message, [&] {
    OwningOpRef<ModuleOp> module =
        readProgram(program->sources, program->context);
    if (!module)
      return false;
    FailureOr<CompileOptions> compileOptions =
        readOptions(options, module->getLoc());
    if (failed(compileOptions))
      return false;
    if (options && options->remarks)
      printRemarks(program->context);
    cpu::ProgramOptions programOptions;
    programOptions.compile = *compileOptions;
    programOptions.checks = checks != 0;
    programOptions.statistics = statistics != 0;
    FailureOr<cpu::Program> result =
        cpu::Program::compile(*module, programOptions);
    if (failed(result))
      return false;
    program->program.emplace(std::move(*result));
    return true;
  });
  return compiled ? program.release() : nullptr;
}

char *tileExecutorParameters(TileExecutorProgram *program) {
  llvm::json::Array array;
  for (const cpu::Parameter &parameter : program->program->parameters())
    array.push_back(llvm::json::Object{{"name", parameter.name},
                                       {"type", parameter.type},
                                       {"buffer", parameter.isBuffer},
                                       {"written", parameter.isWritten}});
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(array));
  return copyText(text);
}

char *tileExecutorManifest(TileExecutorProgram *program) {
  std::string text;
  llvm::raw_string_ostream(text) << program->program->manifest();
  return copyText(text);
}

void tileExecutorSetPrint(TileExecutorProgram *program,
                          void (*print)(const char *text, void *context),
                          void *context) {
  if (!print) {
    program->print = nullptr;
    return;
  }
  program->print = [print, context](llvm::StringRef text) {
    print(text.str().c_str(), context);
  };
}

int tileExecutorRun(TileExecutorProgram *program,
                    const TileExecutorArgument *arguments, size_t count,
                    const int64_t *grid, unsigned jobs, char **message) {
  llvm::SmallVector<cpu::Argument> values;
  for (size_t i = 0; i < count; ++i) {
    const TileExecutorArgument &argument = arguments[i];
    if (!argument.type) {
      if (argument.isReal)
        values.push_back(argument.real);
      else
        values.push_back(argument.integer);
      continue;
    }
    cpu::Tensor tensor;
    tensor.data = argument.data;
    tensor.type = argument.type;
    tensor.shape.assign(argument.shape, argument.shape + argument.rank);
    tensor.strides.assign(argument.strides, argument.strides + argument.rank);
    values.push_back(std::move(tensor));
  }
  cpu::RunOptions options;
  options.jobs = jobs;
  program->statistics.clear();
  options.statistics = &program->statistics;
  options.print = program->print;
  if (grid)
    options.grid = {grid[0], grid[1], grid[2]};
  return collect(
             *program, message,
             [&] { return succeeded(program->program->run(values, options)); })
             ? 0
             : 1;
}

char *tileExecutorStatistics(TileExecutorProgram *program) {
  llvm::json::Array array;
  for (const cpu::Statistics &kernel : program->statistics) {
    llvm::json::Object instructions;
    for (const auto &[name, count] : kernel.instructions)
      instructions[name] = count;
    array.push_back(
        llvm::json::Object{{"kernel", kernel.kernel},
                           {"blocks", kernel.blocks},
                           {"instructions", std::move(instructions)},
                           {"global_read", kernel.globalRead},
                           {"global_written", kernel.globalWritten},
                           {"shared_read", kernel.sharedRead},
                           {"shared_written", kernel.sharedWritten},
                           {"shared_sweeps", kernel.sharedSweeps},
                           {"bank_conflicts", kernel.bankConflicts}});
  }
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(array));
  return copyText(text);
}

void tileExecutorDestroy(TileExecutorProgram *program) { delete program; }

void tileExecutorFree(char *text) { free(text); }
