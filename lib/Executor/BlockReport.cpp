//===- BlockReport.cpp - Where the threads of a block wait ----------------===//

#include "Block.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace tile::cpu;

std::string tile::cpu::describeThread(llvm::StringRef kernel, const Dim3 &block,
                                      unsigned thread) {
  return llvm::formatv("kernel '{0}', block ({1}, {2}, {3}), thread {4}: ",
                       kernel, block[0], block[1], block[2], thread);
}

/// Formats thread numbers as `0-31, 64`.
static std::string listThreads(llvm::ArrayRef<const Thread *> threads) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (size_t i = 0; i < threads.size();) {
    size_t end = i + 1;
    while (end < threads.size() && threads[end]->id == threads[end - 1]->id + 1)
      ++end;
    os << (i ? ", " : "") << threads[i]->id;
    if (end - i > 1)
      os << "-" << threads[end - 1]->id;
    i = end;
  }
  return text;
}

/// Adds notes that say where threads wait, ordered by the first thread of each
/// place, and which threads have ended.
void Block::listWaiting(Report &report) const {
  std::vector<std::pair<const Site *, std::vector<const Thread *>>> groups;
  std::vector<const Thread *> ended;
  for (const Thread &thread : threads) {
    if (thread.done) {
      ended.push_back(&thread);
      continue;
    }
    if (!thread.waiting)
      continue;
    auto group = llvm::find_if(
        groups, [&](auto &group) { return group.first == thread.waiting; });
    if (group == groups.end()) {
      groups.push_back({thread.waiting, {}});
      group = std::prev(groups.end());
    }
    group->second.push_back(&thread);
  }
  for (auto &[site, waiting] : groups)
    report.notes.push_back(
        {site->position,
         llvm::formatv("thread{0} {1} wait{2} here, at '{3}'",
                       waiting.size() == 1 ? "" : "s", listThreads(waiting),
                       waiting.size() == 1 ? "s" : "", site->name)});
  if (!ended.empty())
    report.notes.push_back(
        {report.position,
         llvm::formatv("thread{0} {1} {2} ended", ended.size() == 1 ? "" : "s",
                       listThreads(ended),
                       ended.size() == 1 ? "has" : "have")});
}

Report Block::describeStop() {
  Report report;
  const Thread *first = &*llvm::find_if(
      threads, [](const Thread &thread) { return !thread.done; });
  const Meeting *open = nullptr;
  for (const Warp &warp : warps)
    if (!open && !warp.meetings.empty()) {
      open = &warp.meetings.front();
      first = &warp.threads[llvm::countr_zero(open->arrived)];
    }
  report.thread = first->id;
  report.position = first->waiting->position;
  if (open) {
    std::vector<const Thread *> missing;
    for (uint64_t rest = open->members & ~open->arrived; rest; rest &= rest - 1)
      missing.push_back(&first->warp->threads[llvm::countr_zero(rest)]);
    report.message = llvm::formatv(
        "not all lanes come to '{0}': thread{1} {2} of the same warp never do",
        open->site->name, missing.size() == 1 ? "" : "s", listThreads(missing));
  } else {
    report.message = "deadlock: no thread of the block can go on";
  }
  listWaiting(report);
  return report;
}
