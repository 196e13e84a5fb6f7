//===- TileAttrsTest.cpp - Attributes that no text can ask for ------------===//

#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
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

// Passes build types without checks. The kernel finds what they got wrong.
TEST_F(TileAttrs, KernelRefusesALayoutThatDoesNotCoverItsTile) {
  context.loadDialect<mlir::arith::ArithDialect>();
  mlir::OpBuilder builder(&context);
  mlir::Location loc = builder.getUnknownLoc();
  auto kernel = KernelOp::create(
      builder, loc, builder.getStringAttr("grow"),
      mlir::TypeAttr::get(builder.getFunctionType({}, {})),
      builder.getI32IntegerAttr(1), mlir::IntegerAttr(), ScheduleAttr(),
      mlir::IntegerAttr(), mlir::DictionaryAttr(), mlir::IntegerAttr(),
      mlir::ArrayAttr(), mlir::ArrayAttr());
  builder.setInsertionPointToEnd(&kernel.getBody().emplaceBlock());
  mlir::Value one = mlir::arith::ConstantIndexOp::create(builder, loc, 1);
  GridOp::create(builder, loc, one, one, one);
  // 16 of 32 columns.
  Layout layout =
      Layout::distributed({{16, 1, 1}}, {{16, 0, 1}, {2, 0, 0}}, {}, {16, 16});
  auto attr = DistributedAttr::get(&context, layout);
  auto iota = IotaOp::create(
      builder, loc,
      mlir::RankedTensorType::get({16, 32}, builder.getI32Type(), attr), 0);
  ReturnOp::create(builder, loc);
  EXPECT_TRUE(failed(mlir::verify(kernel)));
  EXPECT_NE(message.find("leaves elements of the tile without an owner"),
            std::string::npos)
      << message;
  // The same layout suits a tile of half the columns.
  iota.getResult().setType(
      mlir::RankedTensorType::get({16, 16}, builder.getI32Type(), attr));
  EXPECT_TRUE(succeeded(mlir::verify(kernel))) << message;
  kernel.erase();
}

} // namespace
