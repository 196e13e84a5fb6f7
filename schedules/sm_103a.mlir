// Schedules for sm_103a: those of sm_80, which has the same matrix products
// (mma.sync) and less shared memory.
tile.include_schedules "sm_80"
