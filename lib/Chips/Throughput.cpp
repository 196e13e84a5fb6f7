//===- Throughput.cpp - What a multiprocessor does in a cycle -------------===//
//
// Sources: CUDA C++ Programming Guide, "Throughput of Native Arithmetic
// Instructions" and "Compute Capabilities"; NVIDIA's white papers on A100, Ada
// and H100; AMD's white papers on CDNA3, CDNA4 and RDNA3, the ISA guides (512
// registers a lane in each of 4 SIMDs of CDNA; 1536 in each of 2 SIMDs of RDNA)
// and the data sheet of the RX 9070 XT. The rate of MMAs is the dense peak by
// multiprocessors and boost clock: 989.4e12 / (132 * 1.83e9) = 4096 on H100
// SXM. A transcendental instruction has a quarter of the lanes of a SIMD on
// AMD. The second-level cache of A100 gives 5120 bytes a clock, that of a CDNA3
// die 2048 to 38 compute units; sm_90a is fitted to matrix products
// (docs/notes/cost-model.md), and the others are assumed.
//
//===----------------------------------------------------------------------===//
#include "tile/Chips/Throughput.h"
#include "llvm/ADT/STLExtras.h"
#include <cassert>

using namespace tile;

// clang-format off
static constexpr Throughput table[] = {
    // chip      matrix arithmetic exp shared cache registers threads
    {"sm_80",    2048,  64,        16, 128,   47,   65536,    2048},
    {"sm_89",    1024,  128,       16, 128,   32,   65536,    1536},
    {"sm_90a",   4096,  128,       16, 128,   64,   65536,    2048},
    {"gfx942",   2048,  128,       16, 128,   53,   131072,   2048},
    {"gfx950",   4096,  128,       16, 128,   64,   131072,   2048},
    {"gfx1100",  512,   128,       16, 128,   24,   98304,    1024},
    {"gfx1201",  1024,  128,       16, 128,   32,   98304,    1024},
};
// clang-format on

const Throughput &tile::getThroughput(const Chip &chip) {
  const Throughput *row = llvm::find_if(
      table, [&](const Throughput &row) { return row.chip == chip.name; });
  assert(row != std::end(table) && "every chip has a row");
  return *row;
}
