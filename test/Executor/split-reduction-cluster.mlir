// Blocks of a cluster that share the iterations of a loop: the program of
// split-reduction.mlir. Every cluster has products of a batch, some blocks have no
// iteration, and each block loads and stores its own rows of the result.
//
// DEFINE: %{chip} =
// DEFINE: %{arguments} = --arg=random:3x70x200:f16:1 --arg=random:3x200x40:f16:2 --arg=random:3x70x40:f32:3 --arg=zeros:3x3x32x64:f32
// DEFINE: %{run} = tile-run %S/split-reduction.mlir --chip=%{chip} %{arguments}
// DEFINE: %{check} = %{run} --out=c=%t.c.npy --out=sums=%t.sums.npy \
// DEFINE:   && %{run} --schedule='cluster_split = 2' --expect=c=%t.c.npy --expect=sums=%t.sums.npy --atol=1e-4 \
// DEFINE:   && %{run} --schedule='cluster_split = 8' --expect=c=%t.c.npy --expect=sums=%t.sums.npy --atol=1e-4
// REDEFINE: %{chip} = sm_90a
// RUN: %{check}
// REDEFINE: %{chip} = sm_100a
// RUN: %{check}
