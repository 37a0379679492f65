"""Of directions that separate equally well, one was taken that the closest points do not lie along."""

import oracles
from clearance.elements import closest


def test_witness_beside_parallel_faces_left_the_surface():
    a = [[0.0, 0, 0], [-1, 1, 0], [-1, -1, 0]]
    b = [[8.0, 1, 1], [7 + 3e-8, 9, 1], [11, 2, 1]]
    gap = closest(a, b)
    assert oracles.witness_error(gap.point_a, a, 0) <= 1e-12
    assert oracles.witness_error(gap.point_b, b, 0) <= 1e-12
