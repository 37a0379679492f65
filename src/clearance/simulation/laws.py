"""What holds for a world and for particles alike: gravity, the length of a step, how bodies meet."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..queries import _thread_count
from .materials import Elastic, Floats, Hard, Soft, as_vector, checked_contact, checked_number

__all__ = ["MOST_STEPS", "Laws", "checked_steps"]

MOST_STEPS = 2_000_000_000


class Laws:
    """By which bodies move, step by step, on some threads."""

    def __init__(self, gravity: ArrayLike, step: float, contact: Hard | Soft | Elastic, threads: int | None) -> None:
        self._gravity = as_vector(gravity, "gravity")
        self._step = checked_number(step, "step", above=True)
        self._contact = checked_contact(contact)
        self._law = type(contact).__name__.lower()
        self._threads = _thread_count(threads)

    @property
    def step_length(self) -> float:
        """Seconds that a step takes."""
        return self._step

    @property
    def gravity(self) -> Floats:
        """In m/s^2."""
        return self._gravity.copy()

    @property
    def contact(self) -> Hard | Soft | Elastic:
        """How bodies meet."""
        return self._contact


def checked_steps(n: Any) -> int:
    """Give a number of steps.

    Parameters
    ----------
    n : int

    Returns
    -------
    int

    Examples
    --------
    >>> checked_steps(10)
    10
    """
    if not isinstance(n, int | np.integer) or isinstance(n, bool) or not 0 <= n <= MOST_STEPS:
        raise ValueError(f"n must be a number of steps, but it is {n!r}.")
    return int(n)
