# The lit configuration of the project's tests. lit.site.cfg.py, which CMake
# writes, loads this file.

import os
import shutil

import lit.formats
from lit.llvm import llvm_config

config.name = "tile"
config.test_format = lit.formats.ShTest(not llvm_config.use_lit_shell)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "Integration", "Package", "fuzz", "python", "unit"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.tile_obj_root, "test")

tile_bin = os.path.join(config.tile_obj_root, "bin")
tool_dirs = [tile_bin, config.llvm_tools_dir]

llvm_config.use_default_substitutions()
for directory in reversed(tool_dirs):
    llvm_config.with_environment("PATH", directory, append_path=True)
llvm_config.with_environment("FILECHECK_OPTS", "--dump-input=fail")
# Every tool that was built, so that adding one needs no change here.
tools = sorted(os.listdir(tile_bin)) if os.path.isdir(tile_bin) else []
tools = [tool for tool in tools if tool.startswith("tile-")]
tools += ["mlir-opt", "split-file", "llvm-mc", "llvm-nm", "llvm-readelf", "llvm-readobj", "llvm-objdump"]
llvm_config.add_tool_substitutions(tools, tool_dirs)

config.substitutions.append(("%python", config.python_executable))
config.substitutions.append(("%llvm_tools_dir", config.llvm_tools_dir))
config.substitutions.append(("%tile_src_root", config.tile_src_root))
config.substitutions.append(("%grammar", os.path.join(
    config.tile_src_root, "editors", "vscode", "tile.tmLanguage.json")))
config.substitutions.append(("%tile_obj_root", config.tile_obj_root))

# mlir-opt must be linked to the shared libraries of LLVM and MLIR that the plugin
# uses. A program without a sanitizer cannot load a library with one.
config.substitutions.append(("%load_plugin",
    "--load-dialect-plugin=%plugin --load-pass-plugin=%plugin"))
config.substitutions.append(
    ("%plugin", os.path.join(config.tile_obj_root, "lib", "libTilePlugin.so")))
if shutil.which("mlir-opt", path=config.llvm_tools_dir) and not config.tile_sanitize:
    config.available_features.add("plugin")


def find_ptxas():
    """The CUDA assembler, where one is installed."""
    places = [os.environ.get("PATH", "")]
    for root in (os.environ.get("CUDA_PATH"), "/usr/local/cuda"):
        if root:
            places.append(os.path.join(root, "bin"))
    return shutil.which("ptxas", path=os.pathsep.join(places))


# Tests that assemble PTX say `REQUIRES: ptxas` and call %ptxas.
ptxas = find_ptxas()
if ptxas:
    config.available_features.add("ptxas")
    config.substitutions.append(("%ptxas", ptxas))
