//===- Numbers.h - 16-bit floats in software --------------------*- C++ -*-===//
#ifndef TILE_LIB_EXECUTOR_NUMBERS_H
#define TILE_LIB_EXECUTOR_NUMBERS_H

#include <cstdint>
#include <cstring>

namespace tile::cpu {

template <typename To, typename From> To bitCast(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(To));
  return to;
}

inline float fromBF16(uint16_t bits) {
  return bitCast<float>(uint32_t(bits) << 16);
}

inline float fromF16(uint16_t bits) {
  // The exponent's bias grows by 112. The product also normalizes subnormals.
  float magnitude = bitCast<float>(uint32_t(bits & 0x7fff) << 13) * 0x1p112f;
  uint32_t special = (bits & 0x7c00) == 0x7c00 ? 0x7f800000 : 0;
  return bitCast<float>(bitCast<uint32_t>(magnitude) | special |
                        uint32_t(bits & 0x8000) << 16);
}

/// Both functions round to nearest even.
uint16_t toBF16(float value);
uint16_t toF16(float value);

} // namespace tile::cpu

#endif // TILE_LIB_EXECUTOR_NUMBERS_H
