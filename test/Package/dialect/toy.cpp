//===- toy.cpp - A dialect that is lowered to tile operations -------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Driver/Compile.h"
#include "tile/InitAll.h"

#include "ToyDialect.h.inc"

#define GET_OP_CLASSES
#include "ToyOps.h.inc"

#include "ToyDialect.cpp.inc"

#define GET_OP_CLASSES
#include "ToyOps.cpp.inc"

using namespace mlir;

void toy::ToyDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "ToyOps.cpp.inc"
      >();
}

namespace {

struct LowerScale : OpRewritePattern<toy::ScaleOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(toy::ScaleOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto buffer = cast<tile::BufferType>(op.getFrom().getType());
    auto type =
        RankedTensorType::get(buffer.getShape(), buffer.getElementType());
    Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
    SmallVector<Value> origin(type.getRank(), zero);
    Value loaded =
        tile::LoadOp::create(rewriter, loc, type, op.getFrom(), origin);
    Value factor = arith::ConstantOp::create(
        rewriter, loc, DenseElementsAttr::get(type, op.getFactor()));
    Value scaled = arith::MulFOp::create(rewriter, loc, loaded, factor);
    tile::StoreOp::create(rewriter, loc, scaled, op.getTo(), origin);
    rewriter.eraseOp(op);
    return success();
  }
};

struct ToyToTile : PassWrapper<ToyToTile, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ToyToTile)
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<LowerScale>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace

static const char kProgram[] = R"mlir(
!b = !tile.buffer<64x32xf32, #tile.strided<[32, 1], align = 16>, global>
tile.kernel @scale(%a: !b, %b: !b) attributes {num_warps = 4 : i32} {
  %one = arith.constant 1 : index
  tile.grid %one, %one, %one
  toy.scale %a to %b by 2.0 : !b, !b
}
)mlir";

int main() {
  DialectRegistry registry;
  tile::registerAllDialects(registry);
  registry.insert<toy::ToyDialect>();
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(kProgram, &context);
  if (!module)
    return 1;
  PassManager pm(&context);
  pm.addPass(std::make_unique<ToyToTile>());
  if (failed(pm.run(*module)))
    return 1;
  tile::CompileOptions options;
  options.chip = "sm_80";
  llvm::FailureOr<tile::Artifact> artifact =
      tile::compile(*module, tile::OutputKind::PTX, options);
  if (failed(artifact))
    return 1;
  llvm::outs() << artifact->data;
  return 0;
}
