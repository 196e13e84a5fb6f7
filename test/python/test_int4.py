"""Test of tile.pack_int4."""

import unittest

try:
    import torch

    import tile
except ImportError:
    torch = None


@unittest.skipIf(torch is None, "no PyTorch")
class PackInt4(unittest.TestCase):
    def test_bits(self):
        generator = torch.Generator().manual_seed(1)
        weights = torch.randint(16, (2, 96, 5), generator=generator)
        for dtype in (torch.uint8, torch.int8, torch.int32, torch.int64):
            words = tile.pack_int4(weights.to(dtype))
            self.assertEqual((words.dtype, words.shape), (torch.int32, (2, 12, 5)))
            for row in range(96):
                i, j, h = row % 8 // 2, row % 32 // 8, row % 2
                word = words[:, row // 32 * 4 + i]
                self.assertTrue(
                    torch.equal(word >> (4 * j + 16 * h) & 15, weights[:, row].int())
                )

    def test_no_elements(self):
        empty = torch.empty(32, 0, dtype=torch.uint8)
        self.assertEqual(tile.pack_int4(empty).shape, (4, 0))

    def test_errors(self):
        for weights, message in (
            ([[1]], "weights must be a tensor of two or more dimensions"),
            (torch.zeros(32, dtype=torch.uint8),
             "weights must be a tensor of two or more dimensions"),
            (torch.zeros(32, 1),
             "weights must have a type of integers, such as torch.uint8, got torch.float32"),
            (torch.zeros(40, 1, dtype=torch.uint8),
             "the rows of weights must be a multiple of 32, got 40"),
            (torch.full((32, 1), 16), "weights must be from 0 to 15"),
            (torch.full((32, 1), -1), "weights must be from 0 to 15"),
        ):
            with self.assertRaises(tile.ArgumentError) as error:
                tile.pack_int4(weights)
            self.assertEqual(str(error.exception), message)


if __name__ == "__main__":
    unittest.main()
