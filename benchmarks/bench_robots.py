"""Robots beside pinocchio with coal, MuJoCo and VAMP, in one run: checks, distances, motions, kinematics.

Everything runs on one thread. Our batches take an array of configurations; no peer has a batch call that is faster than
a loop in Python, so theirs are loops over rows that were made before the clock started. `robot_models.py` and
`robot_peers.py` say where the robots and the peers come from; what is missing is named and left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import robot_models
import robot_peers
from measure import Table, arguments, machine
from robot_contests import (
    ALLOWED,
    BATCH,
    BOUND,
    BROAD,
    CLOSE,
    FULL,
    LOOP,
    MANY_LINKS,
    MUJOCO,
    NO_WORK,
    QUICK,
    SINGLE,
    WORK,
    Answers,
    Contest,
    Rivals,
    Run,
    lead,
    shown,
    work_of,
)
from robot_models import Floats, MissingDataError, sorted_pair
from robot_peers import CoalNearest
from robot_verdicts import Case, Peers, clear_of, yes_or_no
from robot_worlds import links, problem_sets, spheres

import clearance as cl

LAST_LINK = {"panda": "panda_hand", "ur5": "ee_link", "talos": "arm_left_7_link"}


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
        size = 10 * run.sizes.slow if contest.kind == "mesh" else run.sizes.distances
        count = max(size // MANY_LINKS.get(contest.robot.name, 1), 2)
        few = max(count // 10, 2) if contest.kind == "mesh" else count  # for those that take milliseconds
        q, rivals, distances, work, pairs = contest.robot.random(count, seed=3), Rivals(), {}, NO_WORK, 0
        if (ours := contest.ours) is not None:
            gaps = ours.distances(q, threads=1)
            distances = {sorted_pair(*pair): gaps.distance[:, k] for k, pair in enumerate(gaps.pairs)}
            work, pairs = work_of(gaps, count), len(distances)
            rivals[BATCH] = partial(ours.distances, q, threads=1), count
        if (pinocchio := contest.pinocchio) is not None:
            rows = pinocchio.rows(q[:few])
            theirs = pinocchio.by_link_pair(rows)
            for pair in distances:
                run.answers.distances(f"{contest.name}, {pair}", distances[pair][:few], theirs[pair], CLOSE)
            pairs = len(theirs)
            rivals[LOOP] = partial(pinocchio.distances, rows), few
        if (mujoco := contest.mujoco) is not None:
            rivals[MUJOCO] = partial(mujoco.distances, mujoco.rows(q)), count
        times = run.times(rivals)
        took = shown(times, BATCH, LOOP, MUJOCO)
        table.add(f"{contest.name} ({count})", *took, lead(times, BATCH), str(pairs), *work)
    table.notes.append(
        "A pair of links may be many pairs of shapes: a finger of the Panda is four boxes, so its 20 pairs of links "
        "are 44 for pinocchio and MuJoCo."
    )
    return table


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


def same_kinematics(answers: Answers, contest: Contest, q: Floats, link: str) -> None:
    ours, peer = contest.ours, contest.pinocchio
    rows, links = peer.rows(q), list(ours.link_names)
    answers.check(f"{contest.name}, poses", ours.poses(q), peer.poses(rows, links), 1e-9)
    columns = peer.columns_of(list(ours.joint_names))  # mimics move fingers only, and no link asked for
    theirs = np.array(peer.jacobians(rows, link))[:, :3, columns]
    answers.check(f"{contest.name}, Jacobians", ours.jacobian(q, link), theirs, 1e-9)


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
