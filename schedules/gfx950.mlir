// Schedules for gfx950. docs/Schedules.md explains the format, and
// docs/notes/amd-attention.md how the tiles were chosen.
//
// Shared memory has 160 KiB: head dimensions up to 256 need no smaller tiles.

// Forward; backward with blocks that own keys; backward with blocks that own
// queries. Heads are packed where there are few queries.
tile.schedule_row <products = 2, head to 128, pack_heads>
    use <tile = [64, 64], warps = 4>
tile.schedule_row <products = 2, head to 128, mask = window>
    use <tile = [128, 128], warps = 4>
// With lengths of keys, 128 keys at a time would spill.
tile.schedule_row <products = 2, head from 65 to 128, key_lengths>
    use <tile = [256, 64], warps = 8>
// So they would with the bounds of packed sequences.
tile.schedule_row <products = 2, head from 65 to 128, packed>
    use <tile = [256, 64], warps = 8>
tile.schedule_row <products = 2, head to 128> use <tile = [256, 128], warps = 8>
tile.schedule_row <products = 2> use <tile = [64, 64], warps = 4>
tile.schedule_row <products from 4, head to 64> use <tile = [16, 128], warps = 4>
tile.schedule_row <products from 4, head to 128> use <tile = [32, 128], warps = 4>
tile.schedule_row <products from 4> use <tile = [32, 64], warps = 4>
tile.schedule_row <products = 3> use <tile = [64, 32], warps = 4>
