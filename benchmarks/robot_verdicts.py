"""Is a robot clear? Everybody judges the same configurations, and whoever judges otherwise has to have a reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from measure import Times
from robot_contests import BATCH, SINGLE, Bools, Rivals, Run, lead, percent, shown
from robot_models import Floats

import clearance as cl


@dataclass(eq=False)
class Case:
    """Configurations of our robot in one world; a peer that judges otherwise may measure the distance itself."""

    ours: cl.Robot | None
    world: Any
    q: Floats
    measure: Callable[[Floats], Floats] | None = None

    def batch(self) -> Bools:
        return cl.is_clear(self.ours, self.world, self.q, threads=1)

    def single(self) -> list[bool]:
        ours, world, is_clear = self.ours, self.world, cl.is_clear
        return [is_clear(ours, world, row) for row in self.q]

    def differing(self, clear: Bools, theirs: Bools, close: float) -> tuple[int, list[Floats]]:
        """Count the configurations that a peer judges otherwise, and name those that speak against us."""
        differ = self.q[clear != theirs]
        return len(differ), [row for row in differ if not self.explained(row, close)]

    def explained(self, row: Floats, close: float) -> bool:
        """Either bodies are about to touch, or the peer's own distance has the sign of ours, so it refutes itself.

        Meshes that overlap have no depth, so nought alone does not tell that they hardly touch.
        """
        ours = self.ours.nearest(row, self.world).distance
        if self.measure is None:
            return abs(ours) <= close
        theirs = self.measure(row[None])[0]
        return max(ours, theirs) <= close or (ours > 0.0) == (theirs > 0.0)


@dataclass
class Verdicts:
    """Times of everybody, what is clear of everything in each case, and how often a peer says otherwise."""

    times: dict[str, Times]
    clear: list[Bools]
    differing: int

    def cells(self, *peers: str) -> list[object]:
        times = self.times
        return [*shown(times, BATCH, SINGLE, *peers), lead(times, BATCH), lead(times, SINGLE), percent(self.clear)]


Peers = dict[str, list[Callable[[], list[bool]]]]  # one call for each case; they tell what is clear


def yes_or_no(run: Run, what: str, cases: list[Case], peers: Peers, close: float) -> Verdicts | None:
    """Let everybody judge all configurations of all cases."""
    ours, count = cases[0].ours is not None, sum(len(case.q) for case in cases)
    rivals: Rivals = {}
    if ours:
        rivals[BATCH] = partial(every, [case.batch for case in cases]), count
        rivals[SINGLE] = partial(every, [case.single for case in cases]), count
    rivals |= {name: (partial(every, calls), count) for name, calls in peers.items()}
    if not rivals:
        return None
    said = {name: [np.array(one, dtype=bool) for one in ask()] for name, (ask, _) in rivals.items()}
    clear, differing = next(iter(said.values())), 0
    for name in list(said)[1:] if ours else ():
        for k, (case, theirs) in enumerate(zip(cases, said[name], strict=True)):
            differ, odd = case.differing(clear[k], theirs, close)
            run.answers.expect(f"{what}, case {k}, {name}", not odd, f"{len(odd)} verdicts differ, as of {odd[:1]}")
            differing += differ
    return Verdicts(run.times(rivals), clear, differing)


def every(calls: list[Callable[[], Any]]) -> list[Any]:
    return [call() for call in calls]


def clear_of(collisions: Callable[[list[Any]], list[bool]], rows: list[Any]) -> list[bool]:
    return [not hit for hit in collisions(rows)]
