"""What a brake shows: how far a pair was apart, how near it came, and what was proved of it before."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from functools import cache

import numpy as np
from taeubig_motions import BRAKING, CYCLE, PROMPT, RATE, ROBOT, Brake, Floats, Line, Pair, Recording, follow, guard_of

import clearance as cl


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
