"""The car body of the generated cell, in its own frame: x forward, z up from the ground it would stand on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from cell_forms import (
    ALONG_X,
    ALONG_Y,
    any_of,
    circle,
    cylinder,
    drawn,
    moved,
    on_both_sides,
    pipe,
    placed,
    rectangle,
    sheet,
    turn,
    turned,
    window,
)
from cell_sheets import Field, Floats, Patch

CAR_HEIGHT = 0.55  # it rides this high on the skid
TOP_X = (-2.2, -1.95, -1.75, -1.2, -0.6, 0.1, 0.45, 1.05, 1.3, 2.0, 2.2)
TOP_Z = (0.86, 0.98, 1.03, 1.33, 1.40, 1.41, 1.36, 0.98, 0.93, 0.82, 0.70)
BOTTOM_X = (-2.2, -1.9, -1.6, 1.6, 1.9, 2.2)
BOTTOM_Z = (0.40, 0.30, 0.20, 0.20, 0.28, 0.38)
WHEELS = ((1.33, 0.30), (-1.33, 0.30))


def top(x: Floats) -> Floats:
    height: Floats = np.mean([np.interp(x + shift, TOP_X, TOP_Z) for shift in (-0.08, -0.03, 0.03, 0.08)], axis=0)
    return height


def bottom(x: Floats) -> Floats:
    return np.interp(x, BOTTOM_X, BOTTOM_Z)


def half_width(x: Floats, z: Floats) -> Floats:
    """Bulged below, leaning in above the belt, rounded at both ends, with one pressed line along the doors."""
    ends = np.maximum(np.abs(x) - 1.4, 0.0)
    pressed = 0.008 * np.exp(-(((z - 0.72) / 0.025) ** 2))
    leaning = np.maximum(z - 0.9, 0.0) ** 1.5
    width: Floats = 0.88 - 0.25 * (z - 0.6) ** 2 - 0.40 * leaning - 0.22 * ends**2 + pressed
    return width


def below_the_top(opening: Field, margin: float) -> Field:
    return lambda x, z: np.maximum(opening(x, z), 0.8 * (z - top(x) + margin))


def side_openings(margin: float) -> list[Field]:
    """Two doors about the B-pillar, a quarter window, the wheel arches."""
    doors = [window((0.02, 1.02), (0.32, 1.32), 0.08), window((-0.90, -0.12), (0.32, 1.32), 0.08)]
    quarter = window((-1.48, -1.02), (0.97, 1.27), 0.05)
    return [
        *(below_the_top(opening, margin) for opening in (*doors, quarter)),
        *(circle(x, z, 0.36) for x, z in WHEELS),
    ]


def side_sheet(inset: float, openings: Sequence[Field]) -> Patch:
    def surface(x: Floats, z: Floats) -> Floats:
        return np.stack([x, half_width(x, z) - inset, z], axis=-1)

    def surface_from_rear(p: Floats, z: Floats) -> Floats:
        return surface(p - 2.2, z)

    hole = any_of(openings)
    borders = (lambda p: bottom(p - 2.2), lambda p: top(p - 2.2) - inset / 2)
    return Patch(surface_from_rear, 4.4, 0.9, borders=borders, hole=lambda p, z: hole(p - 2.2, z))


def sides() -> list[Patch]:
    """Outer skin, inner panel with lightening holes, wheelhouses, sills."""
    drilled = [circle(x, z, 0.025) for x in (-0.06, -0.97) for z in np.arange(0.45, 1.2, 0.1)]
    drilled += [circle(x, 0.26, 0.02) for x in np.arange(-0.8, 0.95, 0.12)]
    drilled += [circle(x, 0.75, 0.05) for x in (1.2, 1.4, 1.6, 1.8, -1.2, -1.4, -1.6, -1.8)]
    inner = side_sheet(0.07, [*side_openings(0.10), *drilled])
    houses = [drawn(arch(0.37, 24), 0.30).at(moved(x, 0.52, z) @ ALONG_Y @ turn("z", np.pi)) for x, z in WHEELS]
    sill = drawn([(0, 0), (0.06, -0.03), (0.13, 0), (0.13, 0.10), (0.08, 0.12), (0.05, 0.12), (0, 0.10), (0, 0)], 1.85)
    along = np.array([[0, 0, 1, -0.93], [1, 0, 0, 0.73], [0, 1, 0, 0.18], [0, 0, 0, 1]], dtype=float)
    return on_both_sides([side_sheet(0.0, side_openings(0.07)), inner, *houses, sill.at(along)])


def arch(radius: float, steps: int) -> list[tuple[float, float]]:
    angles = np.linspace(0.0, np.pi, steps + 1)
    return list(zip(radius * np.cos(angles), radius * np.sin(angles), strict=True))


def beads(height: float, pitch: float, length: float, width: float) -> Field:
    """Pressed grooves along the first coordinate that end before the rim."""

    def depth(p: Floats, q: Floats) -> Floats:
        from_rim = np.minimum.reduce([p / length, 1 - p / length, q / width, 1 - q / width])
        grooves: Floats = height * np.clip(12 * from_rim, 0, 1) * np.clip(2 * np.sin(2 * np.pi * q / pitch), -1, 1)
        return grooves

    return depth


def roof() -> list[Patch]:
    """The crowned roof with beads, and four bows below it."""
    pressed = beads(0.004, 0.16, 1.6, 1.0)

    def surface(p: Floats, q: Floats) -> Floats:
        x, across = p - 1.17, 2 * q - 1
        rim = top(x)
        z = rim + 0.035 * (1 - across**2) + pressed(p, q)
        return np.stack([x, across * half_width(x, rim), z], axis=-1)

    def bow(x: float) -> Patch:
        across = np.linspace(-1.0, 1.0, 33)
        z = float(top(np.array(x)))
        y = float(half_width(np.array(x), np.array(z))) - 0.02
        path = np.stack([np.full(33, x), y * across, z - 0.03 + 0.03 * (1 - across**2)], axis=-1)
        return pipe(path, 0.022, grain=(1.0, 0.5))

    return [Patch(surface, 1.6, 1.0, grain=(1.0, 0.8)), *(bow(x) for x in (-1.15, -0.75, -0.3, 0.1, 0.42))]


def floors() -> list[Patch]:
    """The floor with its tunnel, the rear floor with the well of the spare wheel, cross members above and below."""
    front, rear = beads(0.006, 0.11, 2.15, 1.5), beads(0.005, 0.13, 0.95, 1.4)

    def with_tunnel(p: Floats, q: Floats) -> Floats:
        return 0.22 + 0.14 * np.exp(-(((q - 0.75) / 0.13) ** 4)) + front(p, q)

    def with_well(p: Floats, q: Floats) -> Floats:
        return 0.42 - 0.16 / (1 + np.exp((np.hypot(p - 0.45, q - 0.7) - 0.29) / 0.015)) + rear(p, q)

    drains = any_of([circle(x, y, 0.03) for x in np.arange(0.25, 2.1, 0.45) for y in (0.18, 0.45, 1.05, 1.32)])
    hat = drawn([(-0.08, 0), (-0.05, 0), (-0.04, 0.07), (0.04, 0.07), (0.05, 0), (0.08, 0)], 0.56)
    above = [hat.at(moved(x, 0.17, 0.23) @ ALONG_Y @ turn("z", np.pi)) for x in (-0.55, 0.0, 0.55)]
    below = [hat.at(moved(x, 0.15, 0.20) @ ALONG_Y) for x in (-0.9, -0.3, 0.3, 0.9)]
    panels = [
        sheet(2.15, 1.5, with_tunnel, hole=drains).at(moved(-1.2, -0.75)),
        sheet(0.95, 1.4, with_well).at(moved(-2.14, -0.7)),
    ]
    return [*panels, *on_both_sides([*above, *below])]


def bulkhead(x: float, low: float, high: float, openings: Sequence[Field]) -> Patch:
    """A sheet across the car; openings in (y, z)."""
    hole = any_of(openings)
    waves = beads(0.008, 0.14, high - low, 1.44)

    def surface(p: Floats, q: Floats) -> Floats:
        return np.stack([x + 0.05 * (q / 0.72 - 1) ** 2 + waves(p, q), q - 0.72, p + low], axis=-1)

    return Patch(surface, high - low, 1.44, hole=lambda p, q: hole(q - 0.72, p + low))


def bulkheads() -> list[Patch]:
    steering = [circle(0.35, 0.6, 0.05), circle(-0.3, 0.7, 0.08), window((-0.12, 0.12), (0.45, 0.6), 0.03)]
    backrest = [window((side - 0.22, side + 0.22), (0.52, 0.84), 0.06) for side in (-0.34, 0.34)]
    lights = [window((side - 0.15, side + 0.15), (0.55, 0.75), 0.04) for side in (-0.5, 0.5)]
    shelf = sheet(0.5, 1.3, hole=any_of([circle(0.25, y, 0.1) for y in (0.25, 1.05)])).at(moved(-1.72, -0.65, 0.97))
    walls = [(0.98, 0.24, 0.95, steering), (-1.24, 0.24, 0.98, backrest), (-2.14, 0.42, 0.84, lights)]
    return [*(bulkhead(*wall) for wall in walls), shelf]


def engine_bay() -> list[Patch]:
    rail = drawn(rectangle(0.09, 0.12), 1.2).at(moved(0.98, 0.45, 0.45) @ ALONG_X)
    tower = turned([(0.40, 0.17), (0.80, 0.13), (0.84, 0.12), (0.84, 0.04)], 0.02).at(moved(1.33, 0.55))
    across = np.linspace(-1.0, 1.0, 41)
    bows = [(2.17, 0.10, 0.62, 0.50, 0.055), (2.05, 0.02, 0.60, 0.78, 0.025), (1.0, 0.06, 0.70, 0.95, 0.04)]
    beams = [
        pipe(np.stack([x - bend * across**2, half * across, np.full(41, z)], axis=-1), radius)
        for x, bend, half, z, radius in bows
    ]
    return [*on_both_sides([rail, tower]), *beams]


def studs(rng: np.random.Generator, count: int = 160) -> list[Patch]:
    """Studs already welded to the floor."""
    stud = cylinder(0.003, 0.0, 0.018, grain=(0.6, 0.6))
    x, y = rng.uniform(-1.1, 0.9, count), rng.uniform(0.22, 0.68, count) * rng.choice([-1, 1], count)
    return [stud.at(moved(*place, 0.226)) for place in zip(x, y, strict=True)]


def car_patches(seed: int) -> list[Patch]:
    parts = [*sides(), *roof(), *floors(), *bulkheads(), *engine_bay(), *studs(np.random.default_rng([seed, 1]))]
    return placed(parts, moved(z=CAR_HEIGHT))
