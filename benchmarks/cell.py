"""A generated robot cell after the Volvo scene of J. Thorén's thesis: four arms about a car body, and its scenarios.

J. Thorén, Accelerating Proximity Queries for Non-convex Geometries in a Robot Cell Context, M.Sc. thesis, Chalmers
University of Technology, 2018, sections 5.2, 5.12 and 5.13. Everything is made of bent sheets (`cell_sheets.Patch`),
tessellated as finely as the wanted number of triangles asks for: 0.3 million for the arms, 0.9 for the car, 1.3 for the
fixtures. Metres and radians; x runs along the line, z up. NumPy only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from cell_arm import (
    ARM_TRIANGLES,
    ARMS,
    BASES,
    JOINT_LIMITS,
    TOOL_TIP,
    arm_links,
    arm_poses,
    link_names,
)
from cell_car import car_patches
from cell_fixtures import fixture_patches
from cell_forms import block, moved, placed, turn
from cell_planning import grown_tree
from cell_sheets import Floats, Soup, merged, tessellated
from cell_welding import welding

__all__ = [
    "ARMS",
    "ARM_TRIANGLES",
    "BASES",
    "JOINT_LIMITS",
    "TOOL_TIP",
    "Cell",
    "Floats",
    "Scenario",
    "Soup",
    "arm_against_arm",
    "arm_poses",
    "block",
    "cell",
    "merged",
    "motion_planning",
    "moved",
    "no_coherence",
    "placed",
    "play_forward",
    "statics",
    "tessellated",
    "turn",
]

CAR_SHARE = 9 / 22  # of the static triangles; the fixtures have the rest


@dataclass(frozen=True, eq=False)
class Cell:
    """Link meshes of four arms in the frames of their links, the poses of their bases, and what stands still."""

    arms: list[list[Soup]]
    bases: Floats
    car: Soup
    fixtures: Soup

    @cached_property
    def statics(self) -> Soup:
        """Car and fixtures as one soup, as in the thesis."""
        return merged([self.car, self.fixtures])

    @property
    def links(self) -> dict[str, Soup]:
        """The mesh of every link by its name."""
        return {name: soup for k, arm in enumerate(self.arms) for name, soup in zip(link_names(k), arm, strict=True)}


def car_and_fixtures(triangles: int, seed: int) -> tuple[Soup, Soup]:
    of_car = round(CAR_SHARE * triangles)
    return tessellated(car_patches(seed), of_car), tessellated(fixture_patches(seed), triangles - of_car)


def statics(count: int = 2_200_000, seed: int = 1) -> Soup:
    """Make what stands still, from 44 thousand to 40 million triangles (section 5.13).

    Parameters
    ----------
    count : int
        Wanted triangles; met within some per cent.
    seed : int
        Of cables and studs.

    Returns
    -------
    tuple of ndarray
        Vertices `(n, 3)` and faces `(m, 3)`.
    """
    return merged(car_and_fixtures(count, seed))


def cell(triangles: int = 2_500_000, seed: int = 1) -> Cell:
    """Make the whole cell; 0.3 million triangles are the arms, the rest stands still.

    Parameters
    ----------
    triangles : int
        Wanted triangles, at least 344 thousand; met within some per cent.
    seed : int
        Of cables and studs.

    Returns
    -------
    Cell
    """
    if triangles < ARM_TRIANGLES + 44_000:
        raise ValueError(f"triangles is {triangles}, but arms and coarsest statics need {ARM_TRIANGLES + 44_000}.")
    car, fixtures = car_and_fixtures(triangles - ARM_TRIANGLES, seed)
    return Cell([arm_links()] * len(ARMS), BASES, car, fixtures)


# Scenarios -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Scenario:
    """Bodies of two groups, and the poses `(n, 4, 4)` of those that move."""

    name: str
    group_a: list[str]
    group_b: list[str]
    poses: dict[str, Floats]

    def __len__(self) -> int:
        return len(next(iter(self.poses.values())))


def scenario(name: str, cell: Cell, joints: dict[int, Floats], group_b: Sequence[str] = ("statics",)) -> Scenario:
    poses: dict[str, Floats] = {}
    for arm, q in joints.items():
        poses |= zip(link_names(arm), np.moveaxis(arm_poses(arm, q, cell.bases), -3, 0).copy(), strict=True)
    return Scenario(name, [link for link in poses if link not in group_b], list(group_b), poses)


def play_forward(cell: Cell, steps: int = 1000) -> Scenario:
    """Let all arms weld their studs at once: the coherent scenario of section 5.2.1.

    Parameters
    ----------
    cell : Cell
    steps : int
        How finely the same motion is cut.

    Returns
    -------
    Scenario
        28 links against "statics", never in contact: gaps from 1 mm to a third of a metre.
    """
    return scenario("play-forward", cell, {arm: welding(arm, steps) for arm in range(len(ARMS))})


def no_coherence(cell: Cell, steps: int = 1000, seed: int = 1) -> Scenario:
    """Shuffle the steps of `play_forward`."""
    order = np.random.default_rng([seed, 3]).permutation(steps)
    return scenario("no-coherence", cell, {arm: welding(arm, steps)[order] for arm in range(len(ARMS))})


def arm_against_arm(cell: Cell, steps: int = 1000) -> Scenario:
    """Watch two neighbours of `play_forward`, irb72 and irb73, that move near each other (section 5.12)."""
    joints = {arm: welding(arm, steps) for arm in (1, 2)}
    return scenario("arm-against-arm", cell, joints, link_names(2))


def motion_planning(cell: Cell, steps: int = 1000, seed: int = 1) -> Scenario:
    """Let one arm try what a sampling planner tries: short strides, and jumps from branch to branch (section 5.2.1).

    Parameters
    ----------
    cell : Cell
    steps : int
        Configurations tried.
    seed : int

    Returns
    -------
    Scenario
        Seven links of irb72 against "statics"; some 10 to 25 % of the configurations collide.
    """
    joints = grown_tree(1, cell.bases, steps, np.random.default_rng([seed, 4]))
    return scenario("motion-planning", cell, {1: joints})
