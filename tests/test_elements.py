"""Swept points, segments and triangles: exact, proved, and the same on every machine and in every order."""

import multiprocessing
import sys
import threading
from dataclasses import astuple, fields, replace
from decimal import Decimal
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from clearance import _core
from clearance.elements import ElementGaps, closest
from oracles import POSCHER_COUNTEREXAMPLES, allowance, size_of_pair
from strategies import FAMILIES, element_pairs, families, kinds, rigid_motions, seeds, tangent_pairs
from test_oracles import SOLVED_BY_HAND

EPS = np.finfo(float).eps
KINDS = list(product((1, 2, 3), repeat=2))
UNIT = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])

all_kinds = pytest.mark.parametrize(("ka", "kb"), KINDS)
long_double = pytest.mark.skipif(
    np.finfo(np.longdouble).eps > EPS / 1000, reason="needs a long double that is longer than a double"
)
all_families = pytest.mark.parametrize("family", FAMILIES)


def gaps_of(pairs, **options):
    return closest(pairs.a, pairs.b, pairs.radius_a, pairs.radius_b, **options)


def size_of(pairs):
    return size_of_pair(pairs.a, pairs.radius_a, pairs.b, pairs.radius_b)


def error_of_distance(pairs):
    """Return the largest error that is allowed: 1e-12 of the size, and what the coordinates cannot resolve."""
    return 1e-12 * size_of(pairs) + allowance(pairs.a, pairs.b)


def error_of_witness(pairs):
    """Return how far a witness may be off a surface: 1e-9 of the size, the tolerance of every query."""
    return 1e-9 * size_of(pairs) + allowance(pairs.a, pairs.b)


def rows_of(gaps):
    return ElementGaps(*(column.reshape(-1, *column.shape[np.ndim(gaps.distance) :]) for column in astuple(gaps)))


def assert_same_bits(found, expected):
    for field in fields(ElementGaps):
        x, y = getattr(found, field.name), getattr(expected, field.name)
        assert x.shape == y.shape
        assert np.array_equal(x.view(np.int64), y.view(np.int64)), field.name


def core_points(gaps, pairs):
    """Return the points of the cores that the weights stand for."""
    weights = ((gaps.weights_a, pairs.a), (gaps.weights_b, pairs.b))
    return (np.einsum("nk,nkd->nd", w[:, : core.shape[1]], core) for w, core in weights)


# Against the exact distance ------------------------------------------------------------------------------------------


@cache
def solved(family, ka, kb):
    """Draw a batch of one family and solve it exactly, once for all the tests that ask for it."""
    pairs = element_pairs(np.random.default_rng([FAMILIES.index(family), ka, kb]), ka, kb, 150, family)
    rows = zip(pairs.a, pairs.radius_a, pairs.b, pairs.radius_b, strict=True)
    return pairs, gaps_of(pairs), [oracles.signed_distance(*row) for row in rows]


@all_kinds
@all_families
def test_distance_is_exact_to_rounding(family, ka, kb):
    pairs, gaps, exact = solved(family, ka, kb)
    errors = [abs(float(Decimal(float(d)) - e)) for d, e in zip(gaps.distance, exact, strict=True)]
    assert np.all(errors <= error_of_distance(pairs))


@all_kinds
@all_families
def test_exact_distance_lies_in_the_bracket(family, ka, kb):
    _, gaps, exact = solved(family, ka, kb)
    for lower, upper, e in zip(gaps.lower, gaps.upper, exact, strict=True):
        assert Decimal(float(lower)) <= e <= Decimal(float(upper))


@all_kinds
@all_families
def test_witness_points_lie_on_the_surfaces(family, ka, kb):
    pairs, gaps, _ = solved(family, ka, kb)
    for points, cores, radii in ((gaps.point_a, pairs.a, pairs.radius_a), (gaps.point_b, pairs.b, pairs.radius_b)):
        errors = [float(oracles.witness_error(*row)) for row in zip(points, cores, radii, strict=True)]
        assert np.all(errors <= error_of_witness(pairs))


@pytest.mark.parametrize("name", SOLVED_BY_HAND)
def test_distance_of_pairs_solved_by_hand(name):
    a, b, expected = SOLVED_BY_HAND[name]
    for first, second in ((a, b), (b, a)):
        assert closest(first, second).distance == pytest.approx(float(expected), rel=4 * EPS, abs=1e-15)


@pytest.mark.parametrize("case", POSCHER_COUNTEREXAMPLES, ids=lambda case: case.name)
def test_pairs_that_published_methods_get_wrong(case):
    exact = float(oracles.signed_core_distance(case.a, case.b))
    for first, second in ((case.a, case.b), (case.b, case.a)):
        assert closest(first, second).distance == pytest.approx(exact, rel=4 * EPS, abs=1e-15)


@all_kinds
@all_families
def test_planes_laid_a_known_gap_apart_are_that_far_apart(family, ka, kb):
    pairs = element_pairs(np.random.default_rng([1, ka, kb]), ka, kb, 2000, family)
    known = ~np.isnan(pairs.gap)
    # The construction rounds as well: its coordinates and radii are known to 8 eps.
    construction = allowance(pairs.a, pairs.b) + 8 * EPS * (pairs.radius_a + pairs.radius_b)
    error = np.abs(gaps_of(pairs).distance - pairs.gap)
    assert np.all(error[known] <= (error_of_distance(pairs) + construction)[known])


@all_kinds
def test_about_half_of_the_tangent_pairs_collide(ka, kb):
    distance = gaps_of(tangent_pairs(np.random.default_rng(9), ka, kb, 2000)).distance
    assert 0.3 <= np.mean(distance <= 0) <= 0.7


# The bracket and the other promises of a gap -------------------------------------------------------------------------


@all_kinds
@all_families
def test_bracket_is_narrow(family, ka, kb):
    pairs = element_pairs(np.random.default_rng([2, ka, kb]), ka, kb, 5000, family)
    gaps = gaps_of(pairs)
    assert np.all(gaps.lower <= gaps.distance)
    assert np.all(gaps.distance <= gaps.upper)
    # The ends are doubles: neither can be nearer to the distance than doubles lie there.
    rounding = allowance(pairs.a, pairs.b) + 2 * EPS * np.abs(gaps.distance)
    assert np.all(gaps.upper - gaps.lower <= 1e-9 * size_of(pairs) + rounding)


@long_double
@all_kinds
def test_no_proof_in_higher_precision_contradicts_the_bracket(ka, kb):
    """Any points of the cores bound the distance from above, any direction bounds it from below."""
    for family in FAMILIES:
        pairs = element_pairs(np.random.default_rng([3, ka, kb]), ka, kb, 10000, family)
        gaps = gaps_of(pairs)
        a, b, normal = (np.asarray(x, dtype=np.longdouble) for x in (pairs.a, pairs.b, gaps.normal))
        a, b, normal = a - pairs.a[:, :1], b - pairs.a[:, :1], normal / np.linalg.norm(normal, axis=1)[:, None]
        radii = pairs.radius_a.astype(np.longdouble) + pairs.radius_b

        heights_a, heights_b = (np.sum(core * normal[:, None], axis=-1) for core in (a, b))
        separation = heights_b.min(axis=1) - heights_a.max(axis=1)
        assert np.all(separation - radii <= gaps.upper), family

        feasible = (np.maximum(w, 0).astype(np.longdouble) for w in (gaps.weights_a, gaps.weights_b))
        on_a, on_b = (
            np.sum((w / w.sum(axis=1)[:, None])[:, : core.shape[1], None] * core, axis=1)
            for w, core in zip(feasible, (a, b), strict=True)
        )
        reached = np.linalg.norm((on_b - on_a).astype(np.longdouble), axis=1) - radii
        apart = gaps.distance + pairs.radius_a + pairs.radius_b > 0
        assert np.all((gaps.lower <= reached)[apart]), family


@long_double
def test_bracket_holds_for_a_million_pairs_of_points():
    rng = np.random.default_rng(14)
    octant = rng.choice([-1.0, 1.0], size=(10**6, 1, 3))
    a, b = octant * rng.random((10**6, 1, 3)), -octant * rng.random((10**6, 1, 3))
    gaps = closest(a, b)
    exact = np.linalg.norm((b.astype(np.longdouble) - a)[:, 0], axis=1)
    assert np.all(gaps.lower <= exact)
    assert np.all(exact <= gaps.upper)


@given(seeds(), families(), kinds(), kinds())
def test_normal_is_a_unit_vector_that_joins_the_witness_points(seed, family, ka, kb):
    pairs = element_pairs(np.random.default_rng(seed), ka, kb, 300, family)
    gaps = gaps_of(pairs)
    assert np.all(np.abs(np.linalg.norm(gaps.normal, axis=1) - 1) <= 4 * EPS)
    joined = gaps.point_b - gaps.point_a - gaps.distance[:, None] * gaps.normal
    coordinates = np.max(np.abs([gaps.point_a, gaps.point_b]), axis=(0, 2)) + np.abs(gaps.distance)
    assert np.all(np.abs(joined) <= 2 * EPS * coordinates[:, None])


@given(seeds(), families(), kinds(), kinds(), st.floats(1e-6, 10.0))
def test_moving_b_along_the_normal_opens_the_gap_by_as_much(seed, family, ka, kb, step):
    pairs = element_pairs(np.random.default_rng(seed), ka, kb, 300, family)
    gaps = gaps_of(pairs)
    moved = replace(pairs, b=pairs.b + step * gaps.normal[:, None])
    opened = gaps_of(moved).distance
    allowed = error_of_distance(moved) + allowance(moved.a, moved.b) + 4 * EPS * step
    assert np.all(opened >= gaps.lower + step - allowed)
    assert np.all(opened <= gaps.upper + step + allowed)


@given(seeds(), families(), kinds(), kinds())
def test_weights_reproduce_the_witness_points(seed, family, ka, kb):
    pairs = element_pairs(np.random.default_rng(seed), ka, kb, 300, family)
    gaps = gaps_of(pairs)
    for weights, count in ((gaps.weights_a, ka), (gaps.weights_b, kb)):
        assert np.all(weights >= -4 * EPS)
        assert np.all(np.abs(weights.sum(axis=1) - 1) <= 4 * EPS)
        assert np.all(weights[:, count:] == 0)
    on_a, on_b = core_points(gaps, pairs)
    allowed = error_of_witness(pairs)
    point_a, point_b = on_a + pairs.radius_a[:, None] * gaps.normal, on_b - pairs.radius_b[:, None] * gaps.normal
    assert np.all(np.linalg.norm(point_a - gaps.point_a, axis=1) <= allowed)
    assert np.all(np.linalg.norm(point_b - gaps.point_b, axis=1) <= allowed)


def test_second_weight_of_a_segment_is_its_parameter():
    segment, point = [[0.0, 0, 0], [4, 0, 0]], [[3.0, 1, 0]]
    assert np.array_equal(closest(segment, point).weights_a, [0.25, 0.75, 0])
    assert np.array_equal(closest(point, segment).weights_b, [0.25, 0.75, 0])


# What must not change a distance, and what must change it ------------------------------------------------------------


@given(seeds(), families(), kinds(), kinds())
def test_distance_does_not_depend_on_the_order_of_arguments(seed, family, ka, kb):
    pairs = element_pairs(np.random.default_rng(seed), ka, kb, 300, family)
    gaps, swapped = gaps_of(pairs), gaps_of(pairs.swapped())
    assert np.all(np.abs(gaps.distance - swapped.distance) <= 2 * error_of_distance(pairs))
    if ka != kb:  # mirrored pairs take the very same steps
        assert np.array_equal(gaps.normal, -swapped.normal)
        assert np.array_equal(gaps.point_a, swapped.point_b)
        assert np.array_equal(gaps.weights_a, swapped.weights_b)


@given(seeds(), families(), kinds(), kinds())
def test_distance_does_not_depend_on_the_order_of_vertices(seed, family, ka, kb):
    pairs = element_pairs(np.random.default_rng(seed), ka, kb, 300, family)
    turned = replace(pairs, a=pairs.a[:, ::-1], b=np.roll(pairs.b, 1, axis=1))
    assert np.all(np.abs(gaps_of(pairs).distance - gaps_of(turned).distance) <= 2 * error_of_distance(pairs))


@given(seeds(), families(), kinds(), kinds())
def test_distance_does_not_depend_on_the_observer(seed, family, ka, kb):
    rng = np.random.default_rng(seed)
    pairs = element_pairs(rng, ka, kb, 300, family)
    moved = pairs.moved(rigid_motions(rng, len(pairs)))
    # Either computation errs, and the motion itself rounds.
    allowed = error_of_distance(pairs) + error_of_distance(moved) + allowance(moved.a, moved.b)
    assert np.all(np.abs(gaps_of(pairs).distance - gaps_of(moved).distance) <= allowed)


@given(seeds(), families(), kinds(), kinds(), st.integers(-90, 60))
def test_scaling_by_a_power_of_two_scales_every_bit(seed, family, ka, kb, exponent):
    pairs = element_pairs(np.random.default_rng(seed), ka, kb, 300, family)
    factor = 2.0**exponent
    gaps, scaled = gaps_of(pairs), gaps_of(pairs.scaled(factor))
    lengths = {name: factor * getattr(gaps, name) for name in ("distance", "lower", "upper", "point_a", "point_b")}
    assert_same_bits(scaled, replace(gaps, **lengths))


@given(seeds(), families(), kinds(), kinds(), st.floats(1e-6, 1e6))
def test_distance_scales_with_the_pair(seed, family, ka, kb, factor):
    pairs = element_pairs(np.random.default_rng(seed), ka, kb, 300, family)
    scaled = pairs.scaled(factor)
    # Either computation errs, and the scaling itself rounds coordinates and radii.
    rounding = allowance(scaled.a, scaled.b) + EPS * (scaled.radius_a + scaled.radius_b)
    allowed = factor * error_of_distance(pairs) + error_of_distance(scaled) + rounding
    assert np.all(np.abs(gaps_of(scaled).distance - factor * gaps_of(pairs).distance) <= allowed)


@given(seeds(), families(), kinds(), kinds(), st.floats(0, 10))
def test_radius_grown_by_r_lowers_the_distance_by_r(seed, family, ka, kb, r):
    pairs = element_pairs(np.random.default_rng(seed), ka, kb, 300, family)
    gaps = gaps_of(pairs)
    for grown in (replace(pairs, radius_a=pairs.radius_a + r), replace(pairs, radius_b=pairs.radius_b + r)):
        found = gaps_of(grown)
        lengths = np.abs(gaps.distance) + 2 * (grown.radius_a + grown.radius_b)
        assert np.all(np.abs(found.distance - (gaps.distance - r)) <= 2 * EPS * lengths)
        # Nothing else changes: the closest points of the cores stay where they are.
        assert np.array_equal(found.normal, gaps.normal)
        assert np.array_equal(found.weights_a, gaps.weights_a)
        assert np.array_equal(found.weights_b, gaps.weights_b)


@given(seeds(), families(), kinds(), kinds(), st.floats(1e-9, 10))
def test_shift_by_v_changes_the_distance_by_at_most_v(seed, family, ka, kb, length):
    rng = np.random.default_rng(seed)
    pairs = element_pairs(rng, ka, kb, 300, family)
    shift = rng.normal(size=(300, 1, 3))
    shift *= length / np.linalg.norm(shift, axis=-1, keepdims=True)
    moved = replace(pairs, b=pairs.b + shift)
    allowed = length + error_of_distance(pairs) + error_of_distance(moved) + allowance(moved.a, moved.b)
    assert np.all(np.abs(gaps_of(moved).distance - gaps_of(pairs).distance) <= allowed)


@given(seeds(), families(), st.integers(1, 2), kinds())
def test_shape_with_one_more_vertex_is_never_farther(seed, family, ka, kb):
    rng = np.random.default_rng(seed)
    pairs = element_pairs(rng, ka, kb, 300, family)
    more = pairs.a[:, :1] + rng.normal(size=(300, 1, 3)) * size_of(pairs)[:, None, None]
    larger = replace(pairs, a=np.concatenate([pairs.a, more], axis=1))
    allowed = error_of_distance(pairs) + error_of_distance(larger)
    for order in (lambda p: p, lambda p: p.swapped()):
        assert np.all(gaps_of(order(larger)).distance <= gaps_of(order(pairs)).distance + allowed)


@given(seeds(), families(), st.integers(1, 2), kinds())
def test_vertex_inside_the_hull_changes_nothing(seed, family, ka, kb):
    pairs = element_pairs(np.random.default_rng(seed), ka, kb, 300, family)
    middle = pairs.a.mean(axis=1, keepdims=True)
    same = replace(pairs, a=np.concatenate([pairs.a, middle], axis=1))
    allowed = error_of_distance(pairs) + error_of_distance(same) + allowance(same.a, same.b)
    assert np.all(np.abs(gaps_of(same).distance - gaps_of(pairs).distance) <= allowed)


@given(seeds(), families(), kinds(), kinds())
def test_shape_inside_another_is_never_nearer(seed, family, ka, kb):
    rng = np.random.default_rng(seed)
    pairs = element_pairs(rng, ka, kb, 300, family)
    inside = rng.dirichlet(np.ones(ka), size=(300, ka)) @ pairs.a
    smaller = replace(pairs, a=inside)
    allowed = error_of_distance(pairs) + error_of_distance(smaller) + allowance(smaller.a, smaller.b)
    assert np.all(gaps_of(smaller).distance >= gaps_of(pairs).distance - allowed)


# Parallel and piercing pairs -----------------------------------------------------------------------------------------


@given(seeds())
def test_witness_of_parallel_segments_is_the_middle_of_their_overlap(seed):
    rng = np.random.default_rng(seed)
    ends_a, ends_b = rng.uniform(-1, 1, size=(2, 300, 2))
    low = np.maximum(ends_a.min(axis=1), ends_b.min(axis=1))
    high = np.minimum(ends_a.max(axis=1), ends_b.max(axis=1))
    overlap = low < high
    a, b = np.zeros((300, 2, 3)), np.zeros((300, 2, 3))
    a[..., 0], b[..., 0], b[..., 1:] = ends_a, ends_b, rng.uniform(0.1, 1, size=(300, 1, 2))
    gaps = closest(a, b)
    for points in (gaps.point_a, gaps.point_b):
        assert np.allclose(points[overlap, 0], (low + high)[overlap] / 2, rtol=0, atol=1e-14)


@given(seeds(), st.integers(2, 3), st.floats(0.01, 1))
def test_witness_of_a_core_above_a_face_is_its_middle(seed, k, height):
    rng = np.random.default_rng(seed)
    face = np.zeros((300, 3, 3))
    face[..., :2] = rng.normal(size=(300, 3, 2))
    hovering = rng.dirichlet(np.ones(3), size=(300, k)) @ face + [0, 0, height]
    middle = hovering.mean(axis=1)
    for gaps, points in ((closest(face, hovering), "point_b"), (closest(hovering, face), "point_a")):
        assert np.allclose(getattr(gaps, points), middle, rtol=0, atol=1e-9)
        assert np.allclose(gaps.distance, height, rtol=1e-14)


@pytest.mark.parametrize("shift", [0.0, 0.1, 0.25, 0.4])
def test_witness_of_overlapping_faces_is_the_middle_of_what_they_share(shift):
    # What the unit triangle shares with its copy, shifted along x and y, is such a triangle again, and smaller.
    middle = shift + (1 - 2 * shift) / 3
    gaps = closest(UNIT, UNIT + np.array([shift, shift, 0.5]))
    assert np.allclose(gaps.point_a, [middle, middle, 0], rtol=0, atol=1e-15)
    assert np.allclose(gaps.point_b, [middle, middle, 0.5], rtol=0, atol=1e-15)


@given(seeds())
def test_witness_of_parallel_pairs_moves_with_them(seed):
    rng = np.random.default_rng(seed)
    motions = rigid_motions(rng, 100)
    for above, below in (
        (np.array([[0.0, 0, 1], [2, 0, 1]]), np.array([[1.0, 0, 0], [5, 0, 0]])),
        (np.array([[-1.0, 0.25, 1], [2, 0.25, 1]]), UNIT),
        (UNIT + np.array([0.25, 0, 1]), UNIT),
    ):
        turned = (core @ np.swapaxes(motions[:, :3, :3], 1, 2) + motions[:, None, :3, 3] for core in (above, below))
        expected = motions[:, :3, :3] @ closest(above, below).point_a.reshape(3) + motions[:, :3, 3]
        assert np.allclose(closest(*turned).point_a, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("still", "sliding"),
    [
        ([[-1.0, 0, 0], [1, 0, 0]], [[-0.5, 0, 0], [0.5, 0, 0]]),
        ([[-1.0, 0, 0], [1, 0, 0]], [[-0.5, 0.3, 0], [0.5, 0.3, 0]]),
        (UNIT, [[-0.5, 0.3, 0], [0.2, 0.1, 0]]),
        (UNIT, [[0.0, 0.5, 0], [0.5, 0.0, 0]]),
        (UNIT, UNIT),
        (UNIT, [[0.2, -0.4, 0], [0.9, 0.5, 0], [-0.3, 0.6, 0]]),
    ],
)
@pytest.mark.parametrize("direction", [[1.0, 0, 0], [0, 1, 0], [0.6, 0.8, 0], [-0.8, 0.6, 0]])
def test_witness_of_sliding_parallel_pairs_moves_steadily(still, sliding, direction):
    way = np.linspace(-2.5, 2.5, 5001)
    path = np.asarray(sliding) + [0, 0, 0.5] + way[:, None, None] * direction
    for points in (closest(still, path).point_a, closest(path, still).point_b):
        steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
        # It may outrun what slides, where a corner of the overlap does, but never jumps.
        assert np.max(steps) <= 10 * (way[1] - way[0])


@given(seeds(), st.integers(2, 3))
def test_depth_is_the_least_push_that_parts_piercing_cores(seed, k):
    rng = np.random.default_rng(seed)
    pairs = element_pairs(rng, 3, k, 300, "piercing")
    pairs = replace(pairs, radius_a=np.zeros(300), radius_b=np.zeros(300))
    gaps, allowed = gaps_of(pairs), 2 * error_of_distance(pairs)
    assert np.all(gaps.distance <= allowed)
    parted = replace(pairs, b=pairs.b - (gaps.distance * gaps.normal.T).T[:, None])
    assert np.all(np.abs(gaps_of(parted).distance) <= allowed)
    direction = rng.normal(size=(300, 3))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    pushed = replace(pairs, b=pairs.b - (0.999 * gaps.distance * direction.T).T[:, None])
    assert np.all(gaps_of(pushed).distance <= 0.001 * gaps.distance + allowed)


# The same bits everywhere --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sse2", "avx2", "avx512"])
def test_every_instruction_set_gives_the_same_bits(simd, name):
    simd(name)
    if _core.simd() != name:
        pytest.skip(f"this machine has no {name}")
    for family, (ka, kb) in product(FAMILIES, KINDS):
        pairs = element_pairs(np.random.default_rng([4, ka, kb]), ka, kb, 203, family)
        simd(name)
        found = gaps_of(pairs)
        simd("scalar")
        assert_same_bits(found, gaps_of(pairs))


def test_unknown_instruction_sets_are_refused():
    before = _core.simd()
    with pytest.raises(ValueError, match="mmx"):
        _core.use_simd("mmx")
    assert _core.simd() == before


@all_kinds
def test_number_of_threads_changes_no_bit(ka, kb):
    pairs = element_pairs(np.random.default_rng([5, ka, kb]), ka, kb, 12345, "near_contact")
    alone = gaps_of(pairs, threads=1)
    for threads in (2, 8, None):
        assert_same_bits(gaps_of(pairs, threads=threads), alone)


@given(seeds(), families(), kinds(), kinds())
def test_batch_gives_the_same_bits_as_its_rows(seed, family, ka, kb):
    pairs = element_pairs(np.random.default_rng(seed), ka, kb, 17, family)
    whole = gaps_of(pairs)
    for n in range(1, 18):
        part = closest(pairs.a[:n], pairs.b[:n], pairs.radius_a[:n], pairs.radius_b[:n])
        assert_same_bits(part, ElementGaps(*(column[:n] for column in astuple(whole))))
        single = closest(pairs.a[n - 1], pairs.b[n - 1], pairs.radius_a[n - 1], pairs.radius_b[n - 1])
        assert_same_bits(rows_of(single), ElementGaps(*(column[n - 1 : n] for column in astuple(whole))))


def test_many_python_threads_get_the_right_answers():
    pairs = element_pairs(np.random.default_rng(6), 3, 3, 20000, "near_contact")
    expected, found = gaps_of(pairs, threads=1), [None] * 6

    def work(k):
        for _ in range(5):
            found[k] = gaps_of(pairs, threads=2)

    workers = [threading.Thread(target=work, args=(k,)) for k in range(len(found))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for gaps in found:
        assert_same_bits(gaps, expected)


def _sum_of_distances(seed):
    return float(np.sum(gaps_of(element_pairs(np.random.default_rng(seed), 2, 3, 5000, "random"), threads=2).distance))


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not fork")
def test_forked_process_still_has_threads_to_work_with():
    expected = _sum_of_distances(7)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply_async(_sum_of_distances, (7,)).get(timeout=60) == expected
