//===- SharedAddresses.cpp - Memory whose addresses fit into 32 bits ------===//

#include "SharedAddresses.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/MathExtras.h"
#include <sys/mman.h>

using namespace tile::cpu;

/// The size of a part. Matrix descriptors hold 18 bits of an address in shared
/// memory. A block's memory is aligned to this, so that the other bits are
/// known.
static constexpr std::size_t kPart = 1 << 18;

/// The most bytes to reserve, and the fewest with which programs can run.
static constexpr std::size_t kMostBytes = 512 << 20, kFewestBytes = 8 << 20;

static constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

/// Reserves addresses below 4 GiB. Returns null if so many are not free.
static char *reserve(std::size_t bytes) {
#ifdef MAP_32BIT
  int flags = kFlags | MAP_32BIT;
  void *hint = nullptr;
#else
  int flags = kFlags;
  void *hint = reinterpret_cast<void *>(kPart * 256);
#endif
  void *memory = mmap(hint, bytes, PROT_NONE, flags, -1, 0);
  if (memory == MAP_FAILED)
    return nullptr;
  if (reinterpret_cast<uintptr_t>(memory) + bytes <= uintptr_t(1) << 32)
    return static_cast<char *>(memory);
  munmap(memory, bytes);
  return nullptr;
}

SharedAddresses &SharedAddresses::get() {
  // Never destroyed: blocks of other threads may outlive static objects.
  static auto *addresses = new SharedAddresses;
  return *addresses;
}

SharedAddresses::SharedAddresses() {
  for (std::size_t bytes = kMostBytes; bytes >= kFewestBytes; bytes /= 2)
    if (char *memory = reserve(bytes)) {
      begin = reinterpret_cast<char *>(
          llvm::alignTo(reinterpret_cast<uintptr_t>(memory), kPart));
      used.resize((memory + bytes - begin) / kPart);
      return;
    }
}

llvm::Expected<char *> SharedAddresses::map(std::size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  unsigned parts = llvm::divideCeil(bytes, kPart);
  unsigned first = 0;
  // The first run of free parts that is long enough.
  while (first + parts <= used.size()) {
    int taken = used.find_last_in(first, first + parts);
    if (taken < 0)
      break;
    first = taken + 1;
  }
  if (first + parts > used.size())
    return llvm::createStringError(
        "no addresses below 4 GiB for a block's %zu bytes of shared memory",
        bytes);
  char *memory = begin + first * kPart;
  if (mprotect(memory, parts * kPart, PROT_READ | PROT_WRITE) != 0)
    return llvm::createStringError("no memory for a block's shared memory: " +
                                   llvm::sys::StrError());
  used.set(first, first + parts);
  return memory;
}

void SharedAddresses::unmap(char *memory, std::size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  unsigned first = (memory - begin) / kPart;
  unsigned parts = llvm::divideCeil(bytes, kPart);
  // A new mapping drops the contents and keeps the addresses.
  if (mmap(memory, parts * kPart, PROT_NONE, kFlags | MAP_FIXED, -1, 0) ==
      MAP_FAILED)
    return;
  used.reset(first, first + parts);
}
