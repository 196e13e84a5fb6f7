//===- Passes.td - Passes over named attention ------------*- tablegen -*-===//
#ifndef TILE_KERNELS_ATTENTION_PASSES_TD
#define TILE_KERNELS_ATTENTION_PASSES_TD

include "mlir/Pass/PassBase.td"

def TileExpandAttention : Pass<"tile-expand-attention", "::mlir::ModuleOp"> {
  let summary = "Turns tile.attention and its gradients into kernels";
  let description = [{
    Expands each func.func that contains only named tile operations and arith
    operations that compute their scalars. A `tile.attention` becomes one
    `tile.kernel` with the arguments of the function. Function @f becomes kernel
    @f, or @f_0, @f_1, ... if it has several named operations. A
    `tile.attention_backward` becomes the kernels @f_stats, ... below, which must
    run in this order. Other functions are unchanged.

    The forward kernel is FlashAttention-2 (Dao, 2023, arXiv:2307.08691). A block
    of threads computes `q` rows of one head and iterates over the keys in steps of
    `k`. Blocks of keys without masked elements are processed by a
    loop without masks. Blocks of keys with all elements masked are skipped.

    ```mlir output
    func.func @f(%q: !q, %k: !q, %v: !q, %o: !q, %scale: f32) {
      tile.attention %q, %k, %v, %o scale %scale {causal} : !q, !q, !q, !q
      return
    }
    // tile-expand-attention
    tile.kernel @f(%q: !q, %k: !q, %v: !q, %o: !q, %scale: f32)
        attributes {num_warps = 4 : i32} {
      ...
      tile.grid %row_blocks, %heads, %batch
      ...
      %qt = tile.load %qh[%row, %c0] : !qh -> tensor<128x64xf16>
      %full:3 = scf.for %n = %c0 to %full_end step %c64
          iter_args(%acc = %zero, %max = %minus_inf, %sum = %none) -> (...) {
        ...
        %s = tile.dot %qt, %kt, %zeros
            : tensor<128x64xf16>, tensor<64x64xf16> -> tensor<128x64xf32>
        ...
        %acc_next = tile.dot %p, %vt, %acc_scaled
            : tensor<128x64xf16>, tensor<64x64xf16> -> tensor<128x64xf32>
        scf.yield %acc_next, %max_next, %sum_next : ...
      }
      %all:3 = scf.for %n = %full_end to %end step %c64
          iter_args(%acc = %full#0, %max = %full#1, %sum = %full#2) -> (...) {
        // As above, with a mask.
      }
      ...
      tile.store %out, %oh[%row, %c0] : tensor<128x64xf16>, !qh
    }
    ```

    The kernels of `tile.attention_backward`:

    | kernel | work of a block | result |
    |---|---|---|
    | @f_stats | 32 queries | delta and the base-2 lse; zeros in dq_acc |
    | @f_dsink | one head | dsink, if there are sinks |
    | @f_zero  | 32 keys | zeros in dk_acc and dv_acc, for `kv_acc atomic` |
    | @f_dkv   | `k` keys, over the queries in steps of `q` | dK and dV; with dq_acc, adds to it |
    | @f_dq    | 32 queries with dq_acc; without, `q` queries, over the keys in steps of `k` | dQ |
    | @f_sum   | 32 keys | dK and dV from dk_acc and dv_acc |

    `q` and `k` stand for the extents of the field `tile` of the schedule
    (`#tile.schedule`). A field that the operation does not give comes from the
    first row that matches in the file of the chip. The files are those of the
    option `schedules`, else of the environment variable TILE_SCHEDULES, else of
    the compiler.

    Fails if such a function contains another operation, has a result or is used;
    if a named operation is elsewhere; for an error in a file of schedules, at its
    line; if no row matches and the operation gives no `tile` or `warps`; and for a
    schedule that does not fit the operation or the chip.
  }];
  let options = [
    Option<"schedules", "schedules", "std::string", "\"\"",
           "folder with a file <chip>.mlir of schedules">];
  let dependentDialects = ["::mlir::math::MathDialect", "::mlir::scf::SCFDialect"];
}

#endif // TILE_KERNELS_ATTENTION_PASSES_TD
