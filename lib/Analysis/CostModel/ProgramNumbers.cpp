//===- ProgramNumbers.cpp - Numbers of a program for given sizes ----------===//

#include "Predictor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/SaveAndRestore.h"
#include <cmath>

using namespace mlir;
using namespace tile;

/// Values of extents and scalars that nothing is known of: large ones.
static constexpr double kUnknown = 4096;

std::string tile::getArgumentName(KernelOp kernel, unsigned argument) {
  auto name =
      kernel.getArgAttrOfType<StringAttr>(argument, TileDialect::kNameAttr);
  return name ? name.str() : "arg" + std::to_string(argument);
}

/// Returns the number that stands for one that neither the program nor the
/// sizes tell.
double Predictor::guess() {
  hasGuessed = true;
  return kUnknown;
}

/// Returns the extent of a buffer: static, given, or a guess. A range of which
/// only the data knows the length counts as whole.
double Predictor::evaluateExtent(Value buffer, int64_t dim) {
  int64_t extent = cast<BufferType>(buffer.getType()).getShape()[dim];
  if (!ShapedType::isDynamic(extent))
    return extent;
  if (auto slice = buffer.getDefiningOp<SliceOp>()) {
    for (auto [i, kept] : llvm::enumerate(slice.getKept()))
      if (kept && dim-- == 0)
        return evaluateExtent(slice.getSource(), i);
  } else if (auto narrow = buffer.getDefiningOp<NarrowOp>()) {
    return int64_t(narrow.getDim()) == dim &&
                   !facts.dependsOnData(narrow.getLength())
               ? evaluate(narrow.getLength())
               : evaluateExtent(narrow.getSource(), dim);
  } else if (auto paged = buffer.getDefiningOp<PagedOp>()) {
    if (dim != 0)
      return evaluateExtent(paged.getSource(), dim + 1);
    if (!facts.dependsOnData(paged.getLength()))
      return evaluate(paged.getLength());
  } else if (auto argument = dyn_cast<BlockArgument>(buffer)) {
    auto given = sizes.find(getArgumentName(kernel, argument.getArgNumber()));
    if (given != sizes.end() && dim < int64_t(given->second.size()) &&
        !ShapedType::isDynamic(given->second[dim]))
      return given->second[dim];
    // The extents of other arguments may tell this one.
    if (evaluated.insert({buffer, dim}).second) {
      llvm::scope_exit leave([&] { evaluated.erase({buffer, dim}); });
      for (auto require : kernel.getBody().front().getOps<RequireOp>())
        if (require.getBuffer() == buffer && int64_t(require.getDim()) == dim &&
            require.getRelation() == Relation::Equal)
          return evaluate(require.getValue());
    }
  }
  return guess();
}

double Predictor::compute(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    // The mean iteration.
    if (auto loop = dyn_cast<scf::ForOp>(parent);
        loop && argument == loop.getInductionVar())
      return (evaluate(loop.getLowerBound()) + evaluate(loop.getUpperBound())) /
             2;
    if (parent != kernel)
      return guess();
    auto given = sizes.find(getArgumentName(kernel, argument.getArgNumber()));
    return given != sizes.end() && given->second.size() == 1 &&
                   !ShapedType::isDynamic(given->second[0])
               ? given->second[0]
               : guess();
  }
  Operation *op = value.getDefiningOp();
  auto a = [&] { return evaluate(op->getOperand(0)); };
  auto b = [&] { return evaluate(op->getOperand(1)); };
  auto divide = [&] { return b() == 0 ? 0 : a() / b(); };
  return llvm::TypeSwitch<Operation *, double>(op)
      .Case([&](arith::ConstantOp constant) {
        auto number = dyn_cast<IntegerAttr>(constant.getValue());
        return number ? double(number.getValue().getSExtValue()) : guess();
      })
      .Case([&](ParamOp param) {
        return candidate.params.getAs<IntegerAttr>(param.getParameterAttr())
            .getInt();
      })
      .Case([&](DimOp dim) {
        return evaluateExtent(dim.getBuffer(), dim.getDim());
      })
      .Case([&](ProgramIdOp id) {
        double extent = grid[unsigned(id.getAxis())];
        return std::min(std::floor(extent * place), extent - 1);
      })
      .Case(
          [&](NumProgramsOp count) { return grid[unsigned(count.getAxis())]; })
      .Case([&](MultiprocessorsOp) { return double(chip.processors); })
      .Case<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp,
            arith::ExtUIOp, arith::TruncIOp>([&](auto) { return a(); })
      .Case([&](arith::CmpIOp comparison) -> double {
        switch (comparison.getPredicate()) {
        case arith::CmpIPredicate::eq:
          return a() == b();
        case arith::CmpIPredicate::ne:
          return a() != b();
        case arith::CmpIPredicate::slt:
        case arith::CmpIPredicate::ult:
          return a() < b();
        case arith::CmpIPredicate::sle:
        case arith::CmpIPredicate::ule:
          return a() <= b();
        case arith::CmpIPredicate::sgt:
        case arith::CmpIPredicate::ugt:
          return a() > b();
        case arith::CmpIPredicate::sge:
        case arith::CmpIPredicate::uge:
          return a() >= b();
        }
        return guess();
      })
      .Case([&](arith::SelectOp select) {
        double yes = evaluate(select.getTrueValue());
        double no = evaluate(select.getFalseValue());
        if (facts.dependsOnData(select.getCondition()))
          return std::max(yes, no);
        return evaluate(select.getCondition()) != 0 ? yes : no;
      })
      .Case([&](arith::AddIOp) { return a() + b(); })
      .Case([&](arith::SubIOp) { return a() - b(); })
      .Case([&](arith::MulIOp) { return a() * b(); })
      .Case<arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp>(
          [&](auto) { return std::floor(divide()); })
      .Case<arith::CeilDivUIOp, arith::CeilDivSIOp>(
          [&](auto) { return std::ceil(divide()); })
      .Case<arith::RemUIOp, arith::RemSIOp>(
          [&](auto) { return b() == 0 ? 0 : std::fmod(a(), b()); })
      .Case<arith::MinUIOp, arith::MinSIOp>(
          [&](auto) { return std::min(a(), b()); })
      .Case<arith::MaxUIOp, arith::MaxSIOp>(
          [&](auto) { return std::max(a(), b()); })
      .Default([&](auto) { return guess(); });
}

/// Returns the number that an index or an integer has in the block at `place`.
double Predictor::evaluate(Value value) {
  auto known = numbers.find(value);
  if (known != numbers.end())
    return known->second;
  double number = compute(value);
  numbers[value] = number;
  return number;
}

/// Returns the iterations of `loop` in a block, on average: those of some
/// blocks, if they differ.
double Predictor::countIterations(scf::ForOp loop) {
  auto count = [&] {
    double step = std::max(evaluate(loop.getStep()), 1.0);
    double length =
        evaluate(loop.getUpperBound()) - evaluate(loop.getLowerBound());
    return std::max(std::ceil(length / step), 0.0);
  };
  auto countAt = [&](double where) {
    llvm::SaveAndRestore saved(place, where);
    llvm::DenseMap<Value, double> others;
    std::swap(numbers, others);
    double iterations = count();
    std::swap(numbers, others);
    return iterations;
  };
  if (countAt(0) == countAt(1))
    return count();
  constexpr int kSamples = 16;
  double sum = 0;
  for (int i = 0; i < kSamples; ++i)
    sum += countAt((i + 0.5) / kSamples);
  return sum / kSamples;
}

SmallVector<int64_t> Predictor::getShape(Type type) const {
  SmallVector<int64_t> shape;
  for (const TileExtent &extent : getExtents(cast<ShapedType>(type)))
    shape.push_back(
        extent.name ? candidate.params.getAs<IntegerAttr>(extent.name).getInt()
        : ShapedType::isDynamic(extent.number) ? 1
                                               : extent.number);
  return shape;
}

double Predictor::countElements(Type tile) const {
  double elements = 1;
  for (int64_t extent : getShape(tile))
    elements *= extent;
  return elements;
}

/// Returns the bytes of a tile that lie within the extents of its buffer.
double Predictor::countBytes(Value tile, Value buffer) {
  double bytes = cast<BufferType>(buffer.getType()).getElementBits() / 8.0;
  for (auto [dim, extent] : llvm::enumerate(getShape(tile.getType())))
    bytes *=
        std::min<double>(extent, std::max(evaluateExtent(buffer, dim), 1.0));
  return bytes;
}
