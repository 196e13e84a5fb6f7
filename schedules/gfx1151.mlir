// Schedules for gfx1151, which is of the family of gfx1100.
tile.include_schedules "gfx1100"
