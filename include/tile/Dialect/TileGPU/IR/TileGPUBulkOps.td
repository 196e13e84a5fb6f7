//===- TileGPUBulkOps.td - TMA stores and reductions -------*- tablegen -*-===//
#ifndef TILE_DIALECT_TILEGPU_IR_TILEGPUBULKOPS_TD
#define TILE_DIALECT_TILEGPU_IR_TILEGPUBULKOPS_TD

def TileGPU_ElectOp : TileGPU_BarrierOp<"elect"> {
  let summary = "elects one lane of the warp";
  let description = [{
    True in one lane of the warp, always the same one. All lanes of the warp must
    execute it.

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
  let summary = "starts a TMA store of a box of a tensor";
  let description = [{
    If `active`, TMA writes a box of the tensor map (Target/TensorMap.h) at
    `coordinates`, innermost dimension first. Elements out of bounds are not
    written. The source in workgroup memory begins at memory[index], at a
    multiple of 128 bytes; writes to it are visible to TMA after a
    `tile_gpu.fence_async`. The store belongs to the next group that the thread
    commits (tile_gpu.bulk_commit).

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
  let summary = "starts a TMA reduction of a box of a tensor";
  let description = [{
    As `tile_gpu.bulk_store`, but adds every element of the box to that of the
    tensor. Each addition is atomic (relaxed, device scope). The elements are
    f16, bf16 or f32.

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
  let summary = "starts to add contiguous elements to global memory";
  let description = [{
    If `active`, TMA computes dest[place + i] += source[index + i] for every i
    below `count`. Each addition is atomic (relaxed, device scope). The elements
    are f16, bf16, f32 or f64; both addresses and the size are multiples of 16
    bytes. Writes to the source are visible to TMA after a
    `tile_gpu.fence_async`. The addition belongs to the next group that the
    thread commits (tile_gpu.bulk_commit).

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
  let summary = "commits a group of TMA stores";
  let description = [{
    The TMA stores and reductions that this thread has started since the last
    commit form a group.

    ```mlir
    tile_gpu.bulk_commit
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def TileGPU_BulkWaitOp : TileGPU_BarrierOp<"bulk_wait"> {
  let summary = "waits for groups of TMA stores";
  let description = [{
    Waits until at most `pending` of the newest groups of this thread are in
    flight. With `read`, the other groups have then read workgroup memory, which
    may be overwritten; without it, all their writes are visible to the thread.
    A thread must wait before it ends.

    ```mlir
    tile_gpu.bulk_wait 0 {read}
    ```
  }];
  let arguments = (ins ConfinedAttr<I32Attr, [IntNonNegative]>:$pending,
                       UnitAttr:$read);
  let assemblyFormat = "$pending attr-dict";
}

def TileGPU_BulkPrefetchOp : TileGPU_BarrierOp<"bulk_prefetch"> {
  let summary = "prefetches a box of a tensor into the L2 cache";
  let description = [{
    A hint that a `tile_gpu.bulk_copy` of the box will follow.

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
  let summary = "prefetches a tensor map";
  let description = [{
    A hint that TMA will read the tensor map from memory.

    ```mlir
    tile_gpu.prefetch_map %map : !llvm.ptr
    ```
  }];
  let arguments = (ins LLVM_AnyPointer:$map);
  let assemblyFormat = "$map attr-dict `:` qualified(type($map))";
}

#endif // TILE_DIALECT_TILEGPU_IR_TILEGPUBULKOPS_TD
