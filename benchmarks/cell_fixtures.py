"""What stands around the car of the generated cell: the line, clamps, pillars, fences, cables, cabinets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from cell_forms import (
    ALONG_X,
    ALONG_Y,
    any_of,
    block,
    bolts,
    copies,
    cylinder,
    drawn,
    moved,
    on_both_sides,
    pipe,
    placed,
    rectangle,
    scaled,
    sheet,
    turn,
    turned,
    window,
)
from cell_sheets import Patch

FLAT = (12.0, 12.0)  # grain of what a modeller leaves in large triangles
STRAIGHT = (1.0, 25.0)  # of drawn profiles: long thin triangles
HALF_BEAM = [(0.08, -0.1), (0.08, -0.09), (0.005, -0.09), (0.005, 0.09), (0.08, 0.09), (0.08, 0.1)]
BEAM = [*HALF_BEAM, *((-x, -y) for x, y in HALF_BEAM), HALF_BEAM[0]]


def conveyor() -> list[Patch]:
    """Rails, rollers with their bearings, legs."""
    rail = drawn(BEAM, 14.0, grain=STRAIGHT).at(moved(-7.0, 0.62, 0.28) @ ALONG_X @ turn("z", np.pi / 2))
    roller = turned(
        [(-0.54, 0), (-0.54, 0.015), (-0.5, 0.015), (-0.5, 0.04), (0.5, 0.04), (0.5, 0.015), (0.54, 0.015), (0.54, 0)]
    )
    bearing = turned([(0.54, 0.015), (0.54, 0.045), (0.57, 0.045), (0.57, 0.015)])
    rollers = copies(placed((roller, bearing, bearing.at(scaled(z=-1))), ALONG_Y), np.arange(-6.9, 7.0, 0.2), z=0.33)
    legs = copies(block(0.1, 0.1, 0.18, grain=FLAT), np.arange(-6.5, 7.0, 1.3), 0.62, 0.09)
    return [*on_both_sides([rail, *legs]), *rollers]


def skid() -> list[Patch]:
    """Runners on the rollers, cross bars, and the towers that carry the sills."""
    runner = drawn(rectangle(0.06, 0.08), 4.8, grain=STRAIGHT).at(moved(-2.4, 0.45, 0.42) @ ALONG_X)
    tower = turned(
        [(0.46, 0.06), (0.50, 0.03), (0.66, 0.03), (0.68, 0.045), (0.70, 0.045), (0.70, 0.012), (0.725, 0.0)]
    )
    towers = copies([tower], (-0.85, -0.3, 0.3, 0.85), 0.62)
    bar = drawn(rectangle(0.05, 0.05), 1.5).at(ALONG_Y)
    bars = copies([bar], (-1.9, -0.85, -0.3, 0.3, 0.85, 1.9), -0.75, 0.485)
    return [*on_both_sides([runner, *towers]), *bars]


def clamp() -> list[Patch]:
    """A stand with a pneumatic cylinder and two jaws about the sill, which lies towards -y."""
    stand = [
        *placed(block(0.12, 0.12, 0.56, grain=FLAT), moved(z=0.30)),
        *placed(block(0.3, 0.3, 0.02, grain=FLAT), moved(z=0.01)),
    ]
    piston = turned([(0.30, 0), (0.30, 0.04), (0.50, 0.04), (0.50, 0.015), (0.64, 0.015), (0.64, 0)], 0.02)
    pivots = [cylinder(0.03, -0.08, 0.08).at(moved(0.0, y, 0.64) @ ALONG_X) for y in (-0.04, 0.10)]
    jaws = [
        pipe([(0, 0.1, 0.64), (0, 0, 0.68), (0, -0.1, 0.69), (0, -0.17, 0.68)], 0.02),
        *placed(block(0.05, 0.2, 0.03), moved(0, -0.12, 0.60)),
    ]
    return [*stand, piston.at(moved(y=0.10)), *pivots, *jaws, *placed(bolts(4, 0.12, 0.02, 0.01), turn("z", np.pi / 4))]


def clamps() -> list[Patch]:
    return on_both_sides(copies(clamp(), (-1.7, -0.65, 0.0, 0.65, 1.7), 1.12))


def pillars() -> list[Patch]:
    """Columns on foot plates, a frame of beams on top, diagonals between."""
    column = [
        drawn(BEAM, 3.9, grain=STRAIGHT),
        *placed(block(0.4, 0.4, 0.03, grain=FLAT), moved(z=0.015)),
        *bolts(4, 0.22, 0.03, 0.016),
    ]
    columns = copies(column, (-4.2, 0.0, 4.2), 4.1)
    lengthwise = drawn(BEAM, 9.0, grain=STRAIGHT).at(moved(-4.5, 2.0, 4.0) @ ALONG_X @ turn("z", np.pi / 2))
    along = [lengthwise, lengthwise.at(moved(y=2.1))]
    across = copies([drawn(BEAM, 8.4, grain=STRAIGHT).at(ALONG_Y)], np.linspace(-4.2, 4.2, 7), -4.2, 4.2)
    web = [pipe([(x, 2.0, 3.9), (x + 0.7, 4.1, 3.9)], 0.025, grain=(20.0, 1.0)) for x in np.arange(-4.2, 3.6, 0.7)]
    return [*on_both_sides([*columns, *along, *web]), *across]


def fence_panel(width: float) -> list[Patch]:
    """Wires along x and z in a frame with two posts."""
    upright = turned([(0.1, 0.002), (2.0, 0.002)], grain=(300.0, 0.25), least=(1, 3))
    level = turned([(0.05, 0.003), (width - 0.05, 0.003)], grain=(300.0, 0.25), least=(1, 3)).at(ALONG_X)
    levels = [level.at(moved(z=z)) for z in np.linspace(0.12, 1.98, 8)]
    posts = copies([drawn(rectangle(0.05, 0.05), 2.1, grain=STRAIGHT)], (0.0, width))
    return [*copies([upright], np.arange(0.08, width - 0.05, 0.07)), *levels, *posts]


def fences() -> list[Patch]:
    panel = fence_panel(1.5)
    across = placed(panel, turn("z", np.pi / 2))
    short_sides = [*copies(across, (-5.25, 5.25), 1.5), *copies(across, (-5.25, 5.25), 3.05)]
    return on_both_sides([*copies(panel, np.arange(-5.25, 5.0, 1.5), 4.6), *short_sides])


def cable(rng: np.random.Generator, start: Sequence[float], end: Sequence[float], sag: float) -> Patch:
    steps = np.linspace(0.0, 1.0, 80)
    nodes = np.asarray(start) + steps[:, None] * (np.asarray(end) - start)
    phases = rng.uniform(0, 2 * np.pi, (2, 3))
    for column, phase in zip((1, 2), phases, strict=True):
        nodes[:, column] += 0.008 * np.sum(np.sin(np.outer(steps, [17.0, 29.0, 41.0]) + phase), axis=1)
    nodes[:, 2] -= 4 * sag * steps * (1 - steps)
    return pipe(nodes, rng.uniform(0.008, 0.02))


def cable_trays(rng: np.random.Generator) -> list[Patch]:
    """Perforated trays high above the arms, the cables in them, and the ones that hang from tray to tray."""
    slots = any_of([window((0.08, 0.22), (x, x + 0.12), 0.02) for x in np.arange(0.1, 8.5, 0.25)])
    tray = drawn([(-0.15, 0.08), (-0.15, 0), (0.15, 0), (0.15, 0.08)], 8.6, grain=(1.0, 1.5))
    tray = replace(tray, hole=lambda p, q: slots(p - 0.08, q)).at(
        moved(-4.3, 0, 3.6) @ turn("x", np.pi / 2) @ turn("y", np.pi / 2)
    )
    trays = [tray.at(moved(y=y)) for y in (-3.3, 3.3)]
    lying = [
        cable(rng, (-4.3, y + dy, 3.65), (4.3, y + dy, 3.65), 0.0)
        for y in (-3.3, 3.3)
        for dy in (-0.1, -0.05, 0.0, 0.05, 0.1)
    ]
    hanging = [cable(rng, (x, -3.3, 3.7), (x + 0.3, 3.3, 3.7), rng.uniform(0.1, 0.35)) for x in (-3.5, -1.9, 1.6, 3.2)]
    return [*trays, *lying, *hanging]


def cabinets() -> list[Patch]:
    """Weld controllers with cooling fins outside the fence, tread plates along it, drip pans below the line."""
    fins = copies(block(0.006, 0.06, 1.2, grain=(4.0, 4.0)), np.linspace(-0.3, 0.3, 25), -0.33)
    lamp = turned([(0.9, 0.04), (1.0, 0.04), (1.02, 0.0)]).at(moved(x=0.3))
    controllers = copies([*block(0.8, 0.6, 1.8, grain=FLAT), *fins, lamp], (-4.0, -2.8, 2.8, 4.0), 5.2, 0.95)
    treads = copies([sheet(1.0, 0.7, grain=FLAT)], np.arange(-5.0, 5.0, 1.02), 3.75, 0.02)
    pan = sheet(1.2, 1.1, lambda p, q: 0.03 * (p - 0.6) ** 2)
    return [*on_both_sides([*controllers, *treads]), *copies([pan], np.arange(-6.5, 6.0, 1.3), -0.55, 0.05)]


def tool_stands() -> list[Patch]:
    """Stud feeders and tip dressers between the arms and beside them."""
    foot = [(0, 0), (0, 0.15), (0.02, 0.15), (0.03, 0.04)]
    head = [(0.7, 0.04), (0.72, 0.09), (0.8, 0.09), (0.84, 0.02), (0.84, 0)]
    dresser = turned([*foot, *head], 0.01)
    feeder = [
        turned([(0.5, 0.0), (0.55, 0.16), (0.75, 0.19), (0.76, 0.2), (0.76, 0.0)], 0.02),
        *placed(block(0.3, 0.3, 0.5, grain=FLAT), moved(z=0.25)),
    ]
    parts = [dresser.at(moved(0.0, 2.15)), *placed(feeder, moved(0.0, 3.2))]
    return on_both_sides(copies(parts, (-2.6, 0.0, 2.6)))


def fixture_patches(seed: int) -> list[Patch]:
    rng = np.random.default_rng([seed, 2])
    groups = (conveyor(), skid(), clamps(), pillars(), fences(), cable_trays(rng), cabinets(), tool_stands())
    return [patch for group in groups for patch in group]
