// RUN: not tile-opt %s --tile-to-nvvm 2>&1 | FileCheck %s --check-prefix=NO-CHIP
// RUN: not tile-opt %s --tile-to-nvvm=chip=sm_1 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not tile-opt %s --tile-to-nvvm=chip=gfx942 2>&1 | FileCheck %s --check-prefix=AMD
// RUN: not tile-opt %s --tile-to-rocdl=chip=sm_80 2>&1 | FileCheck %s --check-prefix=NVIDIA
// RUN: not tile-opt %s --tile-to-rocdl=chips=gfx942 2>&1 | FileCheck %s --check-prefix=OPTION

// NO-CHIP: [[@LINE+5]]:1: error: no target chip: set tile.target on the module (pass tile-attach-target)
// UNKNOWN: [[@LINE+4]]:1: error: unknown target chip "sm_1"; tile-translate --chip=help lists the chips
// AMD: [[@LINE+3]]:1: error: is compiled for gfx942, a chip of AMD, not of NVIDIA
// NVIDIA: [[@LINE+2]]:1: error: is compiled for sm_80, a chip of NVIDIA, not of AMD
// OPTION: no such option chips
module {
  tile.kernel @k() {
    %c1 = arith.constant 1 : index
    tile.grid %c1, %c1, %c1
  }
}
