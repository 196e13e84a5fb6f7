// Schedules for sm_89: those of sm_80, but for the tiles that need more shared
// memory than the 99 KiB of a block.

tile.schedule_row <products = 2, head from 129> use <tile = [64, 32], warps = 4>

tile.schedule_row <products from 4, head to 64>
    use <tile = [64, 128], warps = 8, column_warps = 2>
tile.schedule_row <products from 4, head to 128> use <tile = [32, 64], warps = 4>
tile.schedule_row <products from 4, head to 192> use <tile = [32, 64], warps = 8>
tile.schedule_row <products from 4> use <tile = [32, 32], warps = 4>

tile.schedule_row <products = 3, head from 129> use <tile = [64, 16], warps = 4>

tile.include_schedules "sm_80"
