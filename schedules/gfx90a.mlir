// Schedules for gfx90a: those of gfx942, which has the same matrix products of
// 16 bits, and as much shared memory and as many registers.
tile.include_schedules "gfx942"
