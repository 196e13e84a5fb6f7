// RUN: tile-opt %s --tile-attach-target=chip=sm_80 | FileCheck %s --check-prefix=SM80
// RUN: tile-opt %s --tile-attach-target=chip=gfx1100 | FileCheck %s --check-prefix=GFX1100
// RUN: tile-opt %s --tile-attach-target=chip=sm_80 | tile-opt --tile-attach-target=chip=sm_80 \
// RUN:   | FileCheck %s --check-prefix=SM80
// RUN: tile-opt %s --tile-attach-target=chip=sm_80 | tile-opt --tile-attach-target \
// RUN:   | FileCheck %s --check-prefix=SM80

// SM80: module @program attributes {tile.target = "sm_80"}
// GFX1100: module @program attributes {tile.target = "gfx1100"}
module @program {
}
