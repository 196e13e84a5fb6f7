//===- Fiber.cpp - Stacks and the switch between them ---------------------===//

#include "Fiber.h"
#include "llvm/Support/Compiler.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/ErrorHandling.h"
#include <sys/mman.h>
#include <unistd.h>

#if LLVM_ADDRESS_SANITIZER_BUILD
#include <sanitizer/common_interface_defs.h>
#endif

using namespace tile::cpu;
using boost::context::detail::transfer_t;

namespace {
/// Passed to the context that a switch continues. `from` is null if it never
/// continues.
struct Switch {
  Context *from, *to;
};
} // namespace

llvm::Expected<Stacks> Stacks::allocate(std::size_t count, std::size_t bytes) {
  Stacks stacks;
  stacks.page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  stacks.count = count;
  stacks.bytes = (bytes + stacks.page - 1) / stacks.page * stacks.page;
  std::size_t stride = stacks.bytes + stacks.page;
  void *memory =
      mmap(nullptr, count * stride, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED)
    return llvm::createStringError("no memory for the stacks of %zu threads: "
                                   "%s",
                                   count, llvm::sys::StrError().c_str());
  stacks.memory = static_cast<char *>(memory);
  for (std::size_t i = 0; i < count; ++i)
    if (mprotect(stacks.memory + i * stride, stacks.page, PROT_NONE) != 0)
      return llvm::createStringError("cannot guard the stacks of threads: " +
                                     llvm::sys::StrError());
  return stacks;
}

Stacks::Stacks(Stacks &&other)
    : memory(other.memory), count(other.count), bytes(other.bytes),
      page(other.page) {
  other.memory = nullptr;
}

Stacks::~Stacks() {
  if (memory)
    munmap(memory, count * (bytes + page));
}

void Stacks::prepare(Context &context, std::size_t index,
                     void (*entry)(transfer_t)) {
  char *bottom = memory + index * (bytes + page) + page;
  context = {};
  context.bottom = bottom;
  context.size = bytes;
  context.handle =
      boost::context::detail::make_fcontext(bottom + bytes, bytes, entry);
}

/// Completes the switch that continued `to`.
static void arrive(transfer_t transfer, bool first) {
  auto *data = static_cast<Switch *>(transfer.data);
  Context *from = data->from, *to = data->to;
  if (from)
    from->handle = transfer.fctx;
#if LLVM_ADDRESS_SANITIZER_BUILD
  const void *bottom = nullptr;
  std::size_t size = 0;
  __sanitizer_finish_switch_fiber(first ? nullptr : to->fakeStack, &bottom,
                                  &size);
  if (from && !from->bottom) {
    from->bottom = bottom;
    from->size = size;
  }
#else
  (void)to;
  (void)first;
#endif
}

void tile::cpu::switchContext(Context &from, Context &to) {
  Switch data{&from, &to};
#if LLVM_ADDRESS_SANITIZER_BUILD
  __sanitizer_start_switch_fiber(&from.fakeStack, to.bottom, to.size);
#endif
  arrive(boost::context::detail::jump_fcontext(to.handle, &data),
         /*first=*/false);
}

// Before a call that does not return, AddressSanitizer clears its notes on the
// caller's frames, so that the stack can be used again. This frame must add
// none.
LLVM_NO_SANITIZE("address") void tile::cpu::leaveContext(Context &to) {
  Switch data{nullptr, &to};
#if LLVM_ADDRESS_SANITIZER_BUILD
  __sanitizer_start_switch_fiber(nullptr, to.bottom, to.size);
#endif
  boost::context::detail::jump_fcontext(to.handle, &data);
  llvm_unreachable("a context that was left for good is continued");
}

Context &tile::cpu::enterContext(transfer_t transfer) {
  Context &context = *static_cast<Switch *>(transfer.data)->to;
  arrive(transfer, /*first=*/true);
  return context;
}
