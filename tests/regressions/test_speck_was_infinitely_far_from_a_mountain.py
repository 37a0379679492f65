"""Floats overflowed in units of the smaller one, and triangles of its leaves were ruled out by an infinite bound."""

import numpy as np
import pytest

import clearance as cl

CORNERS = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
FACES = [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]
MOUNTAINS = {
    "box": cl.Box([800.0, 800.0, 10.0]),
    "rounded hull": cl.ConvexHull(400.0 * CORNERS, radius=90.0),
    "mesh": cl.Mesh(400.0 * CORNERS, FACES),
    "cloud": cl.PointCloud(400.0 * CORNERS, radius=1.0),
}


@pytest.mark.parametrize("mountain", MOUNTAINS.values(), ids=MOUNTAINS)
def test_speck_was_infinitely_far_from_a_mountain(mountain):
    rng = np.random.default_rng(0)
    poses = cl.poses.from_rpy(rng.uniform(-3.0, 3.0, (200, 3)), translation=rng.uniform(-900.0, 900.0, (200, 3)))
    point = cl.SweptPoint([0.0, 0.0, 0.0], 0.0)
    for size in [1e-12, 1e-16, 1e-17, 1e-18, 1e-19, 1e-40]:
        speck = cl.Mesh(size * CORNERS, FACES)
        truth = np.maximum(cl.distance(mountain, point.at(poses)).distance, 0.0)  # a surface is met and no more
        assert np.allclose(cl.distance(mountain, speck.at(poses)).distance, truth, rtol=0.0, atol=1e-9)
        assert np.allclose(cl.distance(speck.at(poses), mountain).distance, truth, rtol=0.0, atol=1e-9)
