// Conditions on scratch buffers that types decide are checked at compile time.
// RUN: not tile-translate --tile-to-ptx --chip=sm_90a %s -o /dev/null 2>&1 | FileCheck %s
// RUN: not tile-translate --tile-to-hsaco --chip=gfx942 %s -o /dev/null 2>&1 | FileCheck %s

!q = !tile.buffer<1x100x2x64xf16, #tile.strided<[12800, 128, 64, 1], align = 16>, global>
!lse = !tile.buffer<1x2x100xf32, #tile.strided<[200, 100, 1]>, global>
!stats = !tile.buffer<1x2x2x100xf32, #tile.strided<[400, 200, 100, 1]>, global>

func.func @backward(%q: !q, %k: !q, %v: !q, %o: !q, %do: !q, %lse: !lse, %dq: !q, %dk: !q, %dv: !q, %stats: !stats, %scale: f32) {
  // CHECK: requirements-invalid.mlir:[[#@LINE+1]]:3: error: 'tile.require' op does not hold: extent 3 of argument 9 is 100, must be 112: the length of q in whole blocks of 16
  tile.attention_backward %q, %k, %v, %o, %do, %lse to %dq, %dk, %dv using %stats scale %scale
      : !q, !q, !q, !q, !q, !lse, !q, !q, !q, !stats
  return
}
