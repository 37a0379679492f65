"""Particles as they are at a moment, copied bit by bit, to be looked at by one detection or the other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..shapes import Shape
from .materials import Elastic
from .particle_kinds import Floats, Integers, ParticleContacts
from .particles import Particles

__all__ = ["by_pairs", "contacts_of", "empty_twin", "freeze_into"]


def contacts_of(particles: Particles, detection: str = "hybrid") -> ParticleContacts:
    """Find where particles touch, as they are now, without moving them.

    Parameters
    ----------
    particles : Particles
    detection : {"hybrid", "iterative"}
        As of `Particles`, whatever these ones use.

    Returns
    -------
    ParticleContacts
        Without forces, and without what is about to meet.

    Examples
    --------
    >>> particles = Particles()
    >>> _ = particles.add(Sphere(1.0), [[0.0, 0.0, 0.0], [0.0, 0.0, 1.9]])
    >>> contacts_of(particles, "iterative").depths.round(12)
    array([0.1])
    """
    twin = empty_twin(particles, detection)
    freeze_into(twin, particles._records())
    return twin.contacts


def by_pairs(found: ParticleContacts) -> tuple[Integers, Integers, Floats]:
    """Put together what belongs to the same pair of particles.

    Parameters
    ----------
    found : ParticleContacts

    Returns
    -------
    tuple of ndarray
        Pairs of numbers, (k, 2), without walls; at how many points each touches; and how deep at the deepest one.

    Examples
    --------
    >>> particles = Particles()
    >>> _ = particles.add(Box([1.0, 1.0, 1.0]), [[0.0, 0.0, 0.0], [0.0, 0.0, 0.75]])
    >>> pairs, points, depths = by_pairs(contacts_of(particles))
    >>> pairs.tolist(), points.tolist(), depths.tolist()
    ([[0, 1]], [4], [0.25])
    """
    is_pair = found.ids[:, 0] >= 0
    pairs, which, points = np.unique(found.ids[is_pair], axis=0, return_inverse=True, return_counts=True)
    depths = np.full(len(pairs), -np.inf)
    np.maximum.at(depths, which.reshape(-1), found.depths[is_pair])
    return pairs, points, depths


def empty_twin(particles: Particles, detection: str, instead: Sequence[Shape] | None = None) -> Particles:
    """Make a room like that of others, without gravity, to look at them in.

    Parameters
    ----------
    particles : Particles
    detection : {"hybrid", "iterative"}
    instead : sequence of Shape, optional
        One for each kind; the same ones unless given.

    Returns
    -------
    Particles

    Examples
    --------
    >>> empty_twin(Particles(), "iterative").detection
    'iterative'
    """
    is_periodic = bool(particles._periodic.any())
    twin = Particles(
        particles.step_length,
        (0.0, 0.0, 0.0),
        Elastic(),
        lower=particles._lower if is_periodic else None,
        upper=particles._upper if is_periodic else None,
        periodic=particles._periodic,
        detection=detection,
        threads=particles.threads or None,
    )
    for kind, shape in zip(particles._kinds, particles.shapes if instead is None else instead, strict=True):
        twin._add_kind(kind._replace(shape=shape), is_new=True)
    for name, wall in particles.walls.items():
        twin.add_wall(name, wall.shape, wall.pose, material=wall.material)
    return twin


def freeze_into(twin: Particles, records: Floats) -> None:
    """Put particles where others are, bit by bit, and look at them once. What does not move is not reflected.

    Parameters
    ----------
    twin : Particles
        Of an empty twin, or with what was frozen before.
    records : ndarray, (n, k)
        Particles as the core knows them.

    Examples
    --------
    >>> twin = empty_twin(Particles(), "iterative")
    >>> freeze_into(twin, Particles()._records())
    """
    still = records.copy()
    still[:, 9:15] = 0.0
    twin.remove(twin.ids)
    twin._core.add_records(still, False)
    twin.step()
