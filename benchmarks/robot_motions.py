"""Straight motions of robots, proved by us and sampled by VAMP."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from measure import Table
from robot_contests import COARSE, FLOAT32, PLANNED, PROOF, VERDICT, Rivals, Run, percent, shown
from robot_models import Description, Floats
from robot_peers import Vamp

import clearance as cl


@dataclass(eq=False)
class Motions:
    """Straight lines in joint space in one world."""

    ours: cl.Robot | None
    world: Any
    vamp: Vamp | None
    starts: Floats
    ends: Floats

    def proofs(self) -> list[cl.PathReport]:
        ours, world, check_path = self.ours, self.world, cl.check_path
        return [check_path(ours, world, ends) for ends in np.stack([self.starts, self.ends], axis=1)]

    def verdicts(self) -> list[cl.PathReport]:
        ours, world, check_path = self.ours, self.world, cl.check_path
        return [check_path(ours, world, ends, tolerance=np.inf) for ends in np.stack([self.starts, self.ends], axis=1)]

    def rivals(self) -> Rivals:
        found, count = Rivals(), len(self.starts)
        if self.ours is not None:
            found[VERDICT] = self.verdicts, count
            found[PROOF] = self.proofs, count
        if self.vamp is not None:
            paths = self.vamp.paths(self.starts, self.ends)
            rows = self.vamp.rows(self.starts), self.vamp.rows(self.ends)
            found[PLANNED] = partial(self.vamp.valid_paths, paths), count
            found[COARSE] = partial(self.vamp.valid_motions, *rows), count
        return found


def motions(robot: Description, count: int, seed: int) -> tuple[Floats, Floats]:
    """Starts and ends, up to two radians apart, as planners try them."""
    rng, (lower, upper) = np.random.default_rng(seed), robot.limits.T
    starts, steps = robot.random(count, seed), rng.normal(size=(count, len(lower)))
    steps *= rng.uniform(0.2, 2.0, (count, 1)) / np.linalg.norm(steps, axis=1, keepdims=True)
    return starts, np.clip(starts + steps, lower, upper)


def motion_table(run: Run, worlds: dict[str, Motions]) -> Table:
    missed = ["missed as it plans", "missed by validate_motion"]
    table = Table(
        "Straight motions of up to two radians, us each",
        [
            "world",
            VERDICT,
            PROOF,
            PLANNED,
            COARSE,
            "VAMP, as it plans / ours",
            "clear",
            *missed,
            "undecided",
            "configurations",
        ],
    )
    for name, found in worlds.items():
        rivals = found.rivals()
        said = {rival: ask() for rival, (ask, _) in rivals.items()}
        times = run.times({rival: rivals[rival] for rival in said})
        ratio = times[PLANNED].least / times[VERDICT].least if {PLANNED, VERDICT} <= set(times) else np.nan
        clear = said[PLANNED] if found.ours is None else [report.clear for report in said[PROOF]]
        table.add(
            name,
            *shown(times, VERDICT, PROOF, PLANNED, COARSE),
            ratio,
            percent([np.array(clear)]),
            *judged(run, name, found, said),
        )
    table.notes.append(
        "We prove the whole motion; VAMP samples it, its planners 32 times a radian, `validate_motion` eight times for "
        "up to eight radians. Missed: its samples are clear, and VAMP agrees that our q_worst is not. Undecided: "
        "nearer to contact than the tolerance of the proof. Configurations are those that a proof looks at, the mean."
    )
    return table


def judged(run: Run, name: str, asked: Motions, said: dict[str, list[Any]]) -> list[object]:
    """Collisions that samples missed, and motions too near to contact for a proof; the rest has to agree.

    VAMP itself has to find the collision that it missed when it is shown where that is.
    """
    if PROOF not in said:
        coarse, planned = np.array(said[COARSE]), np.array(said[PLANNED])
        return ["-", f">= {np.sum(coarse & ~planned)}", "-", "-"]
    clear, lower, upper, looked = (
        np.array([field(report) for report in said[PROOF]])
        for field in (lambda r: r.clear, lambda r: r.lower, lambda r: r.upper, lambda r: r.configurations)
    )
    verdicts = np.array([report.clear for report in said[VERDICT]])
    run.answers.expect(name, np.array_equal(verdicts, clear), "a verdict differs with the bracket")
    looked = np.array([report.configurations for report in said[VERDICT]])
    missed = []
    for sampled in (PLANNED, COARSE):
        if sampled not in said:
            missed.append("-")
            continue
        valid = np.array(said[sampled])
        wrong = np.sum(clear & ~valid & (lower > FLOAT32))
        run.answers.expect(f"motions, {name}, {sampled}", wrong == 0, f"{wrong} proved motions collide at a sample")
        collide = np.flatnonzero(valid & (upper < -FLOAT32))
        shown_to_vamp = asked.vamp.valid([said[PROOF][k].q_worst.tolist() for k in collide])
        run.answers.expect(f"motions, {name}, {sampled}", not any(shown_to_vamp), "VAMP sees no collision where we do")
        missed.append(str(len(collide)))
    return [*missed, str(np.sum(~clear & (upper > 0.0))), float(np.mean(looked))]
