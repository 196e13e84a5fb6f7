//===- tile-layout.cpp - Shows layouts ------------------------------------===//
//
//   tile-layout '#tile.swizzle<128>' --shape=64x128 --type=f16 --view=banks
//   tile-layout '#tile.swizzle<128>' --shape=64x64
//     --access='#tile.mma<"mma.m16n8k16.f16", warps = [4, 1]>'
//   tile-layout --instruction=mma.m16n8k16.f16 --operand=a --svg=a.svg
//
//===----------------------------------------------------------------------===//
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "tile/Chips/Mma.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Layout/Render.h"
#include "tile/Tools/CommonOptions.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;
using namespace tile;
namespace cl = llvm::cl;

namespace {

enum class View { Facts, Elements, Places, Banks };
enum class Operand { A, B, Acc };

cl::OptionCategory category("tile-layout options");

cl::opt<std::string> layoutText(cl::Positional, cl::cat(category),
                                cl::desc("<layout attribute>"));
cl::opt<std::string> instruction(
    "instruction", cl::cat(category), cl::value_desc("name"),
    cl::desc("Show the fragments of a matrix instruction instead; 'help' lists "
             "them"));
cl::opt<std::string> shapeText("shape", cl::cat(category),
                               cl::value_desc("64x128"),
                               cl::desc("Shape of the tile"));
cl::opt<std::string> typeText("type", cl::cat(category), cl::init("f16"),
                              cl::desc("Element type (default f16)"));
cl::bits<View> views(
    "view", cl::CommaSeparated, cl::cat(category),
    cl::desc("What to print (default facts,elements):"),
    cl::values(clEnumValN(View::Facts, "facts",
                          "canonical digits, sizes, copies"),
               clEnumValN(View::Elements, "elements",
                          "who holds each element, or its offset"),
               clEnumValN(View::Places, "places",
                          "the element in each register or place of memory"),
               clEnumValN(View::Banks, "banks",
                          "the bank of each element and common conflicts")));
cl::bits<Operand>
    operands("operand", cl::CommaSeparated, cl::cat(category),
             cl::desc("Fragments of --instruction (default all):"),
             cl::values(clEnumValN(Operand::A, "a", "left operand, M x K"),
                        clEnumValN(Operand::B, "b", "right operand, K x N"),
                        clEnumValN(Operand::Acc, "acc", "accumulator, M x N")));
cl::opt<std::string>
    accessText("access", cl::cat(category), cl::value_desc("layout attribute"),
               cl::desc("Report how registers of this layout reach the memory "
                        "layout: width, bank conflicts"));
cl::opt<unsigned>
    banks("banks", cl::cat(category), cl::init(32),
          cl::desc("Shared memory banks of 4 bytes (default 32)"));
cl::opt<std::string> svgPath("svg", cl::cat(category), cl::value_desc("file"),
                             cl::desc("Write a picture of the layout; '-' "
                                      "prints it instead of the views"));

/// Prints an error to stderr. Returns the exit status of a failed run.
int fail(const llvm::Twine &message) {
  llvm::WithColor::error(llvm::errs(), "tile-layout") << message << '\n';
  return 1;
}

/// Prints the errors of `context` as fail() does. The parser's errors have a
/// column in the text of the attribute, most others have no location.
void printErrors(MLIRContext &context) {
  context.getDiagEngine().registerHandler([](Diagnostic &diag) {
    std::string place;
    if (auto loc = diag.getLocation()->findInstanceOf<FileLineColLoc>())
      place = (loc.getFilename().getValue() + ", column " +
               llvm::Twine(loc.getColumn()) + ": ")
                  .str();
    fail(place + diag.str());
  });
}

/// Parses a shape such as 64x128.
FailureOr<SmallVector<int64_t>> parseShape(StringRef text) {
  SmallVector<int64_t> shape;
  SmallVector<StringRef> parts;
  text.split(parts, 'x');
  for (StringRef part : parts) {
    int64_t extent;
    if (part.getAsInteger(10, extent) || extent < 1 || extent > (1 << 24))
      return failure();
    shape.push_back(extent);
  }
  return shape;
}

/// Returns the canonical layout of an attribute. On failure a message has been
/// printed.
FailureOr<Layout> parseLayout(StringRef text, ArrayRef<int64_t> shape,
                              unsigned elementBits, MLIRContext &context) {
  Attribute attr = parseAttribute(text, &context);
  if (!attr)
    return failure();
  auto layoutAttr = dyn_cast<LayoutAttrInterface>(attr);
  if (!layoutAttr) {
    fail("'" + text + "' is no layout");
    return failure();
  }
  auto strided = dyn_cast<StridedAttr>(attr);
  if (strided && llvm::is_contained(strided.getStrides(), kDynamic)) {
    fail(text + ": strides that are known at run time cannot be shown; write "
                "numbers");
    return failure();
  }
  FailureOr<Layout> layout = layoutAttr.getLayout(
      shape, elementBits, [&] { return emitError(UnknownLoc::get(&context)); });
  if (failed(layout))
    return failure();
  if (llvm::Error error = layout->verify()) {
    fail(text + ": " + llvm::toString(std::move(error)));
    return failure();
  }
  return layout;
}

llvm::Error show(const Layout &layout, const MemoryView &memory) {
  if (svgPath == "-")
    return llvm::Error::success();
  auto wants = [](View view) {
    return views.getBits() == 0 ? view == View::Facts || view == View::Elements
                                : views.isSet(view);
  };
  llvm::raw_ostream &os = llvm::outs();
  if (wants(View::Facts))
    if (llvm::Error error = renderFacts(os, layout))
      return error;
  if (wants(View::Elements))
    if (llvm::Error error = renderElements(os, layout))
      return error;
  if (wants(View::Places))
    if (llvm::Error error = renderPlaces(os, layout, memory))
      return error;
  if (wants(View::Banks))
    return renderBanks(os, layout, memory);
  return llvm::Error::success();
}

/// Writes the picture, or nothing if that fails.
int draw(const Layout &layout, const MemoryView &memory) {
  std::error_code code;
  llvm::ToolOutputFile file(svgPath, code, llvm::sys::fs::OF_Text);
  if (code)
    return fail("cannot write '" + svgPath + "': " + code.message());
  if (llvm::Error error = renderSVG(file.os(), layout, memory))
    return fail(llvm::toString(std::move(error)));
  file.keep();
  return 0;
}

int showInstruction() {
  if (instruction == "help") {
    for (const Mma &row : mmas())
      llvm::outs() << row.name << '\n';
    return 0;
  }
  const Mma *row = findMma(instruction);
  if (!row)
    return fail("unknown instruction '" + instruction +
                "'; --instruction=help lists them");
  if (!layoutText.empty() || !shapeText.empty() || !accessText.empty())
    return fail("--instruction takes no layout, --shape or --access");
  auto wants = [](Operand operand) {
    return operands.getBits() == 0 || operands.isSet(operand);
  };
  SmallVector<std::pair<StringRef, const Layout *>> fragments;
  if (wants(Operand::A))
    fragments.push_back({"A", &row->a});
  if (wants(Operand::B))
    fragments.push_back({"B", &row->b});
  if (wants(Operand::Acc))
    fragments.push_back({"accumulator", &row->acc});
  if (!svgPath.empty() && fragments.size() != 1)
    return fail("a picture shows one fragment; choose it with --operand");
  for (auto [name, fragment] : fragments) {
    if (svgPath != "-")
      llvm::outs() << row->name << ", " << name << ":\n";
    if (llvm::Error error = show(*fragment, {}))
      return fail(llvm::toString(std::move(error)));
    if (!svgPath.empty())
      return draw(*fragment, {});
  }
  return 0;
}

int showAttribute() {
  if (layoutText.empty() || shapeText.empty())
    return fail("a layout attribute and --shape are needed, or --instruction; "
                "see --help");
  if (operands.getBits() != 0)
    return fail("--operand needs --instruction");
  if (banks == 0 || banks > 1024)
    return fail("the number of banks is from 1 to 1024");
  FailureOr<SmallVector<int64_t>> shape = parseShape(shapeText);
  if (failed(shape))
    return fail("'" + shapeText +
                "' is no shape; write positive extents as 64x128");

  MLIRContext context(MLIRContext::Threading::DISABLED);
  printErrors(context);
  if (failed(verifyTileShape(
          *shape, [&] { return emitError(UnknownLoc::get(&context)); })))
    return 1;
  context.loadDialect<TileDialect>();
  Type type = parseType(typeText, &context);
  if (!type)
    return 1;
  if (!type.isIntOrFloat() || type.getIntOrFloatBitWidth() > 128)
    return fail("'" + typeText +
                "' is no element type; an integer or float of at most 128 bits "
                "is needed");
  MemoryView memory{type.getIntOrFloatBitWidth(), banks};

  FailureOr<Layout> layout =
      parseLayout(layoutText, *shape, memory.elementBits, context);
  if (failed(layout))
    return 1;
  if (llvm::Error error = show(*layout, memory))
    return fail(llvm::toString(std::move(error)));
  if (!accessText.empty()) {
    FailureOr<Layout> dist =
        parseLayout(accessText, *shape, memory.elementBits, context);
    if (failed(dist))
      return 1;
    if (llvm::Error error = renderAccess(llvm::outs(), *dist, *layout, memory))
      return fail(llvm::toString(std::move(error)));
  }
  return svgPath.empty() ? 0 : draw(*layout, memory);
}

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  setVersionPrinter();
  cl::ParseCommandLineOptions(argc, argv,
                              "shows layouts of the tile dialect\n");
  return instruction.empty() ? showAttribute() : showInstruction();
}
