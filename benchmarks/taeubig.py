"""The experiments of Täubig, Bäuml and Frese on braking in time, done again with a stand-in for their humanoid.

H. Täubig, B. Bäuml, U. Frese, Real-time Swept Volume and Distance Computation for Self Collision Detection, IROS 2011.
Tables go to the terminal; --write makes the page docs/taeubig.md and its pictures.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from io import StringIO
from pathlib import Path
from textwrap import fill

import numpy as np
from measure import Agreement, Table, machine
from numpy.typing import NDArray

import clearance as cl
from clearance import samples

Floats = NDArray[np.float64]
Pair = tuple[str, str]

CYCLE, RATE = 0.01, 20.0  # seconds; rad/s^2, the worst acceleration and the least deceleration
BRAKING = cl.Braking(latency=CYCLE, acceleration=RATE, deceleration=RATE)
PROMPT = cl.Braking(latency=0.0, acceleration=RATE, deceleration=RATE)
BUDGET, SMALL_BUDGET = 55_000, 30_000  # operations per cycle
FASTEST = 0.75 * np.pi  # rad/s
EASY = 8.0  # rad/s^2, of motions that nothing stops
PAUSE = 20  # cycles between motions

DOCS = Path(__file__).parents[1] / "docs"

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


# Motions --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Line:
    """A straight line in joint space; its fastest joint has a top speed in rad/s."""

    start: Floats
    goal: Floats
    speed: float

    def accelerations(self) -> Floats:
        """Speed up, go on, and slow down: what all joints do in every cycle."""
        way = self.goal - self.start
        length = np.abs(way).max()
        rise = int(np.ceil(min(self.speed / EASY, np.sqrt(length / EASY)) / CYCLE))
        count = max(int(np.ceil(length / (self.speed * CYCLE))) + rise, 2 * rise)
        k = np.arange(count + 1)[:, None]
        speeds = np.minimum(1.0, np.minimum(k, count - k) / rise) * way / ((count - rise) * CYCLE)
        return np.diff(speeds, axis=0) / CYCLE


@dataclass
class Recording:
    """Joints as double integrators: where they are, how fast, and how they accelerate until the next cycle."""

    q: list[Floats]
    qd: list[Floats]
    qdd: list[Floats] = field(default_factory=list)

    def push(self, acceleration: Floats) -> None:
        q, qd = self.q[-1], self.qd[-1]
        self.q.append(q + CYCLE * qd + 0.5 * CYCLE**2 * acceleration)
        self.qd.append(qd + CYCLE * acceleration)
        self.qdd.append(acceleration)

    def brake(self) -> None:
        """Slow down until the next cycle; a joint that comes to rest before that stays there."""
        q, qd = self.q[-1], self.qd[-1]
        time = np.minimum(CYCLE, np.abs(qd) / RATE)
        self.q.append(q + time * qd - 0.5 * RATE * time**2 * np.sign(qd))
        self.qd.append(np.where(time < CYCLE, 0.0, qd - RATE * CYCLE * np.sign(qd)))
        self.qdd.append(-RATE * np.sign(qd))

    def come_to_rest(self) -> None:
        while self.qd[-1].any():
            self.brake()

    def stand(self, cycles: int = PAUSE) -> None:
        for _ in range(cycles):
            self.push(np.zeros_like(self.qd[-1]))

    def rows(self) -> tuple[Floats, Floats]:
        return np.array(self.q), np.array(self.qd)


@dataclass(frozen=True)
class Brake:
    """The cycle that triggered it, the one in which all joints stand still, and the pair that was not proved apart."""

    trigger: int
    rest: int
    pair: Pair
    command: Floats  # what the joints would have done next


def follow(recording: Recording, guard: cl.Guard, accelerations: Floats, tells_command: bool = False) -> Brake | None:
    """Move until a guard says stop, and brake at once: the latency is the cycle in which it still said go."""
    for command in accelerations:
        verdict = guard.update(recording.q[-1], recording.qd[-1], command=command if tells_command else None)
        if verdict.stop:
            trigger = len(recording.q) - 1
            recording.come_to_rest()
            return Brake(trigger, len(recording.q) - 1, verdict.pair, command)
        recording.push(command)
    return None


# The robot ------------------------------------------------------------------------------------------------------------

ROBOT = samples.upper_body()
HANDS = ("lArm6", "rArm6")


def guard_of(budget: int | None = None, braking: cl.Braking = BRAKING) -> cl.Guard:
    return cl.Guard(ROBOT, braking=braking, budget=budget)


def with_one_pair(robot: cl.Robot, pair: Pair) -> cl.Robot:
    """A copy of a robot that has one pair to be checked only."""
    copy = deepcopy(robot)
    for link in copy.links:
        copy.allow(link.name)
    copy.forbid(*pair)
    return copy


@cache
def robot_of(pair: Pair) -> cl.Robot:
    return with_one_pair(ROBOT, pair)


@cache
def robot_wary_of(pair: Pair) -> cl.Robot:
    """The robot, with a pair that a guard learns everything about, as it never finds it far enough apart."""
    robot = deepcopy(ROBOT)
    robot.set_margin(*pair, margin=10.0)
    return robot


def proved(pair: Pair, braking: cl.Braking, q: Floats, qd: Floats, command: Floats | None = None) -> Floats:
    """Bound the distance of a pair for all configurations of the intervals, in every cycle."""
    found = cl.Guard(robot_wary_of(pair), braking=braking, budget=None).replay(q, qd, command=command)
    if set(map(tuple, found.pair)) != {pair}:
        raise RuntimeError(f"another pair is nearer than {pair}.")
    return found.lower


def distances(pair: Pair, q: Floats) -> Floats:
    return robot_of(pair).distances(q, threads=1).distance[..., 0]


def posture(rng: np.random.Generator, arms: Floats, spread: float) -> Floats:
    """Both arms as mirror images, all other joints at home."""
    values = np.tile(arms + rng.uniform(-spread, spread, 7), 2)
    names = [f"{side}Arm{k}" for side in "lr" for k in range(7)]
    return ROBOT.configuration(dict(zip(names, values, strict=True)), samples.upper_body_home())


def is_fit(start: Floats, goal: Floats) -> bool:
    """Whether a motion begins well apart and would end in a collision."""
    within = ROBOT.within_limits(np.stack([start, goal])).all()
    return bool(within and ROBOT.nearest(start).distance > 0.05 and ROBOT.nearest(goal).distance < 0.0)


def hands(rng: np.random.Generator, start: Floats | None = None) -> Line:
    """The hands approach each other, as in the clap of the samples, but never the same way twice."""
    clap = samples.upper_body_clap(1.0)
    arms = [k for k, name in enumerate(ROBOT.joint_names) if name.startswith("lArm")]
    while True:
        begin = posture(rng, clap.start[arms], 0.25) if start is None else start
        goal = posture(rng, clap.end[arms], 0.15)
        if is_fit(begin, goal):
            return Line(begin, goal, rng.uniform(0.1, 1.0) * FASTEST)


def anything(rng: np.random.Generator, start: Floats | None = None) -> Line:
    """Both arms move between any two postures."""
    is_arm = np.array(["Arm" in name for name in ROBOT.joint_names])

    def drawn() -> Floats:
        return np.where(is_arm, rng.uniform(ROBOT.lower, ROBOT.upper), samples.upper_body_home())

    while True:
        begin, goal = drawn() if start is None else start, drawn()
        if is_fit(begin, goal):
            return Line(begin, goal, rng.uniform(0.1, 1.0) * FASTEST)


def session(lines: Sequence[Line], guard: cl.Guard) -> tuple[Recording, list[Brake]]:
    """Go along lines that all begin at the same place, and back again each time, with the guard obeyed."""
    home = lines[0].start
    recording, brakes = Recording([home], [np.zeros(ROBOT.nv)]), []
    recording.stand()
    for line in lines:
        if brake := follow(recording, guard, line.accelerations()):
            brakes.append(brake)
        recording.stand()
        back = Line(recording.q[-1], home, 0.5 * FASTEST)
        if follow(recording, guard, back.accelerations()):
            raise RuntimeError("a guard does not let go of a robot that moves away.")
        recording.stand()
    return recording, brakes


# What a brake shows ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Lengths:
    """Distances of the pair that triggered a brake, in metres, and how fast it shrank then, in m/s."""

    at_trigger: float
    lower: float  # what the guard proves for all configurations of the intervals
    volumes: float  # the same from the swept volumes alone
    lower_without_latency: float
    at_once: float  # the least until all joints stand still, if they brake at once
    late: float  # if they go on as planned for the latency
    late_at_worst: float  # if they speed up for the latency
    in_commanded_box: float  # the least in the intervals that belong to what is planned
    in_box: float  # the least in the intervals
    speed: float

    @property
    def bounded(self) -> float:
        return self.at_trigger - self.lower

    @property
    def actual(self) -> float:
        return self.at_trigger - self.late

    def factor(self, least: float) -> float:
        return self.bounded / (self.at_trigger - least) if least < self.at_trigger else np.inf


def lengths(recording: Recording, brake: Brake, braking: cl.Braking = BRAKING, tells_command: bool = False) -> Lengths:
    """Measure from the state that triggered a brake."""
    k, pair, rng = brake.trigger, brake.pair, np.random.default_rng(brake.trigger)
    q, qd, planned = recording.q[k], recording.qd[k], brake.command
    command = planned if tells_command else None
    guard = guard_of(braking=braking)
    guard.update(q, qd, command=command)

    def least(latency: Floats | None) -> float:
        branch = Recording([q], [qd])
        if latency is not None:
            branch.push(latency)
        branch.come_to_rest()
        return float(distances(pair, np.array(branch.q)).min())

    before, now = distances(pair, np.array(recording.q[k - 1 : k + 1]))
    state = q[None], qd[None]
    return Lengths(
        at_trigger=now,
        lower=proved(pair, braking, *state, None if command is None else command[None])[0],
        volumes=guard.bounds[pair],
        lower_without_latency=proved(pair, PROMPT, *state)[0],
        at_once=least(None),
        late=least(planned),
        late_at_worst=least(RATE * np.sign(qd)),
        in_commanded_box=least_in_box(robot_of(pair), *BRAKING.intervals(ROBOT, q, qd, planned), rng),
        in_box=least_in_box(robot_of(pair), *braking.intervals(ROBOT, q, qd, command), rng),
        speed=(before - now) / CYCLE,
    )


def least_in_box(robot: cl.Robot, low: Floats, high: Floats, rng: np.random.Generator, starts: int = 16) -> float:
    """Search a box for the least distance of a robot's only pair.

    The search goes down from many corners, each time towards the corner that is best by slope.
    """
    best, q = np.inf, np.where(rng.random((starts, len(low))) < 0.5, low, high)
    for _ in range(8):
        gaps = robot.distances(q, threads=1)
        corner = np.where(robot.gradient(q, gaps)[:, 0] > 0.0, low, high)
        tried = np.stack([q + step * (corner - q) for step in (1.0, 0.5, 0.2, 0.05)], axis=1)
        found = robot.distances(tried, threads=1).distance[..., 0]
        best = min(best, gaps.distance.min(), found.min())
        q = tried[np.arange(starts), found.argmin(axis=1)]
    return float(best)


def approaches(
    kind: Callable[[np.random.Generator], Line], count: int, braking: cl.Braking = BRAKING, tells_command: bool = False
) -> list[Lengths]:
    """One motion for each seed, up to where it brakes, if it does."""
    found = []
    for seed in range(count):
        line = kind(np.random.default_rng([seed, *kind.__name__.encode()]))
        recording = Recording([line.start], [np.zeros(ROBOT.nv)])
        brake = follow(recording, guard_of(braking=braking), line.accelerations(), tells_command)
        if brake is not None:
            found.append(lengths(recording, brake, braking, tells_command))
    return found


# Tables ---------------------------------------------------------------------------------------------------------------


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


Studies = dict[str, list[Lengths]]


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


BUDGETS = {
    "plain": None,
    f"{spaced(BUDGET)} operations": BUDGET,
    f"{spaced(SMALL_BUDGET)} operations": SMALL_BUDGET,
    "10 000 operations": 10_000,
    "volumes only": 0,
}


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


# Pictures -------------------------------------------------------------------------------------------------------------


def bounds(pair: Pair, guard: cl.Guard, recording: Recording) -> Floats:
    """What a guard happens to know of a pair in every cycle."""
    found = []
    for q, qd in zip(recording.q, recording.qd, strict=True):
        verdict = guard.update(q, qd)
        found.append(verdict.lower if verdict.pair == pair else guard.bounds[pair])
    return np.array(found)


def approach(speed: float) -> tuple[Recording, Brake]:
    """Figure 8: the hands go at constant speed until the guard brakes, and back to where that was."""
    clap = samples.upper_body_clap(speed)
    recording = Recording([clap.start], [clap.velocity])
    brake = follow(recording, guard_of(), np.zeros((int(clap.duration / CYCLE), ROBOT.nv)))
    if brake is None:
        raise RuntimeError("the hands met.")
    recording.stand(5)
    back = Line(recording.q[-1], recording.q[brake.trigger], 0.5 * float(np.abs(clap.velocity).max()))
    for acceleration in back.accelerations():
        recording.push(acceleration)
    recording.stand(10)
    return recording, brake


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


# The page -------------------------------------------------------------------------------------------------------------

HEAD = """# The experiments of Täubig, Bäuml and Frese

Written by `python benchmarks/taeubig.py --write`; do not edit.

H. Täubig, B. Bäuml, U. Frese, *Real-time Swept Volume and Distance Computation for Self Collision Detection*, IROS
2011, let a humanoid brake before it touches itself. We do their experiments again with `clearance.samples.upper_body`,
a stand-in of the same size: 26 bodies, 80 points, 20 joints. Parameters are theirs: cycles and latency of 10 ms, and
20 rad/s² for the worst acceleration and the least deceleration. *Printed* figures are of the document, for its robot,
its motions and its machine; all others are ours, on {machine}.
Joints are double integrators that do as planned until the guard says stop, and then brake with 20 rad/s² each.

![Hands that approach each other](images/guard_approach.png)

Figure 8: the hands go with constant joint velocities until the guard says stop, brake, and return to where that was.
Hands that stand still again are farther apart than what they sweep, by what they could do within the latency.

![Distances while moving and stopping](images/guard_distances.png)

Figure 9: the hands approach each other seven times and part again; joints have up to 0.75 pi rad/s. The guard with a
budget proves as much as it has to, so its line is below the plain one, but both reach nought in the same cycles.

![Work of every cycle](images/guard_work.png)

Figure 10: operations of every cycle of figure 9, and what is proved in the first 100 of them: a limited guard
has looked at all pairs after some cycles only.
"""


def figure_9() -> tuple[Recording, list[Brake]]:
    """Two motions that alternate, and two more, as they seem to be in the document."""
    home = samples.upper_body_clap(1.0).start
    lines = [hands(np.random.default_rng([k, 9]), home) for k in range(4)]
    return session([lines[k] for k in (0, 1, 0, 1, 2, 3, 2)], guard_of())


def mixed_session(motions: int) -> Recording:
    """Hands and anything else in turns."""
    home, rng = samples.upper_body_clap(1.0).start, np.random.default_rng(10)
    lines = [(hands, anything)[k % 2](rng, home) for k in range(motions)]
    return session(lines, guard_of())[0]


def studies_of(count: int) -> Studies:
    knowing = cl.Braking(latency=CYCLE, acceleration=RATE, deceleration=RATE, command_error=2.0)
    found, least, most = approaches(hands, count), 0.01 * min(PRINTED["bounded"]), 0.01 * max(PRINTED["bounded"])
    studies = {
        "hands": found,
        f"hands, bounded below {cm(least)} cm": [one for one in found if one.bounded < least],
        f"hands, {cm(least)} to {cm(most)} cm, as printed": [one for one in found if least <= one.bounded <= most],
        f"hands, above {cm(most)} cm": [one for one in found if one.bounded > most],
        "hands, command known": approaches(hands, count, knowing, tells_command=True),
        "anything": approaches(anything, count),
        "anything, command known": approaches(anything, count, knowing, tells_command=True),
    }
    return {name: found for name, found in studies.items() if found}


def check(studies: Studies, recording: Recording, agreement: Agreement) -> None:
    """Nothing touches, and no search finds less than what was proved."""
    touching = np.minimum(ROBOT.distances(np.array(recording.q)).distance, 0.0)
    agreement.check("closed loop, depth", touching, np.zeros(touching.shape))
    for name, found in studies.items():
        for one in found:
            attacks = [one.in_box] if "command" in name else [one.in_box, one.late, one.late_at_worst]
            agreement.check(f"{name}, proof", max(one.lower - min(attacks), 0.0), 0.0)
            agreement.check(f"{name}, depth", min(one.at_once, 0.0), 0.0)


def page(found: Sequence[Table]) -> str:
    shown = StringIO()
    with redirect_stdout(shown):
        for table in found:
            table.notes = [fill(note, 120) for note in table.notes]
            table.show(markdown=True)
    return HEAD.format(machine=machine().partition(";")[0]) + shown.getvalue().replace("\n### ", "\n## ")


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--brakes", type=int, default=60, help="motions of each kind")
    parser.add_argument("--cycles", type=int, default=100_000, help="of each guard whose time is taken")
    parser.add_argument("--quick", action="store_true", help="less than a minute, to see whether everything runs")
    parser.add_argument("--write", action="store_true", help="write docs/taeubig.md and its pictures")
    options = parser.parse_args()
    brakes, cycles, motions = (4, 2_000, 2) if options.quick else (options.brakes, options.cycles, 24)
    agreement = Agreement()
    runs = {speed: approach(speed) for speed in SPEEDS}
    recording, stops = figure_9()
    studies = studies_of(brakes)
    check(studies, recording, agreement)
    long = mixed_session(motions)
    text = page(
        [
            table_of_approaches(runs),
            table_of_brakes([lengths(recording, brake) for brake in stops]),
            table_of_factors(studies),
            table_of_causes(studies),
            table_of_costs({name: costs(long, budget, cycles) for name, budget in BUDGETS.items()}),
        ]
    )
    print(text)
    if options.write:
        (DOCS / "taeubig.md").write_text(text)
        draw_approaches(runs, DOCS / "images" / "guard_approach.png")
        draw_distances(recording, stops, DOCS / "images" / "guard_distances.png")
        draw_work(recording, DOCS / "images" / "guard_work.png")
    agreement.exit()


if __name__ == "__main__":
    main()
