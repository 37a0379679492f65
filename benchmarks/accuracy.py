"""Write docs/accuracy.md, and the table in the README, from what `elements_against_oracle` prints.

Run it: elements_against_oracle 100000 | python benchmarks/accuracy.py
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ACCURACY = ROOT / "docs" / "accuracy.md"
NAMES = {"1": "point", "2": "segment", "3": "triangle"}
BEYOND = "beyond 8 epsilon of the distance from the origin"
NEAR = "where coordinates are no larger than ten sizes"

PAGE = """# Accuracy

Written by `make accuracy`; do not edit.

## Swept elements

Every pair of swept elements is compared with an oracle in quadruple precision (34 digits) that tries all pairs of
faces and all separating directions. {cases} seeded cases per pair, in both orders and with every instruction set, most
of them nearly degenerate. Errors are divided by the size of the pair: the sum of the radii of its bounding spheres.

| pair | largest error / size | beyond 8 eps of the coordinates | widest bracket / size | witness off surface / size |
|---|---|---|---|---|
{rows}

The second column counts cases whose coordinates are no larger than ten sizes. The third counts all cases, also far
from the origin, after taking off what rounding of the coordinates themselves excuses: 8 machine epsilons of the
distance of the farthest vertex from the origin. In every case `lower <= oracle <= upper`, the normal is a unit vector
along which the distance is proved, and all instruction sets agree bit by bit; a case where any of this fails makes the
run fail. {passed} comparisons passed, {failed} failed.

Largest error / size by family of cases, coordinates no larger than ten sizes:

{families}

{convex}
"""


def convex_block(page: str) -> str:
    """Return the part of the page that `accuracy_convex.py` writes, as it is."""
    found = re.search(r"<!-- convex:begin -->.*<!-- convex:end -->", page, re.S)
    return found.group() if found else "<!-- convex:begin -->\n<!-- convex:end -->"


def table(text: str, title: str) -> dict[str, dict[str, float]]:
    """Read one table as family -> pair -> number; several runs are merged by their largest number."""
    merged: dict[str, dict[str, float]] = {}
    for block in re.findall(rf"^largest error[^\n]*{re.escape(title)}\n(.*?)(?:\n\n|\Z)", text, re.S | re.M):
        header, *lines = block.splitlines()
        for line in lines:
            family, *numbers = line.split()
            row = merged.setdefault(family, {})
            for pair, number in zip(header.split(), numbers, strict=True):
                row[pair] = max(row.get(pair, 0.0), float(number))
    return merged


def totals(text: str, label: str) -> dict[str, float]:
    """Read a line of one number per pair, such as the widest bracket."""
    found: dict[str, float] = {}
    for run in text.split("passed,")[:-1]:
        pairs = re.findall(r"^ +((?:\d\d +)+)$", run + "\n", re.M)[-1].split()
        numbers = re.findall(rf"^{label} +(.*)$", run, re.M)[-1].split()
        for pair, number in zip(pairs, numbers, strict=True):
            found[pair] = max(found.get(pair, 0.0), float(number))
    return found


def main() -> None:
    """Write the page and the block of the README."""
    text = sys.stdin.read()
    near, beyond = table(text, NEAR), table(text, BEYOND)
    bracket, witness = totals(text, "bracket"), totals(text, "witness")
    counts = [tuple(map(int, match)) for match in re.findall(r"^(\d+) passed, (\d+) failed", text, re.M)]
    passed, failed = (sum(column) for column in zip(*counts, strict=True))
    pairs = sorted(bracket)
    worst = {pair: max(row[pair] for row in near.values()) for pair in pairs}
    worst_beyond = {pair: max(row[pair] for row in beyond.values()) for pair in pairs}
    name = {pair: ", ".join(NAMES[digit] for digit in pair) for pair in pairs}
    rows = [
        f"| {name[p]} | {worst[p]:.1e} | {worst_beyond[p]:.1e} | {bracket[p]:.1e} | {witness[p]:.1e} |" for p in pairs
    ]
    families = ["| family | " + " | ".join(name[p] for p in pairs) + " |", "|---" * (len(pairs) + 1) + "|"]
    families += [f"| {family} | " + " | ".join(f"{row[p]:.1e}" for p in pairs) + " |" for family, row in near.items()]
    page = PAGE.format(
        cases=f"{(passed + failed) // (2 * len(pairs)):,}".replace(",", " "),
        rows="\n".join(rows),
        passed=f"{passed:,}".replace(",", " "),
        failed=failed,
        families="\n".join(families),
        convex=convex_block(ACCURACY.read_text()),
    )
    ACCURACY.write_text(page)

    short = ["| pair | largest error / size | widest bracket / size |", "|---|---|---|"]
    short += [f"| {name[p]} | {worst[p]:.1e} | {bracket[p]:.1e} |" for p in pairs]
    readme = ROOT / "README.md"
    block = "<!-- accuracy:begin -->\n\n" + "\n".join(short) + "\n\n<!-- accuracy:end -->"
    readme.write_text(re.sub(r"<!-- accuracy:begin -->.*?<!-- accuracy:end -->", block, readme.read_text(), flags=re.S))


if __name__ == "__main__":
    main()
