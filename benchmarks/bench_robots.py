"""Robots beside pinocchio with coal, MuJoCo and VAMP, in one run: checks, distances, motions, kinematics.

Everything runs on one thread. Our batches take an array of configurations; no peer has a batch call that is faster than
a loop in Python, so theirs are loops over rows that were made before the clock started. `robot_models.py` and
`robot_peers.py` say where the robots and the peers come from; what is missing is named and left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import motion_bench_maker
import numpy as np
import robot_models
import robot_peers
from measure import Agreement, Table, Times, arguments, digits, in_turns, machine
from motion_bench_maker import Problem
from numpy.typing import NDArray
from robot_models import Description, Floats, MissingDataError, sorted_pair
from robot_peers import CoalNearest, Mujoco, Pinocchio, Vamp

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


# What is run ----------------------------------------------------------------------------------------------------------


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


# Yes or no ------------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Case:
    """Configurations of our robot in one world; a peer that judges otherwise may measure the distance itself."""

    ours: cl.Robot | None
    world: Any
    q: Floats
    measure: Callable[[Floats], Floats] | None = None

    def batch(self) -> Bools:
        return cl.is_clear(self.ours, self.world, self.q, threads=1)

    def single(self) -> list[bool]:
        ours, world, is_clear = self.ours, self.world, cl.is_clear
        return [is_clear(ours, world, row) for row in self.q]

    def differing(self, clear: Bools, theirs: Bools, close: float) -> tuple[int, list[Floats]]:
        """Count the configurations that a peer judges otherwise, and name those that speak against us."""
        differ = self.q[clear != theirs]
        return len(differ), [row for row in differ if not self.explained(row, close)]

    def explained(self, row: Floats, close: float) -> bool:
        """Either bodies are about to touch, or the peer's own distance has the sign of ours, so it refutes itself.

        Meshes that overlap have no depth, so nought alone does not tell that they hardly touch.
        """
        ours = self.ours.nearest(row, self.world).distance
        if self.measure is None:
            return abs(ours) <= close
        theirs = self.measure(row[None])[0]
        return max(ours, theirs) <= close or (ours > 0.0) == (theirs > 0.0)


@dataclass
class Verdicts:
    """Times of everybody, what is clear of everything in each case, and how often a peer says otherwise."""

    times: dict[str, Times]
    clear: list[Bools]
    differing: int

    def cells(self, *peers: str) -> list[object]:
        times = self.times
        return [*shown(times, BATCH, SINGLE, *peers), lead(times, BATCH), lead(times, SINGLE), percent(self.clear)]


Peers = dict[str, list[Callable[[], list[bool]]]]  # one call for each case; they tell what is clear


def yes_or_no(run: Run, what: str, cases: list[Case], peers: Peers, close: float) -> Verdicts | None:
    """Let everybody judge all configurations of all cases."""
    ours, count = cases[0].ours is not None, sum(len(case.q) for case in cases)
    rivals: Rivals = {}
    if ours:
        rivals[BATCH] = partial(every, [case.batch for case in cases]), count
        rivals[SINGLE] = partial(every, [case.single for case in cases]), count
    rivals |= {name: (partial(every, calls), count) for name, calls in peers.items()}
    if not rivals:
        return None
    said = {name: [np.array(one, dtype=bool) for one in ask()] for name, (ask, _) in rivals.items()}
    clear, differing = next(iter(said.values())), 0
    for name in list(said)[1:] if ours else ():
        for k, (case, theirs) in enumerate(zip(cases, said[name], strict=True)):
            differ, odd = case.differing(clear[k], theirs, close)
            run.answers.expect(f"{what}, case {k}, {name}", not odd, f"{len(odd)} verdicts differ, as of {odd[:1]}")
            differing += differ
    return Verdicts(run.times(rivals), clear, differing)


def every(calls: list[Callable[[], Any]]) -> list[Any]:
    return [call() for call in calls]


def clear_of(collisions: Callable[[list[Any]], list[bool]], rows: list[Any]) -> list[bool]:
    return [not hit for hit in collisions(rows)]


def self_checks(run: Run, contests: list[Contest]) -> Table:
    columns = [BATCH, SINGLE, LOOP, BROAD, MUJOCO, "best peer / batch", "best peer / single", "clear", "differing"]
    table = Table("Is the robot clear of itself? us per random configuration", ["robot", *columns])
    for contest in contests:
        q, peers = contest.robot.random(run.sizes.checks // MANY_LINKS.get(contest.robot.name, 1)), Peers()
        if (pinocchio := contest.pinocchio) is not None:
            rows = pinocchio.rows(q)
            peers[LOOP] = [partial(clear_of, pinocchio.collisions, rows)]
            peers[BROAD] = [partial(clear_of, pinocchio.broad_collisions, rows)]
        if (mujoco := contest.mujoco) is not None:
            peers[MUJOCO] = [partial(clear_of, mujoco.collisions, mujoco.rows(q))]
        case = Case(contest.ours, None, q, pinocchio and pinocchio.measured)
        if found := yes_or_no(run, contest.name, [case], peers, CLOSE):
            table.add(f"{contest.name} ({len(q)})", *found.cells(LOOP, BROAD, MUJOCO), found.differing)
    table.notes.append(
        "Behind the robot, how many configurations a pass has; least and, in brackets, median of the passes. pinocchio "
        "stops at the first collision, MuJoCo cannot. Verdicts may differ where the distance is below "
        f"{CLOSE:g} m, and where coal's own distance says that its verdict is wrong: with a bound and without "
        "contacts, as pinocchio asks it, it takes some overlapping hulls for separate ones."
    )
    return table


# Distances ------------------------------------------------------------------------------------------------------------


def nearest_pairs(run: Run, contests: list[Contest]) -> Table:
    columns = [BATCH, SINGLE, LOOP, BOUND, MUJOCO, "best peer / batch", "best peer / single", *WORK]
    table = Table("The nearest pair of links, us per random configuration", ["robot", *columns])
    for contest in contests:
        count = run.sizes.distances // MANY_LINKS.get(contest.robot.name, 1)
        nearest_pair(run, contest, contest.robot.random(count, seed=2), table)
    table.notes.append(
        "pinocchio measures all pairs. coal with its bound passed on and MuJoCo take pairs in the order of the spheres "
        "around them, pass the least distance on, and stop when no sphere is nearer or bodies touch. Work is ours, per "
        f"configuration. Distances agree with coal's to {CLOSE:g} m when it is told to go on; else it stops at 1e-6."
    )
    return table


def nearest_pair(run: Run, contest: Contest, q: Floats, table: Table) -> None:
    rivals, found, work = Rivals(), None, NO_WORK
    if (ours := contest.ours) is not None:
        gaps = cl.clearances(ours, None, q, threads=1)
        found, work = gaps.distance, work_of(gaps, len(q))
        rivals[BATCH] = partial(cl.clearances, ours, None, q, threads=1), len(q)
        rivals[SINGLE] = lambda: [ours.nearest(row) for row in q], len(q)
    peers: dict[str, Any] = {}
    if contest.pinocchio is not None:
        peers |= {LOOP: contest.pinocchio, BOUND: CoalNearest(contest.pinocchio)}
    if contest.mujoco is not None:
        peers[MUJOCO] = contest.mujoco
    for name, peer in peers.items():
        asked = q[: min(run.sizes.slow, len(q) // 10)] if name == LOOP and contest.kind == "mesh" else q
        rows = peer.rows(asked)
        rivals[name] = partial(peer.least_distances, rows), len(asked)
        if found is not None:
            what = f"{contest.name}, nearest, {name}"
            run.answers.distances(what, found[: len(asked)], peer.least_distances(rows), ALLOWED[name])
    if found is not None and contest.pinocchio is not None:
        few = slice(len(q) // 10)
        run.answers.distances(f"{contest.name}, nearest", found[few], contest.pinocchio.measured(q[few]), CLOSE)
    times = run.times(rivals)
    leads = lead(times, BATCH), lead(times, SINGLE)
    table.add(f"{contest.name} ({len(q)})", *shown(times, BATCH, SINGLE, LOOP, BOUND, MUJOCO), *leads, *work)


def all_pairs(run: Run, contests: list[Contest]) -> Table:
    columns = [BATCH, LOOP, MUJOCO, "best peer / batch", "pairs of links", *WORK]
    table = Table("The distances of all pairs of links, us per configuration", ["robot", *columns])
    for contest in contests:
        count = run.sizes.slow if contest.kind == "mesh" else 10 * run.sizes.slow
        count = max(count // MANY_LINKS.get(contest.robot.name, 1), 2)
        q, rivals, distances, work, pairs = contest.robot.random(count, seed=3), Rivals(), {}, NO_WORK, 0
        if (ours := contest.ours) is not None:
            gaps = ours.distances(q, threads=1)
            distances = {sorted_pair(*pair): gaps.distance[:, k] for k, pair in enumerate(gaps.pairs)}
            work, pairs = work_of(gaps, count), len(distances)
            rivals[BATCH] = partial(ours.distances, q, threads=1), count
        if (pinocchio := contest.pinocchio) is not None:
            rows = pinocchio.rows(q)
            theirs = pinocchio.by_link_pair(rows)
            for pair in distances:
                run.answers.distances(f"{contest.name}, {pair}", distances[pair], theirs[pair], CLOSE)
            pairs = len(theirs)
            rivals[LOOP] = partial(pinocchio.distances, rows), count
        if (mujoco := contest.mujoco) is not None:
            rivals[MUJOCO] = partial(mujoco.distances, mujoco.rows(q)), count
        times = run.times(rivals)
        table.add(contest.name, *shown(times, BATCH, LOOP, MUJOCO), lead(times, BATCH), str(pairs), *work)
    table.notes.append(
        "A pair of links may be many pairs of shapes: a finger of the Panda is four boxes, so its 20 pairs of links "
        "are 44 for pinocchio and MuJoCo."
    )
    return table


# Kinematics -----------------------------------------------------------------------------------------------------------


def kinematics(run: Run, contests: list[Contest]) -> Table:
    poses, jacobians = ("poses, ours", "poses, pinocchio"), ("Jacobians, ours", "Jacobians, pinocchio")
    table = Table(
        f"Kinematics of {run.sizes.checks} configurations, ns each", ["robot", *poses, "ratio", *jacobians, "ratio"]
    )
    for contest in contests:
        q, rivals, ours, peer = (
            contest.robot.random(run.sizes.checks, seed=7),
            Rivals(),
            contest.ours,
            contest.pinocchio,
        )
        link = LAST_LINK[contest.robot.name]
        if ours is not None:
            rivals[poses[0]] = partial(ours.poses, q, threads=1), len(q)
            rivals[jacobians[0]] = partial(ours.jacobian, q, link), len(q)
        if peer is not None:
            rows = peer.rows(q)
            rivals[poses[1]] = partial(peer.kinematics, rows), len(q)
            rivals[jacobians[1]] = partial(peer.jacobians, rows, link), len(q)
        if ours is not None and peer is not None:
            same_kinematics(run.answers, contest, q[:100], link)
        times = {name: 1e9 * one.least for name, one in run.times(rivals).items()}
        cells: list[float] = []
        for mine, its in (poses, jacobians):
            both = times.get(mine, np.nan), times.get(its, np.nan)
            cells += [*both, both[1] / both[0]]
        table.add(contest.robot.name, *cells)
    table.notes.append(
        "Poses are of all links. Ours are arrays of the whole batch; pinocchio's stay in its data, one configuration "
        "at a time. Jacobians are of one link, ours with three rows, pinocchio's with six."
    )
    return table


LAST_LINK = {"panda": "panda_hand", "ur5": "ee_link", "talos": "arm_left_7_link"}


def same_kinematics(answers: Answers, contest: Contest, q: Floats, link: str) -> None:
    ours, peer = contest.ours, contest.pinocchio
    rows, links = peer.rows(q), list(ours.link_names)
    answers.check(f"{contest.name}, poses", ours.poses(q), peer.poses(rows, links), 1e-9)
    columns = peer.columns_of(list(ours.joint_names))  # mimics move fingers only, and no link asked for
    theirs = np.array(peer.jacobians(rows, link))[:, :3, columns]
    answers.check(f"{contest.name}, Jacobians", ours.jacobian(q, link), theirs, 1e-9)


# Motions, beside VAMP -------------------------------------------------------------------------------------------------


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


# Spheres, beside VAMP, and the worlds of MotionBenchMaker -------------------------------------------------------------


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


# ----------------------------------------------------------------------------------------------------------------------


def tables(run: Run) -> Iterator[Table]:
    """All that the installed packages allow."""
    kinds = ("mesh", "hull")
    try:
        robots = [robot_models.description(name) for name in robot_models.FILES]
    except MissingDataError as missing:
        print(f"\nNo Panda, UR5 and Talos: {missing}")
    else:
        contests = [Contest(run, robot, kind) for robot in robots for kind in kinds]
        for make in (self_checks, nearest_pairs, all_pairs):
            yield make(run, contests)
        yield kinematics(run, contests[:: len(kinds)])
    try:
        of_spheres, of_links = robot_models.panda_of_spheres(), robot_models.panda_of_vamp()
    except MissingDataError as missing:
        print(f"\nNo spheres, and no worlds of MotionBenchMaker: {missing}")
    else:
        sets = problem_sets(run, of_spheres)
        yield from spheres(run, Contest(run, of_spheres, "mesh"), sets)
        yield links(run, [Contest(run, of_links, kind) for kind in kinds], sets)


def main() -> None:
    options = arguments(__doc__, ("--peers-only", "the times of the peers, without ours"))
    absent = robot_peers.absent()
    print(machine())
    for name, advice in absent.items():
        print(f"\nNo {name}: {advice}.")
    present = set(robot_peers.NEEDED) - set(absent)
    run = Run(QUICK if options.quick else FULL, Answers(), present, options.peers_only)
    for table in tables(run):
        table.show(options.markdown)
    print(f"\nafterwards: {machine()}")
    run.answers.exit()


if __name__ == "__main__":
    main()
