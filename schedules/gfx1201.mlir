// Schedules for gfx1201: those of gfx1100.
tile.include_schedules "gfx1100"
