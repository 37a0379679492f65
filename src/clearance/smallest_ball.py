"""The smallest ball around points, exactly."""

from __future__ import annotations

import itertools
from math import inf

import numpy as np
from numpy.typing import NDArray

__all__: list[str] = []

Floats = NDArray[np.float64]
EPS = float(np.finfo(np.float64).eps)


def smallest_ball(cloud: Floats) -> Floats:
    """Find the centre of the smallest ball around a cloud.

    The farthest point joins the few that the ball rests on, and the ball grows, until nothing sticks out.
    """
    size = float(np.ptp(cloud, axis=0).max())
    support: Floats = cloud[:1]
    centre: Floats = cloud[0]
    radius = 0.0
    while True:
        far = np.linalg.norm(cloud - centre, axis=1)
        worst = int(np.argmax(far))
        if far[worst] <= radius + 4 * EPS * size:
            return centre
        support, next_centre, next_radius = _ball_of_few(np.vstack([support, cloud[worst]]))
        if next_radius <= radius:  # rounding has the last word
            return centre
        centre, radius = next_centre, next_radius


def _ball_of_few(points: Floats) -> tuple[Floats, Floats, float]:
    """The smallest ball of up to five points, and which of them it rests on: one of all that rest on two to four."""
    room = 1e-12 * float(np.ptp(points, axis=0).max())
    best: tuple[Floats, Floats, float] = (points, points[0], inf)
    for count in range(2, min(len(points), 4) + 1):
        for chosen in itertools.combinations(range(len(points)), count):
            support = points[list(chosen)]
            edges = support[1:] - support[0]
            offset = np.linalg.lstsq(edges, 0.5 * (edges**2).sum(axis=1), rcond=None)[0]
            centre = support[0] + offset
            radius = float(np.linalg.norm(support - centre, axis=1).max())
            if radius < best[2] - room and np.linalg.norm(points - centre, axis=1).max() <= radius + room:
                best = support, centre, radius
    return best
