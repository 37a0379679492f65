"""Long runs of particles that may be killed: they go on from the last checkpoint, and end with the same bits."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar, cast

from ..progress import reporter
from .distributed import DistributedParticles
from .grain_progress import teller
from .grain_recordings import LONGEST
from .materials import checked_number
from .particle_files import Checkpoint, _complete, write_pieces
from .particle_kinds import ParticleWork
from .particles import Particles
from .ranks import ended_together

__all__ = ["run"]

TOLD = 100  # times at most, of the way from the beginning to the end

Made = TypeVar("Made", Particles, DistributedParticles)


def run(
    start: Callable[[], Made],
    folder: str | PathLike[str],
    seconds: float,
    *,
    every: float = 1.0,
    comm: Any = None,
    progress: bool | Callable[[float], Any] = False,
) -> Made:
    """Step particles up to a time, with checkpoints on the way; if there is one, go on from there.

    Whatever killed a run, the same call finishes it, and particles end with the same bits as those of a run that
    nothing disturbed. With a communicator all ranks call it; there may be more or fewer of them than before. If one of
    them fails to begin or to save, all are ended, as others would wait for ever.

    Parameters
    ----------
    start : callable
        Makes the particles, if `folder` holds no complete checkpoint: `Particles`, or with `comm`
        `DistributedParticles`.
    folder : path_like
        For checkpoints of this run and of no other; made if it is not there.
    seconds : float
        Their `time` at the end. What is there may be continued with a later one.
    every : float
        Seconds of theirs from one checkpoint to the next. There is one at the end, too.
    comm : mpi4py.MPI.Comm, optional
        Of `DistributedParticles`.
    progress : bool or callable
        True: a bar on a terminal that tells of bodies, contacts and speed. A function is called with the fraction that
        is done. Only the first rank tells; under mpiexec even that one often has no terminal, but may call a function.

    Returns
    -------
    Particles or DistributedParticles
        What `start` makes, at the end.

    Raises
    ------
    ValueError
        If the checkpoint is damaged, or later than `seconds`.

    Examples
    --------
    >>> def start():
    ...     particles = Particles()
    ...     particles.add_wall("floor", HalfSpace([0.0, 0.0, 1.0], 0.0))
    ...     _ = particles.add(Sphere(0.1), [[0.0, 0.0, 1.0]])
    ...     return particles
    >>> run(start, "falling", 0.2, every=0.1)
    Particles(1 of 1 kinds, 1 walls, time=0.2 s)
    >>> run(start, "falling", 0.5)  # it begins at 0.2 s
    Particles(1 of 1 kinds, 1 walls, time=0.5 s)
    """
    until = checked_number(seconds, "seconds", 0.0, LONGEST)
    pause = checked_number(every, "every", above=True)
    reporter(progress)  # on all ranks, for its errors
    home = Path(folder)
    particles = ended_together(comm, lambda: _begun(start, home, comm))
    step = particles.step_length
    last, due, done = round(until / step), max(round(pause / step), 1), round(particles.time / step)
    if done > last:
        raise ValueError(f"{folder} holds particles at {particles.time:g} s, but they are wanted at {until:g} s.")
    news = _News(particles, comm, progress)
    while done < last:
        before, done = done, min(last, (done // due + 1) * due, done + max(last // TOLD, 1))
        particles.step(done - before)
        if done == last or done % due == 0:
            ended_together(comm, lambda: _save(particles, home))
        news.tell(done / last)
    return particles


def _begun(start: Callable[[], Made], home: Path, comm: Any) -> Made:
    is_first = comm is None or comm.rank == 0
    if is_first:
        home.mkdir(parents=True, exist_ok=True)
    is_there = bool(_complete(home)) if is_first else None
    if comm is not None:
        is_there = comm.bcast(is_there)
    if is_there:
        return cast(Made, Particles.load(home) if comm is None else DistributedParticles.load(home, comm))
    made = start()
    wanted = Particles if comm is None else DistributedParticles
    if not isinstance(made, wanted):
        raise TypeError(f"start must make {wanted.__name__}, but it made {made!r}; `comm` goes with distributed ones.")
    return made


def _save(particles: Particles | DistributedParticles, home: Path) -> None:
    if isinstance(particles, DistributedParticles):
        particles.save(home)
    else:
        kept = Checkpoint.of(particles, particles._records(), particles._core.memories())
        write_pieces(home, kept, 0, 1, lambda action: action())


class _News:
    """What a bar asks grains for, of all ranks together, and the bar, if the first rank has one."""

    def __init__(self, particles: Any, comm: Any, progress: bool | Callable[[float], Any]) -> None:
        self.particles, self.comm = particles, comm
        self.ids, self.work = range(0), ParticleWork(0, 0, 0, 0)
        grains: Any = self
        self._tell = teller(progress if comm is None or comm.rank == 0 else False, grains)
        self._is_wanted = self._tell is not None if comm is None else comm.bcast(self._tell is not None)

    @property
    def time(self) -> float:
        return float(self.particles.time)

    def tell(self, fraction: float) -> None:
        """Tell, if anybody listens; all ranks call it."""
        if not self._is_wanted:
            return
        mine = (len(self.particles.ids), self.particles.work.contacts)
        bodies, contacts = zip(*([mine] if self.comm is None else self.comm.allgather(mine)), strict=True)
        self.ids, self.work = range(sum(bodies)), self.particles.work._replace(contacts=sum(contacts))
        if self._tell is not None:
            self._tell(fraction)
