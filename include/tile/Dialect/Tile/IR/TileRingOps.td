//===- TileRingOps.td - Rings and products in flight -------*- tablegen -*-===//
#ifndef TILE_DIALECT_TILE_IR_TILERINGOPS_TD
#define TILE_DIALECT_TILE_IR_TILERINGOPS_TD

//===----------------------------------------------------------------------===//
// Rings
//===----------------------------------------------------------------------===//

def Tile_RingCreateOp : Tile_Op<"ring.create"> {
  let summary = "makes a ring of buffers";
  let description = [{
    `storage` holds the slots of the ring.

    A ring that one warp role fills and another one reads has mbarriers. Each
    slot has one in `full`, whose phase ends when the slot is filled, and one in
    `empty`, whose phase ends when the slot has been read.

    ```mlir
    !tile = !tile.buffer<64x128xf16, #tile.swizzle<128>, shared>
    %storage = tile.alloc : !tile.buffer<2x64x128xf16, #tile.swizzle<128>, shared>
    %full = tile.alloc : !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
    %empty = tile.alloc : !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
    %ring = tile.ring.create %storage, %full, %empty : !tile.ring<!tile, 2>
    ```

    A ring without `empty` has one slot, which is filled once, taken once and
    never released.

    All `tile.ring.acquire` of a ring with mbarriers are in one role and all
    `tile.ring.take` are in one role. The roles handle the same number of tiles in
    the same order. `tile-lower-rings` initialises the mbarriers and ends with a
    `tile.barrier` after the last `tile.ring.create` with mbarriers.

    A ring without mbarriers is filled and read by the same threads, in loops of
    `scf.for` in the block of the `tile.ring.create` or in that block itself. The
    order of the program must be right: a tile is published before it is taken,
    and a slot is released before it is acquired again. A loop neither adds slots
    in use nor removes them.

    ```mlir
    !tile = !tile.buffer<64x128xf16, #tile.swizzle<128>, shared>
    %storage = tile.alloc : !tile.buffer<2x64x128xf16, #tile.swizzle<128>, shared>
    %ring = tile.ring.create %storage : !tile.ring<!tile, 2>
    ```
  }];
  let arguments = (ins Tile_BufferType:$storage,
                       Variadic<Tile_BufferType>:$barriers);
  let results = (outs Tile_RingType:$ring);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the mbarriers of filled slots; null for a ring that the same
    /// threads fill and read.
    ::mlir::Value getFull() {
      return getBarriers().empty() ? ::mlir::Value() : getBarriers().front();
    }
    /// Returns the mbarriers of released slots; null if there are none.
    ::mlir::Value getEmpty() {
      return getBarriers().size() < 2 ? ::mlir::Value() : getBarriers().back();
    }
  }];
}

class Tile_RingSlotOp<string mnemonic> : Tile_Op<mnemonic, [
    TypesMatchWith<"the buffer is a slot of the ring", "ring", "buffer",
                   "::llvm::cast<::tile::RingType>($_self).getTile()">]> {
  let arguments = (ins Tile_RingType:$ring);
  let results = (outs Tile_BufferType:$buffer, Tile_SlotType:$slot);
  let builders = [OpBuilder<(ins "::mlir::Value":$ring), [{
    build($_builder, $_state,
          ::llvm::cast<::tile::RingType>(ring.getType()).getTile(),
          ::tile::SlotType::get($_builder.getContext()), ring);
  }]>];
  let assemblyFormat = "$ring attr-dict `:` qualified(type($ring))";
}

def Tile_RingAcquireOp : Tile_RingSlotOp<"ring.acquire"> {
  let summary = "waits until the next slot of a ring is empty";
  let description = [{
    Yields the buffer of the next slot and the right to fill it. Exactly one
    operation of the same block ends this right: a `tile.bulk_copy` that fills the
    slot, or a `tile.ring.publish` after stores or copies.

    ```mlir
    %storage = tile.alloc : !tile
    %full = tile.alloc : !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
    %ring = tile.ring.create %storage, %full : !tile.ring<!tile, 1>
    %tile, %slot = tile.ring.acquire %ring : !tile.ring<!tile, 1>
    tile.bulk_copy %k[%b, %n, %h, %c0] dims [1, 3], %tile fills %slot : !k, !tile
    ```

    The operation is at the top level of a kernel or a role, or inside `scf.for`
    only: the number of its slot follows from the order of the program.
  }];
}

def Tile_RingPublishOp : Tile_Op<"ring.publish"> {
  let summary = "passes slots that threads have filled to their reader";
  let description = [{
    A slot with mbarriers is full when all warps of the role have reached this
    operation. If TMA or wgmma reads the slot, a `tile.fence_async` must precede
    it.

    ```mlir
    %tile, %slot = tile.ring.acquire %ring : !tile.ring<!tile, 2>
    tile.store %t, %tile[%c0, %c0] : tensor<128x64xf16, #mma>, !tile
    tile.fence_async
    tile.ring.publish %slot
    ```

    Slots of rings without mbarriers are filled by asynchronous copies. The copies
    before this operation form one group, which `tile.ring.take` waits for. So
    copies that are waited for together are published together.

    ```mlir
    %k, %kslot = tile.ring.acquire %kring : !tile.ring<!tile, 2>
    %v, %vslot = tile.ring.acquire %vring : !tile.ring<!tile, 2>
    scf.if %more {
      tile.copy async %kh[%row, %c0], %k : !kh, !tile
      tile.copy async %vh[%row, %c0], %v : !kh, !tile
    }
    tile.ring.publish %kslot, %vslot
    ```
  }];
  let arguments = (ins Variadic<Tile_SlotType>:$slots);
  let assemblyFormat = "$slots attr-dict";
  let hasVerifier = 1;
}

def Tile_RingTakeOp : Tile_RingSlotOp<"ring.take"> {
  let summary = "waits until the next slot of a ring is full";
  let description = [{
    Yields the buffer of the next slot and the right to read it, which ends with
    a `tile.ring.release`. All operations that use the buffer come before it.

    ```mlir
    %tile, %slot = tile.ring.take %ring : !tile.ring<!tile, 2>
    %t = tile.load %tile[%c0, %c0] : !tile -> tensor<128x64xf16, #mma>
    tile.ring.release %slot fenced
    ```

    In a ring without mbarriers, it waits for the copies that fill the slot. Newer
    groups of copies stay in flight: `tile-lower-rings` counts the groups that
    every path of the program publishes after the tile.

    The operation is at the top level of a kernel or a role, or inside `scf.for`
    only: the number of its slot follows from the order of the program.
  }];
}

def Tile_RingSkipOp : Tile_Op<"ring.skip"> {
  let summary = "passes over tiles that another group of consumers takes";
  let description = [{
    The next `count` tiles of the ring, which has mbarriers, are not for this
    group of consumers (tile.warp_roles). It must not take the tile after them
    before the other group has taken them: the groups take turns.

    ```mlir
    tile.ring.skip %ring, %count : !tile.ring<!tile, 2>
    ```

    The operation is in the role that takes the tiles, at its top level or inside
    `scf.for` only.
  }];
  let arguments = (ins Tile_RingType:$ring, Index:$count);
  let assemblyFormat = "$ring `,` $count attr-dict `:` qualified(type($ring))";
}

def Tile_RingReleaseOp : Tile_Op<"ring.release"> {
  let summary = "returns a slot, which may be filled again";
  let description = [{
    The slot is empty when all warps of the role have reached this operation. In a
    ring without mbarriers, it is when this thread has reached it;
    `tile-insert-barriers` orders the threads.
    Matrix products that read the slot must have been awaited. If threads have
    read the slot by ordinary loads and TMA fills it again, a `tile.fence_async`
    must precede the release, or the release is `fenced`: `tile-insert-barriers`
    emits one fence for all fenced releases of a block, and delays them until
    the next fence that no loop or branch precedes, or else the next await. So no
    operation up to there may wait for the slot to be filled again.

    A loop may carry the token, so that a slot is released in the iteration that
    awaits the product:

    ```mlir
    !tile = !tile.buffer<64x64xf16, #tile.swizzle<128>, shared>
    !pending = !tile.pending<tensor<64x64xf32, #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>>>
    %last, %held = scf.for %i = %c0 to %n step %c64
        iter_args(%p = %first, %before = %slot) -> (!pending, !tile.slot) {
      %tile, %next = tile.ring.take %ring : !tile.ring<!tile, 2>
      %q = tile.dot async %tile, %tile, %p : !tile, !tile, !pending -> !pending
      %done = tile.await %p : !pending
      tile.ring.release %before
      scf.yield %q, %next : !pending, !tile.slot
    }
    ```
  }];
  let arguments = (ins Tile_SlotType:$slot, UnitAttr:$fenced);
  let assemblyFormat = "$slot (`fenced` $fenced^)? attr-dict";
}

//===----------------------------------------------------------------------===//
// Products in flight
//===----------------------------------------------------------------------===//

def Tile_AwaitOp : Tile_Op<"await", [
    AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "waits for matrix products in flight";
  let description = [{
    Waits until `products` and all products that were started before them are
    finished. The first results are their tiles. `values` are handed on as
    further results: operations that use these results are not moved before the
    wait.

    ```mlir
    !result = tensor<64x64xf32, #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>>
    %s1 = tile.await %s : !tile.pending<!result>
    %o1:2 = tile.await %o with %e : !tile.pending<!result> with !result
    ```

    Products that were started later stay in flight. Their number is computed
    when the operation is lowered (Analysis/PendingProducts.h): the smallest one
    of all paths from a product to the wait.

    If another product adds to a product in flight, or a loop carries it on, its
    registers change further: an await of the first one must not use its tile.
  }];
  let arguments = (ins Variadic<Tile_PendingType>:$products,
                       Variadic<Tile_SumTile>:$values);
  let results = (outs Variadic<Tile_SumTile>:$results);
  let assemblyFormat = [{
    $products (`with` $values^)? attr-dict `:` qualified(type($products))
    (`with` qualified(type($values))^)?
  }];
  let hasVerifier = 1;
}

#endif // TILE_DIALECT_TILE_IR_TILERINGOPS_TD
