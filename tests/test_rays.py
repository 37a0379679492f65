"""Rays: the first thing they meet, whatever it is, wherever they come from."""

import numpy as np
import pytest
from hypothesis import given, settings

import clearance as cl
import meshes
import ray_oracle as oracle
from meshes import CLOSED, SAMPLES, sample
from ray_cases import (
    EVERYTHING,
    SURFACES,
    X,
    Y,
    Z,
    assert_between,
    decided,
    drawn,
    made,
    moved_rays,
    same_bits,
    touches,
)
from ray_oracle import EPS, TOLERANCE, bracket, draw_rays, size_of
from solids import KINDS, draw_shape, unit
from strategies import rigid_motions, seeds

every_kind = pytest.mark.parametrize("kind", KINDS)
everything = pytest.mark.parametrize("kind", EVERYTHING)


# The oracle ----------------------------------------------------------------------------------------------------------


@given(seeds())
@settings(max_examples=5)
def test_oracle_knows_what_schoolbooks_know(seed):
    rng = np.random.default_rng(seed)
    radius = float(rng.uniform(0.5, 1))
    origins = 2 * unit(rng.normal(size=(100, 3)))
    directions = unit(rng.normal(size=(100, 3)) / 3 - origins)
    b, c = np.sum(origins * directions, axis=1), np.sum(origins**2, axis=1) - radius**2
    expected = np.where(b * b >= c, -b - np.sqrt(np.maximum(b * b - c, 0)), np.inf)
    low, high = bracket(cl.Sphere(radius), origins, directions)
    assert_between(expected, low, high, 1e-12)
    near, far = np.sort([(sign * radius - origins) / directions for sign in (-1, 1)], axis=0)
    expected = np.where(near.max(axis=1) <= far.min(axis=1), near.max(axis=1), np.inf)
    low, high = bracket(cl.Box([2 * radius] * 3), origins, directions)
    assert_between(expected, low, high, 1e-12)
    cube = meshes.Soup(meshes.box().vertices * [2, 2.5, 10 / 3] * radius, meshes.box().faces)
    low, high = bracket(made(cube), origins, directions)
    assert_between(expected, low, high, 1e-12)


def test_oracle_leaves_few_rays_open():
    shares = []
    for kind in EVERYTHING:
        target, origins, directions = drawn(np.random.default_rng(EVERYTHING.index(kind)), kind)
        low, high = bracket(target, origins, directions)
        shares.append(decided(low, high, 1e-6).mean())
        assert np.isfinite(low).mean() >= 0.2
    assert min(shares) > 0.3
    assert np.mean(shares) > 0.6


# First hits ----------------------------------------------------------------------------------------------------------


def assert_first_hits(seed, kind):
    target, origins, directions = drawn(np.random.default_rng([seed, EVERYTHING.index(kind)]), kind)
    found = cl.raycast(target, origins, directions)
    assert_between(found.distance, *bracket(target, origins, directions), TOLERANCE * size_of(target))


@everything
def test_first_hit_is_where_it_is(kind):
    for seed in range(12):
        assert_first_hits(seed, kind)


@pytest.mark.long
@everything
def test_first_hit_is_where_it_is_many_times(kind):
    for seed in range(12, 400):
        assert_first_hits(seed, kind)


@pytest.mark.parametrize("name", SAMPLES)
def test_first_hit_of_a_mesh_is_the_least_over_all_triangles(name):
    for seed in range(2):
        rng = np.random.default_rng([seed, 1])
        mesh = made(sample(name, seed))
        origins, directions = draw_rays(rng, mesh, 60)
        pose = rigid_motions(rng, 1)[0]
        rays = moved_rays(pose, origins, directions)
        found = cl.raycast(mesh.at(pose), *rays)
        assert_between(found.distance, *bracket(mesh.at(pose), *rays), TOLERANCE * size_of(mesh))


@everything
def test_point_lies_on_the_ray_and_on_the_shape(kind):
    for seed in range(6):
        target, origins, directions = drawn(np.random.default_rng([seed, 2]), kind)
        found = cl.raycast(target, origins, directions)
        hit = found.is_hit
        expected = origins + np.where(hit, found.distance, 0.0)[:, None] * unit(directions)
        tolerance = 16 * EPS * (np.abs(origins).max() + found.distance[hit].max())
        assert np.allclose(found.point[hit], expected[hit], rtol=0, atol=tolerance)
        gap = touches(found.point[hit], target)
        outside = found.distance[hit] > 0
        allowed = TOLERANCE * size_of(target) + 4 * tolerance
        assert np.all(gap <= allowed)
        assert np.all(gap[outside] >= -allowed)


@everything
def test_nothing_stands_between_origin_and_hit(kind):
    for seed in range(6):
        target, origins, directions = drawn(np.random.default_rng([seed, 3]), kind, n=40)
        near = np.linalg.norm(origins - target.pose[:3, 3], axis=1) < 5 * size_of(target)
        origins, directions = origins[near], unit(directions[near])
        found = cl.raycast(target, origins, directions)
        allowed = oracle.rounding(target, origins) + TOLERANCE * size_of(target)
        low, _ = bracket(target, origins, directions)
        for k in np.flatnonzero(found.distance > 50 * allowed):
            end = min(found.distance[k], 10 * size_of(target)) - 20 * allowed
            start = 20 * allowed if kind in SURFACES else 0.0  # where a ray leaves a surface it touches it
            way = cl.SweptSegment(*(origins[k] + t * directions[k] for t in (start, end)), 0.0)
            if kind in SURFACES:
                assert not cl.collides(way, target) or low[k] < found.distance[k] - allowed
            else:
                assert cl.distance(way, target).upper >= -allowed


# Closed surfaces -----------------------------------------------------------------------------------------------------


def inner_points(name, soup, rng):
    """Points inside a closed sample; those of a torus are the middles of the rings it is made of."""
    if name == "torus":
        return soup.vertices.reshape(12, 7, 3).mean(axis=1)[:5]
    return np.vstack([np.zeros(3), 0.02 * rng.uniform(-1, 1, size=(4, 3))])


def assert_none_escapes(mesh, pose, inside, rng):
    """Cast rays from inside at every corner, at points of every edge and at random: all of them meet the surface."""
    corners = mesh.vertices[mesh.faces]
    parts = rng.choice([0.5, 0.25, 1 / 3, rng.random()], size=(len(corners), 3, 1))
    edges = corners + parts * (np.roll(corners, -1, axis=1) - corners)
    aims = np.vstack([corners.reshape(-1, 3), edges.reshape(-1, 3), rng.normal(size=(200, 3))])
    for origin in inside:
        origins, directions = moved_rays(pose, np.broadcast_to(origin, aims.shape), aims - origin)
        found = cl.raycast(mesh.at(pose), origins, directions)
        assert np.all(found.is_hit)
        assert np.all(cl.raycast(mesh.at(pose), origins, directions, any_hit=True).is_hit)


@pytest.mark.parametrize("name", CLOSED)
def test_no_ray_escapes_through_corners_and_edges(name):
    for seed in range(3):
        rng = np.random.default_rng([seed, 17])
        soup = sample(name, seed)
        inside = inner_points(name, soup, rng)
        for factor in (1e-6, 1.0, 1e6):
            pose = rigid_motions(rng, 1)[0] if seed else np.eye(4)
            assert_none_escapes(made(soup.scaled(factor)), pose, inside * factor, rng)


def test_no_ray_escapes_through_a_fine_sphere():
    rng = np.random.default_rng(18)
    ball = fine_sphere(40, 80)
    for pose in (np.eye(4), rigid_motions(rng, 1)[0]):
        assert_none_escapes(ball, pose, np.vstack([np.zeros(3), 0.3 * rng.normal(size=(2, 3))]), rng)


def fine_sphere(n, m):
    polar, around = np.meshgrid(np.linspace(0, np.pi, n), np.linspace(0, 2 * np.pi, m, endpoint=False), indexing="ij")
    points = np.stack([np.sin(polar) * np.cos(around), np.sin(polar) * np.sin(around), np.cos(polar)], axis=-1)
    points[0], points[-1] = [0, 0, 1], [0, 0, -1]
    return cl.Mesh(points.reshape(-1, 3), meshes._grid_faces(n, m, closed_v=True))


def test_no_ray_falls_through_a_height_field():
    rng = np.random.default_rng(19)
    field = cl.HeightField(0.3 * rng.normal(size=(12, 9)), 0.25)
    inner = np.array([v for v in field.vertices if abs(v[0]) < 1.3 and abs(v[1]) < 0.9])
    assert np.all(cl.raycast(field, inner + 5 * Z, -Z).is_hit)
    middles = (inner[:-1] + inner[1:]) / 2
    assert np.all(cl.raycast(field, middles + 5 * Z, -Z).is_hit)
    slanted = rng.normal(size=(len(inner), 3)) * [0.5, 0.5, 0] + 5 * Z
    assert np.all(cl.raycast(field, inner + slanted, -slanted).is_hit)


# Starting inside, on, and behind -------------------------------------------------------------------------------------


@every_kind
def test_ray_that_starts_inside_hits_at_once(kind):
    rng = np.random.default_rng(20)
    shape = cl.SweptTriangle(-X, X, Y, 0.2) if kind == "SweptTriangle" else draw_shape(rng, kind)
    points, normals = oracle.surface_points(rng, shape, 200)
    middle = points.mean(axis=0) - (normals[0] if kind == "HalfSpace" else 0)
    origins = middle + rng.random((200, 1)) * 0.9 * (points - middle)
    directions = rng.normal(size=(200, 3))
    found = cl.raycast(shape, origins, directions)
    assert np.all(found.distance == 0)
    assert np.all(found.index == 0)
    assert np.array_equal(found.point, origins)
    assert np.allclose(found.normal, -unit(directions), rtol=0, atol=4 * EPS)


def test_surfaces_have_no_inside():
    box = made(meshes.box())
    found = cl.raycast(box, [0, 0, 0], [1, 0.1, 0.05])
    assert abs(found.distance - 0.5 * np.linalg.norm([1, 0.1, 0.05])) <= 4 * EPS
    assert np.allclose(found.normal, -X, rtol=0, atol=4 * EPS)
    field = cl.HeightField(np.zeros((4, 4)), 1.0)
    assert cl.raycast(field, [0.1, 0.2, -2], Z).distance == 2
    assert np.allclose(cl.raycast(field, [0.1, 0.2, -2], Z).normal, -Z, rtol=0, atol=4 * EPS)
    assert np.allclose(cl.raycast(field, [0.1, 0.2, 2], -Z).normal, Z, rtol=0, atol=4 * EPS)


@every_kind
def test_what_lies_behind_is_not_hit(kind):
    rng = np.random.default_rng(21)
    shape = draw_shape(rng, kind)
    points, normals = oracle.surface_points(rng, shape, 100)
    assert not np.any(cl.raycast(shape, points + 0.01 * normals, normals).is_hit)


KNOWN = [
    (cl.Sphere(1), [-3, 0, 0], X, 2),
    (cl.Sphere(1).at([0, 0, 2]), [-3, 0, 2], 7 * X, 2),
    (cl.Box([2, 2, 2]), [-3, 0.5, 0.5], X, 2),
    (cl.HalfSpace([0, 0, 2], 2), [5, 5, 4], -Z, 3),
    (cl.HalfSpace(Z, 0), [0, 0, 1], X, np.inf),
    (cl.HalfSpace(Z, 0), [0, 0, 1], Z, np.inf),
    (cl.Cylinder(1, 4), [0, 0, 5], -Z, 3),
    (cl.Cylinder(1, 4), [5, 0, 1.5], -X, 4),
    (cl.Cone(1, 2), [5, 0, 0], -X, 4.5),
    (cl.Cone(1, 2), [0, 0, 5], -Z, 4),
    (cl.Cone(1, 2), [0.5, 0, -5], Z, 4),
    (cl.Capsule(1, 4), [0, 0, 5], -Z, 2),
    (cl.Capsule(1, 4), [5, 0, 1], -X, 4),
    (cl.Ellipsoid([1, 2, 3]), [0, 0, 5], -Z, 2),
    (cl.SweptTriangle([0, 0, 0], X, Y, 0.0), [0.25, 0.25, 5], -Z, 5),
    (cl.ConvexHull([[0, 0, 0], X, Y, Z]), [0.25, 0.25, -5], Z, 5),
    (cl.ConvexHull([[0, 0, 0], X, Y, X + Y]), [0.75, 0.5, 5], -Z, 5),  # flat
    (cl.ConvexHull([[0, 0, 0], X, 3 * X], 0.5), [2, 0, 5], -Z, 4.5),  # on a line
    (cl.SweptSegment([0, 0, 0], Y, 0.5), [0, 5, 0], -Y, 3.5),
    (cl.PointCloud([X, 2 * X, 3 * X], 0.25), [9, 0, 0], -X, 5.75),
]


@pytest.mark.parametrize(("target", "origin", "direction", "expected"), KNOWN)
def test_known_answers(target, origin, direction, expected):
    assert cl.raycast(target, origin, direction).distance == pytest.approx(expected, rel=0, abs=32 * EPS)


# Range ---------------------------------------------------------------------------------------------------------------


@everything
def test_range_ends_exactly_where_it_is_said_to(kind):
    target, origins, directions = drawn(np.random.default_rng(22), kind)
    found = cl.raycast(target, origins, directions)
    assert same_bits(cl.raycast(target, origins, directions, found.distance), found)
    away = found.is_hit & (found.distance > 0)
    short = cl.raycast(target, origins[away], directions[away], np.nextafter(found.distance[away], 0))
    assert not np.any(short.is_hit)
    for limit in (0.0, 0.1, 1.0, 10.0):
        cut = cl.raycast(target, origins, directions, limit)
        assert np.array_equal(cut.is_hit, found.distance <= limit)
        assert np.array_equal(cut.distance[cut.is_hit], found.distance[cut.is_hit])


@everything
def test_any_hit_is_some_hit_and_there_is_one_when_there_is_a_first(kind):
    for seed in range(4):
        target, origins, directions = drawn(np.random.default_rng([seed, 23]), kind)
        for limit in (np.inf, 1.0):
            first = cl.raycast(target, origins, directions, limit)
            some = cl.raycast(target, origins, directions, limit, any_hit=True)
            assert np.array_equal(some.is_hit, first.is_hit)
            assert np.all(some.distance >= first.distance)
            hit = some.is_hit
            assert np.all(some.distance[hit] <= limit)
            expected = origins[hit] + some.distance[hit, None] * unit(directions[hit])
            tolerance = 16 * EPS * (np.abs(origins).max() + np.max(some.distance[hit], initial=0))
            assert np.allclose(some.point[hit], expected, rtol=0, atol=tolerance)
            assert np.all(touches(some.point[hit], target) <= TOLERANCE * size_of(target) + 4 * tolerance)
