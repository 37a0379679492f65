"""Shapes in archives are read step by step: no pickle from a file is ever loaded."""

import os
import pickle
import pickletools
import struct

import numpy as np
import pytest

import clearance as cl
from clearance import simulation as sim
from clearance.simulation import archives
from clearance.simulation.grain_recordings import GrainRecording
from hostile import assert_refused, forged_header, with_member


class Evil:
    def __init__(self, *call):
        self.call = call

    def __reduce__(self):
        return self.call


def global_of(module, name):
    return (
        pickle.SHORT_BINUNICODE
        + bytes([len(module)])
        + module.encode()
        + pickle.SHORT_BINUNICODE
        + bytes([len(name)])
        + name.encode()
        + pickle.STACK_GLOBAL
    )


def sphere():
    return (
        global_of("clearance._core", "Sphere")
        + pickle.BINFLOAT
        + struct.pack(">d", 0.1)
        + pickle.TUPLE1
        + pickle.REDUCE
    )


START, LIST = b"\x80\x04", pickle.EMPTY_LIST
FORGED = {
    "a call": pickle.dumps([Evil(os.system, ("echo called > called",))]),
    "a call by its name": START + LIST + global_of("os", "system") + pickle.APPEND + b".",
    "a name within a name": START + LIST + global_of("clearance._core", "Sphere.at") + pickle.APPEND + b".",
    "another class": START + LIST + global_of("clearance._core", "World") + pickle.APPEND + b".",
    "a class that is changed": (
        START + global_of("clearance._core", "Sphere") + b"N}" + pickle.SHORT_BINUNICODE + b"\x02at" + b"K\3s\x86b."
    ),
    "a place in memory without end": START + sphere() + pickle.LONG_BINPUT + b"\xff\xff\xff\x7f.",
    "bytes without end": START + pickle.BYTEARRAY8 + struct.pack("<Q", 2**40) + b".",
    "a text without end": START + pickle.BINUNICODE8 + struct.pack("<Q", 2**62) + b".",
    "an old call": b"cos\nsystem\n(S'echo called > called'\ntR.",
    "an extension": START + b"\x82\1.",
    "a buffer": b"\x80\x05\x97.",
    "a persistent thing": b"\x80\x04Px\n.",
    "nothing": b"",
    "no end": START + LIST,
    "too few": START + b"R.",
    "a mark that is not there": START + b"t.",
    "a call of a shape": START + sphere() + b")R.",
    "lists of lists without end": (
        START + LIST + b"\x94" + LIST + b"(" + b"h\0" * 100 + b"e\x94" + LIST + b"(" + b"h\1" * 100 + b"e\x85\x94"
        + global_of("clearance._core", "ConvexHull") + b"h\2R."
    ),
}  # fmt: skip


def test_pickles_of_anything_but_shapes_are_refused(good, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    load = {"world": sim.World.load, "particles": sim.Particles.load, "grains": GrainRecording.load}
    wanted = []
    for name in ("world.npz", "particles.npz", "grains.npz"):
        for what, data in FORGED.items():
            shapes = forged_header((len(data),), "|u1") + data
            path = with_member(good[name].path, tmp_path / f"{what} {name}", "shapes.npy", shapes)
            wanted.append((good[name].loader, path))
            with pytest.raises(ValueError, match=r"."):
                load[good[name].loader](path)
    assert_refused(wanted, memory=200 << 20)
    assert not (tmp_path / "called").exists()
    assert callable(cl.Sphere.at)


def grown(step, levels):
    """Make shapes of shapes, each of many of those before."""
    data = START + sphere() + pickle.MEMOIZE
    for k in range(levels):
        data += step(k) + pickle.MEMOIZE
    return data + b"."


def test_shapes_made_of_each_other_without_end_are_refused(good, tmp_path):
    def compound(k):
        return global_of("clearance._core", "Compound") + b"(" + (b"h" + bytes([k])) * 100 + b"t\x85R"

    numbers = bytes(240_000)
    copies = START + LIST + b"(" + pickle.BINBYTES + struct.pack("<I", len(numbers)) + numbers + b"\x94"
    copy = global_of("clearance.simulation.archives", "array_of") + b"h\0\x8c\3<f8M\x30\x75\x85\x87R"
    for data in (grown(compound, 8), copies + copy * 3000 + b"e."):
        assert len(list(pickletools.genops(data))) > 10
        with pytest.raises(ValueError, match="more and more"):
            archives._ShapeReader(data).load()


def test_every_shape_survives_its_archive():
    triangle = cl.SweptTriangle([0, 0, 0], [1, 0, 0], [0, 1, 0], 0.1)
    field = cl.HeightField(np.arange(6.0).reshape(2, 3), 0.5)
    hull, mesh = cl.ConvexHull(np.eye(4)[:, :3]), cl.Mesh(np.eye(3), [[0, 1, 2]])
    shapes = [
        cl.Sphere(1.0),
        cl.Box([1, 2, 3]),
        cl.Capsule(1, 2),
        cl.Cylinder(1, 2),
        cl.Cone(1, 2),
        cl.Ellipsoid([1, 2, 3]),
    ]
    shapes += [cl.HalfSpace([0, 0, 1], 1.0), cl.SweptPoint([1, 2, 3], 1.0), cl.SweptSegment([0, 0, 0], [1, 0, 0], 0.5)]
    shapes += [triangle, field, hull, mesh, cl.PointCloud(np.eye(3), 0.1)]
    compound = cl.Compound(
        [*(shape for shape in shapes if not isinstance(shape, cl.HalfSpace)), mesh.at([1.0, 0.0, 0.0])]
    )
    nested = cl.Compound([compound.at([0.0, 0.0, 1.0]), compound])
    everything = [*shapes, compound, nested, nested, shapes[0].at([1.0, 2.0, 3.0])]
    _, found, _ = archives.unpacked(archives.packed({"format": "x"}, everything, {}), "x", [])
    assert found == everything
    assert found[-2] is found[-3]
