// Assertions and prints of one thread.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-attach-target{chip=sm_90a},tile-vectorize,canonicalize,cse)' \
// RUN:   | FileCheck %s
// RUN: sed '/^.. Roles[.]/,$d' %s | tile-opt --pass-pipeline='builtin.module(tile-attach-target{chip=gfx1100},tile-vectorize,canonicalize,cse)' \
// RUN:   | FileCheck %s --check-prefix=AMD

// Each lane has 4 neighbouring elements, and the second half of the warp has copies
// of those of the first half.
#copies = #tile.layout<register = [4 -> d0], lane = [16 -> d0 * 4, 2 -> 0], warp = [2 -> d0 * 64]>
// Each element is twice in the registers of a thread.
#twice = #tile.layout<register = [2 -> 0, 2 -> d0], lane = [32 -> d0 * 2], warp = [2 -> 0]>

// CHECK-LABEL: gpu.func @reports
// CHECK-SAME: %[[FLAG:.*]]: i1, %[[N:[a-z0-9]+]]: index
// AMD-LABEL: gpu.func @reports
tile.kernel @reports(%flag: i1, %n: index) attributes {num_warps = 2 : i32} {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %iota = tile.iota along 0 : tensor<128xi32, #copies>
  %c100 = arith.constant dense<100> : tensor<128xi32, #copies>
  %in = arith.cmpi slt, %iota, %c100 : tensor<128xi32, #copies>

  // Every thread checks a scalar.
  // CHECK: %[[FAILS:.*]] = arith.xori %[[FLAG]], %true
  // CHECK: scf.if %[[FAILS]] {
  // CHECK: gpu.block_id z
  // CHECK: %[[THREAD:.*]] = nvvm.read.ptx.sreg.tid.x : i32
  // CHECK: tile_gpu.fail "kernel 'reports', block (%u, %u, %u), thread %u: assertion failed: 100%% sure\0A"(%{{.*}}, %{{.*}}, %{{.*}}, %[[THREAD]] : i32, i32, i32, i32)
  // AMD: %[[THREAD:.*]] = gpu.thread_id x
  // AMD: tile_gpu.fail "kernel 'reports', block (%u, %u, %u), thread %u: assertion failed: 100%% sure\0A"
  tile.assert %flag, "100% sure" : i1

  // Elements have one branch together, then one each.
  // CHECK: %[[ALL:.*]] = vector.reduction <and>, %[[IN:.*]] : vector<4xi1> into i1
  // CHECK: %[[ANY:.*]] = arith.xori %[[ALL]], %true
  // CHECK: scf.if %[[ANY]] {
  // CHECK: vector.extract %[[IN]][0]
  // CHECK: scf.if
  // CHECK: tile_gpu.fail "kernel 'reports', block (%u, %u, %u), thread %u: assertion failed at [%d]: inside\0A"
  // CHECK: vector.extract %[[IN]][3]
  // CHECK: scf.if
  // CHECK: tile_gpu.fail
  // CHECK-NOT: vector.extract
  tile.assert %in, "inside" : tensor<128xi1, #copies>

  // One thread prints a number.
  // CHECK: %[[FIRST:.*]] = arith.cmpi eq
  // CHECK: scf.if %[[FIRST]] {
  // CHECK: %[[WIDE:.*]] = arith.index_cast %[[N]] : index to i64
  // CHECK: gpu.printf "n: block (%u, %u, %u), thread %u: %lld\0A", %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[WIDE]] : i32, i32, i32, i32, i64
  tile.print "n" %n : index

  // The threads with the first copies print, and only the elements within.
  // CHECK: scf.if
  // CHECK: %[[ROW:.*]] = arith.cmpi slt, %{{.*}}, %c100_i32
  // CHECK: scf.if %[[ROW]] {
  // CHECK: gpu.printf "i: block (%u, %u, %u), thread %u: [%d] = %d\0A"
  // CHECK-COUNT-3: gpu.printf "i: block
  tile.print "i" %iota within [100] : tensor<128xi32, #copies>

  // CHECK: %[[BF16:.*]] = arith.extf %{{.*}} : bf16 to f32
  // CHECK: %[[F64:.*]] = arith.extf %[[BF16]] : f32 to f64
  // CHECK: gpu.printf "t: block (%u, %u, %u), thread %u: [%d] = %.4g\0A"
  // CHECK: gpu.printf "t: block
  // CHECK-NOT: gpu.printf
  %j = tile.iota along 0 : tensor<64xi32, #twice>
  %t = arith.sitofp %j : tensor<64xi32, #twice> to tensor<64xbf16, #twice>
  tile.print "t" %t : tensor<64xbf16, #twice>
}

// Roles.
// The first thread of a group of consumers prints; the other role is one thread.
// CHECK-LABEL: gpu.func @roles
tile.kernel @roles(%n: i32) attributes {num_warps = 4 : i32} {
  %c1 = arith.constant 1 : index
  %c0_i32 = arith.constant 0 : i32
  tile.grid %c1, %c1, %c1
  %positive = arith.cmpi sge, %n, %c0_i32 : i32
  // CHECK: scf.if
  tile.warp_roles warps = [4, 1] groups = 2 {
    // CHECK: %[[IN_GROUP:.*]] = arith.remui
    // CHECK: arith.cmpi eq
    // CHECK-NEXT: scf.if
    // CHECK: nvvm.read.ptx.sreg.tid.x
    // CHECK: gpu.printf "consumer: block
    tile.print "consumer" %n : i32
  // CHECK: } else {
  }, {
    // CHECK: nvvm.elect.sync
    // CHECK-NEXT: scf.if
    // CHECK-NOT: scf.if
    // CHECK: gpu.printf "producer: block
    // CHECK: scf.if
    // CHECK: tile_gpu.fail
    tile.print "producer" %n : i32
    tile.assert %positive, "n is negative" : i1
  }
}
