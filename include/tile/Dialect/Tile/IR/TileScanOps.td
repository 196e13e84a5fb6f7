//===- TileScanOps.td - Prefix scans of tiles --------------*- tablegen -*-===//
#ifndef TILE_DIALECT_TILE_IR_TILESCANOPS_TD
#define TILE_DIALECT_TILE_IR_TILESCANOPS_TD

// Included by TileOps.td.

def Tile_ScanOp : Tile_Op<"scan", [Pure, AllTypesMatch<["source", "result"]>,
    DeclareOpInterfaceMethods<Tile_TileLayoutOpInterface, ["inferLayouts", "requireLayouts"]>]> {
  let summary = "prefix scan of a tile along one dimension";
  let description = [{
    Computes result[.., i, ..] = source[.., 0, ..] + ... + source[.., i, ..] for
    all i of the dimension `dim`, where + is `kind`. The scan is inclusive. With
    `reverse` it starts at the end: element i of the result combines the elements
    from i to the last one.

    ```mlir
    %sums = tile.scan addf %x along 1 : tensor<16x256xf32>
    %rest = tile.scan maxnumf %x along 0 reverse : tensor<16x256xf32>
    ```

    The kinds and their treatment of NaN are those of `tile.reduce`. The order of
    the combinations is not specified, but an element of the result depends on
    no element behind it: a NaN or an infinity in the source does not reach the
    results before it.

    The type of the result is that of the source. The tile may have any layout in
    registers. `tile-assign-layouts` converts it if the exchange between warps
    would cost more. Illegal are a dimension that the tile does not have, a kind
    that its elements do not have, and a tile in shared memory.
  }];
  let arguments = (ins AtomicRMWKindAttr:$kind, Tile_Tile:$source,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$dim,
                       UnitAttr:$reverse);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $kind $source `along` $dim (`reverse` $reverse^)? attr-dict `:` qualified(type($source))
  }];
  let hasVerifier = 1;
}

def Tile_ScanInWarpsOp : Tile_Op<"scan_in_warps", [Pure, AllTypesMatch<["source", "result"]>]> {
  let summary = "scans the runs of a tile that warps hold";
  let description = [{
    Like `tile.scan`, but without exchange between warps. The runs along `dim` are
    the longest ranges of elements of which each is in one warp
    (Layout::runInWarps). `result` is the scan of each run by itself, `totals` has
    the combination of all elements of each run. `tile-decompose-reductions`
    creates this operation for scans over several warps.

    ```mlir
    // 4 warps side by side, each with two runs of 8 columns.
    #mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 4]>
    #totals = #tile.layout<register = [2 -> d0 * 8, 2 -> d1 * 4], lane = [4 -> 0, 8 -> d0], warp = [4 -> d1]>
    %part, %total = tile.scan_in_warps addf %s along 1
        : tensor<16x64xf32, #mma> -> tensor<16x8xf32, #totals>
    ```

    The tiles have layouts; that of `totals` follows from that of the source
    (Layout::reduceRuns). The kinds are those of `tile.reduce`.
  }];
  let arguments = (ins AtomicRMWKindAttr:$kind, Tile_Tile:$source,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$dim,
                       UnitAttr:$reverse);
  let results = (outs Tile_Tile:$result, Tile_Tile:$totals);
  let assemblyFormat = [{
    $kind $source `along` $dim (`reverse` $reverse^)? attr-dict `:`
    qualified(type($source)) `->` qualified(type($totals))
  }];
  let hasVerifier = 1;
}

def Tile_JoinScansOp : Tile_Op<"join_scans", [Pure, AllTypesMatch<["source", "result"]>]> {
  let summary = "makes a scan of the scans of its runs";
  let description = [{
    Combines every element of the source with the totals of the runs before its
    own, or behind it with `reverse`. `source` is the result of
    `tile.scan_in_warps`, and `totals` its totals. Each thread has the totals of
    all runs for its elements, and moves nothing.

    ```mlir
    #mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 4]>
    #all = #tile.layout<register = [8 -> d1, 2 -> d0 * 8], lane = [4 -> 0, 8 -> d0], warp = [4 -> 0]>
    %y = tile.join_scans addf %s, %total along 1
        : tensor<16x64xf32, #mma>, tensor<16x8xf32, #all>
    ```

    The tiles have layouts; that of `totals` follows from that of the source
    (Layout::allRuns).
  }];
  let arguments = (ins AtomicRMWKindAttr:$kind, Tile_Tile:$source,
                       Tile_Tile:$totals,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$dim,
                       UnitAttr:$reverse);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $kind $source `,` $totals `along` $dim (`reverse` $reverse^)? attr-dict `:`
    qualified(type($source)) `,` qualified(type($totals))
  }];
  let hasVerifier = 1;
}

def Tile_AssociativeScanOp : Tile_Op<"associative_scan", [NoMemoryEffect,
    RecursivelySpeculatable, IsolatedFromAbove, SingleBlock, DeclareOpInterfaceMethods<InferTypeOpInterface>,
    DeclareOpInterfaceMethods<Tile_TileLayoutOpInterface, ["inferLayouts", "requireLayouts"]>]> {
  let summary = "prefix scan of tiles along one dimension by a region";
  let description = [{
    Like `tile.scan`, but a region combines the elements, and an element may
    consist of the elements of several tiles at one place. The first half of the
    arguments of the region is the combination of elements that come before those
    in the second half. `tile.yield` gives their combination.

    ```mlir
    // h[i] = a[i] * h[i - 1] + b[i]
    %products, %h = tile.associative_scan %a, %b along 1 : tensor<16x256xf32>, tensor<16x256xf32> {
    ^bb0(%a0: f32, %h0: f32, %a1: f32, %b1: f32):
      %a2 = arith.mulf %a0, %a1 : f32
      %decayed = arith.mulf %a1, %h0 : f32
      %h1 = arith.addf %decayed, %b1 : f32
      tile.yield %a2, %h1 : f32, f32
    }
    ```

    The region must be associative; it need not be commutative. With `reverse` the
    scan starts at the end, and the elements with the higher coordinates come
    first. Elements are grouped in any way, but keep their order, and a result
    depends on no element behind its own.

    The region has operations without side effects on numbers, and uses no value
    from outside. All tiles have one shape and one layout.
  }];
  let arguments = (ins Variadic<Tile_Tile>:$sources,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$dim,
                       UnitAttr:$reverse);
  let results = (outs Variadic<Tile_Tile>:$results);
  let regions = (region SizedRegion<1>:$body);
  let extraClassDeclaration = [{
    /// Returns the number of operations that combine two elements.
    int64_t countOperations() {
      return llvm::range_size(getBody().front().without_terminator());
    }
  }];
  let assemblyFormat = [{
    $sources `along` $dim (`reverse` $reverse^)? attr-dict `:` qualified(type($sources)) $body
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Tile_AssociativeScanInWarpsOp : Tile_Op<"associative_scan_in_warps", [NoMemoryEffect,
    RecursivelySpeculatable, IsolatedFromAbove, SingleBlock, SameVariadicResultSize]> {
  let summary = "scans the runs of tiles that warps hold by a region";
  let description = [{
    Is to `tile.associative_scan` what `tile.scan_in_warps` is to `tile.scan`. The
    totals follow the results.

    ```mlir
    #mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 4]>
    #totals = #tile.layout<register = [2 -> d0 * 8, 2 -> d1 * 4], lane = [4 -> 0, 8 -> d0], warp = [4 -> d1]>
    %part, %total = tile.associative_scan_in_warps %s along 1
        : (tensor<16x64xf32, #mma>) -> (tensor<16x64xf32, #mma>, tensor<16x8xf32, #totals>) {
    ^bb0(%x: f32, %y: f32):
      %z = arith.mulf %x, %y : f32
      tile.yield %z : f32
    }
    ```
  }];
  let arguments = (ins Variadic<Tile_Tile>:$sources,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$dim,
                       UnitAttr:$reverse);
  let results = (outs Variadic<Tile_Tile>:$results, Variadic<Tile_Tile>:$totals);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sources `along` $dim (`reverse` $reverse^)? attr-dict `:` functional-type(operands, results) $body
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Tile_JoinAssociativeScansOp : Tile_Op<"join_associative_scans", [NoMemoryEffect,
    RecursivelySpeculatable, IsolatedFromAbove, SingleBlock, SameVariadicOperandSize]> {
  let summary = "makes a scan by a region of the scans of its runs";
  let description = [{
    Is to `tile.associative_scan` what `tile.join_scans` is to `tile.scan`. The
    totals follow the sources.

    ```mlir
    #mma = #tile.mma<"mma.m16n8k16.f16", warps = [1, 4]>
    #all = #tile.layout<register = [8 -> d1, 2 -> d0 * 8], lane = [4 -> 0, 8 -> d0], warp = [4 -> 0]>
    %y = tile.join_associative_scans %s, %total along 1
        : (tensor<16x64xf32, #mma>, tensor<16x8xf32, #all>) -> tensor<16x64xf32, #mma> {
    ^bb0(%x: f32, %y: f32):
      %z = arith.mulf %x, %y : f32
      tile.yield %z : f32
    }
    ```
  }];
  let arguments = (ins Variadic<Tile_Tile>:$sources, Variadic<Tile_Tile>:$totals,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$dim,
                       UnitAttr:$reverse);
  let results = (outs Variadic<Tile_Tile>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    operands `along` $dim (`reverse` $reverse^)? attr-dict `:` functional-type(operands, results) $body
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

#endif // TILE_DIALECT_TILE_IR_TILESCANOPS_TD
