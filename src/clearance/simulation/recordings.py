"""Recordings: poses and scans over time, kept on the disk while a world runs, so that a run that was cut off goes on.

What is unfinished stands in a folder of its own: frames as they come, and checkpoints of the world. A checkpoint counts
once the small file `state.json` names it, so whatever ends the program, the last one is whole. A run that goes on from
it gives the same bits as one that was never cut off.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..meshio import write_whole
from ..safe_files import read_whole
from ..scanner import Scan
from ..scene import Scene
from .archives import LARGEST, MOST_BYTES, UNREADABLE, read_arrays
from .world import World

__all__ = ["Recorder", "Recording", "ScanTrack"]

Floats = NDArray[np.float64]
Records = NDArray[Any]

FORMAT = "clearance recording 1"
UNFINISHED, STATE, FRAMES = "unfinished", "state.json", "frames.bin"


@dataclass(frozen=True, eq=False)
class ScanTrack:
    """All scans of one scanner.

    Attributes
    ----------
    times : ndarray, (k,)
        In seconds.
    poses : ndarray, (k, 4, 4)
        `world_from_sensor`.
    ranges : ndarray of float32, (k, rows, beams)
        In metres; +inf where nothing came back.
    directions : ndarray, (rows, beams, 3)
        Of the beams, in the frame of the sensor.
    range_max : float
        In metres.
    shown_beams : int
        How many of a row a playback shows.
    """

    times: Floats
    poses: Floats
    ranges: NDArray[np.float32]
    directions: Floats
    range_max: float
    shown_beams: int = 5


@dataclass(frozen=True, eq=False)
class Recording:
    """Where all bodies of a world were over time, and what scanners saw.

    Attributes
    ----------
    names : list of str
        Of the bodies.
    times : ndarray, (t,)
        In seconds.
    poses : ndarray, (t, n, 4, 4)
        `world_from_body`, with the precision that they were recorded with.
    world_bytes : bytes
        The world as it was at the first frame, see `world`.
    scans : dict of str to ScanTrack
        By the names of robots.
    colours : dict of str to str
        Of bodies, or of all bodies "name/...".
    scenario : str
        TOML that made the world; empty if there is none.

    Examples
    --------
    >>> from clearance.simulation import World
    >>> world = World()
    >>> world.add("ball", Sphere(0.1), [0.0, 0.0, 1.0])
    >>> with Recorder(world, "fall", rate=10.0) as recorder:
    ...     for _ in range(3):
    ...         recorder.take()
    ...         world.step(100)
    ...     recording = recorder.finish()
    >>> recording.times.round(3).tolist(), recording.poses.shape
    ([0.0, 0.1, 0.2], (3, 1, 4, 4))
    >>> Recording.load("fall/recording.npz").names
    ['ball']
    """

    names: list[str]
    times: Floats
    poses: NDArray[Any]
    world_bytes: bytes
    scans: dict[str, ScanTrack] = field(default_factory=dict)
    colours: dict[str, str] = field(default_factory=dict)
    scenario: str = ""

    def __len__(self) -> int:
        return len(self.times)

    def of(self, name: str) -> NDArray[Any]:
        """Give all poses of one body: (t, 4, 4)."""
        if name not in self.names:
            raise KeyError(f"the recording has no body '{name}'; it has {', '.join(self.names)}.")
        return self.poses[:, self.names.index(name)]

    def world(self) -> World:
        """Make the world anew, as it was at the first frame."""
        with TemporaryDirectory() as folder:
            path = Path(folder) / "world"
            path.write_bytes(self.world_bytes)
            return World.load(path)

    def scene(self, frame: int = -1) -> Scene:
        """Make a scene of what is visible in one frame, the last one unless given, to draw or to measure."""
        scene = self.world().scene()
        poses = dict(zip(self.names, self.poses[frame].astype(np.float64), strict=True))
        scene.move({name: poses[name] for name in scene.names})
        return scene

    def save(self, path: str | PathLike[str]) -> None:
        """Write it to a file .npz, as a whole or not at all."""
        arrays: dict[str, Any] = {
            "times": self.times,
            "poses": self.poses[..., :3, :],
            "world": np.frombuffer(self.world_bytes, dtype=np.uint8),
        }
        tracks = []
        for k, (name, track) in enumerate(self.scans.items()):
            tracks.append({"robot": name, "range_max": track.range_max, "shown_beams": track.shown_beams})
            arrays |= {
                f"scans{k}_times": track.times,
                f"scans{k}_poses": track.poses[..., :3, :],
                f"scans{k}_ranges": track.ranges,
                f"scans{k}_directions": track.directions,
            }
        about = {
            "format": FORMAT,
            "names": self.names,
            "colours": self.colours,
            "scenario": self.scenario,
            "scans": tracks,
        }
        arrays["about"] = np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)
        data = BytesIO()
        np.savez_compressed(data, **arrays)
        write_whole(path, data.getvalue())

    @classmethod
    def load(cls, path: str | PathLike[str], *, most_bytes: int = MOST_BYTES) -> Recording:
        """Read a recording.

        Parameters
        ----------
        path : path_like
            A file .npz, or the folder of a `Recorder` that has finished.
        most_bytes : int
            That a small file may unfold to; more of what you trust.

        Returns
        -------
        Recording

        Raises
        ------
        FileNotFoundError
            If there is none; all places are listed.
        ValueError
            If the file is damaged or something else.
        """
        found = _found(Path(path))
        data = read_whole(found, LARGEST)
        try:
            arrays = read_arrays(data, most_bytes)
            about = json.loads(arrays["about"].tobytes())
            if about["format"] != FORMAT:
                raise ValueError(f"its format is {about['format']!r:.60}, but {FORMAT!r} is expected")
            scans = {track["robot"]: _track(track, arrays, k) for k, track in enumerate(about["scans"])}
            times, poses = _times(arrays["times"]), arrays["poses"]
            names, colours, scenario = about["names"], about["colours"], about["scenario"]
            _check_words(names, [*scans, *colours, *colours.values(), scenario])
            if poses.dtype.kind != "f" or poses.shape != (len(times), len(names), 3, 4) or not np.isfinite(poses).all():
                raise ValueError(f"poses of shape {poses.shape} do not fit {len(names)} bodies at {len(times)} times")
            return cls(names, times, _with_last_row(poses), arrays["world"].tobytes(), scans, colours, scenario)
        except UNREADABLE as error:
            raise ValueError(f"{found} is no recording, or it is damaged: {error}.") from error


class Recorder:
    """Frames of a world, taken when asked for, and checkpoints of it, in a folder.

    Parameters
    ----------
    world : World
        Its bodies stay the same ones while it is recorded.
    folder : path_like
        Made if it is not there. `recording.npz` is what stays.
    rate : float
        Frames per second that `run` takes.
    precision : {"float32", "float64"}
        Of recorded poses; the world itself always is of the latter.
    checkpoint_every : float
        Seconds by the clock on the wall.
    colours : mapping of str to str, optional
        See `Recording`.
    scenario : str
        TOML that made the world; a run goes on only with the same one.
    scanners : mapping of str to (scanner, shown_beams), optional
        What scans will come from.
    overwrite : bool
        Replace a recording, finished or not, that is there already.

    Raises
    ------
    FileExistsError
        If a recording is there already.

    Examples
    --------
    >>> from clearance.simulation import World
    >>> world = World()
    >>> world.add("ball", Sphere(0.1), [0.0, 0.0, 1.0])
    >>> with Recorder(world, "cut off") as recorder:
    ...     recorder.run(0.1)
    ...     recorder.checkpoint()
    >>> with Recorder.resume("cut off") as recorder:
    ...     recorder.run(0.2)
    ...     recording = recorder.finish()
    >>> round(recorder.world.time, 3), len(recording)
    (0.2, 11)
    """

    def __init__(
        self,
        world: World,
        folder: str | PathLike[str],
        *,
        rate: float = 50.0,
        precision: str = "float32",
        checkpoint_every: float = 10.0,
        colours: Mapping[str, str] | None = None,
        scenario: str = "",
        scanners: Mapping[str, tuple[Any, int]] | None = None,
        overwrite: bool = False,
    ) -> None:
        most = 1.0 / world.step_length
        if not 0.0 < rate <= most * (1.0 + 1e-9):
            raise ValueError(f"rate must be above zero and at most {most:g}, a frame per step, but it is {rate!r}.")
        if precision not in ("float32", "float64"):
            raise ValueError(f"precision must be 'float32' or 'float64', but it is {precision!r}.")
        self.folder = Path(folder)
        _make_room(self.folder, overwrite)
        self.about: dict[str, Any] = {
            "format": FORMAT,
            "names": list(world.names),
            "rate": float(rate),
            "precision": precision,
            "checkpoint_every": float(checkpoint_every),
            "colours": dict(colours or {}),
            "scenario": scenario,
            "scans": {name: _about_scanner(*given) for name, given in (scanners or {}).items()},
        }
        for k, (scanner, _) in enumerate((scanners or {}).values()):
            np.save(self._part(f"directions{k}.npy"), scanner.directions)
        world.save(self._part("start"))
        self._begin(world, steps=0, counts={})
        self.checkpoint()

    @classmethod
    def resume(cls, folder: str | PathLike[str], *, threads: int | None = None) -> Recorder:
        """Go on with what was cut off.

        Parameters
        ----------
        folder : path_like
        threads : int, optional
            Of the world; all cores unless given.

        Returns
        -------
        Recorder
            Its `world` is as it was at the last checkpoint, and later frames are forgotten.

        Raises
        ------
        FileNotFoundError
            If there is nothing to go on with.
        ValueError
            If it is damaged.
        """
        recorder = cls.__new__(cls)
        recorder.folder = Path(folder)
        state = _read_state(recorder.folder / UNFINISHED / STATE)
        recorder.about = state["about"]
        world = World.load(recorder.folder / UNFINISHED / state["world"], threads=threads)
        recorder._begin(world, int(state["steps"]), state["counts"])
        recorder._checkpoint_name = state["world"]
        return recorder

    def _begin(self, world: World, steps: int, counts: Mapping[str, int]) -> None:
        self.world, self.steps = world, steps
        self._checkpoint_name = ""
        self._saved = time.monotonic()
        self._frames = _Log(self._part(FRAMES), self._frame_dtype(), counts.get(FRAMES, 0))
        self._scans = {
            name: _Log(self._part(f"scans{k}.bin"), _scan_dtype(about["shape"]), counts.get(f"scans{k}.bin", 0))
            for k, (name, about) in enumerate(self.about["scans"].items())
        }

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all files; what the last checkpoint holds can be gone on with."""
        for log in self._logs():
            log.close()

    @property
    def frames(self) -> int:
        """How many frames there are."""
        return self._frames.count

    def scan_count(self, name: str) -> int:
        """Tell how many scans of a robot there are."""
        return self._scans[name].count

    def step_of(self, number: int, rate: float | None = None) -> int:
        """Tell at which step the frame of some number is due, or anything else with a rate of its own."""
        return round(number / ((rate or self.about["rate"]) * self.world.step_length))

    def advance(self, steps: int) -> None:
        """Step the world."""
        if steps:
            self.world.step(steps)
            self.steps += steps

    def take(self) -> None:
        """Add a frame of the present."""
        if list(self.world.names) != self.about["names"]:
            raise ValueError("the bodies of a world must stay the same ones while it is recorded.")
        record = np.zeros((), self._frames.dtype)
        record["time"], record["poses"] = self.world.time, self.world.poses[:, :3]
        self._frames.append(record)

    def add_scan(self, name: str, scan: Scan, pose: Floats) -> None:
        """Add a scan of a robot, with the pose of the sensor in the world."""
        log = self._scans[name]
        record = np.zeros((), log.dtype)
        record["time"], record["pose"] = self.world.time, pose[:3]
        record["ranges"] = np.reshape(scan.ranges, record["ranges"].shape)
        log.append(record)

    def run(self, until: float) -> None:
        """Step the world until a time, with frames at their rate; a checkpoint now and then."""
        last = round(until / self.world.step_length)
        while self.step_of(self.frames) <= last:
            self.advance(self.step_of(self.frames) - self.steps)
            self.take()
            self.checkpoint_if_due()
        self.advance(last - self.steps)

    def checkpoint_if_due(self) -> None:
        """Keep a checkpoint if the last one is old enough."""
        if time.monotonic() >= self._saved + self.about["checkpoint_every"]:
            self.checkpoint()

    def checkpoint(self) -> None:
        """Keep all that a run needs to go on from here."""
        for log in self._logs():
            log.sync()
        name = f"world{self.steps}-{self.frames}"
        self.world.save(self._part(name))
        counts = {log.path.name: log.count for log in self._logs()}
        state = {"about": self.about, "steps": self.steps, "counts": counts, "world": name}
        write_whole(self._part(STATE), json.dumps(state).encode())
        if self._checkpoint_name not in ("", name):
            self._part(self._checkpoint_name).unlink(missing_ok=True)
        self._checkpoint_name, self._saved = name, time.monotonic()

    def finish(self) -> Recording:
        """Write `recording.npz` and leave nothing else.

        Returns
        -------
        Recording
        """
        frames = self._frames.read()
        scans = {}
        for k, (name, about) in enumerate(self.about["scans"].items()):
            found = self._scans[name].read()
            scans[name] = ScanTrack(
                found["time"].copy(),
                _with_last_row(found["pose"]),
                found["ranges"].copy(),
                np.load(self._part(f"directions{k}.npy"), allow_pickle=False),
                about["range_max"],
                about["shown_beams"],
            )
        recording = Recording(
            self.about["names"],
            frames["time"].copy(),
            _with_last_row(frames["poses"]),
            self._part("start").read_bytes(),
            scans,
            self.about["colours"],
            self.about["scenario"],
        )
        recording.save(self.folder / "recording.npz")
        self.close()
        shutil.rmtree(self.folder / UNFINISHED)
        return recording

    def _part(self, name: str) -> Path:
        return self.folder / UNFINISHED / name

    def _frame_dtype(self) -> np.dtype[Any]:
        return np.dtype([("time", "f8"), ("poses", self.about["precision"], (len(self.about["names"]), 3, 4))])

    def _logs(self) -> Iterable[_Log]:
        return [self._frames, *self._scans.values()]


class _Log:
    """A file of records of one kind, one after the other; those beyond `count` are cut off."""

    def __init__(self, path: Path, dtype: np.dtype[Any], count: int) -> None:
        self.path, self.dtype, self.count = path, dtype, count
        # A link would let a folder from elsewhere cut off any file.
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
        self.fd = os.open(path, flags, 0o666)
        size = os.fstat(self.fd).st_size
        if not 0 <= count * dtype.itemsize <= size:
            os.close(self.fd)
            raise ValueError(f"{path} has {size} bytes, but {count} records are {count * dtype.itemsize}.")
        os.ftruncate(self.fd, count * dtype.itemsize)
        os.lseek(self.fd, 0, os.SEEK_END)

    def append(self, record: Records) -> None:
        left = memoryview(record.tobytes())
        while left:
            left = left[os.write(self.fd, left) :]
        self.count += 1

    def sync(self) -> None:
        os.fsync(self.fd)

    def read(self) -> Records:
        return np.fromfile(self.path, self.dtype, self.count)

    def close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
        self.fd = -1


def _make_room(folder: Path, overwrite: bool) -> None:
    there = [folder / name for name in ("recording.npz", UNFINISHED) if (folder / name).exists()]
    if there and not overwrite:
        told = "a recording that is not finished" if there[-1].name == UNFINISHED else "a recording"
        raise FileExistsError(f"{folder} holds {told} already: go on with it, or overwrite it.")
    shutil.rmtree(folder / UNFINISHED, ignore_errors=True)
    (folder / UNFINISHED).mkdir(parents=True)


def _read_state(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise FileNotFoundError(f"there is nothing to go on with: {path.absolute()} is not there.")
    data = read_whole(path, LARGEST)
    try:
        state: dict[str, Any] = json.loads(data)
        about = state["about"]
        if about["format"] != FORMAT:
            raise ValueError(f"its format is {about['format']!r:.60}, but {FORMAT!r} is expected")
        if Path(state["world"]).name != state["world"] or not state["world"].startswith("world"):
            raise ValueError(f"{state['world']!r:.60} is no file beside it")
        _check_words(
            about["names"], [*about["scans"], *about["colours"], *about["colours"].values(), about["scenario"]]
        )
        _check_numbers([about["rate"], about["checkpoint_every"]])
        if about["precision"] not in ("float32", "float64"):
            raise ValueError(f"precision is {about['precision']!r:.60}")
        for scanner in about["scans"].values():
            rows, beams = scanner["shape"]
            _check_counts([rows, beams, scanner["shown_beams"]])
            _check_numbers([scanner["range_max"]])
        _check_counts([state["steps"], *state["counts"].values()])
        return {key: state[key] for key in ("about", "steps", "counts", "world")}
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"{path} is damaged: {type(error).__name__}: {error}.") from error


# What files tell -----------------------------------------------------------------------------------------------------


def _check_words(names: Any, others: Sequence[Any]) -> None:
    if not isinstance(names, list) or len(set(names)) != len(names):
        raise ValueError("its names are no list, or one of them stands there twice")
    if not all(isinstance(word, str) for word in (*names, *others)):
        raise ValueError("a name, a colour or the scenario is no text")


def _check_numbers(numbers: Sequence[Any]) -> None:
    for number in numbers:
        if type(number) not in (int, float) or not 0.0 < number < math.inf:
            raise ValueError(f"a rate, a time or a range is {number!r:.60}")


def _check_counts(counts: Sequence[Any]) -> None:
    for count in counts:
        if type(count) is not int or not 0 <= count < 1 << 53:
            raise ValueError(f"a count is {count!r:.60}")


def _times(times: Records) -> Records:
    if times.dtype != np.float64 or times.ndim != 1 or not np.isfinite(times).all() or (np.diff(times) < 0.0).any():
        raise ValueError("its times are not finite and ascending")
    return times


def _track(about: dict[str, Any], arrays: Mapping[str, Records], k: int) -> ScanTrack:
    times, poses, ranges, directions = (
        arrays[f"scans{k}_{part}"] for part in ("times", "poses", "ranges", "directions")
    )
    count = len(_times(times))
    if poses.shape != (count, 3, 4) or not np.isfinite(poses).all():
        raise ValueError(f"poses of scans of shape {poses.shape} do not fit {count} times")
    if ranges.dtype != np.float32 or ranges.shape != (count, *directions.shape[:2]) or directions.shape[2:] != (3,):
        raise ValueError(f"ranges of shape {ranges.shape} do not fit beams of shape {directions.shape}")
    if not np.isfinite(directions).all():
        raise ValueError("a beam has no direction")
    _check_numbers([about["range_max"]])
    _check_counts([about["shown_beams"]])
    return ScanTrack(times, _with_last_row(poses), ranges, directions, float(about["range_max"]), about["shown_beams"])


def _about_scanner(scanner: Any, shown_beams: int) -> dict[str, Any]:
    return {
        "shape": list(scanner.directions.shape[:2]),
        "range_max": float(scanner.range_max),
        "shown_beams": shown_beams,
    }


def _scan_dtype(shape: Sequence[int]) -> np.dtype[Any]:
    return np.dtype([("time", "f8"), ("pose", "f8", (3, 4)), ("ranges", "f4", tuple(shape))])


def _with_last_row(rows: NDArray[Any]) -> NDArray[Any]:
    poses = np.zeros((*rows.shape[:-2], 4, 4), rows.dtype)
    poses[..., :3, :] = rows
    poses[..., 3, 3] = 1.0
    return poses


def _found(path: Path) -> Path:
    candidates = [path, path / "recording.npz"]
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    places = "".join(f"\n    {candidate.absolute()}" for candidate in candidates)
    raise FileNotFoundError(f"there is no recording in any of these places:{places}")
