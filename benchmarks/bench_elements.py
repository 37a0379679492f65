"""Pairs of swept elements: nanoseconds in a batch, and microseconds of a single call, beside the strongest peers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import coal
import numpy as np
import peers
import scenes
from measure import Agreement, Table, Times, arguments, in_turns, machine

import clearance as cl
from clearance import _core

ORDERS = ["PP", "PL", "LP", "PT", "TP", "LL", "LT", "TL", "TT"]
# R. Poscher, thesis (TU Munich, 2020), Table 6.4, column of the new module: nanoseconds on the machine of the thesis.
THESIS = dict(PP=7.26, PL=9.52, LP=9.49, PT=12.81, TP=12.81, LL=16.94, LT=77.04, TL=74.22, TT=212.32)
AIMED_RATIO = dict(LL=4.5, LT=3.5, TL=3.5, TT=3.5)
BEST = _core.simd()
SETS = ["scalar", "sse2", "avx2", "avx512"]
SETS = SETS[: SETS.index(BEST) + 1]


class Batch:
    """One stream of pairs with room for its results, for the call users make and for the bare kernel below it."""

    def __init__(self, pairs: scenes.ElementPairs) -> None:
        self.pairs = pairs
        self.gaps = cl.elements.closest(*pairs.arguments(), threads=1)

    def public(self) -> cl.elements.ElementGaps:
        return cl.elements.closest(*self.pairs.arguments(), out=self.gaps, threads=1)

    def bare(self, simd: str | None = None) -> None:
        if simd is not None:
            _core.use_simd(simd)
        p, g = self.pairs, self.gaps
        results = (g.distance, g.lower, g.upper, g.point_a, g.point_b, g.normal, g.weights_a, g.weights_b)
        _core.closest(p.a, p.radius_a, p.b, p.radius_b, *results, 1)

    def nbytes(self) -> int:
        """What is read once and written once."""
        return sum(numbers.nbytes for numbers in (*self.pairs.arguments(), *vars(self.gaps).values()))

    def snapshot(self) -> np.ndarray:
        return np.concatenate([column.ravel() for column in vars(self.gaps).values()])


def check_same_bits(order: str, batch: Batch, agreement: Agreement) -> None:
    batch.bare("scalar")
    expected = batch.snapshot()
    for simd in SETS[1:]:
        batch.bare(simd)
        if not np.array_equal(batch.snapshot(), expected):
            agreement.failures.append(f"{order}: {simd} and scalar differ in some bits")


def times_of_sets(batch: Batch, repeats: int) -> dict[str, Times]:
    """The public call with the best instruction set, and the kernel with each of them."""

    def public() -> None:
        _core.use_simd(BEST)
        batch.public()

    rivals: dict[str, Callable[[], object]] = {"public": public}
    rivals |= {simd: partial(batch.bare, simd) for simd in SETS}
    try:
        return in_turns(rivals, len(batch.pairs.a), repeats)
    finally:
        _core.use_simd(BEST)


def nine_orders(count: int, repeats: int, agreement: Agreement) -> Table:
    table = Table(
        f"Nine orders of elements, {count} different pairs per batch, one thread, ns per pair",
        [
            "pair",
            "elements.closest",
            "kernel",
            "rel. to PP",
            "thesis rel.",
            *reversed(SETS[:-1]),
            "scalar / kernel",
            "aim",
        ],
    )
    of_points = None
    for order in ORDERS:
        batch = Batch(scenes.element_pairs(order, count))
        check_same_bits(order, batch, agreement)
        ns = {name: 1e9 * times.least for name, times in times_of_sets(batch, repeats).items()}
        kernel = ns[BEST]
        of_points = of_points or kernel
        others = [ns[simd] for simd in reversed(SETS[:-1])]
        aim = f">= {AIMED_RATIO[order]}" if order in AIMED_RATIO else ""
        thesis = THESIS[order] / THESIS["PP"]
        table.add(order, ns["public"], kernel, kernel / of_points, thesis, *others, ns["scalar"] / kernel, aim)
    table.notes.append(
        f"kernel: `_core.closest` with {BEST}, including the check of its input; elements.closest adds what Python "
        "does around it. Least of all repeats."
    )
    return table


def crossing_cores(count: int, repeats: int, agreement: Agreement) -> Table:
    table = Table(
        f"Cores that pierce each other (the careful path), {count} pairs, ns per pair",
        ["pair", "best", "scalar", "ratio"],
    )
    for order in ("LL", "LT", "TT"):
        batch = Batch(scenes.crossing_pairs(order, count))
        check_same_bits(order, batch, agreement)
        times = times_of_sets(batch, repeats)
        best, scalar = (1e9 * times[simd].least for simd in (BEST, "scalar"))
        table.add(order, best, scalar, scalar / best)
    return table


def bandwidth(count: int, repeats: int) -> Table:
    table = Table(
        f"Bytes read and written per second, {count} pairs, beside a copy of as many bytes",
        ["pair", "bytes per pair", "elements.closest, GB/s", "kernel, GB/s", "np.copyto, GB/s", "kernel / copy"],
    )
    for order in ("PP", "PL"):
        batch = Batch(scenes.element_pairs(order, count))
        size = batch.nbytes()
        source, target = np.ones(size // 16), np.ones(size // 16)
        rivals = {"public": batch.public, "kernel": batch.bare, "copy": partial(np.copyto, target, source)}
        rate = {name: 1e-9 * size / times.least for name, times in in_turns(rivals, 1, repeats).items()}
        share = f"{100 * rate['kernel'] / rate['copy']:.0f} %"
        table.add(order, str(size // count), rate["public"], rate["kernel"], rate["copy"], share)
    return table


def numpy_forms(count: int, repeats: int, agreement: Agreement) -> Table:
    table = Table(
        f"Batch of {count} pairs from vertices and radii, one thread, ns per pair",
        ["pair", "elements.closest", "NumPy in blocks", "NumPy", "NumPy / ours"],
    )
    for name, order, form in (("spheres", "PP", peers.numpy_spheres), ("capsules", "LL", peers.numpy_capsules)):
        batch = Batch(scenes.element_pairs(order, count))
        numbers = batch.pairs.arguments()
        out = tuple(
            np.empty_like(x) for x in (batch.gaps.distance, batch.gaps.point_a, batch.gaps.point_b, batch.gaps.normal)
        )
        found = peers.in_blocks(form, *numbers, out)
        agreement.check(f"NumPy {name}, distance", found[0], batch.public().distance, 1e-12)
        agreement.check(f"NumPy {name}, points", found[1], batch.public().point_a, 1e-6)
        rivals = {
            "ours": batch.public,
            "blocks": partial(peers.in_blocks, form, *numbers, out),
            "whole": partial(form, *numbers),
        }
        ns = {key: 1e9 * times.least for key, times in in_turns(rivals, count, repeats).items()}
        table.add(name, ns["ours"], ns["blocks"], ns["whole"], min(ns["blocks"], ns["whole"]) / ns["ours"])
    table.notes.append("NumPy computes distance, both points and the normal; ours adds the bracket and the weights.")
    return table


class Shapes:
    """The same pair of shapes for us and for the peers, and poses near contact."""

    def __init__(self, name: str, count: int) -> None:
        self.name, self.count = name, count
        self.poses = scenes.pose_pairs(count, 0.3, 0.7)
        self.mujoco: peers.MujocoPairs | None = None
        if name == "sphere-sphere":
            self.a, self.b = cl.Sphere(0.1), cl.Sphere(0.15)
            self.coal = peers.CoalPair(coal.Sphere(0.1), coal.Sphere(0.15))
            geoms = ('type="sphere" size="0.1"', 'type="sphere" size="0.15"')
        elif name == "capsule-capsule":
            self.a, self.b = cl.Capsule(0.06, 0.3), cl.Capsule(0.08, 0.2)
            self.coal = peers.CoalPair(coal.Capsule(0.06, 0.3), coal.Capsule(0.08, 0.2))
            geoms = ('type="capsule" size="0.06 0.15"', 'type="capsule" size="0.08 0.1"')
        else:
            points = scenes.cores(np.random.default_rng(3), 3, 2)
            self.a, self.b = (cl.SweptTriangle(*p, 0.05) for p in points)
            self.coal = peers.CoalPair(*(peers.coal_triangle(p, 0.05) for p in points))
            return
        self.mujoco = peers.MujocoPairs(*geoms, min(count, 200))

    def expected(self) -> np.ndarray:
        return cl.distance(self.a.at(self.poses[0]), self.b.at(self.poses[1])).distance


def loops_of_peers(count: int, repeats: int, agreement: Agreement) -> Table:
    table = Table(
        f"Batch of {count} poses of two shapes, one thread, ns per pair",
        ["pair", "distance(a.at(poses), b.at(poses))", "coal, loop", "coal / ours", "MuJoCo, loop", "MuJoCo / ours"],
    )
    for name in ("sphere-sphere", "capsule-capsule"):
        shapes = Shapes(name, count)
        assert shapes.mujoco is not None
        pairs = list(zip(*shapes.poses, strict=True))
        rivals: dict[str, Callable[[], object]] = {
            "ours": lambda s=shapes: cl.distance(s.a.at(s.poses[0]), s.b.at(s.poses[1]), threads=1),
            "coal": partial(shapes.coal.distances, pairs),
            "mujoco": partial(shapes.mujoco.distances, pairs),
        }
        for peer in ("coal", "mujoco"):
            agreement.check(f"{peer} {name}", rivals[peer](), shapes.expected(), 1e-9)
        ns = {key: 1e9 * times.least for key, times in in_turns(rivals, count, repeats).items()}
        table.add(name, ns["ours"], ns["coal"], ns["coal"] / ns["ours"], ns["mujoco"], ns["mujoco"] / ns["ours"])
    return table


def our_placed(placed: list[tuple[cl.Placed, cl.Placed]]) -> list[cl.Gap]:
    distance, found = cl.distance, []
    for a, b in placed:
        found.append(distance(a, b))
    return found


def our_fresh(a: cl.Shape, b: cl.Shape, poses: list[tuple[np.ndarray, np.ndarray]]) -> list[cl.Gap]:
    distance, found = cl.distance, []
    for p, q in poses:
        found.append(distance(a.at(p), b.at(q)))
    return found


def single_calls(repeats: int, agreement: Agreement) -> list[Table]:
    columns = ["pair", "clearance", "aim", "coal functor", "coal.distance", "MuJoCo", "best peer / ours"]
    placed_table = Table("Single calls from Python, shapes placed before, us per call", columns)
    fresh_table = Table(
        "Single calls from Python, fresh poses from (4, 4) arrays, us per call", [*columns[:4], *columns[5:]]
    )
    aims = {"sphere-sphere": "< 0.6", "capsule-capsule": "", "triangle-triangle": "< 1"}
    for name, aim in aims.items():
        count = 200
        shapes = Shapes(name, count)
        poses = list(zip(*shapes.poses, strict=True))
        ours = [(shapes.a.at(p), shapes.b.at(q)) for p, q in poses]
        theirs = shapes.coal.placed(*shapes.poses)
        placed: dict[str, Callable[[], list]] = {
            "ours": partial(our_placed, ours),
            "coal": partial(shapes.coal.distances_of_placed, theirs),
            "coal.distance": partial(shapes.coal.plain_distances_of_placed, theirs),
        }
        fresh: dict[str, Callable[[], list]] = {
            "ours": partial(our_fresh, shapes.a, shapes.b, poses),
            "coal": partial(shapes.coal.distances, poses),
        }
        if shapes.mujoco is not None:
            shapes.mujoco.place(*shapes.poses)
            placed["mujoco"] = shapes.mujoco.distances_of_placed
            fresh["mujoco"] = partial(shapes.mujoco.distances, poses)
        tolerance = 1e-5 if name == "triangle-triangle" else 1e-9  # coal iterates on triangles, to 1e-6 by default
        for rivals, kind in ((placed, "placed"), (fresh, "fresh")):
            for peer in list(rivals)[1:]:
                agreement.check(f"{peer} {name}, {kind}", rivals[peer](), shapes.expected(), tolerance)
            if "mujoco" in rivals:
                shapes.mujoco.place(*shapes.poses)
        us = {key: 1e6 * t.least for key, t in in_turns(placed, count, repeats).items()}
        us_fresh = {key: 1e6 * t.least for key, t in in_turns(fresh, count, repeats).items()}
        for times, table in ((us, placed_table), (us_fresh, fresh_table)):
            others = [times[key] for key in ("coal", "coal.distance") if key in times] + [times.get("mujoco", np.nan)]
            table.add(
                name, times["ours"], aim if table is placed_table else "", *others, np.nanmin(others) / times["ours"]
            )
    return [placed_table, fresh_table]


def main() -> None:
    options = arguments(__doc__)
    count, repeats = (20_000, 5) if options.quick else (100_000, 60)
    agreement = Agreement()
    print(machine())
    tables = [
        nine_orders(count, repeats, agreement),
        crossing_cores(count // 10, repeats, agreement),
        bandwidth(count, 3 * repeats),
        numpy_forms(count, repeats, agreement),
        loops_of_peers(count // 10, max(repeats // 3, 3), agreement),
        *single_calls(10 * repeats, agreement),
    ]
    for table in tables:
        table.show(options.markdown)
    print(f"\nafterwards: {machine()}")
    agreement.exit()


if __name__ == "__main__":
    main()
