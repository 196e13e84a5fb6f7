//===- TileAttentionOps.td - Named operations (stage S0) ----*- tablegen -*-===//
//
// Included by TileOps.td.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DIALECT_TILE_IR_TILEATTENTIONOPS_TD
#define TILE_DIALECT_TILE_IR_TILEATTENTIONOPS_TD

// The buffers of a named operation. With `merge` or `accumulate`, it also reads
// its results.
class Tile_Input<TypeConstraint type = Tile_BufferType> : Arg<type, "", [MemRead]>;
class Tile_Output<TypeConstraint type = Tile_BufferType>
    : Arg<type, "", [MemRead, MemWrite]>;
class Tile_Scratch<TypeConstraint type = Tile_BufferType>
    : Arg<type, "", [MemWrite]>;

/// What both directions of attention have in common.
class Tile_AttentionBase<string mnemonic>
    : Tile_Op<mnemonic, [AttrSizedOperandSegments]> {
  let hasVerifier = 1;
  code commonDeclarations = [{
    /// Whether the queries of a batch are packed one after the other.
    bool isPacked() { return bool(getCuQ()); }
    /// Whether `left`, or `right` or `causal`, may hide keys: a negative constant
    /// leaves a side open.
    bool isLeftBounded();
    bool isRightBounded();
    /// The extents that have to agree, those that others are compared with
    /// first.
    ::llvm::SmallVector<::tile::NamedExtent> getNamedExtents();
  }];
}

def Tile_AttentionOp : Tile_AttentionBase<"attention"> {
  let summary = "softmax attention on global buffers";
  let description = [{
    For every batch b, head h and query i:

    ```
    s[j] = scale * sum_d q[b, i, h, d] * k[b, j, h / G, d]
    o[b, i, h, :] = sum_j softmax(s)[j] * v[b, j, h / G, :]
    lse[b, h, i]  = ln(sum_j exp(s[j]))
    ```

    with G = heads of q / heads of k. Shapes: q [B, Sq, H, D], k [B, Sk, Hkv, D],
    v [B, Sk, Hkv, Dv], o [B, Sq, H, Dv], lse [B, H, Sq]; whatever the strides,
    so that BSHD and BHSD tensors both fit. D and Dv are multiples of 8
    from 8 to 256; tiles have the next multiple of 32 as columns. q, k and v are f16 or bf16 (one of them for
    all), o has their type or f32, scale and lse are f32.

    Key j is visible to query i under

    - `causal`: j <= i + offset;
    - `window %left, %right`: i + offset - left <= j <= i + offset + right; a
      negative number leaves that side open. With `causal`, too, right counts as
      0. Both are i32. A constant below 0 saves the code of its side.

    The offset is Sk - Sq, which aligns queries and keys at their ends (bottom
    right), unless `offset %offset` gives it: an i32, the position of query 0
    less the position of key 0. An offset of 0 aligns them at their beginnings
    (top left); offsets of parts of longer sequences may have any sign.

    A query that sees no key gives o = 0 and lse = -inf. The scale is finite and
    not negative (a negative constant is an error; an argument is checked at
    launch); lengths are below 2^30. Extents of one name agree, and H is a
    multiple of Hkv: what types leave open of that is checked at launch, too
    (tile.require).

    ```mlir
    func.func @attention(%q: !q, %k: !q, %v: !q, %o: !q, %scale: f32) {
      tile.attention %q, %k, %v, %o scale %scale {causal} : !q, !q, !q, !q
      return
    }
    ```

    With `merge`, o and lse hold the result for other keys of the same queries
    and receive the result for both. Needs lse. The weights of two parts with the
    logarithms x and y are exp(x - z) and exp(y - z), where z = ln(exp(x) +
    exp(y)) is the logarithm of both. o is best of f32 then, because each step
    rounds it.

    `parts %o_parts, %lse_parts` lets several blocks of threads share the keys of
    a tile of queries, which are too few to fill the chip. The buffers are
    scratch memory of f32, of the shapes of o and lse behind one more dimension,
    [P, B, Sq, H, Dv] and [P, B, H, Sq] (packed: [P, Tq, H, Dv] and [P, H, Tq]);
    their extent P, from 1 to 65535, is the number of parts. Each block writes the
    result for its part of the keys that its queries see; a second kernel, whose
    name ends with `_combine`, merges the parts, the sink and what `merge` asks
    for into o and lse. Parts may be empty. A number of parts gives the same bits
    in every run.

    ```mlir
    tile.attention %q, %k, %v, %o lse %lse parts %o_parts, %lse_parts
        scale %scale {causal} : !q, !q, !q, !q, !lse, !o_parts, !lse_parts
    ```

    With `works %works`, the number of parts depends on the lengths of a sequence:
    long ones have more. A kernel, whose name ends with `_works`, writes a table of
    works in the order of their cost. A work is a tile of queries and a part of its
    keys. Blocks of threads take the works of all heads in turn. The result of a
    work with all keys of its tile goes to o and lse; those of the others go to rows
    of the parts [R, H, Dv] and [H, R]. R bounds how many parts there are. works is
    scratch memory of i32, [W, 5].
    Requirements on the extents (tile.require) say what R and W must be; launchers
    compute the shapes of scratch memory from them. `queries %least_q to %most_q`, for
    packed sequences, leaves out those with fewer or more queries: their rows of o and
    lse stay as they are, for an operation with another schedule. `concurrent` says
    that one for the sequences with fewer than least_q queries runs at the same time, on
    another stream. On chips with warp roles, the kernel then uses only a share of the
    multiprocessors, which follows from the lengths of all sequences. With `reuse_works`
    there is no such kernel: works holds what the kernels of an operation with the same
    operands, attributes and lengths have written.

    ```mlir
    tile.attention %q, %k, %v, %o parts %o_parts, %lse_parts works %works
        seqlens %cu_q max %max_q key_lengths %lengths scale %scale {causal}
        : !packed, !k, !k, !packed, !works_o, !works_lse, !works, !cu, !lengths
    ```

    Four features can be added, in this order:

    - `sink %sink`: one more score per head, sink[h] (f16, bf16 or f32), which
      has no value: it only adds exp(sink[h]) to the sum, in lse too.
    - `seqlens %cu_q, %cu_k max %max_q`: the sequences of a batch are packed
      one after the other. q is [Tq, H, D], k [Tk, Hkv, D], v [Tk, Hkv, Dv],
      o [Tq, H, Dv] and lse [H, Tq]. Sequence b has the queries from cu_q[b] to
      before cu_q[b + 1] and the keys from cu_k[b] to before cu_k[b + 1]; both
      are i32 buffers [B + 1]. The grid is sized for sequences of `max_q`
      queries: longer ones are computed too, with less parallelism. Sequences may
      be empty. Bounds that are out of order or beyond T are clamped. Elements of
      no sequence are neither read nor written.
    - `softcap %cap`: s is replaced by cap * tanh(s / cap), for cap > 0. tanh is
      `math.tanh fastmath<afn>` (tile-lower-math): its error is some 2^-23
      absolute, where the instruction tanh.approx would be off by 2^-11 relative.

    ```mlir
    tile.attention %q, %k, %v, %o lse %lse sink %sink seqlens %cu_q, %cu_k
        max %max_q scale %scale softcap %cap
        : !packed, !packed, !packed, !packed, !rows, !sink, !cu, !cu
    ```

    - `key_lengths %lengths`: sequence b has lengths[b] keys, i32 [B], at most as many
      as k has room for. What is behind them is not read: it may be anything.
      With `pages %table`, k and v are caches of pages of R keys, [P, R, Hkv, D]
      and [P, R, Hkv, Dv], and table, i32 [B, N], has the pages of each sequence in
      order; R is static (`tile.paged`). Entries behind the length are not read.
      With `pages %table, %cu_pages`, table, i32 [T], has the pages of all
      sequences one after the other: sequence b has the entries from cu_pages[b]
      to before cu_pages[b + 1], i32 [B + 1], and lengths[b] counts the keys of
      its last page. A sequence without pages has no keys.
      With `seqlens %cu_q max %max_q`, without cu_k, queries are packed and keys
      have lengths.

    ```mlir
    // One kernel for chunks of a prompt and decoding steps over a paged cache.
    tile.attention %q, %k_cache, %v_cache, %o seqlens %cu_q max %max_q
        key_lengths %lengths pages %table scale %scale {causal}
        : !packed, !cache, !cache, !packed, !cu, !lengths, !page_table
    // The same with the pages of all sequences one after the other.
    tile.attention %q, %k_cache, %v_cache, %o seqlens %cu_q max %max_q
        key_lengths %last pages %pages, %cu_pages scale %scale {causal}
        : !packed, !cache, !cache, !packed, !cu, !lengths, !page_list, !cu
    ```

    `tree_mask %tree` hides keys beside the other masks: queries are nodes of a tree,
    drafts of the next tokens, and query i sees the nodes above it only. Node n is
    key n + offset: all queries see the keys before. tree is i32 [B, Sq, W], packed
    [Tq, W], for a static W from 1 to 8. Query i sees node n if bit n % 32, counted
    from the lowest, of word n / 32 of its row is set. Nodes from 32 W on are hidden.

    ```mlir
    tile.attention %q, %k, %v, %o tree_mask %tree scale %scale
        : !q, !q, !q, !q, !tree
    ```

    `schedule` sets fields of the kernel's schedule. The others come from the file
    of the chip (`#tile.schedule`), where they may depend on the keys of a sequence:
    `expected_keys` says how many there are if the type of k does not. They may also
    depend on `expected_rows`, the most rows that are of use in a tile: in a larger
    one, rows would have no query, or multiprocessors no tile. If heads are packed and
    the schedule gives no `tile`, the tile has no more of them than an instruction
    needs. The kernel is right for any numbers.

    If the rows of a tile are no multiple of 16 for each warp, they are the columns of
    the products S^T = K Q^T and O^T = V^T P^T. Then the keys of the tile are a multiple
    of 16 for each warp.

    ```mlir
    tile.attention %q, %k, %v, %o scale %scale {expected_keys = 4096} : !q, !q, !q, !q
    tile.attention %q, %k, %v, %o scale %scale
        {causal, schedule = #tile.schedule<tile = [128, 64], stages = 3>}
        : !q, !q, !q, !q
    ```

    `tile-expand-attention` turns the function into a kernel of its name, and into
    others if there are parts.
  }];
  let arguments = (ins Tile_Input<>:$q, Tile_Input<>:$k, Tile_Input<>:$v,
    Tile_Output<>:$o, Tile_Output<Optional<Tile_BufferType>>:$lse,
    Tile_Scratch<Optional<Tile_BufferType>>:$o_parts,
    Tile_Scratch<Optional<Tile_BufferType>>:$lse_parts,
    Tile_Output<Optional<Tile_BufferType>>:$works,
    Optional<Index>:$least_q, Optional<Index>:$most_q,
    Tile_Input<Optional<Tile_BufferType>>:$sink,
    Tile_Input<Optional<Tile_BufferType>>:$cu_q,
    Tile_Input<Optional<Tile_BufferType>>:$cu_k, Optional<Index>:$max_q,
    Tile_Input<Optional<Tile_BufferType>>:$key_lengths,
    Tile_Input<Optional<Tile_BufferType>>:$page_table,
    Tile_Input<Optional<Tile_BufferType>>:$cu_pages,
    Tile_Input<Optional<Tile_BufferType>>:$tree_mask, F32:$scale,
    Optional<F32>:$softcap, Optional<I32>:$left, Optional<I32>:$right,
    Optional<I32>:$offset, UnitAttr:$causal, UnitAttr:$merge,
    UnitAttr:$reuse_works, UnitAttr:$concurrent,
    OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$expected_keys,
    OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$expected_rows,
    OptionalAttr<Tile_ScheduleAttr>:$schedule);
  let assemblyFormat = [{
    $q `,` $k `,` $v `,` $o (`lse` $lse^)?
    (`parts` $o_parts^ `,` $lse_parts)? (`works` $works^)?
    (`queries` $least_q^ `to` $most_q)? (`sink` $sink^)?
    (`seqlens` $cu_q^ (`,` $cu_k^)? `max` $max_q)?
    (`key_lengths` $key_lengths^ (`pages` $page_table^ (`,` $cu_pages^)?)?)?
    (`tree_mask` $tree_mask^)? `scale` $scale
    (`softcap` $softcap^)? (`window` $left^ `,` $right)? (`offset` $offset^)?
    attr-dict `:`
    custom<BufferTypes>(type($q), type($k), type($v), type($o),
                        ref($lse), type($lse),
                        ref($o_parts), type($o_parts), type($lse_parts),
                        ref($works), type($works),
                        ref($sink), type($sink),
                        ref($cu_q), type($cu_q), ref($cu_k), type($cu_k),
                        ref($key_lengths), type($key_lengths),
                        ref($page_table), type($page_table),
                        ref($cu_pages), type($cu_pages),
                        ref($tree_mask), type($tree_mask))
  }];
  let extraClassDeclaration = commonDeclarations # [{
    /// Whether k and v are caches of pages.
    bool isPaged() { return bool(getPageTable()); }
    /// Returns the fields that `schedule` may have.
    static ::llvm::ArrayRef<::llvm::StringRef> getScheduleFields();
  }];
}

def Tile_AttentionBackwardOp : Tile_AttentionBase<"attention_backward"> {
  let summary = "gradients of softmax attention";
  let description = [{
    The gradients of `tile.attention`, given its operands, its results o and lse
    and the gradients do of o and, with `dlse %dlse`, dlse of lse (0 without it),
    all of the same shapes as there. With p[i, j] = exp(s[i, j] - lse[i]), the
    weight of key j for query i:

    ```
    delta[i]  = sum_d o[i, d] * do[i, d] - dlse[i]
    ds[i, j]  = p[i, j] * (sum_d do[i, d] * v[j, d] - delta[i])
    dv[j, :]  = sum_i p[i, j] * do[i, :]
    dk[j, :]  = scale * sum_i ds[i, j] * q[i, :]
    dq[i, :]  = scale * sum_j ds[i, j] * k[j, :]
    dsink[h]  = - sum_i exp(sink[h] - lse[i]) * delta[i]
    ```

    where dk and dv also sum over the queries of all heads of a group, and
    `softcap` multiplies ds by 1 - tanh(s / cap)^2 in dk and dq. dq, dk and dv
    have the shapes of q, k and v, and their type or f32. With `accumulate` the
    gradients, dsink too, are added to the contents of their buffers. For keys in
    several parts, o and lse are those of all keys, and the gradients dq of the
    parts add up. Queries without keys get no gradient, from dlse neither.

    `stats` is scratch memory for two numbers per row, delta and lse * log2(e):
    f32 [B, H, 2, R], for R rows, those of q rounded up to a multiple of 16
    (packed: [H, 2, R], for any R >= Tq + 128 B, as sequences take multiples of
    128 rows).

    ```mlir
    func.func @backward(%q: !q, %k: !q, %v: !q, %o: !q, %do: !q, %lse: !lse,
                        %dq: !q, %dk: !q, %dv: !q, %stats: !stats, %scale: f32) {
      tile.attention_backward %q, %k, %v, %o, %do, %lse to %dq, %dk, %dv
          using %stats scale %scale {causal}
          : !q, !q, !q, !q, !q, !lse, !q, !q, !q, !stats
      return
    }
    ```

    It becomes several kernels, which take the arguments of the function and run
    in the order of the manifest. Two choices of how to add up are the caller's,
    who provides the scratch memory that they take:

    - `dq_acc %acc`: the kernel that computes dk and dv also adds to dq, by
      atomics in %acc, f32 of the shape of q. Their order varies, and so do the
      last bits of dq. Unless sequences are packed, the layout of %acc is the
      compiler's choice (tile-choose-accumulators), in whole blocks of rows: its
      number of rows must be that of q rounded up to a multiple of 16 (of 32 on
      gfx90a, gfx942 and gfx950, whose matrix instructions may have so many rows), and the
      same holds for the buffers of `kv_acc atomic`. Without it, dq has a kernel of its own: two matrix
      products more, no scratch memory, and every run gives the same bits.
    - `kv_acc separate %dk_acc, %dv_acc`: each query head computes its own dk and
      dv in %dk_acc [B, Sk, H, D] and %dv_acc [B, Sk, H, Dv], of f32 or the type
      of k; a kernel sums them. `kv_acc atomic %dk_acc, %dv_acc`: all heads of a
      group add to f32 buffers of the shapes of k and v, by atomics. Without
      either, one block visits all heads of its group in turn: the best where
      heads and batches fill the chip anyway, as they do without groups.

    Nothing but dq_acc and `kv_acc atomic` makes a bit depend on the run.
    `sink %sink, %dsink` and `seqlens %cu_q, %cu_k max %max_q, %max_k` are those
    of `tile.attention`; dsink is f32 [H]. `max_k` sizes the grid like `max_q`.
    Scratch memory need not be initialised; that it is large enough is checked
    as extents are.

    `dkv_schedule` sets fields of the schedule of the kernel of dk and dv;
    `dq_schedule` of that of dq, without dq_acc.
  }];
  let arguments = (ins Tile_Input<>:$q, Tile_Input<>:$k, Tile_Input<>:$v,
    Tile_Input<>:$o, Tile_Input<>:$d_o, Tile_Input<>:$lse,
    Tile_Input<Optional<Tile_BufferType>>:$d_lse,
    Tile_Output<>:$dq, Tile_Output<>:$dk, Tile_Output<>:$dv,
    Tile_Scratch<>:$stats, Tile_Scratch<Optional<Tile_BufferType>>:$dq_acc,
    Tile_Scratch<Optional<Tile_BufferType>>:$dk_acc,
    Tile_Scratch<Optional<Tile_BufferType>>:$dv_acc,
    Tile_Input<Optional<Tile_BufferType>>:$sink,
    Tile_Output<Optional<Tile_BufferType>>:$d_sink,
    Tile_Input<Optional<Tile_BufferType>>:$cu_q,
    Tile_Input<Optional<Tile_BufferType>>:$cu_k,
    Optional<Index>:$max_q, Optional<Index>:$max_k, F32:$scale,
    Optional<F32>:$softcap, Optional<I32>:$left, Optional<I32>:$right,
    Optional<I32>:$offset, OptionalAttr<Tile_KVAccumulation>:$kv_mode,
    UnitAttr:$causal, UnitAttr:$accumulate,
    OptionalAttr<Tile_ScheduleAttr>:$dkv_schedule,
    OptionalAttr<Tile_ScheduleAttr>:$dq_schedule);
  let assemblyFormat = [{
    $q `,` $k `,` $v `,` $o `,` $d_o `,` $lse (`dlse` $d_lse^)?
    `to` $dq `,` $dk `,` $dv
    `using` $stats (`dq_acc` $dq_acc^)? (`kv_acc` $kv_mode^ $dk_acc `,` $dv_acc)?
    (`sink` $sink^ `,` $d_sink)?
    (`seqlens` $cu_q^ `,` $cu_k `max` $max_q `,` $max_k)? `scale` $scale
    (`softcap` $softcap^)? (`window` $left^ `,` $right)? (`offset` $offset^)?
    attr-dict `:`
    custom<BufferTypes>(
        type($q), type($k), type($v), type($o), type($d_o), type($lse),
        ref($d_lse), type($d_lse), ref($q), type($dq), type($dk), type($dv),
        type($stats),
        ref($dq_acc), type($dq_acc), ref($dk_acc), type($dk_acc), type($dv_acc),
        ref($sink), type($sink), type($d_sink),
        ref($cu_q), type($cu_q), type($cu_k))
  }];
  let extraClassDeclaration = commonDeclarations # [{
    bool isPaged() { return false; }
    /// Returns the fields that `dkv_schedule` may have.
    static ::llvm::ArrayRef<::llvm::StringRef> getKeysScheduleFields();
    /// Returns the fields that `dq_schedule` may have.
    static ::llvm::ArrayRef<::llvm::StringRef> getQueriesScheduleFields();
  }];
}

#endif // TILE_DIALECT_TILE_IR_TILEATTENTIONOPS_TD
