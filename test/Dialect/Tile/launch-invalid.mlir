// RUN: tile-opt %s -split-input-file -verify-diagnostics

tile.kernel @in_a_loop() attributes {num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
  scf.for %i = %c0 to %c1 step %c1 {
    // expected-error @+1 {{'tile.wait_prerequisites' op must be at the top level of a kernel or of a role, where every thread comes by}}
    tile.wait_prerequisites
  }
}

// -----

func.func @no_kernel() {
  // expected-error @+1 {{'tile.launch_dependents' op expects parent op 'tile.kernel'}}
  tile.launch_dependents
  return
}
