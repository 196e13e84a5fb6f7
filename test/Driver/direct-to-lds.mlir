// C = A * B^T on chips whose waves copy to the LDS without registers. Both operands are
// contiguous along the contracted dimension, so all copies of the loop do.
//
// RUN: tile-translate --tile-to-hsaco --chip=gfx950 %s -o %t.gfx950 --resources | FileCheck %s --check-prefix=RES
// RUN: llvm-objdump -d %t.gfx950 | FileCheck %s --check-prefixes=ASM,GFX950 --implicit-check-not='{{global_load_lds.* offset:|ds_write}}'
// RUN: tile-translate --tile-to-hsaco --chip=gfx942 %s -o %t.gfx942
// RUN: llvm-objdump -d %t.gfx942 | FileCheck %s --check-prefixes=ASM,GFX942 --implicit-check-not='{{global_load_lds.* offset:|ds_write}}'

// The instruction of gfx90a has another name.
// RUN: tile-translate --tile-to-hsaco --chip=gfx90a %s -o %t.gfx90a
// RUN: llvm-objdump -d %t.gfx90a | FileCheck %s --check-prefix=GFX90A --implicit-check-not='{{offset:.* lds|ds_write}}'
// GFX90A: s_waitcnt vmcnt(16) lgkmcnt(0)
// GFX90A-NEXT: s_barrier
// GFX90A: global_load_dword v{{.*}} lds
// GFX90A-NOT: vmcnt(0)

// Without stages in the schedule, the copies go through registers.
// RUN: sed 's/ {tile.schedule = .*}//' %s | tile-translate --tile-to-hsaco --chip=gfx950 - -o %t.plain
// RUN: llvm-objdump -d %t.plain | FileCheck %s --check-prefix=PLAIN

// RES: "shared_bytes":49152,"spill_bytes":0

// A wait leaves the copies of the newer group in flight: four instructions on gfx950 and
// sixteen on gfx942. The barrier does not wait for them. The
// hardware adds the offset of an instruction to both addresses, so there is none.
// GFX950: global_load_lds_dwordx4
// GFX942: global_load_lds_dword v
// ASM: ds_read_b
// GFX950: s_waitcnt vmcnt(4) lgkmcnt(0)
// GFX942: s_waitcnt vmcnt(16) lgkmcnt(0)
// ASM-NEXT: s_barrier
// A branch skips the wait for all copies where newer ones follow.
// ASM-NEXT: s_cbranch_vccz
// ASM-NEXT: s_waitcnt vmcnt(0)
// ASM-NOT: vmcnt(0)
// GFX950: global_load_lds_dwordx4
// GFX942: global_load_lds_dword v
// ASM-NOT: vmcnt(0)

// PLAIN-NOT: global_load_lds
// PLAIN: ds_write_b128

!matrix = !tile.buffer<?x200xf16, #tile.strided<[?:8, 1], align = 16>, global>
// Threads store four neighbouring elements together; otherwise, the result would go through the LDS.
!result = !tile.buffer<?x?xf32, #tile.strided<[?:4, 1], align = 16>, global>

tile.kernel @gemm(%a: !matrix, %b: !matrix, %c: !result) attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %m = tile.dim %a[0] : !matrix
  %n = tile.dim %b[0] : !matrix
  %k = tile.dim %a[1] : !matrix
  %rows = arith.ceildivui %m, %c64 : index
  %columns = arith.ceildivui %n, %c64 : index
  tile.grid %rows, %columns, %c1
  %x = tile.program_id x
  %y = tile.program_id y
  %row = arith.muli %x, %c64 : index
  %column = arith.muli %y, %c64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> tensor<64x64xf32> {
    %at = tile.load %a[%row, %i] : !matrix -> tensor<64x64xf16>
    %bt = tile.load %b[%column, %i] : !matrix -> tensor<64x64xf16>
    %btt = tile.transpose %bt [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>
    %d = tile.dot %at, %btt, %acc : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  } {tile.schedule = #tile.schedule<stages = 3>}
  tile.store %sum, %c[%row, %column] : tensor<64x64xf32>, !result
}
