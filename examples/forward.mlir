// Causal attention with the log-sum-exp, as one operation.
//
//   tile-opt forward.mlir --tile-attach-target=chip=sm_90a --tile-expand-attention
//   tile-translate --tile-to-ptx   --chip=sm_90a  forward.mlir -o forward.ptx
//   tile-translate --tile-to-hsaco --chip=gfx1100 forward.mlir -o forward.hsaco

// f16 tensors [batch, length, heads, 128] in global memory. `?` is known at
// launch. Each stride except the last is a multiple of 8 elements, and the data
// starts at a multiple of 16 bytes, so 16-byte accesses are legal. The type fixes
// the order of the dimensions, not the order of the strides: a tensor stored as
// [batch, heads, length, 128] fits as well.
!heads = !tile.buffer<?x?x?x128xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

// The log-sum-exp: the natural logarithm of each row's sum of exponentials, f32
// [batch, heads, length]. The backward pass needs it.
!lse = !tile.buffer<?x?x?xf32, #tile.strided<[?, ?, 1]>, global>

// This function becomes the kernel @attention with the same arguments. %k and %v
// may have fewer heads than %q: with 8 times fewer, 8 heads of %q share one head
// of %k and %v (grouped-query attention). The lengths of %q and %k may differ;
// the causal mask is aligned to the last query and the last key.
func.func @attention(%q: !heads, %k: !heads, %v: !heads, %o: !heads, %lse: !lse, %scale: f32) {
  tile.attention %q, %k, %v, %o lse %lse scale %scale {causal}
      : !heads, !heads, !heads, !heads, !lse
  return
}
