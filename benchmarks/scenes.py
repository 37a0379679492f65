"""Seeded scenes that the benchmarks share: the same numbers on every machine."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import clearance as cl

Floats = NDArray[np.float64]

LETTERS = "PLT"  # point, line segment, triangle: one, two, three vertices
REACH = 0.15  # cores of elements lie in a ball of this radius, in metres


@dataclass(frozen=True)
class ElementPairs:
    """Rows of swept elements a and b: vertices `(count, 1 to 3, 3)` and radii `(count,)`."""

    a: Floats
    b: Floats
    radius_a: Floats
    radius_b: Floats

    def arguments(self) -> tuple[Floats, Floats, Floats, Floats]:
        return self.a, self.b, self.radius_a, self.radius_b


def unit_vectors(rng: np.random.Generator, count: int) -> Floats:
    vectors = rng.normal(size=(count, 3))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def cores(rng: np.random.Generator, vertices: int, count: int) -> Floats:
    """Vertices at random in a ball about the origin."""
    directions = unit_vectors(rng, count * vertices).reshape(count, vertices, 3)
    return REACH * np.cbrt(rng.uniform(0.2, 1.0, (count, vertices, 1))) * directions


def element_pairs(order: str, count: int, seed: int = 1) -> ElementPairs:
    """Pairs near contact: cores apart, swept surfaces some centimetres apart or into each other; order as in "LT"."""
    rng = np.random.default_rng([seed, *order.encode()])
    a, b = (cores(rng, 1 + LETTERS.index(letter), count) for letter in order)
    apart = rng.uniform(1.4, 2.6, (count, 1)) * REACH * unit_vectors(rng, count)
    centre = rng.uniform(-1.0, 1.0, (count, 3))
    radii = rng.uniform(0.02, 0.12, (2, count))
    return ElementPairs(a + centre[:, None], b + (centre + apart)[:, None], radii[0], radii[1])


def crossing_pairs(order: str, count: int, seed: int = 1) -> ElementPairs:
    """Pairs whose cores meet in a point inside both: the slow path of the kernels."""
    rng = np.random.default_rng([seed, 77, *order.encode()])
    a, b = (cores(rng, 1 + LETTERS.index(letter), count) for letter in order)
    for core in (a, b):
        weights = rng.dirichlet(np.full(core.shape[1], 4.0), count)
        core -= np.einsum("nk,nkc->nc", weights, core)[:, None]
    radii = rng.uniform(0.02, 0.12, (2, count))
    return ElementPairs(a, b, radii[0], radii[1])


def rotations(rng: np.random.Generator, count: int) -> Floats:
    """Poses at the origin, turned at random."""
    return cl.poses.from_wxyz(rng.normal(size=(count, 4)))


def pose_pairs(count: int, nearest: float, farthest: float, seed: int = 1) -> tuple[Floats, Floats]:
    """Poses of two bodies that stand between `nearest` and `farthest` from each other, turned at random."""
    rng = np.random.default_rng([seed, 5])
    a, b = rotations(rng, count), rotations(rng, count)
    a[:, :3, 3] = rng.uniform(-1.0, 1.0, (count, 3))
    b[:, :3, 3] = a[:, :3, 3] + rng.uniform(nearest, farthest, (count, 1)) * unit_vectors(rng, count)
    return a, b


def at_gaps(a: cl.Shape, b: cl.Shape, gaps: Floats, apart: float, seed: int = 1) -> tuple[Floats, Floats]:
    """Poses of two shapes, turned at random, that lie these gaps apart; with centres `apart`, they are farther still.

    Along a line, the signed distance of convex shapes is convex: Newton's steps from outside never overshoot.
    """
    rng = np.random.default_rng([seed, 13])
    poses_a, poses_b = rotations(rng, len(gaps)), rotations(rng, len(gaps))
    poses_a[:, :3, 3] = rng.uniform(-1.0, 1.0, (len(gaps), 3))
    line = unit_vectors(rng, len(gaps))
    travel = np.full(len(gaps), apart)
    for _ in range(8):
        poses_b[:, :3, 3] = poses_a[:, :3, 3] + travel[:, None] * line
        found = cl.distance(a.at(poses_a), b.at(poses_b))
        travel -= (found.distance - gaps) / np.einsum("nc,nc->n", found.normal, line)
    return poses_a, poses_b


def link(rng: np.random.Generator) -> list[cl.Shape]:
    """A body of ten elements strung along 0.6 m: two points, five segments, three triangles."""
    shapes: list[cl.Shape] = []
    for k, vertices in enumerate([2, 1, 2, 3, 2, 3, 2, 3, 1, 2]):
        middle = np.array([0.0, 0.0, 0.06 * (k - 4.5)]) + rng.uniform(-0.05, 0.05, 3)
        points = middle + 0.6 * cores(rng, vertices, 1)[0]
        make = (cl.SweptPoint, cl.SweptSegment, cl.SweptTriangle)[vertices - 1]
        shapes.append(make(*points, rng.uniform(0.02, 0.06)))
    return shapes


@dataclass(frozen=True)
class MovingScene:
    """A scene and the poses its bodies take, again and again: all of them move before every evaluation."""

    scene: cl.Scene
    links: dict[str, list[cl.Shape]]
    motion: list[dict[str, Floats]]
    pairs: int

    def step(self, k: int, threads: int, at_most: float = np.inf) -> cl.PairTable:
        self.scene.move(self.motion[k % len(self.motion)])
        return self.scene.distances(threads=threads, at_most=at_most)


def links_in_a_box(pairs: int, seed: int = 1, steps: int = 16) -> MovingScene:
    """As few links of ten elements as have this many pairs, all turning and drifting in a box of a fixed density."""
    rng = np.random.default_rng([seed, 9])
    count = next(n for n in range(2, pairs + 2) if n * (n - 1) // 2 >= pairs)
    side = 0.8 * np.cbrt(count)
    start, end = rotations(rng, count), rotations(rng, count)
    start[:, :3, 3] = rng.uniform(0.0, side, (count, 3))
    end[:, :3, 3] = start[:, :3, 3] + rng.uniform(-0.3, 0.3, (count, 3))
    names = [f"link{k}" for k in range(count)]
    links = {name: link(rng) for name in names}
    scene = cl.Scene()
    for name, pose in zip(names, start, strict=True):
        scene.add(name, links[name], pose)
    all_pairs = np.stack(np.triu_indices(count, 1), axis=1)
    for i, j in all_pairs[np.sort(rng.permutation(len(all_pairs))[:pairs])]:
        scene.watch(names[i], names[j])
    path = [cl.poses.interpolate(start, end, 0.5 - 0.5 * np.cos(2 * np.pi * k / steps)) for k in range(steps)]
    return MovingScene(scene, links, [dict(zip(names, poses, strict=True)) for poses in path], pairs)
