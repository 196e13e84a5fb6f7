// Schedules for sm_80. docs/Schedules.md explains the format.
//
// Matrix products are mma.sync. A thread holds q * (k + head) / threads
// accumulators of the forward kernel; shared memory holds Q, and two stages of K
// and V.

// Forward: a block owns queries and walks over the keys.
tile.schedule_row <products = 2, head to 128, pack_heads>
    use <tile = [64, 64], warps = 4>
tile.schedule_row <products = 2, head to 64> use <tile = [128, 128], warps = 4>
tile.schedule_row <products = 2, head to 128> use <tile = [128, 64], warps = 4>
tile.schedule_row <products = 2> use <tile = [64, 64], warps = 4, stages = 1>

// Backward, a block owns keys and walks over the queries. Loads of fragments from
// shared memory are the bottleneck. Two columns of warps load a fifth less than
// one, but P goes through shared memory, too.
tile.schedule_row <products from 4, head to 64>
    use <tile = [128, 128], warps = 8, column_warps = 2>
tile.schedule_row <products from 4, head to 96>
    use <tile = [64, 64], warps = 4, column_warps = 2>
tile.schedule_row <products from 4, head to 128>
    use <tile = [64, 128], warps = 8, column_warps = 2>
tile.schedule_row <products from 4>
    use <tile = [64, 64], warps = 8, column_warps = 2>

// Backward, a block owns queries and walks over the keys.
tile.schedule_row <products = 3, head to 64, packed = false>
    use <tile = [128, 64], warps = 4>
tile.schedule_row <products = 3, head to 128> use <tile = [64, 64], warps = 4>
tile.schedule_row <products = 3> use <tile = [64, 32], warps = 4>
