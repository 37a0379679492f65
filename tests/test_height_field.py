"""Height fields: surfaces over a grid in distance queries, solid below in contacts."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clearance as cl
import mesh_oracle as oracle
import meshes
import solids
from clearance import poses
from clearance.elements import closest
from meshes import sample
from strategies import rigid_motions, seeds

EPS = np.finfo(float).eps
SOLID = tuple(kind for kind in solids.KINDS if kind != "HalfSpace")
X, Y, Z = np.eye(3)


def hills(rng, n=9, m=7, rough=0.3):
    return rough * rng.normal(size=(n, m))


def expected_triangles(heights, cell):
    """Return the triangles of a height field as the documentation describes them, cell by cell."""
    n, m = heights.shape

    def corner(i, j):
        return (i - (n - 1) / 2) * cell, (j - (m - 1) / 2) * cell, heights[i, j]

    triangles = []
    for i in range(n - 1):
        for j in range(m - 1):
            p, q = corner(i, j), corner(i + 1, j + 1)
            triangles += [(p, corner(i + 1, j), q), (p, q, corner(i, j + 1))]
    return np.array(triangles)


def sorted_triangles(triangles):
    """Put corners and triangles in an order that does not depend on how they were listed."""
    rounded = np.round(triangles, 12) + 0.0
    return sorted(tuple(sorted(map(tuple, triangle))) for triangle in rounded)


# Values --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "m"), [(2, 2), (2, 5), (5, 2), (3, 3), (4, 7)])
def test_cells_are_split_along_their_first_diagonal(n, m):
    heights = hills(np.random.default_rng(1), n, m)
    field = cl.HeightField(heights, 0.25)
    assert len(field.faces) == 2 * (n - 1) * (m - 1)
    assert len(field.vertices) == n * m
    assert sorted_triangles(field.vertices[field.faces]) == sorted_triangles(expected_triangles(heights, 0.25))


def test_field_is_centred_and_its_rows_run_along_x():
    heights = np.zeros((5, 3))
    heights[4, 0] = 1.0
    field = cl.HeightField(heights, 2.0)
    assert field.vertices.min(axis=0).tolist() == [-4, -2, 0]
    assert field.vertices.max(axis=0).tolist() == [4, 2, 1]
    assert field.vertices[np.argmax(field.vertices[:, 2])].tolist() == [4, -2, 1]


def test_triangles_look_up():
    field = cl.HeightField(hills(np.random.default_rng(2)), 0.5)
    p, q, s = np.moveaxis(field.vertices[field.faces], 1, 0)
    assert np.all(np.cross(q - p, s - p)[:, 2] > 0)


def test_field_keeps_what_it_was_made_from():
    heights = hills(np.random.default_rng(3))
    kept = heights.copy()
    field = cl.HeightField(heights, 0.5)
    heights[:] = 9.0
    assert np.array_equal(field.heights, kept)
    assert field.cell_size == 0.5
    assert (field.heights.dtype, field.vertices.dtype, field.faces.dtype) == (np.float64, np.float64, np.int32)
    for array in (field.heights, field.vertices, field.faces):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7
    with pytest.raises(AttributeError):
        field.cell_size = 1.0


COPIES = {"copy": copy.copy, "deepcopy": copy.deepcopy, "pickle": lambda x: pickle.loads(pickle.dumps(x))}


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
def test_copies_are_equal(copied):
    field = cl.HeightField(hills(np.random.default_rng(4)), 0.5)
    again = copied(field)
    assert type(again) is cl.HeightField
    assert again == field
    assert hash(again) == hash(field)
    assert np.array_equal(again.heights, field.heights)
    assert copied(field.at(X)) == field.at(X)
    gap, expected = (cl.distance(x, cl.Sphere(0.1).at([0.1, 0.2, 3])) for x in (again, field))
    assert (gap.distance, gap.feature_a) == (expected.distance, expected.feature_a)


def test_different_fields_differ():
    heights = hills(np.random.default_rng(5), 3, 3)
    fields = [
        cl.HeightField(heights, 0.5),
        cl.HeightField(heights, 0.25),
        cl.HeightField(heights.T, 0.5),
        cl.HeightField(heights + 1, 0.5),
        cl.Mesh(cl.HeightField(heights, 0.5).vertices, cl.HeightField(heights, 0.5).faces),
    ]
    assert all((a == b) == (i == j) for i, a in enumerate(fields) for j, b in enumerate(fields))
    assert "HeightField" in repr(fields[0])
    assert len(repr(cl.HeightField(np.zeros((100, 100)), 1.0))) < 300


@pytest.mark.parametrize(
    "bad",
    [
        np.zeros((1, 5)),
        np.zeros((5, 1)),
        np.zeros((0, 0)),
        np.zeros(9),
        np.zeros((2, 2, 2)),
        [[0, 1], [np.nan, 0]],
        [[0, np.inf], [0, 0]],
        [[0, 1], [1e31, 0]],
        None,
        "hills",
        [[1j, 0], [0, 0]],
    ],
    ids=repr,
)
def test_what_is_no_grid_of_heights_is_refused(bad):
    with pytest.raises((ValueError, TypeError), match="heights"):
        cl.HeightField(bad, 1.0)


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf, 1e31, "1", None, [1.0, 1.0]], ids=repr)
def test_what_is_no_cell_size_is_refused(bad):
    with pytest.raises((ValueError, TypeError), match="cell_size"):
        cl.HeightField(np.zeros((3, 3)), bad)


# Distances -----------------------------------------------------------------------------------------------------------


def near_poses(rng, field, n):
    """Draw poses about the surface, above and below."""
    motions = rigid_motions(rng, n)
    corners = field.vertices[rng.integers(len(field.vertices), size=n)]
    motions[:, :3, 3] = corners + np.array([0.3, 0.3, 1.0]) * rng.normal(size=(n, 3))
    return motions


@pytest.mark.parametrize("kind", SOLID)
def test_convex_shape_is_as_near_as_the_nearest_triangle(kind):
    hits = []
    for seed in range(4):
        rng = np.random.default_rng([seed, SOLID.index(kind)])
        field, shape = cl.HeightField(hills(rng), 0.3), solids.draw_shape(rng, kind)
        triangles, motions = field.vertices[field.faces], near_poses(rng, field, 6)
        truth = np.array([oracle.least_distance_to_convex(triangles, shape.at(pose)) for pose in motions])
        size = oracle.bounding_radius(triangles) + solids.bounding_radius(shape)
        gaps = cl.distance(field, shape.at(motions))
        oracle.assert_gaps_are_true(gaps, truth, size, oracle.rounding(triangles, motions), 2e-9)
        eyes = np.tile(np.eye(4), (6, 1, 1))
        oracle.assert_witnesses_lie_on(gaps.point_a, gaps.feature_a, triangles, eyes, 1e-6 * size)
        hits.append(truth <= 0)
    assert 0.2 <= np.mean(hits) <= 0.9


@settings(max_examples=20)
@given(seeds(), meshes.names(), meshes.volumes(), st.sampled_from([1e-6, 1.0, 1e6]))
def test_field_and_mesh_are_as_near_as_their_nearest_triangles(seed, name, volume, scale):
    rng = np.random.default_rng(seed)
    field, soup = cl.HeightField(scale * hills(rng), 0.3 * scale), sample(name, seed % 5).scaled(scale)
    triangles, motions = field.vertices[field.faces], near_poses(rng, cl.HeightField(hills(rng), 0.3), 8)
    motions[:, :3, 3] *= scale
    eyes = np.tile(np.eye(4), (8, 1, 1))
    truth = oracle.mesh_distances(triangles, eyes, soup.triangles, motions)
    size = oracle.bounding_radius(triangles) + oracle.bounding_radius(soup.triangles)
    slack = oracle.rounding(triangles, eyes) + oracle.rounding(soup.triangles, motions)
    mesh = cl.Mesh(soup.vertices, soup.faces, volume=volume)
    oracle.assert_gaps_are_true(cl.distance(field, mesh.at(motions)), truth, size, slack)
    oracle.assert_gaps_are_true(cl.distance(mesh.at(motions), field), truth, size, slack)
    other = cl.HeightField(field.heights[::-1, ::-1], field.cell_size)
    turned = oracle.mesh_distances(triangles, eyes, other.vertices[other.faces], motions)
    oracle.assert_gaps_are_true(cl.distance(field, other.at(motions)), turned, size, slack + size * EPS)


def test_field_is_the_mesh_of_its_triangles():
    rng = np.random.default_rng(6)
    field = cl.HeightField(hills(rng), 0.3)
    mesh, motions = cl.Mesh(field.vertices, field.faces), near_poses(rng, field, 60)
    for shape in (cl.Box([0.2, 0.3, 0.4]), cl.Sphere(0.2), cl.Compound([cl.Sphere(0.1), cl.Cone(0.1, 0.4).at(X / 3)])):
        of_field, of_mesh = cl.distance(field, shape.at(motions)), cl.distance(mesh, shape.at(motions))
        assert np.max(np.abs(of_field.distance - of_mesh.distance)) <= 4e-9
        assert np.array_equal(cl.collides(field, shape.at(motions)), cl.collides(mesh, shape.at(motions)))
        assert np.array_equal(cl.within(field, shape.at(motions), 0.1), cl.within(mesh, shape.at(motions), 0.1))


def test_point_is_as_far_as_the_nearest_triangle_above_and_below():
    rng = np.random.default_rng(7)
    field = cl.HeightField(hills(rng, 20, 30), 0.1)
    triangles, points = field.vertices[field.faces], rng.normal(size=(300, 3))
    truth = np.maximum(0, closest(points[:, None, None], triangles[None]).distance).min(axis=1)
    at = poses.from_translation(points)
    gaps = cl.distance(field, cl.SweptPoint([0, 0, 0], 0.0).at(at))
    oracle.assert_gaps_are_true(gaps, truth, oracle.bounding_radius(triangles), oracle.rounding(triangles, at))
    assert np.any(gaps.normal[:, 2] < 0)
    assert np.any(gaps.normal[:, 2] > 0)


def test_half_space_is_as_near_as_the_lowest_vertex():
    rng = np.random.default_rng(8)
    field, plane = cl.HeightField(hills(rng), 0.3), cl.HalfSpace(rng.normal(size=3), -1.5)
    triangles, motions = field.vertices[field.faces], rigid_motions(rng, 30)
    truth = np.array(
        [oracle.least_distance_to_half_space(oracle.in_the_world(triangles, p), plane, np.eye(4)) for p in motions]
    )
    gaps = cl.distance(field.at(motions), plane)
    oracle.assert_gaps_are_true(gaps, truth, oracle.bounding_radius(triangles), 2 * oracle.rounding(triangles, motions))


def test_field_may_be_part_of_compounds_and_scenes():
    rng = np.random.default_rng(9)
    field = cl.HeightField(hills(rng), 0.3)
    both = cl.Compound([cl.Sphere(0.1).at([0, 0, 50.0]), field.at([0.0, 0, -1])])
    gap = cl.distance(both, cl.Sphere(0.1).at([0.0, 0, 4]))
    alone = cl.distance(field.at([0.0, 0, -1]), cl.Sphere(0.1).at([0.0, 0, 4]))
    assert abs(gap.distance - alone.distance) <= 1e-12
    assert (gap.part_a, gap.feature_a) == (1, alone.feature_a)
    scene = cl.Scene()
    scene.add("ground", field, [0.0, 0, -1])
    scene.add("ball", cl.Sphere(0.1), [0.0, 0, 4])
    found = scene.nearest("ground", "ball")
    assert abs(found.distance - alone.distance) <= 1e-12
    assert found.feature_a == alone.feature_a


def test_body_below_the_surface_is_apart_from_it():
    field = cl.HeightField(np.zeros((5, 5)), 1.0)
    for z in (0.7, -0.7):
        gap = cl.distance(field, cl.Sphere(0.2).at([0.1, 0.2, z]))
        assert abs(gap.distance - 0.5) <= 1e-12
        assert np.allclose(gap.normal, np.sign(z) * Z, rtol=0, atol=1e-12)


@pytest.mark.timeout(60)
def test_large_fields_are_built_and_asked_quickly():
    x, y = np.meshgrid(np.linspace(0, 20, 500), np.linspace(0, 20, 400), indexing="ij")
    field = cl.HeightField(np.sin(x) * np.cos(y), 0.05)
    at = poses.from_translation(np.random.default_rng(10).uniform([-12, -10, 1.2], [12, 10, 3], size=(200, 3)))
    work = cl.distance(field, cl.Sphere(0.1).at(at)).work
    assert 0 < work.triangle_tests + work.element_tests <= 200 * len(field.faces) // 100


# Contacts: solid below -----------------------------------------------------------------------------------------------


FLAT = cl.HeightField(np.zeros((5, 5)), 1.0)


@pytest.mark.parametrize("order", [1, -1])
def test_box_sunk_into_a_flat_field_stands_on_its_corners(order):
    box = cl.Box([0.6, 0.4, 0.2]).at([0.13, 0.21, 0.09])
    found = cl.contacts(*(FLAT, box)[::order])
    assert np.allclose(found.normal, order * Z, rtol=0, atol=1e-9)
    assert abs(np.max(found.depths) - 0.01) <= 1e-9
    spread = found.points[:, :2].max(axis=0) - found.points[:, :2].min(axis=0)
    assert np.allclose(spread, [0.6, 0.4], rtol=0, atol=0.03)
    column = 0 if order == 1 else 1
    assert np.all((found.features[:, column] >= 0) & (found.features[:, column] < len(FLAT.faces)))
    assert np.all(found.features[:, 1 - column] == -1)


@pytest.mark.parametrize("z", [0.25, 0.05, -0.05, -0.1])
def test_ball_in_flat_ground_is_pushed_up_however_deep(z):
    found = cl.contacts(FLAT, cl.Sphere(0.3).at([0.1, 0.25, z]))
    assert len(found) >= 1
    assert np.allclose(found.normal, Z, rtol=0, atol=1e-9)
    assert abs(np.max(found.depths) - (0.3 - z)) <= 1e-9


def test_ball_wholly_below_the_surface_is_in_contact_though_apart_from_it():
    ball = cl.Sphere(0.1).at([0.1, 0.25, -0.5])
    assert cl.distance(FLAT, ball).distance > 0.3
    found = cl.contacts(FLAT, ball)
    assert len(found) >= 1
    assert np.allclose(found.normal, Z, rtol=0, atol=1e-9)
    assert abs(np.max(found.depths) - 0.6) <= 1e-9


@pytest.mark.parametrize("body", [cl.Sphere(0.1), cl.Box([0.2, 0.3, 0.1]), cl.Cylinder(0.1, 0.4), cl.Cone(0.2, 0.3)])
def test_body_above_or_beside_the_field_touches_nothing(body):
    for at in ([0.1, 0.2, 0.5], [9.0, 0, -0.2], [0.0, -9, -3.0]):
        found = cl.contacts(FLAT, body.at(np.array(at)))
        assert len(found) == 0
        assert found.features.shape == (0, 2)


@given(seeds(), st.sampled_from(SOLID))
def test_flat_field_carries_like_a_half_space(seed, kind):
    rng = np.random.default_rng(seed)
    shape, pose = solids.draw_shape(rng, kind, 0.3), rigid_motions(rng, 1)[0]
    pose[:2, 3] = rng.uniform(-1, 1, size=2)
    ground = cl.HalfSpace(Z, 0.0)
    pose[2, 3] = 0.0
    pose[2, 3] = -cl.distance(ground, shape.at(pose)).distance - 0.01
    on_plane, on_field = cl.contacts(ground, shape.at(pose)), cl.contacts(FLAT, shape.at(pose))
    assert abs(np.max(on_field.depths) - np.max(on_plane.depths)) <= 1e-6
    deepest = on_field.normals[np.argmax(on_field.depths)]
    assert np.linalg.norm(deepest - Z) <= 1e-3


def test_slope_pushes_along_its_normal():
    x = (np.arange(9) - 4.0)[:, None] * np.ones(9)
    slope = cl.HeightField(0.5 * x, 1.0)
    normal = np.array([-0.5, 0, 1]) / np.sqrt(1.25)
    ball = cl.Sphere(0.3).at(0.25 * normal + np.array([0.4, 0.1, 0.2]))
    found = cl.contacts(slope, ball)
    assert np.allclose(found.normals[np.argmax(found.depths)], normal, rtol=0, atol=1e-9)
    assert abs(np.max(found.depths) - 0.05) <= 1e-9
