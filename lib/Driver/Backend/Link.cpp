//===- Link.cpp - Code objects for AMD chips ------------------------------===//
//
// The linker is LLD as a library. It reads and writes files and has global
// state.
//
//===----------------------------------------------------------------------===//

#include "Backend.h"
#include "lld/Common/Driver.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include <mutex>

LLD_HAS_DRIVER(elf)

using namespace mlir;

namespace tile {

FailureOr<std::string> linkCodeObject(gpu::GPUModuleOp module,
                                      StringRef object) {
  auto fail = [&](const Twine &what, std::error_code code) {
    return module.emitError() << what << ": " << code.message();
  };
  SmallString<128> input, output;
  int file = -1;
  if (std::error_code code =
          llvm::sys::fs::createTemporaryFile("tile", "o", file, input))
    return fail("cannot create a temporary file", code);
  llvm::FileRemover removeInput(input);
  {
    llvm::raw_fd_ostream os(file, /*shouldClose=*/true);
    os << object;
    os.close();
    if (std::error_code code = os.error()) {
      os.clear_error();
      return fail("cannot write " + input, code);
    }
  }
  if (std::error_code code =
          llvm::sys::fs::createTemporaryFile("tile", "hsaco", output))
    return fail("cannot create a temporary file", code);
  llvm::FileRemover removeOutput(output);

  static std::mutex mutex;
  static bool canRunAgain = true;
  std::string messages;
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!canRunAgain)
      return module.emitError(
          "the linker failed in this process before and cannot run again");
    // Without this option an undefined symbol would become a call to address 0.
    const char *args[] = {"ld.lld",
                          "-shared",
                          "--no-undefined",
                          "--threads=1",
                          "--color-diagnostics=never",
                          input.c_str(),
                          "-o",
                          output.c_str()};
    llvm::raw_string_ostream os(messages);
    lld::Result result =
        lld::lldMain(args, os, os, {{lld::Gnu, &lld::elf::link}});
    canRunAgain = result.canRunAgain;
    if (result.retCode != 0)
      return module.emitError("the linker failed: ")
             << StringRef(messages).trim();
  }
  if (!messages.empty())
    module.emitWarning("the linker said: ") << StringRef(messages).trim();

  auto buffer = llvm::MemoryBuffer::getFile(output, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return fail("cannot read " + output, buffer.getError());
  return (*buffer)->getBuffer().str();
}

} // namespace tile
