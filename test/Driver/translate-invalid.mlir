// Errors of the command line and of whole modules.

// RUN: split-file %s %t
// RUN: tile-translate --chip=help | FileCheck %s --check-prefix=HELP
// HELP: sm_80
// HELP: gfx1201

// RUN: not tile-translate --chip=sm_80 %t/empty.mlir 2>&1 | FileCheck %s --check-prefix=KIND
// KIND: error: say one of --tile-to-ptx, --tile-to-hsaco and --tile-to-llvmir
// RUN: not tile-translate --tile-to-ptx --chip=sm_80 -O7 %t/empty.mlir 2>&1 | FileCheck %s --check-prefix=LEVEL
// LEVEL: error: the optimisation level is one of -O0, -O1, -O2 and -O3
// RUN: not tile-translate --tile-to-ptx --chip=sm_80 --resources %t/empty.mlir 2>&1 | FileCheck %s --check-prefix=STDOUT
// STDOUT: error: --resources needs -o: both would write to stdout
// RUN: not tile-translate --tile-to-ptx --chip=sm_80 --manifest=%t/k -o %t/k %t/empty.mlir 2>&1 | FileCheck %s --check-prefix=SAME
// SAME: error: --manifest and -o name the same file
// RUN: not tile-translate --tile-to-llvmir --chip=sm_80 --resources -o %t/k %t/kernel.mlir 2>&1 | FileCheck %s --check-prefix=REGISTERS
// REGISTERS: error: LLVM IR has no registers; --resources is for PTX and HSACO
// RUN: not tile-translate --tile-to-ptx --chip=sm_80 %t/absent.mlir 2>&1 | FileCheck %s --check-prefix=ABSENT
// ABSENT: error: cannot open input file '{{.*}}absent.mlir'
// RUN: not tile-translate --tile-to-ptx --chip=sm_80 %t/kernel.mlir -o %t/no/such/folder 2>&1 | FileCheck %s --check-prefix=OUTPUT
// OUTPUT: error: cannot open output file

// RUN: not tile-translate --tile-to-ptx %t/empty.mlir 2>&1 | FileCheck %s --check-prefix=NOCHIP
// NOCHIP: empty.mlir:1:1: error: no target chip
// RUN: not tile-translate --tile-to-ptx --chip=sm_7 %t/empty.mlir 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: empty.mlir:1:1: error: unknown target chip "sm_7"; tile-translate --chip=help lists the chips
// RUN: not tile-translate --tile-to-ptx --chip=gfx942 %t/empty.mlir 2>&1 | FileCheck %s --check-prefix=AMD
// AMD: empty.mlir:1:1: error: PTX is for NVIDIA chips, not gfx942
// RUN: not tile-translate --tile-to-hsaco --chip=sm_80 %t/empty.mlir 2>&1 | FileCheck %s --check-prefix=NVIDIA
// NVIDIA: empty.mlir:1:1: error: HSACO is for AMD chips, not sm_80
// RUN: not tile-translate --tile-to-ptx --chip=sm_80 %t/empty.mlir 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: empty.mlir:1:1: error: there is nothing to compile: the module holds no kernel
// RUN: not tile-translate --tile-to-ptx --chip=sm_80 %t/two.mlir 2>&1 | FileCheck %s --check-prefix=TWO
// TWO: two.mlir:2:1: error: is a second GPU module; an artifact has one
// RUN: not tile-translate --tile-to-ptx --chip=sm_80 %t/other.mlir 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: other.mlir:1:1: error: {{.*}}"sm_90a"{{.*}}"sm_80"
// RUN: not tile-translate --tile-to-ptx --chip=sm_80 %t/syntax.mlir 2>&1 | FileCheck %s --check-prefix=SYNTAX
// SYNTAX: syntax.mlir:1:1: error: custom op 'nonsense' is unknown

// The kernel is fine; the module carries its chip; stdin and bytecode work.
// RUN: tile-translate --tile-to-ptx --chip=sm_80 %t/kernel.mlir | FileCheck %s --check-prefix=PTX
// RUN: tile-translate --tile-to-ptx - < %t/chip.mlir | FileCheck %s --check-prefix=PTX
// RUN: tile-opt --emit-bytecode %t/chip.mlir | tile-translate --tile-to-ptx | FileCheck %s --check-prefix=PTX
// RUN: tile-translate --tile-to-llvmir %t/chip.mlir | FileCheck %s --check-prefix=LLVM
// RUN: tile-translate --tile-to-ptx %t/chip.mlir --timing -o /dev/null 2>&1 | FileCheck %s --check-prefix=TIMING
// PTX: .entry k()
// LLVM: target triple = "nvptx64-nvidia-cuda"
// LLVM: define ptx_kernel void @k()
// LLVM: "target-cpu"="sm_80"
// TIMING: ms parse
// TIMING: ms tile-verify-target
// TIMING: ms LLVM IR
// TIMING-NEXT: ms optimise
// TIMING-NEXT: ms code generation
// TIMING-NEXT: ms total

//--- empty.mlir
module {}
//--- two.mlir
gpu.module @a {}
gpu.module @b {}
//--- other.mlir
module attributes {tile.target = "sm_90a"} {}
//--- syntax.mlir
nonsense
//--- kernel.mlir
gpu.module @kernels {
  gpu.func @k() kernel { gpu.return }
}
//--- chip.mlir
module attributes {tile.target = "sm_80"} {
  gpu.module @kernels {
    gpu.func @k() kernel { gpu.return }
  }
}
