// Attention with COLUMNS columns.
!heads = !tile.buffer<?x?x?xCOLUMNSxf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

func.func @attention(%q: !heads, %k: !heads, %v: !heads, %o: !heads, %scale: f32) {
  tile.attention %q, %k, %v, %o scale %scale : !heads, !heads, !heads, !heads
  return
}
