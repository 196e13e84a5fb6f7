//===- Render.cpp - Layouts as text and pictures --------------------------===//
#include "tile/Layout/Render.h"
#include "tile/Layout/Queries.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

using namespace tile;
using llvm::ArrayRef;
using llvm::Error;
using llvm::SmallVector;

namespace {

/// The largest number of elements in a table or picture that is still readable.
constexpr int64_t kMostElements = 65536;

Error error(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

int64_t count(ArrayRef<int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1),
                         std::multiplies<int64_t>());
}

std::string tupleText(ArrayRef<int64_t> coords) {
  return "(" +
         llvm::join(llvm::map_range(
                        coords, [](int64_t c) { return std::to_string(c); }),
                    ",") +
         ")";
}

/// Returns the shape of the drawn tile: the destination of a distributed
/// layout, the source of a memory layout.
SmallVector<int64_t, 4> tileShape(const Layout &layout) {
  if (layout.family() == LayoutFamily::Distributed)
    return SmallVector<int64_t, 4>(layout.shape());
  SmallVector<int64_t, 4> shape;
  for (unsigned a = 0; a < layout.numAxes(); ++a)
    shape.push_back(layout.axisSize(a));
  return shape;
}

Error checkDrawable(const Layout &layout) {
  if (layout.family() == LayoutFamily::Map)
    return error("a map of coordinates has neither threads nor storage to "
                 "draw");
  if (!layout.isStatic())
    return error("a layout with dynamic extents cannot be drawn");
  if (Error e = layout.verify())
    return e;
  int64_t size = std::max(layout.inputSize(), count(layout.shape()));
  if (size > kMostElements)
    return error("a layout of " + llvm::Twine(size) +
                 " elements is too large to be drawn; the limit is " +
                 llvm::Twine(kMostElements));
  return Error::success();
}

/// Calls `visit` for every index tuple of `shape`, row major.
void forEach(ArrayRef<int64_t> shape,
             llvm::function_ref<void(ArrayRef<int64_t>)> visit) {
  SmallVector<int64_t, 4> index(shape.size(), 0);
  for (int64_t number = 0, e = count(shape); number < e; ++number) {
    visit(index);
    for (unsigned d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d])
        break;
      index[d] = 0;
    }
  }
}

/// A tile with a value of type T for every element, row major.
template <typename T> struct Elements {
  SmallVector<int64_t, 4> shape;
  std::vector<T> values;

  explicit Elements(ArrayRef<int64_t> shape)
      : shape(shape), values(count(shape)) {}

  T &at(ArrayRef<int64_t> coords) {
    int64_t number = 0;
    for (auto [coord, extent] : llvm::zip_equal(coords, shape))
      number = number * extent + coord;
    return values[number];
  }

  int64_t columns() const { return shape.empty() ? 1 : shape.back(); }
  int64_t rows() const { return shape.size() < 2 ? 1 : shape.end()[-2]; }
  /// Returns the number of grids of the last two dimensions.
  int64_t grids() const {
    return shape.size() < 3 ? 1 : count(ArrayRef(shape).drop_back(2));
  }
  std::string gridName(int64_t grid) const {
    SmallVector<std::string, 4> parts = {"*", "*"};
    for (int64_t extent : llvm::reverse(ArrayRef(shape).drop_back(2))) {
      parts.insert(parts.begin(), std::to_string(grid % extent));
      grid /= extent;
    }
    return "(" + llvm::join(parts, ",") + ")";
  }
};

/// The first thread that holds an element, and the number of further copies.
struct Holders {
  int64_t reg = 0, lane = 0, warp = 0, copies = 0;
};

Elements<Holders> holders(const Layout &dist) {
  Elements<Holders> result(dist.shape());
  for (int64_t warp = 0; warp < dist.axisSize(kWarp); ++warp)
    for (int64_t lane = 0; lane < dist.axisSize(kLane); ++lane)
      for (int64_t reg = 0; reg < dist.axisSize(kRegister); ++reg) {
        Holders &here = result.at(dist.element(reg, lane, warp));
        if (here.copies++ == 0)
          here = {reg, lane, warp, 1};
      }
  return result;
}

/// The text of an element and its hue, 0 to 359 degrees.
struct Cell {
  std::string text;
  unsigned hue = 0;
};

unsigned bankOf(int64_t offset, const MemoryView &view) {
  return offset * view.elementBits / 32 % view.banks;
}

Elements<Cell> cells(const Layout &layout, const MemoryView &view) {
  Elements<Cell> result(tileShape(layout));
  if (layout.family() == LayoutFamily::Memory) {
    forEach(result.shape, [&](ArrayRef<int64_t> coords) {
      int64_t offset = layout.offset(coords);
      result.at(coords) = {std::to_string(offset),
                           bankOf(offset, view) * 360 / view.banks};
    });
    return result;
  }
  bool hasWarps = layout.axisSize(kWarp) > 1;
  Elements<Holders> owner = holders(layout);
  for (auto [cell, holder] : llvm::zip_equal(result.values, owner.values)) {
    if (holder.copies == 0) {
      cell.text = "-";
      continue;
    }
    if (hasWarps)
      cell.text = std::to_string(holder.warp) + "/";
    cell.text += std::to_string(holder.lane) + ":" + std::to_string(holder.reg);
    if (holder.copies > 1)
      cell.text += "+" + std::to_string(holder.copies - 1);
    // Neighbouring lanes get very different hues.
    cell.hue = holder.lane * 137 % 360;
  }
  return result;
}

/// Prints lines of right-aligned cells, each with a name in front.
void printTable(llvm::raw_ostream &os, ArrayRef<std::string> names,
                ArrayRef<std::string> texts, size_t columns) {
  size_t nameWidth = 0, width = 0;
  for (const std::string &name : names)
    nameWidth = std::max(nameWidth, name.size());
  for (const std::string &text : texts)
    width = std::max(width, text.size());
  for (auto [line, name] : llvm::enumerate(names)) {
    os << llvm::right_justify(name, nameWidth) << " |";
    for (const std::string &text : texts.slice(
             line * columns, std::min(columns, texts.size() - line * columns)))
      os << ' ' << llvm::right_justify(text, width);
    os << '\n';
  }
}

void printGrids(llvm::raw_ostream &os, const Elements<Cell> &elements) {
  int64_t rows = elements.rows(), columns = elements.columns();
  SmallVector<std::string> names;
  for (int64_t row = 0; row < rows; ++row)
    names.push_back(std::to_string(row));
  for (int64_t grid = 0; grid < elements.grids(); ++grid) {
    if (elements.grids() > 1)
      os << elements.gridName(grid) << ":\n";
    std::vector<std::string> texts;
    for (const Cell &cell :
         ArrayRef(elements.values).slice(grid * rows * columns, rows * columns))
      texts.push_back(cell.text);
    printTable(os, names, texts, columns);
  }
}

/// Returns the layout of 32 lanes that read `vector` consecutive columns each.
/// The lanes are placed along the rows of the tile first if `alongRows`, else
/// down its columns.
Layout readers(ArrayRef<int64_t> shape, int64_t vector, bool alongRows) {
  constexpr int64_t lanes = 32;
  int64_t rows = shape[0], chunks = shape[1] / vector;
  int64_t across = std::gcd(lanes, alongRows ? chunks : rows);
  int64_t down = std::gcd(lanes / across, alongRows ? rows : chunks);
  if (!alongRows)
    std::swap(across, down);
  Digit columnLanes{across, 1, vector}, rowLanes{down, 0, 1};
  Digits lane = {columnLanes, rowLanes};
  if (!alongRows)
    std::swap(lane[0], lane[1]);
  return Layout::distributed({{vector, 1, 1},
                              {chunks / across, 1, vector * across},
                              {rows / down, 0, down}},
                             lane, {}, shape);
}

void printAccess(llvm::raw_ostream &os, const Layout &dist,
                 const Layout &memory, const MemoryView &view) {
  int64_t most = std::max<int64_t>(1, 128 / view.elementBits);
  AccessGroups groups = widestAccess(dist, memory, most);
  int64_t sweeps =
      bankConflicts(dist, memory, groups.width, view.elementBits, view.banks);
  os << "accesses per lane: " << groups.order.size() / groups.width << " of "
     << groups.width << (groups.width == 1 ? " element" : " elements")
     << "; bank conflicts: ";
  if (sweeps == 1)
    os << "none\n";
  else
    os << sweeps << "-way\n";
}

} // namespace

Error tile::renderFacts(llvm::raw_ostream &os, const Layout &layout) {
  if (Error e = layout.verify())
    return e;
  layout.print(os);
  os << "\n";
  if (!layout.isStatic())
    return Error::success();
  if (layout.family() != LayoutFamily::Distributed) {
    int64_t unused = count(layout.shape()) - layout.imageSize();
    os << "elements: " << layout.inputSize() << ", unused places: " << unused
       << "; "
       << (layout.isInjective(/*countReplication=*/true)
               ? "each element has its own place\n"
               : "some elements share a place\n");
    return Error::success();
  }
  int64_t copies = 1;
  for (unsigned axis : {kRegister, kLane, kWarp})
    copies *= layout.replication(axis);
  os << "registers: " << layout.axisSize(kRegister)
     << ", lanes: " << layout.axisSize(kLane)
     << ", warps: " << layout.axisSize(kWarp) << "; ";
  if (!layout.isSurjective())
    os << "some elements are held by no thread\n";
  else if (copies == 1)
    os << "each element is held once\n";
  else
    os << "each element is held " << copies << " times\n";
  return Error::success();
}

Error tile::renderElements(llvm::raw_ostream &os, const Layout &layout) {
  if (Error e = checkDrawable(layout))
    return e;
  printGrids(os, cells(layout, {}));
  return Error::success();
}

Error tile::renderPlaces(llvm::raw_ostream &os, const Layout &layout,
                         const MemoryView &view) {
  if (Error e = checkDrawable(layout))
    return e;
  if (layout.family() == LayoutFamily::Memory) {
    SmallVector<int64_t, 4> shape = tileShape(layout);
    std::vector<std::string> texts(layout.shape()[0], "-");
    forEach(shape, [&](ArrayRef<int64_t> coords) {
      std::string &text = texts[layout.offset(coords)];
      // Show the first of the elements that share a place.
      if (text == "-")
        text = tupleText(coords);
    });
    size_t perLine = std::max<size_t>(1, view.banks * 32 / view.elementBits);
    SmallVector<std::string> names;
    for (size_t first = 0; first < texts.size(); first += perLine)
      names.push_back(std::to_string(first));
    printTable(os, names, texts, perLine);
    return Error::success();
  }
  int64_t registers = layout.axisSize(kRegister);
  int64_t lanes = layout.axisSize(kLane), warps = layout.axisSize(kWarp);
  SmallVector<std::string> names;
  for (int64_t lane = 0; lane < lanes; ++lane)
    names.push_back("lane " + std::to_string(lane));
  for (int64_t warp = 0; warp < warps; ++warp) {
    if (warps > 1)
      os << "warp " << warp << ":\n";
    std::vector<std::string> texts;
    for (int64_t lane = 0; lane < lanes; ++lane)
      for (int64_t reg = 0; reg < registers; ++reg)
        texts.push_back(tupleText(layout.element(reg, lane, warp)));
    printTable(os, names, texts, registers);
  }
  return Error::success();
}

Error tile::renderBanks(llvm::raw_ostream &os, const Layout &memory,
                        const MemoryView &view) {
  if (Error e = checkDrawable(memory))
    return e;
  if (memory.family() != LayoutFamily::Memory)
    return error("banks belong to memory, but the layout is of registers");
  Elements<Cell> banks(tileShape(memory));
  forEach(banks.shape, [&](ArrayRef<int64_t> coords) {
    banks.at(coords).text = std::to_string(bankOf(memory.offset(coords), view));
  });
  printGrids(os, banks);

  // The lanes read the first grid of the last two dimensions.
  if (banks.shape.size() < 2)
    return Error::success();
  SmallVector<Digits, 3> axes;
  for (unsigned a = memory.numAxes() - 2; a < memory.numAxes(); ++a)
    axes.push_back(Digits(memory.axis(a)));
  Layout grid = Layout::memory(axes, memory.shape()[0], memory.swizzle());
  int64_t vector = std::min<int64_t>(grid.contiguity(1, 0),
                                     std::max(1u, 128 / view.elementBits));
  for (bool alongRows : {true, false}) {
    os << (alongRows ? "along rows:    " : "down a column: ");
    printAccess(os, readers({banks.rows(), banks.columns()}, vector, alongRows),
                grid, view);
  }
  return Error::success();
}

Error tile::renderAccess(llvm::raw_ostream &os, const Layout &dist,
                         const Layout &memory, const MemoryView &view) {
  for (const Layout *layout : {&dist, &memory})
    if (Error e = checkDrawable(*layout))
      return e;
  if (dist.family() != LayoutFamily::Distributed ||
      memory.family() != LayoutFamily::Memory)
    return error("an access needs a layout of registers and one of memory");
  if (ArrayRef(tileShape(memory)) != dist.shape())
    return error("the registers hold a tile of " + tupleText(dist.shape()) +
                 " elements, the memory one of " +
                 tupleText(tileShape(memory)));
  printAccess(os, dist, memory, view);
  return Error::success();
}

Error tile::renderSVG(llvm::raw_ostream &os, const Layout &layout,
                      const MemoryView &view) {
  if (Error e = checkDrawable(layout))
    return e;
  Elements<Cell> elements = cells(layout, view);
  constexpr int64_t height = 20, margin = 24, characterWidth = 7;
  size_t longest = 0;
  for (const Cell &cell : elements.values)
    longest = std::max(longest, cell.text.size());
  int64_t width = std::max<int64_t>(height, (longest + 1) * characterWidth);
  int64_t rows = elements.rows(), columns = elements.columns();
  int64_t gridHeight = rows * height + margin;
  os << llvm::formatv(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
      "font-family=\"monospace\" font-size=\"11\" text-anchor=\"middle\" "
      "style=\"background:white\">\n",
      columns * width + 2 * margin, elements.grids() * gridHeight + margin);
  os << "<title>" << layout.str() << "</title>\n";
  auto label = [&](int64_t x, int64_t y, llvm::StringRef text) {
    os << llvm::formatv("<text x=\"{0}\" y=\"{1}\">{2}</text>\n", x, y, text);
  };
  for (int64_t grid = 0; grid < elements.grids(); ++grid) {
    int64_t top = grid * gridHeight + margin;
    if (elements.grids() > 1)
      os << llvm::formatv("<text x=\"{0}\" y=\"{1}\" text-anchor=\"end\">{2}"
                          "</text>\n",
                          columns * width + 2 * margin, top - 6,
                          elements.gridName(grid));
    for (int64_t column = 0; column < columns; ++column)
      label(margin + column * width + width / 2, top - 6,
            std::to_string(column));
    for (int64_t row = 0; row < rows; ++row) {
      int64_t y = top + row * height;
      label(margin / 2, y + 14, std::to_string(row));
      for (int64_t column = 0; column < columns; ++column) {
        const Cell &cell =
            elements.values[(grid * rows + row) * columns + column];
        int64_t x = margin + column * width;
        os << llvm::formatv(
            "<rect x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{3}\" "
            "fill=\"hsl({4},70%,80%)\" stroke=\"#888\"/>\n",
            x, y, width, height, cell.hue);
        label(x + width / 2, y + 14, cell.text);
      }
    }
  }
  os << "</svg>\n";
  return Error::success();
}
