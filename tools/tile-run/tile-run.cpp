//===- tile-run.cpp - Runs compiled kernels on the CPU --------------------===//

#include "tile/Tools/RunMain.h"

int main(int argc, char **argv) { return tile::runMain(argc, argv); }
