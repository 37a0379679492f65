"""The distance between two shapes: one pair, many pairs, and everything that is not a pair."""

import contextlib
import copy
import math
import os
import pickle
import sys
from dataclasses import astuple
from decimal import Decimal

import numpy as np
import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clearance as cl
from clearance import Capsule, Compound, Sphere, SweptTriangle, collides, distance, poses, within
from clearance.elements import closest
from oracles import allowance, signed_distance, size_of_pair, witness_error
from strategies import cores_in_the_world, random_compound, random_shapes, rigid_motions, seeds

EPS = np.finfo(float).eps
X, Y, Z = np.eye(3)
CAPSULE, TRIANGLE = Capsule(0.25, 1.5), SweptTriangle(X, Y, Z, 0.0)
COMPOUND = Compound([Sphere(0.5), Capsule(0.25, 1.5).at([1.0, 0, 0])])
FIELDS = ("distance", "lower", "upper", "point_a", "point_b", "normal", "feature_a", "feature_b")


def assert_same_bits(found, expected):
    for name in FIELDS:
        kind = np.int32 if name.startswith("feature") else np.float64
        x, y = (np.asarray(getattr(gap, name), dtype=kind) for gap in (found, expected))
        assert x.shape == y.shape
        assert x.tobytes() == y.tobytes(), name


# One pair ------------------------------------------------------------------------------------------------------------


def errors_allowed(elements_a, elements_b):
    """Return the allowed error of a pair of bodies, from the largest of their elements."""
    pairs = [(a, ra, b, rb) for a, ra in elements_a for b, rb in elements_b]
    return max(1e-12 * size_of_pair(*pair) + allowance(pair[0], pair[2]) for pair in pairs)


@given(seeds())
def test_distance_of_placed_shapes_is_exact(seed):
    rng = np.random.default_rng(seed)
    shapes, motions = random_shapes(rng, 12), rigid_motions(rng, 12)
    for a, b, pose_a, pose_b in zip(shapes[:6], shapes[6:], motions[:6], motions[6:], strict=True):
        gap = distance(a.at(pose_a), b.at(pose_b))
        ((core_a, radius_a),), ((core_b, radius_b),) = cores_in_the_world(a, pose_a), cores_in_the_world(b, pose_b)
        exact = float(signed_distance(core_a, radius_a, core_b, radius_b))
        # The oracle gets rotated vertices, which are rounded like ours: that is allowed for once more.
        allowed = 1e-12 * size_of_pair(core_a, radius_a, core_b, radius_b) + 2 * allowance(core_a, core_b)
        assert abs(gap.distance - exact) <= allowed
        assert gap.lower - allowed <= exact <= gap.upper + allowed
        assert float(witness_error(gap.point_a, core_a, radius_a)) <= 1e3 * allowed
        assert float(witness_error(gap.point_b, core_b, radius_b)) <= 1e3 * allowed


@given(seeds())
def test_shapes_at_rest_give_the_bits_of_their_elements(seed):
    rng = np.random.default_rng(seed)
    for a, b in zip(random_shapes(rng, 20), random_shapes(rng, 20), strict=True):
        ((core_a, radius_a),), ((core_b, radius_b),) = a.elements, b.elements
        gap, expected = distance(a, b), closest(core_a, core_b, radius_a, radius_b)
        for name in ("distance", "lower", "upper", "point_a", "point_b", "normal"):
            assert np.array_equal(getattr(gap, name), getattr(expected, name).reshape(np.shape(getattr(gap, name))))


@given(seeds(), st.integers(1, 6), st.integers(1, 6))
def test_distance_of_compounds_is_the_least_over_their_parts(seed, n, m):
    rng = np.random.default_rng(seed)
    a, b = random_compound(rng, n), random_compound(rng, m)
    pose_a, pose_b = rigid_motions(rng, 2)
    pose_b[:3, 3] *= 3
    gap = distance(a.at(pose_a), b.at(pose_b))
    elements_a, elements_b = cores_in_the_world(a, pose_a), cores_in_the_world(b, pose_b)
    exact = [[float(signed_distance(*ea, *eb)) for eb in elements_b] for ea in elements_a]
    allowed = 2 * errors_allowed(elements_a, elements_b)
    assert abs(gap.distance - np.min(exact)) <= allowed
    assert gap.lower - allowed <= np.min(exact) <= gap.upper + allowed
    assert abs(exact[gap.feature_a][gap.feature_b] - gap.distance) <= allowed
    assert np.allclose(gap.point_b - gap.point_a, gap.distance * gap.normal, rtol=0, atol=8 * EPS * 10)


@given(seeds())
def test_how_parts_are_nested_changes_nothing(seed):
    rng = np.random.default_rng(seed)
    parts, other = random_shapes(rng, 6), random_compound(rng, 5).at([2.0, 0, 0])
    flat = distance(Compound(parts), other)
    assert_same_bits(distance(Compound([Compound(parts[:2]), *parts[2:4], Compound(parts[4:])]), other), flat)
    turned = distance(Compound(parts[::-1]), other)
    assert turned.distance == flat.distance


@given(seeds(), st.integers(1, 4), st.integers(1, 4))
def test_distance_does_not_depend_on_order_or_observer(seed, n, m):
    rng = np.random.default_rng(seed)
    a, b = random_compound(rng, n), random_compound(rng, m)
    pose_a, pose_b, motion = rigid_motions(rng, 3)
    allowed = 4 * errors_allowed(cores_in_the_world(a, motion @ pose_a), cores_in_the_world(b, motion @ pose_b)) + 1e-15
    here = distance(a.at(pose_a), b.at(pose_b))
    swapped = distance(b.at(pose_b), a.at(pose_a))
    there = distance(a.at(motion @ pose_a), b.at(motion @ pose_b))
    assert abs(here.distance - swapped.distance) <= allowed
    assert abs(here.distance - there.distance) <= allowed


@given(seeds())
def test_nothing_is_lost_far_from_the_origin(seed):
    rng = np.random.default_rng(seed)
    a, b = random_compound(rng, 3), random_compound(rng, 3)
    pose_a, pose_b = rigid_motions(rng, 2)
    # Translations in steps of 2^-20 and a shift by about a million: sums and differences stay exact.
    for pose in (pose_a, pose_b):
        pose[:3, 3] = np.round(pose[:3, 3] * 2**20) / 2**20
    shift = poses.from_translation(rng.integers(-(2**20), 2**20, size=3))
    for shape_a, shape_b in ((a, b), *zip(random_shapes(rng, 9), random_shapes(rng, 9), strict=True)):
        near = distance(shape_a.at(pose_a), shape_b.at(pose_b))
        far = distance(shape_a.at(shift @ pose_a), shape_b.at(shift @ pose_b))
        assert (far.distance, far.lower, far.upper) == (near.distance, near.lower, near.upper)
        assert np.array_equal(far.normal, near.normal)
        assert np.allclose(far.point_a, near.point_a + shift[:3, 3], rtol=0, atol=8 * EPS * 2**20)


def test_about_half_of_the_random_pairs_collide():
    rng = np.random.default_rng(4)
    a, b = random_compound(rng, 7), random_compound(rng, 7)
    motions = rigid_motions(rng, 2000)
    assert 0.3 <= np.mean(collides(a, b.at(motions))) <= 0.7


def test_touching_counts():
    a, b = Sphere(1.0), Sphere(0.5).at([2.0, 0, 0])
    assert distance(a, b).distance == 0.5
    assert within(a, b, 0.5) is True
    assert within(a, b, math.nextafter(0.5, 0)) is False
    assert collides(a, b) is False
    assert collides(a, Sphere(1.0).at([2.0, 0, 0])) is True
    assert collides(a, Sphere(1.0).at([np.nextafter(2.0, 3), 0, 0])) is False


@given(seeds(), st.integers(1, 5))
def test_within_and_collides_are_statements_about_the_distance(seed, n):
    rng = np.random.default_rng(seed)
    a, b = random_compound(rng, n), random_compound(rng, n)
    motions = rigid_motions(rng, 20)
    gaps = distance(a, b.at(motions))
    assert np.array_equal(collides(a, b.at(motions)), gaps.distance <= 0)
    for margin in (0.0, 0.1, np.abs(gaps.distance[3]), np.inf):
        assert np.array_equal(within(a, b.at(motions), margin), gaps.distance <= margin)
        assert within(a, b.at(motions[3]), margin) == (gaps.distance[3] <= margin)


@given(seeds(), st.integers(1, 5), st.floats(-0.5, 3.0))
def test_pairs_farther_than_asked_for_only_say_so(seed, n, at_most):
    rng = np.random.default_rng(seed)
    a, b = random_compound(rng, n), random_compound(rng, n)
    motions = rigid_motions(rng, 40)
    exact, cut = distance(a, b.at(motions)), distance(a, b.at(motions), at_most=at_most)
    far = np.isinf(cut.distance)
    # Whatever is surely nearer is measured, whatever is surely farther is not.
    assert np.all(~far[exact.upper <= at_most])
    assert np.all(far[exact.lower > at_most])
    assert_same_bits(cut[~far], exact[~far])
    assert np.all(cut.lower[far] > at_most)
    assert np.all(cut.lower[far] <= exact.upper[far])
    assert np.all(cut.upper[far] == np.inf)
    assert all(np.isnan(x[far]).all() for x in (cut.point_a, cut.point_b, cut.normal))
    assert np.all(cut.feature_a[far] == -1)
    for k in range(0, 40, 7):
        assert_same_bits(distance(a, b.at(motions[k]), at_most=at_most), cut[k])


def test_hint_changes_nothing():
    a, b = COMPOUND, CAPSULE.at([2.0, 1, 0])
    gap = distance(a, b)
    assert_same_bits(distance(a, b, hint=gap), gap)


def test_balls_spare_most_tests_of_elements():
    rng = np.random.default_rng(5)
    a, b = (Compound([Sphere(0.1).at([0.5 * k, 0, 0]) for k in range(40)]) for _ in range(2))
    work = distance(a, b.at([25.0, *rng.normal(size=2)])).work
    assert work.pairs == 1
    assert work.element_tests <= 40
    work = distance(a, b.at([25.0, 0, 0]), at_most=1.0).work
    assert (work.pairs, work.element_tests) == (1, 0)


def test_gap_can_be_copied_printed_and_not_changed():
    gap = distance(Sphere(1.0), Capsule(0.5, 2.0).at([3.0, 0, 0]))
    for again in (copy.copy(gap), copy.deepcopy(gap), pickle.loads(pickle.dumps(gap))):
        assert_same_bits(again, gap)
        assert again.work == gap.work
    assert "1.5" in repr(gap)
    gap.point_a[:] = 7.0
    assert np.array_equal(gap.point_a, [1, 0, 0])
    with pytest.raises(AttributeError):
        gap.distance = 0.0
    assert gap.work != 1
    assert gap.work is not None


@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="a sanitizer keeps freed memory")
def test_queries_leave_nothing_behind():
    shape, other = Capsule(0.25, 1.5), Sphere(1.0)
    references = sys.getrefcount(shape), sys.getrefcount(other)

    def use():
        placed, batch = shape.at(X), shape.at(np.tile(np.eye(4), (20, 1, 1)))
        compound = Compound([placed, other])
        distance(compound, placed)
        distance(compound, batch)
        _ = placed.shape, placed.pose, batch.poses, compound.parts, compound.elements, repr(compound), placed == other
        for wrong in (lambda: shape.at([np.nan, 0, 0]), lambda: distance(other, None), lambda: Sphere(-1.0)):
            with contextlib.suppress(ValueError, TypeError):
                wrong()

    def growth():
        before = psutil.Process().memory_info().rss
        for _ in range(1000):
            use()
        return psutil.Process().memory_info().rss - before

    # Whatever is left behind is left behind every time: a hundred bytes by each call would be a hundred kilobytes.
    assert min(growth() for _ in range(5)) < 100_000
    assert (sys.getrefcount(shape), sys.getrefcount(other)) == references


# Many pairs ----------------------------------------------------------------------------------------------------------


@given(seeds(), st.booleans(), st.booleans())
def test_batch_gives_the_same_bits_as_single_calls(seed, compound_a, compound_b):
    rng = np.random.default_rng(seed)
    a, b = (random_compound(rng, 3) if many else random_shapes(rng, 1)[0] for many in (compound_a, compound_b))
    motions_a, motions_b = rigid_motions(rng, 70), rigid_motions(rng, 70)
    one_by_one = distance(a.at(motions_a), b.at(motions_b))
    against_one = distance(a.at(motions_a), b.at(motions_b[0]))
    one_against = distance(a, b.at(motions_b))
    for k in range(0, 70, 3):
        assert_same_bits(one_by_one[k], distance(a.at(motions_a[k]), b.at(motions_b[k])))
        assert_same_bits(against_one[k], distance(a.at(motions_a[k]), b.at(motions_b[0])))
        assert_same_bits(one_against[k], distance(a, b.at(motions_b[k])))


@given(seeds(), st.booleans())
def test_poses_broadcast(seed, compound):
    rng = np.random.default_rng(seed)
    a, b = (random_compound(rng, 3) if compound else random_shapes(rng, 1)[0] for _ in range(2))
    motions_a, motions_b = rigid_motions(rng, 3).reshape(3, 1, 4, 4), rigid_motions(rng, 5)
    gaps = distance(a.at(motions_a), b.at(motions_b))
    assert gaps.distance.shape == gaps.feature_a.shape == (3, 5)
    assert gaps.normal.shape == (3, 5, 3)
    assert gaps.work.pairs == 15
    assert len(gaps) == 3
    for i, j in np.ndindex(3, 5):
        assert_same_bits(gaps[i, j], distance(a.at(motions_a[i, 0]), b.at(motions_b[j])))
    assert np.array_equal(collides(a.at(motions_a), b.at(motions_b)), gaps.distance <= 0)


def test_broadcasting_uses_the_very_poses_of_the_batch():
    rng = np.random.default_rng(6)
    motions = rigid_motions(rng, 3000)
    motions[:, :3, :3] += rng.uniform(-3e-7, 3e-7, size=(3000, 3, 3))
    a, b = Capsule(0.1, 1.0), Capsule(0.2, 1.0).at(motions)
    assert_same_bits(distance(a.at(np.eye(4)[None, None]), b)[0], distance(a, b))


@pytest.mark.parametrize("dims", [(0,), (0, 3), (3, 0), (1, 0, 1)])
def test_batch_of_nothing_gives_nothing(dims):
    nothing = Sphere(1.0).at(np.zeros((*dims, 4, 4)))
    for gaps in (distance(nothing, Sphere(1.0)), distance(COMPOUND, nothing), distance(nothing, nothing)):
        assert gaps.distance.shape == dims
        assert gaps.point_b.shape == (*dims, 3)
        assert gaps.work.pairs == 0
        assert str(dims) in repr(gaps)
    assert collides(nothing, Sphere(1.0)).shape == within(nothing, nothing, 1.0).shape == dims


@pytest.mark.parametrize("shape", [CAPSULE, COMPOUND])
def test_number_of_threads_changes_no_bit(shape):
    rng = np.random.default_rng(7)
    batch = shape.at(rigid_motions(rng, 6000))
    other = TRIANGLE.at(rigid_motions(rng, 6000))
    alone = distance(batch, other, threads=1, at_most=1.0)
    for threads in (2, 8, None):
        again = distance(batch, other, threads=threads, at_most=1.0)
        assert_same_bits(again, alone)
        assert again.work == alone.work


def test_gaps_can_be_indexed_copied_and_printed():
    gaps = distance(Sphere(1.0), Sphere(0.5).at([poses.from_translation([k, 0, 0]) for k in range(2, 8)]))
    assert gaps[1:4].distance.tolist() == [1.5, 2.5, 3.5]
    assert gaps[gaps.distance > 3].point_b.shape == (3, 3)
    assert [gap.distance for gap in gaps] == gaps.distance.tolist()
    assert "0.5" in repr(gaps)
    again = pickle.loads(pickle.dumps(gaps))
    assert_same_bits(again, gaps)
    assert again.work == gaps.work
    assert len(astuple(gaps)) == 11


# What is no pair -----------------------------------------------------------------------------------------------------

MANY = Sphere(1.0).at(np.tile(np.eye(4), (2, 1, 1)))
NOT_A_BODY = [None, 1.0, "Sphere(1.0)", np.eye(3), [Sphere(1.0)], Sphere, {}]


@pytest.mark.parametrize("bad", NOT_A_BODY, ids=repr)
@pytest.mark.parametrize("other", [Sphere(1.0), Sphere(1.0).at(X), MANY], ids=["shape", "placed", "batch"])
def test_what_is_no_shape_is_refused_by_name(bad, other):
    for query in (distance, collides, lambda a, b: within(a, b, 1.0)):
        with pytest.raises(TypeError, match=r"\ba\b"):
            query(bad, other)
        with pytest.raises(TypeError, match=r"\bb\b"):
            query(other, bad)


def test_batches_that_do_not_broadcast_are_refused():
    for query in (distance, collides, lambda a, b: within(a, b, 1.0)):
        with pytest.raises(ValueError, match=r"\(2,\).*\(3,\)"):
            query(MANY, Sphere(1.0).at(np.tile(np.eye(4), (3, 1, 1))))


@pytest.mark.parametrize("bad", [-1.0, -1e-300, np.nan, -np.inf])
@pytest.mark.parametrize("a", [Sphere(1.0), MANY], ids=["shape", "batch"])
def test_what_is_no_margin_is_refused(a, bad):
    with pytest.raises(ValueError, match="margin"):
        within(a, Sphere(1.0), bad)


@pytest.mark.parametrize("bad", [None, "1", [1.0, 2.0], 1j])
@pytest.mark.parametrize("a", [Sphere(1.0), MANY], ids=["shape", "batch"])
def test_what_is_no_number_is_refused(a, bad):
    with pytest.raises((TypeError, ValueError)):
        within(a, Sphere(1.0), bad)
    with pytest.raises((TypeError, ValueError)):
        distance(a, Sphere(1.0), at_most=bad)


@pytest.mark.parametrize("a", [Sphere(1.0), COMPOUND, MANY], ids=["shape", "compound", "batch"])
def test_distance_cannot_be_asked_for_at_most_nan(a):
    with pytest.raises(ValueError, match="at_most"):
        distance(a, Sphere(1.0), at_most=np.nan)


@pytest.mark.parametrize("a", [Sphere(1.0), MANY], ids=["shape", "batch"])
@pytest.mark.parametrize("bad", [0, -1, "2", 2.5, np.nan, 10**12])
def test_what_is_no_number_of_threads_is_refused(a, bad):
    with pytest.raises((ValueError, TypeError, OverflowError), match="threads"):
        distance(a, Sphere(1.0), threads=bad)


def test_numbers_of_numpy_are_numbers():
    gap = distance(Sphere(1.0), Sphere(1.0).at(3 * X), at_most=np.float32(2.0))
    assert gap.distance == 1.0
    assert within(Sphere(1.0), Sphere(1.0).at(3 * X), np.float64(1.0)) is True
    assert distance(MANY, Sphere(1.0), threads=np.int64(2)).distance.tolist() == [-2, -2]


def test_exact_distance_of_a_pair_that_is_easy_by_hand():
    gap = distance(Sphere(1.0), Capsule(0.5, 2.0).at(poses.from_axis_angle(Y, np.pi / 2, [0.0, 3, 0])))
    assert Decimal(gap.distance) == Decimal("1.5")
    assert gap.point_a.tolist() == [0, 1, 0]
    assert gap.point_b.tolist() == [0, 2.5, 0]


@pytest.mark.parametrize("away", [0.0, 1.0, 1e6])
def test_a_shape_is_within_the_distance_it_has(away):
    rng = np.random.default_rng(3)
    for a, b in ((cl.Box([1.0, 1.0, 1.0]), cl.Cylinder(0.5, 1.0)), (cl.Ellipsoid([1.0, 0.5, 0.3]), cl.Cone(0.4, 1.0))):
        placed = [
            shape.at(poses.from_rpy(rng.uniform(-3, 3, 3), away * X + y * Y)) for shape, y in ((a, 0.0), (b, 3.0))
        ]
        for one, other in (placed, placed[::-1]):
            margin = distance(one, other).distance
            assert within(one, other, margin)
            assert within(one, other.shape.at(np.tile(other.pose, (3, 1, 1))), margin).all()
            assert not within(one, other, margin * (1.0 - 1e-6))


def test_threads_do_not_change_what_is_within():
    capsules = CAPSULE.at(poses.from_rpy(np.zeros((500, 3)), np.linspace(0.0, 4.0, 500)[:, None] * X))
    found = [within(Sphere(1.0), capsules, 0.5, threads=threads) for threads in (None, 1, 2)]
    assert (found[0] == found[1]).all()
    assert (found[0] == found[2]).all()
    assert 0 < found[0].sum() < 500
    assert (collides(Sphere(1.0), capsules, threads=1) == collides(Sphere(1.0), capsules)).all()
    for threads in (0, -1, "two", 1.5):
        with pytest.raises((TypeError, ValueError), match="threads"):
            within(Sphere(1.0), CAPSULE, 0.5, threads=threads)


@pytest.mark.parametrize("length", [1e-76, 1e-160, 5e-324])
def test_lengths_whose_squares_vanish_are_refused(length):
    corners = length * np.concatenate([np.eye(3), -np.eye(3)])
    for make in (
        lambda: Sphere(length),
        lambda: cl.Box([1.0, length, 1.0]),
        lambda: Capsule(0.1, length),
        lambda: cl.ConvexHull(corners),
    ):
        with pytest.raises(ValueError, match="at least 1e-75"):
            make()


@pytest.mark.parametrize("ask", [distance, collides, cl.contacts, lambda a, b: within(a, b, 0.1)])
@pytest.mark.parametrize("wrong", [None, 1.0, "ball", [1.0, 0.0, 0.0]], ids=repr)
def test_what_is_no_shape_is_named(ask, wrong):
    for a, b, name in ((wrong, CAPSULE, "a"), (CAPSULE, wrong, "b")):
        with pytest.raises(TypeError, match=f"^{name} must be a shape or a placed shape, but it is "):
            ask(a, b)
