//===- Executor.h - Runs compiled kernels on the CPU ------------*- C++ -*-===//
//
// Runs the LLVM IR that the GPU's back end would receive; functions of the
// executor emulate the GPU instructions. Needs no GPU.
//
//   tile::cpu::Tensor q{data, "f16", {2, 64, 4, 128}, {32768, 512, 128, 1}};
//   ...
//   tile::cpu::ProgramOptions options;
//   options.compile.chip = "gfx942";
//   llvm::FailureOr<tile::cpu::Program> program =
//       tile::cpu::Program::compile(module, options);
//   if (failed(program) || failed(program->run({q, k, v, o, lse, 0.088}, {})))
//     ... // a diagnostic says why
//
//===----------------------------------------------------------------------===//
#ifndef TILE_EXECUTOR_EXECUTOR_H
#define TILE_EXECUTOR_EXECUTOR_H

#include "tile/Driver/Compile.h"
#include "tile/Launch/Launch.h"
#include "llvm/ADT/SmallVector.h"
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <variant>

namespace tile::cpu {

/// Tensors are in the memory of the process.
using launch::Argument;
using launch::Parameter;
using launch::Tensor;

struct ProgramOptions {
  CompileOptions compile;
  /// Check every access to memory, as docs/Executor.md describes. Without
  /// checks, an access out of bounds may end the process.
  bool checks = true;
  /// Count the work of each run.
  bool statistics = false;
};

/// Counts of a kernel, summed over its blocks. Instructions count once for each
/// warp, by kind: loads, stores and all GPU instructions, but not arithmetic of
/// LLVM.
struct Statistics {
  std::string kernel;
  uint64_t blocks = 0;
  std::map<std::string, uint64_t> instructions;
  /// Bytes. Atomics both read and write.
  uint64_t globalRead = 0, globalWritten = 0, sharedRead = 0, sharedWritten = 0;
  /// Passes over the banks of shared memory, and how many of them bank
  /// conflicts caused.
  uint64_t sharedSweeps = 0, bankConflicts = 0;

  Statistics &operator+=(const Statistics &other);
  /// Prints a table.
  void print(llvm::raw_ostream &os) const;
};

struct RunOptions {
  /// The grid to run instead of that of the manifest.
  std::optional<std::array<int64_t, 3>> grid;
  /// Receives the counts of each kernel, if the program counts.
  std::vector<Statistics> *statistics = nullptr;
  /// Threads of the host; 0 for one for each core.
  unsigned jobs = 0;
  /// Loop iterations of all threads of a block together after which the run
  /// ends with an error, if no thread has ended or waited in the meantime. 0
  /// for no limit.
  uint64_t maxTurns = 100000000;
  /// Receives what kernels print, by one thread at a time; the standard output
  /// if null.
  std::function<void(llvm::StringRef text)> print;
  /// Called from time to time, by one thread at a time, with the number of
  /// blocks that have run and the number of all blocks.
  std::function<void(uint64_t done, uint64_t all)> progress;
};

/// The kernels of a module, compiled for a GPU and then for this machine.
class Program {
public:
  /// Lowers `module`, which may be at any stage, in place. On failure a
  /// diagnostic has been emitted: at each instruction that the executor does
  /// not support, if that is the reason.
  static llvm::FailureOr<Program> compile(mlir::ModuleOp module,
                                          const ProgramOptions &options);
  Program(Program &&);
  Program &operator=(Program &&);
  ~Program();

  /// Returns the parameters of all kernels, each name once, in the order of
  /// their first appearance.
  llvm::ArrayRef<Parameter> parameters() const;

  /// Returns the manifest of the kernels, as docs/Manifest.md describes it.
  const llvm::json::Value &manifest() const;

  /// Runs all kernels in their order, each to its end, with one argument for
  /// each of parameters(). On failure a diagnostic has been emitted: an
  /// argument does not fit, or a thread made an error.
  llvm::LogicalResult run(llvm::ArrayRef<Argument> arguments,
                          const RunOptions &options);

private:
  struct Implementation;
  explicit Program(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation;
};

} // namespace tile::cpu

#endif // TILE_EXECUTOR_EXECUTOR_H
