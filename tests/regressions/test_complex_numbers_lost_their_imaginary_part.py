"""Complex coordinates were cast to real ones with no more than a warning."""

import numpy as np
import pytest

from clearance import Sphere, SweptPoint
from clearance.elements import closest

IMAGINARY = np.array([1j, 0, 0])


@pytest.mark.filterwarnings("ignore:Casting complex values")
@pytest.mark.parametrize(
    "use",
    [
        lambda: closest(IMAGINARY[None], [[1.0, 0, 0]]),
        lambda: closest([[0.0, 0, 0]], [[1.0, 0, 0]], radius_a=IMAGINARY),
        lambda: SweptPoint(IMAGINARY, 1.0),
        lambda: Sphere(1.0).at(IMAGINARY),
        lambda: Sphere(1.0).at(np.eye(4) + 1j),
    ],
    ids=["core", "radius", "point", "translation", "pose"],
)
def test_complex_numbers_lost_their_imaginary_part(use):
    with pytest.raises((TypeError, ValueError)):
        use()
