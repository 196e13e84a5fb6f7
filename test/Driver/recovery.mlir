// An operation that the target verifier does not know ends in LLVM's fatal
// error "Cannot select". The tool reports it at the kernel and exits with 1;
// the process does not abort.

// RUN: not tile-translate --tile-to-ptx --chip=sm_90a %s -o %t.ptx 2>&1 | FileCheck %s
// RUN: not ls %t.ptx

// CHECK: recovery.mlir:13:3: error: LLVM: Cannot select
// CHECK-NOT: {{Stack dump|PLEASE submit}}

// The instruction needs PTX 8.3.
gpu.module @m {
  llvm.func @k(%p: !llvm.ptr, %size: i32) attributes {gpu.kernel, nvvm.kernel} {
    nvvm.fence.proxy.acquire #nvvm.mem_scope<gpu> %p, %size
    llvm.return
  }
}
