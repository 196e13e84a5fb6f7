//===- TileRoleOps.td - Warps with roles, and what they meet at -*- tablegen -*-===//
#ifndef TILE_DIALECT_TILE_IR_TILEROLEOPS_TD
#define TILE_DIALECT_TILE_IR_TILEROLEOPS_TD

def Tile_WarpRolesOp : Tile_Op<"warp_roles", [
    HasParent<"::tile::KernelOp">, NoTerminator, SingleBlock,
    NoRegionArguments]> {
  let summary = "different work for different warps of a block";
  let description = [{
    Every region is a role, which `warps` warps of the block play at the same
    time as the others. The first role computes: its warps are the `num_warps`
    of the kernel, for which tiles are laid out, and come first in the block.
    Each further role adds its warps to the block; its region is run by one
    thread, the first of the role, and may touch no tile in registers.

    `registers`, one number per role, is how many registers each thread of a
    role has (setmaxnreg). Four warps change them together: roles that share
    such a group, as in `warps = [8, 1, 3]`, have the same number. The block
    starts with an equal share for all.

    ```mlir
    tile.warp_roles warps = [8, 4] registers = [240, 24] {
      tile.wait_barrier %full[%slot] phase %phase : !barriers
      ... // dots that read the ring
      tile.arrive_barrier %empty[%slot] : !barriers
    }, {
      tile.wait_barrier %empty[%slot] phase %phase : !barriers
      tile.bulk_copy %k[%b, %n, %h, %c0] dims [1, 3], %tile, %full[%slot]
          : !k, !tile, !barriers
    }
    ```

    `tile.barrier` inside a role is for the threads of that role alone. What
    roles share in shared memory is ordered by barriers (tile.init_barriers);
    `tile-insert-barriers` leaves those buffers alone.
  }];
  let arguments = (ins DenseI32ArrayAttr:$warps,
                       OptionalAttr<DenseI32ArrayAttr>:$registers);
  let regions = (region VariadicRegion<SizedRegion<1>>:$roles);
  let assemblyFormat = [{
    `warps` `=` $warps (`registers` `=` $registers^)? attr-dict-with-keyword $roles
  }];
  let hasVerifier = 1;
}

def Tile_InitBarriersOp : Tile_Op<"init_barriers"> {
  let summary = "makes every element of a buffer a barrier";
  let description = [{
    A barrier is an i64 in shared memory that counts phases: one ends when
    `arrivals` arrivals and all the bytes that they announced have come. Until
    a `tile.barrier` after this, no thread may use them.

    ```mlir
    %full = tile.alloc : !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
    tile.init_barriers %full, 1 : !tile.buffer<2xi64, ...>
    ```
  }];
  let arguments = (ins Tile_BufferType:$barriers,
                       ConfinedAttr<I32Attr, [IntPositive]>:$arrivals);
  let assemblyFormat = "$barriers `,` $arrivals attr-dict `:` qualified(type($barriers))";
  let hasVerifier = 1;
}

def Tile_WaitBarrierOp : Tile_Op<"wait_barrier"> {
  let summary = "waits until a phase of a barrier has ended";
  let description = [{
    Waits for the end of the phase of parity `phase` (0 or 1): the phase that
    is running, or the one before, which has ended. A new barrier is in phase 0,
    and phase 1 counts as ended. What was done before the arrivals is visible.

    ```mlir
    tile.wait_barrier %full[%slot] phase %phase : !barriers
    ```
  }];
  let arguments = (ins Tile_BufferType:$barriers, Index:$index, Index:$phase);
  let assemblyFormat = [{
    $barriers `[` $index `]` `phase` $phase attr-dict `:` qualified(type($barriers))
  }];
  let hasVerifier = 1;
}

def Tile_ArriveBarrierOp : Tile_Op<"arrive_barrier"> {
  let summary = "arrives at a barrier, once per warp";
  let description = [{
    Each warp of the role arrives when all of its threads have come here; a role
    of one thread arrives once.

    ```mlir
    tile.arrive_barrier %empty[%slot] : !barriers
    ```
  }];
  let arguments = (ins Tile_BufferType:$barriers, Index:$index);
  let assemblyFormat = [{
    $barriers `[` $index `]` attr-dict `:` qualified(type($barriers))
  }];
  let hasVerifier = 1;
}

def Tile_AwaitTurnOp : Tile_Op<"await_turn"> {
  let summary = "waits for the turn of this group of four warps";
  let description = [{
    In the first role, the groups of four warps that a matrix product takes
    (wgmma) take turns, the first group first: what stands between
    `tile.await_turn` and the next `tile.pass_turn` is begun by one group after
    another. So the products of one group run beside what another computes from
    its own. All groups take the same number of turns.

    ```mlir
    tile.await_turn
    %s = tile.dot async %q, %k, %zero : ...
    %o1 = tile.dot async %p, %v, %o : ...
    tile.pass_turn
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_PassTurnOp : Tile_Op<"pass_turn"> {
  let summary = "ends the turn of this group of four warps";
  let description = [{
    See tile.await_turn.

    ```mlir
    tile.pass_turn
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_WaitDotsOp : Tile_Op<"wait_dots", [
    RangedTypesMatchWith<"results are the values", "values", "results", "$_self">]> {
  let summary = "waits for asynchronous dots and hands on their results";
  let description = [{
    Waits until at most `pending` of the newest `tile.dot async` are unfinished.
    The results are the values: those of dots that are finished then, and others
    that must not be computed with before.

    ```mlir
    %s1 = tile.wait_dots 1, %s : tensor<128x128xf32, #mma>
    ```
  }];
  let arguments = (ins ConfinedAttr<I32Attr, [IntNonNegative]>:$pending,
                       Variadic<Tile_FloatTile>:$values);
  let results = (outs Variadic<Tile_FloatTile>:$results);
  let assemblyFormat = "$pending (`,` $values^ `:` qualified(type($values)))? attr-dict";
}

include "tile/Dialect/Tile/IR/TileBulkOps.td"

#endif // TILE_DIALECT_TILE_IR_TILEROLEOPS_TD
