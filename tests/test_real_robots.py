"""Real robots beside pinocchio and coal: the same distances, the same collisions."""

import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import clearance as cl

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

pytest.importorskip("pinocchio", reason="needs pinocchio and coal: pip install pin")

from real_cell import MissingDataError
from robot_models import description, pinocchio_model
from robot_peers import Pinocchio

AGREEMENT = 1e-6  # metres; coal is asked for 1e-9 and keeps to it but for a few curved pairs


@cache
def rivals(name, collision):
    """The robot as we know it, its configurations, and a peer with the same pairs."""
    try:
        robot = description(name)
    except MissingDataError as error:
        pytest.skip(str(error))
    ours = robot.ours(collision)
    pairs = {tuple(sorted(pair)) for pair in ours.pairs}
    return robot, ours, Pinocchio(pinocchio_model(robot, collision, pairs))


@pytest.mark.parametrize(
    ("name", "collision", "count"),
    [("panda", "mesh", 60), ("panda", "hull", 1000), ("ur5", "mesh", 60), ("ur5", "hull", 1000), ("talos", "hull", 20)],
)
def test_least_distances_are_those_of_coal(name, collision, count):
    robot, ours, peer = rivals(name, collision)
    q = robot.random(count)
    theirs, found = peer.measured(q), cl.clearances(ours, None, q)
    apart = theirs > 0.0
    assert apart.any()
    assert np.abs(found.distance - theirs)[apart].max() < AGREEMENT
    # In contact coal gives the depth of hulls to its own tolerance, and only that meshes meet.
    assert np.all(found.distance[~apart] <= AGREEMENT)


@pytest.mark.parametrize(
    ("name", "collision", "count"),
    [
        ("panda", "mesh", 3000),
        ("panda", "hull", 3000),
        ("ur5", "mesh", 3000),
        ("ur5", "hull", 3000),
        ("talos", "mesh", 500),
        ("talos", "hull", 500),
    ],
)
def test_collisions_are_those_of_coal(name, collision, count):
    robot, ours, peer = rivals(name, collision)
    q = robot.random(count, seed=2)
    clear, theirs = cl.is_clear(ours, None, q), ~np.array(peer.collisions(peer.rows(q)))
    assert 0.02 < np.mean(~clear) < 0.9
    for k in np.flatnonzero(clear != theirs):
        # Either it is touch and go, or coal's own distance says that its verdict is wrong.
        least = ours.nearest(q[k]).distance
        assert abs(least) < AGREEMENT or (peer.measured(q[k : k + 1])[0] <= 0.0) == (least <= 0.0)


@pytest.mark.parametrize("collision", ["mesh", "hull"])
def test_every_pair_of_the_panda_is_as_far_apart_as_coal_says(collision):
    robot, ours, peer = rivals("panda", collision)
    q = robot.random(30, seed=3)
    found = ours.distances(q)
    columns = {tuple(sorted(pair)): found.distance[:, k] for k, pair in enumerate(found.pairs)}
    theirs = {tuple(sorted(pair)): column for pair, column in peer.by_link_pair(peer.rows(q)).items()}
    assert set(columns) == set(theirs)
    for pair, column in columns.items():
        apart = theirs[pair] > 0.0
        assert np.abs(column - theirs[pair])[apart].max(initial=0.0) < AGREEMENT


def test_hulls_are_never_farther_than_meshes():
    robot = description("panda")
    q = robot.random(300, seed=4)
    hulls, meshes = (cl.clearances(robot.ours(collision), None, q) for collision in ("hull", "mesh"))
    assert np.all(hulls.lower <= meshes.upper)


@pytest.mark.long
def test_swept_hulls_of_links_are_never_farther_than_hulls():
    robot = description("ur5")
    q = robot.random(300, seed=5)
    swept, hulls = (cl.clearances(robot.ours(collision), None, q) for collision in ("swept", "hull"))
    assert np.all(swept.lower <= hulls.upper)
    assert np.mean(swept.distance < hulls.distance) > 0.5
