// RUN: not tile-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-pipeline{stages=-1}))' 2>&1 \
// RUN:   | FileCheck %s

module attributes {tile.target = "sm_80"} {
// CHECK: [[@LINE+1]]:1: error: tile-pipeline: stages must not be negative, got -1
tile.kernel @k() {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}
}
