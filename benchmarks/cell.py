"""A generated robot cell after the Volvo scene of J. Thorén's thesis: four arms about a car body, and its scenarios.

J. Thorén, Accelerating Proximity Queries for Non-convex Geometries in a Robot Cell Context, M.Sc. thesis, Chalmers
University of Technology, 2018, sections 5.2, 5.12 and 5.13. Everything is made of bent sheets (`Patch`), tessellated as
finely as the wanted number of triangles asks for: 0.3 million for the arms, 0.9 for the car, 1.3 for the fixtures.
Metres and radians; x runs along the line, z up. NumPy only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Soup = tuple[Floats, Ints]
Field = Callable[[Floats, Floats], Floats]

ARM_TRIANGLES = 300_000
CAR_SHARE = 9 / 22  # of the static triangles; the fixtures have the rest
ARMS = ("irb71", "irb72", "irb73", "irb74")
LINKS = 7  # the base and six that move


# Sheets --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Patch:
    """A sheet over the rectangle `[0, length] x [0, width]`, in metres, laid into space by `surface`, then `place`."""

    surface: Field
    length: float
    width: float
    grain: tuple[float, float] = (1.0, 1.0)  # how much longer than elsewhere the cells are, along length and width
    least: tuple[int, int] = (1, 1)  # cells
    folds: Sequence[float] = ()  # where along the length a grid line must lie
    borders: tuple[Callable[[Floats], Floats], Callable[[Floats], Floats]] | None = None  # of the second coordinate
    hole: Field | None = None  # signed distance from the openings, negative inside
    place: Floats = field(default_factory=lambda: np.eye(4))  # affine

    def at(self, place: Floats) -> Patch:
        return replace(self, place=place @ self.place)

    def coordinates(self, p: Floats, q: Floats) -> tuple[Floats, Floats]:
        if self.borders is None:
            return p, q
        low, high = (border(p) for border in self.borders)
        return p, low + (high - low) * q / self.width

    def share_left_by_holes(self) -> float:
        if self.hole is None:
            return 1.0
        middles = (np.arange(96) + 0.5) / 96
        p, q = np.meshgrid(self.length * middles, self.width * middles, indexing="ij")
        return float(np.mean(self.hole(*self.coordinates(p, q)) >= 0))


class Grid(TypedDict, total=False):
    """How a patch is cut, as in `Patch`."""

    grain: tuple[float, float]
    least: tuple[int, int]


@lru_cache(maxsize=8)
def grid_faces(rows: int, columns: int) -> Ints:
    vertices: Ints = np.arange((rows + 1) * (columns + 1), dtype=np.int32).reshape(rows + 1, columns + 1)
    a, b, c, d = vertices[:-1, :-1], vertices[:-1, 1:], vertices[1:, :-1], vertices[1:, 1:]
    return np.stack([a, c, b, b, c, d], axis=-1).reshape(-1, 3)


def grid_lines(patch: Patch, rows: int) -> Floats:
    """Even steps along the length, the nearest of them moved onto each fold."""
    lines = np.linspace(0.0, patch.length, rows + 1)
    for fold in patch.folds:
        lines[round(fold / patch.length * rows)] = fold
    return lines


def cut(p: Floats, q: Floats, faces: Ints, hole: Field) -> tuple[Floats, Floats, Ints]:
    """Drop what lies inside the openings, and pull the vertices just inside onto the rim by Newton's steps."""
    faces = faces[~(hole(p, q) < 0)[faces].all(axis=1)]
    used, faces_flat = np.unique(faces, return_inverse=True)
    p, q, step = p[used], q[used], 1e-6
    inside = hole(p, q) < 0
    for _ in range(3):
        x, y = p[inside], q[inside]
        depth = hole(x, y)
        slope_x, slope_y = (hole(x + step, y) - depth) / step, (hole(x, y + step) - depth) / step
        steepness_sq = np.maximum(slope_x**2 + slope_y**2, 0.1)
        p[inside], q[inside] = x - depth * slope_x / steepness_sq, y - depth * slope_y / steepness_sq
    return p, q, faces_flat.reshape(-1, 3).astype(np.int32)


def mesh(patch: Patch, rows: int, columns: int) -> Soup:
    lines, rails = grid_lines(patch, rows), np.linspace(0.0, patch.width, columns + 1)
    p, q = (values.ravel() for values in np.meshgrid(lines, rails, indexing="ij"))
    p, q = patch.coordinates(p, q)
    faces = grid_faces(rows, columns)
    if patch.hole is not None:
        p, q, faces = cut(p, q, faces, patch.hole)
    return patch.surface(p, q) @ patch.place[:3, :3].T + patch.place[:3, 3], faces


def merged(soups: Sequence[Soup]) -> Soup:
    """One soup of many."""
    firsts = np.cumsum([0, *(len(vertices) for vertices, _ in soups[:-1])])
    faces = [faces + np.int32(first) for (_, faces), first in zip(soups, firsts, strict=True)]
    return np.concatenate([vertices for vertices, _ in soups]), np.concatenate(faces)


def tessellated(patches: Sequence[Patch], triangles: int) -> Soup:
    """All patches as one soup of about so many triangles: the common length of an edge is found by bisection."""
    spans = np.array([(patch.length / patch.grain[0], patch.width / patch.grain[1]) for patch in patches])
    least = np.array([(max(patch.least[0], len(patch.folds) + 1), patch.least[1]) for patch in patches])
    left = np.array([patch.share_left_by_holes() for patch in patches])

    def cells(edge: float) -> NDArray[np.int64]:
        wanted = np.rint(spans / edge).astype(np.int64)
        return np.where(wanted > least, wanted, least)

    fine, coarse = 1e-5, 10.0
    for _ in range(50):
        edge = np.sqrt(fine * coarse)
        fine, coarse = (edge, coarse) if 2 * cells(edge).prod(axis=1) @ left > triangles else (fine, edge)
    return merged([mesh(patch, *map(int, count)) for patch, count in zip(patches, cells(coarse), strict=True)])


# Where things stand --------------------------------------------------------------------------------------------------


def moved(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Floats:
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def turn(axis: str, angle: ArrayLike) -> Floats:
    """Poses turned about a coordinate axis, shape `(..., 4, 4)`."""
    i, j = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
    angle = np.asarray(angle, dtype=float)
    pose = np.zeros((*angle.shape, 4, 4)) + np.eye(4)
    pose[..., i, i] = pose[..., j, j] = np.cos(angle)
    pose[..., j, i] = np.sin(angle)
    pose[..., i, j] = -pose[..., j, i]
    return pose


def scaled(x: float = 1.0, y: float = 1.0, z: float = 1.0) -> Floats:
    return np.diag([x, y, z, 1.0])


ALONG_X, ALONG_Y = turn("y", np.pi / 2), turn("x", -np.pi / 2)  # what stood along z
MIRRORED = scaled(y=-1.0)


def placed(patches: Iterable[Patch], place: Floats) -> list[Patch]:
    return [patch.at(place) for patch in patches]


def on_both_sides(patches: Sequence[Patch]) -> list[Patch]:
    return [*patches, *placed(patches, MIRRORED)]


def copies(patches: Sequence[Patch], x: Iterable[float], y: float = 0.0, z: float = 0.0) -> list[Patch]:
    """The same along a row."""
    return [patch.at(moved(each, y, z)) for each in x for patch in patches]


# Forms ---------------------------------------------------------------------------------------------------------------


def arc_lengths(nodes: Floats) -> Floats:
    return np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(nodes, axis=0), axis=1))])


def turned(
    profile: Sequence[tuple[float, float]],
    bump: float = 0.0,
    waves: tuple[int, float] = (5, 60.0),
    **options: Unpack[Grid],
) -> Patch:
    """A surface of revolution about z through points (z, radius); bumps are a share of the radius."""
    nodes = np.array(profile, dtype=float)
    along = arc_lengths(nodes)
    girth = 2 * np.pi * nodes[:, 1].max()

    def surface(p: Floats, q: Floats) -> Floats:
        angle = 2 * np.pi * q / girth
        radius = np.interp(p, along, nodes[:, 1]) * (1 + bump * np.cos(waves[0] * angle) * np.sin(waves[1] * p))
        return np.stack([radius * np.cos(angle), radius * np.sin(angle), np.interp(p, along, nodes[:, 0])], axis=-1)

    options.setdefault("least", (1, 6))
    return Patch(surface, along[-1], girth, folds=tuple(along[1:-1]), **options)


def cylinder(radius: float, low: float, high: float, bump: float = 0.0, **options: Unpack[Grid]) -> Patch:
    return turned([(low, 0.0), (low, radius), (high, radius), (high, 0.0)], bump, **options)


def drawn(section: Sequence[tuple[float, float]], length: float, **options: Unpack[Grid]) -> Patch:
    """A profile through points (x, y), open or closed, drawn along z."""
    nodes = np.array(section, dtype=float)
    along = arc_lengths(nodes)

    def surface(p: Floats, q: Floats) -> Floats:
        return np.stack([np.interp(p, along, nodes[:, 0]), np.interp(p, along, nodes[:, 1]), q], axis=-1)

    return Patch(surface, along[-1], length, folds=tuple(along[1:-1]), **options)


def sheet(
    length: float, width: float, height: Field | None = None, hole: Field | None = None, **options: Unpack[Grid]
) -> Patch:
    """A sheet over the x-y plane, from the origin on."""

    def surface(p: Floats, q: Floats) -> Floats:
        return np.stack([p, q, np.zeros_like(p) if height is None else height(p, q)], axis=-1)

    return Patch(surface, length, width, hole=hole, **options)


def rectangle(width: float, depth: float) -> list[tuple[float, float]]:
    x, y = width / 2, depth / 2
    return [(-x, -y), (x, -y), (x, y), (-x, y), (-x, -y)]


def block(x: float, y: float, z: float, **options: Unpack[Grid]) -> list[Patch]:
    """A closed box about the origin."""
    cap = sheet(x, y, **options).at(moved(-x / 2, -y / 2))
    return [drawn(rectangle(x, y), z, **options).at(moved(z=-z / 2)), cap.at(moved(z=-z / 2)), cap.at(moved(z=z / 2))]


def pipe(nodes: ArrayLike, radius: float, **options: Unpack[Grid]) -> Patch:
    """A round tube about a polyline that never runs straight up."""
    path = np.asarray(nodes, dtype=float)
    along = arc_lengths(path)
    tangents = np.gradient(path, along, axis=0)
    sides = np.cross(tangents, [0.0, 0.0, 1.0])
    sides /= np.linalg.norm(sides, axis=1, keepdims=True)
    ups = np.cross(sides, tangents / np.linalg.norm(tangents, axis=1, keepdims=True))

    def along_path(values: Floats, p: Floats) -> Floats:
        return np.stack([np.interp(p, along, column) for column in values.T], axis=-1)

    def surface(p: Floats, q: Floats) -> Floats:
        angle = (q / radius)[:, None]
        across = np.cos(angle) * along_path(sides, p) + np.sin(angle) * along_path(ups, p)
        return along_path(path, p) + radius * across

    options.setdefault("least", (1, 5))
    return Patch(surface, along[-1], 2 * np.pi * radius, **options)


def ring(part: Sequence[Patch], count: int, radius: float, height: float) -> list[Patch]:
    """Copies in a circle about z, the x axis of each pointing outwards."""
    turns = turn("z", 2 * np.pi * np.arange(count) / count)
    return [patch.at(pose @ moved(radius, 0.0, height)) for pose in turns for patch in part]


def bolts(count: int, radius: float, height: float, size: float = 0.012) -> list[Patch]:
    return ring([cylinder(size, 0.0, 1.2 * size, grain=(0.5, 0.5))], count, radius, height)


# Arms ----------------------------------------------------------------------------------------------------------------

JOINT_AXES = "zyyxyx"
JOINT_OFFSETS = ((0, 0, 0.40), (0.32, 0, 0.38), (0, 0, 1.075), (0.30, 0, 0.20), (0.8425, 0, 0), (0.20, 0, 0))
JOINT_LIMITS = np.array([(-2.9, 2.9), (-1.1, 1.4), (-2.8, 1.1), (-3.0, 3.0), (-2.0, 2.0), (-3.1, 3.1)])
TOOL_TIP = np.array([0.52, 0.0, -0.10])  # in the frame of the last link; the gun points along x
STANDS = ((1.3, 2.7), (1.3, -2.7), (-1.3, -2.7), (-1.3, 2.7))
BASES = np.stack([moved(x, y) @ turn("z", -np.sign(y) * np.pi / 2) for x, y in STANDS])


def arm_poses(arm: int, q: ArrayLike, bases: Floats = BASES) -> Floats:
    """Place the links of an arm in the world.

    Parameters
    ----------
    arm : int
        Its index in `ARMS`.
    q : array_like
        Joint angles, shape `(..., 6)`.
    bases : ndarray
        Poses of the bases of all arms.

    Returns
    -------
    ndarray
        Poses of the base and the six links, shape `(..., 7, 4, 4)`.

    Examples
    --------
    >>> arm_poses(0, [0, 0, 0, 0, 0, 0])[6, :3, 3].round(3)
    array([1.3  , 1.038, 2.055])
    """
    q = np.asarray(q, dtype=float)
    world_from_link = [np.broadcast_to(bases[arm], (*q.shape[:-1], 4, 4))]
    for k, (axis, offset) in enumerate(zip(JOINT_AXES, JOINT_OFFSETS, strict=True)):
        world_from_link.append(world_from_link[-1] @ moved(*offset) @ turn(axis, q[..., k]))
    return np.stack(world_from_link, axis=-3)


def base_link() -> list[Patch]:
    foot = turned(
        [(0, 0), (0, 0.42), (0.05, 0.42), (0.06, 0.31), (0.22, 0.27), (0.26, 0.33), (0.36, 0.33), (0.36, 0)], 0.01
    )
    ribs = ring(block(0.10, 0.03, 0.16), 8, 0.33, 0.13)
    plugs = [
        cylinder(0.03, 0.0, 0.08).at(moved(-0.50, y, 0.2) @ ALONG_X @ turn("y", np.pi)) for y in (-0.08, 0.0, 0.08)
    ]
    box = placed(block(0.22, 0.30, 0.20), moved(-0.40, 0.0, 0.2))
    return [foot, *ribs, *bolts(12, 0.385, 0.05), *bolts(16, 0.31, 0.36), *box, *plugs]


def shoulder_link() -> list[Patch]:
    carousel = turned([(0.0, 0.0), (0.0, 0.31), (0.06, 0.31), (0.10, 0.26), (0.20, 0.24), (0.24, 0.0)], 0.01)
    cheek = turned(
        [(-0.27, 0.0), (-0.27, 0.15), (-0.22, 0.22), (0.22, 0.22), (0.27, 0.15), (0.27, 0.0)], 0.01, (7, 80.0)
    )
    neck = drawn(rectangle(0.34, 0.30), 0.30).at(moved(0.16, 0.0, 0.10) @ turn("y", 0.5))
    motor = turned([(0, 0), (0, 0.09), (0.22, 0.09), (0.22, 0.075), (0.34, 0.075), (0.34, 0)], 0.02, (12, 0.0))
    motors = [motor.at(moved(-0.16, 0.0, 0.14)), motor.at(moved(0.32, -0.27, 0.38) @ turn("x", np.pi / 2))]
    return [carousel, cheek.at(moved(0.32, 0.0, 0.38) @ ALONG_Y), neck, *motors, *bolts(18, 0.29, 0.06)]


def upper_arm_link() -> list[Patch]:
    casting = turned(
        [(-0.05, 0.17), (0.10, 0.19), (0.30, 0.15), (0.80, 0.13), (1.0, 0.16), (1.12, 0.14)], 0.03, (6, 45.0)
    )
    shafts = [
        cylinder(radius, -0.19, 0.19, bump=0.01).at(moved(z=z) @ ALONG_Y) for radius, z in ((0.2, 0.0), (0.16, 1.075))
    ]
    ladder = [rib.at(moved(z=z)) for z in np.linspace(0.25, 0.88, 7) for rib in block(0.30, 0.20, 0.018)]
    spring = turned([(0.02, 0.0), (0.02, 0.075), (0.62, 0.075), (0.64, 0.03), (0.98, 0.03), (0.98, 0.0)], 0.02)
    screws = placed(bolts(10, 0.15, 0.19), ALONG_Y)
    return [casting.at(scaled(y=0.75)), *shafts, *ladder, spring.at(moved(x=-0.24)), *screws, *placed(screws, MIRRORED)]


def elbow_link() -> list[Patch]:
    hub = turned([(-0.21, 0), (-0.21, 0.14), (-0.17, 0.17), (0.17, 0.17), (0.21, 0.14), (0.21, 0)], 0.01).at(ALONG_Y)
    housing = turned(
        [(-0.34, 0), (-0.34, 0.16), (-0.20, 0.19), (0.10, 0.18), (0.26, 0.15), (0.29, 0.15), (0.29, 0)], 0.02
    )
    motor = turned([(0, 0), (0, 0.06), (-0.2, 0.06), (-0.2, 0.05), (-0.3, 0.05), (-0.3, 0)], 0.03, (14, 0.0))
    motors = [motor.at(moved(-0.34, y, z) @ ALONG_X) for y, z in ((-0.08, 0.26), (0.08, 0.26), (0.0, 0.13))]
    screws = placed(bolts(14, 0.135, 0.285), moved(z=0.2) @ ALONG_X)
    web = placed(block(0.24, 0.26, 0.22), moved(0.0, 0.0, 0.10))
    return [hub, housing.at(moved(z=0.2) @ ALONG_X), *motors, *screws, *web]


def forearm_link() -> list[Patch]:
    tube = turned([(0.0, 0.0), (0.0, 0.145), (0.04, 0.145), (0.07, 0.12), (0.5, 0.10), (0.66, 0.12), (0.70, 0.0)], 0.03)
    rings = [turned([(z, 0.10), (z, 0.13), (z + 0.02, 0.13), (z + 0.02, 0.10)]) for z in (0.15, 0.27, 0.39, 0.51)]
    fork = [patch.at(moved(0.76, 0.105, 0.0)) for patch in block(0.26, 0.03, 0.17)]
    eyes = cylinder(0.085, 0.09, 0.13).at(moved(0.8425) @ ALONG_Y)
    bends = np.linspace(0.0, np.pi, 24)
    hose = pipe(
        np.stack([0.35 - 0.33 * np.cos(bends), 0.02 * np.sin(3 * bends), 0.15 + 0.06 * np.sin(bends)], axis=-1), 0.022
    )
    return [
        *placed([tube, *rings], ALONG_X),
        *on_both_sides([*fork, eyes]),
        *placed(bolts(12, 0.13, 0.04), ALONG_X),
        hose,
    ]


def wrist_link() -> list[Patch]:
    barrel = turned([(-0.085, 0), (-0.085, 0.06), (-0.07, 0.085), (0.07, 0.085), (0.085, 0.06), (0.085, 0)], 0.02)
    snout = turned([(0.0, 0.07), (0.10, 0.08), (0.13, 0.10), (0.19, 0.10), (0.19, 0.0)], 0.02, (9, 90.0))
    fins = ring(block(0.03, 0.012, 0.05), 10, 0.095, 0.13)
    return [barrel.at(ALONG_Y), *placed([snout, *fins, *bolts(10, 0.08, 0.19, 0.008)], ALONG_X)]


def gun_link() -> list[Patch]:
    """The flange and a stud-welding gun below the axis: bracket, body with cooling rings, nozzle, feeder, hose."""
    flange = turned([(0.005, 0), (0.005, 0.08), (0.03, 0.08), (0.03, 0.055), (0.06, 0.055), (0.06, 0)], 0.01)
    bracket = [
        *placed(block(0.05, 0.09, 0.20), moved(0.08, 0, -0.06)),
        *placed(block(0.18, 0.07, 0.03), moved(0.17, 0, -0.045)),
    ]
    body = [
        (0.06, 0.0),
        (0.06, 0.04),
        (0.34, 0.045),
        (0.36, 0.03),
        (0.44, 0.022),
        (0.45, 0.012),
        (0.52, 0.008),
        (0.52, 0.0),
    ]
    coolers = [
        turned([(z, 0.04), (z, 0.058), (z + 0.008, 0.058), (z + 0.008, 0.04)]) for z in np.linspace(0.12, 0.30, 9)
    ]
    gun = placed([turned(body, 0.02), *coolers], moved(z=-0.10) @ ALONG_X)
    feeder = cylinder(0.022, 0.10, 0.38, bump=0.05).at(moved(y=0.065, z=-0.13) @ ALONG_X @ turn("x", -0.08))
    bends = np.linspace(0.0, np.pi, 30)
    hose = pipe(
        np.stack([0.2 + 0.18 * np.cos(bends), -0.1 * np.sin(bends), -0.14 - 0.05 * np.sin(bends)], axis=-1), 0.014
    )
    return [flange.at(ALONG_X), *placed(bolts(8, 0.068, 0.03, 0.007), ALONG_X), *bracket, *gun, feeder, hose]


def arm_links(triangles: int = ARM_TRIANGLES // len(ARMS)) -> list[Soup]:
    makers = (base_link, shoulder_link, upper_arm_link, elbow_link, forearm_link, wrist_link, gun_link)
    return [tessellated(make(), triangles // LINKS) for make in makers]


# The car body, in its own frame: x forward, z up from the ground it would stand on ------------------------------------

CAR_HEIGHT = 0.55  # it rides this high on the skid
TOP_X = (-2.2, -1.95, -1.75, -1.2, -0.6, 0.1, 0.45, 1.05, 1.3, 2.0, 2.2)
TOP_Z = (0.86, 0.98, 1.03, 1.33, 1.40, 1.41, 1.36, 0.98, 0.93, 0.82, 0.70)
BOTTOM_X = (-2.2, -1.9, -1.6, 1.6, 1.9, 2.2)
BOTTOM_Z = (0.40, 0.30, 0.20, 0.20, 0.28, 0.38)
WHEELS = ((1.33, 0.30), (-1.33, 0.30))


def top(x: Floats) -> Floats:
    height: Floats = np.mean([np.interp(x + shift, TOP_X, TOP_Z) for shift in (-0.08, -0.03, 0.03, 0.08)], axis=0)
    return height


def bottom(x: Floats) -> Floats:
    return np.interp(x, BOTTOM_X, BOTTOM_Z)


def half_width(x: Floats, z: Floats) -> Floats:
    """Bulged below, leaning in above the belt, rounded at both ends, with one pressed line along the doors."""
    ends = np.maximum(np.abs(x) - 1.4, 0.0)
    pressed = 0.008 * np.exp(-(((z - 0.72) / 0.025) ** 2))
    leaning = np.maximum(z - 0.9, 0.0) ** 1.5
    width: Floats = 0.88 - 0.25 * (z - 0.6) ** 2 - 0.40 * leaning - 0.22 * ends**2 + pressed
    return width


def circle(x: float, y: float, radius: float) -> Field:
    return lambda p, q: np.hypot(p - x, q - y) - radius


def window(x: tuple[float, float], y: tuple[float, float], radius: float) -> Field:
    """Signed distance from a rectangle with round corners."""
    middle, half = (np.add(*x) / 2, np.add(*y) / 2), (np.ptp(x) / 2 - radius, np.ptp(y) / 2 - radius)

    def distance(p: Floats, q: Floats) -> Floats:
        over_x, over_y = np.abs(p - middle[0]) - half[0], np.abs(q - middle[1]) - half[1]
        outside = np.hypot(np.maximum(over_x, 0), np.maximum(over_y, 0))
        signed: Floats = outside + np.minimum(np.maximum(over_x, over_y), 0) - radius
        return signed

    return distance


def below_the_top(opening: Field, margin: float) -> Field:
    return lambda x, z: np.maximum(opening(x, z), 0.8 * (z - top(x) + margin))


def any_of(openings: Sequence[Field]) -> Field:
    return lambda p, q: np.minimum.reduce([opening(p, q) for opening in openings])


def side_openings(margin: float) -> list[Field]:
    """Two doors about the B-pillar, a quarter window, the wheel arches."""
    doors = [window((0.02, 1.02), (0.32, 1.32), 0.08), window((-0.90, -0.12), (0.32, 1.32), 0.08)]
    quarter = window((-1.48, -1.02), (0.97, 1.27), 0.05)
    return [
        *(below_the_top(opening, margin) for opening in (*doors, quarter)),
        *(circle(x, z, 0.36) for x, z in WHEELS),
    ]


def side_sheet(inset: float, openings: Sequence[Field]) -> Patch:
    def surface(x: Floats, z: Floats) -> Floats:
        return np.stack([x, half_width(x, z) - inset, z], axis=-1)

    def surface_from_rear(p: Floats, z: Floats) -> Floats:
        return surface(p - 2.2, z)

    hole = any_of(openings)
    borders = (lambda p: bottom(p - 2.2), lambda p: top(p - 2.2) - inset / 2)
    return Patch(surface_from_rear, 4.4, 0.9, borders=borders, hole=lambda p, z: hole(p - 2.2, z))


def sides() -> list[Patch]:
    """Outer skin, inner panel with lightening holes, wheelhouses, sills."""
    drilled = [circle(x, z, 0.025) for x in (-0.06, -0.97) for z in np.arange(0.45, 1.2, 0.1)]
    drilled += [circle(x, 0.26, 0.02) for x in np.arange(-0.8, 0.95, 0.12)]
    drilled += [circle(x, 0.75, 0.05) for x in (1.2, 1.4, 1.6, 1.8, -1.2, -1.4, -1.6, -1.8)]
    inner = side_sheet(0.07, [*side_openings(0.10), *drilled])
    houses = [drawn(arch(0.37, 24), 0.30).at(moved(x, 0.52, z) @ ALONG_Y @ turn("z", np.pi)) for x, z in WHEELS]
    sill = drawn([(0, 0), (0.06, -0.03), (0.13, 0), (0.13, 0.10), (0.08, 0.12), (0.05, 0.12), (0, 0.10), (0, 0)], 1.85)
    along = np.array([[0, 0, 1, -0.93], [1, 0, 0, 0.73], [0, 1, 0, 0.18], [0, 0, 0, 1]], dtype=float)
    return on_both_sides([side_sheet(0.0, side_openings(0.07)), inner, *houses, sill.at(along)])


def arch(radius: float, steps: int) -> list[tuple[float, float]]:
    angles = np.linspace(0.0, np.pi, steps + 1)
    return list(zip(radius * np.cos(angles), radius * np.sin(angles), strict=True))


def beads(height: float, pitch: float, length: float, width: float) -> Field:
    """Pressed grooves along the first coordinate that end before the rim."""

    def depth(p: Floats, q: Floats) -> Floats:
        from_rim = np.minimum.reduce([p / length, 1 - p / length, q / width, 1 - q / width])
        grooves: Floats = height * np.clip(12 * from_rim, 0, 1) * np.clip(2 * np.sin(2 * np.pi * q / pitch), -1, 1)
        return grooves

    return depth


def roof() -> list[Patch]:
    """The crowned roof with beads, and four bows below it."""
    pressed = beads(0.004, 0.16, 1.6, 1.0)

    def surface(p: Floats, q: Floats) -> Floats:
        x, across = p - 1.17, 2 * q - 1
        rim = top(x)
        z = rim + 0.035 * (1 - across**2) + pressed(p, q)
        return np.stack([x, across * half_width(x, rim), z], axis=-1)

    def bow(x: float) -> Patch:
        across = np.linspace(-1.0, 1.0, 33)
        z = float(top(np.array(x)))
        y = float(half_width(np.array(x), np.array(z))) - 0.02
        path = np.stack([np.full(33, x), y * across, z - 0.03 + 0.03 * (1 - across**2)], axis=-1)
        return pipe(path, 0.022, grain=(1.0, 0.5))

    return [Patch(surface, 1.6, 1.0, grain=(1.0, 0.8)), *(bow(x) for x in (-1.15, -0.75, -0.3, 0.1, 0.42))]


def floors() -> list[Patch]:
    """The floor with its tunnel, the rear floor with the well of the spare wheel, cross members above and below."""
    front, rear = beads(0.006, 0.11, 2.15, 1.5), beads(0.005, 0.13, 0.95, 1.4)

    def with_tunnel(p: Floats, q: Floats) -> Floats:
        return 0.22 + 0.14 * np.exp(-(((q - 0.75) / 0.13) ** 4)) + front(p, q)

    def with_well(p: Floats, q: Floats) -> Floats:
        return 0.42 - 0.16 / (1 + np.exp((np.hypot(p - 0.45, q - 0.7) - 0.29) / 0.015)) + rear(p, q)

    drains = any_of([circle(x, y, 0.03) for x in np.arange(0.25, 2.1, 0.45) for y in (0.18, 0.45, 1.05, 1.32)])
    hat = drawn([(-0.08, 0), (-0.05, 0), (-0.04, 0.07), (0.04, 0.07), (0.05, 0), (0.08, 0)], 0.56)
    above = [hat.at(moved(x, 0.17, 0.23) @ ALONG_Y @ turn("z", np.pi)) for x in (-0.55, 0.0, 0.55)]
    below = [hat.at(moved(x, 0.15, 0.20) @ ALONG_Y) for x in (-0.9, -0.3, 0.3, 0.9)]
    panels = [
        sheet(2.15, 1.5, with_tunnel, hole=drains).at(moved(-1.2, -0.75)),
        sheet(0.95, 1.4, with_well).at(moved(-2.14, -0.7)),
    ]
    return [*panels, *on_both_sides([*above, *below])]


def bulkhead(x: float, low: float, high: float, openings: Sequence[Field]) -> Patch:
    """A sheet across the car; openings in (y, z)."""
    hole = any_of(openings)
    waves = beads(0.008, 0.14, high - low, 1.44)

    def surface(p: Floats, q: Floats) -> Floats:
        return np.stack([x + 0.05 * (q / 0.72 - 1) ** 2 + waves(p, q), q - 0.72, p + low], axis=-1)

    return Patch(surface, high - low, 1.44, hole=lambda p, q: hole(q - 0.72, p + low))


def bulkheads() -> list[Patch]:
    steering = [circle(0.35, 0.6, 0.05), circle(-0.3, 0.7, 0.08), window((-0.12, 0.12), (0.45, 0.6), 0.03)]
    backrest = [window((side - 0.22, side + 0.22), (0.52, 0.84), 0.06) for side in (-0.34, 0.34)]
    lights = [window((side - 0.15, side + 0.15), (0.55, 0.75), 0.04) for side in (-0.5, 0.5)]
    shelf = sheet(0.5, 1.3, hole=any_of([circle(0.25, y, 0.1) for y in (0.25, 1.05)])).at(moved(-1.72, -0.65, 0.97))
    walls = [(0.98, 0.24, 0.95, steering), (-1.24, 0.24, 0.98, backrest), (-2.14, 0.42, 0.84, lights)]
    return [*(bulkhead(*wall) for wall in walls), shelf]


def engine_bay() -> list[Patch]:
    rail = drawn(rectangle(0.09, 0.12), 1.2).at(moved(0.98, 0.45, 0.45) @ ALONG_X)
    tower = turned([(0.40, 0.17), (0.80, 0.13), (0.84, 0.12), (0.84, 0.04)], 0.02).at(moved(1.33, 0.55))
    across = np.linspace(-1.0, 1.0, 41)
    bows = [(2.17, 0.10, 0.62, 0.50, 0.055), (2.05, 0.02, 0.60, 0.78, 0.025), (1.0, 0.06, 0.70, 0.95, 0.04)]
    beams = [
        pipe(np.stack([x - bend * across**2, half * across, np.full(41, z)], axis=-1), radius)
        for x, bend, half, z, radius in bows
    ]
    return [*on_both_sides([rail, tower]), *beams]


def studs(rng: np.random.Generator, count: int = 160) -> list[Patch]:
    """Studs already welded to the floor."""
    stud = cylinder(0.003, 0.0, 0.018, grain=(0.6, 0.6))
    x, y = rng.uniform(-1.1, 0.9, count), rng.uniform(0.22, 0.68, count) * rng.choice([-1, 1], count)
    return [stud.at(moved(*place, 0.226)) for place in zip(x, y, strict=True)]


def car_patches(seed: int) -> list[Patch]:
    parts = [*sides(), *roof(), *floors(), *bulkheads(), *engine_bay(), *studs(np.random.default_rng([seed, 1]))]
    return placed(parts, moved(z=CAR_HEIGHT))


# Fixtures ------------------------------------------------------------------------------------------------------------

FLAT = (12.0, 12.0)  # grain of what a modeller leaves in large triangles
STRAIGHT = (1.0, 25.0)  # of drawn profiles: long thin triangles
HALF_BEAM = [(0.08, -0.1), (0.08, -0.09), (0.005, -0.09), (0.005, 0.09), (0.08, 0.09), (0.08, 0.1)]
BEAM = [*HALF_BEAM, *((-x, -y) for x, y in HALF_BEAM), HALF_BEAM[0]]


def conveyor() -> list[Patch]:
    """Rails, rollers with their bearings, legs."""
    rail = drawn(BEAM, 14.0, grain=STRAIGHT).at(moved(-7.0, 0.62, 0.28) @ ALONG_X @ turn("z", np.pi / 2))
    roller = turned(
        [(-0.54, 0), (-0.54, 0.015), (-0.5, 0.015), (-0.5, 0.04), (0.5, 0.04), (0.5, 0.015), (0.54, 0.015), (0.54, 0)]
    )
    bearing = turned([(0.54, 0.015), (0.54, 0.045), (0.57, 0.045), (0.57, 0.015)])
    rollers = copies(placed((roller, bearing, bearing.at(scaled(z=-1))), ALONG_Y), np.arange(-6.9, 7.0, 0.2), z=0.33)
    legs = copies(block(0.1, 0.1, 0.18, grain=FLAT), np.arange(-6.5, 7.0, 1.3), 0.62, 0.09)
    return [*on_both_sides([rail, *legs]), *rollers]


def skid() -> list[Patch]:
    """Runners on the rollers, cross bars, and the towers that carry the sills."""
    runner = drawn(rectangle(0.06, 0.08), 4.8, grain=STRAIGHT).at(moved(-2.4, 0.45, 0.42) @ ALONG_X)
    tower = turned(
        [(0.46, 0.06), (0.50, 0.03), (0.66, 0.03), (0.68, 0.045), (0.70, 0.045), (0.70, 0.012), (0.725, 0.0)]
    )
    towers = copies([tower], (-0.85, -0.3, 0.3, 0.85), 0.62)
    bar = drawn(rectangle(0.05, 0.05), 1.5).at(ALONG_Y)
    bars = copies([bar], (-1.9, -0.85, -0.3, 0.3, 0.85, 1.9), -0.75, 0.485)
    return [*on_both_sides([runner, *towers]), *bars]


def clamp() -> list[Patch]:
    """A stand with a pneumatic cylinder and two jaws about the sill, which lies towards -y."""
    stand = [
        *placed(block(0.12, 0.12, 0.56, grain=FLAT), moved(z=0.30)),
        *placed(block(0.3, 0.3, 0.02, grain=FLAT), moved(z=0.01)),
    ]
    piston = turned([(0.30, 0), (0.30, 0.04), (0.50, 0.04), (0.50, 0.015), (0.64, 0.015), (0.64, 0)], 0.02)
    pivots = [cylinder(0.03, -0.08, 0.08).at(moved(0.0, y, 0.64) @ ALONG_X) for y in (-0.04, 0.10)]
    jaws = [
        pipe([(0, 0.1, 0.64), (0, 0, 0.68), (0, -0.1, 0.69), (0, -0.17, 0.68)], 0.02),
        *placed(block(0.05, 0.2, 0.03), moved(0, -0.12, 0.60)),
    ]
    return [*stand, piston.at(moved(y=0.10)), *pivots, *jaws, *placed(bolts(4, 0.12, 0.02, 0.01), turn("z", np.pi / 4))]


def clamps() -> list[Patch]:
    return on_both_sides(copies(clamp(), (-1.7, -0.65, 0.0, 0.65, 1.7), 1.12))


def pillars() -> list[Patch]:
    """Columns on foot plates, a frame of beams on top, diagonals between."""
    column = [
        drawn(BEAM, 3.9, grain=STRAIGHT),
        *placed(block(0.4, 0.4, 0.03, grain=FLAT), moved(z=0.015)),
        *bolts(4, 0.22, 0.03, 0.016),
    ]
    columns = copies(column, (-4.2, 0.0, 4.2), 4.1)
    lengthwise = drawn(BEAM, 9.0, grain=STRAIGHT).at(moved(-4.5, 2.0, 4.0) @ ALONG_X @ turn("z", np.pi / 2))
    along = [lengthwise, lengthwise.at(moved(y=2.1))]
    across = copies([drawn(BEAM, 8.4, grain=STRAIGHT).at(ALONG_Y)], np.linspace(-4.2, 4.2, 7), -4.2, 4.2)
    web = [pipe([(x, 2.0, 3.9), (x + 0.7, 4.1, 3.9)], 0.025, grain=(20.0, 1.0)) for x in np.arange(-4.2, 3.6, 0.7)]
    return [*on_both_sides([*columns, *along, *web]), *across]


def fence_panel(width: float) -> list[Patch]:
    """Wires along x and z in a frame with two posts."""
    upright = turned([(0.1, 0.002), (2.0, 0.002)], grain=(300.0, 0.25), least=(1, 3))
    level = turned([(0.05, 0.003), (width - 0.05, 0.003)], grain=(300.0, 0.25), least=(1, 3)).at(ALONG_X)
    levels = [level.at(moved(z=z)) for z in np.linspace(0.12, 1.98, 8)]
    posts = copies([drawn(rectangle(0.05, 0.05), 2.1, grain=STRAIGHT)], (0.0, width))
    return [*copies([upright], np.arange(0.08, width - 0.05, 0.07)), *levels, *posts]


def fences() -> list[Patch]:
    panel = fence_panel(1.5)
    across = placed(panel, turn("z", np.pi / 2))
    short_sides = [*copies(across, (-5.25, 5.25), 1.5), *copies(across, (-5.25, 5.25), 3.05)]
    return on_both_sides([*copies(panel, np.arange(-5.25, 5.0, 1.5), 4.6), *short_sides])


def cable(rng: np.random.Generator, start: Sequence[float], end: Sequence[float], sag: float) -> Patch:
    steps = np.linspace(0.0, 1.0, 80)
    nodes = np.asarray(start) + steps[:, None] * (np.asarray(end) - start)
    phases = rng.uniform(0, 2 * np.pi, (2, 3))
    for column, phase in zip((1, 2), phases, strict=True):
        nodes[:, column] += 0.008 * np.sum(np.sin(np.outer(steps, [17.0, 29.0, 41.0]) + phase), axis=1)
    nodes[:, 2] -= 4 * sag * steps * (1 - steps)
    return pipe(nodes, rng.uniform(0.008, 0.02))


def cable_trays(rng: np.random.Generator) -> list[Patch]:
    """Perforated trays high above the arms, the cables in them, and the ones that hang from tray to tray."""
    slots = any_of([window((0.08, 0.22), (x, x + 0.12), 0.02) for x in np.arange(0.1, 8.5, 0.25)])
    tray = drawn([(-0.15, 0.08), (-0.15, 0), (0.15, 0), (0.15, 0.08)], 8.6, grain=(1.0, 1.5))
    tray = replace(tray, hole=lambda p, q: slots(p - 0.08, q)).at(
        moved(-4.3, 0, 3.6) @ turn("x", np.pi / 2) @ turn("y", np.pi / 2)
    )
    trays = [tray.at(moved(y=y)) for y in (-3.3, 3.3)]
    lying = [
        cable(rng, (-4.3, y + dy, 3.65), (4.3, y + dy, 3.65), 0.0)
        for y in (-3.3, 3.3)
        for dy in (-0.1, -0.05, 0.0, 0.05, 0.1)
    ]
    hanging = [cable(rng, (x, -3.3, 3.7), (x + 0.3, 3.3, 3.7), rng.uniform(0.1, 0.35)) for x in (-3.5, -1.9, 1.6, 3.2)]
    return [*trays, *lying, *hanging]


def cabinets() -> list[Patch]:
    """Weld controllers with cooling fins outside the fence, tread plates along it, drip pans below the line."""
    fins = copies(block(0.006, 0.06, 1.2, grain=(4.0, 4.0)), np.linspace(-0.3, 0.3, 25), -0.33)
    lamp = turned([(0.9, 0.04), (1.0, 0.04), (1.02, 0.0)]).at(moved(x=0.3))
    controllers = copies([*block(0.8, 0.6, 1.8, grain=FLAT), *fins, lamp], (-4.0, -2.8, 2.8, 4.0), 5.2, 0.95)
    treads = copies([sheet(1.0, 0.7, grain=FLAT)], np.arange(-5.0, 5.0, 1.02), 3.75, 0.02)
    pan = sheet(1.2, 1.1, lambda p, q: 0.03 * (p - 0.6) ** 2)
    return [*on_both_sides([*controllers, *treads]), *copies([pan], np.arange(-6.5, 6.0, 1.3), -0.55, 0.05)]


def tool_stands() -> list[Patch]:
    """Stud feeders and tip dressers between the arms and beside them."""
    foot = [(0, 0), (0, 0.15), (0.02, 0.15), (0.03, 0.04)]
    head = [(0.7, 0.04), (0.72, 0.09), (0.8, 0.09), (0.84, 0.02), (0.84, 0)]
    dresser = turned([*foot, *head], 0.01)
    feeder = [
        turned([(0.5, 0.0), (0.55, 0.16), (0.75, 0.19), (0.76, 0.2), (0.76, 0.0)], 0.02),
        *placed(block(0.3, 0.3, 0.5, grain=FLAT), moved(z=0.25)),
    ]
    parts = [dresser.at(moved(0.0, 2.15)), *placed(feeder, moved(0.0, 3.2))]
    return on_both_sides(copies(parts, (-2.6, 0.0, 2.6)))


def fixture_patches(seed: int) -> list[Patch]:
    rng = np.random.default_rng([seed, 2])
    groups = (conveyor(), skid(), clamps(), pillars(), fences(), cable_trays(rng), cabinets(), tool_stands())
    return [patch for group in groups for patch in group]


# The cell ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Cell:
    """Link meshes of four arms in the frames of their links, the poses of their bases, and what stands still."""

    arms: list[list[Soup]]
    bases: Floats
    car: Soup
    fixtures: Soup

    @cached_property
    def statics(self) -> Soup:
        """Car and fixtures as one soup, as in the thesis."""
        return merged([self.car, self.fixtures])

    @property
    def links(self) -> dict[str, Soup]:
        """The mesh of every link by its name."""
        return {name: soup for k, arm in enumerate(self.arms) for name, soup in zip(link_names(k), arm, strict=True)}


def link_names(arm: int) -> list[str]:
    return [f"{ARMS[arm]}_{link}" for link in range(LINKS)]


def car_and_fixtures(triangles: int, seed: int) -> tuple[Soup, Soup]:
    of_car = round(CAR_SHARE * triangles)
    return tessellated(car_patches(seed), of_car), tessellated(fixture_patches(seed), triangles - of_car)


def statics(count: int = 2_200_000, seed: int = 1) -> Soup:
    """Make what stands still, from 44 thousand to 40 million triangles (section 5.13).

    Parameters
    ----------
    count : int
        Wanted triangles; met within some per cent.
    seed : int
        Of cables and studs.

    Returns
    -------
    tuple of ndarray
        Vertices `(n, 3)` and faces `(m, 3)`.
    """
    return merged(car_and_fixtures(count, seed))


def cell(triangles: int = 2_500_000, seed: int = 1) -> Cell:
    """Make the whole cell; 0.3 million triangles are the arms, the rest stands still.

    Parameters
    ----------
    triangles : int
        Wanted triangles, at least 344 thousand; met within some per cent.
    seed : int
        Of cables and studs.

    Returns
    -------
    Cell
    """
    if triangles < ARM_TRIANGLES + 44_000:
        raise ValueError(f"triangles is {triangles}, but arms and coarsest statics need {ARM_TRIANGLES + 44_000}.")
    car, fixtures = car_and_fixtures(triangles - ARM_TRIANGLES, seed)
    return Cell([arm_links()] * len(ARMS), BASES, car, fixtures)


# Scenarios -----------------------------------------------------------------------------------------------------------

STUDS = 6
HOME = (0.0, -0.45, 0.35, 0.0, 0.55, 0.0)
# Joint angles of every arm: six studs and the way home. The last row of a stud touches the body but for 1 to 12 mm, the
# row before it is 13 cm off, where the arm returns to; rows before that lead around what is in the way. They were found
# once by inverse kinematics with collision tests on the cell of 2.5 million triangles.
STOPS = (
    [
        [(0.5689, 0.0017, 0.8756, -2.2412, 1.0828, -1.2599), (0.4984, 0.0867, 0.785, -2.3092, 1.0447, -1.2634)],
        [(0.2148, -0.4103, 0.858, 0.6974, -0.4439, 0.5232), (0.1878, -0.2687, 0.7635, 0.5881, -0.4672, 0.51)],
        [(-0.6793, 0.3904, -0.6516, -2.3986, -0.9804, -0.5044), (-0.641, 0.476, -0.7185, -2.4186, -0.9415, -0.5015)],
        [
            (0.1935, -0.6558, 1.1631, -1.7659, -0.6205, 0.402),
            (-0.198, 0.0507, 0.8871, -0.2314, -1.0262, 0.321),
            (-0.1807, 0.1441, 0.7718, -0.2143, -1.0024, 0.3199),
        ],
        [
            (-0.0439, -0.6135, 1.1519, 1.4339, 0.063, -0.8745),
            (-0.4442, 0.348, 0.234, 1.2766, 0.3675, -2.8809),
            (-0.42, 0.4593, 0.1478, 1.3418, 0.3416, -2.8789),
        ],
        [(-0.0669, -0.4409, 0.8429, -0.2206, -0.3091, -0.7881), (-0.062, -0.2944, 0.7543, -0.1736, -0.365, -0.7803)],
        [(0.0, -0.45, 0.35, 0.0, 0.55, 0.0)],
    ],
    [
        [(-0.659, 0.0463, 0.7289, 2.1112, 1.0748, -1.1004), (-0.5898, 0.127, 0.6442, 2.1728, 1.031, -1.1033)],
        [
            (-0.7299, -0.0252, 0.7972, 2.0475, 1.1176, -1.097),
            (0.6797, 0.3335, -0.6745, -0.71, 1.0402, 2.7057),
            (0.646, 0.3943, -0.7096, -0.6943, 1, 2.7147),
            (0.6091, 0.4787, -0.7723, -0.6742, 0.9609, 2.7302),
        ],
        [(-0.2156, -0.3882, 0.9166, 2.5376, 0.5086, 1.6893), (-0.1804, -0.2463, 0.8211, 2.643, 0.5324, 1.6941)],
        [
            (-0.2599, -0.5266, 0.9969, 2.3936, 0.4876, 1.6836),
            (0.9289, 0.1044, 0.0542, 1.8282, -0.9129, -1.017),
            (0.875, 0.1696, 0.0102, 1.8129, -0.8562, -1.011),
            (0.8203, 0.2481, -0.0501, 1.798, -0.7997, -1.0027),
        ],
        [(0.196, -0.4259, 0.8044, 0.6257, -0.3371, -1.0672), (0.1838, -0.2806, 0.7248, 0.5032, -0.3868, -1.0763)],
        [(0.4777, 0.3895, 0.2864, 1.635, -0.3774, 1.3028), (0.4482, 0.499, 0.2013, 1.5541, -0.3541, 1.299)],
        [(0.0, -0.45, 0.35, 0.0, 0.55, 0.0)],
    ],
    [
        [(0.5702, -0.0281, 0.8612, 0.7958, -1.2474, 0.1983), (0.5031, 0.0403, 0.7619, 0.7427, -1.1933, 0.1983)],
        [(0.277, -0.4001, 0.7648, 1.0245, -0.4271, 0.1743), (0.243, -0.2658, 0.6752, 0.8916, -0.4271, 0.159)],
        [(-0.4387, 0.1588, -0.4048, -2.5995, -0.8278, 0.5698), (-0.4094, 0.2425, -0.4496, -2.6107, -0.7798, 0.5604)],
        [(-0.8595, 0.0878, 0.414, -1.275, -0.9081, 0.1604), (-0.7986, 0.1706, 0.3308, -1.2322, -0.8573, 0.1553)],
        [(-0.4471, 0.3693, 0.2653, -1.7301, -0.3579, -0.4358), (-0.421, 0.4807, 0.1768, -1.6583, -0.3344, -0.4308)],
        [
            (-0.5233, 0.117, 0.4232, -1.9474, -0.4444, -0.4497),
            (-0.0687, -0.7731, 0.9354, -1.115, -0.0755, -0.383),
            (-0.0943, -0.4455, 0.7463, -0.504, -0.1946, -0.0997),
            (-0.0945, -0.3047, 0.6625, -0.3942, -0.246, -0.0698),
        ],
        [(0.0, -0.45, 0.35, 0.0, 0.55, 0.0)],
    ],
    [
        [
            (0.0, -0.45, 0.35, 0.0, 0.55, 0.0),
            (-0.7067, -0.0057, 0.8569, -0.9111, -1.3277, 1.1308),
            (-0.6366, 0.0455, 0.7774, -0.8569, -1.2736, 1.1277),
            (-0.5687, 0.1064, 0.682, -0.8058, -1.2156, 1.124),
        ],
        [
            (-0.7067, -0.0057, 0.8569, -0.9111, -1.3277, 1.1308),
            (0.4743, 0.0854, -0.3551, 2.5757, -0.8661, -0.3699),
            (0.4438, 0.1549, -0.3828, 2.5857, -0.815, -0.3642),
            (0.4143, 0.2394, -0.4288, 2.5962, -0.7671, -0.3562),
        ],
        [
            (0.4743, 0.0854, -0.3551, 2.5757, -0.8661, -0.3699),
            (-0.4922, -0.4184, 0.8363, 1.9616, 0.6287, -0.1533),
            (-0.4301, -0.3026, 0.7829, 2.1024, 0.6063, -0.1683),
            (-0.3737, -0.1782, 0.7106, 2.2331, 0.5947, -0.1832),
        ],
        [(0.3699, -0.2897, 0.9457, 0.5726, -0.7304, -0.8129), (0.3341, -0.1526, 0.844, 0.5039, -0.7464, -0.8114)],
        [(0.0799, -0.4468, 0.7573, 0.4159, -0.1972, 0.3742), (0.0788, -0.3057, 0.6726, 0.3216, -0.2496, 0.3499)],
        [
            (0.0757, -0.5831, 0.8315, 0.565, -0.1404, 0.4281),
            (0.5184, 0.2564, 0.3732, -1.3819, 0.4154, -1.8629),
            (0.4757, 0.3907, 0.285, -1.5072, 0.3759, -1.8686),
            (0.4465, 0.4996, 0.2, -1.587, 0.3528, -1.8725),
        ],
        [(0.5797, 0.0669, 0.2003, -0.7983, 0.2867, -0.6087), (0.0, -0.45, 0.35, 0.0, 0.55, 0.0)],
    ],
)


@dataclass(frozen=True, eq=False)
class Scenario:
    """Bodies of two groups, and the poses `(n, 4, 4)` of those that move."""

    name: str
    group_a: list[str]
    group_b: list[str]
    poses: dict[str, Floats]

    def __len__(self) -> int:
        return len(next(iter(self.poses.values())))


def scenario(name: str, cell: Cell, joints: dict[int, Floats], group_b: Sequence[str] = ("statics",)) -> Scenario:
    poses: dict[str, Floats] = {}
    for arm, q in joints.items():
        poses |= zip(link_names(arm), np.moveaxis(arm_poses(arm, q, cell.bases), -3, 0).copy(), strict=True)
    return Scenario(name, [link for link in poses if link not in group_b], list(group_b), poses)


def timed_stops(arm: int) -> tuple[Floats, Floats]:
    """Times and joint angles; every stud takes a unit of time, a stretch in it the root of its length."""
    times, rows = [np.zeros(1)], [np.array([HOME])]
    for k, stud in enumerate(STOPS[arm]):
        back = stud[-2:-1] if k < STUDS else []
        path = np.array([rows[-1][-1], *stud, *back])
        efforts = np.cumsum(np.sqrt(np.abs(np.diff(path, axis=0)).max(axis=1)))
        times.append(k + efforts / efforts[-1])
        rows.append(path[1:])
    return np.concatenate(times), np.concatenate(rows)


def welding(arm: int, steps: int) -> Floats:
    """Joint angles on straight lines from stop to stop, slow at both ends."""
    times, rows = timed_stops(arm)
    now = np.linspace(0.0, times[-1], steps)
    k = np.clip(np.searchsorted(times, now, side="right") - 1, 0, len(times) - 2)
    part = (now - times[k]) / (times[k + 1] - times[k])
    return rows[k] + (part**2 * (3 - 2 * part))[:, None] * (rows[k + 1] - rows[k])


def play_forward(cell: Cell, steps: int = 1000) -> Scenario:
    """Let all arms weld their studs at once: the coherent scenario of section 5.2.1.

    Parameters
    ----------
    cell : Cell
    steps : int
        How finely the same motion is cut.

    Returns
    -------
    Scenario
        28 links against "statics", never in contact: gaps from 1 mm to a third of a metre.
    """
    return scenario("play-forward", cell, {arm: welding(arm, steps) for arm in range(len(ARMS))})


def no_coherence(cell: Cell, steps: int = 1000, seed: int = 1) -> Scenario:
    """Shuffle the steps of `play_forward`."""
    order = np.random.default_rng([seed, 3]).permutation(steps)
    return scenario("no-coherence", cell, {arm: welding(arm, steps)[order] for arm in range(len(ARMS))})


def arm_against_arm(cell: Cell, steps: int = 1000) -> Scenario:
    """Watch two neighbours of `play_forward`, irb72 and irb73, that move near each other (section 5.12)."""
    joints = {arm: welding(arm, steps) for arm in (1, 2)}
    return scenario("arm-against-arm", cell, joints, link_names(2))


# What a planner would sample in, and a crude picture of arm and cell that tells it where to turn back: balls on the
# links (link, x, y, z, radius) against boxes (lowest and highest corner).
REGION = np.array([(-0.6, 0.1, -0.5, -1.6, -1.4, -3.0), (0.9, 0.9, 0.6, 1.6, 1.4, 3.0)])
BALLS = np.array(
    [
        (3, -0.5, 0.0, 0.2, 0.2),
        (4, 0.1, 0.0, 0.0, 0.15),
        (4, 0.4, 0.0, 0.0, 0.13),
        (4, 0.7, 0.0, 0.0, 0.13),
        (5, 0.1, 0.0, 0.0, 0.1),
        (6, 0.15, 0.0, -0.1, 0.1),
        (6, 0.32, 0.0, -0.1, 0.05),
        (6, 0.5, 0.0, -0.1, 0.01),
    ]
)
BOXES = np.array(
    [
        ((-2.2, -0.88, 0.7), (2.2, 0.88, 1.5)),  # the body below its windows
        ((-1.5, -0.75, 1.5), (0.8, 0.75, 1.97)),  # the cabin
        ((-7.0, -0.7, 0.0), (7.0, 0.7, 0.5)),  # the line
        ((-1.9, -1.35, 0.0), (1.9, 1.35, 0.72)),  # the clamps
        ((-9.0, -9.0, -9.0), (9.0, 9.0, 0.0)),  # the ground
    ]
)
STRIDE, STRIDES = 0.1, 24  # radians; a branch goes on for at most so many
OVERSHOOT = 4  # strides that are tried before the first blocked one is noticed
LOCAL = 0.8  # share of the goals that lie near the latest node


def blocked(arm: int, q: Floats, bases: Floats) -> bool:
    world_from_link = arm_poses(arm, q, bases)[BALLS[:, 0].astype(int)]
    centres = np.einsum("nij,nj->ni", world_from_link[:, :3, :3], BALLS[:, 1:4]) + world_from_link[:, :3, 3]
    nearest = np.clip(centres[:, None], BOXES[:, 0], BOXES[:, 1])
    return bool(np.any(np.linalg.norm(centres[:, None] - nearest, axis=-1) < BALLS[:, 4:]))


def grown_tree(arm: int, bases: Floats, steps: int, rng: np.random.Generator) -> Floats:
    """Joint angles in the order a rapidly exploring tree tries them; blocked ones are tried, and not grown from."""
    tree = np.empty((steps + 1, 6))
    tree[0] = HOME
    grown, tried = 1, np.empty((0, 6))
    while len(tried) < steps:
        goal = rng.uniform(REGION[0], REGION[1])
        if grown > 1 and rng.uniform() < LOCAL:
            goal = np.clip(rng.normal(tree[grown - 1], 0.5), REGION[0], REGION[1])
        start = tree[np.argmin(np.linalg.norm(tree[:grown] - goal, axis=1))]
        way = goal - start
        strides = min(STRIDES, steps - len(tried), int(np.linalg.norm(way) / STRIDE) + 1)
        branch = start + np.arange(1, strides + 1)[:, None] * STRIDE * way / np.linalg.norm(way)
        free = next((k for k, q in enumerate(branch) if blocked(arm, q, bases)), strides)
        tree[grown : grown + free] = branch[:free]
        grown, tried = grown + free, np.concatenate([tried, branch[: free + OVERSHOOT]])
    return tried


def motion_planning(cell: Cell, steps: int = 1000, seed: int = 1) -> Scenario:
    """Let one arm try what a sampling planner tries: short strides, and jumps from branch to branch (section 5.2.1).

    Parameters
    ----------
    cell : Cell
    steps : int
        Configurations tried.
    seed : int

    Returns
    -------
    Scenario
        Seven links of irb72 against "statics"; some 10 to 25 % of the configurations collide.
    """
    joints = grown_tree(1, cell.bases, steps, np.random.default_rng([seed, 4]))
    return scenario("motion-planning", cell, {1: joints})
