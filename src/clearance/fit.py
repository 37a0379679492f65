"""Sphere-swept hulls of few points around many: the bodies of a robot, as small as they can be made.

After Täubig, Bäuml and Frese (2011), section V-B: the volume is minimised by linear programs within a step size. Here
its derivatives are exact, and a kink of it, where four corners share a face, is a row of the program for each side.
Whatever the optimisation does, the radius is measured last and with a proof, so the points are always inside.
It needs SciPy: `pip install clearance[fit]`.
"""

from __future__ import annotations

from math import frexp, ldexp
from operator import index

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import NotConverged
from .fit_cores import small_cores
from .poses import as_floats
from .queries import distance
from .shapes import ConvexHull, SweptPoint
from .smallest_ball import smallest_ball
from .steiner import swept_volume

__all__ = ["fit_swept_hull", "swept_volume"]

Floats = NDArray[np.float64]
Indices = NDArray[np.integer]

EPS = float(np.finfo(np.float64).eps)
LARGEST = 1e30  # what shapes refuse
THIN = 1e-8  # how closely a core that is hard to measure is measured, as a share of its size


def fit_swept_hull(points: ArrayLike, n_points: int, *, seed: int = 0) -> ConvexHull:
    """Fit the convex hull of a few points, swept by a ball, around many points: of small volume, none left outside.

    One point gives the smallest ball. For more it is a local search from many starts. The order of the points and
    their unit of length make no difference; another frame makes little.

    Parameters
    ----------
    points : array_like, (m, 3)
        In metres: the vertices of a mesh, say. Its convex hull is what is contained.
    n_points : int
        How many points the hull may have; it has fewer where more would not help.
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
    """
    given, count = _checked(points, n_points)
    # A power of two changes no digit, and keeps squares and cubes in range.
    exponent = frexp(float(np.abs(given).max()))[1]
    cloud = np.unique(np.ldexp(given, -exponent), axis=0)
    centre = smallest_ball(cloud)
    cores: list[Floats] = [centre[None]]
    if count > 1 and len(cloud) > 1:
        cores += small_cores(cloud, centre, count, seed)
    fits = [ConvexHull(core, _radius(core, cloud)) for core in cores]
    best = min(fits, key=swept_volume) if len(fits) > 1 else fits[0]
    return ConvexHull(np.ldexp(best.points, exponent), ldexp(best.radius, exponent))


def _checked(points: ArrayLike, n_points: int) -> tuple[Floats, int]:
    array = as_floats(points, "points")
    if array.ndim != 2 or array.shape[1] != 3 or not len(array):
        raise ValueError(f"points must have shape (m, 3) with m > 0, but it has {array.shape}.")
    usable = np.abs(array) < LARGEST  # nor is NaN
    if not usable.all():
        row = int(np.argmin(usable.all(axis=1)))
        found = tuple(array[row].tolist())
        raise ValueError(f"points[{row}] must be finite and below {LARGEST:g}, but it is {found}.")
    try:
        count = index(n_points)
    except TypeError as error:
        raise ValueError(f"n_points must be an integer, but it is {n_points!r}.") from error
    if count < 1:
        raise ValueError(f"n_points must be 1 or more, but it is {count}.")
    return array, count


def _radius(core: Floats, cloud: Floats) -> float:
    """How far the core must be swept to contain a cloud: proved, and with room for the rounding of coordinates."""
    is_corner = (cloud[:, None] == core).all(axis=2).any(axis=1)  # contained without any sweep
    others = cloud[~is_corner]
    if not len(others):
        return 0.0
    poses = np.tile(np.eye(4), (len(others), 1, 1))
    poses[:, :3, 3] = others
    points, hull = SweptPoint(np.zeros(3), 0.0).at(poses), ConvexHull(core)
    try:
        away = distance(points, hull)
    except NotConverged:  # a core as thin as paper; a wider bracket is a bracket still
        away = distance(points, hull, tolerance=THIN)
    return max(float(away.upper.max()), 0.0) + 8 * EPS * float(np.abs(cloud).max())
