// Schedules for sm_90a. Measured on an H200: docs/notes/hopper-forward.md and
// docs/notes/hopper-backward.md.
//
// Matrix products are wgmma. The roles share the registers that a block starts
// with: 168 for each of 384 threads, 128 for each of 512, 96 for each of 640.

// Forward: a warpgroup has 64 queries. A thread holds k / 2 scores, k / 4
// registers of weights and head / 2 accumulators; shared memory holds K and V
// twice, and Q once or, so that blocks of rows follow each other without a gap,
// twice. Large tiles compute more hidden scores in a window, and a softcap takes
// registers.
#small = #tile.schedule<tile = [128, 128], warps = 8, producers = 4,
                        registers = [232, 40], stages = 2, work_stages = 2>
// The heads of a group are few rows, and the kernel reads at the speed of the
// memory: one warpgroup computes, and some 128 KB are on their way. Packed sequences
// have any number of queries. The producers have registers for the entries of page
// tables.
#cache = #tile.schedule<tile = [128, 128], warps = 8, producers = 4,
                        registers = [224, 56], stages = 2, turns>
// A batch of steps of decoding only: a sequence has at most 64 rows.
tile.schedule_row <products = 2, head to 64, pack_heads, packed, rows from 1 to 64>
    use <tile = [64, 256], warps = 4, producers = 4, registers = [240, 56],
         stages = 2>
// At head dimensions 65 to 96, tiles of 128 keys spill.
tile.schedule_row <products = 2, head to 96, pack_heads, packed,
                   rows from 1 to 64>
    use <tile = [64, 64], warps = 4, producers = 4, registers = [208, 56],
         stages = 4>
tile.schedule_row <products = 2, head to 128, pack_heads, packed,
                   rows from 1 to 64>
    use <tile = [64, 128], warps = 4, producers = 4, registers = [240, 56],
         stages = 2>
// With longer sequences in the batch, a tile has 128 rows. The numbers of works take
// registers.
tile.schedule_row <products = 2, head to 64, pack_heads, packed>
    use <tile = [128, 176], warps = 8, producers = 4, registers = [224, 56],
         stages = 3, turns, save_registers>
tile.schedule_row <products = 2, head to 128, pack_heads, packed>
    use <tile = [128, 128], warps = 8, producers = 4, registers = [224, 56],
         stages = 2, turns, save_registers>
// With few rows, warps divide the keys (tile.attention), whose scores take few
// registers. Several blocks share a multiprocessor where caches are short.
tile.schedule_row <products = 2, head to 128, pack_heads, packed = false,
                   rows from 1 to 16, keys to 2047>
    use <tile = [16, 64], warps = 4, producers = 1, stages = 3>
// A cache with room for few keys would have few parts of 256.
tile.schedule_row <products = 2, head to 64, pack_heads, keys from 2048>
    use <tile = [64, 256], warps = 4, producers = 4, registers = [240, 56],
         stages = 2>
tile.schedule_row <products = 2, head to 64, pack_heads>
    use <tile = [64, 128], warps = 4, producers = 4, registers = [208, 56],
         stages = 2>
tile.schedule_row <products = 2, head to 128, pack_heads>
    use <tile = [64, 128], warps = 4, producers = 4, registers = [240, 56],
         stages = 2>
tile.schedule_row <products = 2, pack_heads>
    use <tile = [64, 64], warps = 4, producers = 4, registers = [240, 56],
         stages = 2>
tile.schedule_row <products = 2, head to 64, key_lengths, packed>
    use <tile = [192, 128], warps = 12, producers = 4, registers = [144, 72],
         stages = 2, turns>
tile.schedule_row <products = 2, head from 65 to 128, key_lengths> use #cache
tile.schedule_row <products = 2, head from 129 to 192, value to 128, key_lengths>
    use <tile = [128, 96], warps = 8, producers = 4, registers = [224, 56],
         stages = 2, turns>
tile.schedule_row <products = 2, head from 129 to 192, key_lengths>
    use <tile = [128, 112], warps = 8, producers = 4, registers = [224, 56],
         stages = 2>
tile.schedule_row <products = 2, head from 193, key_lengths>
    use <tile = [128, 80], warps = 8, producers = 4, registers = [224, 56],
         stages = 2, turns>
// Without turns, the warpgroups of kernels that are not persistent may stay in a
// phase in which both compute exponentials at the same time.
#turns = #tile.schedule<tile = [128, 128], warps = 8, producers = 4,
                        registers = [232, 40], stages = 2, turns>
// If there are at most 64 or 128 rows for each multiprocessor, smaller tiles give
// work to all of them.
tile.schedule_row <products = 2, head to 128, rows from 1 to 64,
                   parts = false>
    use <tile = [64, 128], warps = 4, producers = 4, registers = [232, 40],
         stages = 2>
tile.schedule_row <products = 2, rows from 1 to 64, parts = false>
    use <tile = [64, 64], warps = 4, producers = 4, registers = [232, 40],
         stages = 2>
tile.schedule_row <products = 2, head to 64, rows from 65 to 128,
                   parts = false> use #turns
tile.schedule_row <products = 2, head to 64, mask = window, parts> use #turns
tile.schedule_row <products = 2, head to 64, softcap, parts> use #turns
tile.schedule_row <products = 2, head from 65 to 128, parts> use #turns
tile.schedule_row <products = 2, head to 64, mask = window> use #small
tile.schedule_row <products = 2, head to 64, softcap> use #small
// Wide tiles of keys have fewer waits and rescale less often. With few keys, the
// last tile of rows is a larger part of all. The loop is rotated if the consumers
// have 160 registers. With lengths of keys, the producers need more than 32 for the
// entries of page tables; without a mask, the numbers of two works do not fit 160.
tile.schedule_row <products = 2, head to 64, parts = false, keys from 2048,
                   key_lengths>
    use <tile = [192, 128], warps = 12, producers = 4, registers = [152, 56],
         stages = 2, work_stages = 2, turns>
tile.schedule_row <products = 2, head to 64, parts = false, keys from 2048,
                   mask = none>
    use <tile = [192, 128], warps = 12, producers = 4, registers = [160, 32],
         stages = 2, work_stages = 1, turns>
tile.schedule_row <products = 2, head to 64, parts = false, keys from 2048>
    use <tile = [192, 128], warps = 12, producers = 4, registers = [160, 32],
         stages = 2, work_stages = 2, turns>
tile.schedule_row <products = 2, head to 64>
    use <tile = [256, 64], warps = 16, producers = 4, registers = [112, 32],
         stages = 2, work_stages = 2, turns>
tile.schedule_row <products = 2, head to 96, mask = none>
    use <tile = [128, 128], warps = 8, producers = 4, registers = [232, 40],
         stages = 2, work_stages = 2, turns>
tile.schedule_row <products = 2, head to 128> use #small
tile.schedule_row <products = 2, head to 192, value to 128>
    use <tile = [128, 96], warps = 8, producers = 4, registers = [232, 40],
         stages = 2, work_stages = 2, turns>
// Larger tiles of keys leave no memory for the result, which then takes the place
// of Q, and the next Q waits for its store.
tile.schedule_row <products = 2, head to 192>
    use <tile = [128, 96], warps = 8, producers = 4, registers = [232, 40],
         stages = 2, work_stages = 1, turns>
tile.schedule_row <products = 2>
    use <tile = [128, 64], warps = 8, producers = 4, registers = [232, 40],
         stages = 2, work_stages = 1, turns>

// Backward, a block owns keys: a thread holds k * (2 head + 2 q) / 256
// accumulators, then half as many registers of dS and P beside those of dQ; from
// head 129 on both warpgroups share the columns of all products. Storing warps
// add dQ where that is faster and there is shared memory for it.

// The derivative of a softcap takes registers, and so do the addresses of atomics,
// masks, and the bounds of packed sequences.
#tight = #tile.schedule<tile = [64, 128], warps = 8, producers = 1, storers = 3,
                        registers = [240, 24], stages = 2, save_registers>
#keys128 = #tile.schedule<tile = [64, 128], warps = 8, producers = 1, storers = 3,
                          registers = [232, 40], stages = 2>
tile.schedule_row <products from 4, head from 97 to 128, softcap> use #tight
tile.schedule_row <products from 4, head to 64, mask = window, softcap, packed>
    use <tile = [64, 128], warps = 8, producers = 4, registers = [240, 24],
         stages = 2, save_registers>
tile.schedule_row <products from 4, head to 64, softcap>
    use <tile = [64, 128], warps = 8, producers = 4, registers = [232, 40],
         stages = 2>
tile.schedule_row <products from 4, head from 65 to 96, mask = window, softcap,
                   packed> use #tight
tile.schedule_row <products from 4, head to 96, softcap> use #keys128

tile.schedule_row <products from 4, head to 64, atomic_results, packed = false>
    use <tile = [128, 128], warps = 8, producers = 4, registers = [240, 24],
         stages = 2, save_registers>
tile.schedule_row <products from 4, head from 65 to 128, atomic_results, packed>
    use #tight

tile.schedule_row <products from 4, head to 64, mask = window, packed>
    use <tile = [128, 128], warps = 8, producers = 1, storers = 3,
         registers = [240, 24], stages = 2, save_registers>
tile.schedule_row <products from 4, head to 64, mask = window>
    use <tile = [128, 128], warps = 8, producers = 4, registers = [240, 24],
         stages = 2, save_registers>
tile.schedule_row <products from 4, head to 64, packed>
    use <tile = [128, 128], warps = 8, producers = 1, storers = 3,
         registers = [232, 40], stages = 2, late_products = false>
tile.schedule_row <products from 4, head to 64>
    use <tile = [128, 128], warps = 8, producers = 1, storers = 3,
         registers = [232, 40], stages = 2>
tile.schedule_row <products from 4, head from 65 to 128, mask = window, packed>
    use #tight
tile.schedule_row <products from 4, head to 128> use #keys128
// 96 keys are no multiple of the 64 rows of an instruction: scores have a row
// per query.
#tight96 = #tile.schedule<tile = [64, 96], warps = 8, producers = 1, storers = 3,
                          registers = [240, 24], stages = 2, save_registers>
#sliced80 = #tile.schedule<tile = [64, 80], warps = 8, producers = 4,
                           registers = [240, 24], stages = 2, save_registers>
#keys64 = #tile.schedule<tile = [64, 64], warps = 8, producers = 1, storers = 3,
                         registers = [232, 40], stages = 2>
tile.schedule_row <products from 4, head from 129 to 192, value from 129,
                   mask = window, softcap, packed>
    use <tile = [64, 64], warps = 8, producers = 1, storers = 3,
         registers = [240, 24], stages = 2, save_registers>
tile.schedule_row <products from 4, head from 129 to 192, value from 129,
                   mask = window, softcap> use #keys64
tile.schedule_row <products from 4, head from 129 to 192, value from 129, packed,
                   atomic_results> use #keys64
tile.schedule_row <products from 4, head from 129 to 192, value from 129,
                   mask = window> use #tight96
tile.schedule_row <products from 4, head from 129 to 192, value from 129, softcap>
    use #tight96
tile.schedule_row <products from 4, head from 129 to 192, mask = window, packed>
    use #tight96
tile.schedule_row <products from 4, head to 192>
    use <tile = [64, 96], warps = 8, producers = 1, storers = 3,
         registers = [232, 40], stages = 2>
// 80 keys fit where the warpgroups divide the columns of Q and V. dQ leaves in
// two slices then.
tile.schedule_row <products from 4, query from 225, value from 225, mask = none,
                   softcap = false, packed = false> use #sliced80
tile.schedule_row <products from 4, query from 225, value from 225, mask = causal,
                   softcap = false, packed = false> use #sliced80
tile.schedule_row <products from 4, head from 193, mask = window, packed>
    use <tile = [64, 64], warps = 8, producers = 4, registers = [240, 24],
         stages = 2, save_registers>
tile.schedule_row <products from 4>
    use <tile = [64, 64], warps = 8, producers = 4, registers = [232, 40],
         stages = 2>

// Backward, a block owns queries: mma.sync.
tile.include_schedules "sm_80"
