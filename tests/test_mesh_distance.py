"""Distances of meshes from each other, against all of their triangles one by one."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clearance as cl
import mesh_oracle as oracle
import meshes
from clearance import poses
from mesh_pairs import assert_true, drawn, made, measured, pair_rounding, pair_size, truth_of
from meshes import FAMILIES, SAMPLES, Soup, sample
from strategies import rigid_motions, seeds

EPS = np.finfo(float).eps
VOLUMES = ("obb", "rss")
X, Y, Z = np.eye(3)
every_sample = pytest.mark.parametrize("name", SAMPLES)
every_volume = pytest.mark.parametrize("volume", VOLUMES)


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


def test_mesh_inside_a_mesh_is_apart_from_it():
    inner, outer = sample("gear").scaled(0.25), sample("bumpy sphere")
    gap = cl.distance(made(outer), made(inner))
    assert gap.distance > 0.1
    assert abs(gap.distance - oracle.least_distance(outer.triangles, inner.triangles)) <= 1e-12


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
