// RUN: tile-opt %s | tile-opt | FileCheck %s

// CHECK: tile.kernel_row @gemm sizes "a = 64..128x7168, b = ?x2112" use <warps = 4, stages = 6, params = {BM = 64}>
tile.kernel_row @gemm sizes "a = 64..128x7168, b = ?x2112" use <params = {BM = 64}, warps = 4, stages = 6>
// CHECK: tile.kernel_row @gemm use <params = {BM = 64}>
tile.kernel_row @gemm use <params = {BM = 64}>
