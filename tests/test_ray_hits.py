"""What a hit tells: the normal there, the part, and the triangle or ball; and a miss, that it is none."""

import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

import clearance as cl
import ray_oracle as oracle
import solids
from meshes import SAMPLES, sample
from ray_cases import EVERYTHING, FINITE, SURFACES, X, Y, Z, assert_between, drawn, made, moved_rays, same_bits
from ray_oracle import EPS, TOLERANCE, bracket, draw_rays, size_of
from solids import draw_shape, unit
from strategies import rigid_motions

everything = pytest.mark.parametrize("kind", EVERYTHING)


# Normals -------------------------------------------------------------------------------------------------------------


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


# Parts, triangles, balls ---------------------------------------------------------------------------------------------


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


# Misses and values ---------------------------------------------------------------------------------------------------


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
