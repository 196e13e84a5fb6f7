//===- ResourceUsage.cpp - Resources of compiled kernels ------------------===//

#include "tile/Driver/ResourceUsage.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/MsgPackDocument.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"

using namespace llvm;

namespace tile {

//===----------------------------------------------------------------------===//
// AMD code objects
//===----------------------------------------------------------------------===//

/// Returns the value of an entry of a map; nothing if there is none.
static std::optional<int64_t> getInteger(msgpack::MapDocNode &map,
                                         StringRef key) {
  auto entry = map.find(key);
  if (entry == map.end())
    return std::nullopt;
  if (entry->second.getKind() == msgpack::Type::UInt)
    return entry->second.getUInt();
  if (entry->second.getKind() == msgpack::Type::Int)
    return entry->second.getInt();
  return std::nullopt;
}

static Expected<std::vector<KernelResources>>
readKernels(msgpack::Document &document) {
  auto malformed = [] {
    return createStringError("the code object's metadata is malformed");
  };
  msgpack::MapDocNode &root = document.getRoot().getMap();
  auto kernels = root.find("amdhsa.kernels");
  if (kernels == root.end() || !kernels->second.isArray())
    return malformed();

  std::vector<KernelResources> result;
  for (msgpack::DocNode &node : kernels->second.getArray()) {
    if (!node.isMap())
      return malformed();
    msgpack::MapDocNode &map = node.getMap();
    auto name = map.find(".name");
    if (name == map.end() || !name->second.isString())
      return malformed();
    KernelResources kernel;
    kernel.name = name->second.getString().str();
    kernel.registers = getInteger(map, ".vgpr_count").value_or(0);
    kernel.scalarRegisters = getInteger(map, ".sgpr_count");
    kernel.spillBytes = 4 * (getInteger(map, ".vgpr_spill_count").value_or(0) +
                             getInteger(map, ".sgpr_spill_count").value_or(0));
    kernel.stackBytes =
        getInteger(map, ".private_segment_fixed_size").value_or(0);
    kernel.sharedBytes =
        getInteger(map, ".group_segment_fixed_size").value_or(0);
    kernel.argumentBytes = getInteger(map, ".kernarg_segment_size");
    kernel.waveSize = getInteger(map, ".wavefront_size");
    kernel.blockThreads = getInteger(map, ".max_flat_workgroup_size");
    result.push_back(std::move(kernel));
  }
  return result;
}

/// Reads the metadata of a code object, a map, into `document`.
static Error readMetadata(StringRef codeObject, msgpack::Document &document) {
  if (!codeObject.starts_with("\x7f"
                              "ELF"))
    return createStringError(
        "the file is no AMD code object: it is no ELF file");
  Expected<object::ELFFile<object::ELF64LE>> elf =
      object::ELFFile<object::ELF64LE>::create(codeObject);
  if (!elf)
    return elf.takeError();
  // Relocatable objects have only sections; linked ones may have lost them.
  auto headers = elf->program_headers();
  if (!headers)
    return headers.takeError();
  auto sections = elf->sections();
  if (!sections)
    return sections.takeError();
  std::optional<Error> found;
  auto find = [&](const auto &header, uint64_t align) -> bool {
    Error error = Error::success();
    for (const auto &note : elf->notes(header, error)) {
      if (note.getName() != "AMDGPU" ||
          note.getType() != ELF::NT_AMDGPU_METADATA)
        continue;
      consumeError(std::move(error));
      bool isMap = document.readFromBlob(toStringRef(note.getDesc(align)),
                                         /*Multi=*/false) &&
                   document.getRoot().isMap();
      found.emplace(
          isMap ? Error::success()
                : createStringError("the code object's metadata is malformed"));
      return true;
    }
    if (error)
      found.emplace(std::move(error));
    return found.has_value();
  };
  for (const auto &header : *headers)
    if (header.p_type == ELF::PT_NOTE && find(header, header.p_align))
      return std::move(*found);
  for (const auto &section : *sections)
    if (section.sh_type == ELF::SHT_NOTE && find(section, section.sh_addralign))
      return std::move(*found);
  return createStringError(
      "the file is no AMD code object: it has no metadata");
}

Expected<std::vector<KernelResources>>
readCodeObjectResources(StringRef codeObject) {
  msgpack::Document document;
  if (Error error = readMetadata(codeObject, document))
    return std::move(error);
  return readKernels(document);
}

Expected<std::string> readCodeObjectChip(StringRef codeObject) {
  msgpack::Document document;
  if (Error error = readMetadata(codeObject, document))
    return std::move(error);
  msgpack::MapDocNode &root = document.getRoot().getMap();
  auto target = root.find("amdhsa.target");
  if (target == root.end() || !target->second.isString())
    return createStringError("the code object's metadata names no chip");
  // For example amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-, or
  // amdgpu9.42-amd-amdhsa-unknown-gfx942 from a later LLVM: the chip stands
  // behind the four components of the triple.
  StringRef chip = target->second.getString();
  for (int component = 0; component < 4; ++component)
    chip = chip.split('-').second;
  return chip.take_until([](char c) { return c == ':'; }).str();
}

//===----------------------------------------------------------------------===//
// PTX
//===----------------------------------------------------------------------===//

std::optional<std::string> findPtxas() {
  if (ErrorOr<std::string> path = sys::findProgramByName("ptxas"))
    return *path;
  SmallVector<std::string> roots;
  for (StringRef variable : {"CUDA_PATH", "CUDA_HOME"})
    if (std::optional<std::string> root = sys::Process::GetEnv(variable))
      roots.push_back(*root);
  roots.push_back("/usr/local/cuda");
  for (StringRef root : roots) {
    SmallString<128> path(root);
    sys::path::append(path, "bin", "ptxas");
    if (sys::fs::can_execute(path))
      return path.str().str();
  }
  return std::nullopt;
}

/// Returns the number before or after a phrase in a line of ptxas.
static int64_t matchNumber(StringRef line, StringRef pattern) {
  SmallVector<StringRef> match;
  int64_t number = 0;
  if (Regex(pattern).match(line, &match))
    match[1].getAsInteger(10, number);
  return number;
}

static std::vector<KernelResources> parsePtxas(StringRef text) {
  std::vector<KernelResources> kernels;
  std::vector<std::string> warnings;
  Regex entry("Compiling entry function '([^']+)'");
  for (StringRef line : split(text, '\n')) {
    SmallVector<StringRef> match;
    if (entry.match(line, &match)) {
      kernels.emplace_back();
      kernels.back().name = match[1].str();
      continue;
    }
    if (line.contains("warning") || line.contains("error") ||
        line.contains("(C7"))
      warnings.push_back(line.trim().str());
    if (kernels.empty())
      continue;
    KernelResources &kernel = kernels.back();
    if (line.contains("bytes stack frame")) {
      kernel.stackBytes = matchNumber(line, "([0-9]+) bytes stack frame");
      kernel.spillBytes = matchNumber(line, "([0-9]+) bytes spill stores");
    }
    if (line.contains("Used ")) {
      kernel.registers = matchNumber(line, "Used ([0-9]+) registers");
      kernel.sharedBytes = matchNumber(line, "([0-9]+) bytes smem");
      if (line.contains("bytes cmem[0]"))
        kernel.argumentBytes = matchNumber(line, "([0-9]+) bytes cmem.0.");
    }
  }
  for (KernelResources &kernel : kernels)
    kernel.warnings = warnings;
  return kernels;
}

Expected<std::vector<KernelResources>>
readPtxResources(StringRef ptx, StringRef chip, StringRef ptxas) {
  SmallString<128> input, log;
  int file = -1;
  if (std::error_code code =
          sys::fs::createTemporaryFile("tile", "ptx", file, input))
    return errorCodeToError(code);
  FileRemover removeInput(input);
  {
    raw_fd_ostream os(file, /*shouldClose=*/true);
    os << ptx;
    os.close();
    if (std::error_code code = os.error()) {
      os.clear_error();
      return errorCodeToError(code);
    }
  }
  if (std::error_code code = sys::fs::createTemporaryFile("tile", "log", log))
    return errorCodeToError(code);
  FileRemover removeLog(log);

  std::string architecture = ("-arch=" + chip).str();
  StringRef args[] = {ptxas, "-v", architecture, "-o", "/dev/null", input};
  std::optional<StringRef> redirects[] = {StringRef(), StringRef(log),
                                          StringRef(log)};
  std::string message;
  int status =
      sys::ExecuteAndWait(ptxas, args, std::nullopt, redirects,
                          /*SecondsToWait=*/0, /*MemoryLimit=*/0, &message);
  ErrorOr<std::unique_ptr<MemoryBuffer>> text = MemoryBuffer::getFile(log);
  if (!text)
    return errorCodeToError(text.getError());
  if (status != 0)
    return createStringError(
        Twine(ptxas) + " failed: " +
        (message.empty() ? (*text)->getBuffer().trim() : StringRef(message)));
  return parsePtxas((*text)->getBuffer());
}

void reportSpills(mlir::ModuleOp module, ArrayRef<KernelResources> kernels) {
  namespace remark = mlir::remark;
  auto options =
      remark::RemarkOpts::name("registers-spilled").category("tile-driver");
  module.walk([&](mlir::LLVM::LLVMFuncOp function) {
    for (const KernelResources &kernel : kernels)
      if (kernel.name == function.getSymName() && kernel.spillBytes != 0)
        remark::missed(function.getLoc(), options) << remark::reason(
            "a thread has {0} registers and spills {1} bytes "
            "of others; its private memory has {2} bytes",
            kernel.registers, kernel.spillBytes, kernel.stackBytes);
  });
}

json::Value toJSON(const KernelResources &resources) {
  json::Object object{{"name", resources.name},
                      {"registers", resources.registers},
                      {"spill_bytes", resources.spillBytes},
                      {"stack_bytes", resources.stackBytes},
                      {"shared_bytes", resources.sharedBytes}};
  if (resources.scalarRegisters)
    object["scalar_registers"] = *resources.scalarRegisters;
  if (resources.argumentBytes)
    object["argument_bytes"] = *resources.argumentBytes;
  if (resources.waveSize)
    object["wave_size"] = *resources.waveSize;
  if (!resources.warnings.empty())
    object["warnings"] = json::Array(resources.warnings);
  return object;
}

} // namespace tile
