"""Without a size of its own a pair is uncertain only by the rounding of its coordinates: 8 eps of their length."""

import numpy as np

from clearance.elements import closest


def test_bracket_of_two_points_was_wider_than_promised():
    gap = closest([[-1.0, -1.0, -1.0]], [[1.0, 1.0, 1.0]])
    assert gap.upper - gap.lower <= 8 * np.finfo(float).eps * np.sqrt(3)
