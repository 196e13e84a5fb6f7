//===- LinkStubs.cpp - Functions that static LLVM lacks -------------------===//

#include <cstdint>
#include <cstdlib>
#include <unistd.h>

/// LLVMLTO asks for Polly's passes, whose archive distributions do not install.
/// LLD calls this only to link bitcode, and code objects contain none.
/// It returns a structure there, which is no part of the symbol's name.
void getPollyPluginInfo() { std::abort(); }

/// LLVM is built for glibc 2.36, which has this function; older ones do not.
extern "C" uint32_t arc4random() {
  uint32_t number = 0;
  if (getentropy(&number, sizeof(number)) != 0)
    std::abort();
  return number;
}
