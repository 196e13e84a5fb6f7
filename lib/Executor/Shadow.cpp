//===- Shadow.cpp - Accesses to each byte of memory -----------------------===//

#include "Shadow.h"
#include <algorithm>
#include <mutex>

using namespace tile::cpu;

Shadow::Shadow(size_t bytes, unsigned unit, bool global)
    : global(global), unit(unit), units(kGranule / unit),
      granuleCount(llvm::divideCeil(bytes, kGranule)),
      granules(static_cast<Granule *>(
          llvm::safe_calloc(granuleCount, sizeof(Granule)))),
      stripes(new Stripe[global ? kStripes : 1]) {}

void Shadow::reset() {
  std::fill_n(granules.get(), granuleCount, Granule());
  for (size_t i = 0, e = global ? kStripes : 1; i < e; ++i) {
    stripes[i].parts.clear();
    stripes[i].free.clear();
  }
}

/// Returns whether `earlier` happened before `step` of a thread with the clock
/// `clock`.
static bool isOrdered(const Step &earlier, const Step &step,
                      const Clock &clock) {
  if (!earlier.exists())
    return true;
  const std::vector<uint32_t> *steps = &clock.own;
  if (earlier.block != step.block) {
    auto other = clock.others.find(earlier.block);
    if (other == clock.others.end())
      return false;
    steps = &other->second;
  } else if (earlier.actor() == step.actor()) {
    return true;
  }
  return earlier.actor() < steps->size() &&
         earlier.clock <= (*steps)[earlier.actor()];
}

/// Returns whether `write`, of the own block, is visible to the async proxy.
static bool isFenced(const Step &write, const Clock &clock) {
  return write.actor() < clock.fenced.size() &&
         write.clock <= clock.fenced[write.actor()];
}

static bool isAsyncRead(AccessKind kind) {
  return kind == AccessKind::ProductRead || kind == AccessKind::BulkRead;
}

static bool isRead(AccessKind kind) {
  return kind == AccessKind::Read || isAsyncRead(kind);
}

std::optional<Fault> Shadow::update(History &history, AccessKind kind,
                                    const Step &step,
                                    const Clock &clock) const {
  if (kind == AccessKind::CopyDone) {
    history.pending = false;
    history.write = step;
    return std::nullopt;
  }
  if (history.pending)
    return Fault{Fault::Pending, history.write, true, 0};
  bool onlyReads = isRead(kind);
  bool reads = onlyReads || kind == AccessKind::Atomic;
  if (reads && !global && !history.write.exists())
    return Fault{Fault::NeverWritten, {}, false, 0};
  bool bothAtomic = kind == AccessKind::Atomic && history.atomic;
  std::optional<Fault> overwrites;
  if (!bothAtomic && !isOrdered(history.write, step, clock)) {
    overwrites = Fault{Fault::Race, history.write, true, 0};
    overwrites->unlessEqual = kind == AccessKind::Write && !history.atomic;
    if (!overwrites->unlessEqual)
      return overwrites;
  }
  if (isAsyncRead(kind) && !isFenced(history.write, clock))
    return Fault{Fault::NotFenced, history.write, true, 0};
  if (onlyReads) {
    if (isOrdered(history.firstRead, step, clock))
      history.firstRead = step;
    else
      history.lastRead = step;
    return std::nullopt;
  }
  for (Step *read : {&history.firstRead, &history.lastRead}) {
    if (!isOrdered(*read, step, clock))
      return Fault{Fault::Race, *read, false, 0};
    *read = {};
  }
  history.write = step;
  history.atomic = kind == AccessKind::Atomic;
  history.pending = kind == AccessKind::CopyIssue;
  return overwrites;
}

/// Keeps the first fault. Returns whether `fault` is certain.
static bool merge(std::optional<Fault> &into, std::optional<Fault> fault) {
  if (!fault)
    return false;
  if (!into || !fault->unlessEqual)
    into = fault;
  return !fault->unlessEqual;
}

std::optional<Fault> Shadow::accessGranule(size_t index, size_t begin,
                                           size_t end, AccessKind kind,
                                           const Step &step,
                                           const Clock &clock) {
  Granule &granule = granules[index];
  Stripe &stripe = stripes[global ? index % kStripes : 0];
  std::unique_lock<SpinLock> lock(stripe.lock, std::defer_lock);
  if (global)
    lock.lock();
  bool whole = begin == 0 && end == kGranule;
  auto at = [&](std::optional<Fault> fault, size_t offset) {
    if (fault)
      fault->offset = index * kGranule + offset;
    return fault;
  };
  if (granule.split == 0 && whole)
    return at(update(granule.whole, kind, step, clock), 0);
  if (granule.split == 0) {
    if (stripe.free.empty()) {
      stripe.free.push_back(stripe.parts.size() / units);
      stripe.parts.resize(stripe.parts.size() + units);
    }
    granule.split = stripe.free.back() + 1;
    stripe.free.pop_back();
    std::fill_n(&stripe.parts[(granule.split - 1) * units], units,
                granule.whole);
  }
  History *parts = &stripe.parts[(granule.split - 1) * units];
  std::optional<Fault> result;
  for (size_t i = begin / unit; i * unit < end; ++i)
    if (merge(result, at(update(parts[i], kind, step, clock), i * unit)))
      return result;
  // A write of all parts makes their records equal again.
  if (whole && !isRead(kind)) {
    granule.whole = parts[0];
    stripe.free.push_back(granule.split - 1);
    granule.split = 0;
  }
  return result;
}

std::optional<Fault> Shadow::access(size_t offset, size_t bytes,
                                    AccessKind kind, const Step &step,
                                    const Clock &clock) {
  std::optional<Fault> result;
  for (size_t end = offset + bytes; offset < end;) {
    size_t index = offset / kGranule, begin = offset % kGranule;
    size_t stop = std::min(kGranule, begin + (end - offset));
    if (merge(result, accessGranule(index, begin, stop, kind, step, clock)))
      return result;
    offset += stop - begin;
  }
  return result;
}
