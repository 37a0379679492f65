"""Particles in files: kinds and walls as text and shapes, and where particles are, bit by bit."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ..meshio import write_whole
from ..safe_files import read_whole
from ..shapes import Shape
from .archives import LARGEST, UNREADABLE, packed, unpacked
from .laws import MOST_STEPS
from .masses import mass_from, mass_of
from .materials import Material, checked_number
from .particle_kinds import Floats, ParticleKind, ParticleRoom
from .particles import Particles
from .world_files import LAWS

__all__ = ["Checkpoint", "load_checkpoints", "load_particles", "save_particles", "write_pieces"]

FORMAT = "clearance particles 1"
RECORD, MEMORY = 19, 14  # numbers of a particle, and of a contact
PARTIAL, COMPLETE = ".clearance_partial", "checkpoint_"  # names in a folder


class Checkpoint:
    """All that particles are at a time, as bytes and back.

    Parameters
    ----------
    about : dict
        Laws, kinds, walls.
    shapes : list of Shape
        Of kinds, and of walls.
    records : ndarray, (n, 19)
        Particles as the core knows them, in the order of their numbers.
    memories : ndarray, (m, 14)
        Contacts to go on with.
    """

    def __init__(self, about: dict[str, Any], shapes: list[Any], records: Floats, memories: Floats) -> None:
        self.about, self.shapes, self.records, self.memories = about, shapes, records, memories

    @classmethod
    def of(cls, room: ParticleRoom, records: Floats, memories: Floats) -> Checkpoint:
        """Take it down.

        Parameters
        ----------
        room : ParticleRoom
        records, memories : ndarray
            Of all ranks, if there are several.

        Returns
        -------
        Checkpoint
        """
        about = {
            "format": FORMAT,
            "step": room.step_length,
            "gravity": room.gravity.tolist(),
            "contact": [type(room.contact).__name__, asdict(room.contact)],
            "lower": room._lower.tolist(),
            "upper": room._upper.tolist(),
            "periodic": room._periodic.tolist(),
            "detection": room.detection,
            "kinds": [_described(kind) for kind in room._kinds],
            "walls": [[name, wall.pose.tolist(), asdict(wall.material)] for name, wall in room._walls.items()],
            "steps": room._core.steps,
            "next": room._next,
            "largest_ball": room._core.largest_ball if room._core.is_built else None,
        }
        shapes = [kind.shape for kind in room._kinds] + [wall.shape for wall in room._walls.values()]
        return cls(about, shapes, records, memories)

    def to_bytes(self) -> bytes:
        """Put it into the bytes of a file."""
        return packed(self.about, self.shapes, {"records": self.records, "memories": self.memories})

    @classmethod
    def from_bytes(cls, data: bytes) -> Checkpoint:
        """Get it out of the bytes of a file, or raise a ValueError."""
        try:
            about, shapes, arrays = unpacked(data, FORMAT, ("records", "memories"))
            records, memories = (np.ascontiguousarray(array, np.float64) for array in arrays.values())
            if len(shapes) != len(about["kinds"]) + len(about["walls"]) or not all(map(_is_shape, shapes)):
                raise ValueError("it has other shapes than kinds and walls")
            _check_numbers(about, records, memories)
            return cls(about, shapes, records, memories)
        except UNREADABLE as error:
            raise ValueError(f"not the bytes of particles: {error}") from error

    @property
    def settings(self) -> dict[str, Any]:
        """Arguments of the room."""
        law, numbers = self.about["contact"]
        is_periodic = any(self.about["periodic"])
        return {
            "step": self.about["step"],
            "gravity": self.about["gravity"],
            "contact": LAWS[law](**numbers),
            "lower": self.about["lower"] if is_periodic else None,
            "upper": self.about["upper"] if is_periodic else None,
            "periodic": self.about["periodic"],
            "detection": self.about["detection"],
        }

    def furnish(self, room: ParticleRoom) -> None:
        """Put kinds and walls into a room that has none.

        Parameters
        ----------
        room : ParticleRoom
        """
        kinds = self.about["kinds"]
        for shape, (mass, material) in zip(self.shapes, kinds, strict=False):
            mass_of(shape)  # if there is any
            room._add_kind(ParticleKind(shape, mass_from(mass), Material(**material)), is_new=True)
        for shape, (name, pose, material) in zip(self.shapes[len(kinds) :], self.about["walls"], strict=True):
            room.add_wall(name, shape, pose, material=Material(**material))
        room._core.set_steps(self.about["steps"])
        room._next = int(self.about["next"])

    def particles(self, threads: int | None = None) -> Particles:
        """Make them all."""
        made = Particles(**self.settings, threads=threads)
        self.furnish(made)
        made._core.add_records(self.records, False)
        if self.about["largest_ball"] is None:
            made._core.remember(self.memories)
        else:
            made._core.lay_out(self.about["largest_ball"])
            made._core.find_pairs(self.memories, made.threads)
        return made

    @classmethod
    def merged(cls, pieces: Sequence[Checkpoint]) -> Checkpoint:
        """Put pieces of one moment together.

        Parameters
        ----------
        pieces : sequence of Checkpoint
            At least one.

        Returns
        -------
        Checkpoint
        """
        first = pieces[0]
        if any(piece.about != first.about for piece in pieces):
            raise ValueError("its pieces do not belong together")
        records = np.concatenate([piece.records for piece in pieces])
        memories = np.concatenate([piece.memories for piece in pieces])
        return cls(
            first.about,
            first.shapes,
            np.ascontiguousarray(records[np.argsort(records[:, 0], kind="stable")]),
            np.ascontiguousarray(memories[np.lexsort((memories[:, 1], memories[:, 0]))]),
        )


def write_pieces(
    folder: str | PathLike[str], piece: Checkpoint, rank: int, ranks: int, together: Callable[[Callable[[], Any]], Any]
) -> None:
    """Write the piece of this rank; the checkpoint before is removed when all pieces are there.

    Parameters
    ----------
    folder : path_like
    piece : Checkpoint
    rank, ranks : int
    together : callable
        Calls a function, and returns once all ranks have done so; raises on all of them if it failed on one.

    Examples
    --------
    >>> particles = Particles()
    >>> kept = Checkpoint.of(particles, particles._records(), particles._core.memories())
    >>> write_pieces("checkpoints", kept, 0, 1, lambda action: action())
    >>> load_checkpoints("checkpoints", 0, 1).particles()
    Particles(0 of 0 kinds, 0 walls, time=0 s)
    """
    home = Path(folder)
    partial = home / PARTIAL

    def begin() -> None:
        if rank == 0:
            shutil.rmtree(partial, ignore_errors=True)  # of a run that was killed
            partial.mkdir(parents=True)

    def end() -> None:
        if rank == 0:
            before = _complete(home)
            number = 1 + max((int(old.name.removeprefix(COMPLETE)) for old in before), default=0)
            partial.rename(home / f"{COMPLETE}{number:09d}")
            for old in before:
                shutil.rmtree(old)

    together(begin)
    together(lambda: write_whole(partial / f"{rank:06d}_of_{ranks:06d}.npz", piece.to_bytes()))
    together(end)


def load_checkpoints(path: str | PathLike[str], rank: int, ranks: int) -> Checkpoint:
    """Read a rank's share of what was saved.

    Parameters
    ----------
    path : path_like
        A file of `save_particles`, or a folder of `write_pieces`.
    rank, ranks : int

    Returns
    -------
    Checkpoint
        Each piece is read by one rank; those without a piece have no particles.

    Examples
    --------
    >>> save_particles(Particles(), "none.npz")
    >>> load_checkpoints("none.npz", 0, 1).records.shape
    (0, 19)
    """
    files = _pieces(Path(path))
    mine = [_read(file) for file in files[rank::ranks]]
    if mine:
        return Checkpoint.merged(mine)
    any_piece = _read(files[0])
    return Checkpoint(any_piece.about, any_piece.shapes, any_piece.records[:0], any_piece.memories[:0])


def _complete(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"{COMPLETE}[0-9]*"))


def _pieces(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    complete = _complete(path)
    if not complete:
        raise ValueError(f"{path} holds no complete checkpoint.")
    files = sorted(complete[-1].glob("*_of_*.npz"))
    wanted = int(files[0].stem.rpartition("_")[2]) if files else 1
    if len(files) != wanted:
        raise ValueError(f"{complete[-1]} has {len(files)} of {wanted} pieces.")
    return files


def _read(file: Path) -> Checkpoint:
    data = read_whole(file, LARGEST)
    try:
        return Checkpoint.from_bytes(data)
    except ValueError as error:
        raise ValueError(f"{file} is no file of particles: {error}") from error


def save_particles(particles: Particles, path: str | PathLike[str]) -> None:
    """Write particles; a file that is there is replaced when the new one is complete.

    Parameters
    ----------
    particles : Particles
    path : path_like

    Examples
    --------
    >>> save_particles(Particles(), "none.npz")
    >>> load_particles("none.npz")
    Particles(0 of 0 kinds, 0 walls, time=0 s)
    """
    kept = Checkpoint.of(particles, particles._records(), particles._core.memories())
    write_whole(path, kept.to_bytes())


def load_particles(path: str | PathLike[str], threads: int | None = None) -> Particles:
    """Read particles.

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
        If it is no file that `save_particles` wrote, and no folder of `write_pieces`.

    Examples
    --------
    >>> load_particles("none.npz")  # doctest: +SKIP
    """
    kept = load_checkpoints(path, 0, 1)
    try:
        return kept.particles(threads)
    except UNREADABLE as error:
        raise ValueError(f"{path} is no file of particles: {error}") from error


def _check_numbers(about: dict[str, Any], records: Floats, memories: Floats) -> None:
    """Refuse what no particles can have written."""
    if records.shape[1:] != (RECORD,) or memories.shape[1:] != (MEMORY,):
        raise ValueError(f"its arrays have the shapes {records.shape} and {memories.shape}")
    if not np.isfinite(records).all() or not np.isfinite(memories).all():
        raise ValueError("it holds numbers that are not finite")
    for name in ("steps", "next"):
        if type(about[name]) is not int or not 0 <= about[name] <= MOST_STEPS * 1_000_000:
            raise ValueError(f"its {name} are {about[name]!r}")
    numbers, slacks = records[:, 0], records[:, 18]
    is_whole = (records[:, :2] == np.floor(records[:, :2])).all(axis=1)
    if not (is_whole & (numbers < about["next"])).all() or np.unique(numbers).size < len(numbers):
        raise ValueError("its particles have numbers that cannot be")
    if (np.abs(np.linalg.norm(records[:, 5:9], axis=1) - 1.0) > 1e-6).any():
        raise ValueError("its particles have orientations that are no rotations")
    ball = about["largest_ball"]
    if ball is not None and (checked_number(ball, "largest_ball") < slacks.max(initial=0.0) or (slacks <= 0.0).any()):
        raise ValueError("its particles have no room")


def _is_shape(thing: Any) -> bool:
    return isinstance(thing, Shape)


def _described(kind: ParticleKind) -> list[Any]:
    mass = kind.mass
    return [[mass.mass, mass.centre.tolist(), mass.inertia.tolist()], asdict(kind.material)]
