"""`clearance guard`: what would the guard have said, cycle by cycle of a log?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.table import Table
from rich.text import Text

from .. import samples
from ..braking import Braking
from ..guard import REASONS, Guard, Replay
from ..robots import Robot
from ..scene import Scene
from ..surfaces import extra
from . import scenery
from .files import PAGES, bar, check_ending, check_writable, read_numbers, whole_file, write_csv
from .outcomes import AsJson, command, counted, end, files_line, millimetres, report, say, table, verdict, written
from .scenery import RobotWords, Setting

__all__: list[str] = []

Floats = NDArray[np.float64]

STEP, SPEED = 0.01, 1.1  # seconds and m/s, of the sample
CHUNK = 200  # cycles between two looks at the keyboard
MOST_WARM_UPS = 1000
COLUMNS = [
    *("cycle", "time", "stop", "reason", "body_a", "body_b", "lower", "distance", "time_to_contact", "work"),
]


@dataclass(frozen=True, eq=False)
class Log:
    """What the joints did, cycle by cycle."""

    time: Floats | None
    q: Floats
    qd: Floats
    command: Floats | None

    def __len__(self) -> int:
        return len(self.q)

    def part(self, rows: slice) -> Log:
        time, command = (None if column is None else column[rows] for column in (self.time, self.command))
        return Log(time, self.q[rows], self.qd[rows], command)


@command
def guard(
    robot: scenery.RobotFile = None,
    *,
    log: Annotated[
        Path | None, typer.Option(metavar="FILE", help="CSV or .npy of what the joints did, one cycle per row.")
    ] = None,
    cell: scenery.Cell,
    allow: scenery.Allow,
    margin: scenery.Margin = 0.0,
    latency: Annotated[
        float, typer.Option(metavar="SECONDS", help="Time from a measurement until braking begins.")
    ] = 0.01,
    acceleration: Annotated[
        float, typer.Option(metavar="NUMBER", help="The worst of any joint until then, per s^2.")
    ] = 20.0,
    deceleration: Annotated[
        float, typer.Option(metavar="NUMBER", help="The least of any joint from then on, per s^2.")
    ] = 20.0,
    uncertainty: Annotated[
        float, typer.Option(metavar="NUMBER", help="Of measured positions, in radians or metres.")
    ] = 0.0,
    budget: Annotated[int, typer.Option(metavar="N", help="Operations per cycle that go into distances.")] = 55_000,
    timeout: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="An update later than this is too late.")
    ] = None,
    cold: Annotated[
        bool, typer.Option("--cold", help="Start the guard with the log, not at rest in its first posture.")
    ] = False,
    scale: scenery.CellScale = 1.0,
    srdf: scenery.Srdf = None,
    packages: scenery.Packages,
    collision: scenery.CollisionKind = scenery.Collision.hull,
    out: Annotated[Path | None, written("A CSV file for the verdicts, one row per cycle.")] = None,
    page: Annotated[Path | None, written("An HTML file: the first stop, and what is swept until then.")] = None,
    as_json: AsJson = False,
) -> None:
    """Replay a log: in which cycles would the guard have told the robot to brake, and why?

    Columns of the log are `time` (seconds, may be left out), `q.JOINT` for positions, `qd.JOINT` for velocities and, if
    they are known, `command.JOINT` for accelerations; without names they stand in that order, joint by joint. A number
    that is missing or NaN is one that the robot did not measure: the guard says stop. Without any files it is a sample:
    a humanoid claps its hands at 1.1 m/s.

    Examples:

    * `clearance guard --latency 0.02`

    * `clearance guard arm.urdf --log log.csv --cell table.stl --margin 0.01 --out verdicts.csv`

    Exit codes: 0 it never said stop, 1 it said stop, 2 bad input, 3 could not be done, 130 interrupted.
    """
    check_ending("--page", page, *PAGES)
    check_writable(out, page)
    if page is not None:
        extra("trimesh")
    words = RobotWords(robot, srdf, packages, collision, cell, scale, allow)
    setting = words.read(Setting(samples.upper_body(), Scene()))
    if log is None and robot is not None:
        raise ValueError("a robot needs a --log of what its joints did.")
    cycles = sample_log() if log is None else read_log(log, setting.robot)
    watching = Guard(
        setting.robot,
        setting.world,
        braking=Braking(latency, acceleration, deceleration, uncertainty),
        budget=budget,
        margin=margin,
        timeout=timeout,
    )
    if not cold:
        _warm_up(watching, cycles)
    with bar("replaying") as progress:
        found = replay(watching, cycles, progress)
    if out is not None:
        write_csv(out, COLUMNS, _rows(found, cycles))
    first = int(np.argmax(found.stop)) if found.stop.any() else None
    if page is not None:
        _write_page(setting, watching, cycles, first or 0, found, page)
    report(_told(setting, found, cycles, first, out, page), _lines(setting, found, cycles, first, out, page), as_json)
    if setting.is_without_pairs:
        say(scenery.NOTHING_TO_CHECK)
    end(first is None)


def sample_log() -> Log:
    """The humanoid claps, until its hands are where they would touch."""
    motion = samples.upper_body_clap(SPEED)
    time = np.arange(int(motion.duration / 1.1 / STEP) + 1, dtype=np.float64) * STEP
    return Log(time, motion.start + time[:, None] * motion.velocity, np.tile(motion.velocity, (len(time), 1)), None)


def read_log(path: Path, robot: Robot) -> Log:
    """Read what the joints did; numbers that are missing are for the guard to judge."""
    numbers = read_numbers(path)
    q, qd = scenery.value_names(robot), scenery.velocity_names(robot)
    groups = {
        "time": ["time"],
        "q": [f"q.{name}" for name in q],
        "qd": [f"qd.{name}" for name in qd],
        "command": [f"command.{name}" for name in qd],
    }
    numbers.check_known([name for names in groups.values() for name in names])
    width = numbers.values.shape[1]
    is_there = {"q": True, "qd": True}
    if numbers.heads:
        is_there |= {kind: any(name in numbers.heads for name in groups[kind]) for kind in ("time", "command")}
    else:
        is_there |= {"time": width != len(q) + len(qd), "command": width > 1 + len(q) + len(qd)}
    chosen = {kind: groups[kind] for kind in groups if is_there[kind]}
    values = numbers.columns([name for names in chosen.values() for name in names])
    ends = np.cumsum([len(names) for names in chosen.values()])[:-1]
    columns: dict[str, Any] = dict(zip(chosen, np.split(values, ends, axis=1), strict=True))
    time = columns.get("time")
    return Log(None if time is None else time[:, 0], columns["q"], columns["qd"], columns.get("command"))


def _warm_up(watching: Guard, cycles: Log) -> None:
    """Let the guard get to know all pairs while the robot stands where it will begin."""
    time = None if cycles.time is None else float(cycles.time[0])
    still = np.zeros(cycles.qd.shape[1])
    for _ in range(MOST_WARM_UPS):
        if watching.update(cycles.q[0], still, time=time).reason != "budget":
            return


def replay(watching: Guard, cycles: Log, progress: Callable[[float], None]) -> Replay:
    """Go through a log part by part, as if it were one call."""
    parts = []
    for begin in range(0, len(cycles), CHUNK):
        part = cycles.part(slice(begin, begin + CHUNK))
        parts.append(watching.replay(part.q, part.qd, command=part.command, time=part.time))
        progress(min(1.0, (begin + CHUNK) / len(cycles)))
    columns = {field.name: [getattr(part, field.name) for part in parts] for field in fields(Replay)}
    return Replay(**{name: np.concatenate(column) for name, column in columns.items()})


def _rows(found: Replay, cycles: Log) -> Iterator[list[Any]]:
    for k in range(len(cycles)):
        numbers = (getattr(found, name)[k] for name in ("lower", "distance", "time_to_contact"))
        time = "" if cycles.time is None else float(cycles.time[k])
        yield [k, time, found.stop[k], str(found.reason[k]), *found.pair[k], *map(float, numbers), int(found.work[k])]


def _told(
    setting: Setting, found: Replay, cycles: Log, first: int | None, out: Path | None, page: Path | None
) -> dict[str, Any]:
    return {
        "robot": setting.robot.name,
        "bodies": setting.world.names,
        "cycles": len(cycles),
        "stop": first is not None,
        "reasons": {reason: int(np.count_nonzero(found.reason == reason)) for reason in REASONS},
        "first_stop": None if first is None else _cycle(found, cycles, first),
        "least": _cycle(found, cycles, int(np.argmin(found.lower))),
        "largest_work": int(found.work.max()),
        "median_seconds": float(np.median(found.seconds)),
        "largest_seconds": float(found.seconds.max()),
        "out": out,
        "page": page,
    }


def _cycle(found: Replay, cycles: Log, k: int) -> dict[str, Any]:
    return {
        "cycle": k,
        "time": None if cycles.time is None else cycles.time[k],
        "reason": str(found.reason[k]),
        "pair": list(found.pair[k]),
        **{name: getattr(found, name)[k] for name in ("lower", "distance", "time_to_contact")},
    }


def _lines(
    setting: Setting, found: Replay, cycles: Log, first: int | None, out: Path | None, page: Path | None
) -> Iterator[str | Text | Table]:
    yield f"{setting.title}, {counted(len(cycles), 'cycle')}."
    if first is None:
        least = int(np.argmin(found.lower))
        yield verdict(True, "CLEAR", "it never says stop.")
        if np.isfinite(found.lower[least]):
            yield f"Least to spare: {millimetres(found.lower[least])}, {_pair(found, least)}, {_when(cycles, least)}."
    else:
        yield verdict(False, "STOP", f"first at {_when(cycles, first)}, because of {_because(found, first)}.")
    yield ""
    counts = [(reason, int(np.count_nonzero(found.reason == reason))) for reason in REASONS]
    yield table(
        ["reason", "verdict", ">cycles", ">first", "pair", ">lower", ">distance"],
        (_reason_row(found, cycles, reason, count) for reason, count in counts if count),
    )
    yield ""
    yield (
        f"A cycle took {1e6 * np.median(found.seconds):.0f} us at the median and {1e6 * found.seconds.max():.0f} us "
        f"at most, with up to {int(found.work.max())} operations."
    )
    yield from files_line(out, page)


def _reason_row(found: Replay, cycles: Log, reason: str, count: int) -> tuple[str, ...]:
    k = int(np.argmax(found.reason == reason))
    told = [millimetres(value) if np.isfinite(value) else "-" for value in (found.lower[k], found.distance[k])]
    return reason, "stop" if found.stop[k] else "go on", str(count), _when(cycles, k), _pair(found, k), *told


def _because(found: Replay, k: int) -> str:
    reason = str(found.reason[k])
    if reason != "pair":
        return f"'{reason}'"
    return f"{_pair(found, k)}, {millimetres(found.distance[k])} apart"


def _pair(found: Replay, k: int) -> str:
    return " and ".join(found.pair[k]) if found.pair[k][0] else "-"


def _when(cycles: Log, k: int) -> str:
    return f"cycle {k}" if cycles.time is None else f"{cycles.time[k]:.3f} s"


def _write_page(setting: Setting, watching: Guard, cycles: Log, k: int, found: Replay, page: Path) -> None:
    """Show the first stop, or the first cycle, and what the links sweep until they stand still."""
    from ..guard_plots import swept_scene
    from ..pages import page as write_page

    watching.reset()
    watching.update(cycles.q[k], cycles.qd[k], time=None if cycles.time is None else float(cycles.time[k]))
    swept, (a, b) = watching.sweep(), found.pair[k]
    shared = [frame for frame in swept.frames(a) if b in swept.links and frame in swept.frames(b)] if a else []
    ghost = swept_scene(swept, cycles.q[k], shared[0] if shared else None)
    scene = setting.robot.scene(cycles.q[k], setting.world)
    if a:
        for pair in scene.pairs:
            scene.ignore(*pair)
        scene.watch(a, b)
    with whole_file(page) as unfinished:
        write_page(scene, unfinished, closest=1, ghosts=[ghost])
