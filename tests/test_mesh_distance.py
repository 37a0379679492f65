"""Distances of meshes, from each other and from everything else, against all of their triangles one by one."""

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
from clearance.elements import closest
from meshes import CLOSED, FAMILIES, SAMPLES, Soup, placements, sample
from oracles import signed_core_distance
from strategies import rigid_motions, seeds

EPS = np.finfo(float).eps
FIELDS = ("distance", "lower", "upper", "point_a", "point_b", "normal", "feature_a", "feature_b", "part_a", "part_b")
SOLID = tuple(kind for kind in solids.KINDS if kind != "HalfSpace")
VOLUMES = ("obb", "rss")
X, Y, Z = np.eye(3)
every_sample = pytest.mark.parametrize("name", SAMPLES)
every_volume = pytest.mark.parametrize("volume", VOLUMES)
every_solid = pytest.mark.parametrize("kind", SOLID)


def made(soup, volume="obb"):
    return cl.Mesh(soup.vertices, soup.faces, volume=volume)


def pair_size(a, b):
    return oracle.bounding_radius(a.triangles) + oracle.bounding_radius(b.triangles)


def pair_rounding(a, b, p):
    return oracle.rounding(a.triangles, p.pose_a) + oracle.rounding(b.triangles, p.pose_b)


def drawn(seed, name_a, name_b, family, n=10, ratio=1.0):
    """Draw two soups, b `ratio` times as large as a, and n placements of them."""
    rng = np.random.default_rng([seed, list(SAMPLES).index(name_a), list(SAMPLES).index(name_b)])
    a, b = sample(name_a, seed % 7), sample(name_b, seed % 7 + 1).scaled(ratio)
    return a, b, placements(rng, a, b, n, family)


def truth_of(a, b, p):
    return oracle.mesh_distances(a.triangles, p.pose_a, b.triangles, p.pose_b)


def assert_true(gaps, a, b, p, truth=None):
    """Check gaps of two meshes at many placements against all their triangles."""
    size, slack = pair_size(a, b), pair_rounding(a, b, p)
    oracle.assert_gaps_are_true(gaps, truth_of(a, b, p) if truth is None else truth, size, slack)
    allowed = 1e-9 * size + slack
    oracle.assert_witnesses_lie_on(gaps.point_a, gaps.feature_a, a.triangles, p.pose_a, allowed)
    oracle.assert_witnesses_lie_on(gaps.point_b, gaps.feature_b, b.triangles, p.pose_b, allowed)


def measured(a, b, p, volumes=("obb", "obb"), **options):
    return cl.distance(made(a, volumes[0]).at(p.pose_a), made(b, volumes[1]).at(p.pose_b), **options)


def assert_same_bits(found, expected, fields=FIELDS):
    for name in fields:
        x, y = (np.asarray(getattr(gap, name)) for gap in (found, expected))
        assert x.astype(y.dtype).tobytes() == y.tobytes(), name


# The oracle itself ---------------------------------------------------------------------------------------------------


@every_sample
def test_second_method_agrees_with_the_oracle(name):
    for other, family in zip(SAMPLES, [*FAMILIES] * 2, strict=True):
        a, b, p = drawn(1, name, other, family, 1)
        here = p.pose_a[0, :3, 3]
        some_a = oracle.in_the_world(a.triangles, p.pose_a[0], here)[::2]
        some_b = oracle.in_the_world(b.triangles, p.pose_b[0], here)[::2]
        second = oracle.second_distances(some_a[:, None], some_b[None])
        assert abs(np.min(second) - oracle.least_distance(some_a, some_b)) <= 1e-13
        assert np.max(np.abs(second - np.maximum(0, closest(some_a[:, None], some_b[None]).distance))) <= 1e-7


@pytest.mark.parametrize("family", FAMILIES)
def test_exact_arithmetic_agrees_with_the_oracle(family):
    a, b, p = drawn(2, "soup", "needles", family, 1)
    in_a, in_b = a.triangles, oracle.in_the_world(b.triangles, np.linalg.inv(p.pose_a[0]) @ p.pose_b[0])
    every = closest(in_a[:, None], in_b[None]).distance
    for i, j in np.argwhere(every <= np.sort(every, axis=None)[3]):
        exact = max(0.0, float(signed_core_distance(in_a[i], in_b[j])))
        assert abs(max(0.0, every[i, j]) - exact) <= 1e-14


@every_sample
def test_oracle_finds_the_gap_between_tangent_planes(name):
    for other in SAMPLES:
        a, b, p = drawn(3, name, other, "tangent", 3)
        oracle.assert_at_most(np.abs(truth_of(a, b, p) - p.gap), 1e-14, "gap is off")


def test_samples_are_what_they_are_called():
    for name in SAMPLES:
        soup = sample(name)
        assert soup.faces.max() < len(soup.vertices)
        assert 0.2 <= oracle.bounding_radius(soup.triangles) <= 2.0
    for name in CLOSED:  # every edge, told by where it is, belongs to an even number of triangles with area
        soup = sample(name)
        _, where = np.unique(np.round(soup.vertices, 12), axis=0, return_inverse=True)
        faces = np.sort(where.reshape(-1)[soup.faces], axis=1)
        faces = faces[(faces[:, 0] < faces[:, 1]) & (faces[:, 1] < faces[:, 2])]
        edges = np.vstack([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [0, 2]]])
        assert np.all(np.unique(edges, axis=0, return_counts=True)[1] % 2 == 0), name


def test_about_half_of_the_random_placements_collide():
    rng = np.random.default_rng(4)
    hits = []
    for a, b in product(SAMPLES, repeat=2):
        in_a, in_b = sample(a), sample(b, 1)
        p = placements(rng, in_a, in_b, 12, rng.choice(["upon", "around", "nested", "upright"]))
        hits.append(cl.collides(made(in_a).at(p.pose_a), made(in_b).at(p.pose_b)))
    assert 0.3 <= np.mean(hits) <= 0.7


# Mesh and mesh -------------------------------------------------------------------------------------------------------


@every_volume
@every_sample
def test_meshes_are_as_near_as_their_nearest_triangles(name, volume):
    for k, (other, family) in enumerate(product(SAMPLES, FAMILIES)):
        a, b, p = drawn(k, name, other, family, 3)
        assert_true(measured(a, b, p, (volume, volume)), a, b, p)


@settings(max_examples=40)
@given(seeds(), meshes.names(), meshes.names(), meshes.families(), meshes.volumes(), meshes.volumes())
def test_volumes_may_be_mixed(seed, name_a, name_b, family, volume_a, volume_b):
    a, b, p = drawn(seed, name_a, name_b, family)
    assert_true(measured(a, b, p, (volume_a, volume_b)), a, b, p)


@pytest.mark.long
@every_volume
@pytest.mark.parametrize("family", FAMILIES)
def test_meshes_are_as_near_as_their_nearest_triangles_ten_thousand_times(family, volume):
    for k, (name_a, name_b) in enumerate(product(SAMPLES, repeat=2)):
        a, b, p = drawn(100 + k, name_a, name_b, family, 70)
        assert_true(measured(a, b, p, (volume, volume)), a, b, p)


@every_volume
@given(seeds(), meshes.names(), meshes.names())
def test_planes_laid_a_gap_apart_measure_that_gap(volume, seed, name_a, name_b):
    a, b, p = drawn(seed, name_a, name_b, "tangent", 30)
    gaps = measured(a, b, p, (volume, volume))
    assert_true(gaps, a, b, p, truth=p.gap)
    # The normal of vertices a gap apart is as good as the vertices are, relative to the gap.
    off = np.linalg.norm(gaps.normal - p.normal, axis=1)
    wide = p.gap > 1e-6
    oracle.assert_at_most(off[wide], 1e-13 / p.gap[wide] + 1e-12, "normal is off")


@every_volume
@given(seeds(), meshes.names(), meshes.names(), meshes.families(), meshes.scales())
def test_scale_does_not_matter(volume, seed, name_a, name_b, family, scale):
    a, b, p = drawn(seed, name_a, name_b, family, 6)
    a, b, p = a.scaled(scale), b.scaled(scale), p.scaled(scale)
    assert_true(measured(a, b, p, (volume, volume)), a, b, p)


@given(seeds(), meshes.names(), meshes.volumes(), st.sampled_from([-80, -20, -1, 1, 20, 80]))
def test_powers_of_two_scale_exactly(seed, name, volume, exponent):
    a, b, p = drawn(seed, name, "soup", "around", 8)
    factor = 2.0**exponent
    here = measured(a, b, p, (volume, volume))
    there = measured(a.scaled(factor), b.scaled(factor), p.scaled(factor), (volume, volume))
    assert_true(there, a.scaled(factor), b.scaled(factor), p.scaled(factor))
    oracle.assert_at_most(np.abs(there.distance / factor - here.distance), 4 * EPS * pair_size(a, b), "scale matters")


@pytest.mark.parametrize("scale", [1e-25, 1e25])
@every_volume
@every_sample
def test_coordinates_may_be_huge_or_tiny(name, volume, scale):
    """Their squares are beyond what single precision can hold."""
    for family in ("tangent", "around", "upon"):
        a, b, p = drawn(5, name, "bumpy sphere", family, 3)
        a, b, p = a.scaled(scale), b.scaled(scale), p.scaled(scale)
        assert_true(measured(a, b, p, (volume, volume)), a, b, p)


@pytest.mark.parametrize("ratio", [1e-9, 1e-4, 1e4, 1e9])
@every_volume
def test_a_pebble_meets_a_mountain(volume, ratio):
    for name_a, name_b in (("bumpy sphere", "gear"), ("soup", "sheet"), ("needles", "lattice")):
        for family in ("tangent", "upon"):
            a, b, p = drawn(6, name_a, name_b, family, 5, ratio)
            assert_true(measured(a, b, p, (volume, volume)), a, b, p)


@every_volume
def test_meshes_may_lie_far_from_their_own_origin(volume):
    a, b, p = drawn(7, "torus", "bumpy sphere", "tangent", 10)
    away = poses.from_translation([1e6, -2e6, 5e5])
    a, b = a.moved(away), b.moved(away)
    p = meshes.Placements(p.pose_a @ np.linalg.inv(away), p.pose_b @ np.linalg.inv(away), p.gap, p.normal)
    assert_true(measured(a, b, p, (volume, volume)), a, b, p)


@given(seeds(), meshes.names(), meshes.names(), meshes.families(), meshes.volumes())
def test_order_does_not_matter(seed, name_a, name_b, family, volume):
    a, b, p = drawn(seed, name_a, name_b, family)
    here, swapped = measured(a, b, p, (volume, volume)), cl.distance(made(b).at(p.pose_b), made(a).at(p.pose_a))
    assert_true(swapped, b, a, meshes.Placements(p.pose_b, p.pose_a, p.gap, -p.normal), truth=here.distance)


@given(seeds(), meshes.names(), meshes.names(), meshes.families(), meshes.volumes())
def test_observer_does_not_matter(seed, name_a, name_b, family, volume):
    a, b, p = drawn(seed, name_a, name_b, family)
    motion = rigid_motions(np.random.default_rng(seed), 1)[0]
    here, there = measured(a, b, p, (volume, volume)), measured(a, b, p.moved(motion), (volume, volume))
    assert_true(there, a, b, p.moved(motion), truth=here.distance)


@given(seeds(), meshes.names(), meshes.names(), meshes.families(), meshes.volumes())
def test_order_of_triangles_and_vertices_does_not_matter(seed, name_a, name_b, family, volume):
    a, b, p = drawn(seed, name_a, name_b, family)
    again = meshes.shuffled(np.random.default_rng(seed), a)
    assert_true(measured(again, b, p, (volume, volume)), again, b, p, truth=measured(a, b, p).distance)


@given(seeds(), meshes.names(), meshes.names(), meshes.families(), meshes.volumes())
def test_cutting_triangles_up_does_not_matter(seed, name_a, name_b, family, volume):
    a, b, p = drawn(seed, name_a, name_b, family)
    # The middle of an edge is rounded; a needle may turn by as much as it is thin, but no point moves farther.
    fine = meshes.subdivided(a)
    assert_true(measured(fine, b, p, (volume, volume)), fine, b, p, truth=measured(a, b, p).distance)


@given(seeds(), meshes.names(), meshes.names(), meshes.volumes(), st.integers(1, 4))
def test_splitting_a_mesh_into_a_compound_does_not_matter(seed, name_a, name_b, volume, count):
    a, b, p = drawn(seed, name_a, name_b, "upon" if seed % 2 else "around")
    pieces = meshes.split(np.random.default_rng(seed), a, count)
    whole = measured(a, b, p, (volume, volume))
    parts = cl.distance(cl.Compound([made(s, volume) for s in pieces]).at(p.pose_a), made(b, volume).at(p.pose_b))
    size, slack = pair_size(a, b), pair_rounding(a, b, p)
    oracle.assert_gaps_are_true(parts, whole.distance, size, slack)
    for k, piece in enumerate(pieces):
        own = parts.part_a == k
        oracle.assert_witnesses_lie_on(
            parts.point_a[own], parts.feature_a[own], piece.triangles, p.pose_a[own], 1e-9 * size + slack[own]
        )


@given(seeds(), meshes.names(), meshes.names(), meshes.volumes())
def test_larger_mesh_is_never_farther(seed, name_a, name_b, volume):
    a, b, p = drawn(seed, name_a, name_b, "around")
    fewer = Soup(a.vertices, a.faces[:: 1 + seed % 3])
    near, far = measured(a, b, p, (volume, volume)), measured(fewer, b, p, (volume, volume))
    assert np.all(near.lower <= far.upper)


@given(seeds(), meshes.names(), meshes.names(), meshes.volumes())
def test_shift_changes_the_distance_by_no_more_than_its_length(seed, name_a, name_b, volume):
    a, b, p = drawn(seed, name_a, name_b, "around", 20)
    rng = np.random.default_rng(seed)
    shift = rng.normal(size=(20, 3)) * 10.0 ** rng.uniform(-6, 0, size=(20, 1))
    shifted = p.pose_b.copy()
    shifted[:, :3, 3] += shift
    here = measured(a, b, p, (volume, volume))
    there = cl.distance(made(a).at(p.pose_a), made(b).at(shifted))
    slack = 1e-12 * pair_size(a, b) + pair_rounding(a, b, p)
    change = np.abs(here.distance - there.distance) - np.linalg.norm(shift, axis=1)
    oracle.assert_at_most(change, slack, "distance changed too much")


# Surfaces that meet, surfaces around each other ----------------------------------------------------------------------


@every_sample
@every_volume
def test_mesh_meets_itself(name, volume):
    soup = sample(name)
    mesh = made(soup, volume)
    for pose in (np.eye(4), rigid_motions(np.random.default_rng(8), 1)[0]):
        p = meshes.Placements(pose[None], pose[None], np.zeros(1), np.full((1, 3), np.nan))
        assert_true(cl.distance(mesh.at(pose), mesh.at(pose)), soup, soup, p, truth=0.0)
        assert cl.collides(mesh.at(pose), mesh.at(pose)) is True


@every_volume
def test_faces_that_touch_exactly_have_distance_zero(volume):
    block = made(meshes.box(), volume)
    for shift, distance in (([1, 0, 0], 0.0), ([1, 0.5, 0.25], 0.0), ([1 + 2**-20, 0, 0], 2**-20)):
        gap = cl.distance(block, block.at(np.array(shift, dtype=float)))
        assert gap.distance == distance
        assert cl.collides(block, block.at(np.array(shift, dtype=float))) is (distance == 0)


@every_volume
@given(seeds(), meshes.names(), meshes.names())
def test_witnesses_of_surfaces_that_cross_coincide_on_both(volume, seed, name_a, name_b):
    a, b, p = drawn(seed, name_a, name_b, "upon", 20)
    gaps, truth = measured(a, b, p, (volume, volume)), truth_of(a, b, p)
    met = truth == 0
    slack = pair_rounding(a, b, p)[met]
    assert np.all(gaps.distance[met] <= 1e-15 + slack)
    oracle.assert_at_most(np.linalg.norm((gaps.point_b - gaps.point_a)[met], axis=1), 2 * slack, "points differ")


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


def test_mesh_inside_a_mesh_is_apart_from_it():
    inner, outer = sample("gear").scaled(0.25), sample("bumpy sphere")
    gap = cl.distance(made(outer), made(inner))
    assert gap.distance > 0.1
    assert abs(gap.distance - oracle.least_distance(outer.triangles, inner.triangles)) <= 1e-12


# Mesh and convex shapes ----------------------------------------------------------------------------------------------


def touching_poses(rng, soup, n):
    """Draw poses that put a convex shape of about unit size near the surface of a mesh, some upon it, some far off."""
    motions = rigid_motions(rng, n)
    on = soup.triangles[rng.integers(len(soup.faces), size=n)].mean(axis=1)
    away = rng.normal(size=(n, 3))
    away /= np.linalg.norm(away, axis=1, keepdims=True)
    motions[:, :3, 3] = on + away * rng.uniform(0, 1.6, size=(n, 1))
    return motions


def outside(points, shape, motions):
    """Return how far points lie outside of a placed shape, negative inside."""
    point = cl.SweptPoint([0, 0, 0], 0.0)
    return cl.distance(point.at(poses.from_translation(points)), shape.at(motions)).distance


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


# Questions that stop early -------------------------------------------------------------------------------------------

OTHERS = {
    "mesh": made(sample("gear")),
    "box": cl.Box([0.5, 0.6, 0.7]),
    "ellipsoid": cl.Ellipsoid([0.3, 0.4, 0.5]),
    "half-space": cl.HalfSpace([0.3, 0.2, 1.0], -0.4),
    "compound": cl.Compound([cl.Sphere(0.2), cl.Cylinder(0.1, 1.0).at([0.3, 0, 0])]),
}
against_every_other = pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)


@against_every_other
@every_volume
def test_within_and_collides_agree_with_the_distance(other, volume):
    rng = np.random.default_rng(11)
    mesh, motions = made(sample("bumpy sphere"), volume), touching_poses(rng, sample("bumpy sphere"), 40)
    gaps = cl.distance(mesh, other.at(motions))
    assert 0.1 <= np.mean(cl.collides(mesh, other.at(motions))) <= 0.95
    for margin in (0.0, 1e-6, 0.05, float(np.median(gaps.distance)), np.inf):
        near = cl.within(mesh, other.at(motions), margin)
        assert np.all(near | (gaps.upper > margin))
        assert np.all(~near | (gaps.lower <= margin))
        assert [cl.within(mesh, other.at(pose), margin) for pose in motions[:9]] == near[:9].tolist()
        if margin == 0:
            assert np.array_equal(cl.collides(mesh, other.at(motions)), near)


@against_every_other
@every_volume
@pytest.mark.parametrize("at_most", [0.0, 1e-3, 0.1, 0.5])
def test_pairs_farther_than_asked_for_only_say_so(other, volume, at_most):
    rng = np.random.default_rng(12)
    mesh, motions = made(sample("torus"), volume), touching_poses(rng, sample("torus"), 40)
    exact, cut = cl.distance(mesh, other.at(motions)), cl.distance(mesh, other.at(motions), at_most=at_most)
    far = np.isinf(cut.distance)
    assert 0 < np.sum(far) < 40 or np.all(exact.lower > at_most) or np.all(exact.upper <= at_most)
    assert np.all(~far[exact.upper <= at_most])
    assert np.all(far[exact.lower > at_most])
    assert np.all(np.abs(cut.distance - exact.distance)[~far] <= 2e-9 * 2)
    assert np.all((cut.lower[far] > at_most) & (cut.lower[far] <= exact.upper[far]))
    assert np.all(cut.upper[far] == np.inf)
    assert all(np.isnan(x[far]).all() for x in (cut.point_a, cut.point_b, cut.normal))
    assert np.all(cut.feature_a[far] == -1)
    single = cl.distance(mesh, other.at(motions[0]), at_most=at_most)
    assert np.isinf(single.distance) == far[0]


@settings(max_examples=15)
@given(seeds(), meshes.names(), meshes.names(), meshes.volumes())
def test_margin_is_decided_on_either_side_of_a_known_gap(seed, name_a, name_b, volume):
    a, b, p = drawn(seed, name_a, name_b, "tangent", 12)
    in_a, in_b = made(a, volume), made(b, volume)
    for k in np.flatnonzero(p.gap > 1e-9):
        placed = in_a.at(p.pose_a[k]), in_b.at(p.pose_b[k])
        off = 1e-11
        assert cl.within(*placed, p.gap[k] + off) is True
        assert cl.within(*placed, p.gap[k] - off) is False
        assert np.isinf(cl.distance(*placed, at_most=p.gap[k] - off).distance)
        assert abs(cl.distance(*placed, at_most=p.gap[k] + off).distance - p.gap[k]) <= off


@every_volume
def test_questions_that_stop_early_open_less(volume):
    a, b, p = drawn(13, "bumpy sphere", "torus", "around", 30)
    far = meshes.Placements(p.pose_a, p.pose_b.copy(), p.gap, p.normal)
    far.pose_b[:, 0, 3] += 5
    whole, cut = measured(a, b, far, (volume, volume)), measured(a, b, far, (volume, volume), at_most=0.5)
    assert cut.work.volume_tests < whole.work.volume_tests
    assert (cut.work.pairs, cut.work.triangle_tests) == (30, 0)


# Hints ---------------------------------------------------------------------------------------------------------------


def misleading_hints(a, b, placed):
    """Return gaps of the same pair elsewhere, of other pairs, and of one that was cut off."""
    big = made(meshes.subdivided(meshes.subdivided(sample("torus"))))
    return {
        "right": cl.distance(*placed),
        "elsewhere": cl.distance(a, b.at([0.1, 2.0, 0.3])),
        "swapped": cl.distance(*placed[::-1]),
        "features out of range": cl.distance(big.at([3.0, 0, 0]), big),
        "of spheres": cl.distance(cl.Sphere(1.0), cl.Sphere(1.0).at([9.0, 0, 0])),
        "cut off": cl.distance(a, b.at([0.0, 0, 50]), at_most=1.0),
        "none": None,
    }


@settings(max_examples=15)
@given(seeds(), meshes.names(), meshes.names(), meshes.families(), meshes.volumes(), meshes.volumes())
def test_hint_right_or_wrong_does_not_change_the_answer(seed, name_a, name_b, family, volume_a, volume_b):
    a, b, p = drawn(seed, name_a, name_b, family, 2)
    in_a, in_b = made(a, volume_a), made(b, volume_b)
    truth = truth_of(a, b, p)
    for k in range(2):
        placed = in_a.at(p.pose_a[k]), in_b.at(p.pose_b[k])
        one = meshes.Placements(*(x[k : k + 1] for x in (p.pose_a, p.pose_b, p.gap, p.normal)))
        for hint in misleading_hints(in_a, in_b, placed).values():
            assert_true(cl.distance(*placed, hint=hint), a, b, one, truth[k])


@against_every_other
def test_hint_does_not_change_the_distance_to_any_shape(other):
    mesh, motions = made(sample("sheet")), touching_poses(np.random.default_rng(14), sample("sheet"), 8)
    for pose in motions:
        gap = cl.distance(mesh, other.at(pose))
        for hint in misleading_hints(mesh, other, (mesh, other.at(pose))).values():
            assert abs(cl.distance(mesh, other.at(pose), hint=hint).distance - gap.distance) <= 4e-9


@every_volume
def test_batches_take_hints(volume):
    a, b, p = drawn(15, "bumpy sphere", "gear", "tangent", 20)
    truth, gaps = truth_of(a, b, p), measured(a, b, p, (volume, volume))
    order = np.random.default_rng(15).permutation(20)
    cut = measured(a, b, p, (volume, volume), at_most=0.01)
    for hint in (gaps, gaps[order], cut, cl.distance(made(a).at(p.pose_a[0]), made(b).at(p.pose_b[0]))):
        assert_true(measured(a, b, p, (volume, volume), hint=hint), a, b, p, truth)


@every_volume
def test_right_hint_saves_work(volume):
    a, b, p = drawn(16, "bumpy sphere", "torus", "around", 30)
    without = measured(a, b, p, (volume, volume))
    again = measured(a, b, p, (volume, volume), hint=without)
    assert again.work.volume_tests <= without.work.volume_tests


# Batches and threads -------------------------------------------------------------------------------------------------


@against_every_other
@every_volume
def test_batch_gives_the_same_bits_as_single_calls(other, volume):
    rng = np.random.default_rng(17)
    mesh, motions = made(sample("soup"), volume), touching_poses(rng, sample("soup"), 25)
    moved = rigid_motions(rng, 25)
    gaps, both = cl.distance(mesh, other.at(motions)), cl.distance(mesh.at(moved), other.at(moved @ motions))
    for k in range(0, 25, 3):
        assert_same_bits(gaps[k], cl.distance(mesh, other.at(motions[k])))
        assert_same_bits(both[k], cl.distance(mesh.at(moved[k]), other.at((moved @ motions)[k])))


def test_poses_broadcast():
    rng = np.random.default_rng(18)
    mesh, other = made(sample("sheet")), made(sample("gear"), "rss")
    motions_a, motions_b = rigid_motions(rng, 3).reshape(3, 1, 4, 4), rigid_motions(rng, 5)
    gaps = cl.distance(mesh.at(motions_a), other.at(motions_b))
    assert gaps.distance.shape == gaps.feature_b.shape == gaps.part_a.shape == (3, 5)
    assert gaps.work.pairs == 15
    for i, j in np.ndindex(3, 5):
        assert_same_bits(gaps[i, j], cl.distance(mesh.at(motions_a[i, 0]), other.at(motions_b[j])))


@against_every_other
@every_volume
def test_number_of_threads_changes_no_bit(other, volume):
    mesh, motions = made(sample("torus"), volume), touching_poses(np.random.default_rng(19), sample("torus"), 600)
    alone = cl.distance(mesh, other.at(motions), threads=1)
    for threads in (2, 8, None):
        again = cl.distance(mesh, other.at(motions), threads=threads)
        assert_same_bits(again, alone)
        assert again.work == alone.work


# Work ----------------------------------------------------------------------------------------------------------------


@every_volume
def test_work_is_counted_and_repeats(volume):
    a, b, p = drawn(20, "bumpy sphere", "torus", "tangent", 10)
    first, again = (measured(a, b, p, (volume, volume)).work for _ in range(2))
    assert first == again
    for name in ("pairs", "volume_tests", "triangle_tests", "queue_operations"):
        assert getattr(first, name) > 0, name
    assert first.pairs == 10


@every_volume
def test_trees_spare_most_tests_of_triangles(volume):
    a, b = meshes.subdivided(meshes.subdivided(sample("bumpy sphere"))), meshes.subdivided(sample("torus"))
    p = placements(np.random.default_rng(21), a, b, 20, "tangent")
    gaps = measured(a, b, p, (volume, volume))
    every = len(p) * len(a.faces) * len(b.faces)
    assert gaps.work.triangle_tests <= every // 100
    assert gaps.work.volume_tests <= every // 10


def test_volumes_are_found_by_descent_for_single_points_too():
    soup = meshes.subdivided(meshes.subdivided(meshes.subdivided(sample("bumpy sphere"))))
    at = poses.from_translation(np.random.default_rng(22).normal(size=(50, 3)))
    work = cl.distance(made(soup), cl.Sphere(0.1).at(at)).work
    tested = work.triangle_tests + work.element_tests
    assert 0 < tested <= 50 * len(soup.faces) // 20


# Meshes that try the patience ----------------------------------------------------------------------------------------


@pytest.mark.timeout(60)
@every_volume
def test_two_hundred_thousand_coincident_triangles_take_seconds(volume):
    heap = cl.Mesh(np.eye(3), np.tile([0, 1, 2], (200_000, 1)), volume=volume)
    few = made(sample("box"), volume)
    assert len(heap) == 200_000
    for other, distance in ((cl.Sphere(1.0), 0.0), (few.at([0.0, 0, 5]), 3.7), (cl.Sphere(0.5).at([0, 0, 3.5]), 2.0)):
        gap = cl.distance(heap, other)
        assert abs(gap.distance - distance) <= 1e-9
        assert 0 <= gap.feature_a < 200_000
    assert cl.within(heap, few.at([0.0, 0, 5]), 3.6) is False
    assert cl.collides(heap, few) is True


@pytest.mark.timeout(60)
@every_volume
def test_two_heaps_of_coincident_triangles_take_seconds(volume):
    """All pairs tie: whoever cannot tell a tie from something better opens all million of them."""
    heap = cl.Mesh(np.eye(3), np.tile([0, 1, 2], (1000, 1)), volume=volume)
    gap = cl.distance(heap, heap.at([0.0, 0, 3]))
    assert abs(gap.distance - oracle.least_distance(np.eye(3)[None], np.eye(3)[None] + 3 * Z)) <= 1e-12
    assert cl.distance(heap, heap).distance == 0


@pytest.mark.timeout(60)
@every_volume
def test_points_in_one_place_and_points_on_a_line_are_meshes(volume):
    point = cl.Mesh(np.ones((3000, 3)), np.arange(3000).reshape(-1, 3), volume=volume)
    line = cl.Mesh(np.outer(np.linspace(0, 1, 3000), X), np.arange(3000).reshape(-1, 3), volume=volume)
    assert abs(cl.distance(point, line).distance - np.sqrt(2)) <= 1e-12
    assert cl.distance(point, point).distance == 0
    assert abs(cl.distance(line, line.at([0.5, 0, 2])).distance - 2) <= 1e-12


@pytest.mark.parametrize("bad", [None, 1.0, "mesh", [1]], ids=repr)
def test_what_is_no_shape_is_refused_by_name(bad):
    mesh = made(sample("box"))
    for query in (cl.distance, cl.collides, lambda a, b: cl.within(a, b, 1.0)):
        with pytest.raises(TypeError, match=r"\ba\b"):
            query(bad, mesh)
        with pytest.raises(TypeError, match=r"\bb\b"):
            query(mesh, bad)


def test_hint_must_be_a_gap():
    with pytest.raises(TypeError, match="hint"):
        cl.distance(made(sample("box")), cl.Sphere(1.0), hint=3.0)
