"""Measure the accuracy of convex pairs where the truth is known: supporting planes laid a drawn gap apart.

Prints one row of a Markdown table per pair of kinds, in both orders; fails if a promise is broken.

Run it: python benchmarks/accuracy_convex.py --count 100000 [--write]
"""

import argparse
import re
import sys
from dataclasses import dataclass, fields
from itertools import combinations_with_replacement
from pathlib import Path

import numpy as np

import clearance as cl
from clearance.errors import NotConverged

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from solids import KINDS, draw_shape, is_curved  # noqa: E402
from tangents import Tangent, tangents  # noqa: E402

BATCH = 500  # placements of the same two shapes
HEADER = (
    "| pair | cases | error / size, apart | error / size, overlapping | bracket / size | normal, degrees "
    "| witness / size | brackets that missed | not converged |\n|---|---|---|---|---|---|---|---|---|"
)


TEXT = """
## Convex bodies

Two supporting planes are laid a drawn gap apart, from 1e-12 of a metre to 1 and of either sign, most of them near
contact, and the bodies are put against them: the truth is known without computing a distance. Bodies are about a metre
large; a quarter of the placements is up to a million metres from the origin, a quarter pairs bodies of unlike size.
Overlaps count where the depth is proved to be the least. Errors are divided by the size of the pair, after taking off 8
machine epsilons of the largest coordinate. Normals and witness points count where they are unique.

{table}

Promised are 1e-9 for the distance and 1e-7 where curved bodies overlap, normals within 1e-4 degrees (polytopes) and
0.01 degrees (curved bodies), and witnesses within 0.1 % of the size. A bracket that leaves out the truth, or that is
wider than promised, makes the run fail.

"""


@dataclass
class Row:
    """What the placements of one pair of kinds showed; lengths relative to the size of the pair."""

    cases: int = 0
    apart: float = 0.0
    overlapping: float = 0.0
    bracket_apart: float = 0.0
    bracket_overlapping: float = 0.0
    normal: float = 0.0
    witness: float = 0.0
    missed: int = 0
    not_converged: int = 0

    def merge(self, other: "Row") -> None:
        """Add counts, keep the largest errors."""
        for field in fields(self):
            x, y = getattr(self, field.name), getattr(other, field.name)
            setattr(self, field.name, x + y if field.type in (int, "int") else max(x, y))

    def breaks(self, curved: bool) -> list[str]:
        """Return the names of the promises that these numbers break."""
        deep = 1e-7 if curved else 1e-9
        most = {
            "apart": 1e-9,
            "overlapping": deep,
            "bracket_apart": 1e-9,
            "bracket_overlapping": deep,
            "normal": 0.01 if curved else 1e-4,
            "witness": 1e-3,
            "missed": 0,
            "not_converged": 0,
        }
        return [name for name, bound in most.items() if getattr(self, name) > bound]

    def markdown(self, name: str) -> str:
        """Return a row of the table."""
        bracket = max(self.bracket_apart, self.bracket_overlapping)
        numbers = " | ".join(f"{x:.1e}" for x in (self.apart, self.overlapping, bracket, self.normal, self.witness))
        return f"| {name} | {self.cases} | {numbers} | {self.missed} | {self.not_converged} |"


def largest(values: np.ndarray, where: np.ndarray) -> float:
    """Return the largest of some values, 0 if there are none."""
    return float(np.max(values, where=where, initial=0.0))


def gaps_of(t: Tangent) -> tuple[cl.Gaps, np.ndarray]:
    """Return the gaps of all placements that converged, and which those are."""
    converged = np.ones(len(t.gap), dtype=bool)
    try:
        return cl.distance(*t.placed), converged
    except NotConverged:
        for k in range(len(t.gap)):
            try:
                cl.distance(t.a.at(t.pose_a[k]), t.b.at(t.pose_b[k]))
            except NotConverged:
                converged[k] = False
    return cl.distance(t.a.at(t.pose_a[converged]), t.b.at(t.pose_b[converged])), converged


def measured(t: Tangent) -> Row:
    """Return what one batch of placements shows."""
    gaps, converged = gaps_of(t)
    gap, normal, point_a, point_b, exact, normal_known, points_known, rounding = (
        getattr(t, name)[converged]
        for name in ("gap", "normal", "point_a", "point_b", "exact", "normal_known", "points_known", "rounding")
    )
    apart = gap > rounding  # closer than that, rounding may turn a touch into an overlap
    error = np.abs(gaps.distance - gap) - rounding
    width = gaps.upper - gaps.lower - 4 * rounding
    missed = (gaps.upper < gap - rounding) | (exact & (gaps.lower > gap + rounding))
    angle = np.degrees(2 * np.arcsin(np.minimum(np.linalg.norm(gaps.normal - normal, axis=1) / 2, 1.0)))
    off = np.maximum(np.linalg.norm(gaps.point_a - point_a, axis=1), np.linalg.norm(gaps.point_b - point_b, axis=1))
    return Row(
        cases=len(t.gap),
        apart=largest(error, apart) / t.size,
        overlapping=largest(error, exact & ~apart) / t.size,
        bracket_apart=largest(width, apart) / t.size,
        bracket_overlapping=largest(width, ~apart) / t.size,
        normal=largest(angle, normal_known),
        witness=largest(off - rounding, points_known) / t.size,
        missed=int(np.sum(missed)),
        not_converged=int(np.sum(~converged)),
    )


def measure(kinds: tuple[str, str], count: int) -> Row:
    """Measure a pair of kinds in both orders, near and far from the origin, alike and unlike in size."""
    rng = np.random.default_rng([KINDS.index(kind) for kind in kinds])
    row = Row()
    for k in range(-(-count // BATCH)):
        ratio = 10.0 ** rng.uniform(-2, 0) if k % 4 == 2 else 1.0
        far = 10.0 ** rng.uniform(0, 6) if k % 4 == 3 else 0.0
        t = tangents(rng, draw_shape(rng, kinds[0]), draw_shape(rng, kinds[1], ratio), BATCH, far)
        row.merge(measured(t.swapped() if k % 2 else t))
    return row


def write(table: str) -> None:
    """Put the table where the page has room for it."""
    page = ROOT / "docs" / "accuracy.md"
    block = f"<!-- convex:begin -->\n{TEXT.format(table=table)}<!-- convex:end -->"
    room = r"<!-- convex:begin -->.*<!-- convex:end -->"
    page.write_text(re.sub(room, lambda _: block, page.read_text(), flags=re.S))


def main() -> int:
    """Print the table; return 1 if a promise is broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000, help="placements per pair of kinds")
    parser.add_argument("--write", action="store_true", help="put the table into docs/accuracy.md")
    options = parser.parse_args()
    broken, lines = [], [HEADER]
    print(HEADER)
    for kinds in combinations_with_replacement(KINDS, 2):
        if kinds == ("HalfSpace", "HalfSpace"):
            continue
        row, name = measure(kinds, options.count), ", ".join(kinds)
        lines.append(row.markdown(name))
        print(lines[-1], flush=True)
        shapes = [draw_shape(np.random.default_rng(0), kind) for kind in kinds]
        broken += [f"{name}: {promise}" for promise in row.breaks(any(map(is_curved, shapes)))]
    if options.write:
        write("\n".join(lines))
    print("\n".join(broken), file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
