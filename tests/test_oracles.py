"""The oracles against cases solved by hand, against planes laid a known gap apart, and against one another."""

import doctest
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings

import oracles
from oracles import POSCHER_COUNTEREXAMPLES, core_depth_sq, core_distance_sq, signed_core_distance, signed_distance
from strategies import FAMILIES, element_pairs, families, kinds, rigid_motion, rigid_motions, seeds, tangent_pairs

few = settings(max_examples=40, deadline=None)
KINDS = list(product((1, 2, 3), repeat=2))
UNIT = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
WIDE = [[-9, -9, 0], [9, -9, 0], [0, 9, 0]]

SOLVED_BY_HAND = {
    "3-4-5 between points": ([[0, 0, 0]], [[3, 4, 0]], "5"),
    "3-4-5 beyond the end of a segment": ([[3, 4, 0]], [[0, 0, 0], [-1, 0, 0]], "5"),
    "point beside a segment": ([[5, 2, 0]], [[0, 0, 0], [9, 0, 0]], "2"),
    "point on a segment": ([[5, 0, 0]], [[0, 0, 0], [9, 0, 0]], "0"),
    "point above a face": ([[0.25, 0.25, 0.5]], UNIT, "0.5"),
    "point beside the long edge": (
        [[5, 5, 0]],
        [[0, 0, 0], [10, 0, 0], [0, 5, 0]],
        "2.2360679774997896964091736687312762354406183596115",
    ),
    "point in a face": ([[0.25, 0.25, 0]], UNIT, "0"),
    "crossing segments, one above the other": ([[-1, 0, 0], [1, 0, 0]], [[0, -1, 3], [0, 1, 3]], "3"),
    "crossing segments in one plane": ([[-1, 0, 0], [1, 0, 0]], [[0, -1, 0], [0, 1, 0]], "0"),
    "parallel segments side by side": ([[0, 0, 0], [9, 0, 0]], [[1, 3, 4], [2, 3, 4]], "5"),
    "parallel segments one after the other": ([[0, 0, 0], [1, 0, 0]], [[4, 4, 0], [9, 4, 0]], "5"),
    "overlapping segments of one line": ([[0, 0, 0], [2, 0, 0]], [[1, 0, 0], [9, 0, 0]], "0"),
    "segment over a face": ([[0.25, 0.25, 1], [0.25, 0.25, 7]], UNIT, "1"),
    "segment across an edge": ([[0.5, -2, -1], [0.5, -2, 1]], UNIT, "2"),
    "segment through a face, an edge nearest": ([[0.25, 0.25, -1], [0.25, 0.25, 1]], UNIT, "-0.25"),
    "segment through a face, an end nearest": ([[0.25, 0.25, -0.125], [0.25, 0.25, 1]], UNIT, "-0.125"),
    "segment through a corner": ([[0, 0, -1], [0, 0, 1]], UNIT, "0"),
    "segment in the plane of a face": ([[-1, 0.25, 0], [9, 0.25, 0]], UNIT, "0"),
    "parallel faces": (WIDE, [[0, 0, 2], [1, 0, 2], [0, 1, 2]], "2"),
    "coplanar faces that overlap": (WIDE, UNIT, "0"),
    "coplanar faces apart": (UNIT, [[-3, 0, 0], [-4, 0, 0], [-4, 1, 0]], "3"),
    "corner above a face": (WIDE, [[0, 0, 1], [9, 0, 10], [-9, 0, 10]], "1"),
    "edge across an edge": (UNIT, [[0.5, -3, -1], [0.5, -3, 1], [0.5, -9, 0]], "3"),
    "triangle through a triangle": (WIDE, [[0, 0, -1], [1, 0, 1], [0, 1, 1]], "-1"),
    "the same triangle": (UNIT, UNIT, "0"),
    "triangle without area above a face": (WIDE, [[0, 0, 2], [0, 0, 3], [0, 0, 4]], "2"),
    "triangle without area through a face": (UNIT, [[0.25, 0.25, -1], [0.25, 0.25, 0], [0.25, 0.25, 1]], "-0.25"),
    "triangles that are points": ([[0, 0, 0]] * 3, [[3, 4, 0]] * 3, "5"),
}


def pairs_of(batch):
    return zip(batch.a, batch.radius_a, batch.b, batch.radius_b, strict=True)


def rounding(batch):
    """Return what rounded coordinates and radii may change in a distance: 8 eps of the largest of them."""
    radii = 8 * np.finfo(float).eps * (batch.radius_a + batch.radius_b)
    return oracles.allowance(batch.a, batch.b) + radii


# Distance and depth --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SOLVED_BY_HAND)
def test_signed_distance_of_cores_solved_by_hand(name):
    a, b, expected = SOLVED_BY_HAND[name]
    assert signed_core_distance(a, b) == Decimal(expected)
    assert signed_core_distance(b, a) == Decimal(expected)


def test_examples_in_the_docstrings():
    assert doctest.testmod(oracles).failed == 0


def test_doubles_are_taken_for_what_they_are():
    assert core_distance_sq([[0.1, 0, 0]], [[0, 0, 0]]) == Fraction(0.1) ** 2 != Fraction(1, 100)
    assert core_distance_sq([[1e-200, 0, 0]], [[0, 1e200, 0]]) > Fraction(1e200) ** 2


@few
@given(seeds(), families(), kinds(), kinds())
def test_known_gaps_are_found(seed, family, ka, kb):
    batch = element_pairs(np.random.default_rng(seed), ka, kb, 8, family)
    for pair, gap, allowed in zip(pairs_of(batch), batch.gap, rounding(batch), strict=True):
        assert np.isnan(gap) or abs(signed_distance(*pair) - Decimal(float(gap))) <= Decimal(float(allowed))


@few
@given(seeds(), families(), kinds(), kinds())
def test_order_of_arguments_and_vertices_changes_nothing(seed, family, ka, kb):
    batch = element_pairs(np.random.default_rng(seed), ka, kb, 4, family)
    for a, _, b, _ in pairs_of(batch):
        assert core_distance_sq(a, b) == core_distance_sq(b[::-1], a)
        assert signed_core_distance(a, b) == signed_core_distance(b, a[::-1])


@few
@given(seeds(), kinds(), kinds())
def test_shifts_and_scales_that_do_not_round_are_exact(seed, ka, kb):
    batch = element_pairs(np.random.default_rng(seed), ka, kb, 4, "lattice")
    for a, _, b, _ in pairs_of(batch):
        assert core_distance_sq(4 * (a + 3), 4 * (b + 3)) == 16 * core_distance_sq(a, b)
        assert core_depth_sq(4 * (a + 3), 4 * (b + 3)) == 16 * core_depth_sq(a, b)


@few
@given(seeds(), kinds(), kinds())
def test_no_sampled_pair_of_points_is_nearer(seed, ka, kb):
    rng = np.random.default_rng(seed)
    batch = element_pairs(rng, ka, kb, 4, "random")
    for a, _, b, _ in pairs_of(batch):
        on_a, on_b = (rng.dirichlet(np.full(len(core), 0.3), size=200) @ core for core in (a, b))
        nearest = np.min(np.linalg.norm(on_a[:, None] - on_b, axis=-1))
        assert float(core_distance_sq(a, b)) ** 0.5 <= nearest + 1e-12


@few
@given(seeds())
def test_depth_is_the_least_push_that_separates(seed):
    rng = np.random.default_rng(seed)
    batch = element_pairs(rng, 3, int(rng.integers(2, 4)), 4, "piercing")
    for a, _, b, _ in pairs_of(batch):
        if core_distance_sq(a, b) > 0:
            continue  # rounding has parted cores that met at a corner
        depth = float(core_depth_sq(a, b)) ** 0.5
        directions = rng.normal(size=(10, 3))
        assert all(core_distance_sq(a, b + 0.999 * depth * n / np.linalg.norm(n)) == 0 for n in directions)

        edges = [v - u for core in (a, b) for u, v in combinations(core, 2)]
        normals = [np.cross(u, v) for u, v in combinations(edges, 2)]
        pushes = [push * n / np.linalg.norm(n) for n in normals if n.any() for push in (1.001 * depth, -1.001 * depth)]
        assert any(core_distance_sq(a, b + push) > 0 for push in pushes)


# Swept elements ------------------------------------------------------------------------------------------------------


def test_radii_are_subtracted_in_fifty_digits():
    assert signed_distance([[0, 0, 0]], 0.5, [[3, 4, 0]], 1.5) == 3
    assert signed_distance([[0.25, 0.25, -1], [0.25, 0.25, 1]], 0.5, UNIT, 1) == Decimal("-1.75")
    far = signed_distance([[0, 0, 0]], 2.0**-100, [[1, 0, 0]], 0)
    assert 0 < 1 - far < Decimal("1e-30")


def test_witness_error_is_the_distance_from_the_surface():
    assert oracles.witness_error([0.25, 0.25, 0.5], UNIT, 0.5) == 0
    assert oracles.witness_error([0.25, 0.25, 0.75], UNIT, 0.5) == Decimal("0.25")
    assert oracles.witness_error([0.25, 0.25, 0.125], UNIT, 0.5) == Decimal("0.375")
    assert oracles.witness_error([0.25, 0.25, 0], UNIT, 0) == 0


def test_size_of_pair_is_the_sum_of_the_smallest_spheres():
    right, equilateral = [[0, 0, 0], [3, 0, 0], [0, 4, 0]], [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert oracles.size_of_pair([[7, 7, 7]], 0.0, [[0, 0, 0], [2, 0, 0]], 0.5) == 1.5
    assert oracles.size_of_pair(right, 1.0, right, 0.0) == 6.0
    assert oracles.bounding_radius(equilateral) == pytest.approx((2 / 3) ** 0.5)
    assert oracles.bounding_radius([equilateral, right, [[1, 1, 1]] * 3]) == pytest.approx([(2 / 3) ** 0.5, 2.5, 0.0])


def test_allowance_follows_the_farthest_vertex():
    assert oracles.allowance([[0, 48, -64]], UNIT) == 80 * 2.0**-49
    assert oracles.allowance(np.ones((5, 2, 3)), np.zeros((5, 3, 3))).shape == (5,)


# Published methods ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", POSCHER_COUNTEREXAMPLES, ids=lambda case: case.name)
def test_published_method_is_wrong_by_a_lot(case):
    assert float(core_distance_sq(case.a, case.b)) ** 0.5 == pytest.approx(case.distance, abs=1e-15)
    assert case.method(case.a, case.b) > case.distance + 0.5


@pytest.mark.parametrize("case", POSCHER_COUNTEREXAMPLES, ids=lambda case: case.name)
def test_published_triangles_depend_on_the_order(case):
    if len(case.a) == 3:
        assert case.method(case.b, case.a) == pytest.approx(case.distance, abs=1e-12)


def test_published_methods_are_right_where_they_should_be():
    rng = np.random.default_rng(20)
    for a, _, b, _ in pairs_of(element_pairs(rng, 2, 3, 300, "random")):
        exact = float(core_distance_sq(a, b)) ** 0.5
        assert oracles.poscher_segment_triangle(a, b) == pytest.approx(exact, abs=1e-9)
    for a, _, b, _ in pairs_of(element_pairs(rng, 3, 3, 100, "random")):
        exact = float(core_distance_sq(a, b)) ** 0.5
        either_way = min(oracles.poscher_triangle_triangle(a, b), oracles.poscher_triangle_triangle(b, a))
        assert either_way == pytest.approx(exact, abs=1e-9)


# Strategies ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("ka", "kb"), KINDS)
def test_batches_are_finite_and_repeat(family, ka, kb):
    batch, again = (element_pairs(np.random.default_rng(5), ka, kb, 50, family) for _ in range(2))
    assert (batch.a.shape, batch.b.shape) == ((50, ka, 3), (50, kb, 3))
    assert batch.radius_a.shape == batch.radius_b.shape == batch.gap.shape == (50,)
    assert all(np.isfinite(x).all() for x in (batch.a, batch.b, batch.radius_a, batch.radius_b))
    assert min(batch.radius_a.min(), batch.radius_b.min()) >= 0
    assert not np.isinf(batch.gap).any()
    for field in ("a", "b", "radius_a", "radius_b", "gap"):
        assert np.array_equal(getattr(batch, field), getattr(again, field), equal_nan=True)


@pytest.mark.parametrize(("ka", "kb"), KINDS)
def test_about_half_of_the_random_and_tangent_pairs_collide(ka, kb):
    rng = np.random.default_rng(9)
    hits = [signed_distance(*pair) <= 0 for pair in pairs_of(element_pairs(rng, ka, kb, 150, "random"))]
    assert 0.3 <= np.mean(hits) <= 0.7
    assert 0.3 <= np.mean(tangent_pairs(rng, ka, kb, 1000).gap <= 0) <= 0.7


@given(rigid_motion())
def test_rigid_motions_are_rigid(pose):
    assert np.allclose(pose[:3, :3] @ pose[:3, :3].T, np.eye(3), atol=1e-14)
    assert np.linalg.det(pose[:3, :3]) > 0
    assert np.array_equal(pose[3], [0, 0, 0, 1])


@few
@given(seeds(), kinds(), kinds())
def test_known_gaps_survive_motion_scale_and_swap(seed, ka, kb):
    rng = np.random.default_rng(seed)
    batch = tangent_pairs(rng, ka, kb, 4)
    for changed in (batch.moved(rigid_motions(rng, 4)), batch.scaled(1e3), batch.swapped()):
        for pair, gap, allowed in zip(pairs_of(changed), changed.gap, rounding(changed), strict=True):
            assert abs(signed_distance(*pair) - Decimal(float(gap))) <= Decimal(float(allowed))
