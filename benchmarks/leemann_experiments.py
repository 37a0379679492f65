"""Packings, a gas and colliding crowds of T. Leemann's thesis, done again: our figures beside the printed ones.

T. Leemann, Effiziente Kollisionserkennung für konvexe Körper in parallelen Simulationen, B.Sc. thesis,
FAU Erlangen-Nürnberg, 2017, sections 4.1.2 to 4.2.2. Tables go to the terminal; pictures, incidents and packings at
rest go to a folder, from which packings are taken the next time.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from time import perf_counter

import numpy as np
from leemann_figures import draw_depths, draw_gas, draw_growth
from measure import Agreement, Table, machine

import clearance as cl
from clearance.simulation import Particles, gases
from clearance.simulation.comparisons import CROWDS, LENGTH, BruteForceReport
from clearance.simulation.experiments import PackingReport, brute_force, packing
from clearance.simulation.gases import Floats
from clearance.simulation.incidents import save_incidents
from clearance.simulation.packings import report_of
from clearance.simulation.twins import by_pairs, contacts_of, empty_twin, freeze_into

DETECTIONS = ("hybrid", "iterative")
TIE = 1e-12 * np.sqrt(3.0) * 1.2  # [m] for two cubes: unless edges are better by this, closed forms take a face
MARKS = (0.0, 0.5, 1.0, 2.0, 4.0, gases.COLLISIONS)  # collisions of each sphere

# Printed: by closed forms and iteratively.
FRACTIONS = {
    "spheres": ("59.28 %", "59.08 %"),
    "ellipsoids": ("-", "59.25 %"),
    "spheres and cubes": ("62.23 %", "62.83 %"),
    "cubes": ("71.72 %", "78.96 %"),
}
DEPTHS = {
    "spheres": ("0.35", "0.36"),
    "ellipsoids": ("-", "0.37"),
    "spheres and cubes": ("0.39", "0.57"),
    "cubes": ("2.92", "9.50"),
}
PAIRS = {"hybrid": ("9 891", "34.6 %"), "iterative": ("10 397", "37.2 %")}
SPEEDS = {"mean": ("9.2093", "9.2214"), "variance": ("15.1049", "15.0545"), "median": ("8.8698", "8.8890")}
SPEEDS |= {"skewness": ("0.4975", "0.4836"), "mean square": ("99.92", "100.09")}
# Of the distribution itself, for a mean square of 100.
MAXWELL = {
    "mean": 10.0 * np.sqrt(8.0 / (3.0 * np.pi)),
    "variance": 100.0 * (1.0 - 8.0 / (3.0 * np.pi)),
    "median": 10.0 * 1.5381722544550522 / np.sqrt(3.0),
    "skewness": 2.0 * np.sqrt(2.0) * (16.0 - 5.0 * np.pi) / (3.0 * np.pi - 8.0) ** 1.5,
    "mean square": 100.0,
}
# Printed: computations, collisions, largest and mean deviations of angle, depth and position.
CROWDED = {
    "spheres": ("834 565", "109 929", "1.4e-10", "2.1e-14", "4.1e-13 %", "3.5e-12", "4.2e-15", "8.8e-14 %"),
    "spheres and cubes": ("601 704", "68 158", "0.42", "9.7e-06", "0.97 %", "6.9e-03", "3.1e-07", "0.093 %"),
    "cubes": ("403 287", "47 591", "4.0e-04", "2.8e-06", "5.16 %", "1.2e-05", "2.0e-07", "0.070 %"),
    "spheres and capsules": ("1 563 083", "146 817", "0.67", "3.5e-05", "0.05 %", "0.012", "9.7e-07", "4.6e-04 %"),
    "capsules": ("2 859 619", "215 498", "0.95", "4.1e-05", "1.01 %", "0.015", "1.2e-06", "1.9e-03 %"),
}
QUANTILES = {0.99: ("0.11", "8.2e-06", "0.30 %"), 0.999: ("0.25", "1.3e-05", "0.58 %")}
QUANTILES |= {0.9999: ("0.45", "2.1e-05", "0.96 %")}


def spaced(number: int) -> str:
    return f"{number:,}".replace(",", " ")


def power(value: float) -> str:
    return "0" if value == 0.0 else f"{value:.1e}"


def percent(share: float) -> str:
    return f"{100.0 * share:.2f} %"


# --- packings -----------------------------------------------------------------------------------------------------


def packed(kind: str, n: int, detection: str, folder: Path) -> PackingReport:
    """Drop bodies, or take them from the folder as they lie."""
    file = folder / f"{kind.replace(' ', '_')}_{n}_{detection}.npz"
    about = file.with_suffix(".json")
    if not about.exists():
        report = packing(kind, n, detection=detection, progress=True)
        report.particles.save(file)
        about.write_text(json.dumps({"is_at_rest": report.is_at_rest, "wall_seconds": report.wall_seconds}))
        return report
    return report_of(Particles.load(file), kind, **json.loads(about.read_text()))


def seen_twice(report: PackingReport) -> tuple[Floats, Floats, int]:
    """Depths of all pairs at rest by closed forms, for which round ellipsoids are spheres, and by GJK and EPA.

    Also tells how many pairs touch at other numbers of points: a face and two edges may be as deep, up to rounding.
    """
    particles = report.particles
    closed = empty_twin(
        particles,
        "hybrid",
        [cl.Sphere(shape.radii[0]) if isinstance(shape, cl.Ellipsoid) else shape for shape in particles.shapes],
    )
    freeze_into(closed, particles._records())
    pairs, points, depths = by_pairs(closed.contacts)
    other_pairs, other_points, other_depths = by_pairs(contacts_of(particles, "iterative"))
    assert np.array_equal(pairs, other_pairs)
    return depths, other_depths, int((points != other_points).sum())


def packing_tables(found: dict[tuple[str, str], PackingReport], agreement: Agreement) -> list[Table]:
    dense = Table(
        "Solid fraction (Table 5)",
        [
            "bodies",
            "hybrid",
            "iterative",
            "printed closed form",
            "printed iterative",
            "with walls",
            "rest after",
            "wall time",
        ],
    )
    deep = Table(
        "Mean depth at rest, in thousandths (Table 6), and both detections on the same end state (Fig. 22)",
        [
            *("bodies", "hybrid", "iterative", "printed closed form", "printed iterative"),
            *("pairs", "with other points", "largest difference"),
        ],
    )
    touching = Table(
        "Pairs (Table 7)",
        ["bodies", "detection", "pairs", "several points", "printed pairs", "printed several", "neighbours"],
    )
    for kind, printed in FRACTIONS.items():
        reports = [found[kind, how] for how in DETECTIONS if (kind, how) in found]
        shares = [percent(report.solid_fraction) for report in reports]
        closed, general, others = seen_twice(reports[0])
        off = float(np.abs(closed - general).max())
        agreement.check(f"depths of {kind}", general, closed, TIE)
        mean = [f"{1e3 * report.mean_depth:.4f}" for report in reports]
        if len(reports) == 1:
            shares, mean = ["-", *shares], ["-", *mean]
        elif len(reports[0].particles) >= 3000:
            agreement.check(f"{kind}", *(np.array(report.solid_fraction) for report in reports), 0.01)
        dense.add(
            kind,
            *shares,
            *printed,
            percent(reports[0].bulk_fraction),
            f"{reports[0].time:.1f} s" + ("" if reports[0].is_at_rest else " (not yet)"),
            f"{reports[0].wall_seconds:.0f} s",
        )
        deep.add(kind, *mean, *DEPTHS[kind], spaced(len(closed)), others, power(off))
        for report in reports:
            how = report.particles.detection
            other = PAIRS[how] if kind == "cubes" else ("-", "-")
            touching.add(
                kind, how, spaced(report.pairs), percent(report.several_share), *other, f"{report.neighbours:.2f}"
            )
    return [dense, deep, touching]


# --- gas ----------------------------------------------------------------------------------------------------------


def growing_gas(n: int, detection: str) -> tuple[dict[float, Floats], Particles, float]:
    """Speeds whenever spheres have collided so often."""
    particles, had, taken = gases.gas_at_start(n, detection=detection), 0.0, {}
    begin = perf_counter()
    for mark in MARKS:
        had += gases.collide(particles, mark - had) if mark > had else 0.0
        taken[mark] = np.linalg.norm(particles.velocities[:, :3], axis=1)
    return taken, particles, perf_counter() - begin


def moments(speeds: Floats) -> dict[str, float]:
    mean, spread = float(speeds.mean()), float(speeds.std())
    return {
        "mean": mean,
        "variance": spread**2,
        "median": float(np.median(speeds)),
        "skewness": float(np.mean((speeds - mean) ** 3)) / spread**3,
        "mean square": float(np.mean(speeds**2)),
    }


def sampled_errors(n: int, speed: float = 10.0, samples: int = 200) -> dict[str, float]:
    """Spread of these in samples of the distribution of Maxwell and Boltzmann, each of the given energy."""
    rng = np.random.default_rng(0)
    drawn = []
    for _ in range(samples):
        speeds = np.linalg.norm(rng.normal(size=(n, 3)), axis=1)
        drawn.append(moments(speeds * speed / np.sqrt(np.mean(speeds**2))))
    return {name: float(np.std([one[name] for one in drawn])) for name in drawn[0]}


def gas_table(found: dict[str, Floats], agreement: Agreement) -> Table:
    n = len(found["hybrid"])
    table = Table(
        f"Speeds of {spaced(n)} spheres (Table 8)",
        [
            "",
            "hybrid",
            "iterative",
            "Maxwell and Boltzmann",
            "standard error",
            "printed closed form",
            "printed iterative",
        ],
    )
    errors, ours = sampled_errors(n), {how: moments(speeds) for how, speeds in found.items()}
    for name, printed in SPEEDS.items():
        value, spread = MAXWELL[name], errors[name]
        table.add(name, *(f"{ours[how][name]:.4f}" for how in DETECTIONS), f"{value:.4f}", f"{spread:.4f}", *printed)
        for how in DETECTIONS:
            agreement.check(f"{name}, {how}", np.array(ours[how][name]), np.array(value), max(4.0 * spread, 1e-6))
    return table


# --- crowds -------------------------------------------------------------------------------------------------------


def crowd_tables(found: dict[str, BruteForceReport], steps: int) -> list[Table]:
    counted = Table(
        f"150 bodies, {spaced(steps)} steps (Table 1)",
        [
            "bodies",
            "computations",
            "collisions",
            "missed",
            "false",
            "incidents",
            "printed computations",
            "printed collisions",
        ],
    )
    worst, mean = (
        Table(title, ["bodies", "angle, degrees", "printed", "depth", "printed", "position", "printed"])
        for title in ("Largest deviations (Table 2)", "Mean deviations (Table 3)")
    )
    for kinds, report in found.items():
        printed = CROWDED.get(kinds, 8 * ("-",))
        counted.add(
            kinds,
            *map(spaced, (report.computations, report.collisions, report.missed, report.false, len(report.incidents))),
            *printed[:2],
        )
        columns = (report.angles, report.depths, 100.0 * report.positions / LENGTH)
        for table, value, beside in ((worst, np.max, printed[2:5]), (mean, np.mean, printed[5:])):
            ours = [power(float(value(column))) for column in columns]
            table.add(kinds, ours[0], beside[0], ours[1], beside[1], f"{ours[2]} %", beside[2])
    shares = Table(
        "Quantiles of the deviations (Table 4)",
        ["share", "angle, degrees", "printed", "depth", "printed", "position", "printed"],
    )
    pooled = [report for kinds, report in found.items() if kinds in CROWDED]
    for share, printed in QUANTILES.items():
        angle, depth, position = (
            float(np.quantile(np.concatenate([getattr(report, name) for report in pooled]), share))
            for name in ("angles", "depths", "positions")
        )
        place = f"{power(100.0 * position / LENGTH)} %"
        shares.add(f"{100 * share:g} %", power(angle), printed[0], power(depth), printed[1], place, printed[2])
    return [counted, worst, mean, shares]


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where pictures, incidents and packings go")
    parser.add_argument("--only", choices=["packings", "gas", "crowds"], help="one experiment instead of all")
    parser.add_argument("--steps", type=int, default=10_000, help="of each crowd")
    parser.add_argument("--quick", action="store_true", help="a minute, to see whether everything runs")
    parser.add_argument("--markdown", action="store_true", help="tables for docs/packings.md")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    bodies, spheres, steps = (100, 2000, 100) if options.quick else (3000, 64_000, options.steps)
    agreement, tables = Agreement(), []
    print(machine())
    if options.only in (None, "gas"):
        grown = {how: growing_gas(spheres, how) for how in DETECTIONS}
        tables.append(gas_table({how: taken[MARKS[-1]] for how, (taken, _, _) in grown.items()}, agreement))
        energy = 0.5 * grown["hybrid"][1].masses.sum() * 100.0
        kept = [
            f"{how} {abs(run.energy.kinetic / energy - 1.0):.1e}, {took:.0f} s" for how, (_, run, took) in grown.items()
        ]
        tables[-1].notes.append(f"Energy is off by, and the run took: {'; '.join(kept)}.")
        draw_growth(grown["hybrid"][0], options.folder / "gas_growth.png")
        draw_gas({how: taken[MARKS[-1]] for how, (taken, _, _) in grown.items()}, options.folder / "gas_speeds.png")
    if options.only in (None, "packings"):
        ways = [(kind, how) for kind in FRACTIONS for how in DETECTIONS if (kind, how) != ("ellipsoids", "hybrid")]
        reports = {(kind, how): packed(kind, bodies, how, options.folder) for kind, how in ways}
        tables += packing_tables(reports, agreement)
        draw_depths(
            {kind: seen_twice(reports[kind, "iterative"])[:2] for kind in FRACTIONS},
            options.folder / "packing_depths.png",
        )
    if options.only in (None, "crowds"):
        found = {}
        for kinds in CROWDS:
            found[kinds] = brute_force(kinds, steps=steps, progress=True)
            save_incidents(found[kinds].incidents, options.folder / f"incidents_{kinds.replace(' ', '_')}.json")
        tables += crowd_tables(found, steps)
    for table in tables:
        table.show(options.markdown)
    agreement.exit()


if __name__ == "__main__":
    main()
