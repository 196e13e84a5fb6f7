"""Checks that element (l, d) of 8 x 16 lies where the map of dQ says."""

import struct
import sys

with open(sys.argv[1], "rb") as file:
    data = file.read()
start = 10 + struct.unpack("<H", data[8:10])[0]
dq = struct.unpack("<256f", data[start:])


def offset(l, d):
    return (d // 8) * 64 + (d % 2) * 32 + 4 * (l % 8) + (d % 8) // 2


used = set()
for l in range(8):
    for d in range(0, 16, 2):
        first, second = dq[offset(l, d)], dq[offset(l, d + 1)]
        # Two blocks add the same number to both.
        assert first == second != 0, (l, d, first, second)
        used |= {offset(l, d), offset(l, d + 1)}
assert len(used) == 128
assert all(dq[i] == 0 for i in range(256) if i not in used)
