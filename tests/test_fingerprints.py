"""Fingerprints: equal values have equal ones in every process, and different values different ones."""

import copy
import functools
import math
import os
import pickle
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import clearance as cl
from clearance.batches import gather
from clearance.fingerprints import fingerprint
from executors import Logged, Waves, run


@dataclass
class Node:
    """Something that may lead back to itself."""

    name: str
    next: object = None


def ring(*names):
    nodes = [Node(name) for name in names]
    for node, following in zip(nodes, nodes[1:] + nodes[:1], strict=True):
        node.next = following
    return nodes[0]


DIFFERENT = [
    None,
    0,
    0.0,
    -0.0,
    False,
    "",
    "0",
    b"",
    (),
    [],
    {},
    set(),
    frozenset(),
    [[], []],
    [[[]]],
    (1, 2),
    [1, 2],
    [12],
    {1: 2},
    {1, 2},
    {"a": 1, "b": 2},
    {"b": 2, "a": 1},
    float("nan"),
    np.zeros(2),
    np.zeros((2, 1)),
    np.zeros(2, np.float32),
    np.zeros(2, np.int64),
    np.zeros(4)[:0],
    np.array(["a", None], dtype=object),
    np.array(["a", 3], dtype=object),
    np.array(["a", "b"]),
    np.float64(3.0),
    math.sin,
    np.cos,
    len,
    Waves,
    fingerprint,
    Waves(),
    Waves(2.0),
    Logged(parent=0),
    Waves().__call__,
    functools.partial(gather, 1),
    functools.partial(gather, 2),
    Node("a"),
    Node("a", Node("a")),
    ring("a"),
    ring("a", "b"),
    ring("a", "b", "c"),
    Path("a"),
    Path("b"),
    slice(1, 2),
    cl.Sphere(1.0),
    cl.Sphere(2.0),
    cl.Sphere(1.0).at([0.0, 0.0, 1.0]),
    cl.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]),
    cl.Mesh([[0, 0, 0], [1, 0, 0], [0, 2, 0]], [[0, 1, 2]]),
]


def test_different_values_have_different_fingerprints():
    assert len({fingerprint(value) for value in DIFFERENT}) == len(DIFFERENT)


@pytest.mark.parametrize("value", DIFFERENT, ids=range(len(DIFFERENT)))
def test_equal_values_have_equal_fingerprints(value):
    assert fingerprint(pickle.loads(pickle.dumps(value))) == fingerprint(value)
    assert fingerprint(copy.deepcopy(value)) == fingerprint(value)


def test_fingerprints_do_not_show_what_is_one_object():
    text = "".join(["el", "bow"])
    assert fingerprint([text, text]) == fingerprint([text, "".join(["el", "bow"])])
    array = np.arange(12.0).reshape(3, 4)
    assert fingerprint(np.asfortranarray(array)) == fingerprint(array)


def test_fingerprints_are_the_same_in_every_process():
    script = "from executors import *; from clearance.fingerprints import fingerprint; print(fingerprint(Waves()))"
    for seed in "12":
        env = os.environ | {"PYTHONPATH": str(Path(__file__).parent), "PYTHONHASHSEED": seed}
        done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == fingerprint(Waves())


def test_functions_without_a_name_have_no_fingerprint(tmp_path):
    with pytest.raises(TypeError, match="cannot be told apart by name"):
        run(lambda rows: Waves()(rows), out=tmp_path / "waves.npy")
    assert not list(tmp_path.iterdir())
