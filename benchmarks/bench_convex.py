"""Pairs of convex shapes, near, far and overlapping: single calls and batches beside coal, python-fcl and MuJoCo."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import convex_peers as convex
import numpy as np
import scenes
from convex_peers import Answers, Body, Floats, PosePairs
from measure import Agreement, Table, arguments, digits, in_turns, machine

import clearance as cl

PAIRS: dict[str, Callable[[], tuple[Body, Body]]] = {
    "sphere-sphere": lambda: (convex.sphere(0.1), convex.sphere(0.15)),
    "sphere-box": lambda: (convex.sphere(0.1), convex.box(0.2, 0.35, 0.15)),
    "box-box": lambda: (convex.box(0.3, 0.2, 0.25), convex.box(0.2, 0.35, 0.15)),
    "capsule-capsule": lambda: (convex.capsule(0.06, 0.3), convex.capsule(0.08, 0.2)),
    "cylinder-cylinder": lambda: (convex.cylinder(0.1, 0.3), convex.cylinder(0.15, 0.2)),
    "ellipsoid-ellipsoid": lambda: (convex.ellipsoid(0.1, 0.15, 0.25), convex.ellipsoid(0.2, 0.12, 0.16)),
    "hull-hull of 32": lambda: (convex.hull(32, 1), convex.hull(32, 2)),
    "hull-hull of 128": lambda: (convex.hull(128, 1), convex.hull(128, 2)),
}
# Gaps as shares of the size of a pair, which is the sum of the radii of its bounding spheres.
PLACES = {"near": (1e-3, 1e-2), "far": (1.0, 5.0), "overlapping": (-1e-3, -1e-1)}
CURVED = ("cylinder", "ellipsoid")

# Errors that are allowed, as shares of the size. Ours is the bracket that we promise. The peers stop at 1e-6 unless
# told otherwise; python-fcl gets farther from that than the others, and is granted more.
OURS, OURS_CURVED_AND_OVERLAPPING = 1e-9, 1e-7
PEERS = {"coal": 1e-5, "fcl.distance": 1e-4, "fcl.collide": 1e-4, "MuJoCo": 1e-5}
TRUSTED = 0.01  # a peer that is wrong more often than this is marked, and not called the best
AIM_SINGLE, AIM_BATCH = 2, 10


@dataclass
class Encounter:
    """Many placements of one pair of shapes, all near, all far or all overlapping."""

    name: str
    place: str
    a: Body
    b: Body
    poses_a: Floats
    poses_b: Floats

    @property
    def size(self) -> float:
        return self.a.size + self.b.size

    @property
    def tolerance(self) -> float:
        loose = self.place == "overlapping" and self.name.startswith(CURVED)
        return OURS_CURVED_AND_OVERLAPPING if loose else OURS

    def batch(self) -> cl.Gaps:
        return cl.distance(self.a.ours.at(self.poses_a), self.b.ours.at(self.poses_b))

    def proved(self, sample: int, normals: Floats) -> Floats:
        """Separations along normals, found in NumPy: lower bounds of the signed distances, and tight along the best."""
        return convex.separation(self.a, self.b, self.poses_a[:sample], self.poses_b[:sample], normals)


def encounter(name: str, place: str, count: int) -> Encounter:
    a, b = PAIRS[name]()
    rng = np.random.default_rng([*name.encode(), *place.encode()])
    near, far = PLACES[place]
    size = a.size + b.size
    gaps = np.sign(near) * size * np.exp(rng.uniform(*np.log(np.abs([near, far])), count))
    poses = scenes.at_gaps(a.ours, b.ours, gaps, apart=size + gaps.max() + size)
    return Encounter(name, place, a, b, *poses)


def fresh_calls(a: cl.Shape, b: cl.Shape, poses: PosePairs) -> list[cl.Gap]:
    distance, found = cl.distance, []
    for p, q in poses:
        found.append(distance(a.at(p), b.at(q)))
    return found


@dataclass
class Peer:
    """What a peer answers to the placements it is timed on."""

    run: Callable[[], object]
    answers: Answers
    error: float = np.nan
    wrong: int = 0
    trusted: bool = True


def peers_of(scene: Encounter, poses: PosePairs) -> dict[str, Peer]:
    kinds = {"coal": convex.Coal, "fcl.distance": convex.Fcl, "MuJoCo": convex.Mujoco}
    if scene.place == "overlapping":
        kinds["fcl.collide"] = convex.FclCollide
    found = {}
    for name, kind in kinds.items():
        pair = kind(scene.a, scene.b)
        its_poses = pair.in_its_frames(poses) if isinstance(pair, convex.Mujoco) else poses
        found[name] = Peer(partial(pair.distances, its_poses), pair.answers(its_poses))
    return found


def judge(scene: Encounter, ours: Answers, peers: dict[str, Peer], agreement: Agreement) -> float:
    """Whose distance is proved along anybody's normal? Mark the peers, and return our largest error over the size."""
    sample = len(ours[0])
    everybody = [ours, *(peer.answers for peer in peers.values())]
    best = np.nanmax([scene.proved(sample, normals) for _, normals in everybody], axis=0)
    for name, peer in peers.items():
        off = np.abs(peer.answers[0] - best) / scene.size
        peer.error = float(np.nanmax(off))
        peer.wrong = int(np.count_nonzero(~(off <= PEERS[name])))
        peer.trusted = peer.wrong <= TRUSTED * sample
    agreement.check(f"{scene.name}, {scene.place}", ours[0] / scene.size, best / scene.size, scene.tolerance)
    return float(np.abs(ours[0] - best).max() / scene.size)


@dataclass
class Measured:
    """One row of every table; times are in seconds per pair."""

    scene: Encounter
    peers: dict[str, Peer]
    error: float
    iterations: float
    seconds: dict[str, float]

    @property
    def name(self) -> str:
        return f"{self.scene.name}, {self.scene.place}"

    def time(self, name: str, scale: float) -> str:
        if name not in self.peers:
            return "-"
        return digits(scale * self.seconds[name]) + ("" if self.peers[name].trusted else "*")

    def judged(self, name: str) -> str:
        return f"{self.peers[name].error:.0e} ({self.peers[name].wrong})" if name in self.peers else "-"

    def lead(self, ours: str) -> float:
        return min(self.seconds[name] for name, peer in self.peers.items() if peer.trusted) / self.seconds[ours]


def measured(scene: Encounter, sample: int, repeats: int, agreement: Agreement) -> Measured:
    poses = list(zip(scene.poses_a[:sample], scene.poses_b[:sample], strict=True))
    single = partial(fresh_calls, scene.a.ours, scene.b.ours, poses)
    gaps = single()
    ours = np.array([gap.distance for gap in gaps]), np.array([gap.normal for gap in gaps])
    together = scene.batch()
    agreement.check(
        f"{scene.name}, {scene.place}, batch", together.distance[:sample], ours[0], scene.tolerance * scene.size
    )
    peers = peers_of(scene, poses)
    error = judge(scene, ours, peers, agreement)
    rivals = {"single": single, "batch": scene.batch} | {name: peer.run for name, peer in peers.items()}
    count = len(scene.poses_a)
    seconds = {
        name: times.least / (count if name == "batch" else sample)
        for name, times in in_turns(rivals, 1, repeats).items()
    }
    return Measured(scene, peers, error, together.work.iterations / count, seconds)


def single_calls(rows: list[Measured], sample: int) -> Table:
    table = Table(
        f"Single calls from Python, {sample} fresh poses, us per call",
        ["pair", "clearance", *PEERS, "best peer / ours", "aim", "iterations"],
    )
    for row in rows:
        times = 1e6 * row.seconds["single"], *(row.time(name, 1e6) for name in PEERS)
        table.add(row.name, *times, row.lead("single"), f">= {AIM_SINGLE}", row.iterations)
    table.notes.append(
        "Both poses are new in every call. * marks a peer that is wrong in more than one answer of a hundred; it does "
        "not count as the best. Iterations are ours, the mean of the batch. Least of all repeats."
    )
    return table


def batches(rows: list[Measured], count: int) -> Table:
    table = Table(
        f"Batch of {count} poses on all cores, loops of the peers, ns per pair",
        ["pair", "clearance", *PEERS, "best peer / ours", "aim"],
    )
    for row in rows:
        times = 1e9 * row.seconds["batch"], *(row.time(name, 1e9) for name in PEERS)
        table.add(row.name, *times, row.lead("batch"), f">= {AIM_BATCH}")
    return table


def answers(rows: list[Measured], sample: int) -> Table:
    table = Table(
        f"Largest error / size among {sample} answers, and how many of them are wrong",
        ["pair", "clearance", *PEERS],
    )
    for row in rows:
        table.add(row.name, f"{row.error:.0e}", *(row.judged(name) for name in PEERS))
    allowed = ", ".join(f"{tolerance:.0e} ({name})" for name, tolerance in PEERS.items())
    table.notes.append(
        "The signed distance is the largest separation over all directions; the truth is taken to be the largest along "
        f"anybody's normal, computed in NumPy. Peers count as wrong beyond {allowed}. MuJoCo rounds vertices of hulls "
        "to float32; fcl.collide uses closed forms and MPR."
    )
    return table


def main() -> None:
    options = arguments(__doc__)
    count, sample, repeats = (2_000, 200, 3) if options.quick else (100_000, 2_000, 15)
    agreement = Agreement()
    print(machine())
    rows = [measured(encounter(name, place, count), sample, repeats, agreement) for name in PAIRS for place in PLACES]
    for table in (single_calls(rows, sample), batches(rows, count), answers(rows, sample)):
        table.show(options.markdown)
    print(f"\nafterwards: {machine()}")
    agreement.exit()


if __name__ == "__main__":
    main()
