"""Polygons of few corners around polygons of many."""

from __future__ import annotations

from math import inf, pi

import numpy as np
from numpy.typing import NDArray

from .steiner import outline_of

__all__: list[str] = []

Floats = NDArray[np.float64]


def polygon_or_less(flat: Floats, count: int) -> Floats:
    corners = flat[outline_of(flat)]
    return corners if len(corners) <= count else polygon_around(corners, count)


def polygon_around(corners: Floats, count: int) -> Floats:
    """Find a polygon of few corners and small area around a convex one of many.

    Its sides touch the polygon, so only their directions are unknown. One after the other is turned to its best place.
    """
    along = np.roll(corners, -1, axis=0) - corners
    flush = np.arctan2(-along[:, 0], along[:, 1])  # outward, for corners that go round counterclockwise
    best, least = np.empty(0), inf
    for start in range(4):
        angles, area = (np.arange(count) + start / 4) * 2 * pi / count, inf
        for _ in range(20):
            before = area
            for k in range(count):
                choices = np.repeat(np.sort(angles)[None], 36 + len(flush), axis=0)
                choices[:, k] = np.concatenate([angles[k] + np.linspace(-0.5, 0.5, 36) * 4 * pi / count, flush])
                choices[0, k] = angles[k]
                choices = np.sort(choices % (2 * pi), axis=1)
                areas = _areas_around(corners, choices)
                if areas.min() < area:
                    angles, area = choices[areas.argmin()], float(areas.min())
            if not area < before * (1 - 1e-6):
                break
        if area < least:
            best, least = angles, area
    around: Floats = _corners_around(corners, best[None])[0]
    return around


def _corners_around(corners: Floats, angles: Floats) -> Floats:
    """Where sides that touch a polygon meet: corners (n, k, 2) for the directions (n, k) of their normals, sorted."""
    normals = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    offsets = (normals @ corners.T).max(axis=-1)
    following, beyond = np.roll(normals, -1, axis=1), np.roll(offsets, -1, axis=1)
    turn = normals[..., 0] * following[..., 1] - normals[..., 1] * following[..., 0]
    turn = np.where(turn > 1e-9, turn, np.nan)  # half a turn and more: they never meet
    x = (offsets * following[..., 1] - beyond * normals[..., 1]) / turn
    y = (beyond * normals[..., 0] - offsets * following[..., 0]) / turn
    return np.stack([x, y], axis=-1)


def _areas_around(corners: Floats, angles: Floats) -> Floats:
    around = _corners_around(corners, angles)
    after = np.roll(around, -1, axis=1)
    areas = 0.5 * (around[..., 0] * after[..., 1] - around[..., 1] * after[..., 0]).sum(axis=1)
    return np.where(np.isnan(areas), inf, areas)
