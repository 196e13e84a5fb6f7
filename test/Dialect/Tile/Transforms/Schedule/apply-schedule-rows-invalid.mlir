// RUN: tile-opt %s -tile-apply-schedule -verify-diagnostics

// expected-error@+1 {{'tile.schedule_row' op belongs to a file of schedules, not to a program}}
tile.schedule_row <products = 2> use <tile = [64, 64], warps = 4>
