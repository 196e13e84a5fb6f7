//===- Products.cpp - MMAs in flight --------------------------------------===//

#include "Products.h"
#include "llvm/ADT/STLExtras.h"

using namespace tile::cpu;

/// Number of distinct tokens.
static constexpr uint32_t kSerials = 1 << 20;

uint32_t PendingProduct::token(unsigned reg) const {
  return 0x7fe00001 | (firstSerial + reg) << 1;
}

PendingProduct &Products::start(const Site &site, unsigned lanes,
                                unsigned registers) {
  if (nextSerial + registers > kSerials)
    nextSerial = 0;
  PendingProduct &product = products.emplace_back();
  product.site = &site;
  product.firstSerial = nextSerial;
  product.registers = registers;
  product.group = firstPending + groups.size();
  product.values.resize(size_t(lanes) * registers);
  nextSerial += registers;
  return product;
}

PendingProduct *Products::find(uint32_t token, unsigned &reg) {
  uint32_t serial = token >> 1 & (kSerials - 1);
  auto found = llvm::find_if(products, [&](const PendingProduct &product) {
    return serial >= product.firstSerial &&
           serial < product.firstSerial + product.registers;
  });
  if (found == products.end())
    return nullptr;
  reg = serial - found->firstSerial;
  return &*found;
}

void Products::erase(uint32_t firstSerial) {
  auto found = llvm::find_if(products, [&](const PendingProduct &product) {
    return product.firstSerial == firstSerial;
  });
  if (found != products.end())
    products.erase(found);
}

void Products::commit(uint32_t step) { groups.push_back(step); }

uint32_t Products::wait(uint64_t pending) {
  uint32_t step = 0;
  for (; groups.size() > pending; groups.pop_front()) {
    step = groups.front();
    ++firstPending;
  }
  return step;
}
