"""Shapes in a file are made, and nothing that is there already is changed by them."""

import io
import pickle

import numpy as np
import pytest

import clearance as cl
from clearance import simulation as sim

# Take the class, and set one of its attributes: what an unpickler does whatever it may call.
CHANGES = (
    b"\x80\x04\x8c\x0fclearance._core\x8c\x06Sphere\x93"
    + pickle.NONE
    + pickle.EMPTY_DICT
    + b"\x8c\x02atK\x03"
    + pickle.SETITEM
    + pickle.TUPLE2
    + pickle.BUILD
    + pickle.STOP
)


def test_classes_stay_what_they_are(tmp_path):
    sim.World().save(tmp_path / "world.npz")
    arrays = dict(np.load(io.BytesIO((tmp_path / "world.npz").read_bytes())))
    arrays["shapes"] = np.frombuffer(CHANGES, np.uint8)
    np.savez(tmp_path / "world.npz", **arrays)
    before = cl.Sphere.at
    try:
        with pytest.raises(ValueError, match="a step that shapes are not made by"):
            sim.World.load(tmp_path / "world.npz")
        assert cl.Sphere.at is before
    finally:
        cl.Sphere.at = before
