//===- AMD.cpp - Instructions of AMD's chips ------------------------------===//
//
// Sources: the instruction set architecture guides of CDNA3, CDNA4, RDNA3 and
// RDNA4.
//
//===----------------------------------------------------------------------===//

#include "Block.h"

using namespace tile::cpu;

llvm::ArrayRef<Instruction> tile::cpu::amdInstructions() { return {}; }
