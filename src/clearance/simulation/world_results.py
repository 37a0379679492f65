"""What a world tells of itself: contacts, energy, momentum, work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Energy", "Momentum", "WorldContacts", "WorldWork"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class WorldContacts:
    """Where bodies touched in the last step.

    Attributes
    ----------
    bodies : ndarray of int, (k, 2)
        Numbers of the two bodies, places in `World.names`.
    points : ndarray, (k, 3)
        In the world.
    normals : ndarray, (k, 3)
        Unit vectors from the first body to the second.
    depths : ndarray, (k,)
        How far surfaces reached into each other before the step, in metres; negative where they were about to meet.
    forces : ndarray, (k, 3)
        On the second body, in newtons.
    """

    bodies: NDArray[np.int64]
    points: Floats
    normals: Floats
    depths: Floats
    forces: Floats

    @property
    def is_touching(self) -> NDArray[np.bool_]:
        """Whether surfaces met, (k,): others only pressed on each other before they did."""
        return np.asarray((self.depths >= 0.0) | self.forces.any(axis=1))

    def __len__(self) -> int:
        return len(self.depths)


class Energy(NamedTuple):
    """Energy of all bodies, in joules.

    Attributes
    ----------
    kinetic : float
    potential : float
        In the field of gravity, zero at the origin.
    elastic : float
        In the springs of soft contacts.
    """

    kinetic: float
    potential: float
    elastic: float

    @property
    def total(self) -> float:
        """All together."""
        return self.kinetic + self.potential + self.elastic


class Momentum(NamedTuple):
    """Momentum of all dynamic bodies.

    Attributes
    ----------
    linear : ndarray, (3,)
        In kg m/s.
    angular : ndarray, (3,)
        About the origin of the world, in kg m^2/s.
    """

    linear: Floats
    angular: Floats


class WorldWork(NamedTuple):
    """What the last step took.

    Attributes
    ----------
    pairs : int
        Pairs of bodies that may meet at all: what a search without any bounds would test.
    volume_tests : int
        Tests of bounding balls and boxes.
    object_tests : int
        Pairs of shapes that were tested.
    contacts : int
        Contact points.
    iterations : int
        Of the solver.
    """

    pairs: int
    volume_tests: int
    object_tests: int
    contacts: int
    iterations: int
