//===- ApplySchedule.cpp - Schedules from the command line ----------------===//

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "tile/Dialect/Tile/Transforms/Program/NamedOps.h"
#include "tile/Dialect/Tile/Transforms/Schedule/ScheduleTable.h"

namespace tile {
#define GEN_PASS_DEF_TILEAPPLYSCHEDULE
#include "tile/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {
/// Fields for the kernel `name`, or for all kernels if it is empty.
struct Override {
  Location loc;
  std::string name;
  Schedule fields;
};

/// A schedule that can be overridden.
struct Target {
  Operation *op;
  /// The kernel that `op` is or becomes, and the attribute with its schedule.
  std::string name;
  StringRef attribute;
  SmallVector<StringRef> fields;
};

struct ApplySchedule : tile::impl::TileApplyScheduleBase<ApplySchedule> {
  using TileApplyScheduleBase::TileApplyScheduleBase;

  void runOnOperation() override;
};
} // namespace

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// Returns a location in the text of the option; columns count from 1.
static Location locate(MLIRContext *context, size_t offset) {
  return FileLineColLoc::get(context, "--schedule", 1, unsigned(offset + 1));
}

/// Parses fields, or a whole attribute, which begin at `offset` of the option.
static FailureOr<Schedule> parseFields(MLIRContext *context, StringRef text,
                                       size_t offset) {
  constexpr StringLiteral prefix = "#tile.schedule<";
  bool isWhole = text.starts_with("#");
  std::string whole = isWhole ? text.str() : (prefix + text + ">").str();
  size_t added = isWhole ? 0 : prefix.size();
  SmallVector<std::pair<Location, std::string>> errors;
  Attribute attribute;
  {
    // The parser knows no file. Its columns become those of the option.
    ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
      size_t column = 0;
      if (auto place =
              diagnostic.getLocation()->findInstanceOf<FileLineColLoc>())
        column = place.getColumn() - 1;
      column = std::clamp(column, added, added + text.size());
      errors.push_back(
          {locate(context, offset + column - added), diagnostic.str()});
      return success();
    });
    attribute = parseAttribute(whole, context);
  }
  for (auto &[loc, message] : errors)
    emitError(loc) << message;
  if (!attribute)
    return failure();
  auto schedule = dyn_cast<ScheduleAttr>(attribute);
  if (!schedule)
    return emitError(locate(context, offset))
           << "expected #tile.schedule, got " << attribute;
  return schedule.getFields();
}

/// Parses `[@name :] fields`, separated by semicolons.
static LogicalResult parseOverrides(MLIRContext *context, StringRef text,
                                    SmallVectorImpl<Override> &overrides) {
  StringRef rest = text;
  do {
    StringRef entry;
    std::tie(entry, rest) = rest.split(';');
    entry = entry.trim();
    Location loc = locate(context, entry.data() - text.data());
    StringRef name;
    if (entry.consume_front("@")) {
      if (!entry.contains(':'))
        return emitError(loc)
               << "expected ':' and fields after the name of a kernel";
      std::tie(name, entry) = entry.split(':');
      name = name.trim();
      entry = entry.trim();
    }
    FailureOr<Schedule> fields =
        parseFields(context, entry, entry.data() - text.data());
    if (failed(fields))
      return failure();
    overrides.push_back({loc, name.str(), *fields});
  } while (!rest.empty());
  return success();
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static SmallVector<Target> findTargets(ModuleOp module) {
  SmallVector<Target> targets;
  for (auto kernel : module.getOps<KernelOp>()) {
    SmallVector<StringRef> fields(KernelOp::getScheduleFields());
    fields.push_back("warps");
    targets.push_back({kernel, kernel.getName().str(),
                       KernelOp::getScheduleAttrName(kernel->getName()),
                       std::move(fields)});
  }
  module.walk([&](Operation *op) {
    // Other named operations are kernels by now.
    if (!isa<AttentionOp, AttentionBackwardOp>(op) ||
        !isa<func::FuncOp>(op->getParentOp()))
      return;
    std::string name = getKernelName(op);
    if (auto forward = dyn_cast<AttentionOp>(op)) {
      targets.push_back({op, name, forward.getScheduleAttrName(),
                         to_vector(AttentionOp::getScheduleFields())});
      return;
    }
    auto backward = cast<AttentionBackwardOp>(op);
    auto suffixed = [&](StringRef suffix) {
      return (name + "_" + suffix).str();
    };
    targets.push_back(
        {op, suffixed(kKeysSuffix), backward.getDkvScheduleAttrName(),
         to_vector(AttentionBackwardOp::getKeysScheduleFields())});
    if (!backward.getDqAcc())
      targets.push_back(
          {op, suffixed(kQueriesSuffix), backward.getDqScheduleAttrName(),
           to_vector(AttentionBackwardOp::getQueriesScheduleFields())});
  });
  return targets;
}

/// Returns true if `kernel` has a parameter of that name.
static bool hasParam(Operation *kernel, StringAttr name) {
  return isa<KernelOp>(kernel) &&
         llvm::any_of(getParams(cast<KernelOp>(kernel)), [&](ParamOp param) {
           return param.getParameterAttr() == name;
         });
}

/// Sets the fields of `fields` that `target` can have.
static void apply(const Target &target, Schedule fields) {
  Schedule::forEachField(
      [&](StringRef name, auto &field) {
        if (!llvm::is_contained(target.fields, name))
          field.reset();
      },
      fields);
  // A kernel has its warps as an attribute of its own.
  if (auto kernel = dyn_cast<KernelOp>(target.op); kernel && fields.warps) {
    kernel.setNumWarps(*fields.warps);
    fields.warps.reset();
  }
  if (fields.params) {
    SmallVector<NamedAttribute> known;
    llvm::copy_if(*fields.params, std::back_inserter(known),
                  [&](NamedAttribute number) {
                    return hasParam(target.op, number.getName());
                  });
    fields.params = DictionaryAttr::get(target.op->getContext(), known);
    if (known.empty())
      fields.params.reset();
  }
  if (auto before = target.op->getAttrOfType<ScheduleAttr>(target.attribute))
    fields = fields.withDefaults(before.getFields());
  if (!fields.empty())
    target.op->setAttr(target.attribute,
                       ScheduleAttr::get(target.op->getContext(), fields));
}

static LogicalResult apply(const Override &override, ArrayRef<Target> targets) {
  SmallVector<Target> chosen(targets);
  if (!override.name.empty())
    llvm::erase_if(chosen, [&](const Target &target) {
      return target.name != override.name;
    });
  if (chosen.empty()) {
    InFlightDiagnostic diag = emitError(override.loc);
    if (override.name.empty())
      return diag << "the program has no kernel with a schedule";
    diag << "no kernel with a schedule is named '" << override.name << "'";
    if (!targets.empty()) {
      diag << "; there are ";
      llvm::interleaveComma(targets, diag,
                            [&](const Target &target) { diag << target.name; });
    }
    return diag;
  }
  // With a name, there is one kernel, which must have every field.
  SmallVector<StringRef> unknown;
  Schedule::forEachField(
      [&](StringRef name, const auto &field) {
        if (field && llvm::none_of(chosen, [&](const Target &target) {
              return llvm::is_contained(target.fields, name);
            }))
          unknown.push_back(name);
      },
      override.fields);
  if (!unknown.empty())
    return emitError(override.loc)
           << "the schedule of "
           << (override.name.empty() ? std::string("no kernel of the program")
                                     : "'" + override.name + "'")
           << (override.name.empty() ? " has field '" : " has no field '")
           << unknown.front() << "'";
  if (override.fields.params)
    for (NamedAttribute number : *override.fields.params)
      if (llvm::none_of(chosen, [&](const Target &target) {
            return hasParam(target.op, number.getName());
          }))
        return emitError(override.loc)
               << (override.name.empty() ? std::string("no kernel")
                                         : "'" + override.name + "'")
               << (override.name.empty() ? "" : " does not have")
               << (override.name.empty() ? " has the parameter '"
                                         : " the parameter '")
               << number.getName().getValue() << "'";
  for (const Target &target : chosen)
    apply(target, override.fields);
  return success();
}

void ApplySchedule::runOnOperation() {
  ModuleOp module = getOperation();
  for (Operation &op : *module.getBody())
    if (isa<ScheduleRowOp, IncludeSchedulesOp>(op)) {
      op.emitOpError("belongs to a file of schedules, not to a program");
      return signalPassFailure();
    }
  if (!schedule.empty()) {
    SmallVector<Override, 1> overrides;
    if (failed(parseOverrides(&getContext(), schedule, overrides)))
      return signalPassFailure();
    SmallVector<Target> targets = findTargets(module);
    for (const Override &override : overrides)
      if (failed(apply(override, targets)))
        return signalPassFailure();
  }
  for (auto kernel : module.getOps<KernelOp>()) {
    if (!kernel.getSchedule())
      continue;
    const Chip *chip = getTargetChip(kernel);
    if (!chip || failed(verify(kernel, /*verifyRecursively=*/false)) ||
        failed(verifyOpenExtents(kernel)) ||
        failed(verifyScheduleOnChip(getSchedule(kernel), *chip,
                                    [&] { return kernel.emitOpError(); })))
      return signalPassFailure();
  }
}
