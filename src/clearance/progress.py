"""Progress of long work: a bar on a terminal, or a function of the caller's."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

__all__ = ["reporter"]

WIDTH = 40


def reporter(progress: Any) -> Callable[[float], Any] | None:
    """Turn a `progress` argument into a function of the fraction that is done.

    Parameters
    ----------
    progress : bool, None or callable
        False and None: nobody is told. True: a bar on standard error, if that is a terminal.

    Returns
    -------
    callable or None

    Examples
    --------
    >>> reporter(False) is None
    True
    """
    if progress is None or progress is False:
        return None
    if progress is True:
        return _bar if sys.stderr.isatty() else None
    if not callable(progress):
        raise TypeError(f"progress must be True, False or a function of a fraction, but it is {progress!r}.")
    function: Callable[[float], Any] = progress
    return function


def _bar(fraction: float) -> None:
    full = round(WIDTH * fraction)
    end = "\n" if fraction >= 1.0 else ""
    print(f"\r[{'=' * full}{' ' * (WIDTH - full)}] {fraction:4.0%}", end=end, file=sys.stderr, flush=True)
