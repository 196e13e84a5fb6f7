// A persistent forward kernel, whose blocks do several works each. Its results are
// compared with those of a kernel for a chip without TMA.
//
// DEFINE: %{arguments} = --arg=random:1x300x2x64:f16:1 --arg=random:1x340x1x64:f16:2 --arg=random:1x340x1x64:f16:3 --arg=nan:1x300x2x64:f16 --arg=nan:1x2x300:f32 --arg=0.125
//
// RUN: tile-run %s --chip=sm_80 %{arguments} --out=o=%t.o.npy --out=lse=%t.lse.npy
// RUN: tile-run %s --chip=sm_90a --grid=1,1,1 %{arguments} --expect=o=%t.o.npy --expect=lse=%t.lse.npy --atol=2e-3
// RUN: tile-run %s --chip=sm_90a --grid=2,1,1 %{arguments} --expect=o=%t.o.npy --expect=lse=%t.lse.npy --atol=2e-3
// RUN: tile-run %s --chip=sm_90a --grid=4,1,1 %{arguments} --expect=o=%t.o.npy --expect=lse=%t.lse.npy --atol=2e-3

!t = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!lse = !tile.buffer<?x?x?xf32, #tile.strided<[?, ?, 1]>, global>
func.func @causal(%q: !t {tile.name = "q"}, %k: !t {tile.name = "k"}, %v: !t {tile.name = "v"},
                  %o: !t {tile.name = "o"}, %lse: !lse {tile.name = "lse"}, %scale: f32 {tile.name = "scale"}) {
  tile.attention %q, %k, %v, %o lse %lse scale %scale {causal} : !t, !t, !t, !t, !lse
  return
}
