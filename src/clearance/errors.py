"""What can go wrong besides bad arguments, which are `ValueError`, `TypeError` and `KeyError`."""

from __future__ import annotations

__all__ = ["NotConverged"]


class NotConverged(ArithmeticError):  # noqa: N818 (the name is fixed)
    """A distance whose bracket could not be made as narrow as asked. The bracket itself holds.

    Attributes
    ----------
    lower, upper : float
        In metres: `lower <= true distance <= upper`.

    Examples
    --------
    >>> error = NotConverged(0.1, 0.2)
    >>> print(error)
    the distance is between 0.1 and 0.2, but not known as closely as asked
    """

    def __init__(self, lower: float, upper: float) -> None:
        super().__init__(lower, upper)
        self.lower, self.upper = lower, upper

    def __str__(self) -> str:
        return f"the distance is between {self.lower!r} and {self.upper!r}, but not known as closely as asked"
