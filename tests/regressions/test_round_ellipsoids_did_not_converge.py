"""What is left of a ball after wearing it off is a ball, and no number of faces proved how deep two of them are."""

import numpy as np
import pytest

import clearance as cl


@pytest.mark.parametrize("radius", [1.0, 5e-8])
@pytest.mark.parametrize("longer", [0.0, 1e-12, 1e-9, 1e-6, 1e-4, 2e-3])
def test_round_ellipsoids_did_not_converge(radius, longer):
    ellipsoid = cl.Ellipsoid(radius * np.array([1.0, 1.0, 1.0 + longer]))
    for aside in [0.0, 1e-12, 1e-6, 1e-3]:
        gap = cl.distance(ellipsoid, ellipsoid.at([aside * radius, 0.0, 0.0]))
        size = 2.0 * radius * (1.0 + longer)
        assert gap.upper - gap.lower <= 1e-7 * size
        assert abs(gap.distance + (2.0 - aside) * radius) <= 1e-7 * size
