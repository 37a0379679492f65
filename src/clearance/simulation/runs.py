"""Scenarios that run: commands at their times, frames and scans at their rates, checkpoints now and then."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ..meshio import write_whole
from ..progress import reporter
from .guided import Guided
from .materials import checked_number
from .recordings import STATE, UNFINISHED, Recorder, Recording
from .scenario import Scenario
from .scenario_bodies import Built, colours_of, give_command

__all__ = ["simulate"]

LONGEST = 1e6  # seconds: frames of more would fill any disk


def simulate(
    scenario: Scenario,
    folder: str | PathLike[str],
    *,
    duration: float | None = None,
    threads: int | None = None,
    resume: bool = False,
    overwrite: bool = False,
    progress: bool | Callable[[float], Any] = False,
    stop: Callable[[], bool] | None = None,
) -> Recording | None:
    """Run a scenario and record it.

    Parameters
    ----------
    scenario : Scenario
    folder : path_like
        Gets `recording.npz`, and until that is done a folder with what is unfinished.
    duration : float, optional
        In seconds; that of the scenario unless given.
    threads : int, optional
        All cores unless given. The result does not depend on it.
    resume : bool
        Go on from the last checkpoint, if there is one.
    overwrite : bool
        Replace a recording that is there already.
    progress : bool or callable
        True: a bar on a terminal. A function is called with the fraction that is done.
    stop : callable, optional
        Asked after every frame; if it says yes, there is a checkpoint, and the run ends.

    Returns
    -------
    Recording or None
        None if it was stopped.

    Raises
    ------
    FileExistsError
        If the folder holds a recording, and neither `resume` nor `overwrite` is asked for.
    ValueError
        If what is to go on was begun with another scenario.

    Examples
    --------
    >>> scenario = Scenario.from_text('''
    ... [[balls]]
    ... position = [0.0, 0.0, 1.0]
    ... radius = 0.1
    ... ''')
    >>> recording = simulate(scenario, "falling ball", duration=0.1)
    >>> len(recording), recording.names
    (6, ['ground', 'ball1'])
    """
    length = checked_number(
        scenario.recording.duration if duration is None else duration, "duration", 0.0, LONGEST, above=True
    )
    folder = Path(folder)
    if resume and (done := _finished(scenario, folder, length)) is not None:
        return done
    told, built = reporter(progress), scenario.build(threads=threads)
    goes_on = resume and (folder / UNFINISHED / STATE).is_file()
    recorder = _resumed(scenario, folder, threads) if goes_on else _begun(scenario, built, folder, overwrite or resume)
    with recorder:
        for vehicle in built.vehicles.values():
            vehicle.world = recorder.world
        run = _Run(scenario, built, recorder)
        last = round(length / recorder.world.step_length)
        while recorder.step_of(recorder.frames) <= last:
            run.go_to(recorder.step_of(recorder.frames))
            recorder.take()
            if told is not None:
                told(recorder.steps / last)
            if stop is not None and stop():
                recorder.checkpoint()
                return None
            recorder.checkpoint_if_due()
        run.go_to(last)
        recording = recorder.finish()
    _write_scans(scenario, recording, folder)
    return recording


def _write_scans(scenario: Scenario, recording: Recording, folder: Path) -> None:
    """Write the scans of robots that want a file of their own."""
    for name, robot in _robots(scenario).items():
        if name in recording.scans and robot.scanner.file:
            track, data = recording.scans[name], BytesIO()
            np.savez_compressed(data, times=track.times, poses=track.poses, ranges=track.ranges)
            write_whole(folder / f"{robot.scanner.file}.npz", data.getvalue())


def _finished(scenario: Scenario, folder: Path, length: float) -> Recording | None:
    """What is there already, if it is done."""
    if (folder / UNFINISHED / STATE).is_file() or not (folder / "recording.npz").is_file():
        return None
    recording = Recording.load(folder)
    _check_same(scenario, recording.scenario, folder)
    if recording.times[-1] < length - 1.0 / scenario.recording.rate:
        raise ValueError(
            f"{folder} holds a finished recording of {recording.times[-1]:g} s, which does not go on to {length:g} s: "
            "begin anew with overwrite, or elsewhere."
        )
    return recording


def _check_same(scenario: Scenario, begun: str, folder: Path) -> None:
    if begun != scenario.to_toml():
        raise ValueError(f"what {folder} holds was begun with another scenario.")


def _resumed(scenario: Scenario, folder: Path, threads: int | None) -> Recorder:
    recorder = Recorder.resume(folder, threads=threads)
    try:
        _check_same(scenario, recorder.about["scenario"], folder)
    except ValueError:
        recorder.close()
        raise
    return recorder


def _begun(scenario: Scenario, built: Built, folder: Path, overwrite: bool) -> Recorder:
    shown = {name: robot.scanner.shown_beams for name, robot in _robots(scenario).items() if robot.scanner}
    scanners = {name: (mounted.scanner, shown[name]) for name, mounted in built.scanners.items()}
    settings = scenario.recording
    return Recorder(
        built.world,
        folder,
        rate=min(settings.rate, 1.0 / built.world.step_length),
        precision=settings.precision,
        checkpoint_every=settings.checkpoint_every,
        colours=colours_of(scenario),
        scenario=scenario.to_toml(),
        scanners=scanners if settings.scans else {},
        overwrite=overwrite,
    )


def _robots(scenario: Scenario) -> dict[str, Any]:
    return dict(zip(scenario.names("robots"), scenario.robots, strict=True))


class _Run:
    """Takes a world from step to step. All that it does depends on the number of the step alone, so it can go on."""

    def __init__(self, scenario: Scenario, built: Built, recorder: Recorder) -> None:
        self.built, self.recorder = built, recorder
        self.seed, self.step_length = scenario.world.seed, recorder.world.step_length
        self.guided = [
            vehicle for vehicle in built.vehicles.values() if isinstance(vehicle, Guided) and vehicle.commands
        ]
        self.robots = _robots(scenario)
        self.commands = [
            (round(command.time / self.step_length), name, command)
            for name, robot in self.robots.items()
            for command in robot.commands
            if robot.dynamics
        ]

    def go_to(self, target: int) -> None:
        recorder = self.recorder
        while True:
            self._act()
            if recorder.steps >= target:
                return
            until = min([target, *self._next_events()])
            if self.guided:
                until = recorder.steps + 1
                for vehicle in self.guided:
                    vehicle.guide(until * self.step_length)
            recorder.advance(until - recorder.steps)

    def _next_events(self) -> list[int]:
        now, recorder = self.recorder.steps, self.recorder
        scans = [self._scan_step(name) for name in recorder.about["scans"]]
        return [step for step in (*scans, *(step for step, _, _ in self.commands)) if step > now]

    def _act(self) -> None:
        now, recorder = self.recorder.steps, self.recorder
        for step, name, command in self.commands:
            if step == now:
                give_command(self.built.vehicles[name], command)
        for k, name in enumerate(recorder.about["scans"]):
            if self._scan_step(name) <= now:
                mounted = self.built.scanners[name]
                scan = mounted.scan([self.seed, k, recorder.scan_count(name)])
                recorder.add_scan(name, scan, mounted.pose)

    def _scan_step(self, name: str) -> int:
        return self.recorder.step_of(self.recorder.scan_count(name), self.robots[name].scanner.rate)
