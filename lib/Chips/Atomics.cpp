//===- Atomics.cpp - Atomic instructions, one row each --------------------===//

#include "tile/Chips/Atomics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"

using namespace tile;
using llvm::StringRef;

using E = AtomicElement;

// clang-format off
static const Atomic table[] = {
    // name               element  width global shared buffer native PTX
    {"nvidia.f32",        E::F32,  1,    true,  true,  false, true,  "f32"},
    {"nvidia.f32x2",      E::F32,  2,    true,  false, false, true,  "v2.f32"},
    {"nvidia.f32x4",      E::F32,  4,    true,  false, false, true,  "v4.f32"},
    {"nvidia.f64",        E::F64,  1,    true,  true,  false, true,  "f64"},
    {"nvidia.f16",        E::F16,  1,    true,  true,  false, false, "noftz.f16"},
    {"nvidia.f16x2",      E::F16,  2,    true,  true,  false, true,  "noftz.f16x2"},
    {"nvidia.f16x4",      E::F16,  4,    true,  false, false, true,  "noftz.v2.f16x2"},
    {"nvidia.f16x8",      E::F16,  8,    true,  false, false, true,  "noftz.v4.f16x2"},
    {"nvidia.bf16.loop",  E::BF16, 1,    true,  true,  false, false, ""},
    {"nvidia.bf16",       E::BF16, 1,    true,  true,  false, false, "noftz.bf16"},
    {"nvidia.bf16x2",     E::BF16, 2,    true,  true,  false, true,  "noftz.bf16x2"},
    {"nvidia.bf16x4",     E::BF16, 4,    true,  false, false, true,  "noftz.v2.bf16x2"},
    {"nvidia.bf16x8",     E::BF16, 8,    true,  false, false, true,  "noftz.v4.bf16x2"},
    {"nvidia.i32",        E::I32,  1,    true,  true,  false, true,  "%32"},
    {"nvidia.i64",        E::I64,  1,    true,  true,  false, true,  "%64"},
    {"amd.f32",           E::F32,  1,    true,  true,  false, true,  ""},
    {"amd.f64",           E::F64,  1,    true,  true,  false, true,  ""},
    {"amd.f64.loop",      E::F64,  1,    true,  true,  false, false, ""},
    {"amd.f16.loop",      E::F16,  1,    true,  true,  false, false, ""},
    {"amd.f16x2",         E::F16,  2,    true,  true,  false, true,  ""},
    {"amd.f16x2.global",  E::F16,  2,    true,  false, false, true,  ""},
    {"amd.f16x2.loop",    E::F16,  2,    true,  true,  false, false, ""},
    {"amd.bf16.loop",     E::BF16, 1,    true,  true,  false, false, ""},
    {"amd.bf16x2",        E::BF16, 2,    true,  true,  false, true,  ""},
    {"amd.bf16x2.loop",   E::BF16, 2,    true,  true,  false, false, ""},
    {"amd.i32",           E::I32,  1,    true,  true,  false, true,  ""},
    {"amd.i64",           E::I64,  1,    true,  true,  false, true,  ""},
    {"amd.f32.buffer",    E::F32,  1,    false, false, true,  true,  ""},
    {"amd.f64.buffer",    E::F64,  1,    false, false, true,  true,  ""},
    {"amd.f16x2.buffer",  E::F16,  2,    false, false, true,  true,  ""},
    {"amd.bf16x2.buffer", E::BF16, 2,    false, false, true,  true,  ""},
    {"amd.i32.buffer",    E::I32,  1,    false, false, true,  true,  ""},
    {"amd.i64.buffer",    E::I64,  1,    false, false, true,  true,  ""},
};
// clang-format on

llvm::ArrayRef<Atomic> tile::atomics() { return table; }

const Atomic *tile::findAtomic(StringRef name) {
  const Atomic *row =
      llvm::find_if(table, [&](const Atomic &row) { return row.name == name; });
  return row == std::end(table) ? nullptr : row;
}

static bool isFloat(AtomicElement element) {
  return element != E::I32 && element != E::I64;
}

/// Returns the first row of `chip` that reaches `space`; null if there is none.
static const Atomic *findReaching(const Chip &chip, bool Atomic::*space,
                                  AtomicKind kind, AtomicElement element,
                                  int64_t width) {
  if (isFloat(element) != (kind == AtomicKind::AddF))
    return nullptr;
  for (StringRef name : chip.atomics) {
    const Atomic *row = findAtomic(name);
    if (row->element == element && row->width == width && row->*space)
      return row;
  }
  return nullptr;
}

const Atomic *tile::findAtomic(const Chip &chip, AtomicKind kind,
                               AtomicElement element, int64_t width,
                               bool shared) {
  return findReaching(chip, shared ? &Atomic::shared : &Atomic::global, kind,
                      element, width);
}

const Atomic *tile::findBufferAtomic(const Chip &chip, AtomicKind kind,
                                     AtomicElement element, int64_t width) {
  return findReaching(chip, &Atomic::buffer, kind, element, width);
}

llvm::SmallVector<int64_t> tile::atomicWidths(const Chip &chip, AtomicKind kind,
                                              AtomicElement element,
                                              bool shared) {
  llvm::SmallVector<int64_t> widths;
  for (int64_t width = 16; width > 0; width /= 2)
    if (findAtomic(chip, kind, element, width, shared))
      widths.push_back(width);
  return widths;
}

static StringRef getOperation(AtomicKind kind) {
  switch (kind) {
  case AtomicKind::AddF:
  case AtomicKind::AddI:
    return "add";
  case AtomicKind::MaxS:
  case AtomicKind::MaxU:
    return "max";
  case AtomicKind::MinS:
  case AtomicKind::MinU:
    return "min";
  case AtomicKind::Or:
    return "or";
  case AtomicKind::And:
    return "and";
  }
  llvm_unreachable("not an atomic kind");
}

/// Returns the letter of a PTX integer type.
static StringRef getIntegerType(AtomicKind kind) {
  switch (kind) {
  case AtomicKind::MaxS:
  case AtomicKind::MinS:
    return "s";
  case AtomicKind::Or:
  case AtomicKind::And:
    return "b";
  default:
    return "u";
  }
}

std::string tile::getBufferIntrinsic(AtomicKind kind) {
  static constexpr llvm::StringLiteral names[] = {
      "fadd", "add", "smax", "smin", "umax", "umin", "or", "and"};
  return ("llvm.amdgcn.raw.ptr.buffer.atomic." + names[unsigned(kind)]).str();
}

std::string tile::getPtxAtomic(const Atomic &row, AtomicKind kind,
                               AtomicOrder order, AtomicScope scope,
                               bool shared, bool returns) {
  static constexpr llvm::StringLiteral orders[] = {"relaxed", "acquire",
                                                   "release", "acq_rel"};
  static constexpr llvm::StringLiteral scopes[] = {"cta", "gpu", "sys"};
  // A reduction returns nothing, so it has no acquire order.
  bool atom =
      returns || order == AtomicOrder::Acquire || order == AtomicOrder::AcqRel;
  std::string text = atom ? "atom" : "red";
  if (order != AtomicOrder::Relaxed || scope != AtomicScope::Device)
    text += (llvm::Twine(".") + orders[unsigned(order)] + "." +
             scopes[unsigned(scope)])
                .str();
  text += shared ? ".shared." : ".global.";
  text += getOperation(kind);
  StringRef type = row.ptx;
  text += '.';
  if (type.consume_front("%"))
    text += getIntegerType(kind);
  return text + type.str();
}

StringRef tile::stringify(AtomicElement element) {
  static constexpr llvm::StringLiteral names[] = {"f16", "bf16", "f32",
                                                  "f64", "i32",  "i64"};
  return names[unsigned(element)];
}
