"""Groups of all kinds of bodies on random walks: what a scene remembers from step to step never changes its answer."""

from math import inf

import numpy as np
import pytest

import clearance as cl
from clearance import poses

TOLERANCE = 1e-10  # bodies are a few metres large and apart


def soup(rng, volume):
    count = rng.integers(3, 80)
    vertices = rng.choice([0.1, 1.0]) * rng.normal(size=(count, 3))
    return cl.Mesh(vertices, rng.integers(0, count, (rng.integers(1, 200), 3)), volume)


def any_body(rng, volume):
    return [
        lambda: soup(rng, volume),
        lambda: soup(rng, volume),
        lambda: cl.Box(rng.uniform(0.1, 1.0, 3)),
        lambda: cl.Compound([cl.Sphere(0.3).at(rng.normal(size=3)), soup(rng, volume).at(rng.normal(size=3))]),
        lambda: cl.Cylinder(0.3, 1.0),
        lambda: cl.ConvexHull(0.4 * rng.normal(size=(10, 3)), 0.05),
    ][rng.integers(6)]()


def any_pose(rng):
    quaternion = rng.normal(size=4)
    return poses.from_wxyz(quaternion / np.linalg.norm(quaternion), 4.0 * rng.normal(size=3))


def any_scene(rng):
    scene, volume = cl.Scene(), rng.choice(["obb", "rss"])
    groups = [[f"{side}{k}" for k in range(rng.integers(1, 5))] for side in "ab"]
    for name in (*groups[0], *groups[1]):
        scene.add(name, any_body(rng, volume), any_pose(rng))
    if rng.random() < 0.3:
        scene.add("ground", cl.HalfSpace([0, 0, 1], -8.0))
        groups[1].append("ground")
    return scene, *groups


def least_distance(scene, group_a, group_b):
    def placed(name):
        return scene.shape(name).at(scene.pose(name))

    return min(cl.distance(placed(a), placed(b)).distance for a in group_a for b in group_b)


def walk(rng, scene, names):
    """Some stand still for ever, some now and then; steps are short, or jumps."""
    for name in names:
        if rng.random() < 0.7:
            pose = scene.pose(name).copy()
            pose[:3, 3] += rng.choice([0.01, 0.3, 2.0]) * rng.normal(size=3)
            scene.move(name, pose)


@pytest.mark.parametrize("seed", range(16))
def test_memory_does_not_change_the_answer(seed):
    rng = np.random.default_rng([seed, 31])
    scene, group_a, group_b = any_scene(rng)
    movers = [name for name in (*group_a, *group_b) if name != "ground" and rng.random() < 0.6]
    searches = [None, cl.Search(front="explicit", raising="recursive"), cl.Search(order="depth", front="implicit")]
    for _ in range(15):
        walk(rng, scene, movers)
        truth = least_distance(scene, group_a, group_b)
        for search in searches:
            found = scene.nearest(group_a, group_b, search=search)
            assert found.distance == pytest.approx(truth, abs=TOLERANCE)
            assert found.lower <= truth + TOLERANCE
            assert found.upper >= truth - TOLERANCE
        if truth <= 0.0:
            continue
        limit = truth * rng.choice([0.5, 0.99, 1.01, 2.0])
        found = scene.nearest(group_a, group_b, at_most=limit)
        if limit > truth:
            assert found.distance == pytest.approx(truth, abs=TOLERANCE)
        else:
            assert found.distance == inf
            assert found.lower > limit
