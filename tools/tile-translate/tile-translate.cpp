//===- tile-translate.cpp - Compiles tile IR to an artifact ---------------===//

#include "tile/Tools/TranslateMain.h"
#include <cstdint>
#if defined(__GLIBC__) && defined(__linux__)
#include <cstdlib>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

/// Lets the heap grow in huge pages. A compilation touches 40 MB of it for the
/// first time, and page by page that takes 8 percent of its time.
static void useHugePages() {
#if defined(__GLIBC__) && defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr int kHeapBytes = 64 << 20;
  constexpr uintptr_t kHugePage = 2 << 20;
  mallopt(M_TOP_PAD, kHeapBytes);
  mallopt(M_MMAP_THRESHOLD, kHeapBytes / 2);
  // This extends the heap. The compiler would remove the pair otherwise.
  void *volatile block = std::malloc(1 << 20);
  std::free(block);
  auto end = reinterpret_cast<uintptr_t>(sbrk(0)) & -kHugePage;
  // If this fails, pages are small.
  (void)madvise(reinterpret_cast<void *>(end - kHeapBytes + 2 * kHugePage),
                kHeapBytes - 2 * kHugePage, MADV_HUGEPAGE);
#endif
}

int main(int argc, char **argv) {
  useHugePages();
  return tile::translateMain(argc, argv);
}
