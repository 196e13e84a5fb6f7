//===- Instruction.cpp - The tables of instructions -----------------------===//

#include "Instruction.h"

using namespace tile::cpu;

const Instruction *tile::cpu::findInstruction(llvm::StringRef name) {
  for (llvm::ArrayRef<Instruction> rows :
       {nvidiaInstructions(), amdInstructions(), matrixInstructions(),
        wgmmaInstructions(), atomicInstructions(), bufferInstructions(),
        bulkStoreInstructions(), bulkCopyInstructions(), reportInstructions()})
    for (const Instruction &row : rows) {
      llvm::StringRef pattern = row.name;
      if (pattern.consume_back("*") ? name.starts_with(pattern)
                                    : name == pattern)
        return &row;
    }
  return nullptr;
}
