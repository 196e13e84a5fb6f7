// The schedules of kernels, loops and functions round-trip through text, the generic
// form and bytecode. Fields print in one order.
// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt | FileCheck %s
// RUN: tile-opt %s --emit-bytecode | tile-opt | FileCheck %s
// RUN: tile-opt %s --verify-roundtrip -o %t

// CHECK-LABEL: func.func private @all
// CHECK-SAME: #tile.schedule<tile = [128, 176], pack_heads = 8, warps = 8, column_warps = 2, producers = 1, storers = 3, registers = [232, 40], stages = 2, work_stages = 2, in_flight = 2, turns, save_registers>
// CHECK-SAME: #tile.schedule<producers = 0, turns = false, save_registers = false>
// CHECK-SAME: #tile.schedule<tile = [64, 16]>
// CHECK-SAME: #tile.schedule<stages = 2, split = 4, order = groups<8>, params = {BK = 64, BM = 128}>
// CHECK-SAME: #tile.schedule<order = groups<16, 4>>
// CHECK-SAME: #tile.schedule<order = plain>
func.func private @all() attributes {
  all = #tile.schedule<save_registers, turns, in_flight = 2, work_stages = 2, stages = 2, registers = [232, 40],
    storers = 3, producers = 1, column_warps = 2, warps = 8, pack_heads = 8, tile = [128, 176]>,
  one = #tile.schedule<tile = [64, 16]>,
  open = #tile.schedule<params = {BM = 128, BK = 64}, order = groups<8>, split = 4, stages = 2>,
  panels = #tile.schedule<order = groups<16, 4>>,
  plain = #tile.schedule<order = plain>,
  off = #tile.schedule<turns = false, save_registers = false, producers = 0>}

// CHECK-LABEL: tile.kernel @kernel
// CHECK-SAME: attributes {num_warps = 8 : i32, schedule = #tile.schedule<producers = 4, registers = [232, 40], stages = 3, turns>}
// CHECK: } {tile.schedule = #tile.schedule<stages = 3>}
tile.kernel @kernel() attributes {num_warps = 8 : i32,
    schedule = #tile.schedule<producers = 4, registers = [232, 40], stages = 3, turns = true>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  scf.for %i = %c0 to %c1 step %c1 {
  } {tile.schedule = #tile.schedule<stages = 3>}
}

// CHECK-LABEL: func.func private @function
// CHECK-SAME: tile.schedule = #tile.schedule<save_registers>
func.func private @function() attributes {tile.schedule = #tile.schedule<save_registers = true>}
