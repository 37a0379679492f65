"""The guard beside what one would do without it: distances at the present and at some configurations until rest.

Robots move blindly towards collisions; everybody judges every cycle of the same motions. Ours proves that nothing
touches whatever the joints do before they stand still; the peer, pinocchio with coal, looks at samples of the motion
that it expects. `robot_models.py` says where Panda and Talos come from; what is missing is named and left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass, field, fields
from functools import cache, partial
from time import perf_counter
from typing import Any

import numpy as np
import robot_models
import robot_peers
import taeubig_brakes
from measure import Agreement, Table, arguments, machine
from numpy.typing import NDArray
from robot_models import Floats, MissingDataError, PinocchioModel, sorted_pair
from robot_peers import Pinocchio
from taeubig_motions import BRAKING, CYCLE, FASTEST, RATE, Line, Recording

import clearance as cl
from clearance import samples

Bools = NDArray[np.bool_]
Motion = tuple[Floats, Floats]  # configurations and velocities of all cycles
SAMPLES = 0, 5, 10  # configurations after the present one
FEWER = {"talos": 5}  # it has many pairs, and gets as many times fewer motions
CLOSE = 1e-5  # metres, between our distances and the peer's


@dataclass(eq=False)
class Candidate:
    """A robot as everybody knows it."""

    name: str
    robot: cl.Robot
    peer: Pinocchio
    is_fitted: bool = False  # ours has larger bodies than the peer

    def motion(self, seed: int) -> tuple[Floats, Floats]:
        """Go from somewhere clear to a collision, on a straight line: all cycles until bodies touch."""
        robot, rng = self.robot, np.random.default_rng([seed, *self.name.encode()])
        start = drawn(robot, rng, 0.6, lambda gap: gap > 0.005)
        goal = drawn(robot, rng, 1.0, lambda gap: gap < 0.0)
        recording = Recording([start], [np.zeros(robot.nv)])
        for acceleration in Line(start, goal, rng.uniform(0.4, 1.0) * FASTEST).accelerations():
            recording.push(acceleration)
        q, qd = recording.rows()
        until = int(np.argmax(~cl.is_clear(robot, None, q)))
        return q[:until], qd[:until]


def drawn(robot: cl.Robot, rng: np.random.Generator, share: float, suits: Callable[[float], bool]) -> Floats:
    """A configuration within a share of all joint ranges about their middle, whose least distance suits."""
    middle, half = 0.5 * (robot.lower + robot.upper), 0.5 * share * (robot.upper - robot.lower)
    while True:
        q = rng.uniform(middle - half, middle + half)
        if suits(robot.nearest(q).distance):
            return q


def braking_samples(q: Floats, qd: Floats, count: int) -> Floats:
    """The present, and configurations at equal times until rest, shape (cycles, 1 + count, dof).

    Joints go on for the latency and brake then, as one expects them to.
    """
    needed = CYCLE + np.abs(qd).max(axis=1) / RATE
    time = (needed[:, None] * np.linspace(0.0, 1.0, 1 + count))[..., None]
    v = qd[:, None]
    braking = np.clip(time - CYCLE, 0.0, np.abs(v) / RATE)
    return q[:, None] + v * (np.minimum(time, CYCLE) + braking) - 0.5 * RATE * braking**2 * np.sign(v)


# Robots ---------------------------------------------------------------------------------------------------------------


class UpperBody(PinocchioModel):
    """The upper body of the samples, built joint by joint."""

    def __init__(self, robot: cl.Robot) -> None:
        import pinocchio

        self.robot, self.model, self.geometry = robot, pinocchio.Model(), pinocchio.GeometryModel()
        joints = {robot.root: 0}
        for joint in robot.joints:
            place = pinocchio.SE3(joint.origin[:3, :3], joint.origin[:3, 3])
            turning = pinocchio.JointModelRevoluteUnaligned(joint.axis)
            joints[joint.child] = self.model.addJoint(joints[joint.parent], turning, place, joint.name)
        parts: dict[str, list[int]] = {}
        for link in robot.links:
            for k, hull in enumerate(getattr(link.shape, "parts", (link.shape,))):
                place, form = coal_form(np.asarray(hull.points), hull.radius)
                part = pinocchio.GeometryObject(f"{link.name} {k}", joints[link.name], 0, place, form)
                parts.setdefault(link.name, []).append(self.geometry.addGeometryObject(part))
        for a, b in robot.pairs:
            for first in parts[a]:
                for second in parts[b]:
                    self.geometry.addCollisionPair(pinocchio.CollisionPair(first, second))

    def rows(self, q: Floats) -> list[Floats]:
        """All joints, those that mimic others too."""
        columns = dict(zip(self.robot.joint_names, q.T, strict=True))
        for joint in self.robot.joints:
            if joint.mimic is not None:
                columns[joint.name] = joint.mimic.multiplier * columns[joint.mimic.joint] + joint.mimic.offset
        return list(np.stack([columns[joint.name] for joint in self.robot.joints], axis=1))


def coal_form(points: Floats, radius: float) -> tuple[Any, Any]:
    """A capsule, or a hull swept by a ball; what is flat becomes 2 um thick."""
    import coal
    import pinocchio

    if len(points) == 2:
        way = points[1] - points[0]
        turn = pinocchio.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), way).matrix()
        return pinocchio.SE3(turn, points.mean(axis=0)), coal.Capsule(radius, float(np.linalg.norm(way)))
    _, extent, axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    normal = axes[2]
    corners = points if extent[2] > 1e-6 else np.concatenate([points + 1e-6 * normal, points - 1e-6 * normal])
    listed = coal.StdVec_Vec3s()
    listed.extend(list(corners))
    form = coal.Convex.convexHull(listed, True, "Qt")
    form.setSweptSphereRadius(radius)
    return pinocchio.SE3.Identity(), form


def candidates(swept: bool) -> Iterator[Candidate]:
    body = samples.upper_body()
    yield Candidate("upper_body", body, Pinocchio(UpperBody(body)))
    for name in ("panda", "talos"):
        found = robot_models.description(name)
        for kind in ("hull", "swept") if swept else ("hull",):
            ours = found.ours(kind)
            pairs = {sorted_pair(*pair) for pair in ours.pairs}
            peer = Pinocchio(robot_models.pinocchio_model(found, "hull", pairs))
            yield Candidate(f"{name}, {kind}", ours, peer, kind == "swept")


# Judges ---------------------------------------------------------------------------------------------------------------


@dataclass
class Judged:
    """Of every cycle of every motion."""

    seconds: list[Floats] = field(default_factory=list)
    stop: list[Bools] = field(default_factory=list)

    def add(self, seconds: Floats, stop: Bools) -> None:
        self.seconds.append(seconds)
        self.stop.append(stop)

    def first_stop(self, motion: int) -> int:
        stop = self.stop[motion]
        return int(np.argmax(stop)) if stop.any() else len(stop)


def judged_by_guard(guard: cl.Guard, motions: list[Motion], told: int = 30) -> Judged:
    """The robot stands for some cycles before it moves, so that a guard with a budget gets to know it."""
    found = Judged()
    for q, qd in motions:
        guard.reset()
        guard.replay(np.repeat(q[:1], told, axis=0), np.zeros((told, qd.shape[1])))
        run = guard.replay(q, qd)
        found.add(run.seconds, run.stop)
    return found


def judged_by_samples(judge: Callable[[list[Floats]], bool], rows: list[list[list[Floats]]]) -> Judged:
    """Rows are made before the clock starts."""
    found = Judged()
    for motion in rows:
        seconds, stop = np.empty(len(motion)), np.empty(len(motion), dtype=bool)
        for k, configurations in enumerate(motion):
            start = perf_counter()
            stop[k] = judge(configurations)
            seconds[k] = perf_counter() - start
        found.add(seconds, stop)
    return found


def peers(peer: Pinocchio) -> dict[str, Callable[[list[Floats]], bool]]:
    return {
        "distances": lambda rows: bool((peer.least_distances(rows) <= 0.0).any()),
        "yes or no": lambda rows: any(peer.broad_collisions(rows)),
    }


@dataclass(frozen=True)
class Overlooked:
    """Cycles from where the guard says stop to where samples say so, and what is known against going on in them."""

    between: int = 0
    unsafe: int = 0  # bodies overlap somewhere in the intervals
    crossed: int = 0  # bodies overlap between two samples
    motions: int = 0  # with cycles that are unsafe

    def cells(self) -> list[str]:
        return [str(getattr(self, one.name)) for one in fields(self)]


def overlooked(
    candidate: Candidate, motions: list[Motion], ours: Judged, theirs: Judged, agreement: Agreement
) -> Overlooked:
    """Look for overlaps that samples missed; in the last cycle before the guard says stop there must be none."""
    robot, rng = candidate.robot, np.random.default_rng(1)
    guard = cl.Guard(robot, braking=BRAKING, budget=None)
    alone = cache(partial(taeubig_brakes.with_one_pair, robot))

    def is_unsafe(q: Floats, qd: Floats) -> bool:
        """Try corners of the intervals with all pairs, and search them for the pair that the guard finds critical."""
        low, high = BRAKING.intervals(robot, q, qd)
        corners = np.where(rng.random((200, robot.dof)) < 0.5, low, high)
        corners[0] = np.where(qd > 0.0, high, low)
        if not cl.is_clear(robot, None, corners).all():
            return True
        return taeubig_brakes.least_in_box(alone(guard.update(q, qd).pair), low, high, rng) < 0.0

    found = Overlooked()
    for k, (q, qd) in enumerate(motions):
        first, last = ours.first_stop(k), theirs.first_stop(k)
        agreement.check(f"{candidate.name}, the guard says stop later, cycles", max(first - last, 0), 0)
        if first > 0:
            agreement.check(f"{candidate.name}, proof", int(is_unsafe(q[first - 1], qd[first - 1])), 0)
        crossed = ~cl.is_clear(robot, None, braking_samples(q[first:last], qd[first:last], 200)).all(axis=1)
        unsafe = [
            seen or is_unsafe(*state) for seen, *state in zip(crossed, q[first:last], qd[first:last], strict=True)
        ]
        counts = len(unsafe), sum(unsafe), sum(crossed), any(unsafe)
        found = Overlooked(*(a + int(b) for a, b in zip(astuple(found), counts, strict=True)))
    return found


def check_distances(candidate: Candidate, q: Floats, agreement: Agreement) -> None:
    ours = np.array([candidate.robot.nearest(row).distance for row in q])
    agreement.check(f"{candidate.name}, distances", candidate.peer.measured(q), ours, CLOSE)


def measure(candidate: Candidate, count: int, agreement: Agreement, times: Table, verdicts: Table) -> None:
    motions = [candidate.motion(seed) for seed in range(count)]
    if not candidate.is_fitted:
        check_distances(candidate, motions[0][0][::5], agreement)
    plain, limited = (
        judged_by_guard(cl.Guard(candidate.robot, braking=BRAKING, budget=b), motions) for b in (None, 55_000)
    )
    base = np.median(np.concatenate(limited.seconds))

    def add(name: str, found: Judged) -> None:
        seconds = np.concatenate(found.seconds)
        spread = 1e6 * np.quantile(seconds, (0.5, 0.99, 0.999, 1.0))
        times.add(candidate.name, name, str(len(seconds)), *spread.tolist(), float(np.median(seconds) / base))

    add("guard, plain", plain)
    add("guard, 55 000 operations", limited)
    for extra in SAMPLES:
        rows = [[candidate.peer.rows(one) for one in braking_samples(q, qd, extra)] for q, qd in motions]
        for name, judge in peers(candidate.peer).items():
            found = judged_by_samples(judge, rows)
            add(f"pinocchio + coal, {name}, {1 + extra} at a time", found)
        if not candidate.is_fitted:
            missed = overlooked(candidate, motions, plain, found, agreement)
            verdicts.add(candidate.name, str(1 + extra), str(count), *missed.cells())


def main() -> None:
    options = arguments(__doc__, ("--swept", "links as few points as well, which takes minutes to fit"))
    print(machine())
    if "pinocchio + coal" in (absent := robot_peers.absent()):
        raise SystemExit(f"No pinocchio + coal: {absent['pinocchio + coal']}.")
    agreement = Agreement()
    times = Table(
        "Time per cycle, us",
        ["robot", "who", "cycles", "median", "99 %", "99.9 %", "most", "median / guard, 55 000"],
    )
    verdicts = Table(
        "What samples overlook",
        ["robot", "configurations", "motions", "cycles", "unsafe", "crossed", "motions with unsafe cycles"],
    )
    verdicts.notes.append(
        "Motions go blindly towards a collision. *Cycles*: in which the guard says stop, and the samples show nothing. "
        "*Unsafe*: those in which bodies overlap in a configuration that the joints may come through, with brakes no "
        "weaker than promised; it was found by a search. *Crossed*: those in which the expected motion has an overlap "
        "between two samples."
    )
    try:
        for candidate in candidates(options.swept):
            count = (2 if options.quick else 20) // FEWER.get(candidate.name.partition(",")[0], 1)
            measure(candidate, max(count, 1), agreement, times, verdicts)
    except MissingDataError as missing:
        print(f"\nNo Panda and Talos: {missing}")
    for table in (times, verdicts):
        table.show(options.markdown)
    print(f"\nafterwards: {machine()}")
    agreement.exit()


if __name__ == "__main__":
    main()
