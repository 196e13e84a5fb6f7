// Scalar arguments of every type, in PTX and in the manifest.
//
// RUN: tile-translate --tile-to-ptx --chip=sm_80 %s -o - --manifest=%t.json | FileCheck %s --check-prefix=PTX
// RUN: FileCheck %s --check-prefix=MANIFEST < %t.json
// RUN: tile-translate --tile-to-hsaco --chip=gfx942 %s -o %t.hsaco
// RUN: llvm-readelf --notes %t.hsaco | FileCheck %s --check-prefix=AMD

// PTX: .param .align 2 .b8 scalars_param_2[2]
// PTX: .param .align 2 .b8 scalars_param_3[2]
// PTX: .param .f32 scalars_param_4
// PTX: .param .f64 scalars_param_5
// A condition is one byte.
// PTX: .param .u8 scalars_param_6
// PTX: ld.param.b8 [[FLAG:%rs[0-9]+]], [scalars_param_6]
// PTX: and.b16 {{.*}}, [[FLAG]], 1

// MANIFEST: "type": "f16"
// MANIFEST: "type": "bf16"
// MANIFEST: "type": "f32"
// MANIFEST: "type": "f64"
// MANIFEST: "type": "i1"
// MANIFEST: "type": "i32"
// MANIFEST: "type": "i64"

// AMD: .offset: 16
// AMD: .size: 2
// AMD: .offset: 18
// AMD: .size: 2
// AMD: .offset: 20
// AMD: .size: 4
// AMD: .offset: 24
// AMD: .size: 8
// AMD: .offset: 32
// AMD: .size: 1
// AMD: .offset: 36
// AMD: .size: 4
// AMD: .offset: 40
// AMD: .size: 8

!out = !tile.buffer<?xf32, #tile.strided<[1]>, global>

tile.kernel @scalars(%out: !out, %h: f16, %b: bf16, %s: f32, %d: f64, %flag: i1,
                     %i: i32, %j: i64) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %h32 = arith.extf %h : f16 to f32
  %b32 = arith.extf %b : bf16 to f32
  %d32 = arith.truncf %d : f64 to f32
  %hb = arith.addf %h32, %b32 : f32
  %sd = arith.addf %s, %d32 : f32
  %x = arith.select %flag, %hb, %sd : f32
  %j32 = arith.trunci %j : i64 to i32
  %ij = arith.addi %i, %j32 : i32
  %y = arith.sitofp %ij : i32 to f32
  %z = arith.addf %x, %y : f32
  %tile = tensor.splat %z : tensor<64xf32>
  tile.store %tile, %out[%c0] : tensor<64xf32>, !out
}
