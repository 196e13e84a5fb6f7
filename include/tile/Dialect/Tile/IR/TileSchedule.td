//===- TileSchedule.td - The schedule of a kernel ----------*- tablegen -*-===//
//
// Included by TileOps.td.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DIALECT_TILE_IR_TILESCHEDULE_TD
#define TILE_DIALECT_TILE_IR_TILESCHEDULE_TD

include "mlir/IR/AttrTypeBase.td"
include "tile/Dialect/Tile/IR/TileDialect.td"

def Tile_ScheduleAttr : AttrDef<Tile_Dialect, "Schedule"> {
  let mnemonic = "schedule";
  let summary = "how a kernel divides its work among warps and memory";
  let description = [{
    Each field is optional. The compiler chooses a field that is not given, so
    one field can be set and the others remain. A schedule never changes what a
    kernel computes, apart from the order of additions.

    | field | unit | meaning | range |
    |---|---|---|---|
    | `tile = [q, k]` | rows | queries and keys of one step of attention | 1 to 1024 |
    | `pack_heads = n` | heads | the rows of a tile are n heads of q that share a head of k, at each of rows / n queries; without it, queries of one head. Keys and values are read once for the heads of a group, and few queries fill the tile | 1 to 1024, divides the rows of the tile |
    | `warps = n` | warps | warps of a block; with roles, its consumer warps, which compute; more than 32 without roles: those of a cluster of blocks (tile-form-clusters) | 1 to 256 |
    | `column_warps = n` | warps | warps side by side along the columns of the products of queries and keys, in a kernel whose blocks own keys; divides `warps` | 1 to 32 |
    | `consumer_groups = n` | groups | groups of consumer warps, each with the warps of the kernel. The groups of a persistent kernel compute different works and take turns (ping-pong): the loops of one group run beside the results of the other. 1: the consumer warps share each work (cooperative) | 1 to 2 |
    | `producers = n` | warps | producer warps, which copy tiles from global to shared memory by TMA; 0: no roles | 0 to 32 |
    | `storers = n` | warps | storing warps, which add tiles from shared to global memory by TMA | 0 to 32 |
    | `registers = [c, p]` | 32-bit registers of a thread | registers of the consumers and of the other roles (setmaxnreg); chosen where the consumers need more than the block starts with | multiples of 8 in 24 to 256 |
    | `stages = n` | buffers | stages of the ring of each tile that a loop copies | 1 to 32 |
    | `work_stages = n` | buffers | stages of the ring of each tile that a persistent kernel copies once for each work (tile-persist). With 2 in a `tile.attention`, the first MMA of one block of rows is issued before the last MMA of the previous block has ended. 0: not persistent | 0 to 2 |
    | `in_flight = n` | products | matrix products that a warpgroup has in flight at a time, in a kernel of attention. With 2, a product is started before the exponentials of the step before, or of the other product of its step, and runs beside them; with 1, operations follow their operands closely, which takes the fewest registers; the kernel is not persistent then. 2 with producers and 1 without unless given | 1 to 2 |
    | `turns` | | warpgroups take turns to start MMAs, so that one computes exponentials while another multiplies | flag |
    | `save_registers` | | saves registers at the cost of time: matrix descriptors are computed at each MMA instead of before loops; in a role of one thread the whole warp runs loops and waits, so that their counters can be in uniform registers | flag |
    | `split = n` | parts | blocks that share the iterations of a loop that only adds up tiles; another kernel adds their sums (tile-split-reduction). 1: no sharing | 1 to 64 |
    | `cluster_split = n` | blocks | blocks of a cluster that share the iterations of a loop as with `split`; they add their sums through their shared memory, and each computes a part of the rows of the result (tile-split-reduction) | 2 to 8 |
    | `stream_k = n` | blocks | blocks that share the iterations of the tiles that are left over when each of them has the same number of whole tiles (stream-K); the loop is one of `split`, and another kernel adds the sums (tile-split-reduction) | 2 to 4096 |
    | `order = plain`, `order = groups<n>`, `order = groups<n, m>` | blocks | the order of the blocks of a launch: along x, then along y; or in groups of n blocks along x: m blocks along y (1 by default), then along x, then the next m along y, and then the next group | 1 to 65536 |
    | `params = {NAME = n, ...}` | | the values of parameters of a kernel with open extents (`tile.param`) | those that the parameter lists |
    | `keep_loops` | | loops stay as they are written: they are neither rotated nor split where a mask becomes constant | flag |
    | `late_products` | | products of tiles that warpgroups exchange are computed one iteration late where that is possible (tile-delay-products); not with `false` | flag |

    `consumer_groups = 2`, `storers`, `registers`, `work_stages`, `in_flight = 2`,
    `turns` and `save_registers` are for kernels with roles: products overlap other
    operations only if TMA fills their operands. A block with roles has at most 32 warps in all. A flag is true if it stands alone;
    `turns = false` turns it off.

    The attribute stands on

    - a `tile.attention`, as `schedule`: all fields but `column_warps` and
      `storers`.
    - a `tile.attention_backward`, as `dkv_schedule`: all fields but
      `pack_heads` and `work_stages`; and as `dq_schedule`, for the kernel of dq if there is no
      dq_acc: `tile`, `warps` and `stages`. The other kernels have no schedule.
    - a kernel, as `schedule`: `consumer_groups`, `producers`, `storers`, `registers`, `stages` (of
      loops that have none of their own), `work_stages`, `turns`,
      `save_registers`, `keep_loops`, `late_products`, `split`, `cluster_split`, `stream_k`, `order` and `params`. The number of consumer warps is
      `num_warps`; `--schedule='warps = n'` sets it. A pass removes the fields
      that it has carried out.
    - an `scf.for`, as `tile.schedule`: `stages` and `keep_loops`.

    ```mlir
    tile.kernel @f() attributes {num_warps = 8 : i32,
        schedule = #tile.schedule<producers = 4, registers = [232, 40]>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      tile.grid %c1, %c1, %c1
      scf.for %i = %c0 to %c1 step %c1 {
      } {tile.schedule = #tile.schedule<stages = 3>}
    }
    ```

    The fields of a named operation come from, in this order: `--schedule=` (see
    tile-apply-schedule), the operation, and the first row of the chip's file
    that matches (`tile.schedule_row`). An operation or an option that sets
    `producers = 0` takes neither the fields for roles nor `stages` from the row.

    Errors: an unknown field, a field twice, a number out of its range, fields
    that contradict each other, a field that the operation cannot have, and
    producers on a chip without TMA.
  }];
  let parameters = (ins "::tile::Schedule":$fields);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Parses fields without `<` and `>`, as on the command line. Fails after an
    /// error.
    static ::llvm::ParseResult parseFields(::mlir::AsmParser &parser,
                                           ::tile::Schedule &fields);
  }];
}

def Tile_KernelPatternAttr : AttrDef<Tile_Dialect, "KernelPattern"> {
  let mnemonic = "kernel_pattern";
  let summary = "conditions on what a kernel is";
  let description = [{
    Describes kernels by what they compute. Conditions on a number are `= n`,
    `from n`, `to n` and `from n to m`; both bounds are included. A flag alone
    must be true. A field without a condition holds for every kernel.

    | field | meaning |
    |---|---|
    | `products` | matrix products in one step: 2 in forward; in backward 4, or 5 with those of dQ, if a block owns keys, and 3 if it owns queries |
    | `head` | the larger of the head dimensions of Q and K, and of V |
    | `query` | the head dimension of Q and K |
    | `value` | the head dimension of V |
    | `bits` | bits of an element of Q |
    | `mask` | `none`; `causal`: hides the keys behind the query alone; `window`: may hide others |
    | `softcap` | scores have a softcap |
    | `packed` | sequences are packed one after the other |
    | `atomic_results` | dK and dV leave by atomic additions |
    | `merge` | the result is merged into the output |
    | `parts` | blocks share the keys of a tile of queries |
    | `pack_heads` | the rows of a tile are heads of a group at some queries |
    | `key_lengths` | the keys of each sequence have a length, in pages or not |
    | `keys` | the keys of a sequence, if the type of K or `expected_keys` of the operation says so; 0 otherwise |
    | `rows` | `expected_rows` of the operation; 0 without it |

    ```mlir
    #tile.kernel_pattern<products = 2, head from 65 to 128, mask = window, softcap = false>
    ```
  }];
  let parameters = (ins "::tile::KernelPattern":$pattern);
  let hasCustomAssemblyFormat = 1;
}

#endif // TILE_DIALECT_TILE_IR_TILESCHEDULE_TD
