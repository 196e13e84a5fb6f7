// The manifest requires that the scale of attention is not negative, and
// launchers check it.
// DEFINE: %{buffers} = --arg=random:1x16x1x64:f16:1 --arg=random:1x16x1x64:f16:2 \
// DEFINE:   --arg=random:1x16x1x64:f16:3 --arg=nan:1x16x1x64:f16

// RUN: tile-translate %s --tile-to-ptx --chip=sm_80 --manifest=%t.json -o %t.ptx
// RUN: FileCheck %s --check-prefix=MANIFEST --input-file=%t.json
// RUN: not tile-run %s --chip=sm_80 %{buffers} --arg=-0.5 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not tile-run %s --chip=sm_80 %{buffers} --arg=nan 2>&1 | FileCheck %s --check-prefix=NAN
// RUN: tile-run %s --chip=sm_80 %{buffers} --arg=0

// MANIFEST: "nonnegative":{{ ?}}true
// NEGATIVE: argument 4 '{{.*}}': must be finite and not negative, got -0.5
// NAN: must be finite and not negative, got nan

!q = !tile.buffer<?x?x?x64xf16, #tile.strided<[?:8, ?:8, ?:8, 1], align = 16>, global>

func.func @attention(%q: !q, %k: !q, %v: !q, %o: !q, %scale: f32) {
  tile.attention %q, %k, %v, %o scale %scale : !q, !q, !q, !q
  return
}
