//===- IssueModelTest.cpp - Cycles of AMD loops ---------------------------===//

#include "tile/Driver/AMD/IssueModel.h"
#include "tile/Chips/Chips.h"
#include "gtest/gtest.h"

using namespace tile;

TEST(AMDLoops, UnitOfMnemonic) {
  EXPECT_EQ(getUnit("v_mfma_f32_16x16x16_f16"), AMDUnit::Matrix);
  EXPECT_EQ(getUnit("v_wmma_f32_16x16x16_bf16"), AMDUnit::Matrix);
  EXPECT_EQ(getUnit("v_exp_f32_e32"), AMDUnit::Transcendental);
  EXPECT_EQ(getUnit("v_s_exp_f32"), AMDUnit::Transcendental);
  EXPECT_EQ(getUnit("v_pk_mul_f32"), AMDUnit::Vector);
  EXPECT_EQ(getUnit("ds_read_b64"), AMDUnit::Shared);
  EXPECT_EQ(getUnit("buffer_load_dwordx4"), AMDUnit::Memory);
  EXPECT_EQ(getUnit("s_waitcnt"), AMDUnit::Wait);
  EXPECT_EQ(getUnit("s_cbranch_scc1"), AMDUnit::Branch);
  EXPECT_EQ(getUnit("s_add_u32"), AMDUnit::Scalar);
}

TEST(AMDLoops, OperationsOfMMA) {
  auto check = [](llvm::StringRef mnemonic, int64_t operations, int64_t bits) {
    MatrixOperations found = getMatrixOperations(mnemonic);
    EXPECT_EQ(found.operations, operations) << mnemonic.str();
    EXPECT_EQ(found.bits, bits) << mnemonic.str();
  };
  check("v_mfma_f32_16x16x16_f16", 2 * 16 * 16 * 16, 16);
  check("v_mfma_f32_32x32x8_bf16_1k", 2 * 32 * 32 * 8, 16);
  check("v_mfma_f32_4x4x4_16b_f16", 2 * 4 * 4 * 4 * 16, 16);
  check("v_mfma_f32_16x16x8_xf32", 2 * 16 * 16 * 8, 32);
  check("v_mfma_i32_16x16x32_i8", 2 * 16 * 16 * 32, 8);
  check("v_wmma_f32_16x16x16_f16", 2 * 16 * 16 * 16, 16);
  check("v_add_f32_e32", 0, 0);
}

TEST(AMDLoops, BytesOfLDS) {
  EXPECT_EQ(getSharedBytes("ds_read_b128"), 16);
  EXPECT_EQ(getSharedBytes("ds_read2_b64"), 16);
  EXPECT_EQ(getSharedBytes("ds_write2st64_b32"), 8);
  EXPECT_EQ(getSharedBytes("ds_load_2addr_b64"), 16);
  // A bank serves one lane.
  EXPECT_EQ(getSharedBytes("ds_read_u16"), 4);
}

static AMDWork makeLoop(int64_t vector, int64_t exponentials,
                        int64_t matrix16) {
  AMDWork loop;
  loop.instructions[unsigned(AMDUnit::Vector)] = vector;
  loop.instructions[unsigned(AMDUnit::Transcendental)] = exponentials;
  loop.matrix16 = matrix16;
  return loop;
}

TEST(AMDLoops, CyclesOnCDNA) {
  // Wave64: a vector instruction takes 4 cycles of a SIMD, an exponential 16; a
  // SIMD does 512 operations of f16 in a cycle. The MMAs overlap them.
  LoopCycles cycles = modelLoop(makeLoop(10, 2, 64 * 512), *findChip("gfx942"));
  EXPECT_EQ(cycles.matrix, 64);
  EXPECT_EQ(cycles.vector, 40);
  EXPECT_EQ(cycles.transcendental, 32);
  EXPECT_EQ(cycles.bound, 72);
  EXPECT_DOUBLE_EQ(cycles.matrixShare(), 64.0 / 72);
  // gfx950 has twice the rate of both units.
  LoopCycles faster = modelLoop(makeLoop(10, 2, 64 * 512), *findChip("gfx950"));
  EXPECT_EQ(faster.matrix, 32);
  EXPECT_EQ(faster.transcendental, 16);
}

TEST(AMDLoops, CyclesOnRDNA) {
  // Wave32: a vector instruction takes one cycle, an exponential 4. WMMAs take
  // the same unit.
  LoopCycles cycles =
      modelLoop(makeLoop(10, 2, 64 * 512), *findChip("gfx1201"));
  EXPECT_EQ(cycles.matrix, 64);
  EXPECT_EQ(cycles.vector, 10);
  EXPECT_EQ(cycles.transcendental, 8);
  EXPECT_EQ(cycles.bound, 82);
}

TEST(AMDLoops, CyclesOfLDS) {
  AMDWork loop;
  // 32 banks of 4 bytes on gfx942: a wave's 16 bytes a lane take 8 cycles, and
  // four SIMDs share them.
  loop.sharedReads = 16;
  LoopCycles cycles = modelLoop(loop, *findChip("gfx942"));
  EXPECT_EQ(cycles.shared, 32);
  EXPECT_EQ(cycles.bound, 32);
  EXPECT_EQ(cycles.matrixShare(), 0);
}

TEST(AMDLoops, WavesOfSIMD) {
  const Chip &chip = *findChip("gfx942");
  // 512 registers a lane, 8 waves at most, blocks of 4 waves.
  EXPECT_EQ(countWavesPerSIMD(chip, 32, 4, 0), 8);
  EXPECT_EQ(countWavesPerSIMD(chip, 128, 4, 0), 4);
  EXPECT_EQ(countWavesPerSIMD(chip, 129, 4, 0), 3);
  // 64 KB of LDS.
  EXPECT_EQ(countWavesPerSIMD(chip, 32, 4, 32768), 2);
  EXPECT_EQ(countWavesPerSIMD(chip, 32, 4, 35840), 1);
}
