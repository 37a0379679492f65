"""Volumes of sphere-swept hulls by Steiner's formula, and how they change with the points of the core."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from functools import cached_property
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


def import_extra(name: str, what: str = "fitting", extra: str = "fit") -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"{what} needs {name}; get it with: pip install clearance[{extra}]") from error


@dataclass(frozen=True, eq=False)
class Steiner:
    """What the volume of a swept core is made of: V + S r + M r^2 + 4/3 pi r^3, with its derivatives by the points.

    Attributes
    ----------
    core : ndarray, (k, 3)
    cells : ndarray of int, (f, 1 to 3)
        Points of the simplices that the surface of the core consists of. Triangles of a core with an inside go round
        counterclockwise, seen from outside.
    edges : ndarray of int, (e, 2)
    bends : ndarray, (e,)
        How much of M there is for a unit of length of each edge.
    planes : ndarray, (f, 4)
        Normals out of the core and offsets; none if it has no inside.
    """

    core: Floats
    cells: Indices
    edges: Indices
    bends: Floats
    planes: Floats = field(default_factory=lambda: np.empty((0, 4)))

    @cached_property
    def terms(self) -> tuple[float, float, float]:
        """V, S and M: volume, area and integrated mean curvature of the core."""
        area = 0.5 * self._sides * float(self._double_areas.sum())
        curvature = float(self.bends @ _lengths(self._along)) if len(self.edges) else 0.0
        return self._inside, area, curvature

    @cached_property
    def slopes(self) -> Floats:
        """Derivatives of V, S and M by the points, (3, k, 3)."""
        slopes = np.zeros((3, *self.core.shape))
        if len(self.edges):
            pull = self._along * (self.bends / np.maximum(_lengths(self._along), EPS))[:, None]
            np.add.at(slopes[2], self.edges[:, 1], pull)
            np.subtract.at(slopes[2], self.edges[:, 0], pull)
        if self.cells.shape[1] == 3:
            a, b, c = self._corners
            normals = self._across / np.maximum(self._double_areas, EPS**2)[:, None]
            opposite = np.stack([c - b, a - c, b - a])
            np.add.at(slopes[1], self.cells.T, 0.5 * self._sides * cross(normals, opposite))
        if len(self.planes):
            np.add.at(slopes[0], self.cells.T, cross(np.stack([b, c, a]), np.stack([c, a, b])) / 6)
        return slopes

    def volume(self, radius: float) -> float:
        inside, area, curvature = self.terms
        return inside + area * radius + curvature * radius**2 + 4 / 3 * pi * radius**3

    def slope(self, radius: float) -> Floats:
        """Derivatives of the volume by all coordinates, and by the radius."""
        by_points = self.slopes[0] + radius * self.slopes[1] + radius**2 * self.slopes[2]
        by_radius = self.terms[1] + 2 * radius * self.terms[2] + 4 * pi * radius**2
        return np.append(by_points, by_radius)

    @property
    def _sides(self) -> float:
        return 1.0 if len(self.planes) else 2.0

    @property
    def _inside(self) -> float:
        a = self._corners[0]
        return float((a * self._across).sum()) / 6 if len(self.planes) else 0.0

    @cached_property
    def _corners(self) -> Floats:
        """Corners of the triangles, (3, f, 3), from the middle of the core."""
        corners: Floats = (self.core - self.core.mean(axis=0))[self.cells.T]
        return corners

    @cached_property
    def _across(self) -> Floats:
        a, b, c = self._corners
        return cross(b - a, c - a)

    @cached_property
    def _double_areas(self) -> Floats:
        return _lengths(self._across) if self.cells.shape[1] == 3 else np.zeros(1)

    @cached_property
    def _along(self) -> Floats:
        along: Floats = self.core[self.edges[:, 1]] - self.core[self.edges[:, 0]]
        return along


def steiner_of(core: Floats) -> Steiner:
    if len(core) == 1:
        return Steiner(core, np.array([[0]]), np.empty((0, 2), dtype=np.intp), np.empty(0))
    if len(core) <= 3:
        return _of_outline(core, np.arange(len(core)))
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
    a0, a1, a2, b0, b1, b2 = a[..., 0], a[..., 1], a[..., 2], b[..., 0], b[..., 1], b[..., 2]
    first = a1 * b2 - a2 * b1
    across: Floats = np.empty((*first.shape, 3))
    across[..., 0], across[..., 1], across[..., 2] = first, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0
    return across


def _lengths(vectors: Floats) -> Floats:
    lengths: Floats = np.sqrt((vectors**2).sum(axis=-1))
    return lengths


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
    edges = np.stack([corners, np.roll(corners, -1)], axis=1)
    bends = np.full(len(corners), pi / 2)
    if len(corners) == 2:
        return Steiner(core, corners[None], edges, bends)
    fan = np.stack([np.full(len(corners) - 2, corners[0]), corners[1:-1], corners[2:]], axis=1)
    return Steiner(core, fan, edges, bends)


def _of_polyhedron(core: Floats, hull: Any) -> Steiner:
    cells, normals = hull.simplices, hull.equations[:, :3]
    a, b, c = core[cells.T]
    is_turned = (cross(b - a, c - a) * normals).sum(axis=1) < 0.0
    outward = np.where(is_turned[:, None], cells[:, ::-1], cells)
    # Neighbour k of a triangle lies across from its corner k, so every edge is met twice. As the core moves, the sum
    # of lengths times changes of angles stays zero (Schläfli), so only changes of lengths are left in the slope of M.
    others = normals[hull.neighbors]
    bends = np.arctan2(_lengths(cross(normals[:, None], others)), (normals[:, None] * others).sum(axis=2))
    edges = cells[:, [[1, 2], [2, 0], [0, 1]]]
    return Steiner(core, outward, edges.reshape(-1, 2), 0.25 * bends.reshape(-1), hull.equations)
