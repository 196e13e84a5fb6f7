//===- TranslateMain.h - The tile-translate tool ----------------*- C++ -*-===//
#ifndef TILE_TOOLS_TRANSLATEMAIN_H
#define TILE_TOOLS_TRANSLATEMAIN_H

namespace tile {

/// Parses the command line, compiles and writes the artifact. Returns the exit
/// status; every failure has been reported on stderr.
int translateMain(int argc, char **argv);

} // namespace tile

#endif // TILE_TOOLS_TRANSLATEMAIN_H
