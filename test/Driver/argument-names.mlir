// Arguments are named by their `tile.name`, else by their name in the text,
// else by `arg` and their number.

// RUN: split-file %s %t
// RUN: tile-translate --tile-to-ptx --chip=sm_80 %t/kernel.mlir -o /dev/null --manifest=%t.json
// RUN: FileCheck %t/kernel.mlir --input-file=%t.json
// RUN: tile-translate --tile-to-ptx --chip=sm_80 %t/attention.mlir -o /dev/null --manifest=%t.json
// RUN: FileCheck %t/attention.mlir --input-file=%t.json

// Bytecode has no names.
// RUN: tile-opt %t/kernel.mlir --emit-bytecode -o %t.mlirbc
// RUN: tile-translate --tile-to-ptx --chip=sm_80 %t.mlirbc -o /dev/null --manifest=%t.json
// RUN: FileCheck %s --input-file=%t.json --check-prefix=BYTECODE
// BYTECODE: "name": "arg0"
// BYTECODE: "name": "arg1"
// BYTECODE: "name": "src"

// The executor knows the names.
// RUN: not tile-run %t/kernel.mlir --chip=sm_80 --arg=zeros:128:f32 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error: argument 1 'n_blocks' (i32) is not given: say --arg

//--- kernel.mlir
// CHECK: "name": "copy"
// CHECK: "name": "out.0"
// CHECK: "name": "n_blocks"
// CHECK: "name": "src"
// CHECK: "name": "arg3"
// CHECK: "name": "arg4"
// CHECK: "name": "arg5"
!b = !tile.buffer<128xf32, #tile.strided<[1]>, global>
tile.kernel @copy(%out.0: !b, %n_blocks: i32, %x: !b {tile.name = "src"}, %0: i32, %arg1: i32, %src: i32)
    attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %blocks = arith.index_cast %n_blocks : i32 to index
  tile.grid %blocks, %c1, %c1
  %t = tile.load %x[%c0] : !b -> tensor<128xf32>
  tile.store %t, %out.0[%c0] : tensor<128xf32>, !b
}

//--- attention.mlir
// CHECK: "name": "f"
// CHECK: "name": "queries"
// CHECK: "name": "keys"
// CHECK: "name": "values"
// CHECK: "name": "out"
// CHECK: "name": "scale"
!b = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
func.func @f(%queries: !b, %keys: !b, %values: !b, %out: !b, %scale: f32) {
  tile.attention %queries, %keys, %values, %out scale %scale : !b, !b, !b, !b
  return
}
