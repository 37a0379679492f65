"""A segment that slid off a face over a parallel edge met that edge in the middle, and then suddenly at its corner."""

import numpy as np

from clearance.elements import closest

TRIANGLE = [[0.0, 0, 0], [1, 0, 0], [0, 1, 0]]


def test_witness_jumped_to_a_corner_beside_a_parallel_edge():
    above_the_edge = np.array([[0.5, 0.5, 0.5], [1.0, 0.0, 0.5]])
    before, after = closest(TRIANGLE, above_the_edge), closest(TRIANGLE, above_the_edge + np.array([0.001, 0, 0]))
    assert np.allclose(before.point_a, [0.75, 0.25, 0])
    assert np.linalg.norm(after.point_a - before.point_a) <= 0.01
