"""What a range sensor gets wrong: spread, bias, steps, lost beams."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import isfinite

import numpy as np
from numpy.typing import NDArray

__all__ = ["Noise"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Noise:
    """Errors of measured ranges.

    Attributes
    ----------
    std : float
        Standard deviation of every range, in metres.
    relative : float
        Standard deviation as a part of the range; it adds to the other as independent errors do.
    bias : float
        Added to every range, in metres.
    resolution : float
        Ranges are rounded to multiples of this many metres; 0 leaves them as they are.
    dropout : float
        Probability that a beam is lost: its range is NaN, as REP 117 calls for.
    seed : int
        A scan draws its errors from this and its time, unless it is given a generator: the same scan repeats itself.

    Examples
    --------
    >>> Noise(std=0.0, bias=0.1, resolution=0.25).apply(np.array([1.0, 2.1]), np.random.default_rng(0)).tolist()
    [1.0, 2.25]
    """

    std: float = 0.01
    relative: float = 0.0
    bias: float = 0.0
    resolution: float = 0.0
    dropout: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, str) or not isfinite(value) or (value < 0.0 and field.name != "bias"):
                sign = "" if field.name == "bias" else "zero or positive and "
                raise ValueError(f"{field.name} must be {sign}finite, but it is {value!r}.")
        if int(self.seed) != self.seed:
            raise ValueError(f"seed must be a whole number, but it is {self.seed!r}.")
        if self.dropout > 1.0:
            raise ValueError(f"dropout must be a probability, 0 to 1, but it is {self.dropout!r}.")

    def generator(self, time: float) -> np.random.Generator:
        """Make the generator of a scan.

        Parameters
        ----------
        time : float
            When the scan is taken, in seconds.

        Returns
        -------
        numpy.random.Generator
        """
        return np.random.default_rng([self.seed, round(abs(time) * 1e9), int(time < 0.0)])

    def apply(self, ranges: Floats, rng: np.random.Generator) -> Floats:
        """Make measured ranges of true ones.

        Parameters
        ----------
        ranges : ndarray
            In metres; inf stays inf, unless the beam is lost.
        rng : numpy.random.Generator

        Returns
        -------
        ndarray
        """
        errors, lost = rng.normal(size=ranges.shape), rng.random(size=ranges.shape) < self.dropout
        there = np.where(np.isfinite(ranges), ranges, 0.0)
        measured = there + self.bias + np.hypot(self.std, self.relative * there) * errors
        if self.resolution > 0.0:
            measured = self.resolution * np.round(measured / self.resolution)
        return np.where(lost, np.nan, np.where(np.isfinite(ranges), measured, ranges))
