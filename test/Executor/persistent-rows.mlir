// Blocks that compute several rows, of which they load the next one, write each row
// once, whatever their number: a block of 32 warps alone, one of one warp, and clusters
// of 8 blocks.
//
// DEFINE: %{run} = tile-run %S/../../examples/rmsnorm.mlir --chip=sm_90a --arg=x=random:7x2000:bf16:1 \
// DEFINE:   --arg=w=random:2000:bf16:2 --arg=y=nan:7x2000:bf16 --arg=rstd=nan:7:f32 --arg=1e-5
// DEFINE: %{alone} = params = {BN = 8192, BS = 8192}, warps = 32
// DEFINE: %{short} = params = {BN = 2048, BS = 256}, warps = 1
// DEFINE: %{clusters} = params = {BN = 16384, BS = 8192}, warps = 64
//
// RUN: %{run} --schedule='%{alone}, work_stages = 0' --out=y=%t.npy --out=rstd=%t.rstd.npy
// RUN: %{run} --schedule='%{alone}, work_stages = 1' --grid=1,1,1 --expect=y=%t.npy --expect=rstd=%t.rstd.npy --atol=1e-6 --rtol=0.01
// RUN: %{run} --schedule='%{alone}, work_stages = 1' --grid=3,1,1 --expect=y=%t.npy --expect=rstd=%t.rstd.npy --atol=1e-6 --rtol=0.01
// RUN: %{run} --schedule='%{alone}, work_stages = 1' --grid=7,1,1 --expect=y=%t.npy --expect=rstd=%t.rstd.npy --atol=1e-6 --rtol=0.01
// RUN: %{run} --schedule='%{short}, work_stages = 1' --grid=1,1,1 --expect=y=%t.npy --expect=rstd=%t.rstd.npy --atol=1e-6 --rtol=0.01
// RUN: %{run} --schedule='%{short}, work_stages = 1' --grid=4,1,1 --expect=y=%t.npy --expect=rstd=%t.rstd.npy --atol=1e-6 --rtol=0.01
// RUN: %{run} --schedule='%{clusters}, work_stages = 1' --grid=8,1,1 --expect=y=%t.npy --expect=rstd=%t.rstd.npy --atol=1e-6 --rtol=0.01
// RUN: %{run} --schedule='%{clusters}, work_stages = 1' --grid=24,1,1 --expect=y=%t.npy --expect=rstd=%t.rstd.npy --atol=1e-6 --rtol=0.01
