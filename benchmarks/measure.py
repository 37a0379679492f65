"""Times of rivals, taken in turns so that a busy moment of the machine hits all of them, and tables of them."""

from __future__ import annotations

import gc
import os
import platform
import statistics
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

import numpy as np


@dataclass(frozen=True)
class Times:
    """What one of the rivals took, in seconds per item."""

    least: float
    median: float


def in_turns(rivals: Mapping[str, Callable[[], object]], items: int, repeats: int) -> dict[str, Times]:
    """Run each rival once to warm up, then all of them in turns; `items` is how much work one run is."""
    for run in rivals.values():
        run()
    taken: dict[str, list[float]] = {name: [] for name in rivals}
    gc.collect()
    gc.disable()
    try:
        for _ in range(repeats):
            for name, run in rivals.items():
                start = perf_counter()
                run()
                taken[name].append((perf_counter() - start) / items)
    finally:
        gc.enable()
    return {name: Times(min(times), statistics.median(times)) for name, times in taken.items()}


@dataclass
class Table:
    """Rows of text and numbers, for the terminal or for a page of the documentation."""

    title: str
    columns: list[str]
    rows: list[list[str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, *cells: object) -> None:
        self.rows.append([cell if isinstance(cell, str) else digits(cell) for cell in cells])

    def show(self, markdown: bool) -> None:
        widths = [max(len(row[k]) for row in [self.columns, *self.rows]) for k in range(len(self.columns))]
        left, between, right = ("| ", " | ", " |") if markdown else ("  ", "   ", "")

        def line(cells: Iterable[str]) -> str:
            first, *others = (
                f"{cell:>{width}}" if k else f"{cell:<{width}}"
                for k, (cell, width) in enumerate(zip(cells, widths, strict=True))
            )
            return left + between.join([first, *others]) + right

        print(f"\n{'### ' if markdown else ''}{self.title}\n")
        print(line(self.columns))
        rule = [("-" * (width - 1) + ":" if k else "-" * width) for k, width in enumerate(widths)]
        print(line(rule if markdown else ["-" * width for width in widths]))
        for row in self.rows:
            print(line(row))
        for note in self.notes:
            print(f"\n{note}")


def digits(value: object) -> str:
    """Three digits, and no more zeros than needed."""
    if isinstance(value, float):
        if value != value:
            return "-"
        return f"{value:.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
    return str(value)


class Agreement:
    """Collects what rivals disagree about; a fast wrong answer is no result."""

    def __init__(self) -> None:
        self.failures: list[str] = []

    def check(self, what: str, found: np.ndarray, expected: np.ndarray, tolerance: float = 0.0) -> None:
        off = np.abs(np.asarray(found) - np.asarray(expected)).max(initial=0.0)
        if not off <= tolerance:
            self.failures.append(f"{what}: off by {off:.3g}, allowed is {tolerance:.3g}")

    def exit(self) -> None:
        for failure in self.failures:
            print("DISAGREE", failure, file=sys.stderr)
        sys.exit(1 if self.failures else 0)


def arguments(description: str | None, *flags: tuple[str, str]) -> Namespace:
    parser = ArgumentParser(description=description)
    for flag, meaning in flags:
        parser.add_argument(flag, action="store_true", help=meaning)
    parser.add_argument("--quick", action="store_true", help="a few seconds, to see whether everything runs")
    parser.add_argument("--markdown", action="store_true", help="tables for docs/performance.md")
    return parser.parse_args()


def machine() -> str:
    """Say what the times were taken on, and how busy it was."""
    model = "unknown processor"
    if Path("/proc/cpuinfo").exists():
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    versions = f"Python {platform.python_version()}, NumPy {np.__version__}"
    return f"{model}, {os.cpu_count()} cores, {versions}; load {os.getloadavg()[0]:.1f}"
