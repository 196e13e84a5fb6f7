// Schedules for gfx1201. docs/notes/amd-attention.md explains how the tiles were
// chosen. A lane holds half as many elements of a fragment as on gfx1100, so some
// tiles are larger.
tile.schedule_row <products = 2, head to 64, pack_heads>
    use <tile = [64, 32], warps = 4>
tile.schedule_row <products = 2, head to 128, pack_heads>
    use <tile = [64, 32], warps = 4>
// Masks of windows and bounds of packed sequences take registers.
tile.schedule_row <products = 2, head to 64, mask = window>
    use <tile = [128, 64], warps = 8>
tile.schedule_row <products = 2, head to 64, packed>
    use <tile = [128, 64], warps = 8>
tile.schedule_row <products = 2, head to 64> use <tile = [256, 128], warps = 16>
tile.schedule_row <products = 2, head to 128> use <tile = [128, 64], warps = 8>
tile.schedule_row <products from 4, head to 64, softcap, packed>
    use <tile = [16, 64], warps = 4>
tile.schedule_row <products from 4, head to 64, softcap, atomic_results>
    use <tile = [16, 64], warps = 4>
tile.schedule_row <products from 4, head to 64, mask = causal, packed>
    use <tile = [32, 64], warps = 4>
tile.schedule_row <products from 4, head to 64, mask = window, packed>
    use <tile = [32, 64], warps = 4>
tile.schedule_row <products from 4, head to 64> use <tile = [16, 128], warps = 4>
// So do columns of padding, up to D 88, beside the sums of dQ.
tile.schedule_row <products = 5, head from 65 to 95, mask = window, softcap = false, packed, atomic_results>
    use <tile = [32, 48], warps = 3>
tile.schedule_row <products = 5, head from 65 to 95, mask = window, packed>
    use <tile = [16, 32], warps = 2>
tile.schedule_row <products = 5, head from 65 to 95, softcap, packed>
    use <tile = [16, 32], warps = 2>
tile.schedule_row <products from 4, head from 97 to 128, mask = window, packed>
    use <tile = [16, 32], warps = 2>
// Unlike on gfx1100, the largest tiles fit beside the sums of dQ with any mask.
tile.schedule_row <products = 3, head from 193> use <tile = [32, 16], warps = 2>
tile.include_schedules "gfx1100"
