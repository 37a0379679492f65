"""Calls for one pair and without options: the core answers them at once, and nobody can tell."""

import copy
import gc
import inspect
import pickle
import pickletools
import weakref
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given

import clearance as cl
from solids import draw_shape
from strategies import random_compound, rigid_motions, seeds

QUERIES = (cl.distance, cl.within, cl.collides)
SOLIDS = ["Sphere", "Capsule", "Box", "Cylinder", "Cone", "Ellipsoid", "ConvexHull"]
BALL, GROUND = cl.Sphere(1.0), cl.HalfSpace([0, 0, 1], 0.0)
MORE_THAN_ARE_KEPT = 5000

every_query = pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.__name__)


def state_of(gap):
    return pickle.dumps(gap.__getstate__()[:-1]), gap.work


@given(seeds())
def test_answers_are_those_of_the_function(seed):
    rng = np.random.default_rng(seed)
    shapes = [*(draw_shape(rng, kind) for kind in SOLIDS), random_compound(rng, 3), GROUND]
    motions = rigid_motions(rng, len(shapes))
    placed = [shape.at(motion) for shape, motion in zip(shapes, motions, strict=True)]
    for a, b in [*pairwise(placed), *pairwise(shapes)]:
        gap = cl.distance(a, b)
        assert state_of(gap) == state_of(cl.distance.__wrapped__(a, b)) == state_of(cl.distance(a=a, b=b))
        assert cl.collides(a, b) is cl.collides.__wrapped__(a, b) is (gap.distance <= 0.0)
        for margin in (0.0, abs(gap.distance), 0.5 * abs(gap.distance), np.inf):
            margin = float(margin)
            assert cl.within(a, b, margin) is cl.within.__wrapped__(a, b, margin) is (gap.distance <= margin)


@pytest.mark.parametrize(
    ("query", "arguments"),
    [
        (cl.distance, (None, BALL)),
        (cl.distance, (BALL, "a ball")),
        (cl.distance, (BALL,)),
        (cl.distance, (BALL, BALL, 1.0)),
        (cl.distance, (GROUND, GROUND.at([0, 0, -1.0]))),
        (cl.within, (BALL, BALL)),
        (cl.within, (BALL, BALL, -1.0)),
        (cl.within, (BALL, BALL, np.nan)),
        (cl.within, (BALL, BALL, "1")),
        (cl.within, (BALL, 1.0, 1.0)),
        (cl.within, (GROUND, GROUND, 1.0)),
        (cl.collides, (BALL,)),
        (cl.collides, (BALL, None)),
        (cl.collides, (GROUND, GROUND)),
    ],
)
def test_errors_are_those_of_the_function(query, arguments):
    with pytest.raises((TypeError, ValueError)) as expected:
        query.__wrapped__(*arguments)
    with pytest.raises(expected.type) as found:
        query(*arguments)
    assert str(found.value) == str(expected.value)


@pytest.mark.filterwarnings("ignore:nanobind")
@pytest.mark.parametrize("kind", [cl.Placed, cl.Sphere, cl.Shape])
@every_query
def test_what_was_never_made_is_no_shape(query, kind):
    with pytest.raises(TypeError):
        query(kind.__new__(kind), BALL, *[1.0] * (query is cl.within))


def test_margins_need_not_be_floats():
    apart = BALL.at([3.0, 0, 0])
    for margin in (1, np.float32(1.0), np.float64(1.0)):
        assert cl.within(BALL, apart, margin) is True
    assert cl.within(BALL, apart, margin=0.5) is False


def test_shapes_of_derived_classes_are_shapes():
    class Marble(cl.Sphere):
        pass

    assert cl.distance(Marble(1.0), Marble(0.5).at([3.0, 0, 0])).distance == 1.5


# Like functions ------------------------------------------------------------------------------------------------------


@every_query
def test_query_looks_like_its_function(query):
    function = query.__wrapped__
    assert inspect.isfunction(function)
    assert inspect.isroutine(query)
    assert inspect.signature(query) == inspect.signature(function)
    for name in ("__name__", "__qualname__", "__module__", "__doc__", "__annotations__"):
        assert getattr(query, name) == getattr(function, name)
    assert query.__name__ in repr(query)


@every_query
def test_query_is_copied_and_pickled_by_its_name(query):
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(query, protocol)) is query
    assert any(argument == "clearance.queries" for _, argument, _ in pickletools.genops(pickle.dumps(query)))
    assert copy.copy(query) is copy.deepcopy(query) is query
    assert weakref.ref(query)() is query


@every_query
def test_query_becomes_a_method_where_a_class_has_it(query):
    def found_in_a_class(function):
        return type("Ball", (), {"query": function})().query

    assert found_in_a_class(query).__func__ is query
    with pytest.raises(TypeError) as expected:
        found_in_a_class(query.__wrapped__)()
    with pytest.raises(TypeError) as found:
        found_in_a_class(query)()
    assert str(found.value) == str(expected.value)


@every_query
def test_kind_of_a_query_makes_nothing_else(query):
    with pytest.raises(TypeError):
        type(query)(query)


def test_query_is_let_go_with_its_function():
    class Function:
        def __call__(self, *arguments):
            return arguments

    function = Function()
    query = cl._core.quick_distance(function)
    function.query = query
    assert query(1, 2) == (1, 2)
    gone = weakref.ref(function), weakref.ref(query)
    del function, query
    gc.collect()
    assert [reference() for reference in gone] == [None, None]


# What Python holds ---------------------------------------------------------------------------------------------------


def test_places_in_memory_are_used_again_by_nobody_who_is_still_there():
    kept = [cl.distance(BALL, BALL.at([3.0 + k, 0, 0])) for k in range(10)]
    placed = [BALL.at([k, 0, 0]) for k in range(10)]
    for _ in range(3):
        many = [cl.distance(BALL, BALL.at([4.0 + k, 0, 0])) for k in range(MORE_THAN_ARE_KEPT)]
        shapes = [BALL.at([k, 1, 0]) for k in range(MORE_THAN_ARE_KEPT)]
        assert [gap.distance for gap in many] == [2.0 + k for k in range(MORE_THAN_ARE_KEPT)]
        assert [shape.pose[0, 3] for shape in shapes] == list(range(MORE_THAN_ARE_KEPT))
        del many, shapes
    assert [gap.distance for gap in kept] == [1.0 + k for k in range(10)]
    assert [shape.pose[0, 3] for shape in placed] == list(range(10))


def test_placed_shape_keeps_its_shape():
    placed = [cl.Box([1.0, 1.0, 1.0 + k]).at([0, 0, 2.0 + k]) for k in range(100)]
    gc.collect()
    for k, box in enumerate(placed):
        assert cl.distance(BALL, box).distance == pytest.approx(0.5 + 0.5 * k)
    many = cl.Box([1.0, 1.0, 3.0]).at(np.tile(np.eye(4), (4, 1, 1)))
    gc.collect()
    assert np.all(cl.distance(BALL, many).distance < 0.0)


def test_poses_that_are_refused_leave_nothing_behind():
    before = cl.distance(BALL, BALL.at([3.0, 0, 0]))
    for _ in range(100):
        with pytest.raises(ValueError, match="orthonormal"):
            BALL.at(2.0 * np.eye(4) - np.diag([0, 0, 0, 1.0]))
    assert cl.distance(BALL, BALL.at([3.0, 0, 0])).distance == before.distance
