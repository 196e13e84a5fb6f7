// RUN: tile-opt %s -split-input-file -verify-diagnostics

// expected-error@+1 {{a schedule has no field 'warp'; its fields are tile, pack_heads, warps, column_warps, consumer_groups, producers, storers, registers, stages, work_stages, in_flight, turns, save_registers, keep_loops, late_products, split, cluster_split, stream_k, order, params}}
func.func private @f() attributes {s = #tile.schedule<warp = 4>}

// -----
// expected-error@+1 {{field 'stages' comes twice}}
func.func private @f() attributes {s = #tile.schedule<stages = 2, stages = 3>}

// -----
// expected-error@+1 {{field 'tile' of a schedule lies in 1 .. 1024, got 0}}
func.func private @f() attributes {s = #tile.schedule<tile = [0, 64]>}

// -----
// expected-error@+1 {{field 'tile' of a schedule lies in 1 .. 1024, got 2048}}
func.func private @f() attributes {s = #tile.schedule<tile = [64, 2048]>}

// -----
// expected-error@+1 {{field 'warps' of a schedule lies in 1 .. 256, got 257}}
func.func private @f() attributes {s = #tile.schedule<warps = 257>}

// -----
// expected-error@+1 {{field 'column_warps' of a schedule lies in 1 .. 32, got 0}}
func.func private @f() attributes {s = #tile.schedule<column_warps = 0>}

// -----
// expected-error@+1 {{field 'producers' of a schedule lies in 0 .. 32, got -1}}
func.func private @f() attributes {s = #tile.schedule<producers = -1>}

// -----
// expected-error@+1 {{field 'storers' of a schedule lies in 0 .. 32, got 40}}
func.func private @f() attributes {s = #tile.schedule<storers = 40>}

// -----
// expected-error@+1 {{field 'registers' of a schedule lies in 24 .. 256 and is a multiple of 8, got 44}}
func.func private @f() attributes {s = #tile.schedule<registers = [232, 44]>}

// -----
// expected-error@+1 {{field 'registers' of a schedule lies in 24 .. 256 and is a multiple of 8, got 264}}
func.func private @f() attributes {s = #tile.schedule<registers = [264, 40]>}

// -----
// expected-error@+1 {{field 'registers' of a schedule lies in 24 .. 256 and is a multiple of 8, got 16}}
func.func private @f() attributes {s = #tile.schedule<registers = [232, 16]>}

// -----
// expected-error@+1 {{field 'stages' of a schedule lies in 1 .. 32, got 0}}
func.func private @f() attributes {s = #tile.schedule<stages = 0>}

// -----
// expected-error@+1 {{field 'work_stages' of a schedule lies in 0 .. 2, got 3}}
func.func private @f() attributes {s = #tile.schedule<work_stages = 3>}

// -----
// expected-error@+1 {{field 'split' of a schedule lies in 1 .. 64, got 65}}
func.func private @f() attributes {s = #tile.schedule<split = 65>}

// -----
// expected-error@+1 {{expected true or false}}
func.func private @f() attributes {s = #tile.schedule<turns = 1>}

// -----
// expected-error@+1 {{'column_warps' of a schedule is 3, which does not divide its 8 warps}}
func.func private @f() attributes {s = #tile.schedule<warps = 8, column_warps = 3>}

// -----
// expected-error@+1 {{a schedule with 24 warps and 9 of other roles has 33 warps; a block has at most 32}}
func.func private @f() attributes {s = #tile.schedule<warps = 24, producers = 8, storers = 1>}

// -----
// expected-error@+1 {{'turns' of a schedule needs two warpgroups of 4 warps or more, got 4 warps}}
func.func private @f() attributes {s = #tile.schedule<warps = 4, turns>}

// -----
// expected-error@+1 {{'turns' of a schedule needs two warpgroups of 4 warps or more, got 10 warps}}
func.func private @f() attributes {s = #tile.schedule<warps = 10, turns>}

// -----
// expected-error@+1 {{'registers' of a schedule are those of warpgroups of 4 warps, got 6 warps and 4 of other roles}}
func.func private @f() attributes {s = #tile.schedule<warps = 6, producers = 4, registers = [232, 40]>}

// -----
// expected-error@+1 {{'registers' of a schedule are those of warpgroups of 4 warps, got 8 warps and 3 of other roles}}
func.func private @f() attributes {s = #tile.schedule<warps = 8, producers = 1, storers = 2, registers = [232, 40]>}

// -----
// expected-error@+1 {{'registers' of a schedule give the threads of 12 warps 66560 registers in all; they start with 64512, 168 each}}
func.func private @f() attributes {s = #tile.schedule<warps = 8, producers = 4, registers = [240, 40]>}

// -----
// expected-error@+1 {{field 'storers' of a schedule needs roles: 'producers' is 0}}
func.func private @f() attributes {s = #tile.schedule<producers = 0, storers = 3>}

// -----
// expected-error@+1 {{field 'registers' of a schedule needs roles: 'producers' is 0}}
func.func private @f() attributes {s = #tile.schedule<producers = 0, registers = [232, 40]>}

// -----
// expected-error@+1 {{field 'work_stages' of a schedule needs roles: 'producers' is 0}}
func.func private @f() attributes {s = #tile.schedule<producers = 0, work_stages = 1>}

// -----
// expected-error@+1 {{field 'in_flight' of a schedule lies in 1 .. 2, got 3}}
func.func private @f() attributes {s = #tile.schedule<in_flight = 3>}

// -----
// expected-error@+1 {{field 'in_flight' of a schedule needs roles: 'producers' is 0}}
func.func private @f() attributes {s = #tile.schedule<producers = 0, in_flight = 2>}

// -----
// expected-error@+1 {{field 'work_stages' of a schedule needs two products in flight: 'in_flight' is 1}}
func.func private @f() attributes {s = #tile.schedule<work_stages = 1, in_flight = 1>}

// -----
// expected-error@+1 {{field 'stream_k' of a schedule lies in 2 .. 4096, got 1}}
func.func private @f() attributes {s = #tile.schedule<stream_k = 1>}

// -----
// expected-error@+1 {{'split' and 'stream_k' of a schedule contradict each other}}
func.func private @f() attributes {s = #tile.schedule<split = 2, stream_k = 132>}

// -----
// expected-error@+1 {{'split' and 'cluster_split' of a schedule contradict each other}}
func.func private @f() attributes {s = #tile.schedule<split = 2, cluster_split = 2>}

// -----
// expected-error@+1 {{'cluster_split' and 'stream_k' of a schedule contradict each other}}
func.func private @f() attributes {s = #tile.schedule<cluster_split = 2, stream_k = 132>}

// -----
// expected-error@+1 {{field 'cluster_split' of a schedule lies in 2 .. 8, got 16}}
func.func private @f() attributes {s = #tile.schedule<cluster_split = 16>}

// -----
// expected-error@+1 {{field 'turns' of a schedule needs roles: 'producers' is 0}}
func.func private @f() attributes {s = #tile.schedule<producers = 0, turns>}

// -----
// expected-error@+1 {{field 'save_registers' of a schedule needs roles: 'producers' is 0}}
func.func private @f() attributes {s = #tile.schedule<producers = 0, save_registers>}

// -----
// expected-error@+1 {{'tile.kernel' op the schedule of a kernel has no field 'tile', only consumer_groups, producers, storers, registers, stages, work_stages, turns, save_registers, keep_loops, late_products, split, cluster_split, stream_k, order, params}}
tile.kernel @f() attributes {num_warps = 8 : i32, schedule = #tile.schedule<tile = [64, 64]>} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}

// -----
// expected-error@+1 {{'tile.kernel' op the schedule of a kernel has no field 'warps', only consumer_groups, producers, storers, registers, stages, work_stages, turns, save_registers, keep_loops, late_products, split, cluster_split, stream_k, order, params}}
tile.kernel @f() attributes {num_warps = 8 : i32, schedule = #tile.schedule<warps = 8>} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}

// -----
// expected-error@+1 {{'tile.kernel' op field 'storers' of a schedule needs roles: 'producers' is 0}}
tile.kernel @f() attributes {num_warps = 8 : i32, schedule = #tile.schedule<storers = 3>} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}

// -----
// expected-error@+1 {{'tile.kernel' op field 'registers' of a schedule needs roles: 'producers' is 0}}
tile.kernel @f() attributes {num_warps = 8 : i32, schedule = #tile.schedule<registers = [232, 40]>} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}

// -----
// expected-error@+1 {{'tile.kernel' op 'turns' of a schedule needs two warpgroups of 4 warps or more, got 4 warps}}
tile.kernel @f() attributes {num_warps = 4 : i32, schedule = #tile.schedule<turns>} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}

// -----
// expected-error@+1 {{'tile.kernel' op a schedule with 8 warps and 25 of other roles has 33 warps; a block has at most 32}}
tile.kernel @f() attributes {num_warps = 8 : i32, schedule = #tile.schedule<producers = 25>} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}

// -----
// expected-error@+1 {{'tile.kernel' op 'registers' of a schedule give the threads of 12 warps 66560 registers in all; they start with 64512, 168 each}}
tile.kernel @f() attributes {num_warps = 8 : i32, schedule = #tile.schedule<producers = 4, registers = [240, 40]>} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}

// -----
// expected-error@+1 {{'tile.kernel' op cannot have tile.schedule, which is for scf.for; kernels have 'schedule'}}
tile.kernel @f() attributes {num_warps = 8 : i32, tile.schedule = #tile.schedule<producers = 4>} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}

// -----
// expected-error@+1 {{'tile.kernel' op attribute 'schedule' failed to satisfy constraint}}
tile.kernel @f() attributes {num_warps = 8 : i32, schedule = 4 : i64} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}

// -----
func.func @loop(%n: index) {
  // expected-error@+1 {{'scf.for' op the schedule of a loop has no field 'producers', only stages, keep_loops}}
  scf.for %i = %n to %n step %n {
  } {tile.schedule = #tile.schedule<producers = 4>}
  return
}

// -----
func.func @number(%n: index) {
  // expected-error@+1 {{'scf.for' op tile.schedule must be a #tile.schedule, got 2 : i64}}
  scf.for %i = %n to %n step %n {
  } {tile.schedule = 2 : i64}
  return
}

// -----
// expected-error@+1 {{'func.func' op the schedule of a function has no field 'stages', only save_registers}}
func.func private @function() attributes {tile.schedule = #tile.schedule<stages = 2>}

// -----
// expected-error@+1 {{'builtin.module' op cannot have tile.schedule, which is for scf.for; kernels have 'schedule'}}
module attributes {tile.schedule = #tile.schedule<stages = 2>} {
}

// -----
func.func @unknown(%n: index) {
  // expected-error@+1 {{'scf.for' op has the unknown attribute "tile.stages"}}
  scf.for %i = %n to %n step %n {
  } {tile.stages = 2 : i64}
  return
}

// -----
// expected-error@+1 {{'tile.kernel' op has the unknown attribute "tile.producer_warps"}}
tile.kernel @unknown() attributes {num_warps = 4 : i32, tile.producer_warps = 4 : i64} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}

// -----
// expected-error@+1 {{parameter 'BM' comes twice}}
func.func private @f() attributes {s = #tile.schedule<params = {BM = 64, BM = 128}>}

// -----
// expected-error@+1 {{expected integer value}}
func.func private @f() attributes {s = #tile.schedule<params = {BM = x}>}

// -----
// expected-error@+1 {{expected 'plain', 'groups<n>' or 'groups<n, m>'}}
func.func private @f() attributes {s = #tile.schedule<order = columns>}

// -----
// expected-error@+1 {{field 'order' of a schedule has groups of 1 .. 65536 blocks, got 0}}
func.func private @f() attributes {s = #tile.schedule<order = groups<0>>}

// -----
// expected-error@+1 {{field 'order' of a schedule has panels of 1 .. 65536 blocks, got 65537}}
func.func private @f() attributes {s = #tile.schedule<order = groups<8, 65537>>}

// -----
// expected-error@+1 {{field 'order' comes twice}}
func.func private @f() attributes {s = #tile.schedule<order = plain, order = groups<8>>}

// -----

// expected-error@+1 {{field 'consumer_groups' of a schedule lies in 1 .. 2, got 3}}
func.func private @f() attributes {s = #tile.schedule<consumer_groups = 3>}

// -----

// expected-error@+1 {{field 'consumer_groups' of a schedule needs roles: 'producers' is 0}}
func.func private @f() attributes {s = #tile.schedule<consumer_groups = 2, producers = 0>}

// -----

// expected-error@+1 {{'turns' and 'consumer_groups' of a schedule contradict each other}}
func.func private @f() attributes {s = #tile.schedule<warps = 8, consumer_groups = 2, turns>}

// -----

// expected-error@+1 {{a schedule with 32 warps and 1 of other roles has 33 warps; a block has at most 32}}
func.func private @f() attributes {s = #tile.schedule<warps = 16, consumer_groups = 2, producers = 1>}
