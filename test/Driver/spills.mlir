// A remark says what the threads of a kernel spill: here elements of rows that
// may begin anywhere, each read and written behind a check of its own.
// RUN: tile-translate --tile-to-hsaco --chip=gfx1201 --remarks --schedule='params = {BM = 32, BN = 256}, warps = 1' %s -o /dev/null 2>&1 | FileCheck %s
// RUN: tile-translate --tile-to-hsaco --chip=gfx1201 --remarks --schedule='params = {BM = 16, BN = 64}, warps = 1' %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: %if ptxas %{ tile-translate --tile-to-ptx --chip=sm_80 --remarks --resources --schedule='params = {BM = 32, BN = 256}, warps = 1' %s -o /dev/null 2>&1 | FileCheck %s %}
// RUN: %if ptxas %{ tile-translate --tile-to-ptx --chip=sm_80 --remarks --resources --schedule='params = {BM = 16, BN = 64}, warps = 1' %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE %}

// The extents that the compiler chooses leave a register for each element.
// RUN: for chip in gfx1100 gfx1201 gfx942; do \
// RUN:   tile-translate --tile-to-hsaco --chip=$chip --remarks %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE || exit 1; done

// CHECK: spills.mlir:[[#@LINE+6]]:1: remark: [Missed] registers-spilled | Category:tile-driver | Reason="a thread has {{[0-9]+}} registers and spills {{[1-9][0-9]*}} bytes of others; its private memory has {{[1-9][0-9]*}} bytes"
// NONE: remark: [Analysis] registers |
// NONE-NOT: registers-spilled

!table = !tile.buffer<?x?xf16, #tile.strided<[?, 1]>, global>
!ids = !tile.buffer<?xi32, #tile.strided<[1]>, global>
tile.kernel @embedding(%table: !table, %ids: !ids, %out: !table) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bm = tile.param BM in [16, 32, 64, 128, 256]
  %bn = tile.param BN in [32, 64, 128, 256]
  %count = tile.dim %ids[0] : !ids
  %width = tile.dim %table[1] : !table
  %rows = arith.ceildivui %count, %bm : index
  %columns = arith.ceildivui %width, %bn : index
  tile.grid %rows, %columns, %c1
  %x = tile.program_id x
  %y = tile.program_id y
  %row = arith.muli %x, %bm : index
  %column = arith.muli %y, %bn : index
  %i = tile.load %ids[%row] : !ids -> tensor<?xi32, #tile.open<BM>>
  %t = tile.gather %table[%c0, %column] along 0 by %i : !table, tensor<?xi32, #tile.open<BM>> -> tensor<?x?xf16, #tile.open<BM, BN>>
  tile.store %t, %out[%row, %column] : tensor<?x?xf16, #tile.open<BM, BN>>, !table
}
