"""Doubtful pairs are computed again after the results of their group are written, which may be where they came from."""

import numpy as np

from clearance.elements import closest


def test_results_overwrote_what_was_still_to_be_read():
    points = np.tile([1.25, 1.25, 0.0], (8, 1))  # fills the lanes of any instruction set; touching, hence doubtful
    triangle = [[1.0, 1, 0], [2, 1, 0], [1, 2, 0]]
    expected = closest(points[:, None], triangle, 0.5)
    room = closest(points[:, None], triangle)
    room.normal[:] = points
    found = closest(room.normal[:, None], triangle, 0.5, out=room)
    assert np.array_equal(found.distance, expected.distance)
