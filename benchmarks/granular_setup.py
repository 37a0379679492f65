"""Spheres or cubes dropped into a box, as plain data that every engine can take, and a judge of how they end up.

Bodies start on a jittered lattice, turned at random, in a column between four walls, fall and settle to a bed about ten
layers deep. What an engine took for it says little by itself: one that lets bodies sink into each other, or leaves them
in motion, has less to do. The judge sees positions, orientations and velocities only, whichever engine they come from.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

import clearance as cl

Floats = NDArray[np.float64]
Pairs = NDArray[np.intp]

PITCH = {"spheres": 1.2, "cubes": 1.9}  # of the lattice, in diameters or edges; half a diagonal of a cube is 0.87
JITTER = 0.05  # largest shift from the lattice along each axis, in diameters or edges


@dataclass(frozen=True)
class Setup:
    """What is dropped into what, in SI units: `size` is the diameter of spheres or the edge of cubes."""

    kind: str
    positions: Floats  # (n, 3)
    turns: Floats  # (n, 4), quaternions xyzw
    size: float = 0.02
    side: float = 0.36  # inner edge of the square floor, whose middle is the origin
    density: float = 2500.0
    friction: float = 0.5
    restitution: float = 0.0
    gravity: float = 9.81
    seconds: float = 2.0

    @property
    def count(self) -> int:
        return len(self.positions)

    @property
    def volume(self) -> float:
        return self.size**3 * (np.pi / 6 if self.kind == "spheres" else 1.0)

    @property
    def mass(self) -> float:
        return self.density * self.volume

    @property
    def walls(self) -> tuple[tuple[Floats, float], ...]:
        """Floor and sides: what is solid has `normal . x <= offset`."""
        half = self.side / 2
        normals = np.array([[0, 0, 1], [1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0]], dtype=np.float64)
        return tuple((normal, 0.0 if normal[2] else -half) for normal in normals)

    @property
    def top(self) -> float:
        """A height that no body comes to."""
        return float(self.positions[:, 2].max()) + 2 * self.size


@dataclass(frozen=True)
class State:
    """Centres, orientations xyzw, and velocities of the centres followed by spins, all in the world."""

    positions: Floats
    turns: Floats
    velocities: Floats


@dataclass(frozen=True)
class Verdict:
    """How bodies lie; depths are in diameters or edges, speeds in metres per second."""

    contacts: int  # overlapping pairs of bodies, and of bodies and walls
    mean_depth: float  # over these contacts
    high_depth: float  # that one contact in a hundred exceeds
    largest_depth: float
    mean_speed: float
    largest_speed: float
    height: float  # of a level bed with the same mean height of its bodies, in metres
    solid_fraction: float  # of that bed
    escaped: int  # bodies whose centres are beyond a wall; they count nowhere else


def dropped(kind: str, count: int = 3000, *, seed: int = 0, seconds: float = 2.0) -> Setup:
    """Make the experiment; a smaller number of bodies makes a shallower bed."""
    setup = Setup(kind, np.empty((0, 3)), np.empty((0, 4)), seconds=seconds)
    rng = np.random.default_rng(seed)
    row = int((setup.side / setup.size - 2 * JITTER) / PITCH[kind])
    layers, cells = np.divmod(np.arange(count), row * row)
    lattice = np.column_stack([*np.divmod(cells, row), layers]) - [(row - 1) / 2, (row - 1) / 2, -0.5]
    positions = setup.size * (PITCH[kind] * lattice + rng.uniform(-JITTER, JITTER, (count, 3)))
    turns = rng.normal(size=(count, 4))
    if kind == "spheres":
        turns = np.tile([0.0, 0.0, 0.0, 1.0], (count, 1))
    return Setup(kind, positions, turns / np.linalg.norm(turns, axis=1, keepdims=True), seconds=seconds)


def rotations(turns: Floats) -> Floats:
    """Matrices of unit quaternions xyzw."""
    found: Floats = cl.poses.from_xyzw(turns)[..., :3, :3]
    return found


def body_depths(setup: Setup, state: State) -> Floats:
    """How deep pairs of bodies overlap, in metres."""
    reach = setup.size * (1.0 if setup.kind == "spheres" else np.sqrt(3.0))
    pairs: Pairs = cKDTree(state.positions).query_pairs(reach, output_type="ndarray")
    if setup.kind == "spheres":
        apart = np.linalg.norm(state.positions[pairs[:, 0]] - state.positions[pairs[:, 1]], axis=1)
        return np.asarray(setup.size - apart)
    poses = np.tile(np.eye(4), (len(state.positions), 1, 1))
    poses[:, :3, :3], poses[:, :3, 3] = rotations(state.turns), state.positions
    cube = cl.Box([setup.size] * 3)
    depths = -cl.distance(cube.at(poses[pairs[:, 0]]), cube.at(poses[pairs[:, 1]]), at_most=0.0).distance
    return np.asarray(depths[depths > 0.0])


def wall_depths(setup: Setup, state: State) -> Floats:
    """How deep bodies are in walls, in metres."""
    depths = []
    for normal, offset in setup.walls:
        reach = np.full(len(state.positions), setup.size / 2)
        if setup.kind == "cubes":
            reach = np.abs(rotations(state.turns).transpose(0, 2, 1) @ normal).sum(axis=1) * setup.size / 2
        depths.append(offset + reach - state.positions @ normal)
    every = np.concatenate(depths)
    return every[every > 0.0]


def judge(setup: Setup, state: State) -> Verdict:
    """Tell how well bodies lie, and how still."""
    inside = np.all([state.positions @ normal >= offset for normal, offset in setup.walls], axis=0)
    inside &= np.isfinite(state.positions).all(axis=1)
    kept = State(state.positions[inside], state.turns[inside], state.velocities[inside])
    depths = np.concatenate([body_depths(setup, kept), wall_depths(setup, kept)]) / setup.size
    touching = depths if len(depths) else np.zeros(1)
    speeds = np.linalg.norm(kept.velocities[:, :3], axis=1)
    height = 2 * float(kept.positions[:, 2].mean())
    return Verdict(
        contacts=len(depths),
        mean_depth=float(touching.mean()),
        high_depth=float(np.quantile(touching, 0.99)),
        largest_depth=float(touching.max()),
        mean_speed=float(speeds.mean()),
        largest_speed=float(speeds.max()),
        height=height,
        solid_fraction=len(speeds) * setup.volume / (setup.side**2 * height),
        escaped=int((~inside).sum()),
    )
