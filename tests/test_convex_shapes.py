"""Boxes, cylinders, cones, ellipsoids, hulls and half-spaces as values; hulls that are flat, and what is no shape."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clearance as cl
from clearance import poses
from solids import EPS, KINDS, bounding_radius, draw_shape, support
from strategies import rigid_motions, seeds

X, Y, Z = np.eye(3)
TETRAHEDRON = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
SHAPES = {
    "Box": cl.Box([1.0, 0.5, 0.25]),
    "Cylinder": cl.Cylinder(0.25, 1.5),
    "Cone": cl.Cone(0.25, 1.5),
    "Ellipsoid": cl.Ellipsoid([1.0, 0.5, 0.25]),
    "ConvexHull": cl.ConvexHull(TETRAHEDRON),
    "rounded ConvexHull": cl.ConvexHull(TETRAHEDRON, 0.1),
    "HalfSpace": cl.HalfSpace([0.0, 0.6, 0.8], 0.5),
    "Compound": cl.Compound([cl.Box([1, 2, 3]), cl.Cone(0.25, 1.5).at([1.0, 0, 0])]),
}
every_shape = pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
TILTED = poses.from_rpy([0.3, -0.7, 1.9], [0.1, -0.2, 0.4])


# Shapes are values ---------------------------------------------------------------------------------------------------


@every_shape
def test_what_is_printed_makes_the_same_shape(shape):
    names = {name: getattr(cl, name) for name in cl.__all__} | {"array": np.array}
    assert eval(repr(shape), names) == shape
    assert eval(repr(shape.at(TILTED)), names) == shape.at(TILTED)


@every_shape
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_are_equal_and_measure_the_same(shape, copied):
    again, ball = copied(shape), cl.Sphere(0.1).at([3.0, 2, 4])
    assert type(again) is type(shape)
    assert again == shape
    assert hash(again) == hash(shape)
    assert cl.distance(again, ball).distance == cl.distance(shape, ball).distance
    assert copied(shape.at(TILTED)) == shape.at(TILTED)


def test_different_shapes_differ():
    others = [
        cl.Box([1.0, 0.5, 0.5]),
        cl.Cylinder(0.25, 1.25),
        cl.Cone(0.5, 1.5),
        cl.Ellipsoid([1, 0.5, 0.5]),
        cl.ConvexHull(2 * TETRAHEDRON),
        cl.ConvexHull(TETRAHEDRON, 0.2),
        cl.HalfSpace([0.0, 0.6, 0.8], 0.25),
    ]
    shapes = [*SHAPES.values(), *others]
    assert len(set(shapes)) == len(shapes)
    assert all((a == b) == (i == j) for i, a in enumerate(shapes) for j, b in enumerate(shapes))
    assert cl.Box([1, 1, 1]) is not None
    assert cl.Box([1, 1, 1]) != 1.0


def test_shapes_know_their_measures():
    assert np.array_equal(SHAPES["Box"].size, [1.0, 0.5, 0.25])
    assert (SHAPES["Cylinder"].radius, SHAPES["Cylinder"].length) == (0.25, 1.5)
    assert (SHAPES["Cone"].radius, SHAPES["Cone"].length) == (0.25, 1.5)
    assert np.array_equal(SHAPES["Ellipsoid"].radii, [1.0, 0.5, 0.25])
    assert SHAPES["ConvexHull"].radius == 0.0
    assert SHAPES["rounded ConvexHull"].radius == 0.1
    assert {tuple(p) for p in SHAPES["ConvexHull"].points} == {tuple(p) for p in TETRAHEDRON}
    unit = np.linalg.norm(SHAPES["HalfSpace"].normal)
    assert np.allclose(np.array(SHAPES["HalfSpace"].normal) / unit, [0, 0.6, 0.8], rtol=0, atol=4 * EPS)
    assert np.isclose(SHAPES["HalfSpace"].offset / unit, 0.5, rtol=4 * EPS)


@every_shape
def test_shapes_cannot_be_changed(shape):
    before = repr(shape)
    for name in ("size", "radius", "length", "radii", "points", "normal", "offset", "colour"):
        with pytest.raises(AttributeError):
            setattr(shape, name, 1.0)
    for name in ("size", "radii", "points", "normal"):
        try:
            getattr(shape, name)[:] = 7.0
        except (AttributeError, TypeError, ValueError):
            continue
    assert repr(shape) == before


def test_shapes_do_not_follow_the_arrays_they_were_made_from():
    size, points = np.ones(3), TETRAHEDRON.copy()
    box, hull = cl.Box(size), cl.ConvexHull(points)
    size[:], points[:] = 9.0, 9.0
    assert box == cl.Box([1, 1, 1])
    assert hull == cl.ConvexHull(TETRAHEDRON)


@given(seeds(), st.sampled_from([kind for kind in KINDS if kind != "HalfSpace"]))
def test_ball_holds_the_shape_and_is_not_much_larger(seed, kind):
    rng = np.random.default_rng(seed)
    shape = draw_shape(rng, kind)
    centre, radius = shape.ball
    points = support(shape, rng.normal(size=(500, 3)))
    assert np.max(np.linalg.norm(points - centre, axis=1)) <= radius + 8 * EPS
    assert radius <= 1.5 * bounding_radius(shape)


# Hulls of every dimension --------------------------------------------------------------------------------------------


def assert_measure_the_same(shape, other, seed):
    rng = np.random.default_rng(seed)
    for kind in KINDS:
        against = draw_shape(rng, kind).at(rigid_motions(rng, 20))
        found, expected = cl.distance(shape, against), cl.distance(other, against)
        assert np.all(np.abs(found.distance - expected.distance) <= 4e-7), kind
        assert np.all(found.lower <= expected.upper + 1e-12), kind
        assert np.all(expected.lower <= found.upper + 1e-12), kind


@given(seeds(), st.floats(0.01, 0.5))
def test_hulls_of_few_points_are_swept_elements(seed, r):
    p, q, s = np.random.default_rng(seed).normal(size=(3, 3))
    assert_measure_the_same(cl.ConvexHull([p], r), cl.SweptPoint(p, r), seed)
    assert_measure_the_same(cl.ConvexHull([p, q], r), cl.SweptSegment(p, q, r), seed)
    assert_measure_the_same(cl.ConvexHull([p, q, s], r), cl.SweptTriangle(p, q, s, r), seed)


@given(seeds(), st.sampled_from([0.0, 0.125]))
def test_points_that_add_nothing_change_nothing(seed, r):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(8, 3))
    inside = rng.dirichlet(np.ones(8), size=6) @ points
    assert_measure_the_same(cl.ConvexHull(np.vstack([inside, points, points[::-1]]), r), cl.ConvexHull(points, r), seed)


@given(seeds(), st.sampled_from([0.0, 0.125]))
def test_flat_hulls_are_as_near_as_their_halves(seed, r):
    rng = np.random.default_rng(seed)
    corners = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]) @ np.linalg.qr(rng.normal(size=(3, 3)))[0]
    middle = rng.uniform(size=(3, 4)) @ corners / 4
    hull = cl.ConvexHull(np.vstack([middle, corners, corners]), r)
    halves = [cl.SweptTriangle(*corners[[0, k, k + 1]], r) for k in (1, 2)]
    for kind in KINDS:
        against = draw_shape(rng, kind).at(2 * rng.normal(size=3) @ np.eye(3))
        found = cl.distance(hull, against).distance
        expected = min(cl.distance(half, against).distance for half in halves)
        # The halves together are the square, but a body may leave each of them sooner than both.
        assert found <= expected + 4e-7
        assert expected < r or abs(found - expected) <= 4e-9


@given(seeds(), st.sampled_from([0.0, 0.125]))
def test_collinear_hulls_are_segments(seed, r):
    rng = np.random.default_rng(seed)
    p, q = rng.normal(size=(2, 3))
    line = p + rng.uniform(size=(5, 1)) * (q - p)
    assert_measure_the_same(cl.ConvexHull(np.vstack([line, [q, p, p]]), r), cl.SweptSegment(p, q, r), seed)
    assert_measure_the_same(cl.ConvexHull([p] * 5, r), cl.SweptPoint(p, r), seed)


@given(seeds())
def test_hull_of_the_corners_is_the_box(seed):
    size = np.random.default_rng(seed).uniform(0.1, 1.0, size=3)
    corners = size / 2 * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    assert_measure_the_same(cl.ConvexHull(corners), cl.Box(size), seed)


@given(seeds())
def test_ellipsoid_with_equal_radii_is_a_sphere(seed):
    assert_measure_the_same(cl.Ellipsoid([0.75] * 3), cl.Sphere(0.75), seed)


@pytest.mark.parametrize("thickness", [1e-3, 1e-6, 1e-9, 1e-12, 1e-15])
def test_thin_plates_and_needles_keep_their_distance(thickness):
    for plate in (cl.Box([1, 1, thickness]), cl.Cylinder(0.5, thickness), cl.Ellipsoid([0.5, 0.5, thickness / 2])):
        for height in (1e-9, 1e-3, 1.0):
            gap = cl.distance(plate, cl.Box([0.5, 0.5, 1]).at([0, 0, 0.5 + height + thickness / 2]))
            assert abs(gap.distance - height) <= 2e-9
    for needle in (cl.Box([thickness, thickness, 1]), cl.Cylinder(thickness / 2, 1), cl.Cone(thickness / 2, 1)):
        gap = cl.distance(needle, cl.Sphere(0.5).at([0, 0, 2]))
        assert abs(gap.distance - 1.0) <= 2e-9


def test_length_of_a_normal_means_nothing():
    ball = cl.Sphere(0.5).at([0, 0, 3])
    for length in (1e-6, 1.0, 7.0, 1e6):
        gap = cl.distance(cl.HalfSpace([0, 0, length], length), ball)
        assert abs(gap.distance - 1.5) <= 1e-14
        assert np.allclose(gap.normal, Z, rtol=0, atol=1e-15)


def test_moved_half_space_moves_its_plane():
    tipped = poses.from_axis_angle(X, np.pi / 2, [0.0, 5, 0])
    gap = cl.distance(cl.HalfSpace(Z, 1.0).at(tipped), cl.Sphere(0.5).at([0, 0, 0]))
    assert abs(gap.distance - 3.5) <= 1e-14
    assert np.allclose(gap.normal, -Y, rtol=0, atol=1e-15)


# What is no shape ----------------------------------------------------------------------------------------------------

NOT_A_LENGTH = [0.0, -1.0, -1e-300, np.nan, np.inf, -np.inf, 1e31]
NOT_A_TRIPLE = {
    "None": None,
    "number": 1.0,
    "text": "xyz",
    "two": [1.0, 2.0],
    "four": np.ones(4),
    "row": np.ones((1, 3)),
    "complex": np.array([1j, 1, 1]),
}
LENGTHS = {
    "radius of a cylinder": ("radius", lambda bad: cl.Cylinder(bad, 1.0)),
    "length of a cylinder": ("length", lambda bad: cl.Cylinder(1.0, bad)),
    "radius of a cone": ("radius", lambda bad: cl.Cone(bad, 1.0)),
    "length of a cone": ("length", lambda bad: cl.Cone(1.0, bad)),
    **{f"size {k}": ("size", lambda bad, k=k: cl.Box(np.where(np.arange(3) == k, bad, 1.0))) for k in range(3)},
    **{f"radii {k}": ("radii", lambda bad, k=k: cl.Ellipsoid(np.where(np.arange(3) == k, bad, 1.0))) for k in range(3)},
}


@pytest.mark.parametrize(("name", "made"), LENGTHS.values(), ids=LENGTHS)
@pytest.mark.parametrize("bad", NOT_A_LENGTH)
def test_what_is_no_length_is_refused_by_name(name, made, bad):
    with pytest.raises(ValueError, match=rf"\b{name}\b"):
        made(bad)


@pytest.mark.parametrize(("name", "made"), [("size", cl.Box), ("radii", cl.Ellipsoid)])
@pytest.mark.parametrize("bad", NOT_A_TRIPLE.values(), ids=NOT_A_TRIPLE)
def test_what_is_no_triple_is_refused_by_name(name, made, bad):
    with pytest.raises((ValueError, TypeError), match=rf"\b{name}\b"):
        made(bad)


@pytest.mark.parametrize("bad", [[0, 0, 0], [np.nan, 0, 1], [0, np.inf, 0], *NOT_A_TRIPLE.values()], ids=repr)
def test_what_is_no_normal_is_refused_by_name(bad):
    with pytest.raises((ValueError, TypeError), match=r"\bnormal\b"):
        cl.HalfSpace(bad, 1.0)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_no_offset_is_refused_by_name(bad):
    with pytest.raises(ValueError, match=r"\boffset\b"):
        cl.HalfSpace([0, 0, 1], bad)


NO_POINTS = {
    "empty": np.zeros((0, 3)),
    "empty list": [],
    "None": None,
    "one vector": np.zeros(3),
    "planar": np.zeros((4, 2)),
    "stacked": np.zeros((2, 4, 3)),
    "NaN": np.array([[0, 0, 0], [np.nan, 0, 0]]),
    "infinity": np.array([[0, 0, 0], [0, -np.inf, 0]]),
    "beyond 1e30": np.array([[0, 0, 0], [0, 0, 1e31]]),
    "text": "points",
    "complex": np.array([[1j, 0, 0]]),
}


@pytest.mark.parametrize("bad", NO_POINTS.values(), ids=NO_POINTS)
def test_what_are_no_points_is_refused_by_name(bad):
    with pytest.raises((ValueError, TypeError), match=r"\bpoints\b"):
        cl.ConvexHull(bad)


@pytest.mark.parametrize("bad", [-1.0, -1e-300, np.nan, np.inf, 1e31])
def test_what_is_no_radius_of_a_hull_is_refused_by_name(bad):
    with pytest.raises(ValueError, match=r"\bradius\b"):
        cl.ConvexHull(TETRAHEDRON, bad)


@every_shape
@pytest.mark.parametrize(
    "bad", [np.diag([2.0, 2, 2, 1]), np.diag([1.0, 1, -1, 1]), np.zeros((4, 4)), [0, np.nan, 0], np.eye(3), None]
)
def test_what_is_no_pose_is_refused(shape, bad):
    with pytest.raises((ValueError, TypeError)):
        shape.at(bad)


@pytest.mark.parametrize("count", [8, 255, 257, 3000, 40_000])
@pytest.mark.parametrize("kind", ["round", "cubic", "cloud", "flat", "off centre"])
def test_hulls_of_any_size_find_their_farthest_point(kind, count):
    rng = np.random.default_rng(count)
    points = rng.normal(size=(count, 3))
    if kind == "round":
        points /= np.linalg.norm(points, axis=1)[:, None]
    elif kind == "cubic":
        points = np.clip(points, -0.5, 0.5)
    elif kind == "flat":
        points[:, 1] = 0.25
    elif kind == "off centre":
        points = 1e-3 * points + [3.0, -2.0, 5.0]
    hull = cl.ConvexHull(points)
    for direction in rng.normal(size=(30, 3)):
        direction /= np.linalg.norm(direction)
        found = cl.distance(cl.HalfSpace(direction, 0.0), hull)
        assert found.distance == pytest.approx((points @ direction).min(), abs=1e-14 * (1 + np.abs(points).max()))


@pytest.mark.parametrize("kind", ["round", "boxy", "flat", "needle", "many on a sphere"])
def test_points_inside_a_hull_change_nothing(kind):
    rng = np.random.default_rng(7)
    corners = rng.normal(size=(90, 3))
    if kind == "many on a sphere":
        corners = rng.normal(size=(700, 3))
        corners /= np.linalg.norm(corners, axis=1, keepdims=True)
    corners *= {"flat": [1.0, 1.0, 0.0], "needle": [1.0, 1e-9, 1e-9]}.get(kind, [1.0, 1.0, 1.0])
    if kind == "boxy":
        corners = np.sign(corners) * 0.5
    inside = 0.999 * (rng.dirichlet(np.ones(len(corners)), size=2000) @ corners)
    few, many = cl.ConvexHull(corners), cl.ConvexHull(np.concatenate([inside, corners]))
    poses = cl.poses.from_axis_angle(rng.normal(size=(200, 3)), rng.uniform(0, 3, 200), 3.0 * rng.normal(size=(200, 3)))
    other = cl.Box([0.4, 0.5, 0.6])
    before, after = cl.distance(few, other.at(poses)), cl.distance(many, other.at(poses))
    np.testing.assert_allclose(after.distance, before.distance, rtol=0, atol=1e-12)
