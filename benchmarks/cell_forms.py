"""Forms of machine parts as sheets: turned, drawn, bent, with openings, and placed where they stand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Unpack

import numpy as np
from cell_sheets import Field, Floats, Grid, Patch
from numpy.typing import ArrayLike

# Where things stand --------------------------------------------------------------------------------------------------


def moved(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Floats:
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def turn(axis: str, angle: ArrayLike) -> Floats:
    """Poses turned about a coordinate axis, shape `(..., 4, 4)`."""
    i, j = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
    angle = np.asarray(angle, dtype=float)
    pose = np.zeros((*angle.shape, 4, 4)) + np.eye(4)
    pose[..., i, i] = pose[..., j, j] = np.cos(angle)
    pose[..., j, i] = np.sin(angle)
    pose[..., i, j] = -pose[..., j, i]
    return pose


def scaled(x: float = 1.0, y: float = 1.0, z: float = 1.0) -> Floats:
    return np.diag([x, y, z, 1.0])


ALONG_X, ALONG_Y = turn("y", np.pi / 2), turn("x", -np.pi / 2)  # what stood along z
MIRRORED = scaled(y=-1.0)


def placed(patches: Iterable[Patch], place: Floats) -> list[Patch]:
    return [patch.at(place) for patch in patches]


def on_both_sides(patches: Sequence[Patch]) -> list[Patch]:
    return [*patches, *placed(patches, MIRRORED)]


def copies(patches: Sequence[Patch], x: Iterable[float], y: float = 0.0, z: float = 0.0) -> list[Patch]:
    """The same along a row."""
    return [patch.at(moved(each, y, z)) for each in x for patch in patches]


# Forms ---------------------------------------------------------------------------------------------------------------


def arc_lengths(nodes: Floats) -> Floats:
    return np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(nodes, axis=0), axis=1))])


def turned(
    profile: Sequence[tuple[float, float]],
    bump: float = 0.0,
    waves: tuple[int, float] = (5, 60.0),
    **options: Unpack[Grid],
) -> Patch:
    """A surface of revolution about z through points (z, radius); bumps are a share of the radius."""
    nodes = np.array(profile, dtype=float)
    along = arc_lengths(nodes)
    girth = 2 * np.pi * nodes[:, 1].max()

    def surface(p: Floats, q: Floats) -> Floats:
        angle = 2 * np.pi * q / girth
        radius = np.interp(p, along, nodes[:, 1]) * (1 + bump * np.cos(waves[0] * angle) * np.sin(waves[1] * p))
        return np.stack([radius * np.cos(angle), radius * np.sin(angle), np.interp(p, along, nodes[:, 0])], axis=-1)

    options.setdefault("least", (1, 6))
    return Patch(surface, along[-1], girth, folds=tuple(along[1:-1]), **options)


def cylinder(radius: float, low: float, high: float, bump: float = 0.0, **options: Unpack[Grid]) -> Patch:
    return turned([(low, 0.0), (low, radius), (high, radius), (high, 0.0)], bump, **options)


def drawn(section: Sequence[tuple[float, float]], length: float, **options: Unpack[Grid]) -> Patch:
    """A profile through points (x, y), open or closed, drawn along z."""
    nodes = np.array(section, dtype=float)
    along = arc_lengths(nodes)

    def surface(p: Floats, q: Floats) -> Floats:
        return np.stack([np.interp(p, along, nodes[:, 0]), np.interp(p, along, nodes[:, 1]), q], axis=-1)

    return Patch(surface, along[-1], length, folds=tuple(along[1:-1]), **options)


def sheet(
    length: float, width: float, height: Field | None = None, hole: Field | None = None, **options: Unpack[Grid]
) -> Patch:
    """A sheet over the x-y plane, from the origin on."""

    def surface(p: Floats, q: Floats) -> Floats:
        return np.stack([p, q, np.zeros_like(p) if height is None else height(p, q)], axis=-1)

    return Patch(surface, length, width, hole=hole, **options)


def rectangle(width: float, depth: float) -> list[tuple[float, float]]:
    x, y = width / 2, depth / 2
    return [(-x, -y), (x, -y), (x, y), (-x, y), (-x, -y)]


def block(x: float, y: float, z: float, **options: Unpack[Grid]) -> list[Patch]:
    """A closed box about the origin."""
    cap = sheet(x, y, **options).at(moved(-x / 2, -y / 2))
    return [drawn(rectangle(x, y), z, **options).at(moved(z=-z / 2)), cap.at(moved(z=-z / 2)), cap.at(moved(z=z / 2))]


def pipe(nodes: ArrayLike, radius: float, **options: Unpack[Grid]) -> Patch:
    """A round tube about a polyline that never runs straight up."""
    path = np.asarray(nodes, dtype=float)
    along = arc_lengths(path)
    tangents = np.gradient(path, along, axis=0)
    sides = np.cross(tangents, [0.0, 0.0, 1.0])
    sides /= np.linalg.norm(sides, axis=1, keepdims=True)
    ups = np.cross(sides, tangents / np.linalg.norm(tangents, axis=1, keepdims=True))

    def along_path(values: Floats, p: Floats) -> Floats:
        return np.stack([np.interp(p, along, column) for column in values.T], axis=-1)

    def surface(p: Floats, q: Floats) -> Floats:
        angle = (q / radius)[:, None]
        across = np.cos(angle) * along_path(sides, p) + np.sin(angle) * along_path(ups, p)
        return along_path(path, p) + radius * across

    options.setdefault("least", (1, 5))
    return Patch(surface, along[-1], 2 * np.pi * radius, **options)


def ring(part: Sequence[Patch], count: int, radius: float, height: float) -> list[Patch]:
    """Copies in a circle about z, the x axis of each pointing outwards."""
    turns = turn("z", 2 * np.pi * np.arange(count) / count)
    return [patch.at(pose @ moved(radius, 0.0, height)) for pose in turns for patch in part]


def bolts(count: int, radius: float, height: float, size: float = 0.012) -> list[Patch]:
    return ring([cylinder(size, 0.0, 1.2 * size, grain=(0.5, 0.5))], count, radius, height)


# Openings: signed distances, negative inside -------------------------------------------------------------------------


def circle(x: float, y: float, radius: float) -> Field:
    return lambda p, q: np.hypot(p - x, q - y) - radius


def window(x: tuple[float, float], y: tuple[float, float], radius: float) -> Field:
    """Signed distance from a rectangle with round corners."""
    middle, half = (np.add(*x) / 2, np.add(*y) / 2), (np.ptp(x) / 2 - radius, np.ptp(y) / 2 - radius)

    def distance(p: Floats, q: Floats) -> Floats:
        over_x, over_y = np.abs(p - middle[0]) - half[0], np.abs(q - middle[1]) - half[1]
        outside = np.hypot(np.maximum(over_x, 0), np.maximum(over_y, 0))
        signed: Floats = outside + np.minimum(np.maximum(over_x, over_y), 0) - radius
        return signed

    return distance


def any_of(openings: Sequence[Field]) -> Field:
    return lambda p, q: np.minimum.reduce([opening(p, q) for opening in openings])
