//===- SharedAddressesTest.cpp - Tests of addresses of shared memory ------===//

#include "Executor/SharedAddresses.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"
#include <cstring>
#include <sys/mman.h>
#include <vector>

using namespace tile::cpu;

namespace {

constexpr size_t kMegabyte = 1 << 20;

/// Maps memory that must be there.
char *map(size_t bytes) {
  return llvm::cantFail(SharedAddresses::get().map(bytes));
}

TEST(SharedAddressesTest, MemoryIsZeroAndAligned) {
  SharedAddresses &addresses = SharedAddresses::get();
  for (size_t bytes : {size_t(1), size_t(49152), 3 * kMegabyte}) {
    char *memory = map(bytes), *other = map(bytes);
    for (char *block : {memory, other}) {
      auto address = reinterpret_cast<uintptr_t>(block);
      EXPECT_EQ(address % (1 << 18), 0u);
      EXPECT_LE(address + bytes, uintptr_t(1) << 32);
      EXPECT_TRUE(llvm::all_of(llvm::ArrayRef(block, bytes),
                               [](char c) { return c == 0; }));
    }
    EXPECT_TRUE(memory + bytes <= other || other + bytes <= memory);
    // The next block must not see what this one has written.
    std::memset(memory, 0xff, bytes);
    addresses.unmap(memory, bytes);
    addresses.unmap(other, bytes);
  }
}

TEST(SharedAddressesTest, AddressesAreUsedAgain) {
  SharedAddresses &addresses = SharedAddresses::get();
  std::vector<char *> blocks;
  std::string message;
  for (;;) {
    llvm::Expected<char *> block = addresses.map(kMegabyte);
    if (!block) {
      message = llvm::toString(block.takeError());
      break;
    }
    blocks.push_back(*block);
  }
  EXPECT_EQ(message, "no addresses below 4 GiB for a block's 1048576 bytes of "
                     "shared memory");
  ASSERT_GE(blocks.size(), 7u);
  // A hole in the middle holds a block of its size, and none that is larger.
  addresses.unmap(blocks[3], kMegabyte);
  EXPECT_TRUE(llvm::errorToBool(addresses.map(2 * kMegabyte).takeError()));
  EXPECT_EQ(map(kMegabyte), blocks[3]);
  for (char *block : blocks)
    addresses.unmap(block, kMegabyte);
  char *whole = map(blocks.size() * kMegabyte);
  addresses.unmap(whole, blocks.size() * kMegabyte);
}

#ifdef MAP_32BIT
TEST(SharedAddressesTest, HeapDoesNotTakeThem) {
  SharedAddresses &addresses = SharedAddresses::get();
  // As a heap that has grown through all addresses that are free.
  std::vector<std::pair<void *, size_t>> heap;
  for (size_t bytes = 1024 * kMegabyte; bytes >= 4096; bytes /= 2)
    for (;;) {
      void *memory =
          mmap(nullptr, bytes, PROT_NONE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_32BIT, -1, 0);
      if (memory == MAP_FAILED)
        break;
      heap.emplace_back(memory, bytes);
    }
  llvm::Expected<char *> block = addresses.map(kMegabyte);
  for (auto [memory, bytes] : heap)
    munmap(memory, bytes);
  ASSERT_TRUE(bool(block)) << llvm::toString(block.takeError());
  addresses.unmap(*block, kMegabyte);
}
#endif

} // namespace
