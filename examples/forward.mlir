// Causal attention with the log-sum-exp, as one operation.
//
//   tile-opt forward.mlir --tile-attach-target=chip=sm_90a --tile-expand-attention
//   tile-translate --tile-to-ptx   --chip=sm_90a  forward.mlir -o forward.ptx
//   tile-translate --tile-to-hsaco --chip=gfx1100 forward.mlir -o forward.hsaco

// f16 tensors [batch, length, heads, 128] in global memory. `?` is known when
// the kernel is launched. Each stride but the last is some multiple of 8
// elements and the data starts at a multiple of 16 bytes, so that 16-byte
// accesses are legal. Only the order of the indices is fixed, not that of the
// strides: tensors stored as [batch, heads, length, 128] fit as well.
!heads = !tile.buffer<?x?x?x128xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

// The natural logarithm of each row's sum of exponentials, f32 [batch, heads,
// length]: what a backward pass needs of the forward one.
!lse = !tile.buffer<?x?x?xf32, #tile.strided<[?, ?, 1]>, global>

// Becomes the kernel @attention with the same arguments. %k and %v may have
// fewer heads than %q: with 8 times fewer, 8 heads of %q share one of theirs
// (grouped queries). The lengths of %q and %k may differ; the causal mask is
// aligned to the last query and the last key.
func.func @attention(%q: !heads, %k: !heads, %v: !heads, %o: !heads, %lse: !lse, %scale: f32) {
  tile.attention %q, %k, %v, %o lse %lse scale %scale {causal}
      : !heads, !heads, !heads, !heads, !lse
  return
}
