// Schedules for gfx942. docs/Schedules.md explains the format, and
// docs/notes/amd-attention.md how the tiles were chosen.
//
// Shared memory has 64 KiB, for Q, K, V and P.

// Forward: a block owns queries and walks over the keys. With 32 rows, a wave
// reads half as much of K and V for each element of the scores. With 8 waves,
// each copies less of them. Heads are packed where there are few queries.
tile.schedule_row <products = 2, head to 128, pack_heads>
    use <tile = [64, 64], warps = 4>
tile.schedule_row <products = 2, head to 64, mask = window>
    use <tile = [128, 128], warps = 4>
tile.schedule_row <products = 2, head to 64> use <tile = [256, 128], warps = 8>
tile.schedule_row <products = 2, head to 128> use <tile = [256, 64], warps = 8>
tile.schedule_row <products = 2, head to 192> use <tile = [64, 32], warps = 4>
tile.schedule_row <products = 2> use <tile = [64, 16], warps = 4>

// Backward, a block owns keys and walks over the queries.
tile.schedule_row <products from 4, head to 64> use <tile = [16, 128], warps = 4>
tile.schedule_row <products from 4, head to 128> use <tile = [32, 64], warps = 4>
tile.schedule_row <products from 4> use <tile = [16, 32], warps = 2>

// Backward, a block owns queries and walks over the keys.
tile.schedule_row <products = 3, head to 128> use <tile = [64, 32], warps = 4>
tile.schedule_row <products = 3> use <tile = [32, 16], warps = 2>
