//===- ProductsTest.cpp - MMAs in flight ----------------------------------===//

#include "Executor/Products.h"
#include "Executor/Instruction.h"
#include "llvm/ADT/bit.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace tile::cpu;

namespace {

TEST(Products, TokensAreOfNoFloatOfSixteenBits) {
  for (uint32_t bits = 0; bits < 1 << 16; ++bits) {
    EXPECT_FALSE(Products::isToken(bits << 16)) << "bf16 " << bits;
    // The NaNs of f16, widened.
    EXPECT_FALSE(Products::isToken((bits & 0x8000) << 16 | 0x7f800000 |
                                   (bits & 0x3ff) << 13));
  }
  EXPECT_FALSE(Products::isToken(llvm::bit_cast<uint32_t>(NAN)));
  EXPECT_FALSE(Products::isToken(llvm::bit_cast<uint32_t>(1.0f)));
}

TEST(Products, TokensLeadToTheirProducts) {
  Site site;
  Products products;
  PendingProduct &first = products.start(site, 32, 4);
  uint32_t one = first.token(0), four = first.token(3);
  uint32_t other = products.start(site, 32, 8).token(7);
  unsigned reg;
  for (uint32_t token : {one, four, other})
    EXPECT_TRUE(Products::isToken(token));
  EXPECT_EQ(products.find(four, reg), products.find(one, reg));
  products.find(four, reg);
  EXPECT_EQ(reg, 3u);
  EXPECT_NE(products.find(other, reg), products.find(one, reg));
  products.erase(products.find(one, reg)->firstSerial);
  EXPECT_EQ(products.find(one, reg), nullptr);
  EXPECT_NE(products.find(other, reg), nullptr);
}

TEST(Products, SerialsBeginAgain) {
  Site site;
  Products products;
  for (unsigned i = 0; i < 3 << 13; ++i) {
    PendingProduct &product = products.start(site, 1, 128);
    product.value(0, 127) = i;
    unsigned reg;
    PendingProduct *found = products.find(product.token(127), reg);
    ASSERT_EQ(found, &product);
    EXPECT_TRUE(Products::isToken(product.token(127)));
    EXPECT_EQ(reg, 127u);
    EXPECT_EQ(found->value(0, reg), float(i));
    products.erase(product.firstSerial);
  }
}

// Other MMAs keep their tokens, wherever the one that is removed stands.
TEST(Products, ErasesAnyOrder) {
  Site site;
  Products products;
  uint32_t serials[5], tokens[5];
  for (unsigned i = 0; i < 5; ++i) {
    PendingProduct &product = products.start(site, 1, 4);
    product.value(0, 1) = i;
    serials[i] = product.firstSerial;
    tokens[i] = product.token(1);
  }
  bool isErased[5] = {};
  for (unsigned i : {2, 1, 4, 0, 3}) {
    products.erase(serials[i]);
    isErased[i] = true;
    for (unsigned j = 0; j < 5; ++j) {
      unsigned reg;
      PendingProduct *found = products.find(tokens[j], reg);
      ASSERT_EQ(found == nullptr, isErased[j]);
      if (found)
        EXPECT_EQ(found->value(0, reg), j);
    }
  }
}

TEST(Products, WaitsCoverGroups) {
  Site site;
  Products products;
  auto start = [&] {
    unsigned reg;
    return products.find(products.start(site, 1, 1).token(0), reg)->token(0);
  };
  auto isComplete = [&](uint32_t token) {
    unsigned reg;
    return products.isComplete(*products.find(token, reg));
  };
  uint32_t a = start();
  products.commit(5);
  uint32_t b = start();
  products.commit(6);
  uint32_t c = start();
  EXPECT_EQ(products.wait(2), 0u);
  EXPECT_FALSE(isComplete(a));
  EXPECT_EQ(products.wait(1), 5u);
  EXPECT_TRUE(isComplete(a));
  EXPECT_FALSE(isComplete(b));
  EXPECT_EQ(products.wait(0), 6u);
  EXPECT_TRUE(isComplete(b));
  // The MMA has not been committed.
  EXPECT_FALSE(isComplete(c));
}

} // namespace
