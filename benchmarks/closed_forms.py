"""Contacts of spheres, cubes and capsules by closed forms in NumPy: what the experiments hold our solver against."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass
class Contacts:
    """Rows of pairs. `gap` is the signed distance where bodies overlap; where they are apart, only its sign counts."""

    gap: Floats
    normal: Floats  # from a to b, NaN where two directions are equally good
    position: Floats  # midway between the witness points, NaN where they are not unique


def dot(u: Floats, v: Floats) -> Floats:
    return np.einsum("...c,...c->...", u, v)


def unit(vectors: Floats) -> Floats:
    with np.errstate(invalid="ignore"):
        return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def closest_on_lines(
    p: Floats, u: Floats, half_u: Floats, q: Floats, v: Floats, half_v: Floats
) -> tuple[Floats, Floats]:
    """Closest points of segments p + s u and q + t v with unit directions, |s| <= half_u and |t| <= half_v."""
    along_u, along_v, cosine = dot(q - p, u), dot(q - p, v), dot(u, v)
    sine_sq = np.maximum(1.0 - cosine * cosine, np.finfo(float).tiny)
    s = np.clip((along_u - cosine * along_v) / sine_sq, -half_u, half_u)
    t = np.clip(cosine * s - along_v, -half_v, half_v)
    s = np.clip(cosine * t + along_u, -half_u, half_u)
    return p + s[:, None] * u, q + t[:, None] * v


def capsules(poses_a: Floats, poses_b: Floats, of_a: tuple[float, float], of_b: tuple[float, float]) -> Contacts:
    """Capsules as (radius, length); a sphere is one of length zero."""
    (radius_a, length_a), (radius_b, length_b) = of_a, of_b
    half_a, half_b = (np.full(len(poses_a), length / 2) for length in (length_a, length_b))
    frames = ((poses[:, :3, 3], poses[:, :3, 2], half) for poses, half in ((poses_a, half_a), (poses_b, half_b)))
    on_a, on_b = closest_on_lines(*(part for frame in frames for part in frame))
    normal = unit(on_b - on_a)
    gap = np.linalg.norm(on_b - on_a, axis=1) - (radius_a + radius_b)
    return Contacts(gap, normal, on_a + (radius_a + gap / 2)[:, None] * normal)


def cube_and_capsule(poses_a: Floats, poses_b: Floats, edge: float, of_b: tuple[float, float]) -> Contacts:
    """A cube and a capsule (radius, length), or a sphere, of length zero.

    Along the core, the squared distance to the cube is convex, and its slope is linear between the bends.
    """
    radius, length = of_b
    centre, core = in_frame_of(poses_a, poses_b)
    core = core[:, :, 2]
    half, ends = edge / 2, np.full((len(core), 1), length / 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        crossings = np.concatenate([(sign * half - centre) / core for sign in (-1.0, 1.0)], axis=1)
    bends = np.sort(np.concatenate([np.clip(np.nan_to_num(crossings), -ends, ends), -ends, ends], axis=1))

    def beyond(along: Floats) -> Floats:
        points = centre[:, None] + along[..., None] * core[:, None]
        return points - np.clip(points, -half, half)

    slopes = dot(beyond(bends), core[:, None])
    last = np.clip((slopes <= 0.0).sum(axis=1) - 1, 0, bends.shape[1] - 2)[:, None]
    t0, t1 = (np.take_along_axis(bends, last + k, axis=1) for k in (0, 1))
    g0, g1 = (np.take_along_axis(slopes, last + k, axis=1) for k in (0, 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.where(g1 > g0, t0 - g0 * (t1 - t0) / (g1 - g0), t0)
    root = np.clip(root, t0, t1)
    apart = beyond(root)[:, 0]
    distance = np.linalg.norm(apart, axis=1)
    gap, normal = distance - radius, unit(apart)
    on_cube = centre + root * core - apart
    position = on_cube + gap[:, None] / 2 * normal
    # Where the core itself enters the cube, it is a box without width or depth.
    inside = distance == 0.0
    deep = boxes(poses_a[inside], poses_b[inside], half * np.ones(3), np.array([0.0, 0.0, length / 2]))
    gap[inside] = deep.gap - radius
    world_normal, world_position = to_world(poses_a, normal, position)
    world_normal[inside], world_position[inside] = deep.normal, np.nan
    return Contacts(gap, world_normal, world_position)


def boxes(poses_a: Floats, poses_b: Floats, half_a: Floats, half_b: Floats) -> Contacts:
    """Boxes by their half edges: the fifteen separating axes after Gottschalk."""
    centre, turn = in_frame_of(poses_a, poses_b)
    axes = np.zeros((15, len(centre), 3))
    axes[:3] = np.eye(3)[:, None]
    axes[3:6] = turn.transpose(2, 0, 1)
    for k in range(9):
        axes[6 + k] = np.cross(np.eye(3)[k // 3], turn[:, :, k % 3])
    lengths = np.linalg.norm(axes, axis=2)
    with np.errstate(divide="ignore", invalid="ignore"):
        axes /= lengths[..., None]
    axes *= np.where(dot(axes, centre) < 0.0, -1.0, 1.0)[..., None]
    in_b = np.einsum("nij,kni->knj", turn, axes)
    separations = dot(axes, centre) - np.abs(axes) @ half_a - np.abs(in_b) @ half_b
    separations[lengths < 1e-9] = -np.inf  # parallel edges: the faces beside them say the same
    best = separations.argmax(axis=0)
    rows = np.arange(len(centre))
    gap, normal = separations[best, rows], axes[best, rows]
    position = np.full_like(centre, np.nan)
    for k in range(15):
        mine = best == k
        position[mine] = midway(k, centre[mine], turn[mine], normal[mine], gap[mine], half_a, half_b)
    # Another direction that is as good makes both normal and position a matter of taste.
    others = np.where(np.abs(dot(axes, normal)) < 1.0 - 1e-9, separations, -np.inf)
    tied = others.max(axis=0) > gap - 1e-6 * np.linalg.norm(half_a + half_b)
    world_normal, world_position = to_world(poses_a, normal, position)
    world_normal[tied], world_position[tied] = np.nan, np.nan
    return Contacts(gap, world_normal, world_position)


def midway(k: int, centre: Floats, turn: Floats, normal: Floats, gap: Floats, half_a: Floats, half_b: Floats) -> Floats:
    """Midway between the features that meet along axis k of `boxes`: a corner and a face, or two edges."""
    corner_a = np.sign(normal) * half_a
    in_b = -np.sign(np.einsum("nij,ni->nj", turn, normal)) * half_b
    if k >= 6:
        i, j = divmod(k - 6, 3)
        corner_a[:, i] = 0.0
        in_b[:, j] = 0.0
    corner_b = centre + np.einsum("nij,nj->ni", turn, in_b)
    if k < 3:
        return corner_b - gap[:, None] / 2 * normal
    if k < 6:
        return corner_a + gap[:, None] / 2 * normal
    edge_a = np.broadcast_to(np.eye(3)[i], corner_a.shape)
    halves = np.full(len(centre), half_a[i]), np.full(len(centre), half_b[j])
    on_a, on_b = closest_on_lines(corner_a, edge_a, halves[0], corner_b, turn[:, :, j], halves[1])
    return (on_a + on_b) / 2


def in_frame_of(poses_a: Floats, poses_b: Floats) -> tuple[Floats, Floats]:
    """Centre and rotation of b as seen from a."""
    back = poses_a[:, :3, :3].transpose(0, 2, 1)
    return np.einsum("nij,nj->ni", back, poses_b[:, :3, 3] - poses_a[:, :3, 3]), back @ poses_b[:, :3, :3]


def to_world(poses: Floats, directions: Floats, points: Floats) -> tuple[Floats, Floats]:
    turned, moved = (np.einsum("nij,nj->ni", poses[:, :3, :3], rows) for rows in (directions, points))
    return turned, moved + poses[:, :3, 3]
