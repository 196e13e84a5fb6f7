// RUN: not tile-reduce %s --tile-simplify=test=%{s:basename}.missing 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not tile-reduce %s --tile-simplify 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not tile-reduce %s --pass-pipeline='builtin.module(tile-simplify{test=/bin/sh test-arg=-c,"exit 0"})' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=DULL
// RUN: not tile-reduce %s --pass-pipeline='builtin.module(tile-simplify{test=/bin/sh test-arg=-c,"kill -9 $$"})' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=KILLED

// MISSING: simplify-invalid.mlir":{{.*}}error: cannot run the test 'simplify-invalid.mlir.missing': {{.*}}No such file or directory
// NONE: error: tile-simplify needs a test
// DULL: simplify-invalid.mlir":{{.*}}error: the test '/bin/sh' does not find the program interesting: its exit status is 0
// KILLED: simplify-invalid.mlir":{{.*}}error: cannot run the test '/bin/sh': Killed
func.func @f() {
  return
}
