//===- Builtins.cpp - Instructions that both vendors have -----------------===//

#include "Builtins.h"

using namespace tile::cpu;

llvm::Error tile::cpu::decodeDimension(const llvm::CallBase &, Site &site) {
  site.immediate = site.name.back() - 'x';
  if (site.immediate < 0 || site.immediate > 2)
    return llvm::createStringError("no dimension");
  return llvm::Error::success();
}

void tile::cpu::readThreadIndex(Thread &thread, const Call &call) {
  call.setResult<uint32_t>(thread.index[call.site->immediate]);
}
void tile::cpu::readBlockIndex(Thread &thread, const Call &call) {
  call.setResult<uint32_t>(thread.block->index[call.site->immediate]);
}
void tile::cpu::readBlockSize(Thread &thread, const Call &call) {
  const Launch &launch = thread.block->launch;
  unsigned dim = call.site->immediate, size = launch.block[dim];
  call.setResult<uint32_t>(dim == 0 ? size / launch.clusterBlocks : size);
}
void tile::cpu::readGridSize(Thread &thread, const Call &call) {
  call.setResult<uint32_t>(thread.block->launch.grid[call.site->immediate]);
}
void tile::cpu::readLane(Thread &thread, const Call &call) {
  call.setResult<uint32_t>(thread.lane);
}
void tile::cpu::readWarp(Thread &thread, const Call &call) {
  call.setResult<uint32_t>(thread.warp->inBlock);
}
void tile::cpu::readWarpSize(Thread &thread, const Call &call) {
  call.setResult<uint32_t>(thread.block->launch.warpSize);
}

void tile::cpu::waitForBlock(Thread &thread, const Site &site, unsigned id) {
  uint64_t phase = thread.block->arrive(thread, site, id, 0);
  thread.block->waitBarrier(thread, site, id, phase);
}

void tile::cpu::signalBarrier(Thread &thread, const Call &call) {
  thread.signalled = thread.block->arrive(thread, *call.site, 0, 0);
}

void tile::cpu::awaitBarrier(Thread &thread, const Call &call) {
  uint64_t phase = takeSignalled(thread, call);
  thread.block->waitBarrier(thread, *call.site, 0, phase);
}

uint64_t tile::cpu::takeSignalled(Thread &thread, const Call &call) {
  if (!thread.signalled)
    thread.block->fail(thread, *call.site, [] {
      return Report("waits at a barrier that it has not signalled");
    });
  return *std::exchange(thread.signalled, std::nullopt);
}

void tile::cpu::doNothing(Thread &, const Call &) {}

float tile::cpu::flushSubnormal(float x) {
  return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x;
}
float tile::cpu::exp2Flush(float x) {
  return flushSubnormal(std::exp2(flushSubnormal(x)));
}
float tile::cpu::log2Flush(float x) { return std::log2(flushSubnormal(x)); }
float tile::cpu::reciprocalFlush(float x) {
  return flushSubnormal(1 / flushSubnormal(x));
}
float tile::cpu::reciprocalSqrtFlush(float x) {
  return 1 / std::sqrt(flushSubnormal(x));
}
float tile::cpu::sqrtFlush(float x) { return std::sqrt(flushSubnormal(x)); }
