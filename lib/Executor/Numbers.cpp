//===- Numbers.cpp - 16-bit floats in software ----------------------------===//

#include "Numbers.h"
#include "llvm/ADT/APFloat.h"

using namespace tile::cpu;

static uint16_t round(float value, const llvm::fltSemantics &semantics) {
  llvm::APFloat number(value);
  bool lossy;
  number.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &lossy);
  return static_cast<uint16_t>(number.bitcastToAPInt().getZExtValue());
}

uint16_t tile::cpu::toBF16(float value) {
  return round(value, llvm::APFloat::BFloat());
}

uint16_t tile::cpu::toF16(float value) {
  return round(value, llvm::APFloat::IEEEhalf());
}
