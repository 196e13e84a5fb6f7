// RUN: tile-opt %s -split-input-file -verify-diagnostics

// expected-error@+1 {{a pattern has no field 'product'; its fields are products, head, query, value, bits, mask, softcap, packed, atomic_results, merge}}
tile.schedule_row <product = 2> use <tile = [64, 64], warps = 4>

// -----
// expected-error@+1 {{field 'head' comes twice}}
tile.schedule_row <head to 64, head to 128> use <tile = [64, 64], warps = 4>

// -----
// expected-error@+1 {{field 'head' comes twice}}
tile.schedule_row <head = 64, head from 32> use <tile = [64, 64], warps = 4>

// -----
// expected-error@+1 {{field 'packed' comes twice}}
tile.schedule_row <packed, packed> use <tile = [64, 64], warps = 4>

// -----
// expected-error@+1 {{field 'mask' comes twice}}
tile.schedule_row <mask = causal, mask = none> use <tile = [64, 64], warps = 4>

// -----
// expected-error@+1 {{no kernel has 'head' in 128 .. 64}}
tile.schedule_row <head from 128 to 64> use <tile = [64, 64], warps = 4>

// -----
// expected-error@+1 {{no kernel has 'head' in -1 .. -1}}
tile.schedule_row <head = -1> use <tile = [64, 64], warps = 4>

// -----
// expected-error@+1 {{expected none, causal or window}}
tile.schedule_row <mask = left> use <tile = [64, 64], warps = 4>

// -----
// expected-error@+1 {{expected true or false}}
tile.schedule_row <softcap = 1> use <tile = [64, 64], warps = 4>

// -----
// expected-error@+1 {{expected '=', 'from' or 'to'}}
tile.schedule_row <head < 64> use <tile = [64, 64], warps = 4>

// -----
// expected-error@+1 {{'tile.schedule_row' op needs the fields 'tile' and 'warps' in its schedule}}
tile.schedule_row <products = 2> use <warps = 4>

// -----
// expected-error@+1 {{'tile.schedule_row' op needs the fields 'tile' and 'warps' in its schedule}}
tile.schedule_row <products = 2> use <tile = [64, 64]>

// -----
// expected-error@+1 {{field 'warps' of a schedule lies in 1 .. 256, got 0}}
tile.schedule_row <products = 2> use <tile = [64, 64], warps = 0>

// -----
func.func @f() {
  // expected-error@+1 {{'tile.include_schedules' op expects parent op 'builtin.module'}}
  tile.include_schedules "sm_80"
  return
}
