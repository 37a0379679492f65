"""Grains on threads and on ranks of MPI: strong and weak scaling as far as this machine goes, and what it says of more.

    python benchmarks/granular_scaling.py

Balls lie in a box; how they came to lie is kept in a folder for the next time. Ranks are started with mpiexec. What a
rank tells others in a step is counted, and gives a projection to many ranks: work shrinks with the particles of a rank,
messages stay as many, and their lengths shrink with the surface of its box.
"""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from granular_gas import Gas
from measure import Table, machine

import clearance as cl
from clearance import simulation as sim

SIZE, STEP, SMALL_STEPS = 0.02, 1 / 160, 10
SETTLING = 240  # steps
REPEATS = 3
LATENCY, BANDWIDTH = 2e-6, 1e10  # of a network to reckon with [s, bytes/s]


def lattice(count: int) -> tuple[np.ndarray, float]:
    """Centres of balls that touch, in a cube as far as that goes, and the edge of its floor."""
    row = round(count ** (1 / 3))
    places = np.stack(np.unravel_index(np.arange(count), (count // row**2 + 1, row, row))[::-1], axis=1)
    return (places + 0.5) * SIZE, row * SIZE


def filled(count: int) -> sim.Particles:
    """Balls on a lattice that touch, and give way."""
    centres, side = lattice(count)
    particles = sim.Particles(STEP, contact=sim.Hard(iterations=SMALL_STEPS))
    for name, normal, offset in [
        ("floor", [0, 0, 1], 0.0),
        ("left", [1, 0, 0], 0.0),
        ("right", [-1, 0, 0], -side),
        ("front", [0, 1, 0], 0.0),
        ("back", [0, -1, 0], -side),
    ]:
        particles.add_wall(name, cl.HalfSpace(normal, offset))
    particles.add(cl.Sphere(SIZE / 2), centres, density=2500.0)
    return particles


def lying(count: int, folder: Path) -> Path:
    """Balls that have come to lie, in a file."""
    file = folder / f"lying_{count}.npz"
    if not file.exists():
        particles = filled(count)
        particles.step(SETTLING)
        particles.save(file)
    return file


def timed(particles: Any, steps: int, wait: Callable[[], object] = lambda: None) -> tuple[float, float]:
    """Seconds of the clock and of all cores for a step, the least of several times."""
    particles.step(steps)
    taken = []
    for _ in range(REPEATS):
        wait()
        start, spent = perf_counter(), process_time()
        particles.step(steps)
        taken.append(((perf_counter() - start) / steps, (process_time() - spent) / steps))
    clock, cores = np.min(taken, axis=0)
    return float(clock), float(cores)


def on_ranks(file: Path, steps: int) -> None:
    """What each rank runs."""
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    particles = sim.DistributedParticles.load(file, comm)
    particles.step(1)
    sent, messages = particles.bytes_sent, particles.messages
    taken, spent = timed(particles, steps, comm.barrier)
    made = (1 + REPEATS) * steps
    told = [(particles.bytes_sent - sent) / made, (particles.messages - messages) / made, len(particles.ids), spent]
    all_told = comm.gather(told)
    if comm.rank == 0:
        print(json.dumps({"seconds": taken, "told": all_told}))


def started(ranks: int, file: Path, steps: int) -> dict[str, Any]:
    beside = Path(sys.executable).with_name("mpiexec")
    mpiexec = str(beside) if beside.exists() else shutil.which("mpiexec") or "mpiexec"
    command = [mpiexec, "-n", str(ranks), sys.executable, __file__, "--run", str(file), str(steps)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def strong(count: int, steps: int, folder: Path) -> tuple[Table, dict[str, Any]]:
    table = Table(
        f"{count} balls in a box, a step of 1/160 s",
        [
            *("how", "clock [ms]", "cores [ms]", "speed-up", "steps of a body per second, by the clock"),
            *("sent by a rank [kB]", "messages of a rank"),
        ],
    )
    file, first, one = lying(count, folder), 0.0, 0.0
    for threads in (1, 2):
        taken, cores = timed(sim.Particles.load(file, threads), steps)
        first, one = first or taken, one or cores
        table.add(f"{threads} threads", 1e3 * taken, 1e3 * cores, first / taken, round(count / taken), "", "")
    found: dict[str, Any] = {}
    for ranks in (1, 2):
        found = started(ranks, file, steps)
        sent, messages, *_ = np.max(found["told"], axis=0)
        taken, cores = found["seconds"], sum(row[3] for row in found["told"])
        table.add(f"{ranks} ranks", 1e3 * taken, 1e3 * cores, first / taken, round(count / taken), sent / 1e3, messages)
    return table, {"one": one, **found, "count": count}


def weak(count: int, steps: int, folder: Path) -> Table:
    table = Table(
        f"{count} balls for each rank",
        [
            *("ranks", "balls", "clock [ms]", "cores of a rank [ms]", "efficiency by the clock"),
            *("least and most balls of a rank", "sent by a rank [kB]"),
        ],
    )
    first = 0.0
    for ranks in (1, 2):
        found = started(ranks, lying(ranks * count, folder), steps)
        taken, shares = found["seconds"], [int(row[2]) for row in found["told"]]
        sent, _, _, cores = np.max(found["told"], axis=0)
        first = first or taken
        spread = f"{min(shares)} to {max(shares)}"
        table.add(ranks, ranks * count, 1e3 * taken, 1e3 * cores, first / taken, spread, sent / 1e3)
    return table


def projection(measured: dict[str, Any]) -> Table:
    """From two ranks, which share one face, to boxes with six of them."""
    sent, messages, share, _ = np.max(measured["told"], axis=0)
    per_body = measured["one"] / measured["count"]
    face = sent / share ** (2 / 3)  # bytes for each face of a box, over its size
    table = Table(
        "Projected: a box of space for each rank, six neighbours that share faces and twenty that share less",
        ["ranks", "balls of a rank", "compute [ms]", "lengths [ms]", "messages [ms]", "efficiency"],
    )
    for ranks in (64, 1024, 16_384):
        for balls in (2_000, 20_000, 200_000):
            compute = balls * per_body
            lengths = 7.0 * face * balls ** (2 / 3) / BANDWIDTH
            waiting = 26.0 * messages * LATENCY + 12.0 * np.log2(ranks) * LATENCY
            whole = compute + lengths + waiting
            table.add(ranks, balls, 1e3 * compute, 1e3 * lengths, 1e3 * waiting, compute / whole)
    table.notes.append(
        f"measured: {per_body * 1e6:.2f} us for a step of a ball, {sent / 1e3:.0f} kB and {messages:.0f} messages "
        f"through one face in a step; reckoned with {LATENCY * 1e6:g} us for a message and {BANDWIDTH / 1e9:g} GB/s"
    )
    return table


def million(steps: int, count: int = 1_000_000) -> Table:
    """A gas of very many spheres: memory, speed, and how well energy is kept."""
    gas = Gas(count)
    corner = np.full(3, gas.side)
    particles = sim.Particles(
        0.1 * gas.size / gas.speed, (0, 0, 0), sim.Elastic(), lower=(0, 0, 0), upper=corner, periodic=True
    )
    particles.add(cl.Sphere(gas.size / 2), *gas.start(), density=gas.density)
    before, start, spent = particles.energy.kinetic, perf_counter(), process_time()
    particles.step(steps)
    taken, cores = perf_counter() - start, process_time() - spent
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    table = Table(
        f"An elastic gas of {count} spheres, all cores",
        [
            *("steps", "clock [s]", "cores [s]", "steps of a body per core second"),
            *("memory [MB]", "energy off by", "builds"),
        ],
    )
    off = abs(particles.energy.kinetic / before - 1.0)
    table.add(steps, taken, cores, count * steps / cores, memory, f"{off:.1e}", particles.work.builds)
    return table


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--run", nargs=2, help="what mpiexec calls")
    parser.add_argument("--folder", type=Path, default=Path("build", "lying"), help="where balls that lie are kept")
    parser.add_argument("--count", type=int, default=10_000, help="balls")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--million", action="store_true", help="a gas of a million spheres, 1000 steps, instead")
    parser.add_argument("--markdown", action="store_true")
    chosen = parser.parse_args()
    if chosen.run:
        on_ranks(Path(chosen.run[0]), int(chosen.run[1]))
        return
    print(machine())
    if chosen.million:
        million(*((10, 10_000) if chosen.quick else (1000,))).show(chosen.markdown)
        return
    count, steps = (1000, 5) if chosen.quick else (chosen.count, max(5, 200_000 // chosen.count))
    chosen.folder.mkdir(parents=True, exist_ok=True)
    table, measured = strong(count, steps, chosen.folder)
    table.show(chosen.markdown)
    weak(count // 2, steps, chosen.folder).show(chosen.markdown)
    projection(measured).show(chosen.markdown)


if __name__ == "__main__":
    main()
