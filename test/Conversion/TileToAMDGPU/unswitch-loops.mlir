// A loop with products has a copy without the branches that a number skips which is the
// same in all iterations and in all threads of a block.
// RUN: tile-opt %s --tile-attach-target="chip=gfx1201" --tile-to-amdgpu --canonicalize --split-input-file | FileCheck %s

// Two branches, of which one has no result, and two numbers. Where both are false, there
// is no branch, and a use of such a number is false.
// CHECK-LABEL: gpu.func @loop(
// CHECK-SAME: %{{.+}}: memref<?xf16>, %[[ODD:.+]]: i1, %{{.+}}: index
// CHECK: %[[OTHER:.+]] = arith.cmpi ne
// CHECK: %[[ANY:.+]] = arith.ori %[[ODD]], %[[OTHER]] : i1
// CHECK: %[[SUM:.+]] = scf.if %[[ANY]] -> (vector<8xf32>) {
// CHECK: scf.for
// CHECK: scf.if
// CHECK: memref.store
// CHECK: scf.if
// CHECK: amdgpu.wmma
// CHECK: } else {
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK-NOT: memref.store
// CHECK: amdgpu.wmma
// CHECK: vector.store %{{.+}}, %{{.+}} : memref<?xf32>
// CHECK: return
gpu.module @module {
  gpu.func @loop(%a: memref<?xf16>, %odd: i1, %n: index, %o: memref<?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c7 = arith.constant 7 : index
    %h = arith.constant 1.0 : f16
    %zero = arith.constant dense<0.0> : vector<8xf32>
    %t = gpu.thread_id x
    %rest = arith.andi %n, %c7 : index
    %other = arith.cmpi ne, %rest, %c0 : index
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (vector<8xf32>) {
      %place = arith.addi %i, %t : index
      %last = arith.cmpi sgt, %place, %n : index
      %first = arith.andi %last, %odd : i1
      scf.if %first {
        memref.store %h, %a[%i] : memref<?xf16>
      }
      %x = vector.load %a[%place] : memref<?xf16>, vector<8xf16>
      %second = arith.andi %other, %last : i1
      %y = scf.if %second -> (vector<8xf16>) {
        %z = arith.addf %x, %x : vector<8xf16>
        %v = arith.mulf %z, %x : vector<8xf16>
        %w = arith.addf %v, %z : vector<8xf16>
        scf.yield %w : vector<8xf16>
      } else {
        scf.yield %x : vector<8xf16>
      }
      %d = tile_gpu.mma "wmma.gfx12.16x16x16.f16" %y, %y, %s : vector<8xf16>, vector<8xf16>, vector<8xf32>
      scf.yield %d : vector<8xf32>
    }
    vector.store %sum, %o[%t] : memref<?xf32>, vector<8xf32>
    gpu.return
  }
}

// -----

// One copy stays where threads differ in the number, where an iteration computes it, where
// the branches are a small part of the loop, and without products.
// CHECK-LABEL: gpu.func @kept(
// CHECK-COUNT-4: scf.for
// CHECK-NOT: scf.for
// CHECK: return
gpu.module @module {
  gpu.func @kept(%a: memref<?xf16>, %odd: i1, %n: index, %o: memref<?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %h = arith.constant 1.0 : f16
    %zero = arith.constant dense<0.0> : vector<8xf32>
    %t = gpu.thread_id x
    %active = arith.cmpi ult, %t, %n : index
    %x = vector.load %a[%t] : memref<?xf16>, vector<8xf16>
    %threads = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (vector<8xf32>) {
      %last = arith.cmpi sgt, %i, %t : index
      %both = arith.andi %last, %active : i1
      scf.if %both {
        memref.store %h, %a[%i] : memref<?xf16>
        memref.store %h, %a[%t] : memref<?xf16>
        memref.store %h, %a[%n] : memref<?xf16>
      }
      %d = tile_gpu.mma "wmma.gfx12.16x16x16.f16" %x, %x, %s : vector<8xf16>, vector<8xf16>, vector<8xf32>
      scf.yield %d : vector<8xf32>
    }
    %iterations = scf.for %i = %c0 to %n step %c1 iter_args(%s = %threads) -> (vector<8xf32>) {
      %last = arith.cmpi sgt, %i, %t : index
      scf.if %last {
        memref.store %h, %a[%i] : memref<?xf16>
        memref.store %h, %a[%t] : memref<?xf16>
        memref.store %h, %a[%n] : memref<?xf16>
      }
      %d = tile_gpu.mma "wmma.gfx12.16x16x16.f16" %x, %x, %s : vector<8xf16>, vector<8xf16>, vector<8xf32>
      scf.yield %d : vector<8xf32>
    }
    %small = scf.for %i = %c0 to %n step %c1 iter_args(%s = %iterations) -> (vector<8xf32>) {
      %last = arith.cmpi sgt, %i, %t : index
      %both = arith.andi %last, %odd : i1
      scf.if %both {
        memref.store %h, %a[%i] : memref<?xf16>
      }
      %d = tile_gpu.mma "wmma.gfx12.16x16x16.f16" %x, %x, %s : vector<8xf16>, vector<8xf16>, vector<8xf32>
      %e = tile_gpu.mma "wmma.gfx12.16x16x16.f16" %x, %x, %d : vector<8xf16>, vector<8xf16>, vector<8xf32>
      %f = tile_gpu.mma "wmma.gfx12.16x16x16.f16" %x, %x, %e : vector<8xf16>, vector<8xf16>, vector<8xf32>
      scf.yield %f : vector<8xf32>
    }
    scf.for %i = %c0 to %n step %c1 {
      %last = arith.cmpi sgt, %i, %t : index
      %both = arith.andi %last, %odd : i1
      scf.if %both {
        memref.store %h, %a[%i] : memref<?xf16>
        memref.store %h, %a[%t] : memref<?xf16>
        memref.store %h, %a[%n] : memref<?xf16>
      }
    }
    vector.store %small, %o[%t] : memref<?xf32>, vector<8xf32>
    gpu.return
  }
}
