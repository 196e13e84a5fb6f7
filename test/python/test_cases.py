"""Tests of how the cases of the attention test are divided."""

import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "test" / "Integration" / "attention.py"
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "test" / "Integration")]

import cases


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


if __name__ == "__main__":
    unittest.main()
