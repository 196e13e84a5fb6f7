// Buffer types round-trip through text, the generic form and bytecode.
// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt | FileCheck %s
// RUN: tile-opt %s --emit-bytecode | tile-opt | FileCheck %s
// RUN: tile-opt %s --verify-roundtrip -o %t

// CHECK-DAG: #[[ONE:.+]] = #tile.strided<[1]>
// CHECK-DAG: #[[HEADS:.+]] = #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>
// CHECK-DAG: #[[SOME:.+]] = #tile.strided<[?, 4, 1]>
// CHECK-DAG: #[[ZERO:.+]] = #tile.strided<[0, 1], align = 8>
// CHECK-DAG: #[[MAP:.+]] = #tile.map<(d0, d1) -> (d1, d0)>
// CHECK-DAG: #[[ROWS:.+]] = #tile.strided<[20, 1], align = 16>

// CHECK-LABEL: func.func private @elements
// CHECK-SAME: (!tile.buffer<8xf16, #[[ONE]], global>,
// CHECK-SAME:  !tile.buffer<8xbf16, #[[ONE]], global>,
// CHECK-SAME:  !tile.buffer<8xf32, #[[ONE]], global>,
// CHECK-SAME:  !tile.buffer<8xi32, #[[ONE]], global>,
// CHECK-SAME:  !tile.buffer<8xi64, #[[ONE]], global>)
func.func private @elements(!tile.buffer<8xf16, #tile.strided<[1]>, global>,
                            !tile.buffer<8xbf16, #tile.strided<[1]>, global>,
                            !tile.buffer<8xf32, #tile.strided<[1]>, global>,
                            !tile.buffer<8xi32, #tile.strided<[1]>, global>,
                            !tile.buffer<8xi64, #tile.strided<[1]>, global>)

// CHECK-LABEL: func.func private @global
// CHECK-SAME: (!tile.buffer<?x?x?x128xf16, #[[HEADS]], global>,
// CHECK-SAME:  !tile.buffer<2x?x3xf32, #[[SOME]], global>,
// CHECK-SAME:  !tile.buffer<4x8xf32, #[[ZERO]], global>)
func.func private @global(
    !tile.buffer<?x?x?x128xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>,
    !tile.buffer<2x?x3xf32, #tile.strided<[?, 4, 1]>, global>,
    !tile.buffer<4x8xf32, #tile.strided<[0, 1], align = 8>, global>)

// CHECK-LABEL: func.func private @shared
// CHECK-SAME: (!tile.buffer<64x128xf16, #tile.swizzle<128>, shared>,
// CHECK-SAME:  !tile.buffer<3x64x32xf32, #tile.swizzle<64>, shared>,
// CHECK-SAME:  !tile.buffer<80x96xbf16, #tile.padded<8, order = [1, 0]>, shared>,
// CHECK-SAME:  !tile.buffer<16x16xi32, #[[ROWS]], shared>,
// CHECK-SAME:  !tile.buffer<128x64xf16, #tile.permute<[1, 0], #tile.swizzle<128>>, shared>)
func.func private @shared(
    !tile.buffer<64x128xf16, #tile.swizzle<128>, shared>,
    !tile.buffer<3x64x32xf32, #tile.swizzle<64>, shared>,
    !tile.buffer<80x96xbf16, #tile.padded<8, order = [1, 0]>, shared>,
    !tile.buffer<16x16xi32, #tile.strided<[20, 1], align = 16>, shared>,
    !tile.buffer<128x64xf16, #tile.permute<[1, 0], #tile.swizzle<128>>, shared>)

// An alignment of the size of an element is the default: both spellings are one
// type.
// CHECK-LABEL: func.func private @default_alignment
// CHECK-SAME: (!tile.buffer<8xf32, #[[ONE]], global>,
// CHECK-SAME:  !tile.buffer<8xf64, #[[ONE]], global>,
// CHECK-SAME:  !tile.buffer<8x8xf16, #[[MAP]], global>)
func.func private @default_alignment(
    !tile.buffer<8xf32, #tile.strided<[1], align = 4>, global>,
    !tile.buffer<8xf64, #tile.strided<[1], align = 8>, global>,
    !tile.buffer<8x8xf16, #tile.map<(l, d) -> (d, l), align = 2>, global>)

func.func @one_type(%a: !tile.buffer<8xf32, #tile.strided<[1], align = 4>, global>)
    -> !tile.buffer<8xf32, #tile.strided<[1]>, global> {
  return %a : !tile.buffer<8xf32, #tile.strided<[1]>, global>
}
