//===- Executor.h - Compiled kernels on the CPU -----------------*- C++ -*-===//
//
// Runs what the back end of a GPU would have been given: the same LLVM IR, with
// every instruction of the GPU replaced by its meaning. Needs no GPU.
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
#ifndef TILE_TARGET_CPU_EXECUTOR_H
#define TILE_TARGET_CPU_EXECUTOR_H

#include "tile/Target/Compile.h"
#include "tile/Target/Launch.h"
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
  /// Watch every access to memory, as docs/Executor.md says. Without it, one
  /// outside of an argument may end the process.
  bool checks = true;
  /// Let runs count what they do.
  bool statistics = false;
};

/// What the blocks of a kernel did, summed up. Instructions are those of warps,
/// by their kind; loads, stores and whatever else is no arithmetic of LLVM's.
struct Statistics {
  std::string kernel;
  uint64_t blocks = 0;
  std::map<std::string, uint64_t> instructions;
  /// Bytes. Atomics read and write.
  uint64_t globalRead = 0, globalWritten = 0, sharedRead = 0, sharedWritten = 0;
  /// How often the banks of shared memory were swept, and how many of these
  /// sweeps would not have been needed without conflicts.
  uint64_t sharedSweeps = 0, bankConflicts = 0;

  Statistics &operator+=(const Statistics &other);
  /// A table.
  void print(llvm::raw_ostream &os) const;
};

struct RunOptions {
  /// Blocks to run instead of those that the manifest asks for.
  std::optional<std::array<int64_t, 3>> grid;
  /// Gets an entry for each kernel that runs, if the program counts.
  std::vector<Statistics> *statistics = nullptr;
  /// Threads of the host; 0 for as many as it has cores.
  unsigned jobs = 0;
  /// How often the threads of a block may go round loops, all together, while
  /// none of them ends or has waited for others: more is taken for a loop that
  /// never ends. 0 for no limit.
  uint64_t maxTurns = 100000000;
  /// Called now and then, by one thread at a time, with the number of blocks
  /// that have run and of all.
  std::function<void(uint64_t done, uint64_t all)> progress;
};

/// The kernels of a module, compiled for a GPU and then for this machine.
class Program {
public:
  /// Lowers `module`, which may be at any stage, in place. On failure a
  /// diagnostic has been emitted, at each instruction that the executor does
  /// not know if it was that.
  static llvm::FailureOr<Program> compile(mlir::ModuleOp module,
                                          const ProgramOptions &options);
  Program(Program &&);
  Program &operator=(Program &&);
  ~Program();

  /// The parameters of all kernels, each name once, in the order in which they
  /// appear first.
  llvm::ArrayRef<Parameter> parameters() const;

  /// Returns the manifest of the kernels, as docs/Manifest.md describes it.
  const llvm::json::Value &manifest() const;

  /// Runs all kernels in their order, each to its end, with one argument for
  /// each of parameters(). On failure a diagnostic has been emitted: an
  /// argument does not fit, or a thread did what no kernel may.
  llvm::LogicalResult run(llvm::ArrayRef<Argument> arguments,
                          const RunOptions &options);

private:
  struct Implementation;
  explicit Program(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation;
};

} // namespace tile::cpu

#endif // TILE_TARGET_CPU_EXECUTOR_H
