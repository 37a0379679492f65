"""A solid part that was measured hid how near the surface beside it may be."""

import numpy as np
import pytest

import clearance as cl


@pytest.mark.parametrize("tolerance", [1e-3, 1e-6, np.inf])
def test_path_through_a_sheet_is_not_clear(tolerance):
    sheet = cl.Mesh([[0.0, -1.0, -1.0], [0.0, 1.0, -1.0], [0.0, 0.0, 1.5]], [[0, 1, 2]])
    mixed = cl.Compound([sheet, cl.Sphere(0.1).at([-4.0, 0.0, 0.0])])
    channel = cl.Compound([cl.Box([2.0, 0.1, 0.1]).at([0.5, y, 0.0]) for y in (0.2, -0.2)])
    along = cl.Joint("x", "prismatic", "rail", "tool", axis=[1, 0, 0])
    robot = cl.Robot([cl.Link("rail"), cl.Link("tool", cl.Sphere(0.1))], [along])
    world = {"channel": channel, "mixed": mixed.at([0.9, 0.0, 0.0])}
    report = cl.check_path(robot, world, [[0.0], [1.0]], tolerance=tolerance)
    assert not report.clear
    assert report.first_violation[0] <= 0.8
