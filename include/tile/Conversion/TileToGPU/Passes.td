//===- Passes.td - From tiles to one thread's program ------*- tablegen -*-===//
#ifndef TILE_CONVERSION_TILETOGPU_PASSES_TD
#define TILE_CONVERSION_TILETOGPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def TileVectorize : Pass<"tile-vectorize", "::mlir::ModuleOp"> {
  let summary = "Converts tile kernels to the program of one thread (S4 to S5)";
  let description = [{
    Every `tile.kernel` becomes a `gpu.func` in the module `@tile_kernels`. A
    tile becomes a vector of the registers of one thread, in the order of the
    layout. A buffer becomes a rank-1 memref, an offset, and its dynamic extents
    and strides. Each access is as wide as the layouts of both sides, the
    alignment, the bounds and the chip allow (Analysis/AccessWidth.h). Fragments
    are read by `nvgpu.ldmatrix` if the layouts fit. Each function has
    a `tile_gpu.manifest` (docs/Manifest.md).

    ```mlir output
    %t = tile.load %b[%row, %c0] : !b -> tensor<64x128xf16, #blocked>
    %u = arith.addf %t, %t : tensor<64x128xf16, #blocked>
    // becomes, for 128 threads
    %0 = vector.load %memory[%offset] {alignment = 16 : i64}
        : memref<?xf16, #gpu.address_space<global>>, vector<8xf16>
    ...
    %u = arith.addf %t, %t : vector<64xf16>
    ```

    An element that `tile.assert` checks or `tile.print` prints is a branch or a
    `gpu.printf` of the thread that holds it, without copies.

    Remarks:

    - `width-instruction`, `width-alignment`, `width-start`, `width-layout`,
      `width-extent`: why an access is not wider, one remark for each larger
      width (Analysis/AccessWidth.h);
    - `partial-access`: the buffer may end within an access. Threads whose
      accesses are before the end check once; at the end, an access that is cut
      becomes accesses of single elements;
    - `atomic-width`: the instruction of each atomic operation;
    - `atomic-loop`: an atomic operation that the chip needs a loop for;
    - `synchronous-copy`: a `tile.copy async` that is an ordinary copy, with the
      reason.

    On chips whose waves copy to workgroup memory without registers, a
    `tile.copy async` becomes `amdgpu.gather_to_lds`. The layout of the buffer
    must be contiguous over the parts of a wave; a swizzle is a permutation of
    the addresses that the lanes read. Lanes out of bounds read a constant of
    zeros. Groups become `tile_gpu.commit_copies` and `tile_gpu.wait_copies`.

    Fails for tiles without a layout, for layouts with another number of warps or
    lanes, for tiles in shared memory that have not been bufferized, and for
    conversions that move elements between threads. Fails for TMA operations,
    mbarriers and warp roles on chips without TMA.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::NVVM::NVVMDialect",
                           "::mlir::ROCDL::ROCDLDialect",
                           "::mlir::amdgpu::AMDGPUDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::nvgpu::NVGPUDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect",
                           "::tile::gpu::TileGPUDialect"];
}

def TileFormClusters : Pass<"tile-form-clusters", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Divides the threads of a program among the blocks of a cluster";
  let description = [{
    A program of more warps than a block may have runs on a cluster: blocks that
    run at the same time and write the shared memory of each other. There are as
    many as give each at most 8 warps, and at most 8, which then have up to 32
    warps each.

    Before this pass, the function is that of one block with all threads. Each
    block of the cluster gets a copy of the shared memory. Loads read the copy of
    their own block, and stores write all copies. The grid has a cluster for each
    block that it had.

    An exchange is a barrier, the stores before it and the loads after it. Where
    all exchanges have a number of bytes that is known, an mbarrier in each block
    counts the bytes that arrive, and nothing else is ordered: a barrier of the
    cluster that orders all accesses waits for those to global memory, too. An
    exchange begins when all threads have loaded the results of the one before,
    and have arrived at a barrier of the cluster that orders nothing.

    ```mlir output
    gpu.func @f() kernel attributes {known_block_size = array<i32: 2048, 1, 1>} {
      %thread = gpu.thread_id x
      vector.store %v, %memory[%i] : memref<?xi32, #gpu.address_space<workgroup>>, vector<1xi32>
      gpu.barrier
      %u = vector.load %memory[%j]
    // becomes, with 8 blocks
    gpu.func @f() kernel attributes {known_block_size = array<i32: 256, 1, 1>,
                                     nvvm.cluster_dim = array<i32: 8, 1, 1>} {
      nvvm.mbarrier.init %counter, %c1 // by thread 0
      nvvm.cluster.arrive.relaxed {aligned}
      %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
      %t = gpu.thread_id x
      %thread = %rank * 256 + %t
      nvvm.cluster.wait {aligned}
      nvvm.mbarrier.arrive.expect_tx %counter, %bytes // by thread 0
      %p0 = nvvm.mapa %pointer, %c0 : !llvm.ptr<3> -> !llvm.ptr<7>
      %q0 = nvvm.mapa %counter, %c0 : !llvm.ptr<3> -> !llvm.ptr<7>
      st.async [%p0], %v, [%q0]
      ... // 1 to 7
      nvvm.mbarrier.try_wait.parity %counter, %phase, %c0
      %u = vector.load %memory[%j]
      gpu.barrier
      nvvm.cluster.arrive.relaxed {aligned}
    ```

    Where the bytes depend on values at run time, barriers become those of the
    cluster, and another one at the beginning makes sure that all blocks have
    started. A remark says why.

    A kernel with `cluster_blocks` is the program of one block of a cluster already
    (`tile.cluster_rank`). Its blocks only get their places: the grid has a cluster
    for each block that it had.

    Fails for accesses to shared memory other than loads and stores of the
    threads, for example asynchronous copies and matrix instructions that read
    it.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::NVVM::NVVMDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def TileCopyAhead : Pass<"tile-copy-ahead", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Lets loads of later iterations arrive in shared memory";
  let description = [{
    A loop with `stages = n` in its schedule carries the results of loads of
    global memory for n iterations (`tile-load-ahead`). This pass turns the loads
    into asynchronous copies to shared memory, so that the results take no
    registers until they are used. Each thread has n + 1 slots of its own, which no
    other thread accesses: there are no barriers. Its accesses of 16 bytes are
    beside those of its neighbours, without bank conflicts. Vectors of 16 bits that
    are the same in all iterations move there, too.

    A load of the first elements of an access becomes a copy that fills the rest
    with zeros.

    A row that begins at any element (a `vector.gather` of `tile-vectorize`) lies in
    aligned words. The threads of the block copy these one after the other to a
    slot that they share: an iteration has a barrier behind its wait. What a copy
    reads before the row belongs to the same allocation; the elements of a word that
    begins before the buffer are copied alone.

    Numbers of 4 bytes or more, which are the same in all threads, arrive in slots
    of their warps, too: one lane copies them, and the warp waits for it. A number in
    a register would be awaited at the end of the iteration that loads it, or at its
    start, because the back end keeps it in a register of the warp. So numbers
    are copied as well where a loop carries its vectors in registers
    (`tile.numbers_ahead` on the scf.if that loads them, by `tile-load-ahead`).

    If a thread has more than 16 elements and a multiprocessor has room for one block
    only, a thread reads the slots again behind each barrier of the loop and repeats
    the elementwise operations, so that their results take no registers at the
    barrier. The kernel then asks for as many blocks on a multiprocessor as the
    registers of what the loop carries leave room for (`nvvm.minctasm`).

    ```mlir output
    scf.for %i = ... iter_args(%v = %first) -> (vector<8xbf16>) {
      %next = scf.if %exists -> (vector<8xbf16>) {
        %0 = vector.load %x[%j] : memref<?xbf16, #gpu.address_space<global>>, vector<8xbf16>
        scf.yield %0 : vector<8xbf16>
      } else { ... }
      "use"(%v)
      scf.yield %next : vector<8xbf16>
    } {tile.schedule = #tile.schedule<stages = 1>}
    // becomes
    scf.for %i = ... {
      nvvm.cp.async.wait.group 0
      scf.if %exists {
        nvgpu.device_async_copy %x[%j], %next_slot[%thread], 8 : ...
      } else { ... }
      nvvm.cp.async.commit.group
      %v = vector.load %slot[%thread] : memref<?xbf16, #gpu.address_space<workgroup>>, vector<8xbf16>
      "use"(%v)
    }
    ```

    Elements that are computed, or loaded by accesses of less than 4 bytes, are
    stored to the slot.
  }];
  let dependentDialects = ["::mlir::NVVM::NVVMDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::nvgpu::NVGPUDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def TileExpandMaskedLoads : Pass<"tile-expand-masked-loads"> {
  let summary = "Makes branches of loads of the first elements of a vector";
  let description = [{
    Where a buffer may end within an access, `tile-vectorize` loads the first
    elements of a vector. `tile-copy-ahead` makes one asynchronous copy of such a
    load. All others become one load where all elements exist, and else a load of
    each that exists. A load of a row whose words `tile-copy-ahead` has not copied
    becomes a branch for each element.

    ```mlir output
    %mask = vector.create_mask %count : vector<4xi1>
    %0 = vector.maskedload %x[%i], %mask, %zeros {alignment = 16 : i64} : ...
    // becomes
    %whole = arith.cmpi sgt, %count, %c3 : index
    %0 = scf.if %whole -> (vector<4xf32>) {
      %1 = vector.load %x[%i] {alignment = 16 : i64} : ...
      scf.yield %1 : vector<4xf32>
    } else {
      ...
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def TileSplitElementwiseRuns : Pass<"tile-split-elementwise-runs"> {
  let summary = "Computes runs of elementwise operations part by part";
  let description = [{
    Elementwise operations on vectors of one length that follow each other are a
    run. If its vectors take more than half of the registers of a thread between
    the operations, and more than before and behind them, the run is computed for 8
    elements at a time: x * f(x) needs the registers of x or of the result, not those
    of x and f(x). For AMD chips, `amdgpu.sched_barrier allow = <none>` stands
    between the parts.
    In functions without matrix products for NVIDIA chips, a run continues behind
    loads, and behind stores of vectors, if its results take no more registers than
    operands that end there. Blocks with matrix products keep their order, which
    `tile-schedule` has chosen.

    ```mlir output
    %0 = math.exp2 %x : vector<96xf32>
    %1 = arith.mulf %x, %0 : vector<96xf32>
    // becomes
    %x0 = vector.extract_strided_slice %x {offsets = [0], ...}
    %00 = math.exp2 %x0 : vector<8xf32>
    %10 = arith.mulf %x0, %00 : vector<8xf32>
    %a = vector.insert_strided_slice %10, %zeros {offsets = [0], ...}
    %x1 = vector.extract_strided_slice %x {offsets = [8], ...}
    ...
    ```
  }];
  let dependentDialects = ["::mlir::amdgpu::AMDGPUDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::vector::VectorDialect"];
}

def TileSkipMasks : Pass<"tile-skip-masks"> {
  let summary = "Selects elements by their coordinates only where these decide";
  let description = [{
    A selection of vectors whose condition compares one number with constants, as the
    length of a row with the coordinates of its elements, stands behind a branch: if
    the comparison holds for the last element, it holds for all. In blocks of at most
    four warps, each group of eight elements has another branch inside. This is done in
    functions without matrix products for NVIDIA chips, unless the number differs
    between the iterations of a loop.

    ```mlir output
    %0 = arith.cmpi sgt, %length, dense<[0, 1, 2, 3, 4, 5, 6, 7]> : vector<8xi32>
    %1 = arith.select %0, %x, %hidden : vector<8xi1>, vector<8xf32>
    // becomes
    %whole = arith.cmpi sgt, %length_0, %c7 : i32    // %length is its splat
    %1 = scf.if %whole -> (vector<8xf32>) {
      scf.yield %x : vector<8xf32>
    } else {
      %2 = arith.cmpi sgt, %length, dense<[0, 1, 2, 3, 4, 5, 6, 7]> : vector<8xi32>
      %3 = arith.select %2, %x, %hidden : vector<8xi1>, vector<8xf32>
      scf.yield %3 : vector<8xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def TileLoadBeforeWaits : Pass<"tile-load-before-waits"> {
  let summary = "Moves loads of read-only memory before waits for barriers";
  let description = [{
    A producer that copies pages loads their numbers from a table when a stage of
    its ring is free. The latency of that load is then part of the time in which the
    stage is empty. This pass moves a load, alone or in an `scf.if` that has no other
    effect, before the wait for an mbarrier above it in its block, with the pure
    operations that it needs, if the kernel only loads from that argument. The load
    then arrives during the wait. No load moves before
    `nvvm.griddepcontrol`, which waits for the kernel that writes the memory.

    ```mlir output
    nvvm.mbarrier.try_wait.parity %free, %parity, %c0 : ...
    %page = memref.load %table[%i] : memref<?xi32, #gpu.address_space<global>>
    // becomes
    %page = memref.load %table[%i] : memref<?xi32, #gpu.address_space<global>>
    nvvm.mbarrier.try_wait.parity %free, %parity, %c0 : ...
    ```
  }];
}

def TileSinkFragmentLoads : Pass<"tile-sink-fragment-loads"> {
  let summary = "Moves loads of fragments from shared memory to their uses";
  let description = [{
    `tile-vectorize` reads all fragments of a tile before the MMAs that use them.
    The back ends keep that order, so that all fragments are in registers at the
    same time. This pass builds each slice of a tile only from the loads that it
    needs. It moves these loads (`nvgpu.ldmatrix`, and `vector.load` of
    workgroup memory) and the slices of their results to their first use, but
    never across another operation with side effects.

    ```mlir output
    %a = nvgpu.ldmatrix %smem[%i] ...
    %b = nvgpu.ldmatrix %smem[%j] ...
    %0 = tile_gpu.mma "mma.m16n8k16.f16" %a, ...
    %1 = tile_gpu.mma "mma.m16n8k16.f16" %b, ...
    // becomes
    %a = nvgpu.ldmatrix %smem[%i] ...
    %0 = tile_gpu.mma "mma.m16n8k16.f16" %a, ...
    %b = nvgpu.ldmatrix %smem[%j] ...
    %1 = tile_gpu.mma "mma.m16n8k16.f16" %b, ...
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::vector::VectorDialect"];
}

def TileSkipUnitFactors : Pass<"tile-skip-unit-factors"> {
  let summary = "Skips multiplications by factors that are one";
  let description = [{
    A program may select its factors to be one: online softmax, which scales the
    sums of a row only where the largest score has grown. A warp in which no
    lane selects another factor then skips a multiplication by these factors, if
    each thread has at least 16 elements and only the end of the block needs the
    product, as in a rotated loop: back ends compute nothing beside the branch.
    Conversions, and numbers of rows, that are used behind the branch are computed
    before it.

    ```mlir output
    %a = arith.select %grows, %alpha, %one : vector<2xi1>, vector<2xf32>
    %f = vector.shuffle %a, %a [0, 0, 1, 1, ...] : vector<2xf32>, vector<2xf32>
    %0 = arith.mulf %o, %f : vector<64xf32>
    // becomes, for an NVIDIA chip
    %g0 = vector.extract %grows[0] : i1 from vector<2xi1>
    %g1 = vector.extract %grows[1] : i1 from vector<2xi1>
    %g = arith.ori %g0, %g1 : i1
    %any = nvvm.vote.sync any %all_lanes, %g -> i1
    %0 = scf.if %any -> (vector<64xf32>) {
      %1 = arith.mulf %o, %f : vector<64xf32>
      scf.yield %1 : vector<64xf32>
    } else {
      scf.yield %o : vector<64xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::NVVM::NVVMDialect",
                           "::mlir::ROCDL::ROCDLDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

#endif // TILE_CONVERSION_TILETOGPU_PASSES_TD
