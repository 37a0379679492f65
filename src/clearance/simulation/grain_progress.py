"""Progress of grains: a bar on a terminal that tells of bodies, contacts and speed."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sized
from typing import Any, Protocol

from ..progress import reporter

__all__ = ["teller"]

WIDTH = 20


class Moving(Protocol):
    """What a bar asks grains for."""

    @property
    def time(self) -> float: ...
    @property
    def ids(self) -> Sized: ...
    @property
    def work(self) -> Any: ...


def teller(progress: bool | Callable[[float], Any], grains: Moving) -> Callable[[float], Any] | None:
    """Turn a `progress` argument into a function of the fraction that is done.

    Parameters
    ----------
    progress : bool or callable
        True: a bar on standard error, if that is a terminal.
    grains : Particles, or whatever else has `time`, `ids` and `work`

    Returns
    -------
    callable or None

    Examples
    --------
    >>> from clearance.simulation import Particles
    >>> teller(False, Particles()) is None
    True
    """
    tell = reporter(progress)
    return _Bar(grains) if progress is True and tell is not None else tell


class _Bar:
    def __init__(self, grains: Moving) -> None:
        self.grains = grains
        self.seen, self.clock = grains.time, time.perf_counter()

    def __call__(self, fraction: float) -> None:
        now, clock = self.grains.time, time.perf_counter()
        speed = (now - self.seen) / max(clock - self.clock, 1e-9)
        self.seen, self.clock = now, clock
        full = round(WIDTH * fraction)
        bar = f"[{'=' * full}{' ' * (WIDTH - full)}] {fraction:4.0%}"
        told = f"{len(self.grains.ids)} bodies, {self.grains.work.contacts} contacts, {speed:.3g} s/s"
        print(f"\r{bar}  {told}".ljust(79), end="\n" if fraction >= 1.0 else "", file=sys.stderr, flush=True)
