"""Balls that roll along the side of a nearly flat cone are large, and points found by them as uncertain."""

import numpy as np

import clearance as cl

CONE = cl.Cone(0.40539689249997762, 2 * 0.0035645813613044267).at(
    [
        [-0.45872563604528366, -0.82794264414105323, 0.32261706223876441, 0],
        [0.80309594835138542, -0.23092550607201459, 0.54928162939149217, 0],
        [-0.38027317625154478, 0.5110620203635805, 0.77084883262897663, 0],
        [0, 0, 0, 1],
    ]
)
SPECK = cl.Cylinder(1.2948208619710036e-05, 2 * 1.9057790286471329e-05).at(
    [
        [-0.71985466873019788, -0.69252787267312477, 0.047057427449585687, -0.05818400345715951],
        [0.59123493982952446, -0.64725848302737665, -0.48114208096348987, 0.33584628874495948],
        [0.36366262088935564, -0.31853037801744299, 0.87537871601264605, -0.219076508684272],
        [0, 0, 0, 1],
    ]
)


def test_brackets_meet_in_both_orders():
    one, other = cl.distance(CONE, SPECK), cl.distance(SPECK, CONE)
    assert max(one.lower, other.lower) <= min(one.upper, other.upper)
    np.testing.assert_allclose(one.distance, other.distance, rtol=0, atol=1e-9 * 0.4)
