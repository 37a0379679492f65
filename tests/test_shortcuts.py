"""Closed forms against the general path, which the same bodies take when they are written as hulls."""

from itertools import product

import numpy as np
import pytest

import clearance as cl
from solids import draw_shape, is_curved
from strategies import rigid_motions
from tangents import tangents

SOLIDS = ("Box", "Cylinder", "Cone")


def corners_of(box):
    return 0.5 * box.size * np.array(list(product([-1.0, 1.0], repeat=3)))


def as_hull(shape):
    """The same body, without a closed form."""
    if isinstance(shape, cl.Box):
        return cl.ConvexHull(corners_of(shape))
    return cl.ConvexHull(np.zeros((4, 3)), shape.radius)


def assert_both_ways_agree(kinds, seed, count):
    rng = np.random.default_rng([seed, *map(ord, "".join(kinds))])
    for _ in range(count // 500):
        t = tangents(rng, *(draw_shape(rng, kind) for kind in kinds), 500)
        general = cl.distance(as_hull(t.a).at(t.pose_a), t.b.at(t.pose_b))
        closed = cl.distance(t.a.at(t.pose_a), t.b.at(t.pose_b))
        assert np.all(closed.lower <= general.upper)
        assert np.all(general.lower <= closed.upper)
        allowed = (1e-7 if is_curved(t.b) else 1e-9) * t.size
        assert np.abs(closed.distance - general.distance).max() <= allowed
        # Either normal proves the distance of the other, as far as the other is proved.
        turned = np.linalg.norm(closed.normal - general.normal, axis=1)
        assert np.all((turned <= 1e-3) | (closed.upper - general.lower <= allowed))


PAIRS = [*product(("Sphere",), SOLIDS), ("Box", "Box")]


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_closed_form_agrees_with_the_general_path(kinds):
    assert_both_ways_agree(kinds, 1, 2000)


@pytest.mark.long
@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_closed_form_agrees_with_the_general_path_a_hundred_thousand_times(kinds):
    assert_both_ways_agree(kinds, 2, 100_000)


def standing_cans(rng, count):
    """Two cylinders with parallel axes, some on one axis: how far apart they are is known."""
    turn, at = rigid_motions(rng, count), np.tile(np.eye(4), (count, 1, 1))
    aside = rng.choice([0.0, 1e-9, 0.3, 1.0, 1.9], count) * rng.uniform(0.5, 1.0, count)
    above = rng.choice([0.0, 1e-9, 0.5, 1.2, 2.0], count)
    at[:, 0, 3], at[:, 2, 3] = aside, above
    beside, over = aside - 0.4 - 0.6, above - 0.5 - 0.7
    apart = np.hypot(np.maximum(beside, 0), np.maximum(over, 0))
    return turn, turn @ at, np.where(apart > 0, apart, np.maximum(beside, over))


def test_cylinders_side_by_side_or_on_one_axis_are_known_at_once():
    pose_a, pose_b, known = standing_cans(np.random.default_rng(4), 1000)
    gaps = cl.distance(cl.Cylinder(0.4, 1.0).at(pose_a), cl.Cylinder(0.6, 1.4).at(pose_b))
    assert np.all((gaps.lower <= known + 1e-14) & (known - 1e-14 <= gaps.upper))
    assert np.abs(gaps.distance - known).max() <= 2e-9  # a nanometre off the axis, either side is as good
    assert gaps.work.iterations <= 20 * len(known)


@pytest.mark.parametrize("kind", ["Sphere", "Capsule", "Ellipsoid", "ConvexHull", *SOLIDS])
def test_half_space_agrees_with_a_huge_box(kind):
    rng = np.random.default_rng(3)
    shape, motions = draw_shape(rng, kind), rigid_motions(rng, 500)
    motions[:, :3, 3] = rng.uniform(-1.0, 1.0, (500, 3))
    ground = cl.distance(cl.HalfSpace([0.0, 0.0, 1.0], 0.0), shape.at(motions))
    block = cl.distance(cl.Box([40.0, 40.0, 40.0]).at([0.0, 0.0, -20.0]), shape.at(motions))
    assert np.all(ground.lower <= block.upper)
    assert np.all(block.lower <= ground.upper)
    assert np.abs(block.distance - ground.distance).max() <= 1e-7 * 40.0
    assert np.allclose(block.normal, ground.normal, atol=1e-4)
