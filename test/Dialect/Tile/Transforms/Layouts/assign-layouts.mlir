// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_80},tile.kernel(tile-assign-layouts))' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=gfx1100},tile.kernel(tile-assign-layouts))' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,GFX1100
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=gfx942},tile.kernel(tile-assign-layouts))' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,GFX942

// SM80-DAG: #[[MMA:.+]] = #tile.mma<"mma.m16n8k16.f16", warps = [4, 1]>
// GFX1100-DAG: #[[MMA:.+]] = #tile.mma<"wmma.gfx11.16x16x16.f16", warps = [4, 1]>
// Where rows are reduced, few lanes share one of a transposed product.
// GFX1100-DAG: #[[ROWS:.+]] = #tile.mma<"wmma.gfx11.16x16x16.f16", warps = [4, 1], transposed>
// GFX942-DAG: #[[MMA:.+]] = #tile.mma<"mfma.16x16x16.f16", warps = [4, 1], transposed>
// Without such a reduction, warps in a square exchange less.
// GFX942-DAG: #{{.+}} = #tile.mma<"mfma.32x32x8.f16", warps = [2, 2], transposed>
// CHECK-DAG: #[[A:.+]] = #tile.dot_operand<0, #[[MMA]]>
// CHECK-DAG: #[[B:.+]] = #tile.dot_operand<1, #[[MMA]]>
// Two warps are along the columns, because there are too few rows for four.
// SM80-DAG: #[[WIDE:.+]] = #tile.mma<"mma.m16n8k16.bf16", warps = [2, 2]>
// Lines of a wide tile are in two warps, or each thread has all lines of two columns.
// SM80-DAG: #[[LINES:.+]] = #tile.blocked<thread = [1, 4], lane = [1, 32], warp = [2, 2], order = [1, 0]>
// SM80-DAG: #[[COLUMNS:.+]] = #tile.blocked<thread = [4, 1], lane = [1, 32], warp = [1, 4], order = [1, 0]>
// Each thread has 16 bytes along the contiguous dimension.
// SM80-DAG: #[[ROWS:.+]] = #tile.layout<register = [4 -> d1], lane = [16 -> d1 * 4, 2 -> d0], warp = [4 -> d0 * 2, 2 -> 0]>

!b = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!c = !tile.buffer<?x64xbf16, #tile.strided<[64, 1], align = 16>, global>
!f = !tile.buffer<?x64xf32, #tile.strided<[64, 1], align = 16>, global>
!v = !tile.buffer<?xf32, #tile.strided<[1], align = 16>, global>
!r = !tile.buffer<?x256xf32, #tile.strided<[256, 1], align = 16>, global>

// Tiles that are loaded as MMA operands go through shared memory; the contracted
// dimension is contiguous unless ldmatrix transposes. Computed tiles have the
// layouts of the accumulators. P becomes an operand without a conversion.
// CHECK-LABEL: tile.kernel @products
tile.kernel @products(%q: !b, %k: !b, %v: !b, %o: !b) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // SM80: %[[Q:.+]] = tile.load {{.*}} -> tensor<64x64xf16, #tile.swizzle<128>>
  // SM80: %[[K:.+]] = tile.load {{.*}} -> tensor<64x64xf16, #tile.swizzle<128>>
  // SM80: %[[V:.+]] = tile.load {{.*}} -> tensor<64x64xf16, #tile.swizzle<128>>
  // GFX1100: %[[Q:.+]] = tile.load {{.*}} -> tensor<64x64xf16, #tile.padded<8, order = [1, 0]>>
  // GFX1100: %[[K:.+]] = tile.load {{.*}} -> tensor<64x64xf16, #tile.padded<8, order = [1, 0]>>
  // GFX1100: %[[V:.+]] = tile.load {{.*}} -> tensor<64x64xf16, #tile.padded<8, order = [0, 1], group = 8, groupPad = 8>>
  %qt = tile.load %q[%c0, %c0] : !b -> tensor<64x64xf16>
  %kt = tile.load %k[%c0, %c0] : !b -> tensor<64x64xf16>
  %vt = tile.load %v[%c0, %c0] : !b -> tensor<64x64xf16>
  // Each use has its own constant, so that none is converted.
  // CHECK: arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma{{[0-9]*}}>
  // CHECK: arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma{{[0-9]*}}>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  // SM80: %[[KT:.+]] = tile.transpose %[[K]] [1, 0] : {{.*}} -> tensor<64x64xf16, #tile.permute<[1, 0], #tile.swizzle<128>>>
  %kk = tile.transpose %kt [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>
  // SM80: %[[QA:.+]] = tile.convert_layout %[[Q]] : {{.*}} -> tensor<64x64xf16, #[[A]]>
  // SM80: %[[KB:.+]] = tile.convert_layout %[[KT]] : {{.*}} -> tensor<64x64xf16, #[[B]]>
  // SM80: tile.dot %[[QA]], %[[KB]], %{{.+}} -> tensor<64x64xf32, #[[MMA]]>
  // GFX1100: tile.dot %{{.+}} -> tensor<64x64xf32, #[[ROWS]]>
  // GFX942: tile.dot %{{.+}} -> tensor<64x64xf32, #[[MMA]]>
  %s = tile.dot %qt, %kk, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  // CHECK: tile.reduce addf %{{.+}} along 1 : tensor<64x64xf32, #mma{{[0-9]*}}> -> tensor<64xf32, #tile.slice<1, #mma{{[0-9]*}}>>
  %sum = tile.reduce addf %s along 1 : tensor<64x64xf32> -> tensor<64xf32>
  // CHECK: tile.broadcast %{{.+}} along 1 : tensor<64xf32, #tile.slice<1, #mma{{[0-9]*}}>> -> tensor<64x64xf32, #mma{{[0-9]*}}>
  %all = tile.broadcast %sum along 1 : tensor<64xf32> -> tensor<64x64xf32>
  // CHECK: arith.divf %{{.+}} : tensor<64x64xf32, #mma{{[0-9]*}}>
  %w = arith.divf %s, %all : tensor<64x64xf32>
  // CHECK: %[[P:.+]] = arith.truncf %{{.+}} to tensor<64x64xf16, #mma{{[0-9]*}}>
  %p = arith.truncf %w : tensor<64x64xf32> to tensor<64x64xf16>
  // CHECK: %[[PA:.+]] = tile.convert_layout %[[P]] : tensor<64x64xf16, #mma{{[0-9]*}}> -> tensor<64x64xf16, #[[A]]>
  // CHECK: tile.dot %[[PA]],
  %r = tile.dot %p, %vt, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  %out = arith.truncf %r : tensor<64x64xf32> to tensor<64x64xf16>
  // CHECK: tile.store %{{.+}} : tensor<64x64xf16, #mma{{[0-9]*}}>,
  tile.store %out, %o[%c0, %c0] : tensor<64x64xf16>, !b
}

// CHECK-LABEL: tile.kernel @few_rows
tile.kernel @few_rows(%a: !c, %b: !c, %o: !f) {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %at = tile.load %a[%c0, %c0] : !c -> tensor<32x64xbf16>
  %bt = tile.load %b[%c0, %c0] : !c -> tensor<64x64xbf16>
  %zero = arith.constant dense<0.0> : tensor<32x64xf32>
  // SM80: tile.dot %{{.+}} -> tensor<32x64xf32, #[[WIDE]]>
  %r = tile.dot %at, %bt, %zero : tensor<32x64xbf16>, tensor<64x64xbf16> -> tensor<32x64xf32>
  tile.store %r, %o[%c0, %c0] : tensor<32x64xf32>, !f
}

// Nothing determines a layout: accesses are coalesced, warps that are left over
// hold copies, and tiles that are computed from each other have one layout.
// CHECK-LABEL: tile.kernel @elementwise
tile.kernel @elementwise(%a: !f, %o: !f, %x: f32) attributes {num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  // SM80: tile.load {{.*}} -> tensor<8x64xf32, #[[ROWS]]>
  // SM80: tensor.splat %{{.+}} : tensor<8x64xf32, #[[ROWS]]>
  // SM80: arith.mulf %{{.+}} : tensor<8x64xf32, #[[ROWS]]>
  // SM80: tile.iota along 1 : tensor<8x64xi32, #[[ROWS]]>
  // SM80: arith.sitofp %{{.+}} : tensor<8x64xi32, #[[ROWS]]> to tensor<8x64xf32, #[[ROWS]]>
  // CHECK-NOT: tile.convert_layout
  %t = tile.load %a[%c0, %c0] : !f -> tensor<8x64xf32>
  %f = tensor.splat %x : tensor<8x64xf32>
  %u = arith.mulf %t, %f : tensor<8x64xf32>
  %i = tile.iota along 1 : tensor<8x64xi32>
  %g = arith.sitofp %i : tensor<8x64xi32> to tensor<8x64xf32>
  %w = arith.addf %u, %g : tensor<8x64xf32>
  tile.store %w, %o[%c0, %c0] : tensor<8x64xf32>, !f
}

// A loop-carried tile has one layout, here that of the accumulator; the initial
// value is created with this layout.
// CHECK-LABEL: tile.kernel @loop
tile.kernel @loop(%a: !b, %b: !b, %o: !f, %n: index) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  tile.grid %c0, %c0, %c0
  // CHECK: %[[ZERO:.+]] = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma{{[0-9]*}}>
  // CHECK: scf.for {{.*}} iter_args(%{{.+}} = %[[ZERO]]) -> (tensor<64x64xf32, #mma{{[0-9]*}}>)
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = scf.for %i = %c0 to %n step %c16 iter_args(%acc = %zero) -> tensor<64x64xf32> {
    %at = tile.load %a[%i, %c0] : !b -> tensor<64x64xf16>
    %bt = tile.load %b[%i, %c0] : !b -> tensor<64x64xf16>
    %next = tile.dot %at, %bt, %acc : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  // CHECK: tile.store %{{.+}} : tensor<64x64xf32, #mma{{[0-9]*}}>,
  tile.store %r, %o[%c0, %c0] : tensor<64x64xf32>, !f
}

// Both sides of a branch yield one layout.
// CHECK-LABEL: tile.kernel @branch
tile.kernel @branch(%a: !b, %b: !b, %o: !f, %n: index) {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %some = arith.cmpi slt, %c0, %n : index
  // CHECK: scf.if %{{.+}} -> (tensor<64x64xf32, #mma{{[0-9]*}}>)
  %r = scf.if %some -> tensor<64x64xf32> {
    %at = tile.load %a[%c0, %c0] : !b -> tensor<64x64xf16>
    %bt = tile.load %b[%c0, %c0] : !b -> tensor<64x64xf16>
    %next = tile.dot %at, %bt, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  } else {
    // CHECK: } else {
    // CHECK-NEXT: %[[OTHER:.+]] = tile.load {{.*}} -> tensor<64x64xf32, #mma{{[0-9]*}}>
    // CHECK-NEXT: scf.yield %[[OTHER]]
    %other = tile.load %o[%c0, %c0] : !f -> tensor<64x64xf32>
    scf.yield %other : tensor<64x64xf32>
  }
  tile.store %r, %o[%c0, %c0] : tensor<64x64xf32>, !f
}

// A vector that is broadcast over the columns of a product is loaded as a slice of
// its layout. Of two that are reduced from a product and added, the one with more copies
// of its elements is converted.
// CHECK-LABEL: tile.kernel @vectors
tile.kernel @vectors(%a: !b, %b: !b, %o: !f, %bias: !v, %sums: !v) {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  // CHECK: tile.load %{{.+}}[%{{.+}}] : !tile.buffer<?xf32, {{.*}}> -> tensor<64xf32, #tile.slice<0, #mma{{[0-9]*}}>>
  %bt = tile.load %bias[%c0] : !v -> tensor<64xf32>
  %bs = tile.broadcast %bt along 0 : tensor<64xf32> -> tensor<64x64xf32>
  %at = tile.load %a[%c0, %c0] : !b -> tensor<64x64xf16>
  %r = tile.dot %at, %at, %bs : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  %rows = tile.reduce addf %r along 1 : tensor<64x64xf32> -> tensor<64xf32>
  %columns = tile.reduce addf %r along 0 : tensor<64x64xf32> -> tensor<64xf32>
  // CHECK: %[[C:.+]] = tile.convert_layout %{{.+}} : tensor<64xf32, #tile.slice<0, #mma{{[0-9]*}}>> -> tensor<64xf32, #tile.slice<1, #mma{{[0-9]*}}>>
  // CHECK: arith.addf %{{.+}}, %[[C]] : tensor<64xf32, #tile.slice<1, #mma{{[0-9]*}}>>
  %both = arith.addf %rows, %columns : tensor<64xf32>
  tile.store %both, %sums[%c0] : tensor<64xf32>, !v
}

// The elements of a transposed accumulator stay in their registers.
// CHECK-LABEL: tile.kernel @transposed
tile.kernel @transposed(%a: !b, %o: !f) {
  %c0 = arith.constant 0 : index
  tile.grid %c0, %c0, %c0
  %at = tile.load %a[%c0, %c0] : !b -> tensor<64x64xf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = tile.dot %at, %at, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  // CHECK: %[[T:.+]] = tile.transpose %{{.+}} [1, 0] : tensor<64x64xf32, #mma{{[0-9]*}}> -> tensor<64x64xf32, #tile.permute<[1, 0], #mma{{[0-9]*}}>>
  // CHECK: tile.store %[[T]],
  %t = tile.transpose %r [1, 0] : tensor<64x64xf32> -> tensor<64x64xf32>
  tile.store %t, %o[%c0, %c0] : tensor<64x64xf32>, !f
}

// A scan keeps the layout of its operand, although four warps share the columns.
// CHECK-LABEL: tile.kernel @scan
tile.kernel @scan(%a: !b, %o: !f) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %at = tile.load %a[%c0, %c0] : !b -> tensor<64x64xf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  // SM80: %[[R:.+]] = tile.dot
  %r = tile.dot %at, %at, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  // SM80: %[[Y:.+]] = tile.scan addf %[[R]] along 0 : tensor<64x64xf32, #[[MMA]]>
  %y = tile.scan addf %r along 0 : tensor<64x64xf32>
  // SM80: tile.store %[[Y]],
  tile.store %y, %o[%c0, %c0] : tensor<64x64xf32>, !f
}

// Neighbouring rows are in different warps, so that each thread would read 64
// totals for each of its four columns, beside its 128 elements. It costs less to
// scan the tile in another layout.
// CHECK-LABEL: tile.kernel @scan_elsewhere
tile.kernel @scan_elsewhere(%x: !r, %o: !r) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // SM80: %[[T:.+]] = tile.load {{.*}} -> tensor<64x256xf32, #[[LINES]]>
  // SM80: %[[C:.+]] = tile.convert_layout %[[T]] : tensor<64x256xf32, #[[LINES]]> -> tensor<64x256xf32, #[[COLUMNS]]>
  // SM80: %[[Y:.+]] = tile.scan addf %[[C]] along 0 : tensor<64x256xf32, #[[COLUMNS]]>
  // SM80: %[[Z:.+]] = tile.convert_layout %[[Y]] : tensor<64x256xf32, #[[COLUMNS]]> -> tensor<64x256xf32, #[[LINES]]>
  %t = tile.load %x[%c0, %c0] : !r -> tensor<64x256xf32>
  %y = tile.scan addf %t along 0 : tensor<64x256xf32>
  // SM80: tile.store %[[Z]],
  tile.store %y, %o[%c0, %c0] : tensor<64x256xf32>, !r
}

// So does a scan by a region, also of several tiles.
// CHECK-LABEL: tile.kernel @associative_scan
tile.kernel @associative_scan(%x: !r, %o: !r) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  // SM80: %[[T:.+]] = tile.load {{.*}} -> tensor<2x1024xf32, #[[LOADED:.+]]>
  // SM80: %[[Y:.+]]:2 = tile.associative_scan %[[T]], %[[T]] along 1 : tensor<2x1024xf32, #[[LOADED]]>, tensor<2x1024xf32, #[[LOADED]]>
  // SM80: tile.store %[[Y]]#1,
  %t = tile.load %x[%c0, %c0] : !r -> tensor<2x1024xf32>
  %y:2 = tile.associative_scan %t, %t along 1 : tensor<2x1024xf32>, tensor<2x1024xf32> {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    %e = arith.mulf %a, %c : f32
    %f = arith.addf %b, %d : f32
    tile.yield %e, %f : f32, f32
  }
  tile.store %y#1, %o[%c0, %c0] : tensor<2x1024xf32>, !r
}

// A broadcast may grow a tile beyond the one that was reduced. The layout of
// the smaller tile does not cover the larger one, which gets its own.
// CHECK-LABEL: tile.kernel @growing
// CHECK: %[[SUM:.+]] = tile.reduce addf %{{.*}} along 1
// CHECK: %[[MOVED:.+]] = tile.convert_layout %[[SUM]]
// CHECK: tile.broadcast %[[MOVED]] along 1
tile.kernel @growing(%f: !f) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.load %f[%c0, %c0] : !f -> tensor<16x16xf32>
  %r = tile.reduce addf %t along 1 : tensor<16x16xf32> -> tensor<16xf32>
  %g = tile.broadcast %r along 1 : tensor<16xf32> -> tensor<16x32xf32>
  tile.store %g, %f[%c0, %c0] : tensor<16x32xf32>, !f
}

// A product reads the tile of a loop from shared memory, to which it is copied ahead.
// Other operations read it back.
// CHECK-LABEL: tile.kernel @read_back
// SM80: scf.for
// SM80: %[[T:.+]] = tile.load {{.*}} -> tensor<64x64xf16, #tile.swizzle<128>>
// SM80: %[[BACK:.+]] = tile.convert_layout %[[T]] : tensor<64x64xf16, #tile.swizzle<128>> -> tensor<64x64xf16, #[[MMA]]>
// SM80: arith.extf %[[BACK]] : tensor<64x64xf16, #[[MMA]]>
tile.kernel @read_back(%q: !b, %f: !f) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %n = tile.dim %q[0] : !b
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = scf.for %i = %c0 to %n step %c64 iter_args(%s = %zero) -> tensor<64x64xf32> {
    %t = tile.load %q[%i, %c0] : !b -> tensor<64x64xf16>
    %wide = arith.extf %t : tensor<64x64xf16> to tensor<64x64xf32>
    %sum = arith.addf %s, %wide : tensor<64x64xf32>
    %next = tile.dot %t, %t, %sum : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  tile.store %r, %f[%c0, %c0] : tensor<64x64xf32>, !f
}

!m = !tile.buffer<4x4xf32, #tile.strided<[4, 1]>, global>
!t = tensor<4x4xf32>

// One layout reaches the tile that a loop carries in its body, another one in front of
// the loop. The tile has one layout in the body and behind it.
// CHECK-LABEL: tile.kernel @two_layouts
// CHECK: %[[LOADED:.*]] = tile.load {{.*}} -> tensor<4x4xf32, #[[LOAD:.*]]>
// CHECK: %[[TURNED:.*]] = tile.transpose %[[LOADED]] [1, 0] : {{.*}} -> tensor<4x4xf32, #tile.permute<[1, 0], #[[LOAD]]>>
// CHECK: %[[INIT:.*]] = tile.convert_layout %[[TURNED]] : {{.*}} -> tensor<4x4xf32, #[[LOAD]]>
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[INIT]]) -> (tensor<4x4xf32, #[[LOAD]]>)
// CHECK: arith.select {{.*}}, tensor<4x4xf32, #[[LOAD]]>
// CHECK-NEXT: scf.yield
tile.kernel @two_layouts(%a: !m, %o: !m, %n: index) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %one = arith.constant dense<1.0> : !t
  %loaded = tile.load %a[%c0, %c0] : !m -> !t
  %turned = tile.transpose %loaded [1, 0] : !t -> !t
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %turned) -> (!t) {
    %is_less = arith.cmpf ole, %one, %loaded : !t
    %next = arith.select %is_less, %one, %x : tensor<4x4xi1>, !t
    scf.yield %next : !t
  }
  tile.store %r, %o[%c0, %c0] : !t, !m
}
