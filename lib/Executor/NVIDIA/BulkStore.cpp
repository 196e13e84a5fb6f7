//===- BulkStore.cpp - TMA stores and reductions --------------------------===//
//
// Source: PTX ISA, "cp.async.bulk.tensor", "cp.reduce.async.bulk.tensor",
// "cp.async.bulk.commit_group", "cp.async.bulk.wait_group", "elect.sync".
//
//===----------------------------------------------------------------------===//

#include "BulkStore.h"
#include "../Atomic.h"
#include "../Block.h"
#include "TensorMapImage.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/Support/FormatVariadic.h"

using namespace tile;
using namespace tile::cpu;
using llvm::formatv;

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

void cpu::startStore(Thread &thread, const Site &site, uint64_t source,
                     uint64_t destination, unsigned bytes,
                     unsigned elementBytes,
                     std::optional<AtomicElement> added) {
  Block &block = *thread.block;
  PendingStore store{&site, nullptr, nullptr, bytes, added, {}};
  store.source =
      block.accessShared(thread, site, source, bytes, 1, AccessKind::BulkRead);
  store.destination =
      block.access(thread, site, destination, bytes, elementBytes,
                   added ? AccessKind::Atomic : AccessKind::CopyIssue);
  thread.bulkStores.open.push_back(std::move(store));
}

static void read(Thread &thread, StoreGroup &group) {
  if (group.isRead)
    return;
  group.isRead = true;
  for (PendingStore &store : group.stores)
    store.data.assign(store.source, store.source + store.bytes);
  if (Checker *checker = thread.block->getChecker())
    checker->awaitStores(thread, group.step);
}

static void write(Thread &thread, const StoreGroup &group) {
  for (const PendingStore &store : group.stores) {
    if (store.added) {
      addElements(*store.added, store.bytes / bytesOf(*store.added),
                  store.destination, store.data.data());
      continue;
    }
    memcpy(store.destination, store.data.data(), store.bytes);
    if (Checker *checker = thread.block->getChecker())
      checker->storeDone(thread, *store.site, store.destination, store.bytes);
  }
}

static void commit(Thread &thread, const Call &) {
  StoreGroup &group = thread.bulkStores.groups.emplace_back();
  std::swap(group.stores, thread.bulkStores.open);
  if (Checker *checker = thread.block->getChecker();
      checker && !group.stores.empty())
    group.step = checker->closeStores(*thread.warp);
}

static void waitRead(Thread &thread, const Call &call) {
  std::deque<StoreGroup> &groups = thread.bulkStores.groups;
  for (size_t i = 0, pending = call.integer(0); i + pending < groups.size();
       ++i)
    read(thread, groups[i]);
}

static void waitWritten(Thread &thread, const Call &call) {
  std::deque<StoreGroup> &groups = thread.bulkStores.groups;
  for (size_t pending = call.integer(0); groups.size() > pending;
       groups.pop_front()) {
    read(thread, groups.front());
    write(thread, groups.front());
  }
}

void cpu::finishBulkStores(Thread &thread) {
  BulkStores &stores = thread.bulkStores;
  const Site *unread = stores.open.empty() ? nullptr : stores.open.front().site;
  for (const StoreGroup &group : stores.groups)
    if (!group.isRead && !group.stores.empty() && !unread)
      unread = group.stores.front().site;
  if (unread)
    thread.block->fail(thread, *unread, [] {
      return Report("the thread ends before TMA has read what this "
                    "stores");
    });
  for (const StoreGroup &group : stores.groups)
    write(thread, group);
  stores.clear();
}

//===----------------------------------------------------------------------===//
// Tiles of tensors
//===----------------------------------------------------------------------===//

/// Decodes `@$4 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [$1, {$2,
/// $3}], [$0];` and `cp.reduce.async.bulk.tensor.2d.global.shared::cta.add...`,
/// with a predicate or without.
static llvm::Error decodeStore(const llvm::CallBase &call, Site &site) {
  llvm::StringRef name = site.name;
  bool adds = name.consume_front("cp.reduce.async.bulk.tensor.");
  if (!adds)
    name.consume_front("cp.async.bulk.tensor.");
  bool isCached = name.consume_back(".L2::cache_hint");
  llvm::StringRef text =
      llvm::cast<llvm::InlineAsm>(call.getCalledOperand())->getAsmString();
  unsigned predicate;
  bool isPredicated = text.consume_front("@$");
  if (name.consumeInteger(10, site.immediate) || site.immediate < 1 ||
      site.immediate > kTensorMapRank ||
      name != (adds ? "d.global.shared::cta.add.bulk_group"
                    : "d.global.shared::cta.bulk_group") ||
      site.operands.size() !=
          size_t(site.immediate) + 2 + isPredicated + isCached ||
      (isPredicated &&
       (text.consumeInteger(10, predicate) || predicate != site.immediate + 2)))
    return llvm::createStringError("no tile of a tensor that it knows");
  site.data = std::make_shared<const bool>(isPredicated);
  return llvm::Error::success();
}

static void storeTile(Thread &thread, const Call &call, bool adds) {
  const Site &site = *call.site;
  bool isPredicated = *static_cast<const bool *>(site.data.get());
  if (isPredicated && !(call.integer(2 + site.immediate) & 1))
    return;
  TensorMapImage map = readTensorMap(thread, call, call.integer(1));
  forEachChunk(
      thread, map, call, /*firstCoordinate=*/2, call.integer(0),
      [&](const TensorMapChunk &chunk) {
        if (chunk.valid == 0)
          return;
        if (chunk.address % 16 != 0)
          thread.block->fail(thread, site, [&] {
            return Report(formatv(
                "'{0}' stores from byte {1} of shared memory, which "
                "is not a multiple of 16",
                site.name,
                chunk.address - reinterpret_cast<uintptr_t>(thread.shared)));
          });
        startStore(thread, site, chunk.address,
                   reinterpret_cast<uintptr_t>(chunk.global), chunk.valid,
                   map.elementBytes,
                   adds ? std::optional(map.element) : std::nullopt);
      });
}

static void store(Thread &thread, const Call &call) {
  storeTile(thread, call, /*adds=*/false);
}
static void add(Thread &thread, const Call &call) {
  storeTile(thread, call, /*adds=*/true);
}

//===----------------------------------------------------------------------===//
// Neighbours
//===----------------------------------------------------------------------===//

/// Decodes `@$2 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32
/// [$0], [$1], 4096;`.
static llvm::Error decodeAddition(const llvm::CallBase &call, Site &site) {
  llvm::StringRef name = site.name;
  llvm::StringRef text =
      llvm::cast<llvm::InlineAsm>(call.getCalledOperand())->getAsmString();
  auto element = name.consume_front(
                     "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.")
                     ? llvm::StringSwitch<std::optional<AtomicElement>>(name)
                           .Case("f32", AtomicElement::F32)
                           .Case("f64", AtomicElement::F64)
                           .Case("noftz.f16", AtomicElement::F16)
                           .Case("noftz.bf16", AtomicElement::BF16)
                           .Default(std::nullopt)
                     : std::nullopt;
  if (!element || !text.starts_with("@$2 ") || site.operands.size() != 3 ||
      text.rsplit(',').second.trim(" ;").getAsInteger(10, site.immediate) ||
      site.immediate < 16 || site.immediate % 16 != 0)
    return llvm::createStringError("no addition that it knows");
  site.data = std::make_shared<const AtomicElement>(*element);
  return llvm::Error::success();
}

static void addNeighbours(Thread &thread, const Call &call) {
  const Site &site = *call.site;
  if (!(call.integer(2) & 1))
    return;
  auto element = *static_cast<const AtomicElement *>(site.data.get());
  uint64_t to = call.integer(0), from = call.integer(1);
  for (auto [address, what] : {std::pair(to, "global"), {from, "shared"}})
    if (address % 16 != 0)
      thread.block->fail(thread, site, [&, what = what] {
        return Report(formatv("'{0}' is given an address of {1} memory that is "
                              "not a multiple of 16",
                              site.name, what));
      });
  for (int64_t i = 0; i < site.immediate; i += 16)
    startStore(thread, site, from + i, to + i, 16, bytesOf(element), element);
}

//===----------------------------------------------------------------------===//
// One lane for all, and hints
//===----------------------------------------------------------------------===//

/// Returns the elected lane, and whether it is this one.
static void elect(Warp &, llvm::ArrayRef<Call> lanes) {
  uint32_t elected = ~0u;
  for (auto [lane, call] : llvm::enumerate(lanes)) {
    if (!call.frame)
      continue;
    elected = std::min<uint32_t>(elected, lane);
    call.setResult(elected);
    call.setResult<uint8_t>(elected == lane, 4);
  }
}

static void makePolicy(Thread &, const Call &call) {
  call.setResult<uint64_t>(0);
}

static void doNothing(Thread &, const Call &) {}

llvm::ArrayRef<Instruction> tile::cpu::bulkStoreInstructions() {
  static const Instruction rows[] = {
      {"cp.async.bulk.tensor.1d.global.*", Work::Copy, store, nullptr, nullptr,
       decodeStore},
      {"cp.async.bulk.tensor.2d.global.*", Work::Copy, store, nullptr, nullptr,
       decodeStore},
      {"cp.async.bulk.tensor.3d.global.*", Work::Copy, store, nullptr, nullptr,
       decodeStore},
      {"cp.async.bulk.tensor.4d.global.*", Work::Copy, store, nullptr, nullptr,
       decodeStore},
      {"cp.async.bulk.tensor.5d.global.*", Work::Copy, store, nullptr, nullptr,
       decodeStore},
      {"cp.reduce.async.bulk.tensor.*", Work::Atomic, add, nullptr, nullptr,
       decodeStore},
      {"cp.reduce.async.bulk.global.*", Work::Atomic, addNeighbours, nullptr,
       nullptr, decodeAddition},
      {"llvm.nvvm.cp.async.bulk.commit.group", Work::Copy, commit},
      {"llvm.nvvm.cp.async.bulk.wait.group.read", Work::Copy, waitRead},
      {"llvm.nvvm.cp.async.bulk.wait.group", Work::Copy, waitWritten},
      {"llvm.nvvm.elect.sync", Work::Exchange, nullptr, elect, nullptr, nullptr,
       /*masked=*/true},
      {"createpolicy.fractional.*", Work::Index, makePolicy},
      {"llvm.nvvm.cp.async.bulk.tensor.prefetch.*", Work::Copy, doNothing},
      {"llvm.nvvm.prefetch.tensormap.*", Work::Copy, doNothing},
  };
  return rows;
}
