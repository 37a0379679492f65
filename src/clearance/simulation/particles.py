"""Thousands to millions of rigid bodies that fall, pile up, or fly as a gas."""

from __future__ import annotations

from os import PathLike

import numpy as np
from numpy.typing import ArrayLike

from ..shapes import Shape
from .laws import checked_steps
from .materials import Elastic, Hard, Material, Soft
from .particle_kinds import (
    Integers,
    ParticleContacts,
    ParticleRoom,
    checked_ids,
    checked_kind,
    checked_places,
    checked_velocities,
)
from .world_results import Energy, Momentum

__all__ = ["Particles"]


class Particles(ParticleRoom):
    """Many rigid bodies among walls that stand, in steps of a fixed length.

    Unlike the bodies of a `World`, particles have numbers instead of names and no joints; a step is made for very many
    of them, on all cores. The same calls give the same bits, on any number of threads.

    Parameters
    ----------
    step : float
        In seconds.
    gravity : array_like, (3,)
        In m/s^2.
    contact : Hard, Soft or Elastic
        How particles meet; `Hard(iterations=10)` unless given.
    lower, upper : array_like, (3,), optional
        Corners of the room, along periodic axes.
    periodic : bool, or three of them
        Along which axes what leaves on one side comes in on the other.
    detection : {"hybrid", "iterative"}
        By closed forms where a pair of shapes has one, and by GJK and EPA otherwise; or always by these.
    threads : int, optional
        All cores unless given.

    Examples
    --------
    >>> particles = Particles()
    >>> particles.add_wall("floor", HalfSpace([0.0, 0.0, 1.0], 0.0))
    >>> particles.add(Sphere(0.1), [[0.0, 0.0, 1.0], [0.5, 0.0, 1.0]])
    array([0, 1])
    >>> particles.step(1000)
    >>> particles.positions[:, 2].round(3)
    array([0.1, 0.1])
    """

    def __init__(
        self,
        step: float = 1e-3,
        gravity: ArrayLike = (0.0, 0.0, -9.81),
        contact: Hard | Soft | Elastic | None = None,
        *,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
        periodic: ArrayLike = False,
        detection: str = "hybrid",
        threads: int | None = None,
    ) -> None:
        super().__init__(step, gravity, contact, lower, upper, periodic, detection, threads)

    def add(
        self,
        shape: Shape,
        poses: ArrayLike,
        velocities: ArrayLike | None = None,
        *,
        density: float = 1000.0,
        material: Material | None = None,
    ) -> Integers:
        """Add particles of one shape.

        Parameters
        ----------
        shape : Shape
            Solid and finite: convex, or a compound.
        poses : array_like, (n, 4, 4) or (n, 3)
            `world_from_shape`, or places.
        velocities : array_like, (n, 3) or (n, 6), optional
            Of centres of mass in m/s, and angular velocities in rad/s, in the world; zero unless given.
        density : float
            In kg/m^3.
        material : Material, optional

        Returns
        -------
        ndarray of int, (n,)
            Their numbers, which are not given to others again.
        """
        places = checked_places(poses)
        moving = checked_velocities(velocities, len(places))
        kind = self._add_kind(checked_kind(shape, density, material))
        self._core.add(kind, self._next, places, moving)
        added = np.arange(self._next, self._next + len(places))
        self._next += len(places)
        return added

    def remove(self, ids: ArrayLike) -> None:
        """Remove particles.

        Parameters
        ----------
        ids : array_like of int, (n,)
        """
        gone = checked_ids(ids)
        missing = np.setdiff1d(gone, self.ids)
        if missing.size:
            raise KeyError(f"there are no particles with the numbers {missing[:5].tolist()}.")
        self._core.remove(gone)

    def step(self, n: int = 1) -> None:
        """Go on by some steps.

        Parameters
        ----------
        n : int

        Raises
        ------
        FloatingPointError
            If speeds or masses are such that numbers run out of range.
        """
        self._raise_if_lost(self._core.step(checked_steps(n), self._threads))

    def __len__(self) -> int:
        return len(self._core.records(False))

    def __repr__(self) -> str:
        return f"Particles({len(self)} of {len(self._kinds)} kinds, {len(self._walls)} walls, time={self.time:g} s)"

    @property
    def contacts(self) -> ParticleContacts:
        """Where particles touched in the last step, and how hard."""
        return ParticleContacts(*self._core.contacts())

    @property
    def energy(self) -> Energy:
        """Energy of all particles, without that of springs."""
        return Energy(*self._core.energy(), 0.0)

    @property
    def momentum(self) -> Momentum:
        """Momentum of all particles."""
        records, own = self._records(), self.masses[:, None] * self.velocities[:, :3]
        inertia = np.array([kind.mass.inertia for kind in self._kinds]).reshape(-1, 3, 3)[self.kinds]
        turn = self.poses[:, :3, :3]
        spin = np.einsum("nij,njk,nlk,nl->ni", turn, inertia, turn, self.velocities[:, 3:])
        return Momentum(own.sum(axis=0), (np.cross(records[:, 2:5], own) + spin).sum(axis=0))

    def save(self, path: str | PathLike[str]) -> None:
        """Write everything to a file; `load` goes on from there with the same bits.

        Parameters
        ----------
        path : path_like

        Examples
        --------
        >>> particles = Particles()
        >>> _ = particles.add(Sphere(0.1), [[0.0, 0.0, 1.0]])
        >>> particles.save("one.npz")
        >>> Particles.load("one.npz")
        Particles(1 of 1 kinds, 0 walls, time=0 s)
        """
        from .particle_files import save_particles

        save_particles(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str], threads: int | None = None) -> Particles:
        """Read what `save` wrote.

        Parameters
        ----------
        path : path_like
        threads : int, optional

        Returns
        -------
        Particles

        Raises
        ------
        ValueError
            If the file is no such file.
        """
        from .particle_files import load_particles

        return load_particles(path, threads)
