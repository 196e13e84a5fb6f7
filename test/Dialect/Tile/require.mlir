// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s --canonicalize | FileCheck %s --check-prefix=CANONICAL
// RUN: tile-translate %s --tile-to-ptx --chip=sm_80 --manifest=%t.json -o %t.ptx
// RUN: %python -c "import json,sys; [print(k['name'], json.dumps(k.get('requires'))) for k in json.load(open(sys.argv[1]))['kernels']]" %t.json \
// RUN:   | FileCheck %s --check-prefix=JSON

!rows = !tile.buffer<?x64xf32, #tile.strided<[64, 1]>, global>
!some = !tile.buffer<96x64xf32, #tile.strided<[64, 1]>, global>

// CHECK-LABEL: tile.kernel @relations
// CHECK-SAME: (%[[A:.+]]: !tile.buffer<?x64xf32{{.*}}, %[[B:.+]]: !tile.buffer<?x64xf32{{.*}}, %[[N:.+]]: index
// JSON: relations
// JSON-SAME: {"argument": 1, "dim": 0, "reason": "the rows of a", "relation": "equal", "value": ["dim", 0, 0]}
// JSON-SAME: {"argument": 1, "dim": 0, "reason": "twice the rows of a and n", "relation": "at_least", "value": ["add", ["mul", ["dim", 0, 0], 2], ["arg", 2]]}
// JSON-SAME: {"argument": 0, "dim": 0, "reason": "what fits", "relation": "at_most", "value": 1000}
// JSON-SAME: {"argument": 0, "dim": 0, "reason": "the rows of b", "relation": "multiple_of", "value": ["dim", 1, 0]}
tile.kernel @relations(%a: !rows, %b: !rows, %n: index) attributes {num_warps = 1 : i32} {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c1000 = arith.constant 1000 : index
  tile.grid %c1, %c1, %c1
  // CHECK: %[[ROWS:.+]] = tile.dim %[[A]][0]
  // CHECK: tile.require %[[B]][0] equal %[[ROWS]], "the rows of a" : !tile.buffer<?x64xf32
  %rows = tile.dim %a[0] : !rows
  tile.require %b[0] equal %rows, "the rows of a" : !rows
  // CHECK: tile.require %[[B]][0] at_least %{{.+}}, "twice the rows of a and n"
  %twice = arith.muli %rows, %c2 : index
  %more = arith.addi %twice, %n : index
  tile.require %b[0] at_least %more, "twice the rows of a and n" : !rows
  // CHECK: tile.require %[[A]][0] at_most %{{.+}}, "what fits"
  tile.require %a[0] at_most %c1000, "what fits" : !rows
  // CHECK: tile.require %[[A]][0] multiple_of %{{.+}}, "the rows of b"
  %few = tile.dim %b[0] : !rows
  tile.require %a[0] multiple_of %few, "the rows of b" : !rows
}

// Requirements on constants are not checked at launch.
// CANONICAL-LABEL: tile.kernel @known
// CANONICAL-NOT: tile.require
// JSON: known null
tile.kernel @known(%a: !some, %b: !some) attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c100 = arith.constant 100 : index
  tile.grid %c1, %c1, %c1
  %rows = tile.dim %a[0] : !some
  tile.require %b[0] equal %rows, "the rows of a" : !some
  tile.require %b[0] at_least %c32, "one block" : !some
  tile.require %b[0] at_most %c100, "what fits" : !some
  tile.require %b[0] multiple_of %c32, "whole blocks" : !some
}

