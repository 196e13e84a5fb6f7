"""Writes doubles, and what they are once rounded to bf16, as .npy files."""

import struct
import sys

cases = [
    (1 + 2.0**-8 + 2.0**-40, 1 + 2.0**-7),
    (1 + 2.0**-8, 1.0),
    (-1 - 2.0**-8 - 2.0**-40, -1 - 2.0**-7),
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


write(sys.argv[1], "<f8", [case[0] for case in cases])
write(sys.argv[2], "<f4", [case[1] for case in cases])
