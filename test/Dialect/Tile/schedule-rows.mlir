// Rows of schedules and their patterns round-trip.
// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt | FileCheck %s
// RUN: tile-opt %s --emit-bytecode | tile-opt | FileCheck %s
// RUN: tile-opt %s --verify-roundtrip -o %t

// CHECK: tile.schedule_row <products from 4, head from 65 to 128, value to 64, bits = 16, mask = window, softcap, packed = false, atomic_results, merge = false, parts, pack_heads = false, key_lengths, keys from 2048> use <tile = [64, 128], warps = 8>
tile.schedule_row <key_lengths, pack_heads = false, parts, merge = false, atomic_results = true, packed = false, softcap, mask = window,
    bits = 16, value to 64, keys from 2048, head from 65 to 128, products from 4> use <tile = [64, 128], warps = 8>

// CHECK: tile.schedule_row <> use <tile = [64, 64], warps = 4, producers = 4, turns = false>
#s = #tile.schedule<tile = [64, 64], warps = 4, producers = 4, turns = false>
tile.schedule_row <> use #s

// CHECK: tile.include_schedules "sm_80"
tile.include_schedules "sm_80"

// CHECK: #tile.kernel_pattern<mask = none>
// CHECK-SAME: #tile.kernel_pattern<mask = causal>
func.func private @f() attributes {a = #tile.kernel_pattern<mask = none>, b = #tile.kernel_pattern<mask = causal>}
