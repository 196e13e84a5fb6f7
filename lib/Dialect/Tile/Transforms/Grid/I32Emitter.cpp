//===- I32Emitter.cpp - Arithmetic on i32 ---------------------------------===//

#include "I32Emitter.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile;

/// The quotient is the high half of x * reciprocal, or 1 more: the reciprocal
/// is less than 2^32 / value by at most 1, so the product by at most x.
std::pair<Value, Value> I32Emitter::divide(Value x, const Divisor &divisor) {
  // LLVM knows short sequences for constants.
  if (matchPattern(divisor.value, m_Constant()))
    return {div(x, divisor.value), rem(x, divisor.value)};
  Value quotient =
      arith::MulUIExtendedOp::create(b, x, divisor.reciprocal).getHigh();
  Value rest = sub(x, mul(quotient, divisor.value));
  Value isLast = isLess(rest, divisor.value);
  return {select(isLast, quotient, add(quotient, constant(1))),
          select(isLast, rest, sub(rest, divisor.value))};
}
