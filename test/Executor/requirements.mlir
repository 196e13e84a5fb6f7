// The manifest contains the conditions on extents that kernels cannot check
// themselves, and launchers check them. With too few rows of stats, sequences
// of a packed batch would overwrite one another. With other batches, kernels
// would access memory out of bounds.
// DEFINE: %{heads} = 20x2x64:f16
// DEFINE: %{kv} = 20x1x64:f16
// DEFINE: %{lse} = 2x20:f32
// DEFINE: %{cu} = zeros:4:i32
// DEFINE: %{stats} = 2x2x404:f32
// DEFINE: %{acc} = 20x2x64:f32
// DEFINE: %{do} = 20x2x64:f16
// DEFINE: %{chip} = sm_80
// DEFINE: %{run} = tile-run %s --chip=%{chip} --arg=random:%{heads}:1 --arg=random:%{kv}:2 --arg=random:20x1x64:f16:3 \
// DEFINE:   --arg=random:20x2x64:f16:4 --arg=random:%{do}:5 --arg=zeros:%{lse} --arg=nan:20x2x64:f16 --arg=nan:20x1x64:f16 \
// DEFINE:   --arg=nan:20x1x64:f16 --arg=nan:%{stats} --arg=nan:%{acc} --arg=zeros:4:i32 --arg=%{cu} --arg=9 --arg=9 --arg=0.125

// RUN: %{run}
// REDEFINE: %{stats} = 2x2x403:f32
// RUN: not %{run} 2>&1 | FileCheck %s --check-prefix=STATS
// STATS: error: argument 9 'stats': extent 2 is 403, must be at least 404: the length of q and 128 rows for each sequence
// REDEFINE: %{chip} = sm_90a
// RUN: not %{run} 2>&1 | FileCheck %s --check-prefix=STATS
// REDEFINE: %{chip} = gfx942
// RUN: not %{run} 2>&1 | FileCheck %s --check-prefix=STATS
// REDEFINE: %{stats} = 2x2x512:f32
// RUN: %{run}
// REDEFINE: %{do} = 21x2x64:f16
// RUN: not %{run} 2>&1 | FileCheck %s --check-prefix=LENGTH
// LENGTH: error: argument 4 'do': extent 0 is 21, must be 20: the length of q
// REDEFINE: %{do} = 20x3x64:f16
// RUN: not %{run} 2>&1 | FileCheck %s --check-prefix=HEADS
// HEADS: error: argument 4 'do': extent 1 is 3, must be 2: the heads of q
// REDEFINE: %{do} = 20x2x64:f16
// REDEFINE: %{cu} = zeros:5:i32
// RUN: not %{run} 2>&1 | FileCheck %s --check-prefix=BOUNDS
// BOUNDS: error: argument 12 'cu_k': extent 0 is 5, must be 4: the extent of cu_q
// REDEFINE: %{cu} = zeros:4:i32
// REDEFINE: %{acc} = 19x2x64:f32
// RUN: not %{run} 2>&1 | FileCheck %s --check-prefix=ACC
// ACC: error: argument 10 'dq_acc': extent 0 is 19, must be at least 20: the length of q
// REDEFINE: %{acc} = 20x2x64:f32
// REDEFINE: %{kv} = 20x3x64:f16
// RUN: not %{run} 2>&1 | FileCheck %s --check-prefix=KV
// KV: error: argument 2 'v': extent 1 is 1, must be 3: the heads of k

!q = !tile.buffer<?x?x64xf16, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!lse = !tile.buffer<?x?xf32, #tile.strided<[?, 1]>, global>
!stats = !tile.buffer<?x2x?xf32, #tile.strided<[?, ?, 1], align = 4>, global>
!acc = !tile.buffer<?x?x64xf32, #tile.strided<[?:8, ?:8, 1], align = 16>, global>
!cu = !tile.buffer<?xi32, #tile.strided<[1]>, global>

func.func @backward(%q: !q {tile.name = "q"}, %k: !q {tile.name = "k"}, %v: !q {tile.name = "v"}, %o: !q {tile.name = "o"},
    %do: !q {tile.name = "do"}, %lse: !lse {tile.name = "lse"}, %dq: !q {tile.name = "dq"}, %dk: !q {tile.name = "dk"},
    %dv: !q {tile.name = "dv"}, %stats: !stats {tile.name = "stats"}, %dq_acc: !acc {tile.name = "dq_acc"},
    %cu_q: !cu {tile.name = "cu_q"}, %cu_k: !cu {tile.name = "cu_k"}, %max_q: index {tile.name = "max_q"},
    %max_k: index {tile.name = "max_k"}, %scale: f32 {tile.name = "scale"}) {
  tile.attention_backward %q, %k, %v, %o, %do, %lse to %dq, %dk, %dv using %stats dq_acc %dq_acc
      seqlens %cu_q, %cu_k max %max_q, %max_k scale %scale
      : !q, !q, !q, !q, !q, !lse, !q, !q, !q, !stats, !acc, !cu, !cu
  return
}
