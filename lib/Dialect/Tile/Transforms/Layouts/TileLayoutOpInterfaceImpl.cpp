//===- TileLayoutOpInterfaceImpl.cpp - Layouts of other dialects ----------===//

#include "tile/Dialect/Tile/Transforms/Layouts/TileLayoutOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "tile/Dialect/Tile/IR/Tile.h"

using namespace mlir;
using namespace tile;

using Propose = llvm::function_ref<void(Value, LayoutAttrInterface)>;

namespace {

//===----------------------------------------------------------------------===//
// Elementwise operations
//===----------------------------------------------------------------------===//

/// An operation that computes every element of its results from the elements of
/// its operands at the same coordinates: all its tiles have one layout.
struct ElementwiseModel
    : TileLayoutOpInterface::FallbackModel<ElementwiseModel> {
  void inferLayouts(Operation *op, Value value, LayoutAttrInterface layout,
                    Propose propose) const {
    for (Value operand : op->getOperands())
      propose(operand, layout);
    for (Value result : op->getResults())
      propose(result, layout);
  }

  void requireLayouts(Operation *op, LayoutRequirements &requirements) const {
    RankedTensorType type;
    for (Type result : op->getResultTypes())
      if (auto tile = dyn_cast<RankedTensorType>(result))
        type = tile;
    if (type)
      for (OpOperand &operand : op->getOpOperands())
        requirements.requireOperand(operand, getLayoutAttr(type));
  }

  LogicalResult setLayout(Operation *op, OpResult result,
                          LayoutAttrInterface layout) const {
    result.setType(
        withLayout(cast<RankedTensorType>(result.getType()), layout));
    return success();
  }

  bool isRematerializable(Operation *op) const { return false; }
};

/// Attaches ElementwiseModel to the elementwise operations of a dialect. Does
/// not ask for the operations of the dialect: the comparison in LLVM 22's
/// getRegisteredOperationsByDialect is no order, and the result may lack some.
void attachElementwise(MLIRContext *context, Dialect *dialect) {
  for (RegisteredOperationName name : context->getRegisteredOperations())
    if (&name.getDialect() == dialect && name.hasTrait<OpTrait::Elementwise>())
      name.attachInterface<ElementwiseModel>();
}

//===----------------------------------------------------------------------===//
// Operations that make tiles
//===----------------------------------------------------------------------===//

struct ConstantModel
    : TileLayoutOpInterface::ExternalModel<ConstantModel, arith::ConstantOp> {
  /// The attribute of a constant has the type of the result.
  LogicalResult setLayout(Operation *op, OpResult result,
                          LayoutAttrInterface layout) const {
    auto constant = cast<arith::ConstantOp>(op);
    auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!elements ||
        (!elements.isSplat() && elements.getNumElements() > kMostConstants))
      return constant.emitOpError()
             << "a constant tile must have one value for all elements, or at "
                "most "
             << kMostConstants << " elements";
    RankedTensorType type =
        withLayout(cast<RankedTensorType>(result.getType()), layout);
    constant.setValueAttr(elements.isSplat() ? elements.resizeSplat(type)
                                             : elements.reshape(type));
    result.setType(type);
    return success();
  }

  bool isRematerializable(Operation *op) const {
    return isa<RankedTensorType>(op->getResult(0).getType());
  }
};

/// Reads the element of a tile that all threads have, so any layout will do.
struct ElementModel
    : TileLayoutOpInterface::ExternalModel<ElementModel, tensor::ExtractOp> {};

struct SplatModel
    : TileLayoutOpInterface::ExternalModel<SplatModel, tensor::SplatOp> {
  bool isRematerializable(Operation *op) const { return true; }
};

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

/// The tiles of one number that a loop carries have one layout.
struct ForModel : TileLayoutOpInterface::ExternalModel<ForModel, scf::ForOp> {
  void inferLayouts(Operation *op, Value value, LayoutAttrInterface layout,
                    Propose propose) const {
    auto loop = cast<scf::ForOp>(op);
    for (auto [init, argument, yielded, result] :
         llvm::zip_equal(loop.getInits(), loop.getRegionIterArgs(),
                         loop.getYieldedValues(), loop.getResults()))
      if (value == init || value == argument || value == yielded ||
          value == result)
        for (Value tile :
             {Value(init), Value(argument), Value(yielded), Value(result)})
          propose(tile, layout);
  }

  void requireLayouts(Operation *op, LayoutRequirements &requirements) const {
    auto loop = cast<scf::ForOp>(op);
    for (auto [init, argument] :
         llvm::zip_equal(loop.getInitsMutable(), loop.getRegionIterArgs()))
      if (isa<RankedTensorType>(argument.getType()))
        requirements.requireOperand(init, getLayoutAttr(argument.getType()));
  }
};

struct IfModel : TileLayoutOpInterface::ExternalModel<IfModel, scf::IfOp> {
  void inferLayouts(Operation *op, Value value, LayoutAttrInterface layout,
                    Propose propose) const {
    auto branch = cast<scf::IfOp>(op);
    for (auto [i, result] : llvm::enumerate(branch.getResults())) {
      Value then = branch.thenYield().getOperand(i);
      Value other = branch.elseYield().getOperand(i);
      if (value == result || value == then || value == other)
        for (Value tile : {Value(result), then, other})
          propose(tile, layout);
    }
  }
};

/// The values of one number that scf.while passes to its condition have one
/// layout, and so have those that the condition passes on.
struct WhileModel
    : TileLayoutOpInterface::ExternalModel<WhileModel, scf::WhileOp> {
  void inferLayouts(Operation *op, Value value, LayoutAttrInterface layout,
                    Propose propose) const {
    auto loop = cast<scf::WhileOp>(op);
    auto unite = [&](ArrayRef<Value> tiles) {
      if (llvm::is_contained(tiles, value))
        for (Value tile : tiles)
          propose(tile, layout);
    };
    for (auto [init, argument, yielded] :
         llvm::zip_equal(loop.getInits(), loop.getBeforeArguments(),
                         loop.getYieldOp().getResults()))
      unite({init, argument, yielded});
    for (auto [passed, argument, result] :
         llvm::zip_equal(loop.getConditionOp().getArgs(),
                         loop.getAfterArguments(), loop.getResults()))
      unite({passed, argument, result});
  }

  void requireLayouts(Operation *op, LayoutRequirements &requirements) const {
    auto loop = cast<scf::WhileOp>(op);
    for (auto [init, argument] :
         llvm::zip_equal(loop.getInitsMutable(), loop.getBeforeArguments()))
      if (isa<RankedTensorType>(argument.getType()))
        requirements.requireOperand(init, getLayoutAttr(argument.getType()));
  }
};

/// Proposes a layout of an operand of a terminator to the operation around it.
void inferAround(Operation *terminator, Value value, LayoutAttrInterface layout,
                 Propose propose) {
  if (auto parent = dyn_cast<TileLayoutOpInterface>(terminator->getParentOp()))
    parent.inferLayouts(value, layout, propose);
}

/// Requires for the operands of a terminator the layouts of the values that
/// they become.
void requireAround(MutableOperandRange operands, ValueRange values,
                   LayoutRequirements &requirements) {
  for (auto [operand, value] : llvm::zip_equal(operands, values))
    if (isa<RankedTensorType>(value.getType()))
      requirements.requireOperand(operand, getLayoutAttr(value.getType()));
}

struct ConditionModel
    : TileLayoutOpInterface::ExternalModel<ConditionModel, scf::ConditionOp> {
  void inferLayouts(Operation *op, Value value, LayoutAttrInterface layout,
                    Propose propose) const {
    inferAround(op, value, layout, propose);
  }

  void requireLayouts(Operation *op, LayoutRequirements &requirements) const {
    requireAround(cast<scf::ConditionOp>(op).getArgsMutable(),
                  op->getParentOp()->getResults(), requirements);
  }
};

struct YieldModel
    : TileLayoutOpInterface::ExternalModel<YieldModel, scf::YieldOp> {
  void inferLayouts(Operation *op, Value value, LayoutAttrInterface layout,
                    Propose propose) const {
    inferAround(op, value, layout, propose);
  }

  void requireLayouts(Operation *op, LayoutRequirements &requirements) const {
    auto loop = dyn_cast<scf::WhileOp>(op->getParentOp());
    requireAround(cast<scf::YieldOp>(op).getResultsMutable(),
                  loop ? ValueRange(loop.getBeforeArguments())
                       : ValueRange(op->getParentOp()->getResults()),
                  requirements);
  }
};

} // namespace

void tile::registerTileLayoutOpInterfaceExternalModels(
    DialectRegistry &registry) {
  registry.addExtension(
      +[](MLIRContext *context, arith::ArithDialect *dialect) {
        attachElementwise(context, dialect);
        arith::ConstantOp::attachInterface<ConstantModel>(*context);
      });
  registry.addExtension(+[](MLIRContext *context, math::MathDialect *dialect) {
    attachElementwise(context, dialect);
  });
  registry.addExtension(+[](MLIRContext *context, tensor::TensorDialect *) {
    tensor::ExtractOp::attachInterface<ElementModel>(*context);
    tensor::SplatOp::attachInterface<SplatModel>(*context);
  });
  registry.addExtension(+[](MLIRContext *context, scf::SCFDialect *) {
    scf::ForOp::attachInterface<ForModel>(*context);
    scf::IfOp::attachInterface<IfModel>(*context);
    scf::WhileOp::attachInterface<WhileModel>(*context);
    scf::ConditionOp::attachInterface<ConditionModel>(*context);
    scf::YieldOp::attachInterface<YieldModel>(*context);
  });
}
