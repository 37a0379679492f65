"""The prism around a cylinder receded from a wall while the cylinder itself came nearer: the guard let it."""

import pytest

import clearance as cl


@pytest.mark.parametrize("speed", [-1.0, 1.0])
def test_what_is_only_around_a_part_does_not_recede_for_it(speed):
    at = cl.poses.from_axis_angle([0, 0, 1], 0.44178646691106466, translation=[0, 0.15, 0])
    turn = cl.Joint("turn", "revolute", "post", "drum")
    robot = cl.Robot([cl.Link("post"), cl.Link("drum", cl.Cylinder(0.5, 0.4).at(at))], [turn])
    verdict = cl.Guard(robot, {"wall": cl.HalfSpace([-1, 0, 0], -0.501)}, budget=None).update([0.0], [speed])
    assert verdict.reason == "pair"
