// RUN: not tile-opt %s -tile-expand-attention 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NO-CHIP
// RUN: not tile-opt %s -tile-apply-schedule='schedule="tile = [64, 64], warps = 8"' -tile-expand-attention 2>&1 \
// RUN:   | FileCheck %s --check-prefix=WARPS
// RUN: not tile-opt %s -tile-apply-schedule='schedule="tile = [64, 40], warps = 4"' -tile-expand-attention 2>&1 \
// RUN:   | FileCheck %s --check-prefix=KEYS
// RUN: not tile-opt %s -tile-attach-target=chip=sm_80 -tile-apply-schedule='schedule="producers = 4"' -tile-expand-attention 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TMA
// RUN: not tile-opt %s -tile-attach-target=chip=sm_90a -tile-apply-schedule='schedule="registers = [232, 40]"' -tile-expand-attention 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REGISTERS
// RUN: not tile-opt %s -tile-attach-target=chip=sm_90a -tile-apply-schedule='schedule="turns, warps = 4"' -tile-expand-attention 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TURNS
// RUN: not tile-opt %s -tile-attach-target=chip=sm_90a -tile-apply-schedule='schedule="warps = 30"' -tile-expand-attention 2>&1 \
// RUN:   | FileCheck %s --check-prefix=MOST
// RUN: not tile-opt %s -tile-attach-target=chip=sm_80 -tile-apply-schedule='schedule="storers = 3"' -tile-expand-attention 2>&1 \
// RUN:   | FileCheck %s --check-prefix=STORERS

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

// STORERS: --schedule:1:1: error: the schedule of no kernel of the program has field 'storers'
// NO-CHIP: [[@LINE+8]]:3: error: no target chip: set tile.target on the module (pass tile-attach-target)
// WARPS: [[@LINE+7]]:3: error: 'tile.attention' op 'tile = [64, 64]' of its schedule with 8 warps must have rows or keys that are a multiple of 128
// KEYS: [[@LINE+6]]:3: error: 'tile.attention' op 'tile = [64, 40]' of its schedule with 4 warps must be multiples of 8 and 16
// TMA: [[@LINE+5]]:3: error: 'tile.attention' op 'producers = 4' of a schedule needs TMA, which sm_80 does not have
// REGISTERS: [[@LINE+4]]:3: error: 'tile.attention' op 'registers' of a schedule give the threads of 20 warps 123904 registers in all; they start with 61440, 96 each
// TURNS: --schedule:1:1: error: 'turns' of a schedule needs two warpgroups of 4 warps or more, got 4 warps
// MOST: [[@LINE+2]]:3: error: 'tile.attention' op a schedule with 30 warps and 4 of other roles has 34 warps; a block has at most 32
func.func @attention(%q: !q, %k: !q, %v: !q, %o: !q, %scale: f32) {
  tile.attention %q, %k, %v, %o scale %scale : !q, !q, !q, !q
  return
}
