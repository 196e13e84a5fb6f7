//===- TileAttrsTest.cpp - Attributes that no text can ask for ------------===//

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "gtest/gtest.h"

using namespace tile;

namespace {

/// Collects the errors of the verifier for attributes that C++ code builds.
class TileAttrs : public testing::Test {
protected:
  TileAttrs()
      : handler(&context, [this](mlir::Diagnostic &diag) {
          message = diag.str();
          return mlir::success();
        }) {
    context.loadDialect<TileDialect>();
  }

  template <typename AttrT, typename... Args>
  std::string refusal(Args... args) {
    message.clear();
    auto emitError = [this] {
      return mlir::emitError(mlir::UnknownLoc::get(&context));
    };
    EXPECT_FALSE(AttrT::getChecked(emitError, &context, args...));
    return message;
  }

  mlir::MLIRContext context;
  std::string message;
  mlir::ScopedDiagnosticHandler handler;
};

using Numbers = llvm::ArrayRef<int64_t>;

TEST_F(TileAttrs, DigitsAreTriples) {
  const int64_t digits[] = {2, 0};
  EXPECT_EQ(refusal<DistributedAttr>(Numbers(digits), Numbers(), Numbers()),
            "digits are triples of extent, dimension, stride");
}

TEST_F(TileAttrs, PaddingNeedsARow) {
  EXPECT_EQ(refusal<PaddedAttr>(int64_t(8), Numbers()),
            "the order must name at least one dimension");
}

TEST_F(TileAttrs, EveryStrideHasADivisor) {
  const int64_t strides[] = {64, 1}, divisors[] = {1};
  EXPECT_EQ(
      refusal<StridedAttr>(Numbers(strides), Numbers(divisors), int64_t(0)),
      "one divisor is needed per stride");
}

} // namespace
