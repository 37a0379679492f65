"""Polytopes are walked over side by side in batches, and one by one in single calls: with the same bits everywhere."""

import numpy as np
import pytest

import clearance as cl

COLUMNS = ("distance", "lower", "upper", "point_a", "point_b", "normal")
RNG = np.random.default_rng(20)


def ball_of_points(count):
    points = RNG.normal(size=(count, 3))
    return cl.ConvexHull(0.5 * points / np.linalg.norm(points, axis=1)[:, None])


HULL = ball_of_points(40)
PARTNERS = {
    "few points": ball_of_points(12),
    "cells of directions": ball_of_points(300),
    "tree of points": ball_of_points(2500),
    "box": cl.Box([0.8, 0.5, 0.3]),
    "rounded": cl.ConvexHull(RNG.uniform(-0.4, 0.4, size=(9, 3)), radius=0.05),
    "segment": cl.SweptSegment([-0.4, 0, 0], [0.4, 0.1, 0], 0.02),
    "triangle": cl.SweptTriangle([-0.4, 0, 0], [0.4, 0.1, 0], [0.1, 0.4, 0.2], 0.0),
    "flat": cl.ConvexHull([[-0.4, -0.4, 0], [0.4, -0.4, 0], [0.4, 0.4, 0], [-0.4, 0.4, 0], [0.1, 0.1, 0]]),
    "corners twice": cl.ConvexHull(np.repeat(RNG.uniform(-0.4, 0.4, size=(6, 3)), 3, axis=0)),
}


def placements(partner, count=150):
    """Poses of the partner around the hull: apart, near contact on both sides, and at the very same place."""
    axes, angles = RNG.normal(size=(count, 3)), RNG.uniform(0, np.pi, count)
    poses = cl.poses.from_axis_angle(axes, angles, translation=1.5 * RNG.normal(size=(count, 3)))
    for gap in (1e-3, 1e-9, 0.0, -1e-9, -1e-3):
        chosen = np.arange(count)[: count // 2]
        for _ in range(8):
            found = cl.distance(HULL, partner.at(poses[chosen]))
            poses[chosen, :3, 3] += (gap - found.distance)[:, None] * found.normal
        poses = np.concatenate([poses, poses[chosen]])
    return np.concatenate([poses, np.eye(4)[None]])


@pytest.mark.parametrize("name", PARTNERS)
def test_batches_and_single_calls_agree_bit_by_bit(name):
    partner = PARTNERS[name]
    poses = placements(partner)
    batch = cl.distance(HULL, partner.at(poses))
    assert np.any(batch.distance > 0.1)
    assert np.any(batch.distance < 0)
    for row, pose in enumerate(poses):
        one = cl.distance(HULL, partner.at(pose))
        for column in COLUMNS:
            np.testing.assert_array_equal(getattr(one, column), getattr(batch, column)[row], err_msg=column)


CUBE = cl.ConvexHull(np.stack(np.meshgrid([-1, 1], [-1, 1], [-1, 1]), axis=-1).reshape(-1, 3))
SQUARE = {
    "box": cl.Box([2, 2, 2]),
    "flat box": cl.Box([2, 2, 1e-3]),
    "cube": CUBE,
    "octahedron": cl.ConvexHull(np.concatenate([np.eye(3), -np.eye(3)])),
    "grid": cl.ConvexHull(np.stack(np.meshgrid(*[np.linspace(-1, 1, 6)] * 3), axis=-1).reshape(-1, 3)),
    "segment": cl.SweptSegment([-1, 0, 0], [1, 0, 0], 0.1),
    "triangle": cl.SweptTriangle([-1, 0, 0], [1, 0, 0], [0, 1, 0], 0.0),
}


@pytest.mark.parametrize("name", SQUARE)
def test_zeros_of_neighbours_do_not_matter(name):
    """Where bodies stand square to each other, the sign of a zero decides which of several corners is farthest."""
    quarters = cl.poses.from_rpy(0.5 * np.pi * RNG.integers(0, 4, size=(300, 3)))
    quarters[:, :3, :3] = np.round(quarters[:, :3, :3]) + 0.0
    quarters[:150, :3, :3] = np.eye(3)
    quarters[:, :3, 3] = 0.5 * RNG.integers(-12, 13, size=(300, 3)) * (RNG.random((300, 3)) < 0.7)
    for other in (SQUARE["box"], CUBE):
        batch = cl.distance(other, SQUARE[name].at(quarters), threads=1)
        halved = cl.distance(other, SQUARE[name].at(quarters[::2]), threads=2)
        for column in COLUMNS:
            assert getattr(batch, column)[::2].tobytes() == getattr(halved, column).tobytes(), column
        for row, pose in enumerate(quarters):
            one = cl.distance(other, SQUARE[name].at(pose))
            for column in COLUMNS:
                found = np.asarray(getattr(one, column)), getattr(batch, column)[row]
                assert found[0].tobytes() == found[1].tobytes(), (row, column)


@pytest.mark.parametrize("length", [1e-141, 1e-150, 1.6e-162, 1e-320, 0.0])
def test_centres_may_be_nearly_the_same(length):
    for partner in (cl.ConvexHull(CUBE.points * [1, 3, 3]), cl.Box([2, 6, 6])):
        for shift in ([length, 0, 0], [length, -length, length]):
            found = cl.distance(CUBE, partner.at(shift))
            np.testing.assert_allclose(found.distance, -2.0, rtol=1e-15)
            np.testing.assert_allclose(np.abs(found.normal), [1, 0, 0], atol=1e-15)


@pytest.mark.parametrize("name", PARTNERS)
def test_instruction_sets_agree_bit_by_bit(name, simd):
    partner = PARTNERS[name]
    poses = placements(partner, count=40)
    best = cl.distance(HULL, partner.at(poses))
    for other in ("avx2", "sse2", "scalar"):
        simd(other)
        found = cl.distance(HULL, partner.at(poses))
        for column in COLUMNS:
            np.testing.assert_array_equal(getattr(found, column), getattr(best, column), err_msg=f"{column}, {other}")


@pytest.mark.parametrize("length", [1, 7, 31, 32, 33, 64, 65, 200])
def test_it_does_not_matter_beside_whom_a_pair_walks(length):
    poses = placements(PARTNERS["few points"])
    whole = cl.distance(HULL, PARTNERS["few points"].at(poses))
    part = cl.distance(HULL, PARTNERS["few points"].at(poses[-length:]))
    for column in COLUMNS:
        np.testing.assert_array_equal(getattr(part, column), getattr(whole, column)[-length:])


@pytest.mark.parametrize("name", PARTNERS)
def test_walks_and_the_other_order_bracket_the_same_distance(name):
    partner = PARTNERS[name]
    poses = placements(partner)
    one, other = cl.distance(HULL, partner.at(poses)), cl.distance(partner.at(poses), HULL)
    assert np.all(one.lower <= other.upper)
    assert np.all(other.lower <= one.upper)
    assert np.all(one.upper - one.lower <= 2e-9)


def test_crossing_edges_touch_where_they_cross():
    """Their face is a parallelogram, and the half of it that is found need not be that of the nearest point."""
    count, depth = 300, 1e-3
    ridge = cl.ConvexHull([[-1, 0, 0], [1, 0, 0], [0, -0.8, -0.9], [0, 0.8, -0.9]])
    across = cl.ConvexHull([[-1, 0, 0], [1, 0, 0], [0, -0.8, 0.9], [0, 0.8, 0.9]])
    turns, along = RNG.uniform(0.4, np.pi - 0.4, count), RNG.uniform(-0.95, 0.95, (count, 2))
    poses = cl.poses.from_axis_angle([0, 0, 1], turns)
    crossing = np.column_stack([along[:, 0], np.zeros((count, 2))])
    poses[:, :3, 3] = crossing - along[:, 1:] * poses[:, :3, 0] - [0, 0, depth]
    found = cl.distance(ridge, across.at(poses))
    np.testing.assert_allclose(found.distance, -depth, atol=1e-14)
    np.testing.assert_allclose(found.normal, np.broadcast_to([0.0, 0.0, 1.0], (count, 3)), atol=1e-14)
    np.testing.assert_allclose(found.point_a, crossing, atol=1e-12)


def test_bodies_turned_a_little_in_themselves_converge():
    """All of their faces are as deep as each other, and corners of the difference lie close together."""
    corners = np.concatenate([np.eye(3), -np.eye(3)])
    body = cl.ConvexHull(corners)
    axes = RNG.choice([-1, 0, 1], size=(400, 3))
    axes[np.all(axes == 0, axis=1)] = 1
    turned = cl.poses.from_axis_angle(axes, 10.0 ** RNG.uniform(-8, -1, 400))
    turned[::2, :3, 3] = RNG.choice([0, 1e-12, 1e-6], size=(200, 3))
    found = cl.distance(body, body.at(turned))
    edges = np.unique(np.concatenate([corners[:, None] - corners]).reshape(-1, 3), axis=0)
    faces = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    for pose, depth, lower, upper in zip(turned, found.distance, found.lower, found.upper, strict=True):
        crossed = np.cross(edges[:, None], edges @ pose[:3, :3].T).reshape(-1, 3)
        normals = np.concatenate([faces, faces @ pose[:3, :3].T, crossed])
        lengths = np.linalg.norm(normals, axis=1)
        normals = normals[lengths > 1e-6] / lengths[lengths > 1e-6, None]
        apart = (normals @ (corners @ pose[:3, :3].T + pose[:3, 3]).T).min(axis=1) - (normals @ corners.T).max(axis=1)
        assert apart.max() - 1e-14 <= upper
        assert lower <= depth <= upper <= lower + 2e-9
