// Schedules for gfx950. docs/Schedules.md explains the format.
//
// Shared memory has 160 KiB: head dimensions up to 256 need no smaller tiles.

// Forward; backward with blocks that own keys; backward with blocks that own
// queries.
tile.schedule_row <products = 2> use <tile = [64, 64], warps = 4>
tile.schedule_row <products from 4> use <tile = [32, 64], warps = 4>
tile.schedule_row <products = 3> use <tile = [64, 32], warps = 4>
