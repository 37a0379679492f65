"""A saved mesh has a checksum, which anybody can compute: trees that point nowhere were searched."""

import struct

import numpy as np
import pytest

import clearance as cl
from clearance.meshio import from_bytes

HEADER, CHECKSUM = 88, slice(24, 32)
WORD = (1 << 64) - 1


def sealed(data):
    """Give bytes of a mesh the checksum that they should have."""
    data = bytearray(data)
    data[CHECKSUM] = bytes(8)
    total, whole = 0x9E3779B97F4A7C15, len(data) // 8 * 8
    for (word,) in struct.iter_unpack("<Q", data[:whole]):
        total = ((total ^ word) * 0xFF51AFD7ED558CCD) & WORD
        total ^= total >> 32
    for byte in data[whole:]:
        total = ((total ^ byte) * 0x100000001B3) & WORD
    data[CHECKSUM] = struct.pack("<Q", total)
    return bytes(data)


def saved(triangles, volume):
    rng = np.random.default_rng(triangles)
    return cl.Mesh(rng.normal(size=(20, 3)), rng.integers(0, 20, size=(triangles, 3)), volume).to_bytes()


def test_checksum_is_that_of_the_file():
    data = saved(12, "obb")
    assert sealed(data) == data


@pytest.mark.parametrize("volume", ["obb", "rss"])
@pytest.mark.parametrize("triangles", [1, 7, 30])
def test_forged_trees_are_refused_or_searched_to_an_end(triangles, volume):
    good = saved(triangles, volume)
    start = HEADER + 20 * 24 + triangles * 12
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(400):
        data = bytearray(good)
        place = int(rng.integers(start // 4, len(data) // 4)) * 4
        word = rng.choice([-1, 0, 1, 5, 100, -100, 2**31 - 1, -(2**31), 0x7FC00000, 0x7F800000, 0x7FF80000])
        data[place : place + 4] = struct.pack("<I", int(word) & 0xFFFFFFFF)
        try:
            mesh = from_bytes(sealed(data))
        except ValueError:
            refused += 1
            continue
        cl.raycast(mesh, [[-5.0, 0.0, 0.0]], [[1.0, 0.0, 0.0]])
        cl.distance(mesh, cl.Sphere(0.1).at([0.3, 0.2, 0.1]))
        cl.distance(mesh, mesh.at([4.0, 0.0, 0.0]))
    assert refused > 20
