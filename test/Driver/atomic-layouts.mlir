// The accumulator of dQ, from tiles to instructions. With the author's layout,
// every atomic of a warp adds 32 contiguous elements, and a vector would
// corrupt dQ. With the compiler's layout each lane adds one vector.

// RUN: split-file %s %t
// RUN: tile-translate --tile-to-ptx --chip=sm_90a %t/author.mlir --manifest=%t/author.json | FileCheck %s --check-prefix=AUTHOR
// RUN: tile-translate --tile-to-ptx --chip=sm_80 %t/author.mlir | FileCheck %s --check-prefix=AUTHOR
// RUN: FileCheck %s --check-prefix=MANIFEST < %t/author.json
// RUN: tile-translate --tile-to-ptx --chip=sm_90a %t/compiler.mlir | FileCheck %s --check-prefix=COMPILER
// RUN: tile-translate --tile-to-ptx --chip=sm_80 %t/compiler.mlir | FileCheck %s --check-prefix=AUTHOR
// RUN: tile-translate --tile-to-hsaco --chip=gfx942 %t/compiler.mlir -o %t/942 && llvm-objdump -d %t/942 | FileCheck %s --check-prefix=GFX942
// RUN: tile-run --chip=sm_90a %t/author.mlir --arg=a=random:250x64:f16:1 --arg=b=random:64x64:f16:2 --arg=dq=zeros:256x64:f32
// RUN: not tile-run --chip=sm_90a %t/author.mlir --arg=a=random:250x64:f16:1 --arg=b=random:64x64:f16:2 --arg=dq=zeros:250x64:f32 2>&1 | FileCheck %s --check-prefix=SHORT

// AUTHOR-LABEL: .entry add(
// AUTHOR-NOT: .v2.f32
// AUTHOR-NOT: .v4.f32
// AUTHOR-COUNT-32: atom.global.add.f32
// AUTHOR-NOT: atom.global
// AUTHOR: ret;

// COMPILER-LABEL: .entry add(
// COMPILER-COUNT-8: red.global.add.v4.f32
// COMPILER-NOT: {{red|atom}}.
// COMPILER-LABEL: .entry read(
// COMPILER-COUNT-8: ld.global.v4.b32

// GFX942-LABEL: <add>:
// GFX942-NOT: s_cbranch
// GFX942-COUNT-16: buffer_atomic_add_f32
// GFX942-NOT: {{s_cbranch|_atomic}}
// GFX942-LABEL: <read>:

// MANIFEST: "name": "dq"
// MANIFEST-NEXT: "rank": 2
// MANIFEST-NEXT: "shape": [
// MANIFEST-NEXT: null,
// MANIFEST-NEXT: 64
// MANIFEST-NEXT: ],
// MANIFEST-NEXT: "storage": [
// MANIFEST-NEXT: "mul",
// MANIFEST-NEXT: [
// MANIFEST-NEXT: "ceildiv",
// MANIFEST-NEXT: [
// MANIFEST-NEXT: "dim",
// MANIFEST-NEXT: 2,
// MANIFEST-NEXT: 0
// MANIFEST-NEXT: ],
// MANIFEST-NEXT: 8
// MANIFEST-NEXT: ],
// MANIFEST-NEXT: 512
// MANIFEST-NEXT: ],
// MANIFEST-NEXT: "type": "f32"

// SHORT: argument 2 'dq': spans 16000 elements, must span 16384: its layout stores whole blocks

//--- author.mlir
!h = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!dq = !tile.buffer<?x64xf32, #tile.map<(l, d) -> (l floordiv 8, d floordiv 8, d mod 2, 4 * (l mod 8) + (d mod 8) floordiv 2), align = 16>, global>
tile.kernel @add(%a: !h {tile.name = "a"}, %b: !h {tile.name = "b"}, %dq: !dq {tile.name = "dq"})
    attributes {num_warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %rows = tile.dim %a[0] : !h
  %blocks = arith.ceildivui %rows, %c32 : index
  tile.grid %blocks, %c1, %c1
  %block = tile.program_id x
  %row = arith.muli %block, %c32 : index
  %at = tile.load %a[%row, %c0] : !h -> tensor<32x64xf16>
  %bt = tile.load %b[%c0, %c0] : !h -> tensor<64x64xf16>
  %zero = arith.constant dense<0.0> : tensor<32x64xf32>
  %d = tile.dot %at, %bt, %zero : tensor<32x64xf16>, tensor<64x64xf16> -> tensor<32x64xf32>
  tile.atomic_rmw addf %d, %dq[%row, %c0] : tensor<32x64xf32>, !dq
}

//--- compiler.mlir
!h = !tile.buffer<?x64xf16, #tile.strided<[64, 1], align = 16>, global>
!dq = !tile.buffer<?x64xf32, #tile.strided<[64, 1], align = 16>, global>
tile.kernel @add(%a: !h, %b: !h, %dq: !dq {tile.name = "dq", tile.accumulator})
    attributes {num_warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %rows = tile.dim %a[0] : !h
  %blocks = arith.ceildivui %rows, %c32 : index
  tile.grid %blocks, %c1, %c1
  %block = tile.program_id x
  %row = arith.muli %block, %c32 : index
  %at = tile.load %a[%row, %c0] : !h -> tensor<32x64xf16>
  %bt = tile.load %b[%c0, %c0] : !h -> tensor<64x64xf16>
  %zero = arith.constant dense<0.0> : tensor<32x64xf32>
  %d = tile.dot %at, %bt, %zero : tensor<32x64xf16>, tensor<64x64xf16> -> tensor<32x64xf32>
  tile.atomic_rmw addf %d, %dq[%row, %c0] : tensor<32x64xf32>, !dq
}
tile.kernel @read(%dq: !dq {tile.name = "dq", tile.accumulator}, %out: !dq)
    attributes {num_warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.load %dq[%c0, %c0] : !dq -> tensor<32x64xf32>
  tile.store %t, %out[%c0, %c0] : tensor<32x64xf32>, !dq
}
