//===- RotateLoop.h - Loops whose iterations overlap ------------*- C++ -*-===//
#ifndef TILE_LIB_DIALECT_TILE_TRANSFORMS_SCHEDULE_ROTATELOOP_H
#define TILE_LIB_DIALECT_TILE_TRANSFORMS_SCHEDULE_ROTATELOOP_H

#include "LoopBody.h"
#include "tile/Analysis/LoopSchedule.h"

namespace tile {

/// Replaces the loop by one that executes `schedule`: stage 0 of the first
/// iteration, a loop over the others that runs stage 1 an iteration later, and
/// stage 1 of the last iteration. If there is no iteration, the results are the
/// initial values.
///
///   S0(lower)
///   for i = lower + step to upper step step { S0(i), S1(i - step) }
///   S1(last)
void rotateLoop(const LoopBody &body, const LoopSchedule &schedule);

} // namespace tile

#endif // TILE_LIB_DIALECT_TILE_TRANSFORMS_SCHEDULE_ROTATELOOP_H
