// The loops of attention on AMD.

// RUN: tile-translate --tile-to-hsaco --chip=gfx942 %tile_src_root/examples/forward.mlir --resources -o %t.gfx942 > %t.gfx942.json
// RUN: FileCheck %s --input-file=%t.gfx942.json --check-prefix=WAVE64
// RUN: tile-translate --tile-to-hsaco --chip=gfx1201 %tile_src_root/examples/forward.mlir --resources -o %t.gfx1201 > %t.gfx1201.json
// RUN: FileCheck %s --input-file=%t.gfx1201.json --check-prefix=WAVE32

// 128 MFMAs of 2 * 16 * 16 * 16 operations, 512 in a cycle: 2048 cycles.
// WAVE64: "loops":[{"cycles":{"bound":2048,"matrix":2048,"shared":1344,"transcendental":544,
// WAVE64-SAME: "instructions":{"branch":1,"matrix":128,"memory":8,{{[^}]*}}"shared":48,"transcendental":34,
// WAVE64-SAME: "name":"attention"
// WAVE64-SAME: "waves_per_simd":1}

// 32 WMMAs of 2 * 16 * 16 * 16 operations, 512 in a cycle: 512 cycles. They add
// to those of the other vector instructions: 512 + 170 + 68.
// WAVE32: "loops":[{"cycles":{"bound":750,"matrix":512,"shared":320,"transcendental":68,"vector":170}
// WAVE32-SAME: "instructions":{"branch":1,"matrix":32,"memory":8,{{[^}]*}}"shared":40,"transcendental":17,"vector":170,
// WAVE32-SAME: "name":"attention"
// WAVE32-SAME: "waves_per_simd":6}
