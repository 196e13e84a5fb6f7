// Fragments of tiles in shared memory, contiguous along the dimension that they do not
// contract, have the elements of the tile: by transposing reads where a chip has them.
// RUN: for chip in gfx942 gfx950; do for type in f16 bf16; do \
// RUN:   sed "s/TYPE/$type/g" %s | tile-run - --chip=$chip --arg=random:32x64:$type:1 \
// RUN:     --arg=zeros:32x64:$type --arg=zeros:32x64:$type --out=x=%t.x.npy --out=y=%t.y.npy --out=z=%t.z.npy \
// RUN:   && cmp %t.x.npy %t.y.npy && cmp %t.x.npy %t.z.npy || exit 1; done; done
// RUN: sed "s/TYPE/f16/g" %s | tile-translate --tile-to-hsaco --chip=gfx950 - -o %t.hsaco
// RUN: llvm-objdump -d %t.hsaco | FileCheck %s
// CHECK-COUNT-6: ds_read_b64_tr_b16

!g = !tile.buffer<32x64xTYPE, #tile.strided<[64, 1], align = 16>, global>
#rows = #tile.padded<8, order = [1, 0]>
#narrow = #tile.dot_operand<1, <"mfma.16x16x16.TYPE", warps = [1, 4]>>
#wide = #tile.dot_operand<1, <"mfma.32x32x8.TYPE", warps = [2, 2]>>

tile.kernel @copy(%x: !g {tile.name = "x"}, %y: !g {tile.name = "y"}, %z: !g {tile.name = "z"})
    attributes {num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  %t = tile.load %x[%c0, %c0] : !g -> tensor<32x64xTYPE, #rows>
  %a = tile.convert_layout %t : tensor<32x64xTYPE, #rows> -> tensor<32x64xTYPE, #narrow>
  tile.store %a, %y[%c0, %c0] : tensor<32x64xTYPE, #narrow>, !g
  %b = tile.convert_layout %t : tensor<32x64xTYPE, #rows> -> tensor<32x64xTYPE, #wide>
  tile.store %b, %z[%c0, %c0] : tensor<32x64xTYPE, #wide>, !g
}
