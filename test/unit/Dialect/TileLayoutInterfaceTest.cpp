//===- TileLayoutInterfaceTest.cpp - Layouts of operations of a dialect ---===//
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Dialect/Tile/Transforms/Passes.h"
#include "tile/InitAll.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace tile;

namespace foreign {

using Propose = llvm::function_ref<void(Value, LayoutAttrInterface)>;

/// Reverses the rows of a tile, so that both tiles have one layout.
class ReverseOp : public Op<ReverseOp, OpTrait::OneOperand, OpTrait::OneResult,
                            OpTrait::ZeroRegions, OpTrait::ZeroSuccessors,
                            TileLayoutOpInterface::Trait> {
public:
  using Op::Op;
  static StringRef getOperationName() { return "foreign.reverse"; }
  static ArrayRef<StringRef> getAttributeNames() { return {}; }

  Value getTile() { return (*this)->getResult(0); }
  void inferLayouts(Value value, LayoutAttrInterface layout, Propose propose) {
    propose(getOperand(), layout);
    propose(getTile(), layout);
  }
  void requireLayouts(LayoutRequirements &requirements) {
    requirements.requireOperand((*this)->getOpOperand(0),
                                getLayoutAttr(getTile().getType()));
  }
};

/// Does not implement the interface.
class OpaqueOp : public Op<OpaqueOp, OpTrait::OneOperand, OpTrait::OneResult,
                           OpTrait::ZeroRegions, OpTrait::ZeroSuccessors> {
public:
  using Op::Op;
  static StringRef getOperationName() { return "foreign.opaque"; }
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
};

class ForeignDialect : public Dialect {
public:
  explicit ForeignDialect(MLIRContext *context)
      : Dialect(getDialectNamespace(), context, TypeID::get<ForeignDialect>()) {
    addOperations<ReverseOp, OpaqueOp>();
  }
  static StringRef getDialectNamespace() { return "foreign"; }
};

} // namespace foreign

MLIR_DECLARE_EXPLICIT_TYPE_ID(foreign::ForeignDialect)
MLIR_DEFINE_EXPLICIT_TYPE_ID(foreign::ForeignDialect)

namespace {

class TileLayoutInterface : public testing::Test {
protected:
  TileLayoutInterface()
      : context(registry(), MLIRContext::Threading::DISABLED) {
    context.loadAllAvailableDialects();
  }
  static DialectRegistry registry() {
    DialectRegistry registry;
    registerAllDialects(registry);
    registry.insert<foreign::ForeignDialect>();
    return registry;
  }

  /// Lays out a kernel that passes the product of two tiles to `op`.
  LogicalResult assignLayouts(StringRef op) {
    std::string text = R"mlir(
!h = !tile.buffer<64x64xf16, #tile.strided<[64, 1], align = 16>, global>
!f = !tile.buffer<64x64xf32, #tile.strided<[64, 1], align = 16>, global>
tile.kernel @k(%a: !h, %o: !f) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %x = tile.load %a[%c0, %c0] : !h -> tensor<64x64xf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %d = tile.dot %x, %x, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  %r = ")mlir";
    text += op;
    text += R"mlir("(%d) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  tile.store %r, %o[%c0, %c0] : tensor<64x64xf32>, !f
})mlir";
    module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return failure();
    PassManager manager(&context);
    TileAttachTargetOptions target;
    target.chip = "sm_80";
    manager.addPass(createTileAttachTarget(target));
    manager.addNestedPass<KernelOp>(createTileAssignLayouts());
    return manager.run(*module);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(TileLayoutInterface, ForeignOperationIsLaidOut) {
  ASSERT_TRUE(succeeded(assignLayouts("foreign.reverse")));
  foreign::ReverseOp reverse;
  DotOp dot;
  module->walk([&](foreign::ReverseOp op) { reverse = op; });
  module->walk([&](DotOp op) { dot = op; });
  // The layout of the accumulator has spread through the operation.
  EXPECT_TRUE(isa<MmaAttr>(getLayoutAttr(reverse.getTile().getType())));
  EXPECT_EQ(reverse.getOperand(), dot.getResult());
  EXPECT_EQ(reverse.getTile().getType(), dot.getResult().getType());
}

TEST_F(TileLayoutInterface, OperationWithoutTheInterfaceIsRefused) {
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diag) {
    message = diag.str();
    return success();
  });
  EXPECT_TRUE(failed(assignLayouts("foreign.opaque")));
  EXPECT_EQ(message, "'foreign.opaque' op is not an operation on tiles that "
                     "can be laid out");
}

} // namespace
