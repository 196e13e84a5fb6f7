//===- Compile.cpp - C interface of the compiler --------------------------===//

#include "tile-c/Compile.h"
#include "Options.h"
#include "mlir/IR/MLIRContext.h"
#include "tile/Chips/Chips.h"
#include "tile/Driver/Compile.h"
#include "tile/Driver/ReadProgram.h"
#include "tile/InitAll.h"
#include "tile/Tools/CommonOptions.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace tile;

struct TileContext {
  DialectRegistry registry;
  TileDiagnosticHandler handler = nullptr;
  void *userData = nullptr;
};

struct TileModule {
  const TileContext &owner;
  llvm::SourceMgr sources;
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  bool hasRemarks = false;

  explicit TileModule(const TileContext &owner)
      : owner(owner),
        context(owner.registry, MLIRContext::Threading::DISABLED) {
    context.printOpOnDiagnostic(false);
  }
};

struct TileArtifact {
  std::string data, manifest;
};

namespace {

struct TextStream {
  std::string text;
  llvm::raw_string_ostream stream{text};
};

/// Formats diagnostics as the tools do and calls the handler of a context.
class DiagnosticForwarder : TextStream, public SourceMgrDiagnosticHandler {
public:
  explicit DiagnosticForwarder(TileModule &module)
      : SourceMgrDiagnosticHandler(module.sources, &module.context, stream) {
    if (!module.owner.handler)
      return;
    setHandler([this, &owner = module.owner](Diagnostic &diagnostic) {
      forward(owner, diagnostic);
      for (Diagnostic &note : diagnostic.getNotes())
        forward(owner, note);
    });
  }
  ~DiagnosticForwarder() {
    if (!text.empty())
      llvm::errs() << text;
  }

private:
  void forward(const TileContext &owner, Diagnostic &diagnostic) {
    emitDiagnostic(diagnostic.getLocation(), diagnostic.str(),
                   diagnostic.getSeverity());
    std::string formatted = std::move(text), message = diagnostic.str(), file;
    text.clear();
    TileDiagnostic result{};
    if (auto place =
            diagnostic.getLocation()->findInstanceOf<FileLineColLoc>()) {
      file = place.getFilename().str();
      result.line = place.getLine();
      result.column = place.getColumn();
    }
    switch (diagnostic.getSeverity()) {
    case DiagnosticSeverity::Note:
      result.severity = TILE_NOTE;
      break;
    case DiagnosticSeverity::Remark:
      result.severity = TILE_REMARK;
      break;
    case DiagnosticSeverity::Warning:
      result.severity = TILE_WARNING;
      break;
    case DiagnosticSeverity::Error:
      result.severity = TILE_ERROR;
      break;
    }
    result.message = message.c_str();
    result.file = file.c_str();
    result.text = formatted.c_str();
    owner.handler(&result, owner.userData);
  }
};

} // namespace

const char *tileVersion() {
  static const std::string version = versionText();
  return version.c_str();
}

size_t tileChipCount() { return chips().size(); }

const char *tileChipName(size_t index) {
  return index < chips().size() ? chips()[index].name.data() : nullptr;
}

size_t tileChipClusterBlocks(size_t index) {
  return index < chips().size() ? chips()[index].clusterBlocks : 0;
}

TileContext *tileContextCreate() {
  auto *context = new TileContext;
  registerAllDialects(context->registry);
  return context;
}

void tileContextSetDiagnosticHandler(TileContext *context,
                                     TileDiagnosticHandler handler,
                                     void *userData) {
  context->handler = handler;
  context->userData = userData;
}

void tileContextDestroy(TileContext *context) { delete context; }

TileModule *tileModuleParse(TileContext *context, const char *data, size_t size,
                            const char *name) {
  auto module = std::make_unique<TileModule>(*context);
  module->sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(data, size),
                                           name ? name : "source"),
      llvm::SMLoc());
  DiagnosticForwarder forwarder(*module);
  module->module = readProgram(module->sources, module->context);
  return module->module ? module.release() : nullptr;
}

void tileModuleDestroy(TileModule *module) { delete module; }

void tileCompileOptionsInit(TileCompileOptions *options) {
  *options = TileCompileOptions{};
  options->optLevel = 3;
}

FailureOr<CompileOptions> tile::readOptions(const TileCompileOptions *options,
                                            Location loc) {
  CompileOptions result;
  if (!options)
    return result;
  if (options->optLevel < 0 || options->optLevel > 3)
    return emitError(loc) << "the optimization level is 0 to 3, not "
                          << options->optLevel;
  auto text = [](const char *option) { return option ? option : ""; };
  result.chip = text(options->chip);
  result.optLevel = options->optLevel;
  result.requireManifest = options->requireManifest != 0;
  result.sourceLocations = options->sourceLocations != 0;
  result.schedule = text(options->schedule);
  result.schedules = text(options->schedules);
  result.sizes = text(options->sizes);
  if (options->candidates != 0)
    result.candidates = options->candidates;
  result.assertions = options->noAssertions == 0;
  return result;
}

TileArtifact *tileModuleCompile(TileModule *module, TileOutputKind kind,
                                const TileCompileOptions *options) {
  DiagnosticForwarder forwarder(*module);
  Location loc = module->module->getLoc();
  std::optional<OutputKind> output;
  switch (kind) {
  case TILE_LLVM_IR:
    output = OutputKind::LLVMIR;
    break;
  case TILE_PTX:
    output = OutputKind::PTX;
    break;
  case TILE_HSACO:
    output = OutputKind::HSACO;
    break;
  }
  if (!output) {
    emitError(loc) << "there is no output kind " << int(kind);
    return nullptr;
  }
  FailureOr<CompileOptions> compileOptions = readOptions(options, loc);
  if (failed(compileOptions))
    return nullptr;
  if (options && options->remarks && !module->hasRemarks) {
    printRemarks(module->context);
    module->hasRemarks = true;
  }
  OwningOpRef<ModuleOp> copy = module->module->clone();
  FailureOr<Artifact> artifact = compile(*copy, *output, *compileOptions);
  if (failed(artifact))
    return nullptr;
  auto result = std::make_unique<TileArtifact>();
  result->data = std::move(artifact->data);
  result->manifest = llvm::formatv("{0:2}\n", artifact->manifest);
  return result.release();
}

const char *tileArtifactData(const TileArtifact *artifact, size_t *size) {
  if (size)
    *size = artifact->data.size();
  return artifact->data.c_str();
}

const char *tileArtifactManifest(const TileArtifact *artifact) {
  return artifact->manifest.c_str();
}

void tileArtifactDestroy(TileArtifact *artifact) { delete artifact; }
