//===- Statistics.cpp - Counts of a run -----------------------------------===//

#include "Statistics.h"
#include "Block.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace tile::cpu;

static llvm::StringRef nameOf(Work work) {
  switch (work) {
  case Work::Index:
    return "index and hint";
  case Work::Math:
    return "math";
  case Work::Matrix:
    return "matrix product";
  case Work::Exchange:
    return "exchange between lanes";
  case Work::Copy:
    return "asynchronous copy";
  case Work::Memory:
    return "load and store";
  case Work::Atomic:
    return "atomic";
  case Work::Barrier:
    return "barrier";
  case Work::Report:
    return "print and assertion";
  }
  llvm_unreachable("not a kind of work");
}

void Counter::visit(const Site &site) {
  ++visits[site.row ? site.row->work : Work::Memory];
}

void Counter::access(const Site &site, const Warp &warp, unsigned lane,
                     bool shared, uint64_t offset, unsigned bytes,
                     bool writes) {
  if (!shared) {
    (writes ? sums.globalWritten : sums.globalRead) += bytes;
    return;
  }
  (writes ? sums.sharedWritten : sums.sharedRead) += bytes;
  Visits &visits = accesses[{warp.id, 2 * site.index + writes}];
  visits.counts.resize(warpSize);
  uint64_t place = visits.counts[lane]++ - visits.complete;
  while (visits.open.size() <= place)
    visits.open.emplace_back();
  Visit &visit = visits.open[place];
  visit.arrived |= uint64_t(1) << lane;
  visit.bytes = bytes;
  visit.writes = writes;
  visit.offsets.resize(warpSize);
  visit.offsets[lane] = offset;
  while (!visits.open.empty() && visits.open.front().arrived == warp.lanes) {
    countConflicts(visits.open.front());
    visits.open.pop_front();
    ++visits.complete;
  }
}

/// Counts bank conflicts. Lanes are served in groups of as many as can access
/// all banks at once without a conflict, whatever their order of arrival.
void Counter::countConflicts(const Visit &visit) {
  const Banks &banks = visit.writes ? storeBanks : readBanks;
  size_t group = banks.lanesAtOnce(visit.bytes);
  for (size_t begin = 0; begin < visit.offsets.size(); begin += group) {
    std::vector<llvm::SmallDenseSet<uint64_t, 4>> words(banks.count);
    size_t end = std::min(begin + group, visit.offsets.size());
    bool isEmpty = true;
    for (size_t place = begin; place < end; ++place) {
      size_t lane = banks.laneAt(place, visit.bytes);
      if (!(visit.arrived >> lane & 1))
        continue;
      isEmpty = false;
      for (uint64_t word = visit.offsets[lane] / 4;
           word * 4 < visit.offsets[lane] + visit.bytes; ++word)
        words[word % banks.count].insert(word);
    }
    if (isEmpty)
      continue;
    size_t sweeps = 0;
    for (const auto &bank : words)
      sweeps = std::max<size_t>(sweeps, bank.size());
    ++sums.sharedSweeps;
    sums.bankConflicts += sweeps - 1;
  }
}

void Counter::finish(Statistics &into) {
  for (auto &[key, visits] : accesses)
    for (const Visit &visit : visits.open)
      if (!visit.offsets.empty())
        countConflicts(visit);
  accesses.clear();
  // The arrivals of a warp's threads count once.
  for (auto [work, count] : visits)
    sums.instructions[nameOf(work).str()] += llvm::divideCeil(count, warpSize);
  visits.clear();
  sums.blocks = 1;
  into += sums;
  sums = {};
}

Statistics &Statistics::operator+=(const Statistics &other) {
  blocks += other.blocks;
  for (const auto &[name, count] : other.instructions)
    instructions[name] += count;
  globalRead += other.globalRead;
  globalWritten += other.globalWritten;
  sharedRead += other.sharedRead;
  sharedWritten += other.sharedWritten;
  sharedSweeps += other.sharedSweeps;
  bankConflicts += other.bankConflicts;
  return *this;
}

void Statistics::print(llvm::raw_ostream &os) const {
  os << llvm::formatv("{0,-36} {1,15} {2,15}\n", kernel, "all blocks",
                      "per block");
  auto row = [&](llvm::StringRef name, uint64_t value) {
    os << llvm::formatv("  {0,-34} {1,15} {2,15:f1}\n", name, value,
                        double(value) / std::max<uint64_t>(blocks, 1));
  };
  row("blocks", blocks);
  for (const auto &[name, count] : instructions)
    row(name, count);
  row("bytes read from global memory", globalRead);
  row("bytes written to global memory", globalWritten);
  row("bytes read from shared memory", sharedRead);
  row("bytes written to shared memory", sharedWritten);
  row("sweeps of the banks", sharedSweeps);
  row("  added by bank conflicts", bankConflicts);
}
