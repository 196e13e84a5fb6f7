"""Tests of the cache on disk, with a stand-in for the compiler."""

import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

import tile
from tile import Artifact, CompileError, cache

#: Compiles in another process.
WORKER = """\
import sys
sys.path[:0] = {paths!r}
import test_cache
from tile import cache
cache.compiler.translate = test_cache.stand_in({log!r})
entry = cache.compile_entry({folder!r}, "key", "program", "sm_80")
print((entry / "kernel.ptx").read_text())
"""


def stand_in(log):
    """Returns a compiler that counts its runs and refuses programs with "bad"."""

    def translate(text, chip, schedule=""):
        with open(log, "a") as file:
            file.write("run\n")
        time.sleep(0.2)
        if "bad" in text:
            raise CompileError("refused")
        return Artifact(b"ptx of " + (text + schedule).encode(), "{}", "")

    return translate


class CacheTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.base = Path(holder.name)
        self.folder, self.log = self.base / "cache", self.base / "log"
        patches = (
            mock.patch.dict(os.environ, {"TILE_CACHE_DIR": str(self.folder)}),
            mock.patch.object(cache.compiler, "translate", stand_in(self.log)),
            mock.patch.object(cache.native, "identity", lambda: "compiler"),
        )
        for patch in patches:
            patch.start()
            self.addCleanup(patch.stop)

    def runs(self):
        return len(self.log.read_text().splitlines()) if self.log.exists() else 0

    def test_compiles_once(self):
        for _ in range(2):
            entry = cache.compile_entry(self.folder, "key", "program", "sm_80")
        self.assertEqual((entry / "kernel.ptx").read_text(), "ptx of program")
        self.assertEqual(self.runs(), 1)

    def test_many_processes_compile_once(self):
        paths = [str(ROOT / "python"), str(ROOT / "test" / "python")]
        code = WORKER.format(paths=paths, folder=str(self.folder), log=str(self.log))
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
            cache.entry_key("a", "sm_80", "stages = 1"),
        }
        self.assertEqual(len(keys), 4)
        self.assertIn(cache.entry_key("a", "sm_80"), keys)
        with mock.patch.object(cache.native, "identity", lambda: "another"):
            keys.add(cache.entry_key("a", "sm_80"))
        self.assertEqual(len(keys), 5)
        # The schedules that replace the compiler's.
        schedules = self.folder / "schedules"
        schedules.mkdir(parents=True)
        with mock.patch.dict("os.environ", TILE_SCHEDULES=str(schedules)):
            keys.add(cache.entry_key("a", "sm_80"))
            for text in "one", "another":
                (schedules / "sm_80.mlir").write_text(text)
                keys.add(cache.entry_key("a", "sm_80"))
        self.assertEqual(len(keys), 8)

    def test_identity(self):
        """Another library, and another LLVM under the same library."""
        library = self.base / "libtile.so"
        native = cache.native
        version = mock.Mock()
        version.tileVersion.return_value = b"1"
        mock.patch.stopall()
        with mock.patch.dict(os.environ, {"TILE_LIBRARY": str(library)}):
            with mock.patch.object(native, "library", lambda: version):
                identities = set()
                for content, number in (("a", b"1"), ("b", b"1"), ("b", b"2")):
                    library.write_text(content)
                    version.tileVersion.return_value = number
                    native._identity.cache_clear()
                    identities.add(native.identity())
                self.assertEqual(len(identities), 3)
                (self.base / "identity").write_text("of the wheel\n")
                native._identity.cache_clear()
                self.assertEqual(native.identity(), "of the wheel")
        native._identity.cache_clear()

    def test_a_pack_needs_no_compiler(self):
        packed = self.base / "pack"
        tile.precompile(["program", "other", "program"], ["sm_80"], packed)
        self.assertEqual(self.runs(), 2)
        self.assertEqual(len(list(packed.iterdir())), 2)

        def missing():
            raise CompileError("there is no compiler")

        packs = {"TILE_PACK_DIR": str(packed)}
        loaded = []
        with mock.patch.dict(os.environ, packs), mock.patch.object(
            cache.native, "identity", missing
        ), mock.patch.object(
            cache, "load", lambda ptx, json, cubins: loaded.append((ptx, cubins)) or ptx
        ):
            for _ in range(2):
                path = cache.load_program("other", "sm_80")
            self.assertEqual(path.read_text(), "ptx of other")
            self.assertEqual(loaded, [(path, path.parent)])
            with self.assertRaisesRegex(CompileError, "not in .TILE_PACK_DIR.*sm_90a"):
                cache.load_program("other", "sm_90a")
        # With a compiler, a program that is missing is compiled as ever.
        with mock.patch.dict(os.environ, packs), mock.patch.object(
            cache, "load", lambda ptx, json, cubins: ptx
        ):
            path = cache.load_program("third", "sm_80")
        self.assertEqual(path.parent.parent, self.folder)

    def test_precompile_with_schedule(self):
        packed = tile.precompile(["a"], "sm_80", self.base / "pack", schedule="stages = 1")
        tile.precompile(["a"], "sm_80", packed)
        with mock.patch.dict(os.environ, {"TILE_PACK_DIR": str(packed)}):
            with mock.patch.object(cache, "load", lambda ptx, *_, **__: ptx):
                texts = [
                    cache.load_program("a", "sm_80", schedule).read_text()
                    for schedule in ("stages = 1", "")
                ]
        self.assertEqual(texts, ["ptx of astages = 1", "ptx of a"])
        self.assertEqual(self.runs(), 2)

    def test_precompile_for_chips(self):
        packed = tile.precompile(["a", "b"], ["sm_80", "sm_90a"], self.base / "pack")
        self.assertEqual((self.runs(), len(list(packed.iterdir()))), (4, 4))
        tile.precompile(["a", "c"], "sm_80", packed)
        self.assertEqual((self.runs(), len(list(packed.iterdir()))), (5, 5))

    def fake_load(self):
        return mock.patch.object(
            cache, "load", lambda ptx, json, cubins: ptx.read_bytes() and ptx
        )

    def test_system_cache(self):
        system = self.base / "system"
        cache.compile_entry(system, cache.entry_key("a", "sm_80"), "a", "sm_80")
        os.chmod(system, 0o555)
        self.addCleanup(os.chmod, system, 0o755)
        places = {"TILE_SYSTEM_CACHE_DIR": f"/nowhere{os.pathsep}{system}"}
        before = cache.statistics()
        with mock.patch.dict(os.environ, places), self.fake_load():
            self.assertEqual(cache.load_program("a", "sm_80").parent.parent, system)
            for _ in range(2):
                found = cache.load_program("b", "sm_80")
            self.assertEqual(found.parent.parent, self.folder)
            cache._modules.clear()
            cache.load_program("b", "sm_80")
        after = cache.statistics()
        self.assertEqual(after.from_system - before.from_system, 1)
        self.assertEqual(after.from_cache - before.from_cache, 1)
        self.assertEqual(after.compiled - before.compiled, 1)
        self.assertGreater(after.seconds, before.seconds)
        self.assertEqual((after.folder, after.entries), (self.folder, 1))
        self.assertEqual(after.bytes, len("ptx of b") + len("{}") + len("b"))

    def test_the_size_is_limited(self):
        """Of entries of 21 bytes, three stay: those that were used last."""
        with mock.patch.dict(os.environ, TILE_CACHE_SIZE="70"), self.fake_load():
            for i in range(3):
                path = cache.load_program(f"long {i}", "sm_80")
                os.utime(path.parent / "kernel.json", (i, i))
            cache._modules.clear()
            cache.load_program("long 0", "sm_80")
            cache.load_program("long 3", "sm_80")
            left = {
                (entry / "kernel.mlir").read_text() for _, _, entry in cache._entries(self.folder)
            }
            self.assertEqual(left, {"long 0", "long 2", "long 3"})
            self.assertEqual(len(list(self.folder.iterdir())), 2 * len(left))
            self.assertEqual(self.runs(), 4)
        # One entry may be larger than the limit.
        with mock.patch.dict(os.environ, TILE_CACHE_SIZE="1"), self.fake_load():
            path = cache.load_program("alone", "sm_80")
            self.assertEqual([e for _, _, e in cache._entries(self.folder)], [path.parent])
        with mock.patch.dict(os.environ, TILE_CACHE_SIZE="a lot"):
            with self.assertRaisesRegex(CompileError, "a number of bytes, not 'a lot'"):
                cache.size_limit()

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
