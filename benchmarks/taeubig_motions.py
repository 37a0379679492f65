"""A stand-in for the humanoid of Täubig, Bäuml and Frese, and motions that a guard ends before anything touches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

import clearance as cl
from clearance import samples

Floats = NDArray[np.float64]
Pair = tuple[str, str]

CYCLE, RATE = 0.01, 20.0  # seconds; rad/s^2, the worst acceleration and the least deceleration
BRAKING = cl.Braking(latency=CYCLE, acceleration=RATE, deceleration=RATE)
PROMPT = cl.Braking(latency=0.0, acceleration=RATE, deceleration=RATE)
FASTEST = 0.75 * np.pi  # rad/s
EASY = 8.0  # rad/s^2, of motions that nothing stops
PAUSE = 20  # cycles between motions


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


# What the experiments record -----------------------------------------------------------------------------------------


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
