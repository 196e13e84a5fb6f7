//===- AtomicsTest.cpp - Every atomic instruction of the table ------------===//
#include "tile/Chips/Atomics.h"
#include "gtest/gtest.h"
#include <set>

using namespace tile;

namespace {

constexpr AtomicElement kElements[] = {AtomicElement::F16, AtomicElement::BF16,
                                       AtomicElement::F32, AtomicElement::F64,
                                       AtomicElement::I32, AtomicElement::I64};

TEST(Atomics, RowsAreConsistent) {
  std::set<std::string> names, used;
  for (const Atomic &row : atomics()) {
    EXPECT_TRUE(names.insert(row.name.str()).second) << row.name.str();
    EXPECT_EQ(findAtomic(row.name), &row);
    EXPECT_EQ(row.name.contains("." + stringify(row.element).str()), true);
    llvm::StringRef name = row.name;
    EXPECT_EQ(name.consume_back(".buffer"), row.buffer);
    if (name.consume_back(".global")) {
      EXPECT_FALSE(row.shared);
    }
    EXPECT_NE(row.buffer, row.global || row.shared);
    EXPECT_EQ(name.ends_with("x" + std::to_string(row.width)),
              row.width > 1 && row.native);
  }
  for (const Chip &chip : chips())
    for (llvm::StringRef name : chip.atomics) {
      const Atomic *row = findAtomic(name);
      ASSERT_TRUE(row) << name.str();
      EXPECT_EQ(name.starts_with("nvidia."), chip.vendor == Vendor::NVIDIA);
      // Only the rows of NVIDIA name a PTX instruction.
      if (chip.vendor == Vendor::AMD) {
        EXPECT_TRUE(row->ptx.empty()) << name.str();
      }
      used.insert(name.str());
    }
  EXPECT_EQ(names, used);
}

TEST(Atomics, EveryElementAloneInBothMemories) {
  for (const Chip &chip : chips())
    for (AtomicElement element : kElements)
      for (bool shared : {false, true}) {
        bool isInteger =
            element == AtomicElement::I32 || element == AtomicElement::I64;
        AtomicKind kind = isInteger ? AtomicKind::AddI : AtomicKind::AddF;
        AtomicKind other = isInteger ? AtomicKind::AddF : AtomicKind::AddI;
        EXPECT_TRUE(findAtomic(chip, kind, element, 1, shared))
            << chip.name.str() << ' ' << stringify(element).str();
        EXPECT_EQ(atomicWidths(chip, kind, element, shared).back(), 1);
        // Integers are never combined as floats, nor floats as integers.
        EXPECT_FALSE(findAtomic(chip, other, element, 1, shared));
        EXPECT_TRUE(atomicWidths(chip, other, element, shared).empty());
        if (isInteger) {
          EXPECT_EQ(atomicWidths(chip, kind, element, shared).size(), 1u);
        }
      }
}

TEST(Atomics, VectorsAreGlobalAndSm90) {
  auto widths = [](const char *chip, AtomicElement element, bool shared) {
    auto list =
        atomicWidths(*findChip(chip), AtomicKind::AddF, element, shared);
    return std::vector<int64_t>(list.begin(), list.end());
  };
  using List = std::vector<int64_t>;
  EXPECT_EQ(widths("sm_80", AtomicElement::F32, false), (List{1}));
  EXPECT_EQ(widths("sm_90a", AtomicElement::F32, false), (List{4, 2, 1}));
  EXPECT_EQ(widths("sm_90a", AtomicElement::F32, true), (List{1}));
  EXPECT_EQ(widths("sm_80", AtomicElement::F16, false), (List{2, 1}));
  EXPECT_EQ(widths("sm_80", AtomicElement::BF16, false), (List{1}));
  EXPECT_EQ(widths("sm_90a", AtomicElement::BF16, false), (List{8, 4, 2, 1}));
  EXPECT_EQ(widths("sm_90a", AtomicElement::BF16, true), (List{2, 1}));
  EXPECT_EQ(widths("sm_90a", AtomicElement::F64, false), (List{1}));
  for (const char *chip : {"sm_100a", "sm_103a", "sm_120a"})
    EXPECT_EQ(widths(chip, AtomicElement::BF16, false), (List{8, 4, 2, 1}));
  // A row that adds pairs to global memory leaves those to the LDS to a loop.
  const Chip &gfx90a = *findChip("gfx90a");
  auto isNative = [&](bool shared) {
    return findAtomic(gfx90a, AtomicKind::AddF, AtomicElement::F16, 2, shared)
        ->native;
  };
  EXPECT_TRUE(isNative(/*shared=*/false));
  EXPECT_FALSE(isNative(/*shared=*/true));
  EXPECT_EQ(widths("gfx942", AtomicElement::BF16, false), (List{2, 1}));
  EXPECT_EQ(widths("gfx942", AtomicElement::F32, false), (List{1}));
}

/// The instructions that llc selects for llvm.amdgcn.raw.ptr.buffer.atomic.*,
/// for each chip.
TEST(Atomics, BufferForms) {
  auto has = [](const Chip &chip, AtomicElement element, int64_t width) {
    bool isInteger =
        element == AtomicElement::I32 || element == AtomicElement::I64;
    const Atomic *row = findBufferAtomic(
        chip, isInteger ? AtomicKind::MaxU : AtomicKind::AddF, element, width);
    return row && row->buffer && row->native;
  };
  for (const Chip &chip : chips()) {
    SCOPED_TRACE(chip.name.str());
    bool isAMD = chip.vendor == Vendor::AMD, isCDNA = chip.warpSize == 64;
    EXPECT_EQ(chip.bufferFlags != 0, isAMD);
    EXPECT_EQ(has(chip, AtomicElement::F32, 1), isAMD);
    EXPECT_EQ(has(chip, AtomicElement::I32, 1), isAMD);
    EXPECT_EQ(has(chip, AtomicElement::I64, 1), isAMD);
    EXPECT_EQ(has(chip, AtomicElement::F64, 1), isCDNA);
    EXPECT_EQ(has(chip, AtomicElement::F16, 2),
              isAMD && !chip.name.starts_with("gfx11"));
    EXPECT_EQ(has(chip, AtomicElement::BF16, 2),
              chip.name == "gfx950" || chip.name.starts_with("gfx12"));
    for (AtomicElement element : {AtomicElement::F16, AtomicElement::BF16})
      EXPECT_FALSE(has(chip, element, 1));
    EXPECT_FALSE(
        findBufferAtomic(chip, AtomicKind::AddF, AtomicElement::I32, 1));
  }
  EXPECT_EQ(getBufferIntrinsic(AtomicKind::AddF),
            "llvm.amdgcn.raw.ptr.buffer.atomic.fadd");
  EXPECT_EQ(getBufferIntrinsic(AtomicKind::MinU),
            "llvm.amdgcn.raw.ptr.buffer.atomic.umin");
  EXPECT_EQ(getBufferIntrinsic(AtomicKind::And),
            "llvm.amdgcn.raw.ptr.buffer.atomic.and");
}

TEST(Atomics, PtxText) {
  auto text = [](const char *row, AtomicKind kind, AtomicOrder order,
                 AtomicScope scope, bool shared, bool returns) {
    return getPtxAtomic(*findAtomic(row), kind, order, scope, shared, returns);
  };
  EXPECT_EQ(text("nvidia.f32x4", AtomicKind::AddF, AtomicOrder::Relaxed,
                 AtomicScope::Device, false, false),
            "red.global.add.v4.f32");
  EXPECT_EQ(text("nvidia.f32x4", AtomicKind::AddF, AtomicOrder::Relaxed,
                 AtomicScope::Device, false, true),
            "atom.global.add.v4.f32");
  EXPECT_EQ(text("nvidia.bf16x8", AtomicKind::AddF, AtomicOrder::Release,
                 AtomicScope::System, false, false),
            "red.release.sys.global.add.noftz.v4.bf16x2");
  // A reduction has no acquire order.
  EXPECT_EQ(text("nvidia.f64", AtomicKind::AddF, AtomicOrder::Acquire,
                 AtomicScope::Block, true, false),
            "atom.acquire.cta.shared.add.f64");
  EXPECT_EQ(text("nvidia.i64", AtomicKind::MinS, AtomicOrder::AcqRel,
                 AtomicScope::Device, false, false),
            "atom.acq_rel.gpu.global.min.s64");
  EXPECT_EQ(text("nvidia.i32", AtomicKind::Or, AtomicOrder::Release,
                 AtomicScope::Device, true, false),
            "red.release.gpu.shared.or.b32");
}

} // namespace
