//===- Check.cpp - Checks of memory accesses ------------------------------===//

#include "Check.h"
#include "Arguments.h"
#include "Block.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace tile;
using namespace tile::cpu;
using llvm::formatv;

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

Buffer::Buffer(const Parameter &parameter, const Tensor &tensor, unsigned unit)
    : name(parameter.name), tensor(tensor),
      elementBytes(launch::elementBytes(parameter.type)) {
  begin = end = reinterpret_cast<uintptr_t>(tensor.data);
  int64_t elements = 1, last = 0;
  for (auto [extent, stride] : llvm::zip(tensor.shape, tensor.strides)) {
    elements *= extent;
    last += (extent - 1) * stride;
  }
  if (elements != 0)
    end += (last + 1) * elementBytes;
  // A permuted buffer stores its elements as its map says.
  bool isMapped = parameter.strides.empty() && !parameter.shape.empty();
  hasGaps = elements != 0 && elements != last + 1 && !isMapped;
  if (parameter.isWritten)
    shadow = std::make_unique<Shadow>(end - begin, unit, /*global=*/true);
}

/// Returns the index of the element at `offset` elements from the first;
/// nothing if there is none. The elements of the tensor must not overlap.
static std::optional<llvm::SmallVector<int64_t, 4>>
indexOf(const Tensor &tensor, int64_t offset) {
  llvm::SmallVector<unsigned, 4> order;
  for (unsigned i = 0; i < tensor.shape.size(); ++i)
    order.push_back(i);
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::pair(tensor.strides[b], a) < std::pair(tensor.strides[a], b);
  });
  llvm::SmallVector<int64_t, 4> index(tensor.shape.size());
  for (unsigned d : order) {
    if (tensor.shape[d] <= 1 || tensor.strides[d] <= 0)
      continue;
    index[d] = std::min(offset / tensor.strides[d], tensor.shape[d] - 1);
    offset -= index[d] * tensor.strides[d];
  }
  return offset == 0 ? std::optional(index) : std::nullopt;
}

bool Buffer::holds(uintptr_t address, unsigned bytes) const {
  if (address < begin || address + bytes > end)
    return false;
  auto isElement = [&](uintptr_t byte) {
    return indexOf(tensor, (byte - begin) / elementBytes).has_value();
  };
  return !hasGaps || (isElement(address) && isElement(address + bytes - 1));
}

unsigned Buffer::countGap(uintptr_t address, unsigned bytes) const {
  if (!hasGaps || address < begin || !holds(address + bytes - 1))
    return 0;
  unsigned gap = 0;
  while (!holds(address + gap))
    ++gap;
  return gap;
}

/// Returns `element (0, 5, 1, 32) of 'q'`.
static std::string describePlace(const Buffer &buffer, uintptr_t address) {
  auto index =
      indexOf(buffer.tensor, (address - buffer.begin) / buffer.elementBytes);
  if (!index)
    return formatv("byte {0} of '{1}'", address - buffer.begin, buffer.name);
  return formatv("element ({0:$[, ]}) of '{1}'",
                 llvm::make_range(index->begin(), index->end()), buffer.name);
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

Checker::Checker(Launch &launch, CheckedLaunch &checked, char *shared)
    : launch(launch), checked(checked),
      shared(reinterpret_cast<uintptr_t>(shared)),
      sharedShadow(launch.shared, checked.unit, /*global=*/false),
      clocks(size_t(launch.block[0]) * launch.block[1] * launch.block[2]),
      productSteps(llvm::divideCeil(clocks.size(), launch.warpSize)),
      storeSteps(productSteps.size()) {}

void Checker::reset() {
  sharedShadow.reset();
  for (auto [i, clock] : llvm::enumerate(clocks)) {
    clock.now.clear();
    clock.released.clear();
    clock.pending.clear();
    clock.now.own.resize(tmaActor() + 1 + storeSteps.size());
    clock.now.own[i] = 1;
  }
  llvm::fill(productSteps, 1);
  llvm::fill(storeSteps, 1);
  bulkStep = 1;
}

static llvm::StringRef verb(AccessKind kind) {
  switch (kind) {
  case AccessKind::Read:
  case AccessKind::ProductRead:
  case AccessKind::BulkRead:
    return "reads";
  case AccessKind::Write:
    return "writes";
  case AccessKind::Atomic:
    return "updates";
  case AccessKind::CopyIssue:
  case AccessKind::CopyDone:
    return "copies to";
  }
  llvm_unreachable("not an access");
}

Step Checker::stepOf(const Thread &thread, const Site &site,
                     AccessKind kind) const {
  const Dim3 &index = thread.block->index, &grid = launch.grid;
  Step step;
  step.clock = clocks[thread.id].now.own[thread.id];
  step.block = index[0] + grid[0] * (index[1] + grid[1] * index[2]);
  step.setPlace(thread.id, site.index);
  if (kind == AccessKind::ProductRead) {
    step.clock = productSteps[thread.warp->id];
    step.setPlace(productsOf(*thread.warp), site.index);
  } else if (kind == AccessKind::BulkRead) {
    step.clock = storeSteps[thread.warp->id];
    step.setPlace(storesOf(*thread.warp), site.index);
  }
  return step;
}

void Checker::access(Thread &thread, const Site &site, uint64_t address,
                     unsigned bytes, unsigned alignment, AccessKind kind) {
  Step step = stepOf(thread, site, kind);
  const Clock &clock = clocks[thread.id].now;
  if (address >= shared && address + bytes <= shared + launch.shared) {
    if (address % alignment != 0)
      thread.block->fail(thread, site, [&] {
        return Report(formatv(
            "{0} {1} bytes at byte {2} of shared memory, which is not a "
            "multiple of {3}",
            verb(kind), bytes, address - shared, alignment));
      });
    judge(thread, site, address, bytes, kind,
          sharedShadow.access(address - shared, bytes, kind, step, clock),
          shared);
    return;
  }
  if (kind == AccessKind::Read &&
      llvm::any_of(checked.constants, [&](auto constant) {
        return address >= constant.first &&
               address + bytes <= constant.first + constant.second;
      }))
    return;
  // The gaps of one buffer may hold the elements of another.
  auto buffer = llvm::find_if(checked.buffers, [&](const Buffer &buffer) {
    return buffer.holds(address, bytes);
  });
  if (buffer == checked.buffers.end())
    thread.block->fail(thread, site,
                       [&] { return describeOutside(address, bytes, kind); });
  if (address % alignment != 0)
    thread.block->fail(thread, site, [&] {
      return Report(formatv(
          "{0} {1} bytes at {2}, whose address is not a multiple of {3}",
          verb(kind), bytes, describePlace(*buffer, address), alignment));
    });
  if (buffer->shadow)
    judge(thread, site, address, bytes, kind,
          buffer->shadow->access(address - buffer->begin, bytes, kind, step,
                                 clock),
          buffer->begin);
}

unsigned Checker::countGap(uint64_t address, unsigned alignment,
                           unsigned bytes) const {
  if (address % alignment != 0)
    return 0;
  for (const Buffer &buffer : checked.buffers)
    if (unsigned gap = buffer.countGap(address, bytes))
      return gap;
  return 0;
}

/// Fails if `fault`, whose offset counts from `begin`, is certain. Otherwise
/// remembers the write.
void Checker::judge(Thread &thread, const Site &site, uint64_t address,
                    unsigned bytes, AccessKind kind, std::optional<Fault> fault,
                    uint64_t begin) {
  if (!fault)
    return;
  if (!fault->unlessEqual)
    fail(thread, site, *fault, kind, begin + fault->offset);
  const auto *memory = reinterpret_cast<const char *>(address);
  SuspectedWrite &suspect = thread.suspects.emplace_back();
  suspect.site = &site;
  suspect.address = address;
  suspect.before.assign(memory, memory + bytes);
  suspect.fault = *fault;
  suspect.fault.offset += begin;
}

void Checker::confirmWrites(Thread &thread) {
  for (const SuspectedWrite &suspect : thread.suspects)
    if (memcmp(suspect.before.data(),
               reinterpret_cast<const char *>(suspect.address),
               suspect.before.size()) != 0)
      fail(thread, *suspect.site, suspect.fault, AccessKind::Write,
           suspect.fault.offset);
  thread.suspects.clear();
}

Report Checker::describeOutside(uint64_t address, unsigned bytes,
                                AccessKind kind) const {
  std::string message =
      formatv("{0} {1} bytes outside of every argument", verb(kind), bytes);
  // The nearest buffer makes the error clear.
  const Buffer *nearest = nullptr;
  uint64_t distance = 4096;
  for (const Buffer &buffer : checked.buffers) {
    uint64_t apart = address < buffer.begin ? buffer.begin - address
                     : address + bytes > buffer.end
                         ? address + bytes - buffer.end
                         : 0;
    if (apart < distance) {
      nearest = &buffer;
      distance = apart;
    }
  }
  if (address + 4096 > shared && address < shared + launch.shared + 4096)
    message =
        formatv("{0} {1} bytes at byte {2} of shared memory, of which "
                "there are {3} bytes",
                verb(kind), bytes, int64_t(address - shared), launch.shared);
  else if (nearest && address < nearest->begin)
    message += formatv(", {0} bytes before '{1}'", nearest->begin - address,
                       nearest->name);
  else if (nearest && distance != 0)
    message +=
        formatv(", {0} bytes past the end of '{1}'", distance, nearest->name);
  else if (nearest)
    message += formatv(", between the elements of '{0}', at byte {1}",
                       nearest->name, address - nearest->begin);
  return Report(message);
}

/// Returns `byte 16 of shared memory` or `element (0, 1) of 'q'`.
std::string Checker::describePlaceOf(uint64_t address) const {
  for (const Buffer &buffer : checked.buffers)
    if (buffer.holds(address))
      return describePlace(buffer, address);
  return formatv("byte {0} of shared memory", address - shared);
}

/// Returns `thread 5`, `the MMA of threads 0-31` or `TMA for threads 0-31`.
std::string Checker::nameOf(unsigned actor) const {
  if (actor < clocks.size())
    return formatv("thread {0}", actor);
  if (actor == tmaActor())
    return "TMA";
  bool stores = actor > tmaActor();
  unsigned first =
      (actor - (stores ? tmaActor() + 1 : clocks.size())) * launch.warpSize;
  return formatv(
      "{0} threads {1}-{2}", stores ? "TMA for" : "the MMA of", first,
      std::min<unsigned>(first + launch.warpSize, clocks.size()) - 1);
}

void Checker::fail(Thread &thread, const Site &site, const Fault &fault,
                   AccessKind kind, uint64_t address) {
  thread.block->fail(thread, site, [&] {
    return describe(stepOf(thread, site), fault, kind, address);
  });
}

Report Checker::describe(const Step &step, const Fault &fault, AccessKind kind,
                         uint64_t address) const {
  std::string where = describePlaceOf(address);
  std::vector<std::pair<Position, std::string>> notes;
  std::string other;
  if (fault.other.exists()) {
    unsigned block = fault.other.block;
    other = nameOf(fault.other.actor());
    if (block != step.block)
      other += formatv(" of block ({0}, {1}, {2})", block % launch.grid[0],
                       block / launch.grid[0] % launch.grid[1],
                       block / launch.grid[0] / launch.grid[1]);
    bool isAwaited = fault.other.actor() >= clocks.size() &&
                     fault.other.actor() != tmaActor();
    notes.push_back(
        {(*checked.sites)[fault.other.site()].position,
         formatv("{0} {1} it here{2}", other,
                 fault.kind == Fault::Pending ? "copies to"
                 : fault.otherWrote           ? "writes"
                                              : "reads",
                 isAwaited ? ", until it has been waited for" : "")});
  }
  std::string message;
  switch (fault.kind) {
  case Fault::NeverWritten:
    message =
        formatv("{0} {1}, which no thread has written", verb(kind), where);
    break;
  case Fault::Pending:
    message =
        formatv("{0} {1} before the copy of {2} to it has been waited for",
                verb(kind), where, other);
    break;
  case Fault::NotFenced:
    message = formatv("{0} {1} through the async proxy, with no "
                      "fence.proxy.async since {2} wrote it",
                      verb(kind), where, other);
    break;
  case Fault::Race:
    message = formatv("race: {0} {1}, which {2} {3} with nothing to order the "
                      "two",
                      verb(kind), where, other,
                      fault.otherWrote ? "writes" : "reads");
    break;
  }
  Report report(message);
  report.notes = std::move(notes);
  return report;
}

void Checker::copyDone(Thread &thread, const Site &site, const char *address,
                       unsigned bytes) {
  sharedShadow.access(reinterpret_cast<uintptr_t>(address) - shared, bytes,
                      AccessKind::CopyDone, stepOf(thread, site),
                      clocks[thread.id].now);
}

void Checker::storeDone(Thread &thread, const Site &site, const char *address,
                        unsigned bytes) {
  auto place = reinterpret_cast<uintptr_t>(address);
  for (Buffer &buffer : checked.buffers)
    if (buffer.shadow && buffer.holds(place))
      buffer.shadow->access(place - buffer.begin, bytes, AccessKind::CopyDone,
                            stepOf(thread, site), clocks[thread.id].now);
}

unsigned Checker::storesOf(const Warp &warp) const {
  return tmaActor() + 1 + warp.id;
}

uint32_t Checker::closeStores(const Warp &warp) {
  return storeSteps[warp.id]++;
}

void Checker::awaitStores(const Thread &thread, uint32_t step) {
  uint32_t &known = clocks[thread.id].now.own[storesOf(*thread.warp)];
  known = std::max(known, step);
}

void Checker::bulkDone(Thread &thread, const Site &site, const char *address,
                       unsigned bytes) {
  Step step = stepOf(thread, site);
  step.clock = bulkStep;
  step.setPlace(tmaActor(), site.index);
  sharedShadow.access(reinterpret_cast<uintptr_t>(address) - shared, bytes,
                      AccessKind::CopyDone, step, clocks[thread.id].now);
}

void Checker::passBulk(Clock &clock) {
  // TMA writes through the async proxy.
  for (std::vector<uint32_t> *steps : {&clock.own, &clock.fenced}) {
    steps->resize(std::max<size_t>(steps->size(), tmaActor() + 1));
    (*steps)[tmaActor()] = bulkStep;
  }
  ++bulkStep;
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// Begins a new step: later accesses of the thread are not part of the release.
void Checker::release(const Thread &thread) {
  ++clocks[thread.id].now.own[thread.id];
}

void Checker::fence(Thread &thread, bool acquires, bool releases) {
  ThreadClock &clock = clocks[thread.id];
  if (acquires)
    clock.now.join(clock.pending);
  if (releases) {
    clock.released = clock.now;
    release(thread);
  }
}

void Checker::fenceProxy(Thread &thread) {
  Clock &clock = clocks[thread.id].now;
  clock.fenced = clock.own;
  // Later writes of the thread are not fenced.
  release(thread);
}

unsigned Checker::productsOf(const Warp &warp) const {
  return clocks.size() + warp.id;
}

uint32_t Checker::closeProducts(const Warp &warp) {
  return productSteps[warp.id]++;
}

void Checker::awaitProducts(const Warp &warp, uint32_t step) {
  for (uint64_t rest = warp.lanes; rest; rest &= rest - 1) {
    unsigned lane = llvm::countr_zero(rest);
    uint32_t &known = clocks[warp.threads[lane].id].now.own[productsOf(warp)];
    known = std::max(known, step);
  }
}

void Checker::atomic(Thread &thread, uint64_t address, bool acquires,
                     bool releases, llvm::function_ref<void()> access) {
  ThreadClock &clock = clocks[thread.id];
  uint32_t block = stepOf(thread, Site()).block;
  std::lock_guard<std::mutex> lock(checked.mutex);
  access();
  Released &cell = checked.released[address];
  auto take = [&](Clock &to) {
    for (const auto &[from, steps] : cell.steps.others) {
      Clock part;
      (from == block ? part.own : part.others[from]) = steps;
      to.join(part);
    }
    if (auto fences = cell.fences.find(block); fences != cell.fences.end())
      to.join(fences->second);
  };
  take(acquires ? clock.now : clock.pending);
  const Clock &passed = releases ? clock.now : clock.released;
  Clock part;
  part.others = passed.others;
  part.others[block] = passed.own;
  cell.steps.join(part);
  if (!passed.fenced.empty()) {
    Clock fences;
    fences.fenced = passed.fenced;
    cell.fences[block].join(fences);
  }
  if (releases)
    release(thread);
}

void Checker::arrive(const Thread &thread, Clock &barrier, bool fences) {
  ThreadClock &clock = clocks[thread.id];
  barrier.join(fences ? clock.now : clock.released);
  if (fences)
    release(thread);
}

void Checker::leave(const Thread &thread, const Clock &barrier, bool fences) {
  ThreadClock &clock = clocks[thread.id];
  (fences ? clock.now : clock.pending).join(barrier);
}
