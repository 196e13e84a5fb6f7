"""Writes doubles and their values after one rounding as .npy files.

The first argument is the number of stored bits of the narrow type's significand.
"""

import struct
import sys

step = 2.0 ** -int(sys.argv[1])
cases = [
    (1 + step / 2 + 2.0**-40, 1 + step),
    (1 + step / 2, 1.0),
    (-1 - step / 2 - 2.0**-40, -1 - step),
    (1e300, float("inf")),
    (-1e-300, -0.0),
    (3.0, 3.0),
    (float("nan"), float("nan")),
    (float("-inf"), float("-inf")),
]


def write(path, type, values):
    header = f"{{'descr': '{type}', 'fortran_order': False, 'shape': ({len(values)},)}}"
    header = header.ljust(117) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack("<" + ("d" if type == "<f8" else "f") * len(values), *values))


write(sys.argv[2], "<f8", [case[0] for case in cases])
write(sys.argv[3], "<f4", [case[1] for case in cases])
