"""Sphere-swept hulls of few points around many: the bodies of a robot, as small as they can be made.

After Täubig, Bäuml and Frese (2011), section V-B: the volume is minimised by linear programs within a step size. Here
its derivatives are exact, and a kink of it, where four corners share a face, is a row of the program for each side.
Whatever the optimisation does, the radius is measured last and with a proof, so the points are always inside.
It needs SciPy: `pip install clearance[fit]`.
"""

from __future__ import annotations

from math import frexp, inf, ldexp
from operator import index
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import NotConverged
from .fit_cores import SmallCores
from .poses import as_floats
from .queries import distance
from .shapes import ConvexHull, SweptPoint
from .smallest_ball import smallest_ball
from .steiner import swept_volume

__all__ = ["fit_swept_hull", "swept_volume"]

Floats = NDArray[np.float64]
Count: TypeAlias = int | Literal["auto"]

EPS = float(np.finfo(np.float64).eps)
LARGEST = 1e30  # what shapes refuse
THIN = 1e-8  # how closely a core that is hard to measure is measured, as a share of its size

# What "auto" tries, how much smaller a body each point must make, and how much thicker bodies are for that comparison,
# as a share of the size of the cloud: flat ones have no volume, but are compared by their areas then.
COUNTS = (1, 2, 3, 4, 6, 8, 10, 12)
WORTH = 0.03
THICKER = 1e-6


def fit_swept_hull(points: ArrayLike, n_points: Count = "auto", *, seed: int = 0) -> ConvexHull:
    """Fit the convex hull of a few points, swept by a ball, around many points: of small volume, none left outside.

    One point gives the smallest ball. For more it is a local search from many starts. The order of the points and
    their unit of length make no difference; another frame makes little.

    Parameters
    ----------
    points : array_like, (m, 3)
        In metres: the vertices of a mesh, say. Its convex hull is what is contained.
    n_points : int or "auto"
        How many points the hull may have; it has fewer where more would not help. "auto" fits hulls of up to twelve
        points and takes the one with the least volume times 1.03 to the power of its number of points: each point has
        to make the volume three percent smaller. That takes as long as half a dozen fits.
    seed : int
        Of the starts that are drawn at random.

    Returns
    -------
    ConvexHull

    Raises
    ------
    ImportError
        If SciPy is not there; one point does without.

    Examples
    --------
    >>> corners = [[x, y, z] for x in (0, 4) for y in (0, 2) for z in (0, 1)]
    >>> ball = fit_swept_hull(corners, 1)
    >>> ball.points.round(9).tolist(), round(ball.radius, 9)
    ([[2.0, 1.0, 0.5]], 2.291287847)
    >>> [round(swept_volume(fit_swept_hull(corners, n)), 1) for n in (1, 2, 8)]
    [50.4, 20.7, 8.0]
    >>> len(fit_swept_hull(corners, "auto").points)
    8
    """
    given, count = _checked(points, n_points)
    # A power of two changes no digit, and keeps squares and cubes in range.
    exponent = frexp(float(np.abs(given).max()))[1]
    cloud = np.unique(np.ldexp(given, -exponent), axis=0)
    centre = smallest_ball(cloud)
    search = SmallCores(cloud, centre, seed)
    best = _worthwhile(cloud, search) if count == "auto" else _smallest(cloud, search, count)
    return ConvexHull(np.ldexp(best.points, exponent), ldexp(best.radius, exponent))


def _smallest(cloud: Floats, search: SmallCores, count: int) -> ConvexHull:
    cores = [search.centre[None]]
    if count > 1 and len(cloud) > 1:
        cores += search.of(count)
    fits = [_swept(core, cloud) for core in cores]
    return min(fits, key=swept_volume) if len(fits) > 1 else fits[0]


def _worthwhile(cloud: Floats, search: SmallCores) -> ConvexHull:
    """Take the hull that is small for its number of points. None is tried that the convex hull itself could not be."""
    thicker = THICKER * float(np.ptp(cloud, axis=0).max())
    best, best_cost = _swept(search.centre[None], cloud), inf
    if thicker == 0.0:
        return best
    least = swept_volume(ConvexHull(cloud, thicker))
    for count in COUNTS:
        if least * (1 + WORTH) ** count >= best_cost:
            break
        for core in search.of(count) if count > 1 else [search.centre[None]]:
            hull = _swept(core, cloud)
            cost = swept_volume(ConvexHull(core, hull.radius + thicker)) * (1 + WORTH) ** len(core)
            if cost < best_cost:
                best, best_cost = hull, cost
    return best


def _checked(points: ArrayLike, n_points: Count) -> tuple[Floats, Count]:
    array = as_floats(points, "points")
    if array.ndim != 2 or array.shape[1] != 3 or not len(array):
        raise ValueError(f"points must have shape (m, 3) with m > 0, but it has {array.shape}.")
    usable = np.abs(array) < LARGEST  # nor is NaN
    if not usable.all():
        row = int(np.argmin(usable.all(axis=1)))
        found = tuple(array[row].tolist())
        raise ValueError(f"points[{row}] must be finite and below {LARGEST:g}, but it is {found}.")
    return array, as_count(n_points)


def as_count(n_points: Count) -> Count:
    """Read how many points a hull may have."""
    if isinstance(n_points, str) and n_points == "auto":
        return "auto"
    try:
        count = index(n_points)
    except TypeError as error:
        raise ValueError(f"n_points must be an integer or 'auto', but it is {n_points!r}.") from error
    if count < 1:
        raise ValueError(f"n_points must be 1 or more, but it is {count}.")
    return count


def _swept(core: Floats, cloud: Floats) -> ConvexHull:
    """Sweep a core as far as it must be to contain a cloud: proved, and with room for the rounding of coordinates."""
    is_corner = (cloud[:, None] == core).all(axis=2).any(axis=1)  # contained without any sweep
    others = cloud[~is_corner]
    if not len(others):
        return ConvexHull(core)
    return ConvexHull(core, float(farthest(core, others).max()) + 8 * EPS * float(np.abs(cloud).max()))


def farthest(core: Floats, cloud: Floats) -> Floats:
    """How far points are from the convex hull of a core, at most; zero inside."""
    poses = np.tile(np.eye(4), (len(cloud), 1, 1))
    poses[:, :3, 3] = cloud
    points, hull = SweptPoint(np.zeros(3), 0.0).at(poses), ConvexHull(core)
    try:
        away = distance(points, hull)
    except NotConverged:  # a core as thin as paper; a wider bracket is a bracket still
        away = distance(points, hull, tolerance=THIN)
    outside: Floats = np.maximum(away.upper, 0.0)
    return outside
