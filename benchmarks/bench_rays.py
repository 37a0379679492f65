"""Rays of a camera against boxes and a fine mesh, beside Embree and MuJoCo, all on one thread.

Embree works in single precision and gives distances only; here every ray also gets a point, a normal and numbers.
MuJoCo takes rays from a single point, and boxes as they are; Embree gets twelve triangles for each.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import nan
from time import perf_counter
from typing import Any

import mujoco
import numpy as np
import trimesh
from embreex.mesh_construction import TriangleMesh
from embreex.rtcore_scene import EmbreeScene
from measure import Agreement, Table, arguments, in_turns, machine
from numpy.typing import NDArray

import clearance as cl

Floats = NDArray[np.float64]
PEERS = ["clearance", "Embree", "MuJoCo"]


def camera(width: int, height: int, opening: float) -> Floats:
    """Directions of a pinhole camera that looks along -z, row by row."""
    x = np.tan(0.5 * opening) * np.linspace(-1.0, 1.0, width)
    y = np.tan(0.5 * opening) * height / width * np.linspace(-1.0, 1.0, height)
    rays = np.stack(np.broadcast_arrays(x, y[:, None], -1.0), axis=-1).reshape(-1, 3)
    return rays / np.linalg.norm(rays, axis=1, keepdims=True)


def boxes(count: int, walls: bool, seed: int) -> tuple[Floats, Floats]:
    """Sizes and poses of boxes here and there, and of the six walls of a room around them."""
    rng = np.random.default_rng(seed)
    sizes, at = rng.uniform(0.1, 0.6, size=(count, 3)), rng.uniform(-2.0, 2.0, size=(count, 3))
    poses = cl.poses.from_translation(at) @ cl.poses.from_rpy(rng.uniform(-3.0, 3.0, size=(count, 3)))
    if walls:
        sides = np.repeat(np.eye(3), 2, axis=0)
        sizes = np.concatenate([sizes, 14.0 - 13.9 * sides])
        poses = np.concatenate([poses, cl.poses.from_translation(np.tile([[7.0], [-7.0]], (3, 1)) * sides)])
    return sizes, poses


def bumpy_torus(side: int) -> tuple[Floats, NDArray[np.int64]]:
    """Vertices and faces of a torus with bumps, of 2 * side * side triangles."""
    turn = np.linspace(0.0, 2.0 * np.pi, side, endpoint=False)
    u, v = np.meshgrid(turn, turn, indexing="ij")
    radius = 0.35 + 0.02 * np.sin(9.0 * u) * np.cos(13.0 * v)
    reach = 1.0 + radius * np.cos(v)
    vertices = np.stack([reach * np.cos(u), reach * np.sin(u), radius * np.sin(v)], axis=-1).reshape(-1, 3)
    i, j = np.meshgrid(np.arange(side), np.arange(side), indexing="ij")
    corner = {(a, b): (i + a) % side * side + (j + b) % side for a in (0, 1) for b in (0, 1)}
    halves = [[(0, 0), (1, 0), (1, 1)], [(0, 0), (1, 1), (0, 1)]]
    faces = [np.stack([corner[c] for c in half], axis=-1).reshape(-1, 3) for half in halves]
    return vertices, np.concatenate(faces)


class Embree:
    """Triangles in single precision."""

    def __init__(self, vertices: Floats, faces: NDArray[np.int64]) -> None:
        self.scene = EmbreeScene()
        TriangleMesh(self.scene, vertices.astype(np.float32), faces.astype(np.int32))

    @classmethod
    def of_boxes(cls, sizes: Floats, poses: Floats) -> Embree:
        solids = [trimesh.creation.box(size, pose) for size, pose in zip(sizes, poses, strict=True)]
        joined = trimesh.util.concatenate(solids)
        return cls(joined.vertices, joined.faces)

    def distances(self, origins: NDArray[np.float32], directions: NDArray[np.float32]) -> Floats:
        found = np.asarray(self.scene.run(origins, directions, query="DISTANCE"), dtype=np.float64)
        return np.where(found < 1e20, found, np.inf)


class Mujoco:
    """Boxes that stand still."""

    def __init__(self, sizes: Floats, poses: Floats) -> None:
        spec = mujoco.MjSpec()
        for size, pose in zip(sizes, poses, strict=True):
            spec.worldbody.add_geom(
                type=mujoco.mjtGeom.mjGEOM_BOX, size=0.5 * size, pos=pose[:3, 3], quat=cl.poses.to_wxyz(pose)
            )
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        mujoco.mj_forward(self.model, self.data)

    def distances(self, origin: Floats, directions: Floats) -> Floats:
        found, hit = np.empty(len(directions)), np.empty(len(directions), dtype=np.int32)
        flat = directions.reshape(-1)
        mujoco.mj_multiRay(
            self.model, self.data, origin, flat, None, True, -1, hit, found, None, len(directions), mujoco.mjMAXVAL
        )
        return np.where(hit >= 0, found, np.inf)


def compare(
    name: str,
    target: cl.RayTarget,
    rivals: dict[str, Any],
    rays: tuple[Floats, Floats],
    agreement: Agreement,
    table: Table,
) -> None:
    origin, directions = rays
    origins_32 = np.tile(origin, (len(directions), 1)).astype(np.float32)
    runs: dict[str, Callable[[], object]] = {"clearance": partial(target.cast, origin, directions, threads=1)}
    if "Embree" in rivals:
        runs["Embree"] = partial(rivals["Embree"].distances, origins_32, directions.astype(np.float32))
    if "MuJoCo" in rivals:
        runs["MuJoCo"] = partial(rivals["MuJoCo"].distances, origin, directions)
    hits = target.cast(origin, directions)
    for peer in rivals:
        check(f"{name}, {peer}", hits.distance, np.asarray(runs[peer]()), agreement)
    times = in_turns(runs, len(directions), 100)
    ns = {peer: 1e9 * times[peer].least if peer in times else nan for peer in PEERS}
    tests = (hits.work.volume_tests, hits.work.element_tests + hits.work.triangle_tests)
    table.add(
        name,
        *(ns[peer] for peer in PEERS),
        *(ns[peer] / ns["clearance"] for peer in PEERS[1:]),
        float(np.mean(hits.is_hit)),
        *(count / len(directions) for count in tests),
    )


def check(what: str, ours: Floats, other: Floats, agreement: Agreement) -> None:
    """Single precision sees edges elsewhere: a few rays in ten thousand may hit or miss there."""
    off = np.abs(np.where(np.isfinite(ours), ours, 1e6) - np.where(np.isfinite(other), other, 1e6)) > 1e-4
    agreement.check(f"{what}: share of rays that differ", np.array([off.mean()]), np.zeros(1), 2e-3)


def main() -> None:
    options = arguments(__doc__)
    agreement = Agreement()
    table = Table(
        "A picture of 160 x 120 rays on one thread, ns per ray",
        ["scene", *PEERS, "Embree / clearance", "MuJoCo / clearance", "hits", "nodes per ray", "tests per ray"],
    )
    rays = (np.array([0.0, 0.0, 6.0]), camera(160, 120, 1.2))
    for count, walls in ((52, False), (46, True), (186, False)):
        sizes, poses = boxes(count, walls, seed=count)
        target = cl.RayTarget([cl.Box(size) for size in sizes], poses)
        rivals = {"Embree": Embree.of_boxes(sizes, poses), "MuJoCo": Mujoco(sizes, poses)}
        compare(f"{len(sizes)} boxes{', a room' if walls else ''}", target, rivals, rays, agreement, table)
    for side in [100] if options.quick else [100, 500]:
        vertices, faces = bumpy_torus(side)
        mesh = cl.Mesh(vertices, faces)
        before, start = mesh.nbytes, perf_counter()
        target = cl.RayTarget([mesh])
        table.notes.append(
            f"{len(mesh)} triangles: made ready for rays in {perf_counter() - start:.2f} s, which takes "
            f"{(mesh.nbytes - before) / len(mesh):.0f} bytes per triangle beside {before / len(mesh):.0f}."
        )
        rivals = {"Embree": Embree(vertices, faces)}
        rays = (np.array([0.3, 0.2, 3.0]), camera(160, 120, 0.9))
        compare(f"mesh of {len(mesh)} triangles", target, rivals, rays, agreement, table)
    print(machine())
    table.show(options.markdown)
    agreement.exit()


if __name__ == "__main__":
    main()
