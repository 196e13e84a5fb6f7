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
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "tile/Conversion/GPUToLLVM/Passes.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

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
  Value approximateTanh(Value x) {
    Value e = exp2(mul(x, constant(2 * llvm::numbers::log2e)));
    Value r = reciprocal(add(e, constant(1)));
    return sub(constant(1), mul(constant(2), r));
  }

  Value remainder(Value x, Value y);

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

/// The rest of x / y, of f32, after a division that rounds to zero. The rest
/// loses the multiple of |y| by the leading 24 bits of rest / |y| at a time.
/// This multiple has 48 bits and the difference fewer, so the f64 operations
/// are exact.
Value Emitter::remainder(Value x, Value y) {
  using arith::CmpFPredicate;
  Type f64 = b.getF64Type();
  auto number = [&](double value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getF64FloatAttr(value));
  };
  auto magnitude = [&](Value value) -> Value {
    return math::AbsFOp::create(b, loc,
                                arith::ExtFOp::create(b, loc, f64, value));
  };
  auto compare = [&](CmpFPredicate predicate, Value left, Value right) {
    return arith::CmpFOp::create(b, loc, predicate, left, right);
  };
  using Limits = std::numeric_limits<double>;
  Value dividend = magnitude(x), divisor = magnitude(y);
  // There is a rest if x is finite, and y is neither 0 nor NaN.
  Value exists = arith::AndIOp::create(
      b, loc, compare(CmpFPredicate::OLT, dividend, number(Limits::infinity())),
      compare(CmpFPredicate::OGT, divisor, number(0)));
  Value first = arith::SelectOp::create(b, loc, exists, dividend,
                                        number(Limits::quiet_NaN()));
  auto loop = scf::WhileOp::create(
      b, loc, TypeRange(f64), ValueRange(first),
      [&](OpBuilder &, Location, ValueRange rest) {
        scf::ConditionOp::create(
            b, loc, compare(CmpFPredicate::OGE, rest[0], divisor), rest);
      },
      [&](OpBuilder &, Location, ValueRange rest) {
        Value quotient = arith::DivFOp::create(b, loc, rest[0], divisor);
        Value leading = arith::AndIOp::create(
            b, loc, arith::BitcastOp::create(b, loc, b.getI64Type(), quotient),
            arith::ConstantOp::create(
                b, loc, b.getI64IntegerAttr(-(int64_t(1) << 29))));
        Value factor = math::TruncOp::create(
            b, loc, arith::BitcastOp::create(b, loc, f64, leading));
        Value next = math::FmaOp::create(
            b, loc, arith::NegFOp::create(b, loc, factor), divisor, rest[0]);
        scf::YieldOp::create(b, loc, next);
      });
  Value rest =
      arith::TruncFOp::create(b, loc, b.getF32Type(), loop.getResult(0));
  return math::CopySignOp::create(b, loc, rest, x);
}

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

/// LLVM has a formula for NVIDIA that is not exact, and none for bf16 on AMD.
/// It expands f64 for AMD, exactly.
struct LowerRemainder : OpRewritePattern<arith::RemFOp> {
  LowerRemainder(MLIRContext *context, Vendor vendor)
      : OpRewritePattern(context), vendor(vendor) {}
  LogicalResult matchAndRewrite(arith::RemFOp op,
                                PatternRewriter &rewriter) const override {
    return applyPerElement(rewriter, op, vendor, [](Emitter &e, ValueRange x) {
      return e.remainder(x[0], x[1]);
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
class VectorEmitter {
public:
  VectorEmitter(PatternRewriter &b, Operation *op)
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

  /// 1 - 2 / (exp(2x) + 1), and near 0, where that has no digits left, an odd
  /// polynomial with a relative error of 2^-28.
  Value tanh() {
    Value far = math::TanhOp::create(b, loc, x, arith::FastMathFlags::afn);
    Value square = emit<arith::MulFOp>(x, x);
    Value near = emit<arith::MulFOp>(
        x, polynomial(square, {1, -0.33333299f, 0.13331958f, -0.05378669f,
                               0.02080541f, -0.0059059f}));
    return select(compare(arith::CmpFPredicate::OLT, emit<math::AbsFOp>(x),
                          constant(0.6f)),
                  near, far);
  }
  Value sin() { return emit<arith::MulFOp>(sineOfTurned(0), sign()); }
  Value cos() { return sineOfTurned(1); }
  /// x * (1 + x / 2! + x^2 / 3! + ...) near 0, where exp(x) - 1 has no digits
  /// left.
  Value expm1() {
    Value near = emit<arith::MulFOp>(
        x, polynomial(x, {1, 1 / 2.0f, 1 / 6.0f, 1 / 24.0f, 1 / 120.0f,
                          1 / 720.0f, 1 / 5040.0f}));
    Value far = emit<arith::SubFOp>(emit<math::ExpOp>(x), constant(1));
    return select(isNearZero(), near, far);
  }
  /// 2 * atanh(s) for s = x / (2 + x) near 0: the instruction for logarithms is
  /// off by 2^-22 for all numbers near 1. The series of atanh is s * (1 + s^2 /
  /// 3 + s^4 / 5 + ...).
  Value log1p() {
    Value s = emit<arith::DivFOp>(x, emit<arith::AddFOp>(x, constant(2)));
    Value near =
        emit<arith::MulFOp>(emit<arith::MulFOp>(s, constant(2)),
                            polynomial(emit<arith::MulFOp>(s, s),
                                       {1, 1 / 3.0f, 1 / 5.0f, 1 / 7.0f,
                                        1 / 9.0f, 1 / 11.0f, 1 / 13.0f}));
    Value far = emit<math::LogOp>(emit<arith::AddFOp>(x, constant(1)));
    return select(isNearZero(), near, far);
  }
  /// (expm1(x) - expm1(-x)) / 2. Nothing cancels, as the terms have different
  /// signs.
  Value sinh() {
    return half(emit<arith::SubFOp>(
        emit<math::ExpM1Op>(x), emit<math::ExpM1Op>(emit<arith::NegFOp>(x))));
  }
  /// A step of Newton's method from exp2(log2(y) / 3) for y = |x|, with the
  /// sign of x. The approximate instructions take no denormal numbers.
  Value cbrt() {
    Value y = emit<math::AbsFOp>(x);
    Value isSmall = compare(arith::CmpFPredicate::OLT, y, constant(0x1p-96f));
    y = select(isSmall, emit<arith::MulFOp>(y, constant(0x1p96f)), y);
    Value start = emit<math::Exp2Op>(
        emit<arith::MulFOp>(emit<math::Log2Op>(y), constant(1 / 3.0f)));
    Value square = emit<arith::MulFOp>(start, start);
    Value excess = fma(square, start, emit<arith::NegFOp>(y));
    Value step =
        emit<arith::DivFOp>(excess, emit<arith::MulFOp>(square, constant(3)));
    // 0 and infinity are their own roots, and have no step.
    Value hasStep = emit<arith::AndIOp>(
        compare(arith::CmpFPredicate::UGT, y, constant(0)),
        compare(arith::CmpFPredicate::UNE, y,
                constant(std::numeric_limits<float>::infinity())));
    Value root = select(hasStep, emit<arith::SubFOp>(start, step), y);
    root = select(isSmall, emit<arith::MulFOp>(root, constant(0x1p-32f)), root);
    return withSign(root);
  }
  /// log1p(y + sqrt(y) * sqrt(y + 2)) for y = x - 1.
  Value acosh() {
    Value y = emit<arith::SubFOp>(x, constant(1));
    Value root = emit<math::SqrtOp>(y);
    Value far = emit<math::SqrtOp>(emit<arith::AddFOp>(y, constant(2)));
    return emit<math::Log1pOp>(fma(root, far, y));
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
  /// |x| < 1/2.
  Value isNearZero() {
    return compare(arith::CmpFPredicate::OLT, emit<math::AbsFOp>(x),
                   constant(0.5f));
  }
  Value select(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(b, loc, condition, yes, no);
  }
  Value compare(arith::CmpFPredicate predicate, Value left, Value right) {
    return arith::CmpFOp::create(b, loc, predicate, left, right);
  }
  Value fma(Value left, Value right, Value sum) {
    return math::FmaOp::create(b, loc, left, right, sum);
  }
  /// The polynomial with these coefficients, from that of 1 on.
  Value polynomial(Value variable, ArrayRef<float> coefficients) {
    Value value = constant(coefficients.back());
    for (float coefficient : llvm::reverse(coefficients.drop_back()))
      value = fma(value, variable, constant(coefficient));
    return value;
  }
  /// sin(|x| + quarters * pi / 2). |x| is k * pi / 2 + rest, where the rest
  /// lies in -pi/4 .. pi/4, or a little beyond as k is computed from a rounded
  /// product. Up to |x| = 2^21 it lies in -0.95 .. 0.95, and the difference of
  /// the first step is exact.
  Value sineOfTurned(float quarters) {
    Value y = emit<math::AbsFOp>(x);
    Value k = emit<math::RoundEvenOp>(
        emit<arith::MulFOp>(y, constant(2 * llvm::numbers::inv_pif)));
    Value rest = y;
    for (float part : {0x1.921fb6p+0f, -0x1.777a5cp-25f, -0x1.ee59dap-50f})
      rest = fma(k, constant(-part), rest);
    // Larger numbers have a wrong rest, but no sine beyond 1.
    rest = math::ClampFOp::create(b, loc, rest, constant(-1), constant(1));
    Value square = emit<arith::MulFOp>(rest, rest);
    Value sine = emit<arith::MulFOp>(
        rest, polynomial(square, {1, -0.16666667f, 0.00833332f, -0.00019836970f,
                                  2.7000053e-6f}));
    Value cosine = polynomial(
        square, {1, -0.5f, 0.041666601f, -0.001388551f, 2.4260955e-5f});
    // The quarter of the circle: 0, 1/4, 1/2 or 3/4.
    Value turns = emit<arith::MulFOp>(
        emit<arith::AddFOp>(k, constant(quarters)), constant(0.25f));
    Value quarter = emit<arith::SubFOp>(turns, emit<math::FloorOp>(turns));
    Value isOdd = compare(
        arith::CmpFPredicate::OEQ,
        emit<math::AbsFOp>(emit<arith::SubFOp>(quarter, constant(0.5f))),
        constant(0.25f));
    Value value = select(isOdd, cosine, sine);
    return select(compare(arith::CmpFPredicate::OGE, quarter, constant(0.5f)),
                  emit<arith::NegFOp>(value), value);
  }
  Value sign() { return withSign(constant(1)); }
  Value withSign(Value magnitude) {
    return emit<math::CopySignOp>(magnitude, x);
  }

  PatternRewriter &b;
  Location loc;
  Value x;
};

template <typename OpT, Value (VectorEmitter::*Emit)()>
LogicalResult lowerByFormula(OpT op, PatternRewriter &b) {
  if (!getElementTypeOrSelf(op.getType()).isF32())
    return failure();
  VectorEmitter emitter(b, op);
  b.replaceOp(op, (emitter.*Emit)());
  return success();
}

/// The first formula requires the author's permission: its results near 0 have
/// no digits left.
struct LowerTanh : OpRewritePattern<math::TanhOp> {
  LowerTanh(MLIRContext *context, Vendor vendor)
      : OpRewritePattern(context), vendor(vendor) {}
  LogicalResult matchAndRewrite(math::TanhOp op,
                                PatternRewriter &rewriter) const override {
    if (bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::afn))
      return applyPerElement(
          rewriter, op, vendor,
          [](Emitter &e, ValueRange x) { return e.approximateTanh(x[0]); });
    return lowerByFormula<math::TanhOp, &VectorEmitter::tanh>(op, rewriter);
  }
  Vendor vendor;
};

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
               LowerUnary<math::RsqrtOp, &Emitter::reciprocalSqrt>,
               LowerApproximateDivision, LowerRemainder, LowerTanh>(
      &getContext(), vendor);
  if (vendor == Vendor::NVIDIA)
    patterns.add<LowerNarrowedDivision>(&getContext());
  patterns.add(lowerByFormula<math::AsinhOp, &VectorEmitter::asinh>);
  patterns.add(lowerByFormula<math::AtanhOp, &VectorEmitter::atanh>);
  patterns.add(lowerByFormula<math::SinhOp, &VectorEmitter::sinh>);
  patterns.add(lowerByFormula<math::ExpM1Op, &VectorEmitter::expm1>);
  patterns.add(lowerByFormula<math::Log1pOp, &VectorEmitter::log1p>);
  patterns.add(lowerByFormula<math::SinOp, &VectorEmitter::sin>);
  patterns.add(lowerByFormula<math::CosOp, &VectorEmitter::cos>);
  patterns.add(lowerByFormula<math::AcoshOp, &VectorEmitter::acosh>);
  patterns.add(lowerByFormula<math::CbrtOp, &VectorEmitter::cbrt>);
  patterns.add(lowerIsInf);
  patterns.add(lowerClamp);
  patterns.add(lowerIsNormal);
  patterns.add(lowerRound);
  patterns.add(lowerSinCos);
  auto contains = [](ArrayRef<StringRef> names, StringRef name) {
    return name.consume_front("math.") && llvm::is_contained(names, name);
  };
  // Functions that the patterns above compute in f32, and those of MLIR.
  auto isComputed = [&](StringRef name) {
    return contains({"acosh", "asinh", "atanh", "cbrt", "cos", "expm1", "log1p",
                     "sin", "sinh", "tanh"},
                    name);
  };
  auto isApproximated = [&](StringRef name) {
    return contains({"acos", "asin", "atan", "atan2", "erf", "erfc"}, name);
  };
  populateMathF32ExpansionPatterns(patterns, [&](StringRef name) {
    return isComputed(name) || isApproximated(name) ||
           contains({"cosh", "tan"}, name);
  });
  populateMathPolynomialApproximationPatterns(patterns, isApproximated);
  math::populateExpansionPatterns(patterns, {"cosh", "fpowi", "powf", "tan"});
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  if (failed(
          applyPatternsGreedily(getOperation(), std::move(patterns), config)))
    return signalPassFailure();

  WalkResult result = getOperation().walk([&](Operation *op) -> WalkResult {
    bool isFunction = isa_and_present<math::MathDialect>(op->getDialect()) ||
                      (vendor == Vendor::NVIDIA && isa<arith::RemFOp>(op));
    if (!isFunction || isSelectable(op))
      return WalkResult::advance();
    return op->emitOpError("on ")
           << op->getOperand(0).getType() << " has no instruction on "
           << chip->name << ", and no device library is linked";
  });
  if (result.wasInterrupted())
    signalPassFailure();
}

} // namespace
