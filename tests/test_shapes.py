"""Shapes as values: printed, copied, compared, never changed, and refused where they make no sense."""

import copy
import pickle
import re

import numpy as np
import pytest
from hypothesis import given

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
    distance,
    poses,
)
from strategies import random_compound, random_shapes, rigid_motions, seeds

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


def assert_tells(error, number):
    """Check that a message holds a number with digits enough to replay it."""
    words = re.findall(r"[-+.\w]*\w", str(error.value))
    found = [float(word) for word in words if re.fullmatch(r"[-+]?(\d.*|nan|inf)", word) and not word.endswith("e")]
    assert any(np.array_equal(x, number, equal_nan=True) for x in found), str(error.value)


# Values --------------------------------------------------------------------------------------------------------------


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


# What makes no shape -------------------------------------------------------------------------------------------------


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
