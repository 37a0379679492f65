"""Pictures of approaching hands, of distances and of work, like figures 8 to 10 of Täubig, Bäuml and Frese."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from taeubig_brakes import distances, proved
from taeubig_motions import BRAKING, CYCLE, HANDS, PROMPT, Brake, Floats, Pair, Recording, guard_of
from taeubig_tables import BUDGET, BUDGETS, spaced

import clearance as cl


def bounds(pair: Pair, guard: cl.Guard, recording: Recording) -> Floats:
    """What a guard happens to know of a pair in every cycle."""
    found = []
    for q, qd in zip(recording.q, recording.qd, strict=True):
        verdict = guard.update(q, qd)
        found.append(verdict.lower if verdict.pair == pair else guard.bounds[pair])
    return np.array(found)


def draw_approaches(runs: dict[float, tuple[Recording, Brake]], file: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 3.8), layout="constrained")
    for axes, (speed, (recording, brake)) in zip(figure.subplots(1, 3), runs.items(), strict=True):
        time = CYCLE * (np.arange(len(recording.q)) - brake.trigger)
        actual = 100 * distances(HANDS, np.array(recording.q))
        swept = 100 * proved(HANDS, BRAKING, *recording.rows())
        axes.axvspan(0.0, CYCLE * (brake.rest - brake.trigger), color="0.88", label="braking")
        axes.plot(time, actual, color="C3", label="distance of the hands")
        axes.plot(time, np.maximum(swept, 0.0), color="C2", label="of what they sweep")
        axes.plot(time[brake.trigger], actual[brake.trigger], "o", color="C3", ms=4)
        axes.set(xlim=(-0.12, time[-1]), ylim=(0.0, 1.05 * actual[time >= -0.12].max()), xlabel="time [s]")
        axes.set_title(f"{speed} m/s")
        axes.grid(alpha=0.3)
    figure.axes[0].set_ylabel("distance [cm]")
    figure.axes[0].legend()
    figure.savefig(file, dpi=110)


def draw_distances(recording: Recording, brakes: Sequence[Brake], file: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 7.5), layout="constrained")
    time, rows = CYCLE * np.arange(len(recording.q)), recording.rows()
    curves = {
        "actual distance": ("C3", 1.2, distances(HANDS, rows[0])),
        "swept, no latency": ("C9", 1.2, proved(HANDS, PROMPT, *rows)),
        f"swept, {spaced(BUDGET)} operations": ("C0", 0.8, bounds(HANDS, guard_of(BUDGET), recording)),
        "swept, plain": ("C2", 1.2, proved(HANDS, BRAKING, *rows)),
    }
    above, below = figure.subplots(2, 1)
    for axes in (above, below):
        for name, (colour, width, values) in curves.items():
            axes.plot(time, 100 * np.maximum(values, 0.0), color=colour, lw=width, label=name)
        for brake in brakes:
            axes.axvline(CYCLE * brake.trigger, color="k", lw=0.8)
            axes.axvline(CYCLE * brake.rest, color="k", lw=0.8, ls=":")
        axes.grid(alpha=0.3)
        axes.set(xlabel="time [s]", ylabel="distance of the hands [cm]")
    above.set(xlim=(0.0, time[-1]), ylim=(0.0, 25.0))
    below.set(xlim=(CYCLE * brakes[0].trigger - 0.25, CYCLE * brakes[0].rest + 0.45), ylim=(0.0, 20.0))
    below.set_title("the first of them: braking begins at the line and ends at the dots", fontsize="medium")
    figure.legend(*above.get_legend_handles_labels(), loc="outside upper center", ncols=4)
    figure.savefig(file, dpi=110)


def draw_work(recording: Recording, file: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    (q, qd), first = recording.rows(), 100
    for name, colour in zip(list(BUDGETS)[:4], ("C2", "C0", "C6", "C1"), strict=True):
        found = guard_of(BUDGETS[name]).replay(q, qd)
        left.plot(CYCLE * np.arange(len(q)), 1e-3 * found.work, color=colour, lw=0.9, label=name)
        right.plot(100 * np.maximum(found.lower[:first], 0.0), color=colour, lw=1.2, label=name)
    ticks = [10, 30, 55, 100, 200, 400]
    left.set(xlabel="time [s]", ylabel="operations per cycle [thousands]", yscale="log", xlim=(-0.1, None))
    left.set_yticks(ticks, [str(tick) for tick in ticks])
    left.set_yticks([], minor=True)
    right.set(
        xlabel="cycle", ylabel="least distance that is proved, of all pairs [cm]", xlim=(0, first - 1), ylim=(0.0, None)
    )
    for axes in (left, right):
        axes.grid(alpha=0.3)
    figure.legend(*right.get_legend_handles_labels(), loc="outside upper center", ncols=4)
    figure.savefig(file, dpi=110)
