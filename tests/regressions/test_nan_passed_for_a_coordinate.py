"""The largest coordinate of a point lost a NaN on its way, so the point was taken for one at the origin."""

import numpy as np
import pytest

from clearance import Compound, SweptPoint, SweptSegment, SweptTriangle


@pytest.mark.parametrize("k", range(3))
def test_nan_passed_for_a_coordinate(k):
    p = np.zeros(3)
    p[k] = np.nan
    for make in (
        lambda: SweptPoint(p, 1.0),
        lambda: SweptSegment(p, np.ones(3), 1.0),
        lambda: SweptTriangle(np.ones(3), p, np.zeros(3), 1.0),
        lambda: Compound([SweptPoint(p, 1.0)]),
    ):
        with pytest.raises(ValueError, match="finite"):
            make()
