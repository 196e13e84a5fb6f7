!qk = !tile.buffer<?x?x?xCOLUMNSxf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!qk_f32 = !tile.buffer<?x?x?xCOLUMNSxf32, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!vo = !tile.buffer<?x?x?xCOLUMNSxf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>
!lse = !tile.buffer<?x?x?xf32, #tile.strided<[?, ?, 1]>, global>
!stats = !tile.buffer<?x?x2x?xf32, #tile.strided<[?:4, ?:4, ?:4, 1], align = 16>, global>
func.func @backward(%q: !qk {tile.name = "q"}, %k: !qk {tile.name = "k"}, %v: !vo {tile.name = "v"}, %o: !vo {tile.name = "o"}, %do: !vo {tile.name = "do"}, %lse: !lse {tile.name = "lse"}, %dq: !qk {tile.name = "dq"}, %dk: !qk {tile.name = "dk"}, %dv: !vo {tile.name = "dv"}, %stats: !stats {tile.name = "stats"}, %dq_acc: !qk_f32 {tile.name = "dq_acc"}, %scale: f32 {tile.name = "scale"}) {
  tile.attention_backward %q, %k, %v, %o, %do, %lse to %dq, %dk, %dv using %stats dq_acc %dq_acc scale %scale {causal} : !qk, !qk, !vo, !vo, !vo, !lse, !qk, !qk, !vo, !stats, !qk_f32
  return
}
