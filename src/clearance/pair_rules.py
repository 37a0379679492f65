"""Which pairs of bodies may touch, and what distance the others have to keep."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

import numpy as np

__all__ = ["PairRules"]

Pair = frozenset[str]


class PairRules:
    """An allowed-collision matrix and margins, by names of bodies.

    What was said of a pair counts more than what was said of one of its bodies, and that counts more than the default,
    which is that pairs are checked but for those that are excused (adjacent links, those of an SRDF).

    Parameters
    ----------
    excused : iterable of pairs of names

    Examples
    --------
    >>> rules = PairRules([("hand", "arm")])
    >>> rules.allow("hand")
    >>> rules.forbid("hand", "table")
    >>> rules.is_allowed("hand", "arm"), rules.is_allowed("hand", "wall"), rules.is_allowed("hand", "table")
    (True, True, False)
    """

    def __init__(self, excused: Iterable[tuple[str, str]] = ()) -> None:
        self._excused = {frozenset(pair) for pair in excused}
        self._pairs: dict[Pair, bool] = {}
        self._bodies: dict[str, bool] = {}
        self._margins: dict[Pair, float] = {}
        self._padding: dict[str, float] = {}

    def excuse(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Let pairs touch unless somebody forbids it."""
        self._excused |= {frozenset(pair) for pair in pairs}

    def allow(self, a: str, b: str | None = None) -> None:
        """Let a pair, or a body and whatever it meets, touch."""
        self._say(a, b, allowed=True)

    def forbid(self, a: str, b: str | None = None) -> None:
        """Check a pair, or a body against whatever it meets."""
        self._say(a, b, allowed=False)

    def reset(self, a: str, b: str | None = None) -> None:
        """Forget what was allowed or forbidden."""
        if b is None:
            self._bodies.pop(_name(a), None)
        else:
            self._pairs.pop(_pair(a, b), None)

    def forget(self, body: str) -> None:
        """Forget everything about a body that is no longer there."""
        self._excused = {pair for pair in self._excused if body not in pair}
        self._pairs = {pair: said for pair, said in self._pairs.items() if body not in pair}
        self._margins = {pair: margin for pair, margin in self._margins.items() if body not in pair}
        self._bodies.pop(body, None)
        self._padding.pop(body, None)

    def is_allowed(self, a: str, b: str) -> bool:
        """Tell whether a pair may touch, so that it is not checked."""
        pair = _pair(a, b)
        if pair in self._pairs:
            return self._pairs[pair]
        said = [self._bodies[body] for body in (a, b) if body in self._bodies]
        return all(said) if said else pair in self._excused

    def set_margin(self, a: str, b: str | None, margin: float) -> None:
        """Ask a pair, or a body, to keep a distance."""
        if not isinstance(margin, int | float | np.number) or not 0.0 <= margin < inf:
            raise ValueError(f"margin must be a number, zero or positive and finite, but it is {margin!r}.")
        if b is None:
            self._padding[_name(a)] = float(margin)
        else:
            self._margins[_pair(a, b)] = float(margin)

    def margin(self, a: str, b: str) -> float:
        """Tell the distance that a pair has to keep: its own, or what its bodies ask for together."""
        own = self._margins.get(_pair(a, b))
        return self._padding.get(a, 0.0) + self._padding.get(b, 0.0) if own is None else own

    def _say(self, a: str, b: str | None, *, allowed: bool) -> None:
        if b is None:
            self._bodies[_name(a)] = allowed
        else:
            self._pairs[_pair(a, b)] = allowed


def _name(body: str) -> str:
    if not isinstance(body, str) or not body:
        raise TypeError(f"a body has a string for a name, not {body!r}.")
    return body


def _pair(a: str, b: str) -> Pair:
    if _name(a) == _name(b):
        raise ValueError(f"a pair has two bodies, but both are '{a}'.")
    return frozenset((a, b))
