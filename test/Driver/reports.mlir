// Assertions and prints in PTX and in code objects.
// RUN: tile-translate --tile-to-ptx --chip=sm_80 %s -o - | FileCheck %s --check-prefix=PTX
// RUN: tile-translate --tile-to-ptx --chip=sm_80 --no-assertions %s -o - | FileCheck %s --check-prefix=PRINTS
// RUN: sed /tile.print/d %s | tile-translate --tile-to-hsaco --chip=gfx942 -o %t.gfx942
// RUN: llvm-objdump -d %t.gfx942 | FileCheck %s --check-prefix=AMD
// RUN: llvm-readelf --notes %t.gfx942 | FileCheck %s --check-prefix=NOTES
// RUN: sed /tile.print/d %s | tile-translate --tile-to-hsaco --chip=gfx1201 -o %t.gfx1201
// RUN: llvm-objdump -d %t.gfx1201 | FileCheck %s --check-prefix=AMD
// RUN: not tile-translate --tile-to-hsaco --chip=gfx942 %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=PRINT
// RUN: tile-translate --tile-to-llvmir --chip=gfx942 %s -o - | FileCheck %s --check-prefix=IR

// PTX: .extern .func (.param .b32 func_retval0) vprintf
// PTX: .func tile_assert_failed(
// PTX: vprintf
// PTX: trap;
// PTX: .entry reports
// Eight elements stay one access.
// PTX: ld.global.v4.b32
// PTX: vprintf
// PTX: call.uni tile_assert_failed
// PTX: st.global.v4.b32

// The print of a number remains.
// PRINTS-NOT: tile_assert_failed
// PRINTS: vprintf
// PRINTS-NOT: tile_assert_failed

// AMD: s_trap 2
// NOTES: .private_segment_fixed_size: 0

// PRINT: reports.mlir:[[@LINE+17]]:3: error: prints, which a code object for gfx942 cannot; the executor (tile-run) runs the program and prints

// IR: call i32 @vprintf(
// IR: call void @tile_assert_failed(

!b = !tile.buffer<?xf16, #tile.strided<[1], align = 16>, global>

tile.kernel @reports(%src: !b, %dst: !b) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c512 = arith.constant 512 : index
  tile.grid %c1, %c1, %c1
  %n = tile.dim %src[0] : !b
  %fits = arith.cmpi uge, %n, %c512 : index
  %zero = arith.constant dense<0.0> : tensor<512xf16>
  %t = tile.load %src[%c0] : !b -> tensor<512xf16>
  %sign = arith.cmpf oge, %t, %zero : tensor<512xf16>
  tile.print "n" %n : index
  tile.assert %fits, "src is too short" : i1
  tile.assert %sign, "an element is negative" : tensor<512xi1>
  tile.store %t, %dst[%c0] : tensor<512xf16>, !b
}
