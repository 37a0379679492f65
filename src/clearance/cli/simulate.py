"""`clearance simulate`: run a scenario, record it, and leave a page that plays it."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from types import FrameType
from typing import Annotated, Any

import typer

from ..simulation.playback import playback
from ..simulation.recordings import Recording
from ..simulation.runs import simulate as run
from ..simulation.scenario import Scenario, shipped_scenarios
from . import scenery
from .files import bar, check_folder, whole_file
from .outcomes import INTERRUPTED, AsJson, command, fail, report

__all__: list[str] = []

DEFAULT = "city"


@command
def simulate(
    scenario: Annotated[
        str | None,
        typer.Argument(
            metavar="SCENARIO",
            help="A scenario file (.toml), a MonsterTruck.cfg, or the name of a scenario that comes along: "
            f"{', '.join(shipped_scenarios())}. Without one: {DEFAULT}.",
        ),
    ] = None,
    duration: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="How long; the scenario says it otherwise.")
    ] = None,
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="The folder that gets the recording and the page.")
    ] = Path("simulation"),
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run that was cut off.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a recording that is there already.")] = False,
    page: Annotated[bool, typer.Option("--page", help="Write playback.html, which plays it in the browser.")] = False,
    threads: scenery.Threads = None,
    as_json: AsJson = False,
) -> None:
    """Run a scenario of vehicles, humanoids, balls and houses, and record it.

    Examples:

    * `clearance simulate` runs a city of 52 houses

    * `clearance simulate bowling --page --out bowling`

    * `clearance simulate my.toml --duration 60`, and after Ctrl-C `clearance simulate my.toml --resume`

    Exit codes: 0 done, 2 bad input, 3 could not be done, 130 interrupted.
    """
    if resume and overwrite:
        raise ValueError("--resume and --overwrite exclude each other.")
    read = scenery.read_scenario(DEFAULT if scenario is None else scenario)
    check_folder(out)
    begun = perf_counter()
    try:
        with _stop_on_signals() as stop, bar(read.title) as progress:
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
    except FileExistsError as error:
        raise ValueError(f"{error} (--resume, --overwrite)") from error
    if recording is None:
        fail(f"interrupted; what there is stays in {out}: go on with --resume.", INTERRUPTED)
    where = _page(recording, out) if page else None
    told = _told(read, recording, perf_counter() - begun, out, where)
    report(told, _lines(told), as_json)


def _page(recording: Recording, out: Path) -> Path:
    where = out / "playback.html"
    with whole_file(where) as unfinished:
        playback(recording, unfinished)
    return where


def _told(scenario: Scenario, recording: Recording, seconds: float, out: Path, page: Path | None) -> dict[str, Any]:
    return {
        "title": scenario.title,
        "bodies": len(recording.names),
        "simulated_seconds": float(recording.times[-1]),
        "frames": len(recording),
        "scans": {name: len(track.times) for name, track in recording.scans.items()},
        "seconds": seconds,
        "recording": out / "recording.npz",
        "page": page,
    }


def _lines(told: dict[str, Any]) -> Iterator[str]:
    yield (
        f"{told['title']}: {told['bodies']} bodies, {told['simulated_seconds']:.2f} s in {told['frames']} frames, "
        f"{sum(told['scans'].values())} scans"
    )
    yield f"It took {told['seconds']:.2f} s."
    yield f"Recording: {told['recording']}" + (f"; page: {told['page']}" if told["page"] else "")


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
