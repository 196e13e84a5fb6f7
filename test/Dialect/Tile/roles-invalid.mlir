// RUN: tile-opt %s -split-input-file -verify-diagnostics

tile.kernel @first_role() attributes {num_warps = 4 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // expected-error @below {{'tile.warp_roles' op the first role has 8 warps, the kernel 4}}
  tile.warp_roles warps = [8, 4] {
    %a = arith.constant 0 : i32
  }, {
    %b = arith.constant 0 : i32
  }
}

// -----

tile.kernel @counts() attributes {num_warps = 4 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // expected-error @below {{'tile.warp_roles' op has 1 roles and the warps of 2}}
  tile.warp_roles warps = [4, 4] {
    %a = arith.constant 0 : i32
  }
}

// -----

tile.kernel @too_many_warps() attributes {num_warps = 30 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // expected-error @below {{'tile.warp_roles' op has 34 warps; a block has at most 32}}
  tile.warp_roles warps = [30, 4] {
    %a = arith.constant 0 : i32
  }, {
    %b = arith.constant 0 : i32
  }
}

// -----

tile.kernel @odd_registers() attributes {num_warps = 4 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // expected-error @below {{'tile.warp_roles' op registers are multiples of 8 in 24 .. 256, got 20}}
  tile.warp_roles warps = [4, 4] registers = [240, 20] {
    %a = arith.constant 0 : i32
  }, {
    %b = arith.constant 0 : i32
  }
}

// -----

tile.kernel @few_warps() attributes {num_warps = 4 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // expected-error @below {{'tile.warp_roles' op only 4 warps at a time change their registers; the block has 5 warps}}
  tile.warp_roles warps = [4, 1] registers = [240, 24] {
    %a = arith.constant 0 : i32
  }, {
    %b = arith.constant 0 : i32
  }
}

// -----

tile.kernel @shared_group() attributes {num_warps = 4 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // expected-error @below {{'tile.warp_roles' op only 4 warps at a time change their registers; roles 1 and 2 share such a group and have 24 and 32}}
  tile.warp_roles warps = [4, 1, 3] registers = [128, 24, 32] {
    %a = arith.constant 0 : i32
  }, {
    %b = arith.constant 0 : i32
  }, {
    %c = arith.constant 0 : i32
  }
}

// -----

tile.kernel @all_registers() attributes {num_warps = 8 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // expected-error @below {{'tile.warp_roles' op gives its threads 65536 registers in all; they start with 64512, 168 each}}
  tile.warp_roles warps = [8, 4] registers = [232, 48] {
    %a = arith.constant 0 : i32
  }, {
    %b = arith.constant 0 : i32
  }
}

// -----

tile.kernel @tiles_in_one_thread() attributes {num_warps = 4 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  tile.warp_roles warps = [4, 4] {
    %a = arith.constant 0 : i32
  }, {
    // expected-error @below {{'arith.constant' op needs the warps of the first role; any other runs in one thread}}
    %b = arith.constant dense<0.0> : tensor<64xf32>
  }
}

// -----

!q = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!t = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>

tile.kernel @copies_in_one_thread(%q: !q) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %t = tile.alloc : !t
  tile.warp_roles warps = [4, 4] {
    %a = arith.constant 0 : i32
  }, {
    // expected-error @below {{'tile.copy' op needs the warps of the first role; any other runs in one thread}}
    tile.copy %q[%c0, %c0], %t : !q, !t
  }
}

// -----

!floats = !tile.buffer<2xf32, #tile.padded<0, order = [0]>, shared>

tile.kernel @not_barriers() {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %b = tile.alloc : !floats
  // expected-error @below {{'tile.init_barriers' op barriers are i64 in a shared buffer of rank 1, got '!tile.buffer<2xf32, #tile.padded<0, order = [0]>, shared>'}}
  tile.init_barriers %b, 1 : !floats
}

// -----

!q = !tile.buffer<?x?x64xf16, #tile.strided<[?:8, ?:4, 1], align = 16>, global>
!tile = !tile.buffer<128x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>

tile.kernel @strides(%q: !q) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !tile
  %b = tile.alloc : !bars
  // expected-error @below {{'tile.bulk_copy' op has no tensor map: stride 1 of the source is no multiple of 16 bytes}}
  tile.bulk_copy %q[%c0, %c0, %c0] dims [0, 2], %t, %b[%c0] : !q, !tile, !bars
}

// -----

!q = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
!tile = !tile.buffer<128x64xf16, #tile.padded<8, order = [1, 0]>, shared>
!bars = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>

tile.kernel @layout(%q: !q) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !tile
  %b = tile.alloc : !bars
  // expected-error @below {{'tile.bulk_copy' op has no tensor map: the tile is not stored as boxes of up to 256 rows of a swizzle's width}}
  tile.bulk_copy %q[%c0, %c0] dims [0, 1], %t, %b[%c0] : !q, !tile, !bars
}

// -----

!q = !tile.buffer<?x?x64xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!s = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
!tile = !tile.buffer<128x64xf16, #tile.swizzle<128>, shared>
!bars = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>

tile.kernel @not_an_argument(%q: !q) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !tile
  %b = tile.alloc : !bars
  %s = tile.slice %q[%c0, *, *] : !q to !s
  // expected-error @below {{'tile.bulk_copy' op copies from an argument of the kernel}}
  tile.bulk_copy %s[%c0, %c0] dims [0, 1], %t, %b[%c0] : !s, !tile, !bars
}

// -----

tile.kernel @async_dot() {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %a = arith.constant dense<0.0> : tensor<64x64xf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-error @below {{'tile.dot' op is asynchronous, which requires a wgmma instruction}}
  %d = tile.dot async %a, %a, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> !tile.pending<tensor<64x64xf32>>
}

// -----

tile.kernel @one_group() attributes {num_warps = 4 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  tile.warp_roles warps = [4, 4] {
    // expected-error @below {{'tile.await_turn' op needs two or more warpgroups of 4 warps; the role has 4 warps}}
    tile.await_turn
    tile.pass_turn
  }, {
    %b = arith.constant 0 : i32
  }
}

// -----

tile.kernel @turn_in_turn() attributes {num_warps = 8 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  tile.warp_roles warps = [8, 4] {
    tile.await_turn
    // expected-error @below {{'tile.await_turn' op begins a turn inside another turn}}
    tile.await_turn
    tile.pass_turn
  }, {
    %b = arith.constant 0 : i32
  }
}

// -----

tile.kernel @no_turn() attributes {num_warps = 8 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  tile.warp_roles warps = [8, 4] {
    // expected-error @below {{'tile.pass_turn' op ends a turn that does not begin in its block}}
    tile.pass_turn
  }, {
    %b = arith.constant 0 : i32
  }
}

// -----

tile.kernel @endless_turn() attributes {num_warps = 8 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  tile.warp_roles warps = [8, 4] {
    // expected-error @below {{'tile.await_turn' op begins a turn that does not end in its block}}
    tile.await_turn
  }, {
    %b = arith.constant 0 : i32
  }
}

// -----

tile.kernel @turn_of_another_role() attributes {num_warps = 8 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  tile.warp_roles warps = [8, 4] {
    %a = arith.constant 0 : i32
  }, {
    // expected-error @below {{'tile.await_turn' op must be in the first role}}
    tile.await_turn
    tile.pass_turn
  }
}

// -----

!x = !tile.buffer<?x?xf32, #tile.strided<[?:4, 1], align = 16>, global>
!row = !tile.buffer<64xf32, #tile.padded<0, order = [0]>, shared>
!bars = !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>

tile.kernel @part_of_a_row(%x: !x) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.alloc : !row
  %b = tile.alloc : !bars
  // expected-error @below {{'tile.bulk_copy' op has no tensor map: the end of one sequence is no multiple of 16 bytes, and neighbours past it are those of the next}}
  tile.bulk_copy %x[%c0, %c0] dims [1] within %c0, %c1, %t, %b[%c0] : !x, !row, !bars
}

// -----

tile.kernel @groups_without_producers() attributes {num_warps = 4 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // expected-error@+1 {{'tile.warp_roles' op groups of consumers, of which there are 2, need another role}}
  tile.warp_roles warps = [4] groups = 2 {
  }
}

// -----

tile.kernel @no_groups() attributes {num_warps = 4 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // expected-error@+1 {{'tile.warp_roles' op groups of consumers, of which there are 0, need another role}}
  tile.warp_roles warps = [4, 1] groups = 0 {
  }, {
  }
}

// -----

tile.kernel @too_many_warps() attributes {num_warps = 16 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // expected-error@+1 {{'tile.warp_roles' op has 33 warps; a block has at most 32}}
  tile.warp_roles warps = [16, 1] groups = 2 {
  }, {
  }
}

// -----

tile.kernel @registers_of_groups() attributes {num_warps = 4 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // expected-error@+1 {{'tile.warp_roles' op gives its threads 67584 registers in all; they start with 64512, 168 each}}
  tile.warp_roles warps = [4, 4] registers = [240, 48] groups = 2 {
  }, {
  }
}

// -----

tile.kernel @group_of_producers() attributes {num_warps = 4 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  tile.warp_roles warps = [4, 1] groups = 2 {
  }, {
    // expected-error@+1 {{'tile.consumer_group' op must be in the first role}}
    %group = tile.consumer_group
  }
}
