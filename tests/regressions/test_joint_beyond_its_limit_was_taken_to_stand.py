"""A joint beyond a limit that still moved on was taken to stop dead, and the guard let it."""

import numpy as np

import clearance as cl

ON_RAIL = cl.Robot(
    [cl.Link("rail"), cl.Link("cart", cl.Sphere(0.1))],
    [cl.Joint("x", "prismatic", "rail", "cart", axis=[1, 0, 0], lower=-1.0, upper=0.0)],
)
SLOW = cl.Braking(deceleration=1.0)


def test_a_joint_beyond_its_limit_goes_on_until_it_has_braked():
    _, high = SLOW.intervals(ON_RAIL, [0.1], [1.0])
    assert high[0] > 0.1 + 0.5


def test_the_guard_stops_it():
    guard = cl.Guard(ON_RAIL, {"ball": cl.Sphere(0.1).at([0.35, 0.0, 0.0])}, braking=SLOW)
    assert guard.update([0.1], [1.0]).stop


def test_a_joint_at_its_limit_may_go_back():
    low, high = SLOW.intervals(ON_RAIL, [0.0], [-1.0])
    assert high[0] == 0.0
    assert np.isclose(low[0], -0.012 - 1.2**2 / 2 + 0.001)
