"""Shapes from an iterator are kept, so that a second look finds them as well."""

import copy

import numpy as np

import clearance as cl


def arm(shapes):
    along = cl.Joint("x", "prismatic", "rail", "tool", axis=[1, 0, 0])
    return cl.Robot([cl.Link("rail"), cl.Link("tool", shapes)], [along])


def test_world_from_an_iterator():
    robot, q = arm(cl.Sphere(0.1)), np.zeros((5, 1))
    for how in ({}, {"chunk": 2}):
        found = cl.clearances(robot, (cl.Sphere(0.3) for _ in range(1)), q, **how)
        np.testing.assert_allclose(found.distance, -0.4)
    assert len(robot.scene([0.0], iter([cl.Sphere(0.3)])).pairs) == 1


def test_link_from_an_iterator_or_from_a_list_that_is_emptied():
    shapes = [cl.Sphere(0.1)]
    for robot in (arm(shape for shape in [cl.Sphere(0.1)]), arm(shapes)):
        shapes.clear()
        robot.attach("rail", "cup", cl.Sphere(0.01), [5.0, 0.0, 0.0])
        for one in (robot, copy.deepcopy(robot)):
            assert not cl.is_clear(one, cl.Sphere(0.3), [0.0])
