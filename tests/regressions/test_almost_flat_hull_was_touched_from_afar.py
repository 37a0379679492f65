"""The side of a hull that is not quite plane was taken for a plane: contacts were deeper than the bodies overlap."""

import numpy as np

import clearance as cl


def test_contacts_are_no_deeper_than_the_gap():
    rng = np.random.default_rng(1)
    touching = 0
    for _ in range(600):
        bulge, size = 10.0 ** rng.uniform(-6.0, -3.0), 10.0 ** rng.uniform(-3.0, 0.0)
        turn, radius = rng.uniform(0.0, 2.0 * np.pi, 30), 1.25 * np.sqrt(rng.uniform(size=30))
        heights = bulge * rng.uniform(-1.0, 1.0, 30)
        hull = cl.ConvexHull(np.stack([radius * np.cos(turn), radius * np.sin(turn), heights], axis=1))
        other = cl.Box([size] * 3).at([*rng.uniform(-0.8, 0.8, 2), 0.5 * size + bulge * rng.uniform(-1.5, 0.5)])
        gap, found = cl.distance(hull, other), cl.contacts(hull, other)
        if len(found) > 0:
            touching += 1
            assert np.max(found.depths) <= -gap.distance + 1e-9
    assert touching > 100
