// The names that examples in the comments of headers in C++ use; see example.c.
#include "tile/Driver/Compile.h"
#include "tile/Executor/Executor.h"

extern mlir::ModuleOp module;
extern void *data;
extern tile::cpu::Tensor k, v, o, lse;
