// gpu.printf and tile_gpu.fail become calls, with the arguments in memory of the
// thread that all calls share.
// RUN: sed s/CHIP/sm_80/ %s | tile-opt --pass-pipeline='builtin.module(gpu.module(tile-gpu-to-llvm))' | FileCheck %s --check-prefixes=CHECK,NVIDIA
// RUN: sed s/CHIP/gfx942/ %s | tile-opt --pass-pipeline='builtin.module(gpu.module(tile-gpu-to-llvm))' | FileCheck %s --check-prefixes=CHECK,AMD

module attributes {tile.target = "CHIP"} {
  gpu.module @m {
    // NVIDIA: llvm.func @tile_assert_failed(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr) attributes {no_inline, passthrough = ["nomerge"]} {
    // NVIDIA-NEXT: llvm.call @vprintf(
    // NVIDIA-NEXT: llvm.intr.trap
    // NVIDIA-NEXT: llvm.return

    // The code object has a trap instead of the call, so there is no body.
    // AMD: llvm.func @tile_assert_failed(!llvm.ptr, !llvm.ptr) attributes {passthrough = ["nomerge"]}
    // AMD-NOT: llvm.intr.trap

    // CHECK: llvm.mlir.global private constant @[[TEXT:.*]]("x = %f, n = %lld\0A\00")
    // NVIDIA-SAME: {addr_space = 0 : i32, alignment = 1 : i64}
    // AMD-SAME: {addr_space = 4 : i32, alignment = 1 : i64}
    // CHECK: llvm.func @vprintf(!llvm.ptr, !llvm.ptr) -> i32

    // CHECK-LABEL: llvm.func @reports
    // CHECK: llvm.mlir.addressof @[[TEXT]]
    // CHECK: llvm.mlir.zero
    // NVIDIA: %[[MEMORY:.*]] = llvm.alloca %{{.*}} x !llvm.struct<(f64, i64)>
    // AMD: %[[PRIVATE:.*]] = llvm.alloca %{{.*}} x !llvm.struct<(f64, i64)> {{.*}} -> !llvm.ptr<5>
    // AMD: %[[MEMORY:.*]] = llvm.addrspacecast %[[PRIVATE]] : !llvm.ptr<5> to !llvm.ptr
    // CHECK: llvm.cond_br
    gpu.func @reports(%x: f16, %n: index, %c: i1) kernel {
      cf.cond_br %c, ^then, ^end
    ^then:
      // CHECK: %[[F32:.*]] = llvm.fpext %{{.*}} : f16 to f32
      // CHECK: %[[F64:.*]] = llvm.fpext %[[F32]] : f32 to f64
      // CHECK: %[[FIRST:.*]] = llvm.getelementptr %[[MEMORY]][0, 0]
      // CHECK: llvm.store %[[F64]], %[[FIRST]]
      // CHECK: %[[SECOND:.*]] = llvm.getelementptr %[[MEMORY]][0, 1]
      // CHECK: llvm.store %{{.*}}, %[[SECOND]] : i64, !llvm.ptr
      // CHECK: llvm.call @vprintf(%{{.*}}, %[[MEMORY]]) : (!llvm.ptr, !llvm.ptr) -> i32
      gpu.printf "x = %f, n = %lld\n", %x, %n : f16, index
      // The same memory, another text.
      // CHECK: llvm.store %{{.*}}, %{{.*}}
      // CHECK: llvm.call @vprintf(%{{.*}}, %[[MEMORY]])
      gpu.printf "%5.1e at %-8lx%%\n", %x, %n : f16, index
      // CHECK: llvm.call @tile_assert_failed(
      tile_gpu.fail "stop"
      cf.br ^end
    ^end:
      gpu.return
    }
  }
}
