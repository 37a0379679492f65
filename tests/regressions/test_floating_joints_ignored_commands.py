"""Braking intervals of floating joints left out the acceleration that is commanded."""

import numpy as np

import clearance as cl

DRONE = cl.Robot([cl.Link("world"), cl.Link("drone", cl.Sphere(0.1))], [cl.Joint("free", "floating", "world", "drone")])
BRAKING = cl.Braking(latency=0.1, acceleration=1.0, deceleration=10.0)


def test_a_strong_command_makes_a_wide_interval():
    low, high = BRAKING.intervals(DRONE, DRONE.neutral, np.zeros(6), command=[100.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    assert high[0] >= 100.0 * 0.1**2 / 2 + (100.0 * 0.1) ** 2 / (2 * 10.0)
    assert low[0] <= 0.0


def test_no_command_at_all_makes_a_narrow_one():
    unknown = BRAKING.intervals(DRONE, DRONE.neutral, np.zeros(6))[1][0]
    known = BRAKING.intervals(DRONE, DRONE.neutral, np.zeros(6), command=np.zeros(6))[1][0]
    assert known == 0.0 < unknown
