"""Mixed queries for an hour from eight threads: no answer changes, and the memory stays what it is.

    python benchmarks/soak.py --minutes 60

Every query is asked again and again; the bits of its answer are compared with those of the first time. After a tenth of
the time, or five minutes, the memory of the process is noted; from then on it must not grow.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import psutil

import clearance as cl
from clearance import samples
from clearance import simulation as sim
from clearance.meshio import from_bytes
from clearance.sample_arm import arm, arm_cell, arm_path

THREADS, PARTS = 8, 8
MOST_GROWTH = 32  # MiB after the warm-up: what an allocator may do, but not a leak of a byte per query and pair

Query = Callable[[], Any]


def queries(folder: Path) -> dict[str, Query]:
    """Give questions by name; those that keep a state make it anew, or have one for each thread."""
    rng = np.random.default_rng(0)
    rock = cl.Mesh(*_sphere_of_triangles(rng, 400))
    hull = cl.ConvexHull(rng.normal(size=(40, 3)))
    poses = cl.poses.from_wxyz(rng.normal(size=(50, 4)), 2.0 * rng.normal(size=(50, 3)))
    origins, directions = 5.0 * rng.normal(size=(200, 3)), rng.normal(size=(200, 3))
    humanoid, robot, cell = samples.humanoid(), arm(), arm_cell()
    path = np.asarray(arm_path(), dtype=float)
    world, grains = _world(), _grains()
    world.save(folder / "world.npz")
    grains.save(folder / "grains.npz")
    rock.save(folder / "rock.mesh")
    own = threading.local()

    def guarded() -> Any:
        if not hasattr(own, "guard"):
            own.guard = cl.Guard(robot, cell)
        own.guard.reset()
        speeds = np.gradient(path[:20], 0.01, axis=0)
        return [_verdict(own.guard.update(q, qd)) for q, qd in zip(path[:20], 0.01 * speeds, strict=True)]

    def loaded_world() -> Any:
        again = sim.World.load(folder / "world.npz", threads=1)
        again.step(20)
        return again.poses, again.velocities

    def loaded_grains() -> Any:
        again = sim.Particles.load(folder / "grains.npz", threads=2)
        again.step(20)
        return again.poses, again.velocities

    def saved_world() -> Any:
        name = folder / f"{threading.get_ident()}.npz"
        world_again = sim.World.load(folder / "world.npz", threads=1)
        world_again.save(name)
        return sim.World.load(name, threads=1).poses

    return {
        "distance of meshes": lambda: _gap(cl.distance(rock, rock.at([2.5, 0.1, 0.2]))),
        "distance of hulls, 50 poses": lambda: _gap(cl.distance(hull.at(poses), cl.Box([1.0, 2.0, 3.0]))),
        "within": lambda: cl.within(rock.at(poses), hull, margin=0.3),
        "contacts": lambda: _contacts(cl.contacts(rock, hull.at([0.9, 0.0, 0.0]))),
        "nearest": lambda: _gap(humanoid.nearest(humanoid.names[:3], humanoid.names[5:])),
        "raycast, 200 rays": lambda: cl.raycast(cell, origins, directions).distance,
        "is_clear, 100 configurations": lambda: cl.is_clear(robot, cell, path[:100]),
        "check_path": lambda: repr(cl.check_path(robot, cell, path[:10])),
        "guard.update, 20 cycles": guarded,
        "World.load, step": loaded_world,
        "World.load, save": saved_world,
        "Particles.load, step": loaded_grains,
        "Mesh.to_bytes": lambda: from_bytes(rock.to_bytes()).vertices,
        "load_mesh": lambda: cl.load_mesh(folder / "rock.mesh").vertices,
        "wrong arguments": _refused,
    }


def _sphere_of_triangles(rng: np.random.Generator, count: int) -> tuple[Any, Any]:
    corners = rng.normal(size=(count, 3, 3)) * 0.1
    corners += (directions := rng.normal(size=(count, 1, 3))) / np.linalg.norm(directions, axis=-1, keepdims=True)
    return corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3)


def _world() -> sim.World:
    world = sim.World()
    world.add("ground", cl.HalfSpace([0, 0, 1], 0.0), motion="fixed")
    for k in range(8):
        world.add(f"box{k}", cl.Box([0.2, 0.2, 0.2]), [0.03 * k, 0.0, 0.1 + 0.21 * k])
    world.step(100)
    return world


def _grains() -> sim.Particles:
    grains = sim.Particles()
    grains.add_wall("ground", cl.HalfSpace([0, 0, 1], 0.0))
    grains.add(cl.Sphere(0.05), [[0.08 * (k % 5), 0.08 * (k // 5 % 5), 0.05 + 0.11 * (k // 25)] for k in range(200)])
    grains.step(50)
    return grains


def _gap(gap: Any) -> Any:
    return gap.distance, gap.lower, gap.upper, gap.point_a, gap.point_b


def _verdict(verdict: cl.Verdict) -> Any:
    return verdict.stop, verdict.reason, verdict.lower, verdict.pair


def _contacts(found: cl.Contacts) -> Any:
    return found.normal, found.points, found.depths


def _refused() -> Any:
    """Errors are answers, too; what they hold on the way out must be let go."""
    said = []
    for make in (
        lambda: cl.Sphere(-1.0),
        lambda: cl.Mesh([[0.0, 0.0, np.nan]] * 3, [[0, 1, 2]]),
        lambda: cl.ConvexHull(np.zeros((0, 3))),
        lambda: from_bytes(b"clearance mesh\n" + bytes(100)),
        lambda: cl.distance(cl.Sphere(1.0), "wall"),
    ):
        try:
            make()
        except (ValueError, TypeError) as error:
            said.append(str(error))
    return said


def digest(answer: Any) -> bytes:
    """Give a digest of all bits of an answer."""
    state = blake2b(digest_size=16)

    def add(value: Any) -> None:
        if isinstance(value, tuple | list):
            for item in value:
                add(item)
        elif isinstance(value, str):
            state.update(value.encode())
        else:
            state.update(np.ascontiguousarray(value).tobytes())

    add(answer)
    return state.digest()


def memory() -> float:
    """MiB that the process has in use, without what the allocator keeps for later."""
    gc.collect()
    if hasattr(libc := ctypes.CDLL(None), "malloc_trim"):
        libc.malloc_trim(0)
    return float(psutil.Process().memory_info().rss / 2**20)


@dataclass
class Soak:
    """What came of it."""

    counts: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)
    seconds: float = 0.0
    memory: list[float] = field(default_factory=list)  # MiB after the warm-up, and after each part of the rest
    asked_since: int = 0

    @property
    def growth(self) -> float:
        """MiB since the warm-up."""
        return self.memory[-1] - self.memory[0]


def soak(seconds: float, warm_up: float, threads: int = THREADS) -> Soak:
    """Ask all queries from many threads until the time is over."""
    with tempfile.TemporaryDirectory() as folder:
        return _soak(queries(Path(folder)), seconds, warm_up, threads)


def _soak(asked: dict[str, Query], seconds: float, warm_up: float, threads: int) -> Soak:
    first = {name: digest(query()) for name, query in asked.items()}
    result, begin = Soak(), time.monotonic()
    _ask(asked, first, result, begin + warm_up, threads)
    result.memory.append(memory())
    asked_before = result.counts.total()
    for until in np.linspace(warm_up, seconds, PARTS + 1)[1:]:
        _ask(asked, first, result, begin + until, threads)
        result.memory.append(memory())
    result.seconds = time.monotonic() - begin
    result.asked_since = result.counts.total() - asked_before
    return result


def _ask(asked: dict[str, Query], first: dict[str, bytes], result: Soak, until: float, threads: int) -> None:
    """Ask until a time; at the end no thread is left, nor what it has used."""
    lock, names = threading.Lock(), list(asked)

    def work(number: int) -> None:
        rng = np.random.default_rng(number)
        is_over = False
        while not is_over:
            name = names[rng.integers(len(names))]
            try:
                is_same = digest(asked[name]()) == first[name]
            except Exception as error:
                with lock:
                    result.errors.append(f"{name}: {error!r}")
                return
            with lock:
                result.counts[name] += 1
                result.changed[name] += not is_same
            is_over = time.monotonic() >= until or bool(result.errors)

    workers = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def report(result: Soak) -> str:
    """Put it into a table."""
    rows = [f"| {name} | {count} | {result.changed[name]} |" for name, count in sorted(result.counts.items())]
    total = f"| **all** | {result.counts.total()} | {result.changed.total()} |"
    told = (
        f"{result.seconds / 60.0:.1f} minutes, {THREADS} threads. Memory in MiB, from the end of the warm-up: "
        f"{', '.join(f'{one:.1f}' for one in result.memory)} ({result.growth:+.1f} in {result.asked_since} queries)."
    )
    return "\n".join(["| query | answers | that changed |", "|---|---|---|", *rows, total, "", told, *result.errors])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0)
    seconds = 60.0 * parser.parse_args().minutes
    result = soak(seconds, min(0.1 * seconds, 300.0))
    print(report(result))
    return int(bool(result.errors) or result.changed.total() > 0 or result.growth > MOST_GROWTH)


if __name__ == "__main__":
    sys.exit(main())
