"""One surface that was proved by a hair kept the next one from being measured as far as needed."""

import numpy as np
import pytest

import clearance as cl


def corner(lift):
    low, high = lift - 0.1, lift + 0.1
    vertices = [[x, y, z] for z in (low, high) for x, y in ((1.0, -1.0), (1.0, 1.0), (-1.0, 1.0))]
    return cl.Mesh(vertices, [[0, 1, 4], [0, 4, 3], [1, 2, 5], [1, 5, 4]])


@pytest.mark.parametrize("tolerance", [1e-3, np.inf])
@pytest.mark.parametrize("path", [[[0.3]], [[0.3], [0.3]], [[0.0], [0.3], [0.3], [0.0]]])
def test_path_far_from_everything_is_clear(path, tolerance):
    along = cl.Joint("x", "prismatic", "rail", "tool", axis=[1, 0, 0])
    robot = cl.Robot([cl.Link("rail"), cl.Link("tool", cl.Sphere(0.1))], [along])
    report = cl.check_path(robot, [corner(0.0), corner(0.05), corner(0.02)], path, tolerance=tolerance)
    assert report.clear
    assert report.first_violation is None
