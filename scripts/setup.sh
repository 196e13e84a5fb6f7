#!/bin/bash
# Installs the Debian packages that build and tests need and that are missing.
# Does nothing if MLIR_DIR names another build of LLVM. PyTorch (143 MB with its
# dependencies) is for the tests of tile.attention on the CPU.
set -euo pipefail

[ -z "${MLIR_DIR:-}" ] || exit 0

packages=(cmake ninja-build clang-22 g++ llvm-22-dev llvm-22-tools libmlir-22-dev
          mlir-22-tools liblld-22-dev lld-22 libgtest-dev zlib1g-dev
          libzstd-dev libboost-context-dev python3 python3-numpy python3-torch
          python3-pip python3-setuptools python3-venv python3-wheel)

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  as_root=(sudo -n)
fi
if ! command -v apt-get >/dev/null ||
   ! { [ ${#as_root[@]} -eq 0 ] || sudo -n true 2>/dev/null; }; then
  cat >&2 <<MESSAGE
The build needs these packages, and this user cannot install them:

  sudo apt-get update
  sudo apt-get install --no-install-recommends ${missing[*]}

On Debian 12 they are in bookworm-security; for other releases see
https://apt.llvm.org. To use another build of LLVM, MLIR and LLD 22, set MLIR_DIR
to its folder lib/cmake/mlir.
MESSAGE
  exit 1
fi

echo "Installing ${missing[*]}"
"${as_root[@]}" apt-get -qq update
if ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y \
     --no-install-recommends "${missing[@]}" >/dev/null; then
  echo "apt-get failed. On Debian 12 the packages of LLVM 22 are in" \
       "bookworm-security; for other releases see https://apt.llvm.org." >&2
  exit 1
fi
