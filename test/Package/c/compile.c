//===- compile.c - A program in C that compiles kernels -------------------===//
//
// Compiles a file of tile IR (first argument) for an NVIDIA and an AMD chip,
// and prints the diagnostics of a program with an error.
//
//===----------------------------------------------------------------------===//

#include "tile-c/Compile.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print(const TileDiagnostic *diagnostic, void *userData) {
  ++*(int *)userData;
  printf("%s:%u:%u: severity %d: %s\n", diagnostic->file, diagnostic->line,
         diagnostic->column, (int)diagnostic->severity, diagnostic->message);
}

int main(int argc, char **argv) {
  static char text[1 << 16];
  FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
  size_t size = file ? fread(text, 1, sizeof(text), file) : 0;
  if (size == 0)
    return EXIT_FAILURE;
  fclose(file);

  int diagnostics = 0;
  TileContext *context = tileContextCreate();
  tileContextSetDiagnosticHandler(context, print, &diagnostics);
  TileModule *module = tileModuleParse(context, text, size, argv[1]);
  if (!module)
    return EXIT_FAILURE;
  const char *chips[] = {"sm_90a", "gfx942"};
  const TileOutputKind kinds[] = {TILE_PTX, TILE_HSACO};
  for (int i = 0; i < 2; ++i) {
    TileCompileOptions options;
    tileCompileOptionsInit(&options);
    options.chip = chips[i];
    options.requireManifest = 1;
    TileArtifact *artifact = tileModuleCompile(module, kinds[i], &options);
    if (!artifact)
      return EXIT_FAILURE;
    size_t bytes;
    const char *data = tileArtifactData(artifact, &bytes);
    int isElf = memcmp(data, "\177ELF", 4) == 0;
    printf("%s: %s, manifest of %s\n", chips[i],
           isElf                                        ? "a code object"
           : strstr(data, ".visible .entry attention(") ? "PTX"
                                                        : "unknown",
           strstr(tileArtifactManifest(artifact), "\"attention\"") ? "attention"
                                                                   : "nothing");
    tileArtifactDestroy(artifact);
  }
  tileModuleDestroy(module);
  if (diagnostics != 0)
    return EXIT_FAILURE;

  static const char wrong[] = "func.func @f() {\n  tile.nothing\n}";
  module = tileModuleParse(context, wrong, strlen(wrong), "wrong.mlir");
  tileContextDestroy(context);
  return !module && diagnostics == 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}
