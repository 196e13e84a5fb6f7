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

// One wrong instruction is one error, whoever names it.
#wrong = #tile.mma<"mma.m16n8k16.f16", warps = [4, 1]>
#a = #tile.dot_operand<0, #wrong>
#b = #tile.dot_operand<1, #wrong>
module @wrong_instruction attributes {tile.target = "gfx1100"} {
func.func @dots(%a: tensor<64x64xf16, #a>, %b: tensor<64x64xf16, #b>, %acc: tensor<64x64xf32, #wrong>,
                %x: tensor<64x64xf16>, %zero: tensor<64x64xf32>, %y: tensor<64x64xbf16>) {
  // expected-error@+1 {{'tile.dot' op names the matrix instruction "mma.m16n8k16.f16", which gfx1100 does not have; it has wmma.gfx11.16x16x16.f16, wmma.gfx11.16x16x16.bf16}}
  %0 = tile.dot %a, %b, %acc : tensor<64x64xf16, #a>, tensor<64x64xf16, #b> -> tensor<64x64xf32, #wrong>
  // expected-note@+1 {{also named here}}
  %1 = tile.dot %a, %b, %0 : tensor<64x64xf16, #a>, tensor<64x64xf16, #b> -> tensor<64x64xf32, #wrong>
  // expected-note@+1 {{also named here}}
  %2 = tile.dot %x, %x, %zero {instruction = "mma.m16n8k16.f16"} : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  // expected-error@+1 {{'tile.dot' op names the matrix instruction "mfma.16x16x16.bf16", which gfx1100 does not have}}
  %3 = tile.dot %y, %y, %zero {instruction = "mfma.16x16x16.bf16"} : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
  %4 = tile.dot %y, %y, %zero {instruction = "wmma.gfx11.16x16x16.bf16"} : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
  return
}
}

// -----

module @other_target attributes {tile.target = "sm_80"} {
}

// The last module has a chip; an option with another chip contradicts it.
// OPTION: error: unknown target chip "sm_10"; tile-translate --chip=help lists the chips
// OPTION: error: is made for "sm_80" and cannot be compiled for "sm_10"
