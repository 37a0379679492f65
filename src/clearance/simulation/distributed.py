"""Particles on many ranks of MPI, each with a box of space. It needs the extra `clearance[mpi]`."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..shapes import Shape
from .laws import checked_steps
from .materials import Elastic, Hard, Material, Soft
from .particle_files import Checkpoint, load_checkpoints, write_pieces
from .particle_kinds import (
    Floats,
    Integers,
    ParticleKind,
    ParticleRoom,
    checked_ids,
    checked_kind,
    checked_places,
    checked_velocities,
)
from .particles import Particles
from .ranks import Ranks, agreed, ended_together, mpi
from .world_results import Energy

__all__ = ["DistributedParticles"]


class DistributedParticles(ParticleRoom):
    """Particles like those of `Particles`, shared out among the ranks of a communicator.

    All ranks make the same calls. Each has the particles of a box of space; cuts between boxes move with the particles,
    so that all have about as many. Whatever the number of ranks, the result is the same, bit by bit, as that of
    `Particles` alone.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm, optional
        All ranks unless given.
    step, gravity, contact, lower, upper, periodic, detection
        As of `Particles`.
    threads : int, optional
        Of each rank; one unless given.

    Examples
    --------
    >>> particles = DistributedParticles()
    >>> particles.add_wall("floor", HalfSpace([0.0, 0.0, 1.0], 0.0))
    >>> particles.add(Sphere(0.1), [[0.0, 0.0, 1.0]])
    array([0])
    >>> particles.step(10)
    >>> particles.gather()
    Particles(1 of 1 kinds, 1 walls, time=0.01 s)
    """

    def __init__(
        self,
        comm: Any = None,
        step: float = 1e-3,
        gravity: ArrayLike = (0.0, 0.0, -9.81),
        contact: Hard | Soft | Elastic | None = None,
        *,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
        periodic: ArrayLike = False,
        detection: str = "hybrid",
        threads: int | None = 1,
    ) -> None:
        world = mpi().COMM_WORLD
        super().__init__(step, gravity, contact, lower, upper, periodic, detection, threads)
        self._comm = world if comm is None else comm
        self._ranks = Ranks(self._comm, self._core, self._threads)

    @property
    def comm(self) -> Any:
        """The communicator."""
        return self._comm

    @property
    def bytes_sent(self) -> int:
        """What this rank has told others so far."""
        return self._ranks.bytes_sent

    @property
    def messages(self) -> int:
        """How many messages that took."""
        return self._ranks.messages

    def add(
        self,
        shape: Shape,
        poses: ArrayLike,
        velocities: ArrayLike | None = None,
        *,
        density: float = 1000.0,
        material: Material | None = None,
    ) -> Integers:
        """Add particles of one shape; all ranks call it, each with what it has, which may be none.

        Parameters
        ----------
        shape : Shape
            The same on all ranks.
        poses : array_like, (n, 4, 4) or (n, 3)
            Wherever they are: they are brought to the rank that they belong to.
        velocities : array_like, (n, 3) or (n, 6), optional
        density : float
        material : Material, optional

        Returns
        -------
        ndarray of int, (n,)
            Numbers of those that this rank gave: ranks count one after the other.
        """

        def checked() -> tuple[Floats, Floats, ParticleKind]:
            places = checked_places(np.empty((0, 3)) if np.size(poses) == 0 else poses)
            moving = checked_velocities(velocities if len(places) else None, len(places))
            return places, moving, checked_kind(shape, density, material)

        places, moving, like = agreed(self._comm, checked)
        kind = self._add_kind(like)
        counts = self._comm.allgather(len(places))
        first = self._next + sum(counts[: self._comm.rank])
        self._core.take_apart()
        self._core.add(kind, first, places, moving)
        self._next += sum(counts)
        return np.arange(first, first + len(places))

    def remove(self, ids: ArrayLike) -> None:
        """Remove particles; all ranks give the same numbers, wherever these particles are.

        Parameters
        ----------
        ids : array_like of int, (n,)
        """
        gone = checked_ids(ids)
        found = self._comm.allreduce(int(np.isin(self._records()[:, 0], gone).sum()))
        if found != gone.size:
            raise KeyError(f"of {gone.size} particles to be removed there are only {found}.")
        self._core.remove(gone)

    def step(self, n: int = 1) -> None:
        """Go on by some steps, all ranks together. If one of them fails, all are ended: others would wait for ever.

        Parameters
        ----------
        n : int
        """
        for _ in range(checked_steps(n)):
            lost = ended_together(self._comm, lambda: self._core.step_with(self._threads, self._ranks))
            self._raise_if_lost(lost)

    def __len__(self) -> int:
        return int(self._comm.allreduce(len(self._core.records(False))))

    def __repr__(self) -> str:
        return f"DistributedParticles(rank {self._comm.rank} of {self._comm.size}, time={self.time:g} s)"

    @property
    def energy(self) -> Energy:
        """Energy of the particles of all ranks, which all ask for it; without that of springs."""
        kinetic, potential = (self._comm.allreduce(part) for part in self._core.energy())
        return Energy(kinetic, potential, 0.0)

    def gather(self) -> Particles | None:
        """Give all particles to the first rank, as they are now; None to others."""
        pieces = self._comm.gather(self._checkpoint())
        return None if pieces is None else Checkpoint.merged(pieces).particles()

    def _checkpoint(self) -> Checkpoint:
        return Checkpoint.of(self, self._records(), self._core.memories())

    def save(self, folder: str | PathLike[str]) -> None:
        """Write a checkpoint: each rank its own piece, and the one before is removed when all are complete.

        Parameters
        ----------
        folder : path_like
            `load` and `Particles.load` read it, whatever the number of ranks.
        """
        comm = self._comm
        write_pieces(folder, self._checkpoint(), comm.rank, comm.size, lambda action: agreed(comm, action))

    @classmethod
    def load(cls, path: str | PathLike[str], comm: Any = None, threads: int | None = 1) -> DistributedParticles:
        """Read a checkpoint, on any number of ranks.

        Parameters
        ----------
        path : path_like
            Folder of `save`, or file of `Particles.save`.
        comm : mpi4py.MPI.Comm, optional
        threads : int, optional

        Returns
        -------
        DistributedParticles
        """
        comm = mpi().COMM_WORLD if comm is None else comm
        kept = agreed(comm, lambda: load_checkpoints(path, comm.rank, comm.size))
        particles = cls(comm, **kept.settings, threads=threads)
        kept.furnish(particles)
        particles._core.add_records(kept.records, False)
        if kept.about["largest_ball"] is None:
            particles._core.remember(kept.memories)
        else:
            particles._ranks.rebuild(kept.about["largest_ball"], kept.memories)
        return particles
