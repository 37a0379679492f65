"""Volumes of sphere-swept hulls by Steiner's formula, and how they change with the points of the core."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from math import frexp, ldexp, pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .shapes import ConvexHull

__all__ = ["swept_volume"]

Floats = NDArray[np.float64]
Indices = NDArray[np.integer]
EPS = float(np.finfo(np.float64).eps)
FLAT = 1e-12  # thinner than this share of its size, a cloud is as flat as its coordinates can tell


def swept_volume(hull: ConvexHull) -> float:
    """Compute the volume of a sphere-swept convex hull, by Steiner's formula.

    Parameters
    ----------
    hull : ConvexHull

    Returns
    -------
    float
        In cubic metres.

    Raises
    ------
    ImportError
        If SciPy is not there; up to three points do without.

    Examples
    --------
    >>> round(swept_volume(ConvexHull([[0, 0, 0], [1, 0, 0]], radius=0.5)), 9)
    1.308996939
    """
    points, radius = np.asarray(hull.points), hull.radius
    exponent = frexp(max(float(np.ptp(points, axis=0).max()), radius))[1]
    core = np.ldexp(points - points[0], -exponent)
    return ldexp(steiner_of(core).volume(ldexp(radius, -exponent)), 3 * exponent)


def import_extra(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"fitting needs {name}; get it with: pip install clearance[fit]") from error


@dataclass(frozen=True, eq=False)
class Steiner:
    """What the volume of a swept core is made of: V + S r + M r^2 + 4/3 pi r^3, with its derivatives by the points.

    Attributes
    ----------
    terms : ndarray, (3,)
        V, S and M: volume, area and integrated mean curvature of the core.
    slopes : ndarray, (3, k, 3)
    cells : ndarray of int, (f, 1 to 3)
        Points of the simplices that the surface of the core consists of.
    planes : ndarray, (f, 4)
        Normals out of the core and offsets; none if it has no inside.
    """

    terms: Floats
    slopes: Floats
    cells: Indices
    planes: Floats = field(default_factory=lambda: np.empty((0, 4)))

    def volume(self, radius: float) -> float:
        return float(np.dot([1.0, radius, radius**2], self.terms)) + 4 / 3 * pi * radius**3

    def slope(self, radius: float) -> Floats:
        """Derivatives of the volume by all coordinates, and by the radius."""
        by_points = np.tensordot([1.0, radius, radius**2], self.slopes, 1)
        by_radius = float(np.dot([0.0, 1.0, 2 * radius], self.terms)) + 4 * pi * radius**2
        return np.append(by_points, by_radius)


def steiner_of(core: Floats) -> Steiner:
    if len(core) == 1:
        return Steiner(np.zeros(3), np.zeros((3, 1, 3)), np.array([[0]]))
    if len(core) == 2:
        return _of_outline(core, np.array([0, 1]))
    if len(core) == 3:
        return _of_outline(core, np.array([0, 1, 2]))
    spatial = import_extra("scipy.spatial")
    try:
        hull = spatial.ConvexHull(core)
    except spatial.QhullError:  # flatter than rounding
        hull = None
    if hull is not None and hull.volume > FLAT * hull.area * float(np.ptp(core, axis=0).max()):
        return _of_polyhedron(core, hull)
    return _of_outline(core, outline_of(core @ principal_axes(core)[0][:2].T))


def cross(a: Floats, b: Floats) -> Floats:
    """As `numpy.cross`, which takes five times as long for few vectors."""
    (a0, a1, a2), (b0, b1, b2) = np.moveaxis(a, -1, 0), np.moveaxis(b, -1, 0)
    return np.stack([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0], axis=-1)


def principal_axes(points: Floats) -> tuple[Floats, Floats]:
    """Principal axes as rows, the longest first, and how wide the points are along each."""
    centred = points - points.mean(axis=0)
    axes: Floats = np.linalg.svd(centred, full_matrices=len(points) < 3)[2]
    return axes, np.ptp(centred @ axes.T, axis=0)


def outline_of(flat: Floats) -> Indices:
    """Corners of the convex polygon around points (n, 2), in turn; two, if they lie on a line."""
    width = np.ptp(flat, axis=0)
    if width[1] > FLAT * width[0]:
        spatial = import_extra("scipy.spatial")
        try:
            corners: Indices = spatial.ConvexHull(flat).vertices
            return corners
        except spatial.QhullError:
            pass
    return np.array([np.argmin(flat[:, 0]), np.argmax(flat[:, 0])])


def _of_outline(core: Floats, corners: Indices) -> Steiner:
    """A flat core has two sides; its outline bends by half a turn."""
    terms, slopes = np.zeros(3), np.zeros((3, *core.shape))
    first, second = corners, np.roll(corners, -1)
    _add_lengths(core, np.stack([first, second], axis=1), np.full(len(corners), pi / 2), terms, slopes)
    if len(corners) == 2:
        return Steiner(terms, slopes, corners[None])
    fan = np.stack([np.full(len(corners) - 2, corners[0]), corners[1:-1], corners[2:]], axis=1)
    _add_areas(core, fan, 2.0, terms, slopes)
    return Steiner(terms, slopes, fan)


def _of_polyhedron(core: Floats, hull: Any) -> Steiner:
    terms, slopes = np.zeros(3), np.zeros((3, *core.shape))
    cells, normals = hull.simplices, hull.equations[:, :3]
    a, b, c = (core[cells[:, k]] for k in range(3))
    is_turned = (cross(b - a, c - a) * normals).sum(axis=1) < 0.0
    outward = np.where(is_turned[:, None], cells[:, ::-1], cells)
    _add_areas(core, outward, 1.0, terms, slopes)
    origin = core.mean(axis=0)
    a, b, c = (core[outward[:, k]] - origin for k in range(3))
    for corner, across in enumerate((cross(b, c), cross(c, a), cross(a, b))):
        np.add.at(slopes[0], outward[:, corner], across / 6)
    terms[0] = (a * cross(b, c)).sum() / 6
    # Neighbour k of a triangle lies across from its corner k, so every edge is met twice. As the core moves, the sum
    # of lengths times changes of angles stays zero (Schläfli), so only changes of lengths are left in the slope of M.
    others = normals[hull.neighbors]
    sine = np.linalg.norm(cross(normals[:, None], others), axis=2)
    bend = np.arctan2(sine, (normals[:, None] * others).sum(axis=2))
    edges = np.stack([np.roll(cells, -1, axis=1), np.roll(cells, -2, axis=1)], axis=2)
    _add_lengths(core, edges.reshape(-1, 2), 0.25 * bend.reshape(-1), terms, slopes)
    return Steiner(terms, slopes, cells, hull.equations)


def _add_lengths(core: Floats, edges: Indices, weights: Floats, terms: Floats, slopes: Floats) -> None:
    along = core[edges[:, 1]] - core[edges[:, 0]]
    length = np.linalg.norm(along, axis=1)
    pull = along * (weights / np.maximum(length, EPS))[:, None]
    terms[2] += weights @ length
    np.add.at(slopes[2], edges[:, 1], pull)
    np.add.at(slopes[2], edges[:, 0], -pull)


def _add_areas(core: Floats, cells: Indices, sides: float, terms: Floats, slopes: Floats) -> None:
    a, b, c = (core[cells[:, k]] for k in range(3))
    across = cross(b - a, c - a)
    double = np.linalg.norm(across, axis=1)
    normals = across / np.maximum(double, EPS**2)[:, None]
    terms[1] += 0.5 * sides * double.sum()
    for corner, opposite in enumerate((c - b, a - c, b - a)):
        np.add.at(slopes[1], cells[:, corner], 0.5 * sides * cross(normals, opposite))
