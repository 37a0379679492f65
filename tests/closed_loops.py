"""Joints that are driven and brake, and robots that are driven blindly until a guard says stop."""

from dataclasses import dataclass, field

import numpy as np

import clearance as cl


def braked(q, v, deceleration, time):
    """Return places and speeds of joints that have braked for a time."""
    spent = np.minimum(time, np.abs(v) / deceleration)
    return q + v * spent - np.sign(v) * deceleration * spent**2 / 2, np.sign(v) * np.maximum(
        np.abs(v) - deceleration * time, 0.0
    )


def driven(q, v, accelerations, durations, deceleration, steps=8):
    """Drive joints by accelerations for a while each, then brake until they stand; return all places on the way.

    Parameters
    ----------
    q, v : (...) ndarray
    accelerations, durations : (k, ...) ndarray
    deceleration : float or (...) ndarray
    steps : int
        How many places are looked at in each part.

    Returns
    -------
    (n, ...) ndarray
        The last is where they stand.
    """
    places = [q]
    for a, duration in zip(accelerations, durations, strict=True):
        for t in np.linspace(0, 1, steps + 1)[1:, None] * np.ravel(duration):
            t = t.reshape(np.shape(duration))
            places.append(q + v * t + a * t**2 / 2)
        q, v = places[-1], v + a * duration
    for t in np.linspace(0, 1, steps + 1)[1:]:
        places.append(braked(q, v, deceleration, t * np.abs(v) / deceleration)[0])
    return np.array(places)


@dataclass
class Run:
    """What happened: configurations of all sub-steps, which of them touch, and how often the guard said stop."""

    q: list = field(default_factory=list)
    is_moving: list = field(default_factory=list)
    times: list = field(default_factory=list)
    verdicts: list = field(default_factory=list)
    stops: int = 0
    restarts: int = 0

    def collisions(self, robot, world=None, margin=0.0):
        return int(np.sum(~cl.is_clear(robot, world, np.array(self.q), margin)))


@dataclass(frozen=True)
class Drive:
    """How joints are driven: they reach random speeds by accelerations up to a limit and brake before their ends."""

    speed: float = 0.75 * np.pi
    acceleration: float = 20.0
    deceleration: float = 20.0
    cycle: float = 0.01
    substeps: int = 10
    patience: int = 20

    def step(self, robot, q, v, target, brakes):
        """Return q and v a sub-step later; `target` are speeds, `brakes` tells whether all joints brake."""
        dt = self.cycle / self.substeps
        a = np.clip((target - v) / dt, -self.acceleration, self.acceleration)
        ahead, speed = q + v * dt + a * dt**2 / 2, v + a * dt
        stopped = ahead + speed * np.abs(speed) / (2 * self.deceleration)
        must = brakes | (stopped > robot.upper) | (stopped < robot.lower)
        still, slower = braked(q, v, self.deceleration, dt)
        return np.where(must, still, ahead), np.where(must, slower, speed)


def clear_start(robot, world, rng):
    """Draw where to begin: the roomiest of a few configurations."""
    drawn = robot.random(30, seed=rng)
    least = robot.distances(drawn, world).distance.min(axis=1)
    assert least.max() > 0, "no room to begin"
    return drawn[np.argmax(least)]


def closed_loop(robot, guard, seed, cycles, world=None, drive=None, moving=None):
    """Drive a robot of turning and sliding joints by random speeds; whenever the guard says stop, it brakes.

    A robot that the guard keeps from leaving the place where it stands is put elsewhere.

    Parameters
    ----------
    robot : Robot
    guard : Guard or None
    seed, cycles : int
    world : mapping of str to Placed, optional
        What the start avoids.
    drive : Drive, optional
    moving : callable, optional
        Gives the poses of bodies that move, by name, at a time.

    Returns
    -------
    Run
    """
    rng, run, drive = np.random.default_rng(seed), Run(), drive or Drive()
    limit = np.minimum(drive.speed, robot.velocity)
    q, v, target = clear_start(robot, world, rng), np.zeros(robot.dof), rng.uniform(-limit, limit)
    brakes, waited = False, 0
    for k in range(cycles):
        time = k * drive.cycle
        said_stop = False
        if guard is not None:
            verdict = guard.update(q, v, time=time, moving=moving(time) if moving else None)
            run.verdicts.append(verdict)
            said_stop = verdict.stop
        run.stops += said_stop and not brakes
        brakes |= said_stop
        stands = not v.any()
        if stands and brakes:
            waited += 1
            if waited > drive.patience:
                q, waited = clear_start(robot, world, rng), 0
                run.restarts += 1
                continue  # the guard sees the new place before anything moves
            if not said_stop:
                brakes, waited = False, 0
                target = rng.uniform(-limit, limit)
        elif rng.random() < 0.03:
            target = rng.uniform(-limit, limit)
        for s in range(drive.substeps):
            q, v = drive.step(robot, q, v, target, brakes)
            run.q.append(q)
            run.is_moving.append(bool(v.any()))
            run.times.append(time + (s + 1) * drive.cycle / drive.substeps)
    return run
