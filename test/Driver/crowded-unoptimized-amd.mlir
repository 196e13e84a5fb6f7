// A thread has so many values that no allocation of registers helps: optimized code spilled 25 KB
// of a thread and took 20 seconds to generate.
// RUN: tile-translate --tile-to-hsaco --chip=gfx1200 --remarks %s -o %t.hsaco 2>&1 | FileCheck %s
// RUN: tile-translate --resources %t.hsaco | FileCheck %s --check-prefix=RESOURCES
// CHECK: registers-crowded | Category:tile-driver | Reason="code is generated without optimization: the values of {{[0-9]+}} instructions take far more registers than 256"
// Vectors took 42 KB of a thread, blocks of 256 instructions 84.
// RESOURCES: "name":"unoptimized"{{.*}}"stack_bytes":{{3[0-9][0-9][0-9][0-9]}}

tile.kernel @unoptimized(
    %a1: !tile.buffer<12x12xbf16, #tile.strided<[?:4, 1], align = 4>, global> {tile.name = "a1"},
    %a3: !tile.buffer<64x56xf32, #tile.strided<[?, 1]>, global> {tile.name = "a3"},
    %a5: !tile.buffer<?x17xbf16, #tile.strided<[25, 1], align = 8>, global> {tile.name = "a5"},
    %a6: !tile.buffer<4xi32, #tile.strided<[1]>, global> {tile.name = "a6"},
    %o12: !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global> {tile.name = "o12"},
    %a13: !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 4>, global> {tile.name = "a13"},
    %o14: !tile.buffer<64x10xf32, #tile.strided<[?:2, 1], align = 8>, global> {tile.name = "o14"})
    attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  tile.grid %c1, %c1, %c1
  %x = tile.program_id x
  %y = tile.program_id y
  %v0 = tile.load %a1[%c0, %c0] : !tile.buffer<12x12xbf16, #tile.strided<[?:4, 1], align = 4>, global> -> tensor<17x17xbf16>
  %v3 = tile.load %a3[%c0, %c0] : !tile.buffer<64x56xf32, #tile.strided<[?, 1]>, global> -> tensor<64x64xf32>
  %t1 = arith.constant 0.00390625 : f32
  %v4 = tensor.splat %t1 : tensor<64x64xf32>
  %v5 = arith.mulf %v3, %v4 : tensor<64x64xf32>
  %v6 = tile.unit_triangular_inverse %v5 : tensor<64x64xf32>
  %v14 = scf.for %i4 = %c0 to %c3 step %c1 iter_args(%v8 = %v0) -> (tensor<17x17xbf16>) {
    %v10 = tile.load %a5[%c0, %c0] : !tile.buffer<?x17xbf16, #tile.strided<[25, 1], align = 8>, global> -> tensor<17x17xbf16>
    %v11 = arith.constant dense<0.5> : tensor<17x17xbf16>
    %v12 = arith.mulf %v8, %v11 fastmath<reassoc> : tensor<17x17xbf16>
    %v13 = arith.addf %v12, %v10 fastmath<reassoc> : tensor<17x17xbf16>
    scf.yield %v13 : tensor<17x17xbf16>
  }
  %v15 = tile.reduce addf %v14 along 0 : tensor<17x17xbf16> -> tensor<17xbf16>
  %v16 = tile.broadcast %v15 along 0 : tensor<17xbf16> -> tensor<17x17xbf16>
  %v17 = tile.scan addf %v16 along 1 : tensor<17x17xbf16>
  %t3 = tile.load_scalar %a6[%x] : !tile.buffer<4xi32, #tile.strided<[1]>, global> -> i32
  %t4 = arith.constant 0 : i32
  %t2 = arith.cmpi sgt, %t3, %t4 : i32
  %v27 = scf.if %t2 -> (tensor<17x17xbf16>) {
    scf.yield %v0 : tensor<17x17xbf16>
  } else {
    scf.yield %v14 : tensor<17x17xbf16>
  }
  %v28 = tile.iota along 1 : tensor<64x64xi32>
  %t5 = arith.constant 6 : i32
  %v29 = tensor.splat %t5 : tensor<64x64xi32>
  %v30 = arith.cmpi slt, %v28, %v29 : tensor<64x64xi32>
  %t6 = arith.constant 0xFF800000 : f32
  %v31 = tensor.splat %t6 : tensor<64x64xf32>
  %v32 = arith.select %v30, %v6, %v31 : tensor<64x64xi1>, tensor<64x64xf32>
  %v33 = tile.reduce maxnumf %v32 along 1 : tensor<64x64xf32> -> tensor<64xf32>
  %v34 = tile.broadcast %v33 along 1 : tensor<64xf32> -> tensor<64x64xf32>
  %v35 = arith.subf %v32, %v34 : tensor<64x64xf32>
  %v36 = math.exp2 %v35 : tensor<64x64xf32>
  %v37 = tile.reduce addf %v36 along 1 : tensor<64x64xf32> -> tensor<64xf32>
  %v38 = tile.broadcast %v37 along 1 : tensor<64xf32> -> tensor<64x64xf32>
  %v39 = arith.divf %v36, %v38 : tensor<64x64xf32>
  tile.atomic_rmw addf %v17, %o12[%c0, %c0] : tensor<17x17xbf16>, !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 16>, global>
  tile.atomic_rmw addf %v27, %a13[%c0, %c0] : tensor<17x17xbf16>, !tile.buffer<?x?xbf16, #tile.strided<[?:8, 1], align = 4>, global>
  tile.store %v39, %o14[%c0, %c0] : tensor<64x64xf32>, !tile.buffer<64x10xf32, #tile.strided<[?:2, 1], align = 8>, global>
}

