//===- LowerMath.cpp - Lowers transcendental functions --------------------===//
//
// Both vendors have scalar f32 instructions for exp2, log2 and the reciprocal.
// All other functions are computed from these.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "tile/Conversion/GPUToLLVM/Passes.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "llvm/Support/MathExtras.h"

namespace tile {
#define GEN_PASS_DEF_TILELOWERMATH
#include "tile/Conversion/GPUToLLVM/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

/// Emits scalar f32 operations at one place.
class Emitter {
public:
  Emitter(OpBuilder &b, Location loc, Vendor vendor)
      : b(b), loc(loc), vendor(vendor) {}

  Value constant(double value) {
    return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value));
  }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, loc, x, y); }

  Value exp2(Value x) {
    if (vendor == Vendor::AMD)
      return ROCDL::ROCDLExp2::create(b, loc, x.getType(), x);
    return intrinsic("llvm.nvvm.ex2.approx.ftz.f32", {x});
  }
  Value log2(Value x) {
    // v_log_f32 is the logarithm to base 2.
    if (vendor == Vendor::AMD)
      return ROCDL::ROCDLLog::create(b, loc, x.getType(), x);
    return intrinsic("llvm.nvvm.lg2.approx.ftz.f", {x});
  }
  Value reciprocal(Value x) {
    if (vendor == Vendor::AMD)
      return ROCDL::ROCDLRcp::create(b, loc, x.getType(), x);
    return NVVM::RcpApproxFtzF32Op::create(b, loc, x.getType(), x);
  }
  Value reciprocalSqrt(Value x) {
    return intrinsic(vendor == Vendor::AMD ? "llvm.amdgcn.rsq.f32"
                                           : "llvm.nvvm.rsqrt.approx.ftz.f",
                     {x});
  }
  /// x / y with an error of at most 2 ulp, for all x and y (PTX ISA,
  /// div.full.f32).
  Value divideFull(Value x, Value y) {
    return intrinsic("llvm.nvvm.div.full", {x, y});
  }
  Value exp(Value x) { return exp2(mul(x, constant(llvm::numbers::log2e))); }
  Value log(Value x) { return mul(log2(x), constant(llvm::numbers::ln2)); }
  Value log10(Value x) {
    return mul(log2(x), constant(llvm::numbers::ln2 / llvm::numbers::ln10));
  }
  /// tanh(x) as 1 - 2 / (exp(2x) + 1). Both infinities give the right result,
  /// and the absolute error is that of one rounding at 1. tanh.approx has an
  /// error of 2^-11.
  Value tanh(Value x) {
    Value e = exp2(mul(x, constant(2 * llvm::numbers::log2e)));
    Value r = reciprocal(add(e, constant(1)));
    return sub(constant(1), mul(constant(2), r));
  }

private:
  Value intrinsic(StringRef name, ValueRange operands) {
    return LLVM::CallIntrinsicOp::create(b, loc, operands[0].getType(),
                                         b.getStringAttr(name), operands)
        .getResult(0);
  }

  OpBuilder &b;
  Location loc;
  Vendor vendor;
};

/// Replaces `op`, an elementwise function of f16, bf16 or f32 scalars or
/// vectors, by `emit` applied in f32 to each element.
LogicalResult applyPerElement(PatternRewriter &rewriter, Operation *op,
                              Vendor vendor,
                              function_ref<Value(Emitter &, ValueRange)> emit) {
  Type type = op->getResult(0).getType();
  auto vector = dyn_cast<VectorType>(type);
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  if (!element || element.getWidth() > 32 || element.getWidth() < 16 ||
      (vector && vector.isScalable()))
    return failure();

  Location loc = op->getLoc();
  Emitter emitter(rewriter, loc, vendor);
  Type f32 = rewriter.getF32Type();
  auto scalar = [&](ValueRange operands) {
    SmallVector<Value> wide(operands);
    if (element != f32)
      for (Value &operand : wide)
        operand = arith::ExtFOp::create(rewriter, loc, f32, operand);
    Value result = emit(emitter, wide);
    if (element != f32)
      result = arith::TruncFOp::create(rewriter, loc, element, result);
    return result;
  };
  if (!vector) {
    rewriter.replaceOp(op, scalar(op->getOperands()));
    return success();
  }

  SmallVector<vector::ToElementsOp> sources;
  for (Value operand : op->getOperands())
    sources.push_back(vector::ToElementsOp::create(rewriter, loc, operand));
  SmallVector<Value> results;
  for (int64_t i = 0, e = vector.getNumElements(); i != e; ++i) {
    SmallVector<Value> operands;
    for (vector::ToElementsOp source : sources)
      operands.push_back(source.getResult(i));
    results.push_back(scalar(operands));
  }
  rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, vector, results);
  return success();
}

/// A function of one argument.
template <typename OpT, Value (Emitter::*Emit)(Value)>
struct LowerUnary : OpRewritePattern<OpT> {
  LowerUnary(MLIRContext *context, Vendor vendor)
      : OpRewritePattern<OpT>(context), vendor(vendor) {}
  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    return applyPerElement(rewriter, op, vendor, [](Emitter &e, ValueRange x) {
      return (e.*Emit)(x[0]);
    });
  }
  Vendor vendor;
};

/// Requires the author's permission: x / y rounds once, x * (1 / y) rounds
/// twice.
struct LowerApproximateDivision : OpRewritePattern<arith::DivFOp> {
  LowerApproximateDivision(MLIRContext *context, Vendor vendor)
      : OpRewritePattern(context), vendor(vendor) {}
  LogicalResult matchAndRewrite(arith::DivFOp op,
                                PatternRewriter &rewriter) const override {
    using arith::FastMathFlags;
    if (!bitEnumContainsAll(op.getFastmath(),
                            FastMathFlags::arcp | FastMathFlags::afn))
      return failure();
    bool isReciprocal = matchPattern(op.getLhs(), m_OneFloat());
    return applyPerElement(rewriter, op, vendor, [&](Emitter &e, ValueRange x) {
      Value r = e.reciprocal(x[1]);
      return isReciprocal ? r : e.mul(x[0], r);
    });
  }
  Vendor vendor;
};

/// NVIDIA chips divide f32 with one rounding in about 8 instructions and a
/// branch. If the quotient is only narrowed to 16 bits or fewer, an error of 2
/// ulp of f32 is far below that rounding.
struct LowerNarrowedDivision : OpRewritePattern<arith::DivFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::DivFOp op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32() ||
        bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::arcp |
                                                 arith::FastMathFlags::afn) ||
        !llvm::all_of(op->getUsers(), llvm::IsaPred<arith::TruncFOp>))
      return failure();
    return applyPerElement(
        rewriter, op, Vendor::NVIDIA,
        [&](Emitter &e, ValueRange x) { return e.divideFull(x[0], x[1]); });
  }
};

/// A constant of `type`, a float or a vector of floats.
Value createFloat(OpBuilder &b, Location loc, Type type, const APFloat &value) {
  TypedAttr element = b.getFloatAttr(getElementTypeOrSelf(type), value);
  if (auto vector = dyn_cast<VectorType>(type))
    element = DenseElementsAttr::get(vector, ArrayRef(Attribute(element)));
  return arith::ConstantOp::create(b, loc, element);
}

const llvm::fltSemantics &getSemantics(Type type) {
  return cast<FloatType>(getElementTypeOrSelf(type)).getFloatSemantics();
}

/// Emits f32 operations, on scalars or vectors, at one place. Those of math are
/// lowered in turn.
class HyperbolicEmitter {
public:
  HyperbolicEmitter(PatternRewriter &b, Operation *op)
      : b(b), loc(op->getLoc()), x(op->getOperand(0)) {}

  template <typename OpT> Value emit(Value value) {
    return OpT::create(b, loc, value);
  }
  template <typename OpT> Value emit(Value left, Value right) {
    return OpT::create(b, loc, left, right);
  }
  Value constant(float value) {
    return createFloat(b, loc, x.getType(), APFloat(value));
  }
  Value half(Value value) { return emit<arith::MulFOp>(constant(0.5), value); }

  /// (expm1(x) - expm1(-x)) / 2. Nothing cancels, as the terms have different
  /// signs.
  Value sinh() {
    return half(emit<arith::SubFOp>(
        emit<math::ExpM1Op>(x), emit<math::ExpM1Op>(emit<arith::NegFOp>(x))));
  }
  /// log1p(y + y / (1 / y + sqrt(1 + 1 / y^2))) for y = |x|, with the sign of
  /// x.
  Value asinh() {
    Value y = emit<math::AbsFOp>(x);
    Value r = emit<arith::DivFOp>(constant(1), y);
    Value root = emit<math::SqrtOp>(
        emit<arith::AddFOp>(constant(1), emit<arith::MulFOp>(r, r)));
    Value rest = emit<arith::DivFOp>(y, emit<arith::AddFOp>(r, root));
    return withSign(emit<math::Log1pOp>(emit<arith::AddFOp>(y, rest)));
  }
  /// log1p(2 y / (1 - y)) / 2 for y = |x|, with the sign of x.
  Value atanh() {
    Value y = emit<math::AbsFOp>(x);
    Value quotient = emit<arith::DivFOp>(emit<arith::AddFOp>(y, y),
                                         emit<arith::SubFOp>(constant(1), y));
    return withSign(half(emit<math::Log1pOp>(quotient)));
  }

private:
  Value withSign(Value magnitude) {
    return emit<math::CopySignOp>(magnitude, x);
  }

  PatternRewriter &b;
  Location loc;
  Value x;
};

template <typename OpT, Value (HyperbolicEmitter::*Emit)()>
LogicalResult lowerHyperbolic(OpT op, PatternRewriter &b) {
  if (!getElementTypeOrSelf(op.getType()).isF32())
    return failure();
  HyperbolicEmitter emitter(b, op);
  b.replaceOp(op, (emitter.*Emit)());
  return success();
}

/// |x| == infinity.
LogicalResult lowerIsInf(math::IsInfOp op, PatternRewriter &b) {
  Type type = op.getOperand().getType();
  Value magnitude = math::AbsFOp::create(b, op.getLoc(), op.getOperand());
  b.replaceOpWithNewOp<arith::CmpFOp>(
      op, arith::CmpFPredicate::OEQ, magnitude,
      createFloat(b, op.getLoc(), type, APFloat::getInf(getSemantics(type))));
  return success();
}

/// The smallest normal number <= |x| < infinity.
LogicalResult lowerIsNormal(math::IsNormalOp op, PatternRewriter &b) {
  Location loc = op.getLoc();
  Type type = op.getOperand().getType();
  const llvm::fltSemantics &semantics = getSemantics(type);
  Value magnitude = math::AbsFOp::create(b, loc, op.getOperand());
  auto compare = [&](arith::CmpFPredicate predicate, const APFloat &bound) {
    return arith::CmpFOp::create(b, loc, predicate, magnitude,
                                 createFloat(b, loc, type, bound));
  };
  b.replaceOpWithNewOp<arith::AndIOp>(
      op,
      compare(arith::CmpFPredicate::OGE,
              APFloat::getSmallestNormalized(semantics)),
      compare(arith::CmpFPredicate::OLT, APFloat::getInf(semantics)));
  return success();
}

/// Rounds half away from zero: trunc(x), and 1 further if the rest, which is
/// exact, is at least a half.
LogicalResult lowerRound(math::RoundOp op, PatternRewriter &b) {
  Location loc = op.getLoc();
  Value x = op.getOperand();
  Type type = x.getType();
  auto constant = [&](double value) {
    APFloat number(value);
    bool losesInfo;
    number.convert(getSemantics(type), APFloat::rmNearestTiesToEven,
                   &losesInfo);
    return createFloat(b, loc, type, number);
  };
  Value whole = math::TruncOp::create(b, loc, x);
  Value rest =
      math::AbsFOp::create(b, loc, arith::SubFOp::create(b, loc, x, whole));
  // An infinity has no rest.
  Value isFar = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGE, rest,
                                      constant(0.5));
  Value further = arith::AddFOp::create(
      b, loc, whole, math::CopySignOp::create(b, loc, constant(1.0), x));
  b.replaceOpWithNewOp<arith::SelectOp>(op, isFar, further, whole);
  return success();
}

LogicalResult lowerClamp(math::ClampFOp op, PatternRewriter &b) {
  Value raised =
      arith::MaximumFOp::create(b, op.getLoc(), op.getValue(), op.getMin());
  b.replaceOpWithNewOp<arith::MinimumFOp>(op, raised, op.getMax());
  return success();
}

LogicalResult lowerSinCos(math::SincosOp op, PatternRewriter &b) {
  Value sine = math::SinOp::create(b, op.getLoc(), op.getOperand());
  Value cosine = math::CosOp::create(b, op.getLoc(), op.getOperand());
  b.replaceOp(op, {sine, cosine});
  return success();
}

/// Returns whether both back ends select this math operation in every float
/// type.
bool isSelectable(Operation *op) {
  return isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp,
             math::CountLeadingZerosOp, math::CountTrailingZerosOp,
             math::CtPopOp, math::FloorOp, math::FmaOp, math::IsFiniteOp,
             math::IsNaNOp, math::RoundEvenOp, math::SqrtOp, math::TruncOp>(op);
}

class LowerMath : public tile::impl::TileLowerMathBase<LowerMath> {
  void runOnOperation() override;
};

void LowerMath::runOnOperation() {
  const Chip *chip = getTargetChip(getOperation());
  if (!chip)
    return signalPassFailure();
  Vendor vendor = chip->vendor;

  RewritePatternSet patterns(&getContext());
  patterns.add<LowerUnary<math::Exp2Op, &Emitter::exp2>,
               LowerUnary<math::ExpOp, &Emitter::exp>,
               LowerUnary<math::Log2Op, &Emitter::log2>,
               LowerUnary<math::LogOp, &Emitter::log>,
               LowerUnary<math::Log10Op, &Emitter::log10>,
               LowerUnary<math::TanhOp, &Emitter::tanh>,
               LowerUnary<math::RsqrtOp, &Emitter::reciprocalSqrt>,
               LowerApproximateDivision>(&getContext(), vendor);
  if (vendor == Vendor::NVIDIA)
    patterns.add<LowerNarrowedDivision>(&getContext());
  patterns.add(lowerHyperbolic<math::AsinhOp, &HyperbolicEmitter::asinh>);
  patterns.add(lowerHyperbolic<math::AtanhOp, &HyperbolicEmitter::atanh>);
  patterns.add(lowerHyperbolic<math::SinhOp, &HyperbolicEmitter::sinh>);
  patterns.add(lowerIsInf);
  patterns.add(lowerClamp);
  patterns.add(lowerIsNormal);
  patterns.add(lowerRound);
  patterns.add(lowerSinCos);
  auto isApproximated = [](StringRef name) {
    return name.consume_front("math.") &&
           llvm::is_contained({"acos", "acosh", "asin", "asinh", "atan",
                               "atan2", "atanh", "cbrt", "cos", "cosh", "erf",
                               "erfc", "expm1", "log1p", "sin", "sinh", "tan"},
                              name);
  };
  populateMathF32ExpansionPatterns(patterns, isApproximated);
  populateMathPolynomialApproximationPatterns(patterns, isApproximated);
  math::populateExpansionPatterns(patterns,
                                  {"acosh", "cosh", "fpowi", "powf", "tan"});
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  if (failed(
          applyPatternsGreedily(getOperation(), std::move(patterns), config)))
    return signalPassFailure();

  WalkResult result = getOperation().walk([&](Operation *op) -> WalkResult {
    if (!isa_and_present<math::MathDialect>(op->getDialect()) ||
        isSelectable(op))
      return WalkResult::advance();
    return op->emitOpError("on ")
           << op->getOperand(0).getType() << " has no instruction on "
           << chip->name << ", and no device library is linked";
  });
  if (result.wasInterrupted())
    signalPassFailure();
}

} // namespace
