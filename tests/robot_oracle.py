"""Kinematic trees by plain recursion, and clearances by trying every pair of shapes: slow and obvious.

A robot is a `robots.Plan`; the library is asked for nothing but the distance of two shapes.
"""

from functools import cache
from itertools import combinations

import numpy as np

import clearance as cl

SIZE = {"fixed": 0, "revolute": 1, "continuous": 1, "prismatic": 1, "planar": 3, "floating": 7}
SPEEDS = {**SIZE, "floating": 6}


# Configurations ------------------------------------------------------------------------------------------------------


def drives(plan):
    """Return the joints that have a place in q, in its order."""
    return [joint for joint in plan.joints if SIZE[joint.kind] and joint.mimic is None]


def dof(plan):
    return sum(SIZE[joint.kind] for joint in drives(plan))


def nv(plan):
    return sum(SPEEDS[joint.kind] for joint in drives(plan))


def parts_of(plan, q):
    """Return the joints of q, each with a view of its part of q."""
    ends = np.cumsum([0] + [SIZE[joint.kind] for joint in drives(plan)])
    return [(joint, q[..., ends[k] : ends[k + 1]]) for k, joint in enumerate(drives(plan))]


def values(plan, q):
    """Return the values of every joint by name, those that follow others as well."""
    found = {joint.name: part for joint, part in parts_of(plan, q)}
    for joint in plan.joints:
        if joint.mimic is not None:
            master, multiplier, offset = joint.mimic
            found[joint.name] = multiplier * found[master] + offset
    return found


# Poses ---------------------------------------------------------------------------------------------------------------


def rotation(axis, angle):
    """Return (..., 3, 3) rotations by Rodrigues' formula."""
    x, y, z = np.asarray(axis) / np.linalg.norm(axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    angle = np.asarray(angle)[..., None, None]
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def rotation_of_quaternion(xyzw):
    """Return (..., 3, 3) rotations: what q v q* makes of the three unit vectors."""
    u, w = xyzw[..., None, :3], xyzw[..., None, 3:]
    columns = np.eye(3) + 2 * np.cross(u, np.cross(u, np.eye(3)) + w * np.eye(3))
    return np.swapaxes(columns, -1, -2)


def motion(joint, value):
    """Return what a joint adds to its origin, (..., 4, 4)."""
    pose = np.zeros((*value.shape[:-1], 4, 4))
    pose[..., :, :] = np.eye(4)
    if joint.kind in ("revolute", "continuous"):
        pose[..., :3, :3] = rotation(joint.axis, value[..., 0])
    elif joint.kind == "prismatic":
        pose[..., :3, 3] = value * np.asarray(joint.axis) / np.linalg.norm(joint.axis)
    elif joint.kind == "planar":
        assert tuple(joint.axis) == (0, 0, 1)
        pose[..., :2, 3] = value[..., :2]
        pose[..., :3, :3] = rotation(joint.axis, value[..., 2])
    elif joint.kind == "floating":
        pose[..., :3, 3] = value[..., :3]
        pose[..., :3, :3] = rotation_of_quaternion(
            value[..., 3:] / np.linalg.norm(value[..., 3:], axis=-1, keepdims=True)
        )
    return pose


def link_poses(plan, q, links=None):
    """Return `world_from_link`, (..., 4, 4), by the name of the link.

    Parameters
    ----------
    plan : robots.Plan
    q : (..., dof) ndarray
    links : iterable of str, optional
        All of them unless given.

    Returns
    -------
    dict of str to ndarray
    """
    q = np.asarray(q, dtype=float)
    above, value = {joint.child: joint for joint in plan.joints}, values(plan, q)

    @cache
    def pose(link):
        if link not in above:
            return np.broadcast_to(plan.base, (*q.shape[:-1], 4, 4))
        joint = above[link]
        step = motion(joint, value.get(joint.name, q[..., :0]))
        return pose(joint.parent) @ joint.origin @ step

    return {link: pose(link) for link in links or plan.links}


# Derivatives ---------------------------------------------------------------------------------------------------------


def stepped(plan, q, velocity):
    """Return the configuration after one unit of time at a small velocity; of floating joints in the child's frame."""
    q, at = np.array(q, dtype=float), 0
    for joint, part in parts_of(plan, q):
        speed = velocity[at : at + SPEEDS[joint.kind]]
        at += len(speed)
        if joint.kind != "floating":
            part += speed
            continue
        turn = part[3:] / np.linalg.norm(part[3:])
        part[:3] += rotation_of_quaternion(turn) @ speed[:3]
        angle = np.linalg.norm(speed[3:])
        small = np.append(np.sinc(angle / (2 * np.pi)) / 2 * speed[3:], np.cos(angle / 2))
        part[3:6] = turn[3] * small[:3] + small[3] * turn[:3] + np.cross(turn[:3], small[:3])
        part[6] = turn[3] * small[3] - turn[:3] @ small[:3]
    return q


def slopes(function, plan, q, step=1e-3):
    """Differentiate a function of q by every velocity, by differences of fourth order; the last axis is nv long."""

    def central(k, h):
        velocity = h * np.eye(nv(plan))[k]
        return (function(stepped(plan, q, velocity)) - function(stepped(plan, q, -velocity))) / (2 * h)

    columns = [(4 * central(k, step / 2) - central(k, step)) / 3 for k in range(nv(plan))]
    return np.stack(columns, axis=-1) if columns else np.zeros((*np.shape(function(np.asarray(q))), 0))


def jacobian(plan, q, link, point=None):
    """Return d point / d velocity, (3, nv), of a point fixed to a link and given in the world at q."""

    def pose(q):
        return link_poses(plan, q, [link])[link]

    here = pose(q)
    local = np.linalg.inv(here) @ [*(here[:3, 3] if point is None else point), 1.0]
    return slopes(lambda q: (pose(q) @ local)[:3], plan, q)


# Pairs ---------------------------------------------------------------------------------------------------------------


def root(plan):
    """Return the link that is nobody's child."""
    (link,) = set(plan.links) - {joint.child for joint in plan.joints}
    return link


def rigid_groups(plan):
    """Return for each link the topmost link that it is fixed to."""
    above = {joint.child: joint for joint in plan.joints}

    def top(link):
        return top(above[link].parent) if link in above and above[link].kind == "fixed" else link

    return {link: top(link) for link in plan.links}


def pairs(plan):
    """Return the pairs of links that are checked: both with shapes, not one rigid body, not joined by one joint."""
    group = rigid_groups(plan)
    joined = {frozenset((group[joint.parent], group[joint.child])) for joint in plan.joints}
    with_shapes = [link for link in plan.links if len(plan.links[link])]
    return [
        (a, b)
        for a, b in combinations(with_shapes, 2)
        if group[a] != group[b] and frozenset((group[a], group[b])) not in joined
    ]


def all_pairs(plan, world):
    """Return the pairs of links, then every link with shapes against every body of the world."""
    return pairs(plan) + [(link, body) for link in plan.links if len(plan.links[link]) for body in world or {}]


# Clearances ----------------------------------------------------------------------------------------------------------


def placed_shapes(plan, world, poses, name):
    """Return shapes with their poses in the world, (..., 4, 4)."""
    if name not in plan.links:
        return [(placed.shape, placed.pose) for placed in world[name]]
    parts = [shape if isinstance(shape, cl.Placed) else shape.at(np.eye(4)) for shape in plan.links[name]]
    return [(part.shape, poses[name] @ part.pose) for part in parts]


def distances(plan, world, q, pairs=None, at_most=np.inf):
    """Return the distance of every checked pair, (..., n_pairs), each the least over all of its pairs of shapes.

    Parameters
    ----------
    plan : robots.Plan
    world : dict of str to tuple of Placed, or None
    q : (..., dof) ndarray
    pairs : list of (str, str), optional
        `all_pairs` unless given.
    at_most : float
        Pairs farther apart may be called infinitely far.

    Returns
    -------
    ndarray
    """
    q = np.asarray(q, dtype=float)
    pairs = all_pairs(plan, world) if pairs is None else pairs
    found = np.full((*q.shape[:-1], len(pairs)), np.inf)
    poses = link_poses(plan, q, {name for pair in pairs for name in pair if name in plan.links})
    for k, (a, b) in enumerate(pairs):
        for shape_a, pose_a in placed_shapes(plan, world, poses, a):
            for shape_b, pose_b in placed_shapes(plan, world, poses, b):
                gap = cl.distance(shape_a.at(pose_a), shape_b.at(pose_b), at_most=at_most)
                found[..., k] = np.minimum(found[..., k], gap.distance)
    return found


def least(plan, world, q, pairs=None, at_most=np.inf):
    """Return the least distance over all checked pairs, (...)."""
    return np.min(distances(plan, world, q, pairs, at_most), axis=-1, initial=np.inf)


# Paths ---------------------------------------------------------------------------------------------------------------


def slerp(start, end, s):
    """Return quaternions on the shorter arc between two, (..., 4)."""
    start, end = start / np.linalg.norm(start), end / np.linalg.norm(end)
    end = -end if start @ end < 0 else end
    angle = np.arctan2(np.linalg.norm(start - end), np.linalg.norm(start + end)) * 2
    if angle == 0:
        return np.broadcast_to(start, (*np.shape(s), 4))
    s = np.asarray(s)[..., None]
    return (np.sin((1 - s) * angle) * start + np.sin(s * angle) * end) / np.sin(angle)


def along(plan, waypoints, t):
    """Return the configurations of a path at times t, from 0 to the number of its waypoints less one.

    Parameters
    ----------
    plan : robots.Plan
    waypoints : (n, dof) ndarray
    t : (m,) ndarray

    Returns
    -------
    (m, dof) ndarray
    """
    waypoints, t = np.asarray(waypoints, dtype=float), np.asarray(t, dtype=float)
    if len(waypoints) == 1:
        return np.broadcast_to(waypoints[0], (*t.shape, waypoints.shape[1])).copy()
    segment = np.clip(np.floor(t).astype(int), 0, len(waypoints) - 2)
    s = t - segment
    q = (1 - s[..., None]) * waypoints[segment] + s[..., None] * waypoints[segment + 1]
    ends = zip(parts_of(plan, q), parts_of(plan, waypoints), strict=True)
    for (joint, part), (_, at) in ends:
        if joint.kind == "floating":
            for k in range(len(waypoints) - 1):
                part[segment == k, 3:] = slerp(at[k, 3:], at[k + 1, 3:], s[segment == k])
    return q


def sampled(plan, world, waypoints, count=2000, pairs=None, at_most=np.inf):
    """Return times along a path, waypoints among them, with the least distances there.

    Returns
    -------
    t, distance : (m,) ndarray
    """
    last = len(waypoints) - 1
    t = np.union1d(np.linspace(0.0, last, count), np.arange(last + 1.0))
    return t, least(plan, world, along(plan, waypoints, t), pairs, at_most)
