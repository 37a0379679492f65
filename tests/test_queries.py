"""Shapes as values, and the distance between two of them: one pair, many pairs, and everything that is not a pair."""

import contextlib
import copy
import math
import os
import pickle
import re
import sys
from dataclasses import astuple
from decimal import Decimal

import numpy as np
import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clearance
from clearance import (
    Capsule,
    Compound,
    Placed,
    PlacedBatch,
    Shape,
    Sphere,
    SweptPoint,
    SweptSegment,
    SweptTriangle,
    collides,
    distance,
    poses,
    within,
)
from clearance.elements import closest
from oracles import allowance, signed_distance, size_of_pair, witness_error
from strategies import cores_in_the_world, random_compound, random_shapes, rigid_motions, seeds

EPS = np.finfo(float).eps

X, Y, Z = np.eye(3)
SHAPES = {
    "Sphere": Sphere(0.5),
    "Capsule": Capsule(0.25, 1.5),
    "SweptPoint": SweptPoint(X, 0.5),
    "SweptSegment": SweptSegment(X, Y, 0.125),
    "SweptTriangle": SweptTriangle(X, Y, Z, 0.0),
    "Compound": Compound([Sphere(0.5), Capsule(0.25, 1.5).at([1.0, 0, 0])]),
    "nested Compound": Compound([Compound([Sphere(0.5).at([0.0, 1, 0])]).at([1.0, 0, 0]), Capsule(0.25, 1.5)]),
}
every_shape = pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
TILTED = poses.from_rpy([0.3, -0.7, 1.9], [0.1, -0.2, 0.4])

COPIES = {"copy": copy.copy, "deepcopy": copy.deepcopy} | {
    f"pickle {protocol}": lambda x, protocol=protocol: pickle.loads(pickle.dumps(x, protocol))
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)
}
FIELDS = ("distance", "lower", "upper", "point_a", "point_b", "normal", "feature_a", "feature_b")


def assert_same_bits(found, expected):
    for name in FIELDS:
        kind = np.int32 if name.startswith("feature") else np.float64
        x, y = (np.asarray(getattr(gap, name), dtype=kind) for gap in (found, expected))
        assert x.shape == y.shape
        assert x.tobytes() == y.tobytes(), name


def assert_tells(error, number):
    """Check that a message holds a number with digits enough to replay it."""
    words = re.findall(r"[-+.\w]*\w", str(error.value))
    found = [float(word) for word in words if re.fullmatch(r"[-+]?(\d.*|nan|inf)", word) and not word.endswith("e")]
    assert any(np.array_equal(x, number, equal_nan=True) for x in found), str(error.value)


# Shapes are values ---------------------------------------------------------------------------------------------------


@every_shape
def test_what_is_printed_makes_the_same_shape(shape):
    names = {name: getattr(clearance, name) for name in clearance.__all__}
    assert eval(repr(shape), names) == shape
    assert eval(repr(shape.at(TILTED)), names) == shape.at(TILTED)


@every_shape
@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
def test_copies_are_equal(shape, copied):
    again = copied(shape)
    assert type(again) is type(shape)
    assert again == shape
    assert hash(again) == hash(shape)
    assert np.array_equal(again.ball[0], shape.ball[0])
    for (core, radius), (core_again, radius_again) in zip(shape.elements, again.elements, strict=True):
        assert np.array_equal(core, core_again)
        assert radius == radius_again


@every_shape
@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
def test_copies_of_placed_shapes_are_equal(shape, copied):
    placed, batch = shape.at(TILTED), shape.at(rigid_motions(np.random.default_rng(1), 1000).reshape(10, 100, 4, 4))
    assert copied(placed) == placed
    assert hash(copied(placed)) == hash(placed)
    assert copied(batch).shape == shape
    assert np.array_equal(copied(batch).poses, batch.poses)


def test_different_shapes_differ():
    shapes = [*SHAPES.values(), Sphere(0.75), Capsule(0.25, 1.25), SweptPoint(Y, 0.5), Compound([Sphere(0.5)])]
    assert len(set(shapes)) == len(shapes)
    assert all((a == b) == (i == j) for i, a in enumerate(shapes) for j, b in enumerate(shapes))
    assert Sphere(0.5).at(X) != Sphere(0.5).at(Y)
    assert Sphere(0.5).at(X) != Sphere(0.75).at(X)


@every_shape
@pytest.mark.parametrize("other", [None, 1.0, "Sphere(0.5)", Sphere, X], ids=repr)
def test_shapes_equal_nothing_else(shape, other):
    assert not np.any(shape == other)
    assert np.all(shape != other)
    assert not np.any(shape.at(X) == other)


def test_zero_has_no_sign():
    assert SweptPoint(-0.0 * X, 1.0) == SweptPoint(0.0 * X, 1.0)
    assert hash(SweptPoint(-0.0 * X, 1.0)) == hash(SweptPoint(0.0 * X, 1.0))


@every_shape
def test_shapes_cannot_be_changed(shape):
    before = repr(shape)
    for name in ("radius", "length", "ball", "elements", "parts", "colour"):
        with pytest.raises(AttributeError):
            setattr(shape, name, 1.0)
    with pytest.raises(AttributeError):
        shape.at(X).pose = np.eye(4)
    for core, _ in shape.elements:
        core[:] = 7.0
    shape.ball[0][:] = 7.0
    placed = shape.at(X)
    placed.pose[:] = 7.0
    placed.shape.at(X).pose[:] = 7.0
    assert repr(shape) == before
    assert np.array_equal(placed.pose, poses.from_translation(X))


def test_shapes_do_not_follow_the_arrays_they_were_made_from():
    p, pose, many = np.array(X), np.array(TILTED), np.stack([TILTED, TILTED])
    point = SweptPoint(p, 1.0)
    placed, batch = point.at(pose), point.at(many)
    for array in (p, pose, many):
        array[:] = 9.0
    assert point == SweptPoint(X, 1.0)
    assert placed == point.at(TILTED)
    assert np.array_equal(batch.poses[1], placed.pose)


def test_shapes_know_their_measures():
    assert (SHAPES["Capsule"].radius, SHAPES["Capsule"].length) == (0.25, 1.5)
    assert SHAPES["SweptTriangle"].radius == 0.0
    assert SHAPES["Compound"].parts == (Sphere(0.5), Capsule(0.25, 1.5).at([1.0, 0, 0]))
    assert [radius for _, radius in SHAPES["nested Compound"].elements] == [0.5, 0.25]
    assert np.array_equal(SHAPES["nested Compound"].elements[0][0], [[1, 1, 0]])


@given(seeds())
def test_ball_holds_the_shape(seed):
    rng = np.random.default_rng(seed)
    for shape in [*random_shapes(rng, 20), random_compound(rng, 7)]:
        centre, radius = shape.ball
        for core, sweep in shape.elements:
            assert np.all(np.linalg.norm(core - centre, axis=1) + sweep <= radius + 8 * EPS * (1 + radius))


def test_numbers_of_every_type_will_do():
    assert Sphere(1) == Sphere(np.int64(1)) == Sphere(np.float32(1)) == Sphere(1.0) == Sphere(np.array(1.0))
    points = [[1, 0, 0], (1.0, 0.0, 0.0), X, X.astype(np.float32), X.astype(int), np.repeat(X, 2)[::2], np.eye(3)[:, 0]]
    frozen = np.array(X)
    frozen.setflags(write=False)
    for p in [*points, frozen]:
        assert SweptPoint(p, 0.5) == SweptPoint(X, 0.5)
        assert SweptSegment(p, p, 0.5) == SweptSegment(X, X, 0.5)
        assert SweptTriangle(p, Y, p, 0.5) == SweptTriangle(X, Y, X, 0.5)


NOT_A_LENGTH = [-1.0, -1e-300, np.nan, np.inf, -np.inf, 1e31]
NOT_A_NUMBER = [None, "1", [1.0, 2.0], 1j, Sphere]
NOT_A_POINT = [
    [np.nan, 0, 0],
    [0, np.nan, 0],
    [0, 0, np.nan],
    [np.inf, 0, 0],
    [0, -np.inf, 0],
    [0, 0, 1e31],
    [-1e31, 0, 0],
]
NOT_A_VECTOR = {
    "None": None,
    "number": 1.0,
    "text": "xyz",
    "two numbers": [1.0, 2.0],
    "row": np.zeros((1, 3)),
    "four numbers": np.zeros(4),
    "objects": [object()] * 3,
    "complex": np.array([1j, 0, 0]),
}


@pytest.mark.parametrize("bad", [*NOT_A_LENGTH, 0.0])
@pytest.mark.parametrize(
    ("name", "made"),
    [("radius", Sphere), ("radius", lambda bad: Capsule(bad, 1.0)), ("length", lambda bad: Capsule(1.0, bad))],
)
def test_what_is_no_length_is_refused_by_name(name, made, bad):
    with pytest.raises(ValueError, match=f"^{name} ") as error:
        made(bad)
    assert_tells(error, bad)


@pytest.mark.parametrize("bad", NOT_A_LENGTH)
@pytest.mark.parametrize(("kind", "corners"), [(SweptPoint, [X]), (SweptSegment, [X, Y]), (SweptTriangle, [X, Y, Z])])
def test_what_is_no_radius_is_refused_by_name(kind, corners, bad):
    with pytest.raises(ValueError, match=r"^radius ") as error:
        kind(*corners, bad)
    assert_tells(error, bad)


@pytest.mark.parametrize("bad", NOT_A_NUMBER, ids=repr)
def test_what_is_no_number_is_no_radius(bad):
    for made in (Sphere, lambda bad: Capsule(bad, 1.0), lambda bad: Capsule(1.0, bad), lambda bad: SweptPoint(X, bad)):
        with pytest.raises((TypeError, ValueError)):
            made(bad)


with_a_point = pytest.mark.parametrize(
    ("name", "made"),
    [
        ("p", lambda bad: SweptPoint(bad, 1.0)),
        ("p", lambda bad: SweptSegment(bad, X, 1.0)),
        ("q", lambda bad: SweptSegment(X, bad, 1.0)),
        ("p", lambda bad: SweptTriangle(bad, X, Y, 1.0)),
        ("q", lambda bad: SweptTriangle(X, bad, Y, 1.0)),
        ("s", lambda bad: SweptTriangle(X, Y, bad, 1.0)),
    ],
)


@with_a_point
@pytest.mark.parametrize("bad", NOT_A_POINT, ids=repr)
def test_what_is_no_point_is_refused_by_name(name, made, bad):
    with pytest.raises(ValueError, match=f"^{name} "):
        made(np.array(bad))


@with_a_point
@pytest.mark.parametrize("bad", NOT_A_VECTOR.values(), ids=NOT_A_VECTOR)
def test_what_is_no_vector_is_refused_by_name(name, made, bad):
    with pytest.raises((TypeError, ValueError), match=rf"\b{name}\b"):
        made(bad)


@pytest.mark.parametrize(
    "bad", [[], None, Sphere(1.0), [None], ["x"], [Sphere(1.0), 3], [Sphere(1.0).at([np.eye(4)])]], ids=repr
)
def test_what_has_no_parts_is_no_compound(bad):
    with pytest.raises((TypeError, ValueError)):
        Compound(bad)


def test_compound_takes_any_iterable_of_parts():
    parts = [Sphere(0.5), Capsule(0.25, 1.5).at([1.0, 0, 0])]
    assert Compound(parts) == Compound(tuple(parts)) == Compound(iter(parts)) == Compound(p for p in parts)


@pytest.mark.parametrize("kind", [Shape, Placed, PlacedBatch, clearance.Gap, clearance.Work])
def test_what_cannot_be_made_by_hand_says_so(kind):
    with pytest.raises(TypeError):
        kind()


@pytest.mark.filterwarnings("ignore:nanobind")
def test_half_made_shapes_are_refused():
    for kind in (Sphere, Compound, Placed, PlacedBatch, Shape):
        half = kind.__new__(kind)
        with pytest.raises(TypeError):
            distance(half, Sphere(1.0))
    with pytest.raises((TypeError, RuntimeError)):
        Sphere.__new__(Sphere).at(X)
    whole = Sphere(1.0)
    with pytest.raises(TypeError):
        whole.__init__(2.0)
    assert whole == Sphere(1.0)


# Poses of shapes -----------------------------------------------------------------------------------------------------


class LikePinocchio:
    def __init__(self, matrix):
        self.homogeneous = matrix


class LikeViser:
    def __init__(self, matrix):
        self.matrix = matrix

    def as_matrix(self):
        return self.matrix


def frozen(array):
    array = np.array(array)
    array.setflags(write=False)
    return array


@pytest.mark.parametrize(
    "described",
    [
        np.array,
        frozen,
        np.ndarray.tolist,
        np.asfortranarray,
        lambda m: np.ascontiguousarray(m.T).T,
        lambda m: np.repeat(np.repeat(m, 2, axis=0), 3, axis=1)[::2, ::3],
        lambda m: m.astype(object),
        LikePinocchio,
        LikeViser,
    ],
)
def test_pose_may_be_described_in_many_ways(described):
    shape = Capsule(0.25, 1.5)
    assert shape.at(described(TILTED)) == shape.at(TILTED)
    many = np.stack([TILTED, np.eye(4), TILTED])
    assert np.array_equal(shape.at(described(many)).poses, shape.at(many).poses)
    assert shape.at(described(many)).dims == (3,)


def test_poses_in_single_precision_are_repaired():
    shape, single = Capsule(0.25, 1.5), TILTED.astype(np.float32)
    rotation = shape.at(single).pose[:3, :3]
    assert np.max(np.abs(rotation.T @ rotation - np.eye(3))) <= 4 * EPS
    assert np.max(np.abs(shape.at(single).pose - TILTED)) <= 1e-6


def test_vector_of_length_three_is_a_translation():
    for vector in ([1, 2, 3], (1.0, 2.0, 3.0), np.array([1, 2, 3]), np.array([1, 2, 3], dtype=np.float32)):
        assert np.array_equal(Sphere(1.0).at(vector).pose, poses.from_translation([1, 2, 3]))


def test_rotation_a_little_off_is_replaced_by_the_nearest():
    rng = np.random.default_rng(2)
    motions = rigid_motions(rng, 200)
    crooked = motions.copy()
    crooked[:, :3, :3] += rng.uniform(-1e-7, 1e-7, size=(200, 3, 3))
    repaired = Sphere(1.0).at(crooked).poses
    left, _, right = np.linalg.svd(crooked[:, :3, :3])
    assert np.max(np.abs(repaired[:, :3, :3] - left @ right)) <= 1e-14
    assert np.max(np.abs(np.swapaxes(repaired, 1, 2)[:, :3, :3] @ repaired[:, :3, :3] - np.eye(3))) <= 4 * EPS
    assert np.array_equal(repaired[:, :3, 3], motions[:, :3, 3])


def test_pose_of_a_placed_shape_places_it_there_again():
    rng = np.random.default_rng(3)
    crooked = rigid_motions(rng, 20000)
    crooked[::2, :3, :3] += rng.uniform(-3e-7, 3e-7, size=(10000, 3, 3))
    placed = Sphere(1.0).at(crooked)
    assert np.array_equal(Sphere(1.0).at(placed.poses).poses, placed.poses)


def changed(row, column, value):
    pose = np.array(TILTED)
    pose[row, column] = value
    return pose


NOT_RIGID = {
    "NaN": changed(0, 0, np.nan),
    "infinity": changed(1, 3, np.inf),
    "beyond 1e30": changed(0, 3, -1e31),
    "far beyond 1e30": changed(2, 3, 1e300),
    "scale": np.diag([2.0, 2, 2, 1]),
    "tiny scale": np.diag([1 + 1e-5, 1 + 1e-5, 1 + 1e-5, 1]),
    "shear": TILTED @ (np.eye(4) + 0.1 * np.outer(np.eye(4)[0], np.eye(4)[1])),
    "tiny shear": TILTED @ (np.eye(4) + 1e-5 * np.outer(np.eye(4)[0], np.eye(4)[1])),
    "reflection": np.diag([1.0, 1, -1, 1]),
    "inversion": np.diag([-1.0, -1, -1, 1]),
    "zero": np.zeros((4, 4)),
    "transposed": TILTED.T,
    "last entry": changed(3, 3, 2.0),
    "objects": np.full((4, 4), object()),
    "texts": np.full((4, 4), "a"),
    "complex": np.eye(4) * (1 + 0j),
}
NOT_A_POSE = NOT_RIGID | {
    "NaN translation": [0.0, np.nan, 0.0],
    "far translation": [0.0, 0.0, 1e31],
    "3 by 3": np.eye(3),
    "3 by 4": np.eye(4)[:3],
    "list of translations": np.zeros((5, 3)),
    "four numbers": np.zeros(4),
    "number": 1.0,
    "None": None,
    "text": "here",
    "ragged": [[1.0, 0, 0, 0], [0, 1]],
    "dictionary": {},
    "rotation only": LikeViser(np.eye(3)),
}


@pytest.mark.parametrize("bad", NOT_A_POSE.values(), ids=NOT_A_POSE)
def test_what_is_no_pose_is_refused(bad):
    with pytest.raises((ValueError, TypeError)):
        Sphere(1.0).at(bad)


@pytest.mark.parametrize("bad", NOT_RIGID.values(), ids=NOT_RIGID)
def test_one_bad_pose_spoils_a_batch(bad):
    with pytest.raises((ValueError, TypeError)):
        Sphere(1.0).at([np.eye(4), bad, np.eye(4)])


def test_batches_know_their_shape():
    batch = Sphere(1.0).at(np.broadcast_to(TILTED, (3, 2, 4, 4)))
    assert batch.dims == (3, 2)
    assert len(batch) == 3
    assert batch.poses.shape == (3, 2, 4, 4)
    assert batch.shape == Sphere(1.0)
    assert "(3, 2)" in repr(batch)


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
    a, b = SHAPES["Compound"], SHAPES["Capsule"].at([2.0, 1, 0])
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
    for gaps in (distance(nothing, Sphere(1.0)), distance(SHAPES["Compound"], nothing), distance(nothing, nothing)):
        assert gaps.distance.shape == dims
        assert gaps.point_b.shape == (*dims, 3)
        assert gaps.work.pairs == 0
        assert str(dims) in repr(gaps)
    assert collides(nothing, Sphere(1.0)).shape == within(nothing, nothing, 1.0).shape == dims


@pytest.mark.parametrize("shape", [SHAPES["Capsule"], SHAPES["Compound"]])
def test_number_of_threads_changes_no_bit(shape):
    rng = np.random.default_rng(7)
    batch = shape.at(rigid_motions(rng, 6000))
    other = SHAPES["SweptTriangle"].at(rigid_motions(rng, 6000))
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


@pytest.mark.parametrize("a", [Sphere(1.0), SHAPES["Compound"], MANY], ids=["shape", "compound", "batch"])
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
