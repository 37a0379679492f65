"""Contact manifolds: which points carry two bodies that overlap, and how deep they lie."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clearance as cl
from clearance import poses
from solids import EPS, PAIRS, bounding_radius, draw_shape, hull_of
from strategies import rigid_motions, seeds
from tangents import tangents

X, Y, Z = np.eye(3)
GROUND = cl.HalfSpace(Z, 0.0)
SLAB = cl.Box([10, 10, 1]).at([0, 0, -0.5])
DEPTH = 0.01


def up(height, axis=X, angle=0.0):
    """Return a pose turned about an axis, with the lowest point of the body at `height` sunk in by DEPTH."""
    return poses.from_axis_angle(axis, angle, [0.1, -0.2, height - DEPTH])


CONE_ANGLE = np.pi / 2 + np.arctan2(0.3, 0.8)  # lays a cone of radius 0.3 and length 0.8 on its side
CONE_HEIGHT = 0.4 * 0.3 / np.hypot(0.3, 0.8)
BODIES = {
    "box on a face": (cl.Box([1, 2, 3]).at(up(1.5)), 4),
    "box on an edge": (cl.Box([1, 2, 1]).at(up(np.sqrt(0.5), Y, np.pi / 4)), 2),
    "box on a corner": (cl.Box([1, 1, 1]).at(up(np.sqrt(0.75), [1, -1, 0], np.arccos(3**-0.5))), 1),
    "hull on a face": (cl.ConvexHull([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.5, 0.5, 1]]).at(up(0)), 4),
    "hull on three corners": (cl.ConvexHull([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]).at(up(0)), 3),
    "rounded hull on a face": (cl.ConvexHull([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], 0.1).at(up(0.1)), 3),
    "cylinder standing": (cl.Cylinder(0.3, 0.8).at(up(0.4)), 4),
    "cylinder upside down": (cl.Cylinder(0.3, 0.8).at(up(0.4, X, np.pi)), 4),
    "cylinder lying": (cl.Cylinder(0.3, 0.8).at(up(0.3, X, np.pi / 2)), 2),
    "cone on its base": (cl.Cone(0.3, 0.8).at(up(0.4)), 4),
    "cone on its tip": (cl.Cone(0.3, 0.8).at(up(0.4, X, np.pi)), 1),
    "cone on its side": (cl.Cone(0.3, 0.8).at(up(CONE_HEIGHT, X, CONE_ANGLE)), 2),
    "capsule standing": (cl.Capsule(0.3, 0.8).at(up(0.7)), 1),
    "capsule lying": (cl.Capsule(0.3, 0.8).at(up(0.3, X, np.pi / 2)), 2),
    "sphere": (cl.Sphere(0.3).at(up(0.3)), 1),
    "ellipsoid": (cl.Ellipsoid([0.3, 0.4, 0.5]).at(up(0.5)), 1),
    "triangle": (cl.SweptTriangle([0, 0, 0], X, Y, 0.1).at(up(0.1)), 3),
}
carried = pytest.mark.parametrize(("body", "count"), BODIES.values(), ids=BODIES)
on = pytest.mark.parametrize("carrier", [GROUND, SLAB], ids=["half-space", "slab"])


def depth_of(point, body):
    """Return how deep a point lies in a body, negative outside."""
    return -cl.distance(cl.SweptPoint(point, 0.0), body).distance


def check(a, b, found, tolerance=1e-6):
    """Check a manifold of two convex bodies that overlap against their distance.

    A point halfway between two surfaces may lie beside a sharp corner, but no farther off than it is deep.
    """
    gap = cl.distance(a, b)
    k = len(found.depths)
    assert k >= 1
    assert found.points.shape == found.normals.shape == (k, 3)
    assert found.parts.shape == (k, 2)
    assert found.normal.shape == (3,)
    assert np.allclose(np.linalg.norm(found.normals, axis=1), 1, rtol=0, atol=1e-12)
    assert np.all(found.normals == found.normal)
    assert abs(np.max(found.depths) + gap.distance) <= tolerance
    assert np.all(found.depths >= -tolerance)
    for point, depth in zip(found.points, found.depths, strict=True):
        assert depth_of(point, a) >= -depth - tolerance
        assert depth_of(point, b) >= -depth - tolerance


def apart(points):
    """Return the least distance between any two points."""
    return min((np.linalg.norm(p - q) for p, q in combinations(points, 2)), default=np.inf)


# What stands on what -------------------------------------------------------------------------------------------------


@carried
@on
def test_body_at_rest_stands_on_as_many_points_as_it_should(body, count, carrier):
    found = cl.contacts(carrier, body)
    assert len(found.depths) == count
    check(carrier, body, found)
    assert np.allclose(found.normal, Z, rtol=0, atol=1e-4)
    assert np.allclose(found.depths, DEPTH, rtol=0, atol=1e-6)
    assert apart(found.points) > 0.2
    assert np.all(np.abs(found.points[:, 2]) <= DEPTH + 1e-6)


@carried
@on
def test_body_lifted_stands_on_nothing(body, count, carrier):
    lifted = body.shape.at(poses.from_translation([0, 0, 0.5]) @ body.pose)
    found = cl.contacts(carrier, lifted)
    assert found.points.shape == found.normals.shape == (0, 3)
    assert found.depths.shape == (0,)
    assert found.parts.shape == (0, 2)
    assert found.normal.shape == (3,)
    assert abs(np.linalg.norm(found.normal) - 1) <= 8 * EPS
    assert found.normal[2] > 0.9


@carried
@on
def test_order_turns_the_normal_round(body, count, carrier):
    found, swapped = cl.contacts(carrier, body), cl.contacts(body, carrier)
    assert np.allclose(swapped.normal, -found.normal, rtol=0, atol=1e-4)
    assert np.allclose(np.sort(swapped.depths), np.sort(found.depths), rtol=0, atol=1e-6)
    assert count == 4 or np.allclose(*(np.sort(x.points, axis=0) for x in (found, swapped)), rtol=0, atol=1e-3)


@carried
@on
def test_observer_does_not_matter(body, count, carrier):
    motion = rigid_motions(np.random.default_rng(1), 1)[0]
    placed = carrier if isinstance(carrier, cl.Placed) else carrier.at(np.eye(4))
    a, b = (x.shape.at(motion @ x.pose) for x in (placed, body))
    here, there = cl.contacts(carrier, body), cl.contacts(a, b)
    check(a, b, there)
    assert len(there.depths) == count
    assert np.allclose(there.normal, motion[:3, :3] @ here.normal, rtol=0, atol=1e-4)
    # Which four points stand for a disc may depend on the frame; corners and ends may not.
    if not isinstance(body.shape, cl.Cylinder | cl.Cone):
        for point in here.points @ motion[:3, :3].T + motion[:3, 3]:
            assert np.min(np.linalg.norm(there.points - point, axis=1)) <= 1e-3


def test_four_points_of_a_disc_surround_its_centre():
    for body in (cl.Cylinder(0.3, 0.8).at(up(0.4)), cl.Cone(0.3, 0.8).at(up(0.4))):
        for carrier in (GROUND, SLAB):
            points = cl.contacts(carrier, body).points[:, :2] - body.pose[:2, 3]
            assert np.allclose(np.linalg.norm(points, axis=1), 0.3, rtol=0, atol=1e-6)
            assert hull_of(points).volume >= 1.2 * 0.3**2  # 2 r² is a square, the largest there is


@pytest.mark.parametrize("angle", np.linspace(0.0, 3.0, 13))
def test_line_across_a_disc_ends_at_its_rim(angle):
    lying = poses.from_axis_angle(Z, angle, [0, 0, 0.59]) @ poses.from_axis_angle(X, np.pi / 2)
    found = cl.contacts(cl.Cylinder(0.3, 1.0), cl.Capsule(0.1, 2.0).at(lying))
    assert len(found.depths) == 2
    assert np.allclose(found.depths, DEPTH, rtol=0, atol=1e-6)
    assert np.allclose(np.linalg.norm(found.points[:, :2], axis=1), 0.3, rtol=0, atol=1e-6)


# Faces on faces ------------------------------------------------------------------------------------------------------


def test_box_on_box_touches_at_the_corners_of_the_overlap():
    a, b = cl.Box([2, 2, 1]), cl.Box([1, 3, 1]).at([0.75, 0.25, 0.95])
    found = cl.contacts(a, b)
    check(a, b, found)
    assert np.allclose(found.depths, 0.05, rtol=0, atol=1e-9)
    corners = {tuple(p) for p in np.round(found.points[:, :2], 6)}
    assert corners == {(0.25, -1.0), (1.0, -1.0), (1.0, 1.0), (0.25, 1.0)}


@pytest.mark.parametrize("angle", [0.0, 0.1, np.pi / 4, 1.0, np.pi / 2])
def test_small_box_turned_on_a_large_one_stands_on_its_corners(angle):
    a, b = cl.Box([4, 4, 1]), cl.Box([1, 2, 1]).at(poses.from_axis_angle(Z, angle, [0.3, 0.2, 0.99]))
    found = cl.contacts(a, b)
    check(a, b, found)
    assert len(found.depths) == 4
    corners = np.array([[0.5, 1], [-0.5, 1], [-0.5, -1], [0.5, -1]]) @ b.pose[:2, :2].T + b.pose[:2, 3]
    for corner in corners:
        assert np.min(np.linalg.norm(found.points[:, :2] - corner, axis=1)) <= 1e-6


def test_box_turned_on_its_equal_keeps_most_of_the_octagon():
    a, b = cl.Box([1, 1, 1]), cl.Box([1, 1, 1]).at(poses.from_axis_angle(Z, np.pi / 4, [0, 0, 0.99]))
    found = cl.contacts(a, b)
    check(a, b, found)
    assert 4 <= len(found.depths) <= 8
    assert np.allclose(found.depths, 0.01, rtol=0, atol=1e-9)
    octagon = 2 * (np.sqrt(2) - 1)
    assert hull_of(found.points[:, :2]).volume >= 0.6 * octagon


def test_hull_on_box_is_clipped_like_a_box():
    corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-1.5, 1.5) for z in (-0.5, 0.5)])
    a, pose = cl.Box([2, 2, 1]), [0.75, 0.25, 0.95]
    box, hull = cl.contacts(a, cl.Box([1, 3, 1]).at(pose)), cl.contacts(a, cl.ConvexHull(corners).at(pose))
    check(a, cl.ConvexHull(corners).at(pose), hull)
    assert np.allclose(sorted(map(tuple, np.round(hull.points, 6))), sorted(map(tuple, np.round(box.points, 6))))


def test_exact_touch_is_a_contact():
    a, b = cl.Box([1, 1, 1]), cl.Box([1, 1, 1]).at([0.25, 0, 1])
    assert cl.collides(a, b) is True
    found = cl.contacts(a, b)
    assert len(found.depths) == 4
    assert np.all(np.abs(found.depths) <= 1e-12)


def test_box_leaning_a_little_has_depths_that_differ():
    body = cl.Box([1, 1, 1]).at(poses.from_axis_angle(Y, 0.002, [0, 0, 0.49]))
    found = cl.contacts(GROUND, body)
    assert len(found.depths) == 4
    assert np.allclose(np.sort(found.depths), [0.009, 0.009, 0.011, 0.011], rtol=0, atol=1e-5)
    assert abs(np.max(found.depths) + cl.distance(GROUND, body).distance) <= 1e-12


# Every pair ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_deepest_point_is_as_deep_as_the_distance_says(kinds):
    rng = np.random.default_rng([2, PAIRS.index(kinds)])
    t = tangents(rng, *(draw_shape(rng, kind) for kind in kinds), 40)
    for k in np.flatnonzero(t.exact & (t.gap < -1e-6))[:6]:
        a, b = t.a.at(t.pose_a[k]), t.b.at(t.pose_b[k])
        found = cl.contacts(a, b)
        check(a, b, found)
        assert not t.normal_known[k] or np.linalg.norm(found.normal - t.normal[k]) <= 1e-3


@given(seeds(), st.sampled_from(PAIRS))
def test_there_are_contacts_just_where_bodies_collide(seed, kinds):
    rng = np.random.default_rng(seed)
    a, b = (draw_shape(rng, kind) for kind in kinds)
    for pose in rigid_motions(rng, 10):
        gap, found = cl.distance(a, b.at(pose)), cl.contacts(a, b.at(pose))
        assert len(found.depths) == 0 or gap.lower <= 0
        assert len(found.depths) > 0 or gap.upper > 0
        assert np.isfinite(found.points).all()


@given(seeds(), st.sampled_from([pair for pair in PAIRS if "HalfSpace" not in pair]))
def test_portals_never_understate_the_depth(seed, kinds):
    rng = np.random.default_rng(seed)
    a, b = (draw_shape(rng, kind) for kind in kinds)
    size = bounding_radius(a) + bounding_radius(b)
    for pose in rigid_motions(rng, 10):
        gap, found = cl.distance(a, b.at(pose)), cl.contacts(a, b.at(pose), method="mpr")
        assert len(found.depths) > 0 or gap.upper > -1e-6 * size
        assert len(found.depths) == 0 or gap.lower < 1e-6 * size
        if len(found.depths):
            assert np.max(found.depths) >= -gap.distance - 1e-5 * size
            assert abs(np.linalg.norm(found.normal) - 1) <= 8 * EPS


# Compounds and batches -----------------------------------------------------------------------------------------------


def test_compound_has_a_manifold_for_every_part_that_touches():
    legs = [[-1.0, -1], [1, -1], [1, 1], [-1, 1]]
    top, ball = cl.Box([3, 3, 0.2]).at([0, 0, 1]), cl.Sphere(0.1).at([0, 0, 0.09])
    table = cl.Compound([top, *(cl.Cylinder(0.1, 1).at([x, y, 0.49]) for x, y in legs), ball])
    found = cl.contacts(GROUND, table)
    assert np.all(found.parts[:, 0] == 0)
    assert [int(np.sum(found.parts[:, 1] == part)) for part in range(6)] == [0, 4, 4, 4, 4, 1]
    assert np.allclose(found.depths, DEPTH, rtol=0, atol=1e-6)
    for part, point in zip(found.parts[:, 1], found.points, strict=True):
        assert depth_of(point, table.parts[part]) >= -DEPTH
    swapped = cl.contacts(table, GROUND)
    assert np.array_equal(np.sort(swapped.parts[:, 0]), np.sort(found.parts[:, 1]))
    assert np.allclose(swapped.normals, -Z, rtol=0, atol=1e-4)


def test_parts_have_normals_of_their_own():
    corner = cl.Compound([cl.Box([2, 2, 1]).at([0, 0, -0.5]), cl.Box([1, 2, 2]).at([-1.5, 0, 0])])
    found = cl.contacts(corner, cl.Sphere(0.5).at([-0.51, 0, 0.49]))
    assert sorted(found.parts[:, 0]) == [0, 1]
    floor, wall = found.normals[np.argsort(found.parts[:, 0])]
    assert np.allclose(floor, Z, rtol=0, atol=1e-6)
    assert np.allclose(wall, X, rtol=0, atol=1e-6)


@pytest.mark.parametrize("kinds", [("Box", "Box"), ("HalfSpace", "Cylinder"), ("Cone", "Ellipsoid")], ids="-".join)
def test_batch_is_flat_arrays_with_offsets(kinds):
    rng = np.random.default_rng(3)
    t = tangents(rng, *(draw_shape(rng, kind) for kind in kinds), 30)
    found = cl.contacts(*t.placed)
    assert found.offsets.shape == (31,)
    assert found.offsets[0] == 0
    assert found.offsets[-1] == len(found.depths) == len(found.points) == len(found.normals) == len(found.parts)
    assert found.normal.shape == (30, 3)
    for k in range(30):
        alone = cl.contacts(t.a.at(t.pose_a[k]), t.b.at(t.pose_b[k]))
        rows = slice(found.offsets[k], found.offsets[k + 1])
        assert np.array_equal(found.points[rows], alone.points)
        assert np.array_equal(found.depths[rows], alone.depths)
        assert np.array_equal(found.normals[rows], alone.normals)
        assert np.array_equal(found.parts[rows], alone.parts)
        assert np.array_equal(found.normal[k], alone.normal, equal_nan=True)


@pytest.mark.parametrize("bad", ["gjk", None, 1])
def test_unknown_method_is_refused(bad):
    with pytest.raises((ValueError, TypeError), match="method"):
        cl.contacts(cl.Box([1, 1, 1]), cl.Box([1, 1, 1]), method=bad)


@pytest.mark.parametrize("bad", [None, 1.0, "Box", np.eye(4)])
def test_what_is_no_body_is_refused_by_name(bad):
    with pytest.raises(TypeError, match=r"\ba\b"):
        cl.contacts(bad, GROUND)
    with pytest.raises(TypeError, match=r"\bb\b"):
        cl.contacts(GROUND, bad)


# One point for a plane ----------------------------------------------------------------------------------------------


BLOCK = cl.Box([0.6, 1.0, 0.4])
CORNERS = 0.5 * BLOCK.size * np.array(np.meshgrid(*[[-1.0, 1.0]] * 3)).reshape(3, -1).T


def sunk_blocks(count, seed):
    rng = np.random.default_rng(seed)
    poses = cl.poses.from_rpy(rng.uniform(-np.pi, np.pi, (count, 3)))
    lowest = (CORNERS @ poses[:, 2, :3].T).min(axis=0)
    poses[:, 2, 3] = -lowest - 10.0 ** rng.uniform(-6.0, -1.0, count)
    return poses


def test_deepest_corner_stands_for_a_tilted_block():
    for pose in sunk_blocks(50, 1):
        corners = CORNERS @ pose[:3, :3].T + pose[:3, 3]
        found = cl.contacts(GROUND, BLOCK.at(pose), plane="deepest")
        lowest = corners[np.argmin(corners[:, 2])]
        assert found.depths == pytest.approx(-lowest[2], abs=1e-12)
        assert np.allclose(found.points, lowest * [1.0, 1.0, 0.5], atol=1e-12)


def test_corners_are_weighted_with_their_depths():
    for pose in sunk_blocks(50, 2):
        corners = CORNERS @ pose[:3, :3].T + pose[:3, 3]
        weights = np.maximum(0.0, -corners[:, 2])
        mean = weights @ corners / weights.sum()
        for shape in (BLOCK, cl.ConvexHull(CORNERS)):
            found = cl.contacts(GROUND, shape.at(pose), plane="corners")
            assert np.allclose(found.points, mean * [1.0, 1.0, 0.5], atol=1e-12)
            assert found.depths == pytest.approx(-mean[2], abs=1e-12)


def test_section_is_balanced_at_its_centroid():
    rng = np.random.default_rng(3)
    inside = rng.uniform(-0.7, 0.7, (400_000, 2))
    for pose in sunk_blocks(8, 4):
        pose[2, 3] = 0.1 * pose[2, 3]  # deep enough for a section of some area
        points = np.column_stack([inside + pose[:2, 3], np.zeros(len(inside))])
        local = (points - pose[:3, 3]) @ pose[:3, :3]
        centroid = points[(np.abs(local) <= 0.5 * BLOCK.size).all(axis=1)].mean(axis=0)
        found = cl.contacts(GROUND, BLOCK.at(pose), plane="section")
        assert np.allclose(found.points[0, :2], centroid[:2], atol=5e-3)
        surface = found.points[0] - [0.0, 0.0, 0.5 * found.depths[0]]
        on_block = np.abs((surface - pose[:3, 3]) @ pose[:3, :3]) - 0.5 * BLOCK.size
        assert on_block.max() == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("rule", ["deepest", "corners", "section"])
def test_flat_block_is_held_at_its_middle_by_every_rule(rule):
    found = cl.contacts(BLOCK.at([1.0, 2.0, 0.15]), GROUND, plane=rule)
    assert np.allclose(found.points, [[1.0, 2.0, -0.025]], atol=1e-12)
    assert np.allclose(found.depths, [0.05])
    assert found.normal.tolist() == [0.0, 0.0, -1.0]


def test_rules_that_need_corners_are_refused_to_round_bodies():
    with pytest.raises(ValueError, match="corners"):
        cl.contacts(GROUND, cl.Ellipsoid([0.1, 0.2, 0.3]), plane="corners")
    with pytest.raises(ValueError, match="section"):
        cl.contacts(GROUND, cl.ConvexHull(CORNERS), plane="section")
    with pytest.raises(ValueError, match="plane"):
        cl.contacts(GROUND, BLOCK, plane="middle")


@pytest.mark.parametrize(("shift", "count"), [([1, 0, 0], 4), ([1, 1, 0], 2), ([1, 1, 1], 1), ([1, 0.5, 0], 4)])
def test_cubes_that_just_touch_meet_in_a_face_an_edge_or_a_corner(shift, count):
    cube = cl.Box([1.0, 1.0, 1.0])
    assert len(cl.contacts(cube, cube.at(np.array(shift, dtype=float)))) == count
