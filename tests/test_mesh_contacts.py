"""Contacts of meshes: which triangles touch, where, and how deep."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clearance as cl
import mesh_oracle as oracle
import meshes
import solids
from clearance import poses
from meshes import SAMPLES, placements, sample
from strategies import rigid_motions, seeds

EPS = np.finfo(float).eps
X, Y, Z = np.eye(3)
DEPTH = 0.01
SOLID = tuple(kind for kind in solids.KINDS if kind != "HalfSpace")
VOLUMES = ("obb", "rss")
every_volume = pytest.mark.parametrize("volume", VOLUMES)
every_solid = pytest.mark.parametrize("kind", SOLID)


def made(soup, volume="obb"):
    return cl.Mesh(soup.vertices, soup.faces, volume=volume)


def table(volume="obb", size=4.0):
    """A large flat plate of 50 triangles in the plane z = 0."""
    return made(sample("plate").scaled(size), volume)


def distance_to(points, body):
    """Return signed distances of points from a placed body."""
    point = cl.SweptPoint([0, 0, 0], 0.0)
    return cl.distance(point.at(poses.from_translation(points)), body).distance


def assert_contacts_fit(found, a, b, tolerance=1e-6):
    """Check shapes and lengths of all arrays, and that every point is near both bodies, no farther than it is deep."""
    k = len(found.depths)
    assert found.points.shape == found.normals.shape == (k, 3)
    assert found.parts.shape == found.features.shape == (k, 2)
    assert found.normal.shape == (3,)
    assert abs(np.linalg.norm(found.normal) - 1) <= 8 * EPS
    assert np.isfinite(found.points).all()
    assert np.all(found.depths >= -tolerance)
    if k:
        oracle.assert_at_most(np.abs(np.linalg.norm(found.normals, axis=1) - 1), 1e-12, "normal is no unit vector")
        for body in (a, b):
            oracle.assert_at_most(distance_to(found.points, body), found.depths + tolerance, "point is off a body")


def assert_features_touch(found, soup, pose, other, column, tolerance=1e-6):
    """Check that every triangle named touches the other body."""
    world = oracle.in_the_world(soup.triangles, pose)
    for feature in np.unique(found.features[:, column]):
        assert 0 <= feature < len(soup.faces)
        assert cl.distance(cl.SweptTriangle(*world[feature], 0.0), other).distance <= tolerance


def near_poses(rng, soup, n):
    motions = rigid_motions(rng, n)
    on = soup.triangles[rng.integers(len(soup.faces), size=n)].mean(axis=1)
    motions[:, :3, 3] = on + rng.uniform(0, 1.5, size=(n, 1)) * rng.normal(size=(n, 3)) / 2
    return motions


# On a flat plate -----------------------------------------------------------------------------------------------------

CONE_DOWN = poses.from_axis_angle(X, np.pi)
BODIES = {
    "box": (cl.Box([0.6, 0.4, 0.2]), np.eye(4), 0.1),
    "sphere": (cl.Sphere(0.3), np.eye(4), 0.3),
    "capsule lying": (cl.Capsule(0.1, 0.6), poses.from_axis_angle(X, np.pi / 2), 0.1),
    "cylinder standing": (cl.Cylinder(0.2, 0.5), np.eye(4), 0.25),
    "cone on its tip": (cl.Cone(0.2, 0.5), CONE_DOWN, 0.25),
    "ellipsoid": (cl.Ellipsoid([0.2, 0.3, 0.4]), np.eye(4), 0.4),
    "hull": (cl.ConvexHull([[0, 0, 0], [0.5, 0, 0], [0, 0.5, 0], [0, 0, 0.5]]), np.eye(4), 0.0),
    "rounded hull": (cl.ConvexHull([[0, 0, 0], [0.5, 0, 0], [0, 0.5, 0], [0, 0, 0.5]], 0.1), np.eye(4), 0.1),
}
carried = pytest.mark.parametrize(("shape", "turn", "height"), BODIES.values(), ids=BODIES)


def standing(turn, height, depth=DEPTH):
    """Return the pose of a body whose lowest point lies `depth` below the plate, in the middle of a triangle."""
    return poses.from_translation([0.13, 0.21, height - depth]) @ turn


@every_volume
@carried
def test_body_sunk_into_a_plate_is_pushed_out_along_its_normal(shape, turn, height, volume):
    plate, body = table(volume), shape.at(standing(turn, height))
    found = cl.contacts(plate, body)
    assert len(found) >= 1
    assert_contacts_fit(found, plate, body)
    assert_features_touch(found, sample("plate").scaled(4.0), np.eye(4), body, 0)
    deepest = np.argmax(found.depths)
    assert abs(found.depths[deepest] - DEPTH) <= 1e-6
    assert np.allclose(found.normals[deepest], Z, rtol=0, atol=1e-3)
    assert np.all(np.abs(found.points[:, 2]) <= DEPTH + 1e-6)
    assert np.all(found.features[:, 1] == -1)


@carried
def test_body_lifted_touches_nothing(shape, turn, height):
    plate, body = table(), shape.at(standing(turn, height, -0.05))
    found = cl.contacts(plate, body)
    assert len(found) == 0
    assert found.features.shape == (0, 2)
    assert_contacts_fit(found, plate, body)


@carried
def test_order_turns_the_normal_round(shape, turn, height):
    plate, body = table(), shape.at(standing(turn, height))
    found, swapped = cl.contacts(plate, body), cl.contacts(body, plate)
    assert_contacts_fit(swapped, body, plate)
    assert np.allclose(swapped.normal, -found.normal, rtol=0, atol=1e-3)
    assert abs(np.max(swapped.depths) - np.max(found.depths)) <= 1e-6
    assert set(swapped.features[:, 1]) == set(found.features[:, 0])
    assert np.all(swapped.features[:, 0] == -1)


@carried
def test_observer_does_not_matter(shape, turn, height):
    motion, pose = rigid_motions(np.random.default_rng(1), 1)[0], standing(turn, height)
    here, there = cl.contacts(table(), shape.at(pose)), cl.contacts(table().at(motion), shape.at(motion @ pose))
    assert_contacts_fit(there, table().at(motion), shape.at(motion @ pose))
    assert abs(np.max(there.depths) - np.max(here.depths)) <= 1e-6
    assert np.allclose(there.normal, motion[:3, :3] @ here.normal, rtol=0, atol=1e-3)


@every_volume
def test_box_on_a_plate_is_carried_at_its_corners(volume):
    box = cl.Box([0.6, 0.4, 0.2])
    found = cl.contacts(table(volume), box.at(standing(np.eye(4), 0.1)))
    corners = np.array([0.13, 0.21]) + np.array(list(product((-0.3, 0.3), (-0.2, 0.2))))
    for corner in corners:
        # Where a corner reaches over the edge of a triangle, that triangle may push sideways.
        assert np.min(np.linalg.norm(found.points[:, :2] - corner, axis=1)) <= DEPTH


@every_volume
def test_ball_between_two_walls_touches_both(volume):
    """A sheet folded to a right angle: two triangles, two normals."""
    vertices = np.array([[0, -5, 0], [0, 5, 0], [8, 0, 0], [0, 0, 8.0]])
    corner = cl.Mesh(vertices, [[0, 2, 1], [0, 1, 3]], volume=volume)
    found = cl.contacts(corner, cl.Sphere(0.5).at([0.49, 0.1, 0.48]))
    assert set(found.features[:, 0]) == {0, 1}
    for feature, normal, depth in ((0, Z, 0.02), (1, X, 0.01)):
        own = found.features[:, 0] == feature
        assert np.allclose(found.normals[own], normal, rtol=0, atol=1e-6)
        assert np.allclose(found.depths[own], depth, rtol=0, atol=1e-6)


def test_corner_that_touches_exactly_is_a_contact():
    box = cl.Box([1, 1, 1])
    found = cl.contacts(cl.Mesh([[-4.0, -4, 0], [4, -4, 0], [0, 4, 0]], [[0, 1, 2]]), box.at([0, 0, 0.5]))
    assert len(found) >= 3
    assert np.all(np.abs(found.depths) <= 1e-12)


# Anything and a mesh -------------------------------------------------------------------------------------------------


@every_solid
@every_volume
def test_there_are_contacts_just_where_bodies_collide(kind, volume):
    hits = []
    for k, name in enumerate(SAMPLES):
        rng = np.random.default_rng([k, SOLID.index(kind)])
        soup, shape = sample(name, k), solids.draw_shape(rng, kind, 0.7)
        mesh = made(soup, volume)
        for pose in near_poses(rng, soup, 4):
            body = shape.at(pose)
            truth = oracle.least_distance_to_convex(soup.triangles, body)
            found = cl.contacts(mesh, body)
            assert_contacts_fit(found, mesh, body, 1e-5)
            assert_features_touch(found, soup, np.eye(4), body, 0)
            assert len(found) == 0 or truth <= 1e-8
            assert len(found) > 0 or truth > 0
            hits.append(truth <= 0)
    assert 0.3 <= np.mean(hits) <= 0.7


@settings(max_examples=20)
@given(seeds(), meshes.names(), meshes.names(), st.sampled_from(["upon", "around", "upright"]), meshes.volumes())
def test_meshes_touch_just_where_triangles_do(seed, name_a, name_b, family, volume):
    a, b = sample(name_a, seed % 5), sample(name_b, seed % 5 + 1)
    p = placements(np.random.default_rng(seed), a, b, 5, family)
    truth = oracle.mesh_distances(a.triangles, p.pose_a, b.triangles, p.pose_b)
    for k in range(5):
        placed = made(a, volume).at(p.pose_a[k]), made(b, volume).at(p.pose_b[k])
        found = cl.contacts(*placed)
        assert_contacts_fit(found, *placed, 1e-6)
        assert len(found) == 0 or truth[k] <= 1e-12
        assert len(found) > 0 or truth[k] > 0
        assert_pairs_of_triangles_touch(found, a, b, p.pose_a[k], p.pose_b[k])


def assert_pairs_of_triangles_touch(found, a, b, pose_a, pose_b):
    world_a, world_b = oracle.in_the_world(a.triangles, pose_a), oracle.in_the_world(b.triangles, pose_b)
    for i, j in np.unique(found.features, axis=0):
        assert oracle.least_distance(world_a[i][None], world_b[j][None]) <= 1e-12


def test_every_triangle_that_is_deep_in_a_body_is_named():
    soup, box = sample("plate").scaled(4.0), cl.Box([1.1, 1.3, 0.2]).at([0.13, 0.21, 0.05])
    found = cl.contacts(made(soup), box)
    depth = [-cl.distance(cl.SweptTriangle(*t, 0.0), box).distance for t in soup.triangles]
    deep = set(np.flatnonzero(np.array(depth) >= 0.04).tolist())
    assert len(deep) >= 4
    assert deep <= set(found.features[:, 0].tolist())


@every_volume
@pytest.mark.parametrize("name", SAMPLES)
def test_half_space_touches_the_triangles_below_its_surface(name, volume):
    soup, ground = sample(name), cl.HalfSpace(Z, 0.0)
    for pose in rigid_motions(np.random.default_rng(2), 5):
        world = oracle.in_the_world(soup.triangles, pose)
        pose[2, 3] -= np.min(world[..., 2]) + DEPTH
        world = oracle.in_the_world(soup.triangles, pose)
        found = cl.contacts(ground, made(soup, volume).at(pose))
        assert abs(np.max(found.depths) - DEPTH) <= 1e-9
        assert np.allclose(found.normals, Z, rtol=0, atol=1e-9)
        assert np.all(np.min(world[found.features[:, 1], :, 2], axis=1) <= 1e-9)
        pose[2, 3] += DEPTH + 0.001
        assert len(cl.contacts(ground, made(soup, volume).at(pose))) == 0


def test_compound_names_part_and_triangle():
    ball = cl.Sphere(0.3).at(standing(np.eye(4), 0.3))
    both = cl.Compound([cl.Box([1, 1, 1]).at([0, 0, -40.0]), table(), cl.Box([9, 9, 0.5]).at([0, 0, -0.252])])
    found = cl.contacts(both, ball)
    assert set(found.parts[:, 0]) == {1, 2}
    assert np.all(found.parts[:, 1] == 0)
    alone = cl.contacts(table(), ball)
    assert set(found.features[found.parts[:, 0] == 1, 0]) == set(alone.features[:, 0])
    assert np.all(found.features[found.parts[:, 0] == 2, 0] == -1)


def test_convex_pairs_name_no_triangles():
    found = cl.contacts(cl.Box([1, 1, 1]), cl.Box([1, 1, 1]).at([0, 0, 0.9]))
    assert len(found) == 4
    assert np.all(found.features == -1)


# Batches -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("other", [cl.Box([0.4, 0.5, 0.6]), cl.Ellipsoid([0.2, 0.3, 0.4]), None], ids=repr)
@every_volume
def test_batch_is_flat_arrays_with_offsets(other, volume):
    soup = sample("bumpy sphere")
    mesh, other = made(soup, volume), other or made(sample("gear"), volume)
    motions = near_poses(np.random.default_rng(3), soup, 20)
    found = cl.contacts(mesh, other.at(motions))
    assert found.offsets.shape == (21,)
    assert found.offsets[-1] == len(found.depths) == len(found.points) == len(found.features) == len(found.parts)
    assert 0.1 <= np.mean(np.diff(found.offsets) > 0) <= 0.95
    for k in range(20):
        alone, rows = cl.contacts(mesh, other.at(motions[k])), slice(found.offsets[k], found.offsets[k + 1])
        for name in ("points", "depths", "normals", "parts", "features"):
            assert np.array_equal(getattr(found, name)[rows], getattr(alone, name)), name
            assert np.array_equal(getattr(found[k], name), getattr(alone, name)), name


def test_number_of_threads_changes_no_bit():
    soup = sample("torus")
    motions = near_poses(np.random.default_rng(4), soup, 300)
    alone = cl.contacts(made(soup), cl.Box([0.4, 0.5, 0.6]).at(motions), threads=1)
    for threads in (2, 8, None):
        again = cl.contacts(made(soup), cl.Box([0.4, 0.5, 0.6]).at(motions), threads=threads)
        for name in ("normal", "points", "depths", "normals", "parts", "features", "offsets"):
            assert getattr(again, name).tobytes() == getattr(alone, name).tobytes(), name


@pytest.mark.timeout(60)
def test_contacts_with_many_coincident_triangles_take_seconds():
    heap = cl.Mesh(4 * np.array([[-1.0, -1, 0], [1, -1, 0], [0, 1, 0]]), np.tile([0, 1, 2], (2000, 1)))
    found = cl.contacts(heap, cl.Sphere(0.5).at([0, 0, 0.49]))
    assert abs(np.max(found.depths) - DEPTH) <= 1e-9
    assert np.allclose(found.normal, Z, rtol=0, atol=1e-6)
