//===- ShuffleToAMDGPU.cpp - Lane exchanges outside of the LDS ------------===//
//
// MLIR lowers gpu.shuffle to ds_bpermute, which goes through the LDS. For most
// masks the vector unit can exchange lanes l and l ^ mask; the instructions
// differ between families of chips. Sources: AMD's CDNA3, CDNA4, RDNA3 and
// RDNA4 instruction set architecture guides (DPP controls, v_permlanex16_b32,
// v_permlane16_swap_b32, v_permlane32_swap_b32, ds_swizzle_b32).
//
//===----------------------------------------------------------------------===//

#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/AMDGPU/Utils/Chipset.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/DialectConversion.h"
#include "tile/Conversion/TileToAMDGPU/Passes.h"

using namespace mlir;
using namespace tile;

namespace {
/// DPP controls of moves within rows of 16 lanes, and the lane that lane l
/// reads.
enum Dpp : uint32_t {
  Same = 0xE4,      // quad_perm:[0,1,2,3], l
  Quad1 = 0xB1,     // quad_perm:[1,0,3,2], l ^ 1
  Quad2 = 0x4E,     // quad_perm:[2,3,0,1], l ^ 2
  Quad3 = 0x1B,     // quad_perm:[3,2,1,0], l ^ 3
  Half = 0x141,     // row_half_mirror, l ^ 7
  Rotate = 0x128,   // row_ror:8, l ^ 8
  Mirror = 0x140,   // row_mirror, l ^ 15
  RowXMask = 0x160, // row_xmask:0, and so on to 15; since gfx10
};

/// For chips without row_xmask: two moves whose composition exchanges lanes l
/// and l ^ mask.
constexpr Dpp dppMoves[16][2] = {
    {Same, Same},    {Quad1, Same},   {Quad2, Same},   {Quad3, Same},
    {Half, Quad3},   {Half, Quad2},   {Half, Quad1},   {Half, Same},
    {Rotate, Same},  {Rotate, Quad1}, {Rotate, Quad2}, {Rotate, Quad3},
    {Mirror, Quad3}, {Mirror, Quad2}, {Mirror, Quad1}, {Mirror, Same},
};

/// One instruction that exchanges lanes l and l ^ mask.
struct Step {
  enum Kind {
    Move,         // DPP; `argument` is the control
    PermlaneX16,  // `argument` is a mask of 16 to 31; wave32 since gfx10
    PermlaneSwap, // `argument` is the mask, 16 or 32; gfx950
    Swizzle,      // `argument` is a mask below 32; through the LDS, but
                  // without an address
  } kind;
  uint32_t argument;
};
} // namespace

/// Returns the steps whose composition exchanges lanes l and l ^ mask, or
/// std::nullopt if only ds_bpermute can.
static std::optional<SmallVector<Step>> planExchange(uint32_t mask,
                                                     amdgpu::Chipset chipset) {
  bool isGfx10 = chipset.majorVersion >= 10;
  bool hasSwap = chipset.majorVersion == 9 && chipset.minorVersion >= 5;
  SmallVector<Step> steps;
  if (mask & 32) {
    if (!hasSwap)
      return std::nullopt;
    steps.push_back({Step::PermlaneSwap, 32});
  }
  if (mask & 16) {
    if (!hasSwap)
      return SmallVector<Step>{
          {isGfx10 ? Step::PermlaneX16 : Step::Swizzle, mask}};
    steps.push_back({Step::PermlaneSwap, 16});
  }
  uint32_t row = mask & 15;
  if (isGfx10 && row != 0)
    steps.push_back({Step::Move, RowXMask + row});
  if (!isGfx10)
    for (Dpp move : dppMoves[row])
      if (move != Same)
        steps.push_back({Step::Move, move});
  return steps;
}

/// Emits a DPP move. amdgpu has no row_xmask.
static Value emitMove(OpBuilder &builder, Location loc, Value value,
                      uint32_t control) {
  using Perm = amdgpu::DPPPerm;
  // All rows and banks are enabled, so no lane keeps its old value. Poison as
  // the old value and bound control let the back end fold the move into its
  // user.
  Type type = value.getType();
  Value old = LLVM::PoisonOp::create(builder, loc, type);
  auto move = [&](Perm perm, Attribute argument) -> Value {
    return amdgpu::DPPOp::create(builder, loc, type, old, value, perm, argument,
                                 /*row_mask=*/0xf, /*bank_mask=*/0xf,
                                 /*bound_ctrl=*/true);
  };
  switch (control) {
  case Half:
    return move(Perm::row_half_mirror, builder.getUnitAttr());
  case Mirror:
    return move(Perm::row_mirror, builder.getUnitAttr());
  case Rotate:
    return move(Perm::row_ror, builder.getI32IntegerAttr(8));
  case Quad1:
  case Quad2:
  case Quad3:
    return move(Perm::quad_perm,
                builder.getI32ArrayAttr(
                    {int32_t(control & 3), int32_t(control >> 2 & 3),
                     int32_t(control >> 4 & 3), int32_t(control >> 6 & 3)}));
  default:
    return ROCDL::DPPUpdateOp::create(builder, loc, type, old, value, control,
                                      /*rowMask=*/0xf, /*bankMask=*/0xf,
                                      /*boundCtrl=*/true);
  }
}

/// Emits one step for `value`, an i32, and returns the exchanged value.
static Value emitStep(OpBuilder &builder, Location loc, Value value,
                      Step step) {
  Type type = value.getType();
  switch (step.kind) {
  case Step::Move:
    return emitMove(builder, loc, value, step.argument);
  case Step::PermlaneX16: {
    // For each lane of a row, four bits select the lane of the other row that
    // it reads.
    uint64_t lanes = 0;
    for (uint64_t lane = 0; lane < 16; ++lane)
      lanes |= (lane ^ (step.argument & 15)) << (4 * lane);
    auto select = [&](uint64_t word) -> Value {
      return LLVM::ConstantOp::create(
          builder, loc, type,
          builder.getI32IntegerAttr(static_cast<int32_t>(word)));
    };
    Value old = LLVM::PoisonOp::create(builder, loc, type);
    return ROCDL::PermlaneX16Op::create(
        builder, loc, type, old, value, select(lanes & 0xffffffff),
        select(lanes >> 32), /*fi=*/false, /*boundControl=*/true);
  }
  case Step::PermlaneSwap:
    return amdgpu::PermlaneSwapOp::create(builder, loc, value, step.argument);
  case Step::Swizzle:
    return amdgpu::SwizzleBitModeOp::create(
        builder, loc, value, /*and_mask=*/31, /*or_mask=*/0, step.argument);
  }
  llvm_unreachable("not a kind of step");
}

namespace {
struct ShuffleToAMDGPU : OpConversionPattern<mlir::gpu::ShuffleOp> {
  ShuffleToAMDGPU(MLIRContext *context, amdgpu::Chipset chipset)
      : OpConversionPattern(context), chipset(chipset) {}

  LogicalResult
  matchAndRewrite(mlir::gpu::ShuffleOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    APInt mask, width;
    if (op.getMode() != mlir::gpu::ShuffleMode::XOR ||
        !matchPattern(adaptor.getOffset(), m_ConstantInt(&mask)) ||
        !matchPattern(adaptor.getWidth(), m_ConstantInt(&width)))
      return rewriter.notifyMatchFailure(op, "no xor by a constant");
    if (!width.isPowerOf2() || width.ugt(64) || mask.uge(width))
      return rewriter.notifyMatchFailure(op, "lanes beyond the width");
    // Each step moves one register of 32 bits.
    Type type = op.getValue().getType();
    int64_t bits = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
    if (auto vector = dyn_cast<VectorType>(type))
      bits *= vector.getNumElements();
    if (!LLVM::isCompatibleType(type) || (bits > 32 && bits % 32 != 0))
      return rewriter.notifyMatchFailure(op, "no whole registers");
    std::optional<SmallVector<Step>> steps =
        planExchange(mask.getZExtValue(), chipset);
    if (!steps)
      return rewriter.notifyMatchFailure(op, "only ds_bpermute does this");
    Location loc = op.getLoc();
    SmallVector<Value> words = LLVM::decomposeValue(
        rewriter, loc, adaptor.getValue(), rewriter.getI32Type());
    for (Value &word : words)
      for (Step step : *steps)
        word = emitStep(rewriter, loc, word, step);
    Value result = LLVM::composeValue(rewriter, loc, words, type);
    // An xor with a mask below the width stays within the width.
    Value valid =
        arith::ConstantOp::create(rewriter, loc, rewriter.getBoolAttr(true));
    rewriter.replaceOp(op, {result, valid});
    return success();
  }

  amdgpu::Chipset chipset;
};
} // namespace

void tile::populateShuffleToAMDGPUPatterns(RewritePatternSet &patterns,
                                           const Chip &chip) {
  FailureOr<amdgpu::Chipset> chipset = amdgpu::Chipset::parse(chip.name);
  if (succeeded(chipset))
    patterns.add<ShuffleToAMDGPU>(patterns.getContext(), *chipset);
}
