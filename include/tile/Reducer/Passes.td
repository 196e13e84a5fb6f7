//===- Passes.td - Passes of tile-reduce ----------------------------------===//

#ifndef TILE_REDUCER_PASSES
#define TILE_REDUCER_PASSES

include "mlir/Pass/PassBase.td"

def TileSimplify : Pass<"tile-simplify", "::mlir::ModuleOp"> {
  let summary = "Shrink a program while a test finds it interesting";
  let description = [{
    Simplifies a program step by step. The program is valid after each step, and
    the test still finds it interesting. The steps are:

    - erase an operation whose results have no uses, for example a kernel or a
      store;
    - replace a loop by its first iteration;
    - replace the results of an operation by operands of the same type, for
      example the results of a loop by its initial values;
    - replace the results of an operation by zeros.

    The pass ends when no step is left. It runs the test once for each step that
    it tries.

    The test is a program that gets the options `test-arg` and then the path of a
    file with the simplified program. As for the pass `reduction-tree`, exit
    status 0 means that the program is *not* interesting, and any other status
    means that it is. The pass fails if the test cannot run, if a signal ends it,
    or if it does not find the first program interesting.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let options = [
    Option<"test", "test", "std::string", /*default=*/"",
           "The program that finds a file interesting (exit status not 0)">,
    ListOption<"testArgs", "test-arg", "std::string",
               "Arguments of the test, before the file">
  ];
}

#endif // TILE_REDUCER_PASSES
