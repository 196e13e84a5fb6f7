// The manifest gives the shapes of scratch buffers as expressions of other arguments.
// RUN: tile-translate --tile-to-llvmir --chip=sm_90a %s -o /dev/null --manifest=%t.json
// RUN: %python -c "import json,sys; [print(s['name'], json.dumps(s['extents'])) for s in json.load(open(sys.argv[1]))['shapes']]" %t.json \
// RUN:   | FileCheck %s

!x = !tile.buffer<?x?xf32, #tile.strided<[?, 1]>, global>
!rows = !tile.buffer<?x?x4xf32, #tile.strided<[?:8, 4, 1]>, global>
!map = !tile.buffer<?x?xf32, #tile.map<(i, j) -> (i floordiv 8, j, i mod 8)>, global>

// Nothing determines the extents of x. Dense rows have strides that are multiples of 8, and the permuted layout of map has
// blocks of 8 rows; both kernels count.
// CHECK-NOT: x [
// CHECK: rows [{{\[}}"dim", "x", 1], ["mul", ["ceildiv", ["max", ["dim", "x", 0], ["arg", "n"]], 2], 2], 4]
// CHECK: map [{{\[}}"mul", ["ceildiv", ["dim", "rows", 1], 8], 8], 16]
tile.kernel @first(%x: !x {tile.name = "x"}, %rows: !rows {tile.name = "rows"}) {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %a = tile.dim %x[0] : !x
  %b = tile.dim %x[1] : !x
  tile.require %rows[0] equal %b, "the columns of x" : !rows
  tile.require %rows[1] at_least %a, "the rows of x" : !rows
}

tile.kernel @second(%n: index {tile.name = "n"}, %map: !map {tile.name = "map"}, %rows: !rows {tile.name = "rows"}) {
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  tile.grid %c1, %c1, %c1
  %a = tile.dim %rows[1] : !rows
  tile.require %rows[1] at_least %n, "the number" : !rows
  tile.require %map[0] at_least %a, "the rows" : !map
  tile.require %map[1] equal %c16, "the columns" : !map
}
