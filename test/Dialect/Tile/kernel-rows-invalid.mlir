// RUN: tile-opt %s -split-input-file -verify-diagnostics

// expected-error@+1 {{'tile.kernel_row' op needs the field 'params' in its schedule}}
tile.kernel_row @gemm use <warps = 4>

// -----
// expected-error@+1 {{'tile.kernel_row' op in 'sizes': expected 'argument = extents', got 'a'}}
tile.kernel_row @gemm sizes "a" use <params = {BM = 64}>

// -----
// expected-error@+1 {{'tile.kernel_row' op in 'sizes': expected a number that is not negative, a range 'n..m' or '?', got '8..4'}}
tile.kernel_row @gemm sizes "a = 8..4x2" use <params = {BM = 64}>

// -----
// expected-error@+1 {{'tile.kernel_row' op in 'sizes': expected a number that is not negative, a range 'n..m' or '?', got 'M'}}
tile.kernel_row @gemm sizes "a = Mx2" use <params = {BM = 64}>

// -----
// expected-error@+1 {{'tile.kernel_row' op in 'sizes': the sizes of 'a' come twice}}
tile.kernel_row @gemm sizes "a = 1, a = 2" use <params = {BM = 64}>

// -----
// expected-error@+1 {{the schedule of a kernel has no field 'tile', only consumer_groups, producers}}
tile.kernel_row @gemm use <params = {BM = 64}, tile = [64, 64]>
