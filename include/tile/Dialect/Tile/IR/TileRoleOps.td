//===- TileRoleOps.td - Warp roles and mbarriers -----------*- tablegen -*-===//
#ifndef TILE_DIALECT_TILE_IR_TILEROLEOPS_TD
#define TILE_DIALECT_TILE_IR_TILEROLEOPS_TD

def Tile_WarpRolesOp : Tile_Op<"warp_roles", [
    HasParent<"::tile::KernelOp">, NoTerminator, SingleBlock,
    NoRegionArguments]> {
  let summary = "runs different work on different warps of a block";
  let description = [{
    Each region is a warp role. `warps` gives the number of warps of each role;
    all roles run at the same time. The first role is that of the consumer
    warps: its warps are the `num_warps` of the kernel and the first ones of the
    block, and tiles are laid out for them. Each further role adds its warps to
    the block. One thread, the first of the role, runs its region, which must
    not use tiles in registers.

    `registers` gives the registers of each thread, one number per role
    (setmaxnreg; PTX ISA). A warpgroup, which is four consecutive warps, changes
    its registers as a whole. Roles that share a warpgroup, as in
    `warps = [8, 1, 3]`, have the same number. All threads of the block start
    with equal numbers of registers.

    ```mlir
    %storage = tile.alloc : !tile
    %full = tile.alloc : !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
    %empty = tile.alloc : !tile.buffer<1xi64, #tile.padded<0, order = [0]>, shared>
    %ring = tile.ring.create %storage, %full, %empty : !tile.ring<!tile, 1>
    tile.warp_roles warps = [8, 4] registers = [240, 24] {
      %tile, %slot = tile.ring.take %ring : !tile.ring<!tile, 1>
      // Matrix products that read %tile.
      tile.ring.release %slot
    }, {
      %tile, %slot = tile.ring.acquire %ring : !tile.ring<!tile, 1>
      tile.bulk_copy %k[%b, %n, %h, %c0] dims [1, 3], %tile fills %slot : !k, !tile
    }
    ```

    With `groups = n`, there are n groups of consumer warps, of `warps` each. Every
    group runs the first role, with registers and shared buffers of its own;
    buffers that another role uses, too, are the same for all groups. A tile of a
    ring goes to one group: the groups take turns (tile.await_turn), and each
    passes over the tiles of the others (tile.ring.skip). `tile.consumer_group`
    tells them apart.

    ```mlir
    tile.warp_roles warps = [4, 4] registers = [240, 24] groups = 2 {
      %group = tile.consumer_group
      // Every second work, from %group on.
    }, {
      // Copies for all works.
    }
    ```

    `tile.barrier` inside a role synchronises the threads of that role, or of that
    group, only.
    Roles pass tiles to each other through rings (tile.ring.create), or through
    buffers and mbarriers (tile.init_barriers); `tile-insert-barriers` inserts
    nothing for these buffers.
  }];
  let arguments = (ins DenseI32ArrayAttr:$warps,
                       OptionalAttr<DenseI32ArrayAttr>:$registers,
                       DefaultValuedAttr<I32Attr, "1">:$groups);
  let regions = (region VariadicRegion<SizedRegion<1>>:$roles);
  let assemblyFormat = [{
    `warps` `=` $warps (`registers` `=` $registers^)? (`groups` `=` $groups^)?
    attr-dict-with-keyword $roles
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the warps of role `number`, those of all groups.
    int64_t countWarps(unsigned number) {
      return int64_t(getWarps()[number]) * (number == 0 ? getGroups() : 1);
    }
    /// Returns the warps of all roles.
    int64_t countWarps();
    /// Returns true if `op` is in the role of the consumers.
    bool isConsumer(::mlir::Operation *op) {
      return getRoles().front().isAncestor(op->getParentRegion());
    }
  }];
}

def Tile_ConsumerGroupOp : Tile_Op<"consumer_group", [Pure]> {
  let summary = "the number of this group of consumer warps";
  let description = [{
    Is from 0 to the number of groups - 1. The operation is in the first role of
    tile.warp_roles, which has the groups.

    ```mlir
    tile.warp_roles warps = [4, 1] groups = 2 {
      %group = tile.consumer_group
    }, {
    }
    ```
  }];
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

def Tile_InitBarriersOp : Tile_Op<"init_barriers"> {
  let summary = "initialises every element of a buffer as an mbarrier";
  let description = [{
    An mbarrier is an i64 in shared memory that counts phases (PTX ISA,
    "mbarrier"). A phase ends when `arrivals` threads or warps have arrived and
    all bytes that they expect have been written. No thread may use the
    mbarriers before a `tile.barrier` that follows this operation.

    ```mlir
    %full = tile.alloc : !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
    tile.init_barriers %full, 1 : !tile.buffer<2xi64, #tile.padded<0, order = [0]>, shared>
    ```
  }];
  let arguments = (ins Tile_BufferType:$barriers,
                       ConfinedAttr<I32Attr, [IntPositive]>:$arrivals);
  let assemblyFormat = "$barriers `,` $arrivals attr-dict `:` qualified(type($barriers))";
  let hasVerifier = 1;
}

def Tile_WaitBarrierOp : Tile_Op<"wait_barrier"> {
  let summary = "waits until a phase of an mbarrier has ended";
  let description = [{
    Waits for the end of the phase of parity `phase` (0 or 1). That phase is
    either the current one or the one before it, which has ended. A new mbarrier
    is in phase 0; a wait for phase 1 returns at once. Writes before the arrivals
    of the phase are visible after the wait.

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
  let summary = "arrives at an mbarrier, once per warp";
  let description = [{
    Each warp of the role arrives once, after all of its threads have reached
    this operation. A role of one thread arrives once.

    ```mlir
    tile.arrive_barrier %empty[%slot] : !barriers
    ```

    A `fenced` arrival comes after a `tile.fence_async`, which
    `tile-insert-barriers` emits. It may delay the arrival (tile.ring.release).
  }];
  let arguments = (ins Tile_BufferType:$barriers, Index:$index,
                       UnitAttr:$fenced);
  let assemblyFormat = [{
    $barriers `[` $index `]` (`fenced` $fenced^)? attr-dict
    `:` qualified(type($barriers))
  }];
  let hasVerifier = 1;
}

def Tile_AwaitTurnOp : Tile_Op<"await_turn"> {
  let summary = "waits for the turn of this warpgroup";
  let description = [{
    The warpgroups of the first role (four warps each, as wgmma needs) take
    turns: one after another, the first one first, they execute the operations
    between `tile.await_turn` and the next `tile.pass_turn`. So the MMAs of one
    warpgroup overlap with the other computations of another. All warpgroups
    take the same number of turns. If there are groups of consumers
    (tile.warp_roles), these take turns instead, and a group may take one turn
    less than the groups before it.

    ```mlir
    !operand = tensor<64x64xf16, #tile.swizzle<128>>
    !result = tensor<64x64xf32, #tile.mma<"wgmma.m64k16.f16", warps = [4, 1]>>
    tile.await_turn
    %s = tile.dot async %q, %k, %zero : !operand, !operand -> !tile.pending<!result>
    %o1 = tile.dot async %p, %v, %o : !operand, !operand -> !tile.pending<!result>
    tile.pass_turn
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_PassTurnOp : Tile_Op<"pass_turn"> {
  let summary = "ends the turn of this warpgroup";
  let description = [{
    Lets the next warpgroup start its turn (see tile.await_turn).

    ```mlir
    tile.pass_turn
    ```
  }];
  let assemblyFormat = "attr-dict";
}

include "tile/Dialect/Tile/IR/TileRingOps.td"
include "tile/Dialect/Tile/IR/TileBulkOps.td"

#endif // TILE_DIALECT_TILE_IR_TILEROLEOPS_TD
