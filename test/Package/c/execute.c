//===- execute.c - A program in C that runs a kernel on the CPU -----------===//

#include "tile-c/Executor.h"
#include <stdio.h>
#include <stdlib.h>

static const char kProgram[] =
    "!b = !tile.buffer<64xf32, #tile.strided<[1]>, global>\n"
    "tile.kernel @add_one(%a: !b, %b: !b) attributes {num_warps = 2 : i32} {\n"
    "  %c0 = arith.constant 0 : index\n"
    "  %c1 = arith.constant 1 : index\n"
    "  tile.grid %c1, %c1, %c1\n"
    "  %one = arith.constant dense<1.0> : tensor<64xf32>\n"
    "  %x = tile.load %a[%c0] : !b -> tensor<64xf32>\n"
    "  %y = arith.addf %x, %one : tensor<64xf32>\n"
    "  tile.store %y, %b[%c0] : tensor<64xf32>, !b\n"
    "  tile.return\n"
    "}\n";

int main(void) {
  static float a[64], b[64];
  static const int64_t shape[] = {64}, strides[] = {1};
  for (int i = 0; i < 64; ++i)
    a[i] = (float)i;
  TileCompileOptions options;
  tileCompileOptionsInit(&options);
  options.chip = "sm_80";
  char *message = NULL;
  TileExecutorProgram *program =
      tileExecutorCompile(kProgram, "add.mlir", &options, /*checks=*/1,
                          /*statistics=*/0, &message);
  TileExecutorArgument arguments[] = {{a, "f32", 1, shape, strides, 0, 0, 0},
                                      {b, "f32", 1, shape, strides, 0, 0, 0}};
  if (!program ||
      tileExecutorRun(program, arguments, 2, NULL, /*jobs=*/1, &message) != 0) {
    fprintf(stderr, "%s\n", message ? message : "no message");
    return EXIT_FAILURE;
  }
  tileExecutorDestroy(program);
  for (int i = 0; i < 64; ++i)
    if (b[i] != a[i] + 1)
      return EXIT_FAILURE;
  printf("64 sums are right\n");
  return EXIT_SUCCESS;
}
