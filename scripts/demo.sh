#!/bin/bash
# Compiles examples/forward.mlir for one NVIDIA and two AMD chips and shows what
# came out. Needs no GPU, no CUDA and no ROCm. Usage: demo.sh [build folder]
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build}
source=examples/forward.mlir
out=$build/demo
mkdir -p "$out"

echo "$source: attention forward, from $(grep -cvE '^ *(//|$)' "$source") lines of tile IR"
for target in sm_90a:ptx gfx1100:hsaco gfx942:hsaco; do
  chip=${target%:*} kind=${target#*:}
  file=$out/forward.$chip.$kind
  start=$(date +%s%N)
  "$build/bin/tile-translate" --tile-to-"$kind" --chip="$chip" --resources \
    --manifest="${file%.*}.json" "$source" -o "$file" 2>"$out/log" ||
    { cat "$out/log" >&2; exit 1; }
  end=$(date +%s%N)
  printf '\n%s  %s  (%s bytes, compiled in %d.%02d s)\n' "$chip" "$file" \
    "$(stat -c %s "$file")" $(((end - start) / 1000000000)) \
    $(((end - start) / 10000000 % 100))
  sed 's/^/  /' "$out/log"
done
