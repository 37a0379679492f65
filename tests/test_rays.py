"""Rays: the first thing they meet, whatever it is, wherever they come from."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clearance as cl
import meshes
import ray_oracle as oracle
import solids
from clearance import poses
from clouds import draw_cloud
from meshes import CLOSED, SAMPLES, SCALES, sample
from ray_oracle import EPS, TOLERANCE, bracket, draw_rays, size_of
from solids import KINDS, draw_shape, unit
from strategies import rigid_motion, rigid_motions, seeds

X, Y, Z = np.eye(3)
FINITE = tuple(kind for kind in KINDS if kind != "HalfSpace")
SURFACES = ("mesh", "height field")
EVERYTHING = (*KINDS, *SURFACES, "cloud", "compound")
every_kind = pytest.mark.parametrize("kind", KINDS)
everything = pytest.mark.parametrize("kind", EVERYTHING)
FIELDS = ("distance", "point", "normal", "index", "feature")


def made(soup):
    return cl.Mesh(soup.vertices, soup.faces)


def draw_target(rng, kind):
    """Draw one of `EVERYTHING`, about a metre large."""
    if kind == "mesh":
        return made(sample(rng.choice(["torus", "box", "soup", "sheet", "gear"]), int(rng.integers(3))))
    if kind == "height field":
        return cl.HeightField(0.2 * rng.normal(size=(6, 5)), 0.25)
    if kind == "cloud":
        cloud = draw_cloud(rng, 40)
        return cl.PointCloud(cloud.points, max(cloud.radius, 0.01))
    if kind == "compound":
        return cl.Compound([draw_shape(rng, rng.choice(FINITE)).at(pose) for pose in rigid_motions(rng, 4)])
    return draw_shape(rng, kind)


def drawn(rng, kind, n=60):
    """Draw a target at a pose and rays that are likely to go wrong; a compound gets those of its parts."""
    shape = draw_target(rng, kind)
    if kind == "compound":
        rays = [draw_rays(rng, part.shape, n // len(shape.parts)) for part in shape.parts]
        moved = [moved_rays(part.pose, *own) for part, own in zip(shape.parts, rays, strict=True)]
        origins, directions = (np.concatenate(column) for column in zip(*moved, strict=True))
    else:
        origins, directions = draw_rays(rng, shape, n)
    pose = rigid_motions(rng, 1)[0] if rng.random() < 0.7 else np.eye(4)
    return shape.at(pose), *moved_rays(pose, origins, directions)


def moved_rays(pose, origins, directions):
    return origins @ pose[:3, :3].T + pose[:3, 3], directions @ pose[:3, :3].T


def aimed_inside(rng, shape, n=40):
    """Draw rays from outside at points well inside a convex shape: where they hit is well-defined."""
    points, _ = oracle.surface_points(rng, shape, n)
    middle = oracle.surface_points(rng, shape, 200)[0].mean(axis=0)
    targets = middle + 0.5 * (points - middle)
    origins = middle + 3 * size_of(shape) * unit(rng.normal(size=(n, 3)))
    return origins, targets - origins


def assert_between(found, low, high, tolerance):
    """Check distances against a bracket; where low is inf they must be, and finite where high is."""
    wrong = ~((low - tolerance <= found) & (found <= high + tolerance))
    k = int(np.argmax(wrong))
    message = f"ray {k} of {wrong.sum()}: hit at {found[k]!r}, not between {low[k]!r} and {high[k]!r}"
    assert not wrong.any(), message


def decided(low, high, tolerance):
    """Tell which rays have only one answer."""
    with np.errstate(invalid="ignore"):
        return (high - low <= tolerance) | np.isinf(low)


def same_bits(one, other):
    return all(np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True) for name in FIELDS)


def touches(points, target):
    """Return signed distances of points from a target."""
    return cl.distance(cl.SweptPoint([0, 0, 0], 0.0).at(poses.from_translation(points)), target).distance


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


@everything
def test_misses_say_so_in_every_field(kind):
    target, origins, directions = drawn(np.random.default_rng(7), kind)
    found = cl.raycast(target, origins, directions)
    miss = np.isinf(found.distance)
    assert np.array_equal(found.is_hit, ~miss)
    assert 0 < miss.sum() < len(miss)
    assert np.all(found.index[miss] == -1)
    assert np.all(found.feature[miss] == -1)
    assert np.all(np.isnan(found.point[miss]))
    assert np.all(np.isnan(found.normal[miss]))
    assert np.all(found.distance[miss] > 0)
    assert np.all(found.index[~miss] >= 0)
    assert np.all(np.isfinite(found.point[~miss]))
    assert np.all(np.isfinite(found.normal[~miss]))


# Normals, parts, triangles -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", FINITE)
def test_plane_at_the_hit_has_the_whole_shape_below_it(kind):
    for seed in range(8):
        rng = np.random.default_rng([seed, 4])
        shape = draw_shape(rng, kind)
        origins, directions = draw_rays(rng, shape, 100)
        found = cl.raycast(shape, origins, directions)
        away = found.is_hit & (found.distance > 0)
        normals, points = found.normal[away], found.point[away]
        assert np.allclose(np.linalg.norm(normals, axis=1), 1, rtol=0, atol=1e-12)
        assert np.all(np.sum(normals * unit(directions[away]), axis=1) <= 1e-6)
        above = np.sum((solids.support(shape, normals) - points) * normals, axis=1)
        assert np.all(above <= TOLERANCE * size_of(shape) + 8 * oracle.rounding(shape, origins))


def test_normal_of_a_half_space_is_its_own():
    rng = np.random.default_rng(5)
    ground = draw_shape(rng, "HalfSpace")
    origins, directions = draw_rays(rng, ground, 100)
    found = cl.raycast(ground, origins, directions)
    away = found.is_hit & (found.distance > 0)
    assert np.allclose(found.normal[away], unit(np.array(ground.normal)), rtol=0, atol=4 * EPS)


@pytest.mark.parametrize("name", [name for name in SAMPLES if name not in ("needles", "without area")])
def test_normal_of_a_mesh_is_that_of_its_triangle_and_faces_the_ray(name):
    mesh, rng = made(sample(name)), np.random.default_rng(6)
    pose = rigid_motions(rng, 1)[0]
    origins, directions = moved_rays(pose, *draw_rays(rng, mesh, 200))
    found = cl.raycast(mesh.at(pose), origins, directions)
    hit = found.is_hit
    corners = mesh.vertices[mesh.faces[found.feature[hit]]] @ pose[:3, :3].T
    expected = unit(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]))
    facing = np.sum(found.normal[hit] * unit(directions[hit]), axis=1)
    assert np.all(facing <= 1e-12)
    across = np.linalg.norm(np.cross(found.normal[hit], expected), axis=1)
    assert np.all(across <= 1e-9)


def test_feature_is_a_triangle_that_is_hit_there():
    for kind, seed in ((kind, seed) for kind in SURFACES for seed in range(4)):
        target, origins, directions = drawn(np.random.default_rng([seed, 8]), kind)
        found = cl.raycast(target, origins, directions)
        corners = target.shape.vertices[target.shape.faces]
        slack = 10 * oracle.rounding(target, origins)
        for k in np.flatnonzero(found.is_hit):
            own = cl.Mesh(corners[found.feature[k]], [[0, 1, 2]]).at(target.pose)
            low, _ = bracket(own, origins[k : k + 1], directions[k : k + 1], slack)
            assert low[0] <= found.distance[k] + TOLERANCE


def test_feature_of_a_cloud_is_the_ball_that_is_hit():
    for seed in range(4):
        target, origins, directions = drawn(np.random.default_rng([seed, 9]), "cloud")
        found = cl.raycast(target, origins, directions)
        hit = found.is_hit & (found.distance > 0)
        centres = target.shape.points @ target.pose[:3, :3].T + target.pose[:3, 3]
        away = np.linalg.norm(found.point[hit] - centres[found.feature[hit]], axis=1)
        assert np.allclose(away, target.shape.radius, rtol=0, atol=TOLERANCE + oracle.rounding(target, origins))
        assert np.all(found.index[hit] == 0)


def test_index_is_the_part_that_is_hit():
    for seed in range(6):
        target, origins, directions = drawn(np.random.default_rng([seed, 10]), "compound")
        found = cl.raycast(target, origins, directions)
        assert np.all(found.feature == -1)
        parts = [part.shape.at(target.pose @ part.pose) for part in target.shape.parts]
        for k, part in enumerate(parts):
            own = found.index == k
            slack = oracle.rounding(target, origins)
            assert_between(
                found.distance[own], *bracket(part, origins[own], directions[own], slack), TOLERANCE * size_of(target)
            )
        assert len(np.unique(found.index)) >= 3


def test_index_and_feature_of_parts_within_parts():
    mesh = made(sample("box"))
    inner = cl.Compound([cl.Sphere(0.1).at([0, 5, 0]), mesh.at([5, 0, 0])])
    target = cl.Compound([cl.Sphere(1.0), inner, cl.PointCloud([[0, 0, 5], [0, 0, 9]], 0.5)])
    found = cl.raycast(target, [[9, 0, 0], [0, 9, 0], [0, 0, 9.8], [-9, 0, 0]], [-X, -Y, -Z, X])
    assert found.index.tolist() == [2, 1, 3, 0]  # parts are counted as in gaps
    assert [cl.distance(target, cl.SweptPoint(point, 0.1)).part_a for point in found.point] == found.index.tolist()
    assert found.feature[0] in (2, 3)
    assert found.feature[1:].tolist() == [-1, 1, -1]
    alone = cl.raycast(mesh, [3, 0.1, 0.2], -X)
    assert alone.index == 0
    assert alone.feature in (2, 3)


# Invariances ---------------------------------------------------------------------------------------------------------


@given(st.sampled_from(EVERYTHING), seeds(), rigid_motion())
def test_observer_does_not_matter(kind, seed, motion):
    target, origins, directions = drawn(np.random.default_rng(seed), kind)
    low, high = bracket(target, origins, directions)
    found = cl.raycast(target.shape.at(motion @ target.pose), *moved_rays(motion, origins, directions))
    clear = decided(low, high, TOLERANCE) & (np.linalg.norm(origins, axis=1) < 100)
    assert_between(found.distance[clear], low[clear], high[clear], 10 * TOLERANCE * size_of(target))


@given(st.sampled_from(KINDS), seeds(), st.sampled_from(SCALES))
def test_scale_does_not_matter(kind, seed, factor):
    rng = np.random.default_rng(seed)
    shape = draw_shape(rng, kind)
    origins, directions = draw_rays(rng, shape, 60)
    low, high = bracket(shape, origins, directions)
    found = cl.raycast(solids.scaled(shape, factor), origins * factor, directions)
    assert_between(found.distance / factor, low, high, TOLERANCE * size_of(shape))


@given(st.sampled_from(["torus", "gear", "sheet", "soup", "lattice", "plate"]), seeds(), st.sampled_from(SCALES))
def test_scale_does_not_matter_to_meshes(name, seed, factor):
    soup = sample(name)
    origins, directions = draw_rays(np.random.default_rng(seed), made(soup), 100)
    low, high = bracket(made(soup), origins, directions)
    found = cl.raycast(made(soup.scaled(factor)), origins * factor, directions)
    assert_between(found.distance / factor, low, high, TOLERANCE)


@everything
def test_length_of_the_direction_does_not_matter(kind):
    target, origins, directions = drawn(np.random.default_rng(11), kind)
    found = cl.raycast(target, origins, directions)
    for power in (-40, -1, 1, 60):
        assert same_bits(cl.raycast(target, origins, directions * 2.0**power), found)
    low, high = bracket(target, origins, directions)
    for factor in (1e-200, 0.3, 1e200):
        other = cl.raycast(target, origins, directions * factor)
        assert_between(other.distance, low, high, TOLERANCE * size_of(target))


@pytest.mark.parametrize("kind", ["Sphere", "Capsule", "rounded ConvexHull", "SweptTriangle", "Box", "Ellipsoid"])
def test_shape_that_grows_is_not_hit_later(kind):
    for seed in range(6):
        rng = np.random.default_rng([seed, 12])
        shape = draw_shape(rng, kind)
        origins, directions = draw_rays(rng, shape, 100)
        found = cl.raycast(shape, origins, directions)
        tolerance = TOLERANCE * size_of(shape)
        for more in (1e-6, 1e-3, 0.3):
            larger = cl.raycast(grown(shape, more), origins, directions)
            assert np.all(larger.distance <= found.distance + tolerance)


def grown(shape, more):
    if isinstance(shape, cl.Box):
        return cl.Box(np.array(shape.size) + 2 * more)
    if isinstance(shape, cl.Ellipsoid):
        return cl.Ellipsoid(np.array(shape.radii) + more)
    if isinstance(shape, cl.Sphere):
        return cl.Sphere(shape.radius + more)
    if isinstance(shape, cl.Capsule):
        return cl.Capsule(shape.radius + more, shape.length)
    points, radius = solids.core(shape)
    return cl.ConvexHull(points, radius + more)


def test_sphere_grown_is_hit_earlier_by_as_much_head_on():
    directions = unit(np.random.default_rng(13).normal(size=(200, 3)))
    for radius in (1e-9, 0.1, 1.0, 1.5):
        found = cl.raycast(cl.Sphere(radius), -2 * directions, directions)
        assert np.allclose(found.distance, 2 - radius, rtol=0, atol=8 * EPS)


@pytest.mark.parametrize("name", SAMPLES)
def test_order_of_triangles_does_not_matter(name):
    rng = np.random.default_rng(14)
    soup = sample(name)
    mesh, other = made(soup), made(meshes.shuffled(rng, soup))
    origins, directions = draw_rays(rng, mesh, 100)
    low, high = bracket(mesh, origins, directions)
    assert_between(cl.raycast(other, origins, directions).distance, low, high, TOLERANCE)
    first = cl.raycast(mesh, origins, directions).distance
    clear = decided(low, high, TOLERANCE)
    assert_between(cl.raycast(other, origins, directions).distance[clear], first[clear], first[clear], 2 * TOLERANCE)


def test_height_field_is_hit_like_the_mesh_of_its_triangles():
    rng = np.random.default_rng(15)
    field = cl.HeightField(0.2 * rng.normal(size=(20, 15)), 0.1)
    mesh = cl.Mesh(field.vertices, field.faces)
    origins, directions = draw_rays(rng, field, 1000)
    found, expected = (cl.raycast(target, origins, directions) for target in (field, mesh))
    low, high = bracket(mesh, origins, directions)
    clear = decided(low, high, TOLERANCE)
    assert np.array_equal(found.is_hit[clear], expected.is_hit[clear])
    hit = clear & found.is_hit
    assert np.allclose(found.distance[hit], expected.distance[hit], rtol=0, atol=TOLERANCE)


def test_far_from_the_origin_rays_lose_a_few_roundings():
    rng = np.random.default_rng(16)
    away = np.array([3e6, -1e6, 2e6])
    for kind in FINITE:
        shape = draw_shape(rng, kind)
        origins, directions = aimed_inside(rng, shape)
        near = cl.raycast(shape, origins, directions).distance
        far = cl.raycast(shape.at(away), origins + away, directions).distance
        assert np.all(np.isfinite(near))
        assert np.allclose(far, near, rtol=0, atol=100 * EPS * np.abs(away).max())


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


# Bits ----------------------------------------------------------------------------------------------------------------


@everything
def test_threads_order_and_company_change_no_bit(kind):
    rng = np.random.default_rng(24)
    target, origins, directions = drawn(rng, kind, n=400)
    found = cl.raycast(target, origins, directions, threads=1)
    for threads in (2, 5, None):
        assert same_bits(cl.raycast(target, origins, directions, threads=threads), found)
    order = rng.permutation(len(origins))
    shuffled = cl.raycast(target, origins[order], directions[order])
    assert all(np.array_equal(getattr(shuffled, f), getattr(found, f)[order], equal_nan=True) for f in FIELDS)
    for k in rng.integers(len(origins), size=20):
        alone = cl.raycast(target, origins[k], directions[k])
        assert all(np.array_equal(getattr(alone, f), getattr(found, f)[k], equal_nan=True) for f in FIELDS)


@everything
def test_hint_changes_no_bit(kind):
    rng = np.random.default_rng(25)
    target, origins, directions = drawn(rng, kind, n=100)
    found = cl.raycast(target, origins, directions)
    moved = cl.raycast(target, origins + 0.01 * rng.normal(size=origins.shape), directions)
    backwards = cl.raycast(target, origins[::-1], directions[::-1])
    for hint in (found, moved, backwards):
        assert same_bits(cl.raycast(target, origins, directions, hint=hint), found)
    assert same_bits(cl.raycast(target, origins, directions, hint=found, threads=3), found)
    single = cl.raycast(target, origins[0], directions[0])
    assert same_bits(cl.raycast(target, origins[0], directions[0], hint=single), single)


def test_hint_of_something_else_does_no_harm():
    small, large = cl.Sphere(0.5), made(sample("torus"))
    origins, directions = draw_rays(np.random.default_rng(26), large, 100)
    hint = cl.raycast(large, origins, directions)
    assert same_bits(cl.raycast(small, origins, directions, hint=hint), cl.raycast(small, origins, directions))


def test_same_rays_from_several_threads_at_once():
    target, origins, directions = drawn(np.random.default_rng(27), "mesh", n=300)
    scene = cl.Scene()
    scene.add("mesh", target.shape, target.pose)
    expected = cl.raycast(target, origins, directions)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: cl.raycast(scene, origins, directions), range(16)))
    assert all(same_bits(one, expected) for one in found)


# Scenes, lists, targets ----------------------------------------------------------------------------------------------


def room():
    """Three walls one behind the other, and a ball beside them."""
    scene = cl.Scene()
    for k, name in enumerate(["near", "middle", "far"]):
        scene.add(name, cl.Box([0.1, 2, 2]), pose=[2.0 * (k + 1), 0, 0])
    scene.add("ball", cl.Sphere(0.5), pose=[0, 5, 0])
    return scene


def test_scene_is_hit_where_its_nearest_body_is():
    rng = np.random.default_rng(28)
    kinds = rng.choice([*FINITE, "mesh", "height field", "cloud"], size=25)
    bodies = [draw_target(rng, kind).at(pose) for kind, pose in zip(kinds, rigid_motions(rng, 25), strict=True)]
    bodies = [body.shape.at(poses.from_translation(4 * body.pose[:3, 3]) @ body.pose) for body in bodies]
    scene = cl.Scene()
    for k, body in enumerate(bodies):
        scene.add(f"body {k}", body.shape, body.pose)
    origins = 8 * rng.normal(size=(400, 3))
    aims = np.array([bodies[k].pose[:3, 3] for k in rng.integers(25, size=400)])
    directions = aims + 0.3 * rng.normal(size=(400, 3)) - origins
    each = [cl.raycast(body, origins, directions) for body in bodies]
    least = np.min([one.distance for one in each], axis=0)
    target = cl.RayTarget([body.shape for body in bodies], [body.pose for body in bodies], scene.names)
    for found in (
        cl.raycast(scene, origins, directions),
        cl.raycast(bodies, origins, directions),
        cl.raycast(iter(bodies), origins, directions),
        cl.raycast(target, origins, directions),
        target.cast(origins, directions),
    ):
        assert 0.3 < found.is_hit.mean() < 0.95
        assert np.array_equal(found.is_hit, np.isfinite(least))
        hit = found.is_hit
        assert np.allclose(found.distance[hit], least[hit], rtol=0, atol=1e-9)
        for k in np.flatnonzero(hit):
            own = each[found.index[k]]
            assert abs(own.distance[k] - found.distance[k]) <= 1e-9
            assert own.feature[k] == found.feature[k] or kinds[found.index[k]] == "mesh"


def test_names_that_are_ignored_let_rays_pass():
    scene = room()
    assert cl.raycast(scene, [0, 0, 0], X).index == 0
    passed = cl.raycast(scene, [0, 0, 0], X, ignore=["near"])
    assert (passed.index, round(passed.distance, 12)) == (1, 3.95)
    assert cl.raycast(scene, [0, 0, 0], X, ignore=("near", "middle")).index == 2
    assert not cl.raycast(scene, [0, 0, 0], X, ignore=scene.names).is_hit
    assert cl.raycast(scene, [0, 0, 0], X).index == 0
    with pytest.raises(KeyError, match="door"):
        cl.raycast(scene, [0, 0, 0], X, ignore=["door"])


def test_items_that_are_ignored_let_rays_pass():
    items = [cl.Sphere(0.5).at([x, 0, 0]) for x in (2, 4, 6)]
    assert cl.raycast(items, [0, 0, 0], X, ignore=[0]).index == 1
    assert cl.raycast(items, [0, 0, 0], X, ignore=[0, 1]).distance == 5.5
    assert not cl.raycast(items, [0, 0, 0], X, ignore=[0, 1, 2]).is_hit
    assert cl.raycast(items, [0, 0, 0], X, ignore=[2], any_hit=True).index in (0, 1)
    with pytest.raises((KeyError, ValueError), match="3"):
        cl.raycast(items, [0, 0, 0], X, ignore=[3])


def test_scene_is_looked_at_anew_after_every_change():
    scene = room()

    def seen():
        found = cl.raycast(scene, [0, 0, 0], X)
        return (scene.names[found.index], round(found.distance, 12)) if found.is_hit else None

    assert seen() == ("near", 1.95)
    scene.move("near", [0.0, 9, 0])
    assert seen() == ("middle", 3.95)
    scene.move({"near": [3.0, 0, 0], "ball": [1.5, 0, 0]})
    assert seen() == ("ball", 1.0)
    scene.rename("ball", "globe")
    assert seen() == ("globe", 1.0)
    assert cl.raycast(scene, [0, 0, 0], X, ignore=["globe"]).distance == pytest.approx(2.95)
    scene.remove("globe")
    assert seen() == ("near", 2.95)
    scene.add("door", cl.Box([0.2, 2, 2]), pose=[1, 0, 0])
    assert seen() == ("door", 0.9)
    for name in scene.names:
        scene.remove(name)
    assert seen() is None


def test_earlier_scenes_are_forgotten_and_not_mixed_up():
    for k in range(50):
        scene = cl.Scene()
        scene.add("ball", cl.Sphere(0.5), pose=[k + 1.0, 0, 0])
        assert cl.raycast(scene, [0, 0, 0], X).distance == pytest.approx(k + 0.5, rel=1e-14)


def test_target_moves_with_its_bodies():
    rng = np.random.default_rng(29)
    shapes = [draw_target(rng, kind) for kind in ("mesh", "Box", "cloud", "height field", "Cone", "compound")]
    first, second = rigid_motions(rng, 6), rigid_motions(rng, 6)
    origins = 5 * rng.normal(size=(300, 3))
    directions = rng.normal(size=(300, 3)) - origins
    target = cl.RayTarget(shapes, first)
    before = target.cast(origins, directions)
    target.move(second)
    fresh = cl.RayTarget(shapes, second)
    assert same_bits(target.cast(origins, directions), fresh.cast(origins, directions))
    target.move(first)
    assert same_bits(target.cast(origins, directions), before)


def test_target_gives_its_bodies_back():
    shapes, motions = [cl.Sphere(1), cl.Box([1, 1, 1])], rigid_motions(np.random.default_rng(33), 4)
    target = cl.RayTarget(shapes, motions[:2])
    assert list(target.shapes) == shapes
    assert np.array_equal(target.poses, motions[:2])
    target.move(motions[2:])
    assert np.array_equal(target.poses, motions[2:])
    assert np.array_equal(cl.RayTarget(shapes).poses, [np.eye(4)] * 2)


def apart(n):
    """Poses three metres apart along x."""
    return poses.from_translation(np.outer(3.0 * np.arange(n), X))


def test_target_names_its_bodies():
    target = cl.RayTarget([cl.Sphere(1), cl.Box([1, 1, 1])], apart(2), ["ball", "box"])
    assert list(target.names) == ["ball", "box"]
    assert target.cast([9, 0, 0], -X).index == 1
    assert target.cast([9, 0, 0], -X, ignore=["box"]).index == 0
    assert target.cast([9, 0, 0], -X, max_range=1.0).index == -1


def test_anything_that_gives_a_target_is_one():
    class World:
        def ray_target(self):
            return cl.RayTarget([cl.Sphere(1)], names=["ball"])

    assert cl.raycast(World(), [3, 0, 0], -X).distance == 2
    assert not cl.raycast(World(), [3, 0, 0], -X, ignore=["ball"]).is_hit


@pytest.mark.parametrize("target", [[], cl.Scene()], ids=["list", "scene"])
def test_nothing_is_never_hit(target):
    found = cl.raycast(target, np.zeros((5, 3)), X)
    assert not found.is_hit.any()
    assert np.all(found.index == -1)


# Arrays --------------------------------------------------------------------------------------------------------------


def test_single_ray_gives_numbers():
    for target in (cl.Sphere(1), made(meshes.box()), [cl.Sphere(1)], room()):
        for direction in (-X, X):
            found = cl.raycast(target, [9, 0.1, 0.1], direction)
            assert isinstance(found.distance, float)
            assert isinstance(found.index, int)
            assert isinstance(found.feature, int)
            assert isinstance(found.is_hit, bool)
            assert found.point.shape == found.normal.shape == (3,)
            assert found.is_hit == (found.index >= 0) == np.isfinite(found.distance)


@pytest.mark.parametrize(
    ("origins", "directions", "limit", "dims"),
    [
        ((3,), (3,), (1,), (1,)),
        ((1, 3), (3,), (), (1,)),
        ((3,), (7, 3), (), (7,)),
        ((7, 3), (3,), (), (7,)),
        ((4, 1, 3), (7, 3), (), (4, 7)),
        ((4, 1, 3), (7, 3), (2, 1, 1), (2, 4, 7)),
        ((0, 3), (3,), (), (0,)),
        ((3,), (5, 0, 3), (), (5, 0)),
    ],
)
def test_rays_broadcast(origins, directions, limit, dims):
    rng = np.random.default_rng(30)
    origins, directions, limit = rng.normal(size=origins), rng.normal(size=directions), rng.uniform(1, 2, size=limit)
    for target in (cl.Sphere(0.5), made(meshes.box()), room()):
        found = cl.raycast(target, origins, directions, limit)
        assert found.distance.shape == found.index.shape == found.feature.shape == found.is_hit.shape == dims
        assert found.point.shape == found.normal.shape == (*dims, 3)
        flat = cl.raycast(
            target,
            np.broadcast_to(origins, (*dims, 3)).reshape(-1, 3),
            np.broadcast_to(directions, (*dims, 3)).reshape(-1, 3),
            np.broadcast_to(limit, dims).reshape(-1),
        )
        assert np.array_equal(found.distance.reshape(-1), flat.distance)


def test_inputs_may_be_anything_like_arrays_and_stay_as_they_are():
    origins = np.random.default_rng(31).normal(size=(50, 3)) + 5 * X
    kept = origins.copy()
    origins.flags.writeable = False
    expected = cl.raycast(cl.Sphere(1), origins, -X)
    assert np.array_equal(origins, kept)
    assert same_bits(cl.raycast(cl.Sphere(1), origins.tolist(), (-1, 0, 0)), expected)
    assert same_bits(cl.raycast(cl.Sphere(1), np.asfortranarray(origins), [-1, 0, 0]), expected)
    wide = np.repeat(origins, 2, axis=0)[::2]
    assert same_bits(cl.raycast(cl.Sphere(1), wide, -X.astype(np.float32)), expected)


def test_hits_are_values():
    target, origins, directions = drawn(np.random.default_rng(32), "compound")
    found = cl.raycast(target, origins, directions)
    assert isinstance(found, cl.Hits)
    again = pickle.loads(pickle.dumps(found))
    assert same_bits(again, found)
    assert np.array_equal(again.is_hit, found.is_hit)
    with pytest.raises(FrozenInstanceError):
        found.distance = 0.0
    single = cl.raycast(target, origins[0], directions[0])
    assert same_bits(pickle.loads(pickle.dumps(single)), single)
    assert found.distance.dtype == found.point.dtype == found.normal.dtype == np.float64
    assert found.index.dtype.kind == found.feature.dtype.kind == "i"


# Errors --------------------------------------------------------------------------------------------------------------

BAD_RAYS = {
    "direction zero": (([0, 0, 0], [0, 0, 0]), {}, "directions"),
    "one of many directions zero": (([0, 0, 0], [[1, 0, 0], [0, 0, 0]]), {}, "directions"),
    "direction NaN": (([0, 0, 0], [np.nan, 0, 0]), {}, "directions"),
    "direction infinite": (([0, 0, 0], [np.inf, 0, 0]), {}, "directions"),
    "origin NaN": (([0, np.nan, 0], [1, 0, 0]), {}, "origins"),
    "origin infinite": (([0, 0, -np.inf], [1, 0, 0]), {}, "origins"),
    "origin of two numbers": (([0, 0], [1, 0, 0]), {}, "origins"),
    "direction of four numbers": (([0, 0, 0], [1, 0, 0, 0]), {}, "directions"),
    "origin a number": ((3.0, [1, 0, 0]), {}, "origins"),
    "origin text": (("here", [1, 0, 0]), {}, "origins"),
    "shapes that do not fit": ((np.zeros((3, 3)), np.ones((4, 3))), {}, None),
    "range negative": (([0, 0, 0], [1, 0, 0], -1.0), {}, "max_range"),
    "range NaN": (([0, 0, 0], [1, 0, 0], np.nan), {}, "max_range"),
    "threads zero": (([0, 0, 0], [1, 0, 0]), {"threads": 0}, "threads"),
    "hint a number": (([0, 0, 0], [1, 0, 0]), {"hint": 3}, "hint"),
}


@pytest.mark.parametrize(("rays", "options", "named"), BAD_RAYS.values(), ids=BAD_RAYS)
@pytest.mark.parametrize("target", [cl.Sphere(1), room()], ids=["sphere", "scene"])
def test_bad_rays_are_refused(target, rays, options, named):
    with pytest.raises((ValueError, TypeError), match=named):
        cl.raycast(target, *rays, **options)


@pytest.mark.parametrize("target", [None, 3, "room", [cl.Sphere(1), 3], np.zeros((4, 4))], ids=repr)
def test_bad_targets_are_refused(target):
    with pytest.raises((ValueError, TypeError)):
        cl.raycast(target, [0, 0, 0], [1, 0, 0])


def test_bad_lists_of_bodies_are_refused():
    with pytest.raises(ValueError, match=r"poses|names"):
        cl.RayTarget([cl.Sphere(1)], apart(2))
    with pytest.raises(ValueError, match="names"):
        cl.RayTarget([cl.Sphere(1)], names=["a", "b"])
    target = cl.RayTarget([cl.Sphere(1), cl.Sphere(1)], apart(2))
    for wrong in (apart(1), apart(3), apart(2) * [[2, 1, 1, 1]], apart(2) * np.nan):
        with pytest.raises(ValueError, match=r"pose|rotation"):
            target.move(wrong)
    assert target.cast([9, 0, 0], -X).distance == 5
