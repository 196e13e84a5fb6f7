// REQUIRES: ptxas
// ptxas assembles kernels that check and print, with warp roles and products, too.
// DEFINE: %{gemm} = %tile_src_root/examples/gemm.mlir
// DEFINE: %{edit} = sed -e 's/^    scf.yield %next/    tile.print "i" %i : index\n    %number = arith.cmpf oeq, %next, %next : !acc\n    tile.assert %number, "NaN" : tensor<?x?xi1, #tile.open<BM, BN>>\n    tile.print "sum" %next : !acc\n&/'
// RUN: %{edit} %{gemm} | tile-translate --tile-to-ptx --chip=sm_80 -o %t.80
// RUN: %ptxas -arch=sm_80 %t.80 -o /dev/null
// RUN: %{edit} %{gemm} | tile-translate --tile-to-ptx --chip=sm_90a -o %t.90 --schedule='params = {BM = 128, BN = 128, BK = 64}, warps = 8, producers = 4, registers = [240, 24]'
// RUN: %ptxas -arch=sm_90a %t.90 -o /dev/null
// RUN: grep setmaxnreg %t.90
// RUN: grep vprintf %t.90

// Without assertions the code is that of the program that has none.
// DEFINE: %{assert} = sed -e 's/^    scf.yield %next/    %number = arith.cmpf oeq, %next, %next : !acc\n    tile.assert %number, "NaN" : tensor<?x?xi1, #tile.open<BM, BN>>\n&/'
// RUN: tile-translate --tile-to-ptx --chip=sm_90a %{gemm} -o %t.none
// RUN: %{assert} %{gemm} | tile-translate --tile-to-ptx --chip=sm_90a --no-assertions -o %t.removed
// RUN: cmp %t.none %t.removed
// RUN: %{assert} %{gemm} | tile-translate --tile-to-ptx --chip=sm_90a -o %t.kept
// RUN: grep tile_assert_failed %t.kept
