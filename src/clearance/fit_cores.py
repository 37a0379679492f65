"""Cores of small hulls: where the search for them begins, and which of its ways it follows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import inf, pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .elements import closest
from .fit_search import Try, descend, distances_from
from .polygons import polygon_around, polygon_or_less
from .steiner import FLAT, cross, import_extra, outline_of, principal_axes

__all__: list[str] = []

Floats = NDArray[np.float64]

MOST_CORNERS = 400  # more of them take part once they stick out
RANDOM_STARTS = 20
RELOCATIONS = 2


@dataclass(frozen=True, eq=False)
class SmallCores:
    """Cores that make small hulls around a cloud: what is the same for any number of points is found once."""

    cloud: Floats
    centre: Floats
    seed: int

    def of(self, count: int) -> list[Floats]:
        """Cores of two and of `count` points, which must be two or more."""
        if self._is_flat:
            # A flat cloud has a hull without volume, unless it may have two points only.
            corners = outline_of(self._flat)
            if len(corners) <= count:
                return [self.cloud[corners]]
            if count > 2:
                return [self._origin + polygon_around(self._flat[corners], count) @ self._principal[0][:2]]
        elif len(self._vertices) <= count:
            return [self._vertices]
        cores = [self._capsule]
        if count > 2:
            cores.append(search_core(self._local, self._few, count, self.seed, self._capsule))
        return [self.centre + self._size * core @ self._axes for core in cores]

    @cached_property
    def _principal(self) -> tuple[Floats, Floats]:
        return principal_axes(self.cloud)

    @cached_property
    def _origin(self) -> Floats:
        origin: Floats = self.cloud.mean(axis=0)
        return origin

    @property
    def _is_flat(self) -> bool:
        widths = self._principal[1]
        return bool(widths[2] <= FLAT * widths[0])

    @property
    def _flat(self) -> Floats:
        return (self.cloud - self._origin) @ self._principal[0][:2].T

    @cached_property
    def _hull(self) -> Any:
        return import_extra("scipy.spatial").ConvexHull(self.cloud)

    @cached_property
    def _vertices(self) -> Floats:
        return self.cloud[outline_of(self._flat) if self._is_flat else self._hull.vertices]

    @cached_property
    def _axes(self) -> Floats:
        if not self._is_flat:
            return _axes_of_surface(self.cloud[self._hull.simplices])
        first, second = self._principal[0][:2]
        return np.stack([first, second, cross(first, second)])

    @cached_property
    def _size(self) -> float:
        return float(np.linalg.norm(self._vertices - self.centre, axis=1).max())

    @cached_property
    def _local(self) -> Floats:
        return (self._vertices - self.centre) @ self._axes.T / self._size

    @cached_property
    def _few(self) -> Floats:
        return outermost(self._local, MOST_CORNERS)

    @cached_property
    def _capsule(self) -> Floats:
        return search_core(self._local, self._few, 2, self.seed)


def _axes_of_surface(triangles: Floats) -> Floats:
    """Principal axes of a closed surface, as rows: however finely it is meshed, they stay the same."""
    middles = triangles.mean(axis=1)
    areas = np.linalg.norm(cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]), axis=1)
    centre = areas @ middles / areas.sum()
    # The integral of squares over a triangle, as a sum over its corners and nine times its middle.
    spread = np.concatenate([triangles, 3.0 * middles[:, None] - 2.0 * centre], axis=1) - centre
    moments = np.einsum("f,fki,fkj->ij", areas, spread, spread)
    axes: Floats = np.linalg.eigh(moments)[1].T[::-1]
    # Each axis points to where the surface is farther out, so that a turned cloud has turned axes.
    skew = (((middles - centre) @ axes.T) ** 3 * areas[:, None]).sum(axis=0)
    return axes * np.where(skew < 0.0, -1.0, 1.0)[:, None]


def search_core(cloud: Floats, few: Floats, count: int, seed: int, capsule: Floats | None = None) -> Floats:
    """Try many starts, walk on from the best few, move single points elsewhere, and go all the way from the best.

    Most of it sees few points of the cloud. Those that stick out in the end join them.
    """
    rng = np.random.default_rng(seed)
    rough = outermost(few, MOST_CORNERS // 4)
    tries = [Try.of(core, rough) for core in _starts(rough, count, rng, capsule)]
    chosen = [(t.around(few), 0.1) for t in _unlike(tries, 8)]
    for keep, rounds in ((4, 5), (2, 8), (1, 15)):
        walked = [descend(t, few, step, rounds) for t, step in chosen]
        chosen = sorted(walked, key=lambda walk: walk[0].volume)[:keep]
    best, step = chosen[0]
    for _ in range(RELOCATIONS if count > 2 else 0):
        moved = _unlike([Try.of(core, rough) for core in _relocated(best, few)], 3)
        walked = [descend(t.around(few), few, 0.1, 12) for t in moved]
        other, its_step = min(walked, key=lambda walk: walk[0].volume)
        if other.volume > best.volume * (1 - 1e-3):
            break
        best, step = other, its_step
    for _ in range(4):
        best, step = descend(best, few, max(step, 0.01), 25)
        away = distances_from(best.steiner, cloud)
        outside = np.argsort(-away, kind="stable")[: MOST_CORNERS // 8]
        outside = outside[away[outside] > best.radius + 1e-6]
        if not len(outside):
            break
        few = np.unique(np.vstack([few, cloud[outside]]), axis=0)
        best = best.around(few)
    return best.core


def outermost(cloud: Floats, count: int) -> Floats:
    """Points of a cloud that are the farthest in one of `count` directions; all of them, if they are no more."""
    if len(cloud) <= count:
        return cloud
    chosen: Floats = cloud[np.unique(np.argmax(directions(count) @ cloud.T, axis=1))]
    return chosen


def _relocated(best: Try, cloud: Floats) -> Iterator[Floats]:
    """Cores with one point moved to where the cloud reaches farthest."""
    resting = cloud[best.away >= 0.98 * best.radius]
    goals = _far_apart(resting, min(len(resting), 8))
    gaps = closest(goals[:, None, None], best.core[best.steiner.cells], threads=1)
    rows = np.arange(len(goals))
    nearest = gaps.point_b[rows, gaps.distance.argmin(axis=1)]
    for goal in np.concatenate([goals, 0.5 * (goals + nearest)]):
        for k in range(len(best.core)):
            yield np.vstack([best.core[:k], goal, best.core[k + 1 :]])


def _unlike(tries: list[Try], count: int) -> list[Try]:
    """The best few that differ by volume: two starts that end in one place are one too many."""
    chosen: list[Try] = []
    for t in sorted(tries, key=lambda t: t.volume):
        if all(abs(t.volume - other.volume) > 1e-3 * other.volume for other in chosen):
            chosen.append(t)
        if len(chosen) == count:
            break
    return chosen


def _starts(cloud: Floats, count: int, rng: np.random.Generator, capsule: Floats | None) -> Iterator[Floats]:
    """Draw cores: corners of the cloud, polygons and prisms along its axes, each drawn inwards more or less."""
    half = 0.5 * np.ptp(cloud, axis=0)
    middle = cloud.min(axis=0) + half
    depths = np.unique(np.outer([0.0, 0.3, 0.6, 0.95], np.sort(half)[:2]))
    for core in _forms(cloud, count, rng):
        for depth in depths:
            # Drawn in along each axis: a box becomes a plate, and then a needle.
            inner = np.sign(core - middle) * np.maximum(np.abs(core - middle) - depth, 0.0)
            yield middle + inner + 0.02 * half.min() * rng.standard_normal(core.shape)
    if capsule is not None:
        yield capsule[np.arange(count) % 2] + 0.1 * half.min() * rng.standard_normal((count, 3))


def _forms(cloud: Floats, count: int, rng: np.random.Generator) -> Iterator[Floats]:
    yield _far_apart(cloud, count)
    for axis in range(3):
        low, high = cloud[:, axis].min(), cloud[:, axis].max()
        flat = np.delete(cloud, axis, axis=1)
        if count == 2:
            yield np.insert(np.tile(0.5 * (flat.min(axis=0) + flat.max(axis=0)), (2, 1)), axis, [low, high], axis=1)
            continue
        yield np.insert(polygon_or_less(flat, count), axis, 0.5 * (low + high), axis=1)
        if count >= 6:
            lower = polygon_or_less(flat, (count + 1) // 2)
            upper = lower if count % 2 == 0 else polygon_or_less(flat, count // 2)
            yield np.concatenate([np.insert(e, axis, z, axis=1) for e, z in ((lower, low), (upper, high))])
    for _ in range(RANDOM_STARTS):
        towards = rng.standard_normal((count, 3))
        yield cloud[np.argmax(cloud @ towards.T, axis=0)]


def _far_apart(cloud: Floats, count: int) -> Floats:
    chosen = [int(np.argmax((cloud**2).sum(axis=1)))]
    nearest = np.full(len(cloud), inf)
    while len(chosen) < count:
        nearest = np.minimum(nearest, ((cloud - cloud[chosen[-1]]) ** 2).sum(axis=1))
        chosen.append(int(np.argmax(nearest)))
    return cloud[chosen]


def directions(count: int) -> Floats:
    """Unit vectors all over the sphere, on a spiral."""
    k = np.arange(count) + 0.5
    z, angle = 1.0 - 2.0 * k / count, pi * (1.0 + 5.0**0.5) * k
    ring = np.sqrt(1.0 - z**2)
    return np.stack([ring * np.cos(angle), ring * np.sin(angle), z], axis=1)
