// RUN: tile-opt %s -split-input-file -verify-diagnostics --tile-attach-target
// RUN: not tile-opt %s -split-input-file --tile-attach-target=chip=sm_10 2>&1 \
// RUN:   | FileCheck %s --check-prefix=OPTION

// expected-error@+1 {{no target chip: set tile.target on the module (pass tile-attach-target)}}
module @no_target {
}

// -----

// expected-error@+1 {{unknown target chip "sm_10"; tile-translate --chip=help lists the chips}}
module @unknown_target attributes {tile.target = "sm_10"} {
}

// -----

// expected-error@+1 {{no target chip: set tile.target on the module (pass tile-attach-target)}}
module @no_name attributes {tile.target = 80} {
}

// -----

module @other_target attributes {tile.target = "sm_80"} {
}

// The last module has a chip; an option with another chip contradicts it.
// OPTION: error: unknown target chip "sm_10"; tile-translate --chip=help lists the chips
// OPTION: error: is made for "sm_80" and cannot be compiled for "sm_10"
