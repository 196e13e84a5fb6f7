//===- RunMain.h - The tile-run tool ----------------------------*- C++ -*-===//
#ifndef TILE_TOOLS_RUNMAIN_H
#define TILE_TOOLS_RUNMAIN_H

namespace tile {

/// Parses the command line, compiles for a GPU, runs on the CPU, and compares
/// what the kernels wrote. Returns the exit status; every failure has been
/// reported on stderr, a difference on stdout.
int runMain(int argc, char **argv);

} // namespace tile

#endif // TILE_TOOLS_RUNMAIN_H
