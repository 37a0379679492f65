"""Tables of brakes and of what a guard costs, beside the printed figures of Täubig, Bäuml and Frese."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from measure import Table
from numpy.typing import NDArray
from taeubig_brakes import Lengths, distances
from taeubig_motions import HANDS, Brake, Floats, Recording, guard_of

import clearance as cl

Studies = dict[str, list[Lengths]]

# Table I, in cm and cm/s, and figure 8.
PRINTED = {
    "bounded": (5.8, 7.5, 5.8, 7.5, 4.6, 6.3, 4.6),
    "actual": (3.0, 4.1, 2.9, 4.1, 1.9, 2.2, 1.9),
    "factor": (1.9, 1.8, 2.0, 1.8, 2.4, 2.9, 2.4),
    "prompt": (4.3, 5.5, 4.3, 5.5, 3.4, 4.9, 3.4),
    "speed": (40, 65, 40, 65, 34, 49, 34),
}
SPEEDS = 0.22, 0.65, 1.1  # m/s, of hands
PRINTED_APPROACH = {0.22: (1.2, 0.7, 0.5), 0.65: (4.1, 2.5, 1.6), 1.1: (11.0, 5.8, 6.2)}


def cm(length: float) -> str:
    return f"{100 * length:.1f}"


def finer(length: float) -> str:
    return f"{100 * length:.2f}"


def spaced(number: float) -> str:
    return f"{number:,.0f}".replace(",", " ")


def table_of_approaches(runs: dict[float, tuple[Recording, Brake]]) -> Table:
    table = Table(
        "Figure 8: hands that approach each other",
        [
            "m/s",
            "distance at the trigger, cm",
            "printed",
            "least distance, cm",
            "printed",
            "braking distance, cm",
            "printed",
        ],
    )
    for speed, (recording, brake) in runs.items():
        found = distances(HANDS, np.array(recording.q[brake.trigger : brake.rest + 1]))
        began, way, left = PRINTED_APPROACH[speed]
        ours = cm(found[0]), cm(found.min()), cm(found[0] - found.min())
        cells = [cell for both in zip(ours, map(str, (began, left, way)), strict=True) for cell in both]
        table.add(str(speed), *cells)
    table.notes.append(
        "The distance of the hands when the guard said stop, the least one afterwards, which is by how much it was too "
        "careful, and the difference. Our brakes act at once, and with 20 rad/s²; the printed ones are of a real robot."
    )
    return table


def table_of_brakes(found: Sequence[Lengths]) -> Table:
    """Table I, brake by brake."""
    table = Table("Table I: every brake of figure 9", ["", *(str(k + 1) for k in range(len(found))), "printed"])

    def add(name: str, values: Sequence[float], shown: Callable[[float], str], printed: Sequence[float]) -> None:
        known = f"{min(printed)} to {max(printed)}" if len(printed) else "-"
        table.add(name, *(shown(value) for value in values), known)

    bounded, actual = (np.array(PRINTED[name]) for name in ("bounded", "actual"))
    add("bounded braking distance, cm", [one.bounded for one in found], cm, PRINTED["bounded"])
    add("actual braking distance, cm", [one.actual for one in found], cm, PRINTED["actual"])
    add("over-estimation, cm", [one.bounded - one.actual for one in found], cm, (bounded - actual).round(1))
    add("over-estimation factor", [one.factor(one.late) for one in found], "{:.2f}".format, PRINTED["factor"])
    add(
        "braking distance, no latency, cm",
        [one.at_trigger - one.lower_without_latency for one in found],
        cm,
        PRINTED["prompt"],
    )
    add("speed of approach, cm/s", [one.speed for one in found], lambda speed: f"{100 * speed:.0f}", PRINTED["speed"])
    add("distance at the trigger, cm", [one.at_trigger for one in found], cm, ())
    add("actual, if brakes act at once, cm", [one.at_trigger - one.at_once for one in found], cm, ())
    mean = np.mean([one.bounded - one.actual for one in found])
    table.notes.append(
        f"Mean over-estimation {cm(mean)} cm (printed: 3.1), mean factor "
        f"{np.mean([one.factor(one.late) for one in found]):.2f} (printed: 2.17). The bounded braking distance is what "
        "the distance of the hands can shrink by until they stand, as it is proved in the cycle that triggers the "
        "brake: their distance less that of what they sweep. The actual one is what it shrinks by if the joints go on "
        "as planned for the latency and brake then, which is the motion that the proof is about. In the closed loop "
        "they brake at once, as the latency has passed already: it is the cycle before, when the guard still said go."
    )
    return table


def table_of_factors(studies: Studies) -> Table:
    table = Table(
        "Over-estimation",
        [
            *("motions", "brakes", "cm/s", "bounded, cm", "actual, cm", "over-estimation, cm", "latency adds, cm"),
            *("factor, mean", "median", "largest", "median at the worst", "median at once"),
        ],
    )
    for name, found in studies.items():

        def mean(value: Callable[[Lengths], float], found: list[Lengths] = found) -> float:
            return float(np.mean([value(one) for one in found]))

        factors = np.array([one.factor(one.late) for one in found])
        table.add(
            *(name, str(len(found)), f"{100 * mean(lambda one: one.speed):.0f}"),
            *(finer(mean(lambda one: one.bounded)), finer(mean(lambda one: one.actual))),
            finer(mean(lambda one: one.bounded - one.actual)),
            finer(mean(lambda one: one.lower_without_latency - one.lower)),
            *(float(factors.mean()), float(np.median(factors)), float(factors.max())),
            "-" if "command" in name else float(np.median([one.factor(one.late_at_worst) for one in found])),
            float(np.median([one.factor(one.at_once) for one in found])),
        )
    bounded, actual, prompt = (np.array(PRINTED[name]) for name in ("bounded", "actual", "prompt"))
    factors = PRINTED["factor"]
    table.notes.append(
        "Means over brakes, one motion for each seed. *Hands*: mirror images of many claps. *Anything*: both arms move "
        "between any two postures, and any pair of links may be the one. The fastest joint has 0.1 to 1 times 0.75 pi "
        "rad/s. Factors are bounded / actual; *at the worst*, if the joints speed up by 20 rad/s² for the latency, as "
        "the intervals allow for; *at once*, if they brake without latency, as in the closed loop. *Latency adds*: the "
        "bounded distance less that of a guard without latency. *Command known*: the guard is told what the joints do "
        "next, to within 2 rad/s², as the document proposes. Whether the printed actual distances contain a latency is "
        "not said; 3.0 cm from 40 cm/s on are more than joints of 2.36 rad/s need without one."
    )
    table.add(
        *("printed, Table I", str(len(bounded)), f"{np.mean(PRINTED['speed']):.0f}"),
        *(
            f"{value:.2f}"
            for value in (bounded.mean(), actual.mean(), (bounded - actual).mean(), (bounded - prompt).mean())
        ),
        *(float(np.mean(factors)), float(np.median(factors)), float(max(factors)), "-", "-"),
    )
    return table


def table_of_causes(studies: Studies) -> Table:
    """Every step from what happens to what is proved."""
    table = Table(
        "Where over-estimation comes from, cm",
        ["motions", "all", "intervals", "unknown acceleration", "volumes", "volumes before a closer look"],
    )
    for name, found in studies.items():
        mean = {field: float(np.mean([getattr(one, field) for one in found])) for field in Lengths.__annotations__}
        table.add(
            name,
            finer(mean["late"] - mean["lower"]),
            finer(mean["late"] - mean["in_commanded_box"]),
            finer(mean["in_commanded_box"] - mean["in_box"]),
            finer(mean["in_box"] - mean["lower"]),
            finer(mean["in_box"] - mean["volumes"]),
        )
    table.notes.append(
        "From the least distance while braking down to the one that is proved. *Intervals*: to the least of all "
        "combinations of joint values between where the joints are and where they come to rest. *Unknown "
        "acceleration*: to the least if they may do anything for the latency. Both are searched for along slopes, from "
        "16 corners. *Volumes*: to what is proved. *Before a closer look*: from swept volumes alone; where these "
        "overlap, the guard bounds what the two links sweep by tangents."
    )
    return table


# What a guard costs --------------------------------------------------------------------------------------------------

BUDGET, SMALL_BUDGET = 55_000, 30_000  # operations per cycle
BUDGETS = {
    "plain": None,
    f"{spaced(BUDGET)} operations": BUDGET,
    f"{spaced(SMALL_BUDGET)} operations": SMALL_BUDGET,
    "10 000 operations": 10_000,
    "volumes only": 0,
}


@dataclass(frozen=True)
class Costs:
    """Of all cycles of a guard."""

    guard: cl.Guard
    seconds: Floats
    work: Floats
    stop: NDArray[np.bool_]


def costs(recording: Recording, budget: int | None, cycles: int) -> Costs:
    """Go through a recording again and again; it ends where it begins."""
    guard, (q, qd) = guard_of(budget), recording.rows()
    runs = [guard.replay(q, qd) for _ in range(-(-cycles // len(q)))]
    return Costs(guard, *(np.concatenate([getattr(run, name) for run in runs]) for name in ("seconds", "work", "stop")))


def table_of_costs(found: dict[str, Costs]) -> Table:
    table = Table(
        "Work and time per cycle",
        [
            *("algorithm", "cycles", "operations, median", "99 %", "99.9 %", "most"),
            *("us, median", "99 %", "99.9 %", "most", "stops more than plain"),
        ],
    )
    shares = 0.5, 0.99, 0.999, 1.0
    for name, one in found.items():
        work, seconds = np.quantile(one.work, shares), np.quantile(one.seconds, shares)
        extra = "-" if one.guard is found["plain"].guard or not one.work.any() else stops_more(one, found["plain"])
        table.add(name, spaced(len(one.work)), *(spaced(value) for value in work), *(1e6 * seconds), extra)
    plain = found["plain"].guard
    table.notes.append(
        f"The guard has {plain.points} points in {plain.volumes} swept volumes (printed: 928 in 114). Operations are "
        "those that count towards the budget. *Volumes only* sweeps all links and carries all bounds over, which the "
        "others do as well. Printed times, of an Intel T2500 at 2 GHz: 600 to 1300 us plain, 400 us with 55 000 "
        "operations. *Stops more than plain*: cycles in which only the limited algorithm said stop."
    )
    return table


def stops_more(one: Costs, plain: Costs) -> str:
    odd = one.stop & ~plain.stop
    first = int(np.argmin(odd))
    return f"{spaced(odd.sum())}, {first} at the start"
