// Schedules for gfx1100. docs/Schedules.md explains the format.

// Forward: a block owns queries and walks over the keys.
tile.schedule_row <products = 2, head to 64, pack_heads>
    use <tile = [64, 32], warps = 4>
tile.schedule_row <products = 2, head to 64, mask = window>
    use <tile = [64, 32], warps = 4>
tile.schedule_row <products = 2, head to 64> use <tile = [64, 64], warps = 4>
tile.schedule_row <products = 2, head to 128, pack_heads>
    use <tile = [64, 32], warps = 4>
tile.schedule_row <products = 2, head to 128, mask = window>
    use <tile = [64, 32], warps = 4>
tile.schedule_row <products = 2, head to 128> use <tile = [64, 64], warps = 4>
tile.schedule_row <products = 2> use <tile = [64, 16], warps = 4>

// Backward, a block owns keys and walks over the queries.
// Bounds of windows and packed sequences take registers, and so do columns of
// padding, up to D 88, beside the sums of dQ.
tile.schedule_row <products = 5, head from 65 to 95, mask = window, softcap, packed>
    use <tile = [16, 32], warps = 2>
tile.schedule_row <products from 4, head to 96> use <tile = [32, 64], warps = 4>
tile.schedule_row <products from 4, head to 128> use <tile = [16, 64], warps = 4>
tile.schedule_row <products from 4, head to 192> use <tile = [32, 32], warps = 4>
// The sums of 32 keys would take all registers of two warps, and the operands of
// four warps more memory than a block has.
tile.schedule_row <products from 4> use <tile = [32, 16], warps = 2>

// Backward, a block owns queries and walks over the keys.
tile.schedule_row <products = 3, head to 128> use <tile = [64, 16], warps = 4>
// Bounds of windows and packed sequences take registers, beside the sums of dQ.
tile.schedule_row <products = 3, head from 193, mask = window, softcap, packed>
    use <tile = [16, 32], warps = 2>
tile.schedule_row <products = 3> use <tile = [32, 16], warps = 2>
