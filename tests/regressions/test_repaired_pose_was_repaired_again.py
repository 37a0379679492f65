"""A rotation that had been replaced by the nearest one was not yet as good as a second repair made it.

So placing a shape again where it stands moved it by an eps, and a batch gave other bits when it was broadcast.
"""

import numpy as np

from clearance import Sphere

CROOKED = [
    [-0.7317761771920863, -0.24504510321103892, 0.6359689024598117, 0.0],
    [-0.6813381641947965, 0.2400206712465144, -0.6914971458798085, 0.0],
    [0.016802469434351708, -0.9393308674568545, -0.3426001627379902, 0.0],
    [0.0, 0.0, 0.0, 1.0],
]


def test_repaired_pose_was_repaired_again():
    once = Sphere(1.0).at(CROOKED).pose
    assert np.array_equal(Sphere(1.0).at(once).pose, once)
