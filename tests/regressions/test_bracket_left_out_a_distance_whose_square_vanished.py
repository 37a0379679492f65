"""The square of 1e-170 is zero: the distance may be called zero, but the bracket has to say how wrong that can be."""

from clearance.elements import closest


def test_bracket_left_out_a_distance_whose_square_vanished():
    gap = closest([[0.0, 0, 0]], [[1e-170, 0, 0]])
    assert gap.lower <= 1e-170 <= gap.upper <= 1e-70
