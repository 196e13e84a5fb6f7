// Integers that depend on the number of the thread are computed again behind the
// last loop of a block, unless the loop uses them. The number of the wave is in a
// scalar register.
// RUN: tile-opt %s --tile-attach-target="chip=gfx1201" --tile-to-amdgpu --canonicalize --split-input-file | FileCheck %s
// RUN: tile-opt %s --tile-attach-target="chip=gfx942" --tile-to-amdgpu --canonicalize --split-input-file | FileCheck %s --check-prefix=GFX942

// CHECK-LABEL: gpu.func @behind(
// CHECK: %[[THREAD:.+]] = gpu.thread_id x
// CHECK: %[[WORD:.+]] = arith.index_castui %[[THREAD]] : index to i32
// CHECK: %[[WAVE:.+]] = rocdl.readfirstlane %[[WORD]] : i32
// CHECK: %[[ROW:.+]] = arith.divui %{{.+}}, %c8
// CHECK: %[[FIRST:.+]] = arith.addi %[[ROW]], %{{.+}} : index
// CHECK: memref.load %{{.+}}[%[[FIRST]]]
// CHECK: scf.for
// CHECK-NOT: mbcnt
// CHECK: scf.for
// CHECK: }
// CHECK: %[[MBCNT:.+]] = rocdl.mbcnt.lo %{{.+}}, %[[WAVE]] : (i32, i32) -> i32
// CHECK: %[[AGAIN:.+]] = arith.index_castui %[[MBCNT]] : i32 to index
// CHECK: %[[ROW2:.+]] = arith.divui %[[AGAIN]], %c8
// CHECK: %[[LAST:.+]] = arith.addi %[[ROW2]], %{{.+}} : index
// CHECK: memref.store %{{.+}}, %{{.+}}[%[[LAST]]]
// A wave of gfx942 has 64 lanes.
// GFX942: %[[LOW:.+]] = rocdl.mbcnt.lo %{{.+}}, %{{.+}} : (i32, i32) -> i32
// GFX942: rocdl.mbcnt.hi %{{.+}}, %[[LOW]] : (i32, i32) -> i32
gpu.module @module {
  gpu.func @behind(%a: memref<?xf32>, %n: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %b = gpu.block_id x
    %t = gpu.thread_id x
    %row = arith.divui %t, %c8 : index
    %place = arith.addi %row, %b : index
    %x = memref.load %a[%place] : memref<?xf32>
    %y = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> (f32) {
      %z = arith.addf %s, %s : f32
      scf.yield %z : f32
    }
    %w = scf.for %i = %c0 to %n step %c1 iter_args(%s = %y) -> (f32) {
      %z = arith.mulf %s, %s : f32
      scf.yield %z : f32
    }
    memref.store %w, %a[%place] : memref<?xf32>
    gpu.return
  }
}

// -----

// The loop uses the place, so it is in a register anyway. A number that is loaded
// is not computed again.
// CHECK-LABEL: gpu.func @kept(
// CHECK-NOT: mbcnt
// CHECK: gpu.return
gpu.module @module {
  gpu.func @kept(%a: memref<?xf32>, %b: memref<?xi32>, %n: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %t = gpu.thread_id x
    %row = arith.divui %t, %c8 : index
    %word = memref.load %b[%row] : memref<?xi32>
    %loaded = arith.index_cast %word : i32 to index
    %other = arith.addi %loaded, %c8 : index
    %zero = arith.constant 0.0 : f32
    %y = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (f32) {
      %x = memref.load %a[%row] : memref<?xf32>
      %z = arith.addf %s, %x : f32
      scf.yield %z : f32
    }
    memref.store %y, %a[%row] : memref<?xf32>
    memref.store %y, %a[%other] : memref<?xf32>
    gpu.return
  }
}

// -----

// Without a loop nothing changes.
// CHECK-LABEL: gpu.func @straight(
// CHECK-NOT: readfirstlane
// CHECK: gpu.return
gpu.module @module {
  gpu.func @straight(%a: memref<?xf32>, %x: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    memref.store %x, %a[%t] : memref<?xf32>
    gpu.return
  }
}

// -----

// Lanes are neighbours along x in blocks of one row of threads only.
// CHECK-LABEL: gpu.func @rows(
// CHECK-NOT: readfirstlane
// CHECK: gpu.return
gpu.module @module {
  gpu.func @rows(%a: memref<?xf32>, %n: index) kernel attributes {known_block_size = array<i32: 16, 8, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t = gpu.thread_id x
    %x = memref.load %a[%t] : memref<?xf32>
    %y = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> (f32) {
      %z = arith.addf %s, %s : f32
      scf.yield %z : f32
    }
    memref.store %y, %a[%t] : memref<?xf32>
    gpu.return
  }
}
