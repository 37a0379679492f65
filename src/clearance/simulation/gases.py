"""Gases of elastic spheres: from one speed for all of them to the speeds of Maxwell and Boltzmann."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import shapes
from ..progress import reporter
from .materials import Elastic, checked_number
from .particle_kinds import Floats
from .particles import Particles

__all__ = ["collide", "gas", "gas_at_start"]

RADIUS = 0.5
SOLID_FRACTION = 0.08
STEPS_PER_DIAMETER = 20  # at the speed of the beginning
COLLISIONS = 20.0  # of each sphere, on average


def gas(
    n: int = 64_000, speed: float = 10.0, seed: int = 0, *, detection: str = "hybrid", progress: Any = False
) -> Floats:
    """Let elastic spheres of one speed collide until their speeds are those of a gas.

    The spheres fill 8 % of a cube whose opposite faces are one, so that there are no walls. They start with the same
    speed in random directions, two and two in opposite ones, and stop after 20 collisions each on average. A collision
    is a reflection of two spheres, and counts for both of them.

    Parameters
    ----------
    n : int
        How many spheres, 8 or more.
    speed : float
        Of all spheres at the beginning, in m/s.
    seed : int
        Of places and directions.
    detection : {"hybrid", "iterative"}
        As of `Particles`.
    progress : bool or callable
        Whether a bar shows how far this is, or a function of that fraction.

    Returns
    -------
    ndarray, (n,)
        Speeds at the end, in m/s. The mean of their squares is the square of `speed`.

    References
    ----------
    T. Leemann, Effiziente Kollisionserkennung für konvexe Körper in parallelen Simulationen, 2017, section 4.2.2.

    Examples
    --------
    >>> speeds = gas(200, speed=10.0)
    >>> round(float(np.mean(speeds**2)), 9)
    100.0
    """
    particles = gas_at_start(n, speed, seed, detection=detection)
    collide(particles, COLLISIONS, progress=progress)
    found: Floats = np.linalg.norm(particles.velocities[:, :3], axis=1)
    return found


def gas_at_start(n: int, speed: float = 10.0, seed: int = 0, *, detection: str = "hybrid") -> Particles:
    """Put spheres into a periodic cube, apart from each other, and start them.

    Parameters
    ----------
    n : int
        How many spheres, 8 or more.
    speed : float
        Of all of them, in m/s. Their momenta add up to zero.
    seed : int
    detection : {"hybrid", "iterative"}

    Returns
    -------
    Particles

    Examples
    --------
    >>> particles = gas_at_start(100, speed=2.0)
    >>> np.linalg.norm(particles.velocities[:, :3], axis=1).round(12).tolist() == 100 * [2.0]
    True
    """
    if n < 8:
        raise ValueError(f"n must be 8 or more, or a sphere would meet itself across the cube, but it is {n!r}.")
    pace = checked_number(speed, "speed", above=True)
    rng = np.random.default_rng(seed)
    diameter = 2.0 * RADIUS
    side = diameter * (n * np.pi / 6.0 / SOLID_FRACTION) ** (1.0 / 3.0)
    particles = Particles(
        diameter / pace / STEPS_PER_DIAMETER,
        (0.0, 0.0, 0.0),
        Elastic(),
        lower=np.zeros(3),
        upper=np.full(3, side),
        periodic=True,
        detection=detection,
    )
    particles.add(shapes.Sphere(RADIUS), _places(rng, n, side, diameter), pace * _balanced_directions(rng, n))
    return particles


def collide(particles: Particles, collisions: float, *, progress: Any = False) -> float:
    """Step particles without gravity until they have collided with each other so often.

    Parameters
    ----------
    particles : Particles
        With elastic contacts.
    collisions : float
        Of each particle, on average.
    progress : bool or callable

    Returns
    -------
    float
        Collisions of each particle, on average; more than asked for by those of a part of the last step.

    Examples
    --------
    >>> collide(gas_at_start(100), 2.0) >= 2.0
    True
    """
    if not isinstance(particles.contact, Elastic):
        raise ValueError(f"collisions are counted of elastic contacts, but these are {particles.contact!r}.")
    tell = reporter(progress)
    count, had = len(particles), 0.0
    while had < collisions:
        particles.step()
        touched = particles.contacts
        reflected = (touched.ids[:, 0] >= 0) & touched.forces.any(axis=1)
        had += 2.0 * int(np.count_nonzero(reflected)) / count
        if tell is not None:
            tell(min(had / collisions, 1.0))
    return had


def _places(rng: np.random.Generator, n: int, side: float, room: float) -> Floats:
    per_axis = int(np.ceil(n ** (1.0 / 3.0) - 1e-9))
    cell = side / per_axis
    taken = rng.permutation(per_axis**3)[:n]
    corners = np.stack(np.unravel_index(taken, 3 * (per_axis,)), axis=1)
    found: Floats = cell * (corners + 0.5) + (cell - room) * (rng.random((n, 3)) - 0.5)
    return found


def _balanced_directions(rng: np.random.Generator, n: int) -> Floats:
    """Unit vectors that add up to zero: pairs, and three in a plane if there is an odd number of them."""
    drawn = rng.normal(size=(n // 2, 3))
    half = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
    balanced = np.vstack([half, -half])
    if n % 2:
        across = np.cross(half[0], np.eye(3)[np.argmin(np.abs(half[0]))])
        across /= np.linalg.norm(across)
        thirds = 2.0 * np.pi / 3.0 * np.arange(3)[:, None]
        balanced = np.vstack(
            [balanced[1 : n // 2], balanced[n // 2 + 1 :], np.cos(thirds) * half[0] + np.sin(thirds) * across]
        )
    return rng.permutation(balanced)
