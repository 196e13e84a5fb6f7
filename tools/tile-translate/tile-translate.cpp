//===- tile-translate.cpp - Compiles tile IR to an artifact ---------------===//

#include "tile/Tools/TranslateMain.h"

int main(int argc, char **argv) { return tile::translateMain(argc, argv); }
