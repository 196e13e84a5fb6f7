//===- Clocks.cpp - Vector clocks -----------------------------------------===//

#include "Clocks.h"
#include <algorithm>

using namespace tile::cpu;

static void joinSteps(std::vector<uint32_t> &to,
                      const std::vector<uint32_t> &from) {
  if (to.size() < from.size())
    to.resize(from.size());
  for (size_t i = 0; i < from.size(); ++i)
    to[i] = std::max(to[i], from[i]);
}

void Clock::join(const Clock &clock) {
  joinSteps(own, clock.own);
  joinSteps(fenced, clock.fenced);
  for (const auto &[block, steps] : clock.others)
    joinSteps(others[block], steps);
}

void Clock::clear() {
  own.clear();
  others.clear();
  fenced.clear();
}
