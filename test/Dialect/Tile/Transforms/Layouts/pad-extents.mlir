// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_80},tile.kernel(tile-pad-extents))' \
// RUN:   | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_80},tile.kernel(tile-pad-extents))' \
// RUN:   --remark-format=emitRemark --remarks-filter=tile-pad-extents -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// REMARK: remark: [Passed] extent-padded
// REMARK-SAME: tiles of extent 60 are padded to 64, which threads and matrix instructions divide

!b = !tile.buffer<?x?xf32, #tile.strided<[?:4, 1], align = 16>, global>
!s = !tile.buffer<600x600xf32, #tile.strided<[600, 1], align = 16>, global>
!v = !tile.buffer<?xf32, #tile.strided<[1]>, global>
!i = !tile.buffer<?xi32, #tile.strided<[1]>, global>
!h = !tile.buffer<?x?xf16, #tile.strided<[?:8, 1], align = 16>, global>
!o = !tile.buffer<60x60xf32, #tile.strided<[60, 1], align = 16>, global>

// Loads and stores access a view of the buffer that ends with the tile. The sum
// needs no mask, because loads read zero in the padding; the maximum does.
// CHECK-LABEL: tile.kernel @reductions
// CHECK-DAG: %[[C0:.+]] = arith.constant 0 : index
// CHECK-DAG: %[[C60:.+]] = arith.constant 60 : index
// CHECK: %[[I:.+]] = arith.muli
// CHECK: %[[ROWS:.+]] = tile.dim %{{.*}}[0]
// CHECK: %[[END:.+]] = arith.addi %[[I]], %{{.*}}
// CHECK: %[[LENGTH:.+]] = arith.minsi %[[ROWS]], %[[END]]
// CHECK: %[[VIEW:.+]] = tile.narrow %{{.*}}[0] from %{{.*}} length %[[LENGTH]]
// CHECK-SAME: to !tile.buffer<?x?xf32, #{{.*}}, global>
// CHECK: %[[VIEW2:.+]] = tile.narrow %[[VIEW]][1]
// CHECK: %[[T:.+]] = tile.load %[[VIEW2]]{{.*}} -> tensor<64x64xf32>
// CHECK: tile.reduce addf %[[T]] along 1 : tensor<64x64xf32> -> tensor<64xf32>
// CHECK: %[[COLUMN:.+]] = tile.iota along 1 : tensor<64x64xi32>
// CHECK: %[[BOUND:.+]] = arith.constant dense<60> : tensor<64x64xi32>
// CHECK: %[[INSIDE:.+]] = arith.cmpi slt, %[[COLUMN]], %[[BOUND]]
// CHECK: %[[LOWEST:.+]] = arith.constant dense<0xFF800000> : tensor<64x64xf32>
// CHECK: %[[MASKED:.+]] = arith.select %[[INSIDE]], %[[T]], %[[LOWEST]]
// CHECK: tile.reduce maximumf %[[MASKED]] along 1
// CHECK: tile.store %{{.*}} : tensor<64xf32>
tile.kernel @reductions(%src: !b, %dst: !v) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c60 = arith.constant 60 : index
  tile.grid %c1, %c1, %c1
  %block = tile.program_id x
  %i = arith.muli %block, %c60 : index
  %t = tile.load %src[%i, %c0] : !b -> tensor<60x60xf32>
  %sum = tile.reduce addf %t along 1 : tensor<60x60xf32> -> tensor<60xf32>
  %max = tile.reduce maximumf %t along 1 : tensor<60x60xf32> -> tensor<60xf32>
  %both = arith.addf %sum, %max : tensor<60xf32>
  tile.store %both, %dst[%i] : tensor<60xf32>, !v
}

// A scan reaches the padding last. One that begins with it sees zeros, which
// loads read there, or another neutral element.
// CHECK-LABEL: tile.kernel @scans
// CHECK: %[[T:.+]] = tile.load {{.*}} -> tensor<64x64xf32>
// CHECK-NOT: tile.iota
// CHECK: %[[UP:.+]] = tile.scan maximumf %[[T]] along 1 : tensor<64x64xf32>
// CHECK-NEXT: %[[SUM:.+]] = tile.scan addf %[[T]] along 0 reverse : tensor<64x64xf32>
// CHECK: %[[COLUMN:.+]] = tile.iota along 1 : tensor<64x64xi32>
// CHECK: %[[INSIDE:.+]] = arith.cmpi slt, %[[COLUMN]]
// CHECK: %[[LOWEST:.+]] = arith.constant dense<0xFF800000> : tensor<64x64xf32>
// CHECK: %[[MASKED:.+]] = arith.select %[[INSIDE]], %[[UP]], %[[LOWEST]]
// CHECK: tile.scan maximumf %[[MASKED]] along 1 reverse
tile.kernel @scans(%src: !b, %dst: !b) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.load %src[%c0, %c0] : !b -> tensor<60x60xf32>
  %up = tile.scan maximumf %t along 1 : tensor<60x60xf32>
  %sum = tile.scan addf %t along 0 reverse : tensor<60x60xf32>
  %down = tile.scan maximumf %up along 1 reverse : tensor<60x60xf32>
  %both = arith.addf %sum, %down : tensor<60x60xf32>
  tile.store %both, %dst[%c0, %c0] : tensor<60x60xf32>, !b
}

// A tile that ends with its buffer needs no view.
// CHECK-LABEL: tile.kernel @whole_buffer
// CHECK-NOT: tile.narrow
// CHECK: tile.load %{{.*}} -> tensor<64x64xf32>
tile.kernel @whole_buffer(%src: !o, %dst: !o) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.load %src[%c0, %c0] : !o -> tensor<60x60xf32>
  tile.store %t, %dst[%c0, %c0] : tensor<60x60xf32>, !o
}

// A product grows to what the instruction divides among four warps. The
// operand that is not loaded has zeros along the contracted dimension.
// CHECK-LABEL: tile.kernel @product
// CHECK: %[[A:.+]] = tile.load %{{.*}} -> tensor<64x48xf16>
// CHECK: %[[B:.+]] = tile.load %{{.*}} -> tensor<48x24xf16>
// CHECK: %[[E:.+]] = math.exp %[[B]]
// CHECK: %[[ROW:.+]] = tile.iota along 0 : tensor<48x24xi32>
// CHECK: %[[MASKED:.+]] = arith.select %{{.*}}, %[[E]], %{{.*}} : tensor<48x24xi1>, tensor<48x24xf16>
// CHECK: tile.dot %[[A]], %[[MASKED]], %{{.*}} -> tensor<64x24xf32>
tile.kernel @product(%a: !h, %b: !h, %c: !b) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<50x20xf32>
  %x = tile.load %a[%c0, %c0] : !h -> tensor<50x40xf16>
  %y = tile.load %b[%c0, %c0] : !h -> tensor<40x20xf16>
  %e = math.exp %y : tensor<40x20xf16>
  %d = tile.dot %x, %e, %zero : tensor<50x40xf16>, tensor<40x20xf16> -> tensor<50x20xf32>
  tile.store %d, %c[%c0, %c0] : tensor<50x20xf32>, !b
}

// The padding of a divisor is 1.
// CHECK-LABEL: tile.kernel @division
// CHECK: %[[ONE:.+]] = arith.constant dense<1> : tensor<8xi32>
// CHECK: %[[D:.+]] = arith.select %{{.*}}, %{{.*}}, %[[ONE]]
// CHECK: arith.divsi %{{.*}}, %[[D]] : tensor<8xi32>
tile.kernel @division(%src: !i, %by: !i) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %n = tile.load %src[%c0] : !i -> tensor<7xi32>
  %d = tile.load %by[%c0] : !i -> tensor<7xi32>
  %q = arith.divsi %n, %d : tensor<7xi32>
  tile.store %q, %src[%c0] : tensor<7xi32>, !i
}

// Loops carry padded tiles.
// CHECK-LABEL: tile.kernel @loop
// CHECK: scf.for {{.*}} -> (tensor<128xf32>)
tile.kernel @loop(%src: !v, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<100xf32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (tensor<100xf32>) {
    %t = tile.load %src[%i] : !v -> tensor<100xf32>
    %next = arith.addf %s, %t : tensor<100xf32>
    scf.yield %next : tensor<100xf32>
  }
  tile.store %sum, %src[%c0] : tensor<100xf32>, !v
}

// Tiles that threads divide stay as they are, and so do those that the author
// laid out or placed in shared memory.
// CHECK-LABEL: tile.kernel @unchanged
// CHECK: tensor<80x96xf32>
// CHECK: tensor<48x48xf32>
// CHECK: tensor<60xf32, #
tile.kernel @unchanged(%src: !b, %v: !v) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.load %src[%c0, %c0] : !b -> tensor<80x96xf32>
  tile.store %t, %src[%c0, %c0] : tensor<80x96xf32>, !b
  %u = tile.load %src[%c0, %c0] : !b -> tensor<48x48xf32>
  tile.store %u, %src[%c0, %c0] : tensor<48x48xf32>, !b
  %p = tile.load %v[%c0] : !v -> tensor<60xf32, #tile.layout<register = [60 -> d0], lane = [32 -> 0], warp = [4 -> 0]>>
  tile.store %p, %v[%c0] : tensor<60xf32, #tile.layout<register = [60 -> d0], lane = [32 -> 0], warp = [4 -> 0]>>, !v
}

// Extents that an operation leaves alone grow, those that it changes do not. Indices in the padding may be anything.
// CHECK-LABEL: tile.kernel @shapes
// CHECK: %[[I:.+]] = tile.load {{.*}} -> tensor<64xi32>
// CHECK: %[[G:.+]] = tile.gather %{{.+}} along 0 by %[[I]] : {{.*}}, tensor<64xi32> -> tensor<64x24xf32>
// CHECK: %[[R:.+]] = tile.reshape %[[G]] : tensor<64x24xf32> -> tensor<64x2x12xf32>
// CHECK: %[[E:.+]] = tile.extract %[[R]] [0, 1, 0] : tensor<64x2x12xf32> -> tensor<64x1x12xf32>
// CHECK: %[[C:.+]] = tile.concatenate %[[E]], %[[E]] along 1 : tensor<64x1x12xf32> -> tensor<64x2x12xf32>
// CHECK: tile.reshape %[[C]] : tensor<64x2x12xf32> -> tensor<64x24xf32>
tile.kernel @shapes(%src: !b, %rows: !i, %dst: !b) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %i = tile.load %rows[%c0] : !i -> tensor<60xi32>
  %g = tile.gather %src[%c0, %c0] along 0 by %i : !b, tensor<60xi32> -> tensor<60x24xf32>
  %r = tile.reshape %g : tensor<60x24xf32> -> tensor<60x2x12xf32>
  %e = tile.extract %r [0, 1, 0] : tensor<60x2x12xf32> -> tensor<60x1x12xf32>
  %c = tile.concatenate %e, %e along 1 : tensor<60x1x12xf32> -> tensor<60x2x12xf32>
  %t = tile.reshape %c : tensor<60x2x12xf32> -> tensor<60x24xf32>
  tile.store %t, %dst[%c0, %c0] : tensor<60x24xf32>, !b
}

// Nothing is checked or printed in the padding.
// CHECK-LABEL: tile.kernel @reports
// CHECK: %[[SMALL:.+]] = arith.cmpf {{.*}} : tensor<64x64xf32>
// CHECK: %[[ROW:.+]] = tile.iota along 0 : tensor<64x64xi32>
// CHECK: %[[ROW_INSIDE:.+]] = arith.cmpi slt, %[[ROW]]
// CHECK: %[[COLUMN:.+]] = tile.iota along 1 : tensor<64x64xi32>
// CHECK: %[[COLUMN_INSIDE:.+]] = arith.cmpi slt, %[[COLUMN]]
// CHECK: %[[INSIDE:.+]] = arith.andi %[[ROW_INSIDE]], %[[COLUMN_INSIDE]]
// CHECK: %[[TRUE:.+]] = arith.constant dense<true> : tensor<64x64xi1>
// CHECK: %[[CHECKED:.+]] = arith.select %[[INSIDE]], %[[SMALL]], %[[TRUE]]
// CHECK: tile.assert %[[CHECKED]], "small" : tensor<64x64xi1>
// CHECK: tile.print "t" %{{.*}} within [60, 60] : tensor<64x64xf32>
// CHECK: tile.print "part" %{{.*}} within [1, 2] : tensor<64x64xf32>
tile.kernel @reports(%src: !b) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.load %src[%c0, %c0] : !b -> tensor<60x60xf32>
  %limit = arith.constant dense<9.0> : tensor<60x60xf32>
  %small = arith.cmpf olt, %t, %limit : tensor<60x60xf32>
  tile.assert %small, "small" : tensor<60x60xi1>
  tile.print "t" %t : tensor<60x60xf32>
  tile.print "part" %t within [1, 2] : tensor<60x60xf32>
}

// The product alone would grow 4 to 128, and the other tile has room for 64.
// CHECK-LABEL: tile.kernel @many_elements
// CHECK: tile.reduce mulf {{.*}} tensor<64x64x64xf16> -> tensor<64x64xf16>
// CHECK: tile.dot {{.*}} tensor<64x32xf16>, tensor<32x32xf16> -> tensor<64x32xf32>
tile.kernel @many_elements(
    %sums: !tile.buffer<4x4xf16, #tile.strided<[4, 1]>, global>,
    %dst: !tile.buffer<4x1xf32, #tile.strided<[1, 1]>, global>)
    attributes {num_warps = 16 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %halves = arith.constant dense<0.5> : tensor<4x4x4xf16>
  %sum = tile.reduce mulf %halves along 0 : tensor<4x4x4xf16> -> tensor<4x4xf16>
  tile.store %sum, %sums[%c0, %c0]
      : tensor<4x4xf16>, !tile.buffer<4x4xf16, #tile.strided<[4, 1]>, global>
  %a = arith.constant dense<1.0> : tensor<4x1xf16>
  %b = arith.constant dense<1.0> : tensor<1x1xf16>
  %zeros = arith.constant dense<0.0> : tensor<4x1xf32>
  %c = tile.dot %a, %b, %zeros : tensor<4x1xf16>, tensor<1x1xf16> -> tensor<4x1xf32>
  tile.store %c, %dst[%c0, %c0]
      : tensor<4x1xf32>, !tile.buffer<4x1xf32, #tile.strided<[1, 1]>, global>
}
