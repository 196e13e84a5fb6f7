"""Tests of the cache on disk, with a stand-in for the compiler."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

from tile import CompileError, cache

#: Writes what it was given, counts its runs, and refuses programs with "bad".
STAND_IN = """\
#!{python}
import os, sys, time
if "--version" in sys.argv:
    print(os.environ.get("STAND_IN_VERSION", "1"))
    sys.exit(0)
with open({log!r}, "a") as log:
    log.write("run\\n")
time.sleep(0.2)
source = next(a for a in sys.argv[1:] if a.endswith(".mlir"))
if "bad" in open(source).read():
    print("refused")
    sys.exit(1)
open(sys.argv[sys.argv.index("-o") + 1], "w").write("ptx of " + open(source).read())
manifest = next(a for a in sys.argv if a.startswith("--manifest="))
open(manifest[len("--manifest="):], "w").write("{{}}")
"""

WORKER = """\
import sys
sys.path.insert(0, {package!r})
from tile import cache
entry = cache.compile_entry({folder!r}, "key", "program", "sm_80")
print((entry / "kernel.ptx").read_text())
"""


class CacheTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.base = Path(holder.name)
        self.folder, self.log = self.base / "cache", self.base / "log"
        translate = self.base / "tile-translate"
        translate.write_text(
            STAND_IN.format(python=sys.executable, log=str(self.log))
        )
        translate.chmod(0o755)
        self.translate = translate
        patch = mock.patch.dict(
            os.environ,
            {"TILE_TRANSLATE": str(translate), "TILE_CACHE_DIR": str(self.folder)},
        )
        patch.start()
        self.addCleanup(patch.stop)
        cache._identities.clear()

    def runs(self):
        return len(self.log.read_text().splitlines()) if self.log.exists() else 0

    def test_compiles_once(self):
        for _ in range(2):
            entry = cache.compile_entry(self.folder, "key", "program", "sm_80")
        self.assertEqual((entry / "kernel.ptx").read_text(), "ptx of program")
        self.assertEqual(self.runs(), 1)

    def test_many_processes_compile_once(self):
        code = WORKER.format(package=str(ROOT / "python"), folder=str(self.folder))
        workers = [
            subprocess.Popen(
                [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True
            )
            for _ in range(6)
        ]
        outputs = {worker.communicate()[0].strip() for worker in workers}
        self.assertEqual(outputs, {"ptx of program"})
        self.assertEqual(self.runs(), 1)

    def test_failure_leaves_no_entry(self):
        with self.assertRaisesRegex(CompileError, "refused"):
            cache.compile_entry(self.folder, "key", "bad", "sm_80")
        names = [path.name for path in self.folder.iterdir()]
        self.assertEqual(names, ["key.lock"])

    def test_key_holds_everything(self):
        keys = {
            cache.entry_key("a", "sm_80"),
            cache.entry_key("b", "sm_80"),
            cache.entry_key("a", "sm_90a"),
            cache.entry_key("a", "sm_80", ["--x"]),
            cache.entry_key("a", "sm_80", ["--", "x"]),
            cache.entry_key("a--x", "sm_80"),
        }
        self.assertEqual(len(keys), 6)
        self.assertIn(cache.entry_key("a", "sm_80"), keys)
        # Another compiler, and another LLVM under the same compiler.
        with mock.patch.dict(os.environ, {"STAND_IN_VERSION": "2"}):
            cache._identities.clear()
            keys.add(cache.entry_key("a", "sm_80"))
        self.translate.write_text(self.translate.read_text() + "\n# changed\n")
        keys.add(cache.entry_key("a", "sm_80"))
        self.assertEqual(len(keys), 8)

    def test_a_pack_needs_no_compiler(self):
        packed = self.base / "pack"
        cache.pack(packed, ["program", "other", "program"], "sm_80")
        self.assertEqual(self.runs(), 2)
        self.assertEqual(len(list(packed.iterdir())), 2)
        missing = {"TILE_TRANSLATE": "/nowhere", "TILE_PACK_DIR": str(packed)}
        loaded = []
        with mock.patch.dict(os.environ, missing), mock.patch.object(
            cache, "load", lambda ptx, json, cubins: loaded.append((ptx, cubins)) or ptx
        ):
            for _ in range(2):
                path = cache.load_program("other", "sm_80")
            self.assertEqual(path.read_text(), "ptx of other")
            self.assertEqual(loaded, [(path, path.parent)])
            with self.assertRaisesRegex(CompileError, "not in .TILE_PACK_DIR.*sm_90a"):
                cache.load_program("other", "sm_90a")
        # With a compiler, a program that is missing is compiled as ever.
        only = {"TILE_PACK_DIR": str(packed)}
        with mock.patch.dict(os.environ, only), mock.patch.object(
            cache, "load", lambda ptx, json, cubins: ptx
        ):
            path = cache.load_program("third", "sm_80")
        self.assertEqual(path.parent.parent, self.folder)

    def test_folder(self):
        self.assertEqual(cache.folder(), self.folder)
        with mock.patch.dict(os.environ, {"XDG_CACHE_HOME": "/x"}):
            del os.environ["TILE_CACHE_DIR"]
            self.assertEqual(cache.folder(), Path("/x/tile"))

    def test_folder_that_cannot_be_made(self):
        self.folder.write_text("a file")
        with self.assertRaisesRegex(CompileError, r"set \$TILE_CACHE_DIR to another"):
            cache.compile_entry(self.folder, "key", "program", "sm_80")


if __name__ == "__main__":
    unittest.main()
