"""Manifests and a base class for tests that launch on a fake driver."""

import copy
import unittest
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import tile
from fakes import FakeCuda
from tile.driver import Driver
from tile.launcher import Module


def buffer(name, type="f16", rank=4, last=128, **fields):
    return {
        "kind": "buffer",
        "name": name,
        "type": type,
        "rank": rank,
        "shape": [None] * (rank - 1) + [last],
        "strides": [None] * (rank - 1) + [1],
        "stride_divisibility": [8] * (rank - 1) + [1],
        "alignment": 16,
        **fields,
    }


def manifest(params, grid=(1, 1, 1), name="kernel", **fields):
    return {
        "version": 2,
        "chip": "sm_80",
        "kind": "ptx",
        "kernels": [
            {
                "name": name,
                "grid": list(grid),
                "block": [128, 1, 1],
                "shared_bytes": 0,
                "params": params,
                **fields,
            }
        ],
    }


ATTENTION = manifest(
    [buffer("q"), buffer("o"), {"kind": "scalar", "name": "scale", "type": "f32"}],
    grid=[["ceildiv", ["dim", 0, 1], 128], ["dim", 0, 2], ["dim", 0, 0]],
    name="attention",
    shared_bytes=98304,
)


class LauncherTest(unittest.TestCase):
    def setUp(self):
        self.cuda = FakeCuda()
        self.driver = Driver(self.cuda)

    def module(self, source):
        return Module(b".version 8.0", copy.deepcopy(source), self.driver)

    def assertRefused(self, message, module, *args, **named):
        with self.assertRaises(tile.ArgumentError) as caught:
            module.launch(*args, **named)
        self.assertEqual(str(caught.exception), message)
        self.assertEqual(self.cuda.launches, [])
