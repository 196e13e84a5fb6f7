"""Writes a page table as an .npy file: entry i is 3 * i modulo 7."""

import struct
import sys

header = "{'descr': '<i4', 'fortran_order': False, 'shape': (7,)}".ljust(117) + "\n"
with open(sys.argv[1], "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
    file.write(struct.pack("<7i", *(3 * i % 7 for i in range(7))))
