//===- main.cpp - A program that uses the installed library ---------------===//
//
// Exits with 0 if the headers and the libraries of the package are enough to
// compute with a layout.
//
//===----------------------------------------------------------------------===//
#include "tile/Layout/Layout.h"
#include "llvm/Support/raw_ostream.h"

int main() {
  tile::Layout layout = tile::Layout::strided({16, 64}, {64, 1});
  if (llvm::Error error = layout.verify()) {
    llvm::errs() << llvm::toString(std::move(error)) << '\n';
    return 1;
  }
  llvm::outs() << layout.offset({2, 3}) << '\n';
  return layout.offset({2, 3}) == 2 * 64 + 3 ? 0 : 1;
}
