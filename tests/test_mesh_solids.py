"""Distances of meshes from everything else: convex shapes, half-spaces, points, compounds."""

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
from mesh_pairs import made, touching_poses
from meshes import SAMPLES, sample
from strategies import rigid_motions, seeds

EPS = np.finfo(float).eps
SOLID = tuple(kind for kind in solids.KINDS if kind != "HalfSpace")
VOLUMES = ("obb", "rss")
X, Y, Z = np.eye(3)
every_sample = pytest.mark.parametrize("name", SAMPLES)
every_volume = pytest.mark.parametrize("volume", VOLUMES)
every_solid = pytest.mark.parametrize("kind", SOLID)


@every_solid
@every_volume
def test_convex_shape_is_as_near_as_the_nearest_triangle(kind, volume):
    hits = []
    for k, name in enumerate(SAMPLES):
        rng = np.random.default_rng([k, SOLID.index(kind)])
        soup, shape = sample(name, k), solids.draw_shape(rng, kind)
        motions = touching_poses(rng, soup, 4)
        gaps = cl.distance(made(soup, volume), shape.at(motions))
        truth = np.array([oracle.least_distance_to_convex(soup.triangles, shape.at(pose)) for pose in motions])
        size = oracle.bounding_radius(soup.triangles) + solids.bounding_radius(shape)
        slack = oracle.rounding(soup.triangles, motions)
        oracle.assert_gaps_are_true(gaps, truth, size, slack, 2e-9)
        eyes = np.tile(np.eye(4), (4, 1, 1))
        oracle.assert_witnesses_lie_on(gaps.point_a, gaps.feature_a, soup.triangles, eyes, 1e-6 * size)
        inside = [
            cl.distance(cl.SweptPoint(p, 0.0), shape.at(q)).distance for p, q in zip(gaps.point_b, motions, strict=True)
        ]
        oracle.assert_at_most(np.array(inside), 1e-6 * size, "witness outside the convex shape")
        hits.append(truth <= 0)
    assert 0.2 <= np.mean(hits) <= 0.8  # cones are smaller than ellipsoids


@every_solid
def test_convex_shape_may_come_first(kind):
    rng = np.random.default_rng(SOLID.index(kind))
    soup, shape = sample("torus"), solids.draw_shape(rng, kind)
    motions = touching_poses(rng, soup, 12)
    here, swapped = cl.distance(made(soup), shape.at(motions)), cl.distance(shape.at(motions), made(soup))
    size = oracle.bounding_radius(soup.triangles) + solids.bounding_radius(shape)
    oracle.assert_gaps_are_true(swapped, here.distance, size, oracle.rounding(soup.triangles, motions), 2e-9)


@given(seeds(), meshes.names(), st.sampled_from(SOLID), meshes.volumes(), st.sampled_from([1e-6, 1e-3, 7.0, 1e6]))
@settings(max_examples=60)
def test_convex_shape_and_mesh_keep_their_distance_at_every_scale_and_for_every_observer(
    seed, name, kind, volume, scale
):
    rng = np.random.default_rng(seed)
    soup, shape = sample(name, seed % 5), solids.draw_shape(rng, kind)
    motions, observer = touching_poses(rng, soup, 5), rigid_motions(rng, 1)[0]
    here = cl.distance(made(soup, volume), shape.at(motions))
    moved = observer @ motions
    for pose in (moved, observer[None]):
        pose[..., :3, 3] *= scale
    there = cl.distance(made(soup.scaled(scale), volume).at(observer), solids.scaled(shape, scale).at(moved))
    size = scale * (oracle.bounding_radius(soup.triangles) + solids.bounding_radius(shape))
    slack = oracle.rounding(soup.triangles * scale, moved)
    oracle.assert_gaps_are_true(there, scale * here.distance, size, slack, 2e-9)


@every_volume
@every_sample
def test_half_space_is_as_near_as_the_lowest_vertex(name, volume):
    rng = np.random.default_rng(9)
    soup, plane = sample(name), cl.HalfSpace(rng.normal(size=3), 0.2)
    motions, tilt = rigid_motions(rng, 30), rigid_motions(rng, 1)[0]
    gaps = cl.distance(made(soup, volume).at(motions), plane.at(tilt))
    world = [oracle.in_the_world(soup.triangles, pose) for pose in motions]
    truth = np.array([oracle.least_distance_to_half_space(t, plane, tilt) for t in world])
    size, slack = oracle.bounding_radius(soup.triangles), oracle.rounding(soup.triangles, motions)
    oracle.assert_gaps_are_true(gaps, truth, size, 2 * slack)
    oracle.assert_witnesses_lie_on(gaps.point_a, gaps.feature_a, soup.triangles, motions, 1e-9)
    apart = truth > 1e-6
    assert np.allclose(gaps.normal[apart], -tilt[:3, :3] @ plane.normal / np.linalg.norm(plane.normal), atol=1e-9)
    assert 0.1 <= np.mean(apart) <= 0.9
    swapped = cl.distance(plane.at(tilt), made(soup, volume).at(motions))
    oracle.assert_gaps_are_true(swapped, truth, size, 2 * slack)


@every_volume
@every_sample
def test_point_is_as_far_as_the_nearest_triangle(name, volume):
    soup, rng = sample(name), np.random.default_rng(10)
    points = rng.normal(size=(200, 3)) / 2
    truth = np.maximum(0, closest(points[:, None, None], soup.triangles[None]).distance).min(axis=1)
    at = poses.from_translation(points)
    size, slack = oracle.bounding_radius(soup.triangles), oracle.rounding(soup.triangles, at)
    oracle.assert_gaps_are_true(
        cl.distance(made(soup, volume), cl.SweptPoint([0, 0, 0], 0.0).at(at)), truth, size, slack
    )
    for radius in (0.1, 0.3):
        gaps = cl.distance(made(soup, volume), cl.Sphere(radius).at(at))
        oracle.assert_gaps_are_true(gaps, np.maximum(0, truth - radius), size + radius, slack)


@pytest.mark.long
@every_volume
def test_point_is_as_far_as_the_nearest_triangle_ten_thousand_times(volume):
    for k, name in enumerate(SAMPLES):
        soup, rng = sample(name, k), np.random.default_rng(k)
        at = poses.from_translation(rng.normal(size=(10_000, 3)) / 2)
        truth = [closest(pose[None, None, :3, 3], soup.triangles).distance.min() for pose in at]
        gaps = cl.distance(made(soup, volume), cl.SweptPoint([0, 0, 0], 0.0).at(at))
        size, slack = oracle.bounding_radius(soup.triangles), oracle.rounding(soup.triangles, at)
        oracle.assert_gaps_are_true(gaps, np.maximum(0, truth), size, slack)


@every_volume
def test_vertex_of_a_mesh_is_upon_it(volume):
    for name in SAMPLES:
        soup = sample(name)
        corners = soup.triangles.reshape(-1, 3)[:50]
        gaps = cl.distance(made(soup, volume), cl.SweptPoint([0, 0, 0], 0.0).at(poses.from_translation(corners)))
        assert np.all(gaps.distance <= 4 * EPS)


# Inside --------------------------------------------------------------------------------------------------------------


@every_volume
@pytest.mark.parametrize("name", ["bumpy sphere", "box", "torus"])
def test_solid_wholly_inside_a_closed_mesh_is_apart_from_it(name, volume):
    soup = sample(name)
    inside = [0.4, 0, 0] if name == "torus" else [0.0, 0, 0]
    for shape in (cl.Box([0.05, 0.04, 0.03]), cl.Sphere(0.03), cl.SweptPoint([0, 0, 0], 0.0)):
        gap = cl.distance(made(soup, volume), shape.at(inside))
        truth = oracle.least_distance_to_convex(soup.triangles, shape.at(inside))
        assert truth > 0.01
        assert abs(gap.distance - truth) <= 2e-9
        assert cl.collides(made(soup, volume), shape.at(inside)) is False
        assert len(cl.contacts(made(soup, volume), shape.at(inside))) == 0


@every_volume
@every_sample
def test_mesh_wholly_inside_a_solid_meets_it(name, volume):
    soup = sample(name)
    for solid in (cl.Box([5, 5, 5]), cl.Sphere(3.0), cl.Cylinder(3, 6), cl.HalfSpace(Z, 5.0), cl.Ellipsoid([3, 4, 5])):
        gap = cl.distance(solid, made(soup, volume))
        assert gap.distance == 0
        oracle.assert_contract(gap, 10.0, 16 * EPS)
        oracle.assert_witnesses_lie_on(gap.point_b, gap.feature_b, soup.triangles, np.eye(4), 1e-9)
        assert cl.collides(solid, made(soup, volume)) is True


# Compounds -----------------------------------------------------------------------------------------------------------


def mixed_parts(rng, volume):
    """Draw parts of every kind: meshes, convex shapes, a swept triangle."""
    shapes = [made(sample("torus"), volume), cl.Box([0.3, 0.4, 0.5]), made(sample("soup"), volume), cl.Cone(0.2, 0.5)]
    return [shape.at(pose) for shape, pose in zip(shapes, rigid_motions(rng, len(shapes)), strict=True)]


@every_volume
@given(seeds())
def test_compound_is_as_near_as_its_nearest_part(volume, seed):
    rng = np.random.default_rng(seed)
    parts, others, shift = mixed_parts(rng, volume), mixed_parts(rng, volume), rigid_motions(rng, 1)[0]
    shift[:3, 3] *= 2
    gap = cl.distance(cl.Compound(parts), cl.Compound(others).at(shift))
    moved = [part.shape.at(shift @ part.pose) for part in others]
    alone = np.array([[cl.distance(a, b).distance for b in moved] for a in parts])
    # Solids may overlap, which is less than any surface that meets: a compound is the minimum over its parts.
    assert abs(gap.distance - alone.min()) <= 1e-6
    assert abs(alone[gap.part_a, gap.part_b] - alone.min()) <= 1e-6
    oracle.assert_contract(gap, 5.0, 64 * EPS)


@every_volume
def test_compound_names_part_and_triangle(volume):
    soup = sample("sheet")
    parts = cl.Compound([cl.Sphere(0.1).at([5.0, 0, 0]), made(soup, volume).at([0.0, 3, 0]), made(soup, volume)])
    gap = cl.distance(parts, cl.Sphere(0.1).at([0.0, 0, 1]))
    assert (gap.part_a, gap.part_b) == (2, 0)
    oracle.assert_witnesses_lie_on(gap.point_a, gap.feature_a, soup.triangles, np.eye(4), 1e-9)
    gap = cl.distance(parts, cl.Sphere(0.1).at([5.0, 0, 1]))
    assert gap.part_a == 0


def test_single_shapes_have_part_zero():
    mesh = made(sample("box"))
    for a, b in ((mesh, mesh), (mesh, cl.Sphere(1.0)), (cl.HalfSpace(Z, 0.0), mesh), (cl.Sphere(1.0), cl.Sphere(1.0))):
        gap = cl.distance(a, b)
        assert (gap.part_a, gap.part_b) == (0, 0)
