// RUN: tile-opt %s -split-input-file \
// RUN:   --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile.kernel(tile-assign-layouts,tile-bufferize,tile-choose-roles))' \
// RUN:   --remarks-filter='tile-choose.*' --remark-format=emitRemark -o %t.mlir 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: tile-opt %s -split-input-file \
// RUN:   --pass-pipeline='builtin.module(tile-attach-target{chip=sm_80},tile.kernel(tile-choose-roles))' \
// RUN:   | FileCheck %s --check-prefix=NOTMA
// NOTMA-NOT: #tile.schedule<producers = 1

!m = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>
!acc = tensor<128x256xf32>

// A block of 9 warps starts with as many registers a thread as one of 12 warps: 168.
// The consumers need more, and a warpgroup of producers gives them its own. Four
// stages leave shared memory for staging buffers for parts of the stored tile.
// REMARK: [Passed] roles-chosen {{.*}}Reason="#tile.schedule<producers = 4, registers = [232, 40], stages = 4>; blocks on a multiprocessor: 1"
// CHECK-LABEL: tile.kernel @large
// CHECK-SAME: schedule = #tile.schedule<producers = 4, registers = [232, 40], stages = 4>
tile.kernel @large(%a: !m, %b: !m, %c: !m, %k: index) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : !acc
  %sum = scf.for %i = %c0 to %k step %c64 iter_args(%s = %zero) -> (!acc) {
    %at = tile.load %a[%c0, %i] : !m -> tensor<128x64xf16>
    %bt = tile.load %b[%i, %c0] : !m -> tensor<64x256xf16>
    %next = tile.dot %at, %bt, %s : tensor<128x64xf16>, tensor<64x256xf16> -> !acc
    scf.yield %next : !acc
  }
  %r = arith.truncf %sum : !acc to tensor<128x256xf16>
  tile.store %r, %c[%c0, %c0] : tensor<128x256xf16>, !m
}

// Without the store there is room for four stages, too.
// CHECK-LABEL: tile.kernel @without_store
// CHECK-SAME: schedule = #tile.schedule<producers = 4, registers = [232, 40], stages = 4>
tile.kernel @without_store(%a: !m, %b: !m, %k: index) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : !acc
  %sum = scf.for %i = %c0 to %k step %c64 iter_args(%s = %zero) -> (!acc) {
    %at = tile.load %a[%c0, %i] : !m -> tensor<128x64xf16>
    %bt = tile.load %b[%i, %c0] : !m -> tensor<64x256xf16>
    %next = tile.dot %at, %bt, %s : tensor<128x64xf16>, tensor<64x256xf16> -> !acc
    scf.yield %next : !acc
  }
}

// The author's fields remain, the others are chosen.
// CHECK-LABEL: tile.kernel @given_producers
// CHECK-SAME: schedule = #tile.schedule<producers = 4, stages = 4>
tile.kernel @given_producers(%a: !m, %b: !m, %k: index) attributes {num_warps = 4 : i32,
    schedule = #tile.schedule<producers = 4>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %i = %c0 to %k step %c64 iter_args(%s = %zero) -> (tensor<64x64xf32>) {
    %at = tile.load %a[%c0, %i] : !m -> tensor<64x64xf16>
    %bt = tile.load %b[%i, %c0] : !m -> tensor<64x64xf16>
    %next = tile.dot %at, %bt, %s : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
}

// CHECK-LABEL: tile.kernel @given_stages
// CHECK-SAME: schedule = #tile.schedule<producers = 1, stages = 2>
tile.kernel @given_stages(%a: !m, %b: !m, %k: index) attributes {num_warps = 4 : i32,
    schedule = #tile.schedule<stages = 2>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %i = %c0 to %k step %c64 iter_args(%s = %zero) -> (tensor<64x64xf32>) {
    %at = tile.load %a[%c0, %i] : !m -> tensor<64x64xf16>
    %bt = tile.load %b[%i, %c0] : !m -> tensor<64x64xf16>
    %next = tile.dot %at, %bt, %s : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
}

// CHECK-LABEL: tile.kernel @no_roles
// CHECK-SAME: schedule = #tile.schedule<producers = 0>
tile.kernel @no_roles(%a: !m, %b: !m, %k: index) attributes {num_warps = 4 : i32,
    schedule = #tile.schedule<producers = 0>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %i = %c0 to %k step %c64 iter_args(%s = %zero) -> (tensor<64x64xf32>) {
    %at = tile.load %a[%c0, %i] : !m -> tensor<64x64xf16>
    %bt = tile.load %b[%i, %c0] : !m -> tensor<64x64xf16>
    %next = tile.dot %at, %bt, %s : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
}

// A loop of one iteration has no copy to run ahead.
// CHECK-LABEL: tile.kernel @once
// CHECK-SAME: {num_warps = 4 : i32} {
tile.kernel @once(%a: !m, %b: !m) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %i = %c0 to %c64 step %c64 iter_args(%s = %zero) -> (tensor<64x64xf32>) {
    %at = tile.load %a[%c0, %i] : !m -> tensor<64x64xf16>
    %bt = tile.load %b[%i, %c0] : !m -> tensor<64x64xf16>
    %next = tile.dot %at, %bt, %s : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
}

// 2 warps have no wgmma: nothing runs beside their products.
// CHECK-LABEL: tile.kernel @synchronous
// CHECK-SAME: {num_warps = 2 : i32} {
tile.kernel @synchronous(%a: !m, %b: !m, %k: index) attributes {num_warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %i = %c0 to %k step %c64 iter_args(%s = %zero) -> (tensor<64x64xf32>) {
    %at = tile.load %a[%c0, %i] : !m -> tensor<64x64xf16>
    %bt = tile.load %b[%i, %c0] : !m -> tensor<64x64xf16>
    %next = tile.dot %at, %bt, %s : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
}

// -----

!m = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>
!acc = tensor<128x368xf32>

// The consumers need more registers than a block of 9 warps starts with: a warpgroup
// of producers gives them its own.
// REMARK: [Passed] roles-chosen {{.*}}Reason="#tile.schedule<producers = 4, registers = [232, 40], stages = 3>; blocks on a multiprocessor: 1"
// CHECK-LABEL: tile.kernel @exchange
// CHECK-SAME: schedule = #tile.schedule<producers = 4, registers = [232, 40], stages = 3>
tile.kernel @exchange(%a: !m, %b: !m, %k: index) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : !acc
  %sum = scf.for %i = %c0 to %k step %c64 iter_args(%s = %zero) -> (!acc) {
    %at = tile.load %a[%c0, %i] : !m -> tensor<128x64xf16>
    %bt = tile.load %b[%i, %c0] : !m -> tensor<64x368xf16>
    %next = tile.dot %at, %bt, %s : tensor<128x64xf16>, tensor<64x368xf16> -> !acc
    scf.yield %next : !acc
  }
}

// -----

!m = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>
!acc = tensor<512x128xf32>

// REMARK: [Missed] roles-not-chosen {{.*}}Reason="a consumer thread needs about 136 registers, of 112"
// CHECK-LABEL: tile.kernel @registers
// CHECK-SAME: {num_warps = 16 : i32} {
tile.kernel @registers(%a: !m, %b: !m, %k: index) attributes {num_warps = 16 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : !acc
  %sum = scf.for %i = %c0 to %k step %c64 iter_args(%s = %zero) -> (!acc) {
    %at = tile.load %a[%c0, %i] : !m -> tensor<512x64xf16>
    %bt = tile.load %b[%i, %c0] : !m -> tensor<64x128xf16>
    %next = tile.dot %at, %bt, %s : tensor<512x64xf16>, tensor<64x128xf16> -> !acc
    scf.yield %next : !acc
  }
}

// -----

!m = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>

// REMARK: [Missed] roles-not-chosen {{.*}}Reason="the kernel writes its source"
// CHECK-LABEL: tile.kernel @written
// CHECK-SAME: {num_warps = 4 : i32} {
tile.kernel @written(%a: !m, %b: !m, %k: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %i = %c0 to %k step %c64 iter_args(%s = %zero) -> (tensor<64x64xf32>) {
    %at = tile.load %a[%c0, %i] : !m -> tensor<64x64xf16>
    %bt = tile.load %b[%i, %c0] : !m -> tensor<64x64xf16>
    %next = tile.dot %at, %bt, %s : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %r = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xf16>
  tile.store %r, %b[%c0, %c0] : tensor<64x64xf16>, !m
}

// -----

!m = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>

// REMARK: [Missed] roles-not-chosen {{.*}}Reason="with 2 stages the kernel takes 327824 bytes of shared memory; sm_90a has 232448"
// CHECK-LABEL: tile.kernel @memory
// CHECK-SAME: {num_warps = 4 : i32} {
tile.kernel @memory(%a: !m, %b: !m, %k: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<64x256xf32>
  %sum = scf.for %i = %c0 to %k step %c256 iter_args(%s = %zero) -> (tensor<64x256xf32>) {
    %at = tile.load %a[%c0, %i] : !m -> tensor<64x256xf16>
    %bt = tile.load %b[%i, %c0] : !m -> tensor<256x256xf16>
    %next = tile.dot %at, %bt, %s : tensor<64x256xf16>, tensor<256x256xf16> -> tensor<64x256xf32>
    scf.yield %next : tensor<64x256xf32>
  }
}

// -----

!m = !tile.buffer<?x64xf16, #tile.strided<[?:8, 1], align = 16>, global>
!n = !tile.buffer<?x192xf16, #tile.strided<[?:8, 1], align = 16>, global>
!acc = tensor<128x192xf32>

// Two blocks of 4 warps run on a multiprocessor, but only one of 5 warps.
// REMARK: [Missed] roles-not-chosen {{.*}}Reason="a multiprocessor has registers for 2 blocks without producer warps, and for 1 with them"
// CHECK-LABEL: tile.kernel @alone
// CHECK-SAME: {num_warps = 4 : i32} {
tile.kernel @alone(%a: !m, %b: !n, %k: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : !acc
  %sum = scf.for %i = %c0 to %k step %c64 iter_args(%s = %zero) -> (!acc) {
    %at = tile.load %a[%i, %c0] : !m -> tensor<128x64xf16>
    %bt = tile.load %b[%i, %c0] : !n -> tensor<64x192xf16>
    %next = tile.dot %at, %bt, %s : tensor<128x64xf16>, tensor<64x192xf16> -> !acc
    scf.yield %next : !acc
  }
}

// -----

!m = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>
!acc = tensor<128x192xf32>

// The same product, but rows may end within a vector of elements: threads would copy
// element by element.
// REMARK: [Passed] roles-chosen {{.*}}Reason="#tile.schedule<producers = 1, stages = 4>; blocks on a multiprocessor: 1"
// CHECK-LABEL: tile.kernel @elements
// CHECK-SAME: schedule = #tile.schedule<producers = 1, stages = 4>
tile.kernel @elements(%a: !m, %b: !m, %k: index) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : !acc
  %sum = scf.for %i = %c0 to %k step %c64 iter_args(%s = %zero) -> (!acc) {
    %at = tile.load %a[%c0, %i] : !m -> tensor<128x64xf16>
    %bt = tile.load %b[%i, %c0] : !m -> tensor<64x192xf16>
    %next = tile.dot %at, %bt, %s : tensor<128x64xf16>, tensor<64x192xf16> -> !acc
    scf.yield %next : !acc
  }
}

// -----

!m = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>

// Two blocks share the multiprocessor: each has half of the shared memory, less what
// every block takes.
// REMARK: [Passed] roles-chosen {{.*}}Reason="#tile.schedule<producers = 1, stages = 2>; blocks on a multiprocessor: 2"
// CHECK-LABEL: tile.kernel @two_blocks
// CHECK-SAME: schedule = #tile.schedule<producers = 1, stages = 2>
tile.kernel @two_blocks(%a: !m, %b: !m, %c: !m, %k: index) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %i = %c0 to %k step %c64 iter_args(%s = %zero) -> (tensor<128x128xf32>) {
    %at = tile.load %a[%c0, %i] : !m -> tensor<128x64xf16>
    %bt = tile.load %b[%i, %c0] : !m -> tensor<64x128xf16>
    %next = tile.dot %at, %bt, %s : tensor<128x64xf16>, tensor<64x128xf16> -> tensor<128x128xf32>
    scf.yield %next : tensor<128x128xf32>
  }
  %r = arith.truncf %sum : tensor<128x128xf32> to tensor<128x128xf16>
  tile.store %r, %c[%c0, %c0] : tensor<128x128xf16>, !m
}

// -----

!m = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>
!acc = tensor<192x256xf32>

// A product of 64 rows and 256 columns needs 154 registers a thread where it is issued,
// whatever setmaxnreg gives. Blocks of 12 warps and producers start with 128.
// REMARK: [Missed] roles-not-chosen {{.*}}Reason="a matrix instruction needs 154 registers a thread; a block of 16 warps starts with 128"
// CHECK-LABEL: tile.kernel @wide
// CHECK-SAME: {num_warps = 12 : i32} {
tile.kernel @wide(%a: !m, %b: !m, %k: index) attributes {num_warps = 12 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : !acc
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%s = %zero) -> (!acc) {
    %at = tile.load %a[%c0, %i] : !m -> tensor<192x32xf16>
    %bt = tile.load %b[%i, %c0] : !m -> tensor<32x256xf16>
    %next = tile.dot %at, %bt, %s : tensor<192x32xf16>, tensor<32x256xf16> -> !acc
    scf.yield %next : !acc
  }
}

// -----

!m = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>
!acc = tensor<192x192xf32>

// The same with 192 columns: 122 registers.
// REMARK: [Passed] roles-chosen {{.*}}Reason="#tile.schedule<producers = 4, registers = [152, 40], stages = 4>; blocks on a multiprocessor: 1"
// CHECK-LABEL: tile.kernel @narrow
tile.kernel @narrow(%a: !m, %b: !m, %k: index) attributes {num_warps = 12 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : !acc
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%s = %zero) -> (!acc) {
    %at = tile.load %a[%c0, %i] : !m -> tensor<192x32xf16>
    %bt = tile.load %b[%i, %c0] : !m -> tensor<32x192xf16>
    %next = tile.dot %at, %bt, %s : tensor<192x32xf16>, tensor<32x192xf16> -> !acc
    scf.yield %next : !acc
  }
}

// -----

// TMA can add the tile that the loop adds to global memory: whole rows of 512 bytes. One
// warp leaves it, and one copies.
// REMARK: [Passed] roles-chosen {{.*}}Reason="#tile.schedule<producers = 1, storers = 1,
// CHECK-LABEL: tile.kernel @sums
// CHECK-SAME: schedule = #tile.schedule<producers = 1, storers = 1, stages = 4>
!m = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>
!sums = !tile.buffer<?x128xf32, #tile.strided<[128, 1], align = 16>, global>
tile.kernel @sums(%a: !m, %b: !m, %s: !sums, %n: index) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %bt = tile.load %b[%c0, %c0] : !m -> tensor<64x128xf16>
  scf.for %i = %c0 to %n step %c128 {
    %at = tile.load %a[%i, %c0] : !m -> tensor<128x64xf16>
    %p = tile.dot %at, %bt, %zero : tensor<128x64xf16>, tensor<64x128xf16> -> tensor<128x128xf32>
    tile.atomic_rmw addf %p, %s[%i, %c0] : tensor<128x128xf32>, !sums
  }
}

// Rows of 128 bytes are too short for a TMA instruction: no storer.
// CHECK-LABEL: tile.kernel @short_rows
// CHECK-SAME: schedule = #tile.schedule<producers = 1, stages = 4>
!short = !tile.buffer<?x32xf32, #tile.strided<[?:8, 1], align = 16>, global>
tile.kernel @short_rows(%a: !m, %b: !m, %s: !short, %n: index) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<128x32xf32>
  %bt = tile.load %b[%c0, %c0] : !m -> tensor<64x32xf16>
  scf.for %i = %c0 to %n step %c128 {
    %at = tile.load %a[%i, %c0] : !m -> tensor<128x64xf16>
    %p = tile.dot %at, %bt, %zero : tensor<128x64xf16>, tensor<64x32xf16> -> tensor<128x32xf32>
    tile.atomic_rmw addf %p, %s[%i, %c0] : tensor<128x32xf32>, !short
  }
}
