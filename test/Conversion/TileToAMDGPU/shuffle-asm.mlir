// A sum over 32 lanes: the back end folds each exchange into the addition if it
// can, so that one step is one instruction.
//
// RUN: tile-opt %s --tile-attach-target="chip=gfx942" --tile-to-amdgpu \
// RUN:   | mlir-opt --allow-unregistered-dialect --pass-pipeline="builtin.module(rocdl-attach-target{chip=gfx942 O=3},gpu.module(convert-amdgpu-to-rocdl{chipset=gfx942},convert-gpu-to-rocdl{chipset=gfx942 use-bare-ptr-memref-call-conv=true runtime=HIP},reconcile-unrealized-casts),gpu-module-to-binary{format=isa})" \
// RUN:   | sed 's/\\0A/\n/g; s/\\09/ /g' | FileCheck %s --check-prefix=GFX942
// RUN: tile-opt %s --tile-attach-target="chip=gfx950" --tile-to-amdgpu \
// RUN:   | mlir-opt --allow-unregistered-dialect --pass-pipeline="builtin.module(rocdl-attach-target{chip=gfx950 O=3},gpu.module(convert-amdgpu-to-rocdl{chipset=gfx950},convert-gpu-to-rocdl{chipset=gfx950 use-bare-ptr-memref-call-conv=true runtime=HIP},reconcile-unrealized-casts),gpu-module-to-binary{format=isa})" \
// RUN:   | sed 's/\\0A/\n/g; s/\\09/ /g' | FileCheck %s --check-prefix=GFX950
// RUN: tile-opt %s --tile-attach-target="chip=gfx1100" --tile-to-amdgpu \
// RUN:   | mlir-opt --allow-unregistered-dialect --pass-pipeline="builtin.module(rocdl-attach-target{chip=gfx1100 O=3},gpu.module(convert-amdgpu-to-rocdl{chipset=gfx1100},convert-gpu-to-rocdl{chipset=gfx1100 use-bare-ptr-memref-call-conv=true runtime=HIP},reconcile-unrealized-casts),gpu-module-to-binary{format=isa})" \
// RUN:   | sed 's/\\0A/\n/g; s/\\09/ /g' | FileCheck %s --check-prefix=RDNA
// RUN: tile-opt %s --tile-attach-target="chip=gfx1201" --tile-to-amdgpu \
// RUN:   | mlir-opt --allow-unregistered-dialect --pass-pipeline="builtin.module(rocdl-attach-target{chip=gfx1201 O=3},gpu.module(convert-amdgpu-to-rocdl{chipset=gfx1201},convert-gpu-to-rocdl{chipset=gfx1201 use-bare-ptr-memref-call-conv=true runtime=HIP},reconcile-unrealized-casts),gpu-module-to-binary{format=isa})" \
// RUN:   | sed 's/\\0A/\n/g; s/\\09/ /g' | FileCheck %s --check-prefix=RDNA

// GFX942-LABEL: {{^}}sum32:
// GFX942: v_add_u32_dpp {{.*}} quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf
// GFX942: v_add_u32_dpp {{.*}} quad_perm:[2,3,0,1] row_mask:0xf bank_mask:0xf
// GFX942: v_mov_b32_dpp {{.*}} row_half_mirror row_mask:0xf bank_mask:0xf
// GFX942: v_add_u32_dpp {{.*}} quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0xf
// GFX942: v_add_u32_dpp {{.*}} row_ror:8 row_mask:0xf bank_mask:0xf
// GFX942: ds_swizzle_b32 {{.*}} offset:swizzle(SWAP,16)
//
// GFX950-LABEL: {{^}}sum32:
// GFX950: v_add_u32_dpp {{.*}} row_ror:8 row_mask:0xf bank_mask:0xf
// GFX950: v_permlane16_swap_b32
//
// RDNA-LABEL: {{^}}sum32:
// RDNA: s_mov_b32 [[S:s[0-9]+]], 0x76543210
// RDNA: v_add_nc_u32_dpp {{.*}} row_xmask:1 row_mask:0xf bank_mask:0xf
// RDNA: v_add_nc_u32_dpp {{.*}} row_xmask:2 row_mask:0xf bank_mask:0xf
// RDNA: v_add_nc_u32_dpp {{.*}} row_xmask:4 row_mask:0xf bank_mask:0xf
// RDNA: v_add_nc_u32_dpp {{.*}} row_xmask:8 row_mask:0xf bank_mask:0xf
// RDNA: v_permlanex16_b32 {{.*}}, [[S]], 0xfedcba98

#global = #gpu.address_space<global>

gpu.module @m {
gpu.func @sum32(%memory: memref<64xi32, #global>) kernel {
  %t = gpu.thread_id x
  %width = arith.constant 32 : i32
  %x1 = memref.load %memory[%t] : memref<64xi32, #global>
  %c1 = arith.constant 1 : i32
  %s1, %v1 = gpu.shuffle xor %x1, %c1, %width : i32
  %x2 = arith.addi %x1, %s1 : i32
  %c2 = arith.constant 2 : i32
  %s2, %v2 = gpu.shuffle xor %x2, %c2, %width : i32
  %x4 = arith.addi %x2, %s2 : i32
  %c4 = arith.constant 4 : i32
  %s4, %v4 = gpu.shuffle xor %x4, %c4, %width : i32
  %x8 = arith.addi %x4, %s4 : i32
  %c8 = arith.constant 8 : i32
  %s8, %v8 = gpu.shuffle xor %x8, %c8, %width : i32
  %x16 = arith.addi %x8, %s8 : i32
  %c16 = arith.constant 16 : i32
  %s16, %v16 = gpu.shuffle xor %x16, %c16, %width : i32
  %x32 = arith.addi %x16, %s16 : i32
  memref.store %x32, %memory[%t] : memref<64xi32, #global>
  gpu.return
}
}
