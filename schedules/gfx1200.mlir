// Schedules for gfx1200, which is of the family of gfx1201.
tile.include_schedules "gfx1201"
