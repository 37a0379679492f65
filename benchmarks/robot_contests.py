"""Robots as everybody who takes part knows them: how much is asked, whose answers have to agree, and by how much."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import robot_models
from measure import Agreement, Times, digits, in_turns
from numpy.typing import NDArray
from robot_models import Description, Floats, sorted_pair
from robot_peers import Mujoco, Pinocchio

import clearance as cl

Bools = NDArray[np.bool_]
Rivals = dict[str, tuple[Callable[[], Any], int]]  # what to run, and how many configurations that is

BATCH, SINGLE = "clearance, batch", "clearance, single"
VERDICT, PROOF = "clearance, proof", "clearance, proof and bracket"
LOOP, BROAD, BOUND = "pinocchio + coal", "pinocchio + coal, broad phase", "coal, bound passed on"
MUJOCO, VAMP, PLANNED, COARSE = "MuJoCo", "VAMP", "VAMP, as it plans", "VAMP, validate_motion"
CLOSE = 1e-6  # metres: distances may differ by this, and verdicts where they are less
FLOAT32 = 1e-5  # metres: the same for VAMP, which computes in single precision
# What the peers are allowed when they stop where they stop unless told otherwise; coal told to go on has to meet CLOSE.
ALLOWED = {LOOP: 1e-5, BOUND: 1e-5, MUJOCO: 2e-4}


@dataclass(frozen=True)
class Sizes:
    """How many configurations are asked for, and how often."""

    checks: int
    distances: int
    slow: int  # for those that take milliseconds
    motions: int
    problems: int  # of every set of MotionBenchMaker
    per_problem: int
    repeats: int


FULL, QUICK = Sizes(10_000, 1_000, 20, 2_000, 20, 200, 7), Sizes(400, 80, 4, 48, 1, 20, 1)
MANY_LINKS = {"talos": 8}  # it gets as many times fewer configurations


class Answers(Agreement):
    """Agreement about verdicts and signs as well, which nobody can be sure of where bodies just touch."""

    def expect(self, what: str, holds: bool, otherwise: str) -> None:
        if not holds:
            self.failures.append(f"{what}: {otherwise}")

    def distances(self, what: str, ours: Floats, theirs: Floats, allowed: float) -> None:
        """Compare them where bodies are apart, and signs elsewhere: coal has no depth for meshes."""
        apart = (ours > allowed) & (theirs > allowed)
        self.check(what, ours[apart], theirs[apart], allowed)
        odd = np.count_nonzero((ours > allowed) & (theirs <= 0.0) | (ours <= 0.0) & (theirs > allowed))
        self.expect(what, odd == 0, f"{odd} signs differ")


@dataclass(frozen=True, eq=False)
class Run:
    """How much is measured, and who takes part."""

    sizes: Sizes
    answers: Answers
    present: set[str]
    peers_only: bool

    def times(self, rivals: Rivals) -> dict[str, Times]:
        """Seconds per configuration."""
        found = in_turns({name: run for name, (run, _) in rivals.items()}, 1, self.sizes.repeats)
        per_item = {name: rivals[name][1] for name in rivals}
        return {name: Times(one.least / per_item[name], one.median / per_item[name]) for name, one in found.items()}


@dataclass(eq=False)
class Contest:
    """One robot as everybody who takes part knows it; `ours` is None when only the peers run."""

    run: Run
    robot: Description
    kind: str

    @property
    def name(self) -> str:
        return f"{self.robot.name}, {self.kind}"

    @cached_property
    def ours(self) -> cl.Robot | None:
        if self.run.peers_only:
            return None
        found = self.robot.ours(self.kind)
        names = list(found.joint_names)
        self.run.answers.expect(f"{self.name}, joints", names == self.robot.joint_names, f"ours are {names}")
        return found

    @cached_property
    def pinocchio(self) -> Pinocchio | None:
        """With our pairs, which should be those that it would have itself."""
        if LOOP not in self.run.present:
            return None
        model = robot_models.pinocchio_model(self.robot, self.kind)
        if self.ours is not None:
            pairs = {sorted_pair(*pair) for pair in self.ours.pairs}
            odd = sorted(pairs ^ set(model.link_pairs))
            self.run.answers.expect(f"{self.name}, pairs", not odd, f"only one of us has {odd}")
            model = robot_models.pinocchio_model(self.robot, self.kind, pairs)
        return Pinocchio(model)

    @cached_property
    def mujoco(self) -> Mujoco | None:
        hulls = self.kind == "hull" and self.pinocchio is not None and MUJOCO in self.run.present
        return Mujoco(self.pinocchio.robot) if hulls else None


def shown(times: Mapping[str, Times], *names: str) -> list[str]:
    """Microseconds, the least and the median."""
    return [
        f"{digits(1e6 * times[name].least)} ({digits(1e6 * times[name].median)})" if name in times else "-"
        for name in names
    ]


def lead(times: Mapping[str, Times], ours: str) -> float:
    """How many times faster ours is than the best peer."""
    peers = [found.least for name, found in times.items() if not name.startswith("clearance")]
    return min(peers) / times[ours].least if peers and ours in times else np.nan


def percent(holds: Iterable[Bools]) -> str:
    return f"{100 * np.mean(np.concatenate(list(holds))):.1f} %"


WORK = {
    "pairs": "pairs",
    "volume tests": "volume_tests",
    "triangle tests": "triangle_tests",
    "iterations": "iterations",
}
NO_WORK = ["-"] * len(WORK)


def work_of(found: Any, count: int) -> list[float]:
    """Per configuration."""
    return [getattr(found.work, name) / count for name in WORK.values()]
