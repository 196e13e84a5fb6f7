//===- ScheduleAttr.cpp - The schedule of a kernel ------------------------===//

#include "ScheduleAttr.h"
#include "NamedFields.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/DialectImplementation.h"
#include "tile/Chips/Chips.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tile;

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

/// Returns `numbers` with those of `defaults` that it does not name.
static DictionaryAttr addNumbers(DictionaryAttr numbers,
                                 DictionaryAttr defaults) {
  NamedAttrList all(numbers);
  for (NamedAttribute number : defaults)
    if (!all.get(number.getName()))
      all.append(number);
  return all.getDictionary(numbers.getContext());
}

/// Returns true if the warps form several warpgroups, which can take turns.
static bool canTakeTurns(int64_t warps) {
  return warps >= 2 * kWarpgroupWarps && warps % kWarpgroupWarps == 0;
}

Schedule Schedule::withDefaults(const Schedule &defaults) const {
  Schedule result = *this;
  auto fill = [](StringRef, auto &field, const auto &other) {
    if (!field)
      field = other;
  };
  forEachField(fill, result, defaults);
  if (params && defaults.params)
    result.params = addNumbers(*params, *defaults.params);
  if (producers == 0) {
    result.consumerGroups = consumerGroups;
    result.storers = storers;
    result.registers = registers;
    result.stages = stages;
    result.workStages = workStages;
    result.inFlight = inFlight;
    result.turns = turns;
    result.saveRegisters = saveRegisters;
    result.lateProducts = lateProducts;
  }
  if (inFlight == 1)
    result.workStages = workStages;
  if (warps && !canTakeTurns(*warps))
    result.turns = turns;
  return result;
}

bool Schedule::operator==(const Schedule &other) const {
  return haveEqualFields(*this, other);
}

llvm::hash_code tile::hash_value(const Schedule &schedule) {
  llvm::hash_code code(0);
  auto add = [&](auto value) { code = llvm::hash_combine(code, value); };
  Schedule::forEachField(
      [&](StringRef, const auto &field) {
        add(field.has_value());
        if constexpr (std::is_same_v<decltype(field), const Schedule::Pair &>) {
          add(field.value_or(std::array<int64_t, 2>{})[0]);
          add(field.value_or(std::array<int64_t, 2>{})[1]);
        } else if (field) {
          add(*field);
        }
      },
      schedule);
  return code;
}

/// Returns the names of the fields that have a value.
static SmallVector<StringRef> namesOf(const Schedule &schedule) {
  SmallVector<StringRef> names;
  Schedule::forEachField(
      [&](StringRef name, const auto &field) {
        if (field)
          names.push_back(name);
      },
      schedule);
  return names;
}

LogicalResult tile::verifyFields(StringRef user, ArrayRef<StringRef> allowed,
                                 const Schedule &schedule,
                                 EmitError emitError) {
  for (StringRef name : namesOf(schedule))
    if (!llvm::is_contained(allowed, name)) {
      InFlightDiagnostic diag = emitError();
      diag << "the schedule of " << user << " has no field '" << name
           << "', only ";
      llvm::interleaveComma(allowed, diag);
      return diag;
    }
  return success();
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static ParseResult parseValue(AsmParser &parser, Schedule::Number &field) {
  int64_t value;
  if (parser.parseEqual() || parser.parseInteger(value))
    return failure();
  field = value;
  return success();
}

static ParseResult parseValue(AsmParser &parser, Schedule::Pair &field) {
  std::array<int64_t, 2> value;
  if (parser.parseEqual() || parser.parseLSquare() ||
      parser.parseInteger(value[0]) || parser.parseComma() ||
      parser.parseInteger(value[1]) || parser.parseRSquare())
    return failure();
  field = value;
  return success();
}

static ParseResult parseValue(AsmParser &parser, Schedule::Flag &field) {
  return parseFlag(parser, field.emplace());
}

static constexpr int64_t kMostGroup = 65536;

static ParseResult parseValue(AsmParser &parser, Schedule::Order &field) {
  field.emplace();
  if (parser.parseEqual())
    return failure();
  if (succeeded(parser.parseOptionalKeyword("plain")))
    return success();
  SMLoc loc = parser.getCurrentLocation();
  if (failed(parser.parseOptionalKeyword("groups")))
    return parser.emitError(loc,
                            "expected 'plain', 'groups<n>' or 'groups<n, m>'");
  auto parseExtent = [&](StringRef what, int64_t &extent) -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseInteger(extent))
      return failure();
    if (extent < 1 || extent > kMostGroup)
      return parser.emitError(loc)
             << "field 'order' of a schedule has " << what << " of 1 .. "
             << kMostGroup << " blocks, got " << extent;
    return success();
  };
  if (parser.parseLess() || parseExtent("groups", field->group))
    return failure();
  if (succeeded(parser.parseOptionalComma()) &&
      parseExtent("panels", field->panel))
    return failure();
  return parser.parseGreater();
}

static ParseResult parseValue(AsmParser &parser, Schedule::Numbers &field) {
  NamedAttrList numbers;
  auto parseNumber = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    StringRef name;
    int64_t value;
    if (parser.parseKeyword(&name))
      return failure();
    if (numbers.get(name))
      return parser.emitError(loc) << "parameter '" << name << "' comes twice";
    if (parser.parseEqual() || parser.parseInteger(value))
      return failure();
    numbers.append(name, parser.getBuilder().getI64IntegerAttr(value));
    return success();
  };
  if (parser.parseEqual() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, parseNumber))
    return failure();
  field = numbers.getDictionary(parser.getContext());
  return success();
}

static void printValue(raw_ostream &os, int64_t value) { os << " = " << value; }
static void printValue(raw_ostream &os, const std::array<int64_t, 2> &value) {
  os << " = [" << value[0] << ", " << value[1] << ']';
}
static void printValue(raw_ostream &os, bool value) {
  if (!value)
    os << " = false";
}

static void printValue(raw_ostream &os, BlockOrder order) {
  if (order.isPlain()) {
    os << " = plain";
    return;
  }
  os << " = groups<" << order.group;
  if (order.panel != 1)
    os << ", " << order.panel;
  os << '>';
}

static void printValue(raw_ostream &os, DictionaryAttr numbers) {
  os << " = {" << describeNumbers(numbers) << '}';
}

ParseResult ScheduleAttr::parseFields(AsmParser &parser, Schedule &fields) {
  auto parseField = [&](SMLoc loc, StringRef name, auto &field) {
    return field ? ParseResult(parser.emitError(loc)
                               << "field '" << name << "' comes twice")
                 : parseValue(parser, field);
  };
  do {
    if (parseNamedField(parser, "a schedule", fields, parseField))
      return failure();
  } while (succeeded(parser.parseOptionalComma()));
  return success();
}

Attribute ScheduleAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  Schedule fields;
  if (parser.parseLess() || parseFields(parser, fields) ||
      parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    fields);
}

void ScheduleAttr::print(AsmPrinter &printer) const {
  raw_ostream &os = printer.getStream();
  Schedule schedule = getFields();
  os << '<';
  llvm::ListSeparator separator;
  Schedule::forEachField(
      [&](StringRef name, const auto &field) {
        if (!field)
          return;
        os << separator << name;
        printValue(os, *field);
      },
      schedule);
  os << '>';
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

namespace {
/// The values that a field may have.
struct Limits {
  StringRef name;
  int64_t least, most, multiple = 1;
};
} // namespace

// The registers are those of setmaxnreg (PTX ISA).
static constexpr Limits kLimits[] = {
    {"tile", 1, 1024},
    {"pack_heads", 1, 1024},
    {"warps", 1, kMostClusterWarps},
    {"column_warps", 1, kMostWarps},
    {"consumer_groups", 1, 2},
    {"producers", 0, kMostWarps},
    {"storers", 0, kMostWarps},
    {"registers", 24, 256, 8},
    {"stages", 1, 32},
    {"work_stages", 0, 2},
    {"in_flight", 1, 2},
    {"split", 1, 64},
    {"cluster_split", 2, kMostClusterBlocks},
    {"stream_k", 2, 4096},
};

static LogicalResult verifyRange(StringRef name, ArrayRef<int64_t> values,
                                 EmitError emitError) {
  const Limits *range = llvm::find_if(
      kLimits, [&](const Limits &limits) { return limits.name == name; });
  for (int64_t value : values) {
    if (value >= range->least && value <= range->most &&
        value % range->multiple == 0)
      continue;
    InFlightDiagnostic diag = emitError();
    diag << "field '" << name << "' of a schedule lies in " << range->least
         << " .. " << range->most;
    if (range->multiple != 1)
      diag << " and is a multiple of " << range->multiple;
    return diag << ", got " << value;
  }
  return success();
}

static LogicalResult verifyRange(StringRef name, const Schedule::Number &field,
                                 EmitError emitError) {
  return field ? verifyRange(name, ArrayRef<int64_t>(*field), emitError)
               : success();
}
static LogicalResult verifyRange(StringRef name, const Schedule::Pair &field,
                                 EmitError emitError) {
  return field ? verifyRange(name, ArrayRef<int64_t>(*field), emitError)
               : success();
}
static LogicalResult verifyRange(StringRef, const Schedule::Flag &, EmitError) {
  return success();
}
static LogicalResult verifyRange(StringRef, const Schedule::Order &,
                                 EmitError) {
  return success();
}
// The kernel lists the values that its parameters may have.
static LogicalResult verifyRange(StringRef, const Schedule::Numbers &,
                                 EmitError) {
  return success();
}

/// Verifies that fields of roles stand beside producers. Unless `isWhole`,
/// `producers` may be given elsewhere.
static LogicalResult verifyHasRoles(const Schedule &schedule, bool isWhole,
                                    EmitError emitError) {
  if (schedule.hasRoles() || (!schedule.producers && !isWhole))
    return success();
  StringRef name = schedule.storers.value_or(0) != 0 ? "storers"
                   : schedule.registers              ? "registers"
                                                     : "";
  if (name.empty() && schedule.producers && schedule.countConsumerGroups() != 1)
    name = "consumer_groups";
  if (name.empty() && schedule.producers &&
      schedule.workStages.value_or(0) != 0)
    name = "work_stages";
  if (name.empty() && schedule.inFlight.value_or(1) != 1)
    name = "in_flight";
  if (name.empty() && schedule.producers && schedule.takesTurns())
    name = "turns";
  if (name.empty() && schedule.producers && schedule.savesRegisters())
    name = "save_registers";
  if (name.empty() && schedule.producers &&
      schedule.lateProducts.value_or(false))
    name = "late_products";
  if (name.empty())
    return success();
  return emitError() << "field '" << name
                     << "' of a schedule needs roles: 'producers' is "
                     << schedule.producers.value_or(0);
}

LogicalResult ScheduleAttr::verify(EmitError emitError, Schedule fields) {
  LogicalResult result = success();
  Schedule::forEachField(
      [&](StringRef name, const auto &field) {
        if (succeeded(result))
          result = verifyRange(name, field, emitError);
      },
      fields);
  if (failed(result) ||
      failed(verifyHasRoles(fields, /*isWhole=*/false, emitError)))
    return failure();
  if (fields.inFlight == 1 && fields.workStages.value_or(0) != 0)
    return emitError() << "field 'work_stages' of a schedule needs two "
                          "products in flight: 'in_flight' is 1";
  SmallVector<StringRef> shares;
  if (fields.split.value_or(1) != 1)
    shares.push_back("split");
  if (fields.clusterSplit)
    shares.push_back("cluster_split");
  if (fields.streamK)
    shares.push_back("stream_k");
  if (shares.size() > 1)
    return emitError() << "'" << shares[0] << "' and '" << shares[1]
                       << "' of a schedule contradict each other";
  if (fields.warps)
    return verifyWarps(fields, *fields.warps, emitError);
  return success();
}

LogicalResult tile::verifyWarps(const Schedule &schedule, int64_t warps,
                                EmitError emitError) {
  if (int64_t columns = schedule.columnWarps.value_or(1); warps % columns != 0)
    return emitError() << "'column_warps' of a schedule is " << columns
                       << ", which does not divide its " << warps << " warps";
  int64_t others =
      schedule.producers.value_or(0) + schedule.storers.value_or(0);
  warps *= schedule.countConsumerGroups();
  int64_t all = warps + others;
  // Blocks of a cluster share the warps of a schedule without roles.
  if (all > (others == 0 ? kMostClusterWarps : kMostWarps))
    return emitError() << "a schedule with " << warps << " warps and " << others
                       << " of other roles has " << all
                       << " warps; a block has at most " << kMostWarps;
  if (schedule.takesTurns() && schedule.countConsumerGroups() != 1)
    return emitError() << "'turns' and 'consumer_groups' of a schedule "
                          "contradict each other";
  if (schedule.takesTurns() && !canTakeTurns(warps))
    return emitError() << "'turns' of a schedule needs two warpgroups of "
                       << kWarpgroupWarps << " warps or more, got " << warps
                       << " warps";
  if (!schedule.registers || !schedule.producers)
    return success();
  if (warps % kWarpgroupWarps != 0 || others % kWarpgroupWarps != 0)
    return emitError() << "'registers' of a schedule are those of warpgroups "
                          "of "
                       << kWarpgroupWarps << " warps, got " << warps
                       << " warps and " << others << " of other roles";
  // setmaxnreg would wait forever if the roles needed more registers than the
  // block starts with.
  auto [mine, theirs] = *schedule.registers;
  int64_t sum = 32 * (warps * mine + others * theirs);
  int64_t share = getRegisterShare(32 * all);
  if (sum > 32 * all * share)
    return emitError() << "'registers' of a schedule give the threads of "
                       << all << " warps " << sum
                       << " registers in all; they start with "
                       << 32 * all * share << ", " << share << " each";
  return success();
}

LogicalResult tile::verifyKernelSchedule(const Schedule &schedule,
                                         std::optional<int64_t> warps,
                                         EmitError emitError) {
  if (failed(verifyFields("a kernel", KernelOp::getScheduleFields(), schedule,
                          emitError)) ||
      failed(verifyHasRoles(schedule, /*isWhole=*/true, emitError)))
    return failure();
  return warps ? verifyWarps(schedule, *warps, emitError) : success();
}

ArrayRef<StringRef> KernelOp::getScheduleFields() {
  static constexpr StringRef fields[] = {
      "consumer_groups", "producers",     "storers", "registers",
      "stages",          "work_stages",   "turns",   "save_registers",
      "keep_loops",      "late_products", "split",   "cluster_split",
      "stream_k",        "order",         "params"};
  return fields;
}

ArrayRef<StringRef> AttentionOp::getScheduleFields() {
  static constexpr StringRef fields[] = {
      "tile",      "pack_heads",     "warps",        "producers",
      "registers", "stages",         "work_stages",  "in_flight",
      "turns",     "save_registers", "cluster_split"};
  return fields;
}

ArrayRef<StringRef> AttentionBackwardOp::getKeysScheduleFields() {
  static constexpr StringRef fields[] = {
      "tile",    "warps",          "column_warps", "producers",
      "storers", "registers",      "stages",       "in_flight",
      "turns",   "save_registers", "late_products"};
  return fields;
}

ArrayRef<StringRef> AttentionBackwardOp::getQueriesScheduleFields() {
  static constexpr StringRef fields[] = {"tile", "warps", "stages"};
  return fields;
}

LogicalResult TileDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attribute) {
  auto emitError = [&] { return op->emitOpError(); };
  if (attribute.getName() != kScheduleAttr) {
    // Where schedules stand, a misspelt attribute must not go unnoticed.
    if (!isa<scf::ForOp, KernelOp, AttentionOp, AttentionBackwardOp, MatmulOp>(
            op))
      return success();
    return emitError() << "has the unknown attribute " << attribute.getName();
  }
  auto schedule = dyn_cast<ScheduleAttr>(attribute.getValue());
  if (!schedule)
    return emitError() << kScheduleAttr << " must be a #tile.schedule, got "
                       << attribute.getValue();
  if (isa<scf::ForOp>(op))
    return verifyFields("a loop", {"stages", "keep_loops"},
                        schedule.getFields(), emitError);
  // A function that a kernel became.
  if (isa<FunctionOpInterface>(op) && !isa<KernelOp>(op))
    return verifyFields("a function", {"save_registers"}, schedule.getFields(),
                        emitError);
  return emitError() << "cannot have " << kScheduleAttr
                     << ", which is for scf.for; kernels have 'schedule'";
}

LogicalResult TileDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                    unsigned number,
                                                    NamedAttribute attribute) {
  StringRef name = attribute.getName();
  bool mayBeString = name == kNameAttr || name == kAccumulatorAttr;
  bool mayBeUnit = name == kNonNegativeAttr || name == kAccumulatorAttr;
  if (!mayBeString && !mayBeUnit)
    return op->emitOpError()
           << "has the unknown attribute " << attribute.getName()
           << " of argument " << number;
  if ((mayBeString && isa<StringAttr>(attribute.getValue())) ||
      (mayBeUnit && isa<UnitAttr>(attribute.getValue())))
    return success();
  return op->emitOpError() << "has the attribute " << attribute.getName()
                           << " of argument " << number << ", which must be "
                           << (mayBeString ? "a string" : "a unit attribute")
                           << ", got " << attribute.getValue();
}

//===----------------------------------------------------------------------===//
// The schedule of an operation
//===----------------------------------------------------------------------===//

Schedule tile::getSchedule(Operation *op) {
  ScheduleAttr schedule;
  if (auto kernel = dyn_cast<KernelOp>(op))
    schedule = kernel.getScheduleAttr();
  else
    schedule = op->getAttrOfType<ScheduleAttr>(TileDialect::kScheduleAttr);
  return schedule ? schedule.getFields() : Schedule();
}

void tile::setSchedule(Operation *op, const Schedule &schedule) {
  auto kernel = dyn_cast<KernelOp>(op);
  if (schedule.empty()) {
    if (kernel)
      kernel.removeScheduleAttr();
    else
      op->removeAttr(TileDialect::kScheduleAttr);
    return;
  }
  auto attribute = ScheduleAttr::get(op->getContext(), schedule);
  if (kernel)
    kernel.setScheduleAttr(attribute);
  else
    op->setAttr(TileDialect::kScheduleAttr, attribute);
}
