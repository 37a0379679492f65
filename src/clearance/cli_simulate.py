"""`clearance simulate`: run a scenario, record it, and leave a page that plays it."""

from __future__ import annotations

import json
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from types import FrameType
from typing import Annotated, Any

import typer

from .simulation.petersen_files import load_petersen
from .simulation.playback import playback
from .simulation.recordings import Recording
from .simulation.runs import simulate as run
from .simulation.scenario import Scenario, shipped_scenarios

__all__: list[str] = []

BAD_INPUT, FAILED, INTERRUPTED = 2, 1, 130
DEFAULT = "city"


def simulate(
    scenario: Annotated[
        str | None,
        typer.Argument(
            help="A scenario file (.toml), a MonsterTruck.cfg, or the name of a scenario that comes along: "
            f"{', '.join(shipped_scenarios())}. Without one: {DEFAULT}."
        ),
    ] = None,
    duration: Annotated[float | None, typer.Option(help="Seconds to simulate; the scenario says it otherwise.")] = None,
    out: Annotated[Path, typer.Option(help="The folder that gets the recording and the page.")] = Path("simulation"),
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run that was cut off.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a recording that is there already.")] = False,
    page: Annotated[bool, typer.Option("--page", help="Write playback.html, which plays it in the browser.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was done as JSON.")] = False,
    threads: Annotated[int | None, typer.Option(min=1, help="All cores unless given; the result is the same.")] = None,
) -> None:
    """Run a scenario of vehicles, humanoids, balls and houses, and record it.

    Examples:

    * `clearance simulate` runs a city of 52 houses

    * `clearance simulate bowling --page --out bowling`

    * `clearance simulate my.toml --duration 60`, and after Ctrl-C `clearance simulate my.toml --resume`

    Exit codes: 0 done, 1 could not be written, 2 bad input, 130 interrupted.
    """
    try:
        with _told_warnings():
            read = _read(DEFAULT if scenario is None else scenario)
        begun = perf_counter()
        with _stop_on_signals() as stop, _bar(read.title) as progress:
            recording = run(
                read,
                out,
                duration=duration,
                threads=threads,
                resume=resume,
                overwrite=overwrite,
                progress=progress,
                stop=stop,
            )
        if recording is None:
            _say(f"interrupted; what there is stays in {out}: go on with --resume.")
            raise typer.Exit(INTERRUPTED)
        where = _page(recording, out) if page else None
        _report(read, recording, perf_counter() - begun, out, where, as_json)
    except FileExistsError as error:
        _fail(f"{error} (--resume, --overwrite)", BAD_INPUT)
    except (ValueError, KeyError, FileNotFoundError, IsADirectoryError) as error:
        _fail(str(error.args[0] if isinstance(error, KeyError) else error), BAD_INPUT)
    except (OSError, ImportError, FloatingPointError) as error:
        _fail(str(error), FAILED)


def _read(name: str) -> Scenario:
    return load_petersen(name) if name.lower().endswith(".cfg") else Scenario.load(name)


def _page(recording: Recording, out: Path) -> Path:
    where = out / "playback.html"
    playback(recording, where)
    return where


def _report(
    scenario: Scenario, recording: Recording, seconds: float, out: Path, page: Path | None, as_json: bool
) -> None:
    simulated = float(recording.times[-1])
    if as_json:
        report = {
            "title": scenario.title,
            "bodies": len(recording.names),
            "simulated_seconds": simulated,
            "frames": len(recording),
            "scans": {name: len(track.times) for name, track in recording.scans.items()},
            "seconds": seconds,
            "recording": str(out / "recording.npz"),
            "page": None if page is None else str(page),
        }
        print(json.dumps(report))
        return
    scans = sum(len(track.times) for track in recording.scans.values())
    print(
        f"{scenario.title}: {len(recording.names)} bodies, {simulated:.2f} s in {len(recording)} frames, {scans} scans"
    )
    print(f"It took {seconds:.2f} s.")
    print(f"Recording: {out / 'recording.npz'}" + (f"; page: {page}" if page else ""))


@contextmanager
def _told_warnings() -> Iterator[None]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        yield
    for warning in found:
        _say(f"warning: {warning.message}")


@contextmanager
def _stop_on_signals() -> Iterator[Callable[[], bool]]:
    """The first signal asks for an end after the next frame; another one ends it at once."""
    asked: list[int] = []

    def ask(number: int, _: FrameType | None) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(number)

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: bool(asked)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _bar(title: str) -> Iterator[Any]:
    """A bar on a terminal, and nothing in a pipe."""
    if not sys.stderr.isatty():
        yield False
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(title, total=1.0)
        yield lambda fraction: bars.update(task, completed=fraction)


def _say(message: str) -> None:
    print(message, file=sys.stderr)


def _fail(message: str, code: int) -> None:
    _say(f"error: {message}")
    raise typer.Exit(code)
