"""Vehicles in the plane: arcs that they drive along, and checks of the numbers that they are told."""

from __future__ import annotations

from math import inf, isfinite, pi
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..poses import as_floats

Floats = NDArray[np.float64]

ROUNDING = 1e-9  # by which a command may be beyond a limit, relative to it


def along_arc(state: ArrayLike, way: Floats, turn: Floats) -> Floats:
    """Where a vehicle gets that goes some way while it turns by some angle.

    The chord of an arc is sin(turn / 2) / (turn / 2) times as long, and has the direction of the arc's middle.
    """
    x, y, yaw = np.moveaxis(rows(state, "state", 3), -1, 0)
    chord, heading = way * np.sinc(turn / (2.0 * pi)), yaw + 0.5 * turn
    moved = (x + chord * np.cos(heading), y + chord * np.sin(heading), yaw + turn)
    return np.stack(np.broadcast_arrays(*moved), axis=-1)


def rolled(state: ArrayLike, turns: ArrayLike, radius: float, track: float) -> Floats:
    """Where a vehicle gets whose left and right wheels turn by some angles."""
    left, right = radius * np.moveaxis(rows(turns, "turns", 2), -1, 0)
    return along_arc(state, 0.5 * (left + right), (right - left) / track)


def times(rates: Floats, duration: ArrayLike) -> tuple[Floats, Floats]:
    """What way and turn rates make in some time."""
    way, turn = np.moveaxis(rates * finite(duration, "duration")[..., None], -1, 0)
    return way, turn


def refuse_sliding(twist: Floats) -> None:
    """Refuse motions to the left: wheels would slide."""
    ahead, left = twist[..., 0], twist[..., 1]
    if (np.abs(left) > ROUNDING * np.abs(ahead)).any():
        raise ValueError(f"a twist to the left would make wheels slide, but it is {twist.tolist()!r:.200}.")


def keep(value: Any, check: Any, *names: str) -> None:
    """Check fields of a frozen value, and keep what the check makes of them."""
    for name in names:
        object.__setattr__(value, name, check(getattr(value, name), name))


def positive(value: float, name: str) -> float:
    """Give a number above zero, or an error that names it."""
    if not_negative(value, name) == 0.0:
        raise ValueError(f"{name} must be above zero, but it is {value!r}.")
    return float(value)


def limit(value: float, name: str) -> float:
    """Give a number above zero, or infinity."""
    return inf if value == inf else positive(value, name)


def not_negative(value: float, name: str) -> float:
    """Give a finite number that is zero or more, or an error that names it."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0.0 <= value < inf:
        raise ValueError(f"{name} must be a number, finite and not negative, but it is {value!r}.")
    return float(value)


def finite(value: ArrayLike, name: str) -> Floats:
    """Give finite numbers as an array, or an error that names them."""
    array = as_floats(value, name)
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, but it is {value!r:.200}.")
    return array


def rows(value: ArrayLike, name: str, length: int) -> Floats:
    """Give rows of so many finite numbers, or an error that names them."""
    array = finite(value, name)
    if array.shape[-1:] != (length,):
        raise ValueError(f"{name} must have {length} numbers in its last dimension, but its shape is {array.shape}.")
    return array


def check_limit(values: Floats, most: float, name: str) -> Floats:
    """Refuse numbers that are larger than a limit, by more than rounding."""
    beyond = np.abs(values) > (1.0 + ROUNDING) * most if isfinite(most) else np.zeros(values.shape, dtype=bool)
    if beyond.any():
        raise ValueError(f"{name} must be from {-most:g} to {most:g}, but it is {values[beyond].flat[0]!r}.")
    return values
