// RUN: not tile-opt %s -tile-expand-attention 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NO-CHIP
// RUN: not tile-opt %s -tile-expand-attention="block-m=64 block-n=64 num-warps=8" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=WARPS
// RUN: not tile-opt %s -tile-expand-attention="block-m=64 block-n=40 num-warps=4" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=KEYS
// RUN: not tile-opt %s -tile-expand-attention="block-m=-64 block-n=64 num-warps=4" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NEGATIVE
// RUN: not tile-opt %s -tile-expand-attention="block-m=64 block-n=64 num-warps=4 query-warps=3" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=UNEVEN
// RUN: not tile-opt %s -tile-expand-attention="block-m=64 block-n=64 num-warps=4 query-warps=-1" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NONE

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

// UNEVEN: [[@LINE+7]]:3: error: 'tile.attention' op query-warps = 3 does not divide num-warps = 4
// NONE: [[@LINE+6]]:3: error: 'tile.attention' op query-warps = -1 does not divide num-warps = 4
// NO-CHIP: [[@LINE+5]]:3: error: no target chip: set tile.target on the module (pass tile-attach-target)
// WARPS: [[@LINE+4]]:3: error: 'tile.attention' op block-m = 64, block-n = 64, num-warps = 8: block-m must be a multiple of 16 * num-warps, block-n one of 16, both at most 1024, and num-warps at most 32
// KEYS: [[@LINE+3]]:3: error: 'tile.attention' op block-m = 64, block-n = 40, num-warps = 4: block-m must be
// NEGATIVE: [[@LINE+2]]:3: error: 'tile.attention' op block-m = -64, block-n = 64, num-warps = 4: block-m must be
func.func @attention(%q: !q, %k: !q, %v: !q, %o: !q, %scale: f32) {
  tile.attention %q, %k, %v, %o scale %scale : !q, !q, !q, !q
  return
}
