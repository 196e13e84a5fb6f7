//===- MatrixElement.h - Elements of matrix products ------------*- C++ -*-===//
#ifndef TILE_LIB_EXECUTOR_MATRIXELEMENT_H
#define TILE_LIB_EXECUTOR_MATRIXELEMENT_H

#include "Numbers.h"
#include "tile/Chips/Mma.h"
#include <type_traits>

namespace tile::cpu {

/// The bits of an f32 number that a product of tf32 reads.
inline constexpr uint32_t kTF32Bits = ~uint32_t(0x1fff);

/// Returns the element of `type` at `bytes`: a float, or the word of an
/// integer.
template <typename T> T readElement(MmaElement type, const char *bytes) {
  uint32_t word = 0;
  std::memcpy(&word, bytes, getBits(type) / 8);
  switch (type) {
  case MmaElement::F16:
    return fromF16(word);
  case MmaElement::BF16:
    return fromBF16(word);
  case MmaElement::TF32:
    return bitCast<float>(word & kTF32Bits);
  case MmaElement::F32:
    return bitCast<float>(word);
  case MmaElement::I8:
    return static_cast<int8_t>(word);
  case MmaElement::I32:
    return word;
  }
  return 0;
}

/// Calls `function` with a type as std::integral_constant.
template <typename Function>
void withElement(MmaElement type, Function function) {
  switch (type) {
#define CASE(NAME)                                                             \
  case MmaElement::NAME:                                                       \
    return function(std::integral_constant<MmaElement, MmaElement::NAME>());
    CASE(F16)
    CASE(BF16)
    CASE(TF32)
    CASE(F32)
    CASE(I8)
    CASE(I32)
#undef CASE
  }
}

} // namespace tile::cpu

#endif // TILE_LIB_EXECUTOR_MATRIXELEMENT_H
