// A reduction of one row by several warps puts one partial result of each warp
// into shared memory and reads all of them with one load. The address of that
// load is the start of shared memory: a constant, not an instruction.

// RUN: for chip in sm_80 sm_89 sm_90a gfx942 gfx950 gfx1100 gfx1201; do \
// RUN:   tile-run %s --chip=$chip --arg=random:1x512:f32:1 --arg=zeros:1:f32 \
// RUN:     --arg=random:512x1:f32:2 --arg=zeros:1:f32 \
// RUN:     --out=x=%t.x.npy --out=sum=%t.sum.npy --out=y=%t.y.npy --out=max=%t.max.npy \
// RUN:   && %python %S/Inputs/one-row.py %t || exit 1; done

!row = !tile.buffer<1x512xf32, #tile.strided<[512, 1], align = 16>, global>
!column = !tile.buffer<512x1xf32, #tile.strided<[1, 1], align = 16>, global>
!one = !tile.buffer<1xf32, #tile.strided<[1]>, global>

tile.kernel @reduce(%x: !row {tile.name = "x"}, %sum: !one {tile.name = "sum"},
                    %y: !column {tile.name = "y"}, %max: !one {tile.name = "max"})
    attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %tx = tile.load %x[%c0, %c0] : !row -> tensor<1x512xf32>
  %tsum = tile.reduce addf %tx along 1 : tensor<1x512xf32> -> tensor<1xf32>
  tile.store %tsum, %sum[%c0] : tensor<1xf32>, !one
  %ty = tile.load %y[%c0, %c0] : !column -> tensor<512x1xf32>
  %tmax = tile.reduce maxnumf %ty along 0 : tensor<512x1xf32> -> tensor<1xf32>
  tile.store %tmax, %max[%c0] : tensor<1xf32>, !one
}
