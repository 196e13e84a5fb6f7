//===- KernelPattern.cpp - What a kernel must be for a schedule -----------===//

#include "tile/Dialect/Tile/IR/KernelPattern.h"
#include "NamedFields.h"
#include "mlir/IR/DialectImplementation.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tile;

using Interval = KernelPattern::Interval;

/// The names of MaskKind.
static constexpr StringLiteral kMasks[] = {"none", "causal", "window"};

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

static bool holds(const Interval &range, int64_t value) {
  return range.contains(value);
}
template <typename T>
static bool holds(const std::optional<T> &condition, T value) {
  return !condition || *condition == value;
}

bool KernelPattern::matches(const KernelFeatures &features) const {
  bool result = true;
  auto compare = [&](StringRef, const auto &condition, const auto &value) {
    result &= holds(condition, value);
  };
  forEachField(compare, *this, features);
  return result;
}

bool KernelPattern::operator==(const KernelPattern &other) const {
  return haveEqualFields(*this, other);
}

llvm::hash_code tile::hash_value(const KernelPattern &pattern) {
  llvm::hash_code code(0);
  KernelPattern::forEachField(
      [&](StringRef, const auto &field) {
        if constexpr (std::is_same_v<decltype(field), const Interval &>)
          code = llvm::hash_combine(code, field.least, field.most);
        else
          code = llvm::hash_combine(code, field.has_value(),
                                    field ? int(*field) : 0);
      },
      pattern);
  return code;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static void printValue(raw_ostream &os, int64_t value) { os << " = " << value; }
static void printValue(raw_ostream &os, MaskKind value) {
  os << " = " << kMasks[int(value)];
}
static void printValue(raw_ostream &os, bool value) {
  if (!value)
    os << " = false";
}

std::string KernelFeatures::describe() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::ListSeparator separator;
  KernelPattern::forEachField(
      [&](StringRef name, const auto &value) {
        os << separator << name;
        printValue(os, value);
      },
      *this);
  return text;
}

/// Prints the condition on one field after `separator`, if there is one.
static void printField(raw_ostream &os, llvm::ListSeparator &separator,
                       StringRef name, const Interval &range) {
  Interval all;
  if (range == all)
    return;
  os << separator << name;
  if (range.least == range.most) {
    os << " = " << range.least;
    return;
  }
  if (range.least != all.least)
    os << " from " << range.least;
  if (range.most != all.most)
    os << " to " << range.most;
}

template <typename T>
static void printField(raw_ostream &os, llvm::ListSeparator &separator,
                       StringRef name, const std::optional<T> &condition) {
  if (!condition)
    return;
  os << separator << name;
  printValue(os, *condition);
}

void KernelPatternAttr::print(AsmPrinter &printer) const {
  raw_ostream &os = printer.getStream();
  KernelPattern pattern = getPattern();
  os << '<';
  llvm::ListSeparator separator;
  KernelPattern::forEachField(
      [&](StringRef name, const auto &field) {
        printField(os, separator, name, field);
      },
      pattern);
  os << '>';
}

/// Parses `= n`, `from n`, `to n` or `from n to n`.
static ParseResult parseCondition(AsmParser &parser, StringRef name,
                                  Interval &range) {
  SMLoc loc = parser.getCurrentLocation();
  Interval all;
  if (!(range == all))
    return parser.emitError(loc) << "field '" << name << "' comes twice";
  if (succeeded(parser.parseOptionalEqual())) {
    if (parser.parseInteger(range.least))
      return failure();
    range.most = range.least;
  } else {
    bool isBounded = succeeded(parser.parseOptionalKeyword("from"));
    if (isBounded && parser.parseInteger(range.least))
      return failure();
    if (succeeded(parser.parseOptionalKeyword("to"))) {
      if (parser.parseInteger(range.most))
        return failure();
    } else if (!isBounded) {
      return parser.emitError(loc) << "expected '=', 'from' or 'to'";
    }
  }
  if (range.least < 0 || range.least > range.most)
    return parser.emitError(loc) << "no kernel has '" << name << "' in "
                                 << range.least << " .. " << range.most;
  return success();
}

static ParseResult parseValue(AsmParser &parser, MaskKind &value) {
  StringRef name;
  if (parser.parseEqual())
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOptionalKeyword(&name, {kMasks[0], kMasks[1], kMasks[2]}))
    return parser.emitError(loc, "expected none, causal or window");
  value = MaskKind(llvm::find(kMasks, name) - std::begin(kMasks));
  return success();
}

static ParseResult parseValue(AsmParser &parser, bool &value) {
  return parseFlag(parser, value);
}

template <typename T>
static ParseResult parseCondition(AsmParser &parser, StringRef name,
                                  std::optional<T> &condition) {
  if (condition)
    return parser.emitError(parser.getCurrentLocation())
           << "field '" << name << "' comes twice";
  return parseValue(parser, condition.emplace());
}

Attribute KernelPatternAttr::parse(AsmParser &parser, Type) {
  KernelPattern pattern;
  auto parseField = [&] {
    return parseNamedField(parser, "a pattern", pattern,
                           [&](SMLoc, StringRef name, auto &field) {
                             return parseCondition(parser, name, field);
                           });
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parseField))
    return {};
  return get(parser.getContext(), pattern);
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

LogicalResult tile::parseSizePattern(
    StringRef text, SizePattern &pattern,
    function_ref<void(size_t place, const Twine &message)> fail) {
  SmallVector<StringRef> entries;
  text.split(entries, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef entry : entries) {
    auto error = [&](const Twine &message) {
      fail(entry.ltrim().data() - text.data(), message);
      return failure();
    };
    auto [name, shape] = entry.split('=');
    name = name.trim();
    shape = shape.trim();
    if (name.empty() || shape.empty())
      return error("expected 'argument = extents', got '" + entry.trim() + "'");
    SmallVector<std::optional<Interval>> extents;
    SmallVector<StringRef> parts;
    shape.split(parts, 'x');
    for (StringRef part : parts) {
      part = part.trim();
      if (part == "?") {
        extents.push_back(std::nullopt);
        continue;
      }
      Interval range;
      auto [least, most] = part.split("..");
      if (!part.contains(".."))
        most = least;
      if (least.getAsInteger(10, range.least) ||
          most.getAsInteger(10, range.most) || range.least < 0 ||
          range.least > range.most)
        return error("expected a number that is not negative, a range 'n..m' "
                     "or '?', got '" +
                     part + "'");
      extents.push_back(range);
    }
    if (!pattern.try_emplace(name, extents).second)
      return error("the sizes of '" + name + "' come twice");
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

LogicalResult KernelRowOp::verify() {
  SizePattern pattern;
  auto fail = [&](size_t, const Twine &message) {
    emitOpError() << "in 'sizes': " << message;
  };
  if (failed(parseSizePattern(getSizes().value_or(""), pattern, fail)))
    return failure();
  const Schedule &schedule = getSchedule().getFields();
  if (!schedule.params)
    return emitOpError("needs the field 'params' in its schedule");
  SmallVector<StringRef> fields(KernelOp::getScheduleFields());
  fields.push_back("warps");
  return verifyFields("a kernel", fields, schedule,
                      [&] { return emitOpError(); });
}

LogicalResult ScheduleRowOp::verify() {
  const Schedule &schedule = getSchedule().getFields();
  if (!schedule.tile || !schedule.warps)
    return emitOpError("needs the fields 'tile' and 'warps' in its schedule");
  return success();
}
