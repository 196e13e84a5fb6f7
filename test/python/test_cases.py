"""Tests of how the cases of the attention test are divided and launched."""

import importlib
import subprocess
import sys
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "test" / "Integration" / "attention.py"
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "test" / "Integration")]

import cases
from tile.scratch import Scratch


def run(*arguments):
    return subprocess.run(
        [sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True
    )


class Shards(unittest.TestCase):
    def test_every_case_is_in_one_part_with_its_kernels(self):
        everything = list(enumerate(cases.all_cases()))
        parts = [cases.shard_cases(everything, i + 1, 7) for i in range(7)]
        self.assertEqual(sorted(sum(parts, [])), everything)
        self.assertTrue(all(parts))
        homes = {}
        for part, rows in enumerate(parts):
            for _, case in rows:
                kernels = tuple(case.variants)
                self.assertEqual(homes.setdefault(kernels, part), part)
        self.assertEqual(cases.shard_cases(everything, 1, 1), everything)

    def test_the_option_divides_what_the_filter_leaves(self):
        only = "--filter=d64-.* S64x128"
        whole = run("--list", only).stdout.splitlines()
        self.assertGreater(len(whole), 2)
        parts = [run("--list", only, f"--shard={i}/2") for i in (1, 2)]
        self.assertEqual(
            sorted(sum((part.stdout.splitlines() for part in parts), [])),
            sorted(whole),
        )

    def test_refuses_what_is_no_part(self):
        for text in ("0/2", "3/2", "1", "a/b", "1/0"):
            done = run("--list", f"--shard={text}")
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"'{text}' is not I/N with 1 <= I <= N", done.stderr)


class LaunchOnly(unittest.TestCase):
    def test_launches_each_kernel_once_and_judges_nothing(self):
        everything = cases.all_cases()
        some = [next(c for c in everything if c.backward is None)]
        some += [next(c for c in everything if c.backward and not c.variant.packed)]
        some += [next(c for c in everything if c.backward and c.variant.packed)]
        names = ("check", "tile.testing")
        kept = {name: sys.modules.pop(name, None) for name in names}
        try:
            with mock.patch.dict(sys.modules, {"torch": mock.MagicMock()}):
                check = importlib.import_module("check")
                for name in ("attention", "gradients", "compare", "compare_lse"):
                    setattr(check.testing, name, mock.Mock(side_effect=AssertionError))
                for case in some:
                    self.launch(check, case)
        finally:
            for name, module in kept.items():
                sys.modules.pop(name, None)
                if module is not None:
                    sys.modules[name] = module

    def launch(self, check, case):
        modules = {variant: mock.Mock() for variant in case.variants}
        for variant, module in modules.items():
            backward = ["do", "dq", "dk", "dv", "stats"]
            extra = backward if variant is case.backward else []
            module.parameters = ["q", "k", "v", "o", "lse", *extra, "scale"]
            module.scratch.return_value = {"stats": Scratch("f32", (1,))}
        artifacts = mock.Mock(load=modules.__getitem__)
        outcome = check.run_case(case, artifacts, 0, launches=3, judged=False)
        self.assertEqual((outcome.faults, outcome.errors), ([], {}))
        for module in modules.values():
            self.assertEqual(module.launch.call_count, 1)
            given = module.launch.call_args.kwargs
            self.assertEqual(list(given), module.parameters)


if __name__ == "__main__":
    unittest.main()
