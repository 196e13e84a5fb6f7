//===- ShadowTest.cpp - The shadow, against whole histories ---------------===//
//
// Random runs of threads that access a small memory and pass on their clocks.
// The oracle keeps every access to every byte. The shadow must report a fault
// if and only if the oracle finds one, of the same kind.
//
//===----------------------------------------------------------------------===//

#include "Executor/Shadow.h"
#include "gtest/gtest.h"
#include <random>

using namespace tile::cpu;

namespace {

constexpr size_t kBytes = 48;

Step stepOf(unsigned thread, const Clock &clock) {
  Step step;
  step.clock = clock.own[thread];
  step.setPlace(thread, /*site=*/0);
  return step;
}

class Oracle {
public:
  explicit Oracle(bool global) : global(global), bytes(kBytes) {}

  std::optional<Fault::Kind> access(size_t offset, size_t count,
                                    AccessKind kind, unsigned thread,
                                    const Clock &clock) {
    std::optional<Fault::Kind> certain;
    for (size_t i = offset; i < offset + count; ++i) {
      Byte &byte = bytes[i];
      if (kind == AccessKind::CopyDone) {
        byte.pending = false;
        byte.events.push_back({thread, clock.own[thread], AccessKind::Write});
        continue;
      }
      bool reads = kind == AccessKind::Read || kind == AccessKind::Atomic;
      std::optional<Fault::Kind> fault;
      if (byte.pending)
        fault = Fault::Pending;
      else if (reads && !global && !byte.written)
        fault = Fault::NeverWritten;
      for (const Event &event : byte.events) {
        if (fault)
          break;
        bool ordered =
            event.thread == thread || event.clock <= clock.own[event.thread];
        bool conflict =
            kind != AccessKind::Read || event.kind != AccessKind::Read;
        if (kind == AccessKind::Atomic && event.kind == AccessKind::Atomic)
          conflict = false;
        if (!ordered && conflict)
          fault = Fault::Race;
      }
      if (fault && !certain)
        certain = fault;
      byte.events.push_back({thread, clock.own[thread], kind});
      byte.written |= kind != AccessKind::Read;
      byte.pending = kind == AccessKind::CopyIssue;
    }
    return certain;
  }

private:
  struct Event {
    unsigned thread;
    uint32_t clock;
    AccessKind kind;
  };
  struct Byte {
    std::vector<Event> events;
    bool written = false, pending = false;
  };
  bool global;
  std::vector<Byte> bytes;
};

struct Pending {
  size_t offset, count;
  unsigned thread;
};

/// Runs at most `length` accesses of `threads` threads; those from `readers` on
/// only write. With `exact`, shadow and oracle must agree. Otherwise the shadow
/// may miss races but must not report false ones. Returns whether there was a
/// fault.
bool run(unsigned seed, bool global, unsigned unit, unsigned threads,
         unsigned readers, bool atomics, bool exact) {
  std::mt19937 random(seed);
  Shadow shadow(kBytes, unit, global);
  Oracle oracle(global);
  std::vector<Clock> clocks(threads);
  for (unsigned t = 0; t < threads; ++t) {
    clocks[t].own.resize(threads);
    clocks[t].own[t] = 1;
  }
  std::vector<Pending> copies;
  for (unsigned i = 0; i < 200; ++i) {
    unsigned thread = random() % threads;
    Clock &clock = clocks[thread];
    // Mostly ordered accesses: otherwise every run ends at once.
    for (unsigned other = 0; other < threads; ++other)
      if (other != thread && random() % 16 != 0) {
        clock.join(clocks[other]);
        ++clocks[other].own[other];
      }
    if (!copies.empty() && random() % 2) {
      Pending copy = copies.back();
      copies.pop_back();
      const Clock &own = clocks[copy.thread];
      EXPECT_FALSE(shadow.access(copy.offset, copy.count, AccessKind::CopyDone,
                                 stepOf(copy.thread, own), own));
      oracle.access(copy.offset, copy.count, AccessKind::CopyDone, copy.thread,
                    own);
    }
    size_t count = size_t(unit) << (random() % (unit == 1 ? 5 : 4));
    size_t offset = random() % (kBytes / count) * count;
    AccessKind kind = AccessKind::Write;
    switch (random() % 8) {
    case 0:
    case 1:
    case 2:
    case 3:
      kind = thread < readers ? AccessKind::Read : AccessKind::Write;
      break;
    case 4:
      kind = AccessKind::CopyIssue;
      break;
    case 5:
      kind = atomics ? AccessKind::Atomic : AccessKind::Write;
      break;
    default:
      break;
    }
    auto expected = oracle.access(offset, count, kind, thread, clock);
    auto found =
        shadow.access(offset, count, kind, stepOf(thread, clock), clock);
    if (found && !expected) {
      ADD_FAILURE() << "invented a fault, seed " << seed << ", access " << i;
      return true;
    }
    if (expected && !found) {
      EXPECT_FALSE(exact && expected)
          << "missed a fault, seed " << seed << ", access " << i;
      return true;
    }
    if (found) {
      EXPECT_GE(found->offset, offset);
      EXPECT_LT(found->offset, offset + count);
      if (found->unlessEqual) {
        EXPECT_EQ(found->kind, Fault::Race);
        EXPECT_EQ(kind, AccessKind::Write);
      }
      return true;
    }
    if (kind == AccessKind::CopyIssue)
      copies.push_back({offset, count, thread});
  }
  return false;
}

TEST(Shadow, FindsEveryFaultOfTwoReaders) {
  unsigned faults = 0, runs = 0;
  for (bool global : {false, true})
    for (unsigned unit : {1, 2})
      for (unsigned seed = 0; seed < 300; ++seed, ++runs)
        faults += run(seed, global, unit, 3, 2, false, /*exact=*/true);
  // Both kinds of runs occur.
  EXPECT_GT(faults, runs / 4);
}

TEST(Shadow, InventsNoFault) {
  for (bool global : {false, true})
    for (unsigned unit : {1, 2})
      for (unsigned seed = 0; seed < 300; ++seed)
        run(seed, global, unit, 6, 6, true, /*exact=*/false);
}

/// Two threads and the MMAs of the first one's warp.
struct ProductReads : testing::Test {
  Shadow shadow{64, 2, /*global=*/false};
  Clock clocks[2];
  static constexpr unsigned kEngine = 2;

  ProductReads() {
    for (unsigned t = 0; t < 2; ++t) {
      clocks[t].own.assign(3, 0);
      clocks[t].own[t] = 1;
    }
  }
  std::optional<Fault> write(unsigned thread) {
    return shadow.access(0, 32, AccessKind::Write,
                         stepOf(thread, clocks[thread]), clocks[thread]);
  }
  /// Thread 0 starts an MMA, the first step of that actor.
  std::optional<Fault> multiply() {
    Step step;
    step.clock = 1;
    step.setPlace(kEngine, /*site=*/0);
    return shadow.access(0, 32, AccessKind::ProductRead, step, clocks[0]);
  }
  void fence(unsigned thread) {
    clocks[thread].fenced = clocks[thread].own;
    ++clocks[thread].own[thread];
  }
  void pass(unsigned from, unsigned to) {
    clocks[to].join(clocks[from]);
    ++clocks[from].own[from];
  }
};

TEST_F(ProductReads, NeedAFence) {
  EXPECT_FALSE(write(0));
  std::optional<Fault> fault = multiply();
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, Fault::NotFenced);
  fence(0);
  EXPECT_FALSE(multiply());
}

TEST_F(ProductReads, NeedAFenceAfterTheWrite) {
  fence(0);
  EXPECT_FALSE(write(0));
  EXPECT_EQ(multiply()->kind, Fault::NotFenced);
}

TEST_F(ProductReads, SeeWhatAnotherFencedBeforeItPassedItOn) {
  EXPECT_FALSE(write(1));
  fence(1);
  EXPECT_EQ(multiply()->kind, Fault::Race);
  pass(1, 0);
  EXPECT_FALSE(multiply());
}

TEST_F(ProductReads, SeeWhatTheirThreadFenced) {
  EXPECT_FALSE(write(1));
  pass(1, 0);
  EXPECT_EQ(multiply()->kind, Fault::NotFenced);
  fence(0);
  EXPECT_FALSE(multiply());
}

TEST_F(ProductReads, ReadUntilTheyAreWaitedFor) {
  EXPECT_FALSE(write(0));
  fence(0);
  EXPECT_FALSE(multiply());
  std::optional<Fault> fault = write(0);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, Fault::Race);
  EXPECT_EQ(fault->other.actor(), kEngine);
  EXPECT_FALSE(fault->otherWrote);
  clocks[0].own[kEngine] = 1;
  EXPECT_FALSE(write(0));
}

} // namespace
