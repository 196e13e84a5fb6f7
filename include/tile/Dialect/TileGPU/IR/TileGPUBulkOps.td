//===- TileGPUBulkOps.td - The copy engine out of workgroup memory -*- tablegen -*-===//
#ifndef TILE_DIALECT_TILEGPU_IR_TILEGPUBULKOPS_TD
#define TILE_DIALECT_TILEGPU_IR_TILEGPUBULKOPS_TD

def TileGPU_ElectOp : TileGPU_BarrierOp<"elect"> {
  let summary = "whether this is the one lane of the warp that acts for all";
  let description = [{
    True in one lane of the warp, always the same one. All lanes take part.

    ```mlir
    %elected = tile_gpu.elect
    ```
  }];
  let results = (outs I1:$elected);
  let assemblyFormat = "attr-dict";
}

class TileGPU_BulkOutOp<string mnemonic> : TileGPU_BarrierOp<mnemonic> {
  let arguments = (ins TileGPU_Memory:$memory, Index:$index,
                       LLVM_AnyPointer:$map, Variadic<I32>:$coordinates,
                       I1:$active, OptionalAttr<Tile_CachePriority>:$cache);
  let hasVerifier = 1;
}

def TileGPU_BulkStoreOp : TileGPU_BulkOutOp<"bulk_store"> {
  let summary = "starts a copy of a box of a tensor from workgroup memory";
  let description = [{
    Where `active`, the copy engine writes the box that the tensor map describes
    (see Target/TensorMap.h) from the element at `coordinates` on, the innermost
    dimension first; what is outside of the tensor is not written. The box
    begins at memory[index], at a multiple of 128 bytes. The copy belongs to the
    next group that the thread closes (tile_gpu.bulk_commit). It sees what was
    written to workgroup memory before a `tile_gpu.fence_async`.

    ```mlir
    tile_gpu.bulk_store %smem[%i], %map[%column, %row] if %elected cache(evict_first)
        : memref<?xf16, #gpu.address_space<workgroup>>, !llvm.ptr
    ```
  }];
  let assemblyFormat = [{
    $memory `[` $index `]` `,` $map `[` $coordinates `]` `if` $active
    (`cache` `(` $cache^ `)`)? attr-dict `:` type($memory) `,` qualified(type($map))
  }];
}

def TileGPU_BulkReduceOp : TileGPU_BulkOutOp<"bulk_reduce"> {
  let summary = "starts to add a box of workgroup memory to a tensor";
  let description = [{
    As `tile_gpu.bulk_store`, but every element of the box is added to that of
    the tensor, atomically each (relaxed, among the threads of the device). The
    elements are f16, bf16 or f32.

    ```mlir
    tile_gpu.bulk_reduce add %smem[%i], %map[%column, %row] if %elected
        : memref<?xf32, #gpu.address_space<workgroup>>, !llvm.ptr
    ```
  }];
  let assemblyFormat = [{
    `add` $memory `[` $index `]` `,` $map `[` $coordinates `]` `if` $active
    (`cache` `(` $cache^ `)`)? attr-dict `:` type($memory) `,` qualified(type($map))
  }];
}

def TileGPU_BulkAddOp : TileGPU_BarrierOp<"bulk_add"> {
  let summary = "starts to add neighbouring elements to global memory";
  let description = [{
    Where `active`, the copy engine does dest[place + i] += source[index + i]
    for every i below `count`, atomically each (relaxed, among the threads of
    the device). The elements are f16, bf16, f32 or f64; both places and the
    count are multiples of 16 bytes. The addition belongs to the next group that
    the thread closes (tile_gpu.bulk_commit). It sees what was written to
    workgroup memory before a `tile_gpu.fence_async`.

    ```mlir
    tile_gpu.bulk_add %smem[%i], %sums[%j], 1024 if %inside
        : memref<?xf32, #gpu.address_space<workgroup>>,
          memref<?xf32, #gpu.address_space<global>>
    ```
  }];
  let arguments = (ins TileGPU_Memory:$source, Index:$index,
                       TileGPU_Memory:$dest, Index:$place,
                       ConfinedAttr<I32Attr, [IntPositive]>:$count, I1:$active);
  let assemblyFormat = [{
    $source `[` $index `]` `,` $dest `[` $place `]` `,` $count `if` $active
    attr-dict `:` type($source) `,` type($dest)
  }];
  let hasVerifier = 1;
}

def TileGPU_BulkCommitOp : TileGPU_BarrierOp<"bulk_commit"> {
  let summary = "closes a group of what the copy engine takes out";
  let description = [{
    The copies out of workgroup memory that this thread started since the last
    one form a group.

    ```mlir
    tile_gpu.bulk_commit
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def TileGPU_BulkWaitOp : TileGPU_BarrierOp<"bulk_wait"> {
  let summary = "waits for copies out of workgroup memory";
  let description = [{
    Waits until at most `pending` of the newest groups of this thread are
    unfinished: with `read`, until the others have read workgroup memory, which
    may then be written again; else until all that they write is visible to the
    thread. A thread waits before it ends.

    ```mlir
    tile_gpu.bulk_wait 0 {read}
    ```
  }];
  let arguments = (ins ConfinedAttr<I32Attr, [IntNonNegative]>:$pending,
                       UnitAttr:$read);
  let assemblyFormat = "$pending attr-dict";
}

def TileGPU_BulkPrefetchOp : TileGPU_BarrierOp<"bulk_prefetch"> {
  let summary = "starts to fetch a box of a tensor to the second-level cache";
  let description = [{
    A hint that a `tile_gpu.bulk_copy` of that box will come.

    ```mlir
    tile_gpu.bulk_prefetch %map[%column, %row] : !llvm.ptr
    ```
  }];
  let arguments = (ins LLVM_AnyPointer:$map, Variadic<I32>:$coordinates);
  let assemblyFormat = [{
    $map `[` $coordinates `]` attr-dict `:` qualified(type($map))
  }];
  let hasVerifier = 1;
}

def TileGPU_PrefetchMapOp : TileGPU_BarrierOp<"prefetch_map"> {
  let summary = "starts to fetch a tensor map";
  let description = [{
    A hint that the copy engine will need the tensor map, which it reads from
    memory.

    ```mlir
    tile_gpu.prefetch_map %map : !llvm.ptr
    ```
  }];
  let arguments = (ins LLVM_AnyPointer:$map);
  let assemblyFormat = "$map attr-dict `:` qualified(type($map))";
}

#endif // TILE_DIALECT_TILEGPU_IR_TILEGPUBULKOPS_TD
