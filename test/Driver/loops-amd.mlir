// The loops of attention on AMD.

// RUN: tile-translate --tile-to-hsaco --chip=gfx942 %tile_src_root/examples/forward.mlir --resources -o %t.gfx942 > %t.gfx942.json
// RUN: FileCheck %s --input-file=%t.gfx942.json --check-prefix=WAVE64
// RUN: tile-translate --tile-to-hsaco --chip=gfx1201 %tile_src_root/examples/forward.mlir --resources -o %t.gfx1201 > %t.gfx1201.json
// RUN: FileCheck %s --input-file=%t.gfx1201.json --check-prefix=WAVE32

// A maximum needs no instructions that make signaling NaNs quiet.
// RUN: tile-translate --tile-to-llvmir --chip=gfx1100 %tile_src_root/examples/forward.mlir | FileCheck %s --check-prefix=IEEE
// IEEE: "amdgpu-ieee"="false"

// 64 MFMAs of 2 * 32 * 32 * 8 operations, 512 in a cycle: 2048 cycles.
// WAVE64: "loops":[{"cycles":{"bound":2048,"matrix":2048,"shared":1160,"transcendental":528,
// WAVE64-SAME: "instructions":{"branch":1,"matrix":64,"memory":6,{{[^}]*}}"shared":37,"transcendental":33,
// WAVE64-SAME: "name":"attention"
// WAVE64-SAME: "waves_per_simd":2}

// 64 WMMAs of 2 * 16 * 16 * 16 operations, 512 in a cycle: 1024 cycles. They add
// to those of the other vector instructions. The default order of instructions
// takes all registers, which leaves 4 waves where the LDS has room for 6.
// WAVE32: "loops":[{"cycles":{"bound":1336,"matrix":1024,"shared":576,"transcendental":132,"vector":180}
// WAVE32-SAME: "instructions":{"branch":1,"matrix":64,"memory":8,{{[^}]*}}"shared":72,"transcendental":33,"vector":180,
// WAVE32-SAME: "name":"attention"
// WAVE32-SAME: "waves_per_simd":6}
