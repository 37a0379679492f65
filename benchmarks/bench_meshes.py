"""Meshes beside coal and python-fcl, in one run: pairs of twenty thousand triangles, and a robot cell of millions.

Queries walk through all poses, and the best pass counts: no pose is asked twice in a row, as no user would.
"""

from __future__ import annotations

import multiprocessing
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import inf
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier

import bench_scene
import cell
import mesh_peers
import numpy as np
import real_cell
import scenes
from measure import Agreement, Table, digits, in_turns, machine
from mesh_peers import Floats, Peer, Soup

import clearance as cl

PEERS: dict[str, type[Peer]] = {
    "coal": mesh_peers.Coal,
    "coal, RSS": mesh_peers.CoalRss,
    "coal, naive": mesh_peers.NaiveCoal,
    "python-fcl": mesh_peers.Fcl,
}
SLOW = ("coal, naive", "python-fcl")
OURS = 1e-9  # the bracket that we promise, as a share of the size
BATCHES = [64, 256, 1024]


# Shapes ---------------------------------------------------------------------------------------------------------------


def bumpy_torus(around: int = 144, across: int = 70) -> Soup:
    u, v = np.meshgrid(2 * np.pi * np.arange(around) / around, 2 * np.pi * np.arange(across) / across, indexing="ij")
    radius = 0.4 * (1 + 0.1 * np.sin(7 * u) * np.cos(5 * v))
    ring = 1 + radius * np.cos(v)
    vertices = np.stack([ring * np.cos(u), ring * np.sin(u), radius * np.sin(v)], axis=-1).reshape(-1, 3)
    i, j = (index.ravel() for index in np.indices((around, across)))
    after_i, after_j = (i + 1) % around, (j + 1) % across
    a, b, c, d = i * across + j, after_i * across + j, after_i * across + after_j, i * across + after_j
    return vertices, np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)]).astype(np.int32)


def bumpy_sphere(halvings: int = 5) -> Soup:
    """An icosahedron whose edges are halved again and again, blown up to a bumpy sphere."""
    golden = (1 + np.sqrt(5)) / 2
    corners = np.array([(0, y, z) for y in (-1, 1) for z in (-golden, golden)])
    vertices = np.concatenate([np.roll(corners, shift, axis=1) for shift in range(3)])
    apart = np.linalg.norm(vertices[:, None] - vertices, axis=-1)
    near = np.isclose(apart, 2.0)
    faces = np.array(
        [(i, j, k) for i, j in np.argwhere(np.triu(near)) for k in range(j + 1, 12) if near[i, k] and near[j, k]]
    )
    for _ in range(halvings):
        vertices, faces = halved(vertices, faces)
    unit = vertices / np.linalg.norm(vertices, axis=1, keepdims=True)
    bumps = 1 + 0.05 * np.sin(9 * unit[:, :1]) * np.cos(8 * unit[:, 1:2]) * np.sin(7 * unit[:, 2:])
    return unit * bumps, faces.astype(np.int32)


def halved(vertices: Floats, faces: np.ndarray) -> tuple[Floats, np.ndarray]:
    a, b, c = faces.T
    edges, where = np.unique(
        np.sort(np.concatenate([faces[:, :2], faces[:, 1:], faces[:, ::2]])), axis=0, return_inverse=True
    )
    ab, bc, ca = len(vertices) + where.reshape(3, -1)
    middles = vertices[edges].mean(axis=1)
    smaller = [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
    return np.concatenate([vertices, middles]), np.concatenate([np.stack(corners, axis=1) for corners in smaller])


def gear(outline: int = 2500, teeth: int = 20) -> Soup:
    """A toothed disc with a bore, as thick as 0.3, all of it slivers from the bore to the rim."""
    angle = 2 * np.pi * np.arange(outline) / outline
    radius = 1 + 0.1 * np.clip(2 * np.sin(teeth * angle), -1, 1)
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    section = [(radius, 0.15), (radius, -0.15), (np.full(outline, 0.3), -0.15), (np.full(outline, 0.3), 0.15)]
    loops = [np.insert(r[:, None] * circle, 2, height, axis=1) for r, height in section]
    k, after = np.arange(outline), np.roll(np.arange(outline), -1)
    faces = []
    for loop in range(4):
        here, there = loop * outline, (loop + 1) % 4 * outline
        faces += [(here + k, there + k, there + after), (here + k, there + after, here + after)]
    return np.concatenate(loops), np.concatenate([np.stack(corners, axis=1) for corners in faces]).astype(np.int32)


# Walks ----------------------------------------------------------------------------------------------------------------


class Models:
    """Meshes as everybody wants them, each built once."""

    def __init__(self) -> None:
        self.built: dict[tuple[Callable, int], tuple[Soup, object]] = {}

    def of(self, build: Callable[[Soup], object], soups: dict[str, Soup]) -> dict[str, object]:
        for soup in soups.values():
            if (build, id(soup)) not in self.built:
                self.built[build, id(soup)] = soup, build(soup)
        return {name: self.built[build, id(soup)][1] for name, soup in soups.items()}


def our_mesh(soup: Soup) -> cl.Mesh:
    return cl.Mesh(*soup)


@dataclass(eq=False)
class Walk:
    """Two groups of meshes and the poses that they go through."""

    name: str
    group_a: dict[str, Soup]
    group_b: dict[str, Soup]
    poses: dict[str, Floats]
    slow_stride: int = 1  # slow peers, which remember nothing, are asked for every so manieth pose only

    def __len__(self) -> int:
        return len(next(iter(self.poses.values())))

    @property
    def soups(self) -> dict[str, Soup]:
        return self.group_a | self.group_b

    @cached_property
    def size(self) -> float:
        reach = max(np.abs(vertices).max() for vertices, _ in self.soups.values())
        return float(reach + max(np.abs(rows[:, :3, 3]).max() for rows in self.poses.values()))

    def steps(self) -> list[dict[str, Floats]]:
        return [dict(zip(self.poses, rows, strict=True)) for rows in zip(*self.poses.values(), strict=True)]

    def ours(self, models: Models) -> dict[str, Callable[[], Sequence[cl.Gap] | cl.Gaps]]:
        meshes = models.of(our_mesh, self.soups)
        scene = scene_of(meshes)
        groups, steps = (list(self.group_a), list(self.group_b)), self.steps()
        return {
            "clearance": partial(forgetful_queries, scene, groups, steps),
            "clearance, hinted": partial(queries, scene, groups, steps),
            "clearance, batch": partial(scene.nearest, *groups, poses=self.poses, threads=1),
        }

    def peer(self, kind: type[Peer], models: Models) -> Peer:
        return kind(models.of(kind.model, self.group_a), models.of(kind.model, self.group_b))


class Pair(Walk):
    """A walk of one mesh around another."""

    def ours(self, models: Models) -> dict[str, Callable[[], Sequence[cl.Gap] | cl.Gaps]]:
        meshes = models.of(our_mesh, self.soups)
        a, b = meshes["a"], meshes["b"]
        poses = list(zip(self.poses["a"], self.poses["b"], strict=True))
        return {
            "clearance": partial(calls, a, b, poses),
            "clearance, hinted": partial(hinted_calls, a, b, poses),
            "clearance, batch": lambda: cl.distance(a.at(self.poses["a"]), b.at(self.poses["b"]), threads=1),
        }


def scene_of(meshes: dict[str, cl.Mesh]) -> cl.Scene:
    scene = cl.Scene()
    for name, mesh in meshes.items():
        scene.add(name, mesh)
    return scene


def queries(scene: cl.Scene, groups: tuple[list[str], list[str]], steps: list[dict[str, Floats]]) -> list[cl.Gap]:
    """The scene remembers the last witness."""
    move, nearest, found = scene.move, scene.nearest, []
    for step in steps:
        move(step)
        found.append(nearest(*groups))
    return found


def forgetful_queries(
    scene: cl.Scene, groups: tuple[list[str], list[str]], steps: list[dict[str, Floats]]
) -> list[cl.Gap]:
    move, nearest, search, found = scene.move, scene.nearest, cl.Search(), []
    for step in steps:
        move(step)
        found.append(nearest(*groups, search=search))
    return found


def calls(a: cl.Mesh, b: cl.Mesh, poses: list[tuple[Floats, Floats]]) -> list[cl.Gap]:
    distance = cl.distance
    return [distance(a.at(p), b.at(q)) for p, q in poses]


def hinted_calls(a: cl.Mesh, b: cl.Mesh, poses: list[tuple[Floats, Floats]]) -> list[cl.Gap]:
    distance, last, found = cl.distance, None, []
    for p, q in poses:
        last = distance(a.at(p), b.at(q), hint=last)
        found.append(last)
    return found


def advanced(a: Soup, b: Soup, turns_a: Floats, turns_b: Floats, ways: Floats, gap: float, models: Models) -> Floats:
    """Poses of b that come along `ways` until only the gap is left; steps of what remains never go too far."""
    group_a, group_b = (models.of(mesh_peers.Coal.model, {name: soup}) for name, soup in (("a", a), ("b", b)))
    stick = mesh_peers.Coal(group_a, group_b)
    poses = turns_b.copy()
    for pose_a, pose_b, way in zip(turns_a, poses, ways, strict=True):
        pose_b[:3, 3] = 4.0 * way
        remaining = inf
        while remaining > 1e-3 * gap:
            (frames,) = stick.placed({"a": pose_a[None], "b": pose_b[None]})
            remaining = stick.nearest(frames)[0] - gap
            pose_b[:3, 3] -= max(remaining, 1e-6) * way
    return poses


def torus_and_sphere(models: Models, count: int) -> Iterator[Walk]:
    torus, sphere = bumpy_torus(), bumpy_sphere()
    for name, gap in {"far": 0.5, "mid": 0.05, "near": 0.005, "touch": 0.0005}.items():
        rng = np.random.default_rng([3, *name.encode()])
        a, turns = scenes.rotations(rng, count), scenes.rotations(rng, count)
        b = advanced(torus, sphere, a, turns, scenes.unit_vectors(rng, count), gap, models)
        yield Pair(f"{name}, {gap:g}", {"a": torus}, {"b": sphere}, {"a": a, "b": b})
    t = np.linspace(0.0, 1.0, 2 * count)
    a = cl.poses.from_axis_angle([1.0, 2.0, 3.0], 2.0 * t)
    turns = cl.poses.from_axis_angle([3.0, -1.0, 1.0], 3.0 * t)
    ways = np.stack([np.cos(2 * t), np.sin(2 * t), 0.5 * np.sin(3 * t)], axis=1)
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    b = advanced(torus, sphere, a, turns, ways, 0.03, models)
    yield Pair("coherent, 0.03", {"a": torus}, {"b": sphere}, {"a": a, "b": b})


def discs_and_shells(count: int) -> Iterator[Walk]:
    """Meshing gears, gears lying on each other nearly in parallel, and a bumpy sphere in a larger copy of itself."""
    rng = np.random.default_rng(4)
    disc, few = gear(), max(count // 10, 3)
    angles = rng.uniform(0, 2 * np.pi, count)
    a = cl.poses.from_axis_angle([0, 0, 1], angles)
    b = cl.poses.from_axis_angle([0, 0, 1], np.pi - angles, (2.07, 0.0, 0.0))
    yield Pair("gear, 0.01", {"a": disc}, {"b": disc}, {"a": a, "b": b})
    tilt = cl.poses.from_axis_angle([1, 0, 0], rng.uniform(-1e-4, 1e-4, few), (0, 0, 0.32))
    a, b = a[:few], tilt @ cl.poses.from_axis_angle([0, 0, 1], rng.uniform(0, 2 * np.pi, few))
    yield Pair("stack, 0.02", {"a": disc}, {"b": disc}, {"a": a, "b": b})
    vertices, faces = sphere = bumpy_sphere()
    a = scenes.rotations(rng, few)
    b = a @ cl.poses.from_axis_angle(scenes.unit_vectors(rng, few), 1e-3)
    yield Pair("conformal", {"a": sphere}, {"b": (1.04 * vertices, faces)}, {"a": a, "b": b})


def in_the_cell(triangles: int, steps: int) -> Iterator[Walk]:
    made = cell.cell(triangles)
    soups = made.links | {"statics": made.statics}
    for make in (cell.play_forward, cell.motion_planning, cell.no_coherence, cell.arm_against_arm):
        found = make(made, steps)
        group_a, group_b = ({name: soups[name] for name in group} for group in (found.group_a, found.group_b))
        yield Walk(found.name, group_a, group_b, found.poses, steps // 20)


def in_the_real_cell(steps: int) -> Iterator[Walk]:
    """Arms as their makers drew them, with all their holes, if their packages are there."""
    try:
        made = real_cell.real_cell()
    except real_cell.MissingDataError as missing:
        print(f"\nNo real cell: {missing}")
        return
    soups = made.links | {"statics": made.statics}
    for make in (real_cell.swaying, real_cell.scattered):
        found = make(made, steps)
        group_a, group_b = ({name: soups[name] for name in group} for group in (found.group_a, found.group_b))
        yield Walk(found.name, group_a, group_b, found.poses, steps // 20)


# Times ----------------------------------------------------------------------------------------------------------------


@dataclass
class Measured:
    """Seconds per query of everybody, and our work per query without a hint."""

    walk: Walk
    seconds: dict[str, float]
    volume_tests: float
    triangle_tests: float

    def lead(self) -> float:
        """Everybody remembers the last witness, so ours is hinted too."""
        return min(self.seconds[name] for name in PEERS) / self.seconds["clearance, hinted"]


def distances(found: Sequence[cl.Gap] | cl.Gaps) -> Floats:
    return found.distance if hasattr(found, "distance") else np.array([gap.distance for gap in found])


def check(walk: Walk, ours: dict[str, Callable], peers: dict[str, tuple[Peer, list]], agreement: Agreement) -> None:
    """Compare all distances with those of coal, and our witness points with our distances."""
    peer, frames = peers["coal"]
    truth = np.array([peer.nearest(frame)[0] for frame in frames])
    for name, run in ours.items():
        found = run()
        agreement.check(f"{walk.name}, {name}", distances(found), truth, OURS * walk.size)
    lengths = np.linalg.norm(found.point_b - found.point_a, axis=-1)
    agreement.check(f"{walk.name}, witness points", lengths, found.distance, OURS * walk.size)
    for name, (peer, frames) in peers.items():
        found = np.array([peer.nearest(frame)[0] for frame in frames])
        expected = truth[:: walk.slow_stride if name in SLOW else 1]
        agreement.check(f"{walk.name}, {name}", found, expected, (OURS + peer.accuracy) * walk.size)


def pass_of(peer: Peer, frames: list) -> None:
    peer.forget()
    nearest = peer.nearest
    for frame in frames:
        nearest(frame)


def measured(walk: Walk, models: Models, repeats: int, agreement: Agreement) -> Measured:
    ours, peers, asked = walk.ours(models), {}, {}
    for name, kind in PEERS.items():
        peer = walk.peer(kind, models)
        frames = peer.placed(walk.poses)
        peers[name] = peer, frames[:: walk.slow_stride if name in SLOW else 1]
        asked[name] = len(peers[name][1])
    check(walk, ours, peers, agreement)
    rivals = ours | {name: partial(pass_of, *peer) for name, peer in peers.items()}
    times = in_turns(rivals, 1, repeats)
    seconds = {name: times[name].least / asked.get(name, len(walk)) for name in rivals}
    work = [gap.work for gap in ours["clearance"]()]
    volumes, triangles = (
        float(np.mean([getattr(one, name) for one in work])) for name in ("volume_tests", "triangle_tests")
    )
    return Measured(walk, seconds, volumes, triangles)


def table_of(title: str, rows: list[Measured]) -> Table:
    names = list(rows[0].seconds)
    table = Table(title, ["walk", *names, "best peer / hinted", "volume tests", "triangle tests"])
    for row in rows:
        times = (1e6 * row.seconds[name] for name in names)
        table.add(f"{row.walk.name} ({len(row.walk)})", *times, row.lead(), row.volume_tests, row.triangle_tests)
    table.notes.append(
        "In brackets, how many poses a pass has; the best pass counts. Our calls take arrays, the transforms of the "
        "peers were made before. coal passes its bound from pair to pair, starts with the triangles that were nearest, "
        "and begins with their pair; without all that it is naive. python-fcl can do none of it. In the cell, the last "
        "two are asked for some 20 poses only. Batches run on one thread. Tests are ours, the mean of unhinted queries."
    )
    return table


def builds(models: Models) -> Table:
    """Time everybody's tree of the largest mesh that was built before."""
    soup = max((soup for soup, _ in models.built.values()), key=lambda soup: len(soup[1]))
    table = Table(f"Build of {len(soup[1])} triangles", ["", "s", "times ours"])
    rivals = {"clearance": partial(cl.Mesh, *soup), "clearance, 1 thread": partial(cl.Mesh, *soup, threads=1)}
    rivals |= {name: partial(PEERS[name].model, soup) for name in ("coal", "python-fcl")}
    times = in_turns(rivals, 1, 1)
    for name, time in times.items():
        table.add(name, time.least, time.least / times["clearance"].least)
    return table


# Threads --------------------------------------------------------------------------------------------------------------


@dataclass
class CellBatches:
    """The planning scenario of the cell in batches of one size, one batch per step."""

    scene: cl.Scene
    groups: tuple[list[str], list[str]]
    batches: list[dict[str, Floats]]

    def step(self, k: int, threads: int) -> cl.NearestBatch:
        return self.scene.nearest(*self.groups, poses=self.batches[k % len(self.batches)], threads=threads)


def cell_batches(walk: Walk, scene: cl.Scene, size: int) -> CellBatches:
    starts = range(0, len(walk) - size + 1, size)
    batches = [{name: rows[start : start + size] for name, rows in walk.poses.items()} for start in starts]
    return CellBatches(scene, (list(walk.group_a), list(walk.group_b)), batches)


def serve(requests: Connection, barrier: Barrier, triangles: int) -> None:
    """One of the two processes: builds the cell once, runs rounds on request."""
    walk = next(walk for walk in in_the_cell(triangles, 2 * max(BATCHES)) if walk.name == "motion-planning")
    scene = scene_of(Models().of(our_mesh, walk.soups))
    while (request := requests.recv()) is not None:
        size, threads, pause, together = request
        batches = cell_batches(walk, scene, size)
        if together:
            barrier.wait()
        bench_scene.warm_up(batches, threads)
        requests.send(bench_scene.run_round(batches, threads, pause))


class TwoCells(bench_scene.TwoProcesses):
    """Two processes with a cell each; rounds are run as in `bench_scene`."""

    def __init__(self, triangles: int) -> None:
        context = multiprocessing.get_context("spawn")
        self.barrier = context.Barrier(2)
        ends = [context.Pipe() for _ in range(2)]
        self.requests = [ours for ours, _ in ends]
        self.processes = [
            context.Process(target=serve, args=(theirs, self.barrier, triangles), daemon=True) for _, theirs in ends
        ]
        for process in self.processes:
            process.start()


def threads(triangles: int, quick: bool) -> Table:
    both = TwoCells(triangles)
    try:
        wanted, patience = (1, 2.0) if quick else (15, 60.0)
        found = bench_scene.measure(both, bench_scene.WAYS, BATCHES, wanted, patience)
    finally:
        both.close()
    table = Table(
        "Batches of the motion-planning scenario on threads and in processes, thousands of queries per second",
        ["poses in a batch", *bench_scene.WAYS, "2 threads / 2 processes", "aim", "clean rounds"],
    )
    for size, by_way in found.items():
        thousands = (digits(1e-3 * size * rates.median()) for rates in by_way.values())
        share = bench_scene.percent(bench_scene.efficiency(by_way))
        table.add(str(size), *thousands, share, ">= 92 %", bench_scene.clean_rounds(by_way))
    return table


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--triangles", type=int, default=2_500_000, help="of the cell, at least 344000")
    parser.add_argument("--quick", action="store_true", help="less than a minute, to see whether everything runs")
    parser.add_argument("--markdown", action="store_true", help="tables for docs/performance.md")
    options = parser.parse_args()
    count, steps, repeats = (8, 40, 1) if options.quick else (100, 1000, 3)
    triangles = 344_000 if options.quick else options.triangles
    agreement, models = Agreement(), Models()
    print(machine())
    pairs = [*torus_and_sphere(models, count), *discs_and_shells(count)]
    rows = [measured(walk, models, repeats, agreement) for walk in pairs]
    table_of("Pairs of 20 000 triangles each, us per query", rows).show(options.markdown)
    rows = [measured(walk, models, repeats, agreement) for walk in in_the_cell(triangles, steps)]
    table_of(f"Robot cell of {triangles} triangles, us per query", rows).show(options.markdown)
    if rows := [measured(walk, models, repeats, agreement) for walk in in_the_real_cell(steps)]:
        table_of("KUKA, Kinova and xArm around a table, us per query", rows).show(options.markdown)
    builds(models).show(options.markdown)
    threads(triangles, options.quick).show(options.markdown)
    print(f"\nafterwards: {machine()}")
    agreement.exit()


if __name__ == "__main__":
    main()
