"""Scenes that move: pairs of bodies per second on one thread, on two, and in two processes at the same time.

Two processes that know nothing of each other show what two cores can do at best; two threads are held against them.
Each step moves all bodies and measures all pairs. Rounds of the three ways are short and take turns; a round counts
only if the system took no core away from it meanwhile, so other programs cost patience, not truth.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import statistics
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from time import perf_counter, sleep

import numpy as np
import scenes
from measure import Agreement, Table, arguments, machine

import clearance as cl

SMALL = [1, 2, 3, 5, 8, 12, 16, 20]
LARGE = [10, 20, 30, 50, 70, 100, 200, 500, 1000, 2000]
PACED = [5, 20, 50, 100, 200, 500, 2000]
AIMED_EFFICIENCY = {100: 0.85, 2000: 0.92}
PICTURE = Path(__file__).parent.parent / "docs" / "images" / "scene_threads.png"
ROUND, WARM_UP = 0.02, 0.01  # seconds
WAYS = ["1 thread", "2 threads", "2 processes"]


@dataclass(frozen=True)
class Round:
    """Steps per second, and how often another program got one of our cores meanwhile."""

    rate: float
    interruptions: int

    def __add__(self, other: Round) -> Round:
        return Round(self.rate + other.rate, self.interruptions + other.interruptions)


def run_round(moving: scenes.MovingScene, threads: int, pause: float) -> Round:
    before = getrusage(RUSAGE_SELF).ru_nivcsw
    steps, in_steps = 0, 0.0
    while in_steps + steps * pause < ROUND or steps < 6:
        if pause > 0.0:
            sleep(pause)
        start = perf_counter()
        moving.step(steps, threads)
        in_steps += perf_counter() - start
        steps += 1
    return Round(steps / in_steps, getrusage(RUSAGE_SELF).ru_nivcsw - before)


def warm_up(moving: scenes.MovingScene, threads: int) -> None:
    """Fill the caches, wake the threads, and let the core reach its pace."""
    start, steps = perf_counter(), 0
    while perf_counter() - start < WARM_UP:
        moving.step(steps, threads)
        steps += 1


def serve(requests: Connection, barrier: Barrier) -> None:
    """One of the two processes: builds scenes once, runs rounds on request."""
    built: dict[int, scenes.MovingScene] = {}
    while (request := requests.recv()) is not None:
        pairs, threads, pause, together = request
        if pairs not in built:
            built[pairs] = scenes.links_in_a_box(pairs)
        if together:
            barrier.wait()
        warm_up(built[pairs], threads)
        requests.send(run_round(built[pairs], threads, pause))


class TwoProcesses:
    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.barrier = context.Barrier(2)
        ends = [context.Pipe() for _ in range(2)]
        self.requests = [ours for ours, _ in ends]
        self.processes = [context.Process(target=serve, args=(theirs, self.barrier), daemon=True) for _, theirs in ends]
        for process in self.processes:
            process.start()

    def run(self, way: str, pairs: int, pause: float) -> Round:
        taking_part = self.requests if way == "2 processes" else self.requests[:1]
        for request in taking_part:
            request.send((pairs, 2 if way == "2 threads" else 1, pause, len(taking_part) == 2))
        rates = [request.recv() for request in taking_part]
        return rates[0] if len(rates) == 1 else rates[0] + rates[1]

    def close(self) -> None:
        for request, process in zip(self.requests, self.processes, strict=True):
            request.send(None)
            process.join()


@dataclass
class Rates:
    """Steps per second of all rounds of one way."""

    rounds: list[Round] = field(default_factory=list)

    def clean(self) -> list[float]:
        return [found.rate for found in self.rounds if found.interruptions == 0]

    def median(self) -> float:
        """Of the rounds without interruption, or of all if there is none."""
        return statistics.median(self.clean() or [found.rate for found in self.rounds])


Measured = dict[int, dict[str, Rates]]  # by the number of pairs, and by the way


def measure(
    both: TwoProcesses, ways: list[str], sizes: list[int], wanted: int, patience: float, pause: float = 0.0
) -> Measured:
    """Take turns until each way has enough clean rounds, or patience (in seconds) is at an end."""
    measured: Measured = {pairs: {way: Rates() for way in ways} for pairs in sizes}
    unfinished, end, turn = dict(measured), perf_counter() + patience, 0
    while unfinished and (turn == 0 or perf_counter() < end):
        for pairs, by_way in list(unfinished.items()):
            for way in ways[turn % len(ways) :] + ways[: turn % len(ways)]:
                by_way[way].rounds.append(both.run(way, pairs, pause))
            if min(len(rates.clean()) for rates in by_way.values()) >= wanted:
                del unfinished[pairs]
        turn += 1
    return measured


def clean_rounds(by_way: dict[str, Rates]) -> str:
    return " ".join(str(len(rates.clean())) for rates in by_way.values())


def percent(share: float) -> str:
    return "-" if math.isnan(share) else f"{100 * share:.0f} %"


def ratio(by_way: dict[str, Rates], above: str, below: str) -> float:
    """How the rates of two ways compare; not a number unless both have clean rounds."""
    if not (by_way[above].clean() and by_way[below].clean()):
        return math.nan
    return by_way[above].median() / by_way[below].median()


def efficiency(by_way: dict[str, Rates]) -> float:
    return ratio(by_way, "2 threads", "2 processes")


def table_of_threads(measured: Measured) -> Table:
    table = Table(
        "Bodies of ten elements, all moving: time of a step, and pairs of bodies per second",
        [
            *("pairs", "1 thread, us", "2 threads, us", "1 thread, M/s", "2 threads, M/s", "2 processes, M/s"),
            *("2 threads / 2 processes", "aim", "clean rounds"),
        ],
    )
    for pairs, by_way in measured.items():
        aim = f">= {100 * AIMED_EFFICIENCY[pairs]:.0f} %" if pairs in AIMED_EFFICIENCY else ""
        us = [1e6 / by_way[way].median() for way in WAYS[:2]]
        millions = [1e-6 * pairs * rates.median() for rates in by_way.values()]
        table.add(str(pairs), *us, *millions, percent(efficiency(by_way)), aim, clean_rounds(by_way))
    table.notes.append(
        "Times include `Scene.move` of all bodies. Clean rounds: how many were not interrupted, on 1 thread, "
        "2 threads, in 2 processes. Without any, times are those of disturbed rounds, and are not compared."
    )
    return table


def table_of_two_threads(title: str, measured: Measured) -> Table:
    table = Table(
        title,
        ["pairs", "1 thread, us", "2 threads, us", "time of 2 / time of 1", "aim", "clean rounds"],
    )
    for pairs, by_way in measured.items():
        one, two = (1e6 / by_way[way].median() for way in WAYS[:2])
        slower = ratio(by_way, "1 thread", "2 threads")
        table.add(str(pairs), one, two, slower, "<= 1.10", clean_rounds(by_way))
    return table


def work_saved(quick: bool) -> Table:
    table = Table(
        "Work saved by bounding balls, averaged over 16 poses; one thread",
        [
            "pairs",
            "at_most, m",
            "element pairs",
            "ball tests",
            "element tests",
            "share tested",
            "rows left",
            "us per step",
        ],
    )
    for pairs in (100,) if quick else (100, 2000):
        moving = scenes.links_in_a_box(pairs)
        everything = sum(len(moving.links[a]) * len(moving.links[b]) for a, b in moving.scene.pairs)
        for at_most in (np.inf, 1.0, 0.5, 0.2, 0.1, 0.05, 0.0):
            tables = [moving.step(k, 1, at_most) for k in range(16)]
            tests, balls = (
                float(np.mean([getattr(t.work, name) for t in tables])) for name in ("element_tests", "volume_tests")
            )
            rows = float(np.mean([np.isfinite(t.distance).sum() for t in tables]))
            del tables
            steps = []
            for k in range(32 if quick else 160):
                start = perf_counter()
                moving.step(k, 1, at_most)
                steps.append(perf_counter() - start)
            share = f"{100 * tests / everything:.1f} %"
            cells = (f"{number:.0f}" for number in (everything, balls, tests))
            table.add(str(pairs), f"{at_most:g}", *cells, share, f"{rows:.1f}", 1e6 * statistics.median(steps))
    return table


def check_answers(agreement: Agreement) -> None:
    """Threads change no bit, and a pair is as near as the nearest pair of its elements."""
    for pairs in (3, 100):
        moving, shared = scenes.links_in_a_box(pairs), scenes.links_in_a_box(pairs)
        for k in range(3):
            one, two = moving.step(k, 1), shared.step(k, 2)
            for name in ("distance", "lower", "upper", "point_a", "point_b", "normal"):
                if not np.array_equal(getattr(one, name), getattr(two, name)):
                    agreement.failures.append(f"{pairs} pairs: {name} depends on the number of threads")
            for found in (one, two):
                agreement.check(f"{pairs} pairs: evaluated", found.work.pairs, pairs)
        for row, (a, b) in enumerate(moving.scene.pairs[:20]):
            at_a, at_b = moving.scene.pose(a), moving.scene.pose(b)
            nearest = min(
                cl.distance(x.at(at_a), y.at(at_b)).distance for x in moving.links[a] for y in moving.links[b]
            )
            agreement.check(f"{a} {b}", one.distance[row], nearest, 1e-12)


def draw(measured: Measured) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    few = [pairs for pairs in measured if pairs <= 100]
    for way, style in zip(WAYS, ("o-", "s-", "x--"), strict=True):
        label = f"{way}, per step of either" if way == "2 processes" else way
        left.plot(few, [1e6 / measured[pairs][way].median() for pairs in few], style, label=label)
    left.set(xlabel="watched pairs of bodies", ylabel="time per step [µs]", xlim=0, ylim=0)
    left.legend()
    left.set_title("All bodies move, all pairs are measured")
    share = [100 * efficiency(by_way) for by_way in measured.values()]
    right.semilogx(list(measured), share, "s-", color="C1")
    for pairs, aim in AIMED_EFFICIENCY.items():
        right.plot(pairs, 100 * aim, "k^")
    right.set(xlabel="watched pairs of bodies", ylabel="throughput of 2 threads [% of 2 processes]", ylim=(0, 105))
    right.set_title("Triangles: aims")
    for axes in (left, right):
        axes.grid(alpha=0.3)
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(PICTURE, dpi=120)


def main() -> None:
    options = arguments(__doc__, ("--plot", f"draw docs/images/{PICTURE.name}"))
    wanted, patience = (1, 2.0) if options.quick else (25, 60.0)
    agreement = Agreement()
    print(machine())
    check_answers(agreement)
    both = TwoProcesses()
    try:
        if (os.cpu_count() or 1) > 1:
            large = measure(both, WAYS, LARGE, wanted, patience)
            table_of_threads(large).show(options.markdown)
            small = measure(both, WAYS[:2], SMALL, wanted, patience)
            title = "Small scenes: two threads must not be slower than one by more than 10 %"
            table_of_two_threads(title, small).show(options.markdown)
            paced = measure(both, WAYS[:2], PACED, wanted, patience, pause=1e-3)
            title = "Steps after a pause of 1 ms, as in a control loop, when threads have fallen asleep"
            table_of_two_threads(title, paced).show(options.markdown)
            if options.plot:
                draw(large)
        else:
            print("one core: nothing to say about threads")
    finally:
        both.close()
    work_saved(options.quick).show(options.markdown)
    print(f"\nafterwards: {machine()}")
    agreement.exit()


if __name__ == "__main__":
    main()
