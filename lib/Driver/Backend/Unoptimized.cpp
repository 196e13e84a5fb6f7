//===- Unoptimized.cpp - Code generation without optimization -------------===//

#include "tile/Driver/Unoptimized.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Scalar/DCE.h"
#include "llvm/Transforms/Scalar/Scalarizer.h"

using namespace llvm;

static void divideVectors(Module &module) {
  PassBuilder builder;
  FunctionAnalysisManager analyses;
  builder.registerFunctionAnalyses(analyses);
  FunctionPassManager passes;
  passes.addPass(ScalarizerPass());
  passes.addPass(DCEPass());
  for (Function &function : module)
    if (!function.isDeclaration())
      passes.run(function, analyses);
}

static void splitLongBlocks(Module &module, ptrdiff_t size) {
  for (Function &function : module)
    // A split puts a block behind the one that is visited.
    for (BasicBlock &block : function) {
      auto begin = block.getFirstNonPHIIt();
      // Allocations are static in the first block only, so all stay there.
      for (Instruction &inst : block)
        if (isa<AllocaInst>(inst))
          begin = std::next(inst.getIterator());
      if (std::distance(begin, block.end()) > size + 1)
        block.splitBasicBlock(std::next(begin, size));
    }
}

void tile::prepareUnoptimized(Module &module, unsigned blockSize) {
  divideVectors(module);
  splitLongBlocks(module, blockSize);
}
