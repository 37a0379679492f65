"""The guard of a vehicle: time of a cycle with a thousand points of a scan, beside the footprint at sampled poses.

Collision monitors of mobile robots commonly move the footprint along the present arc in steps and look for points
inside it. That is done here with NumPy for all points and poses at once, as far as the vehicle gets if its drive
behaves. Truth is the vehicle itself, simulated finely on ways that its drive may take until the brakes act: a miss is a
point that it hits although nothing was told, and an idle stop is one for a point that no simulated way hits.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from measure import Agreement, Table, arguments, in_turns, machine
from numpy.typing import NDArray

import clearance as cl

Floats = NDArray[np.float64]

FOOTPRINT = np.array([[-0.5, -0.3], [0.5, -0.3], [0.5, 0.3], [-0.5, 0.3]])
BRAKING = cl.VehicleBraking(latency=0.1, acceleration=[1.0, 0.0, 2.0], deceleration=[1.5, 1.5, 3.0])
HERE = [0.0, 0.0, 0.0]
MOTIONS = {
    "straight": [1.5, 0.0, 0.0],
    "arc": [1.2, 0.0, 0.9],
    "tight arc": [0.5, 0.0, 2.0],
    "on the spot": [0.0, 0.0, 2.5],
}
SAMPLES = (10, 40)


def arcs(lengths: Floats, twists: Floats) -> Floats:
    """Poses (..., 3) that constant twists (..., 3) lead to in times (...)."""
    turn = lengths * twists[..., 2]
    shift = lengths * (twists[..., 0] + 1j * twists[..., 1]) * np.sinc(turn / (2.0 * np.pi)) * np.exp(0.5j * turn)
    return np.stack([shift.real, shift.imag, turn], axis=-1)


def is_hit(poses: Floats, points: Floats) -> NDArray[np.bool_]:
    """Which of the points (m, 2) are inside of the footprint at any of the poses (n, 3)."""
    at = points[:, 0] + 1j * points[:, 1] - (poses[:, :1] + 1j * poses[:, 1:2])
    at = at * np.exp(-1j * poses[:, 2:])
    return ((np.abs(at.real) <= 0.5) & (np.abs(at.imag) <= 0.3)).any(axis=0)


def longest(twist: Floats) -> float:
    return float(np.max(np.abs(twist) / np.asarray(BRAKING.deceleration)))


def sampled(velocity: Floats, scan: Floats, count: int) -> NDArray[np.bool_]:
    """The footprint at poses along the present arc, as far as the vehicle gets if its drive behaves."""
    lengths = np.linspace(0.0, BRAKING.latency + 0.5 * longest(velocity), count)
    return is_hit(arcs(lengths, np.broadcast_to(velocity, (count, 3))), scan)


def simulated(velocity: Floats, scan: Floats, rng: np.random.Generator, count: int) -> NDArray[np.bool_]:
    """The footprint on ways with constant accelerations up to the worst until the brakes act, in fine steps."""
    hit = np.zeros(len(scan), dtype=bool)
    for k in range(count):
        rates = np.asarray(BRAKING.acceleration) * (rng.choice([-1.0, 1.0], 3) if k % 2 else rng.uniform(-1.0, 1.0, 3))
        pose, poses, step = np.zeros(3), [], BRAKING.latency / 20
        for n in range(20):
            twist = velocity + (n + 0.5) * step * rates
            pose = joined(pose, arcs(np.array(step), twist)[None])[0]
            poses.append(pose)
        after = velocity + BRAKING.latency * rates
        lengths = np.linspace(0.0, 0.5 * longest(after), 100)
        way = joined(pose, arcs(lengths, np.broadcast_to(after, (100, 3))))
        hit |= is_hit(np.concatenate([poses, way]), scan)
    return hit


def joined(first: Floats, then: Floats) -> Floats:
    place = first[0] + 1j * first[1] + np.exp(1j * first[2]) * (then[:, 0] + 1j * then[:, 1])
    return np.stack([place.real, place.imag, first[2] + then[:, 2]], axis=1)


def guarded(guard: cl.VehicleGuard, velocity: Floats, points: Floats) -> NDArray[np.bool_]:
    return np.array([guard.update(HERE, velocity, scan=point[None]).stop for point in points])


def around(rng: np.random.Generator, count: int, nearest: float, farthest: float) -> Floats:
    angles = np.sort(rng.uniform(-np.pi, np.pi, count))
    return rng.uniform(nearest, farthest, (count, 1)) * np.stack([np.cos(angles), np.sin(angles)], axis=1)


def corridor(count: int) -> Floats:
    """What a scanner sees of two walls, a metre to either side."""
    angles = np.linspace(0.1, np.pi - 0.1, count // 2)
    wall = np.stack([1.0 / np.tan(angles), np.ones(len(angles))], axis=1)
    return np.concatenate([wall, wall * [1.0, -1.0]])


def measure_misses(quick: bool, agreement: Agreement, table: Table) -> None:
    rng = np.random.default_rng(1)
    points = around(rng, 300 if quick else 2000, 0.4, 2.2)
    points = points[(np.abs(points[:, 0]) > 0.5) | (np.abs(points[:, 1]) > 0.3)]
    for name, motion in MOTIONS.items():
        velocity = np.array(motion)
        truth = simulated(velocity, points, rng, 40 if quick else 300)
        told = {"guard": guarded(cl.VehicleGuard(FOOTPRINT, braking=BRAKING), velocity, points)}
        told |= {f"{count} poses": sampled(velocity, points, count) for count in SAMPLES}
        agreement.check(f"misses of the guard, {name}", (truth & ~told["guard"]).astype(float), np.zeros(len(points)))
        for who, stops in told.items():
            missed, idle = (truth & ~stops).sum(), (stops & ~truth).sum()
            table.add(name, who, f"{missed} of {truth.sum()}", f"{idle} of {(~truth).sum()}")


def measure_times(quick: bool, table: Table) -> None:
    rng = np.random.default_rng(2)
    scenes = {"all round, 2 to 6 m": around(rng, 1000, 2.0, 6.0), "corridor": corridor(1000)}
    for name, motion in MOTIONS.items():
        velocity = np.array(motion)
        for place, scan in scenes.items():
            rounds = range(20)

            def ours(
                guard: cl.VehicleGuard, of: Floats = scan, twist: Floats = velocity, rounds: range = rounds
            ) -> None:
                for _ in rounds:
                    guard.update(HERE, twist, scan=of)

            def theirs(count: int, of: Floats = scan, twist: Floats = velocity, rounds: range = rounds) -> None:
                for _ in rounds:
                    sampled(twist, of, count)

            guards = {
                path: cl.VehicleGuard(
                    FOOTPRINT,
                    braking=cl.VehicleBraking(
                        latency=BRAKING.latency,
                        acceleration=BRAKING.acceleration,
                        deceleration=BRAKING.deceleration,
                        path=path,
                    ),
                )
                for path in ("arc", "any")
            }
            rivals = {path: partial(ours, guard) for path, guard in guards.items()}
            rivals |= {str(count): partial(theirs, count) for count in SAMPLES}
            times = in_turns(rivals, len(rounds), 3 if quick else 100)
            shown = [1e6 * times[rival].least for rival in rivals]
            table.add(name, place, *shown, shown[3] / shown[0])


def main() -> None:
    asked = arguments(__doc__)
    agreement = Agreement()
    misses = Table("Points that are hit and points that are not", ["motion", "who", "misses", "idle stops"])
    measure_misses(asked.quick, agreement, misses)
    misses.show(asked.markdown)
    times = Table(
        "Microseconds per cycle with 1000 points",
        ["motion", "scan", "guard, arc", "guard, any", *(f"{count} poses" for count in SAMPLES), "40 poses / guard"],
    )
    measure_times(asked.quick, times)
    times.notes.append(machine())
    times.show(asked.markdown)
    agreement.exit()


if __name__ == "__main__":
    main()
