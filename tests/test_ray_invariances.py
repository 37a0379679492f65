"""What does not matter to rays: the observer, scale, the order of things, threads and hints."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clearance as cl
import meshes
import ray_oracle as oracle
import solids
from meshes import SAMPLES, SCALES, sample
from ray_cases import EVERYTHING, FIELDS, FINITE, assert_between, decided, drawn, made, moved_rays, same_bits
from ray_oracle import EPS, TOLERANCE, bracket, draw_rays, size_of
from solids import KINDS, draw_shape, unit
from strategies import rigid_motion, seeds

everything = pytest.mark.parametrize("kind", EVERYTHING)


# Geometry ------------------------------------------------------------------------------------------------------------


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


def aimed_inside(rng, shape, n=40):
    """Draw rays from outside at points well inside a convex shape: where they hit is well-defined."""
    points, _ = oracle.surface_points(rng, shape, n)
    middle = oracle.surface_points(rng, shape, 200)[0].mean(axis=0)
    targets = middle + 0.5 * (points - middle)
    origins = middle + 3 * size_of(shape) * unit(rng.normal(size=(n, 3)))
    return origins, targets - origins


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
