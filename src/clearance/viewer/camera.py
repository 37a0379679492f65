"""Where things are looked at from at first."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__: list[str] = []

Floats = NDArray[np.float64]

FIELD_OF_VIEW = np.radians(40.0)
WIDE = 1.0  # how much wider than high the window is beside the panel, at least
MARGIN = 1.12
SLOPE = np.tan(0.5 * FIELD_OF_VIEW)


def aim(server: Any, around: Floats, towards: Floats) -> None:
    """Look at the middle of some points from a direction, just far enough away to see all of them."""
    low, high = around.min(axis=0), around.max(axis=0)
    target, radius = 0.5 * (low + high), max(0.5 * float(np.linalg.norm(high - low)), 1e-6)
    right = np.cross([0.0, 0.0, 1.0], towards)
    axes = np.stack([right / np.linalg.norm(right), np.cross(towards, right) / np.linalg.norm(right), towards])
    x, y, nearer = axes @ (around - target).T
    distance = max(float(np.max(nearer + MARGIN * np.maximum(np.abs(x) / WIDE, np.abs(y)) / SLOPE)), 2.0 * radius)
    look(server, target, target + distance * towards, radius)


def look(server: Any, target: Floats, eye: Floats, radius: float) -> None:
    """Look at a point from another one."""
    camera, distance = server.initial_camera, float(np.linalg.norm(eye - target))
    camera.position, camera.look_at, camera.fov = eye, target, float(FIELD_OF_VIEW)
    camera.near, camera.far = 1e-3 * distance, 50.0 * (distance + radius)
