// Schedules for sm_120a: those of sm_89, which has the same matrix products and
// as much shared memory, but where ptxas uses more registers than on sm_89 and
// would spill up to 192 bytes.

// Forward. A block with head dimension 128 takes 96 KiB, so it has 8 warps.
tile.schedule_row <products = 2, head to 64, pack_heads = false>
    use <tile = [128, 64], warps = 4>
tile.schedule_row <products = 2, head from 65 to 128, pack_heads = false>
    use <tile = [128, 64], warps = 8>

// Backward, a block owns keys and walks over the queries. Masks of windows and
// bounds of packed sequences take registers.
tile.schedule_row <products from 4, head to 64, mask = window>
    use <tile = [64, 64], warps = 8, column_warps = 2>
tile.schedule_row <products from 4, head to 64, packed>
    use <tile = [64, 64], warps = 8, column_warps = 2>
tile.schedule_row <products from 4, head from 65 to 96>
    use <tile = [32, 64], warps = 8>
tile.schedule_row <products from 4, head from 97 to 128, mask = window, packed>
    use <tile = [64, 32], warps = 8>
tile.schedule_row <products from 4, head from 129 to 192, value to 128>
    use <tile = [32, 64], warps = 8, column_warps = 4>

tile.include_schedules "sm_89"
