"""Boxes of joint values searched for the least distance, operators in plain NumPy, and where joints can be until rest.

What is proved of a whole box is attacked at its corners, at random inside, and by descent from the best of these. The
operators follow Täubig, Bäuml and Frese, "Real-time Swept Volume and Distance Computation for Self Collision
Detection", 2011; a volume is a pair (radius, points).
"""

from dataclasses import dataclass
from itertools import product

import numpy as np

import clearance as cl
from robot_oracle import SPEEDS, motion, parts_of, rotation, slerp

TURN = 2 * np.pi


# Boxes of joint values -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class JointBox:
    """A box in coordinates of which each has two ends; floating joints have x, y, z and a turn away from the middle.

    `balls` are the coordinates of such turns, each with how far they go and the middle they start from.
    """

    robot: cl.Robot
    low: np.ndarray
    high: np.ndarray
    balls: tuple

    @classmethod
    def between(cls, robot, q_low, q_high):
        low, high, balls = [], [], []
        for (joint, a), (_, b) in zip(*(parts_of(robot, np.array(q, float)) for q in (q_low, q_high)), strict=True):
            if joint.kind == "floating":
                middle = slerp(a[3:], b[3:], 0.5)
                half = turn_between(a[3:], b[3:]) / 2
                balls.append((slice(len(low) + 3, len(low) + 6), half, middle))
                low += [*a[:3], *[-half] * 3]
                high += [*b[:3], *[half] * 3]
                continue
            start = np.where(np.isfinite(a), a, np.where(np.isfinite(b), b - TURN, -np.pi))
            low += [*start]
            high += [*np.where(np.isfinite(b), b, start + TURN)]
        return cls(robot, np.array(low), np.array(high), tuple(balls))

    def inside(self, z):
        """Move coordinates (..., m) into the box."""
        z = np.clip(z, self.low, self.high)
        for where, half, _ in self.balls:
            angle = np.linalg.norm(z[..., where], axis=-1, keepdims=True)
            z[..., where] *= np.minimum(1.0, half / np.maximum(angle, 1e-300))
        return z

    def corners(self, rng, most):
        if 2 ** len(self.low) <= most:
            return self.inside(np.array(list(product(*zip(self.low, self.high, strict=True)))))
        return self.inside(np.where(rng.random((most, len(self.low))) < 0.5, self.low, self.high))

    def samples(self, rng, n):
        return self.inside(rng.uniform(self.low, self.high, (n, len(self.low))))

    def configurations(self, z):
        """Return q, (..., dof)."""
        q = np.empty((*z.shape[:-1], self.robot.dof))
        at, balls = 0, iter(self.balls)
        for joint, part in parts_of(self.robot, q):
            size = SPEEDS[joint.kind]
            if joint.kind == "floating":
                where, _, middle = next(balls)
                part[..., :3] = z[..., at : at + 3]
                part[..., 3:] = quaternion_product(middle, quaternion(z[..., where]))
            else:
                part[:] = z[..., at : at + size]
            at += size
        return q


def quaternion(turn):
    """Return the quaternion xyzw of a rotation vector, (..., 4)."""
    angle = np.linalg.norm(turn, axis=-1, keepdims=True)
    return np.concatenate([np.sinc(angle / TURN) / 2 * turn, np.cos(angle / 2)], axis=-1)


def quaternion_product(a, b):
    """Return the quaternion that turns by b first and by a then."""
    vector = a[..., 3:] * b[..., :3] + b[..., 3:] * a[..., :3] + np.cross(a[..., :3], b[..., :3])
    return np.concatenate([vector, a[..., 3:] * b[..., 3:] - np.sum(a[..., :3] * b[..., :3], -1, keepdims=True)], -1)


def turn_between(a, b):
    """Return the angle of the shortest turn from one quaternion to another."""
    a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
    b = -b if a @ b < 0 else b
    return 4 * np.arctan2(np.linalg.norm(a - b), np.linalg.norm(a + b))


# The least distance in a box -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Found:
    """The least distance that was found of every pair, never below the true one, and where."""

    pairs: tuple
    least: np.ndarray
    q: np.ndarray


def attack(robot, q_low, q_high, world=None, *, samples=300, corners=200, starts=3, rounds=15, seed=0):
    """Look for the least distance of every pair over a box of joint values.

    Parameters
    ----------
    robot : Robot
    q_low, q_high : (dof,) array_like
    world : mapping of str to Placed, optional
    samples, corners : int
        How many configurations are drawn inside, and how many corners at most.
    starts, rounds : int
        Descent begins at so many of the best, and takes so many steps.
    seed : int

    Returns
    -------
    Found
    """
    rng, box = np.random.default_rng(seed), JointBox.between(robot, q_low, q_high)
    z = np.concatenate(
        [box.inside((box.low + box.high)[None] / 2), box.corners(rng, corners), box.samples(rng, samples)]
    )
    gaps = robot.distances(box.configurations(z), world)
    least, where = [], []
    for k, pair in enumerate(gaps.pairs):
        best = np.argsort(gaps.upper[:, k], kind="stable")[:starts]
        value, at = descend(box, world, pair, z[best], gaps.upper[best, k], rounds)
        least.append(value)
        where.append(at)
    return Found(gaps.pairs, np.array(least), box.configurations(np.array(where).reshape(-1, len(box.low))))


def thorough_attack(robot, q_low, q_high, world=None, seed=0):
    return attack(robot, q_low, q_high, world, samples=10_000, corners=1000, starts=10, rounds=40, seed=seed)


def descend(box, world, pair, z, value, rounds):
    """Try steps along every coordinate from each of z, (n, m), and halve them where none helps."""
    directions = np.concatenate([np.diag(box.high - box.low), -np.diag(box.high - box.low)])
    step, row = np.full(len(z), 0.25), np.arange(len(z))
    for _ in range(rounds):
        trial = box.inside(z[:, None] + step[:, None, None] * directions)
        found = distance_of_pair(box.robot, world, box.configurations(trial), pair)
        best = np.argmin(found, axis=1)
        better = found[row, best] < value
        z = np.where(better[:, None], trial[row, best], z)
        value = np.where(better, found[row, best], value)
        step = np.where(better, step, step / 2)
    return value.min(), z[np.argmin(value)]


def distance_of_pair(robot, world, q, pair):
    """Return the distance of two bodies at configurations, (...), as a number that the true one does not exceed."""
    placed = robot.poses(q)
    names = robot.link_names
    bodies = [
        robot.links[names.index(name)].shape.at(placed[..., names.index(name), :, :]) if name in names else world[name]
        for name in pair
    ]
    return cl.distance(*bodies).upper


# Cases ---------------------------------------------------------------------------------------------------------------


def things(robot, rng, count=2):
    """Draw convex bodies where links may come, by name, each of them hit by some configurations but not by most."""
    world, drawn = {}, robot.random(100, seed=rng)
    places = robot.poses(drawn)[..., :3, 3]
    size = 0.05 * np.linalg.norm(np.ptp(places, axis=(0, 1)))
    while len(world) < count:
        shape = (
            cl.Sphere(size),
            cl.Box([size, 2 * size, size]),
            cl.Capsule(size / 2, 2 * size),
            cl.ConvexHull(size * rng.normal(size=(6, 3)), size / 5),
        )[rng.integers(4)]
        visited = places[rng.integers(100), rng.integers(1, len(robot.links))] + size * rng.normal(size=3)
        body = shape.at(cl.poses.from_axis_angle(rng.normal(size=3), rng.uniform(0, 3), visited))
        around = [k for k, (_, b) in enumerate(robot.distances(drawn[0], {"body": body}).pairs) if b == "body"]
        if 0.01 <= np.mean(robot.distances(drawn, {"body": body}).distance[:, around].min(axis=1) <= 0) <= 0.4:
            world[f"thing {len(world)}"] = body
    return world


def near_contact(robot, world, rng, n, largest=0.05):
    """Draw configurations, half of them on the way from a clear one to one that collides, a small gap before that."""
    drawn = robot.random(400, seed=rng)
    least = robot.distances(drawn, world).distance.min(axis=1)
    clear, hits = drawn[least > 0], drawn[least <= 0]
    assert len(clear) >= n, "hardly anything is clear"
    assert len(hits) > 0, "nothing to come near to"
    found = []
    for k in range(n):
        if k % 2:
            found.append(clear[k])
            continue
        ends, gap = [clear[k], hits[k % len(hits)]], largest * 10.0 ** rng.uniform(-1.7, 0)
        far, near = 0.0, 1.0
        for _ in range(20):
            middle = (far + near) / 2
            touches = robot.nearest(robot.interpolate(ends, middle), world).distance <= gap
            far, near = (far, middle) if touches else (middle, near)
        found.append(robot.interpolate(ends, far))
    return np.array(found)


def around(robot, q, rng, width):
    """Draw a box of about a width that contains q; sliding joints go a fifth as far.

    Returns
    -------
    q_low, q_high : (dof,) ndarray
    """
    low, high = np.array(q, dtype=float), np.array(q, dtype=float)
    for (joint, below), (_, above) in zip(parts_of(robot, low), parts_of(robot, high), strict=True):
        if joint.kind == "floating":
            axis = rng.normal(size=3)
            turn = quaternion(axis / np.linalg.norm(axis) * min(width, 2.5) * rng.random() / 2)
            below[3:], above[3:] = (quaternion_product(below[3:], side * turn) for side in ([-1, -1, -1, 1], [1] * 4))
            below, above = below[:3], above[:3]
        lengths = {"prismatic": [0.2], "planar": [0.2, 0.2, 1.0], "floating": [0.2] * 3}.get(joint.kind, [1.0])
        size = np.array(lengths) * width * rng.uniform(0.0, 1.0, len(below)) * (rng.random() < 0.9)
        share = rng.random(len(below))
        below -= share * size
        above += (1 - share) * size
    return low, high


# Operators on single volumes -----------------------------------------------------------------------------------------


def about(axis, angle, points):
    return points @ rotation(axis, angle).T


def split(axis, points):
    """Return points as their parts along an axis through the origin and across it."""
    axis = np.asarray(axis) / np.linalg.norm(axis)
    along = np.outer(points @ axis, axis)
    return along, points - along


def circ1(axis, low, high, volume, printed=False):
    """Cover the arcs of points by balls; `printed` measures from the origin as the paper does, not from the axis."""
    radius, points = volume
    along, across = split(axis, points)
    half = min((high - low) / 2, np.pi / 2)
    reach = np.linalg.norm(points if printed else across, axis=1).max()
    return radius + np.sin(half) * reach, along + np.cos(half) * about(axis, (low + high) / 2, across)


def circ2(axis, low, high, volume, printed=False):
    """Cover the arcs of points by two balls and what is between them."""
    radius, points = volume
    _, across = split(axis, points)
    middle, half = (low + high) / 2, min((high - low) / 2, np.pi)
    f = (1 - np.cos(half)) / 2
    lever = points if printed else across
    outward = f * about(axis, middle, lever)
    ends = [about(axis, middle + side * half, points) + outward for side in (-1, 1)]
    return radius + f * np.linalg.norm(lever, axis=1).max(), np.concatenate(ends)


def circ(axis, low, high, volume, count):
    """Cover the arcs of points by polygons of `count` corners, three at least."""
    radius, points = volume
    along, across = split(axis, points)
    high = min(high, low + TURN)
    step = (high - low) / (2 * (count - 2))
    assert step < np.pi / 2
    outer = [along + about(axis, low + (2 * s + 1) * step, across) / np.cos(step) for s in range(count - 2)]
    return radius, np.concatenate([about(axis, low, points), about(axis, high, points), *outer])


def trans1(axis, low, high, volume):
    radius, points = volume
    axis = np.asarray(axis) / np.linalg.norm(axis)
    return radius + (high - low) / 2, points + (low + high) / 2 * axis


def trans2(axis, low, high, volume):
    radius, points = volume
    axis = np.asarray(axis) / np.linalg.norm(axis)
    return radius, np.concatenate([points + low * axis, points + high * axis])


def operator(name, axis, low, high, volume):
    """Apply an operator by the name that `sweep` knows it by."""
    if name in ("circ1", "circ2", "trans1", "trans2"):
        return globals()[name](axis, low, high, volume)
    return circ(axis, low, high, volume, int(name.removeprefix("circ")))


def extent(volume, directions):
    """Return how far a volume reaches along unit vectors, (n,)."""
    radius, points = volume
    return np.max(directions @ points.T, axis=1) + radius


def moved_points(kind, axis, values, points):
    """Return points (..., n, 3) that a joint has moved to each of its values."""
    joint = cl.Joint("joint", kind, "parent", "child", axis=axis)
    pose = motion(joint, np.asarray(values, dtype=float)[..., None])
    return points @ np.swapaxes(pose[..., :3, :3], -1, -2) + pose[..., None, :3, 3]


def movable(robot):
    """Return names and kinds of the joints with one value each, also of those that follow others."""
    return {joint.name: joint.kind for joint in robot.joints if joint.kind in ("revolute", "continuous", "prismatic")}


def everywhere(robot, circle, slide="trans2"):
    """Return a choice of operators: one for all joints that turn, another for all that slide."""
    return {name: slide if kind == "prismatic" else circle for name, kind in movable(robot).items()}


# Braking -------------------------------------------------------------------------------------------------------------


def braking_box(robot, q, qd, braking, command=None):
    """Return where a robot without floating joints can be until it stands, by equations 35 to 37.

    Parameters
    ----------
    robot : Robot
    q, qd : (dof,) array_like
    braking : dict of str to float or array
        latency, acceleration, deceleration, and at will uncertainty and command_error.
    command : (dof,) array_like, optional
        Accelerations. They may turn a joint around within the latency, farther out than it starts and ends.

    Returns
    -------
    q_low, q_high : (dof,) ndarray
    """
    q, qd = np.array(q, dtype=float), np.array(qd, dtype=float)
    latency = braking["latency"]
    most = np.broadcast_to(braking["acceleration"], qd.shape)
    if command is not None:
        most = np.broadcast_to(braking.get("command_error", 0.0), qd.shape)
    ends = [q]
    for side in (-1, 1):
        a = side * most + (0.0 if command is None else np.asarray(command))
        if command is not None:  # it may brake at once, and less hard than that
            a = side * np.maximum(side * a, -np.asarray(braking["deceleration"]))
        v = qd + a * latency
        ends.append(q + (qd + v) / 2 * latency + v * np.abs(v) / (2 * braking["deceleration"]))
        turns = qd * v < 0
        ends.append(np.where(turns, q - qd**2 / np.where(turns, 2 * a, 1.0), q))
    low = np.min(ends, axis=0) - braking.get("uncertainty", 0.0)
    high = np.max(ends, axis=0) + braking.get("uncertainty", 0.0)
    # A joint that has passed a limit may go on.
    low = np.where(q > robot.lower, np.maximum(low, robot.lower), low)
    return low, np.where(q < robot.upper, np.minimum(high, robot.upper), high)
