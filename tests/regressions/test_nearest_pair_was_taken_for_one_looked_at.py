"""A box around a link reaches beyond the ball around it, so that boxes may overlap where balls are apart."""

from importlib.resources import files

import numpy as np
import pytest

import clearance as cl


def arm():
    data = files("clearance") / "data"
    return cl.Robot.from_urdf(data / "arm.urdf", srdf=data / "arm.srdf", collision="hull")


def assert_nearest_is_least(robot, world, q):
    every, found = robot.distances(q, world), cl.clearances(robot, world, q)
    assert np.array_equal(found.distance, every.distance.min(axis=1))
    assert np.array_equal(cl.is_clear(robot, world, q, margin=0.01), found.distance > 0.01)


def test_arm_over_a_table_among_other_things():
    robot, cell = arm(), cl.Scene()
    cell.add("floor", cl.HalfSpace([0, 0, 1], 0.0))
    cell.add("table", cl.Box([0.6, 1.2, 0.04]), pose=[0.65, 0.0, 0.48])
    cell.add("post", cl.Cylinder(radius=0.06, length=0.5), pose=[0.6, 0.05, 0.75])
    cell.add("lamp", [cl.Sphere(0.1), cl.Capsule(0.02, 0.5).at([0, 0, 0.3])], pose=[0.5, -0.3, 1.35])
    robot.allow("foot", "floor")
    assert_nearest_is_least(robot, cell, robot.random(20_000, seed=0))


@pytest.mark.parametrize("seed", range(8))
def test_arm_among_boxes_anywhere(seed):
    rng, robot, cell = np.random.default_rng(seed), arm(), cl.Scene()
    for k in range(6):
        axis, angle = rng.normal(size=3), rng.uniform(0.0, np.pi)
        place = cl.poses.from_axis_angle(axis, angle, translation=rng.uniform([-1, -1, 0], [1, 1, 1.5]))
        cell.add(f"box {k}", cl.Box(10.0 ** rng.uniform(-2.0, 0.0, 3)), pose=place)
    assert_nearest_is_least(robot, cell, robot.random(3000, seed=rng))
