"""The Panda in the worlds of MotionBenchMaker: its spheres beside VAMP, and the links that they stand for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import motion_bench_maker
import numpy as np
from measure import Table
from motion_bench_maker import Problem
from robot_contests import BATCH, BROAD, CLOSE, FLOAT32, SINGLE, VAMP, Contest, Run, percent
from robot_models import Description, Floats
from robot_motions import Motions, motion_table, motions
from robot_peers import Pinocchio, Vamp
from robot_verdicts import Case, Peers, Verdicts, clear_of, yes_or_no

import clearance as cl


@dataclass(eq=False)
class ProblemSet:
    """Problems of one kind, and configurations in each of them: the start, the goal, and random ones."""

    name: str
    problems: list[Problem]
    configurations: list[Floats]

    def cases(self, ours: cl.Robot | None, as_vamp: bool) -> list[Case]:
        worlds = (problem.world(as_vamp) for problem in self.problems)
        return [Case(ours, world, q) for world, q in zip(worlds, self.configurations, strict=True)]


def problem_sets(run: Run, robot: Description) -> list[ProblemSet]:
    found = {name: ProblemSet(name, [], []) for name in motion_bench_maker.SETS}
    for problem in motion_bench_maker.problems(count=run.sizes.problems):
        at_random = robot.random(run.sizes.per_problem, seed=problem.index)
        found[problem.set].problems.append(problem)
        found[problem.set].configurations.append(np.vstack([problem.start, problem.goal, at_random]))
    return list(found.values())


def starts_and_goals(found: Verdicts) -> str:
    return percent(clear[:2] for clear in found.clear)


def spheres(run: Run, contest: Contest, sets: Sequence[ProblemSet]) -> Iterator[Table]:
    """The Panda of 59 spheres, alone and in the worlds of MotionBenchMaker as VAMP sees them."""
    columns = [BATCH, SINGLE, VAMP, "VAMP / batch", "VAMP / single", "clear", "starts and goals", "differing"]
    table = Table("The Panda of 59 spheres, us per configuration", ["world", *columns])
    q, moving = contest.robot.random(run.sizes.checks, seed=4), {}
    worlds: list[tuple[str, list[Case], list[Problem | None]]] = [("alone", [Case(contest.ours, None, q)], [None])]
    worlds += [(found.name, found.cases(contest.ours, as_vamp=True), found.problems) for found in sets]
    for name, cases, problems in worlds:
        vamps = [Vamp(problem) for problem in problems] if VAMP in run.present else []
        peers = (
            {VAMP: [partial(v.valid, v.rows(case.q)) for v, case in zip(vamps, cases, strict=True)]} if vamps else {}
        )
        if found := yes_or_no(run, f"spheres, {name}", cases, peers, FLOAT32):
            ends = "-" if name == "alone" else starts_and_goals(found)
            table.add(name, *found.cells(VAMP), ends, found.differing)
            count = run.sizes.motions // (1 if name == "alone" else 4)
            vamp = vamps[0] if vamps else None
            moving[name] = Motions(contest.ours, cases[0].world, vamp, *motions(contest.robot, count, seed=5))
    table.notes.append(
        f"{run.sizes.checks} random configurations alone, and {run.sizes.per_problem} in each of {run.sizes.problems} "
        "problems of every set, with the problem's start and goal. VAMP knows no cylinders: they are capsules here, "
        f"and boxes in the set box. Verdicts may differ where the distance is below {FLOAT32:g} m."
    )
    if moving:
        yield table
        yield motion_table(run, moving)


def links(run: Run, contests: list[Contest], sets: list[ProblemSet]) -> Table:
    """The links that the spheres stand for, among boxes and true cylinders."""
    columns = [BATCH, SINGLE, BROAD, "peer / batch", "peer / single", "clear", "starts and goals", "differing"]
    table = Table("The Panda in the worlds of MotionBenchMaker, us per configuration", ["links, world", *columns])
    for contest in contests:
        for problems in sets:
            cases, peers = problems.cases(contest.ours, as_vamp=False), Peers()
            if contest.pinocchio is not None:
                among = [Pinocchio(contest.pinocchio.robot, problem) for problem in problems.problems]
                for case, peer in zip(cases, among, strict=True):
                    case.measure = peer.measured
                peers[BROAD] = [
                    partial(clear_of, peer.broad_collisions, peer.rows(case.q))
                    for peer, case in zip(among, cases, strict=True)
                ]
            name = f"{contest.kind}, {problems.name}"
            if found := yes_or_no(run, name, cases, peers, CLOSE):
                table.add(name, *found.cells(BROAD), starts_and_goals(found), found.differing)
    return table
