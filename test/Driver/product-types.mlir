// The instructions for products of i8 and of f32, on every chip.
//
// RUN: tile-translate --tile-to-ptx --chip=sm_80 %s | FileCheck %s --check-prefix=SYNC
// RUN: tile-translate --tile-to-ptx --chip=sm_89 %s | FileCheck %s --check-prefix=SYNC
// RUN: tile-translate --tile-to-ptx --chip=sm_100a %s | FileCheck %s --check-prefix=SYNC
// RUN: tile-translate --tile-to-ptx --chip=sm_103a %s | FileCheck %s --check-prefix=SYNC
// RUN: tile-translate --tile-to-ptx --chip=sm_120a %s | FileCheck %s --check-prefix=SYNC
// RUN: tile-translate --tile-to-ptx --chip=sm_90a %s | FileCheck %s --check-prefix=SM90
// RUN: tile-translate --tile-to-hsaco --chip=gfx90a %s -o %t.gfx90a
// RUN: llvm-objdump -d %t.gfx90a | FileCheck %s --check-prefix=GFX90A
// RUN: tile-translate --tile-to-hsaco --chip=gfx1151 %s -o %t.gfx1151
// RUN: llvm-objdump -d %t.gfx1151 | FileCheck %s --check-prefix=RDNA
// RUN: tile-translate --tile-to-hsaco --chip=gfx1200 %s -o %t.gfx1200
// RUN: llvm-objdump -d %t.gfx1200 | FileCheck %s --check-prefix=RDNA
// RUN: tile-translate --tile-to-hsaco --chip=gfx942 %s -o %t.gfx942
// RUN: llvm-objdump -d %t.gfx942 | FileCheck %s --check-prefixes=CDNA,GFX942
// RUN: tile-translate --tile-to-hsaco --chip=gfx950 %s -o %t.gfx950
// RUN: llvm-objdump -d %t.gfx950 | FileCheck %s --check-prefixes=CDNA,GFX950
// RUN: tile-translate --tile-to-hsaco --chip=gfx1100 %s -o %t.gfx1100
// RUN: llvm-objdump -d %t.gfx1100 | FileCheck %s --check-prefix=RDNA
// RUN: tile-translate --tile-to-hsaco --chip=gfx1201 %s -o %t.gfx1201
// RUN: llvm-objdump -d %t.gfx1201 | FileCheck %s --check-prefix=RDNA

// SYNC-LABEL: .entry i8(
// SYNC: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// SYNC: mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32
// SYNC-LABEL: .entry f32(
// SYNC: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// SYNC: cvt.rna.tf32.f32
// SYNC: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// SYNC-LABEL: .entry columns(
// SYNC-NOT: .trans
// SYNC: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32

// SM90-LABEL: .entry i8(
// SM90: wgmma.mma_async.sync.aligned.m64n64k32.s32.s8.s8
// SM90-LABEL: .entry f32(
// SM90: wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32
// SM90-LABEL: .entry columns(
// SM90-NOT: .trans
// SM90: cvt.rna.tf32.f32
// SM90: wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32
// SM90-NOT: mma.sync

// GFX90A-LABEL: <i8>:
// GFX90A: v_mfma_i32_32x32x8i8
// GFX90A-LABEL: <f32>:
// GFX90A: v_mfma_f32_32x32x2f32

// CDNA-LABEL: <i8>:
// GFX942: v_mfma_i32_32x32x16_i8
// GFX950: v_mfma_i32_32x32x32_i8
// CDNA-LABEL: <f32>:
// CDNA: v_mfma_f32_32x32x2_f32

// RDNA-LABEL: <i8>:
// RDNA: v_wmma_i32_16x16x16_iu8 {{.*}} neg_lo:[1,1,0]
// RDNA-LABEL: <f32>:
// RDNA: v_wmma_f32_16x16x16_bf16

#b = #tile.strided<[?:16, 1], align = 16>
!bytes = !tile.buffer<?x?xi8, #b, global>
!words = !tile.buffer<?x?xf32, #b, global>
!sums = !tile.buffer<?x?xi32, #b, global>

tile.kernel @i8(%x: !bytes, %y: !bytes, %z: !sums) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %none = arith.constant dense<0> : tensor<64x64xi32>
  %a = tile.load %x[%c0, %c0] : !bytes -> tensor<64x64xi8>
  %bt = tile.load %y[%c0, %c0] : !bytes -> tensor<64x64xi8>
  %b = tile.transpose %bt [1, 0] : tensor<64x64xi8> -> tensor<64x64xi8>
  %d = tile.dot %a, %b, %none : tensor<64x64xi8>, tensor<64x64xi8> -> tensor<64x64xi32>
  tile.store %d, %z[%c0, %c0] : tensor<64x64xi32>, !sums
}

tile.kernel @f32(%x: !words, %y: !words, %z: !words) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = tile.load %x[%c0, %c0] : !words -> tensor<64x64xf32>
  %bt = tile.load %y[%c0, %c0] : !words -> tensor<64x64xf32>
  %b = tile.transpose %bt [1, 0] : tensor<64x64xf32> -> tensor<64x64xf32>
  %d = tile.dot %a, %b, %zero precision(tf32) : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  tile.store %d, %z[%c0, %c0] : tensor<64x64xf32>, !words
}

// b is contiguous along its columns: no wgmma of these elements reads it, and no ldmatrix transposes it.
tile.kernel @columns(%x: !words, %y: !words, %z: !words) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = tile.load %x[%c0, %c0] : !words -> tensor<64x64xf32>
  %b = tile.load %y[%c0, %c0] : !words -> tensor<64x64xf32>
  %d = tile.dot %a, %b, %zero precision(tf32) : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  tile.store %d, %z[%c0, %c0] : tensor<64x64xf32>, !words
}
