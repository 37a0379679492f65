"""Four equal points made a hull that every ray seemed to begin in."""

import numpy as np
import pytest

import clearance as cl


@pytest.mark.parametrize("points", [1, 4, 7])
def test_ray_reaches_a_hull_without_size(points):
    hits = cl.raycast(cl.ConvexHull([[0.0, 0.0, 0.0]] * points), [[5.0, 0.0, 0.0]], [[-1.0, 0.0, 0.0]])
    assert hits.distance[0] == pytest.approx(5.0, abs=1e-9)
    np.testing.assert_allclose(hits.normal[0], [1.0, 0.0, 0.0])


def test_ray_that_begins_there_has_no_way_to_go():
    assert cl.raycast(cl.ConvexHull([[0.0, 0.0, 0.0]] * 4), [[0.0, 0.0, 0.0]], [[1.0, 0.0, 0.0]]).distance[0] == 0.0
