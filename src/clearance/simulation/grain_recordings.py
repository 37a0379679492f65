"""Recordings of grains: where thousands of bodies were over time, for pages, films and other programs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..meshio import write_whole
from ..safe_files import read_whole
from ..shapes import Placed, Shape
from .archives import LARGEST, MOST_BYTES, UNREADABLE, packed, unpacked
from .grain_progress import teller
from .materials import checked_number

__all__ = ["GrainFrame", "GrainRecorder", "GrainRecording", "record"]

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Indices = NDArray[np.int64]

FORMAT = "clearance grains 1"
LONGEST = 1e6  # seconds: frames of more would fill any memory


class Snapshot(Protocol):
    """Bodies at one moment: `Particles`, or anything else that tells as much of itself."""

    @property
    def time(self) -> float: ...
    @property
    def ids(self) -> Indices: ...
    @property
    def kinds(self) -> NDArray[Any]: ...
    @property
    def shapes(self) -> tuple[Shape, ...]: ...
    @property
    def positions(self) -> NDArray[Any]: ...
    @property
    def turns(self) -> NDArray[Any]: ...


class Grains(Snapshot, Protocol):
    """Bodies that move on."""

    @property
    def step_length(self) -> float: ...
    @property
    def work(self) -> Any: ...
    def step(self, n: int = 1) -> None: ...


class GrainFrame(NamedTuple):
    """One moment of a recording: the bodies that were there.

    Attributes
    ----------
    time : float
        In seconds.
    ids : ndarray of int64, (m,)
        Their numbers, ascending.
    kinds : ndarray of int64, (m,)
        Places in `shapes`.
    shapes : tuple of Shape
        All of the recording.
    positions : ndarray of float32, (m, 3)
        Of their frames in the world, in metres.
    turns : ndarray of float32, (m, 4)
        Unit quaternions x, y, z, w.
    """

    time: float
    ids: Indices
    kinds: Indices
    shapes: tuple[Shape, ...]
    positions: Singles
    turns: Singles


@dataclass(frozen=True, eq=False)
class GrainRecording:
    """Where all bodies were over time. Whoever has been there in any frame has a place in all of them.

    Attributes
    ----------
    times : ndarray, (f,)
        In seconds, ascending.
    positions : ndarray of float32, (f, n, 3)
        Of the frames of bodies in the world, in metres; NaN in frames without the body.
    turns : ndarray of float32, (f, n, 4)
        Unit quaternions x, y, z, w; NaN in frames without the body.
    ids : ndarray of int64, (n,)
        Numbers of the bodies, ascending.
    kinds : ndarray of int64, (n,)
        Places in `shapes`.
    shapes : tuple of Shape
    walls : dict of str to Placed
        As they were at the first frame.

    Raises
    ------
    ValueError
        If parts do not fit each other.

    Examples
    --------
    >>> fall = GrainRecording(
    ...     times=np.array([0.0, 0.1]),
    ...     positions=np.array([[[0, 0, 1]], [[0, 0, 0.95]]], dtype=np.float32),
    ...     turns=np.array([[[0, 0, 0, 1]], [[0, 0, 0, 1]]], dtype=np.float32),
    ...     ids=np.array([0]),
    ...     kinds=np.array([0]),
    ...     shapes=(Sphere(0.1),),
    ...     walls={"floor": HalfSpace([0, 0, 1], 0.0).at(np.eye(4))},
    ... )
    >>> fall.save("fall.npz")
    >>> again = GrainRecording.load("fall.npz")
    >>> len(again), again.shapes, again.frame(1).positions.tolist()
    (2, (Sphere(0.1),), [[0.0, 0.0, 0.949999988079071]])
    """

    times: Floats
    positions: Singles
    turns: Singles
    ids: Indices
    kinds: Indices
    shapes: tuple[Shape, ...]
    walls: dict[str, Placed] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_arrays(self)
        _check_shapes(self)

    def __len__(self) -> int:
        return len(self.times)

    @property
    def present(self) -> NDArray[np.bool_]:
        """Who was there when: (f, n)."""
        there: NDArray[np.bool_] = ~np.isnan(self.positions[..., 0])
        return there

    def frame(self, number: int) -> GrainFrame:
        """Give the bodies that were there in a frame, the last one being -1.

        Parameters
        ----------
        number : int

        Returns
        -------
        GrainFrame
        """
        there = ~np.isnan(self.positions[number, :, 0])
        return GrainFrame(
            float(self.times[number]),
            self.ids[there],
            self.kinds[there],
            self.shapes,
            self.positions[number, there],
            self.turns[number, there],
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write it to a file .npz, as a whole or not at all."""
        about = {"format": FORMAT, "walls": list(self.walls)}
        shapes = [list(self.shapes), list(self.walls.values())]
        write_whole(path, packed(about, shapes, {name: getattr(self, name) for name in ARRAYS}, compressed=True))

    @classmethod
    def load(cls, path: str | PathLike[str], *, most_bytes: int = MOST_BYTES) -> GrainRecording:
        """Read a recording.

        Parameters
        ----------
        path : path_like
        most_bytes : int
            That a small file may unfold to; more of what you trust.

        Returns
        -------
        GrainRecording

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        ValueError
            If the file is damaged or something else. Nothing that it may hold is run.
        """
        data = read_whole(path, LARGEST)
        try:
            about, (shapes, walls), arrays = unpacked(data, FORMAT, ARRAYS, most_bytes)
            named = dict(zip(about["walls"], walls, strict=True))
            return cls(**arrays, shapes=tuple(shapes), walls=named)
        except UNREADABLE as error:
            raise ValueError(f"{path} is no recording of grains, or it is damaged: {error}") from error


ARRAYS: dict[str, tuple[type, tuple[int | str, ...]]] = {
    "times": (np.float64, ("f",)),
    "positions": (np.float32, ("f", "n", 3)),
    "turns": (np.float32, ("f", "n", 4)),
    "ids": (np.int64, ("n",)),
    "kinds": (np.int64, ("n",)),
}


def _check_arrays(recording: GrainRecording) -> None:
    sizes = {"f": len(recording.times), "n": len(recording.ids)}
    for name, (kind, letters) in ARRAYS.items():
        array = getattr(recording, name)
        shape = tuple(sizes[letter] if isinstance(letter, str) else letter for letter in letters)
        if not isinstance(array, np.ndarray) or array.dtype != kind or array.shape != shape:
            found = f"{array.dtype} {array.shape}" if isinstance(array, np.ndarray) else repr(array)
            raise ValueError(f"{name} must be {np.dtype(kind)} {shape}, but it is {found}.")
    if not np.isfinite(recording.times).all() or (np.diff(recording.times) < 0.0).any():
        raise ValueError("times must be finite and ascending.")
    if (np.diff(recording.ids) <= 0).any():
        raise ValueError("ids must be ascending, each of them once.")
    there = recording.present
    if not np.isfinite(recording.positions[there]).all() or not np.isnan(recording.positions[~there]).all():
        raise ValueError("a position must be three finite numbers, or NaN where a body is not there.")
    if not np.isnan(recording.turns[~there]).all():
        raise ValueError("turns must be NaN where positions are.")
    lengths = np.linalg.norm(recording.turns[there], axis=-1)
    if not (np.abs(lengths - 1.0) < 1e-3).all():
        raise ValueError("turns must be unit quaternions.")


def _check_shapes(recording: GrainRecording) -> None:
    shapes, kinds, walls = recording.shapes, recording.kinds, recording.walls
    if not isinstance(shapes, tuple) or not all(isinstance(shape, Shape) for shape in shapes):
        raise ValueError(f"shapes must be a tuple of shapes, but it is {shapes!r}.")
    if len(odd := kinds[(kinds < 0) | (kinds >= len(shapes))]):
        raise ValueError(f"there is a body of kind {odd[0]}, but there are {len(shapes)} shapes.")
    for name, wall in walls.items():
        if not isinstance(name, str) or not isinstance(wall, Placed):
            raise ValueError(f"walls must be placed shapes under names, but {name!r} is {wall!r}.")


class GrainRecorder:
    """Frames of grains, taken when asked for. Bodies may come and go between them.

    Parameters
    ----------
    grains : Particles
        Or anything else with its `time`, `ids`, `kinds`, `shapes`, `positions` and `turns`. A number is never given to
        another body again, and shapes stay where they are when others are added.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> grains = SimpleNamespace(
    ...     time=0.0,
    ...     ids=np.array([0, 1]),
    ...     kinds=np.array([0, 0]),
    ...     shapes=(Sphere(0.1),),
    ...     positions=np.array([[0.0, 0.0, 0.1], [0.0, 0.0, 0.3]]),
    ...     turns=np.array([[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 1.0]]),
    ... )
    >>> recorder = GrainRecorder(grains)
    >>> recorder.take()
    >>> grains.time, grains.ids, grains.kinds = 1.0, grains.ids[1:], grains.kinds[1:]
    >>> grains.positions, grains.turns = grains.positions[1:], grains.turns[1:]
    >>> recorder.take()
    >>> recorder.finish().present.tolist()
    [[True, True], [False, True]]
    """

    def __init__(self, grains: Snapshot) -> None:
        self.grains = grains
        self._frames: list[tuple[float, Indices, Singles, Singles]] = []
        self._shapes: tuple[Shape, ...] = ()
        self._kinds: list[tuple[Indices, Indices]] = []  # of bodies, whenever there are others than before
        walls: Mapping[str, Any] = getattr(grains, "walls", {})
        self._walls: dict[str, Placed] = {name: wall.shape.at(wall.pose) for name, wall in walls.items()}

    def __len__(self) -> int:
        return len(self._frames)

    def take(self) -> None:
        """Add a frame of the present."""
        ids = np.array(self.grains.ids, dtype=np.int64)
        if self._kinds and np.array_equal(ids, self._kinds[-1][0]):
            ids = self._kinds[-1][0]
        else:
            self._keep_shapes()
            self._kinds.append((ids, np.array(self.grains.kinds, dtype=np.int64)))
        positions, turns = (np.array(rows, dtype=np.float32) for rows in (self.grains.positions, self.grains.turns))
        self._frames.append((float(self.grains.time), ids, positions, turns))

    def _keep_shapes(self) -> None:
        shapes = tuple(self.grains.shapes)
        if shapes[: len(self._shapes)] != self._shapes:
            raise ValueError("shapes must stay where they are while grains are recorded; others may be added.")
        self._shapes = shapes

    def finish(self) -> GrainRecording:
        """Put all frames together.

        Returns
        -------
        GrainRecording
        """
        none = np.empty(0, dtype=np.int64)
        ids, first = np.unique(np.concatenate([none, *(ids for ids, _ in self._kinds)]), return_index=True)
        kinds = np.concatenate([none, *(kinds for _, kinds in self._kinds)])[first]
        positions = np.full((len(self), len(ids), 3), np.nan, dtype=np.float32)
        turns = np.full((len(self), len(ids), 4), np.nan, dtype=np.float32)
        for k, (_, those, places, directions) in enumerate(self._frames):
            rows = np.searchsorted(ids, those)
            positions[k, rows], turns[k, rows] = places, directions
        times = np.array([time for time, *_ in self._frames], dtype=np.float64)
        return GrainRecording(times, positions, turns, ids, kinds, self._shapes, self._walls)


def record(
    grains: Grains, seconds: float, *, fps: float = 25.0, progress: bool | Callable[[float], Any] = False
) -> GrainRecording:
    """Let grains move on, and keep frames of it: the first of the present, the last of the end.

    Parameters
    ----------
    grains : Particles
    seconds : float
        How long, of their time.
    fps : float
        Frames per second of their time; at most one per step.
    progress : bool or callable
        True: a bar on a terminal that tells of bodies, contacts and speed, in seconds of theirs per second of ours. A
        function is called with the fraction that is done, after every frame, and may add bodies and remove them.

    Returns
    -------
    GrainRecording

    Examples
    --------
    >>> from clearance.simulation import Particles
    >>> grains = Particles()
    >>> grains.add_wall("floor", HalfSpace([0, 0, 1], 0.0))
    >>> ids = grains.add(Sphere(0.1), [[0.0, 0.0, 0.5], [0.0, 0.05, 0.8]])
    >>> recording = record(grains, 1.0, fps=10.0)
    >>> recording.positions.shape
    (11, 2, 3)
    """
    step = grains.step_length
    length = checked_number(seconds, "seconds", 0.0, LONGEST, above=True)
    rate = checked_number(fps, "fps", 0.0, (1.0 + 1e-9) / step, above=True)
    last = max(round(length / step), 1)
    frames = np.round(np.arange(np.floor(length * rate) + 1.0) / (rate * step)).astype(np.int64)
    due = np.unique(np.append(frames[frames <= last], last))
    recorder, tell = GrainRecorder(grains), teller(progress, grains)
    recorder.take()
    for before, after in itertools.pairwise(due.tolist()):
        grains.step(after - before)
        recorder.take()
        if tell is not None:
            tell(after / last)
    return recorder.finish()
